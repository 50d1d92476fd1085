// SPDX-License-Identifier: Apache-2.0
// User-defined routers and memories return impossible values. Each is reported in one line, with the block, its impl
// and the value, in every link mode. Exceptions that they throw are reported too.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/fabric/fabric_port.h"
#include "kernbench/systemc_models/fabric/router.h"
#include "kernbench/systemc_models/memory/hbm_ctrl.h"
#include "system_support.h"

namespace kernbench::testing {

enum class Wrong {
  nothing,
  negative_delay,
  no_delay,
  infinite_delay,
  delay_throws,
  another_memory,
  in_circles,
  way_throws,
  before_arrival,
  end_before_begin,
  no_end,
  serve_throws,
  before_request,
};
Wrong wrong;

class WrongRouter : public Router {
 public:
  using Router::Router;
  static ImplSpec spec() { return spec_of<Parameters>("acme.router", "router", "wrong"); }

 protected:
  double delay_ns(const PassingMessage& m) const override {
    if (wrong == Wrong::delay_throws) throw std::out_of_range("no such table");
    return wrong == Wrong::negative_delay   ? -3
           : wrong == Wrong::no_delay       ? std::nan("")
           : wrong == Wrong::infinite_delay ? std::numeric_limits<double>::infinity()
                                            : Router::delay_ns(m);
  }
  FabricPort& way(const FabricTransaction& x, FabricPort& from) override {
    if (wrong == Wrong::way_throws) throw std::out_of_range("no such table");
    if (wrong == Wrong::in_circles) return from;
    if (wrong != Wrong::another_memory) return Router::way(x, from);
    for (FabricPort* p : ports()) {
      if (p->neighbour() && p->neighbour()->node().owner().id() == "other") return *p;
    }
    throw std::logic_error("it is not there");
  }
};

class WrongMemory : public HbmCtrl {
 public:
  using HbmCtrl::HbmCtrl;
  static ImplSpec spec() { return spec_of<Parameters>("acme.hbm", "hbm_ctrl", "wrong").memory("hbm"); }

 protected:
  Service serve(State& state, const Request& q) const override {
    if (wrong == Wrong::serve_throws) throw std::out_of_range("no such bank");
    Service s = HbmCtrl::serve(state, q);
    if (wrong == Wrong::before_request && !q.transaction) s.header_leaves_ns = s.finish_ns = -1000;
    if (wrong == Wrong::before_arrival) s.header_leaves_ns = s.finish_ns = 1;
    if (wrong == Wrong::end_before_begin) s.finish_ns = s.header_leaves_ns - 1;
    if (wrong == Wrong::no_end) s.finish_ns = std::nan("");
    return s;
  }
};

}  // namespace kernbench::testing

namespace kernbench::answers_of_own_classes_are_checked {
using namespace testing;
KERNBENCH_REGISTER_COMPONENT(WrongRouter)
KERNBENCH_REGISTER_COMPONENT(WrongMemory)
}  // namespace kernbench::answers_of_own_classes_are_checked

namespace kernbench::testing {
namespace {

struct Mode {
  const char *name, *timing, *buffers;
};
const Mode kModes[] = {{"ideal", "links: ideal", ""},
                       {"cut_through", "links: cut_through, response: routed", ""},
                       {"flit", "links: flit, flit_bytes: 64, response: routed", ""}};

/// Result of a read and a concurrent write: "" if both are served.
std::string said(const Mode& mode, Wrong what) {
  return in_child([&]() -> std::string {
    wrong = what;
    try {
      const auto platform = platform_from_text(std::string("ns_per_mm: 0.01\ntiming: {") + mode.timing + R"(}
nodes:
- {id: c.pe0.pe_dma, kind: pe_dma, attrs: {overhead_ns: 1}}
- {id: r, kind: router, impl: acme.router, attrs: {overhead_ns: 2}}
- {id: h, kind: hbm_ctrl, impl: acme.hbm, attrs: {overhead_ns: 3}}
- {id: other, kind: hbm_ctrl, attrs: {overhead_ns: 3}}
links:
- {from: c.pe0.pe_dma, to: r, distance_mm: 100, bw_gbs: 64}
- {from: r, to: h, distance_mm: 100, bw_gbs: 64}
- {from: r, to: other, distance_mm: 100, bw_gbs: 64}
memories:
- {node: h, space: hbm, base: 0, size: 1048576}
- {node: other, space: hbm, base: 1048576, size: 1048576}
)");
      const auto results = run_traffic(*platform, {request(*platform, 0, "c.pe0.pe_dma", "read", 0, 4096),
                                                   request(*platform, 0, "c.pe0.pe_dma", "write", 65536, 100)});
      for (const TrafficResult& r : results) {
        if (!(r.done_ns > 0)) return "not served, and nothing said";
      }
      return "";
    } catch (const std::exception& e) {
      return e.what();
    }
  });
}

class OwnClasses : public ::testing::TestWithParam<Mode> {};

TEST_P(OwnClasses, are_told_what_they_have_said) {
  const auto expect = [](const char* begin, Wrong what) {
    const std::string text = said(GetParam(), what);
    EXPECT_EQ(text.substr(0, std::string(begin).size()), begin) << text;
    EXPECT_EQ(text.find('\n'), text.npos) << text;
  };
  EXPECT_EQ(said(GetParam(), Wrong::nothing), "");
  expect("r (acme.router): delay_ns() gave -3 ns, expected 0 ns or more", Wrong::negative_delay);
  expect("r (acme.router): delay_ns() gave nan ns, expected 0 ns or more", Wrong::no_delay);
  expect("r (acme.router): delay_ns() gave inf ns, expected", Wrong::infinite_delay);
  expect("r (acme.router): delay_ns() threw: no such table", Wrong::delay_throws);
  expect("r (acme.router): way() threw: no such table", Wrong::way_throws);
  expect("h (acme.hbm): serve(): header_leaves_ns gave 1 ns, expected", Wrong::before_arrival);
  expect("h (acme.hbm): serve(): finish_ns gave ", Wrong::end_before_begin);
  expect("h (acme.hbm): serve(): finish_ns gave nan ns, expected", Wrong::no_end);
  expect("h (acme.hbm): serve() threw: no such bank", Wrong::serve_throws);
  expect("h (acme.hbm): serve(): header_leaves_ns gave -1000 ns, expected", Wrong::before_request);
  // The memory cannot determine which router it was.
  expect("other (builtin.hbm_ctrl): a router's way() has led a transaction to ", Wrong::another_memory);
  EXPECT_NE(said(GetParam(), Wrong::in_circles), "");
}

INSTANTIATE_TEST_SUITE_P(Modes, OwnClasses, ::testing::ValuesIn(kModes),
                         [](const auto& mode) { return std::string(mode.param.name); });

}  // namespace
}  // namespace kernbench::testing
