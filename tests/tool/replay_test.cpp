// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "sinks/ring_reader.hpp"
#include "tests/tool/tool_call.hpp"

namespace penstock {
namespace {

using testing::call_tool;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::temp_folder;
using testing::text_of;
using testing::tool_result;
using testing::write_text;

/// Like a service's log: times, levels, addresses, paths, now and then the lines of a stack trace.
std::string service_log(int lines) {
  std::string text;
  for (int i = 0; i < lines; ++i) {
    const std::string n = std::to_string(i);
    text += "2015-10-18 18:01:" + std::to_string(10 + i % 50) + "," + std::to_string(100 + i % 900) + (i % 7 == 0 ? " WARN " : " INFO ") +
            "[IPC Server handler " + std::to_string(i % 30) + " on 62270] blk_-" + n + "7731 /10.251.43." + std::to_string(i % 256) +
            ":50010 -> 64 MiB {\"user\": \"j\xC3\xB6rg\", \"n\": " + n + "}\n";
    if (i % 11 == 0) text += "\tat org.example.Server$Handler.run(Server.java:" + n + ")\n\n";
  }
  return text;
}

/// Everything that a careless logger changes: empty lines, NUL, escapes, no UTF-8, carriage returns, braces, lines around a page's end.
std::string hard_log() {
  std::string text("\n\nnul \0 esc \033[31m bad \xff\xfe tab\t cr\r\n{} {0} {{ %s %n\n\x7f\n", 48);
  for (const std::size_t bytes : {1U, 4094U, 4095U, 4096U, 4097U, 65535U, 65536U, 65537U, 300000U}) text += std::string(bytes, 'x') + "\n";
  return text + "the last line has no newline";
}

std::string ring_text(const std::filesystem::path& file) {
  sinks::ring_reader reader(file);
  std::string text;
  while (reader.read(text)) {
  }
  return text;
}

std::vector<std::string> sorted_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

class Replay : public ::testing::Test {
 protected:
  void SetUp() override {
    write_text(folder / "service.log", service);
    write_text(folder / "hard.log", hard);
  }
  tool_result replay(const std::string& arguments) { return call_tool(folder, "replay " + arguments); }

  temp_folder folder;
  const std::string service = service_log(500);
  const std::string hard = hard_log();
};

class ReplayTo : public Replay, public ::testing::WithParamInterface<const char*> {};

TEST_P(ReplayTo, BringsEachByteThrough) {
  for (const char* batch : {"4 KiB", "256 KiB"}) {
    std::filesystem::remove(folder / "out.log");
    const tool_result result =
        replay("--verify --sink " + std::string(GetParam()) + " --batch-size '" + batch + "' --out out.log service.log hard.log");
    EXPECT_EQ(result.status, 0) << result.out << result.err;
    EXPECT_EQ(text_of(folder / "out.log"), service + hard + "\n") << batch;
    EXPECT_THAT(result.out, HasSubstr("drops      0\n"));
    EXPECT_THAT(result.out, HasSubstr("verified "));
  }
}

INSTANTIATE_TEST_SUITE_P(FileSinks, ReplayTo, ::testing::Values("write", "pwrite", "io_uring", "stdio"),
                         [](const auto& type) { return std::string(type.param); });

TEST_F(Replay, BringsEachByteThroughARing) {
  const tool_result result = replay("--verify --sink mmap_ring --out out.ring service.log hard.log");
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_EQ(ring_text(folder / "out.ring"), service + hard + "\n");
}

TEST_F(Replay, SendsWholeFilesInTurnWithSeveralThreads) {
  const tool_result result = replay("--verify --threads 4 --repeat 5 --out out.log service.log hard.log");
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  std::string sent;
  for (int i = 0; i < 5; ++i) sent += service + hard + "\n";
  EXPECT_EQ(sorted_lines(text_of(folder / "out.log")), sorted_lines(sent));
  EXPECT_THAT(result.out, HasSubstr("lines, in any order"));
}

TEST_F(Replay, ReportsLinesAndBytes) {
  write_text(folder / "small.log", "one\ntwo\n\nfour");
  const tool_result result = replay("--repeat 3 small.log");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("lines      12\n"));
  EXPECT_THAT(result.out, HasSubstr("bytes      42\n"));
  EXPECT_THAT(result.out, HasSubstr("replay: write"));
}

TEST_F(Replay, LeavesNothingBehindWithoutAnOutput) {
  EXPECT_EQ(replay("--verify service.log").status, 0);
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) count += entry.path().extension() == ".log" ? 1U : 2U;
  EXPECT_EQ(count, 2U + 2U * 2U) << "the two logs, and what the two streams were kept in";
}

