// SPDX-License-Identifier: Apache-2.0
// A router with its own delay, and a memory with its own service: does everything that computes the cost of a path
// include them? The router adds 10 ns to its overhead of 5, so all results must equal those of a built-in router with
// overhead 15. A memory that takes 1 us longer makes every access 1 us longer and changes nothing else.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>
#include <sstream>
#include <type_traits>

#include "kernbench/platform/insight/explainer.h"
#include "kernbench/platform/run/run.h"
#include "kernbench/platform/work/probe.h"
#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/fabric/router.h"
#include "kernbench/systemc_models/host/pcie_ep.h"
#include "kernbench/systemc_models/memory/hbm_ctrl.h"
#include "kernbench/systemc_models/pe/pe_dma.h"
#include "system_support.h"

namespace kernbench::testing::what_a_block_costs_is_said_once {
namespace {

constexpr double kMore = 10, kLate = 1000;

class SlowRouter : public Router {
 public:
  using Router::Router;
  static ImplSpec spec() { return spec_of<Parameters>("test.ten_more", "router", "10 ns more than its overhead"); }

 protected:
  double delay_ns(const PassingMessage&) const override { return overhead_ns() + kMore; }
};
KERNBENCH_REGISTER_COMPONENT(SlowRouter)

class LateMemory : public HbmCtrl {
 public:
  using HbmCtrl::HbmCtrl;
  static ImplSpec spec() { return spec_of<Parameters>("test.late", "hbm_ctrl", "a microsecond late").memory("hbm"); }

