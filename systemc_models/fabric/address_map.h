// SPDX-License-Identifier: Apache-2.0
// The address ranges of the memories. For blocks that were made and connected by hand it also resolves addresses, by
// the path with the fewest hops.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "kernbench/phase2/memory/memory_image.h"
#include "kernbench/systemc_models/fabric/route.h"

namespace kernbench::core {
class Component;
}

namespace kernbench::fabric {

class Fabric;
class FabricNode;

/// One memory's range of physical addresses.
struct MemoryWindow {
  uint64_t base = 0, size = 0;  ///< bytes; size 0: no memory
  Space space = Space::hbm;
  Component* memory = nullptr;  ///< null: a foreign memory, bound without an adapter
  bool holds(uint64_t address, uint64_t nbytes) const {
    return address >= base && nbytes <= size && address - base <= size - nbytes;
  }
  MemoryImage::SpaceKey key() const { return {space, kNoPe}; }
};

class AddressMap : public RouteSource {
 public:
  explicit AddressMap(Fabric& fabric) : fabric_(fabric) {}
  ~AddressMap() override;

  /// Gives the memory the range [base, base + size). std::invalid_argument for an empty range and for an overlap with
  /// another one.
  void add(MemoryTarget&, uint64_t base, uint64_t size, Space = Space::hbm);
  /// A foreign target that is bound to the initiator socket of a router or initiator as peer number `binding` (from 0,
  /// in the order of binding).
  void add_foreign(FabricNode& behind, size_t binding, uint64_t base, uint64_t size, Space = Space::hbm);
  /// A foreign block between two blocks of the project. A message that leaves `from` by peer number `out` of its
  /// initiator socket arrives, if the block passes it, at peer number `in` of the target socket of `to`.
  void add_way(FabricNode& from, size_t out, FabricNode& to, size_t in) { ways_.push_back({&from, out, &to, in}); }
  /// The memory at a physical address.
  MemoryWindow window_at(uint64_t address) const;
  /// First and last address of the gap around an address without memory.
  std::pair<uint64_t, uint64_t> gap_at(uint64_t address) const;

  const Route& route(uint32_t initiator, uint64_t address, uint64_t nbytes, bool write) override;
  const Route& message_route(uint32_t from, uint32_t to) override;
  /// Blocks connected by hand have a link in each direction.
  const Route& reversed_message_route(uint32_t from, uint32_t to) override;

 private:
  struct Range {
    MemoryWindow window;
    MemoryTarget* memory = nullptr;
    FabricNode* behind = nullptr;  ///< the node before a foreign target
    size_t binding = 0;
  };
  struct ForeignWay {
    FabricNode* from;
    size_t out;
    FabricNode* to;
    size_t in;
  };
  void add(const Range&);
  PassedBy passed_by() const;
  const Range* range_at(uint64_t address) const;
  std::unique_ptr<Route> make_route(FabricNode& from, const Range&);
  FabricNode& node(uint32_t index) const;

  Fabric& fabric_;
  std::map<uint64_t, Range> ranges_;  ///< by base
  std::vector<ForeignWay> ways_;
  std::map<std::pair<uint32_t, uint64_t>, std::unique_ptr<Route>> routes_;  ///< by initiator and base
  std::map<std::pair<uint32_t, uint32_t>, std::unique_ptr<Route>> message_routes_, reversed_;  ///< by both ends
};

}  // namespace kernbench::fabric
