#include "kernbench/platform/cli/triton_options.h"

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/tool/output_files.h"
#include "kernbench/phase2/tool/whole_number.h"
#include "kernbench/platform/cli/run_command.h"
#include "kernbench/platform/tools/run.h"
#include "kernbench/platform/triton/launch.h"

namespace kernbench::cli {

void TritonOptions::add_to(CLI::App& app) {
  app.add_option("--ttir", file,
                 "instead of a kernel: a Triton kernel, from the IR in Triton's cache (docs/triton.md); then --tensor "
                 "takes ARG=FILE.npy or ARG=uniform|zeros|arange:DTYPE[N,...] for every pointer, --param ARG=VALUE for "
                 "every number")
      ->type_name("FILE.ttir");
  app.add_option("--function", function, "with --ttir: which of the file's")->type_name("NAME");
  app.add_option("--grid", grid, "with --ttir: its programs")->type_name("X[,Y[,Z]]");
  app.add_option("--order", order, "with --ttir: programs go to PEs in turn, or in blocks of neighbours")
      ->check(CLI::IsMember({"round_robin", "blocks"}))
      ->capture_default_str();
  whole_number(app.add_option("--interleave", interleave, "with --ttir: bytes of a block of tensors that lie so"))
      ->capture_default_str();
  app.add_option("--place", places, "with --ttir: where a pointer's tensor lies over the PEs (repeatable)")
      ->type_name("ARG=interleave|rows|replicate");
}

void TritonOptions::check_unasked() const {
  const auto alone = [](const char* option, bool given) {
    if (given) throw InputError(std::string(option) + ": needs --ttir beside it");
  };
  alone("--function", !function.empty());
  alone("--grid", !grid.empty());
  alone("--order", order != "round_robin");
  alone("--interleave", interleave != 4096);
  alone("--place", !places.empty());
}

std::shared_ptr<triton::Launch> TritonOptions::make_kernel(RunCommand* o) const {
  if (!o->kernel.empty() || !o->program.empty())
    throw InputError("run: needs --kernel NAME, --program NAME or --ttir FILE, one of them");
  if (grid.empty()) throw InputError("--ttir: needs --grid X[,Y[,Z]] beside it");
  triton::LaunchRequest r;
  r.file = file;
  r.function = function;
  r.grid = grid;
  r.order = order;
  r.interleave = interleave;
  for (const std::string& t : o->tensors) r.tensors.push_back(name_and_value("--tensor", t, "ARG=FILE.npy"));
  for (const std::string& p : o->params) r.params.push_back(name_and_value("--param", p, "ARG=VALUE"));
  for (const std::string& p : places) r.places.push_back(name_and_value("--place", p, "ARG=interleave|rows|replicate"));
  auto launch = std::make_shared<triton::Launch>(r);
  KernelSpec spec = launch->spec();
  o->kernel = spec.name;
  o->tensors.clear();
  for (const auto& [name, npy] : launch->files()) o->tensors.push_back(name + "=" + npy);
  KernelRegistry::instance().add(std::move(spec));
  return launch;
}

void add_programs(const triton::Launch& launch, RunReport* r) {
  r->waves = launch.waves(static_cast<int64_t>(r->pes.size()));
  for (const triton::ProgramTime& t : launch.times())
    r->programs.push_back({t.id, t.pe, t.start_ns - r->begin_ns, t.end_ns - r->begin_ns});
}

}  // namespace kernbench::cli
