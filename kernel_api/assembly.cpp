// SPDX-License-Identifier: Apache-2.0
#include "kernbench/kernel_api/assembly.h"

#include "kernbench/kernel_api/core.h"

namespace kernbench::tl {

Assembly::Assembly(Context& tl, DType dtype, int64_t elements, const char* file, int line)
    : core_(tl.core_), whole_(detail::Core::tensor_of(core_->allocate(dtype, Dims{elements}, {file, line}))) {}

Assembly::Next::Next(Assembly& a, int64_t first) : assembly(a) {
  a.core_->place_next(detail::Core::handle_of(a.whole_), first);
}

Assembly::Next::~Next() {
  assembly.core_->place_next(nullptr, 0);
}

}  // namespace kernbench::tl
