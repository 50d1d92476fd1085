// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/insight/timeline.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernbench/platform/elaborate/fabric_watch.h"
#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/systemc_models/fabric/link.h"
#include "kernbench/systemc_models/fabric/memory_target.h"
#include "kernbench/systemc_models/pe/queue_message.h"

namespace kernbench::insight {

void TimeBins::cover(double ns) {
  while (ns >= width_ns_ * kMost) {
    width_ns_ *= 2;
    for (std::vector<double>& s : series_) {
      for (size_t i = 0; i < s.size(); i += 2) s[i / 2] = s[i] + (i + 1 < s.size() ? s[i + 1] : 0);
      s.resize((s.size() + 1) / 2);
    }
  }
}

void TimeBins::add(size_t series, double from, double to, double amount) {
  from = std::max(from, 0.0);
  to = std::max(to, from);
  cover(to);
  std::vector<double>& s = series_[series];
  const auto first = static_cast<size_t>(from / width_ns_), last = static_cast<size_t>(to / width_ns_);
  if (s.size() <= last) s.resize(last + 1);
  if (first == last) {
    s[first] += amount;
    return;
  }
  const double per_ns = amount / (to - from);
  for (size_t i = first; i <= last; ++i) {
    const double left = std::max(from, static_cast<double>(i) * width_ns_);
    s[i] += per_ns * (std::min(to, static_cast<double>(i + 1) * width_ns_) - left);
  }
}

TimelineRecorder::TimelineRecorder(Machine& machine) : machine_(machine), begin_ns_(machine.now_ns()) {
  for (size_t e = 0; e < machine.graph().edges.size(); ++e) bins_.add_series();  // edges have the first series
  for (const topology::Memory& memory : machine.graph().memories)
    memories_[memory.node] = {bins_.add_series(), bins_.add_series(), {}};
  track("kernel");  // a PE's tracks are in the order of their creation
  for (int s = 0; s < stage_count(); ++s) track(std::string(name_of(static_cast<Stage>(s))));
  for (const char* name : kQueueServerNames) track(name);
  for (size_t p = 0; p < machine.pes().count(); ++p) machine.pes().pe(p).observers.add(*this);
  watch_fabric(machine, *this);
}

TimelineRecorder::~TimelineRecorder() {
  unwatch_fabric(machine_, *this);
  for (size_t p = 0; p < machine_.pes().count(); ++p) machine_.pes().pe(p).observers.remove(*this);
}

uint32_t TimelineRecorder::track(const std::string& name) {
  const auto [it, is_new] = track_places_.try_emplace(name, static_cast<uint32_t>(track_names_.size()));
  if (is_new) track_names_.push_back(name);
  return it->second;
}

uint32_t TimelineRecorder::op(Op op) {
  const auto [it, is_new] = op_places_.try_emplace(std::move(op), static_cast<uint32_t>(ops_.size()));
  if (is_new) ops_.push_back(it->first);
  return it->second;
}

uint32_t TimelineRecorder::op(const PeCommand* c, const char* otherwise) {
  if (!c || !c->desc) return op({otherwise, ""});
  const auto& where = c->desc->where;
  return op({c->desc->name, where.line > 0 ? fmt::format("{}:{}", where.file, where.line) : std::string()});
}

void TimelineRecorder::add(uint32_t pe, uint32_t track, Slice s) {
  s.from -= begin_ns_;
  s.to -= begin_ns_;
  tracks_[{pe, track}].push_back(s);
}

void TimelineRecorder::host(const std::string& name, const std::string& what, double from, double to) {
  tracks_[{kHost, track(name)}].push_back({from, to, Kind::host, op({what, ""}), -1});
}

void TimelineRecorder::activity(const Pe& pe, Stage stage, unsigned server, Activity activity, const PeItem* item,
                                uint64_t, double from, double to) {
  if (activity == Activity::idle) return;
  const auto place = static_cast<uint32_t>(1 + static_cast<int>(stage));
  add(pe.index, server == 0 ? place : track(fmt::format("{} {}", name_of(stage), server)),
      {from, to,
       activity == Activity::service          ? Kind::service
       : activity == Activity::waits_for_slot ? Kind::slot
                                              : Kind::queue_full,
       op(item ? item->command : nullptr, "request"), item && item->token ? int64_t{item->tile_id} : -1});
}

void TimelineRecorder::kernel_wait(const Pe& pe, const PeCommand& c, double from, double to) {
  add(pe.index, 0, {from, to, Kind::wait, op(&c, "command"), -1});
}

void TimelineRecorder::kernel_works(const Pe& pe, double from, double to, const SourceLine&) {
  add(pe.index, 0, {from, to, Kind::scalar, op({"scalar work", ""}), -1});
}

void TimelineRecorder::queue_stall(const Pe& pe, uint32_t port, QueueStall why, double from, double to) {
  const uint32_t place = track(pe.ipcq->ports()[port].name + " " + call_of(why));
  add(pe.index, place, {from, to, Kind::wait, op({name_of(why), ""}), -1});
}

void TimelineRecorder::segment_served(const Pe& pe, QueueServer server, const QueueSegment& s, double from, double to) {
  if (to <= from) return;
  const QueuePort& port = pe.ipcq->ports()[server == QueueServer::comm ? s.sender_port : s.receiver_port];
  add(pe.index, static_cast<uint32_t>(1 + stage_count() + static_cast<int>(server)),
      {from, to, Kind::message, op({"message " + port.name, ""}), static_cast<int64_t>(s.message->number)});
}

void TimelineRecorder::link_crossed(const FabricTransaction&, const Link& link, const LinkCrossing& c) {
  bins_.add(link.edge, c.start_ns - begin_ns_, c.end_ns - begin_ns_, c.bytes);
}

void TimelineRecorder::memory_request(const MemoryTarget& memory, const FabricTransaction& x, MemoryStep step,
                                      double t) {
  const auto it = memories_.find(memory.index());
  if (it == memories_.end() || step == MemoryStep::arrived) return;
  if (step == MemoryStep::started) {
    started_.try_emplace(&x, t);  // flits of one message: the first counts
    return;
  }
  const auto from = started_.find(&x);
  if (from == started_.end()) return;
  bins_.add(x.write ? it->second.write : it->second.read, from->second - begin_ns_, t - begin_ns_,
            static_cast<double>(x.nbytes));
  started_.erase(from);
}

void TimelineRecorder::channel_taken(const MemoryTarget& memory, const FabricTransaction&, size_t channel, double,
                                     double from, double to) {
  const auto it = memories_.find(memory.index());
  if (it == memories_.end()) return;
  std::vector<size_t>& channels = it->second.channels;
  while (channels.size() <= channel) channels.push_back(bins_.add_series());
  bins_.add(channels[channel], from - begin_ns_, to - begin_ns_, to - from);
}

}  // namespace kernbench::insight
