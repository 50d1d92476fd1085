// SPDX-License-Identifier: Apache-2.0
// Interfaces through which a system (system.h) queries or notifies the users of its memory. Plain C++, no SystemC.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "kernbench/phase2/op/op.h"

namespace kernbench::phase2 {
class PendingValues;
}

namespace kernbench::memory {

/// Is notified of kernels' ops before and after their effect on memory.
class OpWatcher {
 public:
  virtual ~OpWatcher() = default;
  virtual void before_op(const OpDesc&) = 0;
  virtual void after_op(const OpDesc&) = 0;
};

/// A memory whose bytes a foreign model stores (tlm_memory.h). The image has the bytes that the system knows.
class ForeignStore {
 public:
  virtual ~ForeignStore() = default;
  /// pull(): copies the model's bytes of a range into the image. push(): copies the image's bytes into the model. Both
  /// use debug transport and take no time.
  virtual void pull(uint64_t address, uint64_t nbytes) = 0;
  virtual void push(uint64_t address, uint64_t nbytes) = 0;
  /// Reads the bytes of a range that the model changed by itself, by debug transport, without changing the image. Other
  /// bytes of `out` are unchanged.
  virtual void peek(uint64_t address, uint8_t* out, uint64_t nbytes) = 0;
  /// Computes pending bytes of the image whose values differ from those sent to the model, and pushes them.
  /// PendingValueError.
  virtual void deliver(phase2::PendingValues&) = 0;
};

/// An object that may poll flags: the runner of a kernel.
class FlagWaiter {
 public:
  virtual ~FlagWaiter() = default;
  enum class Polling : uint8_t {
    no,        ///< it works, or will work
    ended,     ///< it has no work
    pauses,    ///< it is between two polls of a flag that does not fulfil its condition yet
    looks,     ///< a poll of such a flag is in flight
    receives,  ///< it waits for messages
  };
  virtual Polling polling() const = 0;
  /// Whether it has unfinished receives or sends while it polls.
  virtual bool has_open_messages() const = 0;
  /// With this many polls at one instant, time does not advance by itself: a fault.
  static constexpr size_t kMostPollsOfAnInstant = 1000;
  static constexpr const char* kPollsTakeNoTime =
      "polls without end at one instant: a poll and poll_ns of its pe_cpu take no time, and the flag has not changed";
  /// The awaited flag and value, one line.
  virtual std::string flag_text() const = 0;
};

}  // namespace kernbench::memory
