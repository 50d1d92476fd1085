// The legs of control messages: from one stop to the next, found once and kept.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace kernbench {

class ControlTarget;
class Fabric;
class FabricNode;
class FabricPort;

struct ControlLeg {
  std::vector<FabricPort*> ways;  ///< by which it leaves each of its blocks
  FabricNode* end = nullptr;
  ControlTarget* target = nullptr;  ///< the block at the end
  /// What it costs: of each block that it leaves the overhead and the wire. ns.
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

}  // namespace kernbench
