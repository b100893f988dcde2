// SPDX-License-Identifier: MIT
// Compression of closed files. The text is never in danger: it goes into NAME.zst.tmp, which is synced and then gets its name, and only
// then does the file that was compressed go.
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "lib/os/file.hpp"
#include "sinks/rotation_helper.hpp"
#include "sinks/rotation_names.hpp"

namespace penstock::sinks {
namespace {

namespace fs = std::filesystem;

// zstd's own default: logs shrink to a tenth or less, at some hundreds of MB/s.
constexpr int level = 3;

/// Removes a file that was not finished.
class unfinished_file {
 public:
  explicit unfinished_file(fs::path path) : path_(std::move(path)) {}
  unfinished_file(const unfinished_file&) = delete;
  unfinished_file& operator=(const unfinished_file&) = delete;
  ~unfinished_file() {
    if (!finished_) ::unlink(path_.c_str());
  }
  const fs::path& path() const noexcept { return path_; }
  void finish() noexcept { finished_ = true; }

 private:
  fs::path path_;
  bool finished_ = false;
};

/// Why compression stopped before its end.
struct stopped {
  bool interrupted = false;
  int os_error = 0;
};

struct free_context {
  void operator()(ZSTD_CCtx* one) const noexcept { ZSTD_freeCCtx(one); }
};
using context_pointer = std::unique_ptr<ZSTD_CCtx, free_context>;

/// Compresses all of `source` into `target`. Nothing in `stopped`: it is done.
stopped pump(int source, std::uint64_t source_bytes, int target, bool (*give_up)(void*), void* context) {
  const context_pointer zstd(ZSTD_createCCtx());
  if (zstd == nullptr) throw std::bad_alloc();
  ZSTD_CCtx_setParameter(zstd.get(), ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(zstd.get(), ZSTD_c_checksumFlag, 1);
  ZSTD_CCtx_setPledgedSrcSize(zstd.get(), source_bytes);
  std::vector<std::byte> plain(ZSTD_CStreamInSize());
  std::vector<std::byte> packed(ZSTD_CStreamOutSize());
  for (bool last = false; !last;) {
    if (give_up(context)) return {.interrupted = true};
    const ssize_t count = ::read(source, plain.data(), plain.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return {.os_error = errno};
    last = count == 0;
    ZSTD_inBuffer in{plain.data(), static_cast<std::size_t>(count), 0};
    for (bool more = true; more;) {
      ZSTD_outBuffer out{packed.data(), packed.size(), 0};
      const std::size_t left = ZSTD_compressStream2(zstd.get(), &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
      // Only if the file changed its size meanwhile, which nobody who knows of it does.
      if (ZSTD_isError(left) != 0) return {.os_error = EBUSY};
      const os::write_result written = os::write_all(target, std::span(packed).first(out.pos));
      if (!written.result.ok()) return {.os_error = written.result.os_error};
      more = last ? left != 0 : in.pos != in.size;
    }
  }
  return {};
}

/// Makes names durable: a rename, a removal.
void sync_folder(const fs::path& folder) noexcept {
  const os::descriptor open(os::calls().open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
  if (open.valid()) ::fsync(open.get());
}

compressed compress_file(const fs::path& folder, const std::string& file, bool (*give_up)(void*), void* context, int& os_error) {
  const fs::path from = folder / file;
  const os::descriptor source(os::calls().open(from.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0));
  if (!source.valid()) {
    if (errno == ENOENT) return compressed::one;
    os_error = errno;
    return compressed::failed;
  }
  // Whoever writes to it, in this process or another, has it locked.
  if (::flock(source.get(), LOCK_EX | LOCK_NB) != 0) return compressed::locked;
  struct stat facts {};
  struct stat now {};
  if (os::calls().fstat(source.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return compressed::failed;
  // Another process may have compressed and removed it before the lock was ours.
  if (::lstat(from.c_str(), &now) != 0 || now.st_ino != facts.st_ino) return compressed::one;

  unfinished_file unfinished(from.string() + std::string(unfinished_suffix));
  ::unlink(unfinished.path().c_str());
  const os::descriptor target(os::calls().open(unfinished.path().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!target.valid()) {
    os_error = errno;
    return compressed::failed;
  }
  const stopped early = pump(source.get(), static_cast<std::uint64_t>(facts.st_size), target.get(), give_up, context);
  if (early.interrupted) return compressed::interrupted;
  os_error = early.os_error;
  // Who may read the file may read the compressed one; its owner is kept as far as the kernel lets us.
  if (os_error == 0 && ::fchown(target.get(), facts.st_uid, facts.st_gid) != 0 && ::geteuid() == 0) os_error = errno;
  if (os_error == 0 && ::fchmod(target.get(), facts.st_mode & 0777U) != 0) os_error = errno;
  if (os_error == 0 && ::fsync(target.get()) != 0) os_error = errno;
  if (os_error == 0 && ::rename(unfinished.path().c_str(), (from.string() + std::string(compressed_suffix)).c_str()) != 0) os_error = errno;
  if (os_error != 0) return compressed::failed;
  unfinished.finish();
  sync_folder(folder);
  if (::unlink(from.c_str()) == 0) return compressed::one;
  os_error = errno;
  return compressed::failed;
}

}  // namespace

compressed compress_one(const closed_files& files, bool (*give_up)(void* context), void* context, int& os_error) {
  bool any_locked = false;
  bool any_failed = false;
  for (const closed_file& each : list_closed_files(files.folder, files.base)) {
    if (each.parsed.is != parsed_name::form::plain || each.bytes == 0) continue;
    switch (const compressed result = compress_file(files.folder, each.file, give_up, context, os_error)) {
      case compressed::locked:
        any_locked = true;
        break;
      case compressed::failed:
        any_failed = true;  // The others may do better.
        break;
      default:
        return result;
    }
  }
  if (any_failed) return compressed::failed;
  return any_locked ? compressed::locked : compressed::none_left;
}

}  // namespace penstock::sinks
