// SPDX-License-Identifier: Apache-2.0
// Whom a system (system.h) asks or tells about its memory. Plain C++: no SystemC here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "kernbench/phase2/op/op.h"

namespace kernbench::phase2 {
class PendingValues;
}

namespace kernbench::memory {

/// Is told of the ops of kernels, before and after what they do to memory.
class OpWatcher {
 public:
  virtual ~OpWatcher() = default;
  virtual void before_op(const OpDesc&) = 0;
  virtual void after_op(const OpDesc&) = 0;
};

/// A memory whose bytes a foreign model keeps (tlm_memory.h). The image holds what the system knows of them.
class ForeignStore {
 public:
  virtual ~ForeignStore() = default;
  /// The model's bytes of a range into the image, and the image's into the model, by debug transport: at once.
  virtual void pull(uint64_t address, uint64_t nbytes) = 0;
  virtual void push(uint64_t address, uint64_t nbytes) = 0;
  /// Bytes of a range that the model has changed by itself, by debug transport, without effect on the image; the others
  /// of `out` stay as they are.
  virtual void peek(uint64_t address, uint8_t* out, uint64_t nbytes) = 0;
  /// What is pending in the image, and differs from what the model was sent, is computed and pushed.
  /// PendingValueError.
  virtual void deliver(phase2::PendingValues&) = 0;
};

/// Who may poll flags, a kernel's runner.
class FlagWaiter {
 public:
  virtual ~FlagWaiter() = default;
  enum class Polling : uint8_t {
    no,        ///< it does something, or will
    ended,     ///< it has nothing to do
    pauses,    ///< between two polls of a flag that is not yet what it waits for
    looks,     ///< a poll of such a flag is under way
    receives,  ///< it waits for messages
  };
  virtual Polling polling() const = 0;
  /// Whether messages that it has asked for, or sends, are open while it polls.
  virtual bool has_open_messages() const = 0;
  /// So many polls at one instant, and time does not go on by itself: a fault.
  static constexpr size_t kMostPollsOfAnInstant = 1000;
  static constexpr const char* kPollsTakeNoTime =
      "polls without end at one instant: a poll and poll_ns of its pe_cpu take no time, and the flag has not changed";
  /// For which flag and value, one line.
  virtual std::string flag_text() const = 0;
};

}  // namespace kernbench::memory
