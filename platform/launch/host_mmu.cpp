// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/launch/host_mmu.h"

#include <algorithm>

#include "kernbench/phase2/op/address_text.h"
#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/platform/launch/launch_host.h"
#include "kernbench/systemc_models/memory/system.h"
#include "kernbench/systemc_models/pe/pe_control.h"

namespace kernbench::launch {

HostResponse HostMmu::check(Machine& machine, const MmuMap& m) {
  const VirtualMapping& v = *m.mapping;
  if (v.begin() < kVirtualBase || v.nbytes == 0 || v.end() < v.begin())
    return error_response(HostError::bad_address, "map of " + v.to_string() + ": no range of virtual addresses");
  uint64_t end = 0;
  for (const Translation::Piece& p : v.range.pieces) {
    if (p.offset != end || p.nbytes == 0 || !machine.system().holds(v.space, p.addr, p.nbytes)) {
      return error_response(HostError::bad_address,
                            "map of " + v.to_string() + ": its piece " + range_text(p.addr, p.nbytes) +
                                " does not lie in one memory of space " + std::string(name_of(v.space)) +
                                " or does not follow the one before");
    }
    end += p.nbytes;
  }
  if (end != v.nbytes) {
    return error_response(HostError::bad_address, "map of " + v.to_string() + ": its pieces have " +
                                                      std::to_string(end) + " bytes, expected " +
                                                      std::to_string(v.nbytes));
  }
  return {};
}

HostResponse HostMmu::map_now(Machine& machine, const MmuMap& m, const std::vector<size_t>& pes) {
  HostResponse r = check(machine, m);
  MapBody body;
  body.mapping = m.mapping;
  for (size_t i = 0; r.ok() && i < pes.size(); ++i) r = body.map_at(machine.pes().pe(pes[i]), By::host);
  return r;
}

HostResponse HostMmu::unmap_now(Machine& machine, const MmuUnmap& m, const std::vector<size_t>& pes) {
  UnmapBody body;
  body.address = m.address;
  body.nbytes = m.nbytes;
  HostResponse r;
  for (size_t i = 0; r.ok() && i < pes.size(); ++i) r = body.unmap_at(machine.pes().pe(pes[i]), By::host);
  return r;
}

void HostMmu::map(const std::vector<MmuMap>& maps, const LaunchWay& way, Done done) {
  std::vector<Message> messages;
  for (const MmuMap& m : maps) {
    HostResponse r = check(host_.machine(), m);
    if (!r.ok()) {
      r.ids = m.ids;
      r.done_ns = host_.timeline().now_ns();
      done(r);
      return;
    }
    auto body = std::make_shared<MapBody>();
    body->mapping = m.mapping;
    messages.emplace_back(m.ids, std::move(body));
  }
  send(messages, way, std::move(done));
}

void HostMmu::unmap(const std::vector<MmuUnmap>& unmaps, const LaunchWay& way, Done done) {
  std::vector<Message> messages;
  for (const MmuUnmap& m : unmaps) {
    auto body = std::make_shared<UnmapBody>();
    body->address = m.address;
    body->nbytes = m.nbytes;
    messages.emplace_back(m.ids, std::move(body));
  }
  send(messages, way, std::move(done));
}

void HostMmu::send(const std::vector<Message>& messages, const LaunchWay& way, Done done) {
  if (messages.empty()) {
    HostResponse r;
    r.done_ns = host_.timeline().now_ns();
    done(r);
    return;
  }
  const auto batch = std::make_shared<Batch>();
  batch->open = messages.size();
  batch->done = std::move(done);
  const auto responded = [batch](const HostResponse& r) {
    const double done_ns = r.done_ns;
    if (batch->response.ok()) batch->response = r;
    batch->response.done_ns = std::max(batch->response.done_ns, done_ns);
    if (--batch->open == 0) batch->done(batch->response);
  };
  for (const auto& [ids, body] : messages) host_.send(ids, way, body, responded);
}

}  // namespace kernbench::launch
