// SPDX-License-Identifier: MIT
#include "lib/os/batch_buffer.hpp"

#include <sys/mman.h>

#include <new>

namespace penstock::os {

batch_buffer::batch_buffer(std::size_t bytes) : bytes_(round_up_to_pages(bytes == 0 ? 1 : bytes)) {
  // MAP_POPULATE write-faults private anonymous memory, so that no batch pays for its first touch.
  void* const memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  begin_ = static_cast<std::byte*>(memory);
}

batch_buffer::~batch_buffer() {
  if (begin_ != nullptr) ::munmap(begin_, bytes_);
}

}  // namespace penstock::os
