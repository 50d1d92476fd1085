// SPDX-License-Identifier: Apache-2.0
// `run --report FILE.html`: one file with everything about a run in it, for a browser without a network.
// The page's own sources are in platform/observe/page; the build makes texts of them (cmake/EmbedFiles.cmake).
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
  /// Watches the platform from here on. InputError if the file cannot be made.
  HtmlReport(Machine& machine, const std::string& file) : machine_(machine), out_(file), recorder_(machine) {}
  /// What the host did, once the run is over.
  void host(const std::vector<HostPhase>&);
  /// What it times the run anew from (insight/joins.h); empty: they were too many, and the page says so.
  void causes(std::string packed) { causes_ = std::move(packed); }
  static constexpr size_t kMostCauses = 5'000'000;  ///< bytes, unless more are asked for
  /// Writes the file, of a run with an insight and a document. RunError if it could not be written.
  void write(const RunReport&);

 private:
  std::string data(const RunReport&) const;

  Machine& machine_;
  WholeFile out_;
  insight::TimelineRecorder recorder_;
  std::string causes_;
};

}  // namespace kernbench::observe
