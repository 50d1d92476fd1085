// Kernel launches: from the host to every PE and back (timing contract §7).
//
// A launch is a message that fans out along pcie_ep → io_cpu → each cube's m_cpu → its PEs' pe_cpu, and whose responses
// are aggregated on the way back: an m_cpu answers when its PEs have, an io_cpu when its cubes have, the host has its
// answer when the SIPs have. A leg is a route of the topology; it costs the overheads of its nodes but the last, and
// its wires, in both directions. Messages of a launch carry no bytes and do not contend. Does not model: instructions
// of the management processors, queues in them, loss.
#pragma once

#include <functional>
#include <list>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernbench/platform/host_messages.h"

namespace kernbench {

class Platform;

/// A part of the host's path that the topology lacks. One line.
class HostPathError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The ways of one launch, as a tree: the host first, then the io_cpus, the m_cpus and the PEs, each level in compiled
/// order of its first PE, so that the children of one stop stand together.
struct LaunchTree {
  enum class Role : uint8_t { host, io_cpu, m_cpu, pe };
  struct Stop {
    Role role = Role::host;
    uint32_t node = 0;    ///< in the graph; of the host: none
    uint32_t parent = 0;  ///< index of a stop
    uint32_t first_child = 0, children = 0;
    double leg_ns = 0;      ///< from the parent to here, and the same back
    double arrival_ns = 0;  ///< of the launch, after it left the host
    size_t place = 0;       ///< of a PE: in the launch
  };
  std::vector<Stop> stops;
  double latest_ns = 0;  ///< the last arrival at a PE, after the launch left the host
};

/// The host's way to the PEs (indices in compiled order). The first pcie_ep and io0 of each SIP are used. HostPathError
/// that names what is missing.
LaunchTree host_launch_tree(Platform&, const std::vector<size_t>& pes);
/// No way at all: the PEs are right behind the host, at no cost (`--launch direct`).
LaunchTree direct_launch_tree(Platform&, const std::vector<size_t>& pes);

/// Launches kernels; any number of times, also before the last has ended, on PEs that are idle when a launch arrives.
/// Must outlive the simulation.
class Launcher {
 public:
  using Done = std::function<void(const LaunchResult&)>;
  explicit Launcher(Platform& platform) : platform_(platform) {}
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  /// The launch leaves the host now (before the simulation: at 0) and every kernel starts at now + tree.latest_ns;
  /// `tree` is one for the same PEs. `done` is called once, at the instant when the host has the response, and may
  /// launch again. Returns the correlation id (the message's own where it is not 0).
  uint64_t launch(KernelLaunch message, const LaunchTree& tree, Done done);

 private:
  struct Launch;
  /// A stop of a launch in flight.
  struct Party {
    Launch* launch = nullptr;
    LaunchTree::Stop stop;
    uint32_t outstanding = 0;  ///< children that have not answered
    bool answered = false;
    HostResponse response;
  };
  struct Launch {
    Launcher* launcher = nullptr;
    KernelLaunch message;
    Done done;
    LaunchResult result;
    double sent_ns = 0;
    std::vector<Party> parties;
    size_t open = 0;  ///< entries on the timeline and kernels that run
  };
  void send(Party&, double at_ns, void (*handler)(void*, void*));
  void request_arrived(Party&);
  void start_kernel(Party&);
  void answer(Party&, HostError, const std::string& text, double at_ns);
  void response_arrived(Party& from);
  void close_one(Launch&);

  Platform& platform_;
  std::list<Launch> launches_;
  uint64_t last_correlation_ = 0, last_request_ = 0;
};

}  // namespace kernbench
