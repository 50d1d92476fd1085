// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/graph/replay_graph.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "kernbench/phase2/eval/eval.h"
#include "kernbench/phase2/graph/executor.h"
#include "kernbench/phase2/memory/left_out.h"
#include "kernbench/phase2/memory/range_value.h"
#include "kernbench/phase2/op/femtoseconds.h"
#include "kernbench/phase2/op/runs.h"

namespace kernbench::phase2 {
namespace {

struct Event {
  uint64_t instant;  // fs
  uint32_t pe;
  uint32_t record;
  uint64_t seq;
  bool writes_slot = false;             // ordered before all other effects of its instant
  bool behind_atomics = false;          // ordered after all other effects of its instant
  bool takes_value = false;             // for an ipcq_copy, which reads its source long before it writes its slot
  const Carried::Part* part = nullptr;  // for a carried op: the part that a memory served
};

/// A gather takes effect as a whole, when its last transaction is complete. The end by PE and seq.
using GatherEnds = std::map<std::pair<uint32_t, uint64_t>, uint64_t>;

GatherEnds ends_of_gathers(const std::vector<OpRecord>& records) {
  GatherEnds ends;
  for (const OpRecord& r : records) {
    if (!r.desc || !r.desc->ranged || r.desc->type != CommandType::load) continue;
    uint64_t& end = ends[{r.desc->pe, r.desc->seq}];
    end = std::max(end, femtoseconds(r.t_end));
  }
  return ends;
}

/// Whether the record writes a message's segment into its slot.
bool is_copy(const OpDesc& d) {
  return d.queue && d.type == CommandType::store;
}

/// A carried store takes effect where and when a memory served its parts. So does a carried load whose bytes are
/// unknown. Within one instant these effects come after all effects of PEs, like foreign writes.
void add_parts(const OpDesc& d, const Event& op, std::vector<Event>& events) {
  if (d.type == CommandType::load && d.carried->bytes) return;
  for (const Carried::Part& p : d.carried->parts) {
    Event e{femtoseconds(p.effect_ns), kNoPe, op.record, p.number};
    e.part = &p;
    events.push_back(e);
  }
}

/// A PE may submit a command at the instant at which one of its atomics takes effect, and may know the result. The
/// command is therefore ordered after the atomic. A load is not, because it takes effect at its completion.
void put_behind_atomics(const std::vector<OpRecord>& records, std::vector<Event>& events) {
  std::map<std::pair<uint32_t, uint64_t>, uint64_t> first;  // by PE and instant: seq of the first such atomic
  for (const Event& e : events) {
    const OpDesc& d = *records[e.record].desc;
    if (d.type != CommandType::atomic || e.part) continue;
    const auto [it, fresh] = first.emplace(std::pair(d.pe, e.instant), d.seq);
    if (!fresh) it->second = std::min(it->second, d.seq);
  }
  if (first.empty()) return;
  for (Event& e : events) {
    const OpDesc& d = *records[e.record].desc;
    if (e.pe == kNoPe || d.type == CommandType::load) continue;
    const auto it = first.find({e.pe, e.instant});
    e.behind_atomics = it != first.end() && it->second < d.seq;
  }
}

/// Commands and foreign writes in the order of their effects, each once.
std::vector<Event> effects_in_order(const std::vector<OpRecord>& records) {
  std::vector<Event> events;
  std::unordered_map<const OpDesc*, size_t> seen;
  const GatherEnds gathers = ends_of_gathers(records);
  events.reserve(records.size());
  seen.reserve(records.size());
  for (size_t i = 0; i < records.size(); ++i) {
    const OpRecord& r = records[i];
    if (!r.desc || r.is_token || r.desc->kind == OpKind::unknown) continue;
    // A foreign read changes nothing.
    if (r.foreign && r.desc->type == CommandType::load) continue;
    Event e{effect_instant(r), r.desc->pe, static_cast<uint32_t>(i), r.desc->seq};
    if (r.desc->type == CommandType::atomic) {
      e.pe = kNoPe;  // after the effects of all PEs
      e.seq = r.desc->ranged->number;
    } else if (r.desc->ranged && r.desc->type == CommandType::load) {
      e.instant = gathers.at({r.desc->pe, r.desc->seq});
    }
    if (is_copy(*r.desc)) {
      e.writes_slot = true;
      Event value = e;
      value.instant = femtoseconds(r.desc->submit_ns);
      value.writes_slot = false;
      value.takes_value = true;
      events.push_back(value);
    }
    if (r.desc->carried && seen.count(r.desc.get()) == 0) add_parts(*r.desc, e, events);
    const auto [it, fresh] = seen.emplace(r.desc.get(), events.size());
    if (fresh) {
      events.push_back(e);
    } else {
      // Two components served one command. It takes effect when the later one is done.
      Event& old = events[it->second];
      if (e.instant > old.instant) old = e;
    }
  }
  put_behind_atomics(records, events);
  std::sort(events.begin(), events.end(), [&](const Event& a, const Event& b) {
    if (a.instant != b.instant) return a.instant < b.instant;
    if (a.writes_slot != b.writes_slot) return a.writes_slot;
    if (a.behind_atomics != b.behind_atomics) return b.behind_atomics;
    if (a.pe != b.pe) return a.pe < b.pe;
    if (a.seq != b.seq) return a.seq < b.seq;
    return records[a.record].op_id < records[b.record].op_id;
  });
  return events;
}

class Builder {
 public:
  Builder(const std::vector<OpRecord>& records, const MemoryImage& image, const GraphOptions& options)
      : records_(records), options_(options) {
    g_.memory = image;
  }

