// SPDX-License-Identifier: Apache-2.0
// vc_comm, a pe_dma's third channel (collectives rules §10.7, §10.8): one FIFO, one server, unbounded. A segment
// holds the server from its grant until it is on its way as far as the link mode says.
#pragma once

#include "kernbench/systemc_models/pe/pe.h"
#include "kernbench/systemc_models/pe/queue_message.h"

namespace kernbench::core {
class Timeline;
}

namespace kernbench::pe {

class CommChannel;

/// Whose the channel is, a pe_dma that takes segments: sends a granted one off, and tells the channel when its source
/// is free again.
class CommSource {
 public:
  virtual ~CommSource() = default;
  virtual void granted(QueueSegment&) = 0;
};

class CommChannel {
 public:
  CommChannel(Timeline& timeline, CommSource& source) : timeline_(timeline), source_(source) {}
  void join(Pe& pe) { pe_ = &pe; }

  /// A segment that has taken its slot, now; `from`: to be told when it is released.
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
  QueuedSegment served_;  ///< the one that holds the server; segment null: none does
  bool taking_ = false;   ///< about to take what is new at this instant
};

}  // namespace kernbench::pe
