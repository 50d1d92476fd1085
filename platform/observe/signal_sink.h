// SPDX-License-Identifier: Apache-2.0
// The destination of a platform's signals: its own VCD, or a sc_trace_file of the user.
#pragma once

#include <string>

#include "kernbench/platform/observe/timed_changes.h"

namespace kernbench::observe {

class SignalSink : public TimedChanges {
 public:
  /// Shown as z: no value.
  static constexpr uint64_t kNone = ~0ull;

  /// `scope`: levels separated by dots, "system.sip0.cube0"; 1 to 64 bits. A one-bit signal is 1 for any nonzero value.
  virtual Variable add(const std::string& scope, const std::string& name, unsigned bits, uint64_t initial = 0) = 0;
  /// All variables that exist at time 0 have been added.
  virtual void begin() {}
  /// Shows the remaining changes up to end_fs.
  virtual void close(uint64_t end_fs) = 0;
};

}  // namespace kernbench::observe