  ReplayGraph build() {
    const std::vector<Event> events = effects_in_order(records_);
    for (const OpRecord& r : records_) any_dependencies_ |= !r.dependency_ids.empty();
    if (any_dependencies_) {
      for (const Event& e : events) open_.emplace(records_[e.record].op_id, std::vector<uint32_t>{});
    }
    if (options_.until) last_ = &op_with_effect(events, *options_.until);
    for (const Event& e : events) {
      if (e.part) {
        carry(e);
      } else if (e.takes_value) {
        sent_.emplace(e.record, RangeValue(g_.memory, records_[e.record].desc->operands.at(0).ref));
      } else {
        ++g_.ops;
        visit(e.record);
        if (reached_last_) break;
      }
    }
    if (!parked_.empty() && !reached_last_) throw ReplayError(circle());
    if (!options_.keep_tcm) drop_tcms();
    drop_materialized();
    link();
    g_.forms = forms_.take();
    return std::move(g_);
  }

 private:
  const OpDesc& op_with_effect(const std::vector<Event>& events, uint64_t op_id) const {
    const auto named = std::find_if(records_.begin(), records_.end(), [&](auto& r) { return r.op_id == op_id; });
    if (named != records_.end()) {
      const auto of_it = [&](const Event& e) { return records_[e.record].desc == named->desc; };
      if (!named->is_token && std::any_of(events.begin(), events.end(), of_it)) return *named->desc;
    }
    throw ReplayError("no op " + std::to_string(op_id) + " in it that has an effect of its own" +
                      (named != records_.end() && named->is_token ? ": it is a tile of a composite" : ""));
  }

  /// Applies an op's effect, or parks it until its explicit dependencies have taken effect.
  void visit(uint32_t record) {
    if (!any_dependencies_) return apply(record);
    std::vector<uint32_t> ready{record};
    while (!ready.empty() && !reached_last_) {
      const uint32_t r = ready.back();
      ready.pop_back();
      if (const uint64_t* blocker = first_open(records_[r])) {
        open_[*blocker].push_back(r);
        parked_.insert_or_assign(r, *blocker);
        continue;
      }
      parked_.erase(r);
      apply(r);
      const auto it = open_.find(records_[r].op_id);
      if (it == open_.end()) continue;
      const std::vector<uint32_t> waiting = std::move(it->second);
      open_.erase(it);
      ready.insert(ready.end(), waiting.rbegin(), waiting.rend());
    }
  }

  const uint64_t* first_open(const OpRecord& r) const {
    for (const uint64_t& id : r.dependency_ids) {
      if (open_.count(id)) return &id;
    }
    return nullptr;
  }

  std::string circle() const {
    std::vector<uint64_t> ids;
    for (const auto& [record, blocker] : parked_) ids.push_back(records_[record].op_id);
    std::sort(ids.begin(), ids.end());
    std::string s = "dependency_ids form a cycle; ops that never become ready:";
    for (size_t i = 0; i < ids.size() && i < 8; ++i) s += " " + std::to_string(ids[i]);
    return s + (ids.size() > 8 ? " …" : "");
  }

