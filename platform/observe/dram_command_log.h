// SPDX-License-Identifier: Apache-2.0
// Every command that DRAM controllers (builtin.hbm_dram) send to their memories, as CSV.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernbench/phase2/io/whole_file.h"

namespace kernbench {
class Platform;
}

namespace kernbench::observe {

/// One command per line: `memory,channel,cycle,command,pseudo_channel,stack_id,bank_group,bank,row,column`. The cycle,
/// of the memory's clock, is the command's last one on its bus. Fields that a command lacks are 0. Lines of a channel
/// are in the order of its buses' cycles. Refreshes of an idle channel appear when its next access comes.
class DramCommandLog {
 public:
  /// Starts recording. InputError if the file cannot be written, or the platform has no such controller.
  DramCommandLog(Platform&, const std::string& file);
  /// Detaches. Without close() nothing remains of the file.
  ~DramCommandLog();
  /// RunError if the file could not be written completely.
  void close();

 private:
  class Writer;
  void flush();

  WholeFile file_;
  std::string text_;
  std::vector<std::unique_ptr<Writer>> writers_;
};

}  // namespace kernbench::observe
