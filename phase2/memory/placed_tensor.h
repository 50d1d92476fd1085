// SPDX-License-Identifier: Apache-2.0
// Where the tensors of a run lie in memory: what a replay in another process needs to read them back by name.
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
  uint32_t pe = kNoPe;  ///< whose TCM; kNoPe for other spaces
  uint64_t addr = 0;    ///< bytes
  Dims offset;          ///< of its first element in PlacedTensor::grid
  Dims extent;
};

struct PlacedTensor {
  std::string name;
  bool output = false;  ///< the kernel writes it
  DType dtype = DType::f32;
  Dims shape;
  Dims grid;  ///< the shape that the shards are boxes of: the same elements in the same order
  std::vector<PlacedShard> shards;
};

/// A tensor that memory does not hold in full, or whose shards do not fit it. One line.
class PlacedTensorError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The tensor's bytes, row-major. Throws PlacedTensorError where a byte was never written or is pending, a shard lies
/// outside the tensor, or the shards do not cover it. With `unwritten`, bytes that were never written are 0, and
/// counted there.
Bytes read_tensor(const PlacedTensor&, const MemoryImage&, uint64_t* unwritten = nullptr);

/// [{"name", "role": "in" | "out", "dtype", "shape", "grid", "shards": [{"space", "addr", ["pe"], "offset",
/// "extent"}]}], PEs by name.
std::string tensors_json(const std::vector<PlacedTensor>&, const std::vector<std::string>& pes);
/// The inverse. Throws std::runtime_error with what is wrong.
std::vector<PlacedTensor> parse_tensors(std::string_view json, const std::vector<std::string>& pes);

}  // namespace kernbench::phase2
