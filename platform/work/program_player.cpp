// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/work/program_player.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "kernbench/phase2/op/address_text.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/elaborate/queue_deadlock.h"
#include "kernbench/platform/launch/queue_connections.h"
#include "kernbench/systemc_models/pe/kernel_runner.h"

namespace kernbench::work {

/// One PE's program: a kernel with the file's calls, and its pe_cpu.
class ProgramPlayer::Playing : public Component, public PeBlock, public CpuRole {
 public:
  CommandInitiatorSocket command_out{"command_out", *this};

  Playing(sc_core::sc_module_name name, ProgramPlayer& player, ProgramWork& work)
      : Component(name,
                  ComponentConfig(player.platform_.system(), {},
                                  static_cast<uint32_t>(player.platform_.graph().nodes.size())),
                  BlockParameters{}),
        PeBlock(static_cast<Component&>(*this)),
        player_(player),
        work_(work),
        pe_(player.platform_.pes().pe(work.index)),
        runner_(pe_, player.platform_.system(), *this, *this),
        tickets_(work.calls.size()) {
    const auto& blocks = player.platform_.graph().pes[work.index].blocks;
    for (const char* kind : {"pe_scheduler", "pe_ipcq"}) {
      const auto it = blocks.find(kind);
      if (it != blocks.end()) connect(*this, *player.platform_.component(it->second).pe_block());
    }
    for (ProgramCall& c : work.calls) prepare(c);
    runner_.drive([this] { play(); }, work.start_ns, [this](const KernelOutcome& o) { ended(o); });
  }

  const Pe& pe() const { return pe_; }
  const ProgramWork& work() const { return work_; }
  ProgramCall& call_of(uint64_t seq) const { return work_.calls[call_of_seq_[seq]]; }
  bool runs() const { return runner_.running(); }
  /// Calls by seq; none: all open ones.
  std::vector<uint64_t> waited_for() const;

 private:
  // PeBlock.
  PeBlock* pe_block() override { return this; }
  CommandInitiatorSocket* command_initiator() override { return &command_out; }
  void leads_to(PePort& out, PeBlock& next) override { (dynamic_cast<IpcqRole*>(&next) ? queues_ : scheduler_) = &out; }
  tlm::tlm_sync_enum answer_in(PeItem&, PePort& out, tlm::tlm_phase&) override;
  // CpuRole.
  void attach(KernelRunner&) override {}
  double command_ns() const override { return pe_.cpu->command_ns(); }
  double poll_ns() const override { return pe_.cpu->poll_ns(); }
  void submit(PeItem& item) override { scheduler_->send(item); }
  bool submit_to_queues(PeItem& item) override {
    queues_->send(item);
    return true;
  }

  void prepare(ProgramCall&);
  void play();
  void make(ProgramCall&);
  bool waits(ProgramCall&);
  bool waits_for_flag(ProgramCall&);
  void complete(PeCommand&);
  void ended(const KernelOutcome&);

