// SPDX-License-Identifier: Apache-2.0
// Commands inside a PE, and the items that move from stage to stage: a simple command, or a tile token of a composite.
// Timing rules §5, §6; ADR-0014 D3, D6.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernbench/phase2/log/op_record.h"
#include "kernbench/systemc_models/core/arena.h"
#include "kernbench/systemc_models/fabric/access.h"
#include "kernbench/systemc_models/fabric/route.h"
#include "kernbench/systemc_models/pe/tile_buffers.h"

namespace kernbench::fabric {
class FabricTransaction;
class Reduction;
struct MemoryRequest;
}  // namespace kernbench::fabric
namespace kernbench::phase2 {
struct MathOp;
}

namespace kernbench::pe {

/// The stage of a simple command, unless a user-defined engine takes it (Pe::stage_of).
inline Stage stage_of(CommandType t) {
  switch (t) {
    case CommandType::load:
      return Stage::dma_read;
    case CommandType::store:
      return Stage::dma_write;
    case CommandType::gemm:
      return Stage::gemm;
    default:
      return Stage::math;
  }
}

/// A matrix operand of a composite, as the engines see it: location of its tiles.
struct TileOperand {
  bool in_memory = true;  ///< false: in TCM, no DMA
  uint64_t addr = 0;
  uint64_t row_bytes = 0;  ///< distance between rows
  uint32_t element_bytes = 0;
  bool transposed = false;  ///< stored transposed
  /// Set: addr and row_bytes are virtual. Belongs to the command's desc.
  const Translation* translation = nullptr;
};

/// Bytes of a tile's part of an operand: one transaction (timing rules §5); through virtual addresses, one for each
/// transaction_at().
struct TilePart {
  uint64_t addr = 0;
  uint64_t nbytes = 0;
  Rows rows;
  const Translation* translation = nullptr;  ///< set: addr is virtual
};

/// The transaction that starts `done` bytes into a translated part: the complete rows from there on in one physical
/// piece; or, if a row begins or ends inside the piece, the piece's part of that row.
struct PieceTransaction {
  TilePart physical;
  uint64_t virtual_addr = 0;
};
PieceTransaction transaction_at(const TilePart& part, uint64_t done);

/// A composite's geometry (timing rules §6).
struct CompositePlan {
  bool gemm = true;
  int64_t m = 0, n = 0, k = 0;     ///< k = 1 for elementwise
  int64_t tm = 0, tn = 0, tk = 0;  ///< clipped to the shape
  mutable double gemm_rate = -1;   ///< set by the engine when it first sees the composite
  std::vector<TileOperand> inputs;
  TileOperand output;
  std::string dtype;  ///< dtype of A, for GEMM rates
  /// MATH ops by scope; the op of an elementwise composite is the first in per_tile.
  std::vector<std::string> per_tile, per_output_tile, once;

  int64_t tiles_m() const { return (m + tm - 1) / tm; }
  int64_t tiles_n() const { return (n + tn - 1) / tn; }
  int64_t tiles_k() const { return (k + tk - 1) / tk; }
  int64_t tiles() const { return tiles_m() * tiles_n() * tiles_k(); }
  /// Bytes of inputs and output of a full tile, wherever they are; saturates.
  uint64_t tile_bytes() const;

