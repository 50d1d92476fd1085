// SPDX-License-Identifier: Apache-2.0
// The groups of a launch: PEs that take part in one collective (collectives rules §12.1). Plain functions.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernbench/kernel_api/launch_shape.h"

namespace kernbench::ccl {

enum class Axis : uint8_t { pe, cube, rank };
const char* name_of(Axis);

/// Axes along which the members of a group differ.
struct Axes {
  bool pe = false, cube = false, rank = false;
  int count() const { return int{pe} + int{cube} + int{rank}; }
  bool has(Axis) const;
  /// The axis, if count() is 1.
  Axis only() const { return pe ? Axis::pe : cube ? Axis::cube : Axis::rank; }
};

/// "rank", "cube+pe", in any order. BadParam for an unknown, repeated or missing name.
Axes parse_axes(const std::string& over);

/// When a place of an axis is the same in several cubes or SIPs: the same position in the machine, or the same rank
/// among the launch's. Both agree if the launch has the same places everywhere.
enum class SamePlace : uint8_t { in_machine, in_launch };

/// PEs of a launch (places in LaunchShape::pes) by member number, in order of rank, cube and PE.
using Members = std::vector<int64_t>;
/// A list of numbers that copies share, because each PE of a launch has its group.
class SharedList {
 public:
  SharedList(std::vector<int64_t> list = {})  // NOLINT: a list may be used as a shared one
      : list_(std::make_shared<const std::vector<int64_t>>(std::move(list))) {}
  operator const std::vector<int64_t>&() const { return *list_; }  // NOLINT: and the reverse
  int64_t operator[](size_t i) const { return (*list_)[i]; }
  size_t size() const { return list_->size(); }
  auto begin() const { return list_->begin(); }
  auto end() const { return list_->end(); }

 private:
  std::shared_ptr<const std::vector<int64_t>> list_;
};

/// All groups, ordered by their first members. BadParam if their sizes differ.
std::vector<Members> groups_of(const LaunchShape&, Axes over, SamePlace = SamePlace::in_machine);
/// The group of the PE. BadParam likewise.
const Members& group_with(const LaunchShape&, Axes over, int64_t pe, SamePlace = SamePlace::in_machine);
int64_t member_of(const Members&, int64_t pe);

}  // namespace kernbench::ccl
