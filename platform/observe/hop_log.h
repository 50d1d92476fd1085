// `--oplog-hops`: memory accesses and messages between PEs block by block, as records of the op log. A record is a hop,
// of kind unknown, which moves no data and which replay skips; docs/recording.md has its params.
#pragma once

#include "kernbench/platform/observe/access_hops.h"

namespace kernbench {

class HopLog : public AccessHops {
 public:
  /// Ids of these records begin here: the ids of ops are what they are without them.
  static constexpr uint64_t kFirstId = uint64_t{1} << 52;
  /// Records go to the log that is attached to the platform when an access is done (Platform::attach_log). Must not
  /// outlive the platform.
  explicit HopLog(Platform& platform) : AccessHops(platform) {}

 protected:
  void done(const FabricTransaction&, uint64_t number, const Hops&, double t) override;

 private:
  uint64_t next_id_ = kFirstId;
};

}  // namespace kernbench
