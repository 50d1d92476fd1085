#include "kernbench/platform/elaborate/platform.h"

#include <algorithm>
#include <limits>
#include <map>
#include <stdexcept>

#include "kernbench/phase2/op/address_text.h"
#include "kernbench/platform/launch/device_allocators.h"
#include "kernbench/platform/launch/host_interface.h"
#include "kernbench/platform/topology/build/compiler.h"
#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/memory/direct_memory.h"
#include "kernbench/systemc_models/memory/memory_target.h"
#include "kernbench/systemc_models/pe/engine.h"
#include "kernbench/systemc_models/pe/pe_mmu.h"
#include "kernbench/systemc_models/pe/pe_scheduler.h"
#include "kernbench/systemc_models/pe/pe_tcm.h"

namespace kernbench {

/// A level of the hierarchy that is no node itself: sip0, sip0.cube0.
struct Platform::Scope : sc_core::sc_module {
  Scope(const sc_core::sc_module_name& name, const std::function<void()>& build_children) : sc_module(name) {
    build_children();
  }
};

struct Platform::TreeNode {
  std::string name;
  int node = -1;
  std::vector<std::unique_ptr<TreeNode>> children;
  std::unordered_map<std::string, TreeNode*> by_name;

  TreeNode& child(const std::string& segment) {
    TreeNode*& c = by_name[segment];
    if (!c) {
      children.push_back(std::make_unique<TreeNode>());
      c = children.back().get();
      c->name = segment;
    }
    return *c;
  }
};

Platform::Platform(sc_core::sc_module_name name, const std::string& topology_file)
    : Platform(name, topology::compile_file(topology_file, component_catalog())) {}

Platform::Platform(sc_core::sc_module_name name, topology::Graph graph) : sc_module(name), graph_(std::move(graph)) {
  timeline_ = std::make_unique<Timeline>("timeline");
  fabric_.timeline = timeline_.get();
  switch (graph_.timing.links) {
    case topology::Links::ideal:
      fabric_.links = LinkMode::ideal;
      break;
    case topology::Links::cut_through:
      fabric_.links = LinkMode::cut_through;
      break;
    case topology::Links::flit:
      fabric_.links = LinkMode::flit;
      break;
  }
  fabric_.response = graph_.timing.response == topology::Response::routed ? ResponseMode::routed : ResponseMode::ideal;
  fabric_.header_bytes = graph_.timing.header_bytes;
  fabric_.flit_bytes = graph_.timing.flit_bytes;
  router_ = std::make_unique<topology::PathRouter>(graph_);
  if (graph_.materialize_outputs) keep_pending_values();
  direct_memory_ = std::make_unique<DirectMemory>(*this);
  build_modules();
  build_links();
  build_pes();
  build_doors();
  last_routes_.resize(graph_.nodes.size());
  for (const auto& c : components_) {
    if (c->fabric_in() && c->fabric_out() && !c->forwards_plainly()) fabric_.direct = false;
  }
  find_feeders();
}

/// SystemC's registries look for what goes away from their ends: backwards, each module is found at once.
Platform::~Platform() {
  for (auto n = built_.rbegin(); n != built_.rend(); ++n) components_[*n].reset();
  while (!scopes_.empty()) scopes_.pop_back();
}

void Platform::build_modules() {
  components_.resize(graph_.nodes.size());
  TreeNode root;
  std::vector<TreeNode*> way = {&root};  // to the node before, most of which is that to the next
  for (uint32_t n = 0; n < graph_.nodes.size(); ++n) {
    const std::string& id = graph_.nodes[n].id;
    size_t depth = 0;
    for (size_t from = 0; from <= id.size(); ++depth) {
      const size_t dot = std::min(id.find('.', from), id.size());
      const std::string_view segment = std::string_view(id).substr(from, dot - from);
      if (depth + 1 == way.size() || way[depth + 1]->name != segment) {
        way.resize(depth + 1);
        way.push_back(&way[depth]->child(std::string(segment)));
      }
      from = dot + 1;
    }
    way.resize(depth + 1);
    way.back()->node = static_cast<int>(n);
  }
  build_children(root);
}

void Platform::build_children(const TreeNode& parent) {
  for (const auto& child : parent.children) {
    const TreeNode& c = *child;
    const auto grandchildren = [this, &c] { build_children(c); };
    if (c.node < 0) {
      scopes_.push_back(std::make_unique<Scope>(c.name.c_str(), grandchildren));
      continue;
    }
    const topology::Node& node = graph_.nodes[static_cast<size_t>(c.node)];
    const auto* make = component_registry().factory(node.impl);
    if (!make) throw std::runtime_error(node.id + ": no component is registered as '" + node.impl + "'");
    const auto& conflicts = component_registry().conflicts();
    if (std::find(conflicts.begin(), conflicts.end(), node.impl) != conflicts.end())
      throw std::runtime_error(node.id + ": more than one component is registered as '" + node.impl + "'");
    ComponentConfig config;
    config.id = node.id;
    config.index = static_cast<uint32_t>(c.node);
    config.attributes = &node.attrs;
    config.fabric = &fabric_;
    if (!c.children.empty()) config.build_children = grandchildren;
    components_[config.index] = (*make)(c.name.c_str(), config);
    built_.push_back(config.index);
  }
}

void Platform::build_links() {
  ports_.resize(graph_.edges.size());
  std::vector<uint16_t> in_ports(graph_.nodes.size(), 0);
  for (uint32_t n = 0; n < graph_.nodes.size(); ++n) {
    Component& from = *components_[n];
    std::vector<Link>& links = from.out_links();
    links.reserve(graph_.out_edges[n].size());  // routes keep pointers into it
    int out_port = 0;
    for (uint32_t e : graph_.out_edges[n]) {
      const topology::Edge& edge = graph_.edges[e];
      Component& to = *components_[edge.to];
      // Memories answer along the edge they were asked by, so their links have no sockets of their own.
      const bool from_end = !from.fabric_out() && from.fabric_in();
      const bool request = from.fabric_out() && to.fabric_in();
      const bool response = (from_end || from.fabric_out()) && (to.fabric_out() || to.fabric_in());
      if (!request && !response) continue;
      Link link;
      link.wire_ns = edge.distance_mm * graph_.ns_per_mm;
      link.bw_gbs = graph_.effective_bw(e);
      link.edge = e;
      links.push_back(link);
      ports_[e].link = &links.back();
      if (!request) continue;
      from.fabric_out()->bind(*to.fabric_in());
      ports_[e].out = out_port++;
      ports_[e].in = in_ports[edge.to]++;
    }
  }
  for (const topology::Memory& m : graph_.memories) {
    auto* memory = dynamic_cast<MemoryTarget*>(components_[m.node].get());
    if (!memory) throw std::runtime_error(graph_.nodes[m.node].id + ": its impl is no memory");
    memory->set_base(m.base);
  }
}

void Platform::attach_log(OpLogSink* sink) {
  logger_ = sink ? std::make_unique<OpLogger>(*sink) : nullptr;
  for (auto& c : components_) c->attach_logger(logger_.get());
}

void Platform::attach_history(CommandHistory& history) {
  for (size_t p = 0; p < pes_.size(); ++p) {
    if (!complete(p)) continue;
    pe_cpu(p).attach_history(&history);
    const auto in_order = [&](CommandType type, Stage stage) {
      for (Engine* e : engines(p)) {
        for (const Engine::Statistics& s : e->statistics()) {
          if (s.stage == stage && s.servers == 1) history.serves_in_order(pes_[p]->index, type);
        }
      }
    };
    in_order(CommandType::load, Stage::dma_read);
    in_order(CommandType::store, Stage::dma_write);
    in_order(CommandType::gemm, Stage::gemm);
    in_order(CommandType::math, Stage::math);
  }
}

void Platform::keep_pending_values(Isa isa) {
  if (!pending_values_) pending_values_ = std::make_unique<PendingValues>();
  pending_values_->use(isa);
}

std::shared_ptr<const OpDesc> Platform::read_from_outside(Space space, uint64_t addr, void* out, uint64_t nbytes) {
  PendingValues* values = graph_.materialize_outputs ? pending_values_.get() : nullptr;
  return kernbench::read_from_outside(image_, values, {space, kNoPe}, addr, out, nbytes);
}

const Route& Platform::route(uint32_t initiator, uint64_t address, uint64_t nbytes, bool write) {
  const Route* last = last_routes_[initiator];
  if (last && address - last->base < last->size && nbytes <= last->size - (address - last->base)) return *last;
  const topology::Memory* memory = graph_.memory_at(address);
  if (!memory || nbytes > memory->size || address - memory->base > memory->size - nbytes) {
    throw AccessError(graph_.nodes[initiator].id + ": " + (write ? "write to " : "read of ") + address_text(address) +
                      ", " + std::to_string(nbytes) + " bytes: " +
                      (memory ? "leaves " + graph_.nodes[memory->node].id + " [" + address_text(memory->base) + ", " +
                                    address_text(memory->base + memory->size) + ")"
                              : std::string("no memory is there")));
  }
  const uint32_t index = static_cast<uint32_t>(memory - graph_.memories.data());
  std::unique_ptr<Route>& r = routes_[uint64_t{initiator} << 32 | index];
  if (!r && routes_closed_) {
    throw std::logic_error(graph_.nodes[initiator].id + ": a route to " + graph_.nodes[memory->node].id +
                           " is asked for after the last");
  }
  if (!r) r = make_route(initiator, index);
  if (!r->returns && (!write || fabric_.response == ResponseMode::routed)) {
    try {
      router_->reversed(router_->find_path(initiator, memory->node));
    } catch (const topology::RouteError& e) {  // names the edge that has none back
      throw AccessError(graph_.nodes[initiator].id + ": no way back from " + graph_.nodes[memory->node].id + ": " +
                        e.what());
    }
  }
  if (r->returns) last_routes_[initiator] = r.get();
  return *r;
}

std::unique_ptr<Route> Platform::make_route(uint32_t initiator, uint32_t memory) {
  const topology::Memory& m = graph_.memories[memory];
  std::vector<uint32_t> path;
  try {
    path = router_->find_path(initiator, m.node);
  } catch (const topology::RouteError& e) {
    throw AccessError(e.what());
  }
  auto r = std::make_unique<Route>();
  r->target = static_cast<MemoryTarget*>(components_[m.node].get());
  r->base = m.base;
  r->size = m.size;
  r->direct = fabric_.direct;
  std::vector<uint32_t> back;
  try {
    back = router_->reversed(path);
    r->returns = true;
  } catch (const topology::RouteError&) {
  }
  const auto narrow = [](double& least, double bw) {
    if (bw > 0 && (least == 0 || bw < least)) least = bw;
  };
  for (size_t i = 0; i < path.size(); ++i) {
    const EdgePorts& edge = ports_[path[i]];
    Route::Hop hop;
    hop.fwd = edge.link;
    hop.out_port = static_cast<uint16_t>(edge.out);
    hop.in_port = static_cast<uint16_t>(edge.in);
    const bool last = i + 1 == path.size();
    const Component& from = *components_[graph_.edges[path[i]].from];
    hop.overhead_ns = from.overhead_ns();
    hop.store_and_forward = i > 0 && from.stores_and_forwards();
    r->stores |= hop.store_and_forward;
    r->request_overhead_ns += from.overhead_ns();
    r->request_wire_ns += edge.link->wire_ns;
    narrow(r->write_bw, edge.link->bw_gbs);
    if (!last) narrow(r->write_inner_bw, edge.link->bw_gbs);
    if (r->returns) {
      hop.back = ports_[back[i]].link;
      r->response_wire_ns += hop.back->wire_ns;
      narrow(r->read_bw, hop.back->bw_gbs);
      if (!last) narrow(r->read_inner_bw, hop.back->bw_gbs);
    }
    if (hop.store_and_forward) {
      r->write_store_forward_ns_per_byte += r->hops.back().fwd->transfer_ns(1);
      if (hop.back) r->read_store_forward_ns_per_byte += hop.back->transfer_ns(1);
    }
    r->hops.push_back(hop);
    for (double step : {hop.overhead_ns, hop.fwd->wire_ns}) {
      if (step > 0) r->request_steps.push_back(step);
    }
  }
  if (r->returns) {
    r->response_steps.push_back(r->hops.back().back->wire_ns);
    for (size_t node = r->hops.size() - 1; node > 0; --node) {
      r->response_steps.push_back(r->hops[node].overhead_ns);
      r->response_steps.push_back(r->hops[node - 1].back->wire_ns);
    }
  }
  return r;
}

std::string Platform::owner_of(Space space, uint64_t addr) const {
  const topology::Memory* m = graph_.memory_at(addr);
  return m && m->space == name_of(space) ? graph_.nodes[m->node].id : std::string();
}

bool Platform::holds(Space space, uint64_t addr, uint64_t nbytes) const {
  const topology::Memory* m = graph_.memory_at(addr);
  return m && m->space == name_of(space) && nbytes <= m->size && addr - m->base <= m->size - nbytes;
}

}  // namespace kernbench
