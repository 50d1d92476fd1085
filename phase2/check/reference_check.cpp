#include "kernbench/phase2/check/reference_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernbench/phase2/eval/convert.h"
#include "kernbench/phase2/eval/eval.h"
#include "kernbench/phase2/graph/provenance.h"
#include "kernbench/phase2/op/math_op.h"

namespace kernbench {
namespace {

/// Element `i` (row-major) of an operand as broadcast to `shape`.
double element(const EvalInput& in, const Dims& shape, int64_t i) {
  if (in.is_scalar) return in.scalar;
  const int lead = shape.rank() - in.shape.rank();
  int64_t offset = 0;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    const int64_t at = i % shape[d];
    i /= shape[d];
    if (d >= lead && in.shape[d - lead] != 1) offset += at * in.strides[d - lead];
  }
  return load_scalar(in.data + offset * static_cast<int64_t>(size_of(in.dtype)), in.dtype);
}

double greater(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b);
}
double smaller(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? NAN : std::min(a, b);
}

double apply(const std::string& op, const std::vector<double>& x, bool integers) {
  const double a = x[0], b = x.size() > 1 ? x[1] : 0, c = x.size() > 2 ? x[2] : 0;
  if (op == "copy" || op == "cast") return a;
  if (op == "exp") return std::exp(a);
  if (op == "log") return std::log(a);
  if (op == "sqrt") return std::sqrt(a);
  if (op == "rsqrt") return 1 / std::sqrt(a);
  if (op == "sigmoid") return 1 / (1 + std::exp(-a));
  if (op == "tanh") return std::tanh(a);
  if (op == "erf") return std::erf(a);
  if (op == "abs") return std::abs(a);
  if (op == "neg") return -a;
  if (op == "relu") return std::isnan(a) ? a : std::max(a, 0.0);
  if (op == "gelu") return a == -INFINITY ? 0 : 0.5 * a * std::erfc(-a / std::sqrt(2.0));
  if (op == "silu") return a == -INFINITY ? 0 : a / (1 + std::exp(-a));
  if (op == "floor") return std::floor(a);
  if (op == "add") return a + b;
  if (op == "sub") return a - b;
  if (op == "mul") return a * b;
  if (op == "div") return integers ? (b == 0 ? 0 : std::trunc(a / b)) : a / b;
  if (op == "maximum") return greater(a, b);
  if (op == "minimum") return smaller(a, b);
  if (op == "lt") return a < b;
  if (op == "le") return a <= b;
  if (op == "gt") return a > b;
  if (op == "ge") return a >= b;
  if (op == "eq") return a == b;
  if (op == "ne") return a != b;
  if (op == "where") return a != 0 ? b : c;
  if (op == "fma") return a * b + c;
  if (op == "clamp") return smaller(greater(a, b), c);
  throw EvalError("no reference for '" + op + "'");
}

bool in_integers(const MathOp& op, const std::vector<EvalInput>& in) {
  bool tensor = false;
  for (size_t i = op.first_is_condition ? 1 : 0; i < in.size(); ++i) {
    if (in[i].is_scalar ? in[i].scalar != std::trunc(in[i].scalar) || !std::isfinite(in[i].scalar)
                        : is_float(in[i].dtype))
      return false;
    tensor |= !in[i].is_scalar;
  }
  return tensor && !op.float_only;
}

/// An exact integer as the i32 that wrapping leaves.
double wrapped(double v) {
  return wrap_i32(v);
}

/// A product of two i32, which f64 need not hold, as wrapping leaves it.
double wrapped_product(double a, double b) {
  const auto product = static_cast<uint64_t>(static_cast<int64_t>(a)) * static_cast<uint64_t>(static_cast<int64_t>(b));
  return static_cast<int32_t>(static_cast<uint32_t>(product));
}

double apply_integers(const std::string& op, const std::vector<double>& x) {
  if (op == "mul") return wrapped_product(x[0], x[1]);
  if (op == "fma") return wrapped(wrapped_product(x[0], x[1]) + x[2]);
  return wrapped(apply(op, x, true));
}

/// As the output's dtype holds it.
double rounded(double v, DType t) {
  uint8_t bytes[4];
  store_scalar(v, t, bytes);
  return load_scalar(bytes, t);
}

ReferenceValues elementwise(const OpDesc& d, const MathOp& op, const std::vector<EvalInput>& in) {
  ReferenceValues r;
  const bool integers = in_integers(op, in);
  std::vector<double> x(in.size());
  for (int64_t i = 0; i < d.output.shape.elements(); ++i) {
    for (size_t j = 0; j < in.size(); ++j) {
      x[j] = element(in[j], d.output.shape, i);
      if (in[j].is_scalar) x[j] = integers ? wrapped(x[j]) : static_cast<double>(static_cast<float>(x[j]));
    }
    const double v = integers ? apply_integers(d.op, x) : apply(d.op, x, false);
    r.values.push_back(is_float(d.output.dtype) ? v : integers ? rounded(v, d.output.dtype) : v);
    if (!is_float(d.output.dtype) && !integers) {
      // A float result as an integer: toward zero and saturating, from f32.
      const auto f = static_cast<float>(v);
      uint8_t bytes[4];
      convert(&f, DType::f32, bytes, d.output.dtype, 1);
      r.values.back() = load_scalar(bytes, d.output.dtype);
    }
  }
  return r;
}

