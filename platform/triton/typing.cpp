// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/triton/typing.h"

#include <algorithm>
#include <set>

namespace kernbench::triton {

namespace {

using Kind = Type::Kind;

/// The words for the numbers of the generic form.
void name_words(Operation& op) {
  const auto name = [&](const char* key, std::initializer_list<const char*> names) {
    const auto it = op.attributes.find(key);
    if (it == op.attributes.end() || it->second.kind != Attribute::Kind::integer) return;
    const int64_t n = it->second.integer;
    if (n < 0 || n >= static_cast<int64_t>(names.size())) return;
    Attribute a;
    a.kind = Attribute::Kind::text;
    a.text = *(names.begin() + n);
    op.attributes["word0"] = a;
  };
  if (op.name == "arith.cmpi") name("predicate", {"eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"});
  if (op.name == "arith.cmpf")
    name("predicate", {"false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule",
                       "une", "uno", "true"});
  if (op.info->does == Does::program_id || op.info->does == Does::num_programs) name("axis", {"x", "y", "z"});
}

class Settling {
 public:
  Settling(Operation& o, const Told& t, const std::vector<Type>& operands) : op(o), told(t), in(operands) {}

  std::vector<Type> results() {
    if (const std::string wrong = fault_of_count(op); !wrong.empty()) return fault(wrong);
    name_words(op);
    for (const Type& t : in) any_unknown |= !t.known();
    for (const Type& t : told.before) any_unknown |= !t.known();
    for (const Type& t : told.after) any_unknown |= !t.known();
    return by_typing();
  }
  std::string what;

 private:
  std::vector<Type> fault(const std::string& text) {
    if (what.empty()) what = text;
    return {};
  }
  bool need(bool holds, const std::string& text) {
    if (!holds && !any_unknown) fault(text);
    return holds;
  }
  /// Number of written types. Other numbers leave the results unknown.
  bool tells(size_t before, size_t after) {
    if (told.before.size() == before && told.after.size() == after) return true;
    fault("found " + std::to_string(told.before.size()) + " types" +
          (told.after.empty() ? "" : " and " + std::to_string(told.after.size()) + " results") + ", expected " +
          std::to_string(before) + (after ? " and " + std::to_string(after) + " results" : ""));
    return false;
  }
  void same(const Type& found, const Type& wanted) {
    if (found.known() && wanted.known() && found != wanted)
      fault("found an operand of " + found.to_string() + ", expected " + wanted.to_string());
  }
  static bool same_shape(const Type& a, const Type& b) { return a.tensor == b.tensor && a.shape == b.shape; }
  static bool integer(const Type& t) { return t.kind == Kind::number && !is_float(t.element); }
  static bool real(const Type& t) { return t.kind == Kind::number && is_float(t.element); }
  static Type truth(const Type& t) { return t.known() ? t.with(Kind::number, Element::i1) : t; }
  /// The type of a load through the pointer.
  static Type pointee(const Type& t) { return t.known() ? t.with(Kind::number, t.element) : t; }

  std::vector<Type> by_typing() {
    switch (op.info->typing) {
      case Typing::alike:
        return alike();
      case Typing::cast:
        return cast();
      case Typing::compare: {
        if (!tells(1, 0)) return {};
        const Type& t = told.before[0];
        for (const Type& x : in) same(x, t);
        need(op.name == "arith.cmpi" ? integer(t) : real(t), "found " + t.to_string());
        check_predicate();
        return {truth(t)};
      }
      case Typing::select: {
        if (told.before.size() != 1 && !tells(2, 0)) return {};
        const Type& t = told.before.back();
        same(in[1], t);
        same(in[2], t);
        if (in[0].known() && t.known() && in[0] != truth(t) && in[0] != Type{Kind::number, Element::i1})
          fault("found a condition of " + in[0].to_string());
        return {t};
      }
      case Typing::told:
        if (told.before.size() != in.size())
          return fault("found " + std::to_string(in.size()) + " operands of " + std::to_string(told.before.size()) +
                       " types");
        for (size_t i = 0; i < in.size(); ++i) same(in[i], told.before[i]);
        if (op.info->does == Does::extern_call && tells(in.size(), 1)) {
          for (const Type& t : in) need(same_shape(t, told.after[0]) && real(t), "found " + t.to_string());
        }
        if (op.info->does == Does::gather && tells(2, 1)) check_gather();
        if (op.info->does == Does::atomic && tells(in.size(), 1)) {
          const Type value = pointee(in[0]);
          need(in[0].kind == Kind::pointer || !in[0].known(), "found " + in[0].to_string());
          same(told.after[0], value);
          same(in[1], value);
          if (in.size() > 2) same(in[2], op.name == "tt.atomic_cas" ? value : truth(value));
        }
        return told.after;
      case Typing::shape:
        return shape();
      case Typing::load:
        return load();
      case Typing::store:
        return store();
      case Typing::addptr:
        if (!tells(2, 0)) return {};
        same(in[0], told.before[0]);
        same(in[1], told.before[1]);
        need(in[0].kind == Kind::pointer && integer(in[1]) && same_shape(in[0], in[1]),
             "found " + in[0].to_string() + " and " + in[1].to_string());
        return {told.before[0]};
      case Typing::dot:
        return dot();
      case Typing::tile:
        return tile();
      case Typing::result:
        return result();
      case Typing::nothing:
        return {};
    }
    return {};
  }

