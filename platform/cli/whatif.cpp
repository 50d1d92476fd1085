// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "kernbench/phase2/io/whole_file.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/text_stream.h"
#include "kernbench/phase2/tool/progress_line.h"
#include "kernbench/phase2/tool/whole_number.h"
#include "kernbench/platform/cli/commands.h"
#include "kernbench/platform/entry/system.h"
#include "kernbench/platform/study/what_if/remedies.h"
#include "kernbench/platform/study/what_if/what_if.h"
#include "kernbench/systemc_models/core/component_catalog.h"

namespace kernbench::cli {
namespace {

/// Options for single changes, instead of parts at twice and half speed.
int remedies(const WhatIfOptions& o, const std::string& format) {
  std::vector<SingleChange> changes;
  try {
    const SystemOptions system(o.run);
    changes = single_changes(system.compile(), component_catalog(), o.run, system.text());
  } catch (const BadParam& e) {
    throw InputError(e.what());
  }
  ProgressLine progress;
  const Remedies found = find_remedies(o.run, changes, o.jobs, o.run_each, [&](size_t done, size_t of) {
    progress.show(fmt::format("simulated {} of {}", done, of));
  });
  progress.clear();
  (format == "json"  ? write_remedies_json
   : format == "csv" ? write_remedies_csv
                     : write_remedies_text)(std::cout, found);
  return 0;
}

int whatif(const WhatIfOptions& o, const std::string& format, const std::string& svg) {
  std::unique_ptr<WholeFile> picture;
  if (!svg.empty()) picture = std::make_unique<WholeFile>(svg);
  ProgressLine progress;
  const WhatIf found =
      what_if(o, [&](size_t done, size_t of) { progress.show(fmt::format("simulated {} of {}", done, of)); });
  progress.clear();
  if (picture) {
    TextOutput text;
    write_what_if_svg(text, found);
    picture->write(text.str());
    picture->keep();
  }
  (format == "json" ? write_what_if_json : format == "csv" ? write_what_if_csv : write_what_if_text)(std::cout, found);
  for (const WhatIf::Row& r : found.rows) {
    if (!r.fault.empty()) return 1;
  }
  return 0;
}

}  // namespace

Command add_whatif(CLI::App& app) {
  auto o = std::make_shared<WhatIfOptions>();
  auto format = std::make_shared<std::string>();
  auto svg = std::make_shared<std::string>();
  auto single = std::make_shared<bool>(false), predict = std::make_shared<bool>(false);
  auto command = std::make_shared<std::vector<std::string>>();
  CLI::App* cmd =
      app.add_subcommand("whatif", "Rerun with each part at twice and half speed: which part would help, and how much");
  cmd->add_option("--part", o->parts, "only these parts (names as in --scale; repeatable)")
      ->allow_extra_args(false)
      ->type_name("PART");
  cmd->add_flag(
      "--predict", *predict,
      "simulate only the run itself and predict the rest from its causal graph; omit parts that it cannot predict");
  cmd->add_flag("--remedies", *single,
                "instead of parts: simulate each single change of attributes, edges, launch and the kernel's tiles; "
                "print the options to paste");
  whole_number(cmd->add_option("--jobs", o->jobs, "parallel processes; 0: one for each processor"), 0, 1024)
      ->capture_default_str();
  writes_file(cmd->add_option("--svg", *svg, "tornado plot")->type_name("FILE.svg"));
  add_format(*cmd, *format, {"text", "csv", "json"});
  cmd->add_option("command", *command, "after --: run or model, with its options")->required();
  cmd->footer(
      "kernbench whatif -- run --topology small.yaml --kernel gemm\n"
      "kernbench whatif --remedies -- run --topology small.yaml --kernel gemm\n"
      "Largest saving first; the last row combines the best two. docs/insight.md");
  const auto files = [o, command](CommandFiles& f) {
    o->run = run_of_command(*command);
    add_files(f, o->run);
  };
  return {cmd,
          [o, format, svg, single, predict] {
            o->run_each = run_each;
            o->simulate = !*predict;
            if (!*single) return whatif(*o, *format, *svg);
            if (!o->parts.empty() || !o->simulate || !svg->empty())
              throw InputError(
                  "--remedies: found with --part, --predict or --svg, which apply to parts; legal: without them");
            return remedies(*o, *format);
          },
          files};
}

}  // namespace kernbench::cli
