// SPDX-License-Identifier: Apache-2.0
// A constant of the energy model: what one action costs, who says so, and how far off it may be.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernbench::energy {

/// Where a constant comes from.
enum class Quality : uint8_t {
  primary,    ///< measured or published by those who built it; the source was read itself
  secondary,  ///< a published figure by way of somebody's transcription
  assumed,    ///< nobody's figure: the source gives the reasoning
  computed    ///< from other figures by a formula, which the source gives
};
constexpr Quality kQualities[] = {Quality::primary, Quality::secondary, Quality::assumed, Quality::computed};

enum class Unit : uint8_t {
  pj,         ///< an action
  pj_bit,     ///< a bit
  pj_bit_mm,  ///< a bit over a mm of wire
  watt,       ///< as long as the run takes
  watt_mm2,   ///< the same, of an area
  um2,        ///< area of one of many
  um2_bit,    ///< area of a bit
  mm2,        ///< area of a block
  mm2_gbs,    ///< area of what moves 1 GB/s
  mm_gbs,     ///< length of a die's edge of what moves 1 GB/s
  gbs,        ///< GB/s
  gb,         ///< 1e9 bytes
  mm,
  usd,
  usd_mm2,  ///< price of an area
  usd_gb,   ///< price of a GB
  per_cm2,  ///< defects
  none      ///< a number
};

/// "primary" …; "pJ", "pJ/bit", "pJ/bit/mm", "W", "W/mm2", "um2", …: as they stand in tables.
std::string_view name_of(Quality);
std::string_view name_of(Unit);
std::optional<Quality> parse_quality(std::string_view);
std::optional<Unit> parse_unit(std::string_view);

constexpr int64_t kParts = 1'000'000'000;  ///< of its unit that a constant counts
constexpr double kMostOfUnit = 1e9;        ///< legal numbers are from 0 to this

struct Constant {
  std::string name;  ///< "mac.f16", "wire", "sram.read.16MB"
  Unit unit = Unit::pj;
  int64_t low = 0, value = 0, high = 0;  ///< in 1e-9 of the unit
  Quality quality = Quality::assumed;
  std::string source;
  /// In its unit.
  static double number(int64_t parts) { return static_cast<double>(parts) / static_cast<double>(kParts); }
};

}  // namespace kernbench::energy
