// SPDX-License-Identifier: Apache-2.0
// What a node's kernel is written with, on each PE of a launch: whole tensors as flat arrays of elements in HBM, and
// the ways in which elements are picked out of them. A kernel works on its share of the outputs' elements, a piece of
// at most kPiece elements in TCM at a time.
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
constexpr int64_t kFollowed = 16 * 1024;  // of a tile that followers work on at a time, at most
constexpr int64_t kMostInTcm = 16;        // values of followers at a time
constexpr int64_t kRow = 64 * 1024;       // of a row that must lie in TCM as a whole

/// The parameter of a launch that says what each of its PEs' TCM has at least for tensors, in bytes.
constexpr const char* kTcmBytes = "tcm_bytes";

/// Behind the name of an operand that lies as a matrix in blocks, this PE's of which is worked on (Pe::block()); flat
/// ones have their name alone.
constexpr const char* kInBlocks = ".blocks";

/// A whole flat tensor.
tl::Ptr whole_of(const tl::Args&, const std::string& name);

/// Where the elements of a view stand in a flat tensor: Σ index · stride + offset.
struct Strides {
  Shape shape, strides;
  int64_t offset = 0;
  /// Of a tensor of `shape` that is broadcast to `to`.
  static Strides broadcast(const Shape& shape, const Shape& to);
  /// Of a row-major tensor.
  static Strides dense(const Shape& shape) { return {shape, row_major_strides(shape), 0}; }
  int64_t elements() const { return elements_of(shape); }
  int64_t at(int64_t flat) const;
  /// at(first), at(first + 1), …
  std::vector<int64_t> range(int64_t first, int64_t count) const;
  /// How many elements, the last index fastest, stand one behind the other, or are all the same one: a divisor of all.
  int64_t uniform() const;
};

/// Elements of a tensor that are worked on together: rows of such as lie one behind the other, `pitch` apart.
struct Tile {
  int64_t first = 0, rows = 1, columns = 0, pitch = 0;
  Dims shape() const { return {rows, columns}; }
};

/// The index of a flat element, and back.
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

  /// What its TCM has for tensors.
  int64_t tcm_bytes() const { return args_.integer(kTcmBytes); }

  /// The whole of a tensor, flat.
  tl::Ptr in(size_t i) const { return whole_of(args_, name_of_input(i)); }
  tl::Ptr out(size_t i = 0) const { return whole_of(args_, "out" + std::to_string(i)); }
  /// This PE's block where operands lie in blocks, which are all alike: of an op that works position by position.
  std::optional<Tile> block() const;
  /// This PE's part of an output's elements: those that lie in its own memory.
  Range share(size_t output = 0) const;
  /// Of so many pieces of work, in blocks.
  Range share_of(int64_t items) const;
  /// Calls f(first, count) for its share of an output's elements, so many of them at a time.
  void for_pieces(const std::function<void(int64_t first, int64_t count)>& f, size_t output = 0,
                  int64_t piece = kPiece) const;

  /// Elements of an input by their places in it, [count] or of that shape; −1: `fill`. Loads where they lie one behind
  /// the other, gathers else.
  tl::Tensor pick(size_t input, const std::vector<int64_t>& places, const Dims& shape, double fill = 0) const;
  tl::Tensor pick(size_t input, const std::vector<int64_t>& places, double fill = 0) const {
    return pick(input, places, {static_cast<int64_t>(places.size())}, fill);
  }
  /// The elements [first, first + count) of a view.
  tl::Tensor pick(size_t input, const Strides& view, int64_t first, int64_t count) const {
    return pick(input, view.range(first, count));
  }
  /// The elements of a view at those positions, of the tile's shape, or 1 along an axis along which it stands still.
  tl::Tensor pick(size_t input, const Strides& view, const Tile& tile) const;
  /// Whether the first and the last of these lie on different PEs, of an input in even blocks.
  bool lies_apart(size_t input, const Strides& view, const Tile& tile) const;
  /// What follows position by position, for output 0 and its followers (Launch): so many elements side by side are
  /// seen alike by all of them.
  int64_t uniform_in_followers() const;

  // Into an output. Of output 0 it is what the op makes of these elements; what follows is done here.
  void put(const Tile& tile, const tl::Tensor& value) const;
  /// From an element on.
  void put(size_t output, int64_t first, const tl::Tensor& value) const;
  /// By places.
  void put(size_t output, const std::vector<int64_t>& places, const tl::Tensor& value) const;

  /// All elements of an input as numbers: loaded, or worked out where they are computed.
  std::vector<int64_t> ints(size_t input) const;
  std::vector<double> reals(size_t input) const;

  /// Floats narrower than f32 as f32: what is computed in several steps rounds once.
  tl::Tensor widened(const tl::Tensor& x) const { return cast(x, is_float(x.dtype()) ? DType::f32 : x.dtype()); }
  tl::Tensor cast(const tl::Tensor& x, DType to) const { return x.dtype() == to ? x : tl.cast(x, to); }
  /// Of an output's elements.
  DType out_type(size_t i = 0) const { return op.out(i).dtype(); }

 private:
  /// How a follower has the elements of an input that is made elsewhere.
  using Side = std::function<tl::Tensor(const Pe&, size_t input, const Strides& view)>;
  tl::Tensor finished(tl::Tensor value, const Side&) const;
  /// Elements that followers work on at a time: a quarter of TCM holds their values, also of the widest type.
  int64_t followed() const;
  std::string name_of_input(size_t i) const { return prefix_ + "in" + std::to_string(i); }
  tl::Tensor all(size_t input) const;
  const tl::Args& args_;
  const std::vector<const Op*> followers_;
  const std::string prefix_;  ///< of the names of its inputs
};

}  // namespace kernbench::onnx
