// SPDX-License-Identifier: Apache-2.0
// The collectives as kernels. Every PE of the launch has a vector. It is processed in parts: each part is loaded,
// combined with those of the other members of the group, and stored (collectives rules §12.4, §12.8).
#include "kernbench/kernel_api/kernels/collectives.h"

#include <algorithm>
#include <vector>

#include "kernbench/kernel_api/kernels/common.h"

namespace kernbench::kernels::collectives_kernel {
namespace {

using ccl::Collective;
using ccl::Group;
using ccl::Op;

/// Common data of all parts of a call.
class Frame {
 public:
  Frame(tl::Context& tl, const tl::Args& args, Op op)
      : group(ccl::make_group(tl.launch(), collective_of(op, args.params()), tl.index())),
        x(args["x"]),
        y(args["y"]),
        dtype(args.dtype()),
        tl_(tl),
        args_(args) {}

  /// Elements of a part of a vector, and of a piece of a block with an owner.
  int64_t part() const { return std::max<int64_t>(1, args_.integer("part_bytes") / item()); }
  int64_t piece() const { return std::max<int64_t>(1, args_.integer("part_bytes") / group.size() / item()); }
  /// Size of the messages of chain, tree, grid and hierarchical.
  int64_t chunk(int64_t part_elements) const {
    const int64_t bytes = args_.integer("chunk_bytes");
    const std::string& a = group.collective.algorithm;
    const bool cut = a == "chain" || a == "tree" || a == "grid" || a == "hierarchical";
    return bytes == 0 || !cut ? part_elements : std::max<int64_t>(1, bytes / item());
  }
  /// Calls run(first, count) for each part in order.
  template <class Run>
  void for_parts(int64_t elements, int64_t step, const Run& run) const {
    for (int64_t first = 0; first < elements; first += step) run(first, std::min(step, elements - first));
  }
  std::string redop() const { return args_.choice("redop"); }
  /// algorithm=in_network: the part of x whose results begin at element `first` of y. Returns whether that is the way.
  bool in_network(const tl::Tensor& part, int64_t first) const {
    if (group.collective.algorithm != "in_network") return false;
    ccl::in_network(tl_, group, part, redop(), [&](int64_t member) {
      return args_.shard("y", static_cast<uint32_t>(group.pes[static_cast<size_t>(member)])).ptr + first;
    });
    return true;
  }
  /// Stores final elements at a position of y.
  void store(int64_t at, const tl::Tensor& value) { stores_.push_back(tl_.store_async(y.ptr + at, value)); }
  void store(const tl::Block& to, const tl::Tensor& value) {
    stores_.push_back(tl_.store_async(to, value.reshape(to.shape())));
  }
  void wait() {
    for (const tl::Event& e : stores_) tl_.wait(e);
  }

  const Group group;
  const tl::View& x;
  const tl::View& y;
  const DType dtype;

