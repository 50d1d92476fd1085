// SPDX-License-Identifier: Apache-2.0
// Helpers of kernels that exchange data between PEs through their own queues: the rows and columns of each PE, and its
// connections.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernbench/kernel_api/args.h"
#include "kernbench/kernel_api/collectives/grids.h"
#include "kernbench/kernel_api/collectives/groups.h"
#include "kernbench/kernel_api/collectives/wirings.h"
#include "kernbench/kernel_api/queue_connection.h"
#include "kernbench/kernel_api/tl.h"

namespace kernbench::kernels {

/// Rows or columns of a complete tensor.
struct Range {
  int64_t first = 0, count = 0;
  int64_t end() const { return first + count; }
  bool empty() const { return count == 0; }
  bool operator!=(const Range& o) const { return first != o.first || count != o.count; }
};
/// The range of a shard along an axis.
Range range_of(const tl::View& v, int axis);
/// The intersection of both.
Range cut(const Range& a, const Range& b);

/// An exchange between the PEs of each group of `over` (axes, as in collectives), through its own ports. Their names
/// begin with `what`.
struct Exchange {
  const char *what, *over;
};

/// The groups of a kernel whose tensors are laid out by the places of the launch (Layout). PEs have the same position
/// in all cubes if they have the same number among the launched ones. BadParam if groups differ in size.
std::vector<ccl::Members> lanes_of(const LaunchShape&, const char* over);
/// The group of the PE.
const ccl::Members& lane_with(const LaunchShape&, const char* over, int64_t pe);

/// The PEs of one rank as a grid of cubes, each a grid of PEs.
struct PesOfRank {
  ccl::Grid cubes, pes;
  ccl::Members members;  ///< by cube, then PE
  int64_t at(int64_t cube, int64_t pe) const { return members[static_cast<size_t>(cube * pes.cells() + pe)]; }
};
/// The grid of the rank of PE `index`. BadParam if cubes have different numbers of PEs.
PesOfRank pes_of_rank(const LaunchShape&, int64_t index);

/// Collects the connections of a launch. All rings have one size.
class Rings {
 public:
  Rings(uint32_t slots, uint64_t slot_bytes, std::string tier)
      : slots_(slots), slot_bytes_(slot_bytes), tier_(std::move(tier)) {}
  /// With the parameters of ring_params().
  explicit Rings(const Params&);
  void join(int64_t a, const std::string& port, int64_t b, const std::string& peer_port);
  void join(const ccl::Members&, const ccl::Wires&, const std::string& before_ports = "");
  /// All-to-all in each group.
  void join(const LaunchShape&, const Exchange&);
  const std::vector<QueueConnection>& all() const { return all_; }

 private:
  const uint32_t slots_;
  const uint64_t slot_bytes_;
  const std::string tier_;
  std::vector<QueueConnection> all_;
};
/// slots, slot_bytes and tier for the kernel's own rings.
std::vector<ParamSpec> ring_params(int64_t slots, int64_t slot_bytes);

/// The PEs of an exchange, and this PE's number among them.
class Peers {
 public:
  Peers(tl::Context&, const Exchange&);
  size_t size() const { return members_.size(); }
  size_t me() const { return me_; }
  uint32_t operator[](size_t i) const { return static_cast<uint32_t>(members_[i]); }
  /// The i-th (1 … size() - 1) PE after this one. A PE that sends to all uses this order, so that not all begin with
  /// the same receiver.
  size_t behind(size_t i) const { return (me_ + i) % size(); }
  void send(size_t to, const tl::Tensor& t) const { tl_.send_async(port(to), t); }
  void send_to_all(const tl::Tensor& t) const {
    for (size_t i = 1; i < size(); ++i) send(behind(i), t);
  }
  tl::Tensor recv(size_t from, const Dims& shape, DType dtype) const { return tl_.recv(port(from), shape, dtype); }
  tl::Tensor recv_async(size_t from, const Dims& shape, DType dtype) const {
    return tl_.recv_async(port(from), shape, dtype);
  }

 private:
  std::string port(size_t i) const { return what_ + "to" + std::to_string(i); }
  tl::Context& tl_;
  const std::string what_;
  const ccl::Members& members_;
  const size_t me_;
};

}  // namespace kernbench::kernels
