// What to say when a simulation was ended from outside.
#pragma once

namespace kernbench {

class Machine;

/// Nothing where the simulation has come to its end by itself. Else throws what says where each kernel is: RunError
/// where the limit of the timeline was reached or its stop's reason is SIGALRM (a limit of wall time), else Stopped
/// with the reason as its signal.
void throw_if_stopped(Machine&);

}  // namespace kernbench
