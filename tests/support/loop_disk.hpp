// SPDX-License-Identifier: MIT
// A disk of the test's own: ext4 in an image behind a loop device, in a mount namespace that goes with the process, so that nothing stays
// mounted whatever becomes of the test. It can be smaller than it says (writes succeed, write-back fails) and it can be frozen.
#pragma once

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/loop.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "tests/support/patience.hpp"

namespace penstock::testing {

/// A descriptor that is closed with its scope. Not os::descriptor, so that tests of the shared library can have it.
class scoped_fd {
 public:
  explicit scoped_fd(int fd = -1) noexcept : fd_(fd) {}
  ~scoped_fd() { reset(); }
  scoped_fd(const scoped_fd&) = delete;
  scoped_fd& operator=(const scoped_fd&) = delete;
  int get() const noexcept { return fd_; }
  bool valid() const noexcept { return fd_ >= 0; }
  void reset(int fd = -1) noexcept {
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
  }

 private:
  int fd_;
};

class loop_disk {
 public:
  struct sizes {
    std::size_t disk_bytes = std::size_t{64} << 20;
    std::size_t backing_bytes = 0;  ///< of the tmpfs that the image is on; 0: it is where the folder is, and whole
  };

  /// Thread: call it before the test has threads; they have the mount namespace of whoever made them.
  loop_disk(const std::filesystem::path& folder, sizes of)
      : backing_(folder / "backing"), path_(folder / "disk"), thin_(of.backing_bytes != 0) {
    make(of);
  }
  ~loop_disk() {
    detach();
    if (thin_) ::umount2(backing_.c_str(), MNT_DETACH);
  }
  loop_disk(const loop_disk&) = delete;
  loop_disk& operator=(const loop_disk&) = delete;

