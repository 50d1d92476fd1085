// SPDX-License-Identifier: Apache-2.0
// The signals of a platform in a user's sc_trace_file, beside the user's own.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <systemc>

#include "kernbench/platform/observe/signal_sink.h"

namespace kernbench::core {
class Timeline;
}

namespace kernbench::observe {

/// Has a variable for each signal, which the trace file samples. A change is applied at its time, rounded to the
/// kernel's resolution like the timeline. Construct it before the simulation starts.
class TraceFileSignals : public SignalSink {
 public:
  /// Both arguments must outlive it. The trace file must not be written after it is gone.
  TraceFileSignals(sc_core::sc_trace_file&, const Timeline&);
  ~TraceFileSignals() override;

  /// A started trace file ignores new variables, so variables that come later are missing.
  Variable add(const std::string& scope, const std::string& name, unsigned bits, uint64_t initial = 0) override;
  /// Changes after the present are dropped.
  void close(uint64_t) override { advance(now_fs()); }

 private:
  /// A bit, a number, or, if it starts without a value, a number that may be z. For the last kind 32 and 64 bits become
  /// 31 and 63: for multiples of 32 SystemC 2.3.4 shifts a word by its width.
  struct Shown {
    enum class Form : unsigned char { bit, number, number_or_z } form;
    bool bit = false;
    sc_dt::uint64 number = 0;
    sc_dt::sc_lv_base vector;
    Shown(unsigned bits, uint64_t initial)
        : form(bits == 1          ? Form::bit
               : initial == kNone ? Form::number_or_z
                                  : Form::number),
          vector(static_cast<int>(bits % 32 == 0 ? bits - 1 : bits)) {}
  };
  class Updater;
  static void assign(Shown&, uint64_t value);
  void show(uint64_t fs, const std::vector<Variable>& touched) override;
  void first_is(uint64_t fs) override;
  /// Applies due changes and schedules the next.
  void update();

  sc_core::sc_trace_file& file_;
  const Timeline& timeline_;
  std::deque<Shown> shown_;  // the trace file has their addresses
  std::unique_ptr<Updater> updater_;
};

}  // namespace kernbench::observe
