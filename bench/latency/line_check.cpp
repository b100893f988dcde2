// SPDX-License-Identifier: MIT
#include "bench/latency/line_check.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <memory>
#include <system_error>

namespace penstock::bench {
namespace {

/// Reads literal texts and numbers, one after the other; once something does not fit, nothing does.
class reader {
 public:
  explicit reader(std::string_view text) : rest_(text) {}

  reader& skip(std::string_view literal) {
    good_ = good_ && rest_.starts_with(literal);
    if (good_) rest_.remove_prefix(literal.size());
    return *this;
  }
  template <class Number>
  reader& number(Number& into) {
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), into);
    good_ = good_ && error == std::errc();
    if (good_) rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return *this;
  }
  bool ends_with(std::string_view literal) const { return good_ && rest_ == literal; }
  bool good() const noexcept { return good_; }

 private:
  std::string_view rest_;
  bool good_ = true;
};

/// Some loggers print a double with six digits behind the point, some with fifteen.
bool same(double one, double other) noexcept { return std::fabs(one - other) < 1e-6; }

constexpr std::string_view order_text = "order ";
constexpr std::string_view numbers_text = "logging int: ";
constexpr std::string_view record_text = "jrec ";

}  // namespace

line_checker::line_checker(const workload& of) : work_(of), next_index_(of.threads) {
  if (of.kind == workload_kind::long_records)
    record_ = long_record(of.record_bytes);
  else
    seen_.assign(of.threads, std::vector<bool>(expected_lines(of) / of.threads));
}

void line_checker::take(std::string_view line) {
  const bool record = work_.kind == workload_kind::long_records;
  const bool numbers = work_.kind == workload_kind::latency;
  const std::string_view begin = record ? record_text : numbers ? numbers_text : order_text;
  const std::size_t at = line.find(begin);
  if (at == std::string_view::npos) return;
  const std::string_view message = line.substr(at);
  if (record)
    take_record(message);
  else if (numbers)
    take_numbers(message);
  else
    take_order(message);
}

void line_checker::take_order(std::string_view message) {
  std::uint64_t index = 0;
  int quantity = 0;
  double price = 0;
  const reader read =
      reader(message).skip(order_text).number(index).skip(" filled qty ").number(quantity).skip(" price ").number(price).skip(" sym ");
  const std::uint64_t thread = index / thread_stride;
  const std::uint64_t k = index % thread_stride;
  const call_values& with = values();
  if (!read.ends_with(with.symbols[k % with.symbols.size()]) || quantity != static_cast<int>(k % 1000) ||
      !same(price, with.prices[k % with.prices.size()]))
    ++counts_.wrong;
  else
    count(thread, k);
}

void line_checker::take_numbers(std::string_view message) {
  int index = 0;
  int k = 0;
  int thread = 0;
  double price = 0;
  const reader read = reader(message)
                          .skip(numbers_text)
                          .number(index)
                          .skip(", int: ")
                          .number(k)
                          .skip(", int: ")
                          .number(thread)
                          .skip(", double: ")
                          .number(price);
  const auto from_first = static_cast<std::int64_t>(index) + static_cast<std::int64_t>(warm_bursts(work_) * burst_calls);
  const call_values& with = values();
  if (!read.ends_with("") || from_first < 0 || thread < 0 || k != static_cast<int>(from_first % static_cast<std::int64_t>(burst_calls)) ||
      !same(price, with.prices[static_cast<unsigned>(index) % with.prices.size()]))
    ++counts_.wrong;
  else
    count(static_cast<std::size_t>(thread), static_cast<std::uint64_t>(from_first));
}

void line_checker::take_record(std::string_view message) {
  if (message == record_)
    ++counts_.whole;
  else
    ++counts_.wrong;
}

void line_checker::count(std::size_t thread, std::uint64_t index) {
  if (thread >= seen_.size() || index >= seen_[thread].size()) {
    ++counts_.wrong;
  } else if (seen_[thread][index]) {
    ++counts_.repeated;
  } else {
    seen_[thread][index] = true;
    ++counts_.whole;
    if (index < next_index_[thread]) ++counts_.disordered;
    next_index_[thread] = std::max(next_index_[thread], index + 1);
  }
}

line_counts check_lines(const workload& of, const std::filesystem::path& file) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> in(std::fopen(file.c_str(), "re"), std::fclose);
  if (!in) throw std::system_error(errno, std::generic_category(), "cannot read the lines back from " + file.string());
  line_checker checker(of);
  std::string block(std::size_t{1} << 20, '\0');
  std::string begun;
  for (std::size_t got = 0; (got = std::fread(block.data(), 1, block.size(), in.get())) != 0;) {
    std::string_view rest(block.data(), got);
    for (std::size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
      if (begun.empty()) {
        checker.take(rest.substr(0, end));
      } else {
        checker.take(begun.append(rest.substr(0, end)));
        begun.clear();
      }
      rest.remove_prefix(end + 1);
    }
    begun.append(rest);
  }
  if (std::ferror(in.get()) != 0) throw std::system_error(EIO, std::generic_category(), "cannot read the lines back from " + file.string());
  // A line without its newline is not whole.
  return checker.counts();
}

}  // namespace penstock::bench
