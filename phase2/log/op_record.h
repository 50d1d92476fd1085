// SPDX-License-Identifier: Apache-2.0
// The op record (data rules §3), and its sinks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernbench/phase2/memory/placed_tensor.h"
#include "kernbench/phase2/op/op.h"

namespace kernbench {
namespace energy {
struct Account;
}

}  // namespace kernbench
namespace kernbench::phase2 {
/// A part of a tile's buffer in its PE's reserved TCM.
struct BufferPiece {
  uint64_t offset = 0, nbytes = 0;
};

/// Service of a tile token at one stage. It has timing only and is replayed with its composite.
struct TokenInfo {
  Stage stage = Stage::dma_read;
  uint32_t tile_id = 0;
  uint64_t composite_op_id = 0;
  double fed_ns = 0;                       ///< time at which the scheduler fed the tile
  uint64_t buffer_offset = 0;              ///< of the tile's buffer (its first piece) in the PE's reserved TCM, bytes
  std::vector<BufferPiece> buffer_pieces;  ///< all pieces, if there are several
  uint64_t bytes = 0;                      ///< for DMA, FETCH, STORE
  int64_t m = 0, n = 0, k = 0;             ///< for GEMM, MATH (k = 0): actual size of the tile
};

struct OpRecord {
  uint64_t op_id = 0;                  ///< from 1, given at start of service, never reused
  double t_start = 0;                  ///< ns, service begins
  double t_end = 0;                    ///< ns, service ends
  uint32_t component = 0;              ///< index into OpLogHeader::components
  std::shared_ptr<const OpDesc> desc;  ///< commands (composite or simple); null for tokens and foreign traffic
  bool is_token = false;
  TokenInfo token;
  /// Traffic of a foreign initiator. A write's desc is a store whose `data` commits at effect_ns.
  bool foreign = false;
  double effect_ns = 0;  ///< ns, foreign traffic: the memory's service
  std::shared_ptr<const OpDesc>
      pending_on;  ///< foreign reads: the op that has yet to make the bytes; reason of an error
  std::vector<uint64_t> dependency_ids;

  /// For user-defined messages: `r.own("refresh").with("bank", 3).with("reason", "timer")` makes a record of kind
  /// unknown with this name and these params. It moves no data, and replay skips it.
  OpDesc& own(std::string name);
};

inline OpDesc& OpRecord::own(std::string name) {
  auto d = std::make_shared<OpDesc>();
  d->kind = OpKind::unknown;
  d->name = std::move(name);
  OpDesc& said = *d;
  desc = std::move(d);
  return said;
}

struct OpLogHeader {
  std::vector<std::string> components;  ///< node ids in compiled order
  std::vector<std::string> pes;         ///< PE ids in compiled order; TensorRef::pe is an index into this list
  std::string configuration;            ///< effective configuration, JSON text
  std::string isa;                      ///< instruction-set path of the arithmetic (isa.h); empty: none was used
  std::vector<PlacedTensor> tensors;    ///< tensors of the kernel with their placement
};

/// Receives records in order of completion. Attached to components; null if there is no log.
class OpLogSink {
 public:
  virtual ~OpLogSink() = default;
  /// Called at most once, before the first record. Without it, components and PEs are written as numbers.
  virtual void begin(const OpLogHeader&) {}
  virtual void record(OpRecord&&) = 0;
  /// Called once if energy is counted, after the last record and before close().
  virtual void energy(const energy::Account&) {}
  /// Called once at the end of a completed run.
  virtual void close() {}
};

}  // namespace kernbench::phase2
