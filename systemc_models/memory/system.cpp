// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/memory/system.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "kernbench/phase2/op/runs.h"
#include "kernbench/systemc_models/fabric/foreign_neighbour.h"
#include "kernbench/systemc_models/fabric/path.h"
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
  // Before the simulation starts, sockets may be unbound. The model then gets all bytes when it starts.
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
  outputs_ = true;
}

void System::materialize_stores() {
  materialize_outputs();
  stores_ = true;
}

std::string System::deliver() {
  if (!outputs_ || foreign_stores_.empty()) return {};
  try {
    for (ForeignStore* store : foreign_stores_) store->deliver(*pending_values_);
  } catch (const PendingValueError& e) {
    return e.what();
  }
  return {};
}

std::shared_ptr<const OpDesc> System::read_from_outside(Space space, uint64_t address, void* out, uint64_t nbytes) {
  PendingValues* values = outputs_ ? pending_values_.get() : nullptr;
  return kernbench::read_from_outside(image_, values, {space, kNoPe}, address, out, nbytes);
}

template <class Apply>
void System::apply_by(const OpDesc& op, const Apply& effect) {
  if (watcher_) watcher_->before_op(op);
  effect();
  if (!stores_) {
    if (watcher_) watcher_->after_op(op);
    return;
  }
  std::exception_ptr fault;
  try {
    compute_result(op);
  } catch (const PendingValueError&) {
    fault = std::current_exception();
  }
  if (watcher_) watcher_->after_op(op);
  if (fault) std::rethrow_exception(fault);
}

void System::apply(const std::shared_ptr<const OpDesc>& op) {
  apply_by(*op, [&] {
    if (pending_values_) {
      pending_values_->apply(op, image_);
    } else {
      // TCM contents are short-lived, so short rows are copied: copying 1 KiB costs as much as tracking a row.
      apply_effect(op, image_, 1024);
    }
  });
}

void System::apply(const std::shared_ptr<OpDesc>& op, const MemoryImage* seen) {
  if (!seen) return apply(op);
  apply_by(*op, [&] { pending_values_->apply_seen(op, image_, *seen); });
}

/// Computes the value that an op wrote to memory. If an engine has not finished it, the reader gets it later, or a
/// fault.
void System::compute_result(const OpDesc& op) try {
  if (op.ranged && op.type != CommandType::load) {
    for (const MovedRange& r : op.ranged->ranges)
      pending_values_->compute(image_, {op.ranged->space, kNoPe}, r.addr, r.nbytes);
  }
  if (op.ranged || op.output.space == Space::tcm) return;
  for_each_output(op, [&](const TensorRef& t) {
    for_each_run(t, [&](uint64_t address, uint64_t nbytes) {
      pending_values_->compute(image_, MemoryImage::key_of(t), address, nbytes);
    });
  });
} catch (const EngineNotFinished&) {
}

void System::make_known(const RangeValue& value, uint64_t nbytes) try {
  if (stores_) pending_values_->compute(value, 0, nbytes);
} catch (const EngineNotFinished&) {
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
  // Messages in flight have timeline entries; the entry of this poll is already removed.
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
  known_bytes(window_at(address).key(), address, out, nbytes);
}

void System::known_bytes(MemoryImage::SpaceKey key, uint64_t address, uint8_t* out, uint64_t nbytes) const {
  image_.for_each_piece(key, address, nbytes,
                        [&](uint64_t at, uint64_t n, const MemoryImage::Extent* e, uint64_t offset) {
                          if (const uint8_t* bytes = known(e)) std::memcpy(out + (at - address), bytes + offset, n);
                        });
}

void System::known_bytes(const RangeValue& value, uint64_t from, uint64_t nbytes, uint8_t* out) const {
  value.for_each_piece(from, nbytes, [&](uint64_t at, uint64_t n, const MemoryImage::Extent* e, uint64_t offset) {
    if (const uint8_t* bytes = known(e)) std::memcpy(out + (at - from), bytes + offset, n);
  });
}

const uint8_t* System::known(const MemoryImage::Extent* e) const {
  if (!e) return nullptr;
  if (!e->producer()) return e->data();
  return stores_ ? pending_values_->bytes_if_known(*e) : nullptr;
}

PendingByte System::first_unknown(MemoryImage::SpaceKey key, uint64_t address, uint64_t nbytes) const {
  PendingByte first;
  image_.for_each_piece(key, address, nbytes, [&](uint64_t at, uint64_t, const MemoryImage::Extent* e, uint64_t) {
    if (e && e->producer() && !first.producer && !known(e)) first = {at, e->shared_producer()};
  });
  return first;
}

ForeignNeighbour* System::block_before(uint32_t initiator, uint64_t address, bool write, uint64_t nbytes,
                                       double* ns) const {
  if (!meets_foreign_blocks()) return nullptr;
  const PassingMessage there{write, false, address, nbytes};
  const PassingMessage back{write, true, address, nbytes};
  double way_ns = 0;
  try {
    const Route& route = routes().route(initiator, address, 1, write);
    if (!route.own_back.empty()) return nullptr;  // such a route contains no foreign block
    const Path request = route.path(false), response = route.path(true);
    for (uint32_t i = 0; i < request.size(); ++i) {
      const PathHop hop = request.at_node(i), answer = response.at_node(i);
      way_ns += hop.cost(there).ns() + hop.link->wire_ns;
      if (responses_travel() && answer.link) way_ns += answer.cost(back).ns();
      if (ForeignNeighbour* block = hop.port->foreign()) {
        if (ns) *ns = way_ns + (responses_travel() ? block->from.wire_ns : 0);
        return block;
      }
      if (responses_travel()) way_ns += answer.link->wire_ns;
    }
  } catch (const AccessError&) {
  }
  return nullptr;
}

void System::debug_read(uint32_t initiator, uint64_t address, uint8_t* out, uint64_t nbytes) {
  const MemoryWindow window = window_at(address);
  known_bytes(window.key(), address, out, nbytes);
  if (ForeignNeighbour* block = block_before(initiator, address, false, nbytes)) {
    std::vector<uint8_t> bytes(nbytes);
    tlm::tlm_generic_payload p;
    p.set_read();
    p.set_address(address);
    p.set_data_ptr(bytes.data());
    p.set_data_length(static_cast<unsigned>(nbytes));
    p.set_streaming_width(static_cast<unsigned>(nbytes));
    const uint64_t given = std::min<uint64_t>(block->forward()->transport_dbg(p), nbytes);
    std::copy_n(bytes.begin(), given, out);
  } else if (ForeignStore* store = store_of(window)) {
    store->peek(address, out, nbytes);
  }
}

}  // namespace kernbench::memory
