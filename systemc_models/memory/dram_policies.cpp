#include "kernbench/systemc_models/memory/dram_policies.h"

namespace kernbench {

DramRequest* FrFcfs::next_of_bank(DramRequest* oldest, int64_t open_row) const {
  for (DramRequest* r = oldest; r && open_row != DramBanks::kClosed; r = r->next) {
    if (r->place.row == open_row) return r;
  }
  return oldest;
}

DramPolicies dram_policies(const std::string& scheduler, const std::string& page, const std::string& refresh) {
  DramPolicies p;
  if (scheduler == "fcfs") p.scheduler = std::make_shared<BankFcfs>();
  if (page == "closed") p.page = std::make_shared<ClosedPage>();
  if (refresh == "per_bank") p.refresh = std::make_shared<PerBankRefresh>();
  if (refresh == "none") p.refresh = std::make_shared<NoRefresh>();
  return p;
}

}  // namespace kernbench
