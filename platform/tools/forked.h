// Work done in copies of this process, several at a time: what each does to its memory concerns no other. For runs that
// need a system nobody has used, without building it anew.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace kernbench {

/// Calls work(0) … work(count - 1), each in a copy of the process as it is now, at most `jobs` (>= 1) at a time, and
/// done(index, what it returned) here, in order. What `work` throws is thrown here as the same kind: InputError or
/// RunError, with its text; RunError too where a copy dies. Not after threads have been started.
void run_forked(size_t count, size_t jobs, const std::function<std::string(size_t)>& work,
                const std::function<void(size_t, const std::string&)>& done);

}  // namespace kernbench
