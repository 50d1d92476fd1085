// SPDX-License-Identifier: Apache-2.0
#include "kernbench/kernel_api/core.h"

#include <algorithm>
#include <cstring>

#include "kernbench/phase2/eval/convert.h"
#include "kernbench/phase2/op/address_text.h"

namespace kernbench::tl::detail {

namespace {

/// Offset in a strided tensor of the byte at `offset` of a dense one.
uint64_t strided_offset(const TensorRef& t, uint64_t offset) {
  const auto item = static_cast<uint64_t>(size_of(t.dtype));
  auto rest = static_cast<int64_t>(offset / item);
  int64_t elements = 0;
  for (int i = t.shape.rank() - 1; i >= 0; --i) {
    elements += rest % t.shape[i] * t.strides[i];
    rest /= t.shape[i];
  }
  return static_cast<uint64_t>(elements) * item + offset % item;
}

}  // namespace

void fault(const SourceLine& where, const std::string& what) {
  throw KernelFault(where, what);
}

std::string made_by(const OpDesc& producer) {
  return "made by op '" + (producer.op.empty() ? producer.name : producer.op) + "' at " + to_string(producer.where);
}

Handle::~Handle() {
  if (core != nullptr) core->release(*this);
}

Core::~Core() {
  for (const Retired& r : retired_) backend_.tcm_free(r.buffer.addr);
}

const std::shared_ptr<Handle>& Core::handle_of(const Tensor& t) {
  t.handle();
  return t.handle_;
}

bool Core::in_use(std::vector<Ticket>& uses) const {
  uses.erase(std::remove_if(uses.begin(), uses.end(), [this](Ticket t) { return backend_.done(t); }), uses.end());
  return !uses.empty();
}

void Core::release(Handle& h) {
  if (h.home != nullptr) h.home->uses.insert(h.home->uses.end(), h.uses.begin(), h.uses.end());
  if (!h.owns_tcm) return;
  if (!in_use(h.uses)) {
    backend_.tcm_free(h.buffer.addr);
    return;
  }
  const bool unchecked = h.is_load && !h.arrived && h.producer->type == CommandType::load;
  retired_.push_back({h.buffer, std::move(h.uses), unchecked ? h.producer : nullptr});
}

void Core::finish_retired(const Retired& r) {
  if (r.load != nullptr) check_arrival(r.buffer, *r.load);
  backend_.tcm_free(r.buffer.addr);
}

bool Core::sweep() {
  bool any = false;
  // Commands end almost in submission order, so checking only the oldest is sufficient and cheap.
  while (!retired_.empty() && !in_use(retired_.front().uses)) {
    const Retired r = std::move(retired_.front());
    retired_.pop_front();
    any = true;
    finish_retired(r);
  }
  return any;
}

bool Core::reclaim() {
  if (retired_.empty()) return false;
  if (sweep()) return true;
  const std::vector<Ticket> oldest = retired_.front().uses;
  for (Ticket t : oldest) backend_.wait(t);
  return sweep();
}

std::shared_ptr<Handle> Core::allocate(DType dtype, const Dims& shape, SourceLine where) {
  auto h = std::make_shared<Handle>();
  h->buffer.space = Space::tcm;
  h->buffer.pe = backend_.pe_index();
  h->buffer.dtype = dtype;
  h->buffer.shape = shape;
  h->buffer.strides = TensorRef::row_major(shape);
  h->id = next_id_++;
  h->core = shared_from_this();
  if (next_home_ != nullptr) {
    h->home = std::move(next_home_);
    next_home_ = nullptr;
    h->buffer.addr = h->home->buffer.addr + static_cast<uint64_t>(next_first_) * size_of(dtype);
    return h;
  }
  sweep();
  for (bool placed = false; !placed;) {
    try {
      h->buffer.addr = backend_.tcm_alloc(h->buffer.nbytes());
      placed = true;
    } catch (const KernelFault& e) {
      // Memory that commands in flight still hold will be freed, so the call waits. Without such commands TCM is
      // exhausted.
      if (retired_.empty()) fault(where, e.what());
    }
    // Outside the handler, because a coroutine that waits in one would mix up the exceptions of other coroutines.
    if (!placed) reclaim();
  }
  h->owns_tcm = true;
  return h;
}

void Core::place_next(std::shared_ptr<Handle> home, int64_t first) {
  next_home_ = std::move(home);
  next_first_ = first;
}

std::shared_ptr<Handle> Core::in_memory(const TensorRef& where) {
  auto h = std::make_shared<Handle>();
  h->buffer = where;
  h->id = next_id_++;
  h->core = shared_from_this();
  return h;
}

Ticket Core::submit(const std::shared_ptr<OpDesc>& desc, const std::shared_ptr<Handle>& made,
                    const std::vector<std::shared_ptr<Handle>>& operands, bool async) {
  if (made != nullptr) desc->handle_id = made->id;
  const Ticket ticket = backend_.submit(desc);
  if (made != nullptr) {
    made->ticket = ticket;
    made->producer = desc;
    made->is_load = desc->type == CommandType::load || desc->type == CommandType::atomic;
  }
  if (desc->type == CommandType::composite) unchecked_.push_back({desc, ticket});
  if (async) {
    if (made != nullptr) made->uses.push_back(ticket);
    for (const auto& h : operands) used_by(h, ticket);
    if (made != nullptr && made->is_load) keep_in_flight(made);
    return ticket;
  }
  if (made != nullptr) {
    wait(made);
  } else {
    backend_.wait(ticket);
  }
  return ticket;
}

void Core::keep_in_flight(const std::shared_ptr<Handle>& load) {
  auto& loads = loads_in_flight_;
  if (loads.size() >= most_loads_) {  // rare enough that a load's cost does not depend on the number in flight
    const auto is_over = [](const std::weak_ptr<Handle>& w) {
      const auto live = w.lock();
      return live == nullptr || live->arrived;
    };
    loads.erase(std::remove_if(loads.begin(), loads.end(), is_over), loads.end());
    most_loads_ = 2 * loads.size() + 16;
  }
  loads.push_back(load);
}

void Core::receive(const std::shared_ptr<OpDesc>& desc, const std::shared_ptr<QueueOp>& op,
                   const std::shared_ptr<Handle>& made, bool async) {
  desc->handle_id = made->id;
  made->ticket = backend_.submit_queue_op(desc, op);
  made->producer = desc;
  made->is_load = true;
  if (!async) return wait(made);
  made->uses.push_back(made->ticket);
  keep_in_flight(made);
}

void Core::used_by(const std::shared_ptr<Handle>& h, Ticket ticket) {
  if (h->uses.size() >= 16) in_use(h->uses);
  h->uses.push_back(ticket);
}

void Core::used_by(const Tensor& t, Ticket ticket) {
  used_by(handle_of(t), ticket);
}

void Core::wait(const std::shared_ptr<Handle>& h) {
  if (h->arrived || h->producer == nullptr) return;
  backend_.wait(h->ticket);
  h->arrived = true;
  if (h->producer->type == CommandType::composite) check_sources(*h->producer);
  if (!h->is_load || h->producer->type != CommandType::load) return;  // nothing unwritten was read
  check_arrival(h->buffer, *h->producer);
  if (h->mask == nullptr) return;
  check_masked_arrival(*h->producer);
  h->mask.reset();
}

void Core::materialize(const Tensor& t, SourceLine where) {
  require_tcm(t, "materialize", where);
  const auto& h = handle_of(t);
  wait(h);
  if (h->materialized) return;
  const bool real = backend_.memory().state_of(h->buffer).state == MemoryImage::State::real;
  if (!h->is_load || !real) {
    auto desc = std::make_shared<OpDesc>();
    desc->type = CommandType::store;
    desc->kind = OpKind::memory;
    desc->name = "materialize";
    desc->where = where;
    desc->handle_id = h->id;
    desc->operands.resize(1);
    desc->operands[0].ref = h->buffer;
    desc->output = h->buffer;
    try {
      backend_.materialize(desc);
    } catch (const KernelFault& e) {
      fault(where, "materialize of " + t.to_string() + ": " + e.what());
    }
  }
  h->materialized = true;
}

void Core::settle(const Tensor& t) {
  const auto& h = handle_of(t);
  if (h->is_load) wait(h);
}

void Core::finish() {
  const auto loads = loads_in_flight_;
  for (const auto& weak : loads) {
    if (const auto h = weak.lock()) wait(h);
  }
  while (reclaim()) {
  }
  for (const Unchecked& c : std::vector<Unchecked>(unchecked_)) {
    backend_.wait(c.ticket);
    check_sources(*c.composite);
  }
}

namespace {

[[noreturn]] void never_written(PeBackend& backend, const TensorRef& source, uint64_t bad, const std::string& call,
                                SourceLine where) {
  const std::string owner = backend.owner_of(source.space, bad);
  const std::string nearest = backend.memory().nearest(MemoryImage::key_of(source), bad);
  fault(where, call + " of " + source.shape.to_string() + " " + std::string(name_of(source.dtype)) + " (" +
                   std::to_string(source.nbytes()) + " bytes) at " + std::string(name_of(source.space)) + " " +
                   address_text(source.addr) +
                   (source.translation ? " (virtual " + address_text(source.translation->virtual_addr) + ")" : "") +
                   " by " + backend.pe_id() + " reads memory that was never written: first at " + address_text(bad) +
                   (owner.empty() ? "" : " of " + owner) + (nearest.empty() ? "" : "; " + nearest));
}

}  // namespace

std::vector<uint64_t> selected_offsets(const MemoryImage& memory, const TensorRef& mask, const TensorRef& block) {
  std::vector<uint8_t> on(static_cast<size_t>(mask.shape.elements()));
  nonzero(memory.gather(mask).data(), mask.dtype, on.data(), on.size());
  std::vector<uint64_t> offsets;
  for (size_t i = 0; i < on.size(); ++i) {
    if (on[i] != 0) offsets.push_back(strided_offset(block, i * size_of(block.dtype)));
  }
  return offsets;
}

void check_written(PeBackend& backend, const TensorRef& source, const std::string& call, SourceLine where) {
  const auto state = backend.memory().state_of(source);
  if (state.state == MemoryImage::State::unwritten) never_written(backend, source, state.first_bad, call, where);
}

void Core::check_arrival(const TensorRef& buffer, const OpDesc& load) {
  const auto state = backend_.memory().state_of(MemoryImage::key_of(buffer), buffer.addr, buffer.nbytes());
  if (state.state != MemoryImage::State::unwritten) return;
  const TensorRef& source = load.operands.front().ref;
  if (load.ranged) {
    const uint64_t offset = state.first_bad - buffer.addr;
    for (const MovedRange& r : load.ranged->ranges) {
      if (offset >= r.offset && offset - r.offset < r.nbytes)
        never_written(backend_, source, r.addr + (offset - r.offset), "gather", load.where);
    }
  }
  never_written(backend_, source, source.address_at(strided_offset(source, state.first_bad - buffer.addr)), "load",
                load.where);
}

void Core::check_sources(const OpDesc& composite) {
  const auto it = std::find_if(unchecked_.begin(), unchecked_.end(),
                               [&composite](const Unchecked& c) { return c.composite.get() == &composite; });
  if (it == unchecked_.end()) return;
  unchecked_.erase(it);
  for (const Operand& o : composite.operands) {
    if (!o.is_scalar && o.ref.space != Space::tcm) {
      check_written(backend_, o.ref, "composite '" + composite.op + "'", composite.where);
    }
  }
}

void Core::check_masked_arrival(const OpDesc& load) {
  if (load.carried) return;  // a foreign block returned the bytes; the image does not matter
  const MemoryImage& memory = backend_.memory();
  const TensorRef& source = load.operands[0].ref;
  const TensorRef& mask = load.operands[1].ref;
  if (memory.state_of(mask).state != MemoryImage::State::real) return;  // unknown which elements are read
  for (const uint64_t offset : selected_offsets(memory, mask, source)) {
    const uint64_t addr = source.address_at(offset);
    if (memory.state_of(MemoryImage::key_of(source), addr, size_of(source.dtype)).state ==
        MemoryImage::State::unwritten)
      never_written(backend_, source, addr, "load", load.where);
  }
}

}  // namespace kernbench::tl::detail
