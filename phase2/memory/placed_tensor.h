// SPDX-License-Identifier: Apache-2.0
// Addresses of the tensors of a run. A replay in another process needs them to read tensors back by name.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "kernbench/phase2/memory/memory_image.h"
#include "kernbench/phase2/op/op.h"

namespace kernbench::phase2 {

/// A box of a tensor, dense and row-major at `addr`.
struct PlacedShard {
  Space space = Space::hbm;
  uint32_t pe = kNoPe;  ///< owner of the TCM; kNoPe for other spaces
  uint64_t addr = 0;    ///< bytes
  Dims offset;          ///< its first element in PlacedTensor::grid
  Dims extent;
};

struct PlacedTensor {
  std::string name;
  bool output = false;  ///< the kernel writes it
  DType dtype = DType::f32;
  Dims shape;
  Dims grid;  ///< the shape that the shards divide: the same elements in the same order
  std::vector<PlacedShard> shards;
};

/// A tensor that memory does not hold completely, or that its shards do not fit. One line.
class PlacedTensorError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The tensor's bytes, row-major. Throws PlacedTensorError if a byte is unwritten or pending, a shard lies outside the
/// tensor, or the shards do not cover it. If `unwritten` is given, unwritten bytes are 0 and are counted there.
Bytes read_tensor(const PlacedTensor&, const MemoryImage&, uint64_t* unwritten = nullptr);

/// [{"name", "role": "in" | "out", "dtype", "shape", "grid", "shards": [{"space", "addr", ["pe"], "offset",
/// "extent"}]}]; PEs are given by name.
std::string tensors_json(const std::vector<PlacedTensor>&, const std::vector<std::string>& pes);
/// The inverse. Throws std::runtime_error with the fault.
std::vector<PlacedTensor> parse_tensors(std::string_view json, const std::vector<std::string>& pes);

}  // namespace kernbench::phase2
