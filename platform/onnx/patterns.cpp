// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/onnx/patterns.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "kernbench/platform/onnx/pe.h"

namespace kernbench::onnx {
namespace {

using Ops = std::vector<const Op*>;

bool is(const Op* op, const char* name) {
  return op && op->node->domain.empty() && op->node->op == name;
}

/// The value of a one-element constant.
std::optional<double> number_of(const Value& v) {
  if (!v.constant || v.elements() != 1 || !takes(Takes::floats, v.type)) return {};
  return v.constant->reals().front();
}

bool is_transposition(const Op* op, const Shape& perm) {
  return is(op, "Transpose") && op->ints("perm") == perm;
}

const Shape kHeadsForward = {0, 2, 1, 3};  // [batch, rows, heads, columns] to [batch, heads, rows, columns], and back

class Finder {
 public:
  explicit Finder(Patterns* p) : p_(*p) {
    for (const Op& op : *p_.ops) {
      const bool constant =
          std::all_of(op.outputs.begin(), op.outputs.end(), [](auto* v) { return !v || v->constant; });
      for (const Value* v : op.inputs) {
        if (v && !constant && !op.moves_nothing()) readers_[&stored(*v)].insert(&op);
      }
    }
  }

  void find() {
    for (const Op& op : *p_.ops) {
      if (op.outputs.empty() || op.outputs[0] == nullptr || op.outputs[0]->constant || op.out().elements() == 0)
        continue;
      group_.clear();
      if (is(&op, "MatMul")) find_attention(op);
      if (is(&op, "Mul")) find_norm(op);
      if (is(&op, "Add")) find_rotation(op);
    }
  }

 private:
  /// The op that makes a value in exactly this shape.
  const Op* maker(const Value& v) const {
    const auto it = p_.made_by->find(&stored(v));
    return it == p_.made_by->end() || v.constant || stored(v).shape != v.shape ? nullptr : it->second;
  }
  const Op* maker_of_input(const Op& op, size_t i) const { return op.has(i) ? maker(op.in(i)) : nullptr; }

  /// The only reader of a value that need not be stored; null if there is none.
  const Op* only_reader(const Value& v) const {
    const auto it = readers_.find(&stored(v));
    return it == readers_.end() || it->second.size() != 1 || p_.kept->count(&v) > 0 ? nullptr : *it->second.begin();
  }
  bool read_once(const Op& op) const { return only_reader(op.out()) != nullptr; }

  /// The op that makes an input, seen through casts between floats.
  const Op* through_casts(const Op& op, size_t i) {
    const Op* made = maker_of_input(op, i);
    while (is(made, "Cast") && takes(Takes::floats, made->in(0).type) && takes(Takes::floats, made->out().type) &&
           read_once(*made)) {
      group_.push_back(made);
      made = maker_of_input(*made, 0);
    }
    return made;
  }

  Value* another_shape(const Value& v, Shape shape) {
    p_.values->emplace_back();
    Value& to = p_.values->back();
    to.name = v.name;
    to.type = v.type;
    to.shape = std::move(shape);
    to.constant = v.constant;
    to.bytes_of = &stored(v);
    return &to;
  }

  static Attribute integer(int64_t i) {
    Attribute a;
    a.type = AttributeType::integer;
    a.i = i;
    return a;
  }
  static Attribute real(double f) {
    Attribute a;
    a.type = AttributeType::real;
    a.f = static_cast<float>(f);
    return a;
  }

  /// Whether a value is made inside the group.
  bool is_made_in_group(const Value* v) const {
    const auto made = v ? p_.made_by->find(&stored(*v)) : p_.made_by->end();
    return made != p_.made_by->end() && std::find(group_.begin(), group_.end(), made->second) != group_.end();
  }

