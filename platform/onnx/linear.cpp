// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/onnx/linear.h"

#include <algorithm>
#include <map>

namespace kernbench::onnx {
namespace {

constexpr int64_t kLeastWeights = 1 << 14;  // elements; smaller matrices take as long with tiles
constexpr int64_t kRowsOfCube = 32;         // decode_linear is faster up to this many rows per cube
constexpr int64_t kLeastCubes = 4;          // with fewer cubes, tiles of many rows take as long as gemm_2d

using Readers = std::map<const Value*, int64_t>;

/// Counts how often launches read each value.
Readers readers_of(const std::vector<Launch>& launches) {
  Readers readers;
  for (const Launch& l : launches) {
    for (const Launch::Operand& in : l.inputs()) ++readers[&stored(*in.value)];
  }
  return readers;
}

bool is_one(const Op& op, const char* attribute) {
  return op.real(attribute, 1) == 1;
}

class Absorbing {
 public:
  Absorbing(Linear* linear, const std::function<bool(const Value&)>& given, const Readers& readers)
      : l_(*linear), given_(given), readers_(readers) {}

  /// Takes Gemm's input C as the bias.
  bool take_c(const Op& op) { return !op.has(2) || add(op.in(2), broadcast_of(op, 2)); }
  /// Takes an op if the kernel can compute it after its product.
  bool take(const Op& op) {
    const std::string& name = op.row->name;
    if (name == "Relu") return take_activation("relu", op);
    if (name != "Add") return false;
    for (size_t i = 0; i < 2; ++i) {
      if (&stored(op.in(i)) != l_.y) continue;
      if (&stored(op.in(1 - i)) == l_.y || !add(op.in(1 - i), broadcast_of(op, 1 - i))) return false;
      l_.y = &op.out();
      return true;
    }
    return false;
  }
  /// Takes x · sigmoid(x), which is two ops.
  bool take(const Op& sigmoid, const Op& product) {
    if (std::string(sigmoid.row->name) != "Sigmoid" || std::string(product.row->name) != "Mul") return false;
    const Value *a = &stored(product.in(0)), *b = &stored(product.in(1)), *s = &sigmoid.out();
    if (&stored(sigmoid.in(0)) != l_.y || !((a == l_.y && b == s) || (a == s && b == l_.y))) return false;
    return take_activation("silu", product);
  }

 private:
  /// How an input repeats in a row of the output: 1 per column, 0 per element, −1 otherwise.
  int64_t broadcast_of(const Op& op, size_t i) const {
    const Value& v = op.in(i);
    if (v.elements() == l_.m * l_.n && op.out().elements() == l_.m * l_.n) return l_.m == 1 && given_(v) ? 1 : 0;
    const bool columns = v.elements() == l_.n && !v.shape.empty() && v.shape.back() == l_.n;
    return columns && op.out().shape.back() == l_.n ? 1 : -1;
  }
  bool add(const Value& v, int64_t how) {
    if (v.type != l_.x->type || l_.residual || how < 0) return false;
    if (how == 0) {
      if (!l_.few_rows) return false;
      l_.residual = &v;
      return true;
    }
    // After an activation only a residual can be added. The residual lies with its columns' cubes from the start.
    if (!l_.few_rows || l_.bias || l_.activation != "none" || !given_(v) || readers_.at(&stored(v)) > 1) return false;
    l_.bias = &v;
    return true;
  }
  bool take_activation(const char* name, const Op& op) {
    if (l_.activation != "none" || l_.residual) return false;
    l_.activation = name;
    l_.y = &op.out();
    return true;
  }

