// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/fabric/link_mode.h"

#include <algorithm>
#include <limits>

#include "kernbench/systemc_models/core/own_class.h"
#include "kernbench/systemc_models/fabric/fabric.h"
#include "kernbench/systemc_models/fabric/fabric_initiator.h"
#include "kernbench/systemc_models/fabric/foreign_neighbour.h"
#include "kernbench/systemc_models/fabric/memory_target.h"
#include "kernbench/systemc_models/fabric/router.h"

namespace kernbench::fabric {

ZeroLoad LinkMode::zero_load(const Route& r, bool write, uint64_t address, uint64_t nbytes, const Rows& rows) const {
  constexpr size_t kKept = 16;                                        // a power of two
  if (rows.ranges) return work_out(r, write, address, nbytes, rows);  // lists rarely repeat
  // Flits are cut at multiples of a length, and channels are used round robin. Addresses that differ by a multiple of
  // the period are therefore equivalent.
  const uint64_t span = rows.span();
  uint64_t period = r.target ? r.target->address_period(address - r.base, span) : 1;
  if (period == 0) return work_out(r, write, address, nbytes, rows);
  period = std::max(period, address_period());
  const uint64_t phase = period == 1 ? 0 : (address - r.base) % period;
  if (r.worked.empty()) r.worked.resize(kKept);
  const uint64_t hash = (nbytes * 2 + write) * 0x9e3779b97f4a7c15u + phase * 0xc2b2ae3d27d4eb4fu + rows.stride;
  Route::Worked& w = r.worked[(hash >> 32) % kKept];
  if (w.nbytes != nbytes || w.write != write || w.phase != phase || w.rows.count != rows.count ||
      w.rows.bytes != rows.bytes || w.rows.stride != rows.stride || w.rows.atomic != rows.atomic ||
      w.rows.posted != rows.posted) {
    w = {write, nbytes, phase, rows, work_out(r, write, address, nbytes, rows)};
  }
  return w.time;
}

double LinkMode::formula_ns(const Route& r, bool write, uint64_t address, uint64_t nbytes, const Rows& rows) const {
  return r.known ? zero_load(r, write, address, nbytes, rows).latency_ns : std::numeric_limits<double>::quiet_NaN();
}

void LinkMode::takes_effect(FabricTransaction& x, double finish_ns) {
  x.effect_ns = finish_ns;
  if (x.mover) x.mover->served(x, finish_ns);
  x.initiator->effect_known(x);
}

Order LinkMode::arrival_order(const FabricTransaction& x, const FabricPort& in, const void* server) const {
  Link* from = in.incoming();
  return links_serve() && from ? from->ready_order.of(x.own_order, x.time_ns, x.time_ns, server) : x.own_order;
}

}  // namespace kernbench::fabric
