// SPDX-License-Identifier: Apache-2.0
// A constant of the energy model: the energy of one action, its source and its uncertainty.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernbench::energy {

/// Origin of a constant.
enum class Quality : uint8_t {
  primary,    ///< measured or published by the builders; we read the source itself
  secondary,  ///< a published number taken from a secondary source
  assumed,    ///< not published; the source gives the reasoning
  computed    ///< computed from other numbers by a formula in the source
};
constexpr Quality kQualities[] = {Quality::primary, Quality::secondary, Quality::assumed, Quality::computed};

enum class Unit : uint8_t {
  pj,         ///< per action
  pj_bit,     ///< per bit
  pj_bit_mm,  ///< per bit and mm of wire
  watt,       ///< for the duration of the run
  watt_mm2,   ///< the same, per area
  um2,        ///< area of one instance
  um2_bit,    ///< area per bit
  mm2,        ///< area of a block
  mm2_gbs,    ///< area per 1 GB/s
  mm_gbs,     ///< length of a die's edge per 1 GB/s
  gbs,        ///< GB/s
  gb,         ///< 1e9 bytes
  mm,
  usd,
  usd_mm2,  ///< price per area
  usd_gb,   ///< price per GB
  per_cm2,  ///< defect density
  none      ///< a plain number
};

/// "primary" …; "pJ", "pJ/bit", "pJ/bit/mm", "W", "W/mm2", "um2", …: the words used in tables.
std::string_view name_of(Quality);
std::string_view name_of(Unit);
std::optional<Quality> parse_quality(std::string_view);
std::optional<Unit> parse_unit(std::string_view);

constexpr int64_t kParts = 1'000'000'000;  ///< parts of its unit in which a constant is stored
constexpr double kMostOfUnit = 1e9;        ///< legal numbers are from 0 to this one

struct Constant {
  std::string name;  ///< "mac.f16", "wire", "sram.read.16MB"
  Unit unit = Unit::pj;
  int64_t low = 0, value = 0, high = 0;  ///< in 1e-9 of the unit
  Quality quality = Quality::assumed;
  std::string source;
  /// As a number in its unit.
  static double number(int64_t parts) { return static_cast<double>(parts) / static_cast<double>(kParts); }
};

}  // namespace kernbench::energy
