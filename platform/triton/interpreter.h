// SPDX-License-Identifier: Apache-2.0
// Runs a Triton kernel's IR on a PE like any other kernel. Numbers and index blocks are computed on pe_cpu, data by
// calls of tl. See docs/triton.md.
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

/// A function with its callees, ready to run, including the lifetimes of values. Program and module must live as long
/// as a run's records.
class Program {
 public:
  Program(std::shared_ptr<const Module> module, const Function& function);
  const Module& module() const { return *module_; }
  const Function& function() const { return function_; }
  /// A block's operations in order, with what the interpreter needs for each.
  struct Step {
    const Operation* op;
    SourceLine where;
    const std::vector<ValueId>* dying;
    /// The operation is elementwise and its only reader is a later elementwise operation of the block. Between them no
    /// operation uses an engine or leaves the block. So both can be one command.
    bool joins;
  };
  const std::vector<Step>& steps(const Block& block) const { return steps_.at(&block); }
  /// Values that are unused after the operation.
  const std::vector<ValueId>& dying(const Operation& op) const;
  /// Arguments that are never used.
  const std::vector<ValueId>& unused(const Block& block) const;
  SourceLine place(const Operation&) const;

 private:
  using Operations = std::unordered_set<const Operation*>;
  void examine(const Function&);
  /// Operations of a block that join their reader; `elsewhere`: values that other blocks use.
  static Operations joining(const Block&, const std::set<ValueId>& elsewhere);
  std::shared_ptr<const Module> module_;
  const Function& function_;
  std::unordered_map<const Operation*, std::vector<ValueId>> dying_;
  std::unordered_map<const Block*, std::vector<ValueId>> unused_;
  std::unordered_map<const Block*, std::vector<Step>> steps_;
};

/// Unsupported operations of the function and its callees, each with its line.
std::vector<Refusal> refusals(const Module&, const Function&);
/// Which arguments the function may store to.
std::vector<bool> stored_arguments(const Module&, const Function&);

/// Whether an operation is elementwise and can be part of a MATH command.
bool is_elementwise(Does);

using Index3 = std::array<int64_t, 3>;

/// Runs one program of the grid; `arguments` in the function's order. `joins`: chains of elementwise operations become
/// one command.
void run_program(const Program&, tl::Context&, const std::vector<Value>& arguments, const Index3& id,
                 const Index3& grid, bool joins);

}  // namespace kernbench::triton
