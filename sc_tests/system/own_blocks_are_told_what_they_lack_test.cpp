// SPDX-License-Identifier: Apache-2.0
// Is a user-defined class that lacks a requirement of its place reported in one line, before the run? All places of a
// PE, of a router and of a memory, and all possible omissions.
#include <gtest/gtest.h>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/fabric/fabric_initiator.h"
#include "kernbench/systemc_models/fabric/memory_target.h"
#include "kernbench/systemc_models/fabric/router.h"
#include "kernbench/systemc_models/pe/pe_block.h"
#include "kernbench/systemc_models/pe/pe_cpu.h"
#include "kernbench/systemc_models/pe/pe_dma.h"
#include "kernbench/systemc_models/pe/pe_mmu.h"
#include "kernbench/systemc_models/pe/pe_scheduler.h"
#include "kernbench/systemc_models/pe/pe_tcm.h"
#include "system_support.h"

namespace kernbench::testing {
namespace {

constexpr const char* kKinds[] = {"pe_cpu",  "pe_scheduler", "pe_dma", "pe_fetch_store", "pe_gemm",
                                  "pe_math", "pe_tcm",       "pe_mmu", "router",         "hbm_ctrl"};

/// A named node and nothing else.
class Bare : public Component {
 public:
  using Parameters = BlockParameters;
  Bare(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& p) : Component(name, config, p) {}
};

/// Has sockets towards the PE and the fabric, and no role.
class Roleless : public Component, public PeBlock, public FabricNode {
 public:
  using Parameters = BlockParameters;
  CommandTargetSocket command_in{"command_in", *static_cast<PeBlock*>(this)};
  CommandInitiatorSocket command_out{"command_out", *static_cast<PeBlock*>(this)};
  FabricTargetSocket in{"in", *static_cast<FabricNode*>(this)};
  FabricInitiatorSocket out{"out", *static_cast<FabricNode*>(this)};
  Roleless(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& p)
      : Component(name, config, p),
        PeBlock(static_cast<Component&>(*this)),
        FabricNode(static_cast<Component&>(*this)) {}
  PeBlock* pe_block() override { return this; }
  FabricNode* fabric_node() override { return this; }
  CommandTargetSocket* command_target() override { return &command_in; }
  CommandInitiatorSocket* command_initiator() override { return &command_out; }
  FabricTargetSocket* target_socket() override { return &in; }
  FabricInitiatorSocket* initiator_socket() override { return &out; }
};

template <class Parameters>
Parameters legal() {
  return {};
}
template <>
PeTcmParameters legal() {
  PeTcmParameters p;
  p.size_mb = p.read_bw_gbs = p.write_bw_gbs = 1;
  return p;
}

/// A built-in block that hides one of its sockets.
template <class Block>
class NoTarget : public Block {
 public:
  using Parameters = BlockParameters;
  NoTarget(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters&)
      : Block(name, config, legal<typename Block::Parameters>()) {}
  CommandTargetSocket* command_target() override { return nullptr; }
};
template <class Block>
class NoInitiator : public Block {
 public:
  using Parameters = BlockParameters;
  NoInitiator(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters&)
      : Block(name, config, legal<typename Block::Parameters>()) {}
  CommandInitiatorSocket* command_initiator() override { return nullptr; }
};

/// An engine without a stage.
class ServesNothing : public Engine {
 public:
  using Parameters = EngineParameters;
  using Engine::Engine;
};
/// An engine with its kind's stages that lacks sockets or its interface to the PE.
class ServesAll : public Engine {
 public:
  using Parameters = EngineParameters;
  ServesAll(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& p)
      : Engine(name, config, p) {
    for (int s = 0; s < kTileStages; ++s) add_unit(static_cast<Stage>(s), 1);
  }
};
class ServesDeaf : public ServesAll {
 public:
  using ServesAll::ServesAll;
  CommandTargetSocket* command_target() override { return nullptr; }
};
class ServesMute : public ServesAll {
 public:
  using ServesAll::ServesAll;
  CommandInitiatorSocket* command_initiator() override { return nullptr; }
};
class ServesNobody : public ServesAll {
 public:
  using ServesAll::ServesAll;
  PeBlock* pe_block() override { return nullptr; }
};
/// A DMA that the fabric cannot reach, or that cannot reach the fabric.
class DmaWithoutSocket : public PeDma {
 public:
  using PeDma::PeDma;
  FabricInitiatorSocket* initiator_socket() override { return nullptr; }
};

class RouterWithoutSocket : public Router {
 public:
  using Router::Router;
  FabricTargetSocket* target_socket() override { return nullptr; }
};
class MemoryWithoutSocket : public MemoryTarget {
 public:
  using Parameters = BlockParameters;
  using MemoryTarget::MemoryTarget;
  FabricTargetSocket* target_socket() override { return nullptr; }

