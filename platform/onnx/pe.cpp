// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/onnx/pe.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "kernbench/kernel_api/pe_backend.h"
#include "kernbench/platform/onnx/fusion.h"

namespace kernbench::onnx {
namespace {

/// A divisor of the lengths of all contiguous runs that the positions form.
int64_t width_of(const std::vector<int64_t>& places) {
  int64_t width = static_cast<int64_t>(places.size());
  for (size_t i = 1; i < places.size() && width > 1; ++i) {
    const bool goes_on =
        places[i] >= 0 && places[i - 1] >= 0 ? places[i] == places[i - 1] + 1 : places[i] == places[i - 1];
    if (!goes_on) width = std::gcd(width, static_cast<int64_t>(i));
  }
  return width;
}

}  // namespace

Strides Strides::broadcast(const Shape& shape, const Shape& to) {
  const Shape own = row_major_strides(shape);
  Strides s{to, Shape(to.size(), 0), 0};
  for (size_t i = 0; i < shape.size(); ++i) s.strides[to.size() - shape.size() + i] = shape[i] == 1 ? 0 : own[i];
  return s;
}

int64_t Strides::at(int64_t flat) const {
  int64_t place = offset;
  for (size_t d = shape.size(); d-- > 0; flat /= shape[d]) place += flat % shape[d] * strides[d];
  return place;
}

std::vector<int64_t> Strides::range(int64_t first, int64_t count) const {
  std::vector<int64_t> places(static_cast<size_t>(count));
  if (count == 0) return places;
  Shape index = unflattened(first, shape);
  int64_t place = at(first);
  for (int64_t& p : places) {
    p = place;
    for (size_t d = shape.size(); d-- > 0;) {
      place += strides[d];
      if (++index[d] < shape[d]) break;
      place -= index[d] * strides[d];
      index[d] = 0;
    }
  }
  return places;
}

int64_t Strides::uniform() const {
  int64_t together = 1, step = 0;
  for (size_t d = shape.size(); d-- > 0;) {
    if (shape[d] == 1) continue;
    if (together == 1 && strides[d] <= 1)
      step = strides[d];
    else if (together == 1 || strides[d] != step * together)
      break;
    together *= shape[d];
  }
  return together;
}

Shape unflattened(int64_t flat, const Shape& shape) {
  Shape index(shape.size());
  for (size_t d = shape.size(); d-- > 0; flat /= shape[d]) index[d] = flat % shape[d];
  return index;
}

tl::Ptr whole_of(const tl::Args& args, const std::string& name) {
  for (uint32_t p = 0; p < args.shards(); ++p) {
    const tl::View& v = args.shard(name, p);
    if (v.shape.elements() == v.whole.elements()) return v.ptr;  // in one piece
    if (v.shape.elements() > 0) break;
  }
  return args.whole(name).ptr;
}

namespace {

/// The elements of a tile that lie in this PE's block.
tl::Block in_block(const tl::View& own, const Tile& t) {
  const int64_t columns = own.whole[1];
  return own.block().tile(t.first / columns - own.offset[0], t.first % columns - own.offset[1], t.rows, t.columns);
}

}  // namespace

std::optional<Tile> Pe::block() const {
  std::vector<std::string> names{std::string("out0") + kInBlocks};
  for (size_t f = 0; f <= followers_.size(); ++f) {
    const Op& of = f == 0 ? op : *followers_[f - 1];
    for (size_t i = 0; i < of.inputs.size(); ++i)
      names.push_back((f == 0 ? prefix_ : prefix_of_follower(f - 1)) + "in" + std::to_string(i) + kInBlocks);
  }
  for (const std::string& name : names) {
    if (!args_.has(name)) continue;
    const tl::View& own = args_[name];
    if (own.empty()) return Tile{};
    return Tile{own.offset[0] * own.whole[1] + own.offset[1], own.shape[0], own.shape[1], own.whole[1]};
  }
  return {};
}

Range Pe::share(size_t output) const {
  const tl::View& v = args_["out" + std::to_string(output)];
  if (v.shape.elements() == 0) return {};
  int64_t first = 0;
  for (int i = 0; i < v.whole.rank(); ++i) first = first * v.whole[i] + v.offset[i];
  return {first, first + v.shape.elements()};
}

Range Pe::share_of(int64_t items) const {
  const int64_t each = tl::Context::cdiv(items, tl.size());
  const int64_t first = std::min(items, tl.index() * each);
  return {first, std::min(items, first + each)};
}

void Pe::for_pieces(const std::function<void(int64_t, int64_t)>& f, size_t output, int64_t piece) const {
  const Range mine = share(output);
  for (int64_t i = mine.first; i < mine.last; i += piece) f(i, std::min(piece, mine.last - i));
}

tl::Tensor Pe::pick(size_t input, const std::vector<int64_t>& places, const Dims& shape, double fill) const {
  const tl::Ptr from = in(input);
  const int64_t n = static_cast<int64_t>(places.size());
  const int64_t width = width_of(places);
  if (width == n && places[0] < 0) return tl.full(shape, fill, from.dtype);
  if (width == n) return tl.load_async(from + places[0], shape);
  if (std::all_of(places.begin(), places.end(), [&](int64_t p) { return p == places[0]; }))
    return tl.load_async(from + places[0], {1}).reshape(Dims()).broadcast_to(shape);
  std::vector<int64_t> firsts, there;
  bool holes = false;
  for (int64_t i = 0; i < n; i += width) {
    const int64_t p = places[static_cast<size_t>(i)];
    firsts.push_back(std::max<int64_t>(p, 0));
    there.push_back(p >= 0);
    holes = holes || p < 0;
  }
  const Dims count{static_cast<int64_t>(firsts.size())};
  const bool wide = *std::max_element(firsts.begin(), firsts.end()) > INT32_MAX;
  const tl::Loaded index = tl.tensor(firsts, count, wide ? DType::i64 : DType::i32);
  const tl::Loaded mask = holes ? tl.tensor(there, count, DType::u8) : tl::Loaded();
  return tl.gather_async(from, index, mask, fill, width, 1).reshape(shape);
}

tl::Tensor Pe::pick(size_t input, const Strides& view, const Tile& t) const {
  if (const std::string blocks = name_of_input(input) + kInBlocks; args_.has(blocks))
    return tl.load_async(in_block(args_[blocks], t));
  std::vector<int64_t> places, starts;
  const std::vector<int64_t> row = view.range(t.first, t.columns);
  const int64_t step = t.columns > 1 ? row[1] - row[0] : 1;
  bool even = step == 0 || step == 1;
  for (int64_t r = 0; r < t.rows; ++r) {
    const std::vector<int64_t> of_row = view.range(t.first + r * t.pitch, t.columns);
    for (int64_t c = 0; even && c < t.columns; ++c) even = of_row[static_cast<size_t>(c)] == of_row[0] + c * step;
    starts.push_back(of_row[0]);
    places.insert(places.end(), of_row.begin(), of_row.end());
  }
  const int64_t pitch = t.rows > 1 ? starts[1] - starts[0] : t.columns;
  for (size_t r = 1; even && r < starts.size(); ++r) even = starts[r] == starts[r - 1] + pitch;
  const Dims loaded{pitch == 0 ? 1 : t.rows, step == 0 ? 1 : t.columns};
  if (!even || pitch < 0 || (pitch > 0 && pitch < loaded[1])) return pick(input, places, t.shape());
  return tl.load_async((in(input) + starts[0]).block(loaded, loaded[0] > 1 ? pitch : 0));
}

bool Pe::lies_apart(size_t input, const Strides& view, const Tile& t) const {
  const int64_t first = view.range(t.first, 1)[0],
                last = view.range(t.first + (t.rows - 1) * t.pitch + t.columns - 1, 1)[0];
  for (uint32_t p = 0; p < args_.shards(); ++p) {
    const tl::View& v = args_.shard(name_of_input(input), p);
    if (v.shape.elements() > 0) return first / v.shape.elements() != last / v.shape.elements();
  }
  return false;
}

int64_t Pe::uniform_in_followers() const {
  int64_t n = op.out().elements();
  for (const Op* f : followers_) {
    for (const Strides& view : f->row->views(*f)) {
      if (!view.shape.empty()) n = std::gcd(n, view.uniform());
    }
  }
  return n;
}

tl::Tensor Pe::finished(tl::Tensor value, const Side& side) const {
  std::map<const Value*, tl::Tensor> made{{&op.out(), std::move(value)}};
  for (size_t f = 0; f < followers_.size(); ++f) {
    const Op& next = *followers_[f];
    Pe pe(tl, args_, next, {}, prefix_of_follower(f));
    const std::vector<Strides> views = next.row->views(next);
    Operands operands;
    for (size_t i = 0; i < views.size(); ++i) {
      const auto inside = next.has(i) ? made.find(&stored(next.in(i))) : made.end();
      operands.push_back(!next.has(i) ? tl::Tensor() : inside != made.end() ? inside->second : side(pe, i, views[i]));
    }
    made[&next.out()] = pe.cast(next.row->each(pe, operands), pe.out_type());
    // Values without later readers leave TCM.
    for (auto it = made.begin(); it != made.end();) {
      const bool used =
          it->first == &next.out() ||
          std::any_of(followers_.begin() + static_cast<std::ptrdiff_t>(f) + 1, followers_.end(), [&](const Op* later) {
            return std::any_of(later->inputs.begin(), later->inputs.end(),
                               [&](const Value* v) { return v && &stored(*v) == it->first; });
          });
      it = used ? std::next(it) : made.erase(it);
    }
  }
  return made.begin()->second;
}

int64_t Pe::followed() const {
  const auto widest = static_cast<int64_t>(size_of(DType::i64));
  return std::clamp<int64_t>(tcm_bytes() / (4 * kMostInTcm * widest), 1, kFollowed);
}

void Pe::put(const Tile& tile, const tl::Tensor& value) const {
  const int64_t most = followed(), rows = std::max<int64_t>(1, most / tile.columns);
  if (!followers_.empty() && tile.rows * tile.columns > most) {
    // Whole rows, or parts of one row. A view with stride 0 along an axis has size 1 there.
    const auto part = [&](const tl::Tensor& t, int axis, int64_t first, int64_t n) {
      return t.dim(axis) == 1 ? t : t.slice(axis, first, n);
    };
    for (int64_t r = 0; r < tile.rows; r += rows) {
      const int64_t n = std::min(rows, tile.rows - r);
      for (int64_t c = 0; c < tile.columns; c += most) {
        const int64_t m = std::min(most, tile.columns - c);
        put(Tile{tile.first + r * tile.pitch + c, n, m, tile.pitch}, part(part(value, 0, r, n), 1, c, m));
      }
    }
    return;
  }
  const tl::Tensor y = finished(cast(value, out_type()), [&](const Pe& pe, size_t input, const Strides& view) {
    return pe.pick(input, view, tile);
  });
  const tl::Tensor whole =
      y.shape().elements() < tile.shape().elements() ? y.broadcast_to(tile.shape()) : y.reshape(tile.shape());
  const std::string blocks = std::string("out0") + kInBlocks;
  if (args_.has(blocks)) tl.store_async(in_block(args_[blocks], tile), whole);
  if (!args_.has(blocks) || args_.has("out0"))
    tl.store_async((out() + tile.first).block(tile.shape(), tile.rows > 1 ? tile.pitch : 0), whole);
}

void Pe::put(size_t output, int64_t first, const tl::Tensor& value) const {
  if (output > 0 || followers_.empty()) {
    tl.store_async(out(output) + first, cast(value, out_type(output)));
    return;
  }
  const int64_t n = value.shape().elements();
  put(Tile{first, 1, n, n}, value.reshape({1, n}));
}

void Pe::put(size_t output, const std::vector<int64_t>& places, const tl::Tensor& value) const {
  const int64_t n = static_cast<int64_t>(places.size()), width = width_of(places);
  tl::Tensor y;
  if (output == 0 && !followers_.empty()) {
    if (width == n && value.shape().rank() == 2)
      return put(Tile{places[0], value.dim(0), value.dim(1), value.dim(1)}, value);
    if (const int64_t most = followed(); n > most) {
      const tl::Tensor flat = tl.reshape(value, {n});
      for (int64_t i = 0; i < n; i += most) {
        const auto first = places.begin() + i, last = places.begin() + std::min(n, i + most);
        put(output, {first, last}, flat.slice(0, i, last - first));
      }
      return;
    }
    y = finished(cast(value, out_type()), [&](const Pe& pe, size_t input, const Strides& view) {
      std::vector<int64_t> seen;
      for (const int64_t p : places) seen.push_back(view.at(p));
      return pe.pick(input, seen, value.shape());
    });
  } else {
    y = cast(value, out_type(output));
  }
  const tl::Tensor flat = tl.reshape(y, {n});
  if (width == n) {
    tl.store_async(out(output) + places[0], flat);
    return;
  }
  std::vector<int64_t> firsts;
  for (int64_t i = 0; i < n; i += width) firsts.push_back(places[static_cast<size_t>(i)]);
  const Dims count{static_cast<int64_t>(firsts.size())};
  const bool wide = *std::max_element(firsts.begin(), firsts.end()) > INT32_MAX;
  const tl::Loaded index = tl.tensor(firsts, count, wide ? DType::i64 : DType::i32);
  tl.scatter_async(out(output), index, width > 1 ? flat.reshape({count[0], width}) : flat, {}, width, 1);
}

tl::Tensor Pe::converted(const tl::Tensor& x) const {
  const DType to = out_type();
  const bool float8 = to == DType::f8e4m3 || to == DType::f8e5m2;
  if (x.dtype() == to || !float8 || op.integer("saturate", 1) == 0) return cast(x, to);
  const double most = largest_of(to);
  return cast(tl.clamp(cast(x, DType::f32), -most, most), to);
}

tl::Tensor Pe::all(size_t input) const {
  return tl.load(in(input), {op.in(input).elements()});
}

std::vector<int64_t> Pe::ints(size_t input) const {
  if (op.in(input).elements() == 0) return {};
  if (op.in(input).constant) return op.in(input).constant->ints();
  return tl.materialize(all(input)).to_vector<int64_t>();
}

std::vector<double> Pe::reals(size_t input) const {
  if (op.in(input).elements() == 0) return {};
  if (op.in(input).constant) return op.in(input).constant->reals();
  return tl.materialize(all(input)).to_vector<double>();
}

}  // namespace kernbench::onnx
