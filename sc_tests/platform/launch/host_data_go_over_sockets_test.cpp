// SPDX-License-Identifier: Apache-2.0
// Are all transfers between the host and its devices visible at the sockets between the host and each pcie_ep, byte for
// byte and at their times, as the run or the program reports them? And does a user's block there cause no harm?
#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <sstream>

#include "../host/ranks_toy_system.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/host/program.h"
#include "kernbench/platform/launch/host_interface.h"
#include "kernbench/platform/launch/host_transfer.h"
#include "kernbench/platform/launch/launch_host.h"
#include "kernbench/platform/run/run.h"
#include "kernbench/systemc_models/protocol/protocol_checker.h"
#include "system_support.h"
#include "tlm_support.h"

namespace kernbench::testing::host_data_go_over_sockets {
namespace {

/// A foreign block on the path from the host to a pcie_ep: records all traffic.
class HostTap : public sc_core::sc_module {
 public:
  struct Request {
    bool write = false;
    uint64_t address = 0;
    double ns = 0;              ///< time of arrival
    std::vector<uint8_t> data;  ///< shown data: of a write at the request, of a read at the response
    std::vector<uint8_t> enables;
    tlm::tlm_response_status status = tlm::TLM_INCOMPLETE_RESPONSE;
  };
  std::vector<Request> requests;                                   ///< with data, in order
  size_t messages = 0;                                             ///< without data
  sc_core::sc_time delay;                                          ///< added in both directions
  tlm::tlm_response_status answer = tlm::TLM_INCOMPLETE_RESPONSE;  ///< its own response to requests with data; none:
                                                                   ///< passed on
  std::vector<std::string> violations;

  HostTap(sc_core::sc_module_name name, Platform& platform, const std::string& pcie_ep)
      : sc_module(name), before_("before"), behind_("behind") {
    in_.register_nb_transport_fw(this, &HostTap::forward);
    out_.register_nb_transport_bw(this, &HostTap::backward);
    for (ProtocolChecker<>* c : {&before_, &behind_})
      c->monitor().set_report([this](const std::string& v) { violations.push_back(v); });
    before_.initiator_socket.bind(in_);
    out_.bind(behind_.target_socket);
    ForeignNode& place = platform.hosts().launch_host().foreign_to(pcie_ep);
    place.bind(before_.target_socket, "host");
    place.bind(behind_.initiator_socket, pcie_ep);
  }
  uint64_t bytes(bool write) const {
    uint64_t n = 0;
    for (const Request& r : requests) n += r.write == write ? r.data.size() : 0;
    return n;
  }

 private:
  static std::vector<uint8_t> data_of(const tlm::tlm_generic_payload& p) {
    return {p.get_data_ptr(), p.get_data_ptr() + p.get_data_length()};
  }
  tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time& t) {
    if (phase != tlm::BEGIN_REQ) return out_->nb_transport_fw(p, phase, t);
    if (p.get_command() == tlm::TLM_IGNORE_COMMAND) {
      ++messages;
      return out_->nb_transport_fw(p, phase, t);
    }
    Request r;
    r.write = p.is_write();
    r.address = p.get_address();
    r.ns = now_ns();
    if (r.write) r.data = data_of(p);
    if (p.get_byte_enable_ptr())
      r.enables.assign(p.get_byte_enable_ptr(), p.get_byte_enable_ptr() + p.get_byte_enable_length());
    requests.push_back(std::move(r));
    if (answer != tlm::TLM_INCOMPLETE_RESPONSE) {
      p.set_response_status(answer);
      requests.back().status = answer;
      return tlm::TLM_COMPLETED;
    }
    at_[&p] = requests.size() - 1;
    t += delay;
    return out_->nb_transport_fw(p, phase, t);
  }
  tlm::tlm_sync_enum backward(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time& t) {
    const auto it = at_.find(&p);
    if (phase == tlm::BEGIN_RESP && it != at_.end()) {
      Request& r = requests[it->second];
      if (!r.write) r.data = data_of(p);
      r.status = p.get_response_status();
      at_.erase(it);
      t += delay;
    }
    return in_->nb_transport_bw(p, phase, t);
  }

