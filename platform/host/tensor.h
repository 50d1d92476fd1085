// A program's tensor: placed over ranks, cubes and PEs by its layout (collectives contract §13.6), there from its
// making until it is freed, or to the program's end.
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

namespace kernbench {
class Machine;
}

namespace kernbench::host {

/// The PEs of a program.
struct ProgramPes {
  std::vector<size_t> pes;         ///< indices in compiled order
  std::vector<uint32_t> rank;      ///< of each
  uint32_t ranks = 0;              ///< how many
  std::vector<LayoutPlace> place;  ///< of each
  LayoutGrids grids;               ///< in which cubes and PEs stand
  /// Of PEs given by --ranks, --device and --pes.
  ProgramPes(Machine&, std::vector<size_t> chosen);
};

/// A copy of a value's elements [first, first + count) along an axis (negative: from the last); its elements in another
/// shape. InputError where there are none, or not as many.
HostTensor slice(const HostTensor&, int axis, int64_t first, int64_t count);
HostTensor reshape(HostTensor, const Dims& shape);

/// Bytes of one rank in one memory.
struct RankRange {
  uint64_t address = 0, nbytes = 0;
};

class TensorPlaces {
 public:
  /// Allocates every shard in its PE's nearest HBM, and a virtual range for each rank, in which that rank's shards
  /// stand one after the other. InputError that names the tensor where one does not fit, or the shape lacks an axis.
  TensorPlaces(Machine&, DeviceAllocators&, const ProgramPes&, std::string name, DType, const Dims& shape,
               const Layout&);
  /// The elements [first, first + count) along an axis (negative: from the last) of another tensor, where they are: no
  /// bytes of its own. InputError where there are none, or where they are not one range of bytes on every PE.
  TensorPlaces(std::shared_ptr<const TensorPlaces> of, int axis, int64_t first, int64_t count);
  /// Another tensor's elements in another shape, where they are. InputError where there are not as many, or where a
  /// PE's part is no block of the new shape.
  TensorPlaces(std::shared_ptr<const TensorPlaces> of, const Dims& shape);
  ~TensorPlaces();
  TensorPlaces(const TensorPlaces&) = delete;
  TensorPlaces& operator=(const TensorPlaces&) = delete;

  const std::string& name() const { return name_; }
  DType dtype() const { return plan_.dtype; }
  const Dims& shape() const { return plan_.whole; }
  const Layout& layout() const { return layout_; }
  /// Bytes in memory, in all; and those that a tensor without copies would have.
  uint64_t stored_bytes() const;
  uint64_t nbytes() const { return static_cast<uint64_t>(shape().elements()) * size_of(dtype()); }
  /// The parts of the program's PEs.
  const ShardPlan& plan() const { return plan_; }
  /// Who has the bytes: this, or what it is a view of.
  const TensorPlaces& owner() const { return of_ ? of_->owner() : *this; }
  /// Held by what still uses the bytes: unique() once nobody does.
  const std::shared_ptr<const char>& use() const { return owner().use_; }
  /// Gives the bytes back; what is left answers to name(), shape() and freed() alone. Where it was freed is told.
  void free(SourceLine where) const { owner().freed_ = where; }
  bool freed() const { return owner().freed_.line != 0; }
  SourceLine freed_at() const { return owner().freed_; }
  void give_back() const;
  /// Elements of the largest shard.
  int64_t most_elements() const;

  /// InputError where the value's type or shape is another.
  void check(const HostTensor& value) const;
  /// A rank's shards of a value, those of ranges(rank, Copies::all); copies share what they are written from.
  std::vector<SharedBytes> shards_of(const HostTensor& value, uint32_t rank) const;
  std::vector<SharedBytes> shards_of(const ElementSource&, uint32_t rank) const;
  /// Puts them in place, now and without time: before the simulation they belong to the memory that a replay begins
  /// with, else they are writes in the op log.
  void place(const std::vector<SharedBytes>& shards, uint32_t rank) const;
  /// The tensor from the first copy of each of its parts: get(address, bytes, nbytes). RunError of a partial one.
  HostTensor collect(const std::function<void(uint64_t, uint8_t*, uint64_t)>& get) const;
  /// A rank's shards that have bytes, by PE; of these only the first copies in the machine, or all.
  enum class Copies { first, all };
  std::vector<RankRange> ranges(uint32_t rank, Copies) const;
  /// The first copies, as a log's header tells them.
  PlacedTensor placed(bool output) const;
  /// The tensor as memory holds it. RunError where a byte of any copy was never written or is pending.
  HostTensor read_back(const MemoryImage&) const;
  /// Whether all copies in memory are alike, byte for byte: empty, or one line that names two that are not.
  std::string unlike_copies(const MemoryImage&) const;

  /// What a kernel, which calls the tensor `as`, on the launch's PEs (places among the program's) is given on one of
  /// the ranks. `flat_rows`: with all axes but the last as one. InputError where the layout does not allow that.
  void add_to(tl::LaunchArgs&, const std::string& as, const std::vector<size_t>& launched, uint32_t rank, AddressMode,
              bool flat_rows) const;
  /// The ranks' virtual ranges, for MMUs.
  const std::vector<std::shared_ptr<const VirtualMapping>>& mappings() const { return mappings_; }

 private:
  void allocate();
  void find_copies();
  void map(uint32_t rank);
  /// A view: its plan and its ranks' parts are there, each PE's bytes begin so many behind the first of `of_`'s.
  void see(const std::vector<uint64_t>& behind);
  std::vector<SharedBytes> shards_of(uint32_t rank, decltype(shard_bytes) make, const ElementSource&) const;
  bool has_bytes(size_t p) const { return !plan_.shards[p].empty(); }
  tl::View view_of(size_t p, AddressMode, bool flat_rows) const;
  void require_whole(const char* what) const;

  Machine& machine_;
  DeviceAllocators& allocators_;
  const ProgramPes& pes_;
  std::shared_ptr<const TensorPlaces> of_;  ///< what this is a view of; null: it has bytes of its own
  std::string name_;
  Layout layout_;
  ShardPlan plan_;
  std::vector<Shard> part_of_rank_;  ///< what a rank has of the tensor
  std::shared_ptr<const char> use_ = std::make_shared<const char>('\0');
  mutable SourceLine freed_;  ///< line 0: it is not
  mutable bool given_back_ = false;
  std::vector<uint64_t> bases_, virtual_bases_;  ///< by PE; 0: none
  std::vector<size_t> first_copy_;               ///< by PE: the first one whose shard is the same part
  std::vector<std::shared_ptr<const VirtualMapping>> mappings_;
  struct VirtualRange {
    uint64_t base = 0;  ///< 0: none
    uint64_t nbytes = 0;
  };
  std::vector<VirtualRange> range_of_rank_;
  std::vector<bool> in_order_;  ///< by rank: its range holds its part in row-major order
};

}  // namespace kernbench::host
