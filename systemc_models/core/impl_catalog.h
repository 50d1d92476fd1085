// What is known of the registered implementations without making one: name, kind, attributes, and what nodes of the
// kind are. Plain C++: no SystemC here.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernbench/phase2/op/op.h"
#include "kernbench/systemc_models/core/attributes.h"

namespace kernbench {

/// What a service of a stage does: what reports, energy and insight count it as.
enum class StageWork : uint8_t {
  reads,     ///< transactions to memory, which count by themselves
  writes,    ///< likewise
  fetches,   ///< a tile's inputs, out of the TCM
  stores,    ///< a tile's output, into the TCM
  macs,      ///< multiply-accumulates, by dtype
  elements,  ///< elementwise ops
};

/// A stage that a kind of engine serves.
struct EngineStage {
  Stage stage = Stage::dma_read;  ///< one of the law's, or add_stage()
  StageWork work = StageWork::elements;
  std::string short_name = {};  ///< where a block has several: "rd"
};
bool operator==(const EngineStage&, const EngineStage&);

/// What an engine of a PE is, said once, by its kind (ImplSpec::engine).
struct EngineFacts {
  std::vector<EngineStage> stages;  ///< that it must serve; none: the kind is no engine
  bool needed = false;              ///< by kernels
  bool stages_apart = false;        ///< in reports each of its stages is an engine, by its short name
  /// MATH ops whose simple commands go to its first stage instead of MATH.
  std::vector<std::string> ops = {};
};

/// What nodes of a kind are (timing contract §1, §2). By default they are ends of paths that issue and hold nothing.
struct KindFacts {
  bool transit = false;    ///< may stand inside a path unless the node says otherwise
  bool initiator = false;  ///< issues memory transactions
  std::string memory;      ///< space of the memory it holds: "hbm", "sram", one of its own, or none
  EngineFacts engine;
  // Of a PE's block: kinds to which it hands on, or which it asks.
  std::vector<std::string> leads_to;       ///< over edges without which it cannot work
  std::vector<std::string> bound_without;  ///< whether there is an edge or none
  // Of energy, area and insight: `builtin.KIND` speaks for all of the kind.
  std::string passing = "router";    ///< transit: the constant of a bit that passes; empty: nothing is counted
  std::string phy;                   ///< PHY of edges that leave a die: constant of their bits, and `area.PHY_phy`
  bool on_die = true;                ///< takes area of a die
  std::optional<Resource> overhead;  ///< what its overhead counts as; none: engines, memory or routers
};
/// Whether they say the same of paths, memories and PEs.
bool operator==(const KindFacts&, const KindFacts&);

/// What the topology compiler must know of an implementation ("builtin.hbm_pc", "custom.my_hbm").
struct ImplSpec {
  std::string impl;
  std::string kind;  ///< the node kind it stands for: "hbm_ctrl", "router" or one that is new
  std::string help;
  std::vector<AttrSpec> attributes;
  KindFacts facts = {};  ///< of the kind; see Kinds for who has to say them
  /// Which of the attributes, each legal by itself, does not go with the others.
  std::function<std::optional<AttrFault>(const Attributes&)> fault_together = {};

  // Said behind spec_of<Parameters>(…): what a node of this kind is.
  ImplSpec& transit() { return say(&KindFacts::transit, true); }
  ImplSpec& initiator() { return say(&KindFacts::initiator, true); }
  ImplSpec& memory(std::string space) { return say(&KindFacts::memory, std::move(space)); }
  /// The scheduler has an edge to it by itself.
  ImplSpec& engine(EngineFacts engine) { return say(&KindFacts::engine, std::move(engine)); }
  ImplSpec& leads_to(std::vector<std::string> kinds) { return say(&KindFacts::leads_to, std::move(kinds)); }
  ImplSpec& bound_without_edge_to(std::vector<std::string> kinds) {
    return say(&KindFacts::bound_without, std::move(kinds));
  }
  /// What a bit that passes costs: a constant of the energy table, in pJ/bit.
  ImplSpec& passing(std::string constant) { return say(&KindFacts::passing, std::move(constant)); }
  /// A PHY: bits cost at the edges that leave the die by it, in the place of passing().
  ImplSpec& phy(std::string name) { return passing("").say(&KindFacts::phy, std::move(name)); }
  ImplSpec& off_die() { return passing("").say(&KindFacts::on_die, false); }
  ImplSpec& overhead_is(Resource r) { return say(&KindFacts::overhead, r); }
  template <class T, class V>
  ImplSpec& say(T KindFacts::*fact, V value) {
    facts.*fact = std::move(value);
    return *this;
  }
};

/// A kind of node, as its implementations state it.
struct Kind {
  KindFacts facts;
  std::string stated_by;  ///< an implementation; empty: none says anything, so a node itself may say `transit: true`
  std::string fault;      ///< where implementations disagree or a space is none: one line; else empty
};

/// Which blocks of a PE have sockets to each other: from and to, by kinds.
struct PeKindEdges {
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  Pairs standard;      ///< those of a PE that has no others, without which one that has both blocks cannot work
  Pairs without_edge;  ///< bound whether there is an edge or none
};

/// The kinds of all implementations. `builtin.KIND` speaks for its kind by what it says and by what it leaves out;
/// another one may leave everything out and follows then, or says the same.
class Kinds {
 public:
  void add(const ImplSpec&);
  const Kind* find(const std::string& name) const;
  std::vector<std::string> names() const;          ///< sorted
  std::vector<std::string> with_memory() const;    ///< those that hold memory, sorted
  std::vector<std::string> of_initiators() const;  ///< those that issue transactions, a PE's blocks first
  const std::map<std::string, Kind>& all() const { return kinds_; }
  /// Kinds of engine, by their first stages.
  const std::vector<std::string>& of_engines() const { return engines_; }
  /// ADR-0014 D8.
  const PeKindEdges& pe_edges() const { return pe_edges_; }
  /// What kinds of engine say of a stage; std::out_of_range where none has it.
  const EngineStage& stage(Stage s) const { return stages_.at(s); }

 private:
  void gather();
  std::map<std::string, Kind> kinds_;
  // Gathered from them.
  std::vector<std::string> engines_;
  PeKindEdges pe_edges_;
  std::map<Stage, EngineStage> stages_;
};

/// Looks implementations up by name; what the topology compiler is given.
class ImplCatalog {
 public:
  virtual ~ImplCatalog() = default;
  virtual const ImplSpec* find(const std::string& impl) const = 0;
  virtual std::vector<const ImplSpec*> all() const = 0;  ///< sorted by name
  virtual const Kinds& kinds() const = 0;                ///< of all of them
};

}  // namespace kernbench
