// SPDX-License-Identifier: MIT
#include "bench/cli/replay_verify.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <functional>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <vector>

#include "lib/os/file.hpp"
#include "sinks/ring_reader.hpp"

namespace penstock::cli {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 20;

/// What was written, piece by piece.
class content {
 public:
  virtual ~content() = default;
  /// Replaces `piece`; false at the end.
  virtual bool next(std::string& piece) = 0;
  /// Bytes at the beginning of what was sent that are not there any more.
  virtual std::uint64_t overwritten_bytes(std::uint64_t) const { return 0; }
};

class file_content final : public content {
 public:
  explicit file_content(const std::filesystem::path& path) : path_(path), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (!file_.valid()) fail();
  }
  bool next(std::string& piece) override {
    piece.resize(block_bytes);
    ssize_t got = 0;
    do got = ::read(file_.get(), piece.data(), piece.size());
    while (got < 0 && errno == EINTR);
    if (got < 0) fail();
    piece.resize(static_cast<std::size_t>(got));
    return got > 0;
  }

 private:
  [[noreturn]] void fail() const { throw std::system_error(errno, std::generic_category(), "cannot read back " + path_.string()); }

  std::filesystem::path path_;
  os::descriptor file_;
};

/// A ring that was overwritten from its beginning must be known as a whole to tell where in the lines it begins.
class ring_content final : public content {
 public:
  explicit ring_content(const std::filesystem::path& path) {
    sinks::ring_reader reader(path);
    const sinks::frame_chain frames = reader.facts().frames;
    overwritten_ = frames.oldest && frames.oldest->sequence > 1;
    while (reader.read(text_)) {
    }
  }
  bool next(std::string& piece) override {
    piece = std::exchange(text_, {});
    return !piece.empty();
  }
  std::uint64_t overwritten_bytes(std::uint64_t sent_bytes) const override {
    return overwritten_ && text_.size() < sent_bytes ? sent_bytes - text_.size() : 0;
  }

 private:
  std::string text_{};
  bool overwritten_ = false;
};

/// All lines in the order in which one thread sends them, as one text that is never built.
class sent_text {
 public:
  sent_text(const replay_call& call, const std::deque<log_file>& logs) {
    for (std::size_t i = 0; i < call.repeat; ++i) {
      for (const log_file& log : logs) {
        pieces_.push_back(log.text());
        if (log.newline_missing()) pieces_.push_back("\n");
      }
    }
    std::erase(pieces_, std::string_view());
  }

  /// What comes next, of at most `bytes` bytes and perhaps fewer; empty at the end.
  std::string_view next(std::uint64_t bytes) {
    if (index_ == pieces_.size()) return {};
    const std::string_view piece = pieces_[index_].substr(offset_, static_cast<std::size_t>(std::min<std::uint64_t>(bytes, SIZE_MAX)));
    offset_ += piece.size();
    if (offset_ == pieces_[index_].size()) {
      ++index_;
      offset_ = 0;
    }
    return piece;
  }

 private:
  std::vector<std::string_view> pieces_{};
  std::size_t index_ = 0;
  std::size_t offset_ = 0;
};

std::string kept_text(std::uint64_t overwritten_bytes) {
  return overwritten_bytes == 0 ? std::string() : fmt::format("; the ring has overwritten {} older bytes", overwritten_bytes);
}

/// With its newline, so that a missing one can be seen.
std::string_view first_line(std::string_view text) {
  const std::size_t end = text.find('\n');
  return end == std::string_view::npos ? text : text.substr(0, end + 1);
}

