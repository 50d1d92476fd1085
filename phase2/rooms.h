// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The namespaces of the project's folders. Each is inline: a name is also found in `kernbench`, so code outside a
/// folder may write kernbench::Route for kernbench::fabric::Route. Every header of these folders includes this file,
/// first or through another.

// clang: a namespace opened again below without "inline" is meant.
#if defined(__clang__)
#pragma clang diagnostic ignored "-Winline-namespace-reopened-noninline"
#endif

namespace kernbench {
inline namespace phase2 {}
inline namespace core {}
inline namespace fabric {}
inline namespace memory {}
inline namespace pe {}
inline namespace protocol {}
inline namespace io {}
inline namespace elaborate {}
inline namespace launch {}
inline namespace observe {}
inline namespace work {}
inline namespace study {}
}  // namespace kernbench
