// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/study/sweep/emit.h"

#include <fmt/format.h>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/run/spec/shell_words.h"

namespace kernbench::sweep {
namespace {

// A lost machine may still be running: a file system releases its lock after a minute or two, or never. SQLite's
// write-ahead log supports one machine at a time.
constexpr unsigned kPatienceS = 300;

/// The commands of both steps, for a shell called with `shard I` or `merge`; `index`: the shell's expression for I.
std::string steps(const Emission& e, const char* index) {
  Words table = e.options;
  table.insert(table.end(), e.table_options.begin(), e.table_options.end());
  Words behind;
  if (!e.command.empty()) {
    behind = {"--"};
    behind.insert(behind.end(), e.command.begin(), e.command.end());
  }
  return fmt::format(R"sh(cd -- {folder}
kernbench={kernbench}
store={store}
shards={shards}
table={table}
tasks={tasks}
case "${{1-}}" in
shard)
  i={index}
  found=$("$kernbench" --version)
  if [ "$found" != {version} ]; then
    echo "$(uname -n): found kernbench $found, expected {version}: results of different versions are not mixed" >&2
    exit 3
  fi
  mkdir -p -- "$shards"
  # One machine at a time, for as long as this process lives.
  exec 9> "$shards/$i.lock"
  flock -w {patience} 9 || {{ echo "$shards/$i.lock: another process is at this shard" >&2; exit 3; }}
  # In this process' place: the signals that an engine sends are its own.
  exec "$kernbench" sweep{options} --store "$shards/$i.sqlite" --shard "$i/$tasks"{behind} > /dev/null
  ;;
merge)
  set -- "$shards"/*.sqlite
  [ -e "$1" ] || {{ echo "$shards: no shard has written a store" >&2; exit 1; }}
  "$kernbench" sweep merge "$store" "$@"
  status=0
  "$kernbench" sweep{table_options} --store "$store" --stored{behind} > "$table.part" || status=$?
  if [ -s "$table.part" ]; then mv -- "$table.part" "$table"; fi
  exit "$status"
  ;;
)sh",
                     fmt::arg("folder", spec::shell_word(e.folder)),
                     fmt::arg("kernbench", spec::shell_word(e.kernbench)), fmt::arg("store", spec::shell_word(e.store)),
                     fmt::arg("shards", spec::shell_word(e.shards)), fmt::arg("table", spec::shell_word(e.table)),
                     fmt::arg("tasks", e.tasks), fmt::arg("index", index), fmt::arg("version", e.version),
                     fmt::arg("patience", kPatienceS), fmt::arg("options", spec::shell_words(e.options)),
                     fmt::arg("table_options", spec::shell_words(table)),
                     fmt::arg("behind", spec::shell_words(behind)));
}

/// `begin`: describes the script in one line.
std::string title(const Emission& e, const char* begin) {
  return fmt::format(
      "# {} {} shards of a sweep, each with a store of its own; then the stores are merged and the table is\n"
      "# written. Made by kernbench {}, docs/cluster.md. Started again, it does what is not done yet.\n",
      begin, e.tasks, e.version);
}

std::string slurm(const Emission& e) {
  return fmt::format(R"sh(#!/bin/sh
{title}#
#     sh SCRIPT [OPTION OF SBATCH]…
#
# What the computing centre wants stands in the next lines, or behind SCRIPT. SIGINT, two minutes before the time is
# up, lets a task finish the points at work.
#SBATCH --time=01:00:00
##SBATCH --partition=
##SBATCH --account=
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --exclusive
#SBATCH --requeue
#SBATCH --signal=B:INT@120
#SBATCH --open-mode=append
set -eu
array=1-{tasks}  # 1-{tasks}%10: ten at a time
self=$(cd -- "$(dirname -- "$0")" && pwd)/$(basename -- "$0")
{steps}*)
  mkdir -p -- "$shards"
  tasks_job=$(sbatch --parsable --job-name={name} "$@" --array="$array" --chdir="$shards" --output=%a.out "$self" shard)
  tasks_job=${{tasks_job%%;*}}
  # Whatever became of the tasks: a point that fails is a row, and what is missing is told.
  merge_job=$(sbatch --parsable --job-name={name}-table --oversubscribe "$@" --dependency="afterany:$tasks_job" \
    --chdir="$shards" --output=table.out "$self" merge)
  echo "job $tasks_job, and behind it ${{merge_job%%;*}}, which writes $table"
  ;;
esac
)sh",
                     fmt::arg("title", title(e, "A Slurm array of")), fmt::arg("tasks", e.tasks),
                     fmt::arg("name", spec::shell_word(e.name)), fmt::arg("steps", steps(e, "$SLURM_ARRAY_TASK_ID")));
}

std::string parallel(const Emission& e) {
  return fmt::format(R"sh(#!/bin/sh
{title}#
#     sh SCRIPT [OPTION OF PARALLEL]…
#
# One shard at a time, with all processors, on this machine, or on each of those that --sshloginfile FILE names.
set -eu
self=$(cd -- "$(dirname -- "$0")" && pwd)/$(basename -- "$0")
{steps}*)
  mkdir -p -- "$shards"
  quoted=$(printf '%s\n' "$self" | sed "s/'/'\\\\''/g")
  # What fails is tried again, elsewhere where there is elsewhere. Ctrl-C lets the points at work end.
  for i in $(seq "$tasks"); do printf "sh '%s' shard %s\n" "$quoted" "$i"; done |
    parallel --jobs 1 --line-buffer --joblog "$shards/joblog" --retries 2 --termseq INT,600000,TERM,2000,KILL,100 \
      "$@" ||
    echo "some shards have failed: $shards/joblog" >&2
  exec sh "$self" merge
  ;;
esac
)sh",
                     fmt::arg("title", title(e, "For GNU parallel:")), fmt::arg("steps", steps(e, "$2")));
}

/// A make variable ends at the line `endef`, and text after it is make's own syntax.
void check_for_make(const Emission& e) {
  Words all = {e.folder, e.kernbench, e.store, e.shards, e.table};
  for (const Words* more : {&e.options, &e.table_options, &e.command})
    all.insert(all.end(), more->begin(), more->end());
  for (const std::string& word : all) {
    if (word.find_first_of("\n\r") != std::string::npos)
      throw InputError("--emit make: found " + in_quotes(escaped(word)) +
                       ", which has a line's end in it; --emit parallel and slurm take it");
  }
}

std::string make(const Emission& e) {
  check_for_make(e);
  std::string text = fmt::format("set -eu\n{}esac", steps(e, "$2"));
  // As a make variable.
  std::string value, targets;
  for (const char c : text) value += c == '$' ? "$$" : std::string(1, c);
  for (size_t i = 1; i <= e.tasks; ++i) targets += fmt::format(" shard-{}", i);
  return fmt::format(R"sh({title}#
#     make -f FILE [-j N] [RUN='srun -N 1 -n 1 --exclusive']
#
# RUN stands in front of each shard's command.
define SWEEP
{value}
endef
export SWEEP
shards :={targets}
.PHONY: table $(shards)
table: $(shards)
	@sh -c "$$SWEEP" sh merge
# A point that fails is a row (1, 2); a shard that did not come to its end is a failure.
$(shards): shard-%:
	@$(RUN) sh -c "$$SWEEP" sh shard $* || [ $$? -le 2 ]
)sh",
                     fmt::arg("title", title(e, "For make:")), fmt::arg("value", value), fmt::arg("targets", targets));
}

}  // namespace

std::string emit(const Emission& e) {
  return e.engine == Engine::slurm ? slurm(e) : e.engine == Engine::parallel ? parallel(e) : make(e);
}

}  // namespace kernbench::sweep
