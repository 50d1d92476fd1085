// SPDX-License-Identifier: Apache-2.0
// A system: its fabric, and the bytes of its memories for kernels, for foreign initiators at ports and other sockets,
// and for the host. Each block gets it at construction (ComponentConfig), from a platform or by hand.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "kernbench/phase2/graph/pending_values.h"
#include "kernbench/phase2/memory/memory_image.h"
#include "kernbench/systemc_models/fabric/address_map.h"
#include "kernbench/systemc_models/fabric/fabric.h"
#include "kernbench/systemc_models/memory/memory_users.h"
#include "kernbench/systemc_models/protocol/payload_access.h"

namespace kernbench::fabric {
class ForeignNeighbour;
}

namespace kernbench::memory {

class BaseProtocolTarget;
class DirectMemory;

class System : public Fabric {
 public:
  explicit System(const FabricTiming& timing = {});
  ~System() override;
  /// The system of a block. std::invalid_argument, with one line, if its context is not a System.
  static System& of(const Component&);

  MemoryImage& image() { return image_; }
  const MemoryImage& image() const { return image_; }
  /// Pages to which foreign initiators have pointers.
  DirectMemory& direct_memory() { return *direct_memory_; }

  /// The memory at a physical address.
  MemoryWindow window_at(uint64_t address) const { return address_map().window_at(address); }
  /// True if [address, address + nbytes) lies in one memory of the space.
  bool holds(Space, uint64_t address, uint64_t nbytes) const;
  /// Id of the memory with that address in the space, or empty.
  std::string owner_of(Space, uint64_t address) const;
  /// Storage of a memory's bytes outside the image; null: none.
  static ForeignStore* store_of(const MemoryWindow&);

  /// Writes real bytes into one memory now, without time, also into a foreign model.
  void place(uint64_t address, const void* bytes, uint64_t nbytes);
  /// The same except for the foreign model, which has them already: a write by that memory, in the op log.
  void write_as_memory(uint64_t address, const void* bytes, uint64_t nbytes);

  /// Keeps the inputs of pending values from now on, so that tl.materialize works; before the simulation starts. `isa`:
  /// instruction set of the results.
  void keep_pending_values(Isa isa = best_isa());
  /// The same; external reads then also compute pending bytes, with the part of Phase 2 that they need.
  void materialize_outputs();
  /// The same; what an op puts into memory is also computed when the op takes effect, and known_bytes() has it.
  void materialize_stores();
  bool materializes_stores() const { return stores_; }
  /// With materialize_outputs(): computes what is pending in foreign memories, and sends it there by debug transport.
  /// One line about a fault of the computation; empty: none.
  std::string deliver();
  /// Memories whose bytes foreign models keep.
  std::vector<ForeignStore*>& foreign_stores() { return foreign_stores_; }
  /// The bytes of a range that external readers may see: real ones, and with materializes_stores() computed
  /// ones. Others of `out` stay as they are.
  void known_bytes(MemoryImage::SpaceKey, uint64_t address, uint8_t* out, uint64_t nbytes) const;
  /// The same of a value, from its byte `from` on.
  void known_bytes(const RangeValue&, uint64_t from, uint64_t nbytes, uint8_t* out) const;
  /// The first byte of an extent if known_bytes() has it; null: not, or no extent.
  const uint8_t* known(const MemoryImage::Extent*) const;
  /// As first_pending(), of bytes that known_bytes() does not have.
  protocol::PendingByte first_unknown(MemoryImage::SpaceKey, uint64_t address, uint64_t nbytes) const;
  /// With materializes_stores(): computes the value, which leaves its PE. Without: nothing. PendingValueError.
  void make_known(const RangeValue&, uint64_t nbytes);
  /// The bytes that debug transport returns on the path of the initiator at that node: beyond the first foreign block,
  /// or from the memory. Other bytes are unchanged.
  void debug_read(uint32_t initiator, uint64_t address, uint8_t* out, uint64_t nbytes);
  /// The first foreign block on the way of a transaction of `nbytes`, null: none; `ns`: what the way there and back
  /// takes.
  fabric::ForeignNeighbour* block_before(uint32_t initiator, uint64_t address, bool write, uint64_t nbytes,
                                         double* ns = nullptr) const;
  /// Inputs of pending values; null if no one may read such values before Phase 2.
  PendingValues* pending_values() { return pending_values_.get(); }

