// SPDX-License-Identifier: Apache-2.0
// `kernbench collectives`.
#include <ostream>

#include "kernbench/phase2/text/forms.h"
#include "kernbench/platform/entry/task.h"
#include "kernbench/platform/work/collective_table.h"

namespace kernbench {
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

class CollectivesTask : public Task {
 public:
  CollectivesTask(const spec::RunSpec& spec, const RunHooks& hooks) : spec_(spec), hooks_(hooks) { wants_json(spec); }

  RunRecord run(Platform& platform) override {
    const auto rows = std::make_shared<std::vector<CollectiveRow>>();
    RunRecord record;
    run_collectives(platform, collective_options(spec_), [&](const CollectiveRow& row, size_t of) {
      if (hooks_.row) hooks_.row(row, of);
      rows->push_back(row);
      if (row.wrong > 0) record.status = 1;
    });
    const spec::RunDocument document = document_of(spec_, platform);
    record.document = spec::json_of(document, false);
    record.write = [rows, document, format = spec_.text("format")](std::ostream& out) {
      RowWriter table = collective_writer(out, format, document);
      for (const CollectiveRow& row : *rows) table.row(row);
      table.end("]}\n");
    };
    return record;
  }

 private:
  const spec::RunSpec& spec_;
  const RunHooks& hooks_;
};

}  // namespace

std::unique_ptr<Task> collectives_task(const spec::RunSpec& spec, const RunHooks& hooks) {
  return std::make_unique<CollectivesTask>(spec, hooks);
}

}  // namespace kernbench
