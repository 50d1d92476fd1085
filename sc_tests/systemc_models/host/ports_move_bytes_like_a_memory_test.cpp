// SPDX-License-Identifier: Apache-2.0
// Writes and reads of foreign initiators through ports, against an array of bytes, in every legal form; and the
// responses to illegal forms.
#include <gtest/gtest.h>

#include <cstring>

#include "kernbench/phase2/log/memory_op_log.h"
#include "kernbench/phase2/log/op_record.h"
#include "kernbench/systemc_models/host/port.h"
#include "system_support.h"
#include "tlm_support.h"

namespace kernbench::testing::ports_move_bytes_like_a_memory {
namespace {

constexpr uint64_t kHbm = 0x1000, kSram = 0x9000;  // 32 KiB and 4 KiB, adjacent
constexpr uint64_t kHbmBytes = 0x8000, kSramBytes = 0x1000;

std::string two_memories(const std::string& port_attributes) {
  return R"(
nodes:
  - {id: cpu, kind: port, attrs: {)" +
         port_attributes + R"(}}
  - {id: other, kind: port}
  - {id: r0, kind: router, attrs: {overhead_ns: 1}}
  - {id: hbm, kind: hbm_ctrl, impl: builtin.hbm_pc,
     attrs: {overhead_ns: 4, pseudo_channels: 4, interleave_bytes: 256, pc_bw_gbs: 16}}
  - {id: sram, kind: sram, attrs: {overhead_ns: 2}}
links:
  - {from: cpu, to: r0, distance_mm: 0.5, bw_gbs: 100}
  - {from: other, to: r0, distance_mm: 0.5, bw_gbs: 100}
  - {from: r0, to: hbm, distance_mm: 1, bw_gbs: 64}
  - {from: r0, to: sram, distance_mm: 3, bw_gbs: 64}
memories:
  - {node: hbm, space: hbm, base: 0x1000, size: 0x8000}
  - {node: sram, space: sram, base: 0x9000, size: 0x1000}
)";
}

/// The effect of a payload on an array of bytes by the standard.
class ByteArray {
 public:
  ByteArray() : bytes_(kHbmBytes + kSramBytes, 0) {}
  void write(const Shape& s) {
    for_each_beat(s, [&](size_t i, uint64_t at) { bytes_[at - kHbm] = s.data[i]; });
  }
  void read(Shape& s) const {
    for_each_beat(s, [&](size_t i, uint64_t at) { s.data[i] = bytes_[at - kHbm]; });
  }

