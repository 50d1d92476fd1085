// SPDX-License-Identifier: Apache-2.0
// Loads and stores.
#include <algorithm>
#include <stdexcept>

#include "kernbench/kernel_api/context.h"
#include "kernbench/kernel_api/core.h"

namespace kernbench::tl {

using detail::Core;
using detail::fault;

namespace detail {

namespace {

/// For the pieces of a translation: mapped pages may lie anywhere.
bool pieces_are_aligned(const TensorRef& t, size_t item) {
  return !t.translation ||
         std::all_of(t.translation->pieces.begin(), t.translation->pieces.end(),
                     [item](const Translation::Piece& p) { return p.addr % item == 0 && p.offset % item == 0; });
}

/// "; nearest written range: [0x…, 0x…)", if the memory contains anything. Written bytes have no virtual addresses.
std::string nearest_text(PeBackend& backend, const TensorRef& ref) {
  if (ref.addr >= kVirtualBase) return "";
  const std::string nearest = backend.memory().nearest(MemoryImage::key_of(ref), ref.addr);
  return nearest.empty() ? "" : "; " + nearest;
}

/// Whether the mask's elements can be read now. A computed mask must be materialized: memory may have its bytes before
/// its producer is done.
bool is_data(PeBackend& backend, const Tensor& mask) {
  const Handle& h = *Core::handle_of(mask);
  return (h.is_load || h.materialized) && backend.memory().state_of(mask.ref()).state == MemoryImage::State::real;
}

/// For a block beyond the bounds of its pointer. Elements that the mask skips do not count. If the mask is pending, the
/// complete block counts.
void require_mask_keeps_bounds(PeBackend& backend, const Block& b, const TensorRef& asked, const Tensor* mask,
                               const std::string& call, SourceLine where) {
  const Bounds& bounds = b.ptr().bounds;
  const bool pending = mask && !is_data(backend, *mask);
  if (mask && !pending) {
    const std::vector<uint64_t> reached = selected_offsets(backend.memory(), mask->ref(), asked);
    const auto inside = [&](uint64_t offset) { return bounds.hold(asked.addr + offset, size_of(asked.dtype)); };
    if (std::all_of(reached.begin(), reached.end(), inside)) return;
  }
  fault(where, call + " of " + b.to_string() + " by " + backend.pe_id() + ": leaves what its pointer came from, " +
                   bounds.to_string() + (pending ? "; its mask is pending, so all of it counts" : "") +
                   " (Ptr::unbounded() lifts the bounds)");
}

struct Asked {
  TensorRef ref;
  uint64_t span = 0;  ///< bytes from the first byte to the end of the last element
};

Asked asked_for(const Block& b, const std::string& call, SourceLine where) {
  try {
    Asked a{b.ref()};
    a.span = a.ref.span_bytes();
    return a;
  } catch (const std::overflow_error& e) {
    fault(where, call + " of " + b.to_string() + ": " + e.what());
  }
}

}  // namespace

TensorRef physical_block(PeBackend& backend, const Block& b, const Tensor* mask, const std::string& call,
                         SourceLine where) {
  const Asked whole = asked_for(b, call, where);
  const TensorRef& asked = whole.ref;
  const uint64_t span = whole.span;
  if (span == 0) fault(where, call + ": an empty block");
  if (b.ptr().space == Space::tcm) {
    fault(where, call + " of " + b.to_string() + ": TCM is reached through tensors, not through pointers");
  }
  const size_t item = size_of(b.dtype());
  const auto misaligned = [&](const std::string& what) {
    const std::string owner = backend.owner_of(asked.space, asked.addr);
    fault(where, call + " of " + b.to_string() + " (" + std::to_string(asked.nbytes()) + " bytes" +
                     (owner.empty() ? "" : ", " + owner) + ") by " + backend.pe_id() + ": " + what +
                     " is misaligned, elements of " + std::to_string(item) + " bytes need a multiple of it" +
                     nearest_text(backend, asked));
  };
  if (asked.addr % item != 0) misaligned("the address");
  TensorRef ref;
  const auto refused = [&](const std::string& why) {
    fault(where, call + " of " + b.to_string() + " by " + backend.pe_id() + ": " + why);
  };
  try {
    ref = backend.translate(asked);
  } catch (const KernelFault& e) {
    refused(e.what());
  }
  try {
    if (!ref.translation) backend.check_range(ref.space, ref.addr, span);
  } catch (const KernelFault& e) {
    refused(e.what() + nearest_text(backend, ref));
  }
  if (!pieces_are_aligned(ref, item)) misaligned("a physical piece of it");
  if (!b.ptr().bounds.hold(asked.addr, span)) require_mask_keeps_bounds(backend, b, asked, mask, call, where);
  return ref;
}

}  // namespace detail

Ptr Context::sram(DType dtype, const char* file, int line) const {
  const PeBackend::Range range = core_->backend().sram();
  if (range.nbytes == 0) fault({file, line}, "sram: the cube of " + core_->backend().pe_id() + " has no shared SRAM");
  return Ptr(Space::sram, range.addr, dtype).bounded(range.nbytes, "the cube's SRAM");
}

uint64_t Context::sram_bytes() const {
  return core_->backend().sram().nbytes;
}

Loaded Context::load(const Block& from, const char* file, int line) {
  return load_impl(from, nullptr, 0, async_, {file, line});
}

Loaded Context::load_async(const Block& from, const char* file, int line) {
  return load_impl(from, nullptr, 0, true, {file, line});
}

Loaded Context::load(const Block& from, const Tensor& mask, double other, const char* file, int line) {
  return load_impl(from, &mask, other, async_, {file, line});
}

Loaded Context::load_async(const Block& from, const Tensor& mask, double other, const char* file, int line) {
  return load_impl(from, &mask, other, true, {file, line});
}

Loaded Context::load_impl(const Block& from, const Tensor* mask, double other, bool async, SourceLine where) {
  if (mask != nullptr) core_->settle_mask(*mask, from, "load", where);
  const TensorRef source = detail::physical_block(core_->backend(), from, mask, "load", where);
  auto desc = std::make_shared<OpDesc>();
  desc->type = CommandType::load;
  desc->kind = OpKind::memory;
  desc->name = "dma_read";
  desc->where = where;
  desc->operands.resize(1);
  desc->operands[0].ref = source;
  std::vector<std::shared_ptr<detail::Handle>> used;
  if (mask != nullptr) {
    Operand m;
    m.ref = mask->ref();
    Operand o;
    o.is_scalar = true;
    o.scalar = other;
    desc->operands.push_back(m);
    desc->operands.push_back(o);
    used.push_back(Core::handle_of(*mask));
  }
  const auto made = core_->allocate(from.dtype(), from.shape(), where);
  desc->output = made->buffer;
  if (mask != nullptr) made->mask = Core::handle_of(*mask);
  core_->submit(desc, made, used, async);
  return Loaded(Core::tensor_of(made));
}

Event Context::store(const Block& to, const Tensor& value, const char* file, int line) {
  return store_impl(to, value, nullptr, async_, {file, line});
}

Event Context::store_async(const Block& to, const Tensor& value, const char* file, int line) {
  return store_impl(to, value, nullptr, true, {file, line});
}

Event Context::store(const Block& to, const Tensor& value, const Tensor& mask, const char* file, int line) {
  return store_impl(to, value, &mask, async_, {file, line});
}

Event Context::store_async(const Block& to, const Tensor& value, const Tensor& mask, const char* file, int line) {
  return store_impl(to, value, &mask, true, {file, line});
}

/// The op without the bytes of its value. `call`: for messages.
std::shared_ptr<OpDesc> Context::store_of(const Block& to, const Tensor& value, const Tensor* mask, const char* call,
                                          SourceLine where) {
  const std::string of_what = std::string(call) + " of " + value.to_string() + " to " + to.to_string();
  if (value.shape() != to.shape()) fault(where, of_what + ": shapes differ");
  if (value.dtype() != to.dtype()) fault(where, of_what + ": element types differ; tl.cast first");
  core_->settle(value);
  if (mask != nullptr) core_->settle_mask(*mask, to, call, where);
  auto desc = std::make_shared<OpDesc>();
  desc->type = CommandType::store;
  desc->kind = OpKind::memory;
  desc->name = "dma_write";
  desc->where = where;
  desc->handle_id = value.id();
  desc->operands.resize(1);
  desc->operands[0].ref = value.ref();
  desc->output = detail::physical_block(core_->backend(), to, mask, call, where);
  return desc;
}

Event Context::submit_store(const std::shared_ptr<OpDesc>& desc, const Tensor& value, const Tensor* mask, bool async) {
  std::vector<std::shared_ptr<detail::Handle>> used{Core::handle_of(value)};
  if (mask != nullptr) {
    Operand m;
    m.ref = mask->ref();
    desc->operands.push_back(m);
    used.push_back(Core::handle_of(*mask));
  }
  // The bytes of a handle never change, so the store writes the bytes that are real now. A computed result is real only
  // if it was materialized. Memory may not show that yet, because a backend may apply effects after its call returns.
  const MemoryImage& memory = core_->backend().memory();
  if ((Core::handle_of(value)->is_load || Core::handle_of(value)->materialized) &&
      memory.state_of(value.ref()).state == MemoryImage::State::real) {
    desc->data = std::make_shared<const Bytes>(memory.gather(value.ref()));
  }
  return Event(core_->submit(desc, nullptr, used, async));
}

Event Context::store_impl(const Block& to, const Tensor& value, const Tensor* mask, bool async, SourceLine where) {
  core_->require_tcm(value, "store", where);
  return submit_store(store_of(to, value, mask, "store", where), value, mask, async);
}

Event Context::multicast(const std::vector<Ptr>& destinations, const Tensor& value, const char* file, int line) {
  return multicast_impl(destinations, value, async_, {file, line});
}

Event Context::multicast_async(const std::vector<Ptr>& destinations, const Tensor& value, const char* file, int line) {
  return multicast_impl(destinations, value, true, {file, line});
}

Event Context::multicast_impl(const std::vector<Ptr>& destinations, const Tensor& value, bool async, SourceLine where) {
  core_->require_tcm(value, "multicast", where);
  if (destinations.empty()) fault(where, "multicast of " + value.to_string() + ": found no destination, expected one");
  auto all = std::make_shared<std::vector<TensorRef>>();
  std::shared_ptr<OpDesc> desc;
  for (const Ptr& to : destinations) {
    const auto store = store_of(to.block(value.shape(), 0, where.file, where.line), value, nullptr, "multicast", where);
    all->push_back(store->output);
    if (!desc) desc = store;
  }
  if (all->size() > 1) desc->destinations = std::move(all);  // one destination is a store
  return submit_store(desc, value, nullptr, async);
}

}  // namespace kernbench::tl
