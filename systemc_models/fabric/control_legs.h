// SPDX-License-Identifier: Apache-2.0
// The segments ("legs") of control messages between two stops. They are determined once and cached.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "kernbench/systemc_models/fabric/path.h"

namespace kernbench::fabric {

class ControlTarget;

struct ControlLeg {
  std::vector<Hop> hops;
  FabricNode* end = nullptr;
  ControlTarget* target = nullptr;  ///< the block at the end
  Path path() const { return {hops.data(), hops.size(), false}; }
  /// Delay of the block that a message leaves, for a message without bytes. ns.
  static double ns_at(const PathHop& hop) { return hop.cost({true, false, 0, 0}).ns(); }
  /// Total cost of the segment: blocks and wires. ns.
  double ns() const;
};

class ControlLegs {
 public:
  explicit ControlLegs(Fabric& fabric) : fabric_(fabric) {}
  ControlLegs(const ControlLegs&) = delete;
  ControlLegs& operator=(const ControlLegs&) = delete;
  virtual ~ControlLegs();

  /// Between two blocks given by their indices. InputError with one line if the last one takes no messages, or an error
  /// of find().
  const ControlLeg& leg(uint32_t from, uint32_t to);

 protected:
  /// The ports of the path. For blocks made by hand, the path with the fewest hops. AccessError if there is none.
  virtual std::vector<FabricPort*> find(FabricNode& from, FabricNode& to);
  FabricNode& node(uint32_t index) const;

 private:
  Fabric& fabric_;
  std::unordered_map<uint64_t, std::unique_ptr<ControlLeg>> legs_;  ///< by from << 32 | to
};

}  // namespace kernbench::fabric
