// SPDX-License-Identifier: Apache-2.0
// The host's way to the PEs: pcie_ep → io_cpu → each cube's m_cpu → its PEs' pe_cpu (timing rules §7), as the
// addresses that a message carries.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernbench/systemc_models/fabric/control_address.h"

namespace kernbench::launch {

class LaunchHost;

/// A part of the host's path that the topology lacks. One line.
class HostPathError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class LaunchMode : uint8_t {
  automatic,  ///< host where the topology has the path, else direct
  host,       ///< through the management processors (timing rules §7)
  direct      ///< every kernel starts as soon as the host says so, at no cost
};
const char* name_of(LaunchMode);

/// Of one launch, or of another message to every PE of it.
struct LaunchWay {
  LaunchMode mode = LaunchMode::direct;               ///< host or direct
  std::string note;                                   ///< why it is direct where that was not asked for
  std::shared_ptr<const ControlAddresses> addresses;  ///< of the PEs, by place
  double latest_ns = 0;                               ///< the last arrival at a PE, after the message left the host
};

/// The host's way to the PEs (indices in compiled order). The first pcie_ep and io0 of each SIP are used. HostPathError
/// that names what is missing; InputError where a block on the way is of a class that takes no messages.
LaunchWay host_launch_way(LaunchHost&, const std::vector<size_t>& pes);
/// From the host to the PEs at once (`--launch direct`). HostPathError, InputError as above.
LaunchWay direct_launch_way(LaunchHost&, const std::vector<size_t>& pes);

/// The way that a mode means. HostPathError where the host's path was asked for and is not there.
LaunchWay choose_launch_way(LaunchHost&, const std::vector<size_t>& pes, LaunchMode);

}  // namespace kernbench::launch
