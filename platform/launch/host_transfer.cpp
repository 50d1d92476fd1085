// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/launch/host_transfer.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernbench/phase2/op/address_text.h"
#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/platform/launch/launch_host.h"
#include "kernbench/platform/topology/graph/naming.h"

namespace kernbench::launch {

HostTransfer::HostTransfer(LaunchHost& host, uint64_t chunk_bytes)
    : host_(host), machine_(host.machine()), chunk_bytes_(chunk_bytes), resolver_(machine_.graph()) {}

HostResponse HostTransfer::find_way(bool write, uint64_t address, uint64_t nbytes, RequestPort** port) {
  const topology::Graph& graph = machine_.graph();
  const topology::Memory* memory = graph.memory_at(address);
  if (!memory) {
    return error_response(HostError::bad_address, std::string("host: ") + (write ? "write to " : "read of ") +
                                                      address_text(address) + ": no memory is there");
  }
  const std::string& id = graph.nodes[memory->node].id;
  try {
    const uint32_t endpoint = resolver_.find_pcie_ep(topology::naming::owner_of(id).sip);
    *port = host_.requests_to(endpoint);
    if (!*port) throw AccessError(graph.nodes[endpoint].id + ": its impl issues no requests");
    machine_.routes().route(endpoint, address, nbytes, write);
  } catch (const topology::ResolveError&) {
    return error_response(HostError::no_path, id + ": no pcie_ep in its SIP's io0");
  } catch (const AccessError& e) {
    const bool fits = nbytes <= memory->size && address - memory->base <= memory->size - nbytes;
    return error_response(fits ? HostError::no_path : HostError::bad_address, e.what());
  }
  return {};
}

HostResponse HostTransfer::check(const MemoryWrite& m) {
  RequestPort* port = nullptr;
  return find_way(true, m.address, m.nbytes, &port);
}

HostResponse HostTransfer::check(const MemoryRead& m) {
  RequestPort* port = nullptr;
  return find_way(false, m.address, m.nbytes, &port);
}

void HostTransfer::write(const std::vector<MemoryWrite>& messages, Done done) {
  Transfer& t = begin(std::move(done));
  for (const MemoryWrite& m : messages) add(t, true, m.ids, m.address, m.nbytes, m.data);
  issue_soon(t);
}

void HostTransfer::read(const std::vector<MemoryRead>& messages, Done done) {
  Transfer& t = begin(std::move(done));
  for (const MemoryRead& m : messages) add(t, false, m.ids, m.address, m.nbytes, nullptr);
  issue_soon(t);
}

HostTransfer::Transfer& HostTransfer::begin(Done done) {
  transfers_.emplace_back();
  Transfer& t = transfers_.back();
  t.owner = this;
  t.done = std::move(done);
  t.response.ids.correlation = ++last_correlation_;
  return t;
}

void HostTransfer::add(Transfer& t, bool write, MessageIds ids, uint64_t address, uint64_t nbytes,
                       const uint8_t* data) {
  if (!t.response.ok() || nbytes == 0) return;
  RequestPort* port = nullptr;
  const HostResponse r = find_way(write, address, nbytes, &port);
  if (ids.correlation != 0) t.response.ids.correlation = ids.correlation;
  if (!r.ok()) {
    t.response.ids.request = ids.request;
    t.response.code = r.code;
    t.response.text = r.text;
    t.chunks.clear();
    return;
  }
  uint64_t n = 0;
  for (uint64_t at = 0; at < nbytes; at += n) {
    n = std::min(chunk_bytes_, nbytes - at);
    Chunk c;
    c.request.write = write;
    c.request.address = address + at;
    c.request.nbytes = n;
    if (data) c.request.data = data + at;
    c.port = port;
    t.chunks.push_back(c);
  }
}

void HostTransfer::issue_soon(Transfer& t) {
  t.open = t.chunks.size();
  for (Chunk& c : t.chunks) {
    c.transfer = &t;
    c.request.part_of = &t;
    c.request.done = &HostTransfer::chunk_done;
    c.request.context = &c;
  }
  // As a timeline entry, because nothing can be sent before the simulation starts.
  machine_.timeline().at(machine_.timeline().now_ns(), Order(Order::kEngines, 0, 0),
                         call<&HostTransfer::issue>(*this, t));
}

void HostTransfer::issue(Transfer& t) {
  if (t.chunks.empty()) return end(t);
  const double now = machine_.timeline().now_ns();
  uint64_t nbytes = 0;
  for (const Chunk& c : t.chunks) nbytes += c.request.nbytes;
  for (HostObserver* o : machine_.host_observers())
    o->transfer_started(&t, t.chunks.front().request.write, nbytes, now);
  for (Chunk& c : t.chunks) {
    c.request.issue_ns = now;
    c.port->request(c.request);
  }
}

void HostTransfer::chunk_done(MemoryRequest& request, const FabricTransaction& x) {
  Transfer& t = *static_cast<Chunk*>(request.context)->transfer;
  if (x.payload.get_response_status() < tlm::TLM_INCOMPLETE_RESPONSE && t.response.ok()) {
    t.response.code = HostError::memory_error;
    t.response.text = fmt::format("host: {} at {:#x}: the memory answered {}", x.write ? "write" : "read", x.address,
                                  x.payload.get_response_string());
  }
  if (--t.open > 0) return;
  Machine& machine = t.owner->machine_;
  for (HostObserver* o : machine.host_observers()) o->transfer_done(&t, machine.timeline().now_ns());
  t.owner->end(t);
}

void HostTransfer::end(Transfer& t) {
  t.response.done_ns = machine_.timeline().now_ns();
  t.done(t.response);
  transfers_.remove_if([&t](const Transfer& x) { return &x == &t; });
}

}  // namespace kernbench::launch
