// Kernels run inside this process; one that ends it, or leaves a thread in it, must not pass for a run that is done.
// Only the command line looks: a program of a user's own may do as it likes. Direct system calls are not seen, and a
// plug-in's own threads, begun when it is loaded, are legal.
#pragma once

#include <string>

namespace kernbench::cli {

// exit, quick_exit, _exit and _Exit of a kernel end the program with a line that names its PE, itself and its source
// line, and exit status 1 (abort: signals.h). So does an exit or quick_exit of anybody else's: this program returns
// from sc_main.

/// A thread that a kernel has begun and that still runs, as one line; empty: there is none.
std::string thread_left_by_a_kernel();

}  // namespace kernbench::cli