ReferenceValues along_axis(const OpDesc& d, const EvalInput& in) {
  const int axis = d.axis < 0 ? d.axis + in.shape.rank() : d.axis;
  int64_t outer = 1, inner = 1;
  for (int i = 0; i < axis; ++i) outer *= in.shape[i];
  for (int i = axis + 1; i < in.shape.rank(); ++i) inner *= in.shape[i];
  const int64_t n = in.shape[axis];
  const bool softmax = d.op == "softmax";
  ReferenceValues r;
  r.values.resize(static_cast<size_t>(softmax ? outer * n * inner : outer * inner));
  r.scale.resize(r.values.size());
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      const auto at = [&](int64_t k) { return element(in, in.shape, (o * n + k) * inner + i); };
      double sum = 0, magnitude = 0, high = n ? at(0) : 0, low = high, exps = 0;
      int64_t best = 0;
      for (int64_t k = 0; k < n; ++k) {
        const double v = at(k);
        sum += v;
        magnitude += std::abs(v);
        if (!std::isnan(at(best)) && (v > at(best) || std::isnan(v))) best = k;
        high = greater(high, v);
        low = smaller(low, v);
      }
      const auto place = static_cast<size_t>(o * inner + i);
      if (softmax) {
        for (int64_t k = 0; k < n; ++k) exps += std::exp(at(k) - high);
        for (int64_t k = 0; k < n; ++k) {
          r.values[static_cast<size_t>((o * n + k) * inner + i)] = std::exp(at(k) - high) / exps;
        }
        continue;
      }
      double v = d.op == "sum" ? sum : d.op == "max" ? high : d.op == "min" ? low : static_cast<double>(best);
      if (!is_float(d.output.dtype)) v = rounded(wrapped(v), d.output.dtype);
      r.values[place] = v;
      if (d.op == "sum" && is_float(in.dtype)) r.scale[place] = magnitude;
    }
  }
  return r;
}

/// GEMM and composites: whole-tensor loops, k in tiles.
ReferenceValues fused(const OpDesc& d, const std::vector<EvalInput>& in) {
  const bool gemm = d.kind == OpKind::gemm || d.op == "gemm";
  Dims shape = d.output.shape;
  if (shape.rank() == 0) shape.push_back(1);
  if (shape.rank() == 1) shape = {1, shape[0]};
  const int64_t m = shape[0], n = shape[1], k = gemm ? d.k : 1;
  const int64_t tile_k = gemm && d.tile_k > 0 ? d.tile_k : std::max<int64_t>(k, 1);
  const MathOp* head = gemm ? nullptr : find_math_op(d.op);
  const std::vector<EvalInput> operands(in.begin(), in.begin() + static_cast<int64_t>(d.operands.size()));
  const bool integer_head =
      gemm ? !is_float(in[0].dtype) && !is_float(in[1].dtype) : head && in_integers(*head, operands);
  const int64_t last_row = d.tile_m > 0 ? (m - 1) / d.tile_m * d.tile_m : 0;
  const int64_t last_col = d.tile_n > 0 ? (n - 1) / d.tile_n * d.tile_n : 0;
  const auto scalar_at = [](const EvalInput& x, int64_t row, int64_t col) {
    return load_scalar(x.data + (row * x.strides[0] + col * x.strides[1]) * static_cast<int64_t>(size_of(x.dtype)),
                       x.dtype);
  };
  ReferenceValues r;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double acc = 0, scale = 0;
      bool integers = integer_head;
      const auto epilogue = [&](Scope scope) {
        size_t next = d.operands.size();
        for (const EpilogueOp& e : d.epilogue) {
          const size_t first = next;
          next += e.operands.size();
          if (e.scope != scope) continue;
          std::vector<EvalInput> all(in.begin() + static_cast<int64_t>(first), in.begin() + static_cast<int64_t>(next));
          EvalInput running;
          running.dtype = integers ? DType::i32 : DType::f32;
          all.insert(all.begin(), running);
          const bool was = integers;
          integers = integers && in_integers(*find_math_op(e.op), all);
          if (was && !integers) acc = static_cast<double>(static_cast<float>(acc));
          std::vector<double> x{acc};
          for (size_t o = 1; o < all.size(); ++o) {
            const double v = element(all[o], {m, n}, i * n + j);
            x.push_back(all[o].is_scalar && !integers ? static_cast<double>(static_cast<float>(v)) : v);
          }
          acc = integers ? apply_integers(e.op, x) : apply(e.op, x, false);
          if (e.op == "mul") scale *= std::abs(x[1]);
          if (e.op == "add" || e.op == "sub") scale = std::max(scale, std::abs(x[1]));
        }
      };
      for (int64_t k0 = 0; k0 < k || k0 == 0; k0 += tile_k) {
        if (gemm) {
          for (int64_t p = k0; p < std::min(k, k0 + tile_k); ++p) {
            const double a = d.transpose_a ? scalar_at(in[0], p, i) : scalar_at(in[0], i, p);
            const double b = d.transpose_b ? scalar_at(in[1], j, p) : scalar_at(in[1], p, j);
            acc += integer_head ? wrapped_product(a, b) : a * b;
            if (integers) acc = wrapped(acc);
            scale += std::abs(a * b);
          }
        } else {
          std::vector<double> x;
          for (const EvalInput& o : operands) x.push_back(element(o, {m, n}, i * n + j));
          acc = integers ? apply_integers(d.op, x) : apply(d.op, x, false);
        }
        epilogue(Scope::per_k_tile);
      }
      epilogue(Scope::per_output_tile);
      if (i >= last_row && j >= last_col) epilogue(Scope::once);
      if (!is_float(d.output.dtype)) acc = integers ? rounded(acc, d.output.dtype) : std::trunc(acc);
      r.values.push_back(acc);
      r.scale.push_back(gemm && !integer_head ? scale / std::sqrt(static_cast<double>(std::max<int64_t>(k, 1))) : 0);
    }
  }
  return r;
}

