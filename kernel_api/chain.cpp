// SPDX-License-Identifier: Apache-2.0
#include "kernbench/kernel_api/chain.h"

#include <algorithm>
#include <array>

#include "kernbench/kernel_api/core.h"
#include "kernbench/phase2/op/chain.h"

namespace kernbench::tl {

using detail::Core;
using detail::MathOptions;

namespace {

constexpr size_t kMostOperands = 3;  // for an elementwise op

DType dtype_of(const Chained::Input& i) {
  return i.from ? i.from->dtype() : i.value.tensor().dtype();
}

bool same_place(const Tensor& a, const Tensor& b) {
  return a.id() == b.id() && a.dtype() == b.dtype() && a.shape() == b.shape() && a.strides() == b.strides() &&
         a.ref().addr == b.ref().addr;
}

}  // namespace

/// Collects the steps of a chain. Each step comes after those that it needs.
struct Chained::Command {
  std::string text;
  std::vector<const Chained*> made_by;  ///< the op of each step
  std::vector<Arg> operands;

  explicit Command(size_t most) {
    made_by.reserve(most);
    operands.reserve(2 * most);
  }
  size_t operand(const Arg& a) {
    for (size_t i = 0; i < operands.size(); ++i) {
      const Arg& o = operands[i];
      if (a.is_scalar() || o.is_scalar() ? a.is_scalar() && o.is_scalar() && a.scalar() == o.scalar() && a.scalar() != 0
                                         : same_place(a.tensor(), o.tensor()))
        return i;
    }
    operands.push_back(a);
    return operands.size() - 1;
  }
  size_t add(Chained& c) {
    const auto at = std::find(made_by.begin(), made_by.end(), &c);
    if (at != made_by.end()) return static_cast<size_t>(at - made_by.begin());
    std::array<Chain::Source, kMostOperands> in;
    for (size_t n = 0; n < c.in_.size(); ++n) {
      Input& i = c.in_[n];
      settle(&i);
      if (!i.from) i.await();
      in[n] = i.from ? Chain::Source{true, add(*i.from)} : Chain::Source{false, operand(i.value)};
    }
    Chain::append(&text, *c.op_, c.dtype_, in.data(), c.in_.size());
    made_by.push_back(&c);
    return made_by.size() - 1;
  }
};

void Chained::Input::await() const {
  if (waits) Core::handle_of(value.tensor())->core->wait(Core::handle_of(value.tensor()));
}

void Chained::settle(Input* i) {
  if (!i->from || !i->from->made_.valid()) return;
  *i = Input(Arg(i->from->made_, i->value.where().file, i->value.where().line));
}

Chained::Chained(const MathOp& op, std::vector<Input> in, std::optional<DType> dtype, SourceLine where)
    : op_(&op), in_(std::move(in)), where_(where) {
  std::array<DType, kMostOperands> types{};
  size_t values = 0;
  for (size_t i = 0; i < in_.size(); ++i) {
    settle(&in_[i]);
    if (!in_[i].from && in_[i].value.is_scalar()) continue;
    const Dims& shape = in_[i].from ? in_[i].from->shape_ : in_[i].value.tensor().shape();
    while (shape_.rank() < shape.rank()) shape_.push_back(1);
    for (int d = 0; d < shape.rank(); ++d) shape_[d] = std::max(shape_[d], shape[d]);
    if (values < kMostOperands && (i > 0 || !op.first_is_condition)) types[values++] = dtype_of(in_[i]);
  }
  bool alone = in_.size() != static_cast<size_t>(op.arity) || in_.size() > kMostOperands || values == 0;
  for (size_t i = 0; i < values; ++i) alone = alone || types[i] != types[0];
  if (alone) {
    submit_alone();
    in_.clear();
    return;
  }
  dtype_ = dtype ? *dtype : result_dtype(op, std::vector<DType>(op.first_is_condition ? 2 : 1, types[0]));
  for (Input& i : in_) {
    if (!i.from) continue;
    if (i.from->shape_ != shape_ || steps_ + i.from->steps_ > Chain::kMostSteps) {
      i.from->made();
      settle(&i);
    } else {
      steps_ += i.from->steps_;
    }
  }
}

std::shared_ptr<Core> Chained::core() const {
  for (const Input& i : in_) {
    if (i.from) return i.from->core();
    if (!i.value.is_scalar()) return Core::handle_of(i.value.tensor())->core;
  }
  throw KernelFault(where_, "op '" + std::string(op_->name) + "' needs a tensor among its operands");
}

const Tensor& Chained::made() {
  if (made_.valid()) return made_;
  Command c(steps_ > 1 ? steps_ : 0);
  if (steps_ > 1) c.add(*this);
  if (c.made_by.size() < 2) {
    submit_alone();
  } else {
    MathOptions options;
    options.async = true;
    options.argument = std::move(c.text);
    made_ = core()->command(Chain::kName, c.operands, shape_, dtype_, options, where_);
  }
  in_.clear();
  return made_;
}

/// Also reports types that do not fit.
void Chained::submit_alone() {
  MathOptions options;
  options.async = true;
  if (op_->result == ResultRule::chosen) options.out_dtype = &dtype_;
  std::vector<Arg> args;
  args.reserve(in_.size());
  for (const Input& i : in_) {
    i.await();
    args.push_back(i.from ? Arg(i.from->made(), where_.file, where_.line) : i.value);
  }
  made_ = core()->math(op_->name, args, options, where_);
  dtype_ = made_.dtype();
}

}  // namespace kernbench::tl