 protected:
  Service take(FabricTransaction& x) override { return {x.time_ns, x.time_ns}; }
};

template <class Class>
void add(const std::string& name, const std::string& kind) {
  component_registry().add(spec_of<typename Class::Parameters>("test." + name, kind, "lacks something"),
                           make_component<Class>);
}
const bool added = [] {
  for (const char* kind : kKinds) {
    add<Bare>(std::string("bare_") + kind, kind);
    add<Roleless>(std::string("roleless_") + kind, kind);
  }
  for (const std::string kind : {"pe_dma", "pe_fetch_store", "pe_gemm", "pe_math"}) {
    add<ServesNothing>("nothing_" + kind, kind);
    add<ServesAll>("all_" + kind, kind);
    add<ServesDeaf>("deaf_" + kind, kind);
    add<ServesMute>("mute_" + kind, kind);
    add<ServesNobody>("nobody_" + kind, kind);
  }
  add<NoInitiator<PeCpu>>("mute_pe_cpu", "pe_cpu");
  add<NoTarget<PeScheduler>>("deaf_pe_scheduler", "pe_scheduler");
  add<NoInitiator<PeScheduler>>("mute_pe_scheduler", "pe_scheduler");
  add<NoTarget<PeTcm>>("deaf_pe_tcm", "pe_tcm");
  add<NoTarget<PeMmu>>("deaf_pe_mmu", "pe_mmu");
  add<DmaWithoutSocket>("socketless_pe_dma", "pe_dma");
  add<RouterWithoutSocket>("socketless_router", "router");
  add<MemoryWithoutSocket>("socketless_hbm_ctrl", "hbm_ctrl");
  return true;
}();

/// One PE with its memory; the node of `kind` is of class test.`name`_`kind`.
std::string machine_with(const std::string& name, const std::string& kind) {
  const std::pair<std::string, std::string> nodes[] = {
      {"pe_cpu", ""},
      {"pe_scheduler", ""},
      {"pe_dma", ""},
      {"pe_fetch_store", ""},
      {"pe_gemm", "macs_per_cycle: 1024, freq_ghz: 1"},
      {"pe_math", "lanes: 128, freq_ghz: 1"},
      {"pe_tcm", "size_mb: 2, reserved_mb: 1, read_bw_gbs: 512, write_bw_gbs: 512"},
      {"pe_mmu", ""},
      {"router", ""},
      {"hbm_ctrl", ""}};
  std::string yaml = "nodes:\n";
  for (const auto& [node, attrs] : nodes) {
    const std::string what = node == kind ? "impl: test." + name + "_" + kind : "attrs: {" + attrs + "}";
    yaml += "- {id: " + std::string(node.rfind("pe_", 0) == 0 ? "pe." : "") + node + ", kind: " + node + ", " + what +
            "}\n";
  }
  return yaml +
         "links:\n- {from: pe.pe_dma, to: router, bw_gbs: 64, distance_mm: 1}\n"
         "- {from: router, to: hbm_ctrl, bw_gbs: 64, distance_mm: 1}\n"
         "memories:\n- {node: hbm_ctrl, space: hbm, base: 0, size: 16777216}\n";
}

/// The report about a machine with that class, from a separate process, because SystemC elaborates once.
std::string told(const std::string& name, const std::string& kind) {
  return in_child([&]() -> std::string {
    try {
      platform_from_text(machine_with(name, kind));
    } catch (const InputError& e) {
      return e.what();
    }
    return "nothing";
  });
}

void expect_told(const std::string& name, const std::string& kind, const std::string& lacks) {
  const std::string id = (kind.rfind("pe_", 0) == 0 ? "pe." : "") + kind;
  EXPECT_EQ(told(name, kind), id + ": 'test." + name + "_" + kind + "' " + lacks);
}

std::string no_role(const std::string& kind) {
  const std::string role = kind == "pe_cpu"         ? "CpuRole"
                           : kind == "pe_scheduler" ? "SchedulerRole"
                           : kind == "pe_tcm"       ? "TcmRole"
                           : kind == "pe_mmu"       ? "MmuRole"
                                                    : "EngineRole";
  return "is no " + role + ", which a block of kind " + kind + " must be (systemc_models/pe/roles.h)";
}

TEST(OwnBlocks, that_are_nothing_but_components_are_told) {
  for (const std::string kind : kKinds) {
    if (kind.rfind("pe_", 0) == 0) expect_told("bare", kind, no_role(kind));
  }
  expect_told("bare", "router",
              "is no Router with both sockets, which a block of kind router must be "
              "(systemc_models/fabric/router.h), or say transit: false");
  expect_told("bare", "hbm_ctrl",
              "is no MemoryTarget with a target socket, which a block with a range of addresses must "
              "be (systemc_models/fabric/memory_target.h)");
}

TEST(OwnBlocks, with_sockets_and_without_their_role_are_told) {
  for (const std::string kind : kKinds) {
    if (kind.rfind("pe_", 0) == 0) expect_told("roleless", kind, no_role(kind));
  }
  expect_told("roleless", "router",
              "is no Router with both sockets, which a block of kind router must be "
              "(systemc_models/fabric/router.h), or say transit: false");
  expect_told("roleless", "hbm_ctrl",
              "is no MemoryTarget with a target socket, which a block with a range of addresses "
              "must be (systemc_models/fabric/memory_target.h)");
}

TEST(OwnBlocks, with_their_role_and_without_a_socket_are_told) {
  const auto no = [](const std::string& side, const std::string& edge, const std::string& kind) {
    return "has no " + side + " socket for the edge " + edge + ", which a block of kind " + kind +
           " must have (systemc_models/pe/pe_block.h)";
  };
  expect_told("mute", "pe_cpu", no("initiator", "pe.pe_cpu -> pe.pe_scheduler", "pe_cpu"));
  expect_told("deaf", "pe_scheduler", no("target", "pe.pe_cpu -> pe.pe_scheduler", "pe_scheduler"));
  expect_told("mute", "pe_scheduler", no("initiator", "pe.pe_scheduler -> pe.pe_dma", "pe_scheduler"));
  expect_told("deaf", "pe_tcm", no("target", "pe.pe_fetch_store -> pe.pe_tcm", "pe_tcm"));
  expect_told("deaf", "pe_mmu", no("target", "pe.pe_dma -> pe.pe_mmu", "pe_mmu"));
  expect_told("deaf", "pe_gemm", no("target", "pe.pe_scheduler -> pe.pe_gemm", "pe_gemm"));
  expect_told("mute", "pe_gemm", no("initiator", "pe.pe_gemm -> pe.pe_math", "pe_gemm"));
  expect_told("deaf", "pe_math", no("target", "pe.pe_scheduler -> pe.pe_math", "pe_math"));
  expect_told("mute", "pe_math", no("initiator", "pe.pe_math -> pe.pe_fetch_store", "pe_math"));
  expect_told("deaf", "pe_fetch_store", no("target", "pe.pe_scheduler -> pe.pe_fetch_store", "pe_fetch_store"));
  expect_told("mute", "pe_fetch_store", no("initiator", "pe.pe_fetch_store -> pe.pe_gemm", "pe_fetch_store"));
  const std::string no_fabric =
      "is no FabricNode with an initiator, its socket and a request port, which a block of kind "
      "pe_dma must be (systemc_models/fabric/fabric_node.h)";
  expect_told("all", "pe_dma", no_fabric);
  expect_told("socketless", "pe_dma", no_fabric);
  expect_told("socketless", "router",
              "is no Router with both sockets, which a block of kind router must be "
              "(systemc_models/fabric/router.h), or say transit: false");
  expect_told("socketless", "hbm_ctrl",
              "is no MemoryTarget with a target socket, which a block with a range of addresses "
              "must be (systemc_models/fabric/memory_target.h)");
}

TEST(OwnEngines, that_do_not_serve_their_stages_or_are_no_blocks_of_a_pe_are_told) {
  const std::pair<const char*, const char*> first_stage[] = {
      {"pe_dma", "DMA_READ"}, {"pe_fetch_store", "FETCH"}, {"pe_gemm", "GEMM"}, {"pe_math", "MATH"}};
  for (const auto& [kind, stage] : first_stage) {
    expect_told("nothing", kind,
                std::string("does not serve ") + stage + ", which a block of kind " + kind +
                    " must do (systemc_models/pe/pe_block.h)");
    expect_told(
        "nobody", kind,
        std::string("is no PeBlock, which a block of kind ") + kind + " must be (systemc_models/pe/pe_block.h)");
  }
}

TEST(OwnRouters, at_the_end_of_ways_need_not_be_routers) {
  std::string yaml = machine_with("roleless", "router");
  const std::string id = "{id: router, kind: router, ";
  yaml.replace(yaml.find(id), id.size(), "{id: r, kind: router}\n- {id: end, kind: router, transit: false, ");
  for (size_t at; (at = yaml.find("to: router")) != std::string::npos;) yaml.replace(at, 10, "to: r");
  for (size_t at; (at = yaml.find("from: router")) != std::string::npos;) yaml.replace(at, 12, "from: r");
  EXPECT_EQ(in_child([&]() -> std::string {
              const auto platform = platform_from_text(yaml);
              const auto results = run_traffic(*platform, {request(*platform, 0, "pe.pe_dma", "write", 0, 64)});
              return results[0].done_ns > 0 ? "done" : "not done";
            }),
            "done");
}

}  // namespace
}  // namespace kernbench::testing
