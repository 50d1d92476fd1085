// What a DRAM controller decides, each a small class that another can take the place of: which of a bank's requests is
// next, whether a row stays open, how memory is refreshed. Plain C++: no SystemC here.
#pragma once

#include <memory>
#include <string>

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
  DramRequest *before = nullptr, *next = nullptr;
};

class DramScheduler {
 public:
  virtual ~DramScheduler() = default;
  /// For which request of a bank's list (oldest first, not empty) the bank works next. Among banks the oldest request
  /// whose command is legal goes first.
  virtual DramRequest* next_of_bank(DramRequest* oldest, int64_t open_row) const = 0;
};

/// First ready, first come, first served: those of the open row before others, then by age.
class FrFcfs : public DramScheduler {
 public:
  DramRequest* next_of_bank(DramRequest* oldest, int64_t open_row) const override;
};

/// Each bank in the order of arrival.
class BankFcfs : public DramScheduler {
 public:
  DramRequest* next_of_bank(DramRequest* oldest, int64_t) const override { return oldest; }
};

class DramPagePolicy {
 public:
  virtual ~DramPagePolicy() = default;
  /// Whether a column command closes its row; `more`: others for this row are in the queue.
  virtual bool closes(bool more) const = 0;
};

class OpenPage : public DramPagePolicy {
 public:
  bool closes(bool) const override { return false; }
};

class ClosedPage : public DramPagePolicy {
 public:
  bool closes(bool more) const override { return !more; }
};

class DramRefreshPolicy {
 public:
  virtual ~DramRefreshPolicy() = default;
  /// From one refresh command of a stack ID to the next; kNoCycle: there are none.
  virtual Cycle interval(const DramTiming&, uint32_t banks_of_stack_id) const = 0;
  /// REF, or REFSB to the banks in turn.
  virtual bool all_banks() const = 0;
};

class AllBankRefresh : public DramRefreshPolicy {
 public:
  Cycle interval(const DramTiming& t, uint32_t) const override { return t.tREFI; }
  bool all_banks() const override { return true; }
};

class PerBankRefresh : public DramRefreshPolicy {
 public:
  Cycle interval(const DramTiming& t, uint32_t banks) const override { return t.tREFI / banks; }
  bool all_banks() const override { return false; }
};

class NoRefresh : public DramRefreshPolicy {
 public:
  Cycle interval(const DramTiming&, uint32_t) const override { return kNoCycle; }
  bool all_banks() const override { return true; }
};

struct DramPolicies {
  std::shared_ptr<const DramScheduler> scheduler = std::make_shared<FrFcfs>();
  std::shared_ptr<const DramPagePolicy> page = std::make_shared<OpenPage>();
  std::shared_ptr<const DramRefreshPolicy> refresh = std::make_shared<AllBankRefresh>();
};

/// By the names that YAML has: fr_fcfs, fcfs; open, closed; all_bank, per_bank, none.
DramPolicies dram_policies(const std::string& scheduler, const std::string& page, const std::string& refresh);

}  // namespace kernbench
