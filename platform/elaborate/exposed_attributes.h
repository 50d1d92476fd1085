// SPDX-License-Identifier: Apache-2.0
// The attributes of a platform's blocks as SystemC attributes, for tools: sc_object::attr_cltn().
#pragma once

#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "kernbench/phase2/rooms.h"

namespace kernbench::elaborate {

class Elaboration;

}  // namespace kernbench::elaborate
namespace kernbench {
namespace topology {
struct Graph;
}

}  // namespace kernbench
namespace kernbench::elaborate {
/// Each attribute of each node, given or default, becomes a sc_attribute of its block with its YAML name: of double,
/// int64_t, bool or std::string. A map of numbers is a text, "f16=1, f32=0.5". Attributes without a value are absent. A
/// block reads its parameters at construction, so later changes are rejected by check().
class ExposedAttributes {
 public:
  ExposedAttributes(const topology::Graph&, const Elaboration&);
  /// Removes them; the blocks must still exist.
  ~ExposedAttributes();
  ExposedAttributes(const ExposedAttributes&) = delete;
  ExposedAttributes& operator=(const ExposedAttributes&) = delete;

  /// Reports "/kernbench/attribute" for each attribute whose value differs from its block's.
  void check(sc_core::sc_severity) const;

 private:
  class Exposed;
  template <class T>
  class ExposedAs;
  std::vector<std::unique_ptr<Exposed>> attributes_;
};

}  // namespace kernbench::elaborate
