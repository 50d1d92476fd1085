// SPDX-License-Identifier: Apache-2.0
// Addresses and responses of messages to PEs (control_message.h). Plain data for senders.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "kernbench/phase2/rooms.h"

namespace kernbench::fabric {

struct MessageIds {
  uint64_t correlation = 0;  ///< of the host's operation: equal in all messages that belong to it
  uint64_t request = 0;      ///< of one message and its response
};

enum class HostError : uint8_t {
  ok,
  bad_address,     ///< no memory contains the range
  no_path,         ///< the SIP has no endpoint, or no path leads from it
  pe_busy,         ///< a launch or an unmap reached a PE that runs a kernel
  kernel_fault,    ///< a kernel ended with an error
  no_mmu,          ///< a map or unmap reached a PE that has none
  overlap,         ///< a map overlaps a mapped range
  not_mapped,      ///< an unmap found no mapping that is exactly its range
  memory_error,    ///< a foreign memory answered a transfer with an error
  not_understood,  ///< the destination block does not accept this message
  aborted,         ///< a kernel was ended from outside
};
const char* name_of(HostError);

/// The response to one request or several. An aggregated response has the code and text of the first error.
struct HostResponse {
  MessageIds ids;
  HostError code = HostError::ok;
  std::string text;    ///< one line; empty if ok
  double done_ns = 0;  ///< arrival at the requester
  bool ok() const { return code == HostError::ok; }
};
HostResponse error_response(HostError, std::string text);

/// Address of a PE for messages: the stops on the path to it, by the indices of their blocks.
struct ControlAddress {
  enum Stop : uint32_t { kIoCpu, kMCpu, kPeCpu, kStops };
  std::array<uint32_t, kStops> stops{};
};
/// The addresses of one message, by place.
using ControlAddresses = std::vector<ControlAddress>;

}  // namespace kernbench::fabric
