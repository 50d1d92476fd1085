// A compiled topology as SystemC modules.
//
// Platform is an sc_module under any parent: its children are the nodes of the topology, with the hierarchy of their
// ids. It builds the blocks by the names that `impl:` gives, binds their sockets along the edges, resolves routes, and
// owns what the blocks share: the timeline, the fabric's modes, the memory image, the PEs.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernbench/phase2/memory/memory_image.h"
#include "kernbench/platform/topology/graph/graph.h"
#include "kernbench/platform/topology/route/path_router.h"
#include "kernbench/systemc_models/fabric/fabric_initiator.h"
#include "kernbench/systemc_models/pe/pe_cpu.h"

namespace kernbench {

class DirectMemory;
class Engine;
class DeviceAllocators;
class HostInterface;
class MemoryTarget;
class Port;
class TlmMemory;

class Platform : public sc_core::sc_module, public RouteSource, public SystemMemory {
 public:
  /// Compiles the topology file and elaborates it. topology::TopologyError with every fault of the file.
  Platform(sc_core::sc_module_name name, const std::string& topology_file);
  /// Elaborates the graph. std::runtime_error (one line) if an impl cannot be made.
  Platform(sc_core::sc_module_name name, topology::Graph graph);
  ~Platform() override;

  const topology::Graph& graph() const { return graph_; }
  Timeline& timeline() { return *timeline_; }
  Fabric& fabric() { return fabric_; }

  Component& component(uint32_t node) { return *components_[node]; }
  /// The node as an initiator that takes requests, or null (pe_dma, m_cpu, pcie_ep can).
  RequestPort* request_port(uint32_t node) { return request_ports_[node]; }

  /// The port of that id ("sip0.cube0.port0"), for its socket. InputError that names the ports there are, if it is
  /// none.
  Port& port(const std::string& id);
  /// A memory that a foreign model stands in for, for its socket. InputError as above.
  TlmMemory& tlm_memory(const std::string& id);
  /// The host's side of a SIP's first pcie_ep. InputError if there is none.
  HostInterface& host(int sip = 0);

  /// Puts real bytes into one memory now, without time, also where a foreign model keeps them.
  void place(uint64_t address, const void* bytes, uint64_t nbytes);
  /// The host's allocators, shared by all that are deployed on the platform.
  DeviceAllocators& allocators();

  /// PEs with a pe_dma, in compiled order (as graph().pes).
  size_t pe_count() const { return pes_.size(); }
  Pe& pe(size_t index) { return *pes_[index]; }
  /// True if all blocks that a kernel needs are there.
  bool complete(size_t pe) const;
  /// "sip0.cube0.pe0.pe_gemm: not there" for an incomplete PE.
  std::string missing_blocks(size_t pe) const;
  PeCpu& pe_cpu(size_t pe);
  std::vector<Engine*> engines(size_t pe) const;
  /// The nearest memory of kind hbm to a PE's DMA, as index into graph().memories; its own slice in the usual systems.
  size_t local_memory(size_t pe);

  /// Attaches an op log to every block (null: none). Before the simulation starts.
  void attach_log(OpLogSink* sink);

  /// Tells the history of all kernels' commands and waits; before the simulation starts.
  void attach_history(CommandHistory& history);

  /// Keeps from now on what pending values are made of, so that tl.materialize works; before the simulation starts. On
  /// by itself with the topology's `materialize: outputs`. `isa`: whose bits are given.
  void keep_pending_values(Isa isa = best_isa());
  /// What someone outside the kernels (a TLM target, transport_dbg, the host) reads from memory at this moment: fills
  /// `out` and returns null; bytes that nothing wrote are 0. Where a byte is pending and the topology does not say
  /// `materialize: outputs`, leaves `out` alone and returns the op that will make it; the answer is then
  /// TLM_GENERIC_ERROR_RESPONSE. With that option pending bytes are computed first, by as much of Phase 2 as they need.
  /// PendingValueError (one line) where that fails. Not from a kernel's thread: evaluation needs an ordinary stack.
  std::shared_ptr<const OpDesc> read_from_outside(Space, uint64_t addr, void* out, uint64_t nbytes) override;

  /// Shortest path as the contract says, with both directions; errors as topology::RouteError.
  topology::PathRouter& router() { return *router_; }

  /// Says that no route will be asked for that has not been asked for yet: route() throws std::logic_error for another.
  /// Who knows all traffic beforehand tells so: more can then be decided ahead of time. Before the simulation starts.
  void close_routes();
  /// Makes every transaction walk the sockets of its route; the times are the same. Before the first route.
  void walk_sockets();

  // RouteSource, SystemMemory.
  const Route& route(uint32_t initiator, uint64_t address, uint64_t nbytes, bool write) override;
  MemoryImage& image() override { return image_; }
  PendingValues* pending_values() override { return pending_values_.get(); }
  std::string owner_of(Space, uint64_t addr) const override;
  bool holds(Space, uint64_t addr, uint64_t nbytes) const override;
  MemoryWindow window_at(uint64_t addr) const override;
  ForeignStore* store_of(uint32_t node) override;
  void write_as_memory(uint64_t addr, const void* bytes, uint64_t nbytes) override;
  /// Pages that foreign initiators have pointers to.
  DirectMemory& direct_memory() { return *direct_memory_; }

 private:
  struct Scope;
  struct TreeNode;
  void build_modules();
  void build_children(const TreeNode&);
  void build_links();
  void build_pes();
  void build_doors();
  void find_feeders();
  void set_feeder(size_t edge, const void* feeder);
  void find_whole_trains();
  std::unique_ptr<Route> make_route(uint32_t initiator, uint32_t memory);

  topology::Graph graph_;
  Fabric fabric_;
  std::unique_ptr<Timeline> timeline_;
  std::unique_ptr<topology::PathRouter> router_;
  MemoryImage image_;
  std::unique_ptr<PendingValues> pending_values_;  ///< null: not kept
  std::unique_ptr<DirectMemory> direct_memory_;
  std::unique_ptr<OpLogger> logger_;
  std::unique_ptr<DeviceAllocators> allocators_;         ///< null until somebody asks
  std::map<int, std::unique_ptr<HostInterface>> hosts_;  ///< by SIP

  std::vector<std::unique_ptr<sc_core::sc_module>> scopes_;
  std::vector<std::unique_ptr<Component>> components_;  // by node
  std::vector<uint32_t> built_;                         // nodes in the order in which their modules were made
  std::vector<RequestPort*> request_ports_;             // by node; null where it takes no requests
  std::vector<std::unique_ptr<Pe>> pes_;
  struct EdgePorts {
    int out = -1, in = -1;  // numbers of the bindings at both ends; -1: not an edge of the fabric
    Link* link = nullptr;
  };
  std::vector<EdgePorts> ports_;                                 // by edge
  std::unordered_map<uint64_t, std::unique_ptr<Route>> routes_;  // initiator << 32 | memory
  std::vector<const Route*> last_routes_;                        // by initiator: the last that was asked for
  bool routes_closed_ = false;
};

}  // namespace kernbench
