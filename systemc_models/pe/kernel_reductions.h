// SPDX-License-Identifier: Apache-2.0
// The reductions on the way of a launch's kernels (multicast rules §20): which command is a source of which operation,
// and when their common effect takes place. The n-th command of a PE that names a group is a source of its n-th
// operation.
//
// Decisions. The tree must be known before the first message comes to a node that adds, so a group names its sources in
// advance. The source that takes effect last applies the values of all; the others change no memory.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernbench/phase2/op/op.h"
#include "kernbench/systemc_models/fabric/reduction.h"

namespace kernbench::memory {
class System;
}

namespace kernbench::pe {

struct Pe;

class KernelReductions {
 public:
  /// `pes`: of the launch, by tl.index().
  KernelReductions(System& system, std::vector<const Pe*> pes) : system_(system), pes_(std::move(pes)) {}

  /// An operation of a group, with the commands that are its sources.
  struct Operation {
    Reduction on_the_way;
    std::vector<const Pe*> pes;                    ///< of its sources, in compiled order
    std::vector<std::shared_ptr<OpDesc>> sources;  ///< by the same; null: has not come
    const std::shared_ptr<OpDesc> first;           ///< of the sources, to come
    size_t to_come = 0, effects_left = 0;
    Operation(System&, std::vector<const Pe*>, const std::shared_ptr<OpDesc>& first);
    /// A source takes effect. Returns whether it is the last; its record then has all values.
    bool takes_effect(OpDesc&);
  };
  /// The operation of a PE's command, which has `on_the_way`. Null: the PE is the only source, so the
  /// command is a plain red. AccessError if it cannot be a source.
  std::shared_ptr<Operation> operation_of(const Pe&, const std::shared_ptr<OpDesc>&);
  /// "reduction g: operation 0 has not come from sip0.cube0.pe1.pe_dma", for each that waits for sources.
  std::vector<std::string> waiting() const;

 private:
  System& system_;
  std::vector<const Pe*> pes_;
  /// An operation lives until its sources have come, and after that as long as their commands.
  struct Kept {
    std::shared_ptr<Operation> open;
    std::weak_ptr<Operation> all;
  };
  std::map<std::string, std::deque<Kept>> groups_;
  std::map<std::pair<std::string, const Pe*>, size_t> come_;
};

}  // namespace kernbench::pe
