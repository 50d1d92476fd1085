// SPDX-License-Identifier: Apache-2.0
// A PE without time, with helpers to put data into memory and to compute a tensor with Phase 2.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernbench/kernel_api/host_tensor.h"
#include "kernbench/kernel_api/tl.h"
#include "kernbench/phase2/graph/executor.h"
#include "sequential_backend.h"

namespace kernbench::testing {

class TlTest : public ::testing::Test {
 protected:
  static constexpr MemoryImage::SpaceKey kHbm{Space::hbm, kNoPe};

  /// Data in HBM, present from t = 0.
  tl::Ptr place(const HostTensor& t) {
    const tl::Ptr p = fresh(t.dtype, t.elements());
    system.memory.write(kHbm, p.addr, t.bytes.data(), t.bytes.size());
    start_.write(kHbm, p.addr, t.bytes.data(), t.bytes.size());
    return p;
  }
  tl::Ptr place(DType t, const std::vector<float>& values) {
    return place(HostTensor::from(t, {static_cast<int64_t>(values.size())}, values));
  }
  /// Space in HBM that was never written.
  tl::Ptr fresh(DType t, int64_t elements) {
    const tl::Ptr p(Space::hbm, next_, t);
    next_ += (static_cast<uint64_t>(elements) * size_of(t) + 255) / 256 * 256;
    return p;
  }
  /// Dense data as a Loaded.
  tl::Loaded loaded(const Dims& shape, const std::vector<float>& values, DType t = DType::f32) {
    return tl.load(place(HostTensor::from(t, shape, values)), shape);
  }
  /// Phase 2's values of a tensor, row-major.
  std::vector<float> values(const tl::Tensor& t) {
    const tl::Ptr to = fresh(t.dtype(), t.elements());
    tl.store(to, t);
    return memory_after(to, t.shape());
  }
  std::vector<float> memory_after(const tl::Ptr& at, const Dims& shape) {
    const ReplayResult r = replay(system.records, start_);
    HostTensor out(at.dtype, shape);
    r.memory.read(kHbm, at.addr, out.bytes.data(), out.bytes.size());
    return out.floats();
  }
  const MemoryImage& start() const { return start_; }
  const OpDesc& last() const { return *backend.commands.back(); }
  /// The message of the KernelFault that f throws; "" if it throws none.
  template <class F>
  static std::string fault_of(F&& f) {
    try {
      f();
    } catch (const KernelFault& e) {
      return e.what();
    }
    return "";
  }

  SequentialSystem system;
  SequentialBackend backend{system};
  tl::Context tl{backend};

 private:
  MemoryImage start_;
  uint64_t next_ = 4096;
};

using Floats = std::vector<float>;

}  // namespace kernbench::testing