  tlm_utils::simple_target_socket<HostTap> in_{"in"};
  tlm_utils::simple_initiator_socket<HostTap> out_{"out"};
  ProtocolChecker<> before_, behind_;
  std::map<const tlm::tlm_generic_payload*, size_t> at_;
};

std::vector<uint8_t> bytes_at(Platform& platform, uint64_t address, uint64_t n) {
  std::vector<uint8_t> bytes(n);
  platform.system().image().read({Space::hbm, kNoPe}, address, bytes.data(), n);
  return bytes;
}

// ---- kernbench run --transfer timed

constexpr int64_t kElements = 200'001;  // two chunks and a part of one for each PE's part
constexpr uint64_t kPes = 8;

/// y = x, each PE its own part: real bytes, so that read-back needs no Phase 2. w exists for its replicas.
KernelSpec copy_kernel() {
  KernelSpec s;
  s.name = "host_data_test_copy";
  s.help = "of the tests of the host's data";
  s.function = [](tl::Context& tl, const tl::Args& args) {
    if (!args["x"].empty()) tl.store(args["y"].ptr, tl.load(args["x"].ptr, {args["x"].shape[0]}));
  };
  s.reference = [](const Params&, const TensorMap& in) {
    return std::map<std::string, Expected>{{"y", {in.at("x"), {}}}};
  };
  for (const char* name : {"x", "w", "y"}) {
    TensorSpec t;
    t.name = name;
    t.role = name[0] == 'y' ? TensorSpec::Role::out : TensorSpec::Role::in;
    const int64_t n = name[0] == 'w' ? 10 : kElements;
    t.shape = [n](const Params&) { return Dims{n}; };
    t.dtype = [](const Params&) { return DType::f32; };
    t.placement = name[0] == 'w' ? Placement::replicate : Placement::rows;
    s.tensors.push_back(t);
  }
  return s;
}

const RegisterKernel copy{copy_kernel()};

RunOptions copying(bool timed) {
  RunOptions o;
  o.kernel = "host_data_test_copy";
  o.timed_transfer = timed;
  o.threads = 1;
  return o;
}

std::string times(const RunReport& r) {
  std::ostringstream s;
  s.precision(17);
  s << r.upload_ns << " " << r.start_ns << " " << r.download_ns << " " << r.end_ns;
  return s.str();
}

class Run : public ::testing::TestWithParam<topology::Links> {
 protected:
  std::unique_ptr<Platform> platform() const {
    topology::Overrides overrides;
    overrides.links = GetParam();
    if (GetParam() != topology::Links::ideal) overrides.response = topology::Response::routed;
    return platform_from_file(topology_path("small.yaml"), overrides);
  }
};

TEST_P(Run, with_timed_transfers_shows_each_byte_once_and_takes_the_time_that_it_takes_alone) {
  const std::string untapped = in_child([&] {
    auto p = platform();
    return times(run_kernel(*p, copying(true)));
  });
  auto p = platform();
  HostTap tap("tap", *p, "sip0.io0.pcie_ep");
  const RunReport r = run_kernel(*p, copying(true));
  EXPECT_EQ(times(r), untapped);
  EXPECT_EQ(tap.messages, 1u) << "the launch";
  EXPECT_EQ(tap.violations, std::vector<std::string>{});
  std::map<bool, std::map<uint64_t, uint64_t>> seen;  // ends by begins, of writes and reads
  for (const HostTap::Request& q : tap.requests) {
    EXPECT_EQ(q.status, tlm::TLM_OK_RESPONSE);
    EXPECT_LE(q.data.size(), HostTransfer::kChunkBytes);
    EXPECT_NEAR(q.ns, q.write ? 0 : r.end_ns - r.download_ns, 1e-5) << "all at once";
    EXPECT_TRUE(seen[q.write].emplace(q.address, q.address + q.data.size()).second);
    EXPECT_EQ(q.data, bytes_at(*p, q.address, q.data.size()));
  }
  EXPECT_EQ(tap.bytes(true), 4 * (kElements + 10 * kPes));
  EXPECT_EQ(tap.bytes(false), 4u * kElements);
  for (const auto& [write, ranges] : seen) {
    for (auto a = ranges.begin(), b = std::next(a); b != ranges.end(); ++a, ++b) EXPECT_LE(a->second, b->first);
  }
}

TEST_P(Run, with_instant_transfers_sends_the_launch_alone) {
  auto p = platform();
  HostTap tap("tap", *p, "sip0.io0.pcie_ep");
  run_kernel(*p, copying(false));
  EXPECT_EQ(tap.requests.size(), 0u);
  EXPECT_EQ(tap.messages, 1u);
}

/// One chunk, so that no transfer overlaps with another.
TEST_P(Run, is_as_much_later_as_a_block_on_the_way_makes_it) {
  const auto upload_ns = [&](double delay_ns) {
    return in_child([&] {
      auto p = platform();
      HostTap tap("tap", *p, "sip0.io0.pcie_ep");
      tap.delay = sc_core::sc_time(delay_ns, sc_core::SC_NS);
      HostTransfer transfer(p->hosts().launch_host());
      double done_ns = -1;
      transfer.write({{{}, p->graph().memories[0].base, 4096}}, [&](const HostResponse& r) { done_ns = r.done_ns; });
      sc_core::sc_start();
      return std::to_string(done_ns);
    });
  };
  EXPECT_NEAR(std::stod(upload_ns(7.5)), std::stod(upload_ns(0)) + 15, 1e-5);
}

INSTANTIATE_TEST_SUITE_P(All, Run,
                         ::testing::Values(topology::Links::ideal, topology::Links::cut_through, topology::Links::flit),
                         [](const auto& parameter) { return std::string(topology::name_of(parameter.param)); });

TEST(HostTap, that_answers_itself_is_an_error_of_the_transfer) {
  auto p = platform_from_file(topology_path("small.yaml"));
  HostTap tap("tap", *p, "sip0.io0.pcie_ep");
  tap.answer = tlm::TLM_ADDRESS_ERROR_RESPONSE;
  HostTransfer transfer(p->hosts().launch_host());
  std::vector<HostResponse> responses;
  transfer.read({{{3, 4}, 0x100, 64}, {{3, 4}, 0x200, 64}}, [&](const HostResponse& r) { responses.push_back(r); });
  sc_core::sc_start();
  ASSERT_EQ(responses.size(), 1u);
  EXPECT_EQ(responses[0].code, HostError::memory_error);
  EXPECT_EQ(responses[0].text, "host: read at 0x100: the memory answered TLM_ADDRESS_ERROR_RESPONSE");
  EXPECT_EQ(tap.requests.size(), 2u);
  EXPECT_EQ(tap.violations, std::vector<std::string>{});
}

TEST(HostTap, stands_only_where_the_host_has_a_socket) {
  auto p = platform_from_file(topology_path("small.yaml"));
  for (const char* id : {"sip0.cube0.r0c0", "nothing"}) {
    try {
      p->hosts().launch_host().foreign_to(id);
      ADD_FAILURE() << id;
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find(id), std::string::npos) << e.what();
    }
  }
}

