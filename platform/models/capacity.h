// SPDX-License-Identifier: Apache-2.0
// What a model takes of the machine's memories, before anything runs.
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

/// The machine, as far as this asks: of each of the program's PEs where it stands, and its HBM slice by number.
struct Room {
  std::vector<host::LayoutPlace> places;
  host::LayoutGrids grids;
  std::vector<uint32_t> slice;         ///< by PE
  std::vector<std::string> slice_ids;  ///< by slice
  std::vector<uint64_t> slice_bytes;   ///< by slice
  uint64_t tcm_bytes = 0;              ///< that kernels and rings may have, the least of any PE
  uint64_t ring_bytes = 0;             ///< of the largest launch in a PE's TCM
};

struct Capacity {
  struct Row {
    std::string what;          ///< weights, KV cache, tables, inputs and outputs, activations
    uint64_t bytes = 0;        ///< in all, with copies
    uint64_t copies = 0;       ///< of it, parts that more than one PE has
    uint64_t slice_bytes = 0;  ///< in the slice that has most in all
    uint64_t again = 0;        ///< of it, weights that are there in another layout too
  };
  std::vector<Row> rows;
  std::string slice;  ///< the slice that has most
  uint64_t slice_needs = 0, slice_has = 0;
  uint64_t rings = 0, tcm_has = 0;
  bool fits() const { return slice_needs <= slice_has && rings <= tcm_has; }
};

/// Of all layers that count, simulated or not. Activations: those of one layer in the phase that has most, as if none
/// were given back before its end.
Capacity capacity_of(const ModelProgram&, const Room&);

std::string capacity_text(const Capacity&);
void describe(Fields&, const Capacity&);

}  // namespace kernbench::models
