// What makes one thing wait for another and is no rate: a count, a depth, or how addresses are spread.
#pragma once

#include <cstdint>
#include <string_view>

namespace kernbench::insight {

/// Of the causes of a run: whose limit one is. docs/insight.md says which attributes each follows from.
enum class Limit : uint8_t {
  none,
  window,       ///< tiles in flight of composites: reserved TCM
  depth,        ///< room in the queue of an engine
  engines,      ///< servers of pe_dma
  channels,     ///< a memory's channel has more than its even share while others are idle
  slots,        ///< of the rings between PEs
  outstanding,  ///< transactions that pe_dma has under way for one item
  buffers,      ///< room, and virtual channels, of finite buffers
};
constexpr size_t kLimits = static_cast<size_t>(Limit::buffers) + 1;

/// "window", for files.
std::string_view name_of(Limit);
/// "the window of tiles in flight", for sentences.
std::string_view title_of(Limit);
/// Whether more of what it limits by is room alone, for more of what waits; else there are more of something, or it is
/// how addresses are spread.
bool is_room(Limit);
/// Which limit an attribute of a kind of block moves; none: it is of no limit.
Limit limit_of(std::string_view kind, std::string_view attribute);

}  // namespace kernbench::insight