  Linear& l_;
  const std::function<bool(const Value&)>& given_;
  const Readers& readers_;
};

/// Whether followers after this point read a value from before it, other than the group's result.
bool read_behind(const Launch& l, size_t taken, const Value* given) {
  std::vector<const Value*> made{l.op->outputs[0]};
  for (size_t f = 0; f < taken; ++f) made.push_back(l.followers[f]->outputs[0]);
  for (size_t f = taken; f < l.followers.size(); ++f) {
    for (const Value* v : l.followers[f]->inputs) {
      if (v && &stored(*v) != given && std::count(made.begin(), made.end(), &stored(*v)) > 0) return true;
    }
  }
  return false;
}

/// Followers that the kernel computes; their result is then the product's.
size_t absorbed(const Launch& launch, Linear* linear, const std::function<bool(const Value&)>& given,
                const Readers& readers) {
  size_t taken = 0;
  Linear best = *linear;
  for (size_t f = 0; f < launch.followers.size();) {
    Absorbing next(linear, given, readers);
    if (next.take(*launch.followers[f]))
      f += 1;
    else if (f + 1 < launch.followers.size() && next.take(*launch.followers[f], *launch.followers[f + 1]))
      f += 2;
    else
      break;
    if (read_behind(launch, f, linear->y)) continue;
    taken = f;
    best = *linear;
  }
  *linear = best;
  return taken;
}

}  // namespace

Linear product_of(const Op& op) {
  Linear l;
  const std::string& name = op.row->name;
  const bool gemm = name == "Gemm";
  if (!gemm && name != "MatMul") return l;
  const Type type = op.in(0).type;
  if (type != Type::float32 && type != Type::float16 && type != Type::bfloat16) return l;
  if (op.rank(1) != 2 || op.out().elements() == 0 || op.in(0).elements() == 0) return l;
  if (gemm && (op.integer("transA", 0) != 0 || !is_one(op, "alpha") || (op.has(2) && !is_one(op, "beta")))) return l;
  l.transposed = gemm && op.integer("transB", 0) != 0;
  l.x = &op.in(0);
  l.w = &op.in(1);
  l.k = op.shape(1)[l.transposed];
  l.n = op.shape(1)[!l.transposed];
  l.m = op.out().elements() / l.n;
  l.y = &op.out();
  return l;
}

bool Linear::norm_of_layer() const {
  return norm && std::string(norm->row->name) == "LayerNormalization";
}

std::vector<Launch::Operand> Linear::inputs() const {
  std::vector<Launch::Operand> all;
  const std::pair<const char*, const Value*> operands[] = {{"x", x},
                                                           {"w", w},
                                                           {"bias", bias},
                                                           {"residual", residual},
                                                           {"up", up},
                                                           {"up_bias", up_bias},
                                                           {"norm", norm_weights()},
                                                           {"norm_bias", norm_bias()}};
  for (const auto& [name, v] : operands) {
    if (v) all.push_back({name, v});
  }
  return all;
}

namespace {

/// Replaces launches by products where possible.
std::vector<Launch> split(const std::vector<Launch>& launches, const LinearRequest& r) {
  std::vector<Launch> all;
  const Readers readers = readers_of(launches);
  const bool many_cubes = r.machine.cubes >= kLeastCubes;
  for (const Launch& launch : launches) {
    Linear l = product_of(*launch.op);
    const bool fits = l.y && r.machine.cubes > 0 && l.k * l.n >= kLeastWeights && r.given(*l.w) &&
                      readers.at(&stored(*l.w)) == 1 && &stored(*l.w) != &stored(*l.x);
    l.few_rows = l.m <= kRowsOfCube * r.machine.cubes || (many_cubes && launch.op->has(2));  // gemm_2d has no bias
    if (!fits || (!l.few_rows && !many_cubes) || !Absorbing(&l, r.given, readers).take_c(*launch.op)) {
      all.push_back(launch);
      continue;
    }
    const size_t taken = absorbed(launch, &l, r.given, readers);
    const auto end = launch.followers.begin() + static_cast<std::ptrdiff_t>(taken);
    all.push_back({launch.op, {launch.followers.begin(), end}, std::make_shared<const Linear>(l)});
    if (end != launch.followers.end()) all.push_back({*end, {end + 1, launch.followers.end()}, nullptr});
  }
  return all;
}

/// Finds norms whose readers use the rows as matrices [., k], with weights that only these readers have.
bool is_norm_of_rows(const Launch& l, const LinearRequest& r, const Readers& readers) {
  const Op& op = *l.op;
  const std::string& name = op.row->name;
  if (l.linear || !l.followers.empty() || (name != "RMSNormalization" && name != "LayerNormalization")) return false;
  if (op.has_output(1) || op.has_output(2) || r.kept.count(op.outputs[0]) > 0 ||
      op.axis_attribute("axis", -1) != op.rank() - 1)
    return false;
  for (size_t i = 1; i < 3; ++i) {
    if (!op.has(i)) continue;
    const Value& v = op.in(i);
    if (v.elements() != op.shape().back() || v.type != op.in(0).type || !r.given(v) || readers.at(&stored(v)) != 1)
      return false;
  }
  return op.has(1) && (!op.has(2) || &stored(op.in(1)) != &stored(op.in(2)));
}

/// Moves norms into the products that read them.
void take_norms(std::vector<Launch>* all, const LinearRequest& r, std::vector<const Op*>* normed) {
  const Readers readers = readers_of(*all);
  for (auto norm = all->begin(); norm != all->end();) {
    std::vector<Launch*> products;
    for (Launch& l : *all) {
      if (l.linear && l.linear->few_rows && !l.linear->norm && &stored(*l.linear->x) == norm->op->outputs[0] &&
          l.linear->k == norm->op->shape().back())
        products.push_back(&l);
    }
    if (products.empty() || !is_norm_of_rows(*norm, r, readers) ||
        static_cast<int64_t>(products.size()) != readers.at(norm->op->outputs[0])) {
      ++norm;
      continue;
    }
    for (Launch* l : products) {
      Linear with = *l->linear;
      with.norm = norm->op;
      with.x = &norm->op->in(0);
      l->linear = std::make_shared<const Linear>(with);
    }
    normed->push_back(norm->op);
    norm = all->erase(norm);
  }
}

/// Merges two products of the same rows into one launch, at the position of the later one, if only their product is
/// read.
void take_gates(std::vector<Launch>* all, const LinearRequest& r) {
  const Readers readers = readers_of(*all);
  const auto maker = [&](const Value& v) {
    const bool alone = readers.at(&v) == 1 && r.kept.count(&v) == 0;
    return std::find_if(all->begin(), all->end(), [&](const Launch& l) {
      return alone && l.linear && l.linear->few_rows && l.linear->y == &v && !l.linear->residual && !l.linear->up;
    });
  };
  for (size_t i = 0; i < all->size(); ++i) {
    const Launch product = (*all)[i];
    if (product.linear || std::string(product.op->row->name) != "Mul" || !product.followers.empty()) continue;
    auto gate = maker(stored(product.op->in(0))), up = maker(stored(product.op->in(1)));
    if (gate == all->end() || up == all->end() || gate == up) continue;
    if (up->linear->activation != "none") std::swap(gate, up);
    const Linear &g = *gate->linear, &u = *up->linear;
    if (u.activation != "none" || &stored(*g.x) != &stored(*u.x) || g.norm != u.norm || g.m != u.m || g.n != u.n ||
        product.op->out().elements() != g.m * g.n)
      continue;
    Linear both = g;
    both.up = u.w;
    both.up_bias = u.bias;
    both.up_transposed = u.transposed;
    both.y = &product.op->out();
    Launch l{gate->op, gate->followers, std::make_shared<const Linear>(both)};
    l.followers.push_back(up->op);
    l.followers.insert(l.followers.end(), up->followers.begin(), up->followers.end());
    l.followers.push_back(product.op);
    (*all)[i] = std::move(l);
    all->erase(std::max(gate, up));
    all->erase(std::min(gate, up));
    i -= 2;
  }
}

}  // namespace

std::vector<Launch> with_linears(const std::vector<Launch>& launches, const LinearRequest& r,
                                 std::vector<const Op*>* normed) {
  std::vector<Launch> all = split(launches, r);
  take_norms(&all, r, normed);
  take_gates(&all, r);
  return all;
}

}  // namespace kernbench::onnx