  void check_predicate() {
    static const std::set<std::string> of_integers = {"eq",  "ne",  "slt", "sle", "sgt",
                                                      "sge", "ult", "ule", "ugt", "uge"};
    static const std::set<std::string> of_reals = {"oeq", "ogt", "oge", "olt", "ole", "one", "ord",  "ueq",
                                                   "ugt", "uge", "ult", "ule", "une", "uno", "true", "false"};
    const Attribute* word = op.attribute("word0");
    const auto& legal = op.name == "arith.cmpi" ? of_integers : of_reals;
    if (word == nullptr || legal.count(word->text) == 0)
      fault("found " + (word ? "'" + word->text + "'" : "no predicate") + ", expected a predicate");
  }

  void check_gather() {
    const Attribute* axis = op.attribute("axis");
    const int64_t at = axis ? axis->integer : -1;
    bool fits = in[0].tensor && integer(in[1]) && in[1].tensor && in[0].shape.rank() == in[1].shape.rank() && at >= 0 &&
                at < in[0].shape.rank() && told.after[0] == in[1].with(in[0].kind, in[0].element);
    for (int d = 0; fits && d < in[0].shape.rank(); ++d) fits = d == at || in[0].shape[d] == in[1].shape[d];
    need(fits, "found " + in[0].to_string() + " by " + in[1].to_string() + " at axis " + std::to_string(at) + " to " +
                   told.after[0].to_string());
  }

  std::vector<Type> alike() {
    if (!tells(1, 0)) return {};
    const Type& t = told.before[0];
    for (const Type& x : in) same(x, t);
    if (op.info->does == Does::integer) need(integer(t), "found " + t.to_string() + ", expected integers");
    if (op.info->does == Does::real) need(real(t), "found " + t.to_string() + ", expected floats");
    if (op.info->does == Does::assume || op.info->does == Does::assertion) {
      need(t.kind == Kind::number && t.element == Element::i1, "found " + t.to_string() + ", expected i1");
      return {};
    }
    return {t};
  }

