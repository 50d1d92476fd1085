// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/onnx/fusion.h"

#include <algorithm>
#include <map>

#include "kernbench/platform/onnx/linear.h"
#include "kernbench/platform/onnx/pe.h"

namespace kernbench::onnx {
namespace {

constexpr size_t kMostOpen = 256;  // members searched after the last one at which the group could end

class Fusion {
 public:
  Fusion(const std::vector<const Op*>& ops, const std::set<const Value*>& kept)
      : ops_(ops), kept_(kept), taken_(ops.size(), false) {
    for (size_t i = 0; i < ops.size(); ++i) {
      for (const Value* v : ops[i]->inputs) {
        if (v) readers_[&stored(*v)].insert(i);
      }
    }
  }

  std::vector<Launch> launches() {
    std::vector<std::pair<size_t, Launch>> all;  // indexed by the position of the last op
    for (size_t i = 0; i < ops_.size(); ++i) {
      if (taken_[i]) continue;
      const std::vector<size_t> members = grown(i);
      Launch l{ops_[i], {}, nullptr};
      for (const size_t m : members) {
        taken_[m] = true;
        l.followers.push_back(ops_[m]);
      }
      all.emplace_back(members.empty() ? i : members.back(), std::move(l));
    }
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Launch> in_order;
    for (auto& [place, l] : all) in_order.push_back(std::move(l));
    return in_order;
  }

 private:
  /// The live values of a growing group. Adding a member costs only as much as its own operands.
  struct Group {
    std::set<const Value*> made;
    std::set<size_t> readers;               ///< positions of ops after the last member that read a member's result
    std::multiset<size_t> ends;             ///< last reader of each member's result, if it lies after the last member
    std::map<const Value*, size_t> unread;  ///< readers outside the group, by value
    size_t open = 0;                        ///< member results, except the newest, that others may read
    size_t most_in_tcm = 0;                 ///< values held at once: those read later, plus a member's other inputs and
                                            ///< its result
    bool any_kept = false;
  };

  /// Collects an op's followers in order: readers of group results. The group ends where only one result is read
  /// outside.
  std::vector<size_t> grown(size_t leader) const {
    std::vector<size_t> members;
    size_t agreed = 0;
    if (!leads(*ops_[leader])) return members;
    Group g;
    add_made(g, *ops_[leader]);
    while (!g.readers.empty() && !g.any_kept && members.size() < agreed + kMostOpen) {
      const size_t i = *g.readers.begin();
      if (taken_[i] || !follows(*ops_[i], g.made, ops_[leader]->out().elements())) break;
      members.push_back(i);
      add_member(g, i);
      if (g.most_in_tcm > static_cast<size_t>(kMostInTcm)) break;
      if (g.open == 0) agreed = members.size();
    }
    members.resize(agreed);
    return members;
  }

  void add_made(Group& g, const Op& op) const {
    const Value* v = op.outputs[0];
    g.made.insert(v);
    g.any_kept = g.any_kept || kept_.count(v) > 0;
    const auto it = readers_.find(v);
    g.unread[v] = it == readers_.end() ? 1 : it->second.size();  // no reader: the op runs to be verified
    if (it == readers_.end()) return;
    g.readers.insert(it->second.begin(), it->second.end());
    g.ends.insert(*it->second.rbegin());
  }

  void add_member(Group& g, size_t i) const {
    const Op& op = *ops_[i];
    g.readers.erase(g.readers.begin(), g.readers.upper_bound(i));
    g.ends.erase(g.ends.begin(), g.ends.upper_bound(i));
    g.most_in_tcm = std::max(g.most_in_tcm, op.inputs.size() + 1 + g.ends.size());
    ++g.open;  // the previous newest value
    std::set<const Value*> read;
    for (const Value* v : op.inputs) {
      if (v && g.made.count(&stored(*v)) > 0 && read.insert(&stored(*v)).second && --g.unread[&stored(*v)] == 0)
        --g.open;
    }
    add_made(g, op);
  }

  bool leads(const Op& op) const {
    return op.row->leads && op.has_output(0) && op.out().elements() > 0 &&
           std::count(op.outputs.begin(), op.outputs.end(), nullptr) + 1 == static_cast<long>(op.outputs.size());
  }

  /// Whether the op is elementwise on group results that all have as many elements as its output.
  static bool follows(const Op& op, const std::set<const Value*>& made, int64_t elements) {
    if (!op.row->each || op.out().elements() != elements) return false;
    const size_t seen = op.row->views(op).size();
    for (size_t i = 0; i < op.inputs.size(); ++i) {
      if (op.has(i) && made.count(&stored(op.in(i))) > 0 && (i >= seen || op.in(i).elements() != elements))
        return false;
      if (op.has(i) && op.in(i).elements() == 0) return false;
    }
    return true;
  }

  const std::vector<const Op*>& ops_;
  const std::set<const Value*>& kept_;
  std::map<const Value*, std::set<size_t>> readers_;  ///< positions of ops
  std::vector<bool> taken_;
};

void add(std::vector<Launch::Operand>* all, const std::string& name, const Value* v) {
  if (v && v->elements() > 0) all->push_back({name, v});
}

}  // namespace

std::string prefix_of_follower(size_t i) {
  return "then" + std::to_string(i) + ".";
}

std::vector<Launch::Operand> Launch::inputs() const {
  if (linear) return linear->inputs();
  std::vector<Operand> all;
  std::set<const Value*> made;
  if (!followers.empty()) made.insert(op->outputs[0]);
  for (size_t i = 0; i < op->inputs.size(); ++i) add(&all, "in" + std::to_string(i), op->inputs[i]);
  for (size_t f = 0; f < followers.size(); ++f) {
    const std::vector<Value*>& in = followers[f]->inputs;
    for (size_t i = 0; i < in.size(); ++i) {
      if (in[i] && made.count(&stored(*in[i])) == 0) add(&all, prefix_of_follower(f) + "in" + std::to_string(i), in[i]);
    }
    made.insert(followers[f]->outputs[0]);
  }
  return all;
}

std::vector<Launch::Operand> Launch::outputs() const {
  std::vector<Operand> all;
  for (size_t i = 0; i < last().outputs.size(); ++i) add(&all, "out" + std::to_string(i), last().outputs[i]);
  return all;
}

std::vector<Launch> fuse(const std::vector<const Op*>& ops, const std::set<const Value*>& kept) {
  return Fusion(ops, kept).launches();
}

}  // namespace kernbench::onnx
