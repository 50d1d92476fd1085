// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/pe/processing_element.h"

#include <map>
#include <stdexcept>
#include <utility>

namespace kernbench::pe {

ProcessingElement::ProcessingElement(const sc_core::sc_module_name& name, System& system, const Parameters& p)
    : sc_module(name),
      cpu("pe_cpu", system, p.cpu),
      scheduler("pe_scheduler", system, p.scheduler),
      dma("pe_dma", system, p.dma),
      fetch_store("pe_fetch_store", system, p.fetch_store),
      gemm("pe_gemm", system, p.gemm),
      math("pe_math", system, p.math),
      tcm("pe_tcm", system, p.tcm) {
  if (p.mmu) mmu.emplace("pe_mmu", system, *p.mmu);
  if (p.ipcq) ipcq.emplace("pe_ipcq", system, *p.ipcq);
  pe_.id = this->name();
  pe_.order = cpu.index();
  pe_.index = system.next_pe();
  PeParts parts;
  parts.add("pe_cpu", cpu);
  parts.add("pe_scheduler", scheduler);
  parts.add("pe_dma", dma);
  parts.add("pe_fetch_store", fetch_store);
  parts.add("pe_gemm", gemm);
  parts.add("pe_math", math);
  parts.add("pe_tcm", tcm);
  if (mmu) parts.add("pe_mmu", *mmu);
  if (ipcq) parts.add("pe_ipcq", *ipcq);
  assemble(pe_, parts, parts.standard_edges(), system);
  rooms_[Space::tcm] = &tcm.allocator();
}

void ProcessingElement::lay_rings_in(Space space, FirstFitAllocator& room) {
  if (space == Space::tcm) throw std::invalid_argument(pe_.id + ": rings of tier tcm lie in the PE's own TCM");
  rooms_[space] = &room;
}

void ProcessingElement::give_back_rings() {
  for (const auto& [room, address] : rings_) room->free(address);
  rings_.clear();
}

void ProcessingElement::run(std::function<void(tl::Context&)> kernel,
                            std::function<void(const KernelRunner::Outcome&)> on_end) {
  pe_.runner->launch(
      [kernel = std::move(kernel)](PeBackend& backend) {
        tl::Context context(backend);
        kernel(context);
        context.finish();
      },
      dma.timeline().now_ns(),
      [this, on_end = std::move(on_end)](const KernelRunner::Outcome& outcome) {
        give_back_rings();
        on_end(outcome);
      });
}

/// Adds a port of the PE with its ring; returns its index.
size_t ProcessingElement::add_port(std::vector<QueuePort>& ports, const std::string& port) {
  const auto refuse = [&](const std::string& why) {
    throw std::invalid_argument(pe_.id + ", port " + port + ": " + why);
  };
  if (!ipcq) refuse("the PE has no pe_ipcq");
  const QueueParameters& p = ipcq->queue_parameters();
  const Space space = parse_space(p.tier);
  const auto at = rooms_.find(space);
  if (at == rooms_.end()) refuse("tier " + p.tier + ": lay_rings_in() has not said where");
  for (const QueuePort& other : ports) {
    if (other.name == port) refuse("it has a connection already");
  }
  QueuePort& added = ports.emplace_back();
  added.name = port;
  added.ring.slots = p.slots;
  added.ring.slot_bytes = p.slot_bytes;
  added.ring.space = space;
  const uint64_t bytes = p.slots * p.slot_bytes;
  FirstFitAllocator& room = *at->second;
  const std::optional<uint64_t> address = room.allocate(bytes);
  if (!address) {
    refuse("no room for a ring of " + std::to_string(bytes) + " bytes in " + p.tier + ", of which " +
           std::to_string(room.largest_free()) + " are free");
  }
  rings_.emplace_back(&room, *address);
  added.ring.addr = *address;
  price_ring(pe_, dma.fabric().routes(), &added.ring);
  return ports.size() - 1;
}

void connect_ports(const std::vector<PortConnection>& connections, uint64_t launch) {
  std::map<ProcessingElement*, std::vector<QueuePort>> ports;
  std::vector<std::pair<size_t, size_t>> places;
  for (const PortConnection& c : connections) {
    if (c.a == c.b) throw std::invalid_argument(c.a->pe().id + ": is connected with itself; expected two PEs");
    const size_t at_a = c.a->add_port(ports[c.a], c.port);
    places.emplace_back(at_a, c.b->add_port(ports[c.b], c.peer_port));
  }
  for (size_t i = 0; i < connections.size(); ++i) {
    const PortConnection& c = connections[i];
    const auto [at_a, at_b] = places[i];
    QueuePort &a = ports[c.a][at_a], &b = ports[c.b][at_b];
    RouteSource& routes = c.a->dma.fabric().routes();
    a.lead(c.a->pe(), c.b->pe(), b, static_cast<uint32_t>(at_b), routes);
    b.lead(c.b->pe(), c.a->pe(), a, static_cast<uint32_t>(at_a), routes);
  }
  for (const PortConnection& c : connections) {
    for (ProcessingElement* pe : {c.a, c.b}) {
      if (!ports[pe].empty()) pe->ipcq->open_ports(std::exchange(ports[pe], {}), launch);
    }
  }
}

}  // namespace kernbench::pe
