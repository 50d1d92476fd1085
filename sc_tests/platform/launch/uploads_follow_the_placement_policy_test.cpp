// SPDX-License-Identifier: Apache-2.0
// Tensors placed over cubes and PEs by every policy. Each PE gets its part, whether or not the upload takes time;
// copies cost time; and read-back returns the stored values.
#include <gtest/gtest.h>

#include <map>

#include "kernbench/kernel_api/registry.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/run/run.h"
#include "system_support.h"

namespace kernbench::testing::uploads_follow_the_placement_policy {
namespace {

constexpr int64_t kRows = 24, kCols = 40;

/// The part of each PE, by its number in the launch: its view's offset and shape, and the values.
struct Found {
  Dims offset, shape;
  std::vector<float> values;
};
std::map<int64_t, Found> found;
TensorMap given;

/// y = x, each PE its part; the output follows the policy if possible.
KernelSpec copying(const CubePePolicy& policy, const std::string& name) {
  KernelSpec s;
  s.name = name;
  s.help = "of the placement tests";
  const bool replicated = policy.cube == Split::replicate || policy.pe == Split::replicate;
  s.function = [replicated](tl::Context& tl, const tl::Args& args) {
    if (args["x"].empty()) return;
    auto x = tl.load(args["x"]);
    found[tl.index()] = {args["x"].offset, args["x"].shape, x.to_vector<float>()};
    if (!replicated) tl.store(args["y"], x);
  };
  for (const char* tensor : {"x", "y"}) {
    TensorSpec t;
    t.name = tensor;
    t.role = tensor[0] == 'x' ? TensorSpec::Role::in : TensorSpec::Role::out;
    t.shape = [](const Params&) { return Dims{kRows, kCols}; };
    t.dtype = [](const Params&) { return DType::f32; };
    t.policy = policy;
    t.init = Init::uniform();
    if (tensor[0] == 'x' || !replicated) s.tensors.push_back(t);
  }
  s.reference = [replicated](const Params&, const TensorMap& in) {
    given = in;
    std::map<std::string, Expected> expected;
    if (!replicated) expected["y"] = {in.at("x"), {}};
    return expected;
  };
  return s;
}

constexpr Split kSplits[] = {Split::replicate, Split::row_wise, Split::column_wise};

std::string kernel_name(Split cube, Split pe) {
  return "placement_test_" + std::string(name_of(cube)) + "_" + std::string(name_of(pe));
}

const bool registered = [] {
  for (const Split cube : kSplits)
    for (const Split pe : kSplits) RegisterKernel(copying({cube, pe}, kernel_name(cube, pe)));
  KernelSpec bad = copying({Split::row_wise, Split::row_wise}, "placement_test_output_in_copies");
  bad.tensors.back().policy = CubePePolicy{Split::row_wise, Split::replicate};
  RegisterKernel(std::move(bad));
  return true;
}();

RunReport run(const std::string& kernel, bool timed, const topology::Overrides& overrides = {}) {
  const auto platform = platform_from_file(topology_path("small.yaml"), overrides);
  RunOptions o;
  o.kernel = kernel;
  o.timed_transfer = timed;
  o.verify = true;
  o.threads = 1;
  return run_kernel(*platform, std::move(o));
}

class Policy : public ::testing::TestWithParam<std::tuple<Split, Split, bool>> {};

// small.yaml: 2 cubes of 4 PEs.
TEST_P(Policy, puts_each_part_where_its_pe_finds_it) {
  const auto& [cube, pe, timed] = GetParam();
  found.clear();
  const RunReport r = run(kernel_name(cube, pe), timed);
  EXPECT_TRUE(r.passed);
  EXPECT_EQ(r.upload_ns > 0, timed);
  EXPECT_EQ(r.download_ns > 0, timed && cube != Split::replicate && pe != Split::replicate);
  ASSERT_EQ(found.size(), 8u);
  const std::vector<float> x = given.at("x").floats();
  const auto parts = [](Split s, Split axis, int64_t n) { return s == axis ? n : 1; };
  int64_t elements = 0;
  for (const auto& [rank, f] : found) {
    const int64_t c = rank / 4, p = rank % 4;
    const int64_t rows = kRows / parts(cube, Split::row_wise, 2), cols = kCols / parts(cube, Split::column_wise, 2);
    const Dims shape{rows / parts(pe, Split::row_wise, 4), cols / parts(pe, Split::column_wise, 4)};
    ASSERT_EQ(f.shape, shape);
    ASSERT_EQ(f.offset,
              (Dims{(cube == Split::row_wise ? c * rows : 0) + (pe == Split::row_wise ? p * shape[0] : 0),
                    (cube == Split::column_wise ? c * cols : 0) + (pe == Split::column_wise ? p * shape[1] : 0)}));
    for (int64_t i = 0; i < shape[0]; ++i)
      for (int64_t k = 0; k < shape[1]; ++k)
        ASSERT_EQ(f.values[static_cast<size_t>(i * shape[1] + k)],
                  x[static_cast<size_t>((f.offset[0] + i) * kCols + f.offset[1] + k)]);
    elements += static_cast<int64_t>(f.values.size());
  }
  EXPECT_EQ(elements, kRows * kCols * (cube == Split::replicate ? 2 : 1) * (pe == Split::replicate ? 4 : 1));
}

INSTANTIATE_TEST_SUITE_P(of, Policy,
                         ::testing::Combine(::testing::ValuesIn(kSplits), ::testing::ValuesIn(kSplits),
                                            ::testing::Bool()),
                         [](const auto& p) {
                           return "cube_" + std::string(name_of(std::get<0>(p.param))) + "_pe_" +
                                  std::string(name_of(std::get<1>(p.param))) +
                                  (std::get<2>(p.param) ? "_timed" : "_instant");
                         });

TEST(TimedUpload, pays_for_copies_and_leaves_the_kernels_as_they_were) {
  const auto figures = [](Split cube, Split pe, bool timed) {
    return in_child([=] {
      topology::Overrides flits;  // so that a link's bandwidth matters
      flits.links = topology::Links::flit;
      const RunReport r = run(kernel_name(cube, pe), timed, flits);
      char text[100];
      std::snprintf(text, sizeof text, "%.9f %.9f", r.upload_ns, r.pes.back().end_ns - r.start_ns);
      return std::string(text);
    });
  };
  const auto numbers = [](const std::string& text) {
    double upload = -1, kernel = -1;
    std::sscanf(text.c_str(), "%lf %lf", &upload, &kernel);
    return std::make_pair(upload, kernel);
  };
  const auto split = numbers(figures(Split::row_wise, Split::row_wise, true));
  const auto copies = numbers(figures(Split::replicate, Split::replicate, true));
  // Everything leaves the single endpoint by a link of 256 GB/s.
  const double once = kRows * kCols * 4 / 256.0;
  EXPECT_GE(split.first, once);
  EXPECT_GE(copies.first, 8 * once);
  EXPECT_LT(split.first, 8 * once);
  EXPECT_NEAR(split.second, numbers(figures(Split::row_wise, Split::row_wise, false)).second, 1e-6);
  EXPECT_NEAR(copies.second, numbers(figures(Split::replicate, Split::replicate, false)).second, 1e-6);
}

TEST(PlacementPolicy, of_an_output_in_copies_is_refused) {
  try {
    run("placement_test_output_in_copies", false);
    FAIL() << "no error";
  } catch (const BadParam& e) {
    EXPECT_STREQ(e.what(),
                 "kernel placement_test_output_in_copies: output y is placed in copies, of which none is the result");
  }
}

}  // namespace
}  // namespace kernbench::testing::uploads_follow_the_placement_policy