  /// Puts an op in the place of `last`, with its name and outputs, and removes group members that no other op needs.
  /// Does nothing if an input of the new op is made in the group, because that member must run.
  void replace(const Op& last, const char* name, const OpRow* row, std::vector<const Value*> inputs,
               std::map<std::string, Attribute> attributes, const char* what) {
    if (std::any_of(inputs.begin(), inputs.end(), [this](const Value* v) { return is_made_in_group(v); })) return;
    p_.nodes->emplace_back();
    Node& n = p_.nodes->back();
    n.name = last.node->name;
    n.op = name;
    n.attributes = std::move(attributes);
    p_.made.emplace_back();
    Op& op = p_.made.back();
    op.node = &n;
    op.row = row;
    op.opset = kNewest;
    op.stands_for = &last;
    for (const Value* v : inputs) op.inputs.push_back(const_cast<Value*>(v));
    op.outputs = last.outputs;
    p_.instead[&last] = &op;
    // Backward, so that readers are known before the values they read.
    std::set<const Op*> gone{&last};
    const Ops group(group_.begin(), group_.end());
    for (auto o = p_.ops->rbegin(); o != p_.ops->rend(); ++o) {
      if (std::find(group.begin(), group.end(), &*o) == group.end()) continue;
      if (!is_read_by(o->out(), gone) || p_.part_of.count(&*o) > 0) continue;
      gone.insert(&*o);
      p_.part_of[&*o] = std::string("part of '") + last.node->name + "': " + what;
    }
  }

  /// Whether only these ops read it.
  bool is_read_by(const Value& v, const std::set<const Op*>& readers) const {
    if (p_.kept->count(&v) > 0) return false;
    const auto it = readers_.find(&v);
    return it == readers_.end() || std::includes(readers.begin(), readers.end(), it->second.begin(), it->second.end());
  }

  // ---- softmax(q kᵀ · scale + mask) v

  /// Queries, keys or values [batch, heads, rows, columns] before a transposition and a repetition.
  const Value* heads_of(const Value& v, int64_t* heads) {
    const Value* x = &v;
    if (const Op* e = p_.made_by->count(&stored(v)) > 0 ? p_.made_by->at(&stored(v)) : nullptr;
        v.bytes_of && is(e, "Expand")) {
      const Shape from = e->shape(), to = e->out().shape, &s = v.shape;  // [batch, heads, 1, rows, columns]
      if (from.size() == 5 && to.size() == 5 && from[2] == 1 && s == Shape{to[0], to[1] * to[2], to[3], to[4]} &&
          from == Shape{to[0], to[1], 1, to[3], to[4]}) {
        group_.push_back(e);
        x = &e->in(0);
        const Value& source = stored(*x);
        const Shape four{from[0], from[1], from[3], from[4]};
        x = source.shape == four ? &source : another_shape(source, four);
      }
    }
    *heads = x->shape[1];
    if (const Op* t = maker(*x); is_transposition(t, kHeadsForward)) {
      group_.push_back(t);
      return by_rows(t->in(0));
    }
    return x;
  }
  /// Views [batch, rows, heads, columns] as [batch, rows, heads · columns].
  const Value* by_rows(const Value& v) { return another_shape(v, {v.shape[0], v.shape[1], v.shape[2] * v.shape[3]}); }

  /// The mask: added to scores, or selecting them; `added`: a second addend after it.
  struct Masked {
    const Value *mask = nullptr, *added = nullptr;
    std::map<std::string, Attribute> attributes;
  };

