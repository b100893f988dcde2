// SPDX-License-Identifier: MIT
// System calls that the kernel refuses: a seccomp filter answers in its place, for the rest of the process. For forked children.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <vector>

namespace penstock::testing {

/// From now on all threads of this process get `os_error` from those calls; with `fds`, only where one of them is the first argument.
/// False: filters are refused here.
inline bool refuse_calls(const std::vector<long>& calls, int os_error, const std::vector<int>& fds = {}) {
  std::vector<sock_filter> rules;
  const auto add = [&](sock_filter rule) { rules.push_back(rule); };
  const auto answer = [&] { add(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (static_cast<unsigned>(os_error) & SECCOMP_RET_DATA))); };
  const auto allow = [&] { add(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)); };
  for (const long call : calls) {
    add(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
    // Over what belongs to this call: its answer, or for each descriptor a comparison and an answer behind the load.
    const auto own = static_cast<unsigned char>(fds.empty() ? 1 : 1 + 2 * fds.size());
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, own));
    if (fds.empty()) {
      answer();
      continue;
    }
    add(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)));  // The low half, where the machine is little-endian.
    for (const int fd : fds) {
      add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(fd), 0, 1));
      answer();
    }
  }
  allow();
  const sock_fprog program{.len = static_cast<unsigned short>(rules.size()), .filter = rules.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

inline bool refuse_call(long call, int os_error) { return refuse_calls({call}, os_error); }

}  // namespace penstock::testing
