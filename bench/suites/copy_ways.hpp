// SPDX-License-Identifier: MIT
// The ways to copy a file that the copy and the buffer post compare, each by the system calls that the Java class makes.
#pragma once

#include <cstddef>

#include "bench/suites/pass.hpp"
#include "bench/suites/sink_rows.hpp"

namespace penstock::bench {

/// Which clock pays for the copy's buffer: `close`, as in the posts, or `setup`.
enum class allocation { timed, before };

void copy_by_bytes(pass& the_pass);                                                ///< getc/putc through 8192 bytes
void copy_by_buffer(pass& the_pass, std::size_t buffer_bytes, allocation memory);  ///< read(2), write(2)
void copy_whole(pass& the_pass, allocation memory);                                ///< one buffer as large as the file
void copy_by_mapping(pass& the_pass);                                              ///< mmap(2) of the source, one write(2)
void copy_by_populated_mapping(pass& the_pass);                                    ///< the same with MAP_POPULATE and writes of 1 MiB
void copy_by_mapped_slices(pass& the_pass);                                        ///< mappings of 8 MiB, pwrite(2)
void copy_by_sendfile(pass& the_pass);
void copy_by_copy_file_range(pass& the_pass);

/// Reads the source of a pass straight into what the sink lends.
void copy_into_sink(sink_writer& out, const pass& the_pass);

}  // namespace penstock::bench
