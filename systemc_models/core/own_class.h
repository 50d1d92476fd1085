// SPDX-License-Identifier: Apache-2.0
// Checks of user-defined classes: their results must be possible times, and messages of their exceptions name the
// block. One line: "sip0.cube0.r3 (acme.router): delay_ns() gave -3 ns, expected …".
#pragma once

#include <exception>
#include <stdexcept>
#include <string>

#include "kernbench/systemc_models/core/component.h"

namespace kernbench::core {

/// An unusable result of a user-defined class.
class OwnClassError : public std::runtime_error {
 public:
  /// `said`: "delay_ns() gave -3 ns, expected …".
  OwnClassError(const Component& block, const std::string& said);
};

[[noreturn]] void refuse_ns(const Component& block, const char* function, double ns, double least_ns);

/// A time from the block's class: finite, and not before `least_ns`.
inline double checked_ns(const Component& block, const char* function, double ns, double least_ns = 0) {
  if (!(ns >= least_ns && ns <= 1e300)) refuse_ns(block, function, ns, least_ns);
  return ns;
}

/// For a handler: rethrows the exception, with the block's name for user-defined classes.
[[noreturn]] void thrown_by(const Component& block, const char* function);

/// ask() calls a virtual function of the block's class.
template <class Ask>
auto ask_own(const Component& block, const char* function, Ask ask) {
  try {
    return ask();
  } catch (const std::exception&) {
    thrown_by(block, function);
  }
}

}  // namespace kernbench::core
