// SPDX-License-Identifier: Apache-2.0
// Checks and submission of math commands.
#include <algorithm>
#include <cmath>

#include "kernbench/kernel_api/core.h"
#include "kernbench/phase2/op/combiner.h"
#include "kernbench/phase2/op/math_op.h"

namespace kernbench::tl::detail {

namespace {

std::string quoted(std::string_view op) {
  return "'" + std::string(op) + "'";
}

std::string list(const std::vector<Arg>& args) {
  std::string text;
  for (const Arg& a : args) text += (text.empty() ? "" : ", ") + a.to_string();
  return text;
}

/// Restores extent 1 for broadcast dimensions of stride 0. The command repeats them by numpy's rule.
TensorRef without_repeats(TensorRef r) {
  for (int i = 0; i < r.shape.rank(); ++i) {
    if (r.strides[i] == 0 && r.shape[i] != 1) r.shape[i] = 1;
  }
  return r;
}

bool repeats(const Tensor& t) {
  for (int i = 0; i < t.rank(); ++i) {
    if (t.strides()[i] == 0 && t.shape()[i] != 1) return true;
  }
  return false;
}

bool fits_dims(const Dims& a, const Dims& b, Dims* out) {
  const int rank = std::max(a.rank(), b.rank());
  Dims result;
  for (int i = 0; i < rank; ++i) {
    const int ia = i - (rank - a.rank());
    const int ib = i - (rank - b.rank());
    const int64_t da = ia < 0 ? 1 : a[ia];
    const int64_t db = ib < 0 ? 1 : b[ib];
    if (da != db && da != 1 && db != 1) return false;
    result.push_back(std::max(da, db));
  }
  *out = result;
  return true;
}

Dims shape_of(const Arg& a) {
  return a.is_scalar() ? Dims{} : a.tensor().shape();
}

/// Whether the immediate is a value of an integer type. For i64: as far as a double is exact.
bool is_value_of(DType t, double v) {
  if (v != std::floor(v)) return false;
  const int bits = static_cast<int>(8 * size_of(t));
  const bool is_unsigned = t == DType::u8 || t == DType::u16 || t == DType::u32;
  const double end = bits == 64 ? 0x1p53 : std::ldexp(1, is_unsigned ? bits : bits - 1);
  return v < end && v >= (is_unsigned ? 0 : -end);
}

void refuse_packed(std::string_view op, const Tensor& t, SourceLine where) {
  if (is_packed(t.dtype()))
    fault(where,
          "op " + quoted(op) + ": " + t.to_string() + " holds two values an element: tl.dequantize it, or tl.dot");
}

/// The common type of the tensor operands. If it is an integer type, immediates must be representable in it.
DType common_type(const MathOp& info, const std::vector<Arg>& args, SourceLine where) {
  const Arg* first = nullptr;
  for (size_t i = info.first_is_condition ? 1 : 0; i < args.size(); ++i) {
    if (args[i].is_scalar()) continue;
    if (first == nullptr) {
      first = &args[i];
    } else if (args[i].tensor().dtype() != first->tensor().dtype()) {
      fault(where, "op " + quoted(info.name) + ": element types differ: " + list(args) + "; tl.cast one of them");
    }
  }
  if (first == nullptr) fault(where, "op " + quoted(info.name) + " needs a tensor among its operands: " + list(args));
  const DType type = first->tensor().dtype();
  if (info.float_only && !is_float(type)) {
    fault(where, "op " + quoted(info.name) + " needs floats: " + list(args));
  }
  if (info.integer_only && is_float(type)) {
    fault(where, "op " + quoted(info.name) + " needs integers: " + list(args));
  }
  if (info.fn == Fn::umulhi && size_of(type) < 4) {
    fault(where, "op 'umulhi' needs integers of 32 or 64 bits: " + list(args));
  }
  if (is_float(type)) return type;
  for (const Arg& a : args) {
    if (a.is_scalar() && !is_value_of(type, a.scalar())) {
      fault(where, "op " + quoted(info.name) + ": immediate " + a.to_string() + " is no " + std::string(name_of(type)) +
                       ": " + list(args));
    }
  }
  return type;
}

/// Result type of an op over operands of one type.
DType result_of(const MathOp& op, DType in) {
  return result_dtype(op, std::vector<DType>(op.first_is_condition ? 2 : 1, in));
}

Dims reduced(const Dims& shape, int axis, bool keepdims) {
  Dims out;
  for (int i = 0; i < shape.rank(); ++i) {
    if (i != axis) {
      out.push_back(shape[i]);
    } else if (keepdims) {
      out.push_back(1);
    }
  }
  return out;
}

}  // namespace

TensorRef matrix_of(const Tensor& t, bool* transpose, SourceLine where) {
  TensorRef r = t.ref();
  const auto dense_rows = [](const TensorRef& x) {
    return (x.shape[1] == 1 || x.strides[1] == 1) && (x.shape[0] == 1 || x.strides[0] >= x.shape[1]);
  };
  if (!dense_rows(r)) {
    std::swap(r.shape[0], r.shape[1]);
    std::swap(r.strides[0], r.strides[1]);
    *transpose = !*transpose;
    if (!dense_rows(r))
      fault(where, "op 'gemm': operand " + t.to_string() + " is a view without dense rows: tl.copy it");
  }
  // The stride of a dimension of extent 1 is arbitrary, so it gets the value that row-major code expects.
  if (r.shape[1] == 1) r.strides[1] = 1;
  if (r.shape[0] == 1) r.strides[0] = r.shape[1];
  return r;
}

void Core::require_tcm(const Tensor& t, std::string_view op, SourceLine where) const {
  if (!t.valid()) fault(where, "op " + quoted(op) + ": an operand is an empty tensor");
  if (t.ref().space != Space::tcm) {
    fault(where, "op " + quoted(op) + ": operand " + t.to_string() + " lies in " + std::string(name_of(t.ref().space)) +
                     ": tl.load it first");
  }
}

void Core::settle_mask(const Tensor& mask, const Block& block, const std::string& call, SourceLine where) {
  require_tcm(mask, call, where);
  settle(mask);
  if (mask.shape() != block.shape())
    fault(where, call + ": mask " + mask.to_string() + " has another shape than " + block.to_string());
}

Operand Core::operand_of(const Arg& a, std::string_view op) {
  Operand o;
  if (a.is_scalar()) {
    o.is_scalar = true;
    o.scalar = a.scalar();
    return o;
  }
  require_tcm(a.tensor(), op, a.where());
  settle(a.tensor());
  o.ref = without_repeats(a.tensor().ref());
  return o;
}

Tensor Core::math(std::string_view op, const std::vector<Arg>& operands, const MathOptions& options, SourceLine where) {
  const MathOp* info = find_math_op(op);
  if (info == nullptr) fault(where, "there is no op " + quoted(op));
  for (const Arg& a : operands) {
    if (a.is_scalar()) continue;
    require_tcm(a.tensor(), op, where);
    if (info->fn != Fn::copy || info->result == ResultRule::chosen) refuse_packed(op, a.tensor(), where);
  }
  if (!takes_operands(*info, operands.size())) {
    fault(where, "op " + quoted(op) + " takes " + std::to_string(info->arity) + " operands, not " +
                     std::to_string(operands.size()) + ": " + list(operands));
  }

  Dims shape;
  DType type = DType::f32;
  if (options.shape != nullptr) {
    shape = *options.shape;
    type = *options.out_dtype;
    for (int64_t d : shape) {
      if (d < 1) fault(where, "op " + quoted(op) + ": shape " + shape.to_string() + " has a dimension under 1");
    }
  } else {
    type = options.out_dtype != nullptr ? *options.out_dtype : result_of(*info, common_type(*info, operands, where));
    shape = shape_of(operands[0]);
    for (size_t i = 1; i < operands.size(); ++i) {
      Dims joined;
      if (!fits_dims(shape, shape_of(operands[i]), &joined)) {
        fault(where, "op " + quoted(op) + ": shapes do not fit: " + list(operands));
      }
      shape = joined;
    }
  }
  if (is_packed(type) && op != "copy")
    fault(where,
          "op " + quoted(op) + " cannot make " + std::string(name_of(type)) + ", which is loaded and multiplied only");
  std::vector<Arg> args = operands;
  MathOptions found = options;
  if (info->is_reduction() || info->kind == MathKind::softmax || info->kind == MathKind::scan) {
    const Tensor x = args[0].tensor();
    found.axis = axis_of(x, options.axis, op, where);
    // A reduction must process every repetition.
    for (Arg& a : args) {
      if (!a.is_scalar()) a = Arg(without_repeats_of(a.tensor(), options.async, where), where.file, where.line);
    }
    shape = info->is_reduction() ? reduced(x.shape(), found.axis, options.keepdims) : x.shape();
  }
  return command(op, args, shape, type, found, where);
}

int Core::axis_of(const Tensor& t, int axis, std::string_view op, SourceLine where) {
  const int rank = t.rank();
  if (rank == 0 || axis < -rank || axis >= rank)
    fault(where, "op " + quoted(op) + ": axis " + std::to_string(axis) + " does not exist in " + t.to_string());
  return axis < 0 ? axis + rank : axis;
}

Tensor Core::command(std::string_view op, const std::vector<Arg>& args, const Dims& shape, DType type,
                     const MathOptions& options, SourceLine where) {
  const MathOp* info = find_math_op(op);
  auto desc = std::make_shared<OpDesc>();
  desc->type = CommandType::math;
  desc->kind = OpKind::math;
  desc->name = std::string(op);
  desc->op = std::string(op);
  desc->where = where;
  desc->reduction = info->is_reduction();
  desc->axis = options.axis;
  desc->keepdims = options.keepdims;
  desc->argument = options.argument;
  std::vector<std::shared_ptr<Handle>> handles;
  handles.reserve(args.size());
  desc->operands.reserve(args.size());
  for (const Arg& a : args) {
    desc->operands.push_back(operand_of(a, op));
    if (!a.is_scalar()) handles.push_back(handle_of(a.tensor()));
  }
  const auto made = allocate(type, shape, where);
  desc->output = made->buffer;
  submit(desc, made, handles, options.async);
  return tensor_of(made);
}

Tensor Core::without_repeats_of(const Tensor& t, bool async, SourceLine where) {
  if (!repeats(t)) return t;
  MathOptions copy;
  copy.async = async;
  const Dims shape = t.shape();
  const DType type = t.dtype();
  copy.shape = &shape;
  copy.out_dtype = &type;
  return math("copy", {Arg(t, where.file, where.line)}, copy, where);
}

Tensor Core::constant(DType dtype, const Dims& shape, Bytes bytes, SourceLine where) {
  const auto made = allocate(dtype, shape, where);
  auto desc = std::make_shared<OpDesc>();
  desc->type = CommandType::store;
  desc->kind = OpKind::memory;
  desc->name = "constant";
  desc->where = where;
  desc->handle_id = made->id;
  desc->output = made->buffer;
  desc->data = std::make_shared<const Bytes>(std::move(bytes));
  backend_.materialize(desc);
  made->materialized = true;
  made->producer = desc;
  made->arrived = true;
  return tensor_of(made);
}

bool Core::is_real(const Tensor& t) {
  const auto& h = handle_of(t);
  if (h->materialized) return true;
  if (!h->is_load) return false;
  wait(h);
  return backend_.memory().state_of(t.ref()).state == MemoryImage::State::real;
}

}  // namespace kernbench::tl::detail
