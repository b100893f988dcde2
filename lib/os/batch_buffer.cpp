// SPDX-License-Identifier: MIT
#include "lib/os/batch_buffer.hpp"

#include <new>

#include "lib/os/mapping.hpp"

namespace penstock::os {

batch_buffer::batch_buffer(std::size_t bytes, bool huge) : bytes_(round_up_to_pages(bytes == 0 ? 1 : bytes)), huge_(huge) {
  begin_ = map_memory(bytes_, huge_);
  if (begin_ == nullptr) throw std::bad_alloc();
}

batch_buffer::~batch_buffer() { unmap_memory(begin_, bytes_, huge_); }

}  // namespace penstock::os
