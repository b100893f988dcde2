// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <string>

#include "lib/os/file.hpp"
#include "tests/support/process.hpp"
#include "tests/support/sanitizers.hpp"
#include "tests/support/temp_folder.hpp"

namespace penstock::os {
namespace {

namespace fs = std::filesystem;
using penstock::testing::status_of_child;
using penstock::testing::temp_folder;
using penstock::testing::text_of;
using penstock::testing::write_text;
using ::testing::AllOf;
using ::testing::HasSubstr;

class OpenLogFile : public ::testing::Test {
 protected:
  /// The text of the refusal; empty if it opened.
  std::string refusal(const fs::path& where, const open_options& options = {}) {
    try {
      const descriptor file = open_log_file(where, options);
      return {};
    } catch (const std::system_error& error) {
      return error.what();
    }
  }
  mode_t mode_of(const fs::path& where) {
    struct stat facts {};
    EXPECT_EQ(::stat(where.c_str(), &facts), 0);
    return facts.st_mode & 07777U;
  }
  temp_folder folder;
  fs::path path = folder / "log";
};

TEST_F(OpenLogFile, MakesItWithTheModeThatTheUmaskLeaves) {
  const mode_t former = ::umask(027);
  open_log_file(path, {.mode = 0666});
  ::umask(former);
  EXPECT_EQ(mode_of(path), 0640U);
}

TEST_F(OpenLogFile, IsNotInheritedByProgramsThatAreExecuted) {
  const descriptor file = open_log_file(path, {});
  EXPECT_EQ(::fcntl(file.get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  EXPECT_EQ(::fcntl(file.get(), F_GETFL) & (O_APPEND | O_NONBLOCK), O_APPEND);
}

TEST_F(OpenLogFile, StaysAwayFromStandardErrorsNumber) {
  EXPECT_EQ(status_of_child([&] {
              ::close(STDIN_FILENO);
              ::close(STDERR_FILENO);
              const descriptor file = open_log_file(path, {});
              const bool closed_again = ::fcntl(STDIN_FILENO, F_GETFD) < 0 && ::fcntl(STDERR_FILENO, F_GETFD) < 0;
              return file.get() > STDERR_FILENO && closed_again && (::fcntl(file.get(), F_GETFD) & FD_CLOEXEC) != 0 ? 0 : 1;
            }),
            0);
}

TEST_F(OpenLogFile, NamesTheFolderThatIsMissingAndTheRemedy) {
  EXPECT_THAT(refusal(folder / "a/b/log"),
              AllOf(HasSubstr((folder / "a/b/log").string()), HasSubstr("folder '" + (folder / "a").string() + "' does not exist"),
                    HasSubstr("create_folders = true"), HasSubstr("No such file")));
}

TEST_F(OpenLogFile, MakesFoldersThatWhoeverReadsTheFileMaySearch) {
  const mode_t former = ::umask(022);
  const descriptor file = open_log_file(folder / "a/b/log", {.mode = 0640, .create_folders = true});
  ::umask(former);
  EXPECT_EQ(mode_of(folder / "a"), 0750U);
  EXPECT_EQ(mode_of(folder / "a/b"), 0750U);
  EXPECT_EQ(mode_of(folder / "a/b/log"), 0640U);
  EXPECT_EQ(refusal(folder / "a/b/log", {.create_folders = true}), "");
}

TEST_F(OpenLogFile, RefusesAFileInPlaceOfAFolderWhenItMakesFolders) {
  write_text(path, "x");
  EXPECT_THAT(refusal(path / "log", {.create_folders = true}), HasSubstr(path.string()));
  EXPECT_THAT(refusal(path / "log"), HasSubstr("not a folder"));
}

TEST_F(OpenLogFile, DoesNotFollowASymbolicLinkUnlessToldTo) {
  write_text(folder / "target", "kept\n");
  fs::create_symlink(folder / "target", path);
  EXPECT_THAT(refusal(path), AllOf(HasSubstr("symbolic link"), HasSubstr("follow_symlinks = true")));
  EXPECT_EQ(refusal(path, {.follow_symlinks = true}), "");
  EXPECT_EQ(text_of(folder / "target"), "kept\n");
}

TEST_F(OpenLogFile, FollowsSymbolicLinksBeforeTheLastComponent) {
  fs::create_directory(folder / "real");
  fs::create_directory_symlink(folder / "real", folder / "link");
  EXPECT_EQ(refusal(folder / "link/log"), "");
}

TEST_F(OpenLogFile, RefusesAFolder) { EXPECT_THAT(refusal(folder.path()), HasSubstr("it is a folder")); }

TEST_F(OpenLogFile, RefusesAnEmptyPath) { EXPECT_THAT(refusal(""), HasSubstr("set path")); }

TEST_F(OpenLogFile, DoesNotWaitForTheReaderOfAFifo) {
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT(refusal(path), HasSubstr("start the reader first"));
  const descriptor reader(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  EXPECT_EQ(refusal(path), "");
}

TEST_F(OpenLogFile, RefusesWhatIsNoRegularFileWhereOneIsNeeded) {
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT(refusal(path, {.regular_only = true}), AllOf(HasSubstr("not a regular file"), HasSubstr("use type = \"write\"")));
  EXPECT_THAT(refusal("/dev/full", {.regular_only = true}), HasSubstr("not a regular file"));
}

TEST_F(OpenLogFile, TellsWhichProcessHasTheLock) {
  std::array<int, 2> fds{};
  ASSERT_EQ(::pipe(fds.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const descriptor file = open_log_file(path, {.lock = true});
    const char ready = 'r';
    static_cast<void>(::write(fds[1], &ready, 1));
    ::pause();
    ::_exit(0);
  }
  char ready = 0;
  ASSERT_EQ(::read(fds[0], &ready, 1), 1);
  EXPECT_THAT(refusal(path, {.lock = true}),
              AllOf(HasSubstr("process " + std::to_string(child) + " has it open for itself"), HasSubstr("give each its own file")));
  EXPECT_EQ(refusal(path), "") << "who needs no lock may still append";
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(fds[0]);
  ::close(fds[1]);
  EXPECT_EQ(refusal(path, {.lock = true}), "") << "a killed owner leaves no lock behind";
}

TEST_F(OpenLogFile, TellsWhenThisProcessHasTheLockItself) {
  const descriptor file = open_log_file(path, {.lock = true});
  EXPECT_THAT(refusal(path, {.lock = true}), HasSubstr("this process (" + std::to_string(::getpid()) + ")"));
  ASSERT_TRUE(share_for_appending(file.get()).ok());
  EXPECT_EQ(refusal(path, {.lock = true}), "");
}

TEST_F(OpenLogFile, TellsWhenThisProcessHasTooManyFiles) {
  if (penstock::testing::under_asan)
    GTEST_SKIP() << "the sanitizers' check of exception objects opens a file itself, and reports what it cannot look at";
  EXPECT_EQ(status_of_child([&] {
              const rlimit few{3, 3};
              ::setrlimit(RLIMIT_NOFILE, &few);
              return refusal(path).find("ulimit -n") != std::string::npos ? 0 : 1;
            }),
            0);
}

TEST_F(OpenLogFile, TellsWhoMayNotWriteThere) {
  if (::geteuid() == 0) {
    ASSERT_EQ(::chmod(folder.path().c_str(), 0755), 0);
    EXPECT_EQ(status_of_child([&] {
                if (::setgid(65534) != 0 || ::setuid(65534) != 0) return 2;
                return refusal(path).find("user 65534 may not write there") != std::string::npos ? 0 : 1;
              }),
              0);
    return;
  }
  ASSERT_EQ(::chmod(folder.path().c_str(), 0555), 0);
  EXPECT_THAT(refusal(path), HasSubstr("may not write there"));
  ::chmod(folder.path().c_str(), 0755);
}

}  // namespace
}  // namespace penstock::os
