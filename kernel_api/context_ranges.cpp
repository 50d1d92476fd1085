// SPDX-License-Identifier: Apache-2.0
// Gathers, scatters, atomics and flags.
#include <algorithm>
#include <cmath>

#include "kernbench/kernel_api/context.h"
#include "kernbench/kernel_api/core.h"
#include "kernbench/phase2/eval/atomic.h"
#include "kernbench/phase2/eval/convert.h"
#include "kernbench/phase2/op/address_text.h"
#include "kernbench/phase2/op/stretch.h"

namespace kernbench::tl {

using detail::Core;
using detail::fault;

std::string_view name_of(Sem sem) {
  constexpr std::string_view kNames[] = {"relaxed", "acquire", "release", "acq_rel"};
  return kNames[static_cast<size_t>(sem)];
}

std::string_view name_of(Cmp cmp) {
  constexpr std::string_view kNames[] = {"eq", "ne", "lt", "ge"};
  return kNames[static_cast<size_t>(cmp)];
}

/// The accessed elements: `width` elements from ptr + first[i] on.
struct Context::Elements {
  Ptr ptr;
  std::vector<int64_t> first;
  int64_t width = 1;
  Dims shape;         ///< shape of the value
  Tensor index;       ///< empty for a block
  int64_t scale = 1;  ///< multiplier of an index
};

namespace {

void require_real(Core& core, const Tensor& t, const std::string& call, const char* what, SourceLine where) {
  core.require_tcm(t, call, where);
  core.settle(t);
  if (!core.is_real(t))
    fault(where, call + ": the " + what + " " + t.to_string() + " is pending; tl.materialize makes it real");
}

std::vector<uint8_t> mask_of(Core& core, const Tensor& mask, const Dims& shape, const std::string& call,
                             SourceLine where) {
  if (!mask.valid()) return {};
  if (mask.shape() != shape)
    fault(where, call + ": mask " + mask.to_string() + ", expected the shape " + shape.to_string());
  require_real(core, mask, call, "mask", where);
  std::vector<uint8_t> on(static_cast<size_t>(mask.elements()));
  nonzero(core.backend().memory().gather(mask.ref()).data(), mask.dtype(), on.data(), on.size());
  return on;
}

/// The memory address in the record: the first range, or the pointer if there is none.
TensorRef place_of(const Ptr& ptr, const RangedOp& op, const Dims& shape) {
  TensorRef t;
  t.space = ptr.space;
  t.addr = op.ranges.empty() ? ptr.addr : op.ranges.front().addr;
  t.dtype = ptr.dtype;
  t.shape = shape;
  t.strides = TensorRef::row_major(shape);
  return t;
}

/// Adds a skipped part of the result. If it continues the last one, both are merged.
void leave_out(RangedOp& op, uint64_t offset, uint64_t nbytes) {
  if (!op.left_out.empty() && op.left_out.back().offset + op.left_out.back().nbytes == offset) {
    op.left_out.back().nbytes += nbytes;
  } else {
    op.left_out.push_back({0, nbytes, offset});
  }
}

TensorRef bytes_at(Space space, uint64_t addr, uint64_t nbytes) {
  TensorRef t;
  t.space = space;
  t.addr = addr;
  t.dtype = DType::u8;
  t.shape = Dims{static_cast<int64_t>(nbytes)};
  t.strides = Dims{1};
  return t;
}

/// Whether the physical ranges and all bytes between them belong to one memory. Then no range needs a separate check.
bool lie_in_one_memory(PeBackend& backend, Space space, const std::vector<MovedRange>& ranges) {
  const Stretch all(ranges);
  if (all.empty() || all.end > kVirtualBase) return ranges.empty();
  try {
    backend.check_range(space, all.begin, all.nbytes());
    return true;
  } catch (const KernelFault&) {
    return false;
  }
}

/// Checks that the range belongs to memories; it is cut at their ends. KernelFault for an element outside of all
/// memories.
void check_elements(PeBackend& backend, Space space, const MovedRange& r, uint64_t item) {
  try {
    return backend.check_range(space, r.addr, r.nbytes);
  } catch (const KernelFault&) {
  }
  for (uint64_t at = 0; at < r.nbytes; at += item) backend.check_range(space, r.addr + at, item);
}

/// Translates the span of virtual ranges at once. Invalid if this is no less work than separate translations, or if the
/// span is not completely mapped.
TensorRef translated_stretch(PeBackend& backend, Space space, const std::vector<MovedRange>& ranges) {
  constexpr uint64_t kWorthIt = 64 << 10;  // bytes per range
  const Stretch all(ranges);
  if (all.begin < kVirtualBase || all.nbytes() / ranges.size() > kWorthIt) return {};
  try {
    return backend.translate(bytes_at(space, all.begin, all.nbytes()));
  } catch (const KernelFault&) {
    return {};
  }
}

/// Translates the pointers' ranges to physical ones. `op` also keeps virtual ranges.
void place(PeBackend& backend, std::vector<MovedRange>& asked, uint64_t item, RangedOp& op) {
  const TensorRef stretch = translated_stretch(backend, op.space, asked);
  bool is_virtual = false;
  for (const MovedRange& r : asked) {
    TensorRef own;
    if (!stretch.translation)
      own = r.addr < kVirtualBase ? bytes_at(op.space, r.addr, r.nbytes)
                                  : backend.translate(bytes_at(op.space, r.addr, r.nbytes));
    const Translation* t = stretch.translation ? stretch.translation.get() : own.translation.get();
    if (!t) {
      check_elements(backend, op.space, r, item);
      op.add(r);
      continue;
    }
    is_virtual = true;
    uint64_t at = r.offset;
    t->for_each_range(r.addr - t->virtual_addr, r.nbytes, [&](uint64_t addr, uint64_t n) {
      if (addr % item != 0) throw KernelFault("a physical piece at " + address_text(addr) + " is misaligned");
      op.add({addr, n, at});
      at += n;
    });
  }
  if (is_virtual) op.asked = std::move(asked);
}

std::shared_ptr<OpDesc> memory_desc(CommandType type, const std::string& name, std::shared_ptr<RangedOp> ranged,
                                    SourceLine where) {
  auto d = std::make_shared<OpDesc>();
  d->type = type;
  d->kind = OpKind::memory;
  d->name = name;
  d->where = where;
  d->ranged = std::move(ranged);
  return d;
}

}  // namespace

Context::Elements Context::elements_of(const Ptr& ptr, const Tensor& index, const std::string& call, SourceLine where,
                                       int64_t width, int64_t stride) {
  if (index.valid() && index.dtype() != DType::i32 && index.dtype() != DType::i64)
    fault(where, call + ": index " + index.to_string() + ", expected elements of type i32 or i64");
  require_real(*core_, index, call, "index", where);
  Elements e;
  e.ptr = ptr;
  e.shape = index.shape();
  e.index = index;
  const Bytes raw = core_->backend().memory().gather(index.ref());
  const auto take = [&](const auto* values) { e.first.assign(values, values + index.elements()); };
  if (index.dtype() == DType::i32) {
    take(reinterpret_cast<const int32_t*>(raw.data()));
  } else {
    take(reinterpret_cast<const int64_t*>(raw.data()));
  }
  if (width < 1 || stride < 0) {
    fault(where, call + ": found width " + std::to_string(width) + ", stride " + std::to_string(stride) +
                     ", expected a width from 1 and a stride from 0");
  }
  e.width = width;
  if (width > 1) e.shape.push_back(width);
  e.scale = stride > 0 ? stride : width;
  return e;
}

/// A row of the block is one element of that width.
Context::Elements Context::elements_of(const Block& b) {
  Elements e;
  e.ptr = b.ptr();
  e.shape = b.shape();
  const int rank = b.shape().rank();
  e.width = rank > 0 ? b.shape()[rank - 1] : 1;
  const int64_t rows = e.width > 0 ? b.shape().elements() / e.width : 0;
  for (int64_t row = 0; row < rows; ++row) e.first.push_back(row * b.ld());
  return e;
}

std::shared_ptr<RangedOp> Context::ranges_of(const Elements& e, const Tensor& mask, const std::string& call,
                                             SourceLine where) {
  PeBackend& backend = core_->backend();
  const Ptr& ptr = e.ptr;
  if (ptr.space == Space::tcm) fault(where, call + ": TCM is reached through tensors, not through pointers");
  auto op = std::make_shared<RangedOp>();
  op->space = ptr.space;
  // The mask covers the block's elements, or the index's elements.
  const std::vector<uint8_t> on = mask_of(*core_, mask, e.index.valid() ? e.index.shape() : e.shape, call, where);
  const int64_t each = on.empty() || e.index.valid() ? e.width : 1;
  const uint64_t item = size_of(ptr.dtype), nbytes = static_cast<uint64_t>(each) * item;
  const auto outside = [&](size_t i, uint64_t addr) {
    const std::string which =
        e.index.valid() ? "element " + std::to_string(i) + ", index " + std::to_string(e.first[i]) + ": " : "";
    fault(where, call + " of " + ptr.to_string() + " by " + backend.pe_id() + ": " + which +
                     (addr % item != 0 ? "the address " + address_text(addr) + " is misaligned, elements of " +
                                             std::to_string(item) + " bytes need a multiple of it"
                                       : "leaves what its pointer came from, " + ptr.bounds.to_string()));
  };
  const bool aligned = ptr.addr % item == 0;
  const uint64_t step = static_cast<uint64_t>(e.scale) * item;
  std::vector<MovedRange> asked;  // as the pointer gives them
  asked.reserve(e.first.size());
  uint64_t offset = 0;
  const auto take = [&](size_t i, uint64_t addr) {
    if (!aligned || !ptr.bounds.hold(addr, nbytes)) outside(i, addr);
    MovedRange* last = asked.empty() ? nullptr : &asked.back();
    if (last && last->addr + last->nbytes == addr && last->offset + last->nbytes == offset) {
      last->nbytes += nbytes;
    } else {
      asked.push_back({addr, nbytes, offset});
    }
  };
  for (size_t i = 0; on.empty() && i < e.first.size(); ++i, offset += nbytes)
    take(i, ptr.addr + static_cast<uint64_t>(e.first[i]) * step);
  for (size_t i = 0; !on.empty() && i < e.first.size(); ++i) {
    uint64_t addr = ptr.addr + static_cast<uint64_t>(e.first[i]) * step;
    for (int64_t j = 0; j < e.width; j += each, addr += nbytes, offset += nbytes) {
      if (on[offset / nbytes]) {
        take(i, addr);
      } else {
        leave_out(*op, offset, nbytes);
      }
    }
  }
  try {
    if (!lie_in_one_memory(backend, ptr.space, asked)) {
      place(backend, asked, item, *op);
    } else {
      op->ranges = std::move(asked);
    }
  } catch (const KernelFault& f) {
    fault(where, call + " of " + ptr.to_string() + " by " + backend.pe_id() + ": " + f.what());
  }
  return op;
}

Loaded Context::gather_impl(Ptr from, const Tensor& index, const Tensor& mask, double other, int64_t width,
                            int64_t stride, bool async, SourceLine where) {
  const Elements e = elements_of(from, index, "gather", where, width, stride);
  auto desc = memory_desc(CommandType::load, "dma_read", ranges_of(e, mask, "gather", where), where);
  desc->ranged->other = other;
  desc->operands.resize(1);
  desc->operands[0].ref = place_of(from, *desc->ranged, e.shape);
  const auto made = core_->allocate(from.dtype, e.shape, where);
  desc->output = made->buffer;
  core_->submit(desc, made, {}, async);
  return Loaded(Core::tensor_of(made));
}

Event Context::scatter_impl(Ptr to, const Tensor& index, const Tensor& value, const Tensor& mask, int64_t width,
                            int64_t stride, bool async, SourceLine where) {
  core_->require_tcm(value, "scatter", where);
  const Elements e = elements_of(to, index, "scatter", where, width, stride);
  if (value.shape() != e.shape || value.dtype() != to.dtype) {
    fault(where, "scatter of " + value.to_string() + " to " + to.to_string() + ": expected " + e.shape.to_string() +
                     " " + std::string(name_of(to.dtype)));
  }
  if (!value.contiguous())
    fault(where, "scatter of " + value.to_string() + ": a view that is not dense; tl.copy it first");
  core_->settle(value);
  auto desc = memory_desc(CommandType::store, "dma_write", ranges_of(e, mask, "scatter", where), where);
  desc->handle_id = value.id();
  desc->operands.resize(1);
  desc->operands[0].ref = value.ref();
  desc->output = place_of(to, *desc->ranged, e.shape);
  if (core_->is_real(value)) desc->data = std::make_shared<const Bytes>(core_->backend().memory().gather(value.ref()));
  return Event(core_->submit(desc, nullptr, {Core::handle_of(value)}, async));
}

std::pair<Ticket, Tensor> Context::atomic_impl(const std::string& op, bool returns_old, const Elements& e,
                                               const std::vector<Arg>& operands, const Tensor& mask, Sem sem,
                                               SourceLine where, std::shared_ptr<OnTheWay> source) {
  const std::string call = (returns_old ? "atomic_" : "red_") + op;
  const DType type = e.ptr.dtype;
  if (!atomic_of(op, type)) {
    fault(where, call + " of " + std::string(kernbench::name_of(type)) + ": there is none; expected u32 or i32" +
                     (op == "cas" ? "" : ", f32 (add, max, min, xchg), f16 or bf16 (add)"));
  }
  std::vector<std::shared_ptr<detail::Handle>> used;
  std::vector<Operand> described;
  const char* names[] = {op == "cas" ? "new value" : "value", "expected value"};
  for (size_t i = 0; i < operands.size(); ++i) {
    const Arg& a = operands[i];
    Operand& o = described.emplace_back();
    if (a.is_scalar()) {
      o.is_scalar = true;
      o.scalar = a.scalar();
      const bool whole =
          is_float(type) || (o.scalar == std::floor(o.scalar) && o.scalar >= (type == DType::u32 ? 0 : -2147483648.0) &&
                             o.scalar <= (type == DType::u32 ? 4294967295.0 : 2147483647.0));
      if (!whole)
        fault(where, call + ": the " + names[i] + " is " + a.to_string() + ", expected one of " +
                         std::string(kernbench::name_of(type)));
      continue;
    }
    const Tensor& t = a.tensor();
    core_->require_tcm(t, call, where);
    if (t.shape() != e.shape || t.dtype() != type)
      fault(where, call + ": the " + names[i] + " is " + t.to_string() + ", expected " + e.shape.to_string() + " " +
                       std::string(kernbench::name_of(type)));
    if (!t.contiguous()) fault(where, call + ": " + t.to_string() + " is a view that is not dense; tl.copy it first");
    core_->settle(t);
    if (returns_old) require_real(*core_, t, call, names[i], where);
    o.ref = t.ref();
    used.push_back(Core::handle_of(t));
  }
  auto desc = memory_desc(CommandType::atomic, call, ranges_of(e, mask, call, where), where);
  desc->op = op;
  desc->operands = std::move(described);
  desc->ranged->returns_old = returns_old;
  desc->ranged->sem = name_of(sem);
  desc->on_the_way = std::move(source);
  if (!returns_old) {
    desc->output = place_of(e.ptr, *desc->ranged, e.shape);
    return {core_->submit(desc, nullptr, used, async_), Tensor()};
  }
  const auto made = core_->allocate(type, e.shape, where);
  desc->output = made->buffer;
  const Ticket ticket = core_->submit(desc, made, used, async_);
  return {ticket, Core::tensor_of(made)};
}

Loaded Context::atomic(const char* op, Ptr p, const Tensor& index, const Arg& value, const Tensor& mask, Sem sem) {
  const Elements e = elements_of(p, index, std::string("atomic_") + op, value.where());
  return Loaded(atomic_impl(op, true, e, {value}, mask, sem, value.where()).second);
}

Loaded Context::atomic(const char* op, const Block& b, const Arg& value, const Tensor& mask, Sem sem) {
  return Loaded(atomic_impl(op, true, elements_of(b), {value}, mask, sem, value.where()).second);
}

Loaded Context::atomic_cas(Ptr p, const Tensor& index, const Arg& expected, const Arg& value, Sem sem) {
  const Elements e = elements_of(p, index, "atomic_cas", value.where());
  return Loaded(atomic_impl("cas", true, e, {value, expected}, {}, sem, value.where()).second);
}

Loaded Context::atomic_cas(const Block& b, const Arg& expected, const Arg& value, Sem sem) {
  return Loaded(atomic_impl("cas", true, elements_of(b), {value, expected}, {}, sem, value.where()).second);
}

Event Context::red(const char* op, Ptr p, const Tensor& index, const Arg& value, const Tensor& mask, Sem sem) {
  const Elements e = elements_of(p, index, std::string("red_") + op, value.where());
  return Event(atomic_impl(op, false, e, {value}, mask, sem, value.where()).first);
}

Event Context::red(const char* op, const Block& b, const Arg& value, const Tensor& mask, Sem sem) {
  return Event(atomic_impl(op, false, elements_of(b), {value}, mask, sem, value.where()).first);
}

Event Context::red(const char* op, const Block& b, const Arg& value, const ReduceGroup& group, Sem sem) {
  const SourceLine where = value.where();
  auto source = std::make_shared<OnTheWay>();
  source->group = group.name;
  source->sources = group.members;
  for (int64_t i = 0; group.members.empty() && i < size(); ++i) source->sources.push_back(i);
  std::vector<int64_t> sorted = source->sources;
  std::sort(sorted.begin(), sorted.end());
  const auto number = static_cast<int64_t>(sorted.size());
  if (!reduces_on_the_way(op))
    fault(where, "red_" + std::string(op) + " in group " + group.name + ": expected red_add, red_max or red_min");
  const std::string found = "red_" + std::string(op) + " in group " + group.name + ": found ";
  if (number != group.sources)
    fault(where, found + std::to_string(group.sources) + " sources, expected " +
                     (group.members.empty() ? "all " + std::to_string(number) + " PEs of the launch, or members"
                                            : "as many as its " + std::to_string(number) + " members"));
  if (sorted.front() < 0 || sorted.back() >= size() || std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    fault(where, found + "members " + std::to_string(sorted.front()) + " to " + std::to_string(sorted.back()) +
                     ", expected different PEs of the launch, 0 to " + std::to_string(size() - 1));
  if (!std::binary_search(sorted.begin(), sorted.end(), index()))
    fault(where, found + "members without this PE, " + std::to_string(index()));
  return Event(atomic_impl(op, false, elements_of(b), {value}, {}, sem, where, std::move(source)).first);
}

Event Context::red_add(const Block& b, const Arg& value, const ReduceGroup& group, Sem sem) {
  return red("add", b, value, group, sem);
}
Event Context::red_max(const Block& b, const Arg& value, const ReduceGroup& group, Sem sem) {
  return red("max", b, value, group, sem);
}
Event Context::red_min(const Block& b, const Arg& value, const ReduceGroup& group, Sem sem) {
  return red("min", b, value, group, sem);
}

#define KERNBENCH_TL_ATOMIC(result, kind, name, op)                                                 \
  result Context::name(Ptr p, const Tensor& index, const Arg& value, const Tensor& mask, Sem sem) { \
    return kind(op, p, index, value, mask, sem);                                                    \
  }                                                                                                 \
  result Context::name(const Block& b, const Arg& value, const Tensor& mask, Sem sem) {             \
    return kind(op, b, value, mask, sem);                                                           \
  }
KERNBENCH_TL_ATOMIC(Loaded, atomic, atomic_add, "add")
KERNBENCH_TL_ATOMIC(Loaded, atomic, atomic_max, "max")
KERNBENCH_TL_ATOMIC(Loaded, atomic, atomic_min, "min")
KERNBENCH_TL_ATOMIC(Loaded, atomic, atomic_and, "and")
KERNBENCH_TL_ATOMIC(Loaded, atomic, atomic_or, "or")
KERNBENCH_TL_ATOMIC(Loaded, atomic, atomic_xor, "xor")
KERNBENCH_TL_ATOMIC(Loaded, atomic, atomic_xchg, "xchg")
KERNBENCH_TL_ATOMIC(Event, red, red_add, "add")
KERNBENCH_TL_ATOMIC(Event, red, red_max, "max")
KERNBENCH_TL_ATOMIC(Event, red, red_min, "min")
KERNBENCH_TL_ATOMIC(Event, red, red_and, "and")
KERNBENCH_TL_ATOMIC(Event, red, red_or, "or")
KERNBENCH_TL_ATOMIC(Event, red, red_xor, "xor")
#undef KERNBENCH_TL_ATOMIC

// ---- flags

namespace {

void require_flag(const Ptr& flag, const char* call, int64_t value, SourceLine where) {
  if (flag.dtype != DType::u32 && flag.dtype != DType::i32)
    fault(where, std::string(call) + " of " + flag.to_string() + ": expected a flag of type u32 or i32");
  const bool is_signed = flag.dtype == DType::i32;
  if (value < (is_signed ? -(int64_t{1} << 31) : 0) || value >= int64_t{1} << (is_signed ? 31 : 32))
    fault(where, std::string(call) + " of " + flag.to_string() + ": found the value " + std::to_string(value) +
                     ", expected one of its type");
}

bool compares(int64_t found, Cmp cmp, int64_t value) {
  switch (cmp) {
    case Cmp::eq:
      return found == value;
    case Cmp::ne:
      return found != value;
    case Cmp::lt:
      return found < value;
    case Cmp::ge:
      return found >= value;
  }
  return false;
}

}  // namespace

Event Context::signal(Ptr flag, int64_t value, const char* file, int line) {
  const SourceLine where{file, line};
  require_flag(flag, "signal", value, where);
  const Elements e = elements_of(flag.block({1}, 0, file, line));
  const Event done(atomic_impl("xchg", false, e, {Arg(value, file, line)}, {}, Sem::release, where).first);
  wait(done);
  return done;
}

void Context::wait_until(Ptr flag, Cmp cmp, int64_t value, const char* file, int line) {
  const SourceLine where{file, line};
  require_flag(flag, "wait_until", value, where);
  const Block block = flag.block({1}, 0, file, line);
  PeBackend& backend = core_->backend();
  const TensorRef place = detail::physical_block(backend, block, nullptr, "wait_until", where);
  const auto number = [&](const TensorRef& at) {
    uint8_t bytes[4] = {};
    backend.memory().read(MemoryImage::key_of(at), at.addr, bytes, sizeof bytes);
    return load_integer(bytes, flag.dtype);
  };
  FlagWait wait;
  wait.where = where;
  const std::string owner = backend.owner_of(place.space, place.addr);
  wait.what = "waits until " + flag.to_string() + (owner.empty() ? "" : " of " + owner) + " is " +
              std::string(name_of(cmp)) + " " + std::to_string(value);
  const auto pending = [&](const TensorRef& at) {
    return backend.memory().state_of(at).state == MemoryImage::State::pending;
  };
  wait.holds = [&] { return pending(place) || compares(number(place), cmp, value); };
  wait.found = [&] { return std::to_string(number(place)); };
  for (;;) {
    auto desc = memory_desc(CommandType::load, "dma_read", nullptr, where);
    desc->polls = true;
    desc->operands.resize(1);
    desc->operands[0].ref = place;
    const auto made = core_->allocate(flag.dtype, Dims{1}, where);
    desc->output = made->buffer;
    core_->submit(desc, made, {}, false);
    if (pending(made->buffer)) {
      fault(where, "wait_until of " + flag.to_string() + " by " + backend.pe_id() +
                       ": the flag is pending, computed in Phase 2; tl.materialize what is stored there");
    }
    if (compares(number(made->buffer), cmp, value)) return backend.flag_held(*desc);
    backend.next_poll(wait);
  }
}

}  // namespace kernbench::tl
