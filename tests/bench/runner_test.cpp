// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

#include "bench/suites/content.hpp"
#include "bench/suites/raw_io.hpp"
#include "bench/suites/scratch.hpp"
#include "bench/suites/suite.hpp"
#include "tests/support/temp_folder.hpp"

namespace penstock::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::size_t file_bytes = 10'000;

void write_content(pass& p, std::size_t bytes) {
  os::descriptor fd = open_target(p);
  p.started();
  put(fd.get(), content::instance().block(0, bytes));
  p.returned();
  fd.reset();
  p.closed();
}

class Runner : public ::testing::Test {
 protected:
  suite_result run_cells(std::vector<cell> cells) {
    suite what{.name = "test", .title = "a test", .unit = "ms"};
    column size{.label = "10K", .bytes = file_bytes, .expected = content::instance().expected(file_bytes), .has_source = true};
    size.cells = std::move(cells);
    what.columns.push_back(std::move(size));
    return run(std::move(what), chosen_);
  }
  cell good(const std::string& name = "good") {
    return {.row = name, .run = [](pass& p) { write_content(p, file_bytes); }};
  }

  testing::temp_folder folder_;
  options chosen_{.dir = folder_.path(), .repeat = 3};
};

TEST_F(Runner, APassThatIsRightGivesItsFiguresByEachClock) {
  const suite_result result = run_cells({good()});
  EXPECT_THAT(result.failures, IsEmpty());
  for (const clock_kind clock : {clock_kind::setup, clock_kind::ret, clock_kind::close}) {
    const figures* row = result.find("good", "10K", clock);
    ASSERT_NE(row, nullptr) << text(clock);
    EXPECT_EQ(row->values.repeats, 3U);
    EXPECT_GT(row->values.min, 0);
  }
  EXPECT_EQ(result.find("good", "10K", clock_kind::sync), nullptr);
}

TEST_F(Runner, CloseTakesAtLeastAsLongAsReturnAndSyncAtLeastAsLongAsClose) {
  chosen_.sync = sync_mode::fdatasync;
  const suite_result result = run_cells({good()});
  const auto least = [&](clock_kind clock) { return result.find("good", "10K", clock)->values.min; };
  EXPECT_LE(least(clock_kind::ret), least(clock_kind::close));
  EXPECT_LE(least(clock_kind::close), least(clock_kind::sync));
}

TEST_F(Runner, AShortFileDropsItsRowAndOnlyIt) {
  const suite_result result = run_cells({good(), {.row = "short", .run = [](pass& p) { write_content(p, file_bytes - 1); }}});
  EXPECT_THAT(result.failures, ElementsAre(HasSubstr("short 10K: verification failed: 9999 bytes instead of 10000")));
  EXPECT_EQ(result.find("short", "10K", clock_kind::close), nullptr);
  EXPECT_NE(result.find("good", "10K", clock_kind::close), nullptr);
}

TEST_F(Runner, AFileOfTheRightLengthAndTheWrongContentDropsItsRow) {
  const suite_result result = run_cells({{.row = "wrong", .run = [](pass& p) {
                                            os::descriptor fd = open_target(p);
                                            p.started();
                                            put(fd.get(), content::instance().block(1, file_bytes));
                                            p.returned();
                                            p.closed();
                                          }}});
  EXPECT_THAT(result.failures, ElementsAre(HasSubstr("the content is wrong")));
}

TEST_F(Runner, ACaseThatWritesNothingCannotPassInPlace) {
  chosen_.file = file_policy::in_place;
  const suite_result result = run_cells({{.row = "idle", .run = [](pass& p) {
                                            p.started();
                                            p.returned();
                                            p.closed();
                                          }}});
  EXPECT_THAT(result.failures, SizeIs(1));
}

TEST_F(Runner, AReadThatSawSomethingElseDropsItsRow) {
  const suite_result result = run_cells({{.row = "blind", .run = [](pass& p) { p.read = digest{file_bytes, 42}; }, .reads = true}});
  EXPECT_THAT(result.failures, SizeIs(1));
}