  void find_attention(const Op& last) {
    Masked m;
    const Op* softmax = softmax_of(last, &m);
    if (!is(softmax, "Softmax") || (softmax->rank() != 4 && softmax->rank() != 3) || last.rank(1) != softmax->rank())
      return;
    if (softmax->axis_attribute("axis", softmax->opset >= 13 ? -1 : 1) != softmax->rank() - 1) return;
    group_.push_back(softmax);
    const Op* at = through_casts(*softmax, 0);
    if (is(at, "Add") && read_once(*at)) {
      const size_t scores = at->shape(0) == at->out().shape && maker_of_input(*at, 0) ? 0 : 1;
      m.mask = &at->in(1 - scores);
      group_.push_back(at);
      at = through_casts(*at, scores);
    }
    if (is(at, "Where") && read_once(*at)) {
      std::swap(m.mask, m.added);
      at = scores_of_choice(*at, &m);
    }
    double scale = 1;
    if ((is(at, "Mul") || is(at, "Div")) && read_once(*at)) {
      const size_t scores = scaled_input(*at, &scale);
      if (scale == 0) return;
      group_.push_back(at);
      at = through_casts(*at, scores);
    }
    if (!is(at, "MatMul") || !read_once(*at) || at->rank(0) != softmax->rank() || at->rank(1) != softmax->rank() ||
        at->out().shape != softmax->shape())
      return;
    group_.push_back(at);
    replace_attention(last, *at, std::move(m), scale);
  }

  /// The softmax whose weights `last` uses. Queries that see no key may get 0 instead of NaN.
  const Op* softmax_of(const Op& last, Masked* m) {
    const Op* made = through_casts(last, 0);
    if (!is(made, "Where")) return made && read_once(*made) ? made : nullptr;
    const Op *none = maker_of_input(*made, 0), *softmax = maker_of_input(*made, 2);
    if (!read_once(*made) || !is(none, "IsNaN") || !read_once(*none) || number_of(made->in(1)) != 0.0 || !softmax ||
        maker_of_input(*none, 0) != softmax || made->in(2).shape != made->out().shape ||
        !is_read_by(softmax->out(), {made, none}))
      return nullptr;
    group_.insert(group_.end(), {made, none});
    m->attributes["nothing_is_zero"] = integer(1);
    return softmax;
  }

  /// The factor by which a product or quotient scales its input, and that input's index; 0: none.
  static size_t scaled_input(const Op& op, double* scale) {
    const bool first = is(&op, "Mul") && number_of(op.in(0)).has_value();
    const double by = number_of(op.in(first ? 0 : 1)).value_or(0);
    *scale *= by == 0 ? 0 : is(&op, "Mul") ? by : 1 / by;
    return first ? 1 : 0;
  }

  /// The scores that a Where keeps; hidden scores get a constant.
  const Op* scores_of_choice(const Op& choice, Masked* m) {
    const bool hides = number_of(choice.in(1)).has_value();  // the mask hides where the condition holds
    const auto number = number_of(choice.in(hides ? 1 : 2));
    const size_t scores = hides ? 2 : 1;
    if (!number || choice.in(scores).shape != choice.out().shape) return nullptr;
    m->mask = &choice.in(0);
    m->attributes["hidden_score"] = real(*number);
    m->attributes["mask_hides"] = integer(hides ? 1 : 0);
    group_.push_back(&choice);
    return through_casts(choice, scores);
  }

  /// Whether a mask is plainly causal, which the kernel can apply itself.
  static bool is_causal(const Masked& m, const Shape& scores) {
    constexpr double kHidden = -1e9;
    const Shape& s = m.mask->shape;
    const int64_t n = scores.back();
    if (!m.mask->constant || s.size() < 2 || m.mask->elements() != n * n || s.back() != n || s[s.size() - 2] != n ||
        scores[scores.size() - 2] != n)
      return false;
    const bool words = m.mask->type == Type::boolean;
    const auto hidden = m.attributes.find("hidden_score"), hides = m.attributes.find("mask_hides");
    if (words && (hidden == m.attributes.end() || hidden->second.f > kHidden)) return false;
    const std::vector<double> all = m.mask->constant->reals();
    for (int64_t i = 0; i < n * n; ++i) {
      const bool behind = i % n > i / n;
      const double x = all[static_cast<size_t>(i)];
      if (words ? (x != 0) != (behind == (hides->second.i != 0)) : behind ? !(x <= kHidden) : x != 0) return false;
    }
    return true;
  }

