// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/observe/transaction_recorder.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/op/femtoseconds.h"
#include "kernbench/platform/platform.h"
#include "kernbench/systemc_models/fabric/fabric_initiator.h"
#include "kernbench/systemc_models/fabric/memory_target.h"
#include "kernbench/systemc_models/pe/kernel_runner.h"
#include "kernbench/systemc_models/pe/queue_message.h"

namespace kernbench::observe {

namespace {

/// The length of a latency part; rounding may leave it slightly below 0.
uint64_t length_fs(double ns) {
  return Timeline::to_fs(std::max(ns, 0.0));
}

std::string_view name_of_command(const PeCommand& c) {
  if (c.desc) return c.desc->name;
  switch (c.type) {
    case CommandType::load:
      return "dma_read";
    case CommandType::store:
      return "dma_write";
    case CommandType::gemm:
      return "gemm";
    case CommandType::composite:
      return "composite";
    case CommandType::send:
      return "send";
    case CommandType::receive:
      return "recv";
    default:
      return c.op.empty() ? "math" : std::string_view(c.op);
  }
}

void add_source(FtrWriter& w, const OpDesc* desc) {
  if (!desc) return;
  w.attribute("seq", desc->seq);
  if (desc->where.line > 0) w.attribute("source", fmt::format("{}:{}", desc->where.file, desc->where.line));
}

void add_segment(FtrWriter& w, const QueueSegment& s) {
  w.attribute("message", s.message->number).attribute("segment", s.index).attribute("bytes", s.nbytes);
}

}  // namespace

TransactionRecorder::TransactionRecorder(Platform& platform, const std::string& file, const TimeWindow& window)
    : AccessHops(platform),
      window_((window.check("ftr"), window)),
      ftr_(file),
      begun_(window.from_ns <= 0),
      nodes_(platform.graph().nodes.size() + 1),
      pes_(platform.pes().count()) {
  for (size_t p = 0; p < pes_.size(); ++p) {
    Pe& pe = platform.pes().pe(p);
    const auto& blocks = platform.graph().pes[p].blocks;
    // A block that a PE lacks is represented by its pe_dma.
    const auto node = [&](const char* kind) {
      const auto it = blocks.find(kind);
      return it == blocks.end() ? pe.dma : it->second;
    };
    PeState& s = pes_[p];
    s.cpu = node("pe_cpu");
    s.scheduler = node("pe_scheduler");
    s.queues = node("pe_ipcq");
    for (const Pe::Engine& e : pe.engines) {
      for (const StageStatistics& stage : e.role->statistics())
        s.nodes[static_cast<size_t>(stage.stage)] = e.block->index();
    }
    pe.observers.add(*this);
  }
  platform.machine().host_observers().add(*this);
}

TransactionRecorder::~TransactionRecorder() {
  for (size_t p = 0; p < pes_.size(); ++p) platform_.pes().pe(p).observers.remove(*this);
  platform_.machine().host_observers().remove(*this);
  if (closed_) return;
  try {
    end();
  } catch (const std::exception&) {
    // The run's own error is already reported; a destructor cannot report another.
  }
}

void TransactionRecorder::close() {
  closed_ = true;
  end();
}

/// Open transactions end at the present and are marked so.
void TransactionRecorder::end() {
  const double now = platform_.timeline().now_ns();
  while (!open_.empty()) {
    const Transaction t = open_.begin()->second.first;
    finish(t, std::max(now, open_.begin()->second.second.start_ns)).attribute("unfinished", uint64_t{1}).end();
  }
  ftr_.close();
}

// ---- streams, and what has begun

TransactionRecorder::Generator TransactionRecorder::generator(uint32_t node, std::string_view name) {
  Node& n = nodes_[node];
  if (n.stream == 0) {
    const std::string top = platform_.name();
    const bool host = node == host_node();
    const topology::Graph& graph = platform_.graph();
    n.stream = ftr_.add_stream(top + "." + (host ? "host" : graph.nodes[node].id),
                               host ? "host" : std::string_view(graph.nodes[node].kind));
  }
  const auto it = n.generators.find(name);
  if (it != n.generators.end()) return it->second;
  return n.generators.emplace(name, ftr_.add_generator(n.stream, name)).first->second;
}

/// From the window's begin on, every report is written.
bool TransactionRecorder::has_begun() {
  if (begun_ || platform_.timeline().now_ns() < window_.from_ns) return begun_;
  for (const auto& [id, t] : open_) kept_.insert(id);
  drop_relations();
  for (const Relation& r : before_) ftr_.relate(r.name, r.from, r.to);
  before_.clear();
  return begun_ = true;
}

/// False if it ended before the window.
bool TransactionRecorder::is_kept(const Transaction& t) const {
  return t.id > last_before_ || kept_.count(t.id) > 0 || (!begun_ && open_.count(t.id) > 0);
}

void TransactionRecorder::drop_relations() {
  const auto is_gone = [this](const Relation& r) { return !is_kept(r.from) || !is_kept(r.to); };
  before_.erase(std::remove_if(before_.begin(), before_.end(), is_gone), before_.end());
  drop_at_ = std::max<size_t>(1024, 2 * before_.size());
}

TransactionRecorder::Transaction TransactionRecorder::make(uint32_t node) {
  const Transaction made = ftr_.make(nodes_[node].stream);
  if (!begun_) last_before_ = made.id;
  return made;
}

void TransactionRecorder::relate(std::string_view name, const Transaction& from, const Transaction& to) {
  if (!from || !to) return;
  if (has_begun()) {
    if (is_kept(from) && is_kept(to)) ftr_.relate(name, from, to);
    return;
  }
  before_.push_back({std::string(name), from, to});
  if (before_.size() >= drop_at_) drop_relations();
}

TransactionRecorder::Transaction TransactionRecorder::open(uint32_t node, std::string_view name, double t) {
  has_begun();
  if (t >= window_.to_ns) return {};
  const Generator g = generator(node, name);
  const Transaction made = make(node);
  open_.emplace_hint(open_.end(), made.id, std::pair(made, Open{g, t}));
  return made;
}

/// A transaction that ends before the window is not recorded.
FtrWriter& TransactionRecorder::finish(const Transaction& t, double to) {
  const auto it = open_.find(t.id);
  if (it == open_.end()) return ftr_.begin({}, 0, 0, 0);
  const Open o = it->second.second;
  const bool is_in = has_begun() || window_.overlaps(o.start_ns, to);
  open_.erase(it);
  if (!begun_ && is_in) kept_.insert(t.id);
  return ftr_.begin(is_in ? t : Transaction(), o.generator, femtoseconds(o.start_ns), femtoseconds(to));
}

TransactionRecorder::Transaction TransactionRecorder::add(uint32_t node, std::string_view name, double from,
                                                          double to) {
  has_begun();
  if (!window_.overlaps(from, to)) {
    ftr_.begin({}, 0, 0, 0);
    return {};
  }
  const Generator g = generator(node, name);
  const Transaction made = make(node);
  if (!begun_) kept_.insert(made.id);
  ftr_.begin(made, g, femtoseconds(from), femtoseconds(to));
  return made;
}

// ---- the host

void TransactionRecorder::transfer_started(const void* id, bool write, uint64_t nbytes, double t) {
  transfers_[id] = {open(host_node(), write ? "upload" : "download", t), nbytes};
}

void TransactionRecorder::transfer_done(const void* id, double t) {
  const auto it = transfers_.find(id);
  if (it == transfers_.end()) return;
  finish(it->second.first, t).attribute("bytes", it->second.second).end();
  transfers_.erase(it);
}

void TransactionRecorder::launch_sent(const void* id, const LaunchId& launch, const std::vector<size_t>& pes,
                                      const LaunchWay&, double t) {
  const Transaction sent = open(host_node(), "launch", t);
  launches_[id] = {sent, launch};
  for (const size_t p : pes) pes_[p].launch = sent;
}

void TransactionRecorder::launch_done(const void* id, double t) {
  const auto it = launches_.find(id);
  if (it == launches_.end()) return;
  const LaunchId& launch = it->second.second;
  finish(it->second.first, t).attribute("kernel", launch.kernel);
  if (launch.number != kNoLaunch) ftr_.attribute("launch", launch.number);
  ftr_.end();
  launches_.erase(it);
}

// ---- kernels and their commands

void TransactionRecorder::kernel_changed(const Pe& pe, KernelActivity activity, double t) {
  PeState& s = pes_[pe.index];
  if (activity != KernelActivity::idle) {
    if (s.runs) return;
    s.runs = true;
    s.kernel = open(s.cpu, "kernel", t);
    relate("launches", s.launch, s.kernel);
    return;
  }
  if (!s.runs) return;
  s.runs = false;
  const LaunchId& launch = platform_.pes().runner(pe.index).launched();
  finish(s.kernel, t).attribute("kernel", launch.kernel);
  if (launch.number != kNoLaunch) ftr_.attribute("launch", launch.number);
  ftr_.end();
}

void TransactionRecorder::kernel_wait(const Pe& pe, const PeCommand& c, double from, double to) {
  PeState& s = pes_[pe.index];
  const Transaction wait = add(s.cpu, "wait", from, to);
  ftr_.attribute("for", name_of_command(c));
  ftr_.end();
  relate("waits", s.kernel, wait);
  const auto it = commands_.find(&c);
  if (it != commands_.end()) relate("waits_for", wait, it->second.transaction);
}

void TransactionRecorder::kernel_works(const Pe& pe, double from, double to, const SourceLine&) {
  PeState& s = pes_[pe.index];
  const Transaction work = add(s.cpu, "scalar_work", from, to);
  ftr_.end();
  relate("works", s.kernel, work);
}

TransactionRecorder::Service& TransactionRecorder::service_of(const Pe& pe, Stage stage, unsigned server) {
  std::vector<Service>& servers = pes_[pe.index].services[static_cast<size_t>(stage)];
  if (server >= servers.size()) servers.resize(server + 1);
  return servers[server];
}

/// A driver's command has no submission by a kernel, so it begins with its first report.
TransactionRecorder::Command& TransactionRecorder::command(const Pe& pe, const PeCommand& c, double t) {
  const auto [it, is_new] = commands_.try_emplace(&c);
  if (is_new) it->second.transaction = open(pes_[pe.index].cpu, name_of_command(c), t);
  return it->second;
}

void TransactionRecorder::command_submitted(const Pe& pe, const PeCommand& c, double t) {
  const Command& made = command(pe, c, t);
  relate("calls", pes_[pe.index].kernel, made.transaction);
}

void TransactionRecorder::command_complete(const Pe& pe, const PeCommand& c, double t) {
  Command& done = command(pe, c, t);
  if (done.composite) {
    finish(done.composite, t).attribute("tiles", static_cast<uint64_t>(c.completed));
    if (c.op_id) ftr_.attribute("op_id", c.op_id);
    ftr_.end();
  }
  finish(done.transaction, t);
  if (c.type != CommandType::composite && c.op_id) ftr_.attribute("op_id", c.op_id);
  add_source(ftr_, c.desc.get());
  ftr_.end();
  commands_.erase(&c);
}

void TransactionRecorder::sub_command_dispatched(const Pe& pe, const PeItem& item, double t) {
  if (item.token) {
    tile(pe, item, t);
  } else {
    command(pe, *item.command, item.command->queued_ns);
  }
}

/// Its first stage may begin within the call that feeds it, and is then reported first.
TransactionRecorder::Transaction TransactionRecorder::tile(const Pe& pe, const PeItem& item, double t) {
  const auto it = tiles_.find(&item);
  if (it != tiles_.end()) return it->second;
  const uint32_t scheduler = pes_[pe.index].scheduler;
  Command& c = command(pe, *item.command, item.command->queued_ns);
  if (!c.composite) {
    c.composite = open(scheduler, name_of_command(*item.command), t);
    relate("serves", c.transaction, c.composite);
  }
  const Transaction made = open(scheduler, "tile", t);
  relate("tiles", c.composite, made);
  tiles_[&item] = made;
  return made;
}

void TransactionRecorder::server_changed(const Pe& pe, Stage stage, unsigned server, Activity activity,
                                         const PeItem* item, uint64_t op_id, double t) {
  Service& service = service_of(pe, stage, server);
  if (activity == Activity::service) {
    if (!item->command) return;  // a driver's request: its access has all data
    service = {open(pes_[pe.index].nodes[static_cast<size_t>(stage)], name_of(stage), t), op_id, true};
    relate("serves", item->token ? tile(pe, *item, t) : command(pe, *item->command, t).transaction,
           service.transaction);
    return;
  }
  if (!service.serves) return;
  // It has served the item, and no other has taken its place yet.
  finish(service.transaction, t).attribute("op", name_of_command(*item->command));
  if (service.op_id) ftr_.attribute("op_id", service.op_id);
  if (item->token) ftr_.attribute("tile", item->tile_id);
  ftr_.end();
  service = {};
  if (!item->token || !item->last_stage()) return;
  finish(tile(pe, *item, t), t).attribute("tile", item->tile_id);
  ftr_.attribute("m", static_cast<uint64_t>(item->tile_m)).attribute("n", static_cast<uint64_t>(item->tile_n));
  ftr_.attribute("k", static_cast<uint64_t>(item->tile_k)).end();
  tiles_.erase(item);
}

// ---- memory accesses and messages between PEs

void TransactionRecorder::started(const Component& initiator, const FabricTransaction& x, uint64_t, double t) {
  const Transaction access = open(initiator.index(), name_of_access(x), t);
  accesses_[&x] = access;
  if (x.message) {
    if (x.channel != FabricInitiator::kComm) return;
    const auto* segment = static_cast<const QueueSegment*>(x.context);
    relate("posts", segments_[segment].comm, access);
    posted_[&x] = segment;
    return;
  }
  const MemoryRequest* request = x.initiator->request_of(x);
  const auto transfer = request && request->part_of ? transfers_.find(request->part_of) : transfers_.end();
  if (transfer != transfers_.end()) relate("accesses", transfer->second.first, access);
}

void TransactionRecorder::done(const FabricTransaction& x, uint64_t, const Hops& hops, double t) {
  const auto it = accesses_.find(&x);
  const Transaction access = it->second;
  accesses_.erase(it);
  finish(access, t);
  if (!x.message) {
    ftr_.attribute("address", x.address).attribute("bytes", x.nbytes).attribute("issue_fs", femtoseconds(x.issue_ns));
    if (x.rows.count > 1) {
      ftr_.attribute("rows", x.rows.count).attribute("row_bytes", x.rows.bytes).attribute("row_stride", x.rows.stride);
    }
    if (const uint64_t op_id = x.initiator->op_id_of(x)) ftr_.attribute("op_id", op_id);
    if (x.route->target) ftr_.attribute("memory", x.route->target->id());
    ftr_.attribute("overhead_fs", length_fs(x.overhead_ns)).attribute("wire_fs", length_fs(x.wire_ns));
    ftr_.attribute("drain_fs", length_fs(x.drain_ns)).attribute("store_forward_fs", length_fs(x.store_forward_ns));
    ftr_.attribute("link_wait_fs", length_fs(x.link_queue_ns));
    ftr_.attribute("memory_wait_fs", length_fs(x.memory_queue_ns));
  } else {
    ftr_.attribute("bytes", x.nbytes);
  }
  ftr_.end();
  write_hops(access, x, hops);
  last_access_ = x.message ? Transaction() : access;
  const auto posted = posted_.find(&x);
  if (posted == posted_.end()) return;
  segments_[posted->second].last = access;
  posted_.erase(posted);
}

void TransactionRecorder::write_hops(const Transaction& access, const FabricTransaction& x, const Hops& hops) {
  const topology::Graph& graph = platform_.graph();
  Transaction before;
  bool begins = true;
  for (const AccessHop& h : hops) {
    const Transaction hop = add(h.node, h.response ? "response" : "request", h.start_ns, h.end_ns);
    ftr_.attribute("op", name_of_access(x)).attribute("ready_fs", femtoseconds(h.ready_ns));
    if (h.edge != AccessHop::kNoEdge) {
      ftr_.attribute("to", graph.nodes[graph.edges[h.edge].to].id).attribute("tail_fs", femtoseconds(h.tail_ns));
      ftr_.attribute("link_bytes", static_cast<uint64_t>(h.bytes));
    }
    ftr_.end();
    relate(begins ? "hops" : "next", begins ? access : before, hop);
    before = hop;
    begins = h.edge == AccessHop::kNoEdge;  // the next hop belongs to another branch of a multicast
  }
}

void TransactionRecorder::transaction(const Pe& pe, Stage stage, unsigned server, const PeItem&, double, double, double,
                                      double) {
  relate("accesses", service_of(pe, stage, server).transaction, last_access_);
  last_access_ = {};
}

void TransactionRecorder::segment_taken(const Pe& pe, QueueServer server, const QueueSegment& s, double t) {
  if (server != QueueServer::comm) return;
  Segment& segment = segments_[&s];
  segment = {open(pe.dma, "COMM", t), {}};
  if (s.sent_by && s.sent_by->command) relate("serves", command(pe, *s.sent_by->command, t).transaction, segment.comm);
}

void TransactionRecorder::segment_served(const Pe& pe, QueueServer server, const QueueSegment& s, double from,
                                         double to) {
  const auto it = segments_.find(&s);
  if (it == segments_.end()) return;
  Segment& segment = it->second;
  switch (server) {
    case QueueServer::comm:
      finish(segment.comm, to);
      add_segment(ftr_, s);
      ftr_.end();
      return;
    case QueueServer::inbound:
      if (to <= from) return;  // nothing drains here
      break;
    default:
      break;
  }
  const bool reads = server == QueueServer::reader;
  const Transaction step = add(pes_[pe.index].queues, name_of(server), from, to);
  add_segment(ftr_, s);
  const uint64_t op_id = reads ? s.read_op_id : server == QueueServer::writer ? s.copy_op_id : 0;
  if (op_id) ftr_.attribute("op_id", op_id);
  ftr_.end();
  relate("next", segment.last, step);
  segment.last = step;
  if (!reads) return;
  if (s.received_by && s.received_by->command)
    relate("serves", command(pe, *s.received_by->command, from).transaction, step);
  segments_.erase(it);
}

}  // namespace kernbench::observe