 private:
  template <class Visit>
  static void for_each_beat(const Shape& s, Visit visit) {
    const size_t width = s.streaming_width ? s.streaming_width : s.data.size();
    for (size_t i = 0; i < s.data.size(); ++i) {
      if (s.enables.empty() || s.enables[i % s.enables.size()]) visit(i, s.address + i % width);
    }
  }
  std::vector<uint8_t> bytes_;
};

Shape random_shape(std::mt19937_64& random) {
  const auto below = [&](uint64_t n) { return random() % n; };
  Shape s;
  s.command = below(2) ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND;
  const uint64_t sizes[] = {1 + below(8), 1 + below(64), 4, 8, 1 + below(600)};
  s.data.resize(sizes[below(5)]);
  for (uint8_t& b : s.data) b = static_cast<uint8_t>(random());
  uint64_t span = s.data.size();
  if (below(4) == 0) {
    s.streaming_width = 1 + static_cast<unsigned>(below(2 * s.data.size()));
    span = std::min<uint64_t>(span, s.streaming_width);
  }
  if (below(3) == 0) {
    s.enables.resize(1 + below(s.data.size() + 3));
    for (uint8_t& e : s.enables) e = below(2) ? TLM_BYTE_ENABLED : TLM_BYTE_DISABLED;
  }
  const bool sram = below(4) == 0;
  s.address = sram ? kSram + below(kSramBytes - span + 1) : kHbm + below(kHbmBytes - span + 1);
  return s;
}

TEST(ports, hold_what_an_array_of_bytes_would_after_100000_random_accesses) {
  const auto platform = platform_from_text(two_memories("outstanding: 3, bus_width: 32"));
  std::mt19937_64 random(7);
  ByteArray model;
  int wrong = 0, accesses = 0;
  LtInitiator cpu("cpu_model", [&](LtInitiator& self) {
    for (; accesses < 100000 && wrong < 5; ++accesses) {
      Shape s = random_shape(random);
      Shape expected = s;
      const bool debug = random() % 8 == 0 && s.enables.empty() && s.streaming_width == 0;
      sc_core::sc_time delay(random() % 4, sc_core::SC_NS);
      if (debug) {
        wrong += self.debug(s) != s.data.size();
      } else {
        wrong += self.access(s, &delay) != tlm::TLM_OK_RESPONSE;
      }
      if (s.command == tlm::TLM_WRITE_COMMAND) {
        model.write(expected);
      } else {
        model.read(expected);
      }
      if (s.data != expected.data) {
        ++wrong;
        ADD_FAILURE() << "access " << accesses << " at " << s.address << ", " << s.data.size() << " bytes, width "
                      << s.streaming_width << ", " << s.enables.size() << " enables";
      }
    }
  });
  cpu.socket.bind(platform->port("cpu").socket());
  sc_core::sc_start();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(accesses, 100000);
}

TEST(ports, answer_random_overlapping_requests_of_an_at_initiator_as_the_memory_served_them) {
  const auto platform = platform_from_text(two_memories("outstanding: 3"));
  std::mt19937_64 random(11);
  ByteArray model;
  size_t served = 0;
  AtInitiator dma("dma_model", [&](AtInitiator& self) {
    std::deque<AtInitiator::Issued> all;
    for (int round = 0; round < 400; ++round) {
      all.clear();
      // Writes to separate places, then, after all are done, reads of them: any order of service gives the same result.
      for (const bool write : {true, false}) {
        for (uint64_t i = 0; i < 12; ++i) {
          all.emplace_back();
          AtInitiator::Issued& x = all.back();
          x.shape = random_shape(random);
          x.shape.streaming_width = 0;
          x.shape.data.resize(1 + random() % 300);
          x.shape.address = kHbm + 0x400 * i + random() % 0x200;
          x.shape.command = write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND;
          x.ending = static_cast<AtInitiator::Ending>(random() % 3);
          x.end_delay_ns = static_cast<double>(random() % 3);
          x.issue_delay_ns = static_cast<double>(random() % 4);
          Shape expected = x.shape;
          if (write) model.write(x.shape);
          self.issue(x);
          if (random() % 3 == 0) sc_core::wait(sc_core::sc_time(random() % 20, sc_core::SC_NS));
        }
        self.drain();
      }
      for (AtInitiator::Issued& x : all) {
        EXPECT_TRUE(x.ended);
        EXPECT_EQ(x.status, tlm::TLM_OK_RESPONSE);
        EXPECT_GE(x.end_req_ns, x.begin_ns - 1e-6);
        EXPECT_GE(x.done_ns, x.end_req_ns);
        Shape expected = x.shape;
        if (x.shape.command == tlm::TLM_READ_COMMAND) {
          model.read(expected);
          EXPECT_EQ(x.shape.data, expected.data);
        }
        ++served;
      }
    }
  });
  dma.socket.bind(platform->port("cpu").socket());
  sc_core::sc_start();
  EXPECT_TRUE(dma.finished);
  EXPECT_EQ(served, 400u * 24);
  EXPECT_EQ(dma.pool.in_use(), 0u);
  EXPECT_EQ(platform->port("cpu").transport().under_way(), 0u);
}

TEST(ports, accept_no_more_than_outstanding_before_they_end_requests) {
  const auto platform = platform_from_text(two_memories("outstanding: 2"));
  AtInitiator dma("dma_model", [&](AtInitiator& self) {
    std::deque<AtInitiator::Issued> all(4);
    for (auto& x : all) {
      x.shape.address = kHbm;
      x.shape.data.resize(4096);
      x.ending = AtInitiator::Ending::completed;
      self.issue(x);
    }
    self.drain();
    EXPECT_EQ(all[0].end_req_ns, all[0].begin_ns);
    EXPECT_EQ(all[1].end_req_ns, all[1].begin_ns);
    EXPECT_EQ(all[2].end_req_ns, all[0].done_ns);  // the third one waits for the first one's place
    EXPECT_EQ(all[3].end_req_ns, all[1].done_ns);
  });
  dma.socket.bind(platform->port("cpu").socket());
  sc_core::sc_start();
  EXPECT_TRUE(dma.finished);
}

/// One illegal LT access of each kind, and its response.
TEST(ports, answer_what_cannot_be_served_with_the_standards_statuses_at_once) {
  const auto platform = platform_from_text(two_memories(""));
  // The monitor of test builds rejects such payloads too; this test checks the port's response.
  if (ProtocolMonitor* m = platform->port("cpu").monitor()) m->set_report([](const std::string&) {});
  LtInitiator cpu("cpu_model", [&](LtInitiator& self) {
    const auto status = [&](const std::function<void(Shape&)>& change) {
      Shape s;
      s.address = kHbm;
      s.data.resize(16);
      change(s);
      const double before = now_ns();
      sc_core::sc_time delay(3, sc_core::SC_NS);
      const auto answer = self.access(s, &delay);
      EXPECT_EQ(now_ns(), before);
      EXPECT_EQ(delay, sc_core::sc_time(3, sc_core::SC_NS));
      return answer;
    };
    EXPECT_EQ(status([](Shape& s) { s.address = 0; }), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_NE(platform->port("cpu").last_error().find("no memory is there"), std::string::npos);
    EXPECT_EQ(status([](Shape& s) { s.address = ~uint64_t{0}; }), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(status([](Shape& s) { s.address = kSram - 8; }), tlm::TLM_ADDRESS_ERROR_RESPONSE) << "two memories";
    EXPECT_EQ(status([](Shape& s) { s.address = kSram + kSramBytes - 15; }), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(status([](Shape& s) { s.data.clear(); }), tlm::TLM_BURST_ERROR_RESPONSE) << "length 0";
    EXPECT_EQ(status([](Shape& s) { s.command = tlm::TLM_IGNORE_COMMAND; }), tlm::TLM_OK_RESPONSE);

    tlm::tlm_generic_payload p;
    uint8_t byte = 0, enable = TLM_BYTE_ENABLED;
    const auto odd = [&](const std::function<void(tlm::tlm_generic_payload&)>& change) {
      p.set_command(tlm::TLM_WRITE_COMMAND);
      p.set_address(kHbm);
      p.set_data_ptr(&byte);
      p.set_data_length(1);
      p.set_streaming_width(1);
      p.set_byte_enable_ptr(nullptr);
      p.set_byte_enable_length(0);
      p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
      change(p);
      sc_core::sc_time delay;
      self.socket->b_transport(p, delay);
      return p.get_response_status();
    };
    EXPECT_EQ(odd([](auto& x) { x.set_streaming_width(0); }), tlm::TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(odd([&](auto& x) { x.set_byte_enable_ptr(&enable); }), tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    EXPECT_EQ(odd([](auto& x) { x.set_data_ptr(nullptr); }), tlm::TLM_GENERIC_ERROR_RESPONSE);
    EXPECT_EQ(odd([](auto& x) { x.set_command(static_cast<tlm::tlm_command>(7)); }), tlm::TLM_COMMAND_ERROR_RESPONSE);
    EXPECT_EQ(odd([](auto&) {}), tlm::TLM_OK_RESPONSE);
  });
  cpu.socket.bind(platform->port("cpu").socket());
  sc_core::sc_start();
  EXPECT_TRUE(cpu.finished);
}

TEST(ports, read_what_nobody_wrote_as_zeros_and_are_refused_what_is_pending) {
  const auto platform = platform_from_text(two_memories(""));
  MemoryOpLog log;
  platform->attach_log(&log);
  auto producer = std::make_shared<OpDesc>();
  producer->name = "gemm_f32";
  platform->system().image().bind_pending({Space::hbm, kNoPe}, kHbm + 64, 64, {producer, 0});
  LtInitiator cpu("cpu_model", [&](LtInitiator& self) {
    Shape s;
    s.address = kHbm;
    s.data.assign(64, 0xee);
    EXPECT_EQ(self.access(s), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(s.data, std::vector<uint8_t>(64, 0));
    s.data.assign(80, 0xee);
    const double before = now_ns();
    EXPECT_EQ(self.access(s), tlm::TLM_GENERIC_ERROR_RESPONSE);
    EXPECT_GT(now_ns(), before) << "a refused read takes its time";
    EXPECT_EQ(s.data, std::vector<uint8_t>(80, 0xee));
    EXPECT_NE(platform->port("cpu").last_error().find("gemm_f32"), std::string::npos);
    EXPECT_EQ(self.debug(s), 64u) << "debug transport stops where bytes are pending";
    s.command = tlm::TLM_WRITE_COMMAND;
    s.address = kHbm + 64;
    s.data.assign(64, 5);
    EXPECT_EQ(self.access(s), tlm::TLM_OK_RESPONSE) << "a write makes pending bytes real";
    s.command = tlm::TLM_READ_COMMAND;
    s.data.assign(64, 0);
    EXPECT_EQ(self.access(s), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(s.data, std::vector<uint8_t>(64, 5));
  });
  cpu.socket.bind(platform->port("cpu").socket());
  sc_core::sc_start();
  EXPECT_TRUE(cpu.finished);
  ASSERT_EQ(log.records().size(), 4u);
  EXPECT_EQ(log.records()[1].pending_on, producer);
  const OpRecord& write = log.records()[2];
  EXPECT_TRUE(write.foreign);
  EXPECT_EQ(write.desc->name, "dma_write");
  EXPECT_EQ(write.component, platform->port("cpu").index());
  EXPECT_GT(write.effect_ns, write.t_start);
  EXPECT_LE(write.effect_ns, write.t_end);
  ASSERT_TRUE(write.desc->data);
  EXPECT_EQ(*write.desc->data, Bytes(64, 5));
}

struct Note : tlm::tlm_extension<Note> {
  int value = 0;
  tlm::tlm_extension_base* clone() const override { return new Note(*this); }
  void copy_from(const tlm::tlm_extension_base& o) override { *this = static_cast<const Note&>(o); }
};

TEST(ports, leave_foreign_extensions_alone) {
  const auto platform = platform_from_text(two_memories(""));
  LtInitiator cpu("cpu_model", [&](LtInitiator& self) {
    Note note;
    note.value = 42;
    tlm::tlm_generic_payload p;
    p.set_extension(&note);
    uint8_t byte = 1;
    p.set_command(tlm::TLM_WRITE_COMMAND);
    p.set_address(kHbm);
    p.set_data_ptr(&byte);
    p.set_data_length(1);
    p.set_streaming_width(1);
    sc_core::sc_time delay;
    self.socket->b_transport(p, delay);
    EXPECT_EQ(p.get_extension<Note>(), &note);
    EXPECT_EQ(p.get_extension<FabricTransaction>(), nullptr);
    EXPECT_EQ(note.value, 42);
    p.clear_extension(&note);
  });
  cpu.socket.bind(platform->port("cpu").socket());
  sc_core::sc_start();
  EXPECT_TRUE(cpu.finished);
}

}  // namespace
}  // namespace kernbench::testing::ports_move_bytes_like_a_memory
