// SPDX-License-Identifier: Apache-2.0
// Shape changes of blocks, and folds: parts of blocks that have more dimensions than tl supports.
#include <set>

#include "kernbench/platform/triton/engines.h"

namespace kernbench::triton {

DataPtr Engines::plain(const DataPtr& in) {
  const DataPtr& d = settled(in);
  if (!d->folded()) return d;
  await(*d);
  auto line = std::make_shared<Data>(*d);
  if (line->part.shape() != line->folds)
    line->part = tl_.copy(line->part.broadcast_to(line->folds, where_.file, where_.line), where_.file, where_.line);
  line->part = tl_.reshape(line->part, line->shape, where_.file, where_.line);
  line->folds = {};
  return line;
}

Dims Engines::common_folds(const Operands& x) {
  if (std::none_of(x.blocks.begin(), x.blocks.end(), [](const DataPtr& b) { return b && b->folded(); })) return {};
  std::set<int64_t> behind;  // number of elements in the dimensions after each cut
  int64_t all = 1;
  for (const DataPtr& b : x.blocks) {
    if (!b || !b->folded()) continue;
    all = b->shape.elements();
    int64_t n = 1;
    for (int d = b->folds.rank() - 1; d > 0; --d) behind.insert(n *= b->folds[d]);
  }
  Dims folds;
  if (behind.empty() || behind.size() >= static_cast<size_t>(kMaxRank)) return folds;
  for (auto n = behind.rbegin(); n != behind.rend(); ++n) {
    if (all % *n != 0) return {};
    folds.push_back(all / *n);
    all = *n;
  }
  folds.push_back(all);
  return folds;
}

DataPtr Engines::folded(const DataPtr& in, const Dims& folds) {
  if (in->folds == folds) return in;
  const DataPtr& d = settled(in);
  const Dims& was = d->part.shape();
  Dims shape;  // of the part; its dimensions follow the folds
  int64_t within = 1;
  for (int f = folds.rank() - 1, i = was.rank() - 1; f >= 0; --f) {
    const int64_t extent = d->folded() ? d->folds[i] : d->shape[i];
    shape.push_back(was[i] == 1 ? 1 : folds[f]);
    within *= folds[f];
    if (within < extent) continue;
    within = 1;
    --i;
  }
  auto out = std::make_shared<Data>(*d);
  Dims turned;
  for (int f = shape.rank() - 1; f >= 0; --f) turned.push_back(shape[f]);
  out->part = tl_.reshape(d->part, turned, where_.file, where_.line);
  out->folds = folds;
  return out;
}

DataPtr Engines::expand(const DataPtr& in, int axis, const Dims& shape) {
  const DataPtr d = plain(in);
  auto out = std::make_shared<Data>(*d);
  out->part = d->part.expand_dims(axis, where_.file, where_.line);
  out->shape = shape;
  out->first = zeros(shape.rank());
  out->count = shape;
  for (int i = 0; i < d->shape.rank(); ++i) {
    out->first[i < axis ? i : i + 1] = d->first[i];
    out->count[i < axis ? i : i + 1] = d->count[i];
  }
  return out;
}

DataPtr Engines::spread(const DataPtr& in, const Dims& shape) {
  const DataPtr d = plain(in);
  auto out = std::make_shared<Data>(*d);
  out->said = nullptr;
  out->shape = shape;
  for (int i = 0; i < shape.rank(); ++i) {
    if (d->shape[i] != shape[i]) out->count[i] = shape[i];
  }
  return out;
}

DataPtr Engines::spread_deep(const DataPtr& in, const Shape& from, const Shape& to) {
  if (from == to) return in;
  // Neighbouring dimensions are merged if all of them repeat or none does.
  Dims folds, kept;
  bool repeats = false;
  for (int d = 0; d < to.rank(); ++d) {
    if (to[d] == 1) continue;
    const bool repeated = from[d] == 1;
    if (folds.rank() > 0 && repeated == repeats) {
      folds[folds.rank() - 1] *= to[d];
      if (!repeated) kept[kept.rank() - 1] *= to[d];
      continue;
    }
    if (folds.rank() == kMaxRank)
      fault("a broadcast along non-adjacent dimensions, in more than " + std::to_string(kMaxRank) + " groups");
    folds.push_back(to[d]);
    kept.push_back(repeated ? 1 : to[d]);
    repeats = repeated;
  }
  const DataPtr d = plain(whole(in));
  auto out = std::make_shared<Data>(*d);
  out->said = nullptr;
  out->shape = out->count = to.dims();
  out->first = zeros(to.dims().rank());
  if (d->part.elements() == 1) {
    out->part = d->part.reshape(ones(to.dims().rank()), where_.file, where_.line);
    return out;
  }
  out->folds = folds;
  out->part = tl_.reshape(d->part, kept, where_.file, where_.line);
  return out;
}

DataPtr Engines::permute(const DataPtr& in, const std::vector<int64_t>& order, const Dims& shape) {
  const DataPtr d = plain(in);
  auto out = std::make_shared<Data>(*d);
  out->said = nullptr;
  out->part = d->part.permute(std::vector<int>(order.begin(), order.end()), where_.file, where_.line);
  out->shape = shape;
  for (size_t i = 0; i < order.size(); ++i) {
    out->first[static_cast<int>(i)] = d->first[static_cast<int>(order[i])];
    out->count[static_cast<int>(i)] = d->count[static_cast<int>(order[i])];
  }
  return out;
}

DataPtr Engines::reshape(const DataPtr& in, const Dims& shape) {
  if (in->shape == shape) return in;
  const DataPtr d = plain(in);
  if (d->part.elements() == 1 && d->whole())
    return of(d->part.reshape(ones(shape.rank()), where_.file, where_.line), shape);
  const bool was = d->readable && d->whole() && d->part.shape() == d->shape;
  const tl::Tensor t = tl_.reshape(dense(d), shape, where_.file, where_.line);
  return of(t, shape, was && t.id() == d->part.id());
}

}  // namespace kernbench::triton
