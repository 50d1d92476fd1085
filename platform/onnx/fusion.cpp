#include "kernbench/platform/onnx/fusion.h"

#include <algorithm>
#include <map>

#include "kernbench/platform/onnx/linear.h"
#include "kernbench/platform/onnx/pe.h"

namespace kernbench::onnx {
namespace {

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
    std::vector<std::pair<size_t, Launch>> all;  // by the place of the last
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
  /// The followers of an op: readers of what is made, in order, up to where a single value is left that others read.
  std::vector<size_t> grown(size_t leader) const {
    std::vector<size_t> members;
    size_t agreed = 0;
    if (!leads(*ops_[leader])) return members;
    std::set<const Value*> made{ops_[leader]->outputs[0]};
    for (std::set<size_t> next = readers_of(made, leader); !next.empty() && !any_kept(made);) {
      const size_t i = *next.begin();
      if (taken_[i] || !follows(*ops_[i], made, ops_[leader]->out().elements())) break;
      members.push_back(i);
      if (most_in_tcm(*ops_[leader], members) > static_cast<size_t>(kMostInTcm)) break;
      made.insert(ops_[i]->outputs[0]);
      next = readers_of(made, i);
      if (is_read_only_within(made, members)) agreed = members.size();
    }
    members.resize(agreed);
    return members;
  }

  bool leads(const Op& op) const {
    return op.row->leads && op.has_output(0) && op.out().elements() > 0 &&
           std::count(op.outputs.begin(), op.outputs.end(), nullptr) + 1 == static_cast<long>(op.outputs.size());
  }

  /// Whether it works position by position on values that are made, which have as many elements.
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

  /// Of values that are made, behind a place.
  std::set<size_t> readers_of(const std::set<const Value*>& made, size_t place) const {
    std::set<size_t> all;
    for (const Value* v : made) {
      const auto it = readers_.find(v);
      if (it != readers_.end()) all.insert(it->second.upper_bound(place), it->second.end());
    }
    return all;
  }

  bool any_kept(const std::set<const Value*>& made) const {
    return std::any_of(made.begin(), made.end(), [&](const Value* v) { return kept_.count(v) > 0; });
  }

  /// All but what the last member makes.
  bool is_read_only_within(const std::set<const Value*>& made, const std::vector<size_t>& members) const {
    return std::all_of(made.begin(), made.end(), [&](const Value* v) {
      if (v == ops_[members.back()]->outputs[0]) return true;
      const auto readers = readers_.find(v);  // none: it runs to be verified
      return readers != readers_.end() &&
             std::includes(members.begin(), members.end(), readers->second.begin(), readers->second.end());
    });
  }

  /// What is made and read later, and a member's other inputs and result.
  size_t most_in_tcm(const Op& leader, const std::vector<size_t>& members) const {
    size_t most = 0;
    for (size_t m = 0; m < members.size(); ++m) {
      size_t live = ops_[members[m]]->inputs.size() + 1;
      const auto is_read_later = [&](const Value* v) {
        const auto it = readers_.find(v);
        return it != readers_.end() && *it->second.rbegin() > members[m];
      };
      live += is_read_later(leader.outputs[0]) ? 1 : 0;
      for (size_t before = 0; before < m; ++before) live += is_read_later(ops_[members[before]]->outputs[0]) ? 1 : 0;
      most = std::max(most, live);
    }
    return most;
  }

  const std::vector<const Op*>& ops_;
  const std::set<const Value*>& kept_;
  std::map<const Value*, std::set<size_t>> readers_;  ///< places of ops
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
