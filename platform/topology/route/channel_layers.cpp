// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/topology/route/channel_layers.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "kernbench/platform/topology/route/acyclic_graph.h"

namespace kernbench::topology {
namespace {

constexpr uint32_t kNoStep = Ways::kNone;
constexpr uint32_t kMost = 32;  // layers: bits of a word

class LayerFinder {
 public:
  LayerFinder(const Ways& ways, const std::vector<uint32_t>& component)
      : ways_(ways), component_(component), edges_(static_cast<uint32_t>(component.size() / 2)), of_(edges_) {}

  uint32_t find(std::vector<Dateline> (&datelines)[2]) {
    bool more = true;
    for (; more && layers_ < kMost; ++layers_) {
      counts_.clear();
      if (ways_.by_rule()) {
        ways_.for_each_way([this](const Ways::Gate&, const auto& there, const auto& back, const Ways::Gate&) {
          count_way(there, 0);
          count_way(back, edges_);
        });
      } else {
        ways_.for_each_tree([this](const std::vector<Ways::Step>& tree) { count_turns(tree); });
      }
      more = choose_datelines(datelines);
    }
    return more ? ChannelDependencies::kTooMany : layers_;
  }

 private:
  using Turn = std::pair<uint32_t, uint32_t>;  // channels

  /// An edge of a tree.
  struct Place {
    uint32_t before = kNoStep, depth = 0;
    bool ends = false;
    uint32_t layers = 0;  ///< a bit for each layer in which messages arrive there
  };

  bool circular(uint32_t from, uint32_t onto) const {
    return component_[from] != 0 && component_[from] == component_[onto];
  }

  /// The layers after a turn, given the layers before it. In the layer that is being divided, messages are assumed to
  /// stay.
  uint32_t pass(uint32_t from, uint32_t onto, uint32_t layers) {
    if (!circular(from, onto)) return layers;
    if (layers >> layers_ & 1) ++counts_[{from, onto}];
    uint32_t behind = 0;
    for (uint32_t l = 0; l <= layers_; ++l) {
      if ((layers >> l & 1) == 0) continue;
      const bool next = l < layers_ && chosen_[l].count(uint64_t{from} << 32 | onto) > 0;
      behind |= 1u << (next ? l + 1 : l);
    }
    return behind;
  }

  /// A separate path; `class_offset`: offset from edge to channel numbers.
  void count_way(const std::vector<uint32_t>& way, uint32_t class_offset) {
    uint32_t layers = 1;
    for (size_t i = 1; i < way.size(); ++i) layers = pass(class_offset + way[i - 1], class_offset + way[i], layers);
  }

  /// Requests go from the root of the tree to the ends; responses go back.
  void count_turns(const std::vector<Ways::Step>& tree) {
    for (const Ways::Step& s : tree) of_[s.edge] = {s.before, kNoStep, s.ends, 0};
    by_depth_.clear();
    for (const Ways::Step& s : tree) note_depth(s.edge);
    std::sort(by_depth_.begin(), by_depth_.end(),
              [&](uint32_t a, uint32_t b) { return std::pair(of_[a].depth, a) < std::pair(of_[b].depth, b); });
    for (const uint32_t e : by_depth_) {
      const uint32_t before = of_[e].before;
      of_[e].layers = before == kNoStep ? 1 : pass(before, e, of_[before].layers);
    }
    for (const uint32_t e : by_depth_) of_[e].layers = of_[e].ends ? 1 : 0;
    for (auto it = by_depth_.rbegin(); it != by_depth_.rend(); ++it) {
      const uint32_t e = *it, before = of_[e].before;
      if (before == kNoStep || ways_.back(e) == kNoStep || ways_.back(before) == kNoStep) continue;
      of_[before].layers |= pass(edges_ + ways_.back(e), edges_ + ways_.back(before), of_[e].layers);
    }
  }

  void note_depth(uint32_t edge) {
    for (uint32_t e = edge; e != kNoStep && of_[e].depth == kNoStep; e = of_[e].before) way_.push_back(e);
    for (; !way_.empty(); way_.pop_back()) {
      Place& p = of_[way_.back()];
      p.depth = p.before == kNoStep ? 0 : of_[p.before].depth + 1;
      by_depth_.push_back(way_.back());
    }
  }

  bool choose_datelines(std::vector<Dateline> (&datelines)[2]) {
    std::vector<std::pair<uint64_t, Turn>> turns;
    for (const auto& [turn, count] : counts_) turns.emplace_back(count, turn);
    std::stable_sort(turns.begin(), turns.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    AcyclicGraph layer(2 * edges_);
    chosen_.emplace_back();
    for (const auto& counted : turns) {
      const auto [from, onto] = counted.second;
      if (layer.add(from, onto)) continue;
      chosen_.back().insert(uint64_t{from} << 32 | onto);
      datelines[from / edges_].push_back({from % edges_, onto % edges_, layers_});
    }
    return !chosen_.back().empty();
  }

  const Ways& ways_;
  const std::vector<uint32_t>& component_;
  const uint32_t edges_;
  std::vector<Place> of_;  ///< by edge, of the present tree
  std::vector<uint32_t> by_depth_, way_;
  uint32_t layers_ = 0;                               ///< number of finished layers
  std::map<Turn, uint64_t> counts_;                   ///< number of trees with that turn in the present layer
  std::vector<std::unordered_set<uint64_t>> chosen_;  ///< by layer: datelines, from << 32 | onto
};

}  // namespace

uint32_t divide_into_layers(const Ways& ways, const std::vector<uint32_t>& component,
                            std::vector<Dateline> (&datelines)[2]) {
  return LayerFinder(ways, component).find(datelines);
}

}  // namespace kernbench::topology
