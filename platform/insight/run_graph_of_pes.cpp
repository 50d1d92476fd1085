// SPDX-License-Identifier: Apache-2.0
// Kernels, commands and engines (timing rules §5, §6).
#include <algorithm>

#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/platform/insight/run_graph_recorder.h"
#include "kernbench/systemc_models/pe/queue_message.h"

namespace kernbench::insight {
void RunGraphRecorder::note(std::vector<Moment>& list, uint64_t seq, Moment m) {
  if (list.size() <= seq) list.resize(seq + 1, kNone);
  list[seq] = m;
}

Cost RunGraphRecorder::part_cost(LastCost& last, Resource resource, uint32_t node, double ns) {
  if (last.ns != ns) last = {ns, graph_.cost(CostPart{resource, false, node, ns})};
  return last.cost;
}

OpNumber RunGraphRecorder::op_of(const PeItem& item) const {
  const auto it = commands_.find(item.command);
  return it == commands_.end() ? 0 : it->second.op;
}

Moment RunGraphRecorder::item_moment(const PeItem* item) const {
  const auto it = items_.find(item);
  return it == items_.end() ? 0 : it->second;
}

// ---- kernels

void RunGraphRecorder::kernel_changed(const Pe& pe, KernelActivity activity, double t) {
  PeState& s = state(pe);
  switch (activity) {
    case KernelActivity::runs:
      if (!s.runs) {
        s.kernel = graph_.add(t, 0, {{s.launch, s.start}});
        idle_.starts(pe.index, t);
      }
      s.runs = true;
      if (s.pauses) end_of_interval(s, t);
      return;
    case KernelActivity::waits:
      if (s.pauses) return;
      s.stands_still = true;
      break;
    case KernelActivity::idle:
      s.runs = false;
      break;
  }
  const double works = t - graph_.ns(s.kernel);
  if (works > 0)
    s.kernel = graph_.add(t, 0, {{s.kernel, graph_.cost(CostPart{Resource::kernel, false, s.cpu, works})}});
  if (activity == KernelActivity::idle) s.ended = s.kernel;
}

void RunGraphRecorder::kernel_submits(const Pe& pe, const PeCommand& c, double t) {
  PeState& s = state(pe);
  const double issue = pe.cpu->command_ns(), works = t - graph_.ns(s.kernel) - issue;
  s.issue_ns += issue;
  const OpNumber op = graph_.op(c.desc.get());
  Cost cost = part_cost(s.issue, Resource::pe_cpu, s.cpu, issue);
  if (works > RunGraph::kNothingNs)
    cost = graph_.plus(graph_.cost(CostPart{Resource::kernel, false, s.cpu, works}),
                       CostPart{Resource::pe_cpu, false, s.cpu, issue});
  s.kernel = graph_.add(t, op, {{s.kernel, cost}});
  commands_[&c] = {s.kernel, op};
}

void RunGraphRecorder::kernel_works(const Pe& pe, double, double to, const SourceLine& where) {
  PeState& s = state(pe);
  const double works = to - graph_.ns(s.kernel);
  if (where.line == 0 || works <= 0 || s.stands_still) return;
  const Cost cost = graph_.cost(CostPart{Resource::kernel, false, s.cpu, works});
  s.kernel = graph_.add(to, graph_.op("elapse", where, static_cast<uint32_t>(pe.index)), {{s.kernel, cost}});
}

void RunGraphRecorder::kernel_polls(const Pe& pe, double, double) {
  state(pe).pauses = true;
  idle_.exchanges(pe.index);
}

/// If the flag changed in the interval, the kernel waits for the change, then for its poll.
void RunGraphRecorder::end_of_interval(PeState& s, double to) {
  s.pauses = false;
  const Moment change = written(s.flag, s.polled, to), from = change != 0 ? change : s.kernel;
  const Cost interval = graph_.cost(CostPart{Resource::polling, false, s.cpu, to - graph_.ns(from)});
  s.kernel = graph_.add(to, graph_.op_of(s.kernel), {{from, interval}});
}

void RunGraphRecorder::kernel_goes_on(const Pe& pe, uint64_t seq, bool sent, double t) {
  PeState& s = state(pe);
  const double works = s.stands_still ? 0 : t - graph_.ns(s.kernel);
  s.stands_still = false;
  const Moment other = at(sent ? s.sent : s.done, seq);
  const Cause kernel{s.kernel, graph_.cost(CostPart{Resource::kernel, false, s.cpu, works})};
  if (other == kNone) {
    s.kernel = graph_.add(t, 0, {kernel});
  } else {
    s.kernel = graph_.add(t, graph_.op_of(other), {kernel, {other, 0}});
  }
}

/// A store of received data begins when the receive ends. For driver commands no earlier event is known.
void RunGraphRecorder::command_submitted(const Pe& pe, const PeCommand& c, double t) {
  const auto [it, is_new] = commands_.try_emplace(&c);
  if (!is_new) return;
  PeState& s = state(pe);
  const OpNumber op = graph_.op(c.desc.get());
  const Moment before = c.desc ? at(s.done, c.desc->seq) : kNone;
  it->second = {before == kNone ? graph_.add(t, op, {}) : graph_.add(t, op, {{before, 0}}), op};
}

void RunGraphRecorder::command_complete(const Pe& pe, const PeCommand& c, double t) {
  PeState& s = state(pe);
  const auto it = commands_.find(&c);
  Moment done = it == commands_.end() ? 0 : it->second.at;
  if (c.type == CommandType::composite) {
    if (!s.tiles_left.empty()) done = s.tiles_left.back();
  } else if (c.queue_call) {
    const Moment called = at(s.calls_done, c.queue_call->seq);
    if (called != kNone) done = called;
  } else if (const auto item = items_.find(&c.item); item != items_.end()) {
    done = item->second;
    items_.erase(item);
  }
  if (it != commands_.end()) commands_.erase(it);
  done = not_before(t, done);
  if (graph_.ns(done) >= graph_.ns(s.last_done)) s.last_done = done;
  if (c.desc) note(s.done, c.desc->seq, done);
}

// ---- engines

void RunGraphRecorder::item_queued(const Pe& pe, Stage stage, const PeItem& item, double t) {
  PeState& s = state(pe);
  StageState& st = s.stages[static_cast<size_t>(stage)];
  const uint64_t number = st.queued++;
  OpNumber op = 0;
  const bool begins = item.command && item.stage_at == 0;
  if (begins) {
    const auto command = commands_.find(item.command);
    if (command != commands_.end()) {
      op = command->second.op;
      const double overhead = item.command->overheads_paid ? 0 : s.scheduler_ns;
      causes_.push_back({command->second.at, part_cost(s.dispatch, Resource::scheduler, s.scheduler, overhead)});
    }
    if (item.token) {
      causes_.push_back({s.fed, 0});
      const auto window = static_cast<uint64_t>(item.command->window);
      if (s.tiles_fed >= window && s.tiles_fed - window < s.tiles_left.size())
        causes_.push_back({s.tiles_left[s.tiles_fed - window], graph_.marked(Limit::window)});
      ++s.tiles_fed;
    }
  } else if (item.command) {
    op = op_of(item);
    causes_.push_back({item_moment(&item), 0});
  }
  if (!causes_.empty() && !(begins && item.token)) comes_to(st.offered, causes_.front());
  if (number >= st.depth && number - st.depth < st.taken_count)
    causes_.push_back({st.taken[(number - st.depth) % st.depth], graph_.marked(Limit::depth)});
  const Moment queued = add(t, op);
  items_[&item] = queued;
  if (begins && item.token) s.fed = queued;
}

void RunGraphRecorder::server_changed(const Pe& pe, Stage stage, unsigned number, Activity activity, const PeItem* item,
                                      uint64_t, double t) {
  PeState& s = state(pe);
  StageState& st = s.stages[static_cast<size_t>(stage)];
  Server& server = st.servers[number];
  switch (activity) {
    case Activity::waits_for_slot: {  // has taken the item
      const bool one_of_many = st.work == StageWork::reads || st.work == StageWork::writes;
      server.item = item;
      server.taken = graph_.add(
          t, op_of(*item), {{item_moment(item), 0}, {server.free, one_of_many ? graph_.marked(Limit::engines) : 0}});
      st.taken[st.taken_count++ % st.depth] = server.taken;
      return;
    }
    case Activity::service:
      server.service = server.taken;
      if (st.needs_slot) {
        comes_to(s.slot_asked, {server.taken, 0});
        server.service = graph_.add(t, op_of(*item), {{server.taken, 0}, {s.slot, 0}});
      }
      items_[item] = server.service;
      return;
    case Activity::queue_full:
      end_of_service(s, st, server, *item, t);
      return;
    case Activity::idle:
      // Handed on when the next stage's queue had room.
      server.free = not_before(t, server.last_stage ? server.ended : item_moment(server.item));
      server.item = nullptr;
      return;
  }
}

void RunGraphRecorder::end_of_service(PeState& s, const StageState& st, Server& server, const PeItem& item, double t) {
  const OpNumber op = op_of(item);
  const double took = t - graph_.ns(server.service);
  const CostPart overhead{Resource::engines, false, st.node, st.overhead_ns};
  switch (st.work) {
    case StageWork::reads:
    case StageWork::writes:
      server.ended = item_moment(&item);  // of its last transaction
      break;
    case StageWork::fetches:
    case StageWork::stores:
      if (server.cost.ns != took)
        server.cost = {
            took, graph_.plus(graph_.cost(overhead), CostPart{Resource::tcm, false, st.node, took - st.overhead_ns})};
      server.ended = graph_.add(t, op, {{server.service, server.cost.cost}});
      break;
    case StageWork::macs:
    case StageWork::elements: {
      const Resource computes = st.work == StageWork::macs ? Resource::gemm : Resource::math;
      const ServiceParts parts = st.engine->service_parts();
      if (parts.read_ns == 0 && parts.write_ns == 0) {
        const double ns = parts.compute_ns > 0 ? parts.compute_ns : took - st.overhead_ns;
        if (server.cost.ns != ns)
          server.cost = {ns, graph_.plus(graph_.cost(overhead), CostPart{computes, false, st.node, ns})};
        server.ended = graph_.add(t, op, {{server.service, server.cost.cost}});
        break;
      }
      const auto after = [&](Resource r, double ns) {
        return Cause{server.service, graph_.plus(graph_.cost(overhead), CostPart{r, false, st.node, ns})};
      };
      server.ended = graph_.add(t, op,
                                {after(computes, parts.compute_ns), after(Resource::tcm, parts.read_ns),
                                 after(Resource::tcm, parts.write_ns)});
      break;
    }
  }
  server.ended = not_before(t, server.ended);
  server.last_stage = item.last_stage();
  items_[&item] = server.ended;
  if (st.needs_slot) s.slot = server.ended;
  if (!server.last_stage || !item.token) return;
  s.tiles_left.push_back(server.ended);
}

void RunGraphRecorder::transaction_starts(const Pe&, const PeItem& item, double) {
  next_item_ = &item;
}

}  // namespace kernbench::insight
