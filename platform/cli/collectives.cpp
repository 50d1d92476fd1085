#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/tool/progress_line.h"
#include "kernbench/platform/cli/commands.h"
#include "kernbench/platform/cli/spec_options.h"
#include "kernbench/platform/work/collective_table.h"

namespace kernbench::cli {
namespace {

CollectiveOptions collective_options(const spec::RunSpec& spec) {
  CollectiveOptions o;
  o.op = spec.text("op");
  o.over = spec.text("over");
  o.sizes = spec.text("sizes");
  o.dtype = spec.text("dtype");
  o.redop = spec.text("redop");
  o.algorithm = spec.text("algorithm");
  o.root = spec.text("root");
  o.pes = spec.text("pes");
  o.device = spec.text("device");
  o.ranks = spec.text("ranks");
  o.check = spec.flag("check");
  o.jobs = spec.whole("jobs");
  for (const auto& [option, parameter] :
       {std::pair("tier", "tier"), std::pair("slots", "slots"), std::pair("slot-bytes", "slot_bytes"),
        std::pair("part-bytes", "part_bytes"), std::pair("chunk-bytes", "chunk_bytes")}) {
    if (spec.given(option)) o.geometry.emplace_back(parameter, spec.text(option));
  }
  return o;
}

int collectives(const spec::RunSpec& spec) {
  const bool json = wants_json(spec);
  LimitOptions(spec).begin();
  Platform& platform = TopologyOptions(spec).build();
  const spec::RunDocument document = json ? document_of(spec, platform) : spec::RunDocument();
  std::optional<RowWriter> table;  // nothing stands on stdout before the input is known to be good
  ProgressLine progress;
  size_t rows = 0;
  bool wrong = false;
  run_collectives(platform, collective_options(spec), [&](const CollectiveRow& row, size_t of) {
    progress.clear();
    if (!table) table.emplace(collective_writer(std::cout, spec.text("format"), document));
    table->row(row);
    wrong = wrong || row.wrong > 0;
    progress.show(fmt::format("{} of {} done", ++rows, of));
  });
  progress.clear();
  table->end("]}\n");
  return wrong ? 1 : 0;
}

}  // namespace

Command add_collectives(CLI::App& app) {
  auto spec = std::make_shared<spec::RunSpec>(spec::table_of("collectives"));
  CLI::App* cmd = app.add_subcommand("collectives", "How long collectives take, size by size, as nccl-tests tells it");
  add_options(*cmd, *spec);
  return {cmd, [spec] { return collectives(*spec); }};
}

}  // namespace kernbench::cli
