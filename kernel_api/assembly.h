// SPDX-License-Identifier: Apache-2.0
// A tensor in TCM that several commands make, each a part of it, in place: what a collective receives block by block is
// whole without a copy.
#pragma once

#include <memory>

#include "kernbench/kernel_api/context.h"

namespace kernbench::tl {

class Assembly {
 public:
  /// Takes room in TCM for so many elements (at least 1). KernelFault when there is none.
  Assembly(Context& tl, DType dtype, int64_t elements, KERNBENCH_TL_HERE);

  /// Runs `command`, a call that makes one tensor and returns when it is there: that tensor lies at element `first`.
  /// Parts do not overlap.
  template <class Command>
  Tensor part(int64_t first, Command command) {
    const Next next(*this, first);
    return command();
  }
  /// Elements [first, first + count), whose parts have been made.
  Tensor slice(int64_t first, int64_t count) const { return whole_.slice(0, first, count); }
  const Tensor& whole() const { return whole_; }

 private:
  /// While it lives, what is made next is a part.
  struct Next {
    Next(Assembly& a, int64_t first);
    ~Next();
    Assembly& assembly;
  };
  std::shared_ptr<detail::Core> core_;
  Tensor whole_;
};

}  // namespace kernbench::tl
