// The platform's outside: ports, foreign memories, the host; and what they see of memory.
#include <algorithm>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/elaborate/platform.h"
#include "kernbench/platform/launch/device_allocators.h"
#include "kernbench/platform/launch/host_interface.h"
#include "kernbench/platform/topology/graph/naming.h"
#include "kernbench/systemc_models/fabric/port.h"
#include "kernbench/systemc_models/memory/direct_memory.h"
#include "kernbench/systemc_models/memory/tlm_memory.h"
#include "kernbench/systemc_models/protocol/payload_access.h"

namespace kernbench {
namespace {

/// The component of that id and type; InputError that names those there are.
template <class Block>
Block& block_named(const std::string& id, const char* what, const std::vector<std::unique_ptr<Component>>& components) {
  std::string known;
  for (const auto& c : components) {
    auto* block = dynamic_cast<Block*>(c.get());
    if (!block) continue;
    if (c->id() == id) return *block;
    known += (known.empty() ? "" : ", ") + c->id();
  }
  throw InputError(std::string(what) + ": found '" + id +
                   "'; legal: " + (known.empty() ? std::string("none, the topology has no such node") : known));
}

}  // namespace

void Platform::build_doors() {
  for (const topology::Memory& m : graph_.memories) {
    if (auto* memory = dynamic_cast<TlmMemory*>(components_[m.node].get())) memory->connect(*this);
  }
  for (uint32_t n = 0; n < graph_.nodes.size(); ++n) {
    if (graph_.nodes[n].kind == "port") {
      if (auto* port = dynamic_cast<Port*>(components_[n].get()))
        port->transport().connect(*this, *this, *direct_memory_);
    }
    if (graph_.nodes[n].kind != "pcie_ep" || !request_ports_[n]) continue;
    const int sip = std::max(0, topology::naming::owner_of(graph_.nodes[n].id).sip);
    if (!hosts_.count(sip))
      hosts_.emplace(sip, std::make_unique<HostInterface>(sc_core::sc_gen_unique_name("host"), *this, n));
  }
}

Port& Platform::port(const std::string& id) {
  return block_named<Port>(id, "port", components_);
}

TlmMemory& Platform::tlm_memory(const std::string& id) {
  return block_named<TlmMemory>(id, "memory of impl builtin.hbm_tlm or builtin.sram_tlm", components_);
}

HostInterface& Platform::host(int sip) {
  const auto it = hosts_.find(sip);
  if (it == hosts_.end()) throw InputError("host: " + graph_.name + " has no pcie_ep in SIP " + std::to_string(sip));
  return *it->second;
}

DeviceAllocators& Platform::allocators() {
  if (!allocators_) allocators_ = std::make_unique<DeviceAllocators>(*this);
  return *allocators_;
}

MemoryWindow Platform::window_at(uint64_t addr) const {
  const topology::Memory* m = graph_.memory_at(addr);
  return m ? MemoryWindow{m->base, m->size, parse_space(m->space), m->node} : MemoryWindow{};
}

ForeignStore* Platform::store_of(uint32_t node) {
  return dynamic_cast<ForeignStore*>(components_[node].get());
}

void Platform::write_as_memory(uint64_t addr, const void* bytes, uint64_t nbytes) {
  const MemoryWindow window = window_at(addr);
  direct_memory_->settle(window.key(), addr, nbytes);
  image_.write(window.key(), addr, bytes, nbytes);
  direct_memory_->refresh(window.key(), addr, nbytes);
  Component& memory = component(window.node);
  if (!memory.logged()) return;
  const auto* first = static_cast<const uint8_t*>(bytes);
  ForeignRecord record;
  record.effect_ns = timeline_->now_ns();
  record.desc = foreign_write_desc(window.space, addr, std::make_shared<const Bytes>(first, first + nbytes),
                                   next_foreign_write());
  memory.end_service(record, memory.begin_service(record), record.effect_ns, record.effect_ns);
}

void Platform::place(uint64_t address, const void* bytes, uint64_t nbytes) {
  write_as_memory(address, bytes, nbytes);
  ForeignStore* store = store_of(window_at(address).node);
  // Before the simulation nothing may be bound yet; the model is given everything when it starts.
  if (store && sc_core::sc_is_running()) store->push(address, nbytes);
}

}  // namespace kernbench
