// SPDX-License-Identifier: Apache-2.0
// Does a kernel fail if it reads a pending value, and does the message name the handle and the op?
#include <gtest/gtest.h>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/run/run.h"
#include "system_support.h"

namespace kernbench::testing {
namespace {

/// Stores a sum, loads it back (legal), and reads its elements (illegal).
void peeks_at_a_sum(tl::Context& tl, const tl::Args& args) {
  const tl::View& x = args["x"];
  if (x.empty()) return;
  const auto value = tl.load(x.ptr, {4});
  if (value(0) > 2) throw std::logic_error("inputs are in ±1");  // a loaded value may be read
  tl.store(args["y"].ptr, value + value);
  const auto again = tl.load(args["y"].ptr, {4});
  if (again(0) > 0) tl.store(args["y"].ptr, value);
}

KernelSpec spec() {
  const auto four = [](const Params&) { return Dims{4}; };
  const auto f32 = [](const Params&) { return DType::f32; };
  KernelSpec s;
  s.name = "peeks_at_a_sum";
  s.help = "reads a pending value";
  s.tensors = {{"x", TensorSpec::Role::in, four, f32, Placement::single, Init::uniform()},
               {"y", TensorSpec::Role::out, four, f32, Placement::single, Init::uniform()}};
  s.function = peeks_at_a_sum;
  return s;
}

const RegisterKernel registered{spec()};

TEST(PendingValue, read_by_a_kernel_is_an_error_that_names_handle_op_and_pe) {
  const auto platform = platform_from_file(topology_path("small.yaml"));
  RunOptions options;
  options.kernel = "peeks_at_a_sum";
  options.pes = platform->graph().pes.front().id;
  try {
    run_kernel(*platform, std::move(options));
    FAIL() << "the kernel read what does not exist";
  } catch (const RunError& e) {
    const std::string message = e.what();
    EXPECT_NE(message.find("pending"), std::string::npos) << message;
    EXPECT_NE(message.find("add"), std::string::npos) << message;                 // the op that makes it
    EXPECT_TRUE(std::string(message).find("h") != std::string::npos) << message;  // the handle
    EXPECT_NE(message.find(platform->graph().pes.front().id), std::string::npos) << message;
    EXPECT_NE(message.find("kernels_cannot_read_what_is_pending_test.cpp"), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace kernbench::testing