  /// Why there is no such disk here, as a sentence for GTEST_SKIP; empty: there is one.
  const std::string& refused() const noexcept { return refused_; }
  const std::filesystem::path& path() const noexcept { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

  /// Space behind a thin disk.
  bool grow_backing(std::size_t bytes) { return ::mount(nullptr, backing_.c_str(), nullptr, MS_REMOUNT, size_option(bytes).c_str()) == 0; }
  /// The device is gone for good: every write and sync fails with EIO. Source: EXT4_IOC_SHUTDOWN, without a last flush (2).
  bool shut_down() {
    const scoped_fd folder(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    std::uint32_t how = 2;
    return folder.valid() && ::ioctl(folder.get(), _IOR('X', 125, std::uint32_t), &how) == 0;
  }
  /// Takes the disk out and puts it in again: what is read then is what is on the medium. Nothing of it may be open.
  bool reattach() {
    detach();
    attach();
    return refused_.empty();
  }

 private:
  /// The errno that refuses it; 0: this process has one.
  static int own_namespace() {
    static const int error = ::unshare(CLONE_NEWNS) == 0 && ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 ? 0 : errno;
    return error;
  }
  static std::string size_option(std::size_t bytes) { return "size=" + std::to_string(bytes); }
  std::filesystem::path image_path() const { return backing_ / "image"; }

  void make(sizes of) {
    std::filesystem::create_directory(backing_);
    std::filesystem::create_directory(path_);
    errno = own_namespace();
    if (errno != 0) return refuse("a mount namespace");
    if (thin_ && ::mount("penstock_test", backing_.c_str(), "tmpfs", 0, size_option(of.backing_bytes).c_str()) != 0)
      return refuse("a tmpfs");
    const scoped_fd image(::open(image_path().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!image.valid() || ::ftruncate(image.get(), static_cast<off_t>(of.disk_bytes)) != 0) return refuse("an image file");
    const std::string make = "PATH=$PATH:/usr/sbin:/sbin mkfs.ext4 -q -F -m 0 -O ^has_journal '" + image_path().string() + "' >&2";
    if (std::system(make.c_str()) != 0) {
      errno = ENOEXEC;
      return refuse("mkfs.ext4");
    }
    attach();
  }
  void attach() {
    const scoped_fd control(::open("/dev/loop-control", O_RDWR | O_CLOEXEC));
    const scoped_fd image(::open(image_path().c_str(), O_RDWR | O_CLOEXEC));
    if (!control.valid() || !image.valid()) return refuse("/dev/loop-control");
    loop_config how{};
    how.fd = static_cast<std::uint32_t>(image.get());
    how.info.lo_flags = LO_FLAGS_AUTOCLEAR;  // the device is free again as soon as nothing of it is mounted
    // Another process may be faster with the number that was free.
    for (int attempt = 0; attempt < 100; ++attempt) {
      const int number = ::ioctl(control.get(), LOOP_CTL_GET_FREE);
      const std::string device = "/dev/loop" + std::to_string(number);
      const scoped_fd loop(number < 0 ? -1 : ::open(device.c_str(), O_RDWR | O_CLOEXEC));
      if (!loop.valid()) return refuse("a loop device");
      if (::ioctl(loop.get(), LOOP_CONFIGURE, &how) != 0) {
        if (errno == EBUSY) continue;
        return refuse("LOOP_CONFIGURE");
      }
      if (::mount(device.c_str(), path_.c_str(), "ext4", MS_NOATIME, nullptr) != 0) return refuse("mounting ext4");
      mounted_ = true;
      return;
    }
    refuse("a loop device");
  }
  void detach() {
    if (mounted_ && ::umount2(path_.c_str(), 0) != 0) ::umount2(path_.c_str(), MNT_DETACH);
    mounted_ = false;
  }
  void refuse(const char* what) {
    refused_ = std::string("SKIPPED: this needs root, loop devices and mkfs.ext4; ") + what +
               " cannot be had: " + std::generic_category().message(errno);
  }

  std::filesystem::path backing_;
  std::filesystem::path path_;
  bool thin_;
  bool mounted_ = false;
  std::string refused_{};
};

/// The disk stands still while this lives: whoever writes to it waits in the kernel. A process of its own holds it frozen and thaws it,
/// also when the test is killed or has not done so by itself after `most`.
class frozen_disk {
 public:
  explicit frozen_disk(const std::filesystem::path& mount_point, std::chrono::seconds most = patience) {
    int word[2] = {-1, -1};  // the end of the test, or its word
    int answer[2] = {-1, -1};
    if (::pipe2(word, O_CLOEXEC) != 0 || ::pipe2(answer, O_CLOEXEC) != 0) return;
    keeper_ = ::fork();
    if (keeper_ == 0) {
      ::close(word[1]);
      ::close(answer[0]);
      keep(mount_point.c_str(), word[0], answer[1], most);
    }
    ::close(word[0]);
    ::close(answer[1]);
    word_.reset(word[1]);
    if (::read(answer[0], &error_, sizeof error_) != sizeof error_) error_ = EIO;
    ::close(answer[0]);
  }
  ~frozen_disk() { static_cast<void>(thaw()); }
  frozen_disk(const frozen_disk&) = delete;
  frozen_disk& operator=(const frozen_disk&) = delete;

  /// As loop_disk::refused().
  std::string refused() const {
    return error_ == 0 ? std::string() : "SKIPPED: the disk cannot be frozen (FIFREEZE): " + std::generic_category().message(error_);
  }

  /// Lets the disk go on. False: it was thawed before, since the test had not come here for too long: something waited for the disk.
  bool thaw() {
    word_.reset();
    if (keeper_ <= 0) return true;
    int status = 0;
    ::waitpid(keeper_, &status, 0);
    keeper_ = -1;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

 private:
  // Only system calls, since the test may have threads.
  [[noreturn]] static void keep(const char* mount_point, int word, int answer, std::chrono::seconds most) {
    ::setsid();
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
    // Opened before: it keeps the file system reachable even if the mount goes.
    const int folder = ::open(mount_point, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int error = folder >= 0 && ::ioctl(folder, FIFREEZE, 0) == 0 ? 0 : errno;
    static_cast<void>(::write(answer, &error, sizeof error) == sizeof error);
    if (error != 0) ::_exit(0);
    pollfd waiting{word, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(std::chrono::milliseconds(most).count()));
    ::ioctl(folder, FITHAW, 0);
    ::_exit(ready == 1 ? 0 : 1);
  }

  pid_t keeper_ = -1;
  int error_ = EIO;
  scoped_fd word_{};
};

}  // namespace penstock::testing
