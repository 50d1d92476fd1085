// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/host/program.h"

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/elaborate/deadlock.h"
#include "kernbench/platform/elaborate/run_watch.h"
#include "kernbench/platform/platform.h"
#include "kernbench/systemc_models/pe/running_kernel.h"

namespace kernbench::host {
namespace {

/// The stack must suffice for any user code, and reading a tensor may run a part of phase 2.
constexpr int kStackBytes = 8 << 20;

}  // namespace

Program::Program(Platform& platform, const ProgramSpec& spec, Params params, const PeChoice& on, ContextOptions options)
    : platform_(platform),
      name_("program " + spec.name),
      context_(platform, spec, std::move(params), choose_pes(platform.machine(), on), options) {}

void Program::start(bool pauses) {
  pauses_ = pauses;
  platform_.timeline().at(platform_.timeline().now_ns(), Order(Order::kEngines, 0, 0), call<&Program::spawn>(*this));
}

void Program::spawn() {
  guard_bytes_ = RunningKernel::guard_bytes(1, kStackBytes);
  sc_core::sc_spawn_options options;
  options.set_stack_size(kStackBytes + static_cast<int>(guard_bytes_));
  sc_core::sc_spawn([this] { run(); }, sc_core::sc_gen_unique_name("program"), &options);
}

void Program::run() {
  const RunningKernel place(name_.c_str(), nullptr, kStackBytes, guard_bytes_);
  context_.run();
  if (pauses_) platform_.machine().runs().pause_when_settled();
}

void Program::check() {
  if (context_.fault()) std::rethrow_exception(context_.fault());
  if (!platform_.system().fault().empty()) throw RunError(platform_.system().fault());
  if (context_.complete()) return;
  if (const Operation* op = context_.streams().waits_in_vain())
    throw RunError((op->where.line > 0 ? kernbench::to_string(op->where) + ": " : "") + "event " + op->name +
                   " is waited for in " + op->streams.front().to_string() + " and never recorded");
  const std::string circle = context_.streams().circle();
  if (!circle.empty()) throw RunError("streams wait for each other: " + circle);
  throw stuck_error(stuck_report(platform_.machine()));
}

}  // namespace kernbench::host