TEST_F(Replay, TakesTheSinksOfAConfigFile) {
  write_text(folder / "two.toml",
             "[sinks.a]\ntype = \"pwrite\"\npath = \"a.log\"\n[sinks.b]\ntype = \"write\"\npath = \"b.log\"\n[sinks.c]\ntype = \"write\"\n"
             "path = \"c.log\"\n[loggers.root]\nlevel = \"error\"\nsinks = [\"a\", \"b\"]\n[loggers.other]\nsinks = [\"c\"]\n");
  const tool_result result = replay("--verify --config two.toml hard.log");
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_EQ(text_of(folder / "a.log"), hard + "\n");
  EXPECT_EQ(text_of(folder / "b.log"), hard + "\n");
  EXPECT_FALSE(std::filesystem::exists(folder / "c.log"));
  EXPECT_THAT(result.out, HasSubstr("a: pwrite"));
}

TEST_F(Replay, LetsOptionsChangeTheOneSinkOfAConfigFile) {
  write_text(folder / "one.toml", "[sinks.a]\ntype = \"write\"\npath = \"a.log\"\n");
  EXPECT_EQ(replay("--verify --config one.toml --sink pwrite --out b.log hard.log").status, 0);
  EXPECT_EQ(text_of(folder / "b.log"), hard + "\n");
  const tool_result nothing = replay("--config one.toml --sink null hard.log");
  EXPECT_EQ(nothing.status, 0) << nothing.err;
  EXPECT_THAT(nothing.out, HasSubstr("a: null"));
  EXPECT_FALSE(std::filesystem::exists(folder / "a.log"));
}

TEST_F(Replay, SaysThatASmallRingKeepsTheNewestLines) {
  write_text(folder / "ring.toml", "[sinks.r]\ntype = \"mmap_ring\"\npath = \"r.ring\"\nsize = \"1 MiB\"\n");
  const tool_result result = replay("--verify --repeat 40 --config ring.toml service.log");
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("the ring has overwritten"));
}

TEST_F(Replay, FailsWhenRecordsWereDropped) {
  write_text(folder / "drop.toml",
             "[backend]\nmemory = \"1 MiB\"\noverflow = \"drop\"\nkeep_level = \"off\"\n[sinks.a]\ntype = \"write\"\npath = \"a.log\"\n"
             "batch_size = \"4 KiB\"\n");
  const tool_result result = replay("--verify --threads 2 --repeat 400 --config drop.toml service.log service.log");
  ASSERT_THAT(result.out, Not(HasSubstr("drops      0\n"))) << "the memory was never spent, so that this test shows nothing";
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.out, HasSubstr("DIFFERENT"));
}

TEST_F(Replay, RefusesACallThatCannotBeMeant) {
  write_text(folder / "old.log", "old\n");
  std::filesystem::create_directory(folder / "logs");
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"missing.log", "missing.log: No such file"},
      {"logs", "logs: it is a folder"},
      {"--verify --out old.log service.log", "old.log holds 4 bytes already"},
      {"--out service.log service.log", "service.log is read and would be written too"},
      {"--verify --sink null service.log", "it writes no file"},
      {"--sink null --out x service.log", "the null sink writes nothing"},
      {"--sink nul service.log", "nul"},
      {"--batch-size 5 service.log", "5 B"},
      {"--batch-size '5 KiB' service.log", "page size"},
      {"--config missing.toml service.log", "missing.toml"},
      {"--threads 0 service.log", "--threads"},
      {"", "LOG"},
  };
  for (const auto& [arguments, says] : wrong) {
    const tool_result result = replay(arguments);
    EXPECT_EQ(result.status, 2) << arguments;
    EXPECT_THAT(result.err, HasSubstr(says)) << arguments;
    EXPECT_EQ(result.out, "") << arguments;
  }
}

TEST_F(Replay, TellsWhereTheOutputDiffers) {
  // Lines longer than a record may be are cut, and said to be.
  write_text(folder / "tight.toml", "[backend]\nmemory = \"1 MiB\"\n[sinks.a]\ntype = \"write\"\npath = \"a.log\"\n");
  write_text(folder / "long.log", "short\n" + std::string(400'000, 'y') + "\n");
  const tool_result result = replay("--verify --config tight.toml long.log");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.out, HasSubstr("cut short  1 line"));
  EXPECT_THAT(result.out, HasSubstr("(line 2) should begin \"yyy"));
}

}  // namespace
}  // namespace penstock
