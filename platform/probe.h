// `kernbench probe`: one transaction at a time through an idle system, and where its time went (interface contract; the
// table is the latency-model seed's).
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace kernbench {

class Platform;

struct ProbeCase {
  std::string name;    ///< "pe-local-hbm"
  std::string target;  ///< "sip0.cube0.pe0 -> sip0.cube0.hbm_ctrl.pe0"
  uint32_t initiator = 0;
  uint32_t memory = 0;  ///< index into the graph's memories
  bool write = false;
};

struct ProbeResult {
  ProbeCase probe;
  uint64_t nbytes = 0;
  double actual_ns = 0, formula_ns = 0;
  double overhead_ns = 0, drain_ns = 0, wire_ns = 0, queueing_ns = 0;  ///< with store-and-forward sum to actual_ns
  double store_forward_ns = 0;
  double bottleneck_bw_gbs = 0;  ///< 0: nothing limits

  double overhead_pct() const { return 100 * overhead_ns / actual_ns; }
  double drain_pct() const { return 100 * drain_ns / actual_ns; }
  double eff_bw_gbs() const { return static_cast<double>(nbytes) / actual_ns; }
  double util_pct() const { return bottleneck_bw_gbs > 0 ? 100 * eff_bw_gbs() / bottleneck_bw_gbs : 0; }
};

/// The cases that the topology has, of: pe-local-hbm, pe-same-half-hbm, pe-cross-half-hbm, pe-local-sram,
/// pe-adjacent-cube-hbm, pe-farthest-cube-hbm, pe-other-sip-hbm (reads), h2d-write, d2h-read. All start at the first PE
/// or at the first PCIe endpoint.
std::vector<ProbeCase> probe_cases(Platform&);

/// Runs the cases one after the other, each alone in the system. InputError if a transaction does not fit a memory.
std::vector<ProbeResult> run_probe(Platform&, const std::vector<ProbeCase>&, uint64_t nbytes);

void write_probe_text(std::ostream&, const std::vector<ProbeResult>&);
void write_probe_json(std::ostream&, const std::vector<ProbeResult>&);
void write_probe_csv(std::ostream&, const std::vector<ProbeResult>&);

}  // namespace kernbench
