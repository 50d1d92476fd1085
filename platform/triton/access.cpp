// SPDX-License-Identifier: Apache-2.0
// Loads and stores. Pointers and masks are turned into blocks, one command each.
#include <algorithm>
#include <array>
#include <numeric>

#include "kernbench/kernel_api/assembly.h"
#include "kernbench/platform/triton/engines.h"

namespace kernbench::triton {

/// Indices [first, first + count) of a dimension, at offset + stride · (index - first) elements.
struct Engines::Run {
  int64_t first = 0, count = 1, offset = 0, stride = 0;
};

/// A run of indices of each dimension.
class Engines::Runs {
 public:
  size_t size() const { return size_; }
  void push_back(const Run& r) { all_[size_++] = r; }
  Run& operator[](size_t d) { return all_[d]; }
  const Run& operator[](size_t d) const { return all_[d]; }
  const Run* begin() const { return all_.data(); }
  const Run* end() const { return begin() + size_; }

 private:
  size_t size_ = 0;
  std::array<Run, kMaxRank> all_;
};

namespace {

constexpr const char* kStore = "store";  // tl itself keeps a program's stores to one place in order

/// The runs of one dimension between two indices; each run has one stride.
template <class R>
std::vector<R> runs_of(const Known::Axis& axis, int64_t first, int64_t count) {
  if (!axis.values) return {{first, count, axis.at(first), axis.stride}};
  std::vector<R> runs;
  for (int64_t i = first; i < first + count;) {
    int64_t end = i + 1;
    const int64_t stride = end < first + count ? axis.at(end) - axis.at(i) : 0;
    while (end < first + count && axis.at(end) - axis.at(end - 1) == stride) ++end;
    runs.push_back({i, end - i, axis.at(i), end - i > 1 ? stride : 0});
    i = end;
  }
  return runs;
}

/// The indices that a mask selects in a dimension. False: they are not contiguous.
bool interval(const Known* mask, int d, int64_t extent, int64_t* first, int64_t* count) {
  *first = 0;
  *count = extent;
  if (mask == nullptr) return true;
  if (mask->base == 0) {
    *count = 0;
    return true;
  }
  const auto& truths = mask->axes[static_cast<size_t>(d)].values;
  if (!truths || truths == all_true(extent)) return true;
  int64_t low = 0, high = extent;
  while (low < high && !(*truths)[static_cast<size_t>(low)]) ++low;
  while (high > low && !(*truths)[static_cast<size_t>(high - 1)]) --high;
  *first = low;
  *count = high - low;
  for (int64_t i = low; i < high; ++i) {
    if (!(*truths)[static_cast<size_t>(i)]) return false;
  }
  return true;
}

}  // namespace

/// Memory order of the dimensions that matter, from the widest stride to the narrowest; contiguous dimensions are
/// joined.
struct Engines::Place {
  Dims order;            ///< dimensions with more than one place, in memory order
  Dims shape;            ///< of these dimensions
  Dims counts, strides;  ///< of the joined dimensions
  bool simple = true;    ///< no stride is negative, and none overlaps another

