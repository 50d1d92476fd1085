// SPDX-License-Identifier: Apache-2.0
// The time of a service's step, from phases that are simulated once each, when a step first needs them. The rule:
//   decode step of B sequences with C keys: decode:batch=B at the grid's contexts around C, linear between;
//   step with chunks, R rows in all: the prefill of R rows without its attention, linear between the grid's lengths,
//   + for each chunk A(past + tokens) - A(past), where A(n) is the attention of prefill:n and A(n) / n is linear,
//   + for the sequences the attention of their decode step, and the additional time of their rows in the head.
// Grids: lengths 1, 16, 64, 128, 256, ... 4096; contexts 1, 64, 256, 1024, 4096, ..., the last position. Beyond the
// last length its last segment is extrapolated. Batches are never interpolated: neighbours differ by a factor of 3.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <tuple>
#include <vector>

#include "kernbench/platform/models/phase.h"
#include "kernbench/platform/service/scheduler.h"

namespace kernbench::service {

/// Time of all layers, and of the model's ends.
struct PhasePrice {
  double ns = 0, attention_ns = 0, head_ns = 0;
};

/// The class of a step: the contents of one phase.
struct StepClass {
  int64_t prefill = 0, batch = 0, context = 0;
  models::Phase phase(int64_t page) const;
};

class StepPrices {
 public:
  /// Prices of phases, in their order.
  using Simulate = std::function<std::vector<PhasePrice>(const std::vector<models::Phase>&)>;
  StepPrices(Simulate simulate, int64_t positions, int64_t page);

  double ns(const Step&);
  double ns(const StepClass&);  ///< its prompt starts at position 0, in one chunk
  size_t simulated() const { return known_.size(); }

 private:
  using Key = std::tuple<int64_t, int64_t, int64_t>;  // prefill, batch, context
  double ns(const std::vector<Chunk>& chunks, const StepClass&);
  /// The grid's points around v; both equal v if v is one.
  static std::pair<int64_t, int64_t> around(const std::vector<int64_t>& grid, int64_t v);
  void simulate_missing(const std::vector<Key>&);
  PhasePrice decode(int64_t batch, int64_t context) const;
  double rows_ns(int64_t rows) const;
  double attention_ns(int64_t tokens) const;

  const Simulate simulate_;
  const int64_t page_;
  std::vector<int64_t> lengths_, contexts_;
  std::map<Key, PhasePrice> known_;
};

}  // namespace kernbench::service
