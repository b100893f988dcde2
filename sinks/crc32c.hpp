// SPDX-License-Identifier: MIT
// CRC-32C (Castagnoli), the checksum of iSCSI, ext4 and Btrfs: polynomial 0x1EDC6F41 reflected, start and final value all ones. By the
// processor's instruction where it has one (about 15 GB/s), by a table otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace penstock::sinks {

/// The checksum of `data`; of "123456789" it is 0xE3069283.
std::uint32_t crc32c(std::span<const std::byte> data) noexcept;

/// The same by table only, for machines without the instruction, and for the test that both agree.
std::uint32_t crc32c_by_table(std::span<const std::byte> data) noexcept;

}  // namespace penstock::sinks
