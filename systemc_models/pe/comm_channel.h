// SPDX-License-Identifier: Apache-2.0
// vc_comm, the third channel of a pe_dma (collectives rules §10.7, §10.8): one FIFO, one server, unbounded. A segment
// occupies the server from its grant until its departure, which the link mode defines.
#pragma once

#include "kernbench/systemc_models/pe/pe.h"
#include "kernbench/systemc_models/pe/queue_message.h"

namespace kernbench::core {
class Timeline;
}

namespace kernbench::pe {

class CommChannel;

/// The owner of the channel, a pe_dma. It sends a granted segment and reports when the source is free again.
class CommSource {
 public:
  virtual ~CommSource() = default;
  virtual void granted(QueueSegment&) = 0;
};

class CommChannel {
 public:
  CommChannel(Timeline& timeline, CommSource& source) : timeline_(timeline), source_(source) {}
  void join(Pe& pe) { pe_ = &pe; }

  /// Adds a segment that has a slot, now. `from` is notified of its release.
  void push(QueueSegment&, PePort& from);
  /// The segment in service is released at free_ns, not before now.
  void free_at(double free_ns);

 private:
  void take_soon();
  void take();
  void released();

  Timeline& timeline_;
  CommSource& source_;
  Pe* pe_ = nullptr;
  SegmentLine waiting_;
  QueuedSegment served_;  ///< the segment in service; null segment: none
  bool taking_ = false;   ///< waits for all new segments of this instant
};

}  // namespace kernbench::pe
