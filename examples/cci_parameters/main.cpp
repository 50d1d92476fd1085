// SPDX-License-Identifier: Apache-2.0
// A platform's attributes as CCI parameters: a preset reaches the block, a later change is refused.
#include <cstdio>

#include "kernbench/platform/cci/cci_parameters.h"
#include "kernbench/platform/run/run.h"

int sc_main(int argc, char* argv[]) {
  sc_core::sc_report_handler::set_actions("Info", sc_core::SC_DO_NOTHING);
  cci::cci_register_broker(new cci_utils::consuming_broker("broker"));
  const cci::cci_originator me("tool");
  cci::cci_broker_handle broker = cci::cci_get_global_broker(me);
  if (argc > 2) broker.set_preset_cci_value("device.pe0.pe_gemm.freq_ghz", cci::cci_value(std::atof(argv[2])));

  kernbench::Platform device("device", kernbench::compile_file(argv[1], kernbench::cci_presets("device", me)));
  kernbench::CciParameters parameters(device, me);

  cci::cci_param_handle clock = broker.get_param_handle("device.pe0.pe_gemm.freq_ghz");
  std::printf("%s = %s, preset: %s; %zu parameters\n", clock.name(), clock.get_cci_value().to_json().c_str(),
              clock.is_preset_value() ? "yes" : "no", broker.get_param_handles().size());
  cci::cci_report_handler::set_actions(sc_core::SC_ERROR, sc_core::SC_THROW);
  try {
    clock.set_cci_value(cci::cci_value(9.0));
  } catch (const sc_core::sc_report& refused) {
    std::printf("a change: %s\n", refused.get_msg());
  }
  kernbench::RunOptions options;
  options.kernel = "gemm";
  std::printf("gemm: %.3f ns\n", run_kernel(device, std::move(options)).end_ns);
  return 0;
}
