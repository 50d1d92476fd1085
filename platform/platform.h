// SPDX-License-Identifier: Apache-2.0
// A compiled topology as SystemC modules, for a user's sc_main.
//
// Platform is an sc_module under any parent. Its children are the nodes of the topology, with the hierarchy of their
// ids. It contains the machine (platform/elaborate) and the host (platform/launch); platform/job.h runs kernels on it.
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

/// topology::compile_file with the registered blocks, and with settings that override the file:
/// compile_file("system.yaml", {{"sip0.*.pe_gemm.freq_ghz", 1.2}, {"edge:mesh.bw_gbs", 512}}). The last setting counts.
/// topology::TopologyError with all errors, including targets without a match.
topology::Graph compile_file(const std::string& topology_file, const std::vector<topology::Setting>& settings = {});

class Platform : public sc_core::sc_module {
 public:
  /// Compiles the topology file and elaborates it. topology::TopologyError with all errors of the file.
  Platform(sc_core::sc_module_name name, const std::string& topology_file);
  /// Elaborates the graph. std::runtime_error (one line) if an impl cannot be created.
  Platform(sc_core::sc_module_name name, topology::Graph graph);
  ~Platform() override;

  Machine& machine() { return machine_; }
  /// For users that need only the machine, whose header includes no SystemC.
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

  /// The port with that id ("sip0.cube0.port0"), for its socket. InputError that lists the ports if there is none.
  Port& port(const std::string& id) { return machine_.blocks().block_named<Port>(id, "port"); }
  /// A memory with a foreign model, for its socket. InputError as above.
  TlmMemory& tlm_memory(const std::string& id) {
    return machine_.blocks().block_named<TlmMemory>(id, "memory of impl builtin.hbm_tlm or builtin.sram_tlm");
  }
  /// An engine with a foreign model, for its sockets. InputError as above.
  TlmEngine& tlm_engine(const std::string& id) {
    return machine_.blocks().block_named<TlmEngine>(id, "engine of impl builtin.pe_gemm_tlm or builtin.pe_math_tlm");
  }
  /// A node of kind foreign, whose block's sockets must be bound. InputError as above.
  ForeignNode& foreign(const std::string& id) {
    return machine_.blocks().block_named<ForeignNode>(id, "node of kind foreign");
  }
  /// The host interface of a SIP's first pcie_ep. InputError if there is none.
  HostInterface& host(int sip = 0) { return hosts_.interface(sip); }

  /// Writes real bytes into one memory now, without time, also into a foreign model.
  void place(uint64_t address, const void* bytes, uint64_t nbytes) { system().place(address, bytes, nbytes); }
  /// Resets a PE, a cube, a SIP, or all (""), at the present (launch/reset.h). InputError if it is no such part.
  void reset(const std::string& id);
  /// Makes each attribute of each block a sc_attribute of the block (elaborate/exposed_attributes.h), for external
  /// tools; calling once is enough. Blocks read their parameters at construction, so a changed value is an SC_ERROR
  /// "/kernbench/attribute" at the start of the simulation and of a job, and a warning at the end.
  void expose_attributes();
  /// Checks the attributes now.
  void check_attributes() const;

  /// Attaches an op log to all blocks (null: none). Not during a simulation.
  void attach_log(OpLogSink* sink) { machine_.attach_log(sink); }
  /// Keeps an object for the platform's lifetime, so that a continuing simulation can use it.
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
