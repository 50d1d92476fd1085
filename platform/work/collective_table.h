// SPDX-License-Identifier: Apache-2.0
// `kernbench collectives`: times of the collectives by size, in the format of nccl-tests (collectives rules §12.9).
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernbench/kernel_api/collectives/collective.h"
#include "kernbench/phase2/text/forms.h"
#include "kernbench/platform/launch/pe_selection.h"

namespace kernbench {
class Platform;
}

namespace kernbench {
namespace spec {
struct RunDocument;
}

}  // namespace kernbench
namespace kernbench::work {
struct CollectiveOptions : PeChoice {
  std::string op = "all_reduce";  ///< or all
  std::string over = "rank+cube+pe";
  std::string sizes = "1K:1M:x4";  ///< from:to:xFACTOR, from:to:+STEP, or one size; in bytes; K, M, G: 2^10, 2^20, 2^30
  std::string dtype = "f32", redop = "sum";
  std::string algorithm = "auto";  ///< for all ops; those without this algorithm are omitted
  std::string root;                ///< empty: the kernels' default
  std::vector<std::pair<std::string, std::string>>
      geometry;  ///< tier, slots, slot_bytes, part_bytes, chunk_bytes: as given
  bool check = false;
  size_t jobs = 1;  ///< concurrent runs
};

struct CollectiveRow {
  std::string op;
  uint64_t size_bytes = 0, count = 0;
  std::string dtype, redop, root, algorithm;
  int64_t members = 0;
  double time_ns = 0;
  int64_t wrong = -1;  ///< elements outside of the tolerance; -1: not checked
  double algbw_gbs() const { return static_cast<double>(size_bytes) / time_ns; }
  double busbw_gbs() const;
};

/// Runs each size of each op in a forked copy of the platform; the platform itself stays unused. `done` gets each row,
/// in order, and the number of rows. InputError for bad input; RunError for an error in a run.
void run_collectives(Platform&, const CollectiveOptions&,
                     const std::function<void(const CollectiveRow&, size_t rows)>& done);

/// Parses "1K:1M:x2" into bytes. InputError.
std::vector<uint64_t> parse_sizes(const std::string&);

void describe(Fields&, const CollectiveRow&);
/// The table, written row by row: "text", "csv" or "json", {"run": …, "rows": […]} with the tail "]}\n".
RowWriter collective_writer(std::ostream&, const std::string& format, const spec::RunDocument&);

}  // namespace kernbench::work
