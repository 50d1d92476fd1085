// SPDX-License-Identifier: Apache-2.0
// Panels of a product's operand that PEs forward to each other (gemm_2d): the parts that each PE stores, and how a part
// is received and forwarded.
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

/// The cuts of a range, given as the ends of its pieces.
using Cuts = std::vector<int64_t>;
Cuts even_cuts(int64_t count, int64_t step);
int64_t longest_of(const Cuts& ends);

using Stored = std::vector<std::vector<tl::View>>;  // by cube and PE of a line
/// A part of k that another rank stores. The PE with the same position there sends it to this PE.
struct Far {
  size_t rank;
  Stored stored;
  std::vector<Range> panels;                      ///< panels in which it is sent and used
  std::vector<std::pair<Range, tl::Tensor>> own;  ///< by k: parts that this PE receives
};

/// One operand from the view of a PE: the stored parts on its line of cubes and in its line of PEs.
struct Line {
  std::string name;
  int axis = 0;                          ///< axis of the operand that is split over the PEs of a cube; the other axis
                                         ///< is k
  int64_t cube = 0, pe = 0;              ///< position of this PE on each line
  Stored stored;                         ///< by cube and PE of the line
  std::string before, behind;            ///< ports to the previous and the next cube of the line
  std::vector<std::string> peers;        ///< by PE of the line: the port to it
  int64_t length = 0;                    ///< extent of the axis
  std::vector<Far> far;                  ///< parts of k in other ranks, in order of use
  bool stacked = false;                  ///< for rows: the parts of a piece are one tensor
  DType dtype = DType::f32;              ///< type that is sent from PE to PE
  std::shared_ptr<const Scales> scales;  ///< for the conversion to floats before sending; null: no conversion

  /// A PE's range of the axis.
  Range along(const tl::View& v) const { return axis == 1 ? weight_columns(v, length) : range_of(v, 0); }
  /// The same for the PE at a position, which is equal in all cubes.
  Range of(int64_t p) const { return along(stored.front()[static_cast<size_t>(p)]); }
  Range k(const Stored& of, int64_t c, int64_t p) const {
    return range_of(of[static_cast<size_t>(c)][static_cast<size_t>(p)], 1 - axis);
  }
  Range k(int64_t c, int64_t p) const { return k(stored, c, p); }
};

/// Checks that all cubes of the line have the same ranges of the axis and together the complete k. KernelFault.
void check(const Line& l, const Range& k);

/// One operand's part of a panel in a PE. It is requested, then forwarded, then used.
class Piece {
 public:
  /// The part given by `along` (by PE of the line) and k. Requests everything that this PE needs and waits for nothing.
  Piece(tl::Context&, const Line&, const std::vector<Range>& along, const Range& k);

  /// Converts this PE's loaded data to floats, if necessary. Waits only for the load.
  void make_floats(tl::Context&);

  /// Sends this PE's own part to its receivers.
  void pass_on(tl::Context&);
  /// The same for data that this PE loaded, before its position in the order. It skips the ports in `busy`, which
  /// earlier data must use first, and adds this part's remaining ports to it.
  void pass_on_early(tl::Context&, std::set<std::string>* busy);
  const std::vector<tl::Tensor>& parts() const { return parts_; }
  /// For rows: all nonempty parts in sequence, once they have arrived.
  tl::Tensor whole(tl::Context&) const;

 private:
  /// Rows with one scale, in sequence.
  tl::Tensor scaled(tl::Context&, const tl::Tensor& values) const;

  /// The same, at its position among all rows.
  template <class Command>
  tl::Tensor placed(Command command);

  const Range k_;
  const Line& line_;
  std::optional<tl::Assembly> rows_;  ///< all parts in sequence
  int64_t placed_ = 0;                ///< number of its elements
  bool loads_ = false;                ///< stored in this PE's cube, or in another rank at its position
  bool comes_ = false;                ///< received from another rank
  tl::Tensor stored_, scales_;        ///< the source of the own part, before conversion
  bool made_ = false;
  int64_t columns_ = 0;            ///< of the own part
  std::vector<tl::Tensor> parts_;  ///< by PE of the line
  tl::Tensor own_;
  std::vector<const std::string*> to_;  ///< ports to which the own part must still be sent
};

/// Panels of increasing size up to `most`. The first ones are small, so that products begin early.
std::vector<Range> panels(const std::set<int64_t>& cuts, int64_t first, int64_t most);
/// The i-th piece of the rows (columns) of each PE of the line.
std::vector<Range> along(const Line& l, const Cuts& ends, size_t i);
/// Merges consecutive ranges.
std::vector<Range> joined(const std::vector<Range>& parts);
bool any(const Line& l);

}  // namespace kernbench::kernels::panel
