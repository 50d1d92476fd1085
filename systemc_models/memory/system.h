// SPDX-License-Identifier: Apache-2.0
// A system: its fabric, and the bytes of its memories for kernels, for foreign initiators at ports and other sockets,
// and for the host. Each block gets it at construction (ComponentConfig), from a platform or by hand.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernbench/phase2/graph/pending_values.h"
#include "kernbench/phase2/memory/memory_image.h"
#include "kernbench/systemc_models/fabric/address_map.h"
#include "kernbench/systemc_models/fabric/fabric.h"
#include "kernbench/systemc_models/memory/memory_users.h"

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
  /// Inputs of pending values; null if no one may read such values before Phase 2.
  PendingValues* pending_values() { return pending_values_.get(); }

  /// A read from outside the kernels (a TLM target, transport_dbg, the host), now. Fills `out` and returns null;
  /// unwritten bytes are 0. If a byte is pending, and without materialize_outputs(), leaves `out` unchanged and returns
  /// the op that will make the byte; the response is then TLM_GENERIC_ERROR_RESPONSE. PendingValueError (one line) if
  /// the computation fails. Not for a kernel's thread: it needs an ordinary stack.
  std::shared_ptr<const OpDesc> read_from_outside(Space, uint64_t address, void* out, uint64_t nbytes);

  /// Applies an op to the image; the watcher and the pending values see it.
  void apply(const std::shared_ptr<const OpDesc>& op);
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
  MemoryImage image_;
  std::unique_ptr<PendingValues> pending_values_;  ///< null: not kept
  bool materialize_outputs_ = false;
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
