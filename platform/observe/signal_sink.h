// SPDX-License-Identifier: Apache-2.0
// Where the signals of a platform go: a VCD of its own, or a sc_trace_file of the user.
#pragma once

#include <string>

#include "kernbench/platform/observe/timed_changes.h"

namespace kernbench::observe {

class SignalSink : public TimedChanges {
 public:
  /// Shown as z: nothing there.
  static constexpr uint64_t kNone = ~0ull;

  /// `scope`: levels separated by dots, "system.sip0.cube0"; 1 to 64 bits. One bit is 1 where the value is not 0.
  virtual Variable add(const std::string& scope, const std::string& name, unsigned bits, uint64_t initial = 0) = 0;
  /// The variables that are known at time 0 are there.
  virtual void begin() {}
  /// What is left is shown, up to end_fs.
  virtual void close(uint64_t end_fs) = 0;
};

}  // namespace kernbench::observe