  /// The value that this one is a multiple of, if it has no other reader.
  const Value* unscaled(const Value& v, double* scale) {
    const Op* by = maker(v);
    if ((!is(by, "Mul") && !is(by, "Div")) || !read_once(*by)) return &v;
    double own = 1;
    const Value& x = by->in(scaled_input(*by, &own));
    if (own == 0 || x.shape != v.shape) return &v;
    *scale *= own;
    group_.push_back(by);
    return &x;
  }

  /// Views three dimensions as four, with one head per batch.
  const Value* of_four(const Value& v) {
    return v.shape.size() != 3 ? &v : another_shape(v, {v.shape[0], 1, v.shape[1], v.shape[2]});
  }

  void replace_attention(const Op& last, const Op& scores, Masked m, double scale) {
    const bool flat = scores.rank() == 3;  // batches and heads are one dimension
    const Value* right = unscaled(scores.in(1), &scale);
    const Op* turned = maker(*right);
    int64_t heads = 0, kv_heads = 0, v_heads = 0;
    const Value *q = heads_of(*of_four(*unscaled(scores.in(0), &scale)), &heads),
                *v = heads_of(*of_four(last.in(1)), &v_heads);
    const Value* k = nullptr;
    if (is_transposition(turned, flat ? Shape{0, 2, 1} : Shape{0, 1, 3, 2})) {
      k = heads_of(*of_four(*unscaled(turned->in(0), &scale)), &kv_heads);
    } else if (is_transposition(turned, {0, 2, 3, 1})) {
      k = by_rows(turned->in(0));
      kv_heads = turned->shape()[2];
    } else {
      return;
    }
    group_.push_back(turned);
    const int64_t batch = scores.out().shape[0], dim = scores.shape(0).back(), width = last.out().shape.back();
    const auto is_of = [&](const Value& x) { return x.type == q->type && x.shape[0] == batch; };
    if (kv_heads != v_heads || kv_heads == 0 || heads % kv_heads != 0 || heads != (flat ? 1 : scores.out().shape[1]) ||
        !is_of(*k) || !is_of(*v) || !is_of(*q) || last.out().type != q->type || std::max(dim, width) > kPiece ||
        scale == 0)
      return;
    std::map<std::string, Attribute> attributes = std::move(m.attributes);
    if (m.mask && !m.added && is_causal({m.mask, nullptr, attributes}, scores.out().shape)) {
      m.mask = nullptr;
      attributes["is_causal"] = integer(1);
    }
    for (const Value** mask : {&m.mask, &m.added}) {
      if (*mask && flat) *mask = of_four(**mask);
    }
    attributes["q_num_heads"] = integer(heads);
    attributes["kv_num_heads"] = integer(kv_heads);
    attributes["scale"] = real(scale);
    // Follows the transposition back to [batch, rows, heads, columns].
    const Op* end = &last;
    if (const Op* back = only_reader(last.out());
        is_transposition(back, kHeadsForward) && back->shape() == last.out().shape) {
      group_.push_back(&last);
      end = back;
      attributes["output_by_rows"] = integer(1);
    }
    bool known = false;
    replace(*end, "Attention", find_row("", "Attention", kNewest, &known), {q, k, v, m.mask, nullptr, nullptr, m.added},
            std::move(attributes), "attention, with scores processed block by block");
  }

  // ---- x / √(mean of squares + ε) · weight, and the same of x less its mean, with a shift

  /// Whether op is a mean over the last axis (kept) of rows of `length`.
  static bool is_mean_of_rows(const Op* op, int64_t length) {
    if (!is(op, "ReduceMean") || op->rank() == 0 || op->integer("keepdims", 1) == 0) return false;
    const std::vector<int64_t> axes = op->values_or_ints(1, "axes");
    return axes.size() == 1 && op->axis(axes[0], op->rank()) == op->rank() - 1 && op->shape().back() == length;
  }

