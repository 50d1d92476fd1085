// SPDX-License-Identifier: Apache-2.0
#include "kernbench/kernel_api/composite.h"

#include <algorithm>
#include <cmath>

#include "kernbench/kernel_api/context.h"
#include "kernbench/kernel_api/core.h"
#include "kernbench/phase2/op/math_op.h"

namespace kernbench::tl {

using detail::Core;
using detail::fault;

Dims CompositeArg::shape() const {
  if (is_block()) return block_.shape();
  return is_tensor() ? arg_.tensor().shape() : Dims{};
}

std::string CompositeArg::to_string() const {
  return is_block() ? block_.to_string() : arg_.to_string();
}

Composite& Composite::tiles(int64_t tm, int64_t tn, int64_t tk) {
  tile_m_ = tm;
  tile_n_ = tn;
  tile_k_ = tk;
  return *this;
}

Composite& Composite::transpose_a(bool on) {
  transpose_a_ = on;
  return *this;
}

Composite& Composite::transpose_b(bool on) {
  transpose_b_ = on;
  return *this;
}

Composite& Composite::out(const Block& block) {
  out_ = block;
  return *this;
}

Composite& Composite::out_dtype(DType t) {
  out_dtype_ = t;
  return *this;
}

Composite& Composite::then(const std::string& op, std::initializer_list<Arg> more, Scope scope) {
  fused_.push_back({op, scope, more});
  return *this;
}

Composite gemm(const CompositeArg& a, const CompositeArg& b) {
  Composite c;
  c.op_ = "gemm";
  c.inputs_ = {a, b};
  return c;
}

Composite elementwise(const std::string& op, std::initializer_list<CompositeArg> inputs) {
  Composite c;
  c.op_ = op;
  c.inputs_ = inputs;
  return c;
}

namespace {

DType type_of(const CompositeArg& a) {
  return a.is_block() ? a.block().dtype() : a.arg().tensor().dtype();
}

std::string list(const std::vector<CompositeArg>& inputs) {
  std::string text;
  for (const CompositeArg& a : inputs) text += (text.empty() ? "" : ", ") + a.to_string();
  return text;
}

/// [m, n] of an elementwise composite (1-D: m = 1). All inputs that are not immediates have this shape.
Dims elementwise_shape(const std::string& op, const std::vector<CompositeArg>& inputs, SourceLine where) {
  const CompositeArg* first = nullptr;
  for (const CompositeArg& a : inputs) {
    if (!a.is_block() && !a.is_tensor()) continue;
    if (first == nullptr) first = &a;
    if (a.shape() != first->shape()) fault(where, "composite '" + op + "': shapes differ: " + list(inputs));
  }
  if (first == nullptr) fault(where, "composite '" + op + "' needs a tensor or a block among its inputs");
  if (first->shape().rank() != 1 && first->shape().rank() != 2) {
    fault(where, "composite '" + op + "': inputs must have rank 1 or 2: " + list(inputs));
  }
  return first->shape();
}

bool broadcasts_to(const Dims& from, const Dims& to) {
  if (from.rank() > to.rank()) return false;
  for (int i = 1; i <= from.rank(); ++i) {
    const int64_t d = from[from.rank() - i];
    if (d != 1 && d != to[to.rank() - i]) return false;
  }
  return true;
}

}  // namespace

/// Builds the command of a described composite, or reports the part that does not fit.
class CompositeBuilder {
 public:
  CompositeBuilder(const Composite& c, Core& core, SourceLine where)
      : c_(c),
        core_(core),
        where_(where),
        matrix_(c.op_ == "gemm"),
        name_("composite '" + c.op_ + "'"),
        info_(find_math_op(c.op_)),
        desc_(std::make_shared<OpDesc>()) {
    desc_->type = CommandType::composite;
    desc_->kind = matrix_ ? OpKind::gemm : OpKind::math;
    desc_->name = matrix_ ? "composite_gemm" : "composite_math";
    desc_->op = c.op_;
    desc_->where = where;
  }