  /// A read from outside the kernels (a TLM target, transport_dbg, the host), now. Fills `out` and returns null;
  /// unwritten bytes are 0. If a byte is pending, and without materialize_outputs(), leaves `out` unchanged and returns
  /// the op that will make the byte; the response is then TLM_GENERIC_ERROR_RESPONSE. PendingValueError (one line) if
  /// the computation fails. Not for a kernel's thread: it needs an ordinary stack.
  std::shared_ptr<const OpDesc> read_from_outside(Space, uint64_t address, void* out, uint64_t nbytes);

  /// Applies an op to the image; the watcher and the pending values see it. PendingValueError, after that, with
  /// materializes_stores().
  void apply(const std::shared_ptr<const OpDesc>& op);
  /// The same of an op whose operands held what `seen` holds, if given: PendingValues::apply_seen().
  void apply(const std::shared_ptr<OpDesc>& op, const MemoryImage* seen);
  /// Composites whose tiles are still on their way.
  void set_in_flight(const OpDesc& op, bool is) { is ? void(in_flight_.insert(&op)) : void(in_flight_.erase(&op)); }
  bool in_flight(const OpDesc& op) const { return in_flight_.count(&op) > 0; }
  void watch_ops(OpWatcher* watcher) { watcher_ = watcher; }
  /// For a kernel's atomic that takes effect now: op_ids of earlier atomics on its ranges, each once.
  std::vector<uint64_t> follow_atomics(uint64_t op_id, const RangedOp&);
  /// Next number in the order of foreign writes and atomics within one instant.
  uint64_t next_foreign_write() { return foreign_writes_++; }
  /// Objects that may poll flags.
  std::vector<FlagWaiter*>& flag_waiters() { return flag_waiters_; }
  /// Entries of foreign initiators.
  std::vector<BaseProtocolTarget*>& foreign_entries() { return foreign_entries_; }
  /// Registers a function that reports whether another party may still change memory; valid as long as it lives.
  void may_change_memory(const std::shared_ptr<std::function<bool()>>& others) { others_.push_back(others); }
  /// Announces kernels whose launch is in flight.
  void expect_kernels(int64_t more) { kernels_on_the_way_ += more; }
  /// One line with the waiting kernels and their flags, if only polls remain and no pending operation can change those
  /// flags; else empty.
  std::string only_polls_left() const;
  /// Records an error if no kernel runs that could report it; the first is kept. One line; empty: none.
  void note_fault(const std::string& what) {
    if (fault_.empty()) fault_ = what;
  }
  const std::string& fault() const { return fault_; }
  /// Next number of a PE made by hand.
  uint32_t next_pe() { return pes_++; }
  /// Next number of a launch, from 1.
  uint64_t next_launch() { return ++launches_; }

  std::unique_ptr<tlm::tlm_fw_transport_if<>> make_entry(FabricNode&, tlm::tlm_bw_transport_if<>* backward) override;
  using Fabric::known_bytes;
  void known_bytes(uint64_t address, uint8_t* out, uint64_t nbytes) const override;

 private:
  template <class Apply>
  void apply_by(const OpDesc&, const Apply&);
  void compute_result(const OpDesc&);
  MemoryImage image_;
  std::unique_ptr<PendingValues> pending_values_;  ///< null: not kept
  bool outputs_ = false, stores_ = false;          ///< materialize_outputs(), materialize_stores()
  std::vector<ForeignStore*> foreign_stores_;
  std::unordered_set<const OpDesc*> in_flight_;
  std::unique_ptr<DirectMemory> direct_memory_;
  OpWatcher* watcher_ = nullptr;
  std::vector<FlagWaiter*> flag_waiters_;
  std::vector<BaseProtocolTarget*> foreign_entries_;
  std::vector<std::weak_ptr<std::function<bool()>>> others_;
  int64_t kernels_on_the_way_ = 0;
  uint64_t foreign_writes_ = 0;
  struct LastAtomic {
    uint64_t end = 0, op_id = 0;
  };
  std::map<Space, std::map<uint64_t, LastAtomic>> last_atomics_;  ///< by address, without overlaps
  uint32_t pes_ = 0;
  uint64_t launches_ = 0;
  std::string fault_;
};

}  // namespace kernbench::memory
