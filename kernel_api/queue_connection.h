// A connection between ports of two PEs, as a kernel declares it (collectives contract §10.1 to §10.4).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace kernbench {

/// Joins port `port` of PE `a` with port `peer_port` of PE `b`, by two queues, one in each direction. PEs are counted
/// as in tl.index(). What is not given is as the receiver's pe_ipcq says; what is given holds for both queues.
struct QueueConnection {
  int64_t a = 0;
  std::string port;
  int64_t b = 0;
  std::string peer_port;
  std::optional<uint32_t> slots;       ///< 1 … 65536
  std::optional<uint64_t> slot_bytes;  ///< a multiple of 64, to 2^30
  std::optional<std::string> tier;     ///< "tcm", "sram" or "hbm"
};

}  // namespace kernbench
