// SPDX-License-Identifier: Apache-2.0
// User-defined memories with their own service times, derived from the built-in ones. They are called in every link
// mode, including finite buffers, and traffic, probe's table and its hops show equal times. A memory that keeps the
// service may use the built-in flit service.
#include <gtest/gtest.h>

#include <cmath>

#include "kernbench/platform/work/probe.h"
#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/memory/hbm_ctrl.h"
#include "kernbench/systemc_models/memory/hbm_pc.h"
#include "system_support.h"

namespace kernbench::testing {

/// Like its base, but one microsecond later.
template <class Base>
class Late : public Base {
 public:
  using Base::Base;

 protected:
  Service serve(typename Base::State& state, const Request& q) const override {
    Service s = Base::serve(state, q);
    s.finish_ns += 1000;
    s.header_leaves_ns += 1000;
    s.drain_ns += 1000;
    return s;
  }
};

class LateHbm : public Late<HbmCtrl> {
 public:
  using Late::Late;
  static ImplSpec spec() { return spec_of<Parameters>("custom.late_hbm", "hbm_ctrl", "a microsecond late"); }
};

class LatePc : public Late<HbmPc> {
 public:
  using Late::Late;
  static ImplSpec spec() { return spec_of<Parameters>("custom.late_pc", "hbm_ctrl", "a microsecond late"); }
};

/// Does not count its additional time.
class ServeAlone : public HbmCtrl {
 public:
  using HbmCtrl::HbmCtrl;
  static ImplSpec spec() { return spec_of<Parameters>("custom.serve_alone", "hbm_ctrl", "a microsecond late"); }

 protected:
  Service serve(State& state, const Request& q) const override {
    Service s = HbmCtrl::serve(state, q);
    s.finish_ns += 1000;
    s.header_leaves_ns += 1000;
    return s;
  }
};

/// The same service, with complete requests also for flits.
class WholeHbm : public HbmCtrl {
 public:
  using HbmCtrl::HbmCtrl;
  static ImplSpec spec() { return spec_of<Parameters>("custom.whole_hbm", "hbm_ctrl", "whole requests"); }
};

class WholePc : public HbmPc {
 public:
  using HbmPc::HbmPc;
  static ImplSpec spec() { return spec_of<Parameters>("custom.whole_pc", "hbm_ctrl", "whole requests"); }
};

/// Has counters and declares that it serves like its base.
class CountingHbm : public HbmCtrl {
 public:
  CountingHbm(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& p)
      : HbmCtrl(name, config, p) {
    serve_flit_by_flit();
  }
  static ImplSpec spec() { return spec_of<Parameters>("custom.counting_hbm", "hbm_ctrl", "counts"); }
  std::vector<MemoryCounter> counters() const override { return {{"nothing", 0}}; }
};

}  // namespace kernbench::testing

namespace kernbench::own_memories_are_asked_in_every_mode {
using namespace testing;
KERNBENCH_REGISTER_COMPONENT(LateHbm)
KERNBENCH_REGISTER_COMPONENT(LatePc)
KERNBENCH_REGISTER_COMPONENT(ServeAlone)
KERNBENCH_REGISTER_COMPONENT(WholeHbm)
KERNBENCH_REGISTER_COMPONENT(WholePc)
KERNBENCH_REGISTER_COMPONENT(CountingHbm)
}  // namespace kernbench::own_memories_are_asked_in_every_mode

