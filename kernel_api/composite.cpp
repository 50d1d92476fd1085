#include "kernbench/kernel_api/composite.h"

#include <algorithm>

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

/// [m, n] of an elementwise composite (1-D: m = 1); all inputs that are not immediates have this shape.
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

Tensor Context::composite(const Composite& c, const char* file, int line) {
  const SourceLine where{file, line};
  const bool matrix = c.op_ == "gemm";
  const std::string name = "composite '" + c.op_ + "'";
  auto desc = std::make_shared<OpDesc>();
  desc->type = CommandType::composite;
  desc->kind = matrix ? OpKind::gemm : OpKind::math;
  desc->name = matrix ? "composite_gemm" : "composite_math";
  desc->op = c.op_;
  desc->where = where;

  // Operands, as they lie in memory or TCM.
  std::vector<std::shared_ptr<detail::Handle>> used;
  const MathOp* info = find_math_op(c.op_);
  if (!matrix && (info == nullptr || !info->is_elementwise())) {
    fault(where, "'" + c.op_ + "' is no elementwise op and cannot head a composite");
  }
  const int arity = matrix ? 2 : info->arity;
  if (static_cast<int>(c.inputs_.size()) != arity) {
    fault(where, name + " takes " + std::to_string(arity) + " inputs: " + list(c.inputs_));
  }
  std::optional<DType> type;
  for (size_t i = 0; i < c.inputs_.size(); ++i) {
    const CompositeArg& a = c.inputs_[i];
    Operand o;
    if (a.is_block()) {
      o.ref = detail::physical_block(core_->backend(), a.block(), name, where);
    } else if (a.is_tensor()) {
      core_->require_tcm(a.arg().tensor(), c.op_, where);
      core_->settle(a.arg().tensor());
      bool* flag = i == 0 ? &desc->transpose_a : &desc->transpose_b;
      o.ref =
          matrix && a.shape().rank() == 2 ? detail::matrix_of(a.arg().tensor(), flag, where) : a.arg().tensor().ref();
      used.push_back(Core::handle_of(a.arg().tensor()));
    } else if (matrix) {
      fault(where, name + ": inputs must be blocks or tensors: " + list(c.inputs_));
    } else {
      o.is_scalar = true;
      o.scalar = a.arg().scalar();
    }
    if (!o.is_scalar && !(!matrix && info->first_is_condition && i == 0)) {
      if (type.has_value() && *type != type_of(a)) fault(where, name + ": element types differ: " + list(c.inputs_));
      type = type_of(a);
    }
    desc->operands.push_back(o);
  }
  if (!type.has_value()) fault(where, name + " needs a tensor or a block among its inputs");
  if (!matrix && info->float_only && !is_float(*type)) fault(where, name + " needs floats: " + list(c.inputs_));

  // Shape.
  Dims shape;
  if (matrix) {
    Dims a = c.inputs_[0].shape();
    Dims b = c.inputs_[1].shape();
    const bool rank2 = a.rank() == 2 && b.rank() == 2;
    if (rank2 && c.transpose_a_) std::swap(a[0], a[1]);
    if (rank2 && c.transpose_b_) std::swap(b[0], b[1]);
    if (!rank2 || a[1] != b[0]) {
      fault(where, name + ": shapes do not fit [m, k] · [k, n]: " + c.inputs_[0].to_string() + " and " +
                       c.inputs_[1].to_string());
    }
    desc->transpose_a = desc->transpose_a != c.transpose_a_;
    desc->transpose_b = desc->transpose_b != c.transpose_b_;
    desc->m = a[0];
    desc->n = b[1];
    desc->k = a[1];
    desc->dtype_acc = accumulator_of(*type);
    shape = {desc->m, desc->n};
  } else {
    shape = elementwise_shape(c.op_, c.inputs_, where);
    desc->m = shape.rank() == 2 ? shape[0] : 1;
    desc->n = shape[shape.rank() - 1];
  }
  if (c.tile_m_ < 1 || c.tile_n_ < 1 || (matrix && c.tile_k_ < 1)) {
    fault(where, name + ": tile sizes " + Dims{c.tile_m_, c.tile_n_, c.tile_k_}.to_string() + " must be 1 or more");
  }
  desc->tile_m = std::min(c.tile_m_, desc->m);
  desc->tile_n = std::min(c.tile_n_, desc->n);
  desc->tile_k = matrix ? std::min(c.tile_k_, desc->k) : 0;

  // Fused ops.
  for (const auto& f : c.fused_) {
    const MathOp* fused = find_math_op(f.op);
    if (fused == nullptr || !fused->is_elementwise())
      fault(where, name + ": '" + f.op + "' is no elementwise op to fuse");
    if (static_cast<int>(f.more.size()) + 1 != fused->arity) {
      fault(where, name + ": fused op '" + f.op + "' takes " + std::to_string(fused->arity - 1) +
                       " operands beside the tile, not " + std::to_string(f.more.size()));
    }
    EpilogueOp e;
    e.op = f.op;
    e.scope = f.scope;
    for (const Arg& a : f.more) {
      if (!a.is_scalar()) {
        core_->require_tcm(a.tensor(), f.op, where);
        if (!broadcasts_to(a.tensor().shape(), shape)) {
          fault(where, name + ": operand " + a.to_string() + " of fused op '" + f.op + "' does not broadcast to " +
                           shape.to_string());
        }
        used.push_back(Core::handle_of(a.tensor()));
      }
      e.operands.push_back(core_->operand_of(a, f.op));
    }
    desc->epilogue.push_back(std::move(e));
  }

  // Output.
  TensorRef in_memory;
  DType out_type = matrix ? desc->dtype_acc : result_dtype(*info, {*type, *type});
  if (c.out_.has_value()) {
    if (c.out_->shape() != shape) {
      fault(where, name + " makes " + shape.to_string() + ", but its output is " + c.out_->to_string());
    }
    in_memory = detail::physical_block(core_->backend(), *c.out_, name, where);
    out_type = c.out_->dtype();
  } else if (c.out_dtype_.has_value()) {
    out_type = *c.out_dtype_;
  }
  const bool casts = c.op_ == "cast" || (!desc->epilogue.empty() && desc->epilogue.back().op == "cast");
  if (!casts && is_float(out_type) != is_float(*type) && (matrix || info->result != ResultRule::boolean)) {
    fault(where, name + " over " + list(c.inputs_) + " cannot give " + std::string(name_of(out_type)));
  }
  const auto made = c.out_.has_value() ? core_->in_memory(in_memory) : core_->allocate(out_type, shape);
  desc->output = made->buffer;
  core_->submit(desc, made, used, true);
  return Core::tensor_of(made);
}

}  // namespace kernbench::tl
