#include "kernbench/platform/triton/values.h"

#include <algorithm>
#include <cmath>

namespace kernbench::triton {

namespace {

/// Steps of one length are a stride.
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

bool apply_integer(const std::string& name, Element e, int64_t a, int64_t b, int64_t* out) {
  const auto ua = static_cast<uint64_t>(a) & mask_of(e);
  const auto ub = static_cast<uint64_t>(b) & mask_of(e);
  const auto wide = [](uint64_t n) { return static_cast<int64_t>(n); };
  int64_t n = 0;
  if (name == "arith.addi") {
    n = wide(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  } else if (name == "arith.subi") {
    n = wide(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
  } else if (name == "arith.muli") {
    n = wide(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  } else if (name == "arith.andi") {
    n = a & b;
  } else if (name == "arith.ori") {
    n = a | b;
  } else if (name == "arith.xori") {
    n = a ^ b;
  } else if (name == "arith.maxsi") {
    n = std::max(a, b);
  } else if (name == "arith.minsi") {
    n = std::min(a, b);
  } else if (name == "arith.maxui") {
    n = wide(std::max(ua, ub));
  } else if (name == "arith.minui") {
    n = wide(std::min(ua, ub));
  } else if (name == "math.absi") {
    n = a < 0 ? wide(~static_cast<uint64_t>(a) + 1) : a;
  } else if (name == "tt.mulhiui") {
    n = wide(static_cast<uint64_t>((static_cast<unsigned __int128>(ua) * ub) >> bits_of(e)));
  } else if (name == "arith.shli" || name == "arith.shrsi" || name == "arith.shrui") {
    if (ub >= static_cast<uint64_t>(bits_of(e))) return false;
    n = name == "arith.shli" ? wide(ua << ub) : name == "arith.shrsi" ? a >> ub : wide(ua >> ub);
  } else {
    const bool is_signed = name.compare(name.size() - 2, 2, "si") == 0;
    if (ub == 0) return false;
    if (!is_signed) {
      n = name == "arith.remui" ? wide(ua % ub) : wide(ua / ub + (name == "arith.ceildivui" && ua % ub != 0 ? 1 : 0));
    } else if (b == -1) {
      n = name == "arith.remsi" ? 0 : wide(~static_cast<uint64_t>(a) + 1);
    } else {
      const int64_t quotient = a / b;
      const int64_t rest = a % b;
      n = name == "arith.remsi" ? rest : quotient;
      if (name == "arith.ceildivsi" && rest != 0 && (rest > 0) == (b > 0)) ++n;
      if (name == "arith.floordivsi" && rest != 0 && (rest > 0) != (b > 0)) --n;
    }
  }
  *out = wrapped(n, e);
  return true;
}

bool apply_compare(const std::string& p, Element e, int64_t a, int64_t b) {
  if (p == "eq") return a == b;
  if (p == "ne") return a != b;
  if (e == Element::i1) {  // as a signed one, true is -1
    a = p[0] == 's' ? -a : a;
    b = p[0] == 's' ? -b : b;
  }
  const bool less =
      p[0] == 's' ? a < b : (static_cast<uint64_t>(a) & mask_of(e)) < (static_cast<uint64_t>(b) & mask_of(e));
  const bool also_equal = p[2] == 'e';  // lt, le, gt, ge behind the sign
  return p[1] == 'l' ? less || (also_equal && a == b) : !less && (also_equal || a != b);
}

bool apply_compare(const std::string& p, double a, double b) {
  const bool unordered = std::isnan(a) || std::isnan(b);
  if (p == "true" || p == "false") return p == "true";
  if (p == "ord" || p == "uno") return (p == "uno") == unordered;
  if (unordered) return p[0] == 'u';
  const std::string how = p.substr(1);
  return how == "eq"   ? a == b
         : how == "ne" ? a != b
         : how == "lt" ? a < b
         : how == "le" ? a <= b
         : how == "gt" ? a > b
                       : a >= b;
}

std::shared_ptr<Known> combine(const std::string& name, Element result, const Known& a, const Known& b,
                               const Combine& f, bool* bad) {
  if (a.form == Known::Form::open || b.form == Known::Form::open) return nullptr;
  const uint32_t bits = a.depends_on() | b.depends_on();
  auto k = Known::of(result, a.shape, 0);
  const int rank = a.shape.rank();
  // Sums of sums, and multiples, as long as nothing wraps.
  const bool scales = name == "arith.muli" && (a.depends_on() == 0 || b.depends_on() == 0);
  if (result != Element::i1 && (name == "arith.addi" || name == "arith.subi" || scales)) {
    const Known& whole = scales && a.depends_on() == 0 ? b : a;
    const int64_t factor = scales ? (a.depends_on() == 0 ? a.base : b.base) : 1;
    const int64_t sign = name == "arith.subi" ? -1 : 1;
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
      for (int64_t x = 0; x < a.shape[d]; ++x)
        values.push_back(scales ? whole.axes[i].at(x) * factor : a.axes[i].at(x) + sign * b.axes[i].at(x));
      k->axes[i] = axis_of(std::move(values), &k->base);
    }
    if (holds && in_range(*k)) return k;
    k = Known::of(result, a.shape, 0);
  }
  // Conditions that all must hold.
  if (result == Element::i1 && name == "arith.andi" && a.form == Known::Form::product &&
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
  // What depends on no index, or on that of one dimension.
  std::vector<int64_t> index(static_cast<size_t>(rank), 0);
  if (bits == 0) {
    if (!f(a.at(index), b.at(index), &k->base)) *bad = true;
    return k;
  }
  if ((bits & (bits - 1)) != 0) return nullptr;
  int d = 0;
  while ((bits >> d) != 1) ++d;
  const auto i = static_cast<size_t>(d);
  std::vector<int64_t> values;
  for (int64_t x = 0; x < a.shape[d]; ++x) {
    index[i] = x;
    int64_t n = 0;
    if (!f(a.at(index), b.at(index), &n)) n = 0;  // by 0, or too far: a mask may leave it out
    values.push_back(n);
  }
  if (result == Element::i1) {
    k->base = 1;
    k->axes[i].values = std::make_shared<const std::vector<int64_t>>(std::move(values));
  } else {
    k->axes[i] = axis_of(std::move(values), &k->base);
  }
  return k;
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
    // Of a dimension of one only index 0 counts.
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
  // Dimensions of one come and go.
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
