// SPDX-License-Identifier: Apache-2.0
// Runs a Triton kernel's IR on a PE, as a kernel like any other: numbers and blocks of indices on pe_cpu, data by calls
// of tl. See docs/triton.md.
#pragma once

#include <array>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "kernbench/platform/triton/engines.h"
#include "kernbench/platform/triton/ir.h"

namespace kernbench::triton {

/// A function and what it calls, ready to run: which values die where. It and the module live as long as a run's
/// records.
class Program {
 public:
  Program(std::shared_ptr<const Module> module, const Function& function);
  const Module& module() const { return *module_; }
  const Function& function() const { return function_; }
  /// A block's operations in order, and what is said of each below.
  struct Step {
    const Operation* op;
    SourceLine where;
    const std::vector<ValueId>* dying;
    /// Elementwise, and read by one other such operation behind it alone, with none between that an engine computes
    /// or that leaves the block: the two may be one command.
    bool joins;
  };
  const std::vector<Step>& steps(const Block& block) const { return steps_.at(&block); }
  /// Values that nothing needs behind the operation.
  const std::vector<ValueId>& dying(const Operation& op) const;
  /// Arguments that nothing needs at all.
  const std::vector<ValueId>& unused(const Block& block) const;
  SourceLine place(const Operation&) const;

 private:
  using Operations = std::unordered_set<const Operation*>;
  void examine(const Function&);
  /// Of a block's operations those that join what reads them; `elsewhere`: values that other blocks use.
  static Operations joining(const Block&, const std::set<ValueId>& elsewhere);
  std::shared_ptr<const Module> module_;
  const Function& function_;
  std::unordered_map<const Operation*, std::vector<ValueId>> dying_;
  std::unordered_map<const Block*, std::vector<ValueId>> unused_;
  std::unordered_map<const Block*, std::vector<Step>> steps_;
};

/// What of the function, and of what it calls, cannot be run: each with its line.
std::vector<Refusal> refusals(const Module&, const Function&);
/// Which arguments it may store to.
std::vector<bool> stored_arguments(const Module&, const Function&);

/// Of an operation of one element after the other, which a command of the MATH engine may be.
bool is_elementwise(Does);

using Index3 = std::array<int64_t, 3>;

/// Runs one program of the grid: `arguments` in the function's order. `joins`: chains of elementwise operations are one
/// command.
void run_program(const Program&, tl::Context&, const std::vector<Value>& arguments, const Index3& id,
                 const Index3& grid, bool joins);

}  // namespace kernbench::triton
