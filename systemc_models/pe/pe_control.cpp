// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/pe/pe_control.h"

#include <algorithm>
#include <cstdio>

#include "kernbench/systemc_models/memory/system.h"
#include "kernbench/systemc_models/pe/kernel_runner.h"
#include "kernbench/systemc_models/pe/pe_setup.h"

namespace kernbench::pe {
namespace {

HostResponse error(HostError code, const std::string& text) {
  HostResponse r;
  r.code = code;
  r.text = text;
  return r;
}

/// Executes it in the PE's MMU: over pe_cpu's socket, or from outside the simulation.
void have_done(const Pe& pe, SetupOf<MmuRole>& setup, By by) {
  by == By::pe_cpu ? set_up(pe, setup) : setup.act_on(*pe.mmu);
}

HostResponse no_mmu(const Pe& pe) {
  return error(HostError::no_mmu, pe.id + ": has no pe_mmu");
}

std::string mapping_text(uint64_t address, uint64_t nbytes) {
  char text[64];
  std::snprintf(text, sizeof text, "[0x%llx, 0x%llx)", static_cast<unsigned long long>(address),
                static_cast<unsigned long long>(address + nbytes));
  return text;
}

}  // namespace

void take_message(ControlMessage& m, Pe& pe) {
  if (const auto* body = dynamic_cast<const PeBody*>(m.body.get())) return body->take(m, pe);
  m.respond(HostError::not_understood, pe.id + ": a message that is none to a PE", m.time_ns());
}

void LaunchBody::take(ControlMessage& m, Pe& pe) const {
  if (!pe.runner) return m.respond(HostError::not_understood, pe.id + ": runs no kernels", m.time_ns());
  if (pe.runner->abandoned()) return pe.runner->then([this, &m, &pe] { take(m, pe); });
  pe.runner->system().expect_kernels(-1);
  if (pe.runner->running()) {
    const auto named = [](const LaunchId& l, const char* else_what) {
      return l.what.empty() ? std::string(else_what) : l.what;
    };
    const std::string what =
        named(id, "a launch") + " found it running " + named(pe.runner->launched(), "another kernel");
    return m.respond(HostError::pe_busy, pe.id + ": " + what, m.time_ns());
  }
  const size_t place = m.places.front();
  if (pe.ipcq) {
    OpenPorts open(ports.empty() ? std::vector<QueuePort>() : ports[place], number);
    set_up(pe, open);
  }
  const auto on_end = [this, &m, place](const KernelRunner::Outcome& outcome) {
    ended(place, outcome);
    const HostError code = outcome.aborted         ? HostError::aborted
                           : outcome.fault.empty() ? HostError::ok
                                                   : HostError::kernel_fault;
    m.respond(code, outcome.fault, outcome.end_ns);
  };
  pe.runner->launch(kernel(place), std::max(start_ns, m.time_ns()), on_end, KernelRunner::kStackBytes, id, reductions);
}

void MapBody::take(ControlMessage& m, Pe& pe) const {
  const HostResponse r = map_at(pe, By::pe_cpu);
  m.respond(r.code, r.text, m.time_ns());
}

HostResponse MapBody::map_at(Pe& pe, By by) const {
  if (!pe.mmu) return no_mmu(pe);
  MapRange map(mapping);
  have_done(pe, map, by);
  if (map.overlaps)
    return error(HostError::overlap, pe.id + ": " + mapping->to_string() + " overlaps " + map.overlaps->to_string());
  return {};
}

void UnmapBody::take(ControlMessage& m, Pe& pe) const {
  const HostResponse r = unmap_at(pe, By::pe_cpu);
  m.respond(r.code, r.text, m.time_ns());
}

HostResponse UnmapBody::unmap_at(Pe& pe, By by) const {
  if (!pe.mmu) return no_mmu(pe);
  const std::string what = "unmap of " + mapping_text(address, nbytes);
  if (pe.runner && pe.runner->running())
    return error(HostError::pe_busy, pe.id + ": " + what + " found it running a kernel");
  UnmapRange unmap(address, nbytes);
  have_done(pe, unmap, by);
  if (unmap.unmapped) return {};
  return error(HostError::not_mapped, pe.id + ": " + what + ": no mapping is that range; " + unmap.nearest);
}

}  // namespace kernbench::pe
