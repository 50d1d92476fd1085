// The system's memory as those see it who move bytes: kernels, and foreign initiators at ports and the host's socket.
#pragma once

#include <memory>
#include <string>

#include "kernbench/phase2/memory_image.h"
#include "kernbench/phase2/pending_values.h"

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

  /// An op's effect on the image (apply_effect), seen by the watcher and kept with the pending values where there are.
  void apply(const std::shared_ptr<const OpDesc>& op) {
    if (watcher_) watcher_->before_effect(*op);
    if (PendingValues* values = pending_values()) {
      values->apply(op, image());
    } else {
      apply_effect(op, image());
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
