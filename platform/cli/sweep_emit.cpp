// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/tool/whole_number.h"
#include "kernbench/platform/cli/sweep_shards.h"
#include "kernbench/platform/study/sweep/emit.h"

namespace kernbench::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEngines[] = {"slurm", "parallel", "make"};
constexpr uint64_t kMostTasks = 10'000;

/// Options that the script itself sets, and options of its last step only.
constexpr const char* kOwn[] = {"--emit", "--tasks", "--store", "--resume"};
constexpr const char* kOfTable[] = {"--svg", "--report", "--sqlite", "--format"};

template <size_t N>
bool among(const std::string& name, const char* const (&names)[N]) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

void append(sweep::Words& words, const CLI::Option& o) {
  for (const std::string& value : o.results()) {
    words.push_back(o.get_name());
    if (o.get_expected_max() > 0) words.push_back(value);
  }
}

const char* extension(sweep::Form form) {
  return form == sweep::Form::json ? ".json" : form == sweep::Form::text ? ".txt" : ".csv";
}

}  // namespace

void EmitOptions::add_to(CLI::App& cmd) {
  CLI::Option* emit =
      cmd.add_option("--emit", engine,
                     "simulate nothing; write a script to stdout that runs the sweep in shards on this engine, merges "
                     "their stores into --store, and writes the table beside it (docs/cluster.md)");
  emit->type_name("slurm|parallel|make");
  whole_number(cmd.add_option("--tasks", tasks, "with --emit: number of shards, one for each node of a cluster"), 1,
               kMostTasks)
      ->capture_default_str()
      ->needs(emit);
}

void emit_sweep(const CLI::App& words, const EmitOptions& o, const sweep::SweepOptions& sweep,
                const sweep::SweepHooks& hooks) {
  sweep::Emission e;
  const auto engine = std::find(std::begin(kEngines), std::end(kEngines), o.engine);
  if (engine == std::end(kEngines))
    throw InputError("--emit: found " + in_quotes(o.engine) + "; legal: slurm, parallel, make");
  if (sweep.store.empty()) throw InputError("--emit: needs --store beside it, for the merged points");
  if (sweep.stored_only || sweep.shards > 1)
    throw InputError("--emit: found --stored or --shard beside it, which the script sets itself");
  e.engine = static_cast<sweep::Engine>(engine - std::begin(kEngines));
  e.version = sweep.version;
  e.kernbench = fs::read_symlink("/proc/self/exe").string();
  e.folder = fs::current_path().string();
  e.store = fs::absolute(sweep.store).string();
  fs::path stem = e.store;
  if (stem.extension() == ".sqlite") stem.replace_extension();
  e.shards = stem.string() + ".shards";
  e.table = stem.string() + extension(sweep.form);
  e.name = stem.filename().string();
  for (const CLI::Option* option : words.get_options()) {
    const std::string name = option->get_name();
    if (option->count() == 0 || among(name, kOwn)) continue;
    if (name == "--plan") {
      e.options.insert(e.options.end(), {name, fs::absolute(option->as<std::string>()).string()});
    } else if (option->get_positional()) {
      e.command = option->results();
    } else {
      append(among(name, kOfTable) ? e.table_options : e.options, *option);
    }
  }
  e.tasks = std::min<size_t>(o.tasks, sweep::points_of_sweep(sweep, hooks));
  std::cout << sweep::emit(e);
}

}  // namespace kernbench::cli
