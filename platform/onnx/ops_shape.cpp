// SPDX-License-Identifier: Apache-2.0
// Reshaping ops, which keep the bytes, and ops whose values depend on shapes alone.
#include <algorithm>
#include <cmath>

#include "kernbench/platform/onnx/places.h"

namespace kernbench::onnx {
namespace {

using tl::Tensor;

// ---- The same bytes

void shape_reshape(Op& op) {
  Shape to = op.opset >= 5 ? op.values(1) : op.ints("shape");
  const bool zeros = op.integer("allowzero", 0) != 0;
  int64_t known = 1, open = -1;
  for (size_t d = 0; d < to.size(); ++d) {
    if (to[d] == 0 && !zeros) {
      op.require(d < op.shape().size(), "found shape " + to_string(to));
      to[d] = op.shape()[d];
    }
    if (to[d] == -1) {
      op.require(open < 0, "found shape " + to_string(to));
      open = static_cast<int64_t>(d);
    } else {
      op.require(to[d] >= 0, "found shape " + to_string(to));
      known = elements_of({known, to[d]});
    }
  }
  const int64_t n = op.in(0).elements();
  if (open >= 0) {
    op.require(known > 0 && n % known == 0, "found shape " + to_string(to) + " for " + std::to_string(n) + " elements");
    to[at(open)] = n / known;
  }
  op.require(elements_of(to) == n, "found shape " + to_string(to) + " for " + std::to_string(n) + " elements");
  op.set_output(0, op.in(0).type, to);
}

void shape_flatten(Op& op) {
  const int64_t axis = op.integer("axis", 1), rank = op.rank();
  op.require(axis >= -rank && axis <= rank, "found axis " + std::to_string(axis));
  Shape to{1, 1};
  for (int64_t d = 0; d < rank; ++d) to[d < (axis < 0 ? axis + rank : axis) ? 0 : 1] *= op.shape()[at(d)];
  op.set_output(0, op.in(0).type, to);
}

void shape_squeeze(Op& op) {
  std::vector<int64_t> axes = op.opset >= 13 ? (op.has(1) ? op.values(1) : Places()) : op.ints("axes");
  std::vector<bool> gone(op.shape().size(), false);
  for (const int64_t a : axes) gone[at(op.axis(a, op.rank()))] = true;
  Shape to;
  for (size_t d = 0; d < gone.size(); ++d) {
    op.require(!gone[d] || op.shape()[d] == 1,
               "found a dimension of " + std::to_string(op.shape()[d]) + ", expected 1");
    if (axes.empty() ? op.shape()[d] != 1 : !gone[d]) to.push_back(op.shape()[d]);
  }
  op.set_output(0, op.in(0).type, to);
}

void shape_unsqueeze(Op& op) {
  const Places axes = op.opset >= 13 ? op.values(1) : op.ints("axes");
  const int64_t rank = op.rank() + static_cast<int64_t>(axes.size());
  op.require(rank <= 64, "found rank " + std::to_string(rank));
  std::vector<bool> is_new(at(rank), false);
  for (const int64_t a : axes) {
    op.require(!is_new[at(op.axis(a, rank))], "found an axis twice");
    is_new[at(op.axis(a, rank))] = true;
  }
  Shape to;
  size_t d = 0;
  for (const bool n : is_new) to.push_back(n ? 1 : op.shape()[d++]);
  op.set_output(0, op.in(0).type, to);
}

const char* const kFree = "nothing moves: the same bytes in another shape";

const RegisterOps registered_shapes{{
    {"Identity", 1, like_first, nullptr, "nothing moves: the same bytes", "1", false, true},
    {"Reshape", 1, shape_reshape, nullptr, kFree, "2>=5 allowzero shape<5", false, true},
    {"Flatten", 1, shape_flatten, nullptr, kFree, "1 axis", false, true},
    {"Squeeze", 1, shape_squeeze, nullptr, kFree, "2>=13 axes<13", false, true},
    {"Unsqueeze", 1, shape_unsqueeze, nullptr, kFree, "2>=13 axes<13", false, true},
}};

// ---- Values that shapes alone give

Places shape_values(const Op& op) {
  const int64_t rank = op.rank();
  const auto clamped = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + rank : i, 0, rank); };
  const int64_t first = clamped(op.integer("start", 0)), last = clamped(op.integer("end", rank));
  return first < last ? Places(op.shape().begin() + first, op.shape().begin() + last) : Places();
}

