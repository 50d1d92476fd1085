// SPDX-License-Identifier: Apache-2.0
// A load or store of a PE, be it of a tensor or a gather or scatter, whose way passes a block that is not of this
// project (data rules §1): it is what that block makes of it. Each range is a transaction and payload of its own. A
// store commits the bytes that arrive, where and when a memory serves them; a load's bytes are those that come back,
// from the memory or from the block. Pending bytes travel with the payload's extension: a store of such that nobody has
// served with it is a fault. With `materialize: stores` the payload has them too, as they will be: they stay pending
// where they come through as they were sent, and become data where a block has its own payload or changes them.
//
// A store whose mask is pending, or a masked one of pending bytes, and a load under a pending mask keep the effect that
// they have without a foreign block: which bytes they touch is Phase 2's to find out.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernbench/phase2/memory/range_value.h"
#include "kernbench/systemc_models/fabric/transaction.h"
#include "kernbench/systemc_models/memory/system.h"
#include "kernbench/systemc_models/pe/pe_command.h"

namespace kernbench::pe {

class CarriedAccess {
 public:
  /// One transaction.
  struct Range : DataMover {
    CarriedAccess* access = nullptr;
    uint64_t offset = 0, nbytes = 0;  ///< of the bytes that move, range behind range
    uint64_t address = 0;             ///< physical, as it is sent
    // Of the first range of a piece that was reached through virtual addresses: what the MMU is asked before.
    bool looks_up = false;
    uint64_t asked_address = 0;
    Rows asked_rows;

    void served(FabricTransaction&, double at_ns) override;
    tlm::tlm_generic_payload* foreign() override { return &pattern; }
    void failed(FabricTransaction&, tlm::tlm_response_status) override {}  // its initiator tells
    void moved_outside(FabricTransaction&) override {}
    bool still_moves() const override { return moving != nullptr; }
    bool of_an_op() const override { return true; }

    tlm::tlm_generic_payload pattern;                  ///< data and byte enables of what is sent
    std::vector<uint8_t> enables;                      ///< of a masked store
    const tlm::tlm_generic_payload* moving = nullptr;  ///< served, and not yet moved
    bool taken = false;                                ///< by a memory of the system
    void move();
  };

  /// Null where all of the op's ways are known. `part`: what the DMA of `initiator` moves for it.
  static std::shared_ptr<CarriedAccess> of(System&, uint32_t initiator, const std::shared_ptr<OpDesc>&,
                                           const TilePart& part);
  /// At the op's submission: notes what a store holds. False: its effect is as if there were no foreign block.
  bool begin();
  /// The next range to send; null: none is left.
  Range* next();
  /// The last one that was sent is done, without an error. What is wrong, one line; empty: nothing.
  std::string ended(const FabricTransaction&);
  /// A load is complete: its handle gets the bytes. False: as above.
  bool put();

 private:
  static constexpr MemoryImage::SpaceKey kValue{Space::tcm, 0};
  CarriedAccess(System& system, const std::shared_ptr<OpDesc>& desc) : system_(system), desc_(desc) {}
  void add_range(uint64_t address, uint64_t nbytes);
  void add_ranges(uint64_t address, const Rows&);
  void add_part(const TilePart&);
  void add_list(const RangedOp&);
  /// Calls f(offset among the bytes that move, offset in the op's value, nbytes) for what [from, from + n) of the
  /// former are.
  template <class F>
  void for_each_moved(uint64_t from, uint64_t n, F f) const;
  uint64_t moved_bytes() const { return ranges_.back().offset + ranges_.back().nbytes; }
  void take_value();
  bool take_enables();
  void commit(const Range&, const tlm::tlm_generic_payload&);
  void sample(const Range&, const tlm::tlm_generic_payload&);
  void note(const Range&, uint64_t offset, uint64_t address, uint64_t nbytes, Space);
  bool holds_pending(uint64_t offset, uint64_t nbytes, std::string* who) const;
  bool all_known(uint64_t offset, uint64_t nbytes) const;
  bool as_sent(uint64_t offset, const uint8_t* bytes, uint64_t nbytes) const;
  bool mask_is_known(const TensorRef& mask) const;
  std::vector<uint8_t> mask_values(const TensorRef& mask) const;
  void all_ended();

  System& system_;
  std::shared_ptr<OpDesc> desc_;
  std::deque<Range> ranges_;
  struct Moved {
    uint64_t offset = 0, in_value = 0, nbytes = 0;
  };
  std::vector<Moved> moved_;        ///< of a gather or scatter; else what moves is the op's value in row-major order
  std::vector<AccessRange> asked_;  ///< likewise, as the MMU is asked for them
  size_t sent_ = 0, ended_ = 0;
  Bytes bytes_;                                           ///< that move: what payloads point to
  MemoryImage value_;                                     ///< of these: those that are pending
  std::vector<std::pair<uint64_t, uint64_t>> unwritten_;  ///< of a load: offset and number of bytes
  bool carried_ = true;
  bool passed_ = true;  ///< so far a memory of the system has served all of it, and the bytes are those that were sent
};

}  // namespace kernbench::pe
