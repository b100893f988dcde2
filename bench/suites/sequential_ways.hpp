// SPDX-License-Identifier: MIT
// The writing and reading loops of the sequential post. Data is either taken from prepared memory or made inside the loop, as the post did.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bench/suites/pass.hpp"

namespace penstock::bench {

/// Whether a writing loop makes its data inside the clock.
enum class generation { before, timed };

void write_blocks(pass& p, std::uint64_t bytes, std::size_t block_bytes, generation made);      ///< write(2)
void write_by_bytes(pass& p, std::uint64_t bytes, generation made);                             ///< putc through 8192 bytes
void write_by_channel(pass& p, std::uint64_t bytes, std::size_t block_bytes, generation made);  ///< a copy, then pwrite(2)
void write_mapped(pass& p, std::uint64_t bytes, std::size_t block_bytes, generation made, bool populate);
void write_whole(pass& p, std::uint64_t bytes, generation made);  ///< 8192-byte writes of one array

void read_blocks(pass& p, std::size_t block_bytes);      ///< read(2)
void read_by_bytes(pass& p);                             ///< getc through 8192 bytes; sees the plain sum of the bytes
void read_by_channel(pass& p, std::size_t block_bytes);  ///< pread(2), then a copy
void read_mapped(pass& p, std::size_t block_bytes);
void read_whole(pass& p);  ///< one read(2) into a new array

void generate_only(pass& p, std::uint64_t bytes, std::size_t block_bytes);  ///< no file at all; sees the plain sum of the bytes
void checksum_only(pass& p, std::uint64_t bytes, std::size_t block_bytes);

}  // namespace penstock::bench
