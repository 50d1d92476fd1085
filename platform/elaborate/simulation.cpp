// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/elaborate/simulation.h"

#include <new>
#include <string>
#include <string_view>
#include <systemc>

#include "kernbench/phase2/op/errors.h"

namespace kernbench::elaborate {

namespace {

template <class Start>
void started_by(Start start) {
  try {
    start();
  } catch (const sc_core::sc_report& report) {
    const std::string kind = report.get_msg_type(), what = report.get_msg();
    const bool thrown = kind == sc_core::SC_ID_SIMULATION_UNCAUGHT_EXCEPTION_;
    // Of a process's exception SystemC keeps only the text.
    if (thrown && what == std::bad_alloc().what()) throw std::bad_alloc();
    constexpr std::string_view kEnd = kOutOfMemory;
    if (thrown && what.size() >= kEnd.size() && what.compare(what.size() - kEnd.size(), kEnd.size(), kEnd) == 0)
      throw OutOfMemory(what.substr(0, what.size() - kEnd.size()));
    throw RunError(thrown ? what : kind + (what.empty() ? "" : ": " + what));
  }
}

}  // namespace

void require_no_process() {
  if (sc_core::sc_get_status() != sc_core::SC_RUNNING) return;
  // An exception from sc_start() does not update the status.
  throw RunError(sc_core::sc_get_current_process_b()
                     ? "called in a process, expected sc_main: it simulates to its end; in a process, "
                       "kernbench::Job::start()"
                     : "an error has ended the simulation before, and SystemC cannot go on from it; expected a new "
                       "process of the operating system");
}

void simulate() {
  require_no_process();
  started_by([] { sc_core::sc_start(); });
}

void simulate_for(double ns) {
  started_by([ns] { sc_core::sc_start(sc_core::sc_time(ns, sc_core::SC_NS)); });
}

}  // namespace kernbench::elaborate
