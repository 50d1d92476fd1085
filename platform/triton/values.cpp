// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/triton/values.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace kernbench::triton {

namespace {

/// Values at equal steps become a stride.
Known::Axis axis_of(std::vector<int64_t> values, int64_t* base) {
  *base += values[0];
  const int64_t first = values[0];
  bool steady = true;
  const int64_t step = values.size() > 1 ? values[1] - first : 0;
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] -= first;
    steady = steady && values[i] == static_cast<int64_t>(i) * step;
  }
  if (steady) return {step, nullptr};
  return {0, std::make_shared<const std::vector<int64_t>>(std::move(values))};
}

uint64_t mask_of(Element e) {
  return bits_of(e) == 64 ? ~uint64_t{0} : (uint64_t{1} << bits_of(e)) - 1;
}

bool in_range(const Known& k) {
  if (bits_of(k.element) == 64) return true;
  double low = static_cast<double>(k.base);
  double high = low;
  for (int d = 0; d < k.shape.rank(); ++d) {
    const Known::Axis& axis = k.axes[static_cast<size_t>(d)];
    int64_t least = std::min<int64_t>(0, axis.stride * (k.shape[d] - 1));
    int64_t most = std::max<int64_t>(0, axis.stride * (k.shape[d] - 1));
    if (axis.values) {
      least = *std::min_element(axis.values->begin(), axis.values->end());
      most = *std::max_element(axis.values->begin(), axis.values->end());
    }
    low += static_cast<double>(least);
    high += static_cast<double>(most);
  }
  const double limit = std::ldexp(1.0, bits_of(k.element) - 1);
  return low >= -limit && high < limit;
}

}  // namespace

std::shared_ptr<Known> Known::of(Element e, const Dims& shape, int64_t base) {
  auto k = std::make_shared<Known>();
  k->element = e;
  k->shape = shape;
  k->base = base;
  if (e == Element::i1) k->form = Form::product;
  return k;
}

bool Known::uniform() const {
  return form != Form::open && (depends_on() == 0 || (form == Form::product && base == 0));
}

uint32_t Known::depends_on() const {
  uint32_t bits = 0;
  for (int d = 0; d < shape.rank(); ++d) {
    const bool plain = form != Form::open && axes[static_cast<size_t>(d)].plain();
    if (!plain && shape[d] > 1) bits |= 1u << d;
  }
  return bits;
}

int64_t Known::at(const std::vector<int64_t>& index) const {
  int64_t n = base;
  for (size_t d = 0; d < index.size(); ++d) {
    if (form == Form::sum) {
      n += axes[d].at(index[d]);
    } else if (axes[d].values) {
      n = n && axes[d].at(index[d]);
    }
  }
  return n;
}

Known::Values Known::elements() const {
  if (all) return all;
  if (form == Form::open) {
    if (!source->all) source->all = source->compute();
    return all = source->all;
  }
  auto values = std::make_shared<std::vector<int64_t>>();
  values->reserve(static_cast<size_t>(shape.elements()));
  std::vector<int64_t> index(static_cast<size_t>(shape.rank()), 0);
  for (int64_t i = 0, n = shape.elements(); i < n; ++i) {
    values->push_back(wrapped(at(index), element));
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < shape[static_cast<int>(d)]) break;
      index[d] = 0;
    }
  }
  return all = values;
}

int64_t wrapped(int64_t n, Element e) {
  const int bits = bits_of(e);
  if (bits == 64) return n;
  if (bits == 1) return n & 1;
  const uint64_t low = static_cast<uint64_t>(n) & mask_of(e);
  const uint64_t sign = uint64_t{1} << (bits - 1);
  return static_cast<int64_t>((low ^ sign)) - static_cast<int64_t>(sign);
}

