// What a DRAM controller decides: which of a bank's requests is next, whether a row stays open, how memory is
// refreshed, where an address lies (dram_address_mapping.h). Each is a class by the name that the attribute gives,
// without state, and one's own is one file, in a plug-in too:
//
//   class Patient : public DramScheduler { … };
//   KERNBENCH_REGISTER_NAMED(DramScheduler, Patient, "patient", "what it does")
//
// Plain C++: no SystemC here.
#pragma once

#include <memory>
#include <string>

#include "kernbench/systemc_models/core/named_registry.h"
#include "kernbench/systemc_models/memory/dram_banks.h"

namespace kernbench {

/// A burst that waits in a controller's queue, in its bank's list.
struct DramRequest {
  uint64_t age = 0;  ///< the lower, the earlier it came into the queue
  DramPlace place;
  uint32_t bank = 0;
  bool write = false;
  enum class Found : uint8_t { open_row, closed_bank, other_row } found = Found::open_row;
  void* owner = nullptr;
  uint64_t number = 0;  ///< of the burst, its owner's
  Cycle since = 0;      ///< when it came into the queue
  DramRequest *before = nullptr, *next = nullptr;
};

class DramScheduler {
 public:
  static NamedClasses<DramScheduler>& registry();
  virtual ~DramScheduler() = default;
  /// For which request of a bank's list (oldest first, not empty; reads alone or writes alone) the bank works next.
  /// `open_row`: DramBanks::kClosed where there is none. Among banks the oldest request whose command is legal goes
  /// first.
  virtual DramRequest* next_of_bank(DramRequest* oldest, int64_t open_row) const = 0;
};

class DramPagePolicy {
 public:
  static NamedClasses<DramPagePolicy>& registry();
  virtual ~DramPagePolicy() = default;
  /// Whether a column command closes its row; `more`: others for this row are in the queue.
  virtual bool closes(bool more) const = 0;
};

class DramRefreshPolicy {
 public:
  static NamedClasses<DramRefreshPolicy>& registry();
  virtual ~DramRefreshPolicy() = default;
  /// From one refresh command of a stack ID to the next; kNoCycle: there are none.
  virtual Cycle interval(const DramTiming&, uint32_t banks_of_stack_id) const = 0;
  /// REF, or REFSB to the banks in turn.
  virtual bool all_banks() const = 0;
};

struct DramPolicies {
  std::shared_ptr<const DramScheduler> scheduler;
  std::shared_ptr<const DramPagePolicy> page;
  std::shared_ptr<const DramRefreshPolicy> refresh;
};

}  // namespace kernbench