/// The endpoint enforces `outstanding`. A request that waits for a place was issued when it left the host.
TEST(HostTap, changes_nothing_where_requests_wait_for_a_place) {
  std::string yaml = ranks_toy::system(1);
  const std::string given = "overhead_ns: 3}";
  yaml.replace(yaml.find(given), given.size(), "overhead_ns: 3, outstanding: 2}");
  const auto done = [&](bool tapped) {
    return in_child([&] {
      auto p = platform_from_text(yaml);
      std::unique_ptr<HostTap> tap;
      if (tapped) tap = std::make_unique<HostTap>("tap", *p, "sip0.io0.pcie_ep");
      HostTransfer transfer(p->hosts().launch_host(), 1000);
      std::ostringstream s;
      s.precision(17);
      const auto note = [&](const HostResponse& r) { s << r.done_ns << " "; };
      transfer.write({{{}, 64, 7001}, {{}, 9001, 500}}, note);
      transfer.read({{{}, 20000, 3000}}, note);
      sc_core::sc_start();
      if (tapped) s << tap->requests.size();
      return s.str();
    });
  };
  EXPECT_EQ(done(true), done(false) + "12");
}

// ---- programs

/// Traffic at each rank's tap for a program on two ranks of two PEs.
std::vector<std::unique_ptr<HostTap>> taps_of(Platform& platform, bool timed,
                                              std::function<void(host::Context&)> function) {
  std::vector<std::unique_ptr<HostTap>> taps;
  for (int r = 0; r < 2; ++r) {
    const std::string number = std::to_string(r);
    taps.push_back(std::make_unique<HostTap>(("tap" + number).c_str(), platform, "sip" + number + ".io0.pcie_ep"));
  }
  ProgramSpec spec;
  spec.name = "test";
  spec.function = std::move(function);
  host::ContextOptions options;
  options.timed_transfer = timed;
  host::Program program(platform, spec, {}, {}, options);
  program.start();
  sc_core::sc_start();
  program.check();
  for (const auto& tap : taps) EXPECT_EQ(tap->violations, std::vector<std::string>{});
  return taps;
}

/// Rows of 8 f32, each with different bytes.
HostTensor rows(int64_t n) {
  HostTensor t(DType::f32, {n, 8});
  for (size_t i = 0; i < t.bytes.size(); ++i) t.bytes[i] = static_cast<uint8_t>(i % 4 == 3 ? 0x3f : i);
  return t;
}