ReferenceValues moved(const OpDesc& d, const std::vector<EvalInput>& in) {
  ReferenceValues r;
  for (int64_t i = 0; i < d.output.shape.elements(); ++i) {
    const bool on = in.size() < 2 || element(in[1], d.output.shape, i) != 0;
    r.values.push_back(on ? element(in[0], d.output.shape, i) : in.size() > 2 ? element(in[2], d.output.shape, i) : 0);
  }
  return r;
}

std::string where(const Operand& o, const std::vector<std::string>& pes) {
  return o.is_scalar ? "immediate" : place_text(o.ref, pes);
}

/// What Phase 1 took for a pending handle is what Phase 2 computes, bit for bit.
void compare_materialized(const ReplayedOp& op, const std::vector<std::string>& pes) {
  const OpDesc& d = *op.record.desc;
  const auto differs = std::mismatch(d.data->begin(), d.data->end(), op.output);
  if (differs.first == d.data->end()) return;
  throw OpDeparts(fmt::format(
      "op {} (materialize): the bytes that Phase 1 took for {} differ from Phase 2's, first at byte {} of {}",
      op.record.op_id, where(d.operands[0], pes), differs.first - d.data->begin(), d.data->size()));
}

}  // namespace

ReferenceValues reference_of(const OpDesc& d, const std::vector<EvalInput>& in) {
  if (d.type == CommandType::load || d.type == CommandType::store) return moved(d, in);
  if (d.type != CommandType::math) return fused(d, in);
  const MathOp* op = find_math_op(d.op);
  if (!op) throw EvalError("no reference for '" + d.op + "'");
  if (op->kind == MathKind::elementwise) return elementwise(d, *op, in);
  if (op->kind != MathKind::create) return along_axis(d, in[0]);
  ReferenceValues r;
  for (int64_t i = 0; i < d.output.shape.elements(); ++i) {
    const double v = in[0].scalar + (in.size() > 1 ? static_cast<double>(i) * in[1].scalar : 0);
    r.values.push_back(rounded(v, d.output.dtype));
  }
  return r;
}

std::function<void(const ReplayedOp&)> reference_check(std::vector<std::string> pes) {
  return [pes = std::move(pes)](const ReplayedOp& op) {
    const OpDesc& d = *op.record.desc;
    if (d.materialized) return compare_materialized(op, pes);
    const TensorReport report = verify(d.name, d.output.dtype, d.output.shape, op.output, reference_of(d, op.inputs));
    if (report.passed) return;
    std::string s = fmt::format("op {} ({})", op.record.op_id, d.name);
    if (d.where.line) s += fmt::format(" at {}:{}", d.where.file, d.where.line);
    s += " departs from its reference: " + report.reason + "; operands:";
    const std::vector<Operand> operands = inputs_of(d);
    for (size_t i = 0; i < operands.size(); ++i) {
      s += (i ? ", " : " ") + where(operands[i], pes);
      if (operands[i].is_scalar) continue;
      std::string story;
      if (i < op.producers.size() && !op.producers[i].empty()) {
        story = "made by op";
        for (size_t p = 0; p < op.producers[i].size() && p < 8; ++p) story += " " + std::to_string(op.producers[i][p]);
        if (op.producers[i].size() > 8) story += " …";
      }
      const std::string carriers = carriers_of(op.records, op.record, operands[i].ref, pes);
      if (!carriers.empty()) story += (story.empty() ? "" : "; ") + carriers;
      if (!story.empty()) s += " (" + story + ")";
    }
    throw OpDeparts(s);
  };
}

}  // namespace kernbench
