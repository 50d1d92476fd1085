// SPDX-License-Identifier: Apache-2.0
// Sends and receives between PEs behind a switch, played like `kernbench pipeline`: for tests of inter-PE queues.
#pragma once

#include <fmt/format.h>

#include <map>
#include <sstream>
#include <string>

#include "kernbench/platform/work/pipeline.h"
#include "system_support.h"

namespace kernbench::testing {

struct Star {
  int pes = 2;
  std::string timing = "links: ideal, response: ideal";
  std::string ipcq = "slots: 4, slot_bytes: 1024";
};

/// PEs behind a switch, each on 100 mm of 64 GB/s; c = 2. A MATH of 1,024 elements takes c + 1 + 4 = 7 ns.
inline std::string star(const Star& s) {
  std::string y =
      "ns_per_mm: 0.01\ntiming: {" + s.timing + "}\nnodes:\n- {id: sw, kind: switch, attrs: {overhead_ns: 5.0}}\n";
  for (int p = 0; p < s.pes; ++p) {
    const std::string node = fmt::format("- {{id: sip{}.cube0.pe0.", p);
    y += node + "pe_cpu, kind: pe_cpu, attrs: {overhead_ns: 2.0}}\n";
    y += node + "pe_dma, kind: pe_dma}\n";
    y += node + "pe_ipcq, kind: pe_ipcq, attrs: {" + s.ipcq + "}}\n";
    y += node + "pe_tcm, kind: pe_tcm, attrs: {size_mb: 16, reserved_mb: 1, read_bw_gbs: 512, write_bw_gbs: 512}}\n";
    y += node + "pe_scheduler, kind: pe_scheduler, attrs: {overhead_ns: 1.0}}\n";
    y += node + "pe_math, kind: pe_math, attrs: {lanes: 256, freq_ghz: 1.0}}\n";
  }
  y += "links:\n";
  for (int p = 0; p < s.pes; ++p)
    y += fmt::format("- {{from: sip{}.cube0.pe0.pe_dma, to: sw, distance_mm: 100.0, bw_gbs: 64.0}}\n", p);
  return y;
}

/// A work file that is built call by call; PEs by number.
class Programs {
 public:
  void connect(int a, const std::string& port, int b, const std::string& peer_port) {
    connections_ +=
        fmt::format(R"({}{{"a": "sip{}.cube0.pe0", "port": "{}", "b": "sip{}.cube0.pe0", "peer_port": "{}"}})",
                    connections_.empty() ? "" : ", ", a, port, b, peer_port);
  }
  void send(int pe, const std::string& port, int bytes, bool async = false) {
    add(pe, fmt::format(R"("call": "send{}", "port": "{}", "bytes": {})", async ? "_async" : "", port, bytes));
  }
  void recv(int pe, const std::string& port, int bytes, bool async = false) {
    add(pe, fmt::format(R"("call": "recv{}", "port": "{}", "bytes": {})", async ? "_async" : "", port, bytes));
  }
  void math(int pe) { add(pe, R"("call": "math", "op": "add", "elements": 1024)"); }
  std::string json() const {
    std::string programs;
    for (const auto& [pe, calls] : calls_) {
      programs += fmt::format(R"({}{{"pe": "sip{}.cube0.pe0", "start_ns": 0, "calls": [{}]}})",
                              programs.empty() ? "" : ", ", pe, calls);
    }
    return R"({"connections": [)" + connections_ + R"(], "programs": [)" + programs + "]}";
  }

 private:
  void add(int pe, const std::string& call) {
    std::string& calls = calls_[pe];
    calls += fmt::format(R"({}{{"id": "c{}", {}}})", calls.empty() ? "" : ", ", count_[pe]++, call);
  }
  std::string connections_;
  std::map<int, std::string> calls_;
  std::map<int, int> count_;
};

struct Played {
  std::unique_ptr<Platform> platform;
  PipelineWork work;
  double end_ns = 0;
  /// By PE and number of the call.
  const ProgramCall& call(int pe, size_t i) const { return work.calls.programs[static_cast<size_t>(pe)].calls[i]; }
  const SegmentTimes& sent(int pe, size_t i, size_t segment = 0) const {
    return call(pe, i).queue.message->segments[segment];
  }
};

inline Played play(const std::string& yaml, const Programs& programs) {
  Played p;
  p.platform = platform_from_text(yaml);
  std::istringstream in(programs.json());
  p.work = read_pipeline_work(in, "work.json", *p.platform);
  p.work.calls.keep_accounts = true;
  p.end_ns = run_pipeline(*p.platform, p.work).end_ns;
  return p;
}

}  // namespace kernbench::testing
