// SPDX-License-Identifier: Apache-2.0
// `kernbench probe`: one transaction at a time through an idle system, and where its time went (interface contract; the
// table is the latency-model seed's); its way node by node, many at once, and what must hold of all of it.
// docs/probe.md explains it. A source for each section below: probe.cpp, probe_hops.cpp, probe_saturation.cpp,
// probe_checks.cpp, probe_output.cpp.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <limits>
#include <string>
#include <vector>

#include "kernbench/phase2/rooms.h"

namespace kernbench {
class Platform;
}

namespace kernbench {
namespace spec {
struct RunDocument;
}
namespace topology {
struct Graph;
}

}  // namespace kernbench
namespace kernbench::work {
struct ProbeCase {
  std::string name;    ///< "pe-local-hbm"
  std::string target;  ///< "sip0.cube0.pe0 -> sip0.cube0.hbm_ctrl.pe0"
  uint32_t initiator = 0;
  uint32_t memory = 0;  ///< index into the graph's memories
  bool write = false;
  uint64_t memory_bytes = 0;  ///< that the memory has
};

/// Times in ns, bandwidths in GB/s. overhead + drain + wire + store_forward + queueing = actual, in every link mode.
struct ProbeResult {
  ProbeCase probe;
  uint64_t nbytes = 0;
  double actual_ns = 0, formula_ns = 0;
  double overhead_ns = 0, drain_ns = 0, wire_ns = 0, queueing_ns = 0, store_forward_ns = 0;
  double bottleneck_bw_gbs = 0;  ///< least that bounds the data, on links or in the memory; 0: nothing limits

  double parts_ns() const { return overhead_ns + drain_ns + wire_ns + queueing_ns + store_forward_ns; }
  double overhead_pct() const { return 100 * share(overhead_ns); }
  double drain_pct() const { return 100 * share(drain_ns); }
  double eff_bw_gbs() const { return actual_ns > 0 ? static_cast<double>(nbytes) / actual_ns : 0; }
  double util_pct() const { return bottleneck_bw_gbs > 0 ? 100 * eff_bw_gbs() / bottleneck_bw_gbs : 0; }

 private:
  double share(double ns) const { return actual_ns > 0 ? ns / actual_ns : 0; }
};

/// The cases that the topology has, of: pe-local-hbm, pe-same-half-hbm, pe-cross-half-hbm, pe-local-sram,
/// pe-adjacent-cube-hbm, pe-farthest-cube-hbm, pe-other-sip-hbm (reads, and the same with -write), h2d-write, d2h-read.
/// All start at the first PE that reaches HBM or at the first PCIe endpoint that reaches HBM of its SIP.
std::vector<ProbeCase> probe_cases(Platform&);

/// The address that a case reads or writes: its memory's first.
uint64_t probe_address(const Platform&, const ProbeCase&);

/// Runs the cases one after the other, each alone in the system; with several sizes every case at every size, sizes
/// innermost. May be called again on the same platform. InputError if a transaction does not fit its memory, RunError
/// if one never ends.
std::vector<ProbeResult> run_probe(Platform&, const std::vector<ProbeCase>&, const std::vector<uint64_t>& sizes);
inline std::vector<ProbeResult> run_probe(Platform& platform, const std::vector<ProbeCase>& cases, uint64_t nbytes) {
  return run_probe(platform, cases, std::vector<uint64_t>{nbytes});
}

/// An instant after everything so far at which no link or memory is still held, ns.
double next_idle_ns(Platform&);

/// Sizes of a sweep: 4 KiB to 1 MiB, doubling.
std::vector<uint64_t> sweep_sizes();

/// The way to a bandwidth: one case at the sizes of a sweep that fit its memory.
struct ProbeSweep {
  std::vector<ProbeResult> points;  ///< by size, ascending
  /// Index of the smallest size with at least 90 % of the bottleneck's bandwidth; points.size() if there is none.
  size_t at_90_pct() const;
};
std::vector<ProbeSweep> run_sweep(Platform&, const std::vector<ProbeCase>&);

// ---- Hops: the way of a probed transaction, node by node, from the rules (timing rules §2, §3): where each
// nanosecond of the lone latency is paid. Its sum is compared with the simulated latency by the checks.

/// A node on the way and the edge that leaves it. Times in ns from the grant.
struct ProbeHop {
  static constexpr uint32_t kNoEdge = std::numeric_limits<uint32_t>::max();
  uint32_t node = 0;            ///< of the graph
  bool response = false;        ///< on the way back
  double arrive_ns = 0;         ///< the header is here; flit mode: the first flit
  double overhead_ns = 0;       ///< the node's
  double store_forward_ns = 0;  ///< wait for the rest of the data
  double drain_ns = 0;          ///< data served here (memory) or awaited here (initiator, after a routed read's header)
  uint32_t edge = kNoEdge;      ///< the edge that leaves; none at the end
  double transfer_ns = 0;       ///< flit mode: the first flit onto that edge
  double wire_ns = 0;           ///< of that edge
  double bw_gbs = 0;            ///< of that edge, in the data's direction where the way back is not listed; 0: no limit
  bool bottleneck = false;      ///< that edge carries the data and is as narrow as any that does

