// SPDX-License-Identifier: Apache-2.0
// Do timed uploads and read-backs take the time of the same transactions alone, before and after the launch?
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/run/run.h"
#include "launch_toy_system.h"
#include "system_support.h"

namespace kernbench::testing {
namespace {

constexpr int64_t kUnit = 16384;  // f32 elements of one 64 KiB chunk

/// y = x by the first PE, in the memory of one PE.
KernelSpec copy_kernel() {
  KernelSpec s;
  s.name = "launch_test_copy";
  s.help = "of the transfer tests";
  s.params = {ParamSpec::size("n", kUnit, "elements")};
  s.function = [](tl::Context& tl, const tl::Args& args) {
    if (tl.index() == 0) tl.store(args["y"].ptr, tl.load(args["x"].ptr, {args["x"].shape[0]}));
  };
  s.reference = [](const Params&, const TensorMap& in) {
    return std::map<std::string, Expected>{{"y", {in.at("x"), {}}}};
  };
  for (const char* name : {"x", "y"}) {
    TensorSpec t;
    t.name = name;
    t.role = name[0] == 'x' ? TensorSpec::Role::in : TensorSpec::Role::out;
    t.shape = [](const Params& p) { return Dims{p.integer("n")}; };
    t.dtype = [](const Params&) { return DType::f32; };
    t.placement = Placement::single;
    s.tensors.push_back(t);
  }
  return s;
}

const RegisterKernel copy{copy_kernel()};

RunOptions copying(int64_t n) {
  RunOptions o;
  o.kernel = "launch_test_copy";
  o.params = {{"n", std::to_string(n)}};
  o.timed_transfer = true;
  o.verify = true;
  o.threads = 1;
  return o;
}

class TimedTransfer : public ::testing::TestWithParam<topology::Links> {
 protected:
  std::unique_ptr<Platform> platform() const {
    topology::Overrides overrides;
    overrides.links = GetParam();
    return platform_from_file(topology_path("small.yaml"), overrides);
  }
};

TEST_P(TimedTransfer, of_one_chunk_takes_the_time_of_the_lone_transaction) {
  auto p = platform();
  const RunReport r = run_kernel(*p, copying(kUnit));
  EXPECT_TRUE(r.passed);
  // x at the start of the first PE's slice, y behind it.
  const uint32_t endpoint = p->graph().index_of.at("sip0.io0.pcie_ep");
  const uint64_t base = p->graph().memories[p->pes().local_memory(0)].base;
  const Rows rows{1, 65536, 0};
  const Route& up = p->routes().route(endpoint, base, 65536, true);
  const Route& down = p->routes().route(endpoint, base + 65536, 65536, false);
  EXPECT_NEAR(r.upload_ns, p->system().mode().formula_ns(up, true, base, 65536, rows), 1e-6);
  EXPECT_NEAR(r.download_ns, p->system().mode().formula_ns(down, false, base + 65536, 65536, rows), 1e-6);
  EXPECT_GT(r.upload_ns, 65536 / 256.0) << "no link of the system is faster than 256 GB/s";
}

TEST_P(TimedTransfer, comes_before_the_launch_and_after_the_completions) {
  const auto figures = [&](bool timed) {
    auto p = platform();
    RunOptions o = copying(3 * kUnit + 100);
    o.timed_transfer = timed;
    const RunReport r = run_kernel(*p, std::move(o));
    return nlohmann::json{r.upload_ns, r.start_ns, r.pes[0].end_ns, r.end_ns, r.download_ns}.dump();
  };
  const auto timed = nlohmann::json::parse(in_child([&] { return figures(true); }));
  const auto instant = nlohmann::json::parse(in_child([&] { return figures(false); }));
  const double upload = timed[0], download = timed[4];
  EXPECT_GT(upload, 0);
  EXPECT_GT(download, 0);
  EXPECT_EQ(instant[0], 0);
  EXPECT_EQ(instant[4], 0);
  EXPECT_NEAR(timed[1].get<double>(), upload + instant[1].get<double>(), 1e-6) << "the stamp";
  EXPECT_NEAR(timed[2].get<double>(), upload + instant[2].get<double>(), 1e-6) << "the first PE's end";
  EXPECT_NEAR(timed[3].get<double>(), upload + instant[3].get<double>() + download, 1e-6) << "the whole";
}

TEST_P(TimedTransfer, of_many_chunks_is_the_traffic_of_its_chunks) {
  constexpr int64_t n = 3 * kUnit + 100;
  const std::string upload = in_child([&] {
    auto p = platform();
    return std::to_string(run_kernel(*p, copying(n)).upload_ns);
  });
  const std::string traffic = in_child([&] {
    auto p = platform();
    const uint64_t base = p->graph().memories[p->pes().local_memory(0)].base;
    std::vector<TrafficRequest> requests;
    for (uint64_t at = 0; at < 4 * n; at += 65536) {
      requests.push_back(request(*p, 0, "sip0.io0.pcie_ep", "write", base + at, std::min<uint64_t>(65536, 4 * n - at)));
    }
    double last = 0;
    for (const TrafficResult& r : run_traffic(*p, requests)) last = std::max(last, r.done_ns);
    return std::to_string(last);
  });
  EXPECT_EQ(upload, traffic);
}

TEST_P(TimedTransfer, of_one_input_gives_the_same_report_twice) {
  const auto report = [&] {
    auto p = platform();
    std::ostringstream out;
    RunReport r = run_kernel(*p, copying(5 * kUnit));
    r.wall_s = 0;
    write_run_json(out, r);
    return out.str();
  };
  const std::string first = in_child(report), second = in_child(report);
  EXPECT_EQ(first, second);
  const auto j = nlohmann::json::parse(first);
  EXPECT_EQ(j["launch"], "host");
  EXPECT_EQ(j["transfer"], "timed");
  EXPECT_EQ(j["end_ns"], j["sim_ns"]);
  EXPECT_GT(j["upload_ns"], 0);
  EXPECT_GT(j["download_ns"], 0);
}

INSTANTIATE_TEST_SUITE_P(All, TimedTransfer,
                         ::testing::Values(topology::Links::ideal, topology::Links::cut_through, topology::Links::flit),
                         [](const auto& parameter) { return std::string(topology::name_of(parameter.param)); });

TEST(InstantTransfer, says_so_and_gives_no_transfer_times) {
  auto p = platform_from_text(toy_system());
  RunOptions o = copying(kUnit);
  o.timed_transfer = false;
  const RunReport r = run_kernel(*p, std::move(o));
  std::ostringstream text, json;
  write_run_text(text, r);
  write_run_json(json, r);
  EXPECT_NE(text.str().find("instant: tensors are placed and read back at no cost"), std::string::npos) << text.str();
  const auto j = nlohmann::json::parse(json.str());
  EXPECT_EQ(j["transfer"], "instant");
  EXPECT_FALSE(j.contains("upload_ns"));
}

TEST(TimedTransferWithoutEndpoint, is_refused_before_anything_runs) {
  auto p = platform_from_text(toy_system("sip0.io0.pcie_ep"));
  try {
    run_kernel(*p, copying(kUnit));
    FAIL() << "no error";
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(), "--transfer timed: sip0.cube0.hbm: no pcie_ep in its SIP's io0");
  }
}

}  // namespace
}  // namespace kernbench::testing
