// SPDX-License-Identifier: Apache-2.0
// The interface with which node kernels are written. It runs on each PE of a launch. Whole tensors are flat arrays of
// elements in HBM, with several ways to pick elements from them. A kernel computes its share of the output's elements
// and holds at most kPiece elements of a tensor in TCM.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernbench/kernel_api/args.h"
#include "kernbench/kernel_api/context.h"
#include "kernbench/platform/onnx/op.h"

namespace kernbench::onnx {

constexpr int64_t kPiece = 8192;          // elements of a tensor in TCM
constexpr int64_t kFollowed = 16 * 1024;  // most elements of a tile that followers work on at once
constexpr int64_t kMostInTcm = 16;        // most follower values at once
constexpr int64_t kRow = 64 * 1024;       // most elements of a row that must lie in TCM whole

/// Launch parameter: the TCM bytes that each PE has at least for tensors.
constexpr const char* kTcmBytes = "tcm_bytes";

/// Suffix of the names of operands that lie as block matrices; each PE works on its block (Pe::block()). Flat operands
/// have no suffix.
constexpr const char* kInBlocks = ".blocks";

/// A whole flat tensor.
tl::Ptr whole_of(const tl::Args&, const std::string& name);

/// Positions of a view's elements in a flat tensor: Σ index · stride + offset.
struct Strides {
  Shape shape, strides;
  int64_t offset = 0;
  /// A tensor of `shape` broadcast to `to`.
  static Strides broadcast(const Shape& shape, const Shape& to);
  /// A row-major tensor.
  static Strides dense(const Shape& shape) { return {shape, row_major_strides(shape), 0}; }
  int64_t elements() const { return elements_of(shape); }
  int64_t at(int64_t flat) const;
  /// at(first), at(first + 1), …
  std::vector<int64_t> range(int64_t first, int64_t count) const;
  /// How many consecutive elements (last index fastest) are adjacent, or all the same one. Divides the number of
  /// elements.
  int64_t uniform() const;
};

/// Elements of a tensor that are processed together: rows of adjacent elements, `pitch` apart.
struct Tile {
  int64_t first = 0, rows = 1, columns = 0, pitch = 0;
  Dims shape() const { return {rows, columns}; }
};

/// Converts a flat position to an index, and back.
Shape unflattened(int64_t flat, const Shape& shape);

struct Range {
  int64_t first = 0, last = 0;  ///< [first, last)
};

class Pe {
 public:
  Pe(tl::Context& context, const tl::Args& args, const Op& node, std::vector<const Op*> followers = {},
     std::string prefix = "")
      : tl(context), op(node), args_(args), followers_(std::move(followers)), prefix_(std::move(prefix)) {}

  tl::Context& tl;
  const Op& op;

  /// Bytes of TCM available for tensors.
  int64_t tcm_bytes() const { return args_.integer(kTcmBytes); }

  /// The whole tensor, flat.
  tl::Ptr in(size_t i) const { return whole_of(args_, name_of_input(i)); }
  tl::Ptr out(size_t i = 0) const { return whole_of(args_, "out" + std::to_string(i)); }
  /// This PE's block of an elementwise op whose operands all lie in equal blocks.
  std::optional<Tile> block() const;
  /// This PE's share of an output's elements: those in its own memory.
  Range share(size_t output = 0) const;
  /// This PE's share of a number of work items, in contiguous blocks.
  Range share_of(int64_t items) const;
  /// Calls f(first, count) for this PE's share of an output's elements, this many at a time.
  void for_pieces(const std::function<void(int64_t first, int64_t count)>& f, size_t output = 0,
                  int64_t piece = kPiece) const;

  /// Elements of an input at given positions; result [count] or of that shape; −1 reads `fill`. Adjacent elements are
  /// loaded, others gathered.
  tl::Tensor pick(size_t input, const std::vector<int64_t>& places, const Dims& shape, double fill = 0) const;
  tl::Tensor pick(size_t input, const std::vector<int64_t>& places, double fill = 0) const {
    return pick(input, places, {static_cast<int64_t>(places.size())}, fill);
  }
  /// The elements [first, first + count) of a view.
  tl::Tensor pick(size_t input, const Strides& view, int64_t first, int64_t count) const {
    return pick(input, view.range(first, count));
  }
  /// The elements of a view at the tile's positions. The result has the tile's shape, or 1 along axes of stride 0.
  tl::Tensor pick(size_t input, const Strides& view, const Tile& tile) const;
  /// Whether the first and last of these elements lie on different PEs, for an input in equal blocks.
  bool lies_apart(size_t input, const Strides& view, const Tile& tile) const;
  /// The number of adjacent elements that output 0 and all its followers (Launch) view in the same way.
  int64_t uniform_in_followers() const;

  // Writes an output. For output 0 it takes the op's result and runs the followers here.
  void put(const Tile& tile, const tl::Tensor& value) const;
  /// Contiguous, from a position on.
  void put(size_t output, int64_t first, const tl::Tensor& value) const;
  /// At given positions.
  void put(size_t output, const std::vector<int64_t>& places, const tl::Tensor& value) const;

  /// All elements of an input as numbers: loaded, or materialized if they are computed.
  std::vector<int64_t> ints(size_t input) const;
  std::vector<double> reals(size_t input) const;

  /// Converts floats narrower than f32 to f32, so that a computation of several steps rounds once.
  tl::Tensor widened(const tl::Tensor& x) const { return cast(x, is_float(x.dtype()) ? DType::f32 : x.dtype()); }
  tl::Tensor cast(const tl::Tensor& x, DType to) const { return x.dtype() == to ? x : tl.cast(x, to); }
  /// In the first output's type. Unless `saturate` is 0, values beyond a float8's largest become that.
  tl::Tensor converted(const tl::Tensor& x) const;
  /// The element type of an output.
  DType out_type(size_t i = 0) const { return op.out(i).dtype(); }

 private:
  /// The view through which a follower reads an input made elsewhere.
  using Side = std::function<tl::Tensor(const Pe&, size_t input, const Strides& view)>;
  tl::Tensor finished(tl::Tensor value, const Side&) const;
  /// Elements that followers process at once: their values, in the widest type, fit a quarter of TCM.
  int64_t followed() const;
  std::string name_of_input(size_t i) const { return prefix_ + "in" + std::to_string(i); }
  tl::Tensor all(size_t input) const;
  const tl::Args& args_;
  const std::vector<const Op*> followers_;
  const std::string prefix_;  ///< prefix of its input names
};

}  // namespace kernbench::onnx
