// SPDX-License-Identifier: Apache-2.0
// Multicasts of foreign initiators at ports (a write with a MulticastExtension): bytes in every memory, the worked
// times of the rules (§19), and responses to illegal ones.
#include <gtest/gtest.h>

#include "kernbench/systemc_models/host/port.h"
#include "kernbench/systemc_models/protocol/multicast_extension.h"
#include "system_support.h"
#include "tlm_support.h"

namespace kernbench::testing::ports_multicast {
namespace {

constexpr uint64_t kStep = 0x1000;

std::string machine(const std::string& timing) {
  std::string text = "ns_per_mm: 1.0\ntiming: {" + timing + R"(, header_bytes: 16}
nodes:
  - {id: cpu, kind: port}
  - {id: r, kind: router, attrs: {overhead_ns: 5}}
)";
  for (const char* m : {"m1", "m2", "m3"})
    text += std::string("  - {id: ") + m + ", kind: hbm_ctrl, attrs: {overhead_ns: 10}}\n";
  text += "links:\n  - {from: cpu, to: r, distance_mm: 1, bw_gbs: 64}\n";
  for (const char* m : {"m1", "m2", "m3"})
    text += std::string("  - {from: r, to: ") + m + ", distance_mm: 1, bw_gbs: 64}\n";
  return text + R"(memories:
  - {node: m1, space: hbm, base: 0x1000, size: 0x1000}
  - {node: m2, space: hbm, base: 0x2000, size: 0x1000}
  - {node: m3, space: hbm, base: 0x3000, size: 0x1000}
)";
}

/// A write to all of `to` with b_transport.
tlm::tlm_response_status multicast(LtInitiator& cpu, Shape& write, std::vector<uint64_t> to, bool combined = false) {
  MulticastExtension e;
  e.destinations = std::move(to);
  e.combined = combined;
  write.command = tlm::TLM_WRITE_COMMAND;
  tlm::tlm_generic_payload p;
  write.fill(p);
  p.set_extension(&e);
  sc_core::sc_time none;
  cpu.socket->b_transport(p, none);
  p.clear_extension(&e);
  return p.get_response_status();
}

std::vector<uint8_t> bytes_at(LtInitiator& cpu, uint64_t address) {
  Shape seen;
  seen.address = address;
  seen.data.resize(512);
  EXPECT_EQ(cpu.debug(seen), 512u);
  return seen.data;
}

struct Case {
  const char* timing;
  bool combined;
  double done_ns;  ///< of multicast.md's worked case, without the pe_dma's overhead
};

class PortsMulticast : public ::testing::TestWithParam<Case> {};

TEST_P(PortsMulticast, to_three_memories_at_the_worked_times) {
  const auto platform = platform_from_text(machine(GetParam().timing));
  LtInitiator cpu("cpu_model", [&](LtInitiator& self) {
    Shape write;
    write.address = 0x1100;
    for (size_t i = 0; i < 512; ++i) write.data.push_back(static_cast<uint8_t>(i));
    EXPECT_EQ(multicast(self, write, {0x1100, 0x2200, 0x3000}, GetParam().combined), tlm::TLM_OK_RESPONSE);
    EXPECT_NEAR(now_ns(), GetParam().done_ns, 1e-6);
    for (const uint64_t address : {0x1100, 0x2200, 0x3000}) EXPECT_EQ(bytes_at(self, address), write.data) << address;
    // One destination is a write.
    const double before = now_ns();
    EXPECT_EQ(self.access(write), tlm::TLM_OK_RESPONSE);
    const double takes = now_ns() - before;
    EXPECT_EQ(multicast(self, write, {0x1100}, GetParam().combined), tlm::TLM_OK_RESPONSE);
    EXPECT_NEAR(now_ns() - before, 2 * takes, 1e-6);
    // Bytes that are not enabled stay at every destination.
    Shape part = write;
    part.enables = {0xff, 0x00};
    for (uint8_t& byte : part.data) byte = 0xaa;
    EXPECT_EQ(multicast(self, part, {0x1100, 0x2200}, GetParam().combined), tlm::TLM_OK_RESPONSE);
    for (size_t i = 0; i < 512; i += 2) part.data[i + 1] = write.data[i + 1];
    for (const uint64_t address : {0x1100, 0x2200}) EXPECT_EQ(bytes_at(self, address), part.data) << address;
    EXPECT_EQ(bytes_at(self, 0x3000), write.data);
  });
  cpu.socket.bind(platform->port("cpu").socket());
  sc_core::sc_start();
  EXPECT_TRUE(cpu.finished);
}

INSTANTIATE_TEST_SUITE_P(of, PortsMulticast,
                         ::testing::Values(Case{"links: ideal, response: ideal", false, 25},
                                           Case{"links: cut_through, response: routed", false, 32.5},
                                           Case{"links: cut_through, response: routed", true, 32},
                                           Case{"links: flit, flit_bytes: 256, response: routed", false, 41},
                                           Case{"links: flit, flit_bytes: 256, response: routed", true, 40.5}));

TEST(ports, refuse_what_is_no_multicast) {
  const auto platform = platform_from_text(machine("links: ideal, response: ideal"));
  LtInitiator cpu("cpu_model", [&](LtInitiator& self) {
    Shape write;
    write.address = kStep;
    write.data.assign(512, 1);
    const auto refused = [&](std::vector<uint64_t> to, tlm::tlm_response_status expected) {
      EXPECT_EQ(multicast(self, write, std::move(to)), expected);
      EXPECT_EQ(now_ns(), 0);
    };
    refused({}, tlm::TLM_COMMAND_ERROR_RESPONSE);
    refused({2 * kStep, kStep}, tlm::TLM_COMMAND_ERROR_RESPONSE);     // the first is another than the payload's
    refused({kStep, kStep + 1024}, tlm::TLM_ADDRESS_ERROR_RESPONSE);  // two in one memory
    refused({kStep, 9 * kStep}, tlm::TLM_ADDRESS_ERROR_RESPONSE);
    refused({kStep, 3 * kStep - 256}, tlm::TLM_ADDRESS_ERROR_RESPONSE);  // over the end
    write.streaming_width = 256;
    refused({kStep, 2 * kStep}, tlm::TLM_BURST_ERROR_RESPONSE);
    for (const uint64_t address : {kStep, 2 * kStep}) EXPECT_EQ(bytes_at(self, address), std::vector<uint8_t>(512));
  });
  cpu.socket.bind(platform->port("cpu").socket());
  sc_core::sc_start();
  EXPECT_TRUE(cpu.finished);
}

}  // namespace
}  // namespace kernbench::testing::ports_multicast