  std::vector<Type> cast() {
    const bool inferred = op.info->does == Does::unsplat && told.after.empty();
    if (!tells(1, inferred ? 0 : 1)) return {};
    const Type& from = told.before[0];
    const Type to = inferred ? Type{from.kind, from.element} : told.after[0];
    same(in[0], from);
    if (any_unknown) return {to};
    const auto both = [&] { return "found " + from.to_string() + " to " + to.to_string(); };
    switch (op.info->does) {
      case Does::convert:
        need(same_shape(from, to) && from.kind == Kind::number && to.kind == Kind::number && converts(from, to),
             both());
        break;
      case Does::bitcast:
        need(same_shape(from, to) && from.kind == to.kind &&
                 (from.kind == Kind::pointer ||
                  (from.kind == Kind::number && bits_of(from.element) == bits_of(to.element))),
             both());
        break;
      case Does::splat:
        need(from.shape.rank() == 0 && to.tensor && from.kind == to.kind && from.element == to.element, both());
        break;
      case Does::unsplat:
        need(from.tensor && !to.tensor && from.shape.elements() == 1 && from.kind == to.kind &&
                 from.element == to.element,
             both());
        break;
      case Does::expand_dims: {
        const Attribute* axis = op.attribute("axis");
        const int64_t at = axis ? axis->integer : -1;
        bool fits =
            alike_tensors(from, to) && to.shape.rank() == from.shape.rank() + 1 && at >= 0 && at <= from.shape.rank();
        for (int i = 0; fits && i < to.shape.rank(); ++i)
          fits = to.shape[i] == (i == at ? 1 : from.shape[i < at ? i : i - 1]);
        need(fits, both() + " at axis " + std::to_string(at));
        break;
      }
      case Does::broadcast: {
        bool fits = alike_tensors(from, to) && to.shape.rank() == from.shape.rank();
        for (int i = 0; fits && i < to.shape.rank(); ++i) fits = from.shape[i] == 1 || from.shape[i] == to.shape[i];
        need(fits, both());
        break;
      }
      case Does::reshape:
        need(alike_tensors(from, to) && from.shape.elements() == to.shape.elements(), both());
        break;
      case Does::trans:
        transpose(from, to, both());
        break;
      case Does::int_to_ptr:
        need(same_shape(from, to) && integer(from) && from.element == Element::i64 && to.kind == Kind::pointer, both());
        break;
      case Does::ptr_to_int:
        need(same_shape(from, to) && integer(to) && to.element == Element::i64 && from.kind == Kind::pointer, both());
        break;
      default:
        break;
    }
    return {to};
  }

  static bool alike_tensors(const Type& a, const Type& b) {
    return a.tensor && b.tensor && a.kind == b.kind && a.element == b.element;
  }
  bool converts(const Type& from, const Type& to) const {
    const int a = bits_of(from.element);
    const int b = bits_of(to.element);
    const bool fa = is_float(from.element);
    const bool fb = is_float(to.element);
    if (op.name == "arith.extsi" || op.name == "arith.extui") return !fa && !fb && a < b;
    if (op.name == "arith.trunci") return !fa && !fb && a > b;
    if (op.name == "arith.extf") return fa && fb && a < b;
    if (op.name == "arith.truncf") return fa && fb && a > b;
    if (op.name == "arith.sitofp" || op.name == "arith.uitofp") return !fa && fb;
    if (op.name == "arith.fptosi" || op.name == "arith.fptoui") return fa && !fb;
    return op.name == "tt.fp_to_fp" ? fa && fb : !fa && !fb;
  }
  void transpose(const Type& from, const Type& to, const std::string& both) {
    Attribute& order = op.attributes["order"];
    const int rank = from.shape.rank();
    if (order.integers.empty()) {
      for (int i = rank; i > 0; --i) order.integers.push_back(i - 1);
      order.kind = Attribute::Kind::integers;
    }
    std::vector<int64_t> sorted = order.integers;
    std::sort(sorted.begin(), sorted.end());
    bool fits = alike_tensors(from, to) && to.shape.rank() == rank && static_cast<int>(sorted.size()) == rank;
    for (int i = 0; fits && i < rank; ++i) fits = sorted[static_cast<size_t>(i)] == i;
    for (int i = 0; fits && i < rank; ++i)
      fits = to.shape[i] == from.shape[static_cast<int>(order.integers[static_cast<size_t>(i)])];
    need(fits, both + ", which its order does not give");
  }

  std::vector<Type> shape() {
    if (!tells(1, 1)) return {};
    const Type& from = told.before[0];
    const Type& to = told.after[0];
    for (const Type& x : in) same(x, from);
    if (any_unknown) return std::vector<Type>(op.info->does == Does::split ? 2 : 1, to);
    const Type& large = op.info->does == Does::split ? from : to;
    const Type& small = op.info->does == Does::split ? to : from;
    bool fits = alike_tensors(from, to) && from.kind == Kind::number;
    if (op.info->does == Does::cat) {
      fits = fits && large.shape.elements() == 2 * small.shape.elements() && large.shape.rank() == 1 &&
             small.shape.rank() == 1;
    } else {
      Shape halves = small.shape;
      fits = fits && halves.rank() < kMaxRank;
      if (fits) halves.push_back(2);
      fits = fits && large.shape == halves;
    }
    need(fits, "found " + from.to_string() + " to " + to.to_string());
    return std::vector<Type>(op.info->does == Does::split ? 2 : 1, to);
  }

