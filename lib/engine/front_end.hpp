// SPDX-License-Identifier: MIT
// What the rest of the engine asks of the front end.
#pragma once

namespace penstock::front_end {

/// In a forked child: the calling thread begins anew, without the stream that it had in the parent.
void forget_stream() noexcept;

}  // namespace penstock::front_end
