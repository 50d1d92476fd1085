// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/memory/system.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "kernbench/systemc_models/memory/direct_memory.h"
#include "kernbench/systemc_models/memory/foreign_entry.h"

namespace kernbench::memory {

System::System(const FabricTiming& timing) : Fabric(timing), direct_memory_(std::make_unique<DirectMemory>(*this)) {}

System::~System() = default;

System& System::of(const Component& block) {
  if (auto* system = dynamic_cast<System*>(&block.context())) return *system;
  throw std::invalid_argument(block.id() + ": its context is no System, which a block that moves bytes needs");
}

bool System::holds(Space space, uint64_t address, uint64_t nbytes) const {
  const MemoryWindow window = window_at(address);
  return window.space == space && window.holds(address, nbytes);
}

std::string System::owner_of(Space space, uint64_t address) const {
  const MemoryWindow window = window_at(address);
  return window.memory && window.space == space ? window.memory->id() : std::string();
}

ForeignStore* System::store_of(const MemoryWindow& window) {
  return dynamic_cast<ForeignStore*>(window.memory);
}

void System::place(uint64_t address, const void* bytes, uint64_t nbytes) {
  write_as_memory(address, bytes, nbytes);
  ForeignStore* store = store_of(window_at(address));
  // Before the simulation nothing may be bound yet; the model is given everything when it starts.
  if (store && sc_core::sc_is_running()) store->push(address, nbytes);
}

void System::write_as_memory(uint64_t address, const void* bytes, uint64_t nbytes) {
  const MemoryWindow window = window_at(address);
  direct_memory_->settle(window.key(), address, nbytes);
  image_.write(window.key(), address, bytes, nbytes);
  direct_memory_->refresh(window.key(), address, nbytes);
  if (!window.memory || !window.memory->logged()) return;
  const auto* first = static_cast<const uint8_t*>(bytes);
  ForeignRecord record;
  record.effect_ns = timeline().now_ns();
  record.desc = foreign_write_desc(window.space, address, std::make_shared<const Bytes>(first, first + nbytes),
                                   next_foreign_write());
  window.memory->end_service(record, window.memory->begin_service(record), record.effect_ns, record.effect_ns);
}

void System::keep_pending_values(Isa isa) {
  if (!pending_values_) pending_values_ = std::make_unique<PendingValues>();
  pending_values_->use(isa);
}

void System::materialize_outputs() {
  keep_pending_values();
  materialize_outputs_ = true;
}

std::shared_ptr<const OpDesc> System::read_from_outside(Space space, uint64_t address, void* out, uint64_t nbytes) {
  PendingValues* values = materialize_outputs_ ? pending_values_.get() : nullptr;
  return kernbench::read_from_outside(image_, values, {space, kNoPe}, address, out, nbytes);
}

void System::apply(const std::shared_ptr<const OpDesc>& op) {
  if (watcher_) watcher_->before_op(*op);
  if (pending_values_) {
    pending_values_->apply(op, image_);
  } else {
    // TCM holds what is loaded now, not for as long as a log: copying 1 KiB takes as long as keeping track of a row.
    apply_effect(op, image_, 1024);
  }
  if (watcher_) watcher_->after_op(*op);
}

std::string System::only_polls_left() const {
  const auto may = [](const auto& others) {
    const auto lives = others.lock();
    return lives && (*lives)();
  };
  if (kernels_on_the_way_ > 0 || std::any_of(others_.begin(), others_.end(), may)) return {};
  constexpr size_t kMostTold = 3;
  size_t pauses = 0, polls = 0;
  bool receives = false;
  std::string text;
  for (const FlagWaiter* w : flag_waiters_) {
    const FlagWaiter::Polling p = w->polling();
    if (p == FlagWaiter::Polling::no) return {};
    pauses += p == FlagWaiter::Polling::pauses;
    receives |= p == FlagWaiter::Polling::receives || w->has_open_messages();
    if (p != FlagWaiter::Polling::pauses && p != FlagWaiter::Polling::looks) continue;
    if (++polls <= kMostTold) text += (text.empty() ? "" : "; ") + w->flag_text();
  }
  if (polls > kMostTold) text += "; and " + std::to_string(polls - kMostTold) + " more";
  // Of messages, what is under way stands on the timeline; the entry of this poll is worked off.
  if (receives && timeline().entries() + 1 != pauses) return {};
  return "nothing can move but polls of flags that no pending operation changes: " + text;
}

std::vector<uint64_t> System::follow_atomics(uint64_t op_id, const RangedOp& op) {
  std::map<uint64_t, LastAtomic>& last = last_atomics_[op.space];
  const auto split = [&](uint64_t at) {
    auto it = last.lower_bound(at);
    if (it == last.begin() || (--it)->second.end <= at) return;
    last.emplace(at, it->second);
    it->second.end = at;
  };
  std::vector<uint64_t> before;
  for (const MovedRange& r : op.ranges) {
    split(r.addr);
    split(r.addr + r.nbytes);
    auto it = last.lower_bound(r.addr);
    for (; it != last.end() && it->first < r.addr + r.nbytes; it = last.erase(it)) {
      if (it->second.op_id != op_id) before.push_back(it->second.op_id);
    }
    last.emplace_hint(it, r.addr, LastAtomic{r.addr + r.nbytes, op_id});
  }
  std::sort(before.begin(), before.end());
  before.erase(std::unique(before.begin(), before.end()), before.end());
  return before;
}

std::unique_ptr<tlm::tlm_fw_transport_if<>> System::make_entry(FabricNode& node, tlm::tlm_bw_transport_if<>* backward) {
  return std::make_unique<ForeignEntry>(node, backward);
}

void System::known_bytes(uint64_t address, uint8_t* out, uint64_t nbytes) const {
  image_.for_each_piece(window_at(address).key(), address, nbytes,
                        [&](uint64_t at, uint64_t n, const MemoryImage::Extent* e, uint64_t offset) {
                          if (e && !e->producer()) std::memcpy(out + (at - address), e->data() + offset, n);
                        });
}

}  // namespace kernbench::memory