  std::vector<Type> load() {
    if (!tells(1, 0)) return {};
    const Type& p = told.before[0];
    same(in[0], p);
    need(p.kind == Kind::pointer || p.kind == Kind::block_pointer, "found " + p.to_string() + ", expected a pointer");
    if (in.size() > 1) same(in[1], truth(p));
    if (in.size() > 2) same(in[2], pointee(p));
    check_boundary(p);
    return {pointee(p)};
  }
  std::vector<Type> store() {
    if (told.before.size() != 2 && !tells(1, 0)) return {};
    const Type& p = told.before[0];
    same(in[0], p);
    need(p.kind == Kind::pointer || p.kind == Kind::block_pointer, "found " + p.to_string() + ", expected a pointer");
    same(in[1], pointee(p));
    if (in.size() > 2) same(in[2], truth(p));
    check_boundary(p);
    return {};
  }
  void check_boundary(const Type& p) {
    const Attribute* boundary = op.attribute("boundaryCheck");
    if (boundary == nullptr) return;
    for (const int64_t axis : boundary->integers)
      need(axis >= 0 && axis < p.shape.rank(), "found boundaryCheck of axis " + std::to_string(axis));
  }

  std::vector<Type> dot() {
    if (!tells(2, 1)) return {};
    const Type& a = told.before[0];
    const Type& b = told.before[1];
    const Type& d = told.after[0];
    same(in[0], a);
    same(in[1], b);
    same(in[2], d);
    if (any_unknown) return {d};
    const int r = a.shape.rank();
    const bool shapes = a.is(Kind::number, true) && b.is(Kind::number, true) && d.is(Kind::number, true) &&
                        (r == 2 || r == 3) && b.shape.rank() == r && d.shape.rank() == r &&
                        (r == 2 || (a.shape[0] == b.shape[0] && a.shape[0] == d.shape[0])) &&
                        a.shape[r - 1] == b.shape[r - 2] && a.shape[r - 2] == d.shape[r - 2] &&
                        b.shape[r - 1] == d.shape[r - 1];
    need(shapes && real(a) == real(b) && real(a) == real(d),
         "found " + a.to_string() + " * " + b.to_string() + " -> " + d.to_string());
    return {d};
  }

  std::vector<Type> tile() {
    const auto integers_from = [&](size_t first, size_t last) {
      for (size_t i = first; i < last; ++i)
        need(integer(in[i]) && !in[i].tensor, "found " + in[i].to_string() + ", expected an integer");
    };
    const auto rank_is = [&](const Type& t, size_t n) {
      need(t.shape.rank() == static_cast<int>(n), "found " + std::to_string(n) + " numbers for " + t.to_string());
    };
    switch (op.info->does) {
      case Does::make_block_pointer:
      case Does::make_descriptor: {
        if (told.before.empty()) return fault("found no type");
        const Type& t = told.before.back();
        const size_t lists = op.info->does == Does::make_descriptor ? 2 : 3;
        need(t.kind == (lists == 2 ? Kind::descriptor : Kind::block_pointer), "found " + t.to_string());
        need(in[0].is(Kind::pointer, false) && in[0].element == t.element, "found a base of " + in[0].to_string());
        if (!any_unknown && (in.size() - 1) % lists != 0) return fault("found lists of other lengths");
        rank_is(t, (in.size() - 1) / lists);
        integers_from(1, in.size());
        return {t};
      }
      case Does::advance: {
        if (told.before.empty()) return fault("found no type");
        const Type& t = told.before[0];
        same(in[0], t);
        need(t.kind == Kind::block_pointer, "found " + t.to_string());
        rank_is(t, in.size() - 1);
        integers_from(1, in.size());
        return {t};
      }
      case Does::descriptor_load: {
        if (told.before.empty() || told.after.size() != 1) return fault("found no result's type");
        const Type& t = told.before[0];
        same(in[0], t);
        if (t.kind == Kind::descriptor) rank_is(t, in.size() - 1);
        integers_from(1, in.size());
        tile_of(t, told.after[0]);
        return told.after;
      }
      case Does::descriptor_store: {
        if (told.before.size() < 2) return fault("found no value's type");
        // The generic form has the value before the indices.
        if (in[1].tensor && !in.back().tensor) {
          std::rotate(op.operands.begin() + 1, op.operands.begin() + 2, op.operands.end());
          std::rotate(in.begin() + 1, in.begin() + 2, in.end());
        }
        const Type& t = told.before[0];
        same(in[0], t);
        if (t.kind == Kind::descriptor) rank_is(t, in.size() - 2);
        integers_from(1, in.size() - 1);
        tile_of(t, in.back());
        return {};
      }
      case Does::histogram: {
        if (told.before.empty() || told.after.size() != 1) return fault("found no result's type");
        same(in[0], told.before[0]);
        if (in.size() > 1) same(in[1], in[0].with(Kind::number, Element::i1));
        const Type& bins = told.after[0];
        need(integer(in[0]) && in[0].tensor && bins.tensor && bins.shape.rank() == 1 && bins.element == Element::i32,
             "found " + in[0].to_string() + " to " + bins.to_string());
        return told.after;
      }
      default:
        return told.after;
    }
  }
  void tile_of(const Type& descriptor, const Type& value) {
    need(value.is(Kind::number, true) && value.element == descriptor.element &&
             (descriptor.kind != Kind::descriptor || value.shape.elements() == descriptor.shape.elements()),
         "found a tile of " + value.to_string() + " of " + descriptor.to_string());
  }

