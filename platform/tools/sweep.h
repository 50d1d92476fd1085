// `kernbench sweep`: one run or probe for every combination of the values of some options, in processes of their own.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

namespace kernbench {

struct SweepOptions {
  std::string program;               ///< kernbench itself
  std::vector<std::string> over;     ///< "links=ideal,flit", "param.n=64,128": the last runs fastest
  std::vector<std::string> command;  ///< run or probe, with the options that stay the same
  unsigned jobs = 0;                 ///< processes at a time; 0: one a processor
  bool json = false;                 ///< else csv
};

struct SweepWatcher {
  /// A point has ended; `fault` is the first line that it said on stderr, mostly none.
  std::function<void(const std::string& point, const std::string& fault)> ended;
  /// Its rows stand in the table.
  std::function<void(size_t points, size_t of)> written;
};

/// Writes the table row by row, in the order of the combinations whatever the number of processes. Returns the worst
/// exit status: 2, else 1, else 0. InputError for options that make no sweep.
int sweep(const SweepOptions&, std::ostream& table, const SweepWatcher&);

}  // namespace kernbench
