// SPDX-License-Identifier: Apache-2.0
// Address spaces. Each PE has its own TCM. All other spaces exist once in a system: hbm, sram, and those named by a
// topology's memories, a log or a plug-in.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernbench/phase2/rooms.h"

namespace kernbench::phase2 {

enum class Space : uint8_t { hbm, sram, tcm };
constexpr int kMostSpaces = 64;
std::string_view name_of(Space);

/// The space of that name: hbm, sram, tcm, or an added one. std::invalid_argument for any other, with the known names.
Space parse_space(std::string_view);
/// The same, but adds an unknown name. std::invalid_argument for an illegal name, and for more than kMostSpaces. Call
/// it before the simulation or in its thread.
Space add_space(std::string_view);
/// Whether the name is legal for a space: a small letter, then at most 30 small letters, digits and '_'.
bool is_space_name(std::string_view);
/// "a small letter, then …": for messages.
inline constexpr char kSpaceNames[] = "a name of at most 31 small letters, digits and '_' that begins with a letter";

/// All spaces of memories outside of PEs: hbm, sram, then the added ones in order of addition.
std::vector<std::string> memory_spaces();

}  // namespace kernbench::phase2
