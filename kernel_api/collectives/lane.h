// SPDX-License-Identifier: Apache-2.0
// Sends and receives of a schedule at the ports of a phase. Internal to this folder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernbench/kernel_api/collectives/schedules.h"

namespace kernbench::ccl {

struct Lane {
  tl::Context& tl;
  std::string prefix;  ///< prefix of the ports

  /// Does not wait. A tensor without value sends an empty message.
  void send(const std::string& port, const tl::Tensor& t) const {
    if (t.valid()) {
      tl.send_async(prefix + port, t);
    } else {
      tl.send_async(prefix + port);
    }
  }
  /// Sends t to the members `to` of an all-to-all wiring.
  void send_all(const std::vector<int64_t>& to, const tl::Tensor& t) const {
    if (to.empty()) return;
    std::vector<std::string> ports;
    for (const int64_t member : to) ports.push_back(prefix + "to" + std::to_string(member));
    if (t.valid()) {
      tl.send_all_async(ports, t);
    } else {
      tl.send_all_async(ports);
    }
  }
  /// Returns no value if no element is expected.
  tl::Tensor recv(const std::string& port, int64_t elements, DType dtype) const {
    if (elements > 0) return tl.recv(prefix + port, {elements}, dtype);
    tl.recv(prefix + port);
    return {};
  }
  tl::Tensor combine(const std::string& op, const tl::Tensor& here, const tl::Tensor& came) const {
    return tl.op(op.c_str(), {here, came});
  }
  /// Calls the callback for a final piece, if there is one and the piece has elements.
  void finish(const Final& final, int64_t first, const tl::Tensor& piece) const {
    if (final && piece.valid()) final(first, piece);
  }
};

}  // namespace kernbench::ccl
