// SPDX-License-Identifier: Apache-2.0
// `--oplog-hops`: memory accesses and messages between PEs hop by hop, as records of the op log. A record is one hop,
// of kind unknown. It moves no data, and replay skips it. docs/recording.md lists its params.
#pragma once

#include "kernbench/platform/observe/access_hops.h"

namespace kernbench::observe {

class HopLog : public AccessHops {
 public:
  /// Ids of these records start here, so that ids of ops do not change.
  static constexpr uint64_t kFirstId = uint64_t{1} << 52;
  /// When an access is done, its records go to the log attached to the platform (Platform::attach_log). Must not
  /// outlive the platform.
  explicit HopLog(Platform& platform) : AccessHops(platform) {}

 protected:
  void done(const FabricTransaction&, uint64_t number, const Hops&, double t) override;

 private:
  uint64_t next_id_ = kFirstId;
};

}  // namespace kernbench::observe
