// SPDX-License-Identifier: Apache-2.0
// Signals of one's own in the platform's waveform, the platform's in a trace file of one's own, and a recording, all at
// once.
#include <cstdio>
#include <fstream>
#include <string>

#include "kernbench/platform/job.h"
#include "kernbench/platform/observe/transaction_recorder.h"
#include "kernbench/platform/observe/waveform.h"

/// Counts completions of a job beside the platform.
struct Cpu : sc_core::sc_module {
  sc_core::sc_signal<bool> done{"done"};
  kernbench::Job& job;
  Cpu(sc_core::sc_module_name name, kernbench::Job& j) : sc_module(name), job(j) {
    SC_HAS_PROCESS(Cpu);
    SC_THREAD(run);
  }
  void run() {
    job.start();
    wait(job.completed());
    done = true;
  }
};

/// Lines of a file that hold a text.
size_t count(const std::string& file, const std::string& what) {
  std::ifstream in(file);
  size_t n = 0;
  for (std::string line; std::getline(in, line);) n += line.find(what) != std::string::npos;
  return n;
}

int sc_main(int, char* argv[]) {
  kernbench::Platform device("device", kernbench::compile_file(argv[1]));
  kernbench::JobOptions options;
  options.kernel = "gemm";
  options.params = {{"m", "64"}, {"n", "64"}, {"k", "64"}};
  kernbench::Job job(device, options);
  Cpu cpu("cpu", job);

  sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);  // of the trace file's unit
  sc_core::sc_trace_file* mine = sc_core::sc_create_vcd_trace_file("mine");
  mine->set_time_unit(1, sc_core::SC_PS);
  kernbench::Waveform ours(device, kernbench::WaveformOptions{"ours.vcd", {"pe0.pe_gemm", "hbm0"}});
  kernbench::Waveform into_mine(device, *mine, {"pe0.pe_gemm"});
  kernbench::TransactionRecorder recorder(device, "run.ftr");
  ours.trace(cpu.done, "cpu.done");
  ours.trace([&] { return job.running() ? 1 : 0; }, "cpu.jobs", 4);
  sc_core::sc_trace(mine, cpu.done, "cpu.done");

  sc_core::sc_start();
  recorder.close();
  ours.close();
  sc_core::sc_close_vcd_trace_file(mine);
  std::printf("ours.vcd: %zu signals\nmine.vcd: %zu signals\n", count("ours.vcd", "$var"), count("mine.vcd", "$var"));
  return std::ifstream("run.ftr") && count("ours.vcd", " done $end") == 1 && count("mine.vcd", "done") == 1 ? 0 : 1;
}
