// Speed of the matrix products of Phase 2, one thread, every instruction set that this machine has.
// One line a figure: name value unit. Time is the thread's own, so that other load does not count.
#include <ctime>

#include <algorithm>
#include <cstdio>

#include "eval_helpers.h"

namespace kernbench {
namespace {

double thread_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

/// The best of seven, in GFLOP/s.
double measure(DType t, int64_t n, Isa isa) {
  const Tensor a = random(t, {n, n}, 1), b = random(t, {n, n}, 2);
  Tensor c = random(DType::f32, {n, n}, 3);
  const OpDesc d = gemm(n, n, n, is_float(t) ? DType::f32 : DType::i32);
  const double flops = 2.0 * static_cast<double>(n * n * n);
  const int inner = std::max(1, static_cast<int>(2e8 / flops));
  const auto e = make_evaluation(d, {a.input(), b.input()}, c.bytes.data(), isa);
  double best = 0;
  for (int rep = 0; rep < 7; ++rep) {
    const double start = thread_seconds();
    for (int i = 0; i < inner; ++i) {
      for (int p = 0; p < e->parts(); ++p) e->run(p);
    }
    best = std::max(best, flops * inner / (thread_seconds() - start) / 1e9);
  }
  return best;
}

}  // namespace
}  // namespace kernbench

int main() {
  using namespace kernbench;
  for (Isa isa : available_isas()) {
    for (DType t : {DType::f32, DType::f16, DType::bf16, DType::i8}) {
      for (int64_t n : {64, 256, 1024}) {
        std::printf("gemm_%s_%d_%s %.1f GFLOP/s\n", std::string(name_of(t)).c_str(), static_cast<int>(n),
                    std::string(name_of(isa)).c_str(), measure(t, n, isa));
        std::fflush(stdout);
      }
    }
  }
}
