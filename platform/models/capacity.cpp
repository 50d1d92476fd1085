// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/models/capacity.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "kernbench/phase2/text/fields.h"
#include "kernbench/platform/models/decoder_layer.h"

namespace kernbench::models {
namespace {

const char* name_of(Use use) {
  switch (use) {
    case Use::weights:
      return "weights";
    case Use::cache:
      return "KV cache";
    case Use::table:
      return "cos and sin";
    case Use::io:
      return "inputs and outputs";
  }
  return "";
}

class Count {
 public:
  explicit Count(const Room& room) : room_(room) {}

  /// Adds `times` such tensors; `again`: a second layout of tensors that are already present.
  void add(const std::string& what, const host::Layout& layout, DType dtype, const Dims& shape, uint64_t times,
           bool again = false) {
    const ShardPlan plan = host::plan_shards(layout, dtype, shape, room_.places, room_.grids);
    Of& of = this->of(what);
    uint64_t bytes = 0;
    for (uint32_t p = 0; p < plan.shards.size(); ++p) {
      bytes += times * plan.nbytes(p);
      of.by_slice[room_.slice[p]] += times * plan.nbytes(p);
    }
    const uint64_t once = times * static_cast<uint64_t>(shape.elements()) * size_of(dtype);
    of.bytes += bytes;
    of.again += again ? bytes : 0;
    of.copies += bytes > once ? bytes - once : 0;
  }

  /// Alternatives that are never present together: each slice counts its largest.
  void add_most(const Count& other) {
    for (const std::string& what : other.order_) {
      const Of& its = other.of_.at(what);
      Of& mine = of(what);
      for (size_t s = 0; s < mine.by_slice.size(); ++s) mine.by_slice[s] = std::max(mine.by_slice[s], its.by_slice[s]);
      if (its.bytes <= mine.bytes) continue;
      mine.bytes = its.bytes;
      mine.copies = its.copies;
    }
  }

  Capacity result() const {
    Capacity c;
    std::vector<uint64_t> sum(room_.slice_bytes.size());
    for (const auto& [what, of] : of_) {
      for (size_t s = 0; s < sum.size(); ++s) sum[s] += of.by_slice[s];
    }
    // The fullest slice by contents, in case slices differ in size.
    size_t most = 0;
    for (size_t s = 0; s < sum.size(); ++s) {
      if (static_cast<double>(sum[s]) * static_cast<double>(room_.slice_bytes[most]) >
          static_cast<double>(sum[most]) * static_cast<double>(room_.slice_bytes[s]))
        most = s;
    }
    for (const std::string& what : order_) {
      const Of& of = of_.at(what);
      c.rows.push_back({what, of.bytes, of.copies, of.by_slice[most], of.again});
    }
    c.slice = room_.slice_ids[most];
    c.slice_needs = sum[most];
    c.slice_has = room_.slice_bytes[most];
    c.rings = room_.ring_bytes;
    c.tcm_has = room_.tcm_bytes;
    return c;
  }

