#include "kernbench/phase2/tool/whole_number.h"
#include "kernbench/platform/tools/sweep.h"

#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <memory>

#include "kernbench/phase2/tool/faults.h"
#include "kernbench/phase2/tool/progress_line.h"
#include "kernbench/platform/cli/commands.h"

namespace kernbench::cli {

Command add_sweep(CLI::App& app) {
  auto o = std::make_shared<SweepOptions>();
  auto format = std::make_shared<std::string>();
  CLI::App* cmd = app.add_subcommand(
      "sweep", "Do a run or a probe for every combination of some options' values, several at a time, as a table");
  cmd->add_option("--over", o->over,
                  "an option of the command and the values it takes in turn; param.n for --param n=… (repeatable, the "
                  "last runs fastest)")
      ->required()
      ->allow_extra_args(false)
      ->type_name("OPTION=V,V,…");
  whole_number(cmd->add_option("--jobs", o->jobs, "processes at a time; 0: one a processor"), 0, 1024)
      ->capture_default_str();
  add_format(*cmd, *format, {"csv", "json"});
  cmd->add_option("command", o->command, "behind --: run or probe, with the options that stay the same")->required();
  cmd->footer(
      "kernbench sweep --over links=ideal,cut_through,flit --over param.n=64,128 -- run --topology small.yaml "
      "--kernel gemm\n"
      "Rows come in the order of the combinations, whatever the number of processes. Exit status: the worst of all.");
  return {cmd, [o, format] {
            o->program = std::filesystem::read_symlink("/proc/self/exe").string();
            o->json = *format == "json";
            ProgressLine progress;
            return sweep(*o, std::cout,
                         {[&](const std::string& point, const std::string& fault) {
                            progress.clear();
                            if (!fault.empty()) tell(point + ": " + fault);
                          },
                          [&](size_t points, size_t of) { progress.show(fmt::format("swept {} of {}", points, of)); }});
          }};
}

}  // namespace kernbench::cli
