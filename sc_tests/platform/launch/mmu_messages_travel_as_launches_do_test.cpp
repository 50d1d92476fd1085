// SPDX-License-Identifier: Apache-2.0
// Do map and unmap take effect when their messages arrive at the MMUs, and do their responses report errors?
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "kernbench/kernel_api/tl.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/launch/host_mmu.h"
#include "kernbench/platform/launch/launch.h"
#include "kernbench/platform/launch/launch_host.h"
#include "kernbench/systemc_models/pe/pe_mmu.h"
#include "launch_toy_system.h"
#include "system_support.h"
#include "virtual_memory_kernels.h"

namespace kernbench::testing {
namespace {

size_t mappings(Platform& platform, size_t pe) {
  return dynamic_cast<const PeMmu&>(*platform.pes().pe(pe).mmu).table().size();
}

constexpr uint64_t kAddress = kVirtualBase + 0x300;

/// 1 KiB at the start of a PE's own HBM.
MmuMap map_of(Platform& platform, const std::string& tensor, uint64_t address = kAddress, size_t pe = 0) {
  auto m = std::make_shared<VirtualMapping>();
  m->tensor = tensor;
  m->nbytes = 1024;
  m->range.virtual_addr = address;
  m->range.pieces = {{0, platform.graph().memories[platform.pes().local_memory(pe)].base, 1024}};
  return {{77, 5}, m};
}

KernelLaunch loads_at(std::vector<size_t> pes, uint64_t address) {
  KernelLaunch m;
  m.pes = std::move(pes);
  m.kernel = [address](size_t) {
    return [address](PeBackend& backend) {
      tl::Context tl(backend);
      tl.load(tl::Ptr(Space::hbm, address, DType::f32), {256});
      tl.finish();
    };
  };
  return m;
}

void fill(Platform& platform) {
  const std::vector<uint8_t> bytes(1024, 1);
  platform.system().image().write({Space::hbm, kNoPe}, platform.graph().memories[platform.pes().local_memory(0)].base,
                                  bytes.data(), bytes.size());
}

class MmuMessages : public ::testing::Test {
 protected:
  std::unique_ptr<Platform> platform = platform_from_file(topology_path("small.yaml"));
  LaunchHost& host = platform->hosts().launch_host();
  HostMmu mmu{host};
  Launcher launcher{host};
  std::vector<size_t> pes{0, 3, 7};
  LaunchWay way = host_launch_way(host, pes);
  std::vector<HostResponse> responses;
  std::vector<LaunchResult> launches;