  double leave_ns() const { return arrive_ns + overhead_ns + store_forward_ns + drain_ns; }
};

struct ProbeTrace {
  std::vector<ProbeHop> hops;  ///< the request's way; where responses are routed, then the way back
  double drain_ns = 0;         ///< serialisation: transfers and drains of all hops
  double total_ns = 0;
  double memory_bw_gbs = 0;           ///< what the memory itself can serve, all channels together; 0: no limit
  bool memory_is_bottleneck = false;  ///< less than every edge on the data's way
};

/// What a memory can serve at most, GB/s, of data that comes or goes by an edge of `edge_bw_gbs`; 0: no limit.
double memory_bandwidth(Platform&, uint32_t memory, double edge_bw_gbs);

/// InputError if the transaction does not fit its memory.
ProbeTrace trace_hops(Platform&, const ProbeCase&, uint64_t nbytes);

// ---- Saturation: bandwidth under load: many reads at once, as many as the PEs' DMA channels let out (`rd_engines`
// each), for long enough that the begin does not count.

/// A scenario, from the first request to the moment at which the first PE has its last read. Bandwidths in GB/s, of the
/// bytes of reads completed until then: never more than was served.
struct SaturationResult {
  std::string name;    ///< "hot-4", "own-slices"
  std::string target;  ///< "4 PEs of sip0.cube0 -> sip0.cube0.hbm_ctrl.pe0"
  bool hot = false;    ///< all read one slice
  /// Equal shares are to be expected: all PEs have as many reads out, and shares of the memory leave a fifth of every
  /// link before it, and of every PE's own speed, to spare.
  bool even = false;
  uint64_t nbytes = 0;  ///< of a read
  uint64_t reads = 0;   ///< completed
  double window_ns = 0;
  double aggregate_gbs = 0;
  double peak_gbs = 0;             ///< that memories, links and channels could give at most; 0: no limit
  std::vector<double> shares_gbs;  ///< by PE
  std::string busiest_edge;        ///< "a -> b"; empty where links take no time
  double busiest_util = 0;         ///< its time busy / window

  double least_gbs() const;
  double most_gbs() const;
  double fairness() const { return most_gbs() > 0 ? least_gbs() / most_gbs() : 1; }
  double util_pct() const { return peak_gbs > 0 ? 100 * aggregate_gbs / peak_gbs : 0; }
};

/// The hot slice of the first PE read by the first 1, 2, 4, 8 PEs of its cube, as many as there are; then every PE its
/// own slice. One scenario after the other in one simulation. InputError without PEs, or if a read does not fit.
std::vector<SaturationResult> run_saturation(Platform&, uint64_t nbytes);

// ---- Checks: what must hold of probed transactions. Two kinds of statement:
//
// Laws follow from the timing contract on every topology; a failed one is a fault of the model:
//   formula     alone in the system, a transaction takes its closed form, and waits for nothing
//   parts       overhead, drain, wire, store-and-forward and queueing sum to the latency
//   hops        so do the nodes and edges of its way, one after the other
//   read-write  over links that are alike in both directions, a read takes as long as the write to the same memory,
//               each without its store-and-forward: one carries its data there, the other back. Not with
//               `links: flit`, where a node's overhead hides behind the flits of a slow link before it, not of one
//               behind it.
//   size        more bytes never take less time (sweeps)
//   peak        together, PEs never get more than memory and links can give (saturation)
// Of memories whose zero-load time is not exact (a DRAM has open rows and refreshes) parts and peak alone are looked
// at. Expectations hold of a machine in which ways only get slower with length; a failed one says the topology is odd:
//   distance    of HBM slices, the one farther away, in mm and in hops, is not reached earlier
//   best-worst  the fastest of them is faster than the slowest, where their distances differ
//   fairness    flit mode: PEs that read one slice get shares within ±5 % of the mean, where equal shares leave a
//               fifth of every link before the memory, and of every PE's own speed, to spare (saturation)

struct ProbeCheck {
  std::string name;     ///< "formula"
  std::string subject;  ///< case or scenario that it is about
  bool law = true;
  bool passed = true;
  std::string found;  ///< one sentence with the figures
};

std::vector<ProbeCheck> check_probe(Platform&, const std::vector<ProbeResult>&);
std::vector<ProbeCheck> check_sweep(Platform&, const std::vector<ProbeSweep>&);
std::vector<ProbeCheck> check_saturation(Platform&, const std::vector<SaturationResult>&);

// ---- Output: what `kernbench probe` prints, as text, csv or json.

struct ProbeReport {
  std::vector<ProbeResult> results;
  std::vector<ProbeTrace> traces;  ///< by result, or none
  std::vector<ProbeSweep> sweeps;  ///< by result, or none
  std::vector<SaturationResult> saturation;
  std::vector<ProbeCheck> checks;
  bool list_checks = false;  ///< text: every check, not only their number and the failed ones
};

void write_probe_text(std::ostream&, const topology::Graph&, const ProbeReport&);
/// {"run": …, "cases": […]}: each with its hops, sweep and checks; the scenarios where the report has saturation.
void write_probe_json(std::ostream&, const topology::Graph&, const ProbeReport&, const spec::RunDocument&);
/// One table: of the hops or sweeps where the report has them, of the saturation, else of the cases.
void write_probe_csv(std::ostream&, const topology::Graph&, const ProbeReport&);

}  // namespace kernbench::work