  Tensor submit() {
    check_head();
    for (size_t i = 0; i < c_.inputs_.size(); ++i) add_operand(i);
    check_type();
    const Dims shape = matrix_ ? product_shape() : elementwise_shape(c_.op_, c_.inputs_, where_);
    if (!matrix_) {
      desc_->m = shape.rank() == 2 ? shape[0] : 1;
      desc_->n = shape[shape.rank() - 1];
    }
    set_tiles();
    for (const auto& f : c_.fused_) add_fused(f, shape);
    const auto made = make_output(shape);
    core_.submit(desc_, made, used_, true);
    return Core::tensor_of(made);
  }

 private:
  [[noreturn]] void wrong(const std::string& what) const { fault(where_, name_ + what); }

  void check_head() const;
  void add_operand(size_t i);
  void check_type() const;
  void check_integer_ops() const;
  Dims product_shape();
  void set_tiles();
  void add_fused(const Composite::Fused&, const Dims& shape);
  std::shared_ptr<detail::Handle> make_output(const Dims& shape);

  const Composite& c_;
  Core& core_;
  const SourceLine where_;
  const bool matrix_;
  const std::string name_;
  const MathOp* info_;  ///< null for a GEMM
  std::shared_ptr<OpDesc> desc_;
  std::vector<std::shared_ptr<detail::Handle>> used_;
  std::optional<DType> type_;  ///< element type of all operands
};

void CompositeBuilder::check_head() const {
  if (!matrix_ && (info_ == nullptr || !info_->is_elementwise())) {
    fault(where_, "'" + c_.op_ + "' is no elementwise op and cannot head a composite");
  }
  const int arity = matrix_ ? 2 : info_->arity;
  if (static_cast<int>(c_.inputs_.size()) != arity) {
    wrong(" takes " + std::to_string(arity) + " inputs: " + list(c_.inputs_));
  }
}

/// The operand in its place, memory or TCM.
void CompositeBuilder::add_operand(size_t i) {
  const CompositeArg& a = c_.inputs_[i];
  Operand o;
  if (a.is_block()) {
    o.ref = detail::physical_block(core_.backend(), a.block(), nullptr, name_, where_);
  } else if (a.is_tensor()) {
    core_.require_tcm(a.arg().tensor(), c_.op_, where_);
    core_.settle(a.arg().tensor());
    bool* flag = i == 0 ? &desc_->transpose_a : &desc_->transpose_b;
    o.ref =
        matrix_ && a.shape().rank() == 2 ? detail::matrix_of(a.arg().tensor(), flag, where_) : a.arg().tensor().ref();
    used_.push_back(Core::handle_of(a.arg().tensor()));
  } else if (matrix_) {
    wrong(": inputs must be blocks or tensors: " + list(c_.inputs_));
  } else {
    o.is_scalar = true;
    o.scalar = a.arg().scalar();
  }
  if (!o.is_scalar && (matrix_ || !info_->first_is_condition || i != 0)) {
    if (type_.has_value() && *type_ != type_of(a)) wrong(": element types differ: " + list(c_.inputs_));
    type_ = type_of(a);
  }
  desc_->operands.push_back(o);
}

void CompositeBuilder::check_type() const {
  if (!type_.has_value()) wrong(" needs a tensor or a block among its inputs");
  if (is_packed(*type_) || is_wide_integer(*type_))
    wrong(" does not take " + std::string(name_of(*type_)) + ": " + list(c_.inputs_));
  if (!matrix_ && info_->float_only && !is_float(*type_)) wrong(" needs floats: " + list(c_.inputs_));
  if (!matrix_ && info_->integer_only && is_float(*type_)) wrong(" needs integers: " + list(c_.inputs_));
  check_integer_ops();
}

/// If an op or an operand turns the tile into floats, ops that need integers cannot use it.
void CompositeBuilder::check_integer_ops() const {
  bool floats = is_float(*type_);
  for (const Composite::Fused& f : c_.fused_) {
    const MathOp* op = find_math_op(f.op);
    floats |= op != nullptr && op->float_only;
    for (const Arg& a : f.more)
      floats |=
          a.is_scalar() ? a.scalar() != std::floor(a.scalar()) : a.tensor().valid() && is_float(a.tensor().dtype());
  }
  for (const Composite::Fused& f : c_.fused_) {
    const MathOp* op = find_math_op(f.op);
    if (floats && op != nullptr && op->integer_only)
      wrong(": fused op '" + f.op + "' needs integers, but there are floats in " + list(c_.inputs_) +
            " or in what is fused");
  }
}

Dims CompositeBuilder::product_shape() {
  Dims a = c_.inputs_[0].shape();
  Dims b = c_.inputs_[1].shape();
  const bool rank2 = a.rank() == 2 && b.rank() == 2;
  if (rank2 && c_.transpose_a_) std::swap(a[0], a[1]);
  if (rank2 && c_.transpose_b_) std::swap(b[0], b[1]);
  if (!rank2 || a[1] != b[0]) {
    wrong(": shapes do not fit [m, k] · [k, n]: " + c_.inputs_[0].to_string() + " and " + c_.inputs_[1].to_string());
  }
  desc_->transpose_a = desc_->transpose_a != c_.transpose_a_;
  desc_->transpose_b = desc_->transpose_b != c_.transpose_b_;
  desc_->m = a[0];
  desc_->n = b[1];
  desc_->k = a[1];
  desc_->dtype_acc = accumulator_of(*type_);
  return {desc_->m, desc_->n};
}

void CompositeBuilder::set_tiles() {
  if (c_.tile_m_ < 1 || c_.tile_n_ < 1 || (matrix_ && c_.tile_k_ < 1)) {
    wrong(": tile sizes " + Dims{c_.tile_m_, c_.tile_n_, c_.tile_k_}.to_string() + " must be 1 or more");
  }
  desc_->tile_m = std::min(c_.tile_m_, desc_->m);
  desc_->tile_n = std::min(c_.tile_n_, desc_->n);
  desc_->tile_k = matrix_ ? std::min(c_.tile_k_, desc_->k) : 0;
}

void CompositeBuilder::add_fused(const Composite::Fused& f, const Dims& shape) {
  const MathOp* fused = find_math_op(f.op);
  if (fused == nullptr || !fused->is_elementwise()) wrong(": '" + f.op + "' is no elementwise op to fuse");
  if (static_cast<int>(f.more.size()) + 1 != fused->arity) {
    wrong(": fused op '" + f.op + "' takes " + std::to_string(fused->arity - 1) + " operands beside the tile, not " +
          std::to_string(f.more.size()));
  }
  EpilogueOp e;
  e.op = f.op;
  e.scope = f.scope;
  for (const Arg& a : f.more) {
    if (!a.is_scalar()) {
      core_.require_tcm(a.tensor(), f.op, where_);
      if (is_packed(a.tensor().dtype()) || is_wide_integer(a.tensor().dtype()))
        wrong(": operand " + a.to_string() + " of fused op '" + f.op + "' is of a type that no composite takes");
      if (!broadcasts_to(a.tensor().shape(), shape)) {
        wrong(": operand " + a.to_string() + " of fused op '" + f.op + "' does not broadcast to " + shape.to_string());
      }
      used_.push_back(Core::handle_of(a.tensor()));
    }
    e.operands.push_back(core_.operand_of(a, f.op));
  }
  desc_->epilogue.push_back(std::move(e));
}

std::shared_ptr<detail::Handle> CompositeBuilder::make_output(const Dims& shape) {
  TensorRef in_memory;
  DType type = matrix_ ? desc_->dtype_acc : result_dtype(*info_, {*type_, *type_});
  if (c_.out_.has_value()) {
    if (c_.out_->shape() != shape) {
      wrong(" makes " + shape.to_string() + ", but its output is " + c_.out_->to_string());
    }
    in_memory = detail::physical_block(core_.backend(), *c_.out_, nullptr, name_, where_);
    type = c_.out_->dtype();
  } else if (c_.out_dtype_.has_value()) {
    type = *c_.out_dtype_;
  }
  if (is_packed(type)) wrong(" cannot give " + std::string(name_of(type)));
  const bool casts = c_.op_ == "cast" || (!desc_->epilogue.empty() && desc_->epilogue.back().op == "cast");
  if (!casts && is_float(type) != is_float(*type_) && (matrix_ || info_->result != ResultRule::boolean)) {
    wrong(" over " + list(c_.inputs_) + " cannot give " + std::string(name_of(type)));
  }
  auto made = c_.out_.has_value() ? core_.in_memory(in_memory) : core_.allocate(type, shape, where_);
  desc_->output = made->buffer;
  return made;
}

Tensor Context::composite(const Composite& c, const char* file, int line) {
  return CompositeBuilder(c, *core_, {file, line}).submit();
}

}  // namespace kernbench::tl
