// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/topology/graph/faults.h"

#include "kernbench/phase2/text/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace kernbench::topology {
namespace {

constexpr size_t kMostFaults = 500;

std::string first_line(const std::vector<Fault>& faults) {
  if (faults.empty()) return "no fault";
  std::string text = faults.front().to_string();
  if (faults.size() > 1) text += fmt::format(" (and {} more)", faults.size() - 1);
  return text;
}

}  // namespace

std::string Fault::to_string() const {
  std::string text = where.file;
  if (where.line > 0) text += ":" + std::to_string(where.line);
  text += ": ";
  if (!field.empty()) text += field + ": ";
  return text + message;
}

TopologyError::TopologyError(std::vector<Fault> faults)
    : std::runtime_error(first_line(faults)), faults_(std::move(faults)) {}

void FaultList::add(int line, const std::string& field, const std::string& message) {
  if (faults_.size() >= kMostFaults) {
    ++suppressed_;
    return;
  }
  faults_.push_back({{file_, line}, field, message});
}

void FaultList::throw_if_any() {
  if (faults_.empty()) return;
  // Sorted by line, because errors were found in the order of the checks.
  std::stable_sort(faults_.begin(), faults_.end(),
                   [](const Fault& a, const Fault& b) { return a.where.line < b.where.line; });
  if (suppressed_ > 0) faults_.push_back({{file_, 0}, "", fmt::format("and {} more faults, not listed", suppressed_)});
  throw TopologyError(std::move(faults_));
}

std::string number_text(double v) {
  std::array<char, 40> buffer{};
  const bool whole = std::abs(v) < 1e15 && v == std::floor(v);
  const auto r = whole ? std::to_chars(buffer.data(), buffer.data() + buffer.size(), static_cast<long long>(v))
                       : std::to_chars(buffer.data(), buffer.data() + buffer.size(), v);
  return std::string(buffer.data(), r.ptr);
}

}  // namespace kernbench::topology
