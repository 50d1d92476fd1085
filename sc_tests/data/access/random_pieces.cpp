// Kernel of virtual_accesses_agree_with_an_independent_model.py: random loads, stores, gathers, scatters and composites
// of tensors in the memories of all PEs, through their virtual ranges.
#include <random>

#include "kernbench/kernel_api/plugin.h"
#include "kernbench/kernel_api/registry.h"
#include "kernbench/kernel_api/tl.h"

KERNBENCH_PLUGIN("random pieces")

namespace {
using namespace kernbench;

class Accesses {
 public:
  Accesses(tl::Context& tl, const tl::Args& args)
      : tl_(tl),
        n_(args.integer("n")),
        x_(args.whole("x").ptr),
        y_(args.whole("y").ptr),
        random_(static_cast<uint32_t>(args.integer("seed") * 64 + tl.index())) {}

  void run(int64_t calls) {
    for (const tl::Ptr& tensor : {x_, y_}) live_.push_back(tl_.load(tensor, {1}));  // start of their virtual ranges
    for (int64_t i = 0; i < calls; ++i) {
      const int what = static_cast<int>(pick(7));
      if (what < 2) load();
      if (what == 2) store();
      if (what == 3) gather();
      if (what == 4) scatter();
      if (what == 5) composite();
      if (what == 6 && !live_.empty()) tl_.wait(live_[static_cast<size_t>(pick(static_cast<int64_t>(live_.size())))]);
    }
  }

 private:
  int64_t pick(int64_t count) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(count)); }
  bool one_in(int64_t n) { return pick(n) == 0; }
  tl::Context context() { return one_in(2) ? tl_.async() : tl_; }

  tl::Block anywhere(const tl::Ptr& tensor, const Dims& shape) {
    const int64_t row = shape[shape.rank() - 1], rows = shape.elements() / row;
    const int64_t most = rows > 1 ? (n_ - row) / (rows - 1) : row;
    const int64_t ld = rows > 1 && one_in(2) ? row + pick(most - row + 1) : row;
    return (tensor + pick(n_ - (rows - 1) * ld - row + 1)).block(shape, ld);
  }
  Dims shape() {
    if (one_in(3)) return {1 + pick(n_ / 2)};
    const int64_t rows = 1 + pick(12);
    return {rows, 1 + pick(n_ / rows / 2)};
  }
  void load() { live_.push_back(context().load(anywhere(one_in(2) ? x_ : y_, shape()))); }
  void store() {
    if (live_.empty()) load();
    const tl::Tensor value = live_[static_cast<size_t>(pick(static_cast<int64_t>(live_.size())))];
    context().store(anywhere(y_, value.shape()), value);
  }
  tl::Loaded index(int64_t count, int64_t width) {
    std::vector<int64_t> at;
    for (int64_t i = 0; i < count; ++i) {
      const bool goes_on = !at.empty() && one_in(3);
      at.push_back(goes_on ? std::min(at.back() + width, n_ - width) : pick(n_ - width + 1));
    }
    return tl_.tensor(at, {count}, DType::i32);
  }
  void gather() {
    const int64_t width = 1 + pick(40);
    live_.push_back(context().gather(x_, index(1 + pick(12), width), {}, 0, width, 1));
  }
  void scatter() {
    const int64_t width = 2 + pick(40), count = 1 + pick(12);
    const tl::Loaded value = tl_.load(anywhere(x_, {count, width}));
    context().scatter(y_, index(count, width), value, {}, width, 1);
  }
  void composite() {
    const int64_t m = 1 + pick(20), n = 1 + pick(n_ / m / 2);
    const auto done = tl_.composite(tl::elementwise("add", {anywhere(x_, {m, n}), anywhere(x_, {m, n})})
                                        .tiles(1 + pick(m), 1 + pick(n), 1)
                                        .out(anywhere(y_, {m, n})));
    if (one_in(2)) tl_.wait(done);
  }

  tl::Context& tl_;
  const int64_t n_;
  const tl::Ptr x_, y_;
  std::mt19937 random_;
  std::vector<tl::Tensor> live_;
};

TensorSpec tensor(const char* name, TensorSpec::Role role) {
  TensorSpec t;
  t.name = name;
  t.role = role;
  t.shape = [](const Params& p) { return Dims{p.integer("n")}; };
  t.dtype = [](const Params&) { return DType::f32; };
  return t;
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "random_pieces";
  s.help = "random accesses by virtual ranges";
  s.params = {ParamSpec::size("n", 1000, "elements of x and y"), ParamSpec::size("calls", 12, "of each PE"),
              ParamSpec::size("seed", 1, "of the accesses")};
  s.tensors = {tensor("x", TensorSpec::Role::in), tensor("y", TensorSpec::Role::in_out)};
  s.function = [](tl::Context& tl, const tl::Args& args) { Accesses(tl, args).run(args.integer("calls")); };
  return s;
}

const RegisterKernel registered{spec()};
}  // namespace

// SPDX-License-Identifier: Apache-2.0