  void apply(uint32_t record) {
    const OpRecord& r = records_[record];
    const std::shared_ptr<const OpDesc>& d = r.desc;
    reached_last_ |= d.get() == last_;
    if (is_copy(*d)) return write_slot(record);
    if (d->carried && d->type == CommandType::store) {
      if (!d->carried->bytes) sent_.emplace(record, RangeValue(g_.memory, d->operands.at(0).ref));
      return;
    }
    if (d->carried && !d->carried->bytes) return put_parts(record);
    const bool atomic = d->type == CommandType::atomic,
               moves = d->type == CommandType::load || d->type == CommandType::store;
    const size_t inputs_before = g_.inputs.size(), pieces_before = g_.pieces.size();
    // Operands are read before the effect, which may overwrite them.
    const bool compared = d->materialized && !options_.skip_materialized;
    if (d->without_effect()) return;
    if (atomic && !d->ranged->ranges.empty()) {
      for (const Operand& o : inputs_of(*d)) {
        g_.other_operands.push_back(o);
        capture(g_.other_operands.back(), r, true);
      }
    } else if (!moves || d->operands.size() > 1 || is_gather(*d) || compared) {
      for (const Operand& o : d->operands) capture(o, r, moves);
      for (const EpilogueOp& e : d->epilogue) {
        for (const Operand& o : e.operands) capture(o, r, moves);
      }
      if (overwrites_in_part(*d)) {
        Operand old;
        old.ref = d->output;
        g_.other_operands.push_back(old);
        capture(g_.other_operands.back(), r, moves);
      }
    }
    if (d->materialized) {
      for (const Materialization::Command& c : d->materialized->computed) materialized_.emplace(c.pe, c.seq);
    }
    if (!apply_effect(d, g_.memory) && !compared) {
      g_.inputs.resize(inputs_before);
      g_.pieces.resize(pieces_before);
      return;
    }
    ReplayGraph::Node n;
    n.desc = d;
    n.record = record;
    n.form = forms_.number_of(d);
    n.first_input = static_cast<uint32_t>(inputs_before);
    n.inputs = static_cast<uint32_t>(g_.inputs.size() - inputs_before);
    const auto index = static_cast<uint32_t>(g_.nodes.size());
    producer_.emplace(d.get(), index);
    if (any_dependencies_) node_of_op_.emplace(r.op_id, index);
    g_.nodes.push_back(std::move(n));
  }

  /// Writes the sent value, pending or not, into the slot.
  void write_slot(uint32_t record) {
    const auto value = sent_.find(record);
    if (value == sent_.end()) throw ReplayError(describe(records_[record]) + ": its slot is written before it is sent");
    const TensorRef& slot = records_[record].desc->output;
    value->second.put(g_.memory, MemoryImage::key_of(slot), slot.addr, 0, slot.nbytes());
    sent_.erase(value);
  }

  /// Applies a part of a carried op that a memory served.
  void carry(const Event& e) {
    const OpDesc& d = *records_[e.record].desc;
    const MemoryImage::SpaceKey key{e.part->space, kNoPe};
    if (d.carried->bytes && d.carried->bytes->size() != d.output.nbytes())
      throw ReplayError(describe(records_[e.record]) + ": its bytes are not there, which only a memory file has");
    if (d.type == CommandType::load) {
      loaded_[e.record].emplace_back(e.part, RangeValue(g_.memory, key, e.part->addr, e.part->nbytes));
    } else if (const std::shared_ptr<const Bytes>& bytes = d.carried->bytes) {
      g_.memory.write_shared(key, e.part->addr, {bytes, bytes->data() + e.part->offset, e.part->nbytes});
    } else {
      const auto value = sent_.find(e.record);
      if (value == sent_.end()) throw ReplayError(describe(records_[e.record]) + ": arrives before it is sent");
      value->second.put(g_.memory, key, e.part->addr, e.part->offset, e.part->nbytes);
    }
  }
  void put_parts(uint32_t record) {
    const OpDesc& d = *records_[record].desc;
    const TensorRef& to = d.output;
    if (d.ranged && d.type == CommandType::load) fill_left_out(d, g_.memory);
    for (const auto& [part, value] : loaded_[record])
      value.put(g_.memory, MemoryImage::key_of(to), to.addr + part->offset, 0, part->nbytes);
    loaded_.erase(record);
  }

  static bool is_gather(const OpDesc& d) {
    return d.type == CommandType::load && !d.operands.empty() && has_short_runs(d.operands[0].ref);
  }

