// The host's way to the PEs: pcie_ep → io_cpu → each cube's m_cpu → its PEs' pe_cpu (timing contract §7).
//
// A leg is a route of the topology; it costs the overheads of its nodes but the last, and its wires, in both
// directions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace kernbench {

class Machine;

/// A part of the host's path that the topology lacks. One line.
class HostPathError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The ways of one launch (or of another message to every PE), as a tree: the host first, then the io_cpus, the m_cpus
/// and the PEs, each level in compiled order of its first PE, so that the children of one stop stand together.
struct LaunchTree {
  enum class Role : uint8_t { host, io_cpu, m_cpu, pe };
  struct Stop {
    Role role = Role::host;
    uint32_t node = 0;    ///< in the graph; of the host: none
    uint32_t parent = 0;  ///< index of a stop
    uint32_t first_child = 0, children = 0;
    double leg_ns = 0;      ///< from the parent to here, and the same back
    double arrival_ns = 0;  ///< of the message, after it left the host
    size_t place = 0;       ///< of a PE: in the launch
  };
  std::vector<Stop> stops;
  double latest_ns = 0;  ///< the last arrival at a PE, after the launch left the host
};

enum class LaunchMode : uint8_t {
  automatic,  ///< host where the topology has the path, else direct
  host,       ///< through the management processors (timing contract §7)
  direct      ///< every kernel starts as soon as the host says so, at no cost
};
const char* name_of(LaunchMode);

/// The host's way to the PEs (indices in compiled order). The first pcie_ep and io0 of each SIP are used. HostPathError
/// that names what is missing.
LaunchTree host_launch_tree(Machine&, const std::vector<size_t>& pes);
/// No way at all: the PEs are right behind the host, at no cost (`--launch direct`).
LaunchTree direct_launch_tree(Machine&, const std::vector<size_t>& pes);

/// The way that a mode means, and why it is direct where that was not asked for. HostPathError where the host's path was
/// asked for and is not there.
struct LaunchWay {
  LaunchMode mode = LaunchMode::direct;  ///< host or direct
  std::string note;
  LaunchTree tree;
};
LaunchWay choose_launch_way(Machine&, const std::vector<size_t>& pes, LaunchMode);

}  // namespace kernbench