  std::vector<Type> result() {
    if (!tells(1, 0) && !(told.before.empty() && told.after.size() == 1)) return {};
    what.clear();
    const Type t = told.before.empty() ? told.after[0] : told.before[0];
    if (!t.known()) return {t};
    switch (op.info->does) {
      case Does::make_range: {
        const Attribute* start = op.attribute("start");
        const Attribute* end = op.attribute("end");
        if (start == nullptr || end == nullptr) return fault("found no start or no end");
        need(
            t.is(Kind::number, true) && integer(t) && t.shape.rank() == 1 &&
                end->integer - start->integer == t.shape[0] && start->integer >= -(int64_t{1} << 31) &&
                end->integer <= int64_t{1} << 31,
            "found " + std::to_string(start->integer) + " to " + std::to_string(end->integer) + " as " + t.to_string());
        break;
      }
      case Does::program_id:
      case Does::num_programs: {
        const Attribute* axis = op.attribute("word0");
        need(axis && (axis->text == "x" || axis->text == "y" || axis->text == "z"), "found no axis x, y or z");
        need(t == Type{Kind::number, Element::i32}, "found " + t.to_string());
        break;
      }
      case Does::constant: {
        const Attribute* v = op.attribute("value");
        if (v == nullptr) return fault("found no value");
        const bool numbers = v->kind == Attribute::Kind::integer || v->kind == Attribute::Kind::real ||
                             v->kind == Attribute::Kind::dense;
        const bool fits = numbers && t.kind == Kind::number && t.tensor == (v->kind == Attribute::Kind::dense) &&
                          (v->kind != Attribute::Kind::dense || v->type == t) &&
                          (v->kind != Attribute::Kind::integer || integer(t)) &&
                          (v->kind != Attribute::Kind::real || real(t));
        if (!fits) return fault("found a value that is no " + t.to_string());
        break;
      }
      default:
        break;
    }
    return {t};
  }

  Operation& op;
  const Told& told;
  std::vector<Type> in;
  bool any_unknown = false;
};

}  // namespace

std::string fault_of_count(const Operation& op) {
  const auto n = static_cast<int>(op.operands.size());
  const OpInfo& info = *op.info;
  if (n >= info.least && (info.most < 0 || n <= info.most)) return {};
  return "found " + std::to_string(n) + " operands, expected " + std::to_string(info.least) +
         (info.most < 0            ? " or more"
          : info.most > info.least ? " to " + std::to_string(info.most)
                                   : "");
}

std::vector<Type> settle_types(Operation& op, const Told& told, const std::vector<Type>& operands, std::string* fault) {
  Settling settling(op, told, operands);
  std::vector<Type> results = settling.results();
  *fault = settling.what;
  return results;
}

}  // namespace kernbench::triton