  // Set by the engine when it first sees the composite.
  mutable double math_cycles[3] = {-1, 0, 0};  ///< per element group: per_tile, per_output_tile, once
};

/// One transaction of a multicast: a part that is contiguous in physical memory at every destination.
struct MulticastPart {
  MulticastTo to;
  uint64_t nbytes = 0;
  std::vector<uint64_t> virtual_addresses;  ///< to translate first, in order of the destinations that have one
};

class CarriedAccess;
class CarriedTiles;
class PePort;
struct PeCommand;
struct PeSetup;
struct QueueCall;
struct QueueSegment;

/// A simple command or a tile token. It has one owner at a time, and contains its own route.
struct PeItem {
  static constexpr bool data_op = true;
  // Ordered by cache lines: first, the fields that each stage reads; then the fields of queries and the location of the
  // tile; then the other fields of a DMA.
  PeCommand* command = nullptr;
  bool token = false;
  bool in_flight = false;
  bool last_k = true, last_output = false;  ///< token: work of its MATH and last stages
  // The server that holds it, for the hand-on; and its progress in a DMA stage.
  uint8_t unit = 0;
  uint8_t part = 0;
  uint16_t server = 0;
  uint8_t stage_count = 0;
  uint8_t stage_at = 0;
  Stage stages[kTileStages] = {};
  double fed_ns = 0;
  // Token: the tile, and its actual size.
  uint32_t tile_id = 0;
  bool asked_write = false;  ///< pe_tcm: access through its write port
  bool looks_up = false;     ///< DMA: a look-up in pe_mmu is in progress
  int64_t tile_m = 0, tile_n = 0, tile_k = 0;
  // Query to pe_tcm or pe_mmu (b_transport), and the answer, ns.
  uint64_t asked_bytes = 0;  ///< pe_tcm
  double asked_from_ns = 0;  ///< pe_tcm: start of the access, not before now
  double answer_ns = 0;
  TileBuffer buffer;  ///< token in flight: its part of the reserved TCM; a user-defined scheduler may assign none
  int64_t i = 0, j = 0, k = 0;  ///< token: tile position
  PeItem* next_idle = nullptr;
  MemoryRequest* request = nullptr;  ///< request of a driver, for an item without a command
  // DMA: outstanding transactions; for ranged commands the next one; transactions waiting for the current look-up.
  uint16_t in_dma = 0, turns = 0;
  uint32_t next_group = 0;
  uint64_t translated_bytes = 0;    ///< DMA through virtual addresses: progress in `translated`; 0: not started
  QueueSegment* segment = nullptr;  ///< of a message between PEs, or its credit: it passes no stage
  PeSetup* setup = nullptr;         ///< query or setting of a block, at no time
  uint64_t asked_address = 0;       ///< pe_mmu: virtual
  Rows asked_rows;                  ///< pe_mmu
  TilePart translated;              ///< DMA through virtual addresses: the part being moved

  Stage stage() const { return stages[stage_at]; }
  bool last_stage() const { return stage_at + 1 == stage_count; }
  /// For a command's item: whether its transactions have records instead. Never for tiles.
  bool recorded_in_parts() const;
  Stage next_stage() const { return stages[stage_at + 1]; }
  void describe(OpRecord&) const;
  /// The op, for messages: "tile 3 of composite_gemm at gemm.cpp:42"; empty: none.
  std::string to_string() const;

  // Work of the stages.
  uint64_t fetch_bytes() const;
  uint64_t store_bytes() const;
  TilePart input_part(size_t index) const;
  TilePart output_part() const;
};

/// Unused items of one block; the last one released is reused first.
class PeItemPool {
 public:
  explicit PeItemPool(Arena& arena) : arena_(arena) {}
  PeItem& take() {
    PeItem* item = idle_;
    if (!item) return *arena_.make<PeItem>();
    idle_ = item->next_idle;
    return *item;
  }
  void give_back(PeItem& item) {
    item.next_idle = idle_;
    idle_ = &item;
  }

