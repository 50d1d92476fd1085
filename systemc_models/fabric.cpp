#include "kernbench/systemc_models/fabric.h"

#include <algorithm>
#include <cmath>

#include "kernbench/systemc_models/memory_target.h"

namespace kernbench {

FabricTransaction* Fabric::acquire() {
  if (free_.empty()) {
    auto x = std::make_unique<FabricTransaction>();
    x->payload = new tlm::tlm_generic_payload;
    x->payload->set_extension(x.get());
    free_.push_back(x.get());
    all_.push_back(std::move(x));
  }
  FabricTransaction* x = free_.back();
  free_.pop_back();
  return x;
}

void Fabric::release(FabricTransaction* x) { free_.push_back(x); }

Fabric::~Fabric() {
  for (auto& x : all_) {
    x->payload->clear_extension(x.get());
    delete x->payload;
  }
}

double arrival_time(const Fabric& fabric, const FabricTransaction& x, const sc_core::sc_time& delay) {
  if (fabric.timeline->delay_until(x.time_ns) == delay) return x.time_ns;
  return (sc_core::sc_time_stamp() + delay).to_seconds() * 1e9;  // a foreign block on the way moved it
}

double pass_link(Link& link, FabricTransaction& x, double ready_ns, double nbytes) {
  const double start = std::max(ready_ns, link.free_ns);
  const double transfer = link.transfer_ns(nbytes);
  link.free_ns = start + transfer;
  link.busy_ns += transfer;
  ++link.messages;
  x.link_queue_ns += start - ready_ns;
  x.wire_ns += link.wire_ns;
  const double there = start + link.wire_ns;
  link.departures.apply(x, there);
  return there;
}

void DepartureOrder::apply(FabricTransaction& x, double t_ns) {
  const uint64_t fs = Timeline::to_fs(t_ns);
  x.order = fs == last_fs && x.own_order < last ? last : x.own_order;
  last_fs = fs;
  last = x.order;
}

double formula_ns(const Fabric& fabric, const Route& r, bool write, uint64_t address, uint64_t nbytes,
                  const Rows& rows) {
  const double n = static_cast<double>(nbytes);
  double t = r.request_overhead_ns + r.request_wire_ns;
  if (write) t += n * r.write_store_forward_ns_per_byte;
  t += r.target->lone_service_ns(r, write, address, nbytes, rows);
  if (fabric.response == ResponseMode::routed) {
    t += r.request_overhead_ns + r.response_wire_ns;  // the same nodes on the way back
    if (!write) t += n * r.read_store_forward_ns_per_byte;
  }
  return t;
}

}  // namespace kernbench
