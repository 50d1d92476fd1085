// SPDX-License-Identifier: Apache-2.0
// Errors that the command line reports as one line each, with an exit status.
#pragma once

#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernbench/phase2/rooms.h"

namespace kernbench::phase2 {

/// Message for std::bad_alloc; exit status 1.
constexpr const char* kOutOfMemory = "this machine's memory does not hold the system and its tensors";

/// The same with more context: the kernel and its line. Ends with kOutOfMemory.
class OutOfMemory : public std::bad_alloc {
 public:
  explicit OutOfMemory(const std::string& before) : text_(before + kOutOfMemory) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

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

/// The run was started and failed: exit status 1. Usually one line.
class RunError : public std::runtime_error {
 public:
  explicit RunError(const std::string& line) : std::runtime_error(line), lines_{line} {}
  explicit RunError(std::vector<std::string> lines) : std::runtime_error(joined(lines)), lines_(std::move(lines)) {}
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  static std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& l : lines) text += (text.empty() ? "" : "\n") + l;
    return text;
  }
  std::vector<std::string> lines_;
};

/// A signal ended the run: exit status 128 + its number.
class Stopped : public RunError {
 public:
  Stopped(int signal, std::vector<std::string> lines) : RunError(std::move(lines)), signal_(signal) {}
  int status() const { return 128 + signal_; }

 private:
  int signal_;
};

}  // namespace kernbench::phase2
