// SPDX-License-Identifier: Apache-2.0
// Facts about registered implementations, available without an instance: name, kind, attributes, and the role of the
// kind's nodes. Plain C++, no SystemC.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernbench/phase2/op/op.h"
#include "kernbench/systemc_models/core/attributes.h"

namespace kernbench::core {

/// Work of a stage's service; reports, energy and insight count it by this.
enum class StageWork : uint8_t {
  reads,     ///< transactions to memory, which are counted separately
  writes,    ///< transactions to memory, which are counted separately
  fetches,   ///< a tile's inputs, out of the TCM
  stores,    ///< a tile's output, into the TCM
  macs,      ///< multiply-accumulates, by dtype
  elements,  ///< elementwise ops
};

/// A stage that a kind of engine serves.
struct EngineStage {
  Stage stage = Stage::dma_read;  ///< a standard stage, or one of add_stage()
  StageWork work = StageWork::elements;
  std::string short_name = {};  ///< for blocks with several: "rd"
};
bool operator==(const EngineStage&, const EngineStage&);

/// Facts about an engine of a PE, declared once by its kind (ImplSpec::engine).
struct EngineFacts {
  std::vector<EngineStage> stages;  ///< that it must serve; none: the kind is not an engine
  bool needed = false;              ///< required by kernels
  bool stages_apart = false;        ///< reports show each of its stages as a separate engine, by short_name
  /// MATH ops whose simple commands go to its first stage instead of to MATH.
  std::vector<std::string> ops = {};
};

/// Role of a kind's nodes (timing rules §1, §2). Default: an endpoint that neither issues nor stores.
struct KindFacts {
  bool transit = false;    ///< may be inside a path unless the node's attribute forbids it
  bool initiator = false;  ///< issues memory transactions
  std::string memory;      ///< space of its memory: "hbm", "sram", another name, or none
  EngineFacts engine;
  // For blocks of a PE: kinds that it sends to or queries.
  std::vector<std::string> leads_to;       ///< over required edges
  std::vector<std::string> bound_without;  ///< bound with or without an edge
  // For energy, area and insight; `builtin.KIND` declares these for the kind.
  std::string passing = "router";  ///< transit: energy constant of a passing bit; empty: not counted
  std::string phy;                 ///< PHY of edges that leave a die: energy constant of their bits, and `area.PHY_phy`
  bool on_die = true;              ///< occupies area of a die
  std::optional<Resource> overhead;  ///< resource of its overhead; none: engines, memory or routers
};
/// Whether both declare the same about paths, memories and PEs.
bool operator==(const KindFacts&, const KindFacts&);

/// Facts about an implementation ("builtin.hbm_pc", "custom.my_hbm") for the topology compiler.
struct ImplSpec {
  std::string impl;
  std::string kind;  ///< the node kind that it implements: "hbm_ctrl", "router" or a new one
  std::string help;
  std::vector<AttrSpec> attributes;
  KindFacts facts = {};  ///< of the kind; class Kinds explains which implementation declares them
  /// The attribute, legal by itself, that conflicts with the others.
  std::function<std::optional<AttrFault>(const Attributes&)> fault_together = {};
  /// The attributes given, and those that follow from them, such as a preset's values.
  std::function<Attributes(const Attributes&)> resolved = {};

  // Calls after spec_of<Parameters>(…), which declare the role of the kind's nodes.
  ImplSpec& transit() { return say(&KindFacts::transit, true); }
  ImplSpec& initiator() { return say(&KindFacts::initiator, true); }
  ImplSpec& memory(std::string space) { return say(&KindFacts::memory, std::move(space)); }
  /// The scheduler implicitly has an edge to it.
  ImplSpec& engine(EngineFacts engine) { return say(&KindFacts::engine, std::move(engine)); }
  ImplSpec& leads_to(std::vector<std::string> kinds) { return say(&KindFacts::leads_to, std::move(kinds)); }
  ImplSpec& bound_without_edge_to(std::vector<std::string> kinds) {
    return say(&KindFacts::bound_without, std::move(kinds));
  }
  /// Energy of a passing bit: a constant of the energy table, in pJ/bit.
  ImplSpec& passing(std::string constant) { return say(&KindFacts::passing, std::move(constant)); }
  /// A PHY: bits cost energy at the edges that leave the die through it, instead of passing().
  ImplSpec& phy(std::string name) { return passing("").say(&KindFacts::phy, std::move(name)); }
  ImplSpec& off_die() { return passing("").say(&KindFacts::on_die, false); }
  ImplSpec& resolves(std::function<Attributes(const Attributes&)> f) {
    resolved = std::move(f);
    return *this;
  }
  ImplSpec& overhead_is(Resource r) { return say(&KindFacts::overhead, r); }
  template <class T, class V>
  ImplSpec& say(T KindFacts::*fact, V value) {
    facts.*fact = std::move(value);
    return *this;
  }
};

/// A kind of node, as declared by its implementations.
struct Kind {
  KindFacts facts;
  std::string
      stated_by;      ///< an implementation; empty: none declares anything, so a node may set `transit: true` itself
  std::string fault;  ///< one line if implementations disagree or a space is illegal; else empty
};

/// Pairs of kinds (from, to) whose blocks in a PE have sockets to each other.
struct PeKindEdges {
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  Pairs standard;      ///< edges of a PE that lists none; a PE with both blocks needs the edge
  Pairs without_edge;  ///< bound with or without an edge
};

/// The kinds of all implementations. `builtin.KIND` defines its kind, including by what it omits. Another
/// implementation may declare nothing, or the same.
class Kinds {
 public:
  void add(const ImplSpec&);
  const Kind* find(const std::string& name) const;
  std::vector<std::string> names() const;          ///< sorted
  std::vector<std::string> with_memory() const;    ///< kinds with memory, sorted
  std::vector<std::string> of_initiators() const;  ///< kinds that issue transactions, blocks of a PE first
  const std::map<std::string, Kind>& all() const { return kinds_; }
  /// Kinds of engine, ordered by their first stages.
  const std::vector<std::string>& of_engines() const { return engines_; }
  /// ADR-0014 D8.
  const PeKindEdges& pe_edges() const { return pe_edges_; }
  /// The declaration of a stage by kinds of engine; std::out_of_range if there is none.
  const EngineStage& stage(Stage s) const { return stages_.at(s); }

 private:
  void gather();
  std::map<std::string, Kind> kinds_;
  // Derived from the kinds.
  std::vector<std::string> engines_;
  PeKindEdges pe_edges_;
  std::map<Stage, EngineStage> stages_;
};

/// Look-up of implementations by name; input of the topology compiler.
class ImplCatalog {
 public:
  virtual ~ImplCatalog() = default;
  virtual const ImplSpec* find(const std::string& impl) const = 0;
  virtual std::vector<const ImplSpec*> all() const = 0;  ///< sorted by name
  virtual const Kinds& kinds() const = 0;                ///< of all of them
};

}  // namespace kernbench::core
