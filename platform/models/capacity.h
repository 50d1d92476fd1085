// SPDX-License-Identifier: Apache-2.0
// Computes, before the run, how much of the machine's memories a model takes. Sizes in bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernbench/kernel_api/layout.h"
#include "kernbench/platform/models/model_program.h"

namespace kernbench::phase2 {
class Fields;
}

namespace kernbench::models {

/// The machine's properties that this needs: each program PE's position and HBM slice number.
struct Room {
  std::vector<host::LayoutPlace> places;
  host::LayoutGrids grids;
  std::vector<uint32_t> slice;         ///< slice number, by PE
  std::vector<std::string> slice_ids;  ///< names, by slice
  std::vector<uint64_t> slice_bytes;   ///< sizes, by slice
  uint64_t tcm_bytes = 0;              ///< usable by kernels and rings; the least of all PEs
  uint64_t ring_bytes = 0;             ///< rings of the largest launch in a PE's TCM
};

struct Capacity {
  struct Row {
    std::string what;          ///< weights, KV cache, tables, inputs and outputs, activations
    uint64_t bytes = 0;        ///< in total, with copies
    uint64_t copies = 0;       ///< the part of `bytes` that duplicates data on other PEs
    uint64_t slice_bytes = 0;  ///< in the fullest slice
    uint64_t again = 0;        ///< the part of `slice_bytes` that is a second layout of weights
  };
  std::vector<Row> rows;
  std::string slice;  ///< the fullest slice
  uint64_t slice_needs = 0, slice_has = 0;
  uint64_t rings = 0, tcm_has = 0;
  std::string fullest_phase = "";  ///< if each phase's weights replace those of the last: the counted phase
  bool fits() const { return slice_needs <= slice_has && rings <= tcm_has; }
};

/// Counts all layers of the model, simulated or not. Activations: those of one layer in the largest phase, as if none
/// were freed before the layer ends. If each phase's weights replace those of the last, the fullest phase counts.
Capacity capacity_of(const ModelProgram&, const Room&);
/// If the phases' layouts of the weights do not fit together, each phase's weights replace those of the last.
Capacity place_to_fit(ModelProgram*, const Room&);

std::string capacity_text(const Capacity&);
void describe(Fields&, const Capacity&);

}  // namespace kernbench::models
