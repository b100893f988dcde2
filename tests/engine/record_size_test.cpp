// SPDX-License-Identifier: MIT
// Records of any size: whole up to the limit, cut with a marker and a count beyond; neighbours intact; nothing hangs.
#include <algorithm>

#include "tests/engine/running.hpp"
#include "tests/support/sanitizers.hpp"

namespace penstock {
namespace {

struct Case {
  format_mode format;
  overflow_policy overflow;
};

struct RecordSize : testing::Running, ::testing::WithParamInterface<Case> {
  static constexpr std::size_t memory_bytes = std::size_t{4} << 20;
  static constexpr std::size_t record_bytes_max = memory_bytes / 4;

  void begin(const std::string& type = "write") {
    config made = settings(type);
    made.backend.format = GetParam().format;
    made.backend.overflow = GetParam().overflow;
    made.backend.keep_level = level::info;
    made.backend.memory = memory_bytes;
    start(made);
  }

  // Each size between neighbours.
  void sweep(const std::vector<std::size_t>& sizes) {
    std::string large(*std::max_element(sizes.begin(), sizes.end()), 'L');
    for (std::size_t i = 0; i < large.size(); i += 61) large[i] = static_cast<char>('a' + i / 61 % 26);
    for (const std::size_t bytes : sizes) {
      PENSTOCK_INFO("before {}", bytes);
      PENSTOCK_INFO("{}", std::string_view(large.data(), bytes));
      PENSTOCK_INFO("behind {}", bytes);
    }
    ASSERT_TRUE(flush());
    const auto lines = testing::lines_of(text());
    ASSERT_EQ(lines.size(), 3 * sizes.size());
    std::size_t cut = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      EXPECT_EQ(lines[3 * i], "before " + std::to_string(sizes[i]));
      EXPECT_EQ(lines[3 * i + 2], "behind " + std::to_string(sizes[i]));
      const std::string& line = lines[3 * i + 1];
      if (line.size() == sizes[i]) {
        EXPECT_TRUE(std::equal(line.begin(), line.end(), large.begin())) << sizes[i];
        continue;
      }
      ++cut;
      EXPECT_GT(sizes[i] + 64, record_bytes_max) << "a record that fits was cut";
      EXPECT_LE(line.size(), record_bytes_max);
      EXPECT_GT(line.size() + 64, record_bytes_max);
      EXPECT_TRUE(line.ends_with("[... cut]")) << sizes[i];
    }
    EXPECT_EQ(front().cut_short, cut);
    EXPECT_EQ(front().dropped_total(), 0U);
    testing::expect_sums(stats());
  }
};
INSTANTIATE_TEST_SUITE_P(Each, RecordSize,
                         ::testing::Values(Case{format_mode::caller, overflow_policy::block},
                                           Case{format_mode::backend, overflow_policy::block},
                                           Case{format_mode::automatic, overflow_policy::block},
                                           Case{format_mode::automatic, overflow_policy::drop}),
                         [](const auto& c) {
                           return std::string(c.param.format == format_mode::caller    ? "Caller"
                                              : c.param.format == format_mode::backend ? "Backend"
                                                                                       : "Auto") +
                                  (c.param.overflow == overflow_policy::block ? "Block" : "Keep");
                         });

TEST_P(RecordSize, IsOfNoConsequenceAroundPagesBlocksAndTheLimit) {
  begin();
  std::vector<std::size_t> sizes{0, 1, 2, 7, 8, 9, 4'095, 4'096, 4'097, 65'535, 65'536, 65'537};
  for (const std::size_t around :
       {4'096UL - 64 - 24, 65'536UL - 64 - 24, record_bytes_max, record_bytes_max - 24, memory_bytes / 2, memory_bytes})
    for (std::size_t i = around - 9; i <= around + 9; ++i) sizes.push_back(i);
  sweep(sizes);
}

TEST_P(RecordSize, IsOfNoConsequenceAtPowersOfTwoUpToFourTimesTheMemory) {
  begin();
  std::vector<std::size_t> sizes;
  for (std::size_t power = 1; power <= 4 * memory_bytes; power *= 2)
    for (const std::size_t bytes : {power - 1, power, power + 1}) sizes.push_back(bytes);
  sweep(sizes);
}

TEST_P(RecordSize, OfSixtyFourMebibytesIsCutBetweenTwoCharacters) {
  begin();
  std::string large;
  while (large.size() < (std::size_t{64} << 20)) large += "\xe2\x82\xac";
  PENSTOCK_INFO("before");
  PENSTOCK_INFO("x{}", large);
  info("xy{}", large);
  PENSTOCK_INFO("behind");
  ASSERT_TRUE(flush());
  const auto lines = testing::lines_of(text());
  ASSERT_EQ(lines.size(), 4U);
  for (const std::size_t i : {1UL, 2UL}) {
    ASSERT_GT(lines[i].size(), record_bytes_max - 200);
    ASSERT_LE(lines[i].size(), record_bytes_max);
    EXPECT_EQ((lines[i].size() - i - 9) % 3, 0U) << "cut inside a character";
    EXPECT_EQ(lines[i].find("\\x"), std::string::npos);
  }
  EXPECT_EQ(front().cut_short, 2U);
}

// Few bytes of arguments, many of text: one sink lays it out in its batch, the other, which is asked for lines, beside it.
TEST_P(RecordSize, OfATextThatOutgrowsItsArgumentsIsCutOnceForAllSinks) {
  config made = settings();
  made.backend.format = GetParam().format;
  made.backend.overflow = GetParam().overflow;
  made.backend.keep_level = level::info;
  made.backend.memory = memory_bytes;
  made.sinks["app"].type = "pwrite";
  made.sinks["app"].batch_size = 2 * record_bytes_max;
  made.sinks.emplace("other", sink_on(folder / "other"));
  made.sinks["other"].pattern = "{message} {message}";
  start(made);
  PENSTOCK_INFO("before");
  PENSTOCK_INFO("{:{}}", 1, 3 * record_bytes_max);
  PENSTOCK_INFO("x{:\xc3\xa9>{}}", "y", record_bytes_max);
  info("xy{:\xc3\xa9>{}}", "z", record_bytes_max);
  PENSTOCK_INFO("{:{}}", 1, record_bytes_max - 200);
  PENSTOCK_INFO("behind");
  ASSERT_TRUE(flush());
  const auto lines = testing::lines_of(text());
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_EQ(lines[1], std::string(record_bytes_max - 32 - 9, ' ') + "[... cut]");
  for (const std::size_t i : {2UL, 3UL}) {
    EXPECT_GT(lines[i].size(), record_bytes_max - 100);
    EXPECT_LE(lines[i].size(), record_bytes_max - 32);
    EXPECT_EQ((lines[i].size() - (i - 1) - 9) % 2, 0U) << "cut inside a character";
    EXPECT_TRUE(lines[i].ends_with("\xa9[... cut]"));
  }
  EXPECT_EQ(lines[4].size(), record_bytes_max - 200);
  EXPECT_EQ(lines[5], "behind");
  std::string twice;
  for (const std::string& line : lines) twice += line + " " + line + "\n";
  EXPECT_TRUE(testing::text_of(folder / "other") == twice);
  EXPECT_EQ(front().cut_short, 3U) << "records, not lines";
  testing::expect_sums(stats());
}

TEST_P(RecordSize, OfManyThreadsAtOnceNeverLocksThemUp) {
  begin();
  constexpr int thread_count = 6;
  constexpr int each_count = testing::under_tsan ? 6 : 30;  // Large strings are slow where each access is looked at.
  std::vector<std::thread> threads;
  for (int t = 0; t < thread_count; ++t)
    threads.emplace_back([t] {
      const std::string large(record_bytes_max - 100, static_cast<char>('a' + t));
      for (int i = 0; i < each_count; ++i) {
        PENSTOCK_INFO("{}", std::string_view(large).substr(0, static_cast<std::size_t>(i * 7919 + 1) * 997 % large.size()));
        PENSTOCK_INFO("small {} {}", t, i);
      }
    });
  for (std::thread& each : threads) each.join();
  ASSERT_TRUE(flush());
  EXPECT_EQ(front().taken.total(), 2U * thread_count * each_count);
  EXPECT_EQ(testing::lines_of(text()).size(), 2U * thread_count * each_count);
  testing::expect_sums(stats());
}

}  // namespace
}  // namespace penstock
