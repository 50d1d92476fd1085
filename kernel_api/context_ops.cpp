// SPDX-License-Identifier: Apache-2.0
// Calls of the Context whose results differ from their operands in shape or type: scans, sorts, rearrangement, random
// numbers, MX formats, prints.
#include <fmt/format.h>

#include <cmath>

#include "kernbench/kernel_api/context.h"
#include "kernbench/kernel_api/core.h"
#include "kernbench/phase2/eval/convert.h"
#include "kernbench/phase2/eval/eval.h"
#include "kernbench/phase2/op/combiner.h"

namespace kernbench::tl {

using detail::Core;
using detail::fault;
using detail::MathOptions;

namespace {

/// Phase 2 recomputes random numbers from the log. A larger seed would not be exact there.
constexpr int64_t kMostSeed = int64_t{1} << 53;

void require_integers(const char* op, const Tensor& x, SourceLine where) {
  if (is_float(x.dtype()) || is_packed(x.dtype()))
    fault(where, fmt::format("op '{}' needs integers: {}", op, x.to_string()));
}

void require_plain(const char* op, const Tensor& x, SourceLine where) {
  if (is_packed(x.dtype())) fault(where, fmt::format("op '{}' does not take packed elements: {}", op, x.to_string()));
}

Arg at(const Tensor& x, SourceLine where) {
  return {x, where.file, where.line};
}
Arg at(double x, SourceLine where) {
  return {x, where.file, where.line};
}

}  // namespace

// ---- Scans, reductions by a combiner ------------------------------------------------------------------------------

Tensor Context::combined(const char* op, const Tensor& x, int axis, const Expr& expr, bool option, SourceLine where) {
  core_->require_tcm(x, op, where);
  try {
    const Combiner combiner(expr.text());
    if (combiner.takes(is_float(x.dtype()) ? Values::integers : Values::floats))
      fault(where, fmt::format("op '{}': an op of '{}' cannot take {}", op, expr.text(), x.to_string()));
    for (const Combiner::Step& s : combiner.steps()) {
      if (!is_float(x.dtype()) && s.constant != std::floor(s.constant))
        fault(where, fmt::format("op '{}': {} is no {}", op, s.constant, name_of(x.dtype())));
    }
  } catch (const std::invalid_argument& e) {
    fault(where, fmt::format("op '{}': {}", op, e.what()));
  }
  if (std::string(op) != "reduce") return scanned(op, x, axis, option, expr.text(), where);
  MathOptions options;
  options.async = async_;
  options.axis = axis;
  options.keepdims = option;
  options.argument = expr.text();
  return core_->math(op, {at(x, where)}, options, where);
}

Tensor Context::combined_member(const char* op, const std::vector<Tensor>& x, size_t member, int axis,
                                const std::string& combiner, bool option, SourceLine where) {
  std::vector<Arg> args;
  std::vector<bool> floats;
  const auto add = [&](const Tensor& t) {
    core_->require_tcm(t, op, where);
    if (t.shape() != x[0].shape())
      fault(where, fmt::format("op '{}': {} and {} have other shapes", op, x[0].to_string(), t.to_string()));
    args.push_back(at(t, where));
    floats.push_back(is_float(t.dtype()));
  };
  add(x[member]);
  for (size_t i = 0; i < x.size(); ++i) {
    if (i != member) add(x[i]);
  }
  try {
    Combiner(combiner, x.size()).types(floats);
  } catch (const std::invalid_argument& e) {
    fault(where, fmt::format("op '{}': {}", op, e.what()));
  }
  MathOptions options;
  options.async = async_;
  options.axis = axis;
  options.argument = combiner;
  const DType type = x[member].dtype();
  options.out_dtype = &type;
  const bool scan = std::string(op) != "reduce";
  options.keepdims = option && !scan;
  if (scan) args.push_back(at(option, where));
  return core_->math(op, args, options, where);
}

Tensor Context::scanned(const char* op, const Tensor& x, int axis, bool reverse, const std::string& argument,
                        SourceLine where) {
  MathOptions options;
  options.async = async_;
  options.axis = axis;
  options.argument = argument;
  return core_->math(op, {at(x, where), at(reverse, where)}, options, where);
}

Tensor Context::cumsum(const Tensor& x, int axis, bool reverse, const char* file, int line) {
  return scanned("cumsum", x, axis, reverse, "", {file, line});
}
Tensor Context::cumprod(const Tensor& x, int axis, bool reverse, const char* file, int line) {
  return scanned("cumprod", x, axis, reverse, "", {file, line});
}

// ---- Sorts --------------------------------------------------------------------------------------------------------

Tensor Context::sorted(const char* op, const Tensor& x, int axis, double option, int64_t kept, SourceLine where) {
  core_->require_tcm(x, op, where);
  require_plain(op, x, where);
  MathOptions options;
  options.async = async_;
  options.axis = Core::axis_of(x, axis, op, where);
  Dims shape = x.shape();
  const int64_t length = shape[options.axis];
  if (kept < 0) kept = length;
  if (kept < 1 || kept > length)
    fault(where,
          fmt::format("op '{}': {} of the {} elements along axis {} of {}", op, kept, length, axis, x.to_string()));
  shape[options.axis] = kept;
  const Tensor full = core_->without_repeats_of(x, async_, where);
  const DType type = std::string(op) == "argsort" ? DType::i32 : x.dtype();
  return core_->command(op, {at(full, where), at(option, where)}, shape, type, options, where);
}

Tensor Context::sort(const Tensor& x, int axis, bool descending, const char* file, int line) {
  return sorted("sort", x, axis, descending, -1, {file, line});
}
Tensor Context::argsort(const Tensor& x, int axis, bool descending, const char* file, int line) {
  return sorted("argsort", x, axis, descending, -1, {file, line});
}
Tensor Context::topk(const Tensor& x, int64_t k, int axis, const char* file, int line) {
  return sorted("topk", x, axis, static_cast<double>(k), std::max<int64_t>(k, 0), {file, line});
}

// ---- Arrangement --------------------------------------------------------------------------------------------------

Tensor Context::cat(const std::vector<Tensor>& parts, int axis, const char* file, int line) {
  const SourceLine where{file, line};
  if (parts.empty()) fault(where, "op 'cat' needs a tensor");
  std::vector<Arg> args;
  Dims shape;
  MathOptions options;
  options.async = async_;
  for (const Tensor& t : parts) {
    core_->require_tcm(t, "cat", where);
    const int along = Core::axis_of(t, axis, "cat", where);
    if (args.empty()) {
      shape = t.shape();
      options.axis = along;
    } else {
      Dims beside = t.shape();
      if (t.rank() == shape.rank()) beside[along] = shape[along];
      if (beside != shape || t.dtype() != parts[0].dtype())
        fault(where, "op 'cat': shapes or types do not fit: " + parts[0].to_string() + " and " + t.to_string());
      shape[along] += t.shape()[along];
    }
    args.push_back(at(core_->without_repeats_of(t, async_, where), where));
  }
  return core_->command("cat", args, shape, parts[0].dtype(), options, where);
}

Tensor Context::join(const Tensor& a, const Tensor& b, const char* file, int line) {
  for (const Tensor* t : {&a, &b}) core_->require_tcm(*t, "join", {file, line});
  if (a.shape() != b.shape() || a.dtype() != b.dtype())
    fault({file, line}, "op 'join': shapes or types differ: " + a.to_string() + " and " + b.to_string());
  if (a.rank() == kMaxRank) fault({file, line}, "op 'join': " + a.to_string() + " has no room for another axis");
  return cat({a.expand_dims(a.rank(), file, line), b.expand_dims(b.rank(), file, line)}, a.rank(), file, line);
}

std::pair<Tensor, Tensor> Context::split(const Tensor& x, const char* file, int line) {
  core_->require_tcm(x, "split", {file, line});
  if (x.rank() == 0 || x.dim(-1) != 2)
    fault({file, line}, "split of " + x.to_string() + ": the last axis must be of 2");
  Dims shape;
  for (int i = 0; i + 1 < x.rank(); ++i) shape.push_back(x.shape()[i]);
  const auto half = [&](int64_t i) { return x.slice(-1, i, 1, file, line).reshape(shape, file, line); };
  return {half(0), half(1)};
}

Tensor Context::interleave(const Tensor& a, const Tensor& b, const char* file, int line) {
  core_->require_tcm(a, "interleave", {file, line});
  if (a.rank() == 0) fault({file, line}, "op 'interleave' needs an axis: " + a.to_string());
  Dims shape = a.shape();
  shape[a.rank() - 1] *= 2;
  return join(a, b, file, line).reshape(shape, file, line);
}

Tensor Context::flip(const Tensor& x, int axis, const char* file, int line) {
  const SourceLine where{file, line};
  core_->require_tcm(x, "flip", where);
  MathOptions options;
  options.async = async_;
  options.axis = Core::axis_of(x, axis, "flip", where);
  return core_->command("flip", {at(core_->without_repeats_of(x, async_, where), where)}, x.shape(), x.dtype(), options,
                        where);
}

Tensor Context::gather(const Tensor& x, const Tensor& index, int axis, const char* file, int line) {
  const SourceLine where{file, line};
  for (const Tensor* t : {&x, &index}) core_->require_tcm(*t, "gather", where);
  require_integers("gather", index, where);
  MathOptions options;
  options.async = async_;
  options.axis = Core::axis_of(x, axis, "gather", where);
  Dims shape = index.shape();
  if (index.rank() == x.rank()) shape[options.axis] = x.shape()[options.axis];
  if (shape != x.shape())
    fault(where, "op 'gather': index " + index.to_string() + " does not fit " + x.to_string() + " along axis " +
                     std::to_string(axis));
  if (core_->is_real(index)) {
    const TensorRef ref = index.ref();
    const Bytes bytes = core_->backend().memory().gather(ref);
    for (int64_t i = 0; i < ref.shape.elements(); ++i) {
      const int64_t v = load_integer(bytes.data() + static_cast<size_t>(i) * size_of(ref.dtype), ref.dtype);
      if (v < 0 || v >= x.shape()[options.axis])
        fault(where, fmt::format("op 'gather': index {} at element {} of {} leaves axis {} of {}", v, i,
                                 index.to_string(), axis, x.to_string()));
    }
  }
  const Tensor from = core_->without_repeats_of(x, async_, where), by = core_->without_repeats_of(index, async_, where);
  return core_->command("gather", {at(from, where), at(by, where)}, index.shape(), x.dtype(), options, where);
}

Tensor Context::histogram(const Tensor& x, int64_t bins, const char* file, int line) {
  const SourceLine where{file, line};
  core_->require_tcm(x, "histogram", where);
  require_integers("histogram", x, where);
  if (bins < 1 || bins > (int64_t{1} << 30))
    fault(where, fmt::format("op 'histogram': found {} bins, expected 1 or more", bins));
  MathOptions options;
  options.async = async_;
  return core_->command("histogram",
                        {at(core_->without_repeats_of(x, async_, where), where), at(static_cast<double>(bins), where)},
                        {bins}, DType::i32, options, where);
}

// ---- Random numbers -----------------------------------------------------------------------------------------------

Tensor Context::drawn(const char* op, int64_t seed, const Tensor& offsets, int rounds, int word, SourceLine where) {
  core_->require_tcm(offsets, op, where);
  require_integers(op, offsets, where);
  if (seed < -kMostSeed || seed > kMostSeed) fault(where, fmt::format("op '{}': seed {} is beyond ±2^53", op, seed));
  if (rounds < 1 || rounds > 1000)
    fault(where, fmt::format("op '{}': found {} rounds, expected 1 to 1000", op, rounds));
  MathOptions options;
  options.async = async_;
  return core_->command(op,
                        {at(core_->without_repeats_of(offsets, async_, where), where),
                         at(static_cast<double>(seed), where), at(rounds, where), at(word, where)},
                        offsets.shape(), std::string(op) == "randint" ? DType::u32 : DType::f32, options, where);
}

Tensor Context::randint(int64_t seed, const Tensor& offsets, int rounds, const char* file, int line) {
  return drawn("randint", seed, offsets, rounds, 0, {file, line});
}
std::array<Tensor, 4> Context::randint4x(int64_t seed, const Tensor& offsets, int rounds, const char* file, int line) {
  std::array<Tensor, 4> words;
  for (int i = 0; i < 4; ++i) words[static_cast<size_t>(i)] = drawn("randint", seed, offsets, rounds, i, {file, line});
  return words;
}
Tensor Context::rand(int64_t seed, const Tensor& offsets, int rounds, const char* file, int line) {
  return drawn("rand", seed, offsets, rounds, 0, {file, line});
}
Tensor Context::randn(int64_t seed, const Tensor& offsets, int rounds, const char* file, int line) {
  return drawn("randn", seed, offsets, rounds, 0, {file, line});
}

// ---- Short types --------------------------------------------------------------------------------------------------

Tensor Context::dequantize(const Tensor& x, const Arg& scale, DType to, const char* file, int line) {
  const SourceLine where{file, line};
  core_->require_tcm(x, "dequantize", where);
  const std::string both = x.to_string() + " by " + scale.to_string();
  if (!is_float(to) || is_packed(to)) fault(where, "op 'dequantize' gives floats, not " + std::string(name_of(to)));
  if (x.rank() == 0) fault(where, "op 'dequantize' needs an axis: " + both);
  Dims shape = x.shape();
  int64_t& last = shape[x.rank() - 1];
  last *= values_in(x.dtype());
  Arg by = at(scale.scalar(), where);
  if (!scale.is_scalar()) {
    const Tensor& s = scale.tensor();
    core_->require_tcm(s, "dequantize", where);
    Dims beside = s.shape();
    const int64_t groups = s.rank() ? s.dim(-1) : 0;
    if (s.rank() == x.rank()) beside[s.rank() - 1] = last;
    if (beside != shape || groups < 1 || last % groups != 0 || !(is_float(s.dtype()) || s.dtype() == DType::u8) ||
        is_packed(s.dtype()))
      fault(where, "op 'dequantize': scales do not fit: " + both);
    by = at(core_->without_repeats_of(s, async_, where), where);
  }
  MathOptions options;
  options.async = async_;
  return core_->command("dequantize", {at(core_->without_repeats_of(x, async_, where), where), by}, shape, to, options,
                        where);
}

Tensor Context::dot_scaled(const Tensor& lhs, const Tensor& lhs_scale, const Tensor& rhs, const Tensor& rhs_scale,
                           const Tensor& acc, std::optional<DType> out, const char* file, int line) {
  const SourceLine where{file, line};
  constexpr int64_t kGroup = 32;
  for (const Tensor* t : {&lhs, &rhs}) {
    core_->require_tcm(*t, "dot_scaled", where);
    if (t->rank() != 2) fault(where, "op 'dot_scaled' takes matrices: " + t->to_string());
  }
  const auto plain = [](const Tensor& t) { return t.dtype() == DType::f16 || t.dtype() == DType::bf16; };
  const auto made = [&](const Tensor& x, const Tensor& scale, const Tensor& other) {
    if (plain(x)) {
      if (scale.valid()) fault(where, "op 'dot_scaled': " + x.to_string() + " takes no scale");
      return x;
    }
    if (x.dtype() != DType::e2m1 && x.dtype() != DType::f8e4m3 && x.dtype() != DType::f8e5m2)
      fault(where, "op 'dot_scaled': " + x.to_string() + " is none of e2m1, f8e4m3, f8e5m2, f16, bf16");
    if (!scale.valid() || scale.dtype() != DType::u8 || scale.rank() != 2 || scale.dim(0) != x.dim(0) ||
        scale.dim(1) * kGroup != x.dim(1) * values_in(x.dtype()))
      fault(where, fmt::format("op 'dot_scaled': {} needs a scale of u8 for each {} along k, found {}", x.to_string(),
                               kGroup, scale.to_string()));
    return dequantize(x, at(scale, where), plain(other) ? other.dtype() : DType::bf16, file, line);
  };
  const Tensor a = made(lhs, lhs_scale, rhs);
  const Tensor b = plain(rhs) && !rhs_scale.valid() ? rhs : made(rhs.transpose(file, line), rhs_scale, lhs).transpose();
  return dot_impl(a, b, acc.valid() ? &acc : nullptr, out, async_, where);
}

// ---- Values of the kernel's own ------------------------------------------------------------------------------------

namespace {

void require_count(size_t count, const Dims& shape, DType dtype, SourceLine where) {
  if (is_packed(dtype)) fault(where, "tl.tensor: an element of " + std::string(name_of(dtype)) + " is two values");
  for (int64_t d : shape) {
    if (d < 1) fault(where, "tl.tensor: shape " + shape.to_string() + " has a dimension under 1");
  }
  if (static_cast<int64_t>(count) != shape.elements())
    fault(where, fmt::format("tl.tensor: {} values for shape {}", count, shape.to_string()));
}

}  // namespace

Loaded Context::of_integers(const std::vector<int64_t>& values, const Dims& shape, DType dtype, SourceLine where) {
  require_count(values.size(), shape, dtype, where);
  Bytes bytes(values.size() * size_of(dtype));
  convert(values.data(), DType::i64, bytes.data(), dtype, values.size());
  return Loaded(core_->constant(dtype, shape, std::move(bytes), where));
}

Loaded Context::of_floats(const std::vector<double>& values, const Dims& shape, DType dtype, SourceLine where) {
  require_count(values.size(), shape, dtype, where);
  Bytes bytes(values.size() * size_of(dtype));
  for (size_t i = 0; i < values.size(); ++i) store_scalar(values[i], dtype, bytes.data() + i * size_of(dtype));
  return Loaded(core_->constant(dtype, shape, std::move(bytes), where));
}

// ---- What kernels say ----------------------------------------------------------------------------------------------

void Context::report(const char* op, const std::string& text, const Tensor& x, SourceLine where) {
  core_->require_tcm(x, op, where);
  MathOptions options;
  options.async = async_;
  options.argument = pe_id() + ": " + text;
  if (!core_->is_real(x)) {
    core_->command(op, {at(core_->without_repeats_of(x, async_, where), where)}, {1}, DType::u8, options, where);
    return;
  }
  OpDesc said;
  said.op = op;
  said.argument = options.argument;
  const TensorRef ref = x.ref();
  const Bytes bytes = core_->backend().memory().gather(ref);
  const EvalInput input = EvalInput::tensor(bytes.data(), ref.dtype, ref.shape);
  if (said.op == "device_assert") {
    std::vector<uint8_t> on(static_cast<size_t>(x.elements()));
    nonzero(bytes.data(), ref.dtype, on.data(), on.size());
    for (uint8_t v : on) {
      if (!v) fault(where, report_text(said, input));
    }
    return;
  }
  said.where = where;
  core_->backend().print(report_text(said, input));
}

void Context::device_print(const std::string& text, const Tensor& x, const char* file, int line) {
  report("device_print", text, x, {file, line});
}

void Context::device_assert(const Tensor& condition, const std::string& text, const char* file, int line) {
  report("device_assert", text, condition, {file, line});
}

}  // namespace kernbench::tl
