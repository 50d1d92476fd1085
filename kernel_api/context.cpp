// SPDX-License-Identifier: Apache-2.0
#include "kernbench/kernel_api/context.h"

#include <fmt/format.h>

#include <cmath>

#include "kernbench/kernel_api/core.h"
#include "kernbench/phase2/op/math_op.h"

namespace kernbench::tl {

using detail::Core;
using detail::fault;
using detail::MathOptions;

Context::Context(PeBackend& backend, const Program& program)
    : core_(std::make_shared<Core>(backend)), program_(program) {}

namespace {

void require_axis(const char* call, int axis, SourceLine where) {
  if (axis < 0 || axis > 2) fault(where, std::string(call) + ": axis " + std::to_string(axis) + " is none of 0, 1, 2");
}

}  // namespace

int64_t Context::program_id(int axis, const char* file, int line) const {
  require_axis("program_id", axis, {file, line});
  return axis == 0 ? program_.pe : axis == 1 ? program_.cube : program_.rank;
}

int64_t Context::num_programs(int axis, const char* file, int line) const {
  require_axis("num_programs", axis, {file, line});
  return axis == 0 ? program_.pes : axis == 1 ? program_.cubes : program_.ranks;
}

const LaunchShape& Context::launch() const {
  if (!program_.launch) throw KernelFault("launch: " + pe_id() + " was not launched together with others");
  return *program_.launch;
}

const std::string& Context::pe_id() const {
  return core_->backend().pe_id();
}

void Context::wait(const Tensor& t) {
  core_->wait(Core::handle_of(t));
}

void Context::wait(const Event& e) {
  if (!e.valid_) throw KernelFault("wait on an empty event: no command was assigned to it");
  core_->wait(e.ticket_);
}

void Context::follow_one(const Tensor& t) {
  core_->backend().follow(Core::handle_of(t)->ticket);
}

void Context::follow_one(const Event& e) {
  core_->backend().follow(e.ticket_);
}

Loaded Context::materialize(const Tensor& t, const char* file, int line) {
  core_->materialize(t, {file, line});
  return Loaded(t);
}

Context Context::async() const {
  Context c = *this;
  c.async_ = true;
  return c;
}

void Context::finish() {
  core_->finish();
}

void Context::elapse(double cycles, const char* file, int line) {
  constexpr double kMost = 1e12;
  if (!(cycles >= 0 && cycles <= kMost))
    fault({file, line}, fmt::format("elapse: found {} cycles, expected 0 to {}", cycles, kMost));
  try {
    core_->backend().elapse(cycles, {file, line});
  } catch (const KernelFault& e) {
    fault({file, line}, fmt::format("elapse({}): {}", cycles, e.what()));
  }
}

ScalarCycles Context::scalar_cycles() const {
  return core_->backend().scalar_cycles();
}

double Context::now_ns() const {
  return core_->backend().now_ns();
}

// ---- Matrix -----------------------------------------------------------------------------------------------------

Tensor Context::dot(const Tensor& a, const Tensor& b, std::optional<DType> out, const char* file, int line) {
  return dot_impl(a, b, nullptr, out, async_, {file, line});
}

Tensor Context::dot_async(const Tensor& a, const Tensor& b, std::optional<DType> out, const char* file, int line) {
  return dot_impl(a, b, nullptr, out, true, {file, line});
}

Tensor Context::dot(const Tensor& a, const Tensor& b, const Tensor& acc, std::optional<DType> out, const char* file,
                    int line) {
  return dot_impl(a, b, &acc, out, async_, {file, line});
}

namespace {

/// Shape of a matrix as products count it: with packed elements, dense rows have twice as many.
Dims values_of_matrix(const Tensor& t, const TensorRef& stored, bool transposed) {
  Dims shape = t.shape();
  if (is_packed(t.dtype())) shape[transposed ? 0 : 1] = 2 * stored.shape[1];
  return shape;
}

}  // namespace

Tensor Context::dot_impl(const Tensor& a, const Tensor& b, const Tensor* acc, std::optional<DType> out, bool async,
                         SourceLine where) {
  for (const Tensor* t : {&a, &b, acc}) {
    if (!t) continue;
    core_->require_tcm(*t, "dot", where);
    core_->settle(*t);
  }
  const auto both = [&] { return a.to_string() + " and " + b.to_string(); };
  if (a.rank() != 2 || b.rank() != 2) fault(where, "op 'dot': shapes do not fit [m, k] · [k, n]: " + both());
  auto desc = std::make_shared<OpDesc>();
  desc->operands.resize(acc ? 3 : 2);
  desc->operands[0].ref = detail::matrix_of(a, &desc->transpose_a, where);
  desc->operands[1].ref = detail::matrix_of(b, &desc->transpose_b, where);
  const Dims shape_a = values_of_matrix(a, desc->operands[0].ref, desc->transpose_a);
  const Dims shape_b = values_of_matrix(b, desc->operands[1].ref, desc->transpose_b);
  if (shape_a[1] != shape_b[0]) fault(where, "op 'dot': shapes do not fit [m, k] · [k, n]: " + both());
  if (a.dtype() != b.dtype() && size_of(a.dtype()) > 1 && size_of(b.dtype()) > 1)
    fault(where, "op 'dot': element types differ: " + both() + "; tl.cast one of them");
  const bool floats = is_float(a.dtype()) || is_float(b.dtype());
  if (is_wide_integer(a.dtype()) || is_wide_integer(b.dtype()))
    fault(where, "op 'dot' accumulates in i32, but was given " + both());
  desc->dtype_acc = floats ? DType::f32 : DType::i32;
  const DType type = out.value_or(desc->dtype_acc);
  if (is_float(type) != floats || is_packed(type)) {
    fault(where, "op 'dot': the result of " + both() + " cannot be " + std::string(name_of(type)));
  }
  desc->type = CommandType::gemm;
  desc->kind = OpKind::gemm;
  desc->name = "gemm_" + std::string(name_of(a.dtype()));
  desc->op = "gemm";
  desc->where = where;
  desc->m = shape_a[0];
  desc->n = shape_b[1];
  desc->k = shape_a[1];
  std::vector<std::shared_ptr<detail::Handle>> used{Core::handle_of(a), Core::handle_of(b)};
  if (acc) {
    if (acc->shape() != Dims{desc->m, desc->n} || acc->dtype() != desc->dtype_acc)
      fault(where, "op 'dot': accumulator " + acc->to_string() + ", expected " + Dims{desc->m, desc->n}.to_string() +
                       " " + std::string(name_of(desc->dtype_acc)));
    desc->operands[2] =
        core_->operand_of(Arg(core_->without_repeats_of(*acc, async, where), where.file, where.line), "dot");
    used.push_back(Core::handle_of(*acc));
  }
  const auto made = core_->allocate(type, {desc->m, desc->n}, where);
  desc->output = made->buffer;
  core_->submit(desc, made, used, async);
  return Core::tensor_of(made);
}

// ---- Math -------------------------------------------------------------------------------------------------------

Tensor Context::op(const char* name, std::initializer_list<Arg> operands) {
  MathOptions options;
  options.async = async_;
  const SourceLine where = operands.size() > 0 ? operands.begin()->where() : SourceLine{};
  const MathOp* info = find_math_op(name);
  if (info != nullptr && (info->result == ResultRule::chosen || !info->is_elementwise())) {
    fault(where, "op '" + std::string(name) + "' has a call of its own: tl." + name);
  }
  return core_->math(name, operands, options, where);
}

Tensor Context::cast(const Tensor& x, DType to, const char* file, int line) {
  MathOptions options;
  options.async = async_;
  options.out_dtype = &to;
  return core_->math("cast", {Arg(x, file, line)}, options, {file, line});
}

Tensor Context::copy(const Tensor& x, const char* file, int line) {
  MathOptions options;
  options.async = async_;
  const Dims shape = x.shape();
  const DType type = x.dtype();
  options.shape = &shape;
  options.out_dtype = &type;
  return core_->math("copy", {Arg(x, file, line)}, options, {file, line});
}

Tensor Context::reshape(const Tensor& x, const Dims& shape, const char* file, int line) {
  if (x.can_reshape(shape, file, line)) return x.reshape(shape, file, line);
  return copy(x, file, line).reshape(shape, file, line);
}

Tensor Context::reduced(const char* name, const Tensor& x, std::optional<int> axis, bool keepdims, SourceLine where) {
  core_->require_tcm(x, name, where);
  MathOptions options;
  options.async = async_;
  options.keepdims = keepdims;
  if (axis.has_value()) {
    options.axis = *axis;
    return core_->math(name, {Arg(x, where.file, where.line)}, options, where);
  }
  // A reduction over all elements uses one row.
  const Tensor row = reshape(x, {x.elements()}, where.file, where.line);
  options.keepdims = false;
  const Tensor r = core_->math(name, {Arg(row, where.file, where.line)}, options, where);
  if (!keepdims) return r;
  Dims ones;
  for (int i = 0; i < x.rank(); ++i) ones.push_back(1);
  return r.reshape(ones, where.file, where.line);
}

Tensor Context::sum(const Tensor& x, std::optional<int> axis, bool keepdims, const char* file, int line) {
  return reduced("sum", x, axis, keepdims, {file, line});
}
Tensor Context::max(const Tensor& x, std::optional<int> axis, bool keepdims, const char* file, int line) {
  return reduced("max", x, axis, keepdims, {file, line});
}
Tensor Context::min(const Tensor& x, std::optional<int> axis, bool keepdims, const char* file, int line) {
  return reduced("min", x, axis, keepdims, {file, line});
}
Tensor Context::argmax(const Tensor& x, std::optional<int> axis, bool keepdims, const char* file, int line) {
  return reduced("argmax", x, axis, keepdims, {file, line});
}

Tensor Context::argmin(const Tensor& x, std::optional<int> axis, bool keepdims, const char* file, int line) {
  return reduced("argmin", x, axis, keepdims, {file, line});
}
Tensor Context::prod(const Tensor& x, std::optional<int> axis, bool keepdims, const char* file, int line) {
  return reduced("prod", x, axis, keepdims, {file, line});
}
Tensor Context::xor_sum(const Tensor& x, std::optional<int> axis, bool keepdims, const char* file, int line) {
  return reduced("xor_sum", x, axis, keepdims, {file, line});
}

Tensor Context::softmax(const Tensor& x, int axis, const char* file, int line) {
  MathOptions options;
  options.async = async_;
  options.axis = axis;
  return core_->math("softmax", {Arg(x, file, line)}, options, {file, line});
}

Tensor Context::full(const Dims& shape, double value, DType dtype, const char* file, int line) {
  MathOptions options;
  options.async = async_;
  options.shape = &shape;
  options.out_dtype = &dtype;
  return core_->math("full", {Arg(value, file, line)}, options, {file, line});
}

Tensor Context::arange(double start, double end, double step, DType dtype, const char* file, int line) {
  const double count = std::ceil((end - start) / step);
  if (!(step != 0 && count >= 1 && count < 9e15)) {
    fault({file, line}, "arange(" + std::to_string(start) + ", " + std::to_string(end) + ", " + std::to_string(step) +
                            ") has no elements");
  }
  MathOptions options;
  options.async = async_;
  const Dims shape{static_cast<int64_t>(count)};
  options.shape = &shape;
  options.out_dtype = &dtype;
  return core_->math("arange", {Arg(start, file, line), Arg(step, file, line)}, options, {file, line});
}

}  // namespace kernbench::tl
