// SPDX-License-Identifier: Apache-2.0
// Reading the elements of a tl.load's result.
#include <vector>

#include "kernbench/kernel_api/core.h"
#include "kernbench/phase2/eval/convert.h"

namespace kernbench::tl {

namespace {

/// Checks that the handle's bytes may be read: its load has arrived and read real bytes.
void require_real(const detail::Handle& h, const TensorRef& ref, const std::string& name) {
  if (h.materialized) return;
  if (!h.is_load) {
    detail::fault(h.producer != nullptr ? h.producer->where : SourceLine{},
                  "handle " + name + " is pending: " +
                      (h.producer != nullptr ? detail::made_by(*h.producer) : std::string("not made yet")) +
                      ", computed in Phase 2");
  }
  const auto state = h.core->backend().memory().state_of(ref);
  if (state.state != MemoryImage::State::pending) return;
  std::string what = "handle " + name + " is pending: it was loaded from memory whose bytes are ";
  what += state.producer != nullptr ? detail::made_by(*state.producer) : std::string("made by another op");
  detail::fault(h.producer->where, what + ", computed in Phase 2");
}

}  // namespace

Loaded Tensor::loaded() const {
  detail::Handle& h = *detail::Core::handle_of(*this);
  if (h.is_load) h.core->wait(handle_);
  require_real(h, ref(), to_string());
  return Loaded(*this);
}

double Loaded::element(const std::vector<int64_t>& index, const SourceLine& where) const {
  if (static_cast<int>(index.size()) != rank()) {
    detail::fault(where, "element of " + to_string() + ": " + std::to_string(index.size()) + " indices given");
  }
  TensorRef at = ref();
  int64_t offset = 0;
  for (int i = 0; i < rank(); ++i) {
    const int64_t x = index[static_cast<size_t>(i)];
    if (x < 0 || x >= shape_[i]) {
      detail::fault(where, "element of " + to_string() + ": index " + std::to_string(x) + " of axis " +
                               std::to_string(i) + " is out of range");
    }
    offset += x * strides_[i];
  }
  at.addr += static_cast<uint64_t>(offset) * size_of(dtype_);
  at.shape = Dims{};
  at.strides = Dims{};
  detail::Core& core = *handle_->core;
  core.wait(handle_);
  // One pending byte makes the complete handle pending.
  require_real(*handle_, handle_->buffer, to_string());
  core.backend().read_elements(1);
  uint8_t bytes[8] = {};
  core.backend().memory().read(MemoryImage::key_of(at), at.addr, bytes, size_of(dtype_));
  return load_scalar(bytes, dtype_);
}

double Loaded::only_element(const SourceLine& where) const {
  if (elements() != 1)
    detail::fault(where, "the value of " + to_string() + " is asked for, but it has more than one element");
  return element(std::vector<int64_t>(static_cast<size_t>(rank()), 0), where);
}

Bytes Loaded::read_bytes() const {
  handle();
  detail::Core& core = *handle_->core;
  core.wait(handle_);
  require_real(*handle_, handle_->buffer, to_string());
  core.backend().read_elements(static_cast<uint64_t>(elements()));
  return core.backend().memory().gather(ref());
}

std::vector<double> Loaded::read_all() const {
  const Bytes bytes = read_bytes();
  const size_t item = size_of(dtype_);
  std::vector<double> values(static_cast<size_t>(elements()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = load_scalar(bytes.data() + i * item, dtype_);
  return values;
}

std::vector<int64_t> Loaded::whole(const SourceLine& where) const {
  if (where.line > 0 && elements() != 1)
    detail::fault(where, "the value of " + to_string() + " is asked for, but it has more than one element");
  const Bytes bytes = read_bytes();
  std::vector<int64_t> values(static_cast<size_t>(elements()));
  convert(bytes.data(), dtype_, values.data(), DType::i64, values.size());
  return values;
}

}  // namespace kernbench::tl
