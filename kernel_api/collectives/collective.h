// SPDX-License-Identifier: Apache-2.0
// A collective of a launch: its groups, algorithm and wirings. A kernel declares its connections (KernelSpec::queues)
// and runs it (schedules.h). Both are derived from one Collective (collectives rules §12).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernbench/kernel_api/collectives/wirings.h"
#include "kernbench/kernel_api/queue_connection.h"

namespace kernbench::ccl {

enum class Op : uint8_t { all_reduce, all_gather, reduce_scatter, broadcast, reduce, all_to_all, sendrecv };
inline constexpr Op kOps[] = {Op::all_reduce, Op::all_gather, Op::reduce_scatter, Op::broadcast,
                              Op::reduce,     Op::all_to_all, Op::sendrecv};
const char* name_of(Op);

/// Algorithm of the reduce_scatter that an all_reduce by multicast begins with.
std::string reduce_scatter_before_multicast(int64_t members);

struct Collective {
  Op op = Op::all_reduce;
  std::string over = "rank";       ///< axes (groups.h)
  std::string algorithm = "ring";  ///< one of algorithms_of(op)
  /// broadcast, reduce: a member number. all_reduce by grid or hierarchical: the number of a cell (of a cube). In a
  /// grid, `centre` and `corner` are legal for both.
  std::string root = "centre";
  std::string prefix = {};  ///< of all its ports, for kernels with several collectives
  std::optional<uint32_t> slots = {};
  std::optional<uint64_t> slot_bytes = {};
  std::optional<std::string> tier = {};
  std::optional<std::string> protocol = {};  ///< of its messages; absent: by each message's size

  /// Takes "ring", or "ring.ll" with a protocol.
  void take_algorithm(const std::string& text);
};

/// One wiring over some PEs of a group.
struct Phase {
  enum class Kind : uint8_t { ring, halving, tree, chain, grid, torus, all, heap };
  Kind kind = Kind::ring;
  std::string prefix;  ///< of its ports
  SharedList pes;      ///< by member of the phase
  Grid grid;           ///< grid, torus
  int64_t root = 0;    ///< tree, chain, grid: a member
  SharedList order;    ///< ring, chain: member by position
  int64_t size() const { return static_cast<int64_t>(pes.size()); }
};
Wires wires_of(const Phase&);

/// An algorithm, with all that others need to know of it.
struct Algorithm {
  std::string name;
  std::vector<Op> ops;
  Phase::Kind kind;    ///< of its single phase
  std::string wiring;  ///< its ports, for people
  /// Whether `auto` and `best` consider it; if_declared: only if all blocks on the routes declare `multicast`.
  enum class Considered : uint8_t { always, if_declared, never } considered = Considered::always;
};
/// std::out_of_range if there is none of that name.
const Algorithm& algorithm_named(const std::string& name);
/// Names of all algorithms of an op, in the order in which `auto` prefers them on equal cost.
const std::vector<std::string>& algorithms_of(Op);

/// The phases of a group's members. A hierarchical all_reduce has phases inside each cube, over the cubes of each rank,
/// and over ranks. Other algorithms have a single phase.
struct Group {
  Collective collective;
  SharedList pes;                          ///< by member
  std::vector<Phase> inner, cubes, ranks;  ///< hierarchical
  std::vector<Phase> single;  ///< others: one; an all_reduce by multicast: its reduce_scatter, its all_gather
  int64_t me = -1;            ///< member number of the PE that owns this object
  int64_t size() const { return static_cast<int64_t>(pes.size()); }
  bool hierarchical() const { return single.empty(); }
  /// broadcast, reduce: the root member.
  int64_t root() const { return single.front().root; }
  std::vector<const Phase*> phases() const;
};

/// All groups of a launch. BadParam with one line for illegal axes, algorithm or root, and the reason.
std::vector<Group> make_groups(const LaunchShape&, const Collective&);
/// The same, cached for the launch (slots, slot_bytes and tier may be those of another collective).
const std::vector<Group>& all_groups(const LaunchShape&, const Collective&);
/// Key of a launch's memo for values that depend on op, axes, algorithm, root and prefix.
std::string text_of(const Collective&);
/// The group of one PE (its place in LaunchShape::pes), with the phases that the PE takes part in, or with all phases.
enum class Of : uint8_t { pe, all };
Group make_group(const LaunchShape&, const Collective&, int64_t pe, Of phases = Of::pe);

/// Reason why the algorithm cannot be used for such a group; empty: it can. (choice.h checks the TCM capacity that
/// rotate needs.)
std::string unavailable(const LaunchShape&, const Collective&, const Members&);
/// The root member of a broadcast or reduce. BadParam.
int64_t root_member(const LaunchShape&, const Collective&, const Members&);

/// The connections of all groups of a launch, for KernelSpec::queues. BadParam.
std::vector<QueueConnection> connections(const LaunchShape&, const Collective&);

}  // namespace kernbench::ccl
