#include "kernbench/systemc_models/fabric/fabric.h"

#include <algorithm>
#include <cmath>

#include "kernbench/systemc_models/fabric/flit.h"
#include "kernbench/systemc_models/memory/memory_target.h"

namespace kernbench {

FabricTransaction* Fabric::acquire() {
  if (free_.empty()) {
    all_.push_back(arena_.make<FabricTransaction>());
    free_.push_back(all_.back());
  }
  FabricTransaction* x = free_.back();
  free_.pop_back();
  return x;
}

tlm::tlm_generic_payload& Fabric::payload_of(FabricTransaction& x) {
  if (!x.payload) {
    x.payload = new tlm::tlm_generic_payload;
    x.payload->set_extension(&x);
  }
  return *x.payload;
}

void Fabric::release(FabricTransaction* x) {
  free_.push_back(x);
}

struct Flit* Fabric::acquire_flit() {
  if (free_flits_.empty()) {
    all_flits_.push_back(std::make_unique<Flit>());
    free_flits_.push_back(all_flits_.back().get());
  }
  Flit* f = free_flits_.back();
  free_flits_.pop_back();
  return f;
}

void Fabric::release_flit(struct Flit* f) {
  free_flits_.push_back(f);
}

Fabric::Fabric() = default;

Fabric::~Fabric() {
  for (FabricTransaction* x : all_) {
    if (x->payload) x->payload->clear_extension(x);
    delete x->payload;
    x->~FabricTransaction();
  }
}

tlm::tlm_sync_enum refuse_foreign(tlm::tlm_generic_payload& payload) {
  payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
  return tlm::TLM_COMPLETED;
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
  if (link.observer) link.observer->link_taken(link, ready_ns, start, link.free_ns, nbytes);
  return start + link.wire_ns;
}

Order ReadyOrder::of(const Order& own, double arrival_ns, double ready_ns, const void* next) {
  const uint64_t arrival = Timeline::to_fs(arrival_ns), ready = Timeline::to_fs(ready_ns);
  while (first_ < pending_.size() && pending_[first_].fs < arrival) ++first_;
  if (first_ == pending_.size()) {
    pending_.clear();
    first_ = 0;
  }
  Order order = own;
  if (ready <= latest_fs_) {  // the last of those it ties with holds the greatest order of them
    for (size_t i = pending_.size(); i-- > first_;) {
      if (pending_[i].fs != ready || pending_[i].next != next) continue;
      if (order < pending_[i].order) order = pending_[i].order;
      break;
    }
  }
  latest_fs_ = std::max(latest_fs_, ready);
  pending_.push_back({ready, next, order});
  return order;
}

namespace {

LoneTime work_out(const Fabric& fabric, const Route& r, bool write, uint64_t address, uint64_t nbytes,
                  const Rows& rows) {
  LoneTime lone;
  if (fabric.links == LinkMode::flit) {
    LoneFlitTrace trace;
    lone.latency_ns = lone_flit_latency_ns(fabric, r, write, address, rows, &trace);
    lone.store_forward_ns = trace.store_forward_ns;
    return lone;
  }
  const double n = static_cast<double>(nbytes);
  lone.service_ns = r.target->lone_service_ns(r, write, address, nbytes, rows);
  double t = r.request_overhead_ns + r.request_wire_ns;
  if (write) t += n * r.write_store_forward_ns_per_byte;
  t += lone.service_ns;
  if (fabric.response == ResponseMode::routed) {
    t += r.request_overhead_ns + r.response_wire_ns;  // the same nodes on the way back
    if (!write) t += n * r.read_store_forward_ns_per_byte;
  }
  lone.latency_ns = t;
  return lone;
}

}  // namespace

LoneTime lone_time(const Fabric& fabric, const Route& r, bool write, uint64_t address, uint64_t nbytes,
                   const Rows& rows) {
  constexpr size_t kKept = 16;  // a power of two
  // Cuts at multiples of a length and channels taken in turn: addresses that differ by whole turns are alike.
  const bool flits = fabric.links == LinkMode::flit;
  uint64_t period = r.target->address_period();
  if (period == 0 || (period == 1 && !flits)) return work_out(fabric, r, write, address, nbytes, rows);
  if (flits) period = std::max<uint64_t>(period, fabric.flit_bytes);
  const uint64_t phase = (address - r.base) % period;
  if (r.worked.empty()) r.worked.resize(kKept);
  const uint64_t hash = (nbytes * 2 + write) * 0x9e3779b97f4a7c15u + phase * 0xc2b2ae3d27d4eb4fu + rows.stride;
  Route::Worked& w = r.worked[(hash >> 32) % kKept];
  if (w.nbytes != nbytes || w.write != write || w.phase != phase || w.rows.count != rows.count ||
      w.rows.bytes != rows.bytes || w.rows.stride != rows.stride) {
    w = {write, nbytes, phase, rows, work_out(fabric, r, write, address, nbytes, rows)};
  }
  return w.time;
}

double formula_ns(const Fabric& fabric, const Route& r, bool write, uint64_t address, uint64_t nbytes,
                  const Rows& rows) {
  return lone_time(fabric, r, write, address, nbytes, rows).latency_ns;
}

}  // namespace kernbench
