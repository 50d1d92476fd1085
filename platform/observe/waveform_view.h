// SPDX-License-Identifier: Apache-2.0
// Viewer files for a VCD: a GTKWave save file with a first view, and the names of states.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "kernbench/phase2/rooms.h"

namespace kernbench::observe {

/// A signal's format in the viewer.
enum class TraceKind : unsigned char {
  bit,     ///< a line
  state,   ///< names of the translate file
  id,      ///< decimal
  amount,  ///< a stepped curve
};

class WaveformView {
 public:
  /// For "run.vcd": "run.gtkw" and "run.states.txt".
  static std::string save_file_of(const std::string& vcd_file);
  static std::string states_file_of(const std::string& vcd_file);
  explicit WaveformView(const std::string& vcd_file);
  void add(const std::string& scope, const std::string& name, unsigned bits, TraceKind);
  /// Writes both files; the view shows [from_fs, end_fs]. InputError or RunError if one cannot be written.
  void write(uint64_t from_fs, uint64_t end_fs) const;

 private:
  struct Trace {
    std::string scope, name;
    unsigned bits;
    TraceKind kind;
  };
  /// A group in the view: a PE, a memory, or a block with its links.
  struct Group {
    std::string name;
    std::vector<const Trace*> traces;
  };
  void write_group(std::ostream&, const Group&, bool closed) const;
  void write_trace(std::ostream&, const Group&, const Trace&) const;

  std::string vcd_file_, save_file_, states_file_;
  std::vector<Trace> traces_;
};

}  // namespace kernbench::observe
