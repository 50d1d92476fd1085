#include "kernbench/platform/insight/limit.h"

#include <algorithm>
#include <vector>

namespace kernbench::insight {
namespace {

struct Facts {
  std::string_view name, title;
  std::vector<std::string_view> attributes;
  std::string_view kind = "";  ///< of the blocks; empty: of any that has such attributes
};

const Facts& facts_of(Limit limit) {
  static const Facts all[kLimits] = {
      {"none", "nothing", {}},
      {"window", "the window of tiles in flight", {"reserved_mb"}},
      {"depth", "the depth of the engines' queues", {"queue_depth"}},
      {"engines", "the count of pe_dma's engines", {"rd_engines", "wr_engines"}, "pe_dma"},
      {"channels", "the spread over memory channels", {"hash", "interleave_bytes", "pseudo_channels"}},
      {"slots", "the slots of queues between PEs", {"slots", "slot_bytes"}},
      {"outstanding", "pe_dma's transactions under way for one item", {"outstanding"}, "pe_dma"},
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

Limit limit_of(std::string_view kind, std::string_view attribute) {
  for (size_t i = 0; i < kLimits; ++i) {
    const Facts& f = facts_of(static_cast<Limit>(i));
    const bool named = std::find(f.attributes.begin(), f.attributes.end(), attribute) != f.attributes.end();
    if (named && (f.kind.empty() || f.kind == kind)) return static_cast<Limit>(i);
  }
  return Limit::none;
}

}  // namespace kernbench::insight