  static bool same(const Value& a, const Value& b) { return &stored(a) == &stored(b) && a.shape == b.shape; }

  /// The value of which `op` is the square.
  static const Value* squared(const Op* op) {
    if (is(op, "Mul") && same(op->in(0), op->in(1))) return &op->in(0);
    return is(op, "Pow") && number_of(op->in(1)) == 2.0 ? &op->in(0) : nullptr;
  }

  /// If it is √(mean of squares of a's rows + ε), returns ε.
  std::optional<double> is_deviation(const Op* root, const Value& a) {
    if (!is(root, "Sqrt")) return {};
    const Op* sum = maker_of_input(*root, 0);
    if (!is(sum, "Add")) return {};
    const size_t at = number_of(sum->in(0)) ? 1 : 0;
    const auto epsilon = number_of(sum->in(1 - at));
    const Op* mean = maker_of_input(*sum, at);
    if (!epsilon || !is_mean_of_rows(mean, a.shape.back())) return {};
    const Op* square = maker_of_input(*mean, 0);
    if (const Value* of = squared(square); !of || !same(*of, a)) return {};
    group_.insert(group_.end(), {root, sum, mean, square});
    return epsilon;
  }

  /// The value that `op` norms by dividing it by its deviation, in any written form; null: none.
  const Value* normed_by(const Op& op, double* epsilon) {
    for (const size_t at : {size_t{0}, size_t{1}}) {
      if (!op.has(1) || op.in(at).shape.empty() || op.in(at).shape != op.out().shape) continue;
      const Op* by = maker_of_input(op, 1 - at);
      if (is(&op, "Mul") && by) {
        const bool one_over = is(by, "Div") && number_of(by->in(0)) == 1.0;
        if (!one_over && !is(by, "Reciprocal")) continue;
        group_.push_back(by);
        by = maker_of_input(*by, one_over ? 1 : 0);
      } else if (!is(&op, "Div") || at != 0) {
        continue;
      }
      if (const auto e = is_deviation(by, op.in(at))) {
        *epsilon = *e;
        return &op.in(at);
      }
    }
    return nullptr;
  }

  /// `last` is the multiplication by the weight.
  void find_norm(const Op& last) {
    for (const size_t at : {size_t{0}, size_t{1}}) {
      group_.clear();
      const Op* norm = maker_of_input(last, at);  // rounded to its own type before it is scaled
      double epsilon = 0;
      if (!norm || norm->out().shape != last.out().shape || last.rank(at) == 0) continue;
      const Shape row{last.shape(at).back()};
      if (last.shape(1 - at) != row || row[0] > kRow || !takes(Takes::floats, last.out().type)) continue;
      const Value* a = normed_by(*norm, &epsilon);
      if (!a || !read_once(*norm)) continue;
      group_.push_back(norm);
      replace_norm(last, *a, last.in(1 - at), epsilon);
      return;
    }
  }

  void replace_norm(const Op& last, const Value& a, const Value& weight, double epsilon) {
    std::map<std::string, Attribute> attributes{{"epsilon", real(epsilon)}, {"axis", integer(-1)}};
    bool known = false;
    const Op* off = maker(a);
    const Op* mean = is(off, "Sub") ? maker_of_input(*off, 1) : nullptr;
    if (!is_mean_of_rows(mean, a.shape.back()) || !same(mean->in(0), off->in(0)) || off->shape() != a.shape) {
      replace(last, "RMSNormalization", find_row("", "RMSNormalization", kNewest, &known), {&a, &weight},
              std::move(attributes), "a norm by the root of the mean square");
      return;
    }
    group_.insert(group_.end(), {off, mean});
    const Op* end = &last;
    std::vector<const Value*> inputs{&off->in(0), &weight};
    if (const Op* shift = only_reader(last.out()); is(shift, "Add")) {
      const size_t at = same(shift->in(0), last.out()) ? 1 : 0;
      if (shift->shape(at) == weight.shape) {
        group_.push_back(&last);
        end = shift;
        inputs.push_back(&shift->in(at));
      }
    }
    replace(*end, "LayerNormalization", find_row("", "LayerNormalization", kNewest, &known), inputs,
            std::move(attributes), "a layer norm");
  }

