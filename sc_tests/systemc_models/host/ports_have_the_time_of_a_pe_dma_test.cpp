// SPDX-License-Identifier: Apache-2.0
// LT = AT = the formula = latency of a pe_dma at the same node minus its overhead, in every link and response mode.
#include <gtest/gtest.h>

#include "kernbench/systemc_models/host/port.h"
#include "system_support.h"
#include "tlm_support.h"

namespace kernbench::testing {
namespace {

constexpr const char* kSystem = R"(
ns_per_mm: 0.02
nodes:
  - {id: pe0.pe_dma, kind: pe_dma, attrs: {overhead_ns: 3.25}}
  - {id: pe1.pe_dma, kind: pe_dma}
  - {id: cpu, kind: port}
  - {id: r0, kind: router, attrs: {overhead_ns: 1.5}}
  - {id: r1, kind: router, attrs: {overhead_ns: 0.75, store_and_forward: true}}
  - {id: hbm, kind: hbm_ctrl, attrs: {overhead_ns: 10, efficiency: 0.8}}
  - {id: pc, kind: hbm_ctrl, impl: builtin.hbm_pc,
     attrs: {overhead_ns: 4, pseudo_channels: 4, interleave_bytes: 256, pc_bw_gbs: 16}}
  - {id: sram, kind: sram, attrs: {overhead_ns: 2}}
links:
  - {from: pe0.pe_dma, to: r0, distance_mm: 0.5, bw_gbs: 100}
  - {from: pe1.pe_dma, to: r0, distance_mm: 0.5, bw_gbs: 100}
  - {from: cpu, to: r0, distance_mm: 0.5, bw_gbs: 100}
  - {from: r0, to: r1, distance_mm: 7, bw_gbs: 50}
  - {from: r1, to: hbm, distance_mm: 1, bw_gbs: 64}
  - {from: r0, to: pc, distance_mm: 2, bw_gbs: 128}
  - {from: r1, to: sram, distance_mm: 3}
memories:
  - {node: hbm, space: hbm, base: 0, size: 1048576}
  - {node: pc, space: hbm, base: 0x100000, size: 1048576}
  - {node: sram, space: sram, base: 0x200000, size: 65536}
)";

struct Mode {
  const char* name;
  topology::Links links;
  topology::Response response;
};

class PortTime : public ::testing::TestWithParam<Mode> {};

/// The latency of a driver's request at the pe_dma, ns; called from a thread.
double pe_dma_latency(Platform& platform, const char* pe_dma, bool write, uint64_t address, uint64_t nbytes) {
  struct Done {
    sc_core::sc_event event;
    double latency_ns = 0;
  } done;
  MemoryRequest r;
  r.write = write;
  r.address = address;
  r.nbytes = nbytes;
  r.issue_ns = platform.timeline().now_ns();
  r.context = &done;
  r.done = [](MemoryRequest& request, const FabricTransaction& x) {
    static_cast<Done*>(request.context)->latency_ns = x.done_ns - x.issue_ns;
    static_cast<Done*>(request.context)->event.notify();
  };
  platform.request_port(platform.graph().index_of.at(pe_dma))->request(r);
  sc_core::wait(done.event);
  return done.latency_ns;
}

TEST_P(PortTime, is_that_of_a_pe_dma_less_its_overhead_by_either_transport) {
  topology::Overrides overrides;
  overrides.links = GetParam().links;
  overrides.response = GetParam().response;
  const auto platform = platform_from_text(kSystem, overrides);
  Port& port = platform->port("cpu");
  const uint32_t index = port.index();
  const bool routed = platform->system().responses_travel();
  const auto gap = [] { sc_core::wait(sc_core::sc_time(10, sc_core::SC_US)); };
  int compared = 0;

  const auto body = [&](AtInitiator& self) {
    for (const uint64_t base : {uint64_t{0x40}, uint64_t{0x100000}, uint64_t{0x200008}}) {
      for (const unsigned n : {1u, 4u, 64u, 300u, 4096u}) {
        for (const bool write : {false, true}) {
          const std::string what = (write ? "write " : "read ") + std::to_string(n) + " at " + std::to_string(base);
          const double dma = pe_dma_latency(*platform, "pe0.pe_dma", write, base, n) - (routed ? 2 : 1) * 3.25;
          gap();
          const double dma_without_overhead = pe_dma_latency(*platform, "pe1.pe_dma", write, base, n);
          gap();
          AtInitiator::Issued i;
          i.shape.command = write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND;
          i.shape.address = base;
          i.shape.data.resize(n);
          i.issue_delay_ns = 2.5;
          self.issue(i);
          self.drain();
          const double nonblocking = i.done_ns - i.begin_ns;
          gap();
          tlm::tlm_generic_payload p;
          i.shape.fill(p);
          sc_core::sc_time delay(1.25, sc_core::SC_NS);
          const double begin = now_ns() + 1.25;
          self.socket->b_transport(p, delay);
          const double blocking = now_ns() + delay.to_seconds() * 1e9 - begin;
          gap();
          const double formula = platform->system().mode().formula_ns(platform->routes().route(index, base, n, write),
                                                                      write, base, n, {1, n, 0});
          EXPECT_EQ(p.get_response_status(), tlm::TLM_OK_RESPONSE) << what;
          EXPECT_EQ(i.status, tlm::TLM_OK_RESPONSE) << what;
          EXPECT_NEAR(blocking, formula, 1e-5) << what;
          EXPECT_NEAR(nonblocking, formula, 1e-5) << what;
          EXPECT_NEAR(dma_without_overhead, formula, 1e-5) << what;
          // Flits: only the first flit of a response waits for the overhead, which may overlap with the others.
          if (platform->system().timing().links != Links::flit || write) {
            EXPECT_NEAR(dma, formula, 1e-5) << what;
          }
          ++compared;
        }
      }
    }
  };
  AtInitiator initiator("initiator", body);
  initiator.socket.bind(port.socket());
  sc_core::sc_start();
  EXPECT_TRUE(initiator.finished);
  EXPECT_EQ(compared, 30);
  EXPECT_EQ(initiator.pool.in_use(), 0u);
}

INSTANTIATE_TEST_SUITE_P(All, PortTime,
                         ::testing::Values(Mode{"ideal", topology::Links::ideal, topology::Response::ideal},
                                           Mode{"ideal_routed", topology::Links::ideal, topology::Response::routed},
                                           Mode{"cut_through", topology::Links::cut_through, topology::Response::ideal},
                                           Mode{"cut_through_routed", topology::Links::cut_through,
                                                topology::Response::routed},
                                           Mode{"flit", topology::Links::flit, topology::Response::routed}),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

}  // namespace
}  // namespace kernbench::testing
