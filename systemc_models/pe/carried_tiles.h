// SPDX-License-Identifier: Apache-2.0
// A composite with `materialize: stores` whose operands or result may lie behind a foreign block or in a foreign
// memory (data rules §1).
//
// Its result is computed at its submission. Debug transport reads its operands. Where they differ from the image, the
// log has the result (OpDesc::engine_result). Each transaction of a tile that passes a
// foreign block has a payload from its first byte to its last, with byte enables where rows leave gaps. So a block may
// serve it by payloads of its own. The result is in memory from the submission on; a tile that arrives where the image
// holds something else by then puts its bytes there.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "kernbench/systemc_models/fabric/transaction.h"
#include "kernbench/systemc_models/memory/system.h"

namespace kernbench::pe {

class CarriedTiles {
 public:
  /// Null if all paths and memories are the platform's own, or without `materialize: stores`. `initiator`: the PE's
  /// DMA.
  static std::shared_ptr<CarriedTiles> of(System&, uint32_t initiator, const std::shared_ptr<OpDesc>&);
  ~CarriedTiles();
  /// Replaces System::apply() at the composite's submission. PendingValueError.
  void begin();
  /// The payload that a transaction shows on its path. Null if the path has only the platform's own blocks, or if the
  /// rows are unordered.
  DataMover* show(uint64_t address, const Rows&, bool write);
  /// The transaction is done.
  void ended(const FabricTransaction&);
  /// The composite is complete.
  void end() { system_.set_in_flight(*desc_, false); }

 private:
  struct Tile;
  struct Run {
    uint64_t address, nbytes, offset;
  };
  CarriedTiles(System& system, uint32_t initiator, const std::shared_ptr<OpDesc>& desc);
  bool is_outside(uint64_t address, bool write) const;
  bool take_operands(MemoryImage& seen) const;
  void value_at(uint64_t address, uint8_t* out, uint64_t nbytes) const;
  void put(const tlm::tlm_generic_payload&);

  System& system_;
  uint32_t initiator_;
  std::shared_ptr<OpDesc> desc_;
  SharedBytes value_;      ///< of the output; empty: in TCM, or of an engine that has not finished
  std::vector<Run> runs_;  ///< of the output in memory, by address
  std::unordered_map<const DataMover*, std::unique_ptr<Tile>> tiles_;
};

}  // namespace kernbench::pe
