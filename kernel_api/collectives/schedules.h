// SPDX-License-Identifier: Apache-2.0
// Collectives as functions. A kernel may call them if its KernelSpec::queues declares their connections (collectives
// rules §12.5, §12.7):
//
//   const ccl::Collective sum{ccl::Op::all_reduce, "rank", "ring"};
//   spec.queues = [](const Params&, const LaunchShape& l) { return ccl::connections(l, sum); };
//   …
//   const ccl::Group group = ccl::make_group(tl.launch(), sum, tl.index());
//   const tl::Tensor y = ccl::all_reduce(tl, group, x);          // in the kernel; x, y in TCM
//
// Each member of a group must call, with tensors of one shape and dtype. Results are bit-identical on all members.
// KernelFaults are those of the calls of tl.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernbench/kernel_api/collectives/collective.h"
#include "kernbench/kernel_api/context.h"
#include "kernbench/kernel_api/params.h"

namespace kernbench::ccl {

/// Callback for each piece of a result when it is final and the schedule would store it: elements from `first` on, as a
/// tensor of rank 1. Pieces are not empty and tile the result.
using Final = std::function<void(int64_t first, const tl::Tensor&)>;

/// The op of a reduction: sum, max, min and prod are add, maximum, minimum and mul. BadParam for another name.
std::string math_op_of(const std::string& redop);

/// The sum, or another reduction, over the members, on all members; of rank 1.
tl::Tensor all_reduce(tl::Context&, const Group&, const tl::Tensor&, const std::string& redop = "sum",
                      const Final& = {});
/// This member's block of the reduction: ⌈n/N⌉ elements (the last ones fewer). An empty tensor if it has none.
tl::Tensor reduce_scatter(tl::Context&, const Group&, const tl::Tensor&, const std::string& redop = "sum",
                          const Final& = {});
/// The concatenation of the members' tensors of n elements each. `own` produces this member's tensor; its tl call
/// writes into the result.
tl::Tensor all_gather(tl::Context&, const Group&, int64_t n, DType, const std::function<tl::Tensor()>& own,
                      const Final& = {});
/// The root member's tensor, on all members; other members pass none. `n` elements.
tl::Tensor broadcast(tl::Context&, const Group&, const tl::Tensor&, int64_t n, DType, const Final& = {});
/// The reduction, on the root member; an empty tensor elsewhere.
tl::Tensor reduce(tl::Context&, const Group&, const tl::Tensor&, const std::string& redop = "sum", const Final& = {});
/// algorithm=in_network of all_reduce, reduce and reduce_scatter (multicast rules §20.4): reductions on the way into
/// the members' memories. `t`: this member's vector, of reduce_scatter its N blocks in order;
/// `y`: where a member's result lies, dense.
void in_network(tl::Context&, const Group&, const tl::Tensor& t, const std::string& redop,
                const std::function<tl::Ptr(int64_t member)>& y);
/// The atomic of a reduction: sum, max, min and prod are add, max, min and none.
std::string red_of(const std::string& redop);
/// Block j of member i arrives at member j as its block i. Blocks have n/N elements.
std::vector<tl::Tensor> all_to_all(tl::Context&, const Group&, const tl::Tensor&, const Final& = {});
/// The tensor of the previous member in the ring.
tl::Tensor sendrecv(tl::Context&, const Group&, const tl::Tensor&, const Final& = {});

// ---- Barrier --------------------------------------------------------------------------------------------------------
// `scope`: cube, sip, rank (the same cube and PE of all ranks) or all. BadParam for another.

/// For KernelSpec::queues, alone or beside other connections.
std::vector<QueueConnection> barrier_connections(const LaunchShape&, const std::string& scope);
/// As KernelSpec::queues of a kernel without other connections.
inline auto uses_barrier(const std::string& scope) {
  return [scope](const Params&, const LaunchShape& launch) { return barrier_connections(launch, scope); };
}
/// Returns when all PEs of the scope have called it.
void barrier(tl::Context&, const std::string& scope);

}  // namespace kernbench::ccl