bool apply_integer(const OpInfo& op, Element e, int64_t a, int64_t b, int64_t* out) {
  using I = IntegerOp;
  const auto ua = static_cast<uint64_t>(a) & mask_of(e);
  const auto ub = static_cast<uint64_t>(b) & mask_of(e);
  const bool by_zero = ub == 0, too_far = ub >= static_cast<uint64_t>(bits_of(e));
  const auto give = [&](auto n) {
    *out = wrapped(static_cast<int64_t>(n), e);
    return true;
  };
  switch (op.integer) {
    case I::ceildivsi:
    case I::floordivsi: {
      if (by_zero) return false;
      if (b == -1) return give(0 - static_cast<uint64_t>(a));
      const int64_t rest = a % b, up = op.integer == I::ceildivsi ? 1 : -1;
      return give(a / b + (rest != 0 && ((rest > 0) == (b > 0)) == (up > 0) ? up : 0));
    }
    case I::divui:
    case I::ceildivui:
      return !by_zero && give(ua / ub + (op.integer == I::ceildivui && ua % ub != 0 ? 1 : 0));
    case I::remui:
      return !by_zero && give(ua % ub);
    case I::shrui:
      return !too_far && give(ua >> ub);
    case I::maxui:
      return give(std::max(ua, ub));
    case I::minui:
      return give(std::min(ua, ub));
    case I::mulhiui:
      return give((static_cast<unsigned __int128>(ua) * ub) >> bits_of(e));
    case I::divsi:
    case I::remsi:
      if (by_zero) return false;
      break;
    case I::shli:
    case I::shrsi:
      if (too_far) return false;
      break;
    default:
      break;
  }
  return op.math && give(op.math->i64(a, b, 0, 64));
}

Predicate::Predicate(std::string_view word) {
  const bool is_true = word == "true", ordered = word == "ord";
  if (is_true || ordered || word == "false" || word == "uno") {
    less = equal = greater = is_true || ordered;
    unordered = is_true || word == "uno";
    return;
  }
  const bool alone = word.size() == 2;  // eq, ne: integers
  const std::string_view how = alone ? word : word.substr(1);
  is_signed = !alone && word[0] == 's';
  unordered = !alone && word[0] == 'u';
  less = how[0] == 'l' || how[0] == 'n';
  equal = how[1] == 'q' || (how[1] == 'e' && how[0] != 'n');
  greater = how[0] == 'g' || how[0] == 'n';
}

bool apply_compare(Predicate p, Element e, int64_t a, int64_t b) {
  if (a == b) return p.equal;
  if (p.is_signed && e == Element::i1) return a > b ? p.less : p.greater;  // true is -1
  const bool less =
      p.is_signed ? a < b : (static_cast<uint64_t>(a) & mask_of(e)) < (static_cast<uint64_t>(b) & mask_of(e));
  return less ? p.less : p.greater;
}

bool apply_compare(Predicate p, double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return p.unordered;
  return a == b ? p.equal : a < b ? p.less : p.greater;
}

namespace {

/// A block's elements along one dimension, at index 0 of the others.
class Line {
 public:
  Line(const Known& k, int dimension)
      : axis_(k.axes[static_cast<size_t>(dimension)]), sum_(k.form == Known::Form::sum) {
    rest_ = k.base;
    for (int d = 0; d < k.shape.rank(); ++d) {
      const Known::Axis& other = k.axes[static_cast<size_t>(d)];
      if (d == dimension || other.plain()) continue;
      rest_ = sum_ ? rest_ + other.at(0) : rest_ && other.at(0);
    }
  }
  int64_t at(int64_t i) const {
    if (sum_) return rest_ + axis_.at(i);
    return axis_.values ? rest_ && axis_.at(i) : rest_;
  }

 private:
  const Known::Axis& axis_;
  const bool sum_;
  int64_t rest_ = 0;
};

}  // namespace

