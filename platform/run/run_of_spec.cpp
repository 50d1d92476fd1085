// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/run/run_of_spec.h"

#include "kernbench/kernel_api/program_registry.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/elaborate/machine.h"

namespace kernbench {

namespace {

/// Options of `run` alone: kernel or program, and ranks.
void add_work(const spec::RunSpec& spec, RunOptions* r) {
  if (spec.given("kernel") + spec.given("program") + spec.given("ttir") != 1)
    throw InputError("run: needs --kernel NAME, --program NAME or --ttir FILE, one of them");
  r->kernel = spec.text("kernel");
  r->program = spec.text("program");
  r->params = spec.named("param");
  r->ranks = spec.text("ranks");
  r->wiring_file = spec.text("wiring");
  if (!r->wiring_file.empty() && spec.given("program")) throw InputError("--wiring: is of a kernel; found a program");
}

}  // namespace

RunOptions run_options(const spec::RunSpec& spec) {
  RunOptions r;
  if (spec.table().find("kernel")) add_work(spec, &r);
  r.tensors = spec.named("tensor");
  r.dumps = spec.named("dump");
  r.expected = spec.named("expected");
  r.seed = spec.whole("seed");
  r.pes = spec.text("pes");
  r.device = spec.text("device");
  if (spec.text("launch") == "host") r.launch = LaunchMode::host;
  if (spec.text("launch") == "direct") r.launch = LaunchMode::direct;
  r.timed_transfer = spec.text("transfer") == "timed";
  if (spec.text("address") == "virtual") r.addresses = AddressMode::virtual_;
  r.verify = spec.flag("verify");
  r.debug_verify = spec.flag("debug-verify");
  r.check_races = spec.flag("check-races");
  r.threads = static_cast<int>(spec.whole("threads"));
  r.corrupt = spec.text("corrupt");
  return r;
}

void set_links(spec::RunDocument& d, const topology::Graph& graph) {
  d.options.set("links", graph.timing.links.name());
  d.options.set("response", std::string(name_of(graph.timing.response)));
}

void resolve(spec::RunDocument& d, Platform& platform, const RunOptions& r) {
  set_links(d, machine_of(platform).graph());
  d.options.set("launch", std::string(name_of(choose_launch_way(platform, r).mode)));
  if (r.own_program) return;
  const Params params = r.program.empty() ? kernel_params(KernelRegistry::instance().at(r.kernel), r.params)
                                          : program_params(ProgramRegistry::instance().at(r.program), r.params);
  d.options.list("param").clear();
  for (const auto& [name, value] : params.values()) {
    const std::string text = to_text(value);
    if (!text.empty()) d.options.add("param", name + "=" + text);
  }
}

}  // namespace kernbench
