// SPDX-License-Identifier: Apache-2.0
// A tensor in TCM whose parts several commands write in place. A collective that receives block by block thus gets a
// complete tensor without a copy.
#pragma once

#include <memory>

#include "kernbench/kernel_api/context.h"

namespace kernbench::tl {

class Assembly {
 public:
  /// Allocates TCM for that many elements (at least 1). KernelFault if there is no space.
  Assembly(Context& tl, DType dtype, int64_t elements, KERNBENCH_TL_HERE);

  /// Runs `command`, a call that makes one tensor and returns when it is complete. The tensor starts at element
  /// `first`. Parts must not overlap.
  template <class Command>
  Tensor part(int64_t first, Command command) {
    const Next next(*this, first);
    return command();
  }
  /// Elements [first, first + count). Their parts must be complete.
  Tensor slice(int64_t first, int64_t count) const { return whole_.slice(0, first, count); }
  const Tensor& whole() const { return whole_; }

 private:
  /// During its lifetime, the next allocated tensor is a part.
  struct Next {
    Next(Assembly& a, int64_t first);
    ~Next();
    Assembly& assembly;
  };
  std::shared_ptr<detail::Core> core_;
  Tensor whole_;
};

}  // namespace kernbench::tl
