#include "kernbench/platform/insight/limit.h"

#include <algorithm>
#include <vector>

namespace kernbench::insight {
namespace {

struct Facts {
  std::string_view name, title;
  std::vector<std::string_view> attributes;
};

const Facts& facts_of(Limit limit) {
  static const Facts all[kLimits] = {
      {"none", "nothing", {}},
      {"window", "the window of tiles in flight", {"reserved_mb"}},
      {"depth", "the depth of the engines' queues", {"queue_depth"}},
      {"engines", "the count of pe_dma's engines", {"rd_engines", "wr_engines"}},
      {"channels", "the spread over memory channels", {"hash", "interleave_bytes", "pseudo_channels"}},
      {"slots", "the slots of queues between PEs", {"slots"}},
  };
  return all[static_cast<size_t>(limit)];
}

}  // namespace

std::string_view name_of(Limit limit) {
  return facts_of(limit).name;
}

std::string_view title_of(Limit limit) {
  return facts_of(limit).title;
}

Limit limit_of(std::string_view attribute) {
  for (size_t i = 0; i < kLimits; ++i) {
    const auto& names = facts_of(static_cast<Limit>(i)).attributes;
    if (std::find(names.begin(), names.end(), attribute) != names.end()) return static_cast<Limit>(i);
  }
  return Limit::none;
}

}  // namespace kernbench::insight
