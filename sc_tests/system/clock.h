// SPDX-License-Identifier: Apache-2.0
// An endless process, for tests of runs beside it.
#pragma once

#include <cstdint>
#include <systemc>

namespace kernbench::testing {

/// A clock of 1 ns, with a count of its rising edges.
struct Clock : sc_core::sc_module {
  sc_core::sc_clock clock{"clock", sc_core::sc_time(1, sc_core::SC_NS)};
  uint64_t edges = 0;
  explicit Clock(sc_core::sc_module_name name) : sc_module(name) {
    SC_HAS_PROCESS(Clock);
    SC_METHOD(tick);
    sensitive << clock.posedge_event();
    dont_initialize();
  }
  void tick() { ++edges; }
};

}  // namespace kernbench::testing
