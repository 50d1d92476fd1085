// SPDX-License-Identifier: Apache-2.0
#include "kernbench/kernel_api/kernels/panel.h"

#include <algorithm>
#include <cstdlib>

namespace kernbench::kernels::panel {
namespace {

/// The i-th piece of a range, which may be shorter than the range of the cuts.
Range piece_of(const Range& r, const Cuts& ends, size_t i) {
  const int64_t first = std::min(r.count, i == 0 ? 0 : ends[i - 1]);
  return {r.first + first, std::min(ends[i], r.count) - first};
}
[[noreturn]] void wrong_layout(const Line& l) {
  throw KernelFault("gemm_2d: " + l.name + " does not lie as it must, in blocks of k over the grid of cubes, of the " +
                    (l.axis == 0 ? "rows" : "columns") + " over the other way and the PEs of each cube (host::" +
                    (l.axis == 0 ? "grid_of_rows" : "grid_of_columns") + "()): redistribute it");
}

/// The cube of the line that stores this part of k; -1: none.
int64_t holder(const Line& l, const Stored& stored, const Range& k) {
  for (int64_t c = 0; c < static_cast<int64_t>(stored.size()); ++c) {
    for (int64_t p = 0; p < static_cast<int64_t>(l.peers.size()); ++p) {
      const Range has = l.k(stored, c, p);
      if (!has.empty() && has.first <= k.first && k.end() <= has.end()) return c;
    }
  }
  return -1;
}

/// k cut where shards end. Parts stored in the middle cubes come first, because their paths are the shortest.
std::vector<Range> stretches(const std::set<int64_t>& cuts) {
  const int64_t of_all = *cuts.begin() + *cuts.rbegin();
  std::vector<std::pair<int64_t, Range>> by_way;
  for (auto at = cuts.begin(); std::next(at) != cuts.end(); ++at) {
    const Range r{*at, *std::next(at) - *at};
    const int64_t middle = 2 * r.first + r.count;
    by_way.emplace_back(std::abs(middle - of_all), r);
  }
  std::stable_sort(by_way.begin(), by_way.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
  std::vector<Range> all;
  for (const auto& [way, r] : by_way) all.push_back(r);
  return all;
}

}  // namespace

Cuts even_cuts(int64_t count, int64_t step) {
  Cuts ends;
  for (int64_t at = 0; at < count; at += step) ends.push_back(at + step);
  return ends;
}

int64_t longest_of(const Cuts& ends) {
  int64_t most = 0;
  for (size_t i = 0; i < ends.size(); ++i) most = std::max(most, ends[i] - (i == 0 ? 0 : ends[i - 1]));
  return most;
}

void check(const Line& l, const Range& k) {
  for (int64_t p = 0; p < static_cast<int64_t>(l.peers.size()); ++p) {
    if (l.of(p).empty()) continue;
    int64_t next = k.first;
    for (int64_t c = 0; c < static_cast<int64_t>(l.stored.size()); ++c) {
      const tl::View& v = l.stored[static_cast<size_t>(c)][static_cast<size_t>(p)];
      if (v.empty()) continue;
      if (l.k(c, p).first != next || l.along(v) != l.of(p)) wrong_layout(l);
      next = l.k(c, p).end();
    }
    if (next != k.end()) wrong_layout(l);
  }
}

template <class Command>
tl::Tensor Piece::placed(Command command) {
  if (!rows_) return command();
  const tl::Tensor part = rows_->part(placed_, command);
  placed_ += part.elements();
  return part;
}

tl::Tensor Piece::whole(tl::Context& tl) const {
  for (const tl::Tensor& part : parts_) {
    if (part.valid()) tl.wait(part);
  }
  return rows_ ? rows_->whole().reshape({placed_ / k_.count, k_.count}) : tl::Tensor();
}

Piece::Piece(tl::Context& tl, const Line& l, const std::vector<Range>& along, const Range& k) : k_(k), line_(l) {
  if (std::all_of(along.begin(), along.end(), [](const Range& r) { return r.empty(); })) {  // may be stored nowhere
    parts_.resize(along.size());
    return;
  }
  const Far* far = nullptr;
  for (const Far& f : l.far) {
    if (holder(l, f.stored, k) >= 0) far = &f;
  }
  const int64_t source = holder(l, far != nullptr ? far->stored : l.stored, k);
  loads_ = source == l.cube;
  if (l.stacked) {
    int64_t rows = 0;
    for (const Range& r : along) rows += r.count;
    rows_.emplace(tl, l.dtype, rows * k.count);
  }
  for (size_t p = 0; p < along.size(); ++p) {
    parts_.emplace_back();
    if (along[p].empty()) continue;
    const Dims shape = l.axis == 0 ? Dims{along[p].count, k.count} : Dims{k.count, along[p].count};
    const tl::View& at = (far != nullptr ? far->stored : l.stored)[static_cast<size_t>(source)][p];
    if (static_cast<int64_t>(p) != l.pe) {
      parts_.back() = placed([&] { return tl.recv_async(l.peers[p], shape, l.dtype); });
      continue;
    }
    comes_ = far != nullptr;
    if (loads_ && comes_) {
      const auto came = std::find_if(far->own.begin(), far->own.end(), [&](const auto& o) {
        return o.first.first <= k.first && k.end() <= o.first.end();
      });
      parts_.back() = came->second.slice(0, along[p].first - at.offset[0], along[p].count);
    } else if (loads_) {
      const int64_t values = values_in(at.dtype());
      const int64_t row = (l.axis == 0 ? along[p].first : k.first) - at.offset[0];
      const int64_t col = (l.axis == 0 ? k.first : along[p].first) / values - at.offset[1];
      const tl::Block stored = at.block().tile(row, col, shape[0], tl::Context::cdiv(shape[1], values));
      parts_.back() = placed([&] { return tl.load_async(stored); });
      if (l.scales) scales_ = l.scales->load(k, along[p]);
      if (l.scales || at.dtype() != l.dtype) stored_ = parts_.back();
    } else {
      const std::string& from = source < l.cube ? l.before : l.behind;
      parts_.back() = placed([&] { return tl.recv_async(from, shape, l.dtype); });
    }
    if (source >= l.cube && l.cube > 0) to_.push_back(&l.before);
    if (source <= l.cube && l.cube + 1 < static_cast<int64_t>(l.stored.size())) to_.push_back(&l.behind);
    for (size_t to = 0; to < l.peers.size(); ++to) {
      if (to != p) to_.push_back(&l.peers[to]);
    }
    own_ = parts_.back();
    columns_ = shape[1];
  }
}

void Piece::make_floats(tl::Context& tl) {
  if (!stored_.valid()) return;
  tl::Tensor values = tl.async().dequantize(stored_, 1.0, line_.dtype);
  if (values.dim(1) != columns_) values = tl.async().copy(values.slice(1, 0, columns_));
  own_ = scales_.valid() ? scaled(tl, values) : values;
  parts_[static_cast<size_t>(line_.pe)] = own_;
  made_ = true;
  stored_ = scales_ = {};
}

void Piece::pass_on(tl::Context& tl) {
  make_floats(tl);
  if (made_) tl.wait(own_);
  for (const std::string* port : to_) tl.send_async(*port, own_);
  to_.clear();
}

void Piece::pass_on_early(tl::Context& tl, std::set<std::string>* busy) {
  std::vector<const std::string*> later;
  if (made_) tl.wait(own_);
  for (const std::string* port : to_) {
    if (loads_ && !comes_ && !stored_.valid() && busy->count(*port) == 0)
      tl.send_async(*port, own_);
    else
      later.push_back(port);
  }
  to_ = std::move(later);
  for (const std::string* port : to_) busy->insert(*port);
}

tl::Tensor Piece::scaled(tl::Context& tl, const tl::Tensor& values) const {
  const int64_t group = line_.scales->group();
  std::vector<tl::Tensor> parts;
  for (int64_t k = k_.first; k < k_.end();) {
    const int64_t end = std::min(k_.end(), (k / group + 1) * group);
    // Complete groups in one command.
    const int64_t groups = std::max<int64_t>(1, end - k == group ? (k_.end() - k) / group : 1),
                  rows = groups * (end - k);
    const tl::Tensor by = scales_.slice(0, line_.scales->row_of(k_, k), groups).reshape({groups, 1, columns_});
    const tl::Tensor v = values.slice(0, k - k_.first, rows).reshape({groups, end - k, columns_});
    parts.push_back(tl.async().mul(v, by).reshape({rows, columns_}));
    k += rows;
  }
  return parts.size() == 1 ? parts.front() : tl.async().cat(parts, 0);
}

std::vector<Range> panels(const std::set<int64_t>& cuts, int64_t first, int64_t most) {
  std::vector<Range> all;
  int64_t before = 0;
  for (const Range& r : stretches(cuts)) {
    for (int64_t at = r.first; at < r.end();) {
      const int64_t rest = r.end() - at, wanted = std::min(most, std::max(first, before / 2));
      const int64_t count = tl::Context::cdiv(rest, tl::Context::cdiv(rest, wanted));
      all.push_back({at, count});
      at += count;
      before += count;
    }
  }
  return all;
}

std::vector<Range> along(const Line& l, const Cuts& ends, size_t i) {
  std::vector<Range> all;
  for (size_t p = 0; p < l.peers.size(); ++p) all.push_back(piece_of(l.of(static_cast<int64_t>(p)), ends, i));
  return all;
}
std::vector<Range> joined(const std::vector<Range>& parts) {
  std::vector<Range> all;
  for (const Range& p : parts) {
    if (p.empty()) continue;
    if (!all.empty() && all.back().end() == p.first)
      all.back().count += p.count;
    else
      all.push_back(p);
  }
  return all;
}
bool any(const Line& l) {
  for (size_t p = 0; p < l.peers.size(); ++p) {
    if (!l.of(static_cast<int64_t>(p)).empty()) return true;
  }
  return false;
}

}  // namespace kernbench::kernels::panel
