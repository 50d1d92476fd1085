// What must hold of probed transactions. Two kinds of statement:
//
// Laws follow from the timing contract on every topology; a failed one is a fault of the model:
//   formula     alone in the system, a transaction takes its closed form, and waits for nothing
//   parts       overhead, drain, wire, store-and-forward and queueing sum to the latency
//   hops        so do the nodes and edges of its way, one after the other
//   read-write  over links that are alike in both directions, a read takes as long as the write to the same memory,
//   each
//               without its store-and-forward: one carries its data there, the other back. Not with `links: flit`,
//               where a node's overhead hides behind the flits of a slow link before it, not of one behind it.
//   size        more bytes never take less time (sweeps)
//   peak        together, PEs never get more than memory and links can give (saturation)
// Of memories whose lone time is not exact (a DRAM has open rows and refreshes) parts and peak alone are looked at.
// Expectations hold of a machine in which ways only get slower with length; a failed one says the topology is odd:
//   distance    of HBM slices, the one farther away, in mm and in hops, is not reached earlier
//   best-worst  the fastest of them is faster than the slowest, where their distances differ
//   fairness    flit mode: PEs that read one slice get shares within ±5 % of the mean, where equal shares leave a
//               fifth of every link before the memory, and of every PE's own speed, to spare (saturation)
#pragma once

#include <string>
#include <vector>

#include "kernbench/platform/tools/probe.h"
#include "kernbench/platform/tools/probe_saturation.h"

namespace kernbench {

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

}  // namespace kernbench
