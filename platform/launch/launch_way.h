// SPDX-License-Identifier: Apache-2.0
// The host's path to the PEs: pcie_ep → io_cpu → each cube's m_cpu → its PEs' pe_cpu (timing rules §7), as the
// addresses that a message carries.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernbench/systemc_models/fabric/control_address.h"

namespace kernbench::launch {

class LaunchHost;

/// A missing node of the host's path. One line.
class HostPathError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class LaunchMode : uint8_t {
  automatic,  ///< host if the topology has the path, else direct
  host,       ///< through the management processors (timing rules §7)
  direct      ///< all kernels start at once, at no cost
};
const char* name_of(LaunchMode);

/// The path of a launch, or of another message to all its PEs.
struct LaunchWay {
  LaunchMode mode = LaunchMode::direct;               ///< host or direct
  std::string note;                                   ///< reason for direct if it was not requested
  std::shared_ptr<const ControlAddresses> addresses;  ///< of the PEs, by place
  double latest_ns = 0;                               ///< time from the host to the last arrival at a PE
};

/// The host's path to the PEs (indices in compiled order), through the first pcie_ep and io0 of each SIP. HostPathError
/// with the missing nodes; InputError if a block on the path does not accept messages.
LaunchWay host_launch_way(LaunchHost&, const std::vector<size_t>& pes);
/// From the host directly to the PEs (`--launch direct`). HostPathError, InputError as above.
LaunchWay direct_launch_way(LaunchHost&, const std::vector<size_t>& pes);

/// The path for a mode. HostPathError if the host's path was requested and does not exist.
LaunchWay choose_launch_way(LaunchHost&, const std::vector<size_t>& pes, LaunchMode);

}  // namespace kernbench::launch
