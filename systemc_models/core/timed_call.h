// When a thing happens on the agenda (timeline.h): its order among those of its instant, and what is called. Plain C++:
// no SystemC here.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "kernbench/phase2/op/femtoseconds.h"

namespace kernbench {

/// Order among entries of one instant: phase first, then major, then minor, then order of entry.
struct Order {
  enum Phase : uint64_t {
    kCredits = 0,      ///< slots of inter-PE queues become free for their senders
    kVisible = 1,      ///< segments become visible to their receivers
    kEngines = 2,      ///< completions, hand-ons, submissions inside PEs and other initiators
    kQueues = 3,       ///< the servers of inter-PE queues take what is new at the instant
    kDepartures = 4,   ///< responses leave a memory
    kArrivals = 5,     ///< messages become ready at a link or arrive at a memory
    kArbitration = 6,  ///< a router of one's own, or a DRAM controller, chooses among what is ready
  };
  /// A major behind all others of a phase.
  static constexpr uint64_t kLast = (uint64_t{1} << 61) - 1;
  uint64_t major = 0;
  uint64_t minor = 0;
  Order() = default;
  Order(Phase phase, uint64_t maj, uint64_t min) : major(phase << 61 | maj), minor(min) {}
  bool operator<(const Order& o) const { return major != o.major ? major < o.major : minor < o.minor; }
};

/// What is called at a time: a function of one object, or of one object and another. Made by call<>().
class TimedCall {
 public:
  TimedCall() = default;
  void operator()() const { kind_->call(self_, argument_); }
  explicit operator bool() const { return kind_ != nullptr; }

 private:
  template <auto, class Self>
  friend TimedCall call(Self&);
  template <auto, class Self, class Argument>
  friend TimedCall call(Self&, Argument&);
  friend class Timeline;
  using Untyped = void (*)(void* self, void* argument);
  using Ahead = void (*)(const void* self, const void* argument, int step);
  struct Kind {  // one for each function that is called: an entry of the agenda is a cache line
    Untyped call;
    Ahead ahead;  // null: nothing is asked for
  };
  TimedCall(const Kind& kind, void* self, void* argument) : kind_(&kind), self_(self), argument_(argument) {}

  const Kind* kind_ = nullptr;
  void* self_ = nullptr;
  void* argument_ = nullptr;
};

/// An overload for what a call is about may throw, in the place of a time that is none, a fault that names it.
template <class Argument>
void blame(const TimeBeyondRange&, const Argument&) {}

/// Asks the processor for `lines` cache lines from there on: a hint, which touches nothing.
inline void fetch_lines(const void* from, size_t lines) {
  for (size_t i = 0; i < lines; ++i) __builtin_prefetch(static_cast<const char*>(from) + 64 * i);
}
/// An overload for what a call is about asks for what the call will touch (fetch_lines), some entries ahead of its
/// turn, one pointer further at each step from 1 on: before step 1 both objects themselves have been asked for.
constexpr int kStepsAhead = 5;
template <class Self, class Argument>
void ask_ahead(const Self&, const Argument&, int /*step*/) {}

/// self.function(), or function(self): call<&HbmDram::due>(*this).
template <auto function, class Self>
TimedCall call(Self& self) {
  static constexpr TimedCall::Kind kind{[](void* s, void*) { std::invoke(function, *static_cast<Self*>(s)); }, nullptr};
  return {kind, &self, nullptr};
}
/// self.function(argument), or function(self, argument).
template <auto function, class Self, class Argument>
TimedCall call(Self& self, Argument& argument) {
  static constexpr TimedCall::Kind kind{[](void* s, void* a) {
                                          try {
                                            std::invoke(function, *static_cast<Self*>(s), *static_cast<Argument*>(a));
                                          } catch (const TimeBeyondRange& e) {
                                            blame(e, *static_cast<Argument*>(a));
                                            throw;
                                          }
                                        },
                                        [](const void* s, const void* a, int step) {
                                          if (step > 0)
                                            return ask_ahead(*static_cast<const Self*>(s),
                                                             *static_cast<const Argument*>(a), step);
                                          fetch_lines(s, 2);
                                          fetch_lines(a, std::min<size_t>((sizeof(Argument) + 63) / 64, 7));
                                        }};
  return {kind, &self, &argument};
}

}  // namespace kernbench
