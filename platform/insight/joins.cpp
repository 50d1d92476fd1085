// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/insight/joins.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <unordered_map>

#include "kernbench/phase2/text/varint.h"

namespace kernbench::insight {
namespace {

/// A time: a join's time plus a cost.
struct Behind {
  uint32_t join = 0, cost = 0;
  bool operator==(const Behind& o) const { return join == o.join && cost == o.cost; }
};

/// Distinct costs as sums by resource.
class Costs {
 public:
  using Parts = std::array<double, kResources>;
  explicit Costs(const RunGraph& graph) : graph_(graph), known_(graph.costs(), kUnknown) { keep({}); }

  uint32_t of(Cost c) {
    if (known_[c] != kUnknown) return known_[c];
    Parts sum{};
    for (auto [p, end] = graph_.parts(c); p != end; ++p) sum[static_cast<size_t>(p->resource)] += p->ns;
    return known_[c] = keep(sum);
  }
  uint32_t plus(uint32_t a, uint32_t b) {
    if (a == 0 || b == 0) return a + b;
    const auto [it, fresh] = sums_.try_emplace(uint64_t{a} << 32 | b, 0);
    if (fresh) {
      Parts sum = all_[a];
      for (size_t i = 0; i < kResources; ++i) sum[i] += all_[b][i];
      it->second = keep(sum);
    }
    return it->second;
  }
  /// Whether a is at most b, for any speed of each class.
  bool never_longer(uint32_t a, uint32_t b) const {
    for (size_t i = 0; i < kResources; ++i) {
      if (all_[a][i] > all_[b][i]) return false;
    }
    return true;
  }
  void append(std::string& out) const {
    append_varint(out, all_.size());
    for (const Parts& sum : all_) {
      append_varint(out, static_cast<uint64_t>(sum.size() - std::count(sum.begin(), sum.end(), 0.0)));
      for (size_t i = 0; i < kResources; ++i) {
        if (sum[i] == 0) continue;
        out += static_cast<char>(i);
        append_double(out, sum[i]);
      }
    }
  }

 private:
  static constexpr uint32_t kUnknown = ~0U;
  uint32_t keep(const Parts& sum) {
    std::string key(reinterpret_cast<const char*>(sum.data()), sizeof sum);
    const auto [it, fresh] = numbers_.try_emplace(std::move(key), static_cast<uint32_t>(all_.size()));
    if (fresh) all_.push_back(sum);
    return it->second;
  }

  const RunGraph& graph_;
  std::vector<Parts> all_;
  std::vector<uint32_t> known_;  ///< by the graph's costs
  std::unordered_map<std::string, uint32_t> numbers_;
  std::unordered_map<uint64_t, uint32_t> sums_;
};

class Joins {
 public:
  Joins(const RunGraph& graph, Moment end, size_t most)
      : graph_(graph), end_(end), turns_of_run_(graph.turns_until(end)), costs_(graph), at_(end + size_t{1}) {
    const std::vector<bool> asked = asked_for();
    for (Moment m = 1; m <= end; ++m) {
      if (asked[m]) add(m);
      if (kLeastBytes * causes_.size() > most) return;
    }
    for (const auto& [first, second] : turns_of_run_) add_turn(behind(first), behind(second));
  }

  std::string packed(size_t most) const {
    std::string out;
    if (kLeastBytes * causes_.size() > most) return out;
    costs_.append(out);
    append_varint(out, begins_.size());
    append_varint(out, causes_.size());
    for (size_t j = 0; j < begins_.size(); ++j) {
      const size_t end = j + 1 < begins_.size() ? begins_[j + 1] : causes_.size();
      append_varint(out, end - begins_[j]);
      for (size_t c = begins_[j]; c < end; ++c) {
        append_varint(out, j + 1 - causes_[c].join);
        append_varint(out, causes_[c].cost);
      }
    }
    append_varint(out, turns_.size());
    for (const auto& [t, count] : turns_) {
      append_varint(out, std::get<0>(t)), append_varint(out, std::get<1>(t));
      append_varint(out, std::get<2>(t)), append_varint(out, std::get<3>(t));
      append_varint(out, count);
    }
    append_varint(out, at_[end_].join);
    append_varint(out, at_[end_].cost);
    append_double(out, graph_.ns(0));
    return out.size() > most ? std::string() : out;
  }

 private:
  static constexpr size_t kLeastBytes = 2;  // per dependency

  /// By event: whether the end or an arbitration order depends on it.
  std::vector<bool> asked_for() const {
    std::vector<bool> asked(end_ + size_t{1});
    asked[end_] = true;
    for (const auto& [first, second] : turns_of_run_) asked[first.from] = asked[second.from] = true;
    for (Moment m = end_; m > 0; --m) {
      if (!asked[m]) continue;
      for (auto [c, behind] = graph_.causes(m); c != behind; ++c) asked[c->from] = true;
    }
    return asked;
  }
  Behind behind(const Cause& c) {
    const Behind& from = at_[c.from];
    return {from.join, costs_.plus(from.cost, costs_.of(c.cost))};
  }
  void add(Moment m) {
    now_.clear();
    for (auto [c, end] = graph_.causes(m); c != end; ++c) {
      const Behind b = behind(*c);
      const auto covers = [&](const Behind& x, const Behind& y) {
        return x.join == y.join && costs_.never_longer(y.cost, x.cost);
      };
      if (std::any_of(now_.begin(), now_.end(), [&](const Behind& o) { return covers(o, b); })) continue;
      now_.erase(std::remove_if(now_.begin(), now_.end(), [&](const Behind& o) { return covers(b, o); }), now_.end());
      now_.push_back(b);
    }
    if (now_.size() == 1) {
      at_[m] = now_.front();
      return;
    }
    begins_.push_back(causes_.size());
    causes_.insert(causes_.end(), now_.begin(), now_.end());
    at_[m] = {static_cast<uint32_t>(begins_.size()), 0};
  }
  void add_turn(const Behind& first, const Behind& second) {
    if (first.join == second.join && costs_.never_longer(first.cost, second.cost)) return;
    ++turns_[{first.join, first.cost, second.join, second.cost}];
  }

  const RunGraph& graph_;
  const Moment end_;
  const std::vector<std::pair<Cause, Cause>> turns_of_run_;
  Costs costs_;
  std::vector<Behind> at_;      ///< by event
  std::vector<size_t> begins_;  ///< by join, from 1 on: first of its dependencies
  std::vector<Behind> causes_, now_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>, uint32_t> turns_;  ///< how often
};

}  // namespace

std::string packed_joins(const RunGraph& graph, Moment end, size_t most) {
  return Joins(graph, end, most).packed(most);
}

}  // namespace kernbench::insight
