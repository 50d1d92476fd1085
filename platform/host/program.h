// SPDX-License-Identifier: Apache-2.0
// A program on a platform, for user code. Its tensors are placed, and its function runs in a thread beside the
// simulation. platform/run/host_program.h performs all steps of `kernbench run --program`.
//
//   kernbench::host::Program program(platform, spec, kernbench::program_params(spec, {{"tokens", "64"}}));
//   program.context().place("x", values);
//   program.start();          // its first instant is now; before the simulation: 0
//   sc_start();
//   program.check();          // throws the program's error
#pragma once

#include "kernbench/platform/host/context.h"
#include "kernbench/platform/launch/pe_selection.h"

namespace kernbench::host {

class Program {
 public:
  /// The spec must outlive it. InputError, BadParam: with the messages of `kernbench run`.
  Program(Platform&, const ProgramSpec&, Params, const PeChoice& = {}, ContextOptions = {});

  Context& context() { return context_; }
  /// Starts the program, once. With `pauses`, sc_start() returns at its end by sc_pause(), even if other activity
  /// continues. Otherwise it returns when no activity is left.
  void start(bool pauses = false);
  /// Call it after sc_start() has returned. Throws the error of the program or of its kernels. RunError if the program
  /// has not ended; the message says what it waits for.
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
