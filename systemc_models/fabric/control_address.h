// SPDX-License-Identifier: Apache-2.0
// What a message to PEs carries beside what it says (control_message.h): whose it is, where it goes, how it was
// answered. Plain data, for who sends one.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "kernbench/phase2/rooms.h"

namespace kernbench::fabric {

struct MessageIds {
  uint64_t correlation = 0;  ///< of the host's operation: the same in every message that belongs to it
  uint64_t request = 0;      ///< of one message; its response carries the same
};

enum class HostError : uint8_t {
  ok,
  bad_address,     ///< no memory holds the range
  no_path,         ///< no endpoint of the SIP, or no way from it
  pe_busy,         ///< a launch or an unmap reached a PE that runs a kernel
  kernel_fault,    ///< a kernel ended in an error
  no_mmu,          ///< a map or unmap reached a PE that has none
  overlap,         ///< a map found the range mapped, in part or as a whole
  not_mapped,      ///< an unmap found no mapping that is exactly its range
  memory_error,    ///< a foreign memory answered a transfer with an error
  not_understood,  ///< the message says nothing that the block at its end knows
};
const char* name_of(HostError);

/// To a request, or to many: of an aggregated response the code and text are those of the first error.
struct HostResponse {
  MessageIds ids;
  HostError code = HostError::ok;
  std::string text;    ///< one line; empty if ok
  double done_ns = 0;  ///< when the asker had it
  bool ok() const { return code == HostError::ok; }
};
HostResponse error_response(HostError, std::string text);

/// A PE as a message finds it: the stops on the way there, by the indices of their blocks.
struct ControlAddress {
  enum Stop : uint32_t { kIoCpu, kMCpu, kPeCpu, kStops };
  std::array<uint32_t, kStops> stops{};
};
/// Those of one message, by place.
using ControlAddresses = std::vector<ControlAddress>;

}  // namespace kernbench::fabric
