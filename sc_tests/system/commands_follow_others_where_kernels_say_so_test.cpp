// SPDX-License-Identifier: Apache-2.0
// tl.follow: do records name exactly the ops that their kernel listed, and does Phase 2 use them?
#include <gtest/gtest.h>

#include <map>

#include "kernbench/phase2/log/memory_op_log.h"
#include "kernbench/platform/run/run.h"
#include "system_support.h"

namespace kernbench::testing::commands_follow_others_where_kernels_say_so {
namespace {

void follows(tl::Context& tl, const tl::Args& args) {
  const tl::View &x = args["x"], &y = args["y"];
  if (x.empty()) return;
  const auto index = tl.arange(0, 4) * 2;
  const auto gathered = tl.async().gather(x.ptr, tl.materialize(index));  // ranges of one memory
  const auto a = tl.load_async(x.ptr, {4}), b = tl.load_async(x.ptr, {4});
  const auto sum = tl.async().exp(a);
  tl.follow(sum, b, gathered);
  const auto square = tl.mul(b, b);     // names all three
  const auto cube = tl.mul(square, b);  // and this one lists none
  const auto stored = tl.store_async(y.ptr, cube);
  tl.follow(stored);
  tl.follow(stored, cube);  // after the first call: the next command lists both, and one of them twice
  tl.store(y.ptr, square);
  const auto negative = tl.composite(tl::elementwise("neg", {tl.ref(x.ptr, {4})}).out(tl.ref(y.ptr, {4})));
  tl.follow(negative);
  tl.store(y.ptr, square);
  tl.follow(square);  // after a kernel's last command: no record lists it
}

KernelSpec spec() {
  const auto eight = [](const Params&) { return Dims{8}; };
  const auto four = [](const Params&) { return Dims{4}; };
  const auto f32 = [](const Params&) { return DType::f32; };
  KernelSpec s;
  s.name = "follows";
  s.help = "says what its commands follow";
  s.tensors = {{"x", TensorSpec::Role::in, eight, f32, Placement::single, Init::uniform()},
               {"y", TensorSpec::Role::out, four, f32, Placement::single, Init::uniform()}};
  s.materializes = true;
  s.function = follows;
  s.reference = [](const Params&, const TensorMap& in) {
    std::vector<float> y = in.at("x").floats();
    y.resize(4);
    for (float& v : y) v *= v;
    return std::map<std::string, Expected>{{"y", {HostTensor::from(DType::f32, {4}, y), {}}}};
  };
  return s;
}

const RegisterKernel registered{spec()};

/// The log of the run, without a composite's tokens.
struct Kept : OpLogSink {
  explicit Kept(std::vector<OpRecord>& records) : all(records) {}
  void record(OpRecord&& r) override {
    if (!r.is_token) all.push_back(std::move(r));
  }
  std::vector<OpRecord>& all;
};

TEST(Follow, records_name_what_their_kernel_said) {
  const auto platform = platform_from_file(topology_path("small.yaml"));
  std::vector<OpRecord> all;
  RunOptions options;
  options.kernel = "follows";
  options.pes = platform->graph().pes.front().id;
  options.verify = true;
  options.log = std::make_unique<Kept>(all);
  EXPECT_TRUE(run_kernel(*platform, std::move(options)).passed);

  std::map<std::string, std::vector<const OpRecord*>> by_name;
  for (const OpRecord& r : all) by_name[r.desc->name].push_back(&r);
  const auto ids = [&](const std::string& name, size_t i) { return by_name.at(name).at(i)->op_id; };
  for (const OpRecord& r : all) {
    std::vector<uint64_t> wanted;
    if (&r == by_name.at("mul").at(1)) wanted = {ids("exp", 0), ids("dma_read", 2), ids("dma_read", 0)};
    if (&r == by_name.at("dma_write").at(1)) wanted = {ids("dma_write", 0), ids("dma_write", 0), ids("mul", 2)};
    if (&r == by_name.at("dma_write").at(2)) wanted = {ids("composite_math", 0)};
    EXPECT_EQ(r.dependency_ids, wanted) << r.desc->name << " " << r.op_id;
  }
}

}  // namespace
}  // namespace kernbench::testing::commands_follow_others_where_kernels_say_so
