// SPDX-License-Identifier: Apache-2.0
// PEs that share a router are equally near to all their HBM slices. Each still gets a separate one.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "system_support.h"

namespace kernbench::testing {
namespace {

std::string small_with_16_pes_a_cube() {
  std::ifstream in(topology_path("small.yaml"));
  std::string yaml(std::istreambuf_iterator<char>(in), {});
  yaml = std::regex_replace(yaml, std::regex("count: 4 "), "count: 16 ");
  return std::regex_replace(yaml, std::regex("\\n +at: \\[r[^\\n]*"), "");
}

TEST(PesAtOneRouter, have_slices_of_their_own) {
  const auto platform = platform_from_text(small_with_16_pes_a_cube());
  ASSERT_EQ(platform->pes().count(), 32u);
  std::set<size_t> slices;
  for (size_t pe = 0; pe < 32; ++pe) {
    const size_t slice = platform->pes().local_memory(pe);
    EXPECT_TRUE(slices.insert(slice).second) << platform->graph().pes[pe].id;
    const std::string& hbm = platform->graph().nodes[platform->graph().memories[slice].node].id;
    const std::string& id = platform->graph().pes[pe].id;
    EXPECT_EQ(hbm.substr(hbm.rfind('.')), id.substr(id.rfind('.')));
  }
}

}  // namespace
}  // namespace kernbench::testing
