// SPDX-License-Identifier: Apache-2.0
// A Triton kernel as a kernel of this project: arguments from the command line, programs of the grid assigned to PEs.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernbench/kernel_api/registry.h"
#include "kernbench/platform/triton/interpreter.h"

namespace kernbench::triton {

/// The request as written on the command line.
struct LaunchRequest {
  std::string file;                   ///< the .ttir
  std::string function;               ///< empty: the file's only public function
  std::string grid;                   ///< "X[,Y[,Z]]"
  std::string order = "round_robin";  ///< or blocks
  std::string chains = "joined";      ///< joined or single: whether consecutive elementwise operations share a command
  uint64_t interleave = 4096;         ///< bytes per block of interleaved tensors
  using Words = std::vector<std::pair<std::string, std::string>>;
  Words tensors;  ///< argument and FILE.npy or uniform|zeros|arange:DTYPE[N,...]
  Words params;   ///< argument and number
  Words places;   ///< argument and interleave|cube|rows|replicate
};

/// Start and end of a program, in simulated time.
struct ProgramTime {
  int64_t id = 0;  ///< x + X·(y + Y·z)
  std::string pe;
  double start_ns = 0, end_ns = 0;
};

class Launch {
 public:
  /// Reads the file and checks the request. InputError lists all unsupported operations or all missing arguments.
  explicit Launch(const LaunchRequest&);

  /// The kernel, named "ttir:FUNCTION". The launch must outlive its user.
  KernelSpec spec();
  /// The part of request.tensors that names files.
  const LaunchRequest::Words& files() const { return files_; }
  int64_t programs() const { return grid_[0] * grid_[1] * grid_[2]; }
  /// ⌈programs / PEs⌉.
  int64_t waves(int64_t pes) const { return (programs() + pes - 1) / pes; }
  /// Of all finished programs, by id.
  std::vector<ProgramTime> times() const;

 private:
  void read_grid();
  void take_arguments();
  void take_tensor(const Argument&, const Type&, const std::string& text, std::vector<std::string>* faults);
  TensorSpec tensor_spec(const Argument&, const Type&, const Dims& shape);
  void run(tl::Context&, const tl::Args&);

  LaunchRequest request_;
  std::shared_ptr<const Program> program_;
  Index3 grid_{1, 1, 1};
  std::vector<TensorSpec> tensors_;
  std::vector<ParamSpec> params_;
  LaunchRequest::Words files_;
  std::vector<ProgramTime> times_;
};

}  // namespace kernbench::triton
