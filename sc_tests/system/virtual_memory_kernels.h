// SPDX-License-Identifier: Apache-2.0
// Helpers of the tests of virtual memory: kernels, and a stored log.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernbench/platform/run/run.h"

namespace kernbench::testing {

/// Passes records to a vector that outlives the run.
class KeptLog : public OpLogSink {
 public:
  explicit KeptLog(std::vector<OpRecord>& records) : records_(records) {}
  void record(OpRecord&& r) override { records_.push_back(std::move(r)); }

 private:
  std::vector<OpRecord>& records_;
};

/// A vector x, or y, that a kernel's parameter n sizes.
inline TensorSpec vector_of_n(const std::string& name, TensorSpec::Role role, Placement placement) {
  TensorSpec t;
  t.name = name;
  t.role = role;
  t.shape = [](const Params& p) { return Dims{p.integer("n")}; };
  t.dtype = [](const Params&) { return DType::f32; };
  t.placement = placement;
  return t;
}

/// x [n], sharded by rows over the launched PEs, in; y [n], in the first PE's slice, out: y = x by any means.
inline KernelSpec copying_kernel(const std::string& name, KernelFunction function) {
  KernelSpec s;
  s.name = name;
  s.help = "of the tests of virtual memory";
  s.params = {ParamSpec::size("n", 4096, "elements")};
  s.tensors = {vector_of_n("x", TensorSpec::Role::in, Placement::rows),
               vector_of_n("y", TensorSpec::Role::out, Placement::single)};
  s.function = std::move(function);
  s.reference = [](const Params&, const TensorMap& in) {
    return std::map<std::string, Expected>{{"y", {in.at("x"), {}}}};
  };
  return s;
}

}  // namespace kernbench::testing