 private:
  int64_t item() const { return static_cast<int64_t>(size_of(dtype)); }
  tl::Context& tl_;
  const tl::Args& args_;
  std::vector<tl::Event> stores_;
};

void all_reduce(tl::Context& tl, const tl::Args& args) {
  if (args["x"].empty()) return;
  Frame f(tl, args, Op::all_reduce);
  f.for_parts(f.x.shape.elements(), f.part(), [&](int64_t first, int64_t count) {
    const tl::Tensor part = tl.load(f.x.ptr + first, {count});
    if (f.in_network(part, first)) return;
    f.for_parts(count, f.chunk(count), [&](int64_t at, int64_t n) {
      ccl::all_reduce(tl, f.group, part.slice(0, at, n), f.redop(),
                      [&](int64_t k, const tl::Tensor& v) { f.store(first + at + k, v); });
    });
  });
  f.wait();
}

void all_gather(tl::Context& tl, const tl::Args& args) {
  if (args["x"].empty()) return;
  Frame f(tl, args, Op::all_gather);
  const int64_t n = f.x.shape.elements();
  f.for_parts(n, f.piece(), [&](int64_t first, int64_t count) {
    ccl::all_gather(
        tl, f.group, count, f.dtype, [&] { return tl.load(f.x.ptr + first, {count}); },
        [&](int64_t k, const tl::Tensor& v) {  // pieces of the blocks of one or several members
          f.store((f.y.ptr + k / count * n + first).block({v.elements() / count, count}, n), v);
        });
  });
  f.wait();
}

/// The same piece of each block of x, as one matrix.
tl::Tensor load_blocks(tl::Context& tl, const Frame& f, int64_t block, int64_t first, int64_t count) {
  return tl.load((f.x.ptr + first).block({f.group.size(), count}, block));
}

void reduce_scatter(tl::Context& tl, const tl::Args& args) {
  if (args["x"].empty()) return;
  Frame f(tl, args, Op::reduce_scatter);
  const int64_t block = f.x.shape.elements() / f.group.size();
  f.for_parts(block, f.piece(), [&](int64_t first, int64_t count) {
    const tl::Tensor blocks = load_blocks(tl, f, block, first, count);
    if (f.in_network(blocks, first)) return;
    ccl::reduce_scatter(tl, f.group, blocks, f.redop(), [&](int64_t, const tl::Tensor& v) { f.store(first, v); });
  });
  f.wait();
}

void all_to_all(tl::Context& tl, const tl::Args& args) {
  if (args["x"].empty()) return;
  Frame f(tl, args, Op::all_to_all);
  const int64_t block = f.x.shape.elements() / f.group.size();
  f.for_parts(block, f.piece(), [&](int64_t first, int64_t count) {
    ccl::all_to_all(tl, f.group, load_blocks(tl, f, block, first, count),
                    [&](int64_t k, const tl::Tensor& v) { f.store(k / count * block + first, v); });
  });
  f.wait();
}

void broadcast(tl::Context& tl, const tl::Args& args) {
  if (args["y"].empty()) return;
  Frame f(tl, args, Op::broadcast);
  const bool root = f.group.me == f.group.root();
  f.for_parts(f.y.shape.elements(), f.part(), [&](int64_t first, int64_t count) {
    const tl::Tensor part = root ? tl.load(f.x.ptr + first, {count}) : tl::Loaded();
    f.for_parts(count, f.chunk(count), [&](int64_t at, int64_t n) {
      ccl::broadcast(tl, f.group, root ? part.slice(0, at, n) : part, n, f.dtype,
                     [&](int64_t, const tl::Tensor& v) { f.store(first + at, v); });
    });
  });
  f.wait();
}

void reduce(tl::Context& tl, const tl::Args& args) {
  if (args["x"].empty()) return;
  Frame f(tl, args, Op::reduce);
  f.for_parts(f.x.shape.elements(), f.part(), [&](int64_t first, int64_t count) {
    const tl::Tensor part = tl.load(f.x.ptr + first, {count});
    if (f.in_network(part, first)) return;
    f.for_parts(count, f.chunk(count), [&](int64_t at, int64_t n) {
      ccl::reduce(tl, f.group, part.slice(0, at, n), f.redop(),
                  [&](int64_t, const tl::Tensor& v) { f.store(first + at, v); });
    });
  });
  f.wait();
}

void sendrecv(tl::Context& tl, const tl::Args& args) {
  if (args["x"].empty()) return;
  Frame f(tl, args, Op::sendrecv);
  f.for_parts(f.x.shape.elements(), f.part(), [&](int64_t first, int64_t count) {
    ccl::sendrecv(tl, f.group, tl.load(f.x.ptr + first, {count}),
                  [&](int64_t, const tl::Tensor& v) { f.store(first, v); });
  });
  f.wait();
}

void barrier(tl::Context& tl, const tl::Args& args) {
  for (int64_t i = 0; i < args.integer("times"); ++i) ccl::barrier(tl, args.choice("scope"));
}

const RegisterKernel registered_all_reduce{collective_spec(
    Op::all_reduce, "y = the sum (or another reduction) of the group's x, on every member", all_reduce)};
const RegisterKernel registered_all_gather{
    collective_spec(Op::all_gather, "y = concatenation of the group's x, on every member", all_gather)};
const RegisterKernel registered_reduce_scatter{
    collective_spec(Op::reduce_scatter, "y = the member's block of the sum of the group's x", reduce_scatter)};
const RegisterKernel registered_broadcast{
    collective_spec(Op::broadcast, "y = the root member's x, on every member", broadcast)};
const RegisterKernel registered_reduce{
    collective_spec(Op::reduce, "y = the sum of the group's x, on the root member", reduce)};
const RegisterKernel registered_all_to_all{
    collective_spec(Op::all_to_all, "block i of y = this member's block of member i's x", all_to_all)};
const RegisterKernel registered_sendrecv{
    collective_spec(Op::sendrecv, "y = x of the member before this one in the ring", sendrecv)};
const RegisterKernel registered_barrier{barrier_spec(barrier)};

}  // namespace
}  // namespace kernbench::kernels::collectives_kernel
