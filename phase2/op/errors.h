// Errors that the command line turns into one line each and an exit status.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace kernbench {

/// Bad usage or bad input: exit status 2. One line per fault.
class InputError : public std::runtime_error {
 public:
  explicit InputError(const std::string& fault) : std::runtime_error(fault), faults_{fault} {}
  explicit InputError(std::vector<std::string> faults)
      : std::runtime_error(faults.empty() ? "bad input" : faults.front()), faults_(std::move(faults)) {}
  const std::vector<std::string>& faults() const { return faults_; }

 private:
  std::vector<std::string> faults_;
};

/// The run was started and failed: exit status 1.
class RunError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace kernbench
