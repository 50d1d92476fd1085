// SPDX-License-Identifier: Apache-2.0
// Panels of an operand of a product that PEs hand on to each other (gemm_2d): who stores what of it, and how a part
// comes to a PE and goes on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernbench/kernel_api/assembly.h"
#include "kernbench/kernel_api/kernels/peers.h"
#include "kernbench/kernel_api/kernels/quantized.h"
#include "kernbench/kernel_api/tl.h"

namespace kernbench::kernels::panel {

/// Where a range of so many is cut: the ends of its pieces.
using Cuts = std::vector<int64_t>;
Cuts even_cuts(int64_t count, int64_t step);
int64_t longest_of(const Cuts& ends);

using Stored = std::vector<std::vector<tl::View>>;  // by cube, by PE of a line
/// An operand's part of k that another rank stores, which the PE of the same place there sends to this one.
struct Far {
  size_t rank;
  Stored stored;
  std::vector<Range> panels;                      ///< by which it comes, and is used
  std::vector<std::pair<Range, tl::Tensor>> own;  ///< by k: what comes to this PE
};

/// One operand as a PE sees it: who stores what of it on the line of cubes and in the line of PEs that it takes part
/// in.
struct Line {
  std::string name;
  int axis = 0;                          ///< of the operand, that is split over the PEs of a cube; k is the other one
  int64_t cube = 0, pe = 0;              ///< where this PE is, on each line
  Stored stored;                         ///< by cube, by PE of the line
  std::string before, behind;            ///< ports to the cubes before and behind on the line
  std::vector<std::string> peers;        ///< by PE of the line: the port there
  int64_t length = 0;                    ///< of the axis
  std::vector<Far> far;                  ///< what other ranks have of k, in the order in which it is used
  bool stacked = false;                  ///< of rows: a piece's parts are one tensor
  DType dtype = DType::f32;              ///< in which it goes from PE to PE
  std::shared_ptr<const Scales> scales;  ///< with which it is made floats before it does; none: without

  /// Of the axis, what a PE stores.
  Range along(const tl::View& v) const { return axis == 1 ? weight_columns(v, length) : range_of(v, 0); }
  /// The same of the PE at a place, alike in all cubes.
  Range of(int64_t p) const { return along(stored.front()[static_cast<size_t>(p)]); }
  Range k(const Stored& of, int64_t c, int64_t p) const {
    return range_of(of[static_cast<size_t>(c)][static_cast<size_t>(p)], 1 - axis);
  }
  Range k(int64_t c, int64_t p) const { return k(stored, c, p); }
};

/// Checks that all cubes of the line have the same of the axis, and together all of k. KernelFault.
void check(const Line& l, const Range& k);

/// One operand's part of a panel, as it comes to a PE: asked for, then passed on, then used.
class Piece {
 public:
  /// Of `along` (by PE of the line) and k. Asks for all that this PE needs; waits for nothing.
  Piece(tl::Context&, const Line&, const std::vector<Range>& along, const Range& k);

  /// Makes floats of what this PE has loaded, if it has to. Not waited for, but for the load.
  void make_floats(tl::Context&);

  /// This PE's own part to whom it goes.
  void pass_on(tl::Context&);
  /// The same for what this PE has loaded, ahead of its turn, on ports on which nothing has to go before it: `busy`, to
  /// which its other ports are added.
  void pass_on_early(tl::Context&, std::set<std::string>* busy);
  const std::vector<tl::Tensor>& parts() const { return parts_; }
  /// Of rows: all parts that are not empty, one behind the other, when they are there.
  tl::Tensor whole(tl::Context&) const;

 private:
  /// Rows with one scale, one behind the other.
  tl::Tensor scaled(tl::Context&, const tl::Tensor& values) const;

  /// The same at its place among all rows.
  template <class Command>
  tl::Tensor placed(Command command);

  const Range k_;
  const Line& line_;
  std::optional<tl::Assembly> rows_;  ///< of all parts, which come one behind the other
  int64_t placed_ = 0;                ///< elements of it
  bool loads_ = false;                ///< this PE's cube stores it, or another rank's at its place
  bool comes_ = false;                ///< from another rank
  tl::Tensor stored_, scales_;        ///< of which the own part has still to be made
  bool made_ = false;
  int64_t columns_ = 0;            ///< of the own part
  std::vector<tl::Tensor> parts_;  ///< by PE of the line
  tl::Tensor own_;
  std::vector<const std::string*> to_;  ///< where the own part has still to go
};

/// Panels: small ones first, so that products begin early, then ever larger ones up to `most`.
std::vector<Range> panels(const std::set<int64_t>& cuts, int64_t first, int64_t most);
/// Of each PE of the line its rows (columns), and of these the i-th piece.
std::vector<Range> along(const Line& l, const Cuts& ends, size_t i);
/// Those that follow each other as one.
std::vector<Range> joined(const std::vector<Range>& parts);
bool any(const Line& l);

}  // namespace kernbench::kernels::panel
