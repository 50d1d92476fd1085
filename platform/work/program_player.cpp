#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "kernbench/phase2/op/address_text.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/elaborate/queue_deadlock.h"
#include "kernbench/platform/launch/queue_connections.h"
#include "kernbench/platform/work/program_player.h"

namespace kernbench {

/// One PE's program. Between two waits it runs ahead of the simulation: only its commands are entries on the timeline.
struct ProgramPlayer::Playing {
  size_t number = 0;
  ProgramWork* work = nullptr;
  Pe* pe = nullptr;
  PePort* scheduler = nullptr;
  PePort* queues = nullptr;
  size_t next = 0;       ///< the call that comes next, or waits
  bool waiting = false;  ///< it has been made and has not returned
  size_t not_done = 0;
  double local_ns = 0;  ///< the program's clock
  bool ended = false;

  void submit(ProgramCommand& c) { (c.queue_call ? queues : scheduler)->send(c.item); }
  /// Atomics that wait for what the program has written before them, in order.
  std::deque<ProgramCommand*> held;
  size_t written = 0;  ///< of the calls before this one all that write are complete
  bool polls = false;  ///< between two polls of a wait_until
  double last_poll_ns = -1;
  size_t polls_of_instant = 0;

  bool holds_back(size_t call) const {
    return std::binary_search(held.begin(), held.end(), call,
                              [](const auto& a, const auto& b) { return number_of(a) < number_of(b); });
  }
  static size_t number_of(size_t call) { return call; }
  static size_t number_of(const ProgramCommand* c) { return c->call; }
};

ProgramPlayer::ProgramPlayer(sc_core::sc_module_name name, Platform& platform, ProgramsWork& work,
                             const std::string& file_name)
    : Component(name, ComponentConfig(platform.system(), {}, static_cast<uint32_t>(platform.graph().nodes.size())),
                BlockParameters{}),
      PeBlock(static_cast<Component&>(*this)),
      platform_(platform) {
  std::vector<size_t> pes(platform.pes().count());
  for (size_t p = 0; p < pes.size(); ++p) pes[p] = p;
  RingsAlone places(platform.machine());
  auto ports = connect_queues(platform.machine(), work.connections, pes, places, file_name + ": connections");
  for (const size_t p : pes) {
    if (IpcqRole* ipcq = platform.pes().pe(p).ipcq) ipcq->open_ports(std::move(ports[p]), 0);
  }
  for (ProgramWork& p : work.programs) {
    playing_.push_back(std::make_unique<Playing>());
    Playing& playing = *playing_.back();
    playing.number = playing_.size() - 1;
    playing.work = &p;
    playing.pe = &platform.pes().pe(p.index);
    if (work.keep_accounts) senders_.emplace(playing.pe->dma, &p);
    prepare(playing);
  }
  for (size_t p = 0; !senders_.empty() && p < pes.size(); ++p) platform.pes().pe(p).observers.add(*this);
}

ProgramPlayer::~ProgramPlayer() {
  for (size_t p = 0; !senders_.empty() && p < platform_.pes().count(); ++p)
    platform_.pes().pe(p).observers.remove(*this);
}

/// A segment has been read: its account goes to its send.
void ProgramPlayer::segment_served(const Pe&, QueueServer server, const QueueSegment& s, double, double) {
  if (server != QueueServer::reader) return;
  std::vector<SegmentAccount>& accounts = senders_.at(s.sender_dma)->calls[s.seq].accounts;
  accounts.resize(s.message->segments.size());
  accounts[s.index] = s.account;
}

PePort& ProgramPlayer::way_to(PeBlock& block) {
  if (ways_.count(&block) == 0) connect(*this, block);
  return *ways_.at(&block);
}

void ProgramPlayer::prepare(Playing& p) {
  const auto block = [&](const char* kind) -> PeBlock* {
    const auto& blocks = platform_.graph().pes[p.work->index].blocks;
    const auto it = blocks.find(kind);
    return it == blocks.end() ? nullptr : platform_.component(it->second).pe_block();
  };
  if (PeBlock* scheduler = block("pe_scheduler")) p.scheduler = &way_to(*scheduler);
  if (PeBlock* queues = block("pe_ipcq")) p.queues = &way_to(*queues);
  for (size_t i = 0; i < p.work->calls.size(); ++i) {
    ProgramCall& c = p.work->calls[i];
    if (c.kind == ProgramCall::Kind::wait) continue;
    prepare(p, *c.command, i);
    if (auto* ranged = static_cast<ProgramRanges*>(c.command->ranged.get())) ranged->player = this;
    if (c.store) prepare(p, *c.store, i);
    if (c.kind == ProgramCall::Kind::queue || c.kind == ProgramCall::Kind::copy) prepare_queue_call(p, i);
  }
  p.local_ns = p.work->start_ns;
  if (p.pe->ipcq) p.pe->ipcq->on_left_over([this](const std::string& what) { fail(what); });
  platform_.timeline().at(p.work->start_ns, front_order(*p.pe), call<&ProgramPlayer::go_on>(*this, p));
}

void ProgramPlayer::prepare(Playing& p, ProgramCommand& command, size_t call) {
  const ProgramCall& c = p.work->calls[call];
  command.item.command = &command;
  command.program = p.number;
  command.call = call;
  if (&command == c.command.get() && (c.kind == ProgramCall::Kind::queue || c.kind == ProgramCall::Kind::copy)) return;
  try {
    p.pe->scheduler->validate(command);
  } catch (const AccessError& e) {
    throw AccessError(c.id + ": " + e.what());
  }
}

void ProgramPlayer::prepare_queue_call(Playing& p, size_t call) {
  ProgramCall& c = p.work->calls[call];
  const std::vector<QueuePort>& ports = p.pe->ipcq->ports();
  for (const std::string& name : c.ports) {
    const auto it = std::find_if(ports.begin(), ports.end(), [&](const QueuePort& q) { return q.name == name; });
    c.queue.ports.push_back(static_cast<uint32_t>(it - ports.begin()));
  }
  c.queue.port = c.queue.ports.front();
  c.queue.seq = call;
  c.command->queue_call = &c.queue;
}

/// Makes calls as long as none is waited for.
void ProgramPlayer::go_on(Playing& p) {
  while (p.next < p.work->calls.size()) {
    ProgramCall& c = p.work->calls[p.next];
    if (!p.waiting) make(p, c);
    p.waiting = !c.async && waits(p, c);
    if (p.waiting) return;
    ++p.next;
  }
  end_if_complete(p);
}

void ProgramPlayer::make(Playing& p, ProgramCall& c) {
  c.call_ns = p.local_ns;
  if (c.kind != ProgramCall::Kind::wait) {
    c.queue.call_ns = p.pe->cpu->command_ns();
    p.local_ns += c.queue.call_ns;
    ++p.not_done;
    c.submit_ns = p.local_ns;
    if (c.releases) {
      platform_.timeline().at(p.local_ns, front_order(*p.pe), call<&ProgramPlayer::submit_behind>(*this, *c.command));
    } else {
      platform_.timeline().at(p.local_ns, front_order(*p.pe), call<&Playing::submit>(p, *c.command));
    }
  }
  c.return_ns = p.local_ns;
}

/// True: the call has not returned yet.
bool ProgramPlayer::waits(Playing& p, ProgramCall& c) {
  double until = c.call_ns;
  if (c.kind == ProgramCall::Kind::wait) {
    for (const size_t i : c.waits_for) {
      const ProgramCall& awaited = p.work->calls[i];
      if (!awaited.done) return true;
      until = std::max(until, awaited.done_ns);
    }
    c.done_ns = until;
    c.done = true;
  } else if (c.kind == ProgramCall::Kind::queue && c.queue.kind == QueueCall::Kind::send) {
    if (!c.queue.message || c.queue.next < c.queue.message->segments.size()) return true;
    until = c.queue.message->segments.back().slot_ns;
  } else {
    if (!c.done) return true;
    until = c.done_ns;
  }
  c.return_ns = p.local_ns = until;
  return false;
}

tlm::tlm_sync_enum ProgramPlayer::answer_in(PeItem& item, PePort&, tlm::tlm_phase& phase) {
  auto& command = static_cast<ProgramCommand&>(*item.command);
  Playing& p = *playing_[command.program];
  if (phase == tlm::BEGIN_RESP) answered(p, command);
  if (fault_.empty()) go_on(p);
  return tlm::TLM_COMPLETED;
}

/// A command is complete.
void ProgramPlayer::answered(Playing& p, ProgramCommand& command) {
  ProgramCall& c = p.work->calls[command.call];
  if (!command.fault.empty()) return fail(p.pe->id + ": call " + c.id + ": " + command.fault);
  if (c.store && &command == c.command.get()) {
    p.scheduler->send(c.store->item);
    return;
  }
  c.done_ns = command.done_ns;
  p.work->end_ns = std::max(p.work->end_ns, c.done_ns);
  --p.not_done;
  if (c.kind == ProgramCall::Kind::wait_until && !holds(c)) return polled(p, c);
  c.done = true;
  if (c.writes) release_held(p);
}

// ---- atomics and flags

/// An atomic that releases is submitted when all that its program has written before is complete.
bool ProgramPlayer::writes_before(Playing& p, size_t call) const {
  const auto& calls = p.work->calls;
  while (p.written < call && (!calls[p.written].writes || calls[p.written].done)) ++p.written;
  return p.written < call;
}

void ProgramPlayer::submit_behind(ProgramCommand& command) {
  Playing& p = *playing_[command.program];
  if (writes_before(p, command.call)) {
    p.held.push_back(&command);
  } else {
    p.submit(command);
  }
}

void ProgramPlayer::release_held(Playing& p) {
  while (!p.held.empty() && !writes_before(p, p.held.front()->call)) {
    ProgramCommand& command = *p.held.front();
    p.held.pop_front();
    platform_.timeline().at(platform_.timeline().now_ns(), front_order(*p.pe), call<&Playing::submit>(p, command));
  }
}

void ProgramRanges::effect_known(const FabricTransaction& x) {
  if (call) player->signal_stands(*call, x.effect_ns, x.memory_arrival);
}

void ProgramPlayer::signal_stands(const ProgramCall& c, double effect_ns, uint64_t arrival) {
  effects_[{Timeline::to_fs(effect_ns), arrival, effects_so_far_++}] = {c.flag, c.value};
  // Behind what PEs do at that instant.
  platform_.timeline().at(effect_ns, Order(Order::kDepartures, 0, arrival), call<&ProgramPlayer::take_effect>(*this));
}

void ProgramPlayer::take_effect() {
  const Effect e = effects_.begin()->second;
  effects_.erase(effects_.begin());
  flags_[e.flag] = e.value;
}

bool ProgramPlayer::holds(const ProgramCall& c) const {
  const auto flag = flags_.find(c.flag);
  const int32_t found = flag == flags_.end() ? 0 : flag->second;
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

/// The flag is not as it should be: the next poll.
void ProgramPlayer::polled(Playing& p, ProgramCall& c) {
  p.polls = true;
  const double next_ns = c.done_ns + p.pe->cpu->poll_ns();
  p.polls_of_instant = next_ns > p.last_poll_ns ? 0 : p.polls_of_instant + 1;
  p.local_ns = p.last_poll_ns = next_ns;
  if (p.polls_of_instant > FlagWaiter::kMostPollsOfAnInstant)
    return fail(fmt::format("{}: call {}: {} {}", p.pe->id, c.id, p.polls_of_instant, FlagWaiter::kPollsTakeNoTime));
  platform_.timeline().at(p.local_ns, front_order(*p.pe), call<&ProgramPlayer::poll>(*this, p));
}

void ProgramPlayer::poll(Playing& p) {
  p.polls = false;
  if (only_polls_left()) return fail(waiting_for_flags());
  p.local_ns += p.pe->cpu->command_ns();
  ++p.not_done;
  platform_.timeline().at(p.local_ns, front_order(*p.pe), call<&Playing::submit>(p, *p.work->calls[p.next].command));
}

/// Whether all that could still happen are polls of flags that nobody can change any more.
bool ProgramPlayer::only_polls_left() const {
  if (!effects_.empty() || (others_left_ && others_left_())) return false;
  bool queues_wait = false;
  size_t polls = 0;
  for (const auto& playing : playing_) {
    const Playing& p = *playing;
    if (p.ended) continue;
    const bool all_made = p.next == p.work->calls.size();
    if (!p.waiting && !all_made) return false;
    const bool flag = !all_made && p.work->calls[p.next].kind == ProgramCall::Kind::wait_until;
    if (flag && holds(p.work->calls[p.next])) return false;
    polls += p.polls;
    for (size_t i = 0; i < p.next + (p.waiting && !flag); ++i) {
      const ProgramCall& c = p.work->calls[i];
      // What holds an atomic back is open itself.
      if (c.done || c.kind == ProgramCall::Kind::wait || p.holds_back(i)) continue;
      if (c.kind == ProgramCall::Kind::command || !c.command->queue_call) return false;
      queues_wait = true;
    }
  }
  // Of messages, what is under way stands on the timeline.
  return !queues_wait || platform_.timeline().entries() == polls;
}

std::string ProgramPlayer::waiting_for_flags() const {
  constexpr const char* kNames[] = {"eq", "ne", "lt", "ge"};
  std::string text = "nothing can move:";
  for (const auto& playing : playing_) {
    const Playing& p = *playing;
    if (p.ended || p.next == p.work->calls.size()) continue;
    if (p.work->calls[p.next].kind != ProgramCall::Kind::wait_until) continue;
    const ProgramCall& c = p.work->calls[p.next];
    const auto flag = flags_.find(c.flag);
    text += fmt::format("{} {}: call {} waits until the flag at {} is {} {}, it is {}", text.back() == ':' ? "" : ";",
                        p.pe->id, c.id, address_text(c.flag), kNames[static_cast<size_t>(c.compare)], c.value,
                        flag == flags_.end() ? 0 : flag->second);
  }
  return text;
}

void ProgramPlayer::end_if_complete(Playing& p) {
  if (p.ended || p.not_done > 0) return;
  p.ended = true;
  p.work->end_ns = std::max(p.work->end_ns, p.local_ns);
  const std::string left = p.pe->ipcq ? p.pe->ipcq->close_ports() : std::string();
  if (!left.empty()) fail(left);
}

void ProgramPlayer::fail(const std::string& what) {
  if (!fault_.empty()) return;
  fault_ = what;
  sc_core::sc_stop();
}

std::string ProgramPlayer::stuck() const {
  std::vector<StuckPe> stuck;
  for (const auto& playing : playing_) {
    if (!playing->ended) stuck.push_back({static_cast<uint32_t>(playing->pe->index), waited_for(*playing)});
  }
  return stuck.empty() ? std::string() : circle_of_waiting(platform_.machine(), stuck);
}

std::string ProgramPlayer::not_ended() const {
  std::string text;
  for (const auto& playing : playing_) {
    const auto& calls = playing->work->calls;
    const auto c = std::find_if(calls.begin(), calls.end(), [](const ProgramCall& o) { return !o.done; });
    if (!playing->ended && c != calls.end())
      text += fmt::format("{}{}: call {} is not done", text.empty() ? "" : "; ", playing->pe->id, c->id);
  }
  return text;
}

/// Calls, by number; none: all that are open.
std::vector<uint64_t> ProgramPlayer::waited_for(const Playing& p) {
  if (!p.waiting) return {};
  const auto& calls = p.work->calls;
  std::vector<uint64_t> all = {p.next};
  if (calls[p.next].kind == ProgramCall::Kind::wait)
    all.assign(calls[p.next].waits_for.begin(), calls[p.next].waits_for.end());
  // Of an atomic that is held back: what the program has written before it.
  uint64_t last_held = 0;
  for (const uint64_t i : all) {
    if (p.holds_back(i)) last_held = std::max(last_held, i);
  }
  for (uint64_t i = 0; i < last_held; ++i) {
    if (calls[i].writes && !calls[i].done) all.push_back(i);
  }
  return all;
}

}  // namespace kernbench
