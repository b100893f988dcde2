// SPDX-License-Identifier: MIT
// What a config file is refused for: each message has the place, the key, what was wrong, and the remedy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "lib/config/key_table.hpp"
#include "tests/config/config_testing.hpp"

namespace {

using namespace penstock;
using namespace penstock::testing_config;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(Refusal, AnUnknownKeyNamesTheNearestOne) {
  EXPECT_EQ(sink_refusal("batch_sise = \"64 KiB\""), "app.toml:4:1: sinks.app.batch_sise: unknown key; did you mean batch_size?");
  EXPECT_THAT(refusal("[backend]\nmemmory = \"1 MiB\"\n"), HasSubstr("did you mean memory?"));
  EXPECT_THAT(refusal("[loggers.root]\nlevl = \"info\"\n"), HasSubstr("did you mean level?"));
  EXPECT_THAT(sink_refusal("rotat = {}"), HasSubstr("did you mean rotate?"));
  EXPECT_THAT(sink_refusal("rotate = { evry = \"day\" }"), AllOf(HasSubstr("sinks.app.rotate.evry"), HasSubstr("did you mean every?")));
}

TEST(Refusal, AKeyOfAnotherTableSaysWhereItBelongs) {
  EXPECT_THAT(refusal("[backend]\npattern = \"x\"\n"), HasSubstr("it belongs in [sinks.NAME]"));
  EXPECT_THAT(sink_refusal("overflow = \"drop\""), HasSubstr("it belongs in [backend]"));
  EXPECT_THAT(refusal("memory = \"1 MiB\"\n"), AllOf(StartsWith("app.toml:1:1: memory: "), HasSubstr("it belongs in [backend]")));
}

TEST(Refusal, AnUnknownTableNamesTheNearestOne) {
  EXPECT_THAT(refusal("[sink.app]\ntype = \"null\"\n"), AllOf(StartsWith("app.toml:1:"), HasSubstr("did you mean sinks?")));
  EXPECT_THAT(refusal("[filters]\n"), HasSubstr("[backend], [sinks.NAME] and [loggers.NAME]"));
}

TEST(Refusal, AValueOfTheWrongTypeShowsHowToWriteIt) {
  EXPECT_EQ(refusal("[backend]\nmemory = true\n"),
            "app.toml:2:10: backend.memory: a boolean where a size in quotes belongs; write memory = \"64 MiB\"");
  EXPECT_THAT(refusal("[backend]\nmemory = 1048576\n"), HasSubstr("write memory = \"1048576 B\""));
  EXPECT_THAT(refusal("[backend]\nreorder_window = 5\n"), HasSubstr("write reorder_window = \"5 ms\""));
  EXPECT_THAT(refusal("[backend]\ncrash_handler = \"true\"\n"), HasSubstr("write crash_handler = true"));
  EXPECT_THAT(refusal("[backend]\ncpu = \"2\"\n"), HasSubstr("a string where an integer belongs"));
  EXPECT_THAT(refusal("[backend]\ncpu = 1e30\n"), HasSubstr("a floating-point number where an integer belongs"));
  EXPECT_THAT(refusal("[backend]\ncpu = inf\n"), HasSubstr("a floating-point number"));
  EXPECT_THAT(refusal("[backend]\nclock = 1979-05-27\n"), HasSubstr("a date where"));
  EXPECT_THAT(refusal("[backend.memory]\n"), HasSubstr("a table where a size"));
  EXPECT_THAT(sink_refusal("mode = 640"), HasSubstr("write mode = \"0640\""));
  EXPECT_THAT(sink_refusal("batch_size = [\"4 KiB\"]"), HasSubstr("an array where a size"));
  EXPECT_THAT(refusal("[loggers.root]\nsinks = \"app\"\n"), HasSubstr("write sinks = [\"app\"]"));
  EXPECT_THAT(refusal("[loggers.root]\nsinks = [1]\n"), HasSubstr("the array holds an integer"));
  EXPECT_THAT(sink_refusal("rotate = \"1 GiB\""), HasSubstr("rotate is a table"));
}

TEST(Refusal, ASectionThatIsNoTableSaysSo) {
  EXPECT_THAT(refusal("backend = 3\n"), AllOf(StartsWith("app.toml:1:1: backend: "), HasSubstr("[backend]")));
  EXPECT_THAT(refusal("sinks = []\n"), HasSubstr("[sinks.app]"));
  EXPECT_THAT(refusal("[[sinks]]\ntype = \"null\"\n"), HasSubstr("[sinks.app]"));
  EXPECT_THAT(refusal("[sinks]\ntype = \"null\"\n"), HasSubstr("belongs to a sink"));
  EXPECT_THAT(refusal("[sinks]\napp = \"null\"\n"), HasSubstr("[sinks.app]"));
  EXPECT_THAT(refusal("[loggers]\nlevel = \"info\"\n"), HasSubstr("belongs to a logger"));
  EXPECT_THAT(refusal("[loggers]\nnet = \"info\"\n"), HasSubstr("[loggers.net]"));
}

TEST(Refusal, AValueOutOfRangeNamesTheNearestValidOne) {
  EXPECT_THAT(refusal("[backend]\nmemory = \"4 KiB\"\n"), HasSubstr("\"4 KiB\" is too small; the least is \"1 MiB\""));
  EXPECT_THAT(refusal("[backend]\nmemory = \"1 TiB\"\n"), HasSubstr("\"1 TiB\" is too large; the most is \"64 GiB\""));
  EXPECT_THAT(refusal("[backend]\ncpu = -2\n"), HasSubstr("-2 is too small; the least is -1"));
  EXPECT_THAT(refusal("[backend]\ncpu = 4294967296\n"), HasSubstr("the most is 1023"));
  EXPECT_THAT(refusal("[backend]\nreorder_window = \"2 s\"\n"), HasSubstr("the most is \"1 s\""));
  EXPECT_THAT(sink_refusal("flush_interval = \"0 ms\""), HasSubstr("the least is \"1 ms\""));
  EXPECT_THAT(sink_refusal("batch_size = \"128 MiB\""), HasSubstr("the most is \"64 MiB\""));
  EXPECT_THAT(sink_refusal("batch_size = \"99999999999 GiB\""), AllOf(HasSubstr("batch_size"), HasSubstr("the most is \"64 MiB\"")));
  EXPECT_THAT(sink_refusal("batch_size = \"0 B\""), HasSubstr("the least is \"4 KiB\""));
  EXPECT_THAT(sink_refusal("queue_depth = 1", "io_uring"), HasSubstr("the least is 2"));
  EXPECT_THAT(sink_refusal("queue_depth = 4294967298", "io_uring"), HasSubstr("the most is 64"));
  EXPECT_THAT(sink_refusal("sync = \"1 us\""), HasSubstr("the least is \"1 ms\""));
  EXPECT_THAT(sink_refusal("mode = \"1777\""), HasSubstr("the most is \"0777\""));
}

TEST(Refusal, AnUnknownWordNamesTheNearestAndAll) {
  EXPECT_THAT(refusal("[loggers.root]\nlevel = \"warnign\"\n"),
              AllOf(StartsWith("app.toml:2:9: loggers.root.level: "), HasSubstr("did you mean \"warning\"?")));
  EXPECT_THAT(refusal("[loggers.root]\nlevel = \"WARN\"\n"), HasSubstr("\"warning\""));
  EXPECT_THAT(refusal("[backend]\nkeep_level = \"important\"\n"), AllOf(HasSubstr("keep_level"), HasSubstr("\"critical\"")));
  EXPECT_THAT(refusal("[backend]\nformat = \"automatic\"\n"), HasSubstr("did you mean \"auto\"?"));
  EXPECT_THAT(sink_refusal("sync = \"bach\""), HasSubstr("did you mean \"batch\"?"));
  EXPECT_THAT(sink_refusal("sync = \"0 s\""), HasSubstr("write \"none\""));
  EXPECT_THAT(sink_refusal("sync = \"often\""), HasSubstr("neither \"none\" nor \"batch\""));
}

TEST(Refusal, ABatchThatIsNotWholePagesNamesThePageSizeAndTheNextMultiple) {
  const std::string page = std::to_string(::sysconf(_SC_PAGESIZE));
  EXPECT_THAT(sink_refusal("batch_size = \"5000 B\""),
              AllOf(HasSubstr("5000 B is not a multiple of the page size " + page), HasSubstr("try \"")));
}

TEST(Refusal, ABatchBeyondTheMemoryBudgetNamesTheBudget) {
  EXPECT_THAT(refusal("[backend]\nmemory = \"1 MiB\"\n[sinks.app]\ntype = \"null\"\nbatch_size = \"2 MiB\"\n"),
              AllOf(StartsWith("app.toml:5:14: sinks.app.batch_size: "), HasSubstr("backend.memory, 1 MiB; try \"1 MiB\"")));
}

TEST(Refusal, ARingOfTheWrongSizeNamesARightOne) {
  EXPECT_THAT(sink_refusal("size = \"100000 B\"", "mmap_ring"),
              AllOf(StartsWith("app.toml:4:8: sinks.app.size: "), HasSubstr("not a multiple of the page size")));
  EXPECT_THAT(sink_refusal("size = \"4 KiB\"", "mmap_ring"), HasSubstr("the least is \"64 KiB\""));
  EXPECT_THAT(sink_refusal("size = \"1 MiB\"\nbatch_size = \"1 MiB\"", "mmap_ring"), HasSubstr("4 batches of 1 MiB; try \""));
  EXPECT_EQ(sink_refusal("size = \"64 KiB\"", "mmap_ring"), "");
}

TEST(Refusal, AKeyOfAnotherSinkTypeNamesTheTypesThatHaveIt) {
  EXPECT_THAT(sink_refusal("size = \"64 MiB\""), HasSubstr("size belongs to sinks of type mmap_ring, not to write"));
  EXPECT_THAT(sink_refusal("queue_depth = 4", "pwrite"), HasSubstr("belongs to sinks of type io_uring"));
  EXPECT_THAT(sink_refusal("strict = false", "pwrite"), HasSubstr("belongs to sinks of type io_uring"));
  EXPECT_THAT(sink_refusal("page_cache = \"keep\"", "stdio"), HasSubstr("write, pwrite, io_uring"));
  EXPECT_THAT(sink_refusal("rotate.size = \"0 B\"", "mmap_ring"), HasSubstr("not to mmap_ring"));
  const std::string head = "[sinks.app]\ntype = \"console\"\n";
  EXPECT_EQ(refusal(head), "");
  for (const char* key : {"mode = \"0600\"", "sync = \"batch\"", "reopen = true", "create_folders = true"}) {
    EXPECT_THAT(refusal(head + key + "\n"),
                AllOf(StartsWith("app.toml:3:"), HasSubstr("write, pwrite, mmap_ring, io_uring, stdio, not to console")))
        << key;
  }
}

TEST(Refusal, AFileSinksTableMayBeSwitchedToNullAndBack) {
  const std::string table = "[sinks.app]\ntype = \"null\"\npath = \"a.log\"\nmode = \"0600\"\nsync = \"batch\"\nreopen = true\n";
  EXPECT_EQ(refusal(table), "");
  EXPECT_EQ(refusal(table + "[sinks.file]\ntype = \"write\"\npath = \"a.log\"\n"), "") << "null opens no file";
  EXPECT_THAT(refusal(table + "queue_depth = 4\n"), HasSubstr("belongs to sinks of type io_uring, not to null"));
}

TEST(Refusal, APathIsForFilesAndForAConsoleOfItsOwn) {
  EXPECT_EQ(refusal("[sinks.app]\ntype = \"console\"\npath = \"/dev/tty\"\nfollow_symlinks = true\n"), "");
  EXPECT_EQ(refusal("[sinks.app]\ntype = \"console\"\npath = \"\"\n"), "");
}

TEST(Refusal, DirectOnAWriteSinkAdvisesPwrite) {
  EXPECT_THAT(sink_refusal("page_cache = \"direct\""), AllOf(StartsWith("app.toml:4:14: sinks.app.page_cache: "), HasSubstr("pwrite")));
  for (const char* type : {"pwrite", "io_uring"}) EXPECT_EQ(sink_refusal("page_cache = \"direct\"", type), "") << type;
  EXPECT_EQ(sink_refusal("page_cache = \"drop\""), "");
}

TEST(Refusal, ASinkWithoutATypeOrWithAnUnknownOneListsTheTypes) {
  EXPECT_THAT(refusal("[sinks.app]\npath = \"a.log\"\n"),
              AllOf(StartsWith("app.toml:1:1: sinks.app.type: type is missing"), HasSubstr("\"io_uring\"")));
  EXPECT_THAT(refusal("[sinks.app]\ntype = \"iouring\"\n"),
              AllOf(StartsWith("app.toml:2:8: "), HasSubstr("did you mean \"io_uring\"?"), Not(HasSubstr("path"))));
  EXPECT_THAT(refusal("[sinks.app]\ntype = \"syslog\"\n"), HasSubstr("write, pwrite, mmap_ring, io_uring, stdio, console, null"));
}

TEST(Refusal, AFileSinkWithoutAPathSaysSoAtItsTable) {
  for (const char* type : {"write", "pwrite", "mmap_ring", "io_uring", "stdio"})
    EXPECT_THAT(refusal(std::string{"\n[sinks.app]\ntype = \""} + type + "\"\n"),
                AllOf(StartsWith("app.toml:2:1: sinks.app.path: path is missing"), HasSubstr(type)));
  EXPECT_THAT(refusal("[sinks.app]\ntype = \"write\"\npath = \"\"\n"), AllOf(StartsWith("app.toml:3:8: "), HasSubstr("the path is empty")));
  EXPECT_THAT(refusal("[sinks.app]\ntype = \"write\"\npath = \"a\\u0000b\"\n"), HasSubstr("zero byte"));
}

TEST(Refusal, ABadPatternNamesTheField) {
  EXPECT_THAT(sink_refusal("pattern = \"{time} {mesage}\""),
              AllOf(StartsWith("app.toml:4:11: sinks.app.pattern: "), HasSubstr("{message}")));
}

TEST(Refusal, AModeThatIsNotOctalOrKeepsItsOwnerOutShowsOne) {
  for (const char* mode : {"640x", "0o640", "rw-r-----", "", "0689", "00640"})
    EXPECT_THAT(sink_refusal(std::string{"mode = \""} + mode + "\""), HasSubstr("\"0640\"")) << mode;
  EXPECT_THAT(sink_refusal("mode = \"0440\""), HasSubstr("try \"0640\""));
  for (const char* mode : {"640", "0600", "0666", "0777"}) EXPECT_EQ(sink_refusal(std::string{"mode = \""} + mode + "\""), "") << mode;
}

TEST(Refusal, ALoggerThatNamesNoSinkNamesTheNearest) {
  EXPECT_THAT(refusal("[sinks.app]\ntype = \"null\"\n[loggers.root]\nsinks = [\"ap\"]\n"),
              AllOf(StartsWith("app.toml:4:9: loggers.root.sinks: there is no sink \"ap\""), HasSubstr("did you mean \"app\"?")));
  EXPECT_THAT(refusal("[loggers.root]\nsinks = [\"app\"]\n"), HasSubstr("define it as [sinks.app]"));
  EXPECT_THAT(refusal("[sinks.app]\ntype = \"null\"\n[loggers.root]\nsinks = [\"app\", \"app\"]\n"), HasSubstr("named twice"));
}

TEST(Refusal, ALoggersNameIsWordsWithDots) {
  for (const char* name : {"", ".a", "a.", "a..b"})
    EXPECT_THAT(refusal(std::string{"\n[loggers.\""} + name + "\"]\nlevel = \"info\"\n"),
                AllOf(StartsWith("app.toml:2:1: "), HasSubstr("words with dots")))
        << name;
  EXPECT_THAT(refusal("[loggers.\"a\\nb\"]\n"), HasSubstr("control character"));
  EXPECT_THAT(refusal("[sinks.\"\"]\ntype = \"null\"\n"), HasSubstr("[sinks.app]"));
}

TEST(Refusal, WhatIsNotBuiltYetIsAcceptedWithItsDefaultOnly) {
  const auto built = [](detail::section in, std::string_view name) { return detail::find_key(in, name)->built; };
  const auto expect = [&](detail::section in, std::string_view name, const std::string& message) {
    if (built(in, name)) {
      EXPECT_EQ(message, "") << name;
    } else {
      EXPECT_THAT(message, HasSubstr("is not built yet; remove it or set it to ")) << name;
    }
  };
  using enum detail::section;
  expect(backend, "crash_handler", refusal("[backend]\ncrash_handler = true\n"));
  expect(backend, "rescue_file", refusal("[backend]\nrescue_file = \"app\"\n"));
  expect(rotate, "size", sink_refusal("rotate = { size = \"1 GiB\" }"));
  expect(rotate, "every", sink_refusal("rotate.every = \"day\""));
  expect(rotate, "keep", sink_refusal("rotate = { size = \"1 GiB\", keep = 3 }"));
  expect(sink, "failover", refusal("[sinks.a]\ntype = \"null\"\nfailover = \"b\"\n[sinks.b]\ntype = \"null\"\n"));
  EXPECT_EQ(refusal("[backend]\ncrash_handler = false\nrescue_file = \"\"\n[sinks.a]\ntype = \"null\"\nfailover = \"\"\n"), "");
}

TEST(Refusal, AFailoverThatLeadsNowhereOrBackIsRefused) {
  EXPECT_NE(refusal("[sinks.a]\ntype = \"null\"\nfailover = \"b\"\n"), "");
  EXPECT_NE(refusal("[sinks.a]\ntype = \"null\"\nfailover = \"a\"\n"), "");
}

TEST(Refusal, BackendFormatBesideARescueFileIsRefused) {
  EXPECT_NE(refusal("[backend]\nformat = \"backend\"\nrescue_file = \"app\"\n"), "");
}

TEST(Refusal, TheFirstFaultInTheFileIsTheOneThatIsTold) {
  EXPECT_THAT(refusal("[sinks.z]\ntype = \"nul\"\n[sinks.a]\ntype = \"nul\"\n[backend]\nmemory = 1\n"),
              StartsWith("app.toml:2:8: sinks.z.type: "));
  EXPECT_THAT(refusal("[loggers.root]\nsinks = [\"x\"]\n[backend]\nmemory = 1\n"), StartsWith("app.toml:2:9: loggers.root.sinks: "));
}

TEST(Refusal, NamesThatNeedQuotesGetThem) {
  EXPECT_THAT(refusal("[sinks.\"my app\"]\ntype = \"null\"\nsze = 1\n"), HasSubstr("sinks.\"my app\".sze: "));
}

TEST(Refusal, AHugeValueDoesNotMakeAHugeMessage) {
  const std::string message = sink_refusal("sync = \"" + std::string(500'000, 'x') + "\"");
  EXPECT_LT(message.size(), 2'000U);
  EXPECT_THAT(message, HasSubstr("try \"none\""));
}

}  // namespace
