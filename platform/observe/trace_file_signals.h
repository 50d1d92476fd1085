// SPDX-License-Identifier: Apache-2.0
// The signals of a platform in a sc_trace_file of the user, beside the user's own.
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

/// Holds a variable for each signal, which the trace file looks at, and changes it when its time has come: at the tick
/// of the kernel's resolution to which the timeline rounds. To be made before the simulation starts.
class TraceFileSignals : public SignalSink {
 public:
  /// Both must outlive it; the trace file must not be written any more once it is gone.
  TraceFileSignals(sc_core::sc_trace_file&, const Timeline&);
  ~TraceFileSignals() override;

  /// Once the file has begun, a trace file takes no more variables: what is added then is not in it.
  Variable add(const std::string& scope, const std::string& name, unsigned bits, uint64_t initial = 0) override;
  /// What lies behind the present stays undone.
  void close(uint64_t) override { advance(now_fs()); }

 private:
  /// A bit; a number; or, where it begins as nothing, a number that may be z. Of the latter 32 and 64 bits are 31 and
  /// 63: of a multiple of 32 SystemC 2.3.4 shifts a word by its width.
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
  /// Works off what is due, and wakes for the next.
  void update();

  sc_core::sc_trace_file& file_;
  const Timeline& timeline_;
  std::deque<Shown> shown_;  // the trace file has their addresses
  std::unique_ptr<Updater> updater_;
};

}  // namespace kernbench::observe
