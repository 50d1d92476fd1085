// What is known of the registered implementations without making one: name, kind, attributes, and what nodes of the
// kind are. Plain C++: no SystemC here.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernbench/systemc_models/core/attributes.h"

namespace kernbench {

/// What nodes of a kind are (timing contract §1, §2). By default they are ends of paths that issue and hold nothing.
struct KindFacts {
  bool transit = false;    ///< may stand inside a path unless the node says otherwise
  bool initiator = false;  ///< issues memory transactions
  std::string memory;      ///< space of the memory it holds: "hbm", "sram" or none
};
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
  ImplSpec& transit();
  ImplSpec& initiator();
  ImplSpec& memory(std::string space);
};

/// A kind of node, as its implementations state it.
struct Kind {
  KindFacts facts;
  std::string stated_by;  ///< an implementation; empty: none says anything, so a node itself may say `transit: true`
  std::string fault;      ///< where implementations disagree or a space is none: one line; else empty
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

 private:
  std::map<std::string, Kind> kinds_;
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
