// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/host/tensor.h"

#include <algorithm>
#include <map>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/platform/launch/pe_selection.h"
#include "kernbench/systemc_models/memory/system.h"

namespace kernbench::host {
namespace {

std::vector<int64_t> as_vector(const Dims& d) {
  return {d.begin(), d.end()};
}

Shard nothing_like(const Shard& s) {
  Shard none = s;
  for (int i = 0; i < s.extent.rank(); ++i) none.extent[i] = 0;
  return none;
}

/// A block as one contiguous run of elements in the row-major order of `whole`; false: not contiguous.
bool run_of(const Dims& whole, const Shard& s, int64_t* first, int64_t* count) {
  bool below_is_whole = true;  // of the inner axes
  int64_t stride = 1;
  *first = 0;
  *count = 1;
  for (int i = whole.rank() - 1; i >= 0; --i) {
    if (!below_is_whole && s.extent[i] != 1) return false;
    below_is_whole = below_is_whole && s.extent[i] == whole[i];
    *first += s.offset[i] * stride;
    *count *= s.extent[i];
    stride *= whole[i];
  }
  return true;
}

/// A run of elements in the row-major order of `whole` as a block; false: impossible.
bool block_of(const Dims& whole, int64_t first, int64_t count, Shard* s) {
  s->offset = s->extent = whole;
  int64_t stride = whole.elements();
  for (int i = 0; i < whole.rank(); ++i) {
    stride /= std::max<int64_t>(1, whole[i]);
    s->offset[i] = first / stride;
    first %= stride;
    s->extent[i] = std::max<int64_t>(1, count / stride);
    if (s->offset[i] + s->extent[i] > whole[i] || (count > stride && (count % stride != 0 || first != 0))) return false;
    count = std::min(count, stride);
  }
  return true;
}

/// The block of `to` with the elements of a block of `from`. Axes are grouped until their products match; each group is
/// mapped separately. False: none.
bool seen_in(const Dims& from, const Dims& to, const Shard& s, Shard* out) {
  out->owner = s.owner;
  out->offset = out->extent = to;
  int i = 0, j = 0;
  while (i < from.rank() || j < to.rank()) {
    const int i0 = i, j0 = j;
    int64_t a = 1, b = 1;
    do {
      if (a <= b && i < from.rank())
        a *= from[i++];
      else if (j < to.rank())
        b *= to[j++];
      else
        a *= from[i++];
    } while (a != b || (i == i0 && i < from.rank()) || (j == j0 && j < to.rank()));
    Dims group_from, group_to;
    Shard part, seen;
    for (int x = i0; x < i; ++x) {
      group_from.push_back(from[x]);
      part.offset.push_back(s.offset[x]);
      part.extent.push_back(s.extent[x]);
    }
    for (int x = j0; x < j; ++x) group_to.push_back(to[x]);
    int64_t first = 0, count = 0;
    if (!run_of(group_from, part, &first, &count) || !block_of(group_to, first, count, &seen)) return false;
    for (int x = j0; x < j; ++x) {
      out->offset[x] = seen.offset[x - j0];
      out->extent[x] = seen.extent[x - j0];
    }
  }
  return true;
}

}  // namespace

ProgramPes::ProgramPes(Machine& machine, std::vector<size_t> chosen)
    : pes(std::move(chosen)), rank(ranks_of(machine, pes)), grids(grids_of(*launch_shape(machine, pes))) {
  for (size_t p = 0; p < pes.size(); ++p) {
    ranks = std::max(ranks, rank[p] + 1);
    place.push_back({rank[p], machine.pes().pe(pes[p]).cube, static_cast<uint32_t>(pes[p])});
  }
}

HostTensor slice(const HostTensor& of, int axis, int64_t first, int64_t count) {
  const int at = axis < 0 ? axis + of.shape.rank() : axis;
  if (at < 0 || at >= of.shape.rank() || first < 0 || count < 1 || first + count > of.shape[at])
    throw InputError("a value " + of.shape.to_string() + " has no elements " + std::to_string(first) + " to " +
                     std::to_string(first + count - 1) + " of axis " + std::to_string(axis));
  ShardPlan plan;
  plan.dtype = of.dtype;
  plan.whole = of.shape;
  Shard part{0, of.shape, of.shape};
  for (int i = 0; i < of.shape.rank(); ++i) part.offset[i] = 0;
  part.offset[at] = first;
  part.extent[at] = count;
  plan.shards = {part};
  HostTensor t(of.dtype, part.extent);
  scatter(plan, 0, of.bytes.data(), t.bytes.data());
  return t;
}

HostTensor reshape(HostTensor t, const Dims& shape) {
  if (shape.elements() != t.elements())
    throw InputError("a value " + t.shape.to_string() + " cannot be seen as " + shape.to_string());
  t.shape = shape;
  return t;
}

TensorPlaces::TensorPlaces(Machine& machine, DeviceAllocators& allocators, const ProgramPes& pes, std::string name,
                           DType dtype, const Dims& shape, const Layout& layout)
    : machine_(machine), allocators_(allocators), pes_(pes), name_(std::move(name)), layout_(layout) {
  try {
    for (const uint32_t r : layout.ranks()) {
      if (r >= pes.ranks)
        throw std::invalid_argument("on rank " + std::to_string(r) + ": the program has " + std::to_string(pes.ranks) +
                                    " ranks");
    }
    plan_ = plan_shards(layout, dtype, shape, pes.place, pes.grids);
    const ShardPlan of_ranks = plan_shards(Layout(layout.rank()).on(layout.ranks()), dtype, shape, pes.place);
    part_of_rank_.resize(pes.ranks);
    for (size_t p = 0; p < pes.pes.size(); ++p) part_of_rank_[pes.rank[p]] = of_ranks.shards[p];
    allocate();
    for (uint32_t r = 0; r < pes.ranks; ++r) map(r);
  } catch (const OutOfDeviceMemory& e) {
    give_back();
    throw InputError("tensor " + name_ + ": " + e.what());
  } catch (const std::invalid_argument& e) {
    throw InputError("tensor " + name_ + ": " + e.what());
  }
}

TensorPlaces::TensorPlaces(std::shared_ptr<const TensorPlaces> of, int axis, int64_t first, int64_t count)
    : machine_(of->machine_),
      allocators_(of->allocators_),
      pes_(of->pes_),
      of_(of),
      name_(of->name_ + "[" + std::to_string(first) + ":" + std::to_string(first + count) + "]"),
      layout_(of->layout_) {
  const Dims& whole = of->shape();
  const int at = axis < 0 ? axis + whole.rank() : axis;
  if (at < 0 || at >= whole.rank() || first < 0 || count < 1 || first + count > whole[at])
    throw InputError("tensor " + of->name_ + " " + whole.to_string() + " has no elements " + std::to_string(first) +
                     " to " + std::to_string(first + count - 1) + " of axis " + std::to_string(axis));
  plan_.dtype = of->dtype();
  plan_.whole = whole;
  plan_.whole[at] = count;
  const auto cut = [&](const Shard& s) {
    const int64_t begin = std::max(s.offset[at], first), end = std::min(s.offset[at] + s.extent[at], first + count);
    if (s.empty() || begin >= end) return nothing_like(s);
    Shard part = s;
    part.offset[at] = begin - first;
    part.extent[at] = end - begin;
    return part;
  };
  for (const Shard& s : of->part_of_rank_) part_of_rank_.push_back(cut(s));
  std::vector<uint64_t> behind;
  for (const Shard& s : of->plan_.shards) {
    plan_.shards.push_back(cut(s));
    behind.push_back(0);
    const Shard& part = plan_.shards.back();
    if (part.empty()) continue;
    Shard local = part;
    for (int i = 0; i < whole.rank(); ++i) local.offset[i] = 0;
    local.offset[at] = part.offset[at] + first - s.offset[at];
    int64_t begin = 0, elements = 0;
    if (!run_of(s.extent, local, &begin, &elements))
      throw InputError("tensor " + name_ + ": of axis " + std::to_string(axis) + " of " + of->name_ + " (" +
                       layout_.to_string() + ") a PE has no such elements side by side: redistribute it");
    behind.back() = static_cast<uint64_t>(begin) * size_of(dtype());
  }
  see(behind);
}

TensorPlaces::TensorPlaces(std::shared_ptr<const TensorPlaces> of, const Dims& shape)
    : machine_(of->machine_),
      allocators_(of->allocators_),
      pes_(of->pes_),
      of_(of),
      name_(of->name_),
      layout_(of->layout_) {
  const auto wrong = [&](const std::string& why) {
    throw InputError("tensor " + name_ + " " + of->shape().to_string() + " (" + layout_.to_string() +
                     ") cannot be seen as " + shape.to_string() + ": " + why);
  };
  if (shape.elements() != of->shape().elements()) wrong("it has as many elements as it has");
  plan_.dtype = of->dtype();
  plan_.whole = shape;
  const auto seen = [&](const Shard& s) {
    Shard part;
    if (s.empty()) {
      part.owner = s.owner;
      part.offset = part.extent = shape;
      return nothing_like(part);
    }
    if (!seen_in(of->shape(), shape, s, &part)) wrong("a PE's part is no block of that");
    return part;
  };
  for (const Shard& s : of->part_of_rank_) part_of_rank_.push_back(seen(s));
  for (const Shard& s : of->plan_.shards) plan_.shards.push_back(seen(s));
  see(std::vector<uint64_t>(plan_.shards.size(), 0));
}

void TensorPlaces::see(const std::vector<uint64_t>& behind) {
  find_copies();
  for (size_t p = 0; p < pes_.pes.size(); ++p) {
    bases_.push_back(has_bytes(p) ? of_->bases_[p] + behind[p] : 0);
    virtual_bases_.push_back(has_bytes(p) && of_->virtual_bases_[p] != 0 ? of_->virtual_bases_[p] + behind[p] : 0);
  }
  for (uint32_t r = 0; r < pes_.ranks; ++r) {
    // The rank has a range if its parts are adjacent in order.
    uint64_t begin = 0, end = 0;
    bool has_gaps = false;
    for (uint32_t p = 0; p < pes_.pes.size(); ++p) {
      if (pes_.rank[p] != r || !has_bytes(p)) continue;
      if (begin == 0) begin = end = virtual_bases_[p];
      has_gaps = has_gaps || virtual_bases_[p] != end;
      end += plan_.nbytes(p);
    }
    if (has_gaps) begin = end = 0;
    range_of_rank_.push_back({begin, end - begin});
    in_order_.push_back(of_->in_order_[r] && !has_gaps &&
                        end - begin == static_cast<uint64_t>(part_of_rank_[r].extent.elements()) * size_of(dtype()));
  }
}

TensorPlaces::~TensorPlaces() {
  give_back();
}

void TensorPlaces::allocate() {
  find_copies();
  for (size_t p = 0; p < pes_.pes.size(); ++p)
    bases_.push_back(has_bytes(p) ? allocators_.allocate_hbm(pes_.pes[p], plan_.nbytes(static_cast<uint32_t>(p))) : 0);
}

void TensorPlaces::find_copies() {
  using Part = std::pair<std::vector<int64_t>, std::vector<int64_t>>;
  std::map<std::pair<uint32_t, Part>, size_t> first;  // each rank has separate parts of a partial tensor
  for (size_t p = 0; p < pes_.pes.size(); ++p) {
    const Shard& s = plan_.shards[p];
    const uint32_t group = layout_.partial() ? pes_.rank[p] : 0;
    first_copy_.push_back(
        first.emplace(std::make_pair(group, Part(as_vector(s.offset), as_vector(s.extent))), p).first->second);
  }
}

void TensorPlaces::map(uint32_t rank) {
  const Shard& part = part_of_rank_[rank];
  ShardPlan local;  // the rank's part alone
  local.dtype = plan_.dtype;
  local.whole = part.extent;
  auto mapping = std::make_shared<VirtualMapping>();
  mapping->tensor = name_;
  bool in_order = true;
  virtual_bases_.resize(pes_.pes.size(), 0);
  for (uint32_t p = 0; p < pes_.pes.size(); ++p) {
    if (pes_.rank[p] != rank || !has_bytes(p)) continue;
    Shard s = plan_.shards[p];
    for (int i = 0; i < s.offset.rank(); ++i) s.offset[i] -= part.offset[i];
    local.shards = {s};
    uint64_t first = 0;
    in_order = in_order && contiguous_in_whole(local, 0, &first) && first == mapping->nbytes;
    virtual_bases_[p] = mapping->nbytes;
    mapping->range.pieces.push_back({mapping->nbytes, bases_[p], plan_.nbytes(p)});
    mapping->nbytes += plan_.nbytes(p);
  }
  in_order_.push_back(in_order &&
                      mapping->nbytes == static_cast<uint64_t>(part.extent.elements()) * size_of(plan_.dtype));
  range_of_rank_.push_back({0, mapping->nbytes});
  if (mapping->nbytes == 0) return;
  const auto base = allocators_.allocate_virtual(mapping->nbytes);
  if (!base) return;
  range_of_rank_.back().base = mapping->range.virtual_addr = *base;
  for (uint32_t p = 0; p < pes_.pes.size(); ++p) {
    if (pes_.rank[p] == rank) virtual_bases_[p] += *base;
  }
  mappings_.push_back(std::move(mapping));
}

void TensorPlaces::give_back() const {
  if (of_ || given_back_) return;
  given_back_ = true;
  for (size_t p = 0; p < bases_.size(); ++p) {
    if (has_bytes(p)) allocators_.free_hbm(pes_.pes[p], bases_[p]);
  }
  for (const auto& m : mappings_) allocators_.free_virtual(m->begin());
}

uint64_t TensorPlaces::stored_bytes() const {
  uint64_t n = 0;
  for (uint32_t p = 0; p < pes_.pes.size(); ++p) n += has_bytes(p) ? plan_.nbytes(p) : 0;
  return n;
}

int64_t TensorPlaces::most_elements() const {
  int64_t most = 0;
  for (const Shard& s : plan_.shards) most = std::max(most, s.extent.elements());
  return most;
}

void TensorPlaces::check(const HostTensor& value) const {
  if (value.dtype != dtype() || value.shape != shape()) {
    throw InputError("tensor " + name_ + ": found " + std::string(kernbench::name_of(value.dtype)) + " " +
                     value.shape.to_string() + ", it is " + std::string(kernbench::name_of(dtype())) + " " +
                     shape().to_string());
  }
}

std::vector<SharedBytes> TensorPlaces::shards_of(const HostTensor& value, uint32_t rank) const {
  check(value);
  return shards_of(rank, shard_bytes, source_of(value));
}

std::vector<SharedBytes> TensorPlaces::shards_of(const ElementSource& source, uint32_t rank) const {
  return shards_of(rank, later_shard_bytes, source);
}

std::vector<SharedBytes> TensorPlaces::shards_of(uint32_t rank, decltype(shard_bytes) make,
                                                 const ElementSource& source) const {
  std::vector<uint32_t> made;           // parts, without copies on other PEs
  std::map<size_t, size_t> made_of;     // by first_copy_
  std::vector<size_t> shards_in_order;  // indices into `made`
  for (uint32_t p = 0; p < pes_.pes.size(); ++p) {
    if (pes_.rank[p] != rank || !has_bytes(p)) continue;
    const auto [at, is_new] = made_of.emplace(first_copy_[p], made.size());
    if (is_new) made.push_back(p);
    shards_in_order.push_back(at->second);
  }
  const std::vector<SharedBytes> parts = make(plan_, made, source);
  std::vector<SharedBytes> shards;
  for (const size_t i : shards_in_order) shards.push_back(parts[i]);
  return shards;
}

void TensorPlaces::place(const std::vector<SharedBytes>& shards, uint32_t rank) const {
  auto bytes = shards.begin();
  for (const RankRange& r : ranges(rank, Copies::all)) {
    const MemoryWindow window = machine_.system().window_at(r.address);
    if (sc_core::sc_is_running() || System::store_of(window)) {
      machine_.system().place(r.address, bytes->data(), bytes->size);
    } else {
      machine_.system().image().write_shared(window.key(), r.address, *bytes);
    }
    ++bytes;
  }
}

void TensorPlaces::require_whole(const char* what) const {
  if (layout_.partial())
    throw RunError("tensor " + name_ + " is partial over ranks and cannot be " + what + ": an all_reduce sums it up");
}

HostTensor TensorPlaces::collect(const std::function<void(uint64_t, uint8_t*, uint64_t)>& get) const {
  require_whole("read");
  HostTensor value(dtype(), shape());
  for (uint32_t p = 0; p < pes_.pes.size(); ++p) {
    if (!has_bytes(p) || first_copy_[p] != p) continue;
    Bytes shard(plan_.nbytes(p));
    get(bases_[p], shard.data(), shard.size());
    gather(plan_, p, shard.data(), value.bytes.data());
  }
  return value;
}

std::vector<RankRange> TensorPlaces::ranges(uint32_t rank, Copies copies) const {
  std::vector<RankRange> v;
  for (uint32_t p = 0; p < pes_.pes.size(); ++p) {
    if (pes_.rank[p] != rank || !has_bytes(p)) continue;
    if (copies == Copies::all || first_copy_[p] == p) v.push_back({bases_[p], plan_.nbytes(p)});
  }
  return v;
}

PlacedTensor TensorPlaces::placed(bool output) const {
  PlacedTensor t;
  t.name = name_;
  t.output = output;
  t.dtype = dtype();
  t.shape = t.grid = shape();
  for (size_t p = 0; p < pes_.pes.size(); ++p) {
    if (has_bytes(p) && first_copy_[p] == p)
      t.shards.push_back({Space::hbm, kNoPe, bases_[p], plan_.shards[p].offset, plan_.shards[p].extent});
  }
  return t;
}

HostTensor TensorPlaces::read_back(const MemoryImage& image) const {
  for (uint32_t p = 0; p < pes_.pes.size(); ++p) {
    if (!has_bytes(p)) continue;
    const auto state = image.state_of({Space::hbm, kNoPe}, bases_[p], plan_.nbytes(p));
    if (state.state == MemoryImage::State::real) continue;
    throw RunError("tensor " + name_ + ": the part of " + machine_.graph().pes[pes_.pes[p]].id + " was " +
                   (state.state == MemoryImage::State::unwritten ? "not written" : "left pending") + " (from byte " +
                   std::to_string(state.first_bad - bases_[p]) + " of " + std::to_string(plan_.nbytes(p)) + ")");
  }
  return collect([&](uint64_t address, uint8_t* bytes, uint64_t n) {
    image.read({Space::hbm, kNoPe}, address, bytes, n);
  });
}

std::string TensorPlaces::unlike_copies(const MemoryImage& image) const {
  for (uint32_t p = 0; p < pes_.pes.size(); ++p) {
    if (!has_bytes(p) || first_copy_[p] == p) continue;
    Bytes mine(plan_.nbytes(p)), first(mine.size());
    image.read({Space::hbm, kNoPe}, bases_[p], mine.data(), mine.size());
    image.read({Space::hbm, kNoPe}, bases_[first_copy_[p]], first.data(), first.size());
    const auto at = std::mismatch(mine.begin(), mine.end(), first.begin()).first;
    if (at == mine.end()) continue;
    const auto& ids = machine_.graph().pes;
    return "the copy of " + ids[pes_.pes[p]].id + " is unlike that of " + ids[pes_.pes[first_copy_[p]]].id +
           ", from element " + std::to_string((at - mine.begin()) / static_cast<std::ptrdiff_t>(size_of(dtype()))) +
           " of the shard";
  }
  return {};
}

tl::View TensorPlaces::view_of(size_t p, AddressMode mode, bool flat_rows) const {
  const Shard& s = plan_.shards[p];
  const uint64_t base = mode == AddressMode::physical ? bases_[p] : virtual_bases_[p];
  tl::View v{tl::Ptr(Space::hbm, base, dtype()), s.extent, s.offset, shape()};
  const int rank = shape().rank();
  if (!flat_rows || rank <= 2) return v;
  int64_t rows = 1, all_rows = 1, first = 0;
  for (int i = 0; i + 1 < rank; ++i) {
    if (i > 0 && !s.empty() && s.extent[i] != shape()[i])
      throw InputError("tensor " + name_ + " (" + layout_.to_string() +
                       "): the kernel takes whole rows of its first axis");
    rows *= s.extent[i];
    all_rows *= shape()[i];
    first = first * shape()[i] + s.offset[i];
  }
  v.shape = {rows, s.extent[rank - 1]};
  v.offset = {first, s.offset[rank - 1]};
  v.whole = {all_rows, shape()[rank - 1]};
  return v;
}

void TensorPlaces::add_to(tl::LaunchArgs& args, const std::string& as, const std::vector<size_t>& launched,
                          uint32_t rank, AddressMode mode, bool flat_rows) const {
  std::vector<tl::View> views;
  for (const size_t p : launched) views.push_back(view_of(p, mode, flat_rows));
  const Shard& part = part_of_rank_[rank];
  const VirtualRange& mapped = range_of_rank_[rank];
  tl::View range{tl::Ptr(Space::hbm, mapped.base, dtype()), part.extent, part.offset, shape()};
  args.add(as, std::move(views), range, mapped.nbytes, in_order_[rank]);
}

}  // namespace kernbench::host
