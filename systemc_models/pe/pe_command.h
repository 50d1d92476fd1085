// What moves inside a PE: commands, and the items (a simple command, or a tile token of a composite) that go from
// stage to stage. Timing contract §5, §6; ADR-0014 D3, D6.
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

namespace kernbench {

/// The stage of a command that is no composite, where no engine of a user's own takes it (Pe::stage_of).
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

/// A matrix operand of a composite as the engines see it: where its tiles are.
struct TileOperand {
  bool in_memory = true;  ///< false: in TCM, no DMA
  uint64_t addr = 0;
  uint64_t row_bytes = 0;  ///< from one row to the next
  uint32_t element_bytes = 0;
  bool transposed = false;  ///< stored as its transpose
  /// Set: addr and row_bytes are virtual. Belongs to the command's desc.
  const Translation* translation = nullptr;
};

/// Bytes of a tile's part of an operand: one transaction (timing contract §5), or where it was reached through virtual
/// addresses one for each of transaction_at().
struct TilePart {
  uint64_t addr = 0;
  uint64_t nbytes = 0;
  Rows rows;
  const Translation* translation = nullptr;  ///< set: addr is virtual
};

/// The transaction that starts `done` bytes into a translated part: the whole rows from there on that lie in one
/// physical piece, or, where a row begins or ends inside the piece, what it holds of that row.
struct PieceTransaction {
  TilePart physical;
  uint64_t virtual_addr = 0;
};
PieceTransaction transaction_at(const TilePart& part, uint64_t done);

/// A composite's geometry (timing contract §6).
struct CompositePlan {
  bool gemm = true;
  int64_t m = 0, n = 0, k = 0;     ///< k = 1 for elementwise
  int64_t tm = 0, tn = 0, tk = 0;  ///< cut to the shape
  mutable double gemm_rate = -1;   ///< filled in by the engine when it first sees the composite
  std::vector<TileOperand> inputs;
  TileOperand output;
  std::string dtype;  ///< A's, for GEMM rates
  /// MATH ops by scope; an elementwise composite's own op stands first in per_tile.
  std::vector<std::string> per_tile, per_output_tile, once;

  int64_t tiles_m() const { return (m + tm - 1) / tm; }
  int64_t tiles_n() const { return (n + tn - 1) / tn; }
  int64_t tiles_k() const { return (k + tk - 1) / tk; }
  int64_t tiles() const { return tiles_m() * tiles_n() * tiles_k(); }
  /// Inputs + output of a full tile, wherever they are; the largest number where there are more.
  uint64_t tile_bytes() const;

  // Filled in by the engine when it first sees the composite.
  mutable double math_cycles[3] = {-1, 0, 0};  ///< per element group: per_tile, per_output_tile, once
};

class CarriedAccess;
class FabricTransaction;
class PePort;
struct MathOp;
struct MemoryRequest;
struct PeCommand;
struct PeSetup;
struct QueueCall;
struct QueueSegment;

/// A simple command or a tile token. One owner at a time; it knows its own way.
struct PeItem {
  static constexpr bool data_op = true;
  // The first line of a cache is what every stage looks at, the next what one asks, and where the tile is, the third
  // what else a DMA looks at.
  PeCommand* command = nullptr;
  bool token = false;
  bool in_flight = false;
  bool last_k = true, last_output = false;  ///< token: what its MATH and last stages do
  // The server that holds it, for the hand-on; and its progress in a DMA stage.
  uint8_t unit = 0;
  uint8_t part = 0;
  uint16_t server = 0;
  uint8_t stage_count = 0;
  uint8_t stage_at = 0;
  Stage stages[kTileStages] = {};
  double fed_ns = 0;
  // Token: which tile, and its real size.
  uint32_t tile_id = 0;
  bool asked_write = false;  ///< pe_tcm: through its write port
  bool looks_up = false;     ///< DMA: pe_mmu, at the present
  int64_t tile_m = 0, tile_n = 0, tile_k = 0;
  // What a block asks pe_tcm or pe_mmu with (b_transport), and the answer, ns.
  uint64_t asked_bytes = 0;  ///< pe_tcm
  double asked_from_ns = 0;  ///< pe_tcm: when the access begins, not before now
  double answer_ns = 0;
  TileBuffer
      buffer;  ///< token: its room in the reserved TCM while it is in flight; a scheduler of one's own may give none
  int64_t i = 0, j = 0, k = 0;  ///< token: its place
  PeItem* next_idle = nullptr;
  MemoryRequest* request = nullptr;  ///< a driver's, of an item without a command
  // DMA: transactions under way, of those of ranges the next one; turns that wait for the look-up that is under way.
  uint16_t in_dma = 0, turns = 0;
  uint32_t next_group = 0;
  uint64_t translated_bytes = 0;    ///< DMA through virtual addresses: how far `translated` is moved; 0: none is
  QueueSegment* segment = nullptr;  ///< of a message between PEs, or its credit: it passes no stage
  PeSetup* setup = nullptr;         ///< what a block is told or asked at no time
  uint64_t asked_address = 0;       ///< pe_mmu: virtual
  Rows asked_rows;                  ///< pe_mmu
  TilePart translated;              ///< DMA through virtual addresses: the part that is being moved