  // ---- x · cos + concat(−second half, first half) · sin

  /// Which half of x's last axis a slice selects: 0 or 1.
  static std::optional<int> half_of(const Op* slice, const Value& x) {
    if (!is(slice, "Slice") || !same(slice->in(0), x) || x.shape.back() % 2 != 0 || slice->opset < 10) return {};
    Shape half = x.shape;
    half.back() /= 2;
    if (slice->out().shape != half || (slice->has(4) && slice->values(4) != Shape{1})) return {};
    const std::vector<int64_t> from = slice->values(1), axes = slice->has(3) ? slice->values(3) : Shape{};
    if (from.size() != 1 || axes.size() != 1 || slice->axis(axes[0], slice->rank()) != slice->rank() - 1) return {};
    if (from[0] == 0 || from[0] == -x.shape.back()) return 0;
    return from[0] == half.back() || from[0] == -half.back() ? std::optional<int>(1) : std::nullopt;
  }

  /// Whether op concatenates −(second half of x) and its first half.
  bool is_turned(const Op* op, const Value& x) {
    if (!is(op, "Concat") || op->inputs.size() != 2 || op->axis_attribute("axis", 1) != op->rank() - 1) return false;
    const Op *negative = maker_of_input(*op, 0), *first = maker_of_input(*op, 1);
    if (!is(negative, "Neg")) return false;
    const Op* second = maker_of_input(*negative, 0);
    if (half_of(second, x) != 1 || half_of(first, x) != 0) return false;
    group_.insert(group_.end(), {op, negative, first, second});
    return true;
  }

  void find_rotation(const Op& last) {
    const Op* products[] = {maker_of_input(last, 0), maker_of_input(last, 1)};
    if (!is(products[0], "Mul") || !is(products[1], "Mul") || products[0] == products[1]) return;
    for (const size_t p : {size_t{0}, size_t{1}}) {
      for (const size_t x : {size_t{0}, size_t{1}}) {
        for (const size_t t : {size_t{0}, size_t{1}}) {
          group_ = {products[0], products[1]};
          if (try_rotation(last, *products[p], x, *products[1 - p], t)) return;
        }
      }
    }
  }

  bool try_rotation(const Op& last, const Op& straight, size_t x_at, const Op& turned, size_t t_at) {
    const Value& x = straight.in(x_at);
    if (x.shape.size() != 4 || x.shape != last.out().shape || !takes(Takes::floats, x.type) || !read_once(straight) ||
        !read_once(turned) || x.shape.back() > kPiece || !is_turned(maker_of_input(turned, t_at), x))
      return false;
    std::map<std::string, Attribute> attributes;
    const Value* from = &x;
    if (const Op* t = maker(x); is_transposition(t, kHeadsForward)) {
      group_.push_back(t);
      from = &t->in(0);
      attributes["perm"].type = AttributeType::integers;
      attributes["perm"].ints = kHeadsForward;
    }
    replace(last, "RotaryEmbedding", &kRotatedHalves, {from, &straight.in(1 - x_at), &turned.in(1 - t_at)},
            std::move(attributes), "a rotary embedding");
    return true;
  }

  Patterns& p_;
  std::map<const Value*, std::set<const Op*>> readers_;  ///< readers of stored values that run on the machine
  Ops group_;                                            ///< members of the current pattern, without its last
};

}  // namespace

void find_patterns(Patterns* p) {
  Finder(p).find();
}

}  // namespace kernbench::onnx
