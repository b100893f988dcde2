// SPDX-License-Identifier: MIT
// Config files as they lie on a disk, and sinks that would meet in one file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "tests/config/config_testing.hpp"

namespace {

using namespace penstock;
using namespace penstock::testing_config;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

namespace fs = std::filesystem;

std::string load_refusal(const fs::path& file) {
  try {
    static_cast<void>(load_config(file));
  } catch (const config_error& error) {
    return error.what();
  }
  return {};
}

/// Two sinks on these files.
std::string pair_refusal(const fs::path& one, const fs::path& other) {
  return refusal("[sinks.one]\ntype = \"write\"\npath = \"" + one.string() + "\"\n[sinks.two]\ntype = \"pwrite\"\npath = \"" +
                 other.string() + "\"\n");
}

TEST(LoadConfig, ReadsAFileAndNamesItInMessages) {
  const scratch_folder folder;
  EXPECT_EQ(load_config(folder.write("good.toml", "[backend]\ncpu = 1\n")).backend.cpu, 1);
  EXPECT_EQ(load_config(folder.write("empty.toml", "")), config{});
  const fs::path bad = folder.write("bad.toml", "[backend]\ncpu = \"1\"\n");
  EXPECT_THAT(load_refusal(bad), StartsWith(bad.string() + ":2:7: backend.cpu: "));
}

TEST(LoadConfig, AFileThatIsMissingOrAFolderIsRefusedWithTheReason) {
  const scratch_folder folder;
  EXPECT_THAT(load_refusal(folder.path() / "none.toml"), AllOf(HasSubstr("none.toml:1:1: "), HasSubstr("No such file")));
  EXPECT_THAT(load_refusal(folder.path()), AllOf(HasSubstr(":1:1: "), HasSubstr("Is a directory")));
  EXPECT_THAT(load_refusal(""), HasSubstr("cannot be read"));
}

TEST(LoadConfig, AFileThatIsFarTooLongIsRefusedWithoutReadingAllOfIt) {
  const scratch_folder folder;
  EXPECT_THAT(load_refusal(folder.write("long.toml", std::string(10'000'000, '\n'))), HasSubstr("larger than 1 MiB"));
  EXPECT_EQ(load_refusal(folder.write("just.toml", std::string(std::size_t{1} << 20, '\n'))), "");
  if (fs::exists("/dev/zero")) {
    EXPECT_THAT(load_refusal("/dev/zero"), HasSubstr("larger than 1 MiB"));
  }
}

TEST(TwoSinks, OnOneFileAreRefusedAtTheSecondPathHoweverItIsSpelt) {
  EXPECT_THAT(pair_refusal("a.log", "a.log"),
              AllOf(StartsWith("app.toml:6:8: sinks.two.path: "), HasSubstr("a.log"), HasSubstr("sinks.one.path")));
  EXPECT_THAT(pair_refusal("a.log", "./x/..//a.log"), StartsWith("app.toml:6:8: "));
  EXPECT_THAT(pair_refusal("a.log", fs::absolute("a.log")), StartsWith("app.toml:6:8: "));
  EXPECT_EQ(pair_refusal("a.log", "b.log"), "");
}

TEST(TwoSinks, OnOneFileThroughALinkAreRefused) {
  const scratch_folder folder;
  const fs::path real = folder.path() / "real";
  fs::create_directory(real);
  fs::create_directory_symlink(real, folder.path() / "alias");
  EXPECT_THAT(pair_refusal(real / "new.log", folder.path() / "alias" / "new.log"), HasSubstr("sinks.one.path"));
  const fs::path file = folder.write("a.log", "");
  fs::create_hard_link(file, folder.path() / "b.log");
  EXPECT_THAT(pair_refusal(file, folder.path() / "b.log"), HasSubstr("sinks.one.path"));
  fs::create_symlink(file, folder.path() / "c.log");
  EXPECT_THAT(pair_refusal(file, folder.path() / "c.log"), HasSubstr("sinks.one.path"));
}

TEST(TwoSinks, TheLaterOneInTheFileIsToBlameWhateverItsName) {
  EXPECT_THAT(refusal("[sinks.z]\ntype = \"write\"\npath = \"a.log\"\n[sinks.a]\ntype = \"write\"\npath = \"a.log\"\n"),
              StartsWith("app.toml:6:8: sinks.a.path: "));
}

TEST(SinkPath, ThatIsAFolderIsRefused) {
  const scratch_folder folder;
  EXPECT_THAT(refusal("[sinks.a]\ntype = \"write\"\npath = \"" + folder.path().string() + "\"\n"), HasSubstr("is a folder"));
  EXPECT_THAT(refusal("[sinks.a]\ntype = \"write\"\npath = \"logs/\"\n"), HasSubstr("is a folder"));
}

TEST(Validate, HoldsAConfigurationFilledInByHandToTheSameRules) {
  EXPECT_EQ(refusal(config{}), "");
  config settings;
  settings.sinks["app"].path = "a.log";
  EXPECT_EQ(refusal(settings), "");
  settings.sinks["app"].batch_size = 5000;
  EXPECT_THAT(refusal(settings), StartsWith("sinks.app.batch_size: 5000 B is not a multiple of the page size"));
  settings.sinks["app"].batch_size.reset();
  settings.sinks["app"].queue_depth = 8;
  EXPECT_THAT(refusal(settings), StartsWith("sinks.app.queue_depth: queue_depth belongs to sinks of type io_uring"));
  settings.sinks["app"] = {};
  EXPECT_THAT(refusal(settings), StartsWith("sinks.app.path: path is missing"));
  settings.sinks["app"].type = "nul";
  EXPECT_THAT(refusal(settings), StartsWith("sinks.app.type: unknown sink type \"nul\"; did you mean \"null\"?"));
}

TEST(Validate, RefusesWhatAFileCouldNotEvenSay) {
  config settings;
  settings.backend.block_timeout = std::chrono::nanoseconds{-1};
  EXPECT_THAT(refusal(settings), StartsWith("backend.block_timeout: \"-1 ns\" is too small"));
  settings.backend = {};
  settings.backend.memory = ~std::size_t{0};
  EXPECT_THAT(refusal(settings), HasSubstr("is too large; the most is \"64 GiB\""));
  settings.backend = {};
  settings.backend.keep_level = static_cast<level>(77);
  EXPECT_THAT(refusal(settings), StartsWith("backend.keep_level: 77 is not one of"));
  settings.backend = {};
  settings.loggers["a..b"] = {};
  EXPECT_THAT(refusal(settings), StartsWith("loggers.a..b: "));
}

}  // namespace
