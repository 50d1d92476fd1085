#include "kernbench/platform/onnx/op.h"

#include <algorithm>
#include <cstring>

namespace kernbench::onnx {
namespace {

std::vector<OpRow>& table() {
  static std::vector<OpRow> rows;
  return rows;
}

}  // namespace

RegisterOps::RegisterOps(std::vector<OpRow> rows) {
  table().insert(table().end(), rows.begin(), rows.end());
}

const OpRow* find_row(const std::string& domain, const std::string& name, int64_t opset, bool* known) {
  *known = false;
  for (const OpRow& r : table()) {
    if (r.name != name || r.domain != domain) continue;
    *known = true;
    if (!domain.empty() || (opset >= r.since && opset <= r.until)) return &r;
  }
  return nullptr;
}

std::vector<const OpRow*> all_rows() {
  std::vector<const OpRow*> rows;
  for (const OpRow& r : table()) rows.push_back(&r);
  std::sort(rows.begin(), rows.end(), [](const OpRow* a, const OpRow* b) {
    const int order = std::strcmp(a->name, b->name);
    return order != 0 ? order < 0 : a->since < b->since;
  });
  return rows;
}

const Value& Op::in(size_t i) const {
  if (!has(i)) refuse("input " + std::to_string(i) + " is missing");
  return *inputs[i];
}

const Value& Op::out(size_t i) const {
  if (!has_output(i)) refuse("output " + std::to_string(i) + " is left out");
  return *outputs[i];
}

const Attribute& Op::attribute(const std::string& name) const {
  const auto it = node->attributes.find(name);
  if (it == node->attributes.end()) refuse("attribute " + name + " is missing");
  return it->second;
}

int64_t Op::integer(const std::string& name, int64_t fallback) const {
  return given(name) ? attribute(name).i : fallback;
}

float Op::real(const std::string& name, float fallback) const {
  return given(name) ? attribute(name).f : fallback;
}

std::string Op::text(const std::string& name, const std::string& fallback) const {
  return given(name) ? attribute(name).s : fallback;
}

std::vector<int64_t> Op::ints(const std::string& name, std::vector<int64_t> fallback) const {
  return given(name) ? attribute(name).ints : std::move(fallback);
}

int64_t Op::axis(int64_t a, int64_t of_rank) const {
  if (a < -of_rank || a >= of_rank) refuse("found axis " + std::to_string(a) + " of rank " + std::to_string(of_rank));
  return a < 0 ? a + of_rank : a;
}

std::vector<int64_t> Op::values(size_t i) const {
  in(i);
  return evaluate(*inputs[i])->ints();
}

std::vector<double> Op::reals(size_t i) const {
  in(i);
  return evaluate(*inputs[i])->reals();
}

void Op::require_small(const std::vector<Shape>& lists) const {
  constexpr int64_t kMost = int64_t{1} << 24;
  for (const Shape& list : lists) {
    for (const int64_t n : list) require(n >= -kMost && n <= kMost, "found " + std::to_string(n) + ", expected less");
  }
}

void Op::set_output(size_t i, Type type, Shape shape) {
  if (!has_output(i)) return;
  if (!dtype_of(type)) refuse("its type is " + name_of(type) + ", which Phase 2 does not compute with");
  for (const int64_t d : shape) require(d >= 0, "its shape comes to " + to_string(shape));
  elements_of(shape);
  outputs[i]->type = type;
  outputs[i]->shape = std::move(shape);
}

Shape broadcast(const std::vector<Shape>& shapes) {
  Shape all;
  for (const Shape& s : shapes) {
    if (s.size() > all.size()) all.insert(all.begin(), s.size() - all.size(), 1);
    for (size_t i = 0; i < s.size(); ++i) {
      int64_t& d = all[all.size() - s.size() + i];
      if (d != s[i] && d != 1 && s[i] != 1) throw Refusal("found shapes that do not broadcast, " + to_string(s));
      if (d == 1) d = s[i];
    }
  }
  return all;
}

void like_first(Op& op) {
  op.set_output(0, op.in(0).type, op.shape(0));
}

void broadcast_first(Op& op) {
  std::vector<Shape> shapes;
  for (size_t i = 0; i < op.inputs.size(); ++i) shapes.push_back(op.shape(i));
  op.set_output(0, op.in(0).type, broadcast(shapes));
}

}  // namespace kernbench::onnx
