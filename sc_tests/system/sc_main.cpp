// SPDX-License-Identifier: Apache-2.0
// Runs the tests that the filter names, inside SystemC. One process per test case, because SystemC elaborates once. A
// SystemC warning or error is a failure.
#include <gtest/gtest.h>

#include <cstdlib>
#include <systemc>

namespace {

const int banner_off = setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);

void fail_on_report(const sc_core::sc_report& report, const sc_core::sc_actions& actions) {
  if (report.get_severity() >= sc_core::SC_WARNING)
    ADD_FAILURE() << "SystemC: " << report.get_msg_type() << ": " << report.get_msg();
  sc_core::sc_report_handler::default_handler(report, actions & ~sc_core::SC_DISPLAY & ~sc_core::SC_ABORT);
}

}  // namespace

int sc_main(int argc, char** argv) {
  (void)banner_off;
  ::testing::InitGoogleTest(&argc, argv);
  const char* tick_fs = std::getenv("KERNBENCH_TEST_TICK_FS");
  sc_core::sc_set_time_resolution(tick_fs ? std::atof(tick_fs) : 1, sc_core::SC_FS);
  sc_core::sc_report_handler::set_handler(&fail_on_report);
  return RUN_ALL_TESTS();
}
