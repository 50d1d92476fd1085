// SPDX-License-Identifier: Apache-2.0
// A program's tensor, placed over ranks, cubes and PEs by its layout (collectives rules §13.6). It exists until it is
// freed, or the program ends.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernbench/kernel_api/args.h"
#include "kernbench/kernel_api/host_tensor.h"
#include "kernbench/kernel_api/layout.h"
#include "kernbench/phase2/memory/placed_tensor.h"
#include "kernbench/platform/launch/deployment.h"
#include "kernbench/platform/launch/device_allocators.h"
#include "kernbench/systemc_models/pe/mapping_table.h"

namespace kernbench::elaborate {
class Machine;
}

namespace kernbench::host {

/// The PEs of a program.
struct ProgramPes {
  std::vector<size_t> pes;         ///< indices in compiled order
  std::vector<uint32_t> rank;      ///< of each
  uint32_t ranks = 0;              ///< number of ranks
  std::vector<LayoutPlace> place;  ///< of each
  LayoutGrids grids;               ///< grids of the cubes and PEs
  /// From PEs selected by --ranks, --device and --pes.
  ProgramPes(Machine&, std::vector<size_t> chosen);
};

/// A copy of a value's elements [first, first + count) along an axis (negative: from the last); a value in another
/// shape. InputError for elements that do not exist, or a different number of elements.
HostTensor slice(const HostTensor&, int axis, int64_t first, int64_t count);
HostTensor reshape(HostTensor, const Dims& shape);

/// Bytes of a rank in one memory.
struct RankRange {
  uint64_t address = 0, nbytes = 0;
};

class TensorPlaces {
 public:
  /// Allocates each shard in its PE's nearest HBM, and a virtual range for each rank with its shards in sequence.
  /// InputError, with the tensor's name, if a shard does not fit or the shape lacks an axis.
  TensorPlaces(Machine&, DeviceAllocators&, const ProgramPes&, std::string name, DType, const Dims& shape,
               const Layout&);
  /// A view of the elements [first, first + count) along an axis (negative: from the last) of another tensor, without
  /// its own bytes. InputError if they do not exist, or are not one range of bytes on each PE.
  TensorPlaces(std::shared_ptr<const TensorPlaces> of, int axis, int64_t first, int64_t count);
  /// A view of another tensor in another shape. InputError for a different number of elements, or if a PE's part is not
  /// a block of the new shape.
  TensorPlaces(std::shared_ptr<const TensorPlaces> of, const Dims& shape);
  ~TensorPlaces();
  TensorPlaces(const TensorPlaces&) = delete;
  TensorPlaces& operator=(const TensorPlaces&) = delete;

  const std::string& name() const { return name_; }
  DType dtype() const { return plan_.dtype; }
  const Dims& shape() const { return plan_.whole; }
  const Layout& layout() const { return layout_; }
  /// Bytes in memory; and the bytes without copies.
  uint64_t stored_bytes() const;
  uint64_t nbytes() const { return static_cast<uint64_t>(shape().elements()) * size_of(dtype()); }
  /// The parts of the program's PEs.
  const ShardPlan& plan() const { return plan_; }
  /// The owner of the bytes: this, or the tensor that it is a view of.
  const TensorPlaces& owner() const { return of_ ? of_->owner() : *this; }
  /// Held by users of the bytes: unique() when there are none.
  const std::shared_ptr<const char>& use() const { return owner().use_; }
  /// Frees the bytes; afterwards only name(), shape() and freed() are valid. `where`: the freeing line, for messages.
  void free(SourceLine where) const { owner().freed_ = where; }
  bool freed() const { return owner().freed_.line != 0; }
  SourceLine freed_at() const { return owner().freed_; }
  void give_back() const;
  /// Elements of the largest shard.
  int64_t most_elements() const;

  /// InputError if the value has another type or shape.
  void check(const HostTensor& value) const;
  /// A rank's shards of a value, in the order of ranges(rank, Copies::all); copies share their source.
  std::vector<SharedBytes> shards_of(const HostTensor& value, uint32_t rank) const;
  std::vector<SharedBytes> shards_of(const ElementSource&, uint32_t rank) const;
  /// Writes them now and without time. Before the simulation they belong to the initial memory of a replay, later they
  /// are writes in the op log.
  void place(const std::vector<SharedBytes>& shards, uint32_t rank) const;
  /// Collects the tensor from the first copy of each part: get(address, bytes, nbytes). RunError for a partial tensor.
  HostTensor collect(const std::function<void(uint64_t, uint8_t*, uint64_t)>& get) const;
  /// A rank's nonempty shards, by PE: only the first copies in the machine, or all.
  enum class Copies { first, all };
  std::vector<RankRange> ranges(uint32_t rank, Copies) const;
  /// The first copies, for a log's header.
  PlacedTensor placed(bool output) const;
  /// The current contents. RunError if a byte of any copy is unwritten or pending.
  HostTensor read_back(const MemoryImage&) const;
  /// One line with two copies that differ; empty if all copies in memory are equal.
  std::string unlike_copies(const MemoryImage&) const;

  /// Adds it, under the kernel's name `as`, to the arguments of a launch on one of the ranks; PEs are places among the
  /// program's. `flat_rows`: all axes but the last become one. InputError if the layout does not allow that.
  void add_to(tl::LaunchArgs&, const std::string& as, const std::vector<size_t>& launched, uint32_t rank, AddressMode,
              bool flat_rows) const;
  /// The virtual ranges of the ranks, for MMUs.
  const std::vector<std::shared_ptr<const VirtualMapping>>& mappings() const { return mappings_; }

 private:
  void allocate();
  void find_copies();
  void map(uint32_t rank);
  /// Completes a view whose plan and parts of ranks are set: each PE's bytes begin at this offset from those of `of_`.
  void see(const std::vector<uint64_t>& behind);
  std::vector<SharedBytes> shards_of(uint32_t rank, decltype(shard_bytes) make, const ElementSource&) const;
  bool has_bytes(size_t p) const { return !plan_.shards[p].empty(); }
  tl::View view_of(size_t p, AddressMode, bool flat_rows) const;
  void require_whole(const char* what) const;

  Machine& machine_;
  DeviceAllocators& allocators_;
  const ProgramPes& pes_;
  std::shared_ptr<const TensorPlaces> of_;  ///< source of a view; null: it owns its bytes
  std::string name_;
  Layout layout_;
  ShardPlan plan_;
  std::vector<Shard> part_of_rank_;  ///< the part of each rank
  std::shared_ptr<const char> use_ = std::make_shared<const char>('\0');
  mutable SourceLine freed_;  ///< line 0: not freed
  mutable bool given_back_ = false;
  std::vector<uint64_t> bases_, virtual_bases_;  ///< by PE; 0: none
  std::vector<size_t> first_copy_;               ///< by PE: the first PE with the same part
  std::vector<std::shared_ptr<const VirtualMapping>> mappings_;
  struct VirtualRange {
    uint64_t base = 0;  ///< 0: none
    uint64_t nbytes = 0;
  };
  std::vector<VirtualRange> range_of_rank_;
  std::vector<bool> in_order_;  ///< by rank: its range is its part in row-major order
};

}  // namespace kernbench::host
