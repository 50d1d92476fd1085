// A program on a platform, for user code: its tensors placed, its function in a thread beside the simulation.
// `kernbench run --program` in one sitting is platform/run/host_program.h.
//
//   kernbench::host::Program program(platform, spec, kernbench::program_params(spec, {{"tokens", "64"}}));
//   program.context().place("x", values);
//   program.start();          // its first instant is now; before the simulation: 0
//   sc_start();
//   program.check();          // throws what it ended with
#pragma once

#include "kernbench/platform/host/context.h"
#include "kernbench/platform/launch/pe_selection.h"

namespace kernbench::host {

class Program {
 public:
  /// The spec outlives it. InputError, BadParam: as `kernbench run` says them.
  Program(Platform&, const ProgramSpec&, Params, const PeChoice& = {}, ContextOptions = {});

  Context& context() { return context_; }
  /// Once. `pauses`: at its end sc_start() comes back by sc_pause(), whatever else goes on in the simulation; else when
  /// that has nothing more to do.
  void start(bool pauses = false);
  /// After sc_start() has come back. Throws the fault that the program or one of its kernels ended with, and RunError
  /// where it has not ended: it says what it waits for.
  void check();

 private:
  void spawn();
  void run();

  Platform& platform_;
  const std::string name_;
  Context context_;
  bool pauses_ = false;
  size_t guard_bytes_ = 0;  ///< below its stack
};

}  // namespace kernbench::host
