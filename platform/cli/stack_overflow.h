// A kernel that overflows its stack ends the program with a line that names its PE.
#pragma once

namespace kernbench::cli {

/// Installs a handler of SIGSEGV, on a stack of its own: for a fault in the protected page of a kernel's stack one line
/// on stderr and exit status 1; any other fault is left to the system.
void report_stack_overflows();

}  // namespace kernbench::cli