verify_result compare_bytes(content& written, const replay_call& call, const std::deque<log_file>& logs) {
  const std::uint64_t sent_bytes = replay_bytes(call, logs);
  const std::uint64_t overwritten_bytes = written.overwritten_bytes(sent_bytes);
  sent_text sent(call, logs);
  bool at_line_start = true;
  for (std::uint64_t skip = overwritten_bytes; skip != 0;) {
    const std::string_view skipped = sent.next(skip);
    skip -= skipped.size();
    at_line_start = skipped.back() == '\n';
  }
  if (!at_line_start) return {.text = "the ring does not begin with a whole line"};
  std::uint64_t offset = overwritten_bytes;
  std::uint64_t line_number = 1;
  for (std::string piece; written.next(piece);) {
    for (std::string_view found = piece; !found.empty();) {
      const std::string_view expected = sent.next(found.size());
      if (expected.empty()) return {.text = fmt::format("{} bytes were sent, and more follow: {}", sent_bytes, shown(first_line(found)))};
      const auto [there, here] = std::mismatch(expected.begin(), expected.end(), found.begin());
      line_number += static_cast<std::uint64_t>(std::count(expected.begin(), there, '\n'));
      if (there != expected.end())
        return {.text = fmt::format("byte {} (line {}) should begin {} and begins {}",
                                    offset + static_cast<std::uint64_t>(there - expected.begin()), line_number,
                                    shown(first_line({there, expected.end()})), shown(first_line({here, found.end()})))};
      offset += expected.size();
      found.remove_prefix(expected.size());
    }
  }
  if (offset != sent_bytes) return {.text = fmt::format("ends after {} of {} bytes, in line {}", offset, sent_bytes, line_number)};
  return {.same = true, .text = fmt::format("the same {} bytes{}", sent_bytes - overwritten_bytes, kept_text(overwritten_bytes))};
}

/// Gives each line of the output, also those that are divided between two pieces.
void for_each_line(content& written, const std::function<void(std::string_view)>& visit) {
  std::string begun;
  for (std::string piece; written.next(piece);) {
    std::string_view rest = piece;
    for (std::size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
      begun.append(rest.substr(0, end));
      visit(begun);
      begun.clear();
      rest.remove_prefix(end + 1);
    }
    begun.append(rest);
  }
  if (!begun.empty()) visit(begun);
}

verify_result compare_lines(content& written, const replay_call& call, const std::deque<log_file>& logs) {
  std::unordered_map<std::string_view, std::uint64_t> missing;
  std::uint64_t missing_count = 0;
  for (const log_file& log : logs) {
    for (std::string_view rest = log.text(); !rest.empty();) missing[take_line(rest)] += call.repeat;
    missing_count += log.line_count() * call.repeat;
  }
  const std::uint64_t sent_count = missing_count;
  const std::uint64_t overwritten_bytes = written.overwritten_bytes(replay_bytes(call, logs));
  std::uint64_t strange_count = 0;
  std::string first_strange;
  for_each_line(written, [&](std::string_view line) {
    const auto found = missing.find(line);
    if (found != missing.end() && found->second != 0) {
      --found->second;
      --missing_count;
    } else if (strange_count++ == 0) {
      first_strange = shown(line);
    }
  });
  std::string text;
  if (strange_count != 0) text = fmt::format("{} lines were not sent, the first is {}", strange_count, first_strange);
  if (missing_count != 0 && overwritten_bytes == 0) {
    const auto first = std::find_if(missing.begin(), missing.end(), [](const auto& line) { return line.second != 0; });
    text += fmt::format("{}{} of {} lines are missing, one of them is {}", text.empty() ? "" : "; ", missing_count, sent_count,
                        shown(first->first));
  }
  if (!text.empty()) return {.text = text};
  return {.same = true, .text = fmt::format("the same {} lines, in any order{}", sent_count - missing_count, kept_text(overwritten_bytes))};
}

}  // namespace

verify_result verify_output(const verified_output& output, const replay_call& call, const std::deque<log_file>& logs) {
  std::unique_ptr<content> written;
  if (output.ring)
    written = std::make_unique<ring_content>(output.path);
  else
    written = std::make_unique<file_content>(output.path);
  return call.threads == 1 ? compare_bytes(*written, call, logs) : compare_lines(*written, call, logs);
}

}  // namespace penstock::cli