void shape_shape(Op& op) {
  op.set_output(0, Type::int64, {static_cast<int64_t>(shape_values(op).size())});
}
void run_shape(Pe& pe) {
  put_ints(pe, shape_values(pe.op));
}
void shape_size(Op& op) {
  op.set_output(0, Type::int64, {});
}
void run_size(Pe& pe) {
  put_ints(pe, {pe.op.in(0).elements()});
}

std::shared_ptr<const TensorData> value_of(const Op& op) {
  return op.given("value") ? op.attribute("value", AttributeType::tensor).t : nullptr;
}

void shape_constant_of_shape(Op& op) {
  const auto value = value_of(op);
  if (op.given("value")) op.require(value && value->elements() == 1, "its value is no tensor of one");
  op.set_output(0, value ? value->type : Type::float32, op.values(0));
}
void run_constant_of_shape(Pe& pe) {
  const double value = pe.op.given("value") ? value_of(pe.op)->reals().at(0) : 0;
  pe.for_pieces([&](int64_t first, int64_t count) { pe.put(0, first, pe.tl.full({count}, value, pe.out_type())); });
}

void shape_eye(Op& op) {
  op.require(op.rank() == 2, "found rank " + std::to_string(op.rank()));
  op.require(std::abs(op.integer("k", 0)) <= kMostElements, "found k");
  op.set_output(0, op.given("dtype") ? type_of(op.integer("dtype")) : op.in(0).type, op.shape());
}
void run_eye(Pe& pe) {
  const int64_t columns = pe.op.shape()[1], k = pe.op.integer("k", 0);
  pe.for_pieces([&](int64_t first, int64_t count) {
    Places values;
    for (int64_t i = first; i < first + count; ++i) values.push_back(i % columns == i / columns + k);
    pe.put(0, first, pe.tl.tensor(values, {count}, pe.out_type()));
  });
}

void shape_range(Op& op) {
  op.require_same_types(0, 1);
  op.require_same_types(0, 2);
  op.require_type(0, Takes::numbers);
  const auto one = [&](size_t i) {
    return is_float(op.in(i).dtype()) ? op.real_value(i) : static_cast<double>(op.value(i));
  };
  const double start = one(0), limit = one(1), delta = one(2);
  op.require(delta != 0, "found a step of 0");
  const double count = std::max(0.0, std::ceil((limit - start) / delta));
  op.require(count <= static_cast<double>(kMostElements), "it has too many elements");
  op.set_output(0, op.in(0).type, {static_cast<int64_t>(count)});
}
void run_range(Pe& pe) {
  tl::Context& tl = pe.tl;
  const Tensor start = tl.load(pe.in(0), {1}), delta = tl.load(pe.in(2), {1});
  pe.for_pieces([&](int64_t first, int64_t count) {
    const Tensor step = tl.arange(static_cast<double>(first), static_cast<double>(first + count), 1, pe.out_type());
    pe.put(0, first, start + step * delta);
  });
}

const char* const kMade = "pe_cpu makes the values";
const RegisterOps registered_values{{
    {"Shape", 1, shape_shape, run_shape, kMade, "1 end start", false, true},
    {"Size", 1, shape_size, run_size, kMade, "1", false, true},
    {"ConstantOfShape", 9, shape_constant_of_shape, run_constant_of_shape, "MATH: full", "1 value", false, true},
    {"EyeLike", 9, shape_eye, run_eye, kMade, "1 dtype k"},
    {"Range", 11, shape_range, run_range, "MATH: start + i · step", "3"},
}};

}  // namespace
}  // namespace kernbench::onnx
