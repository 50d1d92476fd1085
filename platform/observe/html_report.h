// SPDX-License-Identifier: Apache-2.0
// `run --report FILE.html`: one file with the complete report of a run, for a browser without a network. The page's
// sources are in platform/observe/page; the build embeds them as texts (cmake/EmbedFiles.cmake).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernbench/phase2/io/whole_file.h"
#include "kernbench/platform/insight/timeline.h"

namespace kernbench::elaborate {
class Machine;
}
namespace kernbench {
struct HostPhase;
struct RunReport;
}  // namespace kernbench

namespace kernbench::observe {

class HtmlReport {
 public:
  /// Watches the platform from now on. InputError if the file cannot be created.
  HtmlReport(Machine& machine, const std::string& file) : machine_(machine), out_(file), recorder_(machine) {}
  /// The host's phases, after the run.
  void host(const std::vector<HostPhase>&);
  /// The data for what-if predictions in the page (insight/joins.h). Empty: too large; the page says so.
  void causes(std::string packed) { causes_ = std::move(packed); }
  static constexpr size_t kMostCauses = 5 << 20;  ///< bytes, unless the user asks for more
  /// Writes the file. The run needs an insight and a document. RunError if it could not be written.
  void write(const RunReport&);

 private:
  std::string data(const RunReport&) const;

  Machine& machine_;
  WholeFile out_;
  insight::TimelineRecorder recorder_;
  std::string causes_;
};

}  // namespace kernbench::observe
