// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/elaborate/run_watch.h"

#include <algorithm>

#include "kernbench/platform/elaborate/deadlock.h"
#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/systemc_models/memory/system.h"
#include "kernbench/systemc_models/pe/kernel_runner.h"

namespace kernbench::elaborate {
namespace {

/// The watches of all platforms. Only the first checks for starvation: two would count each other's events as activity.
std::vector<RunWatch*>& watches() {
  static auto& all = *new std::vector<RunWatch*>;  // outlives static platforms
  return all;
}

}  // namespace

RunWatch::RunWatch(sc_core::sc_module_name name, Machine& machine) : sc_module(name), machine_(machine) {
  watches().push_back(this);
  SC_HAS_PROCESS(RunWatch);
  SC_METHOD(check);
  sensitive << check_;
  dont_initialize();
}

RunWatch::~RunWatch() {
  watches().erase(std::find(watches().begin(), watches().end(), this));
}

/// Whether all messages' credits have returned to their senders. Those of a message without receiver never return.
bool RunWatch::settled() const {
  if (!machine_.system().fault().empty()) return true;
  for (size_t p = 0; p < machine_.pes().count(); ++p) {
    const IpcqRole* ipcq = machine_.pes().pe(p).ipcq;
    if (ipcq && ipcq->segments_under_way() > 0) return false;
  }
  return true;
}

void RunWatch::pause_when_settled() {
  pausing_ = !settled();
  if (!pausing_) return sc_core::sc_pause();
  machine_.timeline().on_rest(call<&RunWatch::at_rest>(*this));
}

void RunWatch::begin(const std::string& job) {
  jobs_.push_back(job);
  machine_.timeline().on_rest(call<&RunWatch::at_rest>(*this));
}

void RunWatch::end(const std::string& job) {
  jobs_.erase(std::find(jobs_.begin(), jobs_.end(), job));
}

void RunWatch::begin_call() {
  calls_ = true;
  stuck_ = false;
  alone_ = !machine_.blocks().waits_for_others();
  machine_.timeline().on_rest(call<&RunWatch::at_rest>(*this));
}

void RunWatch::at_rest() {
  if (pausing_ && settled()) {
    pausing_ = false;
    sc_core::sc_pause();
  }
  if (waits() || cannot_move()) watches().front()->check_.notify(sc_core::SC_ZERO_TIME);
  if (!pausing_ && !calls_ && jobs_.empty()) machine_.timeline().on_rest({});
}

/// A job runs, the platform has no due events, and no warning was given.
bool RunWatch::waits() const {
  const Timeline& timeline = machine_.timeline();
  return !jobs_.empty() && timeline.idle() && told_at_ != timeline.events();
}

/// A call runs to completion and cannot continue, but other activity does; without it the simulation would end by
/// itself.
bool RunWatch::cannot_move() const {
  return calls_ && alone_ && !pausing_ && !stuck_ && machine_.timeline().idle() &&
         sc_core::sc_pending_activity_at_future_time();
}

/// A kernel could continue, but its process is suspended.
bool RunWatch::suspended() const {
  const Pes& pes = machine_.pes();
  for (size_t p = 0; p < pes.count(); ++p) {
    if (pes.complete(p) && pes.runner(p).due()) return true;
  }
  return false;
}

/// Waits as long as any other activity in the simulation is pending.
void RunWatch::check() {
  const auto waiting = [](const RunWatch* w) { return w->waits() || w->cannot_move(); };
  if (std::none_of(watches().begin(), watches().end(), waiting)) return;
  if (sc_core::sc_pending_activity_at_current_time()) return check_.notify(sc_core::SC_ZERO_TIME);
  if (std::any_of(watches().begin(), watches().end(), [](const RunWatch* w) { return w->suspended(); })) return;
  for (RunWatch* w : watches()) {
    if (!w->cannot_move()) continue;
    w->stuck_ = true;
    sc_core::sc_pause();
  }
  if (std::none_of(watches().begin(), watches().end(), [](const RunWatch* w) { return w->waits(); })) return;
  if (sc_core::sc_pending_activity_at_future_time()) return check_.notify(sc_core::sc_time_to_pending_activity());
  for (RunWatch* w : watches()) {
    if (w->waits()) w->warn();
  }
}

void RunWatch::warn() {
  told_at_ = machine_.timeline().events();
  std::string text = "nothing can move, and not done: ";
  for (const std::string& job : jobs_) text += (&job == jobs_.data() ? "" : ", ") + job;
  for (const std::string& line : stuck_report(machine_)) text += "\n  " + line;
  SC_REPORT_WARNING("/kernbench/stuck", text.c_str());
}

}  // namespace kernbench::elaborate
