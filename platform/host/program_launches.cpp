// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/host/program_launches.h"

#include <algorithm>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/launch/launch_host.h"
#include "kernbench/platform/launch/launch_preparation.h"
#include "kernbench/platform/launch/pe_selection.h"
#include "kernbench/platform/platform.h"

namespace kernbench::host {

ProgramLaunches::ProgramLaunches(Platform& platform, const ProgramSpec& spec, const ProgramPes& pes,
                                 const ContextOptions& options, Streams& streams, StreamClocks& clocks,
                                 FirstFault& fault)
    : platform_(platform),
      spec_(spec),
      pes_(pes),
      options_(options),
      streams_(streams),
      clocks_(clocks),
      fault_(fault),
      launcher_(platform.hosts().launch_host()),
      pe_times_(pes.pes.size()) {}

ProgramLaunches::~ProgramLaunches() {
  for (const Plan& plan : running_) plan->queues.reset();
}

const ProgramLaunches::Group& ProgramLaunches::group(const std::vector<size_t>& pes) {
  const auto [it, is_new] = groups_.try_emplace(pes);
  if (is_new) {
    try {
      it->second.way = choose_launch_way(platform_.hosts().launch_host(), pes, options_.launch);
    } catch (const HostPathError& e) {
      throw InputError(std::string("--launch host: ") + e.what());
    }
    it->second.programs = programs_of(platform_.machine(), pes);
  }
  return it->second;
}

void ProgramLaunches::choose_pes(LaunchPlan& plan, const On& on, const std::string& pes) const {
  std::vector<size_t> chosen = pes_.pes;
  if (pes != "all")
    chosen =
        kernbench::choose_pes(platform_.machine(), {pes, "all", "all", "launch of " + plan.kernel->name + ": pes"});
  for (const Stream& s : on.streams()) {
    plan.parts.emplace_back();
    for (size_t p = 0; p < pes_.pes.size(); ++p) {
      if (pes_.rank[p] != s.rank || !std::binary_search(chosen.begin(), chosen.end(), pes_.pes[p])) continue;
      plan.parts.back().push_back(static_cast<uint32_t>(plan.pes.size()));
      plan.pes.push_back(pes_.pes[p]);
      plan.places.push_back(p);
    }
  }
  if (plan.pes.empty()) throw InputError("launch of " + plan.kernel->name + ": none of its ranks has a PE of " + pes);
  if (pes == "all" || pes == "leaders") return;
  for (const size_t p : chosen) {
    if (std::find(plan.pes.begin(), plan.pes.end(), p) == plan.pes.end())
      throw InputError("launch of " + plan.kernel->name + ": pes: " + platform_.pes().pe(p).id +
                       " is on none of its ranks");
  }
}

void ProgramLaunches::give_tensors(LaunchPlan& plan, const TensorPointers& tensors) const {
  std::map<uint32_t, std::shared_ptr<tl::LaunchArgs>> of_rank;
  for (const size_t p : plan.places) {
    std::shared_ptr<tl::LaunchArgs>& args = of_rank[pes_.rank[p]];
    if (!args) {
      args = std::make_shared<tl::LaunchArgs>(plan.params);
      for (const TensorSpec& t : plan.kernel->tensors) {
        const bool flat = t.placement == Placement::flat_rows && !t.policy;
        tensors.at(t.name)->add_to(*args, t.name, plan.places, pes_.rank[p], options_.addresses, flat);
      }
    }
    plan.args.push_back(args);
  }
}

ProgramLaunches::Prepared ProgramLaunches::prepare(const On& on, const std::string& kernel, const KernelParams& params,
                                                   const TensorPointers& tensors, const std::string& pes,
                                                   const SourceLine& where) {
  const auto plan = std::make_shared<LaunchPlan>();
  plan->kernel = launched_kernel(KernelRegistry::instance().at(kernel), tensors);
  plan->params = launch_params(*plan->kernel, params, tensors);
  if (plan->kernel->materializes && !platform_.system().pending_values())
    throw InputError("launch of " + kernel + ": it materializes values, and program " + spec_.name +
                     " does not say so (ProgramSpec::materializes)");
  choose_pes(*plan, on, pes);
  plan->way = group(plan->pes).way;
  plan->programs = group(plan->pes).programs;
  PreparedLaunch prepared = prepare_launch(platform_.machine(), *plan->kernel, std::move(plan->params), plan->pes,
                                           plan->programs.front().launch);
  plan->params = std::move(prepared.params);
  give_tensors(*plan, tensors);
  plan->number = launches_++;
  plan->behind = clocks_.program();
  Operation op;
  op.kind = Operation::Kind::launch;
  op.where = where;
  op.name = kernel;
  op.streams = on.streams();
  op.notes = std::move(prepared.notes);
  for (const auto& [name, places] : tensors) op.uses.push_back(places->use());
  op.begin = [this, plan](Operation& o) { fault_.guarded([&] { located(o.where, [&] { begin(plan, o); }); }); };
  return {std::move(op), plan->kernel};
}

void ProgramLaunches::begin(const Plan& plan, Operation& op) {
  try {
    plan->queues = std::make_unique<LaunchQueues>(platform_.machine(), platform_.hosts().allocators(), *plan->kernel,
                                                  plan->params, *plan->programs.front().launch, plan->pes);
  } catch (const InputError& e) {
    if (plan->number == 0) throw;
    throw RunError(e.what());  // memory contents depend on earlier launches
  }
  running_.insert(plan);
  KernelLaunch message;
  message.id = {plan->number, "launch " + std::to_string(plan->number) + " (" + plan->kernel->name + ")",
                plan->kernel->name};
  message.pes = plan->pes;
  message.ports = plan->queues->ports();
  message.kernel = [plan](size_t place) {
    return [plan, place](PeBackend& backend) {
      tl::Context context(backend, plan->programs[place]);
      plan->kernel->function(context, tl::Args(plan->args[place], static_cast<uint32_t>(place)));
      context.finish();
    };
  };
  op.start_ns = platform_.timeline().now_ns() + plan->way.latest_ns;
  clocks_.join(op);
  StreamClocks::merge(clocks_.of(op.streams.front()), plan->behind);
  if (options_.history) {
    for (const size_t pe : plan->pes) options_.history->begins(static_cast<uint32_t>(pe), plan->behind);
  }
  std::vector<std::vector<uint32_t>> parts;
  std::vector<size_t> place_of_part;
  for (size_t i = 0; i < plan->parts.size(); ++i) {
    if (plan->parts[i].empty()) continue;
    parts.push_back(plan->parts[i]);
    place_of_part.push_back(i);
  }
  launcher_.launch(std::move(message), plan->way, parts,
                   [this, plan, &op, place_of_part](size_t part, const LaunchResult& r) {
                     fault_.guarded([&] { located(op.where, [&] { part_ended(plan, op, place_of_part[part], r); }); });
                   });
  for (size_t i = 0; i < plan->parts.size(); ++i) {
    if (plan->parts[i].empty()) streams_.end(op, i);
  }
}

void ProgramLaunches::part_ended(const Plan& plan, Operation& op, size_t part, const LaunchResult& r) {
  if (!r.response.ok()) {
    const bool busy = r.response.code == HostError::pe_busy;
    throw RunError((busy ? "pe_busy: " : "") + r.response.text);
  }
  for (const uint32_t place : plan->parts[part]) {
    const KernelOutcome& outcome = r.outcomes[place];
    Context::PeTimes& times = pe_times_[plan->places[place]];
    if (!times.launched) times.start_ns = outcome.start_ns;
    times.launched = true;
    times.end_ns = std::max(times.end_ns, outcome.end_ns);
    times.scalar_ns += outcome.scalar_ns;
  }
  if (options_.history) {
    StreamClocks::Clock& clock = clocks_.of(op.streams[part]);
    StreamClocks::merge(plan->behind, clock);
    for (const uint32_t place : plan->parts[part])
      options_.history->ended(static_cast<uint32_t>(plan->pes[place]), &clock);
  }
  if (op.open == 1) {
    plan->queues.reset();
    running_.erase(plan);
  }
  streams_.end(op, part);
}

}  // namespace kernbench::host
