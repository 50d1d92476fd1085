// SPDX-License-Identifier: Apache-2.0
#include "written_out_latency.h"

#include <algorithm>
#include <vector>

#include "kernbench/platform/platform.h"
#include "kernbench/platform/topology/route/path_router.h"

namespace kernbench::testing {

namespace {

struct Way {
  std::vector<uint32_t> there, back;  // edges
  const topology::Node* memory = nullptr;
};

double over(double bytes, double bw) {
  return bw > 0 ? bytes / bw : 0;
}

bool stores(const topology::Node& n) {
  return n.attrs.boolean("store_and_forward", n.kind == "pcie_ep");
}

double overhead(const topology::Node& n) {
  return n.attrs.number("overhead_ns", 0);
}

/// The channel of the block of interleave_bytes with that offset.
size_t channel_of(const topology::Node& memory, uint64_t offset, size_t channels) {
  uint64_t block = offset / static_cast<uint64_t>(memory.attrs.integer("interleave_bytes", 1));
  if (channels < 2 || memory.attrs.string("hash", "none") == "none") return block % channels;
  uint64_t channel = 0;
  for (; block > 0; block /= channels) channel ^= block % channels;
  return channel;
}

/// Bytes of the complete bursts that [offset, offset + bytes) touches.
double in_bursts(const topology::Node& memory, uint64_t offset, uint64_t bytes) {
  const auto burst = static_cast<uint64_t>(memory.attrs.integer("burst_bytes", 1));
  return static_cast<double>(((offset + bytes - 1) / burst - offset / burst + 1) * burst);
}

/// Longest busy time of the memory's servers for `nbytes` from its first address.
double channel_ns(const topology::Node& memory, uint64_t nbytes) {
  std::vector<double> busy(static_cast<size_t>(memory.attrs.integer("pseudo_channels", 0)), 0.0);
  const auto interleave = static_cast<uint64_t>(memory.attrs.integer("interleave_bytes", 0));
  for (uint64_t at = 0; at < nbytes; at += interleave)
    busy[channel_of(memory, at, busy.size())] +=
        in_bursts(memory, at, std::min(interleave, nbytes - at)) / memory.attrs.number("pc_bw_gbs", 0);
  return *std::max_element(busy.begin(), busy.end());
}

double closed_form_ns(const topology::Graph& g, const Way& way, uint64_t nbytes, bool write) {
  const bool routed = g.timing.response == topology::Response::routed;
  const auto n = static_cast<double>(nbytes);
  const bool channels = way.memory->impl == "builtin.hbm_pc";
  double t = overhead(*way.memory), bottleneck = 0;
  for (size_t i = 0; i < way.there.size(); ++i) {
    const topology::Edge &there = g.edges[way.there[i]], &back = g.edges[way.back[i]];
    const topology::Node& from = g.nodes[there.from];
    t += overhead(from) * (routed ? 2 : 1);
    t += there.distance_mm * g.ns_per_mm + (routed ? back.distance_mm * g.ns_per_mm : 0);
    if (i > 0 && stores(from) && write) t += over(n, g.effective_bw(way.there[i - 1]));
    if (i > 0 && stores(from) && !write && routed) t += over(n, g.effective_bw(way.back[i]));
    const double bw = g.effective_bw(write ? way.there[i] : way.back[i]);
    if (bw > 0 && !(channels && i + 1 == way.there.size()))
      bottleneck = bottleneck == 0 ? bw : std::min(bottleneck, bw);
  }
  const double drain = over(n, bottleneck);
  return t + (channels ? std::max(drain, channel_ns(*way.memory, nbytes)) : drain);
}

/// Flits of one message: bytes, and the times at which they are ready to leave their position.
struct Flits {
  std::vector<double> bytes, ready;
};

Flits cut(const topology::Graph& g, uint64_t address, uint64_t nbytes) {
  Flits f;
  const uint64_t size = g.timing.flit_bytes;
  for (uint64_t at = address, end = address + nbytes; at < end;) {
    const uint64_t next = std::min(end, (at / size + 1) * size);
    f.bytes.push_back(static_cast<double>(next - at));
    at = next;
  }
  f.ready.assign(f.bytes.size(), 0);
  return f;
}

void pass_edge(const topology::Graph& g, uint32_t edge, Flits& f) {
  double free = 0;
  for (size_t i = 0; i < f.bytes.size(); ++i) {
    free = std::max(f.ready[i], free) + over(f.bytes[i], g.effective_bw(edge));
    f.ready[i] = free + g.edges[edge].distance_mm * g.ns_per_mm;
  }
}

void pass_node(const topology::Node& n, Flits& f, bool waits_for_all) {
  f.ready[0] = (waits_for_all ? f.ready.back() : f.ready[0]) + overhead(n);
  for (size_t i = 1; i < f.ready.size(); ++i) f.ready[i] = std::max(f.ready[i], f.ready[i - 1]);
}

/// From the first node of the path to the edge of the last one; the first node's overhead is in `f`.
void travel(const topology::Graph& g, const std::vector<uint32_t>& edges, Flits& f, bool data) {
  for (size_t i = 0; i < edges.size(); ++i) {
    const topology::Node& from = g.nodes[g.edges[edges[i]].from];
    if (i > 0) pass_node(from, f, data && stores(from));
    pass_edge(g, edges[i], f);
  }
}

double flits_ns(const topology::Graph& g, const Way& way, uint64_t base, uint64_t nbytes, bool write) {
  const Flits header{{static_cast<double>(g.timing.header_bytes)}, {0}};
  const topology::Node& initiator = g.nodes[g.edges[way.there[0]].from];
  Flits request = write ? cut(g, base, nbytes) : header;
  request.ready.assign(request.ready.size(), overhead(initiator));
  travel(g, way.there, request, write);
  pass_node(*way.memory, request, false);

  Flits data = cut(g, base, nbytes);
  if (write)
    data.ready = request.ready;
  else
    data.ready.assign(data.ready.size(), request.ready[0]);
  const bool channels = way.memory->impl == "builtin.hbm_pc";
  std::vector<double> free(static_cast<size_t>(channels ? way.memory->attrs.integer("pseudo_channels", 0) : 1), 0.0);
  const double bw =
      channels ? way.memory->attrs.number("pc_bw_gbs", 0) : g.effective_bw(write ? way.there.back() : way.back.back());
  uint64_t offset = 0;
  for (size_t i = 0; i < data.bytes.size(); ++i) {
    double& server = free[channel_of(*way.memory, offset, free.size())];
    const double moved =
        channels ? in_bursts(*way.memory, offset, static_cast<uint64_t>(data.bytes[i])) : data.bytes[i];
    server = std::max(server, data.ready[i]) + over(moved, bw);
    data.ready[i] = i > 0 ? std::max(server, data.ready[i - 1]) : server;
    offset += static_cast<uint64_t>(data.bytes[i]);
  }
  Flits response = write ? header : data;
  if (write) response.ready[0] = data.ready.back();
  travel(g, {way.back.rbegin(), way.back.rend()}, response, !write);
  pass_node(initiator, response, false);
  return response.ready.back();
}

}  // namespace

double written_out_ns(Platform& platform, const ProbeCase& c, uint64_t nbytes) {
  const topology::Graph& g = platform.graph();
  const topology::Memory& memory = g.memories[c.memory];
  Way way;
  way.there = platform.routes().paths().find_path(c.initiator, memory.node);
  way.back = platform.routes().paths().reversed(way.there);
  way.memory = &g.nodes[memory.node];
  if (g.timing.links == topology::Links::flit) return flits_ns(g, way, memory.base, nbytes, c.write);
  return closed_form_ns(g, way, nbytes, c.write);
}

}  // namespace kernbench::testing