 private:
  PeItem* idle_ = nullptr;
  Arena& arena_;
};

/// Ranges of a gather, a scatter or an atomic: one transaction for each group (access rules §16, §17). Empty: no data.
struct RangedAccess {
  virtual ~RangedAccess() = default;
  std::vector<RangeGroup> groups;
  AtomicKind atomic = AtomicKind::none;
  /// Through virtual addresses: the ranges in the form of a query to the MMU.
  uint64_t asked_address = 0;
  std::vector<AccessRange> asked;
  double effect_ns = 0;  ///< of an atomic: the latest effect of its transactions, as far as known
  /// For a kernel's command: the effect of a group, with its own record.
  struct Part {
    static constexpr bool data_op = true;
    std::shared_ptr<OpDesc> desc;
    uint64_t op_id = 0;
    std::vector<uint64_t> after;  ///< dependencies of the command, and op_ids of earlier atomics on its ranges
    double grant_ns = 0, done_ns = 0;
    bool took_effect = false;
    void describe(OpRecord& r) const {
      r.desc = desc;
      r.dependency_ids = after;
    }
  };
  std::vector<Part> parts;  ///< by group; empty: no records needed. A single part for all, if no data move
  std::unordered_map<uint64_t, size_t> part_at;  ///< by the group's address
  /// Transaction x of an atomic takes effect at x.effect_ns, not before now.
  virtual void effect_known(const FabricTransaction&) {}
};

/// A command in a PE. The kernel's runner or a driver makes it, and keeps it until it is complete.
struct PeCommand {
  static constexpr bool data_op = true;
  CommandType type = CommandType::math;
  bool overheads_paid = false;  ///< submitted by a driver that replaces pe_cpu and scheduler: dispatched without delay
  uint64_t served_as = 0;       ///< of a simple command: op_id of its record, after the start of its service
  // Progress, maintained by the scheduler only.
  uint64_t op_id = 0;
  int64_t window = 0, fed = 0, completed = 0;
  int64_t tiles = 0, tiles_n = 0, tiles_k = 0;  ///< of the plan
  uint64_t tile_bytes = 0;
  CompositePlan plan;
  PePort* submitted_by = nullptr;  ///< port by which it reached the scheduler
  size_t in_flight_at = 0;         ///< index in the scheduler's table
  double queued_ns = 0;            ///< arrival in the engine's queue or the feed queue
  double first_fed_ns = 0;
  double done_ns = 0;

  std::shared_ptr<const OpDesc> desc;  ///< description for the op log; may be null for drivers
  std::vector<uint64_t> after;         ///< op_ids in its record (tl.follow)

  // Simple commands.
  TilePart dma;
  std::shared_ptr<const std::vector<MulticastPart>> multicast;  ///< of a store to several memories, instead of `dma`
  std::shared_ptr<RangedAccess> ranged;  ///< ranges of a gather, a scatter or an atomic, instead of `dma`
  Reduction* reduction = nullptr;        ///< of which a red is a source; owned by the submitter
  int64_t m = 0, n = 0, k = 0;
  std::string dtype;                     ///< GEMM: A's
  std::string dtype_b;                   ///< GEMM: dtype of B if different; else empty
  std::string op;                        ///< MATH
  const MathOp* math_op = nullptr;       ///< MATH: row of `op`, if known
  std::vector<std::string> combines;     ///< MATH: ops of a user-defined combiner; `op` determines the time
  int64_t steps = 1;                     ///< MATH: passes over the elements (math_op.h)
  int64_t elements = 0;                  ///< MATH: of the largest operand
  uint64_t in_bytes = 0, out_bytes = 0;  ///< GEMM, MATH: bytes read and written in TCM during the computation

  std::shared_ptr<CarriedAccess> carried;       ///< a load or store over a foreign block; else null
  std::shared_ptr<CarriedTiles> carried_tiles;  ///< a composite whose tiles are shown to others; else null
  QueueCall* queue_call = nullptr;              ///< of pe_ipcq; else null
  std::string fault;  ///< complete but failed (a message of another shape, a memory error): one line

  /// The item of the command: to the scheduler, and for a simple command on to its engine.
  PeItem item;

  void describe(OpRecord&) const;
  /// Whether its transactions have records and the command itself has none.
  bool recorded_in_parts() const { return ranged && !ranged->groups.empty() && !ranged->parts.empty(); }
};

inline bool PeItem::recorded_in_parts() const {
  return !token && command->recorded_in_parts();
}

}  // namespace kernbench::pe