std::shared_ptr<Known> combine(IntegerOp op, Element result, const Known& a, const Known& b, const Combine& f,
                               bool* bad, bool ends_say) {
  if (a.form == Known::Form::open || b.form == Known::Form::open) return nullptr;
  const uint32_t bits = a.depends_on() | b.depends_on();
  auto k = Known::of(result, a.shape, 0);
  const int rank = a.shape.rank();
  // Sums and multiples of sums are sums if nothing wraps.
  const bool scales = op == IntegerOp::muli && (a.depends_on() == 0 || b.depends_on() == 0);
  if (result != Element::i1 && (op == IntegerOp::addi || op == IntegerOp::subi || scales)) {
    const Known& whole = scales && a.depends_on() == 0 ? b : a;
    const int64_t factor = scales ? (a.depends_on() == 0 ? a.base : b.base) : 1;
    const int64_t sign = op == IntegerOp::subi ? -1 : 1;
    bool holds = std::abs(factor) < int64_t{1} << 40;
    if (scales) {
      k->base = static_cast<int64_t>(static_cast<uint64_t>(whole.base) * static_cast<uint64_t>(factor));
    } else {
      k->base = static_cast<int64_t>(static_cast<uint64_t>(a.base) +
                                     static_cast<uint64_t>(sign) * static_cast<uint64_t>(b.base));
    }
    for (int d = 0; d < rank && holds; ++d) {
      const auto i = static_cast<size_t>(d);
      if (scales ? !whole.axes[i].values : !a.axes[i].values && !b.axes[i].values) {
        k->axes[i].stride = scales ? whole.axes[i].stride * factor : a.axes[i].stride + sign * b.axes[i].stride;
        holds = std::abs(k->axes[i].stride) < int64_t{1} << 40;
        continue;
      }
      std::vector<int64_t> values;
      values.reserve(static_cast<size_t>(a.shape[d]));
      for (int64_t x = 0; x < a.shape[d]; ++x)
        values.push_back(scales ? whole.axes[i].at(x) * factor : a.axes[i].at(x) + sign * b.axes[i].at(x));
      k->axes[i] = axis_of(std::move(values), &k->base);
    }
    if (holds && in_range(*k)) return k;
    k = Known::of(result, a.shape, 0);
  }
  // A conjunction of conditions.
  if (result == Element::i1 && op == IntegerOp::andi && a.form == Known::Form::product &&
      b.form == Known::Form::product) {
    k->base = a.base && b.base;
    for (int d = 0; d < rank; ++d) {
      const auto i = static_cast<size_t>(d);
      const auto& x = a.axes[i].values;
      const auto& y = b.axes[i].values;
      if (!x || !y) {
        k->axes[i].values = x ? x : y;
        continue;
      }
      std::vector<int64_t> both(x->size());
      for (size_t j = 0; j < both.size(); ++j) both[j] = (*x)[j] && (*y)[j];
      k->axes[i].values = std::make_shared<const std::vector<int64_t>>(std::move(both));
    }
    return k;
  }
  // Values that depend on no index or on one dimension.
  if ((bits & (bits - 1)) != 0) return nullptr;
  int d = 0;
  while (bits != 0 && (bits >> d) != 1) ++d;
  const Line x(a, d), y(b, d);
  if (bits == 0) {
    if (!f(x.at(0), y.at(0), &k->base)) *bad = true;
    return k;
  }
  const auto i = static_cast<size_t>(d);
  constexpr int64_t kFar = int64_t{1} << 61;  // between two ends nearer than this, nothing wraps
  const auto within = [](int64_t n) { return n > -kFar && n < kFar; };
  const bool near = within(x.at(0)) && within(y.at(0));
  if (ends_say && near && a.axes[i].has_short_stride() && b.axes[i].has_short_stride()) {
    int64_t first = 0, last = 0;
    if (f(x.at(0), y.at(0), &first) && f(x.at(a.shape[d] - 1), y.at(a.shape[d] - 1), &last) && first && last) {
      k->base = 1;
      k->axes[i].values = all_true(a.shape[d]);
      return k;
    }
  }
  std::vector<int64_t> values(static_cast<size_t>(a.shape[d]), 0);
  for (size_t at = 0; at < values.size(); ++at) {
    int64_t n = 0;
    // A division by 0 or a too large shift gives 0: a mask may exclude it.
    if (f(x.at(static_cast<int64_t>(at)), y.at(static_cast<int64_t>(at)), &n)) values[at] = n;
  }
  if (result == Element::i1) {
    k->base = 1;
    k->axes[i].values = std::make_shared<const std::vector<int64_t>>(std::move(values));
  } else {
    k->axes[i] = axis_of(std::move(values), &k->base);
  }
  return k;
}

