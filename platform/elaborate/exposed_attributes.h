// SPDX-License-Identifier: Apache-2.0
// The attributes of a platform's blocks where tools of SystemC look for them: sc_object::attr_cltn().
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
/// Each attribute of each node, given or by default, as a sc_attribute of its block under its name in YAML: of double,
/// int64_t, bool or std::string; a map of numbers as text, "f16=1, f32=0.5". One that has no value is absent.
/// A block takes its parameters when it is made: a value that somebody changes is refused, see check().
class ExposedAttributes {
 public:
  ExposedAttributes(const topology::Graph&, const Elaboration&);
  /// Takes them away; the blocks must still be there.
  ~ExposedAttributes();
  ExposedAttributes(const ExposedAttributes&) = delete;
  ExposedAttributes& operator=(const ExposedAttributes&) = delete;

  /// A report "/kernbench/attribute" for each that has another value than its block.
  void check(sc_core::sc_severity) const;

 private:
  class Exposed;
  template <class T>
  class ExposedAs;
  std::vector<std::unique_ptr<Exposed>> attributes_;
};

}  // namespace kernbench::elaborate
