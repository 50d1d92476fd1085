#include "kernbench/systemc_models/memory/hbm_ctrl.h"

#include <algorithm>

#include "kernbench/systemc_models/core/registry.h"

namespace kernbench {
namespace {

/// An atomic's bytes are read and written.
double drain_ns(const Route& r, bool write, uint64_t nbytes, const Rows& rows) {
  const auto ns = [](double bytes, double bw) { return bw > 0 ? bytes / bw : 0; };
  const bool reads = !write || rows.atomic != AtomicKind::none;
  return ns(static_cast<double>(rows.data_bytes(write, false, nbytes)), r.write_bw) +
         (reads ? ns(static_cast<double>(nbytes), r.read_bw) : 0);
}

}  // namespace

FifoMemory::FifoMemory(sc_core::sc_module_name name, const ComponentConfig& config, const BufferParameters& parameters)
    : MemoryTarget(name, config, parameters) {
  early_ = Early::all;
}

const FlitServers* FifoMemory::flit_servers() const {
  return serves_flit_by_flit<HbmCtrl, Sram>() ? this : nullptr;
}

double FifoMemory::lone_service_ns(const Route& r, bool write, uint64_t, uint64_t nbytes, const Rows& rows) const {
  return overhead_ns() + drain_ns(r, write, nbytes, rows);
}

double FifoMemory::lone_header_ns(const Route& r, bool write, uint64_t address, uint64_t nbytes,
                                  const Rows& rows) const {
  return overhead_ns() + lone_service_ns(r, write, address, nbytes, rows) -
         FifoMemory::lone_service_ns(r, write, address, nbytes, rows);
}

Service FifoMemory::serve(FabricTransaction& x) {
  const double start = std::max(x.time_ns, free_ns_);
  const double drain = drain_ns(*x.route, x.write, x.nbytes, x.rows);
  x.memory_queue_ns += start - x.time_ns;
  x.overhead_ns += overhead_ns();
  x.drain_ns += drain;
  free_ns_ = start + overhead_ns() + drain;
  Service s;
  s.header_leaves_ns = start + overhead_ns();
  s.finish_ns = free_ns_;
  s.bound = ServiceBound::way;
  return s;
}

KERNBENCH_REGISTER_COMPONENT(HbmCtrl)
KERNBENCH_REGISTER_COMPONENT(Sram)

}  // namespace kernbench
