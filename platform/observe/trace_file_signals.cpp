// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/observe/trace_file_signals.h"

#include "kernbench/systemc_models/core/timeline.h"

namespace kernbench::observe {

class TraceFileSignals::Updater : public sc_core::sc_module {
 public:
  Updater(sc_core::sc_module_name name, TraceFileSignals& signals) : sc_module(name), signals_(signals) {
    SC_HAS_PROCESS(Updater);
    SC_METHOD(update);
    sensitive << wake_;
    dont_initialize();
  }
  void wake(const sc_core::sc_time& delay) { wake_.notify(delay); }

 private:
  void update() { signals_.update(); }

  TraceFileSignals& signals_;
  sc_core::sc_event wake_;
};

TraceFileSignals::TraceFileSignals(sc_core::sc_trace_file& file, const Timeline& timeline)
    : file_(file),
      timeline_(timeline),
      updater_(std::make_unique<Updater>(sc_core::sc_gen_unique_name("kernbench_waveform"), *this)) {}

TraceFileSignals::~TraceFileSignals() = default;

SignalSink::Variable TraceFileSignals::add(const std::string& scope, const std::string& name, unsigned bits,
                                           uint64_t initial) {
  Shown& shown = shown_.emplace_back(bits, initial);
  assign(shown, initial);
  if (!sc_core::sc_start_of_simulation_invoked()) {
    const std::string path = scope + "." + name;
    switch (shown.form) {
      case Shown::Form::bit:
        sc_core::sc_trace(&file_, shown.bit, path);
        break;
      case Shown::Form::number:
        sc_core::sc_trace(&file_, shown.number, path, static_cast<int>(bits));
        break;
      case Shown::Form::number_or_z:
        sc_core::sc_trace(&file_, shown.vector, path);
        break;
    }
  }
  return add_signal(bits, initial);
}

void TraceFileSignals::assign(Shown& shown, uint64_t value) {
  switch (shown.form) {
    case Shown::Form::bit:
      shown.bit = value != 0;
      break;
    case Shown::Form::number:
      shown.number = value;
      break;
    case Shown::Form::number_or_z:
      if (value == kNone) {
        // Not bit by bit, because set_bit() shifts into an int's sign.
        shown.vector = sc_dt::sc_lv_base(sc_dt::sc_logic(sc_dt::Log_Z), shown.vector.length());
      } else {
        shown.vector = static_cast<sc_dt::uint64>(value);
      }
      break;
  }
}

void TraceFileSignals::show(uint64_t, const std::vector<Variable>& touched) {
  for (const Variable v : touched) {
    Signal& s = signal(v);
    s.value = s.next;
    assign(shown_[v], s.value);
  }
}

void TraceFileSignals::first_is(uint64_t fs) {
  updater_->wake(timeline_.delay_until(static_cast<double>(fs) * 1e-6));
}

void TraceFileSignals::update() {
  while (!idle()) {
    const sc_core::sc_time delay = timeline_.delay_until(static_cast<double>(next_fs()) * 1e-6);
    if (delay != sc_core::SC_ZERO_TIME) return updater_->wake(delay);
    work_off();
  }
}

}  // namespace kernbench::observe
