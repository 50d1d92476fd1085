// SPDX-License-Identifier: Apache-2.0
// A load or store of a PE (of a tensor, or a gather or scatter) whose path contains a foreign block (data rules §1).
// The foreign block determines its effect. Each range is a separate transaction and payload. A store commits the bytes
// that arrive, where and when a memory serves them. A load returns the bytes that come back, from the memory or from
// the block.
//
// Pending bytes travel in the payload's extension. If a store with pending bytes is not served with this extension,
// that is a fault. With `materialize: stores` the payload also has their computed values. If these arrive unchanged,
// the bytes stay pending. If a block uses another payload or changes them, they become data.
//
// Some accesses have the same effect as without a foreign block, because Phase 2 determines the accessed bytes. They
// are loads and stores with a pending mask, and masked stores of pending bytes.
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
    uint64_t offset = 0, nbytes = 0;  ///< position among the moved bytes, in the order of ranges
    uint64_t address = 0;             ///< physical, as sent
    // For the first range of a virtually addressed piece: the query for the MMU.
    bool looks_up = false;
    uint64_t asked_address = 0;
    Rows asked_rows;

    /// A payload that a memory has served: one for each destination of a multicast.
    struct Served {
      Range& range;
      const tlm::tlm_generic_payload& payload;
    };

    void served(FabricTransaction&, double at_ns) override;
    tlm::tlm_generic_payload* foreign() override { return &pattern; }
    void failed(FabricTransaction&, tlm::tlm_response_status) override {}  // the initiator reports it
    void moved_outside(FabricTransaction&) override {}
    bool still_moves() const override { return moved < taken.size(); }
    bool of_an_op() const override { return true; }

    tlm::tlm_generic_payload pattern;  ///< data and byte enables of the sent bytes
    std::vector<uint8_t> enables;      ///< for a masked store
    size_t destinations = 1;
    std::deque<Served> taken;  ///< by memories of the system
    size_t moved = 0;          ///< of these, number of payloads whose bytes have been moved
    static void move(Served&);
  };

  /// Null if no path of the op has a foreign block. `part`: the part that the DMA of `initiator` moves. `multicast`:
  /// the transactions of a multicast, instead of `part`.
  static std::shared_ptr<CarriedAccess> of(System&, uint32_t initiator, const std::shared_ptr<OpDesc>&,
                                           const TilePart& part, const std::vector<MulticastPart>* multicast);
  /// At the op's submission: saves the bytes of a store. Returns false if the effect is the one without a foreign
  /// block.
  bool begin();
  /// The next range to send; null if none is left.
  Range* next();
  /// The last sent range is done without an error response. Returns a fault in one line; empty if there is none.
  std::string ended(const FabricTransaction&);
  /// A load is complete: writes the bytes to its handle. Returns false like start().
  bool put();

 private:
  static constexpr MemoryImage::SpaceKey kValue{Space::tcm, 0};
  CarriedAccess(System& system, const std::shared_ptr<OpDesc>& desc) : system_(system), desc_(desc) {}
  void add_range(uint64_t address, uint64_t nbytes);
  void add_ranges(uint64_t address, const Rows&);
  void add_part(const TilePart&);
  void add_list(const RangedOp&);
  /// Calls f(offset among the moved bytes, offset in the op's value, nbytes) for the parts of [from, from + n).
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
  std::vector<Moved> moved_;        ///< for a gather or scatter; otherwise the op's value is moved in row-major order
  std::vector<AccessRange> asked_;  ///< the same in the form of queries to the MMU
  size_t sent_ = 0, ended_ = 0;
  Bytes bytes_;                                           ///< moved bytes, which payloads point to
  MemoryImage value_;                                     ///< pending bytes among them
  std::vector<std::pair<uint64_t, uint64_t>> unwritten_;  ///< for a load: offset and number of bytes
  bool carried_ = true;
  bool passed_ = true;  ///< so far a memory of the system has served everything, and the bytes are those that were sent
};

}  // namespace kernbench::pe
