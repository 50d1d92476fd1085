// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/memory/hbm_ctrl.h"

#include <algorithm>

#include "kernbench/systemc_models/core/registry.h"

namespace kernbench::memory {
namespace {

/// An atomic both reads and writes its bytes.
double drain_ns(const Request& q) {
  const auto ns = [](double bytes, double bw) { return bw > 0 ? bytes / bw : 0; };
  return ns(static_cast<double>(q.rows.data_bytes(q.write, false, q.nbytes)), q.route.write_bw) +
         (!q.write || q.is_atomic() ? ns(static_cast<double>(q.nbytes), q.route.read_bw) : 0);
}

}  // namespace

FifoMemory::FifoMemory(sc_core::sc_module_name name, const ComponentConfig& config, const MemoryParameters& parameters)
    : StatefulMemory(name, config, parameters) {
  early_ = Early::all;
}

const FlitServers* FifoMemory::flit_servers() const {
  return serves_flit_by_flit<HbmCtrl, Sram>() ? this : nullptr;
}

Service FifoMemory::serve(State& state, const Request& q) const {
  const double start = std::max(q.arrival_ns, state.free_ns);
  Service s;
  s.overhead_ns = overhead_ns();
  s.queue_ns = start - q.arrival_ns;
  s.drain_ns = drain_ns(q);
  s.header_leaves_ns = start + s.overhead_ns;
  s.finish_ns = state.free_ns = s.header_leaves_ns + s.drain_ns;
  s.bound = ServiceBound::way;
  return s;
}

KERNBENCH_REGISTER_COMPONENT(HbmCtrl)
KERNBENCH_REGISTER_COMPONENT(Sram)

}  // namespace kernbench::memory
