// SPDX-License-Identifier: Apache-2.0
// Typed reading of YAML. Every error is noted with line and field, and unread keys are reported.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernbench/platform/topology/graph/block.h"
#include "kernbench/platform/topology/graph/faults.h"
#include "kernbench/platform/topology/read/yaml_tree.h"

namespace kernbench::topology {

/// Legal numbers of a field. Numbers beyond 1e15 are treated as mistakes.
struct NumberRule {
  double min = -1e15;
  double max = 1e15;
  bool min_exclusive = false;
  const char* unit = "";
  static NumberRule positive(const char* u, double most = 1e15) { return {0, most, true, u}; }
  static NumberRule bandwidth() { return {kLeastRate, kMostBandwidthGbs, false, "GB/s"}; }
  static NumberRule not_negative(const char* u, double most = 1e15) { return {0, most, false, u}; }
  /// "a number > 0 (GB/s)".
  std::string to_string() const;
};

/// The found value, for messages: "'abc'", "a list", "a map", "nothing".
std::string describe(YamlNode);

/// Scalars. A node of another type or out of range gives an error and no value; quoted text is text.
std::optional<double> read_number(YamlNode, const std::string& field, const NumberRule&, FaultList&);
std::optional<uint64_t> read_unsigned(YamlNode, const std::string& field, uint64_t min, uint64_t max, FaultList&);
std::optional<bool> read_boolean(YamlNode, const std::string& field, FaultList&);
std::optional<std::string> read_string(YamlNode, const std::string& field, FaultList&);

/// One mapping. Requested keys are legal; finish() reports all others. An absent key gives no value and no error;
/// require_* reports it.
class YamlMap {
 public:
  /// A node that is no mapping is an error and reads as an empty, invalid map. An undefined node (an absent key,
  /// already reported by require()) is no second error.
  YamlMap(YamlNode node, std::string path, FaultList& faults);
  bool valid() const { return valid_; }
  int line() const { return line_; }
  const std::string& path() const { return path_; }
  std::string field(const std::string& key) const { return path_.empty() ? key : path_ + "." + key; }
  FaultList& faults() { return faults_; }

  bool has(const std::string& key) const;
  /// An undefined node if absent.
  YamlNode take(const std::string& key);
  YamlNode require(const std::string& key, const std::string& legal);
  /// Line of a key's value, or of the map.
  int line_of_key(const std::string& key) const;

  std::optional<double> number(const std::string& key, const NumberRule&);
  double number_or(const std::string& key, double fallback, const NumberRule&);
  std::optional<double> require_number(const std::string& key, const NumberRule&);
  std::optional<uint64_t> unsigned_number(const std::string& key, uint64_t min, uint64_t max);
  uint64_t unsigned_or(const std::string& key, uint64_t fallback, uint64_t min, uint64_t max);
  std::optional<uint64_t> require_unsigned(const std::string& key, uint64_t min, uint64_t max);
  std::optional<bool> boolean(const std::string& key);
  std::optional<std::string> string(const std::string& key);
  std::optional<std::string> require_string(const std::string& key, const std::string& legal);
  /// Index of the text in `choices`; an error lists them.
  std::optional<size_t> choice(const std::string& key, const std::vector<std::string>& choices);
  /// Two numbers, e.g. a size [w, h].
  std::optional<std::pair<double, double>> pair(const std::string& key, const NumberRule&);

  const std::vector<std::pair<std::string, YamlNode>>& entries() const { return entries_; }
  /// Reports unread keys, with the most similar legal one.
  void finish();

 private:
  FaultList& faults_;
  std::string path_;
  int line_ = 0;
  bool valid_ = false;
  std::vector<std::pair<std::string, YamlNode>> entries_;
  std::vector<bool> read_;
  std::vector<std::string> asked_;
};

}  // namespace kernbench::topology
