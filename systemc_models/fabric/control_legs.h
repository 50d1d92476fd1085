// SPDX-License-Identifier: Apache-2.0
// The legs of control messages: from one stop to the next, found once and kept.
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
  /// What a block that a message leaves adds to it, which carries no bytes. ns.
  static double ns_at(const PathHop& hop) { return hop.cost({true, false, 0, 0}).ns(); }
  /// What all of it costs: blocks and wires. ns.
  double ns() const;
};

class ControlLegs {
 public:
  explicit ControlLegs(Fabric& fabric) : fabric_(fabric) {}
  ControlLegs(const ControlLegs&) = delete;
  ControlLegs& operator=(const ControlLegs&) = delete;
  virtual ~ControlLegs();

  /// Between two blocks by their indices. InputError where the last takes no messages, one line; or what find() throws.
  const ControlLeg& leg(uint32_t from, uint32_t to);

 protected:
  /// The ports of the way; of blocks made by hand that with the fewest hops. AccessError where there is none.
  virtual std::vector<FabricPort*> find(FabricNode& from, FabricNode& to);
  FabricNode& node(uint32_t index) const;

 private:
  Fabric& fabric_;
  std::unordered_map<uint64_t, std::unique_ptr<ControlLeg>> legs_;  ///< by from << 32 | to
};

}  // namespace kernbench::fabric
