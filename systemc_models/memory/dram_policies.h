// SPDX-License-Identifier: Apache-2.0
// Policies of a DRAM controller: scheduling of a bank's requests, row policy, refresh, address mapping
// (dram_address_mapping.h). Each is a stateless class, selected by its name in an attribute. A user-defined policy is
// one file, possibly in a plug-in:
//
//   class Patient : public DramScheduler { … };
//   KERNBENCH_REGISTER_NAMED(DramScheduler, Patient, "patient", "what it does")
//
// Plain C++, no SystemC.
#pragma once

#include <memory>
#include <string>

#include "kernbench/systemc_models/core/named_registry.h"
#include "kernbench/systemc_models/memory/dram_banks.h"

namespace kernbench::memory {

/// A waiting burst in a controller's queue, in its bank's list.
struct DramRequest {
  uint64_t age = 0;  ///< lower values entered the queue earlier
  DramPlace place;
  uint32_t bank = 0;
  bool write = false;
  enum class Found : uint8_t { open_row, closed_bank, other_row } found = Found::open_row;
  void* owner = nullptr;
  uint64_t number = 0;  ///< number of the burst at its owner
  Cycle since = 0;      ///< time of entry into the queue
  Cycle asked = 0;      ///< when it requested an entry there
  Cycle begun = 0;      ///< start of its first command on the row bus
  DramRequest *before = nullptr, *next = nullptr;
};

class DramScheduler {
 public:
  static NamedClasses<DramScheduler>& registry();
  virtual ~DramScheduler() = default;
  /// The request of a bank's list (oldest first, not empty; only reads or only writes) that the bank serves next.
  /// `open_row`: DramBanks::kClosed if none is open. Among banks, the oldest request with a legal command goes first.
  virtual DramRequest* next_of_bank(DramRequest* oldest, int64_t open_row) const = 0;
};

class DramPagePolicy {
 public:
  static NamedClasses<DramPagePolicy>& registry();
  virtual ~DramPagePolicy() = default;
  /// Whether a column command closes its row; `more`: the queue has other requests for this row.
  virtual bool closes(bool more) const = 0;
};

class DramRefreshPolicy {
 public:
  static NamedClasses<DramRefreshPolicy>& registry();
  virtual ~DramRefreshPolicy() = default;
  /// Interval between refresh commands of a stack ID; kNoCycle: no refresh.
  virtual Cycle interval(const DramTiming&, uint32_t banks_of_stack_id) const = 0;
  /// REF of all banks, or REFSB of the banks round robin.
  virtual bool all_banks() const = 0;
};

struct DramPolicies {
  std::shared_ptr<const DramScheduler> scheduler;
  std::shared_ptr<const DramPagePolicy> page;
  std::shared_ptr<const DramRefreshPolicy> refresh;
};

}  // namespace kernbench::memory
