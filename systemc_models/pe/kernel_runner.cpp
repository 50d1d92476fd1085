// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/pe/kernel_runner.h"

#include <algorithm>
#include <cstdio>
#include <new>
#include <systemc>
#include <utility>

#include "kernbench/phase2/op/address_text.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/systemc_models/fabric/multicast.h"
#include "kernbench/systemc_models/memory/system.h"
#include "kernbench/systemc_models/pe/carried_access.h"
#include "kernbench/systemc_models/pe/carried_tiles.h"
#include "kernbench/systemc_models/pe/pe_setup.h"
#include "kernbench/systemc_models/pe/ranged_command.h"
#include "kernbench/systemc_models/pe/running_kernel.h"

namespace kernbench::pe {

struct KernelRunner::Thread {
  sc_core::sc_event resume;
};

Timeline& KernelRunner::timeline() const {
  return system_.timeline();
}

MemoryImage& KernelRunner::memory() {
  return system_.image();
}

std::string KernelRunner::owner_of(Space space, uint64_t addr) const {
  return system_.owner_of(space, addr);
}

KernelRunner::KernelRunner(Pe& pe, System& system, Component& block, CpuRole& cpu)
    : pe_(pe), system_(system), block_(block), cpu_(cpu), thread_(std::make_unique<Thread>()) {
  system_.flag_waiters().push_back(this);
}

KernelRunner::~KernelRunner() {
  std::vector<FlagWaiter*>& all = system_.flag_waiters();
  all.erase(std::remove(all.begin(), all.end(), static_cast<FlagWaiter*>(this)), all.end());
}

void KernelRunner::launch(Kernel kernel, double start_ns, std::function<void(const Outcome&)> on_end,
                          size_t stack_bytes, LaunchId id, std::shared_ptr<KernelReductions> reductions) {
  kernel_ = std::move(kernel);
  reductions_ = std::move(reductions);
  stack_bytes_ = stack_bytes;
  step_ = nullptr;
  begin(start_ns, std::move(on_end), std::move(id));
}

void KernelRunner::drive(std::function<void()> step, double start_ns, std::function<void(const Outcome&)> on_end) {
  step_ = std::move(step);
  begin(start_ns, std::move(on_end), {});
}

void KernelRunner::begin(double start_ns, std::function<void(const Outcome&)> on_end, LaunchId id) {
  if (running_) throw std::logic_error(pe_.id + ": a kernel is running already");
  running_ = true;
  abandoned_.clear();
  returned_ = false;
  outcome_ = {};
  outcome_.start_ns = start_ns;
  launched_ = std::move(id);
  last_done_ns_ = 0;
  flag_ = nullptr;
  held_.clear();
  polls_ = PollWatch(polls_after_);
  faults_.clear();
  port_names_.clear();
  if (pe_.ipcq) {
    for (const QueuePort& p : pe_.ipcq->ports()) port_names_.push_back(p.name);
  }
  messages_sent_.assign(port_names_.size(), 0);
  on_end_ = std::move(on_end);
  timeline().at(start_ns, front_order(pe_), call<&KernelRunner::start>(*this));
}

/// The thread is created at the kernel's start, not at its launch. Kernels that start at one instant therefore run in
/// the order of the PEs, regardless of the order of the launch messages.
void KernelRunner::start() {
  local_ns_ = outcome_.start_ns;
  if (step_) return step_();
  sc_core::sc_spawn_options options;
  guard_bytes_ = RunningKernel::guard_bytes(system_.flag_waiters().size(), stack_bytes_);
  options.set_stack_size(static_cast<int>(stack_bytes_ + guard_bytes_));
  due_ = true;
  sc_core::sc_spawn([this] { run(); }, sc_core::sc_gen_unique_name("kernel"), &options);
}

void KernelRunner::run() {
  RunningKernel place(pe_.id.c_str(), launched_.kernel.c_str(), stack_bytes_, guard_bytes_);
  place_ = &place;
  due_ = false;
  tell(KernelActivity::runs);
  try {
    kernel_(*this);
  } catch (const KernelFault& e) {
    outcome_.fault = pe_.id + ": " + (e.has_line() ? "" : behind_last_call()) + e.what();
  } catch (const sc_core::sc_unwind_exception&) {
    throw;  // an exception of the simulation
  } catch (const std::bad_alloc&) {
    // The models may have executed a step partly, so the other PEs cannot continue.
    throw OutOfMemory(pe_.id + ": " + behind_last_call());
  } catch (const std::exception& e) {
    outcome_.fault = pe_.id + ": " + behind_last_call() + e.what();
  } catch (...) {
    outcome_.fault = pe_.id + ": " + behind_last_call() + "the kernel throws an object that is not a std::exception";
  }
  place_ = nullptr;
  finish();
}

void KernelRunner::finish() {
  end_work();
  // The end is a time of the kernel's clock, which may be ahead of the simulation.
  timeline().at(std::max(local_ns_, timeline().now_ns()), front_order(pe_), call<&KernelRunner::returned>(*this));
}

void KernelRunner::returned() {
  returned_ = true;
  last_done_ns_ = std::max(last_done_ns_, local_ns_);
  tell(KernelActivity::idle);
  end_if_complete();
}

/// For faults without a line.
std::string KernelRunner::behind_last_call() const {
  return place_->last_call().line > 0 ? "behind " + to_string(place_->last_call()) + ": " : "";
}

/// Keeps the kernel at a time beyond the simulation's end; a timeline entry there ends the simulation.
void KernelRunner::stay() {
  if (step_) return;
  timeline().at(std::max(local_ns_, timeline().now_ns()), front_order(pe_), call<&KernelRunner::nothing>(*this));
  stand();
}

/// Blocks the kernel's thread until it is resumed. If its process was suspended, or the process that resumes it, its
/// clock continues from the time of the release.
void KernelRunner::stand() {
  sc_core::wait(thread_->resume);
  due_ = false;
  const double now_ns = timeline().ns_of(timeline().stamp());
  if (now_ns > local_ns_ + timeline().ns_of(1)) local_ns_ = now_ns;
  if (!abandoned_.empty()) throw KernelFault(abandoned_);
}

void KernelRunner::abandon(const std::string& why) {
  abandoned_ = why;
  timeline().at(timeline().now_ns(), front_order(pe_), call<&KernelRunner::end_abandoned>(*this));
}

void KernelRunner::end_abandoned() {
  if (!running_ || !place_) return;
  waiting_ = waiting_for_slot_ = pauses_ = false;
  flag_ = nullptr;
  local_ns_ = timeline().now_ns();
  wake();
}

void KernelRunner::end_if_complete() {
  if (!running_ || !returned_ || (outstanding_ > 0 && outcome_.fault.empty())) return;
  running_ = false;
  outcome_.end_ns = last_done_ns_;
  if (outcome_.fault.empty() && !faults_.empty()) outcome_.fault = pe_.id + ": " + faults_.begin()->second.what();
  if (pe_.ipcq) {
    ClosePorts close;
    set_up(pe_.id, cpu_, close);
    if (outcome_.fault.empty()) outcome_.fault = close.left;
  }
  if (on_end_) on_end_(outcome_);
  if (const auto next = std::exchange(next_, {})) next();
}

namespace {

/// Whether a release must wait for it (access rules §17.1).
bool writes(CommandType t) {
  return t == CommandType::store || t == CommandType::atomic || t == CommandType::composite;
}

/// Whether it writes data to a handle at or before its completion.
bool fills_handle(const OpDesc& d) {
  return d.type == CommandType::load || (d.type == CommandType::atomic && d.ranged->returns_old);
}

}  // namespace

Ticket KernelRunner::submit(const std::shared_ptr<OpDesc>& desc) {
  auto s = std::make_unique<Submitted>();
  fill_command(*desc, *s);
  s->item.command = s.get();
  s->desc = desc;
  if (desc->ranged) s->carried = CarriedAccess::of(system_, pe_.dma, desc, s->dma, nullptr);
  if (desc->ranged && !s->carried) {
    auto ranged = std::make_shared<RangedCommand>(system_, pe_, desc);
    s->of_ranges = ranged.get();
    s->ranged = std::move(ranged);
    if (desc->on_the_way) join(*s, *desc);
  }
  pe_.scheduler->validate(*s);
  if (s->multicast) check_destinations(*s, *desc);
  if (!desc->ranged) s->carried = CarriedAccess::of(system_, pe_.dma, desc, s->dma, s->multicast.get());
  s->carried_tiles = CarriedTiles::of(system_, pe_.dma, desc);
  if (system_.pending_values()) {
    for (const Pe::Engine& e : pe_.engines) {
      if (e.role->computes(*desc)) desc->engine_result = std::make_shared<EngineResult>();
    }
  }
  s->releases = desc->type == CommandType::atomic && desc->ranged->releases();
  s->writes = writes(desc->type);
  Submitted& submitted = enqueue(std::move(s), desc);
  if (fills_handle(*desc)) load_begins(desc->output.addr);
  if ((desc->type == CommandType::load || desc->type == CommandType::store) && !desc->ranged && !desc->polls) {
    const uint64_t place = desc->type == CommandType::load ? desc->operands.front().ref.addr : desc->output.addr;
    if (polls_.accesses(place)) tell_polling(*desc, place);
  }
  timeline().at(local_ns_, front_order(pe_), call<&KernelRunner::issue>(*this, submitted));
  return submitted.ticket;
}

void KernelRunner::check_destinations(const PeCommand& c, const OpDesc& desc) {
  for (const MulticastPart& part : *c.multicast) {
    try {
      check_multicast(system_, pe_.dma, part.to, part.nbytes);
    } catch (const AccessError& e) {
      throw KernelFault(desc.where, desc.name + " to several memories by " + pe_.id + ": " + e.what());
    }
  }
}

void KernelRunner::join(Submitted& s, const OpDesc& desc) {
  try {
    s.reduction = s.of_ranges->join(reductions_);
  } catch (const AccessError& e) {
    throw KernelFault(desc.where, desc.name + " by " + pe_.id + ": " + e.what());
  }
}

Ticket KernelRunner::submit_timed(const TimedCommand& timed, const std::shared_ptr<OpDesc>& what) {
  const auto made_of = [](const PeCommand& command) {
    auto s = std::make_unique<Submitted>();
    static_cast<PeCommand&>(*s) = command;
    s->item.command = s.get();
    return s;
  };
  auto s = made_of(*timed.command);
  s->releases = timed.releases;
  s->writes = timed.writes;
  if (timed.queue) {
    s->call = *timed.queue;
    s->call.call_ns = cpu_.command_ns();
    s->queue_call = &s->call;
  }
  if (timed.store) {
    s->store = made_of(*timed.store);
    s->store->store_of = s.get();
    s->store->what = what;
  }
  Submitted& submitted = enqueue(std::move(s), what);
  submitted.call.seq = what->seq;
  timeline().at(local_ns_, front_order(pe_),
                timed.queue ? call<&KernelRunner::issue_queue_op>(*this, submitted)
                            : call<&KernelRunner::issue>(*this, submitted));
  return submitted.ticket;
}

void KernelRunner::tell_polling(const OpDesc& desc, uint64_t address) {
  const std::string what = pe_.id + " has accessed " + address_text(address) + " " + std::to_string(polls_.many()) +
                           " times, now at " + kernbench::to_string(desc.where);
  if (history_) history_->end(what);
  SC_REPORT_WARNING("/kernbench/polling", (what + ": a message (tl.recv) or an event is waited for without polling" +
                                           (history_ ? "; race detection stops here" : ""))
                                              .c_str());
}

/// Stamps the command with its time of submission and keeps it until it is done.
KernelRunner::Submitted& KernelRunner::enqueue(std::unique_ptr<Submitted> s, const std::shared_ptr<OpDesc>& desc) {
  end_work();
  go_on(cpu_.command_ns(), desc->where);
  desc->submit_ns = local_ns_;
  desc->pe = pe_.index;
  desc->seq = seq_++;
  desc->launch = launched_.number;
  if (s->op && s->op->store) {
    s->op->store->submit_ns = desc->submit_ns;
    s->op->store->pe = desc->pe;
    s->op->store->seq = desc->seq;
    s->op->store->launch = desc->launch;
  }
  s->what = desc;
  s->ticket = first_ticket_ + submitted_.size();
  s->issue_ns = local_ns_;
  if (!s->op) s->after = std::exchange(followed_, {});
  ++outstanding_;
  if (history_) history_->submitted(s->op && s->op->store ? s->op->store : desc);
  Submitted& submitted = *s;
  submitted_.push_back({std::move(s)});
  if (place_) place_->calls(desc->where);
  if (PeObserver* o = watcher()) o->kernel_submits(pe_, submitted, local_ns_);
  if (timeline().ends_before(local_ns_)) stay();
  return submitted;
}

void KernelRunner::go_on(double ns, const SourceLine& where) {
  const double later = local_ns_ + ns;
  if (!is_time(later)) {
    throw KernelFault((where.line > 0 ? kernbench::to_string(where) + ": " : "") + "the kernel's time, " +
                      TimeBeyondRange::text(later));
  }
  local_ns_ = later;
}

/// Advances only the kernel's clock.
void KernelRunner::work(double ns, const SourceLine* where) {
  if (ns == 0) return;
  if (where && ns > work_most_ns_) {
    work_most_ns_ = ns;
    work_where_ = *where;
  }
  if (work_from_ns_ < 0) work_from_ns_ = local_ns_;
  go_on(ns);
  outcome_.scalar_ns += ns;
  if (timeline().ends_before(local_ns_)) stay();
}

/// Reports scalar work as one interval, even if many elements were read one by one.
void KernelRunner::end_work() {
  if (work_from_ns_ < 0) return;
  if (PeObserver* o = watcher()) o->kernel_works(pe_, work_from_ns_, local_ns_, work_where_);
  work_from_ns_ = -1;
  work_most_ns_ = 0;
  work_where_ = {};
}

void KernelRunner::materialize(const std::shared_ptr<OpDesc>& desc) {
  if (!desc->data && !system_.pending_values()) {
    throw KernelFault("tl.materialize on " + pe_.id +
                      ": only kernels whose KernelSpec sets `materializes = true` keep the inputs of pending values");
  }
  auto s = std::make_unique<Submitted>();
  s->type = desc->type;
  s->materializes = desc;
  s->desc = desc;
  Submitted& submitted = enqueue(std::move(s), desc);
  // The values are computed on the timeline, at the time of submission and on the scheduler's stack.
  timeline().at(local_ns_, front_order(pe_), call<&KernelRunner::issue_materialization>(*this, submitted));
  std::string fault;
  materialize_fault_ = &fault;
  wait(submitted.ticket);
  materialize_fault_ = nullptr;
  if (!fault.empty()) throw KernelFault(fault);
}

void KernelRunner::issue_materialization(Submitted& s) {
  MemoryImage& image = system_.image();
  OpDesc& desc = *s.materializes;
  try {
    if (!desc.data) {
      auto what = std::make_shared<Materialization>();
      Bytes bytes(desc.output.nbytes());
      system_.pending_values()->read(image, MemoryImage::key_of(desc.output), desc.output.addr, bytes.data(),
                                     bytes.size(), 0, cpu_.materialize_limits(), what.get());
      desc.data = std::make_shared<const Bytes>(std::move(bytes));
      desc.materialized = std::move(what);
    }
    apply_effect(s.desc, image);
    s.op_id = block_.begin_service(static_cast<const PeCommand&>(s));
    block_.end_service(static_cast<const PeCommand&>(s), s.op_id, s.issue_ns, s.issue_ns);
    if (PeObserver* o = watcher()) {
      o->command_submitted(pe_, s, s.issue_ns);
      o->command_complete(pe_, s, s.issue_ns);
    }
  } catch (const PendingValueError& e) {
    *materialize_fault_ = e.what();
  }
  s.done_ns = s.issue_ns;
  complete(s);
}

/// Applies the command's effect at its submission. A command over a foreign block has its effect elsewhere.
void KernelRunner::take_effect(Submitted& s) try {
  if (!s.desc) return;
  if (s.carried_tiles) return s.carried_tiles->begin();
  if (s.carried && !s.carried->begin()) s.carried.reset();
  if (s.desc->type != CommandType::load && s.desc->type != CommandType::atomic && !s.carried) system_.apply(s.desc);
} catch (const PendingValueError& e) {
  s.fault = e.what();
}

void KernelRunner::issue(Submitted& s) {
  if (s.releases && writes_before(s)) {
    held_.push_back(&s);
    return;
  }
  if (s.of_ranges) s.of_ranges->submitted(s.issue_ns, history_, s);
  take_effect(s);
  if (PeObserver* o = watcher()) o->command_submitted(pe_, s, s.issue_ns);
  cpu_.submit(s.item);
}

bool KernelRunner::writes_before(const Submitted& s) const {
  return std::any_of(submitted_.begin(), submitted_.end(),
                     [&](const Kept& c) { return !c.done && c.command->ticket < s.ticket && c.command->writes; });
}

void KernelRunner::release_held() {
  while (!held_.empty() && !writes_before(*held_.front())) {
    Submitted& s = *held_.front();
    held_.pop_front();
    timeline().at(timeline().now_ns(), front_order(pe_), call<&KernelRunner::issue_held>(*this, s));
  }
}

void KernelRunner::issue_held(Submitted& s) {
  s.issue_ns = timeline().now_ns();
  issue(s);
}

// ---- flags

void KernelRunner::next_poll(const FlagWait& wait) {
  pause(wait);
  stand();
  look_again(wait);
}

void KernelRunner::pause(const FlagWait& wait) {
  end_work();
  const double from = local_ns_;
  go_on(cpu_.poll_ns(), wait.where);
  if (PeObserver* o = watcher()) o->kernel_polls(pe_, from, local_ns_);
  polls_of_instant_ = local_ns_ > last_poll_ns_ ? 0 : polls_of_instant_ + 1;
  last_poll_ns_ = local_ns_;
  if (polls_of_instant_ > kMostPollsOfAnInstant)
    throw KernelFault(wait.where, std::to_string(polls_of_instant_) + " " + kPollsTakeNoTime);
  flag_ = &wait;
  pauses_ = true;
  timeline().at(local_ns_, front_order(pe_), call<&KernelRunner::poll_due>(*this));
  stands_still("wait_until", wait.where);
}

void KernelRunner::look_again(const FlagWait& wait) {
  if (poll_fault_.empty()) return;
  flag_ = nullptr;
  throw KernelFault(wait.where, std::exchange(poll_fault_, {}));
}

void KernelRunner::poll_due() {
  poll_fault_ = system_.only_polls_left();
  pauses_ = false;
  wake();
  step();
}

void KernelRunner::flag_held(const OpDesc& poll) {
  flag_ = nullptr;
  if (history_) history_->took_effect(poll);
}

FlagWaiter::Polling KernelRunner::polling() const {
  if (!running_) return Polling::ended;
  const Submitted* awaited = waiting_ ? find(awaited_) : nullptr;
  if (flag_) {
    const bool looks = awaited && awaited->what->polls;
    if ((!pauses_ && !looks) || !only_messages_open(looks ? awaited : nullptr) || flag_->holds()) return Polling::no;
    return pauses_ ? Polling::pauses : Polling::looks;
  }
  return (waiting_ || returned_) && only_messages_open(nullptr) ? Polling::receives : Polling::no;
}

/// Excludes `beside`. A command that delays an atomic is itself open.
bool KernelRunner::only_messages_open(const Submitted* beside) const {
  const auto earlier = [](const Submitted* a, const Submitted* b) { return a->ticket < b->ticket; };
  return std::all_of(submitted_.begin(), submitted_.end(), [&](const Kept& c) {
    return c.done || c.command->queue_call || c.command.get() == beside ||
           std::binary_search(held_.begin(), held_.end(), c.command.get(), earlier);
  });
}

bool KernelRunner::has_open_messages() const {
  return std::any_of(submitted_.begin(), submitted_.end(),
                     [](const Kept& c) { return !c.done && c.command->queue_call; });
}

std::string KernelRunner::flag_text() const {
  if (!flag_) return {};
  return (flag_->where.line > 0 ? kernbench::to_string(flag_->where) + ": " : "") + pe_.id + " " + flag_->what +
         ", it is " + flag_->found();
}

void KernelRunner::complete(PeCommand& command) {
  auto& finished = static_cast<Submitted&>(command);
  if (finished.of_ranges && finished.of_ranges->has_effects_left()) {
    // The records arrive at this instant.
    timeline().at(timeline().now_ns(), Order(Order::kDepartures, ~0u, 1),
                  call<&KernelRunner::complete>(*this, command));
    return;
  }
  if (finished.store && finished.fault.empty()) return store_received(finished);
  Submitted& s = finished.store_of ? *finished.store_of : finished;
  s.done_ns = command.done_ns;
  if (command.carried_tiles) command.carried_tiles->end();
  if (command.desc && command.type == CommandType::load &&
      !(command.carried && (!command.fault.empty() || command.carried->put())))
    system_.apply(command.desc);
  if (command.desc && (fills_handle(*command.desc) || command.type == CommandType::receive)) {
    const uint64_t addr = command.desc->output.addr;
    load_ends(addr);
    if (!free_later_.empty() && free_later_.erase(addr)) pe_.tcm->allocator().free(addr);
  }
  if (!command.fault.empty()) {
    faults_.insert_or_assign(s.ticket, KernelFault(s.what->where, command.fault));
  } else if (s.op && s.type == CommandType::receive) {
    s.op->taken = s.call.port;
    note_message(s);
  }
  if (history_) history_->completed(pe_.index, s.what->seq, s.done_ns);
  last_done_ns_ = std::max(last_done_ns_, s.done_ns);
  --outstanding_;
  if (waiting_ && !waiting_for_slot_ && awaited_ == s.ticket) resume(s, s.done_ns);
  Kept& own = submitted_[s.ticket - first_ticket_];
  own.done = true;
  if (!block_.logged()) own.command.reset();  // freed while it is still in the caches
  while (!submitted_.empty() && submitted_.front().done) {
    if (submitted_.front().command) keep_op_ids(*submitted_.front().command);
    submitted_.pop_front();
    ++first_ticket_;
  }
  release_held();
  end_if_complete();
  step();
}

void KernelRunner::stands_still(const char* op, const SourceLine& where) {
  if (place_) place_->waits_for(op, where);
  tell(KernelActivity::waits);
}

void KernelRunner::wake() {
  if (place_) place_->waits_for(nullptr, {});
  tell(KernelActivity::runs);
  if (step_) return;
  due_ = true;
  thread_->resume.notify();
}

/// Calls the driver's step if the driver no longer waits.
void KernelRunner::step() {
  if (step_ && running_ && !returned_ && !waiting_ && !pauses_) step_();
}

void KernelRunner::resume(const PeCommand& command, double at_ns) {
  waiting_ = waiting_for_slot_ = false;
  if (PeObserver* o = watcher(); o && at_ns > local_ns_) o->kernel_wait(pe_, command, local_ns_, at_ns);
  local_ns_ = std::max(local_ns_, at_ns);
  wake();
}

// ---- messages

namespace {

/// Id of a message between PEs for the history: its sender, the sender's port and its number there.
uint64_t message_id(uint32_t pe, uint32_t port, uint64_t number) {
  return uint64_t{pe} << 44 | uint64_t{port} << 32 | (number & 0xffffffff);
}

}  // namespace

Ticket KernelRunner::submit_queue_op(const std::shared_ptr<OpDesc>& desc, const std::shared_ptr<QueueOp>& op) {
  auto s = std::make_unique<Submitted>();
  const bool sends = desc->type == CommandType::send;
  if (const std::string fault = sends ? fault_of_send_all(pe_.ipcq->ports(), op->ports) : ""; !fault.empty())
    throw KernelFault(desc->where, fault);
  s->type = desc->type;
  s->item.command = s.get();
  s->queue_call = &s->call;
  s->op = op;
  s->call.kind = sends ? QueueCall::Kind::send : op->any ? QueueCall::Kind::receive_any : QueueCall::Kind::receive;
  s->call.call_ns = cpu_.command_ns();
  s->call.port = op->ports.front();
  s->call.ports = op->ports;
  s->call.nbytes = sends ? desc->operands.front().ref.nbytes() : desc->output.nbytes();
  s->call.desc = s->desc = desc;
  if (op->store) {
    s->writes = true;
    s->call.credit_blocks = false;
    s->store = std::make_unique<Submitted>();
    fill_command(*op->store, *s->store);
    s->store->item.command = s->store.get();
    s->store->desc = s->store->what = op->store;
    s->store->store_of = s.get();
    s->store->carried = CarriedAccess::of(system_, pe_.dma, op->store, s->store->dma, nullptr);
    pe_.scheduler->validate(*s->store);
  }
  Submitted& submitted = enqueue(std::move(s), desc);
  submitted.call.seq = desc->seq;
  if (sends && history_) {
    for (const uint32_t port : op->ports)
      history_->sent(pe_.index, message_id(pe_.index, port, messages_sent_.at(port)++));
  }
  if (!sends && desc->output.nbytes() > 0) load_begins(desc->output.addr);
  timeline().at(local_ns_, front_order(pe_), call<&KernelRunner::issue_queue_op>(*this, submitted));
  return submitted.ticket;
}

/// The message contains the handle's current value.
void KernelRunner::issue_queue_op(Submitted& s) {
  if (s.desc && s.type == CommandType::send) {
    const TensorRef& handle = s.desc->operands.front().ref;
    s.call.value = std::make_shared<const RangeValue>(system_.image(), handle);
    try {
      system_.make_known(*s.call.value, handle.nbytes());
    } catch (const PendingValueError& e) {
      s.fault = e.what();
    }
  }
  if (PeObserver* o = watcher()) o->command_submitted(pe_, s, s.issue_ns);
  cpu_.submit_to_queues(s.item);
}

void KernelRunner::sent(PeCommand& command) {
  auto& s = static_cast<Submitted&>(command);
  s.has_slots = true;
  s.slots_ns = timeline().now_ns();
  if (waiting_for_slot_ && awaited_ == s.ticket) resume(s, s.slots_ns);
  step();
}

bool KernelRunner::awaits_slot(Ticket t) {
  const Submitted* s = open(t);
  if (!s) return false;
  if (s->has_slots) {
    local_ns_ = std::max(local_ns_, s->slots_ns);
    return false;
  }
  waiting_for_slot_ = true;
  return awaits(t);
}

bool KernelRunner::awaits(Ticket t) {
  const Submitted* s = open(t);
  if (!s) return false;
  end_work();
  awaited_ = t;
  waiting_ = true;
  stands_still(s->what->name.c_str(), s->what->where);
  return true;
}

void KernelRunner::wait_for_slot(Ticket t) {
  if (!open(t)) return;
  if (awaits_slot(t)) stand();
  if (PeObserver* o = watcher()) o->kernel_goes_on(pe_, seq_of(t), true, local_ns_);
}

/// The message of a copy_to_dst has arrived. Its store starts after the scheduler's overhead.
void KernelRunner::store_received(Submitted& s) {
  Submitted& store = *s.store;
  note_message(s);
  store.issue_ns = timeline().now_ns();
  if (s.op) {
    load_ends(s.desc->output.addr);
    s.op->store->submit_ns = store.issue_ns;
  }
  take_effect(store);
  if (PeObserver* o = watcher()) o->command_submitted(pe_, store, store.issue_ns);
  cpu_.submit(store.item);
}

void KernelRunner::note_message(const Submitted& s) {
  if (!history_) return;
  const QueuePort& port = pe_.ipcq->ports()[s.call.port];
  messages_[s.ticket] = message_id(port.peer_index, port.peer_port, s.call.message->number);
}

void KernelRunner::fail_if_faulty(Ticket t) {
  const auto it = faults_.find(t);
  if (it == faults_.end()) return;
  const KernelFault fault = it->second;
  faults_.erase(it);
  throw fault;
}

std::optional<uint64_t> KernelRunner::awaited_seq() const {
  if (!running_ || !waiting_) return std::nullopt;
  const Submitted* s = find(awaited_);
  return s ? std::optional<uint64_t>(s->what->seq) : std::nullopt;
}

void KernelRunner::tell(KernelActivity activity) const {
  if (PeObserver* o = watcher()) o->kernel_changed(pe_, activity, local_ns_);
}

const KernelRunner::Kept* KernelRunner::kept(Ticket t) const {
  if (t < first_ticket_ || t - first_ticket_ >= submitted_.size()) return nullptr;
  return &submitted_[t - first_ticket_];
}

KernelRunner::Submitted* KernelRunner::find(Ticket t) const {
  const Kept* k = kept(t);
  return k ? k->command.get() : nullptr;
}

KernelRunner::Submitted* KernelRunner::open(Ticket t) const {
  const Kept* k = kept(t);
  return k && !k->done ? k->command.get() : nullptr;
}

bool KernelRunner::done(Ticket t) const {
  if (const Kept* k = kept(t); k && !k->done) return false;
  if (history_) history_->found_complete(pe_.index, seq_of(t));
  return true;
}

namespace {

/// Calls f for the op id of each of the command's records.
template <class F>
void for_each_op_id(const PeCommand& c, const F& f) {
  if (!c.recorded_in_parts()) return f(c.op_id > 0 ? c.op_id : c.served_as);
  for (const RangedAccess::Part& part : c.ranged->parts) f(part.op_id);
}

}  // namespace

/// Before a completed command is deleted: keeps the op ids that tl.follow may need.
void KernelRunner::keep_op_ids(const Submitted& s) {
  if (!block_.logged()) return;
  for_each_op_id(s.store ? *s.store : s, [&](uint64_t id) { op_ids_.push_back(id); });
  op_ids_end_.push_back(op_ids_.size());
}

void KernelRunner::follow(Ticket t) {
  const auto take = [&](uint64_t id) {
    if (id > 0) followed_.push_back(id);
  };
  if (const Submitted* s = find(t)) {
    for_each_op_id(s->store ? *s->store : *s, take);
  } else if (t > 0 && t <= op_ids_end_.size()) {
    for (size_t i = t > 1 ? op_ids_end_[t - 2] : 0; i < op_ids_end_[t - 1]; ++i) take(op_ids_[i]);
  }
}

void KernelRunner::wait(Ticket t) {
  if (awaits(t)) stand();
  if (PeObserver* o = watcher()) o->kernel_goes_on(pe_, seq_of(t), false, local_ns_);
  fail_if_faulty(t);
  if (!history_) return;
  history_->waited(pe_.index, seq_of(t));
  const auto message = messages_.find(t);
  if (message == messages_.end()) return;
  history_->received(pe_.index, message->second);
  messages_.erase(message);
}

void KernelRunner::load_begins(uint64_t addr) {
  const auto at = std::lower_bound(loads_.begin(), loads_.end(), addr);
  if (at == loads_.end() || *at != addr) loads_.insert(at, addr);
}

void KernelRunner::load_ends(uint64_t addr) {
  const auto at = std::lower_bound(loads_.begin(), loads_.end(), addr);
  if (at != loads_.end() && *at == addr) loads_.erase(at);
}

uint64_t KernelRunner::tcm_alloc(uint64_t nbytes) {
  FirstFitAllocator& a = pe_.tcm->allocator();
  if (const auto addr = a.allocate(nbytes)) return *addr;
  throw KernelFault("TCM exhausted: " + std::to_string(nbytes) + " bytes asked, " + std::to_string(a.free_bytes()) +
                    " of " + std::to_string(a.capacity()) + " bytes free (largest hole " +
                    std::to_string(a.largest_free()) + ") on " + pe_.id);
}

void KernelRunner::tcm_free(uint64_t addr) {
  if (std::binary_search(loads_.begin(), loads_.end(), addr)) {
    free_later_[addr] = true;
  } else {
    pe_.tcm->allocator().free(addr);
  }
}

void KernelRunner::check_range(Space space, uint64_t addr, uint64_t nbytes) const {
  if (space == Space::tcm) {
    if (addr + nbytes <= pe_.tcm->allocatable_bytes()) return;
  } else if (system_.holds(space, addr, nbytes)) {
    return;
  }
  char text[64];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(addr));
  const std::string owner = system_.owner_of(space, addr);
  throw KernelFault(
      "access to " + std::string(name_of(space)) + " at " + text + ", " + std::to_string(nbytes) +
      " bytes: " + (owner.empty() ? "no memory of the system is there" : "runs over the end of " + owner));
}

TensorRef KernelRunner::translate(const TensorRef& ref) const {
  // A flat system may have memories at such addresses; these are physical.
  if (ref.addr < kVirtualBase || !system_.owner_of(ref.space, ref.addr).empty()) return ref;
  if (!pe_.mmu) throw KernelFault("the address is virtual, and " + pe_.id + " has no pe_mmu");
  Translate translate(ref);
  try {
    set_up(pe_.id, cpu_, translate);
    return translate.ref;
  } catch (const TranslationFault& e) {
    throw KernelFault(e.what());
  }
}

std::string KernelRunner::waiting_for() const {
  if (!running_) return {};
  if (flag_) return "kernel " + flag_->what;
  if (waiting_) {
    const Submitted* s = find(awaited_);
    if (!s) return "kernel waits for a command";
    const SourceLine& where = s->what->where;
    return "kernel waits for " + s->what->name + (where.line > 0 ? " (" + kernbench::to_string(where) + ")" : "");
  }
  return returned_ ? std::to_string(outstanding_) + " commands outstanding after the kernel's return" : "";
}

}  // namespace kernbench::pe