std::vector<uint8_t> part(const HostTensor& t, size_t first_row, size_t count) {
  const auto begin = t.bytes.begin() + static_cast<std::ptrdiff_t>(32 * first_row);
  return {begin, begin + static_cast<std::ptrdiff_t>(32 * count)};
}

std::vector<std::vector<uint8_t>> shown(const HostTap& tap, bool write) {
  std::vector<std::vector<uint8_t>> all;
  for (const HostTap::Request& r : tap.requests) {
    if (r.write == write) all.push_back(r.data);
  }
  return all;
}
using Shown = std::vector<std::vector<uint8_t>>;

/// The program's value is in memory only after the end of the copy; the socket shows it in flight.
TEST(Program, uploads_each_shard_to_its_rank_in_order_of_pe_and_downloads_the_first_replicas) {
  auto platform = platform_from_text(ranks_toy::system(2));
  const HostTensor value = rows(3);
  HostTensor back;
  const auto taps = taps_of(*platform, true, [&](host::Context& h) {
    h.delay(h.ranks(), 5);
    const host::Tensor t = h.tensor(DType::f32, {3, 8}, host::rank_replicate().pe(host::shard(0)));
    h.upload(t, value);
    back = h.read(t);
  });
  EXPECT_EQ(back.bytes, value.bytes);
  const Shown both = {part(value, 0, 2), part(value, 2, 1)};  // 2 rows to the first PE, 1 to the second
  for (const auto& tap : taps) {
    EXPECT_EQ(shown(*tap, true), both);
    for (const HostTap::Request& r : tap->requests) EXPECT_TRUE(!r.write || r.ns == 5) << r.ns;
  }
  EXPECT_EQ(shown(*taps[0], false), both);
  EXPECT_EQ(shown(*taps[1], false), Shown{}) << "its replicas are not the first";
}

TEST(Program, sends_nothing_for_a_shard_without_bytes) {
  auto platform = platform_from_text(ranks_toy::system(2));
  const HostTensor value = rows(1);
  const auto taps = taps_of(*platform, true, [&](host::Context& h) {
    const host::Tensor t = h.tensor(DType::f32, {1, 8}, host::rank_shard(0).pe(host::shard(0)));
    h.upload(t, value);
    h.download(t);
  });
  EXPECT_EQ(shown(*taps[0], true), Shown{value.bytes});
  EXPECT_EQ(shown(*taps[0], false), Shown{value.bytes});
  EXPECT_EQ(taps[1]->requests.size(), 0u);
}

TEST(Program, of_one_rank_is_seen_at_its_sockets_alone_and_a_whole_replica_is_one_transaction) {
  auto platform = platform_from_text(ranks_toy::system(2));
  const HostTensor value = rows(4000);  // 128,000 bytes
  const auto taps = taps_of(*platform, true, [&](host::Context& h) {
    const host::Tensor t = h.tensor(DType::f32, {4000, 8}, host::rank_replicate());
    h.upload(h.rank(1), t, value);
  });
  EXPECT_EQ(taps[0]->requests.size(), 0u);
  EXPECT_EQ(shown(*taps[1], true), (Shown{value.bytes, value.bytes})) << "a replica for each PE";
}

TEST(Program, with_instant_transfers_sends_no_data) {
  auto platform = platform_from_text(ranks_toy::system(2));
  const HostTensor value = rows(3);
  HostTensor back;
  const auto taps = taps_of(*platform, false, [&](host::Context& h) {
    const host::Tensor t = h.tensor(DType::f32, {3, 8}, host::rank_shard(0));
    h.upload(t, value);
    back = h.read(t);
  });
  EXPECT_EQ(back.bytes, value.bytes);
  for (const auto& tap : taps) EXPECT_EQ(tap->requests.size() + tap->messages, 0u);
}

// ---- a foreign CPU at the host's socket, and the DMA that it starts

struct HostMemory : sc_core::sc_module {
  tlm_utils::simple_target_socket<HostMemory> socket{"socket"};
  std::vector<uint8_t> bytes = std::vector<uint8_t>(1 << 16, 0);
  explicit HostMemory(sc_core::sc_module_name name) : sc_module(name) {
    socket.register_b_transport(this, &HostMemory::b_transport);
  }
  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time&) {
    uint8_t* at = bytes.data() + p.get_address();
    p.is_write() ? std::memcpy(at, p.get_data_ptr(), p.get_data_length())
                 : std::memcpy(p.get_data_ptr(), at, p.get_data_length());
    p.set_response_status(tlm::TLM_OK_RESPONSE);
  }
};