  ProgramPlayer& player_;
  ProgramWork& work_;
  Pe& pe_;
  KernelRunner runner_;
  PePort *scheduler_ = nullptr, *queues_ = nullptr;
  bool made_ = false;            ///< the call `next_` was made and waits
  bool pauses_ = false;          ///< between two polls
  bool finished_ = false;        ///< all calls are done
  FlagWait flag_;                ///< of the wait_until that polls
  size_t next_ = 0;              ///< the next or waiting call
  std::vector<Ticket> tickets_;  ///< by call; 0: none
  std::vector<size_t> call_of_seq_;
};

void ProgramPlayer::Playing::prepare(ProgramCall& c) {
  if (c.kind == ProgramCall::Kind::wait) return;
  if (auto* ranged = static_cast<ProgramRanges*>(c.command->ranged.get())) ranged->player = &player_;
  const std::vector<QueuePort>* ports = pe_.ipcq ? &pe_.ipcq->ports() : nullptr;
  for (const std::string& name : c.ports) {
    const auto it = std::find_if(ports->begin(), ports->end(), [&](const QueuePort& q) { return q.name == name; });
    c.queue.ports.push_back(static_cast<uint32_t>(it - ports->begin()));
  }
  if (!c.ports.empty()) c.queue.port = c.queue.ports.front();
  const bool sends = c.kind == ProgramCall::Kind::queue && c.queue.kind == QueueCall::Kind::send;
  if (const std::string fault = sends ? fault_of_send_all(*ports, c.queue.ports) : ""; !fault.empty())
    throw AccessError(c.id + ": " + fault);
  try {
    if (c.ports.empty()) pe_.scheduler->validate(*c.command);
    if (c.store) pe_.scheduler->validate(*c.store);
  } catch (const AccessError& e) {
    throw AccessError(c.id + ": " + e.what());
  }
}

/// Makes calls until one must be waited for.
void ProgramPlayer::Playing::play() {
  if (finished_ || !player_.fault().empty()) return;
  try {
    for (; next_ < work_.calls.size(); ++next_) {
      ProgramCall& c = work_.calls[next_];
      if (!std::exchange(made_, true)) {
        c.call_ns = runner_.now_ns();
        if (c.kind != ProgramCall::Kind::wait) make(c);
      }
      if (waits(c)) return;
      made_ = false;
      c.return_ns = runner_.now_ns();
    }
  } catch (const KernelFault& e) {
    return player_.fail(pe_.id + ": call " + work_.calls[next_].id + ": " + e.what());
  }
  finished_ = true;
  runner_.finish();
}

/// True: the call has not returned yet.
bool ProgramPlayer::Playing::waits(ProgramCall& c) {
  if (c.kind == ProgramCall::Kind::wait) {
    for (const size_t i : c.waits_for) {
      if (runner_.awaits(tickets_[i])) return true;
    }
    c.done_ns = runner_.now_ns();
    c.done = true;
    return false;
  }
  if (c.async) return false;
  if (c.kind == ProgramCall::Kind::wait_until) return waits_for_flag(c);
  const bool sends = c.kind == ProgramCall::Kind::queue && c.queue.kind == QueueCall::Kind::send;
  return sends ? runner_.awaits_slot(tickets_[next_]) : runner_.awaits(tickets_[next_]);
}

bool ProgramPlayer::Playing::waits_for_flag(ProgramCall& c) {
  if (runner_.awaits(tickets_[next_])) return true;
  if (c.done) {
    runner_.flag_held({});
    return false;
  }
  if (!std::exchange(pauses_, !pauses_)) {
    constexpr const char* kNames[] = {"eq", "ne", "lt", "ge"};
    flag_ = {fmt::format("call {} waits until the flag at {} is {} {}", c.id, address_text(c.flag),
                         kNames[static_cast<size_t>(c.compare)], c.value),
             {},
             [&] { return player_.holds(c); },
             [&] { return std::to_string(player_.flag(c.flag)); }};
    runner_.pause(flag_);
    return true;
  }
  runner_.look_again(flag_);
  make(c);
  return runner_.awaits(tickets_[next_]);
}

void ProgramPlayer::Playing::make(ProgramCall& c) {
  const auto what = std::make_shared<OpDesc>();
  what->type = c.command->type;
  what->name = c.id;
  what->polls = c.kind == ProgramCall::Kind::wait_until;
  call_of_seq_.push_back(next_);
  c.command->reduction = player_.reduction_of(c);
  tickets_[next_] = runner_.submit_timed(
      {c.command.get(), c.ports.empty() ? nullptr : &c.queue, c.store.get(), c.writes, c.releases}, what);
}

tlm::tlm_sync_enum ProgramPlayer::Playing::answer_in(PeItem& item, PePort&, tlm::tlm_phase& phase) {
  if (phase == tlm::END_REQ) runner_.sent(*item.command);
  if (phase == tlm::BEGIN_RESP) complete(*item.command);
  return tlm::TLM_COMPLETED;
}

void ProgramPlayer::Playing::complete(PeCommand& command) {
  ProgramCall& c = call_of(KernelRunner::call_of(command).seq);
  if (!command.fault.empty()) return player_.fail(pe_.id + ": call " + c.id + ": " + command.fault);
  if (command.queue_call) c.queue = *command.queue_call;
  if (!command.queue_call || !c.store) {
    c.done_ns = command.done_ns;
    c.done = c.kind != ProgramCall::Kind::wait_until || player_.holds(c);
  }
  runner_.complete(command);
}

void ProgramPlayer::Playing::ended(const KernelOutcome& outcome) {
  work_.end_ns = outcome.end_ns;
  if (!outcome.fault.empty()) player_.fail(outcome.fault);
}

std::vector<uint64_t> ProgramPlayer::Playing::waited_for() const {
  if (next_ == work_.calls.size()) return {};
  std::vector<size_t> all = {next_};
  if (work_.calls[next_].kind == ProgramCall::Kind::wait) all = work_.calls[next_].waits_for;
  // For a held-back atomic: earlier writes of the program.
  size_t last_held = 0;
  for (const size_t i : all) {
    if (work_.calls[i].releases) last_held = std::max(last_held, i);
  }
  for (size_t i = 0; i < last_held; ++i) {
    if (work_.calls[i].writes && !work_.calls[i].done) all.push_back(i);
  }
  std::vector<uint64_t> seqs;
  for (const size_t i : all) {
    if (tickets_[i] > 0) seqs.push_back(tickets_[i] - 1);
  }
  return seqs;
}

namespace {

/// A source's call of operation `n` of a group.
const ProgramCall& call_of(const ProgramsWork& work, const std::string& group, size_t n) {
  for (const ProgramWork& p : work.programs) {
    for (const ProgramCall& c : p.calls) {
      if (c.group == group && c.operation == n) return c;
    }
  }
  throw std::logic_error("no call of group " + group);
}

}  // namespace

ProgramPlayer::ProgramPlayer(Platform& platform, ProgramsWork& work, const std::string& file_name)
    : platform_(platform), may_change_flags_(std::make_shared<std::function<bool()>>([this] {
        return !effects_.empty() || (others_left_ && others_left_());
      })) {
  platform.system().may_change_memory(may_change_flags_);
  std::vector<size_t> pes(platform.pes().count());
  for (size_t p = 0; p < pes.size(); ++p) pes[p] = p;
  RingsAlone places(platform.machine());
  auto ports = connect_queues(platform.machine(), work.connections, pes, places, file_name + ": connections");
  for (const size_t p : pes) {
    if (IpcqRole* ipcq = platform.pes().pe(p).ipcq) ipcq->open_ports(std::move(ports[p]), 0);
  }
  for (const auto& [name, operations] : work.groups) {
    for (size_t n = 0; n < operations.size(); ++n) {
      std::vector<uint32_t> initiators;
      for (const size_t pe : operations[n]) initiators.push_back(platform.pes().pe(pe).dma);
      const ProgramCall& c = call_of(work, name, n);
      const RangeGroup& range = c.command->ranged->groups.front();
      reductions_[name].emplace_back(platform.system(), initiators, range.address, range.nbytes, std::nullopt);
    }
  }
  for (ProgramWork& p : work.programs) {
    playing_.push_back(std::make_unique<Playing>(sc_core::sc_gen_unique_name("program_player"), *this, p));
    const Pe& pe = playing_.back()->pe();
    if (work.keep_accounts) senders_.emplace(pe.dma, playing_.back().get());
    if (pe.ipcq) pe.ipcq->on_left_over([this](const std::string& what) { fail(what); });
  }
  for (size_t p = 0; !senders_.empty() && p < pes.size(); ++p) platform.pes().pe(p).observers.add(*this);
}

ProgramPlayer::~ProgramPlayer() {
  for (size_t p = 0; !senders_.empty() && p < platform_.pes().count(); ++p)
    platform_.pes().pe(p).observers.remove(*this);
}

Reduction* ProgramPlayer::reduction_of(const ProgramCall& c) {
  if (c.group.empty()) return nullptr;
  Reduction& r = reductions_.at(c.group)[c.operation];
  return r.sources() > 1 ? &r : nullptr;
}

/// A segment was read: its latency breakdown goes to its send.
void ProgramPlayer::segment_served(const Pe&, QueueServer server, const QueueSegment& s, double, double) {
  if (server != QueueServer::reader) return;
  std::vector<SegmentAccount>& accounts = senders_.at(s.sender_dma)->call_of(s.seq).accounts;
  const std::vector<uint32_t>& ports = senders_.at(s.sender_dma)->call_of(s.seq).queue.ports;
  const auto port = static_cast<size_t>(std::find(ports.begin(), ports.end(), s.sender_port) - ports.begin());
  const size_t segments = s.message->segments.size();
  accounts.resize(segments * ports.size());
  accounts[port * segments + s.index] = s.account;
}

void ProgramRanges::effect_known(const FabricTransaction& x) {
  if (call) player->signal_stands(*call, x.effect_ns, x.memory_arrival);
}

void ProgramPlayer::signal_stands(const ProgramCall& c, double effect_ns, uint64_t arrival) {
  effects_[{Timeline::to_fs(effect_ns), arrival, effects_so_far_++}] = {c.flag, c.value};
  // After the PEs' activity of that instant.
  platform_.timeline().at(effect_ns, Order(Order::kDepartures, 0, arrival), call<&ProgramPlayer::take_effect>(*this));
}

void ProgramPlayer::take_effect() {
  const Effect e = effects_.begin()->second;
  effects_.erase(effects_.begin());
  flags_[e.flag] = e.value;
}

int32_t ProgramPlayer::flag(uint64_t address) const {
  const auto flag = flags_.find(address);
  return flag == flags_.end() ? 0 : flag->second;
}

bool ProgramPlayer::holds(const ProgramCall& c) const {
  const int32_t found = flag(c.flag);
  switch (c.compare) {
    case ProgramCall::Compare::eq:
      return found == c.value;
    case ProgramCall::Compare::ne:
      return found != c.value;
    case ProgramCall::Compare::lt:
      return found < c.value;
    case ProgramCall::Compare::ge:
      return found >= c.value;
  }
  return false;
}

void ProgramPlayer::fail(const std::string& what) {
  if (!fault_.empty()) return;
  fault_ = what;
  sc_core::sc_stop();
}

std::string ProgramPlayer::stuck() const {
  std::vector<StuckPe> stuck;
  for (const auto& p : playing_) {
    if (p->runs()) stuck.push_back({static_cast<uint32_t>(p->pe().index), p->waited_for()});
  }
  return stuck.empty() ? std::string() : circle_of_waiting(platform_.machine(), stuck);
}

std::string ProgramPlayer::not_ended() const {
  std::string text;
  for (const auto& p : playing_) {
    const auto& calls = p->work().calls;
    const auto c = std::find_if(calls.begin(), calls.end(), [](const ProgramCall& o) { return !o.done; });
    if (p->runs() && c != calls.end())
      text += fmt::format("{}{}: call {} is not done", text.empty() ? "" : "; ", p->pe().id, c->id);
  }
  for (const auto& [name, operations] : reductions_) {
    for (size_t n = 0; n < operations.size(); ++n) {
      const Reduction& r = operations[n];
      if (r.begun() && !r.missing().empty())
        text += fmt::format("; reduction {}: operation {} has not come from {}", name, n, r.missing());
    }
  }
  return text;
}

}  // namespace kernbench::work