  explicit Place(const Runs& runs) {
    const auto stride_of = [&](int64_t d) { return runs[static_cast<size_t>(d)].stride; };
    for (int d = 0; d < static_cast<int>(runs.size()); ++d) {
      const Run& r = runs[static_cast<size_t>(d)];
      simple = simple && r.stride >= 0;
      if (r.count <= 1 || r.stride == 0) continue;
      order.push_back(d);
      for (int i = order.rank() - 1; i > 0 && stride_of(order[i - 1]) < r.stride; --i)
        std::swap(order[i - 1], order[i]);
    }
    for (const int64_t d : order) {
      const Run& r = runs[static_cast<size_t>(d)];
      shape.push_back(r.count);
      const int last = counts.rank() - 1;
      if (last >= 0 && strides[last] == r.stride * r.count) {
        counts[last] *= r.count;
        strides[last] = r.stride;
      } else {
        counts.push_back(r.count);
        strides.push_back(r.stride);
      }
    }
    if (counts.rank() == 0 || strides[counts.rank() - 1] != 1) {
      if (counts.rank() == kMaxRank) {
        simple = false;
        return;
      }
      counts.push_back(1);
      strides.push_back(1);
    }
    for (int d = 0; d + 1 < counts.rank(); ++d)
      simple = simple && strides[d] >= strides[d + 1] * (counts[d + 1] - 1) + 1;
  }
  bool has(int d) const { return std::find(order.begin(), order.end(), d) != order.end(); }
  int64_t rows() const {
    int64_t n = 1;
    for (int d = 0; d + 2 < counts.rank(); ++d) n *= counts[d];
    return n;
  }
  int64_t offset_of(int64_t row) const {
    int64_t at = 0;
    for (int d = counts.rank() - 3; d >= 0; --d) {
      at += row % counts[d] * strides[d];
      row /= counts[d];
    }
    return at;
  }
  Dims block() const {
    const int r = counts.rank();
    return r == 1 ? Dims{counts[0]} : Dims{counts[r - 2], counts[r - 1]};
  }
  int64_t ld() const { return counts.rank() == 1 ? 0 : strides[counts.rank() - 2]; }
};

// ---- The order of accesses ------------------------------------------------------------------------------------------

tl::Tensor Engines::Loading::tensor() const {
  Loading l = *this;
  l.handle_ = held_.lock();
  return l;
}

Engines::Span Engines::span_of(const tl::Ptr& base, const Known& offsets, const Known* mask) {
  int64_t low = 0, high = 0;  // elements
  if (offsets.form == Known::Form::sum && (mask == nullptr || mask->form == Known::Form::product)) {
    low = high = offsets.base;
    for (int d = 0; d < offsets.shape.rank(); ++d) {
      int64_t first = 0, count = 0;
      interval(mask, d, offsets.shape[d], &first, &count);
      if (count == 0) return {};
      const Known::Axis& axis = offsets.axes[static_cast<size_t>(d)];
      int64_t least = axis.at(first), most = least;
      for (int64_t i = axis.values ? first : first + count - 1; i < first + count; ++i) {
        least = std::min(least, axis.at(i));
        most = std::max(most, axis.at(i));
      }
      low += least;
      high += most;
    }
  } else {
    const Known::Values at = offsets.elements();
    const Known::Values on = mask ? mask->elements() : nullptr;
    bool any = false;
    for (size_t i = 0; i < at->size(); ++i) {
      if (on && (*on)[i] == 0) continue;
      low = any ? std::min(low, (*at)[i]) : (*at)[i];
      high = any ? std::max(high, (*at)[i]) : (*at)[i];
      any = true;
    }
    if (!any) return {};
  }
  return {(base + low).addr, (base + (high + 1)).addr};
}

void Engines::wait_for_loads(const Span* span) {
  if (loading_.empty()) return;
  std::vector<Loading> left;
  for (Loading& l : std::exchange(loading_, {})) {
    if (!l.held()) continue;
    if (span == nullptr || l.span.meets(*span)) {
      tl_.wait(l.tensor());
    } else {
      left.push_back(std::move(l));
    }
  }
  loading_ = std::move(left);
}

void Engines::wait_for_written(const Span& span, const std::string& op) {
  const auto is_waited_for = [&](const Written& a) { return a.span.meets(span) && (op.empty() || a.op != op); };
  if (std::none_of(written_.begin(), written_.end(), is_waited_for)) return;
  std::vector<Written> left;
  for (Written& a : std::exchange(written_, {})) {
    if (!is_waited_for(a)) {
      left.push_back(std::move(a));
      continue;
    }
    for (const tl::Event& e : a.done) tl_.wait(e);
    if (a.old.valid()) tl_.wait(a.old);
  }
  written_ = std::move(left);
}

void Engines::before_store(const Span& span) {
  wait_for_written(span, kStore);
  wait_for_loads(&span);
}

void Engines::in_flight(const Span& span, const tl::Tensor& load) {
  loading_.erase(std::remove_if(loading_.begin(), loading_.end(), [](const Loading& l) { return !l.held(); }),
                 loading_.end());
  loading_.emplace_back(span, load);
}

void Engines::in_flight(Written a) {
  // A held old value takes room in TCM, so at most kMostOld are open at once. Beyond kMost, other writes share an
  // entry.
  constexpr size_t kMost = 64, kMostOld = 4;
  if (a.old.valid()) {
    const auto is_old = [](const Written& x) { return x.old.valid(); };
    if (std::count_if(written_.begin(), written_.end(), is_old) == static_cast<std::ptrdiff_t>(kMostOld)) {
      const auto oldest = std::find_if(written_.begin(), written_.end(), is_old);
      tl_.wait(oldest->old);
      written_.erase(oldest);
    }
  } else if (written_.size() >= kMost) {
    const auto joined = std::find_if(written_.begin(), written_.end(), [](const Written& x) { return !x.old.valid(); });
    joined->span = {std::min(joined->span.begin, a.span.begin), std::max(joined->span.end, a.span.end)};
    if (joined->op != a.op) joined->op.clear();
    joined->done.insert(joined->done.end(), a.done.begin(), a.done.end());
    return;
  }
  written_.push_back(std::move(a));
}

// ---- Loads and stores -----------------------------------------------------------------------------------------------

tl::Tensor Engines::load_block(const tl::Ptr& base, const Runs& runs, const Place& place, bool* readable) {
  tl::Ptr p = base;
  for (const Run& r : runs) p += r.offset;
  tl::Tensor t;
  const auto piece = [&](int64_t row) -> tl::Tensor {
    return tl_.load_async((p + place.offset_of(row)).block(place.block(), place.ld(), where_.file, where_.line),
                          where_.file, where_.line);
  };
  if (place.rows() == 1) {
    t = piece(0);
    *readable = true;
  } else {
    *readable = false;
    std::vector<tl::Tensor> parts;
    const int64_t each = place.block().elements();
    tl::Assembly all(tl_, base.dtype, each * place.rows(), where_.file, where_.line);
    for (int64_t row = 0; row < place.rows(); ++row) parts.push_back(all.part(row * each, [&] { return piece(row); }));
    for (const tl::Tensor& part : parts) tl_.wait(part);
    t = all.whole();
  }
  if (t.shape() != place.shape) t = t.reshape(place.shape, where_.file, where_.line);
  // From memory order to the block's order, with size 1 where all elements are equal.
  if (!std::is_sorted(place.order.begin(), place.order.end())) {
    std::vector<int> back;
    for (int d = 0; d < static_cast<int>(runs.size()); ++d) {
      const auto at = std::find(place.order.begin(), place.order.end(), d);
      if (at != place.order.end()) back.push_back(static_cast<int>(at - place.order.begin()));
    }
    t = t.permute(back, where_.file, where_.line);
  }
  for (int d = 0; d < static_cast<int>(runs.size()); ++d) {
    if (!place.has(d)) t = t.expand_dims(d, where_.file, where_.line);
  }
  return t;
}

Value Engines::load(const tl::Ptr& base, const KnownPtr& offsets, const KnownPtr& mask, double other,
                    const Type& result) {
  const int rank = offsets->shape.rank();
  const auto nothing = [&] {
    if (is_float(result.element)) {
      Value v = Value::of_real(other);
      v.kind = Value::Kind::uniform;
      return v;
    }
    return Value::of(KnownPtr(Known::of(result.element, offsets->shape, static_cast<int64_t>(other))));
  };
  bool ruled = offsets->form == Known::Form::sum && (!mask || mask->form == Known::Form::product);
  Dims first = zeros(rank), count = offsets->shape;
  for (int d = 0; ruled && d < rank; ++d) {
    ruled = interval(mask.get(), d, offsets->shape[d], &first[d], &count[d]);
    if (count[d] == 0) return nothing();
  }
  const Span span = span_of(base, *offsets, mask.get());
  before_load(span);
  if (!ruled) return load_elements(base, *offsets, mask.get(), other, result);
  tl::Ptr p = base + offsets->base;
  const auto boxed = [&](std::shared_ptr<Data> d) {
    d->shape = offsets->shape;
    d->first = first;
    d->count = count;
    d->fill = other;
    return Value::of(DataPtr(std::move(d)));
  };
  // One run per dimension. One dimension may have several runs, each a part.
  Runs chosen;
  std::vector<Run> split_runs;
  int split = -1;
  for (int d = 0; d < rank; ++d) {
    const Known::Axis& axis = offsets->axes[static_cast<size_t>(d)];
    if (!axis.values) {
      chosen.push_back({first[d], count[d], axis.at(first[d]), axis.stride});
      continue;
    }
    std::vector<Run> runs = runs_of<Run>(axis, first[d], count[d]);
    chosen.push_back(runs.front());
    if (runs.size() == 1) continue;
    if (split >= 0) return load_elements(base, *offsets, mask.get(), other, result);
    split = d;
    split_runs = std::move(runs);
  }
  if (split < 0) {
    const Place place(chosen);
    if (!place.simple) return load_elements(base, *offsets, mask.get(), other, result);
    auto d = std::make_shared<Data>();
    d->part = load_block(p, chosen, place, &d->readable);
    in_flight(span, d->part);
    return boxed(std::move(d));
  }
  std::vector<Place> places;
  for (const Run& r : split_runs) {
    chosen[static_cast<size_t>(split)] = r;
    places.emplace_back(chosen);
    if (!places.back().simple) return load_elements(base, *offsets, mask.get(), other, result);
  }
  bool readable = false;
  // Each part fills its places along the split dimension. The other dimensions must be complete.
  std::vector<tl::Tensor> pieces;
  for (size_t n = 0; n < split_runs.size(); ++n) {
    chosen[static_cast<size_t>(split)] = split_runs[n];
    const tl::Tensor t = load_block(p, chosen, places[n], &readable);
    Dims full_shape = t.shape();
    full_shape[split] = split_runs[n].count;
    pieces.push_back(t.broadcast_to(full_shape, where_.file, where_.line));
  }
  auto d = std::make_shared<Data>();
  d->part = stack(pieces, split);
  return boxed(std::move(d));
}

tl::Tensor Engines::index_of(const Known::Values& at, const Known::Values& on, tl::Tensor* mask) {
  const auto n = static_cast<int64_t>(at->size());
  if (on) *mask = sync_.tensor(*on, {n}, DType::u8, where_.file, where_.line);
  return sync_.tensor(*at, {n}, DType::i64, where_.file, where_.line);
}

/// Irregular accesses are one gather.
Value Engines::load_elements(const tl::Ptr& base, const Known& offsets, const Known* mask, double other,
                             const Type& result) {
  tl::Tensor on;
  const tl::Tensor index = index_of(offsets.elements(), mask ? mask->elements() : nullptr, &on);
  const tl::Tensor t = tl_.gather(base, index, on, other, 1, 0, where_.file, where_.line);
  in_flight(span_of(base, offsets, mask), t);
  return Value::of(of(t.reshape(result.shape, where_.file, where_.line), result.shape, true));
}

void Engines::store_block(const tl::Ptr& base, const Runs& runs, const Place& place, const tl::Tensor& value,
                          const tl::Tensor& on) {
  tl::Ptr p = base;
  for (const Run& r : runs) p += r.offset;
  const Dims block = place.block();
  // Dimensions in memory order. Of dimensions that all write one place, only the last index is stored.
  const auto arranged = [&](tl::Tensor t) {
    std::vector<int> order(place.order.begin(), place.order.end());
    for (int d = static_cast<int>(runs.size()) - 1; d >= 0; --d) {
      if (place.has(d)) continue;
      t = t.slice(d, t.shape()[d] - 1, 1, where_.file, where_.line);
      order.insert(order.begin(), d);
    }
    if (!std::is_sorted(order.begin(), order.end())) t = t.permute(order, where_.file, where_.line);
    Dims rows = {place.rows()};
    for (const int64_t c : block) rows.push_back(c);
    t = tl_.reshape(t, rows, where_.file, where_.line);
    tl_.wait(t);  // a store reads its value when it is submitted
    return t;
  };
  const auto row_of = [&](const tl::Tensor& t, int64_t row) {
    return tl_.reshape(t.slice(0, row, 1, where_.file, where_.line), block, where_.file, where_.line);
  };
  const tl::Tensor t = arranged(value);
  const tl::Tensor mask = on.valid() ? arranged(on) : on;
  for (int64_t row = 0; row < place.rows(); ++row) {
    const tl::Block to = (p + place.offset_of(row)).block(block, place.ld(), where_.file, where_.line);
    const tl::Tensor one = row_of(t, row);
    stores_.push_back(on.valid() ? tl_.store_async(to, one, row_of(mask, row), where_.file, where_.line)
                                 : tl_.store_async(to, one, where_.file, where_.line));
  }
}

void Engines::store(const tl::Ptr& base, const KnownPtr& offsets, const KnownPtr& mask, const Value& v,
                    const Type& type, const DataPtr& on) {
  const Span span = span_of(base, *offsets, mask.get());
  before_store(span);
  const size_t before = stores_.size();
  write(base, offsets, mask, v, type, on);
  if (stores_.size() > before)
    in_flight({span, {stores_.begin() + static_cast<std::ptrdiff_t>(before), stores_.end()}, {}, kStore});
}

void Engines::write(const tl::Ptr& base, const KnownPtr& offsets, const KnownPtr& mask, const Value& v,
                    const Type& type, const DataPtr& on) {
  const int rank = offsets->shape.rank();
  bool ruled = offsets->form == Known::Form::sum && (!mask || mask->form == Known::Form::product);
  Dims first = zeros(rank), count = offsets->shape;
  for (int d = 0; ruled && d < rank; ++d) {
    ruled = interval(mask.get(), d, offsets->shape[d], &first[d], &count[d]);
    if (count[d] == 0) return;
  }
  std::array<std::vector<Run>, kMaxRank> runs;
  for (int d = 0; ruled && d < rank; ++d) {
    const auto i = static_cast<size_t>(d);
    runs[i] = runs_of<Run>(offsets->axes[i], first[d], count[d]);
    for (const Run& r : runs[i]) ruled = ruled && r.stride >= 0;
  }
  DataPtr d = data(v, type);
  const auto elementwise = [&] {
    if (on) fault("a masked store with a mask from data, to irregular addresses: values of Phase 2 are not known yet");
    store_elements(base, *offsets, mask.get(), dense(data(v, type)));
  };
  if (!ruled) return elementwise();
  // The value inside the mask's box.
  Dims low = first, high = first;
  for (int i = 0; i < rank; ++i) {
    low[i] = std::min(first[i], d->first[i]);
    high[i] = std::max(first[i] + count[i], d->first[i] + d->count[i]) - low[i];
  }
  d = plain(pad(d, low, high));
  tl::Tensor t = d->part;
  for (int i = 0; i < rank; ++i) {
    if (!d->alike(i) && t.shape()[i] == d->count[i])
      t = t.slice(i, first[i] - d->first[i], count[i], where_.file, where_.line);
  }
  if (t.shape() != count) t = tl_.copy(t.broadcast_to(count, where_.file, where_.line), where_.file, where_.line);
  const tl::Tensor chosen = on ? dense(on) : tl::Tensor{};
  // Every combination of one run per dimension.
  std::array<size_t, kMaxRank> choice{};
  for (;;) {
    Runs one;
    tl::Tensor piece = t, piece_on = chosen;
    for (int i = 0; i < rank; ++i) {
      const Run& r = runs[static_cast<size_t>(i)][choice[static_cast<size_t>(i)]];
      one.push_back(r);
      if (r.count == count[i]) continue;
      piece = piece.slice(i, r.first - first[i], r.count, where_.file, where_.line);
      if (on) piece_on = piece_on.slice(i, r.first - first[i], r.count, where_.file, where_.line);
    }
    const Place place(one);
    if (!place.simple) return elementwise();
    store_block(base + offsets->base, one, place, piece, piece_on);
    int i = rank - 1;
    for (; i >= 0; --i) {
      if (++choice[static_cast<size_t>(i)] < runs[static_cast<size_t>(i)].size()) break;
      choice[static_cast<size_t>(i)] = 0;
    }
    if (i < 0) return;
  }
}

void Engines::store_elements(const tl::Ptr& base, const Known& offsets, const Known* mask, const tl::Tensor& value) {
  tl::Tensor on;
  const tl::Tensor index = index_of(offsets.elements(), mask ? mask->elements() : nullptr, &on);
  const tl::Tensor flat = tl_.reshape(value, {offsets.shape.elements()}, where_.file, where_.line);
  tl_.wait(flat);  // a store reads its value when it is submitted
  stores_.push_back(tl_.scatter(base, index, flat, on, 1, 0, where_.file, where_.line));
}

/// The operand of an atomic: a number, or n elements.
tl::Arg Engines::operand(const Value& v, const Type& type, DType dtype, int64_t n) {
  const auto number = [&](auto x) { return tl::Arg(x, where_.file, where_.line); };
  if (v.is(Value::Kind::integer) && is_immediate(v.n))
    return number(dtype == DType::u32 ? static_cast<uint32_t>(v.n) : v.n);
  if (v.is(Value::Kind::real) || v.is(Value::Kind::uniform)) return number(v.d);
  tl::Tensor t;
  if (v.is(Value::Kind::integer)) {
    t = sync_.tensor(std::vector<int64_t>(static_cast<size_t>(n), v.n), {n}, dtype, where_.file, where_.line);
  } else if (v.is(Value::Kind::known)) {
    if (v.known->uniform() && is_immediate(v.known->base))
      return number(dtype == DType::u32 ? static_cast<uint32_t>(v.known->base) : v.known->base);
    t = sync_.tensor(*v.known->elements(), {n}, dtype, where_.file, where_.line);
  } else {
    t = dense(data(v, type));
    t = tl_.reshape(t, {n}, where_.file, where_.line);
    if (t.dtype() != dtype) t = sync_.cast(t, dtype, where_.file, where_.line);
    tl_.wait(t);  // an atomic reads its operand when it is submitted
  }
  return arg(t);
}

Value Engines::atomic(const Atomic& a, tl::Ptr p, const KnownPtr& offsets, const KnownPtr& mask, const Value& v,
                      const Type& type) {
  const int64_t n = offsets ? offsets->shape.elements() : 1;
  if (a.is_unsigned && p.dtype == DType::i32) p = p.cast(DType::u32);
  static const auto first = std::make_shared<const std::vector<int64_t>>(1, 0);
  tl::Tensor on;
  const tl::Tensor index = index_of(offsets ? offsets->elements() : first, mask ? mask->elements() : nullptr, &on);
  const tl::Arg value = operand(v, type, p.dtype, n);
  const Span span = offsets ? span_of(p, *offsets, mask.get()) : Span{p.addr, (p + 1).addr};
  // Loads before a release must complete before another PE sees the release.
  const bool releases = a.sem == tl::Sem::release || a.sem == tl::Sem::acq_rel;
  wait_for_loads(releases ? nullptr : &span);
  const bool reduces = a.reduces && a.op != "xchg" && a.op != "cas";
  const std::string adds = reduces ? a.op + (a.is_unsigned ? "u" : "") : "";
  wait_for_written(span, adds);
  if (reduces) {
    stores_.push_back(tl_.red(a.op.c_str(), p, index, value, on, a.sem));
    in_flight({span, {stores_.back()}, {}, adds});
    return {};
  }
  tl::Tensor old = a.op == "cas" ? tl_.atomic_cas(p, index, operand(*a.expected, type, p.dtype, n), value, a.sem)
                                 : tl_.atomic(a.op.c_str(), p, index, value, on, a.sem);
  in_flight({span, {}, old, ""});
  const bool readable = p.dtype != DType::u32;
  if (!readable) old = sync_.cast(old, DType::i32, where_.file, where_.line);
  const Dims shape = type.tensor ? type.shape.dims() : Dims{};
  return Value::of(of(old.reshape(shape, where_.file, where_.line), shape, readable));
}

KnownPtr Engines::tile_offsets(const Tile& t, const Dims& shape) {
  auto k = Known::of(Element::i64, shape, 0);
  for (int d = 0; d < shape.rank(); ++d) {
    const auto i = static_cast<size_t>(d);
    k->base += t.offsets[i] * t.strides[i];
    k->axes[i].stride = t.strides[i];
  }
  return k;
}

KnownPtr Engines::tile_mask(const Tile& t, const Dims& shape, const std::vector<bool>& checked) {
  auto k = Known::of(Element::i1, shape, 1);
  bool all = true;
  for (int d = 0; d < shape.rank(); ++d) {
    const auto i = static_cast<size_t>(d);
    if (!checked[i]) continue;
    if (t.offsets[i] >= 0 && t.offsets[i] + shape[d] <= t.shape[i]) continue;
    std::vector<int64_t> truths;
    for (int64_t x = 0; x < shape[d]; ++x) truths.push_back(t.offsets[i] + x >= 0 && t.offsets[i] + x < t.shape[i]);
    k->axes[i].values = std::make_shared<const std::vector<int64_t>>(std::move(truths));
    all = false;
  }
  return all ? nullptr : k;
}

}  // namespace kernbench::triton
