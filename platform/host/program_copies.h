// SPDX-License-Identifier: Apache-2.0
// Uploads and downloads of a program's tensors: over the fabric with ContextOptions::timed_transfer, else without time.
#pragma once

#include <memory>

#include "kernbench/platform/host/context.h"
#include "kernbench/platform/host/located.h"
#include "kernbench/platform/host/stream_clocks.h"
#include "kernbench/platform/launch/host_transfer.h"

namespace kernbench::host {

class ProgramCopies {
 public:
  ProgramCopies(LaunchHost& host, bool timed, Streams& streams, StreamClocks& clocks, FirstFault& fault)
      : transfer_(host, HostTransfer::kWhole), timed_(timed), streams_(streams), clocks_(clocks), fault_(fault) {}

  /// An upload of the value (null: of the present bytes), or a download. InputError if no route exists.
  Operation operation(Operation::Kind, const On&, const Tensor&, std::shared_ptr<const HostTensor> value,
                      const SourceLine& where);

 private:
  using Places = std::shared_ptr<const TensorPlaces>;
  void begin(Operation&, const Places&, const std::shared_ptr<const HostTensor>& value);

  HostTransfer transfer_;
  const bool timed_;
  Streams& streams_;
  StreamClocks& clocks_;
  FirstFault& fault_;
};

}  // namespace kernbench::host
