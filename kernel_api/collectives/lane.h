// SPDX-License-Identifier: Apache-2.0
// What schedules do at the ports of a phase. Only for the files of this folder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernbench/kernel_api/collectives/schedules.h"

namespace kernbench::ccl {

struct Lane {
  tl::Context& tl;
  std::string prefix;  ///< of the ports

  /// Never waited for. No value: an empty message.
  void send(const std::string& port, const tl::Tensor& t) const {
    if (t.valid()) {
      tl.send_async(prefix + port, t);
    } else {
      tl.send_async(prefix + port);
    }
  }
  /// To the members `to` of a wiring between all of them.
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
  /// No value where no element is expected.
  tl::Tensor recv(const std::string& port, int64_t elements, DType dtype) const {
    if (elements > 0) return tl.recv(prefix + port, {elements}, dtype);
    tl.recv(prefix + port);
    return {};
  }
  tl::Tensor combine(const std::string& op, const tl::Tensor& here, const tl::Tensor& came) const {
    return tl.op(op.c_str(), {here, came});
  }
  /// Tells who wants to know that a piece is final, if it has elements.
  void finish(const Final& final, int64_t first, const tl::Tensor& piece) const {
    if (final && piece.valid()) final(first, piece);
  }
};

}  // namespace kernbench::ccl