 protected:
  Service serve(State& state, const Request& q) const override {
    Service s = HbmCtrl::serve(state, q);
    s.header_leaves_ns += kLate;
    s.finish_ns += kLate;
    return s;
  }
};
KERNBENCH_REGISTER_COMPONENT(LateMemory)

/// Two PEs, each with its own router, a memory behind one of them, and the path of a launch over the other.
std::string machine(const std::string& router, const std::string& memory = "builtin.hbm_ctrl",
                    const std::string& more = "") {
  std::string yaml =
      "ns_per_mm: 0.01\nnodes:\n- {id: sip0.io0.pcie_ep, kind: pcie_ep, attrs: {overhead_ns: 3}}\n"
      "- {id: sip0.io0.io_cpu, kind: io_cpu, attrs: {overhead_ns: 2}}\n"
      "- {id: sip0.cube0.m_cpu, kind: m_cpu, attrs: {overhead_ns: 4}}\n" +
      router;
  for (const char* pe : {"pe0", "pe1"}) {
    const std::string id = std::string("- {id: sip0.cube0.") + pe + ".";
    yaml += id + "pe_cpu, kind: pe_cpu, attrs: {overhead_ns: 2}}\n" + id + "pe_scheduler, kind: pe_scheduler}\n" + id +
            "pe_dma, kind: pe_dma, attrs: {overhead_ns: 1}}\n" + id + "pe_fetch_store, kind: pe_fetch_store}\n" + id +
            "pe_gemm, kind: pe_gemm, attrs: {macs_per_cycle: 64, freq_ghz: 1}}\n" + id +
            "pe_math, kind: pe_math, attrs: {lanes: 16, freq_ghz: 1}}\n" + id + "pe_ipcq, kind: pe_ipcq}\n" + id +
            "pe_tcm, kind: pe_tcm, attrs: {size_mb: 1, reserved_mb: 0.25, read_bw_gbs: 512, write_bw_gbs: 512}}\n";
  }
  yaml += "- {id: hbm, kind: hbm_ctrl, impl: " + memory + ", attrs: {overhead_ns: 6}}\nlinks:\n";
  const auto link = [&](const std::string& from, const std::string& to) {
    yaml += "- {from: " + from + ", to: " + to + ", distance_mm: 100, bw_gbs: 64}\n";
  };
  link("sip0.io0.pcie_ep", "sip0.io0.io_cpu");
  link("sip0.io0.io_cpu", "r0");
  link("r0", "sip0.cube0.m_cpu");
  link("sip0.cube0.m_cpu", "sip0.cube0.pe0.pe_cpu");
  link("sip0.cube0.m_cpu", "sip0.cube0.pe1.pe_cpu");
  link("sip0.cube0.pe0.pe_dma", "r0");
  link("sip0.cube0.pe1.pe_dma", "r1");
  link("r0", "r1");
  link("r1", "hbm");
  return yaml + "memories:\n- {node: hbm, space: hbm, base: 0, size: 16777216}\n" + more;
}
std::string routers(const std::string& impl, double overhead_ns) {
  std::string yaml;
  for (const char* id : {"r0", "r1"})
    yaml += fmt::format("- {{id: {}, kind: router, impl: {}, attrs: {{overhead_ns: {}}}}}\n", id, impl, overhead_ns);
  return yaml;
}

// Other code cannot read a block's overhead: this must not compile.
template <class Block, class = void>
struct TellsOverhead : std::false_type {};
template <class Block>
struct TellsOverhead<Block, std::void_t<decltype(std::declval<const Block&>().overhead_ns())>> : std::true_type {};
struct Open {
  double overhead_ns() const { return 0; }
};
static_assert(TellsOverhead<Open>::value);
static_assert(!TellsOverhead<Component>::value && !TellsOverhead<Router>::value && !TellsOverhead<HbmCtrl>::value &&
              !TellsOverhead<PcieEp>::value && !TellsOverhead<PeDma>::value);

struct Mode {
  const char* links;
  Response response;
};
constexpr Mode kModes[] = {{"ideal", Response::ideal},
                           {"ideal", Response::routed},
                           {"cut_through", Response::ideal},
                           {"cut_through", Response::routed},
                           {"flit", Response::routed}};

std::unique_ptr<Platform> platform_in(const Mode& mode, const std::string& yaml) {
  topology::Overrides o;
  o.links = Links(mode.links);
  o.response = mode.response;
  return platform_from_text(yaml, o);
}

/// Named numbers, one per line, with a resolution of fs.
class Lines {
 public:
  void add(const std::string& what, double v) { text_ += fmt::format("{} {:.6f}\n", what, std::abs(v) < 1e-7 ? 0 : v); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::vector<ProbeCase> cases_of(Platform& platform) {
  std::vector<ProbeCase> cases;
  for (const char* pe : {"pe0", "pe1"}) {
    for (const bool write : {false, true}) {
      ProbeCase c;
      c.name = fmt::format("{}-{}", pe, write ? "write" : "read");
      c.initiator = request(platform, 0, fmt::format("sip0.cube0.{}.pe_dma", pe), "read", 0, 64).initiator;
      c.write = write;
      cases.push_back(c);
    }
  }
  return cases;
}

/// The table of probe and its hops, which its own checks compare.
std::string probed(const Mode& mode, const std::string& yaml) {
  return in_child([&] {
    const auto platform = platform_in(mode, yaml);
    Lines out;
    for (const uint64_t nbytes : {64u, 1000u, 4096u}) {
      const std::vector<ProbeResult> results = run_probe(*platform, cases_of(*platform), nbytes);
      for (const ProbeResult& r : results) {
        const std::string name = fmt::format("{} {}", r.probe.name, nbytes);
        out.add(name + " actual", r.actual_ns);
        out.add(name + " formula", r.formula_ns);
        out.add(name + " overhead", r.overhead_ns);
        out.add(name + " drain", r.drain_ns);
        out.add(name + " queueing", r.queueing_ns);
        out.add(name + " stored", r.store_forward_ns);
        for (const ProbeHop& h : trace_hops(*platform, r.probe, nbytes).hops) {
          out.add(name + " hop arrives", h.arrive_ns);
          out.add(name + " hop overhead", h.overhead_ns);
          out.add(name + " hop leaves", h.leave_ns());
        }
      }
      for (const ProbeCheck& c : check_probe(*platform, results)) {
        if (!c.passed) return c.name + std::string(" failed: ") + c.found;
      }
    }
    return out.text();
  });
}

std::string traffic(const Mode& mode, const std::string& yaml) {
  return in_child([&] {
    const auto platform = platform_in(mode, yaml);
    std::vector<TrafficRequest> requests;
    for (int i = 0; i < 12; ++i) {
      requests.push_back(request(*platform, i < 8 ? 7 * i : 1e6 * i, fmt::format("sip0.cube0.pe{}.pe_dma", i % 2),
                                 i % 3 ? "read" : "write", static_cast<uint64_t>(4096 * i), 100 + 300 * i % 1700));
    }
    Lines out;
    std::vector<TrafficAccount> accounts;
    const std::vector<TrafficResult> results = run_traffic(*platform, requests, &accounts);
    for (size_t i = 0; i < results.size(); ++i) {
      const TrafficAccount& a = accounts[i];
      out.add("grant", results[i].grant_ns);
      out.add("done", results[i].done_ns);
      out.add("formula", results[i].formula_ns);
      out.add("overhead", a.overhead_ns);
      const double parts =
          a.overhead_ns + a.wire_ns + a.drain_ns + a.store_forward_ns + a.link_queue_ns + a.memory_queue_ns;
      out.add("not accounted for", results[i].done_ns - results[i].grant_ns - parts);
    }
    return out.text();
  });
}

/// A run launched by its host: its times, the costs by which it selected an algorithm, and the owners of its time.
std::string run(const Mode& mode, const std::string& yaml, const std::string& kernel) {
  return in_child([&] {
    const auto platform = platform_in(mode, yaml);
    insight::Explainer explainer(*platform);
    RunOptions o;
    o.kernel = kernel;
    o.params = {{"n", "2048"}};
    o.launch = LaunchMode::host;
    o.verify = true;
    const RunReport r = run_kernel(*platform, std::move(o));
    Lines out;
    out.add("start", r.start_ns);
    out.add("end", r.end_ns);
    out.add("passed", r.passed);
    for (const auto& [algorithm, ns] : r.launch_notes.costs_ns) out.add("cost of " + algorithm, ns);
    const auto insight = explainer.explain(figures_of(r));
    for (size_t i = 0; i < insight->by_resource.size(); ++i) {
      const auto resource = static_cast<insight::Resource>(i);
      out.add(std::string(name_of(resource)), insight->by_resource[i]);
    }
    out.add("unexplained", insight->unexplained_ns);
    return out.text();
  });
}

class EveryMode : public ::testing::TestWithParam<Mode> {};

TEST_P(EveryMode, counts_the_delay_of_a_router_like_an_overhead) {
  const std::string own = machine(routers("test.ten_more", 5)), ours = machine(routers("builtin.router", 15));
  EXPECT_EQ(probed(GetParam(), own), probed(GetParam(), ours));
  EXPECT_EQ(traffic(GetParam(), own), traffic(GetParam(), ours));
  for (const char* kernel : {"vector_add", "all_reduce"})
    EXPECT_EQ(run(GetParam(), own, kernel), run(GetParam(), ours, kernel)) << kernel;
}

/// The value after "what" in lines: the n-th one.
std::vector<double> values(const std::string& lines, const std::string& what) {
  std::vector<double> found;
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) {
    const size_t at = line.find_last_of(' ');
    if (at >= what.size() && line.substr(at - what.size(), what.size()) == what)
      found.push_back(std::stod(line.substr(at)));
  }
  return found;
}

TEST_P(EveryMode, counts_the_launch_over_it) {
  const std::string own = run(GetParam(), machine(routers("test.ten_more", 5)), "vector_add"),
                    less = run(GetParam(), machine(routers("builtin.router", 5)), "vector_add");
  ASSERT_EQ(values(own, "start").size(), 1u) << own;
  EXPECT_NEAR(values(own, "start")[0] - values(less, "start")[0], kMore, 1e-6);
}

TEST_P(EveryMode, asks_a_memory_of_ones_own_how_long_it_takes) {
  const std::string own = machine(routers("builtin.router", 5), "test.late"),
                    ours = machine(routers("builtin.router", 5));
  const std::string late = traffic(GetParam(), own), usual = traffic(GetParam(), ours);
  const auto at = values(late, "done"), before = values(usual, "done");
  ASSERT_EQ(at.size(), 12u) << late;
  ASSERT_EQ(before.size(), 12u) << usual;
  // The last four run alone.
  const bool flits = std::string(GetParam().links) == "flit";
  for (size_t i = 8; i < 12; ++i) {
    if (flits) {
      EXPECT_GE(at[i] - before[i], kLate) << i;  // it serves complete requests
    } else {
      EXPECT_NEAR(at[i] - before[i], kLate, 1e-6) << i;
    }
  }
  for (const double open : values(late, "not accounted for")) EXPECT_EQ(open, 0) << late;
  // The checks of probe compare it with its formula, its parts and its hops.
  const std::string table = probed(GetParam(), own);
  EXPECT_EQ(table.find("failed"), std::string::npos) << table;
  EXPECT_EQ(values(table, "actual"), values(table, "formula"));
  const std::string explained = run(GetParam(), own, "vector_add");
  ASSERT_EQ(values(explained, "unexplained").size(), 1u) << explained;
  EXPECT_EQ(values(explained, "unexplained")[0], 0);
}

INSTANTIATE_TEST_SUITE_P(Links, EveryMode, ::testing::ValuesIn(kModes),
                         [](const auto& of) { return std::string(of.param.links) + "_" + name_of(of.param.response); });

}  // namespace
}  // namespace kernbench::testing::what_a_block_costs_is_said_once