const Known::Values& all_true(int64_t n) {
  thread_local std::unordered_map<int64_t, Known::Values> lists;
  Known::Values& list = lists[n];
  if (!list) list = std::make_shared<const std::vector<int64_t>>(static_cast<size_t>(n), 1);
  return list;
}

KnownPtr expanded(const Known& k, int axis, const Dims& shape) {
  auto out = std::make_shared<Known>(k);
  out->all = nullptr;
  out->shape = shape;
  for (int d = shape.rank() - 1; d >= 0; --d)
    out->axes[static_cast<size_t>(d)] = d == axis ? Known::Axis{} : k.axes[static_cast<size_t>(d > axis ? d - 1 : d)];
  return out;
}

KnownPtr broadcast(const Known& k, const Dims& shape) {
  auto out = std::make_shared<Known>(k);
  out->all = nullptr;
  out->shape = shape;
  for (int d = 0; d < shape.rank(); ++d) {
    const auto i = static_cast<size_t>(d);
    if (k.shape[d] == shape[d]) continue;
    // In a dimension of size 1 only index 0 counts.
    const int64_t only = k.axes[i].plain() ? (k.form == Known::Form::product ? 1 : 0) : k.axes[i].at(0);
    if (k.form == Known::Form::sum) out->base += only;
    if (k.form == Known::Form::product && k.axes[i].values) out->base = out->base && only;
    out->axes[i] = {};
  }
  return out;
}

KnownPtr permuted(const Known& k, const std::vector<int64_t>& order, const Dims& shape) {
  auto out = std::make_shared<Known>(k);
  out->all = nullptr;
  out->shape = shape;
  for (size_t d = 0; d < order.size(); ++d) out->axes[d] = k.axes[static_cast<size_t>(order[d])];
  return out;
}

KnownPtr reshaped(const Known& k, const Dims& shape) {
  if (k.form == Known::Form::open) return nullptr;
  auto out = Known::of(k.element, shape, k.base);
  out->form = k.form;
  if (k.uniform()) return out;
  // Dimensions of size 1 are added or removed.
  std::vector<int> from, to;
  for (int d = 0; d < k.shape.rank(); ++d) {
    if (k.shape[d] > 1) from.push_back(d);
  }
  for (int d = 0; d < shape.rank(); ++d) {
    if (shape[d] > 1) to.push_back(d);
  }
  if (from.size() == 1 && k.form == Known::Form::sum && !k.axes[static_cast<size_t>(from[0])].values) {
    int64_t stride = k.axes[static_cast<size_t>(from[0])].stride;  // one stride becomes several
    for (int d = shape.rank() - 1; d >= 0; --d) {
      out->axes[static_cast<size_t>(d)].stride = shape[d] > 1 ? stride : 0;
      stride *= shape[d];
    }
    for (int d = 0; d < k.shape.rank(); ++d) {
      if (d != from[0]) out->base += k.axes[static_cast<size_t>(d)].at(0);
    }
    return out;
  }
  bool same = from.size() == to.size();
  for (size_t i = 0; same && i < from.size(); ++i) same = k.shape[from[i]] == shape[to[i]];
  if (!same) return nullptr;
  for (int d = 0; d < k.shape.rank(); ++d) {
    const auto& axis = k.axes[static_cast<size_t>(d)];
    if (k.shape[d] > 1 || axis.plain()) continue;
    if (k.form == Known::Form::sum) out->base += axis.at(0);
    if (k.form == Known::Form::product && axis.values) out->base = out->base && axis.at(0);
  }
  for (size_t i = 0; i < from.size(); ++i) out->axes[static_cast<size_t>(to[i])] = k.axes[static_cast<size_t>(from[i])];
  return out;
}

bool Data::whole() const {
  for (int d = 0; d < shape.rank(); ++d) {
    if (!whole(d)) return false;
  }
  return true;
}

}  // namespace kernbench::triton
