// SPDX-License-Identifier: Apache-2.0
// Atomics of foreign initiators at ports (TLM_IGNORE_COMMAND with an AtomicExtension): memory contents and returned
// values against plain arithmetic; times; and responses to illegal atomics.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "kernbench/systemc_models/host/port.h"
#include "kernbench/systemc_models/protocol/atomic_extension.h"
#include "system_support.h"
#include "tlm_support.h"

namespace kernbench::testing::ports_do_atomics {
namespace {

constexpr uint64_t kBase = 0x1000, kBytes = 0x1000;

/// 2 ns of path (two wires and a router) and 4 of overhead; 64 GB/s.
constexpr const char* kSystem = R"(
ns_per_mm: 1.0
timing: {links: ideal, response: ideal}
nodes:
  - {id: cpu, kind: port}
  - {id: r0, kind: router, attrs: {overhead_ns: 1}}
  - {id: hbm, kind: hbm_ctrl, attrs: {overhead_ns: 4}}
links:
  - {from: cpu, to: r0, distance_mm: 0.5, bw_gbs: 64}
  - {from: r0, to: hbm, distance_mm: 0.5, bw_gbs: 64}
memories:
  - {node: hbm, space: hbm, base: 0x1000, size: 0x1000}
)";

/// Executes it with b_transport.
tlm::tlm_response_status atomic(LtInitiator& cpu, uint64_t address, AtomicExtension& e) {
  tlm::tlm_generic_payload p;
  p.set_command(tlm::TLM_IGNORE_COMMAND);
  p.set_address(address);
  p.set_data_length(static_cast<unsigned>(e.nbytes()));
  p.set_streaming_width(p.get_data_length());
  p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  p.set_extension(&e);
  sc_core::sc_time none;
  cpu.socket->b_transport(p, none);
  p.clear_extension(&e);
  return p.get_response_status();
}

template <class T>
std::vector<uint8_t> bytes_of(const std::vector<T>& values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

int32_t plainly(const std::string& op, int32_t old, int32_t operand, int32_t expected) {
  if (op == "add") return static_cast<int32_t>(static_cast<uint32_t>(old) + static_cast<uint32_t>(operand));
  if (op == "max") return std::max(old, operand);
  if (op == "min") return std::min(old, operand);
  if (op == "and") return old & operand;
  if (op == "or") return old | operand;
  if (op == "xor") return old ^ operand;
  if (op == "cas") return old == expected ? operand : old;
  return operand;
}

TEST(ports, do_what_10000_random_atomics_say) {
  const auto platform = platform_from_text(kSystem);
  std::mt19937_64 random(5);
  std::vector<int32_t> model(kBytes / 4, 0);
  int wrong = 0;
  const char* ops[] = {"add", "max", "min", "and", "or", "xor", "xchg", "cas"};
  LtInitiator cpu("cpu_model", [&](LtInitiator& self) {
    for (int i = 0; i < 10000 && wrong < 5; ++i) {
      AtomicExtension e;
      e.op = ops[random() % 8];
      e.returns_old = e.op == "cas" || random() % 3 != 0;
      std::vector<int32_t> operand, expected, old;
      const uint64_t first = random() % 1000;
      for (uint64_t ranges = 1 + random() % 4; ranges > 0; --ranges) {
        const uint64_t element = first + random() % 20;  // often a repeated element
        e.ranges.push_back({4 * (element - first), 4});
        operand.push_back(static_cast<int32_t>(random() % 7) - 3);
        expected.push_back(static_cast<int32_t>(random() % 3) - 1);
        old.push_back(model[element]);
        model[element] = plainly(e.op, model[element], operand.back(), expected.back());
      }
      e.operand = bytes_of(operand);
      if (e.op == "cas") e.expected = bytes_of(expected);
      const auto answer = atomic(self, kBase + 4 * first, e);
      const bool gives_old = e.old == (e.returns_old ? bytes_of(old) : std::vector<uint8_t>());
      if (answer == tlm::TLM_OK_RESPONSE && e.done && gives_old) continue;
      ++wrong;
      ADD_FAILURE() << "atomic " << i << ", " << e.op << ": answered " << answer;
    }
    Shape all;
    all.address = kBase;
    all.data.resize(kBytes);
    EXPECT_EQ(self.access(all), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(all.data, bytes_of(model));
  });
  cpu.socket.bind(platform->port("cpu").socket());
  sc_core::sc_start();
  EXPECT_TRUE(cpu.finished);
  EXPECT_EQ(wrong, 0);
}

TEST(ports, take_the_time_of_an_atomic_and_show_it_from_then_on) {
  const auto platform = platform_from_text(kSystem);
  LtInitiator cpu("cpu_model", [&](LtInitiator& self) {
    AtomicExtension e;
    e.op = "xchg";
    e.ranges = {{0, 256}};
    e.operand.assign(256, 7);
    EXPECT_EQ(atomic(self, kBase, e), tlm::TLM_OK_RESPONSE);
    EXPECT_NEAR(now_ns(), 2 + 4 + 2 * 256 / 64.0, 1e-6);  // its bytes are both read and written
    Shape seen;
    seen.address = kBase;
    seen.data.resize(4);
    EXPECT_EQ(self.debug(seen), 4u);
    EXPECT_EQ(seen.data, std::vector<uint8_t>(4, 7));
    e.op = "cas";
    e.expected.assign(256, 7);
    const double before = now_ns();
    EXPECT_EQ(atomic(self, kBase, e), tlm::TLM_OK_RESPONSE);
    EXPECT_NEAR(now_ns() - before, 2 + 4 + 3 * 256 / 64.0, 1e-6);  // the request carries both operands
  });
  cpu.socket.bind(platform->port("cpu").socket());
  sc_core::sc_start();
  EXPECT_TRUE(cpu.finished);
}

TEST(ports, refuse_what_is_no_atomic) {
  const auto platform = platform_from_text(kSystem);
  const auto port = &platform->port("cpu");
  LtInitiator cpu("cpu_model", [&](LtInitiator& self) {
    const auto refused = [&](AtomicExtension e, uint64_t address, tlm::tlm_response_status expected) {
      e.operand.resize(e.nbytes());
      EXPECT_EQ(atomic(self, address, e), expected) << e.op;
      EXPECT_FALSE(e.done);
    };
    const auto of = [](const char* op, DType t, std::vector<AtomicExtension::Range> ranges) {
      AtomicExtension e;
      e.op = op;
      e.dtype = t;
      e.ranges = std::move(ranges);
      return e;
    };
    refused(of("cas", DType::f32, {{0, 4}}), kBase, tlm::TLM_COMMAND_ERROR_RESPONSE);
    refused(of("cas", DType::i32, {{0, 4}}), kBase, tlm::TLM_COMMAND_ERROR_RESPONSE);  // expected is missing
    refused(of("and", DType::f32, {{0, 4}}), kBase, tlm::TLM_COMMAND_ERROR_RESPONSE);
    refused(of("add", DType::i8, {{0, 4}}), kBase, tlm::TLM_COMMAND_ERROR_RESPONSE);
    refused(of("add", DType::i32, {{2, 4}}), kBase, tlm::TLM_COMMAND_ERROR_RESPONSE);
    refused(of("add", DType::i32, {{0, 6}}), kBase, tlm::TLM_COMMAND_ERROR_RESPONSE);
    refused(of("add", DType::i32, {}), kBase, tlm::TLM_COMMAND_ERROR_RESPONSE);
    refused(of("add", DType::i32, {{0, 4}, {kBytes, 4}}), kBase, tlm::TLM_ADDRESS_ERROR_RESPONSE);
    refused(of("add", DType::i32, {{0, 4}}), kBase + kBytes, tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_NE(port->last_error().find("cpu: atomic add of i32 at"), std::string::npos) << port->last_error();
    EXPECT_EQ(now_ns(), 0);  // errors take no time
    tlm::tlm_generic_payload nothing;
    nothing.set_command(tlm::TLM_IGNORE_COMMAND);
    sc_core::sc_time none;
    self.socket->b_transport(nothing, none);
    EXPECT_EQ(nothing.get_response_status(), tlm::TLM_OK_RESPONSE);
  });
  cpu.socket.bind(platform->port("cpu").socket());
  sc_core::sc_start();
  EXPECT_TRUE(cpu.finished);
}

}  // namespace
}  // namespace kernbench::testing::ports_do_atomics
