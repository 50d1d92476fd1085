// A collective of a launch: which groups do what, by which algorithm, over which wirings. A kernel declares its
// connections (KernelSpec::queues) and runs it (schedules.h); both follow from the same few words (collectives contract
// §12).
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

/// Names of all algorithms of an op, in the order in which `auto` prefers them on equal cost.
const std::vector<std::string>& algorithms_of(Op);

struct Collective {
  Op op = Op::all_reduce;
  std::string over = "rank";       ///< axes (groups.h)
  std::string algorithm = "ring";  ///< one of algorithms_of(op)
  /// broadcast, reduce: a member's number. all_reduce by grid, hierarchical: the number of a cell (of a cube). Both:
  /// also `centre` or `corner` where there is a grid.
  std::string root = "centre";
  std::string prefix = {};  ///< of all its ports, where a kernel has several collectives
  std::optional<uint32_t> slots = {};
  std::optional<uint64_t> slot_bytes = {};
  std::optional<std::string> tier = {};
};

/// One wiring over some PEs of a group.
struct Phase {
  enum class Kind : uint8_t { ring, halving, tree, chain, grid, torus, all };
  Kind kind = Kind::ring;
  std::string prefix;  ///< of its ports
  SharedList pes;      ///< by member of the phase
  Grid grid;           ///< grid, torus
  int64_t root = 0;    ///< tree, chain, grid: a member
  SharedList order;    ///< ring, chain: member by position
  int64_t size() const { return static_cast<int64_t>(pes.size()); }
};
Wires wires_of(const Phase&);

/// What a group's members do with one another. Of a hierarchical all_reduce: the cubes' inner phases, those over the
/// cubes of each rank, and the one over ranks; of any other algorithm a single phase.
struct Group {
  Collective collective;
  SharedList pes;                          ///< by member
  std::vector<Phase> inner, cubes, ranks;  ///< hierarchical
  std::vector<Phase> single;               ///< others
  int64_t me = -1;                         ///< member number of the PE that it was made for
  int64_t size() const { return static_cast<int64_t>(pes.size()); }
  bool hierarchical() const { return single.empty(); }
  /// broadcast, reduce: the root member.
  int64_t root() const { return single.front().root; }
  std::vector<const Phase*> phases() const;
};

/// All groups of a launch. BadParam, one line: axes, algorithm or root that are not legal for it, and why.
std::vector<Group> make_groups(const LaunchShape&, const Collective&);
/// The same, made once for the launch (slots, slot_bytes and tier of the collective may be those of another).
const std::vector<Group>& all_groups(const LaunchShape&, const Collective&);
/// What a launch's memo calls that which depends on op, axes, algorithm, root and prefix.
std::string text_of(const Collective&);
/// The group of one PE (its place in LaunchShape::pes), with those of its phases that the PE takes part in, or all.
enum class Of : uint8_t { pe, all };
Group make_group(const LaunchShape&, const Collective&, int64_t pe, Of phases = Of::pe);

/// Why the algorithm cannot be used for a group such as this; empty: it can. (That rotate needs room in TCM is
/// choice.h's to say.)
std::string unavailable(const LaunchShape&, const Collective&, const Members&);
/// The root member of a broadcast or reduce. BadParam.
int64_t root_member(const LaunchShape&, const Collective&, const Members&);

/// The connections of all groups of a launch, for KernelSpec::queues. BadParam.
std::vector<QueueConnection> connections(const LaunchShape&, const Collective&);

}  // namespace kernbench::ccl
