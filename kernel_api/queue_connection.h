// SPDX-License-Identifier: Apache-2.0
// A connection between ports of two PEs, as declared by a kernel (collectives rules §10.1 to §10.4).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace kernbench {

/// Connects port `port` of PE `a` with port `peer_port` of PE `b` by two queues, one in each direction. PE numbers are
/// those of tl.index(). Absent values are those of the receiver's pe_ipcq; given values apply to both queues.
struct QueueConnection {
  int64_t a = 0;
  std::string port;
  int64_t b = 0;
  std::string peer_port;
  std::optional<uint32_t> slots;       ///< 1 … 65536
  std::optional<uint64_t> slot_bytes;  ///< a multiple of 64, to 2^30
  std::optional<std::string> tier;     ///< "tcm", "sram" or "hbm"
  /// A protocol of both PEs' pe_ipcq (collectives rules §10.17); absent: by each message's size.
  std::optional<std::string> protocol = {};
};

}  // namespace kernbench