TEST_F(Runner, ACaseThatThisMachineCannotRunIsANoteAndNoFailure) {
  const suite_result result = run_cells({{.row = "exotic", .run = [](pass&) { throw unavailable("no such call"); }}});
  EXPECT_THAT(result.failures, IsEmpty());
  EXPECT_THAT(result.notes, ElementsAre("exotic: not available here: no such call", ::testing::StartsWith("The machine itself")));
}

TEST_F(Runner, PassesOfShortColumnsAreSpreadOverLapsThroughAllOfThem) {
  std::string order;
  const auto column_of = [&](const char* label) {
    column size{.label = label, .bytes = file_bytes, .expected = content::instance().expected(file_bytes)};
    size.cells = {{.row = "row", .run = [&order, label](pass& p) {
                     order += label;
                     write_content(p, file_bytes);
                   }}};
    return size;
  };
  suite what{.name = "test", .title = "a test", .unit = "ms"};
  what.columns = {column_of("a"), column_of("b")};
  chosen_.repeat = 10;
  const suite_result result = run(std::move(what), chosen_);
  EXPECT_EQ(order,
            "aaabbb"
            "aabb"
            "aabb"
            "aabb"
            "aabb")
      << "one cold pass each, then two a lap";
  for (const char* label : {"a", "b"}) EXPECT_EQ(result.find("row", label, clock_kind::close)->values.repeats, 10U);
}

TEST_F(Runner, ANewFileIsAbsentWhenThePassBegins) {
  bool absent = true;
  static_cast<void>(run_cells({{.row = "looks", .run = [&](pass& p) {
                                  absent = absent && !std::filesystem::exists(p.target);
                                  write_content(p, file_bytes);
                                }}}));
  EXPECT_TRUE(absent);
}

TEST_F(Runner, UnderTheOtherPoliciesTheFileIsThereWithItsLength) {
  for (const file_policy policy : {file_policy::truncate, file_policy::in_place}) {
    chosen_.file = policy;
    std::uintmax_t length = 0;
    const suite_result result = run_cells({{.row = "looks", .run = [&](pass& p) {
                                              length = std::filesystem::file_size(p.target);
                                              write_content(p, file_bytes);
                                            }}});
    EXPECT_EQ(length, file_bytes) << text(policy);
    EXPECT_THAT(result.failures, IsEmpty());
  }
}

TEST_F(Runner, EachRoundBeginsAtAnotherRow) {
  std::vector<std::string> order;
  const auto noting = [&](const std::string& name) {
    return cell{.row = name, .run = [&order, name](pass& p) {
                  order.push_back(name);
                  write_content(p, file_bytes);
                }};
  };
  static_cast<void>(run_cells({noting("a"), noting("b"), noting("c")}));
  // The first round is the one that does not count.
  EXPECT_THAT(order, ElementsAre("a", "b", "c", "a", "b", "c", "b", "c", "a", "c", "a", "b"));
}

TEST_F(Runner, LeavesTheFolderEmpty) {
  static_cast<void>(run_cells({good(), {.row = "fails", .run = [](pass&) { throw std::runtime_error("no"); }}}));
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(Runner, AnInterruptEndsTheRunWithWhatIsDone) {
  const interrupt_watch watch;
  chosen_.repeat = 1000;
  int passes = 0;
  const suite_result result = run_cells({{.row = "counted", .run = [&](pass& p) {
                                            write_content(p, file_bytes);
                                            if (++passes == 3) std::raise(SIGINT);
                                          }}});
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(passes, 3);
  ASSERT_NE(result.find("counted", "10K", clock_kind::close), nullptr);
  EXPECT_EQ(result.find("counted", "10K", clock_kind::close)->values.repeats, 2U);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(Runner, TooLittleSpaceIsSaidBeforeAnythingRuns) {
  EXPECT_THROW(require_space(folder_.path(), std::uintmax_t{1} << 60, "the test"), std::runtime_error);
}

}  // namespace
}  // namespace penstock::bench
