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

/// A line a command: `memory,channel,cycle,command,pseudo_channel,stack_id,bank_group,bank,row,column`. The cycle is
/// the last one that the command takes on its bus, of the memory's clock; what a command does not say is 0. Lines of
/// one channel are in the order of their buses' cycles; refreshes of a time in which nobody asked anything of a channel
/// come when somebody does again.
class DramCommandLog {
 public:
  /// From now on. InputError where the file cannot be written, or the platform has no such controller.
  DramCommandLog(Platform&, const std::string& file);
  /// Detaches; the file stays only if it was closed.
  ~DramCommandLog();
  /// RunError where it could not be written to its end.
  void close();

 private:
  class Writer;
  void flush();

  WholeFile file_;
  std::string text_;
  std::vector<std::unique_ptr<Writer>> writers_;
};

}  // namespace kernbench::observe
