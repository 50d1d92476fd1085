// A system: its fabric, and the bytes of its memories as those see them who move them: kernels, foreign initiators at
// ports and other sockets, the host. What every block is made with (ComponentConfig), by a platform or by hand.
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

namespace kernbench {

class BaseProtocolTarget;
class DirectMemory;

class System : public Fabric {
 public:
  explicit System(const FabricTiming& timing = {});
  ~System() override;
  /// The system that a block was made with. std::invalid_argument, one line, where its context is none.
  static System& of(const Component&);

  MemoryImage& image() { return image_; }
  const MemoryImage& image() const { return image_; }
  /// Pages that foreign initiators have pointers to.
  DirectMemory& direct_memory() { return *direct_memory_; }

  /// The memory at a physical address.
  MemoryWindow window_at(uint64_t address) const { return address_map().window_at(address); }
  /// True if [address, address + nbytes) lies in one memory of the space.
  bool holds(Space, uint64_t address, uint64_t nbytes) const;
  /// The memory's id that holds the address in that space, or empty.
  std::string owner_of(Space, uint64_t address) const;
  /// Where the bytes of a memory are kept outside the image; null: nowhere.
  static ForeignStore* store_of(const MemoryWindow&);

  /// Puts real bytes into one memory now, without time, also where a foreign model keeps them.
  void place(uint64_t address, const void* bytes, uint64_t nbytes);
  /// The same, but for the foreign model, which has them already: a write of that memory in the op log.
  void write_as_memory(uint64_t address, const void* bytes, uint64_t nbytes);

  /// Keeps from now on what pending values are made of, so that tl.materialize works; before the simulation starts.
  /// `isa`: whose bits are given.
  void keep_pending_values(Isa isa = best_isa());
  /// The same, and reads from outside have pending bytes computed, by as much of Phase 2 as they need.
  void materialize_outputs();
  /// What pending bytes will be made from; null where nobody may ask for them before Phase 2.
  PendingValues* pending_values() { return pending_values_.get(); }

  /// What someone outside the kernels (a TLM target, transport_dbg, the host) reads at this moment: fills `out` and
  /// returns null (bytes that nothing wrote are 0), or, where a byte is pending and materialize_outputs() was not said,
  /// leaves it alone and returns the op that has still to make it; the answer is then TLM_GENERIC_ERROR_RESPONSE.
  /// PendingValueError (one line) where computing fails. Not from a kernel's thread: it needs an ordinary stack.
  std::shared_ptr<const OpDesc> read_from_outside(Space, uint64_t address, void* out, uint64_t nbytes);

  /// What an op does to the image, seen by the watcher and kept with the pending values where there are.
  void apply(const std::shared_ptr<const OpDesc>& op);
  void watch_ops(OpWatcher* watcher) { watcher_ = watcher; }
  /// Of a kernel's atomic that takes effect now: the op_ids of those before it on its ranges, each once.
  std::vector<uint64_t> follow_atomics(uint64_t op_id, const RangedOp&);
  /// Order of foreign writes and of atomics among those of one instant: the number of the next one.
  uint64_t next_foreign_write() { return foreign_writes_++; }
  /// Those who may poll flags.
  std::vector<FlagWaiter*>& flag_waiters() { return flag_waiters_; }
  /// Where foreign initiators ask.
  std::vector<BaseProtocolTarget*>& foreign_entries() { return foreign_entries_; }
  /// Says, as long as it lives, whether somebody else may still change memory.
  void may_change_memory(const std::shared_ptr<std::function<bool()>>& others) { others_.push_back(others); }
  /// Kernels whose launch is on its way to them.
  void expect_kernels(int64_t more) { kernels_on_the_way_ += more; }
  /// Who waits for which flag, one line, where nothing is left but polls of flags that nobody can change any more; else
  /// empty.
  std::string only_polls_left() const;
  /// What went wrong where no kernel runs that could be told: the first is kept. One line; empty: nothing.
  void note_fault(const std::string& what) {
    if (fault_.empty()) fault_ = what;
  }
  const std::string& fault() const { return fault_; }
  /// Of PEs that are made by hand: each the next number.
  uint32_t next_pe() { return pes_++; }
  /// Of launches: each the next number, from 1.
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

}  // namespace kernbench