  Stage stage() const { return stages[stage_at]; }
  bool last_stage() const { return stage_at + 1 == stage_count; }
  /// Of a command's item: whether its transactions have records instead. No tile's have.
  bool recorded_in_parts() const;
  Stage next_stage() const { return stages[stage_at + 1]; }
  void describe(OpRecord&) const;
  /// The op, for messages: "tile 3 of composite_gemm at gemm.cpp:42"; empty: none.
  std::string to_string() const;

  // The stages' work.
  uint64_t fetch_bytes() const;
  uint64_t store_bytes() const;
  /// Part of input `index` in memory.
  TilePart input_part(size_t index) const;
  TilePart output_part() const;
};

/// Items that nobody uses, of one block: the one given back last is the next to be used.
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

/// What a gather, a scatter or an atomic moves: a transaction a group (access contract §16, §17). None: nothing.
struct RangedAccess {
  virtual ~RangedAccess() = default;
  std::vector<RangeGroup> groups;
  AtomicKind atomic = AtomicKind::none;
  /// Of what was reached through virtual addresses: the ranges as the MMU is asked for them.
  uint64_t asked_address = 0;
  std::vector<AccessRange> asked;
  double effect_ns = 0;  ///< of an atomic: the latest of its transactions', as far as they are known
  /// Of a kernel's command, what a group does: a record of its own.
  struct Part {
    static constexpr bool data_op = true;
    std::shared_ptr<OpDesc> desc;
    uint64_t op_id = 0;
    std::vector<uint64_t> after;  ///< the command's, and the op_ids of the atomics before it on its ranges
    double grant_ns = 0, done_ns = 0;
    bool took_effect = false;
    void describe(OpRecord& r) const {
      r.desc = desc;
      r.dependency_ids = after;
    }
  };
  std::vector<Part> parts;  ///< by group; empty: nobody asks for records. One, of all, where nothing is to be moved
  std::unordered_map<uint64_t, size_t> part_at;  ///< by the group's address
  /// An atomic's transaction takes effect at x.effect_ns, not before now.
  virtual void effect_known(const FabricTransaction&) {}
};

/// A command on its way through a PE. Made by a kernel's runner or a driver, who keeps it until it is complete.
struct PeCommand {
  static constexpr bool data_op = true;
  CommandType type = CommandType::math;
  bool overheads_paid = false;  ///< submitted by a driver in the place of pe_cpu and scheduler: dispatched at once
  uint64_t served_as = 0;       ///< of a simple command: the op_id of its record, from the begin of its service on
  // Progress, kept by the scheduler alone.
  uint64_t op_id = 0;
  int64_t window = 0, fed = 0, completed = 0;
  int64_t tiles = 0, tiles_n = 0, tiles_k = 0;  ///< of the plan
  uint64_t tile_bytes = 0;
  CompositePlan plan;
  PePort* submitted_by = nullptr;  ///< by which it came to the scheduler
  size_t in_flight_at = 0;         ///< its place in the scheduler's table
  double queued_ns = 0;            ///< reached the engine's queue or the feed queue
  double first_fed_ns = 0;
  double done_ns = 0;

  std::shared_ptr<const OpDesc> desc;  ///< what it does, for the op log; may be null in drivers
  std::vector<uint64_t> after;         ///< the op_ids that its record names (tl.follow)

  // Simple commands.
  TilePart dma;
  std::shared_ptr<RangedAccess> ranged;  ///< a gather, a scatter or an atomic: what it moves, instead of `dma`
  int64_t m = 0, n = 0, k = 0;
  std::string dtype;                     ///< GEMM: A's
  std::string dtype_b;                   ///< GEMM: B's where it is another; else empty
  std::string op;                        ///< MATH
  const MathOp* math_op = nullptr;       ///< MATH: what `op` names, where that is known already
  std::vector<std::string> combines;     ///< MATH: the ops of a combiner of the kernel's own, which `op` is timed as
  int64_t steps = 1;                     ///< MATH: passes over the elements (math_op.h)
  int64_t elements = 0;                  ///< MATH: of the largest operand
  uint64_t in_bytes = 0, out_bytes = 0;  ///< GEMM, MATH: what it reads and writes in TCM while it is computed

  std::shared_ptr<CarriedAccess> carried;  ///< a load or store over a foreign block; else null
  QueueCall* queue_call = nullptr;         ///< of pe_ipcq; else null
  std::string fault;  ///< complete, but not done (a message of another shape, an error of a memory): one line

  /// What the command travels as: to the scheduler, and a simple one on to its engine.
  PeItem item;

  void describe(OpRecord&) const;
  /// Whether its transactions have records, and it has none as a whole.
  bool recorded_in_parts() const { return ranged && !ranged->groups.empty() && !ranged->parts.empty(); }
};

inline bool PeItem::recorded_in_parts() const {
  return !token && command->recorded_in_parts();
}

}  // namespace kernbench
