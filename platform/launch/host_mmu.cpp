#include "kernbench/platform/launch/host_mmu.h"

#include <algorithm>
#include <cstdio>

#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/systemc_models/pe/pe_mmu.h"

namespace kernbench {

namespace {

HostResponse error(HostError code, const std::string& text) {
  HostResponse r;
  r.code = code;
  r.text = text;
  return r;
}

std::string range_text(uint64_t address, uint64_t nbytes) {
  char text[64];
  std::snprintf(text, sizeof text, "[0x%llx, 0x%llx)", static_cast<unsigned long long>(address),
                static_cast<unsigned long long>(address + nbytes));
  return text;
}

}  // namespace

HostResponse HostMmu::check(Machine& machine, const MmuMap& m) {
  const VirtualMapping& v = *m.mapping;
  if (v.begin() < kVirtualBase || v.nbytes == 0 || v.end() < v.begin())
    return error(HostError::bad_address, "map of " + v.to_string() + ": no range of virtual addresses");
  uint64_t end = 0;
  for (const Translation::Piece& p : v.range.pieces) {
    if (p.offset != end || p.nbytes == 0 || !machine.system().holds(v.space, p.addr, p.nbytes)) {
      return error(HostError::bad_address, "map of " + v.to_string() + ": its piece " + range_text(p.addr, p.nbytes) +
                                               " does not lie in one memory of space " + std::string(name_of(v.space)) +
                                               " or does not follow the one before");
    }
    end += p.nbytes;
  }
  if (end != v.nbytes) {
    return error(HostError::bad_address, "map of " + v.to_string() + ": its pieces have " + std::to_string(end) +
                                             " bytes, expected " + std::to_string(v.nbytes));
  }
  return {};
}

HostResponse HostMmu::map_at(Machine& machine, size_t pe, const MmuMap& m) {
  Pe& at = machine.pes().pe(pe);
  if (!at.mmu) return error(HostError::no_mmu, at.id + ": has no pe_mmu");
  if (const VirtualMapping* other = at.mmu->map(m.mapping))
    return error(HostError::overlap, at.id + ": " + m.mapping->to_string() + " overlaps " + other->to_string());
  return {};
}

HostResponse HostMmu::unmap_at(Machine& machine, size_t pe, const MmuUnmap& m) {
  Pe& at = machine.pes().pe(pe);
  const std::string what = "unmap of " + range_text(m.address, m.nbytes);
  if (!at.mmu) return error(HostError::no_mmu, at.id + ": has no pe_mmu");
  if (machine.pes().complete(pe) && machine.pes().cpu(pe).running())
    return error(HostError::pe_busy, at.id + ": " + what + " found it running a kernel");
  if (!at.mmu->unmap(m.address, m.nbytes)) {
    return error(HostError::not_mapped,
                 at.id + ": " + what + ": no mapping is that range; " + at.mmu->table().nearest(m.address));
  }
  return {};
}

HostResponse HostMmu::map_now(Machine& machine, const MmuMap& m, const std::vector<size_t>& pes) {
  HostResponse r = check(machine, m);
  for (size_t i = 0; r.ok() && i < pes.size(); ++i) r = map_at(machine, pes[i], m);
  return r;
}

void HostMmu::map(const std::vector<MmuMap>& messages, const LaunchTree& tree, const std::vector<size_t>& pes,
                  Done done) {
  std::vector<std::pair<MessageIds, Change>> changes;
  for (const MmuMap& m : messages) {
    HostResponse r = check(machine_, m);
    if (!r.ok()) {
      r.ids = m.ids;
      r.done_ns = machine_.timeline().now_ns();
      done(r);
      return;
    }
    changes.emplace_back(m.ids, [this, m](size_t pe) { return map_at(machine_, pe, m); });
  }
  send(changes, tree, pes, std::move(done));
}

void HostMmu::unmap(const std::vector<MmuUnmap>& messages, const LaunchTree& tree, const std::vector<size_t>& pes,
                    Done done) {
  std::vector<std::pair<MessageIds, Change>> changes;
  for (const MmuUnmap& m : messages)
    changes.emplace_back(m.ids, [this, m](size_t pe) { return unmap_at(machine_, pe, m); });
  send(changes, tree, pes, std::move(done));
}

void HostMmu::send(const std::vector<std::pair<MessageIds, Change>>& changes, const LaunchTree& tree,
                   const std::vector<size_t>& pes, Done done) {
  if (changes.empty()) {
    HostResponse r;
    r.done_ns = machine_.timeline().now_ns();
    done(r);
    return;
  }
  const auto batch = std::make_shared<Batch>();
  batch->open = changes.size();
  batch->done = std::move(done);
  const auto responded = [batch](const HostResponse& r) {
    const double done_ns = r.done_ns;
    if (batch->response.ok()) batch->response = r;
    batch->response.done_ns = std::max(batch->response.done_ns, done_ns);
    if (--batch->open == 0) batch->done(batch->response);
  };
  for (const auto& [ids, change] : changes) {
    const auto deliver = [this, pes, c = change](HostFanOut::Party& pe, size_t place) {
      const HostResponse r = c(pes[place]);
      fan_out_.answer(pe, r.code, r.text, machine_.timeline().now_ns());
    };
    fan_out_.send(ids, tree, deliver, responded);
  }
}

}  // namespace kernbench