  HostMmu::Done kept(std::function<void()> next = [] {}) {
    return [this, next](const HostResponse& r) {
      responses.push_back(r);
      next();
    };
  }
  Launcher::Done launched(std::function<void()> next = [] {}) {
    return [this, next](const LaunchResult& r) {
      launches.push_back(r);
      next();
    };
  }
};

TEST_F(MmuMessages, reach_every_pe_and_come_back_in_the_time_of_an_empty_launch) {
  mmu.map({map_of(*platform, "x")}, way, kept([&] {
            for (size_t pe = 0; pe < platform->pes().count(); ++pe) {
              const bool asked = std::find(pes.begin(), pes.end(), pe) != pes.end();
              EXPECT_EQ(mappings(*platform, pe), asked ? 1u : 0u) << pe;
            }
            mmu.unmap({{{78, 0}, kAddress, 1024}}, way, kept());
          }));
  sc_core::sc_start();
  ASSERT_EQ(responses.size(), 2u);
  EXPECT_TRUE(responses[0].ok() && responses[1].ok()) << responses[0].text << responses[1].text;
  EXPECT_EQ(responses[0].ids.correlation, 77u);
  EXPECT_EQ(responses[1].ids.correlation, 78u);
  EXPECT_NE(responses[0].ids.request, responses[1].ids.request);
  EXPECT_GT(way.latest_ns, 0);
  EXPECT_NEAR(responses[0].done_ns, 2 * way.latest_ns, 1e-9);
  EXPECT_NEAR(responses[1].done_ns, 4 * way.latest_ns, 1e-9);
  EXPECT_EQ(mappings(*platform, 0), 0u);
}

TEST_F(MmuMessages, change_an_mmu_when_they_arrive_and_not_before) {
  mmu.map({map_of(*platform, "x")}, way, kept());
  const double arrival = host_launch_way(host, {pes[0]}).latest_ns;
  sc_core::sc_start(sc_core::sc_time(arrival - 0.001, sc_core::SC_NS));
  EXPECT_EQ(mappings(*platform, 0), 0u);
  sc_core::sc_start(sc_core::sc_time(0.002, sc_core::SC_NS));
  EXPECT_EQ(mappings(*platform, 0), 1u);
}

TEST_F(MmuMessages, make_a_use_after_unmap_fault) {
  fill(*platform);
  mmu.map({map_of(*platform, "x")}, way, kept([&] {
            launcher.launch(loads_at(pes, kAddress), way, launched([&] {
                              mmu.unmap({{{}, kAddress, 1024}}, way,
                                        kept([&] { launcher.launch(loads_at(pes, kAddress), way, launched()); }));
                            }));
          }));
  sc_core::sc_start();
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_TRUE(launches[0].response.ok()) << launches[0].response.text;
  EXPECT_EQ(launches[1].response.code, HostError::kernel_fault);
  EXPECT_NE(launches[1].response.text.find("virtual address 0x10000000000300, 1024 bytes: not mapped"),
            std::string::npos)
      << launches[1].response.text;
}

TEST_F(MmuMessages, are_answered_by_code_and_text_where_they_cannot_be_done) {
  mmu.map({map_of(*platform, "x")}, way, kept([&] {
            mmu.map({map_of(*platform, "y", kAddress + 1000)}, way, kept([&] {
                      mmu.unmap({{{}, kAddress, 1000}}, way, kept());
                    }));
          }));
  sc_core::sc_start();
  ASSERT_EQ(responses.size(), 3u);
  EXPECT_STREQ(name_of(responses[1].code), "overlap");
  EXPECT_EQ(responses[1].text,
            "sip0.cube0.pe0: y [0x100000000006e8, 0x10000000000ae8) overlaps x [0x10000000000300, 0x10000000000700)");
  EXPECT_STREQ(name_of(responses[2].code), "not_mapped");
  EXPECT_EQ(responses[2].text,
            "sip0.cube0.pe0: unmap of [0x10000000000300, 0x100000000006e8): no mapping is that range; nearest "
            "mapping: x [0x10000000000300, 0x10000000000700)");
}

TEST_F(MmuMessages, with_a_piece_outside_every_memory_are_answered_at_once) {
  MmuMap m = map_of(*platform, "x");
  auto bad = std::make_shared<VirtualMapping>(*m.mapping);
  bad->range.pieces[0].addr = uint64_t{1} << 50;
  mmu.map({{{9, 0}, bad}}, way, kept());
  ASSERT_EQ(responses.size(), 1u);
  EXPECT_EQ(responses[0].code, HostError::bad_address);
  EXPECT_EQ(responses[0].ids.correlation, 9u);
  auto low = std::make_shared<VirtualMapping>(*m.mapping);
  low->range.virtual_addr = 4096;
  mmu.map({{{}, low}}, way, kept());
  ASSERT_EQ(responses.size(), 2u);
  EXPECT_EQ(responses[1].code, HostError::bad_address);
}

TEST_F(MmuMessages, do_not_unmap_under_a_running_kernel) {
  fill(*platform);
  mmu.map({map_of(*platform, "x")}, way, kept([&] {
            launcher.launch(loads_at(pes, kAddress), way, launched());
            // After the launch on the same path: it arrives when the first kernels run or are about to.
            mmu.unmap({{{}, kAddress, 1024}}, way, kept());
          }));
  sc_core::sc_start();
  ASSERT_EQ(responses.size(), 2u);
  EXPECT_EQ(responses[1].code, HostError::pe_busy) << responses[1].text;
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_TRUE(launches[0].response.ok()) << launches[0].response.text;
}

TEST(MmuMessagesWithoutMmu, are_answered_no_mmu) {
  auto platform = platform_from_text(toy_system());
  LaunchHost& host = platform->hosts().launch_host();
  HostMmu mmu(host);
  HostResponse response;
  mmu.map({map_of(*platform, "x")}, host_launch_way(host, {0, 1}), [&](const HostResponse& r) { response = r; });
  sc_core::sc_start();
  EXPECT_EQ(response.code, HostError::no_mmu);
  EXPECT_EQ(response.text, "sip0.cube0.pe0: has no pe_mmu");
}

RunOptions adding(AddressMode addresses, bool timed) {
  RunOptions o;
  o.kernel = "vector_add";
  o.addresses = addresses;
  o.timed_transfer = timed;
  o.verify = true;
  o.threads = 1;
  return o;
}

TEST(VirtualRun, maps_by_messages_before_timed_uploads_and_at_no_cost_else) {
  const auto run = [](AddressMode addresses, bool timed) {
    return nlohmann::json::parse(in_child([=] {
      auto p = platform_from_file(topology_path("small.yaml"));
      std::ostringstream out;
      write_run_json(out, run_kernel(*p, adding(addresses, timed)));
      return out.str();
    }));
  };
  const auto latest = std::stod(in_child([] {
    auto p = platform_from_file(topology_path("small.yaml"));
    return std::to_string(host_launch_way(p->hosts().launch_host(), {0, 1, 2, 3, 4, 5, 6, 7}).latest_ns);
  }));
  const auto physical = run(AddressMode::physical, true), mapped = run(AddressMode::virtual_, true);
  EXPECT_NEAR(mapped["map_ns"].get<double>(), 2 * latest, 1e-5);
  for (const char* key : {"start_ns", "end_ns"}) {
    EXPECT_NEAR(mapped[key].get<double>() - physical[key].get<double>(), 2 * latest, 1e-5) << key;
  }
  EXPECT_NEAR(mapped["upload_ns"].get<double>(), physical["upload_ns"].get<double>(), 1e-6);
  EXPECT_FALSE(physical.contains("map_ns"));
  EXPECT_FALSE(physical.contains("addresses"));
  const auto instant = run(AddressMode::virtual_, false);
  EXPECT_EQ(instant["addresses"], "virtual");
  EXPECT_FALSE(instant.contains("map_ns"));
  EXPECT_EQ(instant["end_ns"], run(AddressMode::physical, false)["end_ns"]);
}

TEST(VirtualRun, is_refused_where_a_pe_has_no_mmu) {
  auto p = platform_from_text(toy_system());
  try {
    run_kernel(*p, adding(AddressMode::virtual_, false));
    FAIL() << "no error";
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(), "--address virtual: sip0.cube0.pe0 has no pe_mmu that translates");
  }
}

// The cost of look-ups: one PE loads from several places of a range; pages of 4 KiB, a TLB for two of them.
constexpr int64_t kPageElements = 1024;
const std::vector<std::pair<int64_t, int64_t>> kLoads = {{0, 16},
                                                         {0, 16},
                                                         {kPageElements - 8, 16},
                                                         {kPageElements * 5, 16},
                                                         {0, 16},
                                                         {kPageElements * 5, 3 * kPageElements}};
const std::vector<double> kLookUps = {20, 1, 1 + 20, 20, 20, 1 + 20 + 20};
const RegisterKernel looks_up{copying_kernel("mmu_test_loads", [](tl::Context& tl, const tl::Args& args) {
  for (const auto& [first, count] : kLoads) tl.load(args.virtual_ptr("x") + first, {count});
  tl.store(args["y"].ptr, tl.load(args["x"].ptr, {args["x"].shape[0]}));
})};

TEST(Tlb, costs_hit_or_miss_for_every_page_that_a_transaction_touches) {
  std::string yaml = read_file(topology_path("small.yaml"));
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"page_bytes: 2097152", "page_bytes: 4096"},
                                                        {"tlb_entries: 64", "tlb_entries: 2"},
                                                        {"tlb_hit_ns: 0.0", "tlb_hit_ns: 1"},
                                                        {"tlb_miss_ns: 0.0", "tlb_miss_ns: 20"}}) {
    const size_t at = yaml.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    yaml.replace(at, from.size(), to);
  }
  auto p = platform_from_text(yaml);
  std::vector<OpRecord> records;
  RunOptions o;
  o.kernel = "mmu_test_loads";
  o.params = {{"n", "16384"}};
  o.pes = "sip0.cube0.pe0";
  o.verify = true;
  o.threads = 1;
  o.log = std::make_unique<KeptLog>(records);
  EXPECT_TRUE(run_kernel(*p, std::move(o)).passed);
  const uint32_t dma = p->graph().pes[0].blocks.at("pe_dma");
  for (size_t i = 0; i < kLoads.size(); ++i) {
    const TensorRef& x = records.at(i).desc->operands[0].ref;
    const double alone = p->system().mode().formula_ns(p->routes().route(dma, x.addr, x.nbytes(), false), false, x.addr,
                                                       x.nbytes(), {1, x.nbytes(), 0});
    EXPECT_NEAR(records[i].t_end - records[i].t_start, alone + kLookUps[i], 1e-6) << "load " << i;
  }
  const OpRecord& physical = records.at(kLoads.size());
  EXPECT_EQ(physical.desc->operands[0].ref.translation, nullptr);
}

}  // namespace
}  // namespace kernbench::testing
