// The system's memory as those see it who move bytes: kernels, and foreign initiators at ports and the host's socket.
#pragma once

#include <memory>
#include <string>

#include "kernbench/phase2/graph/pending_values.h"
#include "kernbench/phase2/memory/memory_image.h"

namespace kernbench {

/// One memory's range of physical addresses.
struct MemoryWindow {
  uint64_t base = 0, size = 0;  ///< bytes; size 0: no memory
  Space space = Space::hbm;
  uint32_t node = 0;  ///< in compiled order
  bool holds(uint64_t addr, uint64_t nbytes) const {
    return addr >= base && nbytes <= size && addr - base <= size - nbytes;
  }
  MemoryImage::SpaceKey key() const { return {space, kNoPe}; }
};

/// Is told of the ops of kernels, before and after their effect on the image.
class EffectWatcher {
 public:
  virtual ~EffectWatcher() = default;
  virtual void before_effect(const OpDesc&) = 0;
  virtual void after_effect(const OpDesc&) = 0;
};

/// A memory whose bytes a foreign model keeps (tlm_memory.h). The image holds what the platform knows of them.
class ForeignStore {
 public:
  virtual ~ForeignStore() = default;
  /// The model's bytes of a range into the image, and the image's into the model, by debug transport: at once.
  virtual void pull(uint64_t address, uint64_t nbytes) = 0;
  virtual void push(uint64_t address, uint64_t nbytes) = 0;
};

/// The platform's.
class SystemMemory {
 public:
  virtual ~SystemMemory() = default;
  virtual MemoryImage& image() = 0;
  /// What pending bytes will be made from; null where nobody may ask for them before Phase 2.
  virtual PendingValues* pending_values() { return nullptr; }
  /// The memory node that holds the address in that space, or empty.
  virtual std::string owner_of(Space, uint64_t addr) const = 0;
  /// True if [addr, addr + nbytes) lies in one memory of the space.
  virtual bool holds(Space, uint64_t addr, uint64_t nbytes) const = 0;
  /// The memory at a physical address.
  virtual MemoryWindow window_at(uint64_t addr) const = 0;
  /// Where the bytes of a memory are kept outside the image; null: nowhere.
  virtual ForeignStore* store_of(uint32_t node) = 0;
  /// What someone outside the kernels reads at this moment: fills `out` and returns null (bytes that nothing wrote are
  /// 0), or leaves it alone and returns the op that has still to make one of the bytes.
  virtual std::shared_ptr<const OpDesc> read_from_outside(Space, uint64_t addr, void* out, uint64_t nbytes) = 0;

  /// Real bytes come to one memory now by no transaction of the fabric: a write of that memory in the op log.
  virtual void write_as_memory(uint64_t addr, const void* bytes, uint64_t nbytes) = 0;

  /// An op's effect on the image (apply_effect), seen by the watcher and kept with the pending values where there are.
  void apply(const std::shared_ptr<const OpDesc>& op) {
    if (watcher_) watcher_->before_effect(*op);
    if (PendingValues* values = pending_values()) {
      values->apply(op, image());
    } else {
      // TCM holds what is loaded now, not for as long as a log: copying 1 KiB takes as long as keeping track of a row.
      apply_effect(op, image(), 1024);
    }
    if (watcher_) watcher_->after_effect(*op);
  }
  void watch_effects(EffectWatcher* watcher) { watcher_ = watcher; }

  /// Order of foreign writes among those of one instant: the number of the next one.
  uint64_t next_foreign_write() { return foreign_writes_++; }

 private:
  EffectWatcher* watcher_ = nullptr;
  uint64_t foreign_writes_ = 0;
};

}  // namespace kernbench