tlm::tlm_response_status write_register(LtInitiator& cpu, uint64_t reg, uint64_t value) {
  Shape s;
  s.command = tlm::TLM_WRITE_COMMAND;
  s.address = HostInterface::kRegisters + reg;
  s.data.resize(8);
  std::memcpy(s.data.data(), &value, 8);
  return cpu.access(s);
}

/// 4 bytes of the CPU's, two of them enabled; 10,000 by DMA in both directions. The end time of each, and the device's
/// and the host's bytes.
std::string driven(HostTap* tap, Platform& platform) {
  HostInterface& host = platform.host();
  HostMemory memory("memory");
  for (size_t i = 0; i < 10000; ++i) memory.bytes[i] = static_cast<uint8_t>(1 + i % 251);
  std::ostringstream s;
  s.precision(17);
  LtInitiator cpu("cpu", [&](LtInitiator& self) {
    Shape w;
    w.command = tlm::TLM_WRITE_COMMAND;
    w.address = 0x40;
    w.data = {1, 2, 3, 4};
    w.enables = {0xff, 0, 0, 0xff};
    EXPECT_EQ(self.access(w), tlm::TLM_OK_RESPONSE);
    s << now_ns() << " ";
    for (const uint64_t command : {HostInterface::kToDevice, HostInterface::kToHost}) {
      write_register(self, HostInterface::kDmaDevice, 0x1000);
      write_register(self, HostInterface::kDmaHost, command == HostInterface::kToDevice ? 0 : 0x8000);
      write_register(self, HostInterface::kDmaBytes, 10000);
      EXPECT_EQ(write_register(self, HostInterface::kDmaCommand, command), tlm::TLM_OK_RESPONSE);
      wait(host.interrupt.posedge_event());
      s << now_ns() << " ";
      write_register(self, HostInterface::kInterrupt, HostInterface::kDmaDone);
      wait(sc_core::SC_ZERO_TIME);
    }
  });
  cpu.socket.bind(host.socket());
  host.dma_socket().bind(memory.socket);
  sc_core::sc_start();
  EXPECT_TRUE(cpu.finished);
  EXPECT_EQ(host.last_error(), "");
  EXPECT_EQ(bytes_at(platform, 0x40, 4), (std::vector<uint8_t>{1, 0, 0, 4}));
  EXPECT_TRUE(std::equal(memory.bytes.begin(), memory.bytes.begin() + 10000, memory.bytes.begin() + 0x8000));
  if (!tap) return s.str();

  EXPECT_EQ(tap->violations, std::vector<std::string>{});
  EXPECT_EQ(tap->requests.size(), 7u) << "one of the CPU's, three chunks each way";
  EXPECT_EQ(tap->requests[0].data, (std::vector<uint8_t>{1, 2, 3, 4}));
  EXPECT_EQ(tap->requests[0].enables, (std::vector<uint8_t>{0xff, 0, 0, 0xff}));
  for (const bool write : {true, false}) {
    EXPECT_EQ(tap->bytes(write), write ? 10004u : 10000u);
    for (size_t i = 1; i < 7; ++i) {
      const HostTap::Request& r = tap->requests[i];
      if (r.write != write) continue;
      const auto at = memory.bytes.begin() + static_cast<std::ptrdiff_t>(r.address - 0x1000);
      EXPECT_TRUE(std::equal(r.data.begin(), r.data.end(), at)) << i;
    }
  }
  return s.str();
}

TEST(HostCpu, and_its_dma_are_seen_with_their_bytes_and_take_their_time) {
  const std::string untapped = in_child([] {
    auto p = platform_from_text(ranks_toy::system(1));
    return driven(nullptr, *p);
  });
  auto p = platform_from_text(ranks_toy::system(1));
  HostTap tap("tap", *p, "sip0.io0.pcie_ep");
  EXPECT_EQ(driven(&tap, *p), untapped);
}

TEST(HostCpu, is_told_what_a_block_on_the_way_answers) {
  auto p = platform_from_text(ranks_toy::system(1));
  HostTap tap("tap", *p, "sip0.io0.pcie_ep");
  tap.answer = tlm::TLM_GENERIC_ERROR_RESPONSE;
  LtInitiator cpu("cpu", [&](LtInitiator& self) {
    Shape s;
    s.address = 0x40;
    s.data.resize(4);
    EXPECT_EQ(self.access(s), tlm::TLM_GENERIC_ERROR_RESPONSE);
    EXPECT_EQ(now_ns(), 0);
  });
  cpu.socket.bind(p->host().socket());
  sc_core::sc_start();
  EXPECT_TRUE(cpu.finished);
}

}  // namespace
}  // namespace kernbench::testing::host_data_go_over_sockets
