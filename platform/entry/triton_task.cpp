// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/entry/triton_task.h"

#include "kernbench/kernel_api/registry.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/run/run.h"
#include "kernbench/platform/triton/launch.h"

namespace kernbench {

std::shared_ptr<triton::Launch> make_triton_kernel(const spec::RunSpec& spec, RunOptions* run) {
  if (!spec.given("ttir")) return nullptr;
  if (!spec.given("grid")) throw InputError("--ttir: needs --grid X[,Y[,Z]] beside it");
  triton::LaunchRequest r;
  r.file = spec.text("ttir");
  r.function = spec.text("function");
  r.grid = spec.text("grid");
  if (spec.given("order")) r.order = spec.text("order");
  if (spec.given("chains")) r.chains = spec.text("chains");
  if (spec.given("interleave")) r.interleave = spec.whole("interleave");
  r.tensors = spec.named("tensor");
  r.params = spec.named("param");
  r.places = spec.named("place");
  auto launch = std::make_shared<triton::Launch>(r);
  KernelSpec kernel = launch->spec();
  run->kernel = kernel.name;
  run->tensors = launch->files();
  static std::vector<std::shared_ptr<triton::Launch>> all;  // registered kernels stay alive
  all.push_back(launch);
  KernelRegistry::instance().replace(std::move(kernel));
  return launch;
}

void add_programs(const triton::Launch& launch, RunReport* r) {
  r->waves = launch.waves(static_cast<int64_t>(r->pes.size()));
  for (const triton::ProgramTime& t : launch.times())
    r->programs.push_back({t.id, t.pe, t.start_ns - r->begin_ns, t.end_ns - r->begin_ns});
}

}  // namespace kernbench
