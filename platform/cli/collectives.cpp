#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/tool/progress_line.h"
#include "kernbench/phase2/tool/whole_number.h"
#include "kernbench/platform/cli/commands.h"
#include "kernbench/platform/platform.h"
#include "kernbench/platform/tools/collective_table.h"
#include "kernbench/systemc_models/pe/queue_ports.h"

namespace kernbench::cli {
namespace {

struct CollectivesOptions : CollectiveOptions {
  TopologyOptions topology;
  LimitOptions limits;
  std::string tier, slots, slot_bytes, part_bytes, chunk_bytes, format;
};

void add_options(CLI::App& cmd, CollectivesOptions& o) {
  o.topology.add_to(cmd);
  cmd.add_option("--op", o.op,
                 "all_reduce, all_gather, reduce_scatter, broadcast, reduce, all_to_all, sendrecv, or all")
      ->capture_default_str();
  cmd.add_option("--over", o.over, "rank, cube, pe, joined by +: along which the members of a group differ")
      ->capture_default_str();
  cmd.add_option("--sizes", o.sizes, "bytes, as nccl-tests counts them: 64K, 1K:1M:x2 or 1K:8K:+1K")
      ->capture_default_str();
  cmd.add_option("--dtype", o.dtype, "element type")->capture_default_str();
  cmd.add_option("--redop", o.redop, "sum, max, min or prod")->capture_default_str();
  cmd.add_option("--algorithm", o.algorithm,
                 "auto: the one of least cost; best: the quickest of all when simulated; with --op all ops that do not "
                 "have it are left out")
      ->capture_default_str();
  cmd.add_option("--root", o.root, "a member's number, centre or corner");
  cmd.add_option("--pes", o.pes, "all, leaders, or ids separated by commas")->capture_default_str();
  cmd.add_option("--device", o.device, "all, or sip:N")->capture_default_str();
  cmd.add_option("--ranks", o.ranks, "all, N, or numbers separated by commas")->capture_default_str();
  cmd.add_option("--tier", o.tier, "where rings lie: tcm, sram or hbm; else as the topology says");
  using Queues = QueueParameters;
  whole_number(cmd.add_option("--slots", o.slots, "of a ring; else as the topology says"), 1, Queues::kMostSlots);
  whole_number(cmd.add_option("--slot-bytes", o.slot_bytes, "of a slot, a multiple of 64; else as the topology says"),
               Queues::kSlotUnit, Queues::kMostSlotBytes);
  whole_number(cmd.add_option("--part-bytes", o.part_bytes, "of a vector in TCM at once; else 1048576"), 1);
  whole_number(
      cmd.add_option("--chunk-bytes", o.chunk_bytes, "chain, tree, grid, hierarchical: of a message; else the part"));
  cmd.add_flag("--check", o.check, "count the elements that are wrong");
  whole_number(cmd.add_option("--jobs", o.jobs, "runs at a time"), 1, 1024)->capture_default_str();
  o.limits.add_to(cmd, false);
  add_format(cmd, o.format, {"text", "csv", "json"});
}

int collectives(CollectivesOptions o) {
  for (const auto& [name, value] :
       {std::pair("tier", o.tier), std::pair("slots", o.slots), std::pair("slot_bytes", o.slot_bytes),
        std::pair("part_bytes", o.part_bytes), std::pair("chunk_bytes", o.chunk_bytes)}) {
    if (!value.empty()) o.geometry.emplace_back(name, value);
  }
  o.limits.begin();
  Platform& platform = o.topology.build();
  std::unique_ptr<CollectiveWriter> table;  // nothing stands on stdout before the input is known to be good
  ProgressLine progress;
  size_t rows = 0;
  bool wrong = false;
  run_collectives(platform, o, [&](const CollectiveRow& row, size_t of) {
    progress.clear();
    if (!table) table = std::make_unique<CollectiveWriter>(std::cout, o.format);
    table->row(row);
    wrong = wrong || row.wrong > 0;
    progress.show(fmt::format("{} of {} done", ++rows, of));
  });
  progress.clear();
  table->end();
  return wrong ? 1 : 0;
}

}  // namespace

Command add_collectives(CLI::App& app) {
  auto o = std::make_shared<CollectivesOptions>();
  CLI::App* cmd = app.add_subcommand("collectives", "How long collectives take, size by size, as nccl-tests tells it");
  add_options(*cmd, *o);
  return {cmd, [o] { return collectives(*o); }};
}

}  // namespace kernbench::cli