  void capture(const Operand& o, const OpRecord& r, bool may_be_unwritten) {
    ReplayGraph::Input in;
    in.operand = &o;
    in.first_piece = static_cast<uint32_t>(g_.pieces.size());
    if (!o.is_scalar) {
      const TensorRef t = without_repeats(o.ref);
      const size_t first = g_.pieces.size();
      for_each_run(t, [&](uint64_t addr, uint64_t n) {
        g_.memory.for_each_piece(MemoryImage::key_of(t), addr, n,
                                 [&](uint64_t at, uint64_t len, const MemoryImage::Extent* e, uint64_t offset) {
                                   append(first, piece_of(r, t, at, len, e, offset, may_be_unwritten));
                                 });
      });
    }
    in.pieces = static_cast<uint32_t>(g_.pieces.size() - in.first_piece);
    g_.inputs.push_back(std::move(in));
  }

  Piece piece_of(const OpRecord& r, const TensorRef& t, uint64_t at, uint64_t len, const MemoryImage::Extent* e,
                 uint64_t offset, bool may_be_unwritten) {
    Piece p;
    p.bytes = len;
    if (!e) {
      if (!may_be_unwritten) throw ReplayError(unwritten(r, t, at));
      p.node = kZeroNode;
    } else if (e->producer()) {
      const auto it = producer_.find(e->producer());
      if (it == producer_.end()) throw ReplayError(describe(r) + " reads what an op outside the log makes");
      p.node = it->second;
      p.offset = e->offset() + offset;
    } else {
      p.leaf = e->data() + offset;
      auto& owners = g_.leaf_owners;
      if (owners.empty() || owners.back() != e->hold()) owners.push_back(e->hold());
    }
    return p;
  }

  /// Adds a run to the pieces since `first`. A run that continues the last piece or its stride is merged into it.
  void append(size_t first, const Piece& p) {
    if (g_.pieces.size() > first) {
      Piece& last = g_.pieces.back();
      if (last.node == p.node) {
        // Pointers into different buffers are only compared as numbers.
        const int64_t step =
            p.node == kLeafNode
                ? static_cast<int64_t>(reinterpret_cast<uintptr_t>(p.leaf) - reinterpret_cast<uintptr_t>(last.leaf))
                : static_cast<int64_t>(p.offset - last.offset);
        if (last.count == 1 && (step == static_cast<int64_t>(last.bytes) || p.node == kZeroNode)) {
          last.bytes += p.bytes;
          return;
        }
        if (last.bytes == p.bytes && (last.count == 1 || step == last.stride * last.count)) {
          if (last.count == 1) last.stride = step;
          ++last.count;
          return;
        }
      }
    }
    g_.pieces.push_back(p);
  }

  static std::string describe(const OpRecord& r) { return "op " + std::to_string(r.op_id) + " (" + r.desc->name + ")"; }

  std::string unwritten(const OpRecord& r, const TensorRef& t, uint64_t at) const {
    char hex[24];
    snprintf(hex, sizeof hex, "0x%llx", static_cast<unsigned long long>(at));
    std::string s = describe(r) + " reads " + std::string(name_of(t.space)) + " address " + hex;
    if (t.pe != kNoPe) s += " of PE " + std::to_string(t.pe);
    s += ", which nothing wrote before it";
    const std::string near = g_.memory.nearest(MemoryImage::key_of(t), at);
    return near.empty() ? s : s + "; " + near;
  }

  void drop_tcms() {
    for (const auto& key : g_.memory.spaces()) {
      if (key.space == Space::tcm) g_.memory.drop(key);
    }
  }

  /// Drops nodes that Phase 1 computed and that no longer have readers. The bytes kept by Phase 1 replace them.
  void drop_materialized() {
    if (materialized_.empty() || !options_.skip_materialized) return;
    std::vector<bool> needed(g_.nodes.size());
    for (const auto& key : g_.memory.spaces()) {
      g_.memory.for_each_piece(key, [&](uint64_t, uint64_t, const MemoryImage::Extent* e, uint64_t) {
        if (e && e->producer()) needed[producer_.at(e->producer())] = true;
      });
    }
    for (size_t i = g_.nodes.size(); i-- > 0;) {  // readers come after the nodes that they read
      const ReplayGraph::Node& n = g_.nodes[i];
      if (materialized_.count({n.desc->pe, n.desc->seq}) == 0) needed[i] = true;
      if (!needed[i]) continue;
      for_each_piece(n, [&](Piece& p) {
        if (p.node < kZeroNode) needed[p.node] = true;
      });
    }
    std::vector<uint32_t> at(g_.nodes.size());
    uint32_t kept = 0;
    for (size_t i = 0; i < g_.nodes.size(); ++i) {
      at[i] = kept;
      if (!needed[i]) continue;
      for_each_piece(g_.nodes[i], [&](Piece& p) {
        if (p.node < kZeroNode) p.node = at[p.node];
      });
      if (kept != i) g_.nodes[kept] = std::move(g_.nodes[i]);
      ++kept;
    }
    g_.nodes.resize(kept);
    for (auto it = node_of_op_.begin(); it != node_of_op_.end();) {
      if (needed[it->second]) {
        it->second = at[it->second];
        ++it;
      } else {
        it = node_of_op_.erase(it);
      }
    }
  }

