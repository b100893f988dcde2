// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "tests/config/config_testing.hpp"

namespace {

using namespace penstock;
using namespace penstock::testing_config;
using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

TEST(ParseConfig, AnEmptyFileIsTheDefaultConfiguration) {
  for (const std::string_view text : {"", "\n", "# nothing\n", "\xef\xbb\xbf", "\r\n", "[backend]\n[sinks]\n[loggers]\n"})
    EXPECT_EQ(parse_config(text, "app.toml"), config{}) << text;
}

TEST(ParseConfig, ReadsEveryKeyOfTheBackend) {
  const config settings = parse_config(R"(
[backend]
format = "caller"
memory = "128 MiB"
overflow = "drop"
block_timeout = "3 ms"
keep_level = "error"
idle = "spin"
reorder_window = "7 us"
clock = "system"
cpu = 2
crash_handler = false
rescue_file = ""
)",
                                       "app.toml");
  const backend_config expected{.format = format_mode::caller,
                                .memory = std::size_t{128} << 20,
                                .overflow = overflow_policy::drop,
                                .block_timeout = 3ms,
                                .keep_level = level::error,
                                .idle = idle_policy::spin,
                                .reorder_window = 7us,
                                .clock = clock_source::system,
                                .cpu = 2};
  EXPECT_EQ(settings.backend, expected);
}

TEST(ParseConfig, ReadsEveryKeyOfASink) {
  const config settings = parse_config(R"(
[sinks.app]
type = "io_uring"
path = "logs/app.log"
batch_size = "1 MiB"
flush_interval = "1 s"
flush_level = "off"
sync = "5 s"
page_cache = "direct"
pattern = "{message}"
control_chars = "raw"
queue_depth = 8
reopen = false
mode = "0600"
follow_symlinks = true
create_folders = true
strict = true
failover = ""
)",
                                       "app.toml");
  sink_config expected;
  expected.type = "io_uring";
  expected.path = "logs/app.log";
  expected.batch_size = std::size_t{1} << 20;
  expected.flush_interval = 1s;
  expected.flush_level = level::off;
  expected.sync.interval = 5s;
  expected.page_cache = page_cache_policy::direct;
  expected.pattern = "{message}";
  expected.control_chars = control_chars_policy::raw;
  expected.queue_depth = 8;
  expected.reopen = false;
  expected.mode = 0600;
  expected.follow_symlinks = true;
  expected.create_folders = true;
  expected.strict = true;
  EXPECT_EQ(settings.sinks.at("app"), expected);
}

TEST(ParseConfig, ReadsTheSizeOfARingAndTheKindsOfSync) {
  const config settings = parse_config(R"(
[sinks.ring]
type = "mmap_ring"
path = "a.ring"
size = "1 MiB"
sync = "batch"
[sinks.plain]
type = "stdio"
path = "a.log"
sync = "none"
)",
                                       "app.toml");
  EXPECT_EQ(settings.sinks.at("ring").size, std::size_t{1} << 20);
  EXPECT_EQ(settings.sinks.at("ring").sync, (sync_policy{.each_batch = true}));
  EXPECT_EQ(settings.sinks.at("plain").sync, sync_policy{});
}

TEST(ParseConfig, CarriageReturnsAndAByteOrderMarkChangeNothing) {
  const config settings = parse_config("\xef\xbb\xbf[backend]\r\nmemory = \"1 MiB\"\r\n", "app.toml");
  EXPECT_EQ(settings.backend.memory, std::size_t{1} << 20);
  EXPECT_THAT(refusal("\xef\xbb\xbf[backend]\r\nmemry = \"1 MiB\"\r\n"), StartsWith("app.toml:2:1: "));
}

TEST(ParseConfig, RelativePathsStayRelative) {
  EXPECT_EQ(parse_config("[sinks.a]\ntype=\"write\"\npath=\"x/../a.log\"\n", "app.toml").sinks.at("a").path, "x/../a.log");
}

TEST(ParseConfig, ADottedLoggerIsTheSameInTablesAndInQuotes) {
  const std::string sink = "[sinks.app]\ntype = \"null\"\n";
  const config tables = parse_config(sink + "[loggers.a.b]\nlevel = \"debug\"\n[loggers.a]\nlevel = \"error\"\n", "app.toml");
  const config quotes = parse_config(sink + "[loggers.\"a.b\"]\nlevel = \"debug\"\n[loggers.a]\nlevel = \"error\"\n", "app.toml");
  EXPECT_EQ(tables, quotes);
  EXPECT_EQ(tables.loggers.size(), 2U);
  EXPECT_EQ(tables.loggers.at("a.b").level, level::debug);
  EXPECT_EQ(tables.loggers.at("a").level, level::error);
}

TEST(ParseConfig, ATableThatOnlyHoldsOtherLoggersIsNoLogger) {
  const config settings = parse_config("[loggers.a.b.c]\nlevel = \"debug\"\n", "app.toml");
  EXPECT_EQ(settings.loggers.size(), 1U);
  EXPECT_EQ(settings.loggers.count("a.b.c"), 1U);
}

TEST(ParseConfig, ALoggerWithoutKeysTakesEverythingFromItsParent) {
  const config settings = parse_config("[loggers.a]\n[loggers.b]\nsinks = []\n", "app.toml");
  EXPECT_EQ(settings.loggers.at("a"), logger_config{});
  EXPECT_EQ(settings.loggers.at("b").sinks, std::vector<std::string>{});
}

TEST(ParseConfig, OneLoggerWrittenInBothWaysIsRefusedAtTheSecond) {
  EXPECT_THAT(refusal("[loggers.a.b]\nlevel = \"info\"\n\n[loggers.\"a.b\"]\nlevel = \"info\"\n"),
              AllOf(StartsWith("app.toml:4:1: loggers.a.b: "), HasSubstr("lines 1 and 4")));
  EXPECT_THAT(refusal("[loggers.\"a.b\"]\n\n[loggers.a.b]\n"),
              AllOf(StartsWith("app.toml:3:1: loggers.a.b: "), HasSubstr("lines 1 and 3")));
}

TEST(ParseConfig, AnAbsentRotateTableAndAnEmptyOneAreTheSame) {
  EXPECT_EQ(sink_refusal("rotate = {}"), "");
  EXPECT_EQ(
      sink_refusal("rotate = { size = \"0 B\", every = \"never\", keep = 0, compress = \"none\", max_age = \"0 s\", max_total = \"0 B\" }"),
      "");
}

TEST(EffectiveBatch, IsTheBestOfEachTypeUnlessItIsSet) {
  const auto bytes_of = [](std::string type, page_cache_policy page_cache) {
    sink_config sink;
    sink.type = std::move(type);
    sink.page_cache = page_cache;
    return effective_batch_bytes(sink);
  };
  const auto page_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  for (const char* type : {"write", "pwrite", "io_uring", "stdio", "null"})
    EXPECT_EQ(bytes_of(type, page_cache_policy::keep), 256U << 10) << type;
  EXPECT_EQ(bytes_of("mmap_ring", page_cache_policy::keep), 64U << 10);
  EXPECT_EQ(bytes_of("console", page_cache_policy::keep), page_bytes);
  EXPECT_EQ(bytes_of("write", page_cache_policy::drop), 1U << 20);
  EXPECT_EQ(bytes_of("pwrite", page_cache_policy::direct), 1U << 20);
  sink_config sink;
  sink.batch_size = 2 * page_bytes;
  EXPECT_EQ(effective_batch_bytes(sink), 2 * page_bytes);
}

}  // namespace
