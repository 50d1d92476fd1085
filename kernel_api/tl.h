// SPDX-License-Identifier: Apache-2.0
// The only header that a kernel includes: `void my_kernel(tl::Context& tl, const tl::Args& args)`. See docs/kernels.md.
#pragma once

#include "kernbench/kernel_api/args.h"
#include "kernbench/kernel_api/composite.h"
#include "kernbench/kernel_api/context.h"
#include "kernbench/kernel_api/pointer.h"
#include "kernbench/kernel_api/tensor.h"