  template <class F>
  void for_each_piece(const ReplayGraph::Node& n, F f) {
    for (uint32_t k = 0; k < n.inputs; ++k) {
      const ReplayGraph::Input& in = g_.inputs[n.first_input + k];
      for (uint32_t p = 0; p < in.pieces; ++p) f(g_.pieces[in.first_piece + p]);
    }
  }

  /// Adds edges from the sources of each node and from explicit ids, each once.
  void link() {
    std::vector<uint32_t> before;
    for (uint32_t i = 0; i < g_.nodes.size(); ++i) {
      ReplayGraph::Node& n = g_.nodes[i];
      before.clear();
      for (uint32_t k = 0; k < n.inputs; ++k) {
        const ReplayGraph::Input& in = g_.inputs[n.first_input + k];
        for (uint32_t p = 0; p < in.pieces; ++p) {
          const uint32_t from = g_.pieces[in.first_piece + p].node;
          if (from < kZeroNode) before.push_back(from);
        }
      }
      for (uint64_t id : records_[n.record].dependency_ids) {
        const auto it = node_of_op_.find(id);
        if (it != node_of_op_.end() && it->second != i) before.push_back(it->second);
      }
      std::sort(before.begin(), before.end());
      before.erase(std::unique(before.begin(), before.end()), before.end());
      n.first_source = static_cast<uint32_t>(g_.sources.size());
      n.waits_for = static_cast<uint32_t>(before.size());
      g_.sources.insert(g_.sources.end(), before.begin(), before.end());
      for (uint32_t from : before) ++g_.nodes[from].readers;
    }
    uint32_t at = 0;
    for (ReplayGraph::Node& n : g_.nodes) {
      n.first_reader = at;
      at += n.readers;
    }
    g_.readers.resize(at);
    std::vector<uint32_t> used(g_.nodes.size());
    for (uint32_t i = 0; i < g_.nodes.size(); ++i) {
      for (uint32_t k = 0; k < g_.nodes[i].waits_for; ++k) {
        const uint32_t from = g_.sources[g_.nodes[i].first_source + k];
        g_.readers[g_.nodes[from].first_reader + used[from]++] = i;
      }
    }
  }

  const std::vector<OpRecord>& records_;
  GraphOptions options_;
  ReplayGraph g_;
  OpForms forms_;
  std::set<std::pair<uint32_t, uint64_t>> materialized_;  ///< PE and seq of the ops that Phase 1 computed
  std::unordered_map<const OpDesc*, uint32_t> producer_;
  bool any_dependencies_ = false;
  const OpDesc* last_ = nullptr;  ///< GraphOptions::until
  bool reached_last_ = false;
  std::unordered_map<uint64_t, std::vector<uint32_t>> open_;  ///< op_id without an effect so far -> records that wait
                                                              ///< for it
  std::unordered_map<uint32_t, uint64_t> parked_;             ///< record -> the op_id that it waits for
  std::unordered_map<uint64_t, uint32_t> node_of_op_;
  std::unordered_map<uint32_t, RangeValue> sent_;  ///< by record: the value that a segment or store in flight carries
  std::unordered_map<uint32_t, std::vector<std::pair<const Carried::Part*, RangeValue>>> loaded_;  ///< by record
};

}  // namespace

uint64_t effect_instant(const OpRecord& r) {
  if (r.foreign) return femtoseconds(r.effect_ns);
  if (is_copy(*r.desc)) return femtoseconds(r.t_end);
  // At once, if no time is given (a stand-in without timing).
  if (r.desc->type == CommandType::atomic) return femtoseconds(std::max(r.desc->ranged->effect_ns, r.desc->submit_ns));
  return femtoseconds(r.desc->type == CommandType::load ? r.t_end : r.desc->submit_ns);
}

ReplayGraph build_replay_graph(const std::vector<OpRecord>& records, const MemoryImage& image,
                               const GraphOptions& options) {
  return Builder(records, image, options).build();
}

}  // namespace kernbench::phase2
