// SPDX-License-Identifier: Apache-2.0
// Gather and scatter ops: their indices are data.
#include <cmath>

#include "kernbench/platform/onnx/places.h"
#include "kernbench/platform/onnx/rows.h"

namespace kernbench::onnx {
namespace {

using tl::Tensor;

// ---- By indices that are data

int64_t wrapped(int64_t i, int64_t n) {
  if (i < -n || i >= n) throw Refusal("found index " + std::to_string(i) + " of " + std::to_string(n));
  return i < 0 ? i + n : i;
}

void shape_gather(Op& op) {
  op.require_type(1, Takes::indices);
  const int64_t axis = op.axis_attribute("axis", 0);
  Shape to(op.shape().begin(), op.shape().begin() + axis);
  to.insert(to.end(), op.shape(1).begin(), op.shape(1).end());
  to.insert(to.end(), op.shape().begin() + axis + 1, op.shape().end());
  op.set_output(0, op.in(0).type, to);
}
void run_gather(Pe& pe) {
  const int64_t axis = pe.op.axis_attribute("axis", 0), n = pe.op.shape()[at(axis)];
  const Places index = pe.ints(1);
  const int64_t inner = AxisRows(pe.op.shape(), axis).inner;
  const int64_t count = static_cast<int64_t>(index.size());
  move(pe, [&](int64_t i) {
    return (i / inner / count * n + wrapped(index[at(i / inner % count)], n)) * inner + i % inner;
  });
}

/// The element that an index selects; other axes keep their position.
void check_beside_axis(const Op& op) {
  const Shape &s = op.shape(), &index = op.shape(1);
  op.require(s.size() == index.size(), "found indices of another rank");
  const auto axis = at(op.axis_attribute("axis", 0));
  for (size_t d = 0; d < s.size(); ++d)
    op.require(d == axis || index[d] <= s[d], "found indices " + to_string(index) + " into " + to_string(s));
}

void shape_gather_elements(Op& op) {
  op.require_type(1, Takes::indices);
  check_beside_axis(op);
  op.set_output(0, op.in(0).type, op.shape(1));
}
void run_gather_elements(Pe& pe) {
  const auto axis = at(pe.op.axis_attribute("axis", 0));
  const Places index = pe.ints(1);
  const Shape strides = row_major_strides(pe.op.shape());
  move(pe, [&](int64_t i) {
    const Shape o = unflattened(i, pe.op.shape(1));
    int64_t place = wrapped(index[at(i)], pe.op.shape()[axis]) * strides[axis];
    for (size_t d = 0; d < o.size(); ++d) place += d == axis ? 0 : o[d] * strides[d];
    return place;
  });
}

/// An index tuple at [begin, begin + n), for dimensions from `first` on.
int64_t place_of_tuple(const Places& index, int64_t begin, int64_t n, const Shape& shape, int64_t first) {
  const Shape strides = row_major_strides(shape);
  int64_t place = 0;
  for (int64_t j = 0; j < n; ++j) place += wrapped(index[at(begin + j)], shape[at(first + j)]) * strides[at(first + j)];
  return place;
}

void shape_gather_nd(Op& op) {
  op.require_type(1, Takes::indices);
  const int64_t batch = op.integer("batch_dims", 0);
  op.require(batch >= 0 && batch < op.rank() && batch < op.rank(1), "found batch_dims");
  op.require(std::equal(op.shape().begin(), op.shape().begin() + batch, op.shape(1).begin()),
             "found batches " + to_string(op.shape()) + " and " + to_string(op.shape(1)));
  const int64_t tuple = op.shape(1).back();
  op.require(tuple >= 1 && batch + tuple <= op.rank(), "found indices of " + std::to_string(tuple));
  Shape to(op.shape(1).begin(), op.shape(1).end() - 1);
  to.insert(to.end(), op.shape().begin() + batch + tuple, op.shape().end());
  op.set_output(0, op.in(0).type, to);
}
void run_gather_nd(Pe& pe) {
  const Shape &s = pe.op.shape(), &is = pe.op.shape(1);
  const int64_t batch = pe.op.integer("batch_dims", 0), tuple = is.back();
  const Places index = pe.ints(1);
  const int64_t inner = elements_of(Shape(s.begin() + batch + tuple, s.end()));
  const int64_t of_batch = elements_of(Shape(s.begin() + batch, s.end()));
  const int64_t tuples = elements_of(Shape(is.begin() + batch, is.end() - 1));
  move(pe, [&](int64_t i) {
    const int64_t t = i / inner;
    return t / tuples * of_batch + place_of_tuple(index, t * tuple, tuple, s, batch) + i % inner;
  });
}

/// Copies input 0 and writes input 2's elements at the given positions. Each PE handles the output elements that it
/// owns. Repeated updates of one position are applied in order.
void scatter(Pe& pe, const Places& into, const std::string& reduction) {
  const Range mine = pe.share();
  struct Update {
    int64_t place, from;
  };
  std::vector<std::vector<Update>> rounds;  // each round updates a position at most once; if only the last update
                                            // counts, earlier ones are dropped
  std::vector<size_t> seen(at(mine.last - mine.first), 0);
  for (size_t u = 0; u < into.size(); ++u) {
    if (into[u] < mine.first || into[u] >= mine.last) continue;
    const size_t round = reduction == "none" ? 0 : seen[at(into[u] - mine.first)]++;
    if (rounds.size() <= round) rounds.resize(round + 1);
    rounds[round].push_back({into[u], static_cast<int64_t>(u)});
  }
  pe.for_pieces([&](int64_t first, int64_t count) {
    Tensor x = pe.tl.load(pe.in(0) + first, {count});
    for (const auto& round : rounds) {
      Places from(at(count), -1), there(at(count), 0);
      bool any = false;
      for (const Update& u : round) {
        if (u.place < first || u.place >= first + count) continue;
        from[at(u.place - first)] = u.from;
        there[at(u.place - first)] = 1;
        any = true;
      }
      if (!any) continue;
      const Tensor update = pe.pick(2, from), mask = pe.tl.tensor(there, {count}, DType::u8);
      const Tensor joined = reduction == "add"   ? x + update
                            : reduction == "mul" ? x * update
                            : reduction == "max" ? pe.tl.maximum(x, update)
                            : reduction == "min" ? pe.tl.minimum(x, update)
                                                 : update;
      x = pe.tl.where(mask, joined, x);
    }
    pe.put(0, first, x);
  });
}

std::string scatter_reduction(const Op& op) {
  return op.word("reduction", {"none", "add", "mul", "max", "min"}, "none");
}

void check_scatter(const Op& op) {
  op.require_type(1, Takes::indices);
  op.require_same_types(0, 2);
  if (scatter_reduction(op) != "none") op.require_type(0, Takes::numbers);
}

void shape_scatter_elements(Op& op) {
  op.require(op.shape(1) == op.shape(2), "found indices of another shape than the updates");
  check_beside_axis(op);
  check_scatter(op);
  like_first(op);
}
void run_scatter_elements(Pe& pe) {
  const auto axis = at(pe.op.axis_attribute("axis", 0));
  const Shape strides = row_major_strides(pe.op.shape());
  Places into = pe.ints(1);
  for (size_t u = 0; u < into.size(); ++u) {
    const Shape index = unflattened(static_cast<int64_t>(u), pe.op.shape(1));
    int64_t place = wrapped(into[u], pe.op.shape()[axis]) * strides[axis];
    for (size_t d = 0; d < index.size(); ++d) place += d == axis ? 0 : index[d] * strides[d];
    into[u] = place;
  }
  scatter(pe, into, scatter_reduction(pe.op));
}

void shape_scatter_nd(Op& op) {
  op.require(op.rank(1) >= 1 && op.shape(1).back() >= 1 && op.shape(1).back() <= op.rank(), "found indices");
  Shape updates(op.shape(1).begin(), op.shape(1).end() - 1);
  updates.insert(updates.end(), op.shape().begin() + op.shape(1).back(), op.shape().end());
  op.require(op.shape(2) == updates, "found updates of shape " + to_string(op.shape(2)));
  check_scatter(op);
  like_first(op);
}
void run_scatter_nd(Pe& pe) {
  const Places index = pe.ints(1);
  const Shape& s = pe.op.shape();
  const int64_t tuple = pe.op.shape(1).back(), inner = elements_of(Shape(s.begin() + tuple, s.end()));
  Places into(at(pe.op.in(2).elements()));
  for (size_t u = 0; u < into.size(); ++u) {
    const auto i = static_cast<int64_t>(u);
    into[u] = place_of_tuple(index, i / inner * tuple, tuple, s, 0) + i % inner;
  }
  scatter(pe, into, scatter_reduction(pe.op));
}

void shape_one_hot(Op& op) {
  op.require_type(0, Takes::numbers);
  op.require(op.in(2).elements() == 2, "found values of shape " + to_string(op.shape(2)) + ", expected [2]");
  const double given = op.real_value(1);
  op.require(given >= 1 && given <= static_cast<double>(kMostElements), "found a depth of " + std::to_string(given));
  const int64_t depth = static_cast<int64_t>(given), axis = op.axis(op.integer("axis", -1), op.rank() + 1);
  Shape to = op.shape();
  to.insert(to.begin() + axis, depth);
  op.set_output(0, op.in(2).type, to);
}
void run_one_hot(Pe& pe) {
  const Shape& to = pe.op.out().shape;
  const int64_t axis = pe.op.axis(pe.op.integer("axis", -1), pe.op.rank() + 1), depth = to[at(axis)];
  const int64_t inner = AxisRows(to, axis).inner;
  const std::vector<double> at_index = pe.reals(0);
  pe.for_pieces([&](int64_t first, int64_t count) {
    Places which;  // which of the two values: off, on
    for (int64_t i = first; i < first + count; ++i) {
      const double index = std::trunc(at_index[at(i / inner / depth * inner + i % inner)]);
      const auto column = static_cast<double>(i / inner % depth);
      which.push_back(index == column || index + static_cast<double>(depth) == column);
    }
    pe.put(0, first, pe.pick(2, which));
  });
}

Places kept_places(const Places& condition) {
  Places kept;
  for (size_t i = 0; i < condition.size(); ++i) {
    if (condition[i] != 0) kept.push_back(static_cast<int64_t>(i));
  }
  return kept;
}

void shape_compress(Op& op) {
  op.require_type(1, Takes::booleans);
  const int64_t kept = static_cast<int64_t>(kept_places(op.values(1)).size());
  Shape to{kept};
  int64_t most = op.in(0).elements();
  if (op.given("axis")) {
    to = op.shape();
    const size_t axis = at(op.axis_attribute("axis", 0));
    most = to[axis];
    to[axis] = kept;
  }
  op.require(op.rank(1) == 1 && op.shape(1)[0] <= most, "found a condition of shape " + to_string(op.shape(1)));
  op.set_output(0, op.in(0).type, to);
}
void run_compress(Pe& pe) {
  const Places kept = kept_places(pe.ints(1));
  const Shape& s = pe.op.shape();
  if (!pe.op.given("axis")) return move(pe, [&](int64_t i) { return kept[at(i)]; });
  const int64_t axis = pe.op.axis_attribute("axis", 0), n = s[at(axis)], count = static_cast<int64_t>(kept.size());
  const int64_t inner = AxisRows(s, axis).inner;
  move(pe, [&](int64_t i) { return (i / inner / count * n + kept[at(i / inner % count)]) * inner + i % inner; });
}

Places nonzero_places(const Shape& s, const std::vector<double>& values) {
  Places at_values;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] != 0) at_values.push_back(static_cast<int64_t>(i));
  }
  Places all;
  const Shape strides = row_major_strides(s);
  for (size_t d = 0; d < s.size(); ++d) {
    for (const int64_t i : at_values) all.push_back(i / strides[d] % s[d]);
  }
  return all;
}
void shape_nonzero(Op& op) {
  const std::vector<double> values = op.reals(0);
  const auto count = std::count_if(values.begin(), values.end(), [](double v) { return v != 0; });
  op.set_output(0, Type::int64, {op.rank(), static_cast<int64_t>(count)});
}
void run_nonzero(Pe& pe) {
  put_ints(pe, nonzero_places(pe.op.shape(), pe.reals(0)));
}

const char* const kByIndex = "pe_cpu reads the indices; DMA gathers";
const RegisterOps registered_by_index{{
    {"Gather", 1, shape_gather, run_gather, kByIndex, "2 axis", true},
    {"GatherElements", 11, shape_gather_elements, run_gather_elements, kByIndex, "2 axis", true},
    {"GatherND", 11, shape_gather_nd, run_gather_nd, kByIndex, "2 batch_dims", true},
    {"ScatterElements", 11, shape_scatter_elements, run_scatter_elements, kByIndex, "3 axis reduction", true},
    {"Scatter", 9, shape_scatter_elements, run_scatter_elements, kByIndex, "3 axis", true},
    {"ScatterND", 11, shape_scatter_nd, run_scatter_nd, kByIndex, "3 reduction", true},
    {"OneHot", 9, shape_one_hot, run_one_hot, kByIndex, "3 axis", true},
    {"Compress", 9, shape_compress, run_compress, kByIndex, "2 axis", true},
    {"NonZero", 9, shape_nonzero, run_nonzero, "pe_cpu reads the values and counts", "1", true},
}};

}  // namespace
}  // namespace kernbench::onnx
