// SPDX-License-Identifier: Apache-2.0
// Attributes as sc_attributes of the blocks, and the effect of changing one; kind(); values from C++ that override the
// file's.
#include <gtest/gtest.h>

#include "kernbench/platform/job.h"
#include "kernbench/platform/topology/graph/faults.h"
#include "system_support.h"

namespace kernbench::testing {
namespace {

template <class T>
T value_of(Platform& platform, const std::string& object, const std::string& attribute) {
  sc_core::sc_object* block = sc_core::sc_find_object((std::string(platform.name()) + "." + object).c_str());
  const auto* a = block ? dynamic_cast<sc_core::sc_attribute<T>*>(block->get_attribute(attribute)) : nullptr;
  EXPECT_TRUE(a) << object << "." << attribute;
  return a ? a->value : T{};
}

/// Reports are intended here: they are thrown and are no failures.
void throw_reports() {
  sc_core::sc_report_handler::set_handler([](const sc_core::sc_report& r, const sc_core::sc_actions&) { throw r; });
}

TEST(Attributes, are_sc_attributes_on_request) {
  Platform platform("device", compile_file(topology_path("small.yaml"), {{"sip0.cube0.pe[01].pe_gemm.freq_ghz", 1.25},
                                                                         {"sip0.cube0.*.pe_dma.queue_depth", 7}}));
  sc_core::sc_object* gemm = sc_core::sc_find_object("device.sip0.cube0.pe0.pe_gemm");
  ASSERT_TRUE(gemm);
  EXPECT_EQ(gemm->num_attributes(), 0);
  platform.expose_attributes();
  platform.expose_attributes();
  EXPECT_EQ(value_of<double>(platform, "sip0.cube0.pe0.pe_gemm", "freq_ghz"), 1.25);
  EXPECT_NE(value_of<double>(platform, "sip0.cube0.pe2.pe_gemm", "freq_ghz"), 1.25);
  EXPECT_EQ(value_of<int64_t>(platform, "sip0.cube0.pe3.pe_dma", "queue_depth"), 7);
  EXPECT_EQ(value_of<double>(platform, "sip0.cube0.pe0.pe_gemm", "overhead_ns"), 0);  // by default
  EXPECT_NE(value_of<std::string>(platform, "sip0.cube0.pe0.pe_gemm", "rates").find("f32=0.5"), std::string::npos);
  size_t nodes = 0;
  for (uint32_t n = 0; n < platform.graph().nodes.size(); ++n) {
    nodes += platform.component(n).num_attributes() > 0;
    EXPECT_EQ(platform.component(n).kind(), platform.graph().nodes[n].impl);
  }
  EXPECT_EQ(nodes, platform.graph().nodes.size());
  EXPECT_NO_THROW(platform.check_attributes());
}

TEST(Attributes, that_are_changed_are_refused) {
  const auto platform = platform_from_file(topology_path("small.yaml"));
  platform->expose_attributes();
  auto* overhead = dynamic_cast<sc_core::sc_attribute<double>*>(platform->component(0).get_attribute("overhead_ns"));
  ASSERT_TRUE(overhead);
  JobOptions o;
  o.kernel = "vector_add";
  Job job(*platform, o);
  job.run();
  overhead->value += 1;
  throw_reports();
  const std::string id = platform->graph().nodes[0].id;
  try {
    job.start();
    ADD_FAILURE() << "a change was not told";
  } catch (const sc_core::sc_report& told) {
    EXPECT_STREQ(told.get_msg_type(), "/kernbench/attribute");
    EXPECT_NE(std::string(told.get_msg()).find(id + ".overhead_ns: found "), std::string::npos) << told.get_msg();
  }
  EXPECT_FALSE(job.running());
  overhead->value -= 1;
  job.run();
}

TEST(Attributes, that_are_changed_before_the_simulation_stop_it) {
  const auto platform = platform_from_file(topology_path("small.yaml"));
  platform->expose_attributes();
  auto* rates = dynamic_cast<sc_core::sc_attribute<std::string>*>(
      sc_core::sc_find_object("system.sip0.cube0.pe0.pe_gemm")->get_attribute("rates"));
  ASSERT_TRUE(rates);
  rates->value = "f32=2";
  throw_reports();
  EXPECT_THROW(sc_core::sc_start(sc_core::SC_ZERO_TIME), sc_core::sc_report);
}

TEST(Attributes, of_no_node_are_faults_of_the_topology) {
  const std::string file = topology_path("small.yaml");
  EXPECT_THROW(compile_file(file, {{"sip7.*.freq_ghz", 1.2}}), topology::TopologyError);
  EXPECT_THROW(compile_file(file, {{"sip0.cube0.pe0.pe_gemm.freq", 1.2}}), topology::TopologyError);
  EXPECT_THROW(compile_file(file, {{"edge:nosuch.bw_gbs", 1}}), topology::TopologyError);
}

}  // namespace
}  // namespace kernbench::testing
