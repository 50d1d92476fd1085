// SPDX-License-Identifier: Apache-2.0
// Models: engines without queues: a stage serves one item after the other; later items wait before it.
// Written against the roles alone; the project's engines have queues, several servers and the shared compute slot
// (systemc_models/pe/engine.h).
#include <deque>
#include <map>

#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/pe/pe.h"
#include "kernbench/systemc_models/pe/pe_block.h"

namespace {
using namespace kernbench;

class OneByOne : public Component, public PeBlock, public EngineRole {
 public:
  CommandTargetSocket command_in{"command_in", *this};
  CommandInitiatorSocket command_out{"command_out", *this};

  // PeBlock.
  PeBlock* pe_block() override { return this; }
  CommandTargetSocket* command_target() override { return &command_in; }
  CommandInitiatorSocket* command_initiator() override { return &command_out; }
  bool serves(Stage s) const override { return lines_.count(s) > 0; }
  void join(Pe& pe) override { pe_ = &pe; }
  void leads_to(PePort& out, PeBlock& next) override { next_.add(out, next); }
  void called_by(PePort& in, PeBlock& before) override {
    if (dynamic_cast<SchedulerRole*>(&before)) scheduler_ = &in;  // where completions go
  }
  tlm::tlm_sync_enum item_in(PeItem& item, PePort& in, tlm::tlm_phase& phase) override {
    Line& line = lines_.at(item.stage());
    if (line.item) {
      line.waiting.push_back({&item, &in});
      return tlm::TLM_ACCEPTED;  // END_REQ comes when there is room
    }
    begin(line, item);
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }
  tlm::tlm_sync_enum answer_in(PeItem& item, PePort&, tlm::tlm_phase&) override {
    leave(line_of(item));  // END_REQ: the next block has room for the item that was held
    return tlm::TLM_COMPLETED;
  }

  // EngineRole.
  std::vector<StageStatistics> statistics() const override {
    std::vector<StageStatistics> all;
    for (const auto& [stage, line] : lines_) all.push_back(line.statistics);
    return all;
  }

 protected:
  OneByOne(sc_core::sc_module_name name, const ComponentConfig& config, const BlockParameters& p,
           std::initializer_list<Stage> stages)
      : Component(name, config, p), PeBlock(static_cast<Component&>(*this)) {
    for (const Stage s : stages) lines_[s].statistics.stage = s;
  }
  virtual double takes_ns(PeItem&) = 0;

 private:
  struct Waiting {
    PeItem* item;
    PePort* from;
  };
  struct Line {
    PeItem* item = nullptr;  ///< in service, or held until the next block has room
    double since_ns = 0;
    uint64_t op_id = 0;
    std::deque<Waiting> waiting;
    StageStatistics statistics;
  };

  void begin(Line& line, PeItem& item) {
    line.item = &item;
    line.since_ns = timeline().now_ns();
    line.op_id = begin_service(item);
    timeline().at(line.since_ns + takes_ns(item), stage_order(*pe_, item.stage()), call<&OneByOne::end>(*this, item));
  }
  void end(PeItem& item) {
    Line& line = lines_.at(item.stage());
    const double now = timeline().now_ns();
    end_service(item, line.op_id, line.since_ns, now);  // the op log: without it Phase 2 computes nothing
    ++line.statistics.ops;
    line.statistics.busy_ns += now - line.since_ns;
    if (item.last_stage()) {
      scheduler_->complete(item);
    } else {
      ++item.stage_at;
      if (!next_[item.stage()].send(item)) return;  // no room there: it stays here
    }
    leave(line);
  }
  void leave(Line& line) {
    line.item = nullptr;
    if (line.waiting.empty()) return;
    const Waiting next = line.waiting.front();
    line.waiting.pop_front();
    begin(line, *next.item);
    next.from->accept(*next.item);
  }
  Line& line_of(const PeItem& item) {
    auto it = lines_.begin();
    while (it->second.item != &item) ++it;
    return it->second;
  }

  Pe* pe_ = nullptr;
  PePort* scheduler_ = nullptr;
  StageWays next_;
  std::map<Stage, Line> lines_;
};

struct RateParameters : BlockParameters {
  double per_ns = 0;
  template <class List>
  static void describe(List& list) {
    list.add(&RateParameters::per_ns, "per_ns", "", "multiply-accumulates or elements in a nanosecond")
        .positive()
        .direction(Direction::rate)
        .required();
  }
};

class Gemm : public OneByOne {
 public:
  using Parameters = RateParameters;
  Gemm(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& p)
      : OneByOne(name, config, checked(p), {Stage::gemm}), macs_per_ns_(p.per_ns) {}
  static ImplSpec spec() { return spec_of<Parameters>("custom.gemm", "pe_gemm", "matrix unit, one tile at a time"); }

 private:
  double takes_ns(PeItem& item) override {
    const PeCommand& c = *item.command;
    const int64_t macs = item.token ? item.tile_m * item.tile_n * item.tile_k : c.m * c.n * c.k;
    return static_cast<double>(macs) / macs_per_ns_;
  }
  double macs_per_ns_;
};

class Math : public OneByOne {
 public:
  using Parameters = RateParameters;
  Math(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& p)
      : OneByOne(name, config, checked(p), {Stage::math}), elements_per_ns_(p.per_ns) {}
  static ImplSpec spec() {
    return spec_of<Parameters>("custom.math", "pe_math", "vector unit: every op costs the same");
  }

 private:
  double takes_ns(PeItem& item) override {
    const CompositePlan& plan = item.command->plan;
    size_t ops = 1;
    if (item.token) {
      ops = plan.per_tile.size() + (item.last_k ? plan.per_output_tile.size() : 0) +
            (item.last_output ? plan.once.size() : 0);
    }
    const int64_t elements = item.token ? item.tile_m * item.tile_n : item.command->elements;
    return static_cast<double>(ops) * static_cast<double>(elements) / elements_per_ns_;
  }
  double elements_per_ns_;
};

class FetchStore : public OneByOne {
 public:
  using Parameters = BlockParameters;
  FetchStore(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& p)
      : OneByOne(name, config, checked(p), {Stage::fetch, Stage::store}) {}
  static ImplSpec spec() {
    return spec_of<Parameters>("custom.fetch_store", "pe_fetch_store", "between TCM and registers, one tile at a time");
  }
  void leads_to(PePort& out, PeBlock& next) override {
    if (dynamic_cast<TcmRole*>(&next)) tcm_ = &out;
    OneByOne::leads_to(out, next);
  }

 private:
  double takes_ns(PeItem& item) override {
    const bool store = item.stage() == Stage::store;
    const uint64_t bytes = store ? item.store_bytes() : item.fetch_bytes();
    return overhead_ns() + tcm_->ask(item, bytes, store, timeline().now_ns() + overhead_ns());
  }
  PePort* tcm_ = nullptr;
};

KERNBENCH_REGISTER_COMPONENT(Gemm)
KERNBENCH_REGISTER_COMPONENT(Math)
KERNBENCH_REGISTER_COMPONENT(FetchStore)
}  // namespace