 private:
  struct Of {
    uint64_t bytes = 0, copies = 0, again = 0;
    std::vector<uint64_t> by_slice;
  };
  Of& of(const std::string& what) {
    Of& found = of_[what];
    if (found.by_slice.empty()) {
      found.by_slice.resize(room_.slice_bytes.size());
      order_.push_back(what);
    }
    return found;
  }
  const Room& room_;
  std::map<std::string, Of> of_;
  std::vector<std::string> order_;
};

/// The layer's temporaries, and its input and output if they are not the program's.
void add_activations(const ModelProgram& program, const Phase& p, const Room& room, Count* count) {
  const Plan& plan = program.plan();
  for (int64_t stage = 0; stage < plan.stages; ++stage) {
    const LayerSizes sizes = program.sizes(p, plan.first_layer(stage));
    const Way way = program.way(p, plan.first_layer(stage));
    if (plan.whole()) count->add("activations", way.stream(), plan.dtype, {sizes.rows, sizes.dim}, 2);
    for (const Temporary& t : temporaries_of(sizes, way, plan.dtype, room.places, room.grids))
      count->add("activations", t.layout, t.dtype, t.shape, 1);
  }
}

}  // namespace

namespace {

/// Of what lies there in one phase, or of all tensors and the largest activations.
Capacity capacity_in(const ModelProgram& program, const Room& room, std::optional<size_t> phase) {
  Count count(room);
  const Params none;
  std::map<int64_t, uint64_t> times;  // copies by layer; tensors of no layer exist once
  for (const SimulatedLayer& l : program.layers()) times[l.number] = static_cast<uint64_t>(l.times);
  std::set<std::string> weights;
  for (const ModelTensor& t : program.tensors()) {
    if (phase && !program.is_there(t, *phase)) continue;
    const auto of = times.find(t.layer);
    count.add(name_of(t.use), t.tensor.layout, t.tensor.dtype(none), t.tensor.shape(none),
              of == times.end() ? 1 : of->second, t.use == Use::weights && !weights.insert(t.own).second);
  }
  const std::vector<Phase>& phases = program.plan().phases;
  for (size_t p = 0; p < phases.size(); ++p) {  // phases run in sequence, each with its own temporaries
    if (phase && p != *phase) continue;
    Count of_phase(room);
    add_activations(program, phases[p], room, &of_phase);
    count.add_most(of_phase);
  }
  return count.result();
}

}  // namespace

Capacity capacity_of(const ModelProgram& program, const Room& room) {
  if (!program.placed_in_turn()) return capacity_in(program, room, {});
  const std::vector<Phase>& phases = program.plan().phases;
  Capacity most;
  for (size_t p = 0; p < phases.size(); ++p) {
    Capacity c = capacity_in(program, room, p);
    const bool fuller = p == 0 || static_cast<double>(c.slice_needs) * static_cast<double>(most.slice_has) >
                                      static_cast<double>(most.slice_needs) * static_cast<double>(c.slice_has);
    if (!fuller) continue;
    most = std::move(c);
    most.fullest_phase = phases[p].text;
  }
  return most;
}

Capacity place_to_fit(ModelProgram* program, const Room& room) {
  Capacity c = capacity_of(*program, room);
  const bool twice = std::any_of(c.rows.begin(), c.rows.end(), [](const Capacity::Row& r) { return r.again > 0; });
  if (c.slice_needs <= c.slice_has || !twice) return c;
  program->place_in_turn();
  return capacity_of(*program, room);
}

namespace {

std::string mib(uint64_t bytes) {
  return fmt::format("{:.2f}", static_cast<double>(bytes) / (1 << 20));
}

}  // namespace

std::string capacity_text(const Capacity& c) {
  std::string text = fmt::format("  {:22}{:>16}{:>16}{:>16}\n", "capacity, MiB", "in all", "of it copies", "a slice");
  for (const Capacity::Row& r : c.rows) {
    text += fmt::format("  {:22}{:>16}{:>16}{:>16}\n", r.what, mib(r.bytes), mib(r.copies), mib(r.slice_bytes));
    if (r.again > 0)
      text += fmt::format("  {:22}{:>16}   once more, as phases lay them out differently\n", "", mib(r.again));
  }
  text += fmt::format("  {:22}{:>48}   of {} in {}\n", "HBM", mib(c.slice_needs), mib(c.slice_has), c.slice);
  text += fmt::format("  {:22}{:>48}   of {} in each PE\n", "TCM, rings of queues", mib(c.rings), mib(c.tcm_has));
  if (!c.fullest_phase.empty())
    text += fmt::format(
        "  Two layouts of the weights do not fit: a later phase's replaces the earlier, at no time. Counted: {}.\n",
        c.fullest_phase);
  if (!c.fits()) text += "  does not fit\n";
  return text;
}

void describe(Fields& f, const Capacity& c) {
  f("fits", c.fits())("hbm", [&] {
    if (!c.fullest_phase.empty()) f("fullest_phase", c.fullest_phase);
    f("slice", c.slice)("needs_bytes", c.slice_needs)("has_bytes", c.slice_has);
    f.each("rows", c.rows, [&](const Capacity::Row& r) {
      f("what", r.what)("bytes", r.bytes)("copied_bytes", r.copies)("slice_bytes", r.slice_bytes)("again_bytes",
                                                                                                  r.again);
    });
  });
  f("tcm", [&] { f("rings_bytes", c.rings)("has_bytes", c.tcm_has); });
}

}  // namespace kernbench::models
