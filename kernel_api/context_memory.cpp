// Loads and stores.
#include <cstdio>

#include "kernbench/kernel_api/context.h"
#include "kernbench/kernel_api/core.h"

namespace kernbench::tl {

using detail::Core;
using detail::fault;

namespace detail {

void check_access(PeBackend& backend, const Block& b, const std::string& call, SourceLine where) {
  if (b.shape().elements() < 1) fault(where, call + ": an empty block");
  if (b.ptr().space == Space::tcm) {
    fault(where, call + " of " + b.to_string() + ": TCM is reached through tensors, not through pointers");
  }
  const size_t item = size_of(b.dtype());
  const TensorRef ref = b.ref();
  if (b.ptr().addr % item != 0) {
    const std::string owner = backend.owner_of(ref.space, ref.addr);
    fault(where, call + " of " + b.to_string() + " (" + std::to_string(ref.nbytes()) + " bytes" +
                     (owner.empty() ? "" : ", " + owner) + ") by " + backend.pe_id() +
                     ": the address is misaligned, elements of " + std::to_string(item) +
                     " bytes need a multiple of it");
  }
  try {
    backend.check_range(ref.space, ref.addr, ref.span_bytes());
  } catch (const KernelFault& e) {
    fault(where, call + " of " + b.to_string() + " by " + backend.pe_id() + ": " + e.what());
  }
}

}  // namespace detail

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
  detail::check_access(core_->backend(), from, "load", where);
  auto desc = std::make_shared<OpDesc>();
  desc->type = CommandType::load;
  desc->kind = OpKind::memory;
  desc->name = "dma_read";
  desc->where = where;
  desc->operands.resize(1);
  desc->operands[0].ref = from.ref();
  std::vector<std::shared_ptr<detail::Handle>> used;
  if (mask != nullptr) {
    core_->require_tcm(*mask, "load", where);
    core_->settle(*mask);
    if (mask->shape() != from.shape()) {
      fault(where, "load of " + from.to_string() + ": mask " + mask->to_string() + " has another shape");
    }
    Operand m;
    m.ref = mask->ref();
    Operand o;
    o.is_scalar = true;
    o.scalar = other;
    desc->operands.push_back(m);
    desc->operands.push_back(o);
    used.push_back(Core::handle_of(*mask));
  }
  const auto made = core_->allocate(from.dtype(), from.shape());
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

Event Context::store_impl(const Block& to, const Tensor& value, const Tensor* mask, bool async, SourceLine where) {
  core_->require_tcm(value, "store", where);
  if (value.shape() != to.shape()) {
    fault(where, "store of " + value.to_string() + " to " + to.to_string() + ": shapes differ");
  }
  if (value.dtype() != to.dtype()) {
    fault(where, "store of " + value.to_string() + " to " + to.to_string() + ": element types differ; tl.cast first");
  }
  detail::check_access(core_->backend(), to, "store", where);
  core_->settle(value);
  auto desc = std::make_shared<OpDesc>();
  desc->type = CommandType::store;
  desc->kind = OpKind::memory;
  desc->name = "dma_write";
  desc->where = where;
  desc->handle_id = value.id();
  desc->operands.resize(1);
  desc->operands[0].ref = value.ref();
  desc->output = to.ref();
  std::vector<std::shared_ptr<detail::Handle>> used{Core::handle_of(value)};
  if (mask != nullptr) {
    core_->require_tcm(*mask, "store", where);
    core_->settle(*mask);
    if (mask->shape() != to.shape()) {
      fault(where, "store to " + to.to_string() + ": mask " + mask->to_string() + " has another shape");
    }
    Operand m;
    m.ref = mask->ref();
    desc->operands.push_back(m);
    used.push_back(Core::handle_of(*mask));
  }
  // A handle's bytes never change, so what is real now is what the store writes at its submission. A compute result
  // is only where it was materialized; memory may not say so yet, as a backend may apply effects later than it returns.
  const MemoryImage& memory = core_->backend().memory();
  if ((Core::handle_of(value)->is_load || Core::handle_of(value)->materialized) &&
      memory.state_of(value.ref()).state == MemoryImage::State::real) {
    desc->data = std::make_shared<const Bytes>(memory.gather(value.ref()));
  }
  return Event(core_->submit(desc, nullptr, used, async));
}

}  // namespace kernbench::tl
