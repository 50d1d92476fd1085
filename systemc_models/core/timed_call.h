// SPDX-License-Identifier: Apache-2.0
// An entry of the timeline (timeline.h): its order among the entries of its instant, and the function to call. Plain
// C++, no SystemC.
#pragma once

#include <cstdint>
#include <functional>

#include "kernbench/phase2/op/femtoseconds.h"

namespace kernbench::core {

/// Order among entries of one instant: by phase, then major, then minor, then sequence of entry.
struct Order {
  enum Phase : uint64_t {
    kCredits = 0,      ///< slots of inter-PE queues become free for senders; credits of finite buffers arrive
    kLinks = 1,        ///< links into finite buffers become free and are granted by age
    kVisible = 2,      ///< segments become visible to receivers
    kEngines = 3,      ///< completions, hand-overs and submissions in PEs and other initiators
    kQueues = 4,       ///< the servers of inter-PE queues take new items of the instant
    kDepartures = 5,   ///< responses leave a memory
    kArrivals = 6,     ///< messages become ready at a link or arrive at a memory
    kArbitration = 7,  ///< a user-defined router or a DRAM controller selects among ready items
  };
  /// A major after all others of a phase.
  static constexpr uint64_t kLast = (uint64_t{1} << 61) - 1;
  uint64_t major = 0;
  uint64_t minor = 0;
  Order() = default;
  Order(Phase phase, uint64_t maj, uint64_t min) : major(phase << 61 | maj), minor(min) {}
  bool operator<(const Order& o) const { return major != o.major ? major < o.major : minor < o.minor; }
};

/// A function to call at a time, with one object, or with an object and an argument. Made by call<>().
class TimedCall {
 public:
  TimedCall() = default;
  void operator()() const { call_(self_, argument_); }
  explicit operator bool() const { return call_ != nullptr; }

 private:
  template <auto, class Self>
  friend TimedCall call(Self&);
  template <auto, class Self, class Argument>
  friend TimedCall call(Self&, Argument&);
  using Untyped = void (*)(void* self, void* argument);
  TimedCall(Untyped call, void* self, void* argument) : call_(call), self_(self), argument_(argument) {}

  Untyped call_ = nullptr;
  void* self_ = nullptr;
  void* argument_ = nullptr;
};

/// If a time is invalid, an overload for the argument's type may throw an error that names it.
template <class Argument>
void blame(const TimeBeyondRange&, const Argument&) {}

/// Calls self.function(), or function(self): call<&HbmDram::due>(*this).
template <auto function, class Self>
TimedCall call(Self& self) {
  return {[](void* s, void*) { std::invoke(function, *static_cast<Self*>(s)); }, &self, nullptr};
}
/// Calls self.function(argument), or function(self, argument).
template <auto function, class Self, class Argument>
TimedCall call(Self& self, Argument& argument) {
  return {[](void* s, void* a) {
            try {
              std::invoke(function, *static_cast<Self*>(s), *static_cast<Argument*>(a));
            } catch (const TimeBeyondRange& e) {
              blame(e, *static_cast<Argument*>(a));
              throw;
            }
          },
          &self, &argument};
}

}  // namespace kernbench::core
