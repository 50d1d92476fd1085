// SPDX-License-Identifier: Apache-2.0
// NonMaxSuppression: among overlapping boxes keeps those with the greatest scores.
#include <algorithm>

#include "kernbench/platform/onnx/pe.h"

namespace kernbench::onnx {
namespace {

struct Box {
  float y0, x0, y1, x1;
  float area() const { return (y1 - y0) * (x1 - x0); }
};

/// A box from two corners, or from its center and size.
Box box_at(const std::vector<double>& boxes, size_t i, bool by_middle) {
  const auto of = [&](size_t d) { return static_cast<float>(boxes[4 * i + d]); };
  if (by_middle) {
    const float x = of(0), y = of(1), dx = of(2) / 2, dy = of(3) / 2;
    return {y - dy, x - dx, y + dy, x + dx};
  }
  return {std::min(of(0), of(2)), std::min(of(1), of(3)), std::max(of(0), of(2)), std::max(of(1), of(3))};
}

/// Whether the intersection over union of two boxes exceeds the threshold.
bool cover(const Box& a, const Box& b, float part) {
  const float height = std::min(a.y1, b.y1) - std::max(a.y0, b.y0), width = std::min(a.x1, b.x1) - std::max(a.x0, b.x0);
  if (height <= 0 || width <= 0 || a.area() <= 0 || b.area() <= 0) return false;
  const float common = height * width;
  return common / (a.area() + b.area() - common) > part;
}

struct Suppression {
  explicit Suppression(const Op& op)
      : boxes(op.shape()[1]),
        classes(op.shape(1)[1]),
        most(op.has(2) ? op.value(2) : 0),
        part(op.has(3) ? static_cast<float>(op.real_value(3)) : 0),
        above(op.has(4)),
        threshold(above ? static_cast<float>(op.real_value(4)) : 0),
        by_middle(op.integer("center_point_box", 0) != 0) {}

  /// All batches and classes: one row of batch, class and box per result.
  std::vector<int64_t> selected(const std::vector<double>& places, const std::vector<double>& scores) const {
    std::vector<int64_t> all;
    const auto lists = static_cast<int64_t>(scores.size()) / std::max<int64_t>(1, boxes);
    for (int64_t list = 0; list < lists && most > 0; ++list) {
      const int64_t batch = list / classes;
      for (const int64_t i : of_list(places, batch * boxes, scores, list * boxes))
        all.insert(all.end(), {batch, list % classes, i});
    }
    return all;
  }

  int64_t boxes, classes, most;
  float part;
  bool above;
  float threshold;
  bool by_middle;

 private:
  /// One batch and class, greatest score first.
  std::vector<int64_t> of_list(const std::vector<double>& places, int64_t first_box, const std::vector<double>& scores,
                               int64_t first_score) const {
    const auto score = [&](int64_t i) { return static_cast<float>(scores[static_cast<size_t>(first_score + i)]); };
    std::vector<int64_t> order;
    for (int64_t i = 0; i < boxes; ++i) {
      if (above ? score(i) > threshold : score(i) == score(i)) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return score(a) > score(b); });
    std::vector<int64_t> kept;
    std::vector<Box> of_kept;
    for (const int64_t i : order) {
      if (static_cast<int64_t>(kept.size()) >= most) break;
      const Box box = box_at(places, static_cast<size_t>(first_box + i), by_middle);
      if (std::any_of(of_kept.begin(), of_kept.end(), [&](const Box& k) { return cover(k, box, part); })) continue;
      kept.push_back(i);
      of_kept.push_back(box);
    }
    return kept;
  }
};

void shape_suppression(Op& op) {
  for (const size_t i : {size_t{0}, size_t{1}})
    op.require(op.in(i).type == Type::float32, "found " + name_of(op.in(i).type));
  const Shape &boxes = op.shape(), &scores = op.shape(1);
  op.require(boxes.size() == 3 && boxes[2] == 4 && scores.size() == 3 && scores[0] == boxes[0] && scores[2] == boxes[1],
             "found boxes " + to_string(boxes) + " and scores " + to_string(scores));
  const Suppression s(op);
  op.require(s.part >= 0 && s.part <= 1, "found an iou_threshold that is not from 0 to 1");
  const auto rows = static_cast<int64_t>(s.selected(op.reals(0), op.reals(1)).size()) / 3;
  op.set_output(0, Type::int64, {rows, 3});
}

void run_suppression(Pe& pe) {
  const std::vector<int64_t> all = Suppression(pe.op).selected(pe.reals(0), pe.reals(1));
  pe.for_pieces([&](int64_t first, int64_t count) {
    pe.put(0, first,
           pe.tl.tensor(std::vector<int64_t>(all.begin() + first, all.begin() + first + count), {count}, DType::i64));
  });
}

const RegisterOps registered_boxes{{
    {"NonMaxSuppression", 10, shape_suppression, run_suppression, "pe_cpu reads boxes and scores and selects",
     "5 center_point_box", true, true},
}};

}  // namespace
}  // namespace kernbench::onnx
