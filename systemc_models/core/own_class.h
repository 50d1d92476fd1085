// What classes of a user's own are asked: their answers are held, where they come in, to what time allows, and what
// they throw is told with the block. One line: "sip0.cube0.r3 (acme.router): delay_ns() gave -3 ns, expected …".
#pragma once

#include <exception>
#include <stdexcept>
#include <string>

#include "kernbench/systemc_models/core/component.h"

namespace kernbench {

/// An answer of a class that cannot be worked with.
class OwnClassError : public std::runtime_error {
 public:
  /// `said`: "delay_ns() gave -3 ns, expected …".
  OwnClassError(const Component& block, const std::string& said);
};

[[noreturn]] void refuse_ns(const Component& block, const char* function, double ns, double least_ns);

/// A time that the block's class has given: finite, and not before `least_ns`.
inline double checked_ns(const Component& block, const char* function, double ns, double least_ns = 0) {
  if (!(ns >= least_ns && ns <= 1e300)) refuse_ns(block, function, ns, least_ns);
  return ns;
}

/// In a handler: throws what was thrown again, that of a class of one's own with the block's name before it.
[[noreturn]] void thrown_by(const Component& block, const char* function);

/// ask(), which is a virtual function of the block's class.
template <class Ask>
auto ask_own(const Component& block, const char* function, Ask ask) {
  try {
    return ask();
  } catch (const std::exception&) {
    thrown_by(block, function);
  }
}

}  // namespace kernbench