namespace kernbench::testing {
namespace {

struct Mode {
  const char *name, *timing, *buffers;
  bool flits;
};
const Mode kModes[] = {
    {"ideal", "links: ideal, response: ideal", "", false},
    {"routed", "links: ideal, response: routed", "", false},
    {"cut_through", "links: cut_through, response: routed, header_bytes: 16", "", false},
    {"flit", "links: flit, flit_bytes: 64, response: routed, header_bytes: 16", "", true},
    {"finite", "links: flit, flit_bytes: 64, response: routed, header_bytes: 16", ", buffer_flits: 8", true}};

/// Two DMAs, a router and a memory; every link is 64 GB/s.
std::unique_ptr<Platform> machine(const Mode& mode, const std::string& impl) {
  const bool channels = impl.find("_pc") != impl.npos;
  return platform_from_text(std::string("ns_per_mm: 0.01\ntiming: {") + mode.timing + R"(}
nodes:
- {id: c.pe0.pe_dma, kind: pe_dma, attrs: {overhead_ns: 1}}
- {id: c.pe1.pe_dma, kind: pe_dma, attrs: {overhead_ns: 1}}
- {id: r, kind: router, attrs: {overhead_ns: 2)" +
                            mode.buffers + R"(}}
- {id: h, kind: hbm_ctrl, impl: )" +
                            impl + ", attrs: {overhead_ns: 3" + mode.buffers +
                            (channels ? ", pseudo_channels: 4, interleave_bytes: 256, pc_bw_gbs: 32" : "") + R"(}}
links:
- {from: c.pe0.pe_dma, to: r, distance_mm: 100, bw_gbs: 64}
- {from: c.pe1.pe_dma, to: r, distance_mm: 100, bw_gbs: 64}
- {from: r, to: h, distance_mm: 100, bw_gbs: 64}
memories: [{node: h, space: hbm, base: 0, size: 1048576}]
)");
}

/// End of each of two accesses from two DMAs: isolated, or both at once.
std::pair<double, double> done_ns(const Mode& mode, const std::string& impl, const char* op, bool at_once) {
  const std::string both = in_child([&] {
    const auto platform = machine(mode, impl);
    const auto results =
        run_traffic(*platform, {request(*platform, 0, "c.pe0.pe_dma", op, 0, 4096),
                                request(*platform, at_once ? 0 : 100000, "c.pe1.pe_dma", op, 65536, 4096)});
    return std::to_string(results[0].done_ns) + " " + std::to_string(results[1].done_ns);
  });
  size_t end = 0;
  const double first = std::stod(both, &end);
  return {first, std::stod(both.substr(end))};
}

class OwnMemories : public ::testing::TestWithParam<Mode> {};

TEST_P(OwnMemories, are_as_late_as_they_say) {
  const Mode& mode = GetParam();
  struct Pair {
    const char *late, *same, *ours;
  };
  for (const auto& [late, same, ours] : {Pair{"custom.late_hbm", "custom.whole_hbm", "builtin.hbm_ctrl"},
                                         Pair{"custom.serve_alone", "custom.whole_hbm", "builtin.hbm_ctrl"},
                                         Pair{"custom.late_pc", "custom.whole_pc", "builtin.hbm_pc"}}) {
    for (const char* op : {"read", "write"}) {
      for (const bool at_once : {false, true}) {
        SCOPED_TRACE(std::string(late) + " " + op + (at_once ? " at once" : " alone"));
        const auto delayed = done_ns(mode, late, op, at_once), plain = done_ns(mode, same, op, at_once);
        EXPECT_NEAR(delayed.first, plain.first + 1000, 1e-6);
        EXPECT_NEAR(delayed.second, plain.second + 1000, 1e-6);
        // There, flits are served one by one as they arrive, by all channels at once.
        if (mode.flits && (at_once || op[0] == 'w' || ours == std::string("builtin.hbm_pc"))) continue;
        EXPECT_NEAR(delayed.first, done_ns(mode, ours, op, at_once).first + 1000, 1e-6);
      }
    }
  }
}

TEST_P(OwnMemories, that_leave_the_service_as_it_is_may_say_so) {
  for (const char* op : {"read", "write"})
    EXPECT_EQ(done_ns(GetParam(), "custom.counting_hbm", op, true), done_ns(GetParam(), "builtin.hbm_ctrl", op, true));
}

TEST_P(OwnMemories, are_told_alike_by_table_hops_and_traffic) {
  for (const char* impl : {"custom.late_hbm", "custom.late_pc"}) {
    const double traffic = done_ns(GetParam(), impl, "read", false).first;
    const std::string fault = in_child([&]() -> std::string {
      const auto platform = machine(GetParam(), impl);
      ProbeCase c;
      c.initiator = platform->graph().index_of.at("c.pe0.pe_dma");
      const ProbeResult r = run_probe(*platform, {c}, 4096).at(0);
      const double waited = std::string(GetParam().name) == "finite" ? r.queueing_ns : 0;
      const double hops = trace_hops(*platform, c, 4096).total_ns;
      const auto near = [](double a, double b) { return std::abs(a - b) < 1e-6; };
      if (near(r.actual_ns, traffic) && near(r.formula_ns + waited, traffic) && near(r.parts_ns(), traffic) &&
          near(hops + waited, traffic))
        return "";
      return std::to_string(r.actual_ns) + ", formula " + std::to_string(r.formula_ns) + ", parts " +
             std::to_string(r.parts_ns()) + ", hops " + std::to_string(hops) + ", traffic " + std::to_string(traffic);
    });
    EXPECT_EQ(fault, "") << impl;
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, OwnMemories, ::testing::ValuesIn(kModes),
                         [](const auto& mode) { return std::string(mode.param.name); });

}  // namespace
}  // namespace kernbench::testing
