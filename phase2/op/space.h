// Address spaces. A PE's TCM is its own; every other space is one per system: hbm, sram, and those of any other name
// that a topology's memories, a log or a plug-in bring.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kernbench {

enum class Space : uint8_t { hbm, sram, tcm };
constexpr int kMostSpaces = 64;
std::string_view name_of(Space);

/// The space of that name: hbm, sram, tcm, or one that has been added. Anything else is std::invalid_argument, with the
/// names that there are.
Space parse_space(std::string_view);
/// The same; a name that nobody has used yet becomes a space. std::invalid_argument where it is no name of a space, and
/// for more than kMostSpaces. Before or in the simulation's thread.
Space add_space(std::string_view);
/// Whether a space may be called so: a small letter, then at most 30 small letters, digits and '_'.
bool is_space_name(std::string_view);
/// "a small letter, then …": for messages.
inline constexpr char kSpaceNames[] = "a name of at most 31 small letters, digits and '_' that begins with a letter";

/// All that memories outside of PEs may be: hbm, sram, then the added ones in their order.
std::vector<std::string> memory_spaces();

}  // namespace kernbench
