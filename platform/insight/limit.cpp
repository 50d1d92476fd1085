#include "kernbench/platform/insight/limit.h"

#include <algorithm>
#include <vector>

namespace kernbench::insight {
namespace {

struct Facts {
  std::string_view name, title;
  std::vector<std::string_view> attributes;
  bool room = false;
  std::string_view kind = "";  ///< of the blocks; empty: of any that has such attributes
};

const Facts& facts_of(Limit limit) {
  static const Facts all[kLimits] = {
      {"none", "nothing", {}},
      {"window", "the window of tiles in flight", {"reserved_mb"}, true},
      {"depth", "the depth of the engines' queues", {"queue_depth"}, true},
      {"engines", "the count of pe_dma's engines", {"rd_engines", "wr_engines"}, false, "pe_dma"},
      {"channels", "the spread over memory channels", {"hash", "interleave_bytes", "pseudo_channels"}},
      {"slots", "the slots of queues between PEs", {"slots", "slot_bytes"}, true},
      {"outstanding", "pe_dma's transactions under way for one item", {"outstanding"}, true, "pe_dma"},
      {"buffers", "room in finite buffers", {"buffer_flits", "vcs", "allocation"}, true},
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

bool is_room(Limit limit) {
  return facts_of(limit).room;
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
