#include "kernbench/systemc_models/fabric/route.h"

#include "kernbench/systemc_models/fabric/fabric_port.h"
#include "kernbench/systemc_models/fabric/foreign_neighbour.h"

namespace kernbench {
namespace {

void narrow(double& least, double bw) {
  if (bw > 0 && (least == 0 || bw < least)) least = bw;
}

}  // namespace

void measure(Route& r) {
  r.read_bw = r.write_bw = r.read_inner_bw = r.write_inner_bw = 0;
  r.known = r.target != nullptr;
  for (size_t i = 0; i < r.hops.size(); ++i) {
    const Hop& hop = r.hops[i];
    double there = hop.out->link.bw_gbs, back = hop.in ? hop.in->link.bw_gbs : 0;
    if (hop.out->foreign()) {
      r.known = false;
      if (hop.in && hop.in->foreign()) narrow(there, hop.in->foreign()->from.bw_gbs);
      narrow(back, hop.out->foreign()->from.bw_gbs);
    }
    narrow(r.write_bw, there);
    narrow(r.read_bw, back);
    if (i + 1 == r.hops.size()) continue;
    narrow(r.write_inner_bw, there);
    narrow(r.read_inner_bw, back);
  }
}

}  // namespace kernbench
