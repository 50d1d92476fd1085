// A compiled topology as SystemC modules: what a user's sc_main makes.
//
// Platform is an sc_module under any parent: its children are the nodes of the topology, with the hierarchy of their
// ids. It puts the machine (platform/elaborate) and the host's side (platform/launch) together; platform/job.h runs
// kernels on it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernbench/platform/elaborate/exposed_attributes.h"
#include "kernbench/platform/elaborate/foreign_node.h"
#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/platform/launch/host_directory.h"
#include "kernbench/platform/topology/build/compiler.h"
#include "kernbench/systemc_models/host/port.h"
#include "kernbench/systemc_models/memory/system.h"
#include "kernbench/systemc_models/memory/tlm_memory.h"
#include "kernbench/systemc_models/pe/tlm_engine.h"

namespace kernbench {

/// topology::compile_file with the blocks that are registered, and with values over the file's:
/// compile_file("system.yaml", {{"sip0.*.pe_gemm.freq_ghz", 1.2}, {"edge:mesh.bw_gbs", 512}}). The last one counts.
/// topology::TopologyError with every fault, a target that matches nothing among them.
topology::Graph compile_file(const std::string& topology_file, const std::vector<topology::Setting>& settings = {});

class Platform : public sc_core::sc_module {
 public:
  /// Compiles the topology file and elaborates it. topology::TopologyError with every fault of the file.
  Platform(sc_core::sc_module_name name, const std::string& topology_file);
  /// Elaborates the graph. std::runtime_error (one line) if an impl cannot be made.
  Platform(sc_core::sc_module_name name, topology::Graph graph);
  ~Platform() override;

  Machine& machine() { return machine_; }
  /// For all who need no more of it: a machine's header brings no SystemC.
  operator Machine&() { return machine_; }
  operator const Machine&() const { return machine_; }
  HostDirectory& hosts() { return hosts_; }

  // Parts of the machine.
  const topology::Graph& graph() const { return machine_.graph(); }
  System& system() { return machine_.system(); }
  Timeline& timeline() { return machine_.timeline(); }
  Routes& routes() { return machine_.routes(); }
  Pes& pes() { return machine_.pes(); }
  Component& component(uint32_t node) { return machine_.blocks().component(node); }
  RequestPort* request_port(uint32_t node) { return machine_.blocks().request_port(node); }

  /// The port of that id ("sip0.cube0.port0"), for its socket. InputError that names the ports there are, if it is
  /// none.
  Port& port(const std::string& id) { return machine_.blocks().block_named<Port>(id, "port"); }
  /// A memory that a foreign model stands in for, for its socket. InputError as above.
  TlmMemory& tlm_memory(const std::string& id) {
    return machine_.blocks().block_named<TlmMemory>(id, "memory of impl builtin.hbm_tlm or builtin.sram_tlm");
  }
  /// An engine that a foreign model stands in for, for its sockets. InputError as above.
  TlmEngine& tlm_engine(const std::string& id) {
    return machine_.blocks().block_named<TlmEngine>(id, "engine of impl builtin.pe_gemm_tlm or builtin.pe_math_tlm");
  }
  /// A node of kind foreign, whose block's sockets are to be bound. InputError as above.
  ForeignNode& foreign(const std::string& id) {
    return machine_.blocks().block_named<ForeignNode>(id, "node of kind foreign");
  }
  /// The host's side of a SIP's first pcie_ep. InputError if there is none.
  HostInterface& host(int sip = 0) { return hosts_.interface(sip); }

  /// Puts real bytes into one memory now, without time, also where a foreign model keeps them.
  void place(uint64_t address, const void* bytes, uint64_t nbytes) { system().place(address, bytes, nbytes); }
  /// Every attribute of every block becomes a sc_attribute of it (elaborate/exposed_attributes.h), for tools that look
  /// there; once is enough. Blocks have taken their parameters: a value that is changed there is an SC_ERROR
  /// "/kernbench/attribute" at the start of the simulation and where a job starts, a warning at the simulation's end.
  void expose_attributes();
  /// Does that check now.
  void check_attributes() const;

  /// Attaches an op log to every block (null: none). Not while anything runs.
  void attach_log(OpLogSink* sink) { machine_.attach_log(sink); }
  /// As long as the platform lives: what a simulation that goes on may still call.
  void keep(std::shared_ptr<void> left) { left_.push_back(std::move(left)); }

 private:
  void start_of_simulation() override { check_attributes(); }
  void end_of_simulation() override;

  Machine machine_;
  HostDirectory hosts_;
  std::unique_ptr<ExposedAttributes> exposed_;
  std::vector<std::shared_ptr<void>> left_;
};

}  // namespace kernbench
