// SPDX-License-Identifier: Apache-2.0
// Losses over classes. Classes lie along axis 1.
#include <algorithm>

#include "kernbench/platform/onnx/rows.h"

namespace kernbench::onnx {
namespace {

using tl::Tensor;

std::string reduction_of(const Op& op) {
  return op.word("reduction", {"none", "mean", "sum"}, "mean");
}

void shape_loss(Op& op) {
  op.require_type(0, Takes::floats);
  op.require_type(1, Takes::indices);
  op.require(op.rank() >= 2, "found rank " + std::to_string(op.rank()));
  Shape rows = op.shape();
  rows.erase(rows.begin() + 1);
  op.require(op.shape(1) == rows, "found targets of shape " + to_string(op.shape(1)) + ", expected " + to_string(rows));
  if (op.has(2)) {
    op.require_same_types(0, 2);
    op.require_shape(2, {op.shape()[1]});
  }
  const std::string r = reduction_of(op);
  check_row(op, op.shape()[1]);
  op.set_output(0, op.in(0).type, r == "none" ? rows : Shape());
  op.set_output(1, op.in(0).type, op.shape());
}

struct Loss {
  Tensor loss, weight;  ///< [rows]
};

Tensor log_probabilities(Pe& pe, const Tensor& given) {
  const Tensor x = pe.widened(given);
  if (pe.op.node->op == "NegativeLogLikelihoodLoss") return x;
  const Tensor below = x - pe.tl.max(x, 1, true);
  return below - pe.tl.log(pe.tl.sum(pe.tl.exp(below), 1, true));
}

Loss loss_of(Pe& pe, int64_t row, int64_t n, const Tensor& log_p) {
  tl::Context& tl = pe.tl;
  const int64_t classes = log_p.shape()[1];
  const Tensor target = pe.cast(tl.load(pe.in(1) + row, {n}), DType::i32).reshape({n, 1});
  const Tensor number = tl.arange(0, static_cast<double>(classes)).reshape({1, classes});
  Tensor hit = tl.eq(target, number);
  if (pe.op.given("ignore_index")) {
    const int64_t ignored = pe.op.integer("ignore_index", 0);
    if (ignored >= INT32_MIN && ignored <= INT32_MAX) hit = hit & tl.ne(target, ignored);
  }
  const Tensor w = pe.op.has(2) ? pe.widened(tl.load(pe.in(2), {1, classes})) : tl.full({1, classes}, 1, DType::f32);
  const Tensor none = tl.zeros({n, classes}, DType::f32);
  return {-tl.sum(tl.where(hit, log_p * w, none), 1),
          tl.sum(tl.where(hit, tl::Context::broadcast_to(w, {n, classes}), none), 1)};
}

/// Reduces over all rows, on one PE.
void put_total(Pe& pe, const AxisRows& rows) {
  Tensor loss, weight;
  const int64_t step = std::max<int64_t>(1, kPiece / rows.length);
  for (int64_t r = 0; r < rows.rows(); r += step) {
    const int64_t n = std::min(step, rows.rows() - r);
    const Loss l = loss_of(pe, r, n, log_probabilities(pe, pe.pick(0, rows.places(r, n), {n, rows.length})));
    const Tensor a = pe.tl.sum(l.loss, 0, true), b = pe.tl.sum(l.weight, 0, true);
    loss = loss.valid() ? loss + a : a;
    weight = weight.valid() ? weight + b : b;
  }
  pe.put(0, 0, reduction_of(pe.op) == "mean" ? loss / weight : loss);
}

void run_loss(Pe& pe) {
  const AxisRows rows(pe.op.shape(), 1);
  const bool each = reduction_of(pe.op) == "none";
  if (each || pe.op.has_output(1)) {
    for_rows(pe, rows, [&](int64_t r, int64_t n, const Tensor& x) {
      const Tensor log_p = log_probabilities(pe, x);
      if (each) pe.put(0, r, loss_of(pe, r, n, log_p).loss);
      if (pe.op.has_output(1)) pe.put(1, rows.places(r, n), log_p);
    });
  }
  if (!each && pe.tl.index() == 0) put_total(pe, rows);
}

const char* const kLoss = "MATH on whole rows of classes; one PE adds them up";
const RegisterOps registered_losses{{
    {"NegativeLogLikelihoodLoss", 12, shape_loss, run_loss, kLoss, "3 ignore_index reduction"},
    {"SoftmaxCrossEntropyLoss", 12, shape_loss, run_loss, kLoss, "3 ignore_index reduction"},
}};

}  // namespace
}  // namespace kernbench::onnx
