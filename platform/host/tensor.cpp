#include "kernbench/platform/host/tensor.h"

#include <algorithm>
#include <map>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/platform/launch/pe_selection.h"

namespace kernbench::host {
namespace {

std::vector<int64_t> as_vector(const Dims& d) {
  return {d.begin(), d.end()};
}

}  // namespace

ProgramPes::ProgramPes(Machine& machine, std::vector<size_t> chosen)
    : pes(std::move(chosen)), rank(ranks_of(machine, pes)) {
  for (size_t p = 0; p < pes.size(); ++p) {
    ranks = std::max(ranks, rank[p] + 1);
    place.push_back({rank[p], machine.pes().pe(pes[p]).cube, static_cast<uint32_t>(pes[p])});
  }
}

TensorPlaces::TensorPlaces(Machine& machine, DeviceAllocators& allocators, const ProgramPes& pes, std::string name,
                           DType dtype, const Dims& shape, const Layout& layout)
    : machine_(machine), allocators_(allocators), pes_(pes), name_(std::move(name)), layout_(layout) {
  try {
    plan_ = plan_shards(layout, dtype, shape, pes.place);
    allocate(pes);
    for (uint32_t r = 0; r < pes.ranks; ++r) map(r);
  } catch (const OutOfDeviceMemory& e) {
    give_back();
    throw InputError("tensor " + name_ + ": " + e.what());
  } catch (const std::invalid_argument& e) {
    throw InputError("tensor " + name_ + ": " + e.what());
  }
}

TensorPlaces::~TensorPlaces() {
  give_back();
}

void TensorPlaces::allocate(const ProgramPes& pes) {
  using Part = std::pair<std::vector<int64_t>, std::vector<int64_t>>;
  std::map<std::pair<uint32_t, Part>, size_t> first;  // of a partial tensor each rank has parts of its own
  for (size_t p = 0; p < pes.pes.size(); ++p) {
    const Shard& s = plan_.shards[p];
    const uint32_t group = layout_.partial() ? pes.rank[p] : 0;
    first_copy_.push_back(
        first.emplace(std::make_pair(group, Part(as_vector(s.offset), as_vector(s.extent))), p).first->second);
    bases_.push_back(s.empty() ? 0 : allocators_.allocate_hbm(pes.pes[p], plan_.nbytes(static_cast<uint32_t>(p))));
  }
}

Shard TensorPlaces::part_of(uint32_t rank) const {
  const auto first = static_cast<size_t>(std::find(pes_.rank.begin(), pes_.rank.end(), rank) - pes_.rank.begin());
  return plan_shards(Layout(layout_.rank()), plan_.dtype, plan_.whole, pes_.place).shards[first];
}

void TensorPlaces::map(uint32_t rank) {
  const Shard part = part_of(rank);
  ShardPlan local;  // the rank's part by itself
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

void TensorPlaces::give_back() {
  for (size_t p = 0; p < bases_.size(); ++p) {
    if (has_bytes(p)) allocators_.free_hbm(pes_.pes[p], bases_[p]);
  }
  for (const auto& m : mappings_) allocators_.free_virtual(m->begin());
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
  std::map<size_t, SharedBytes> parts;
  std::vector<SharedBytes> shards;
  for (uint32_t p = 0; p < pes_.pes.size(); ++p) {
    if (pes_.rank[p] != rank || !has_bytes(p)) continue;
    SharedBytes& bytes = parts[first_copy_[p]];
    if (!bytes.data) {
      Bytes shard(plan_.nbytes(p));
      scatter(plan_, p, value.bytes.data(), shard.data());
      bytes = SharedBytes::take(std::move(shard));
    }
    shards.push_back(bytes);
  }
  return shards;
}

void TensorPlaces::place(const std::vector<SharedBytes>& shards, uint32_t rank) const {
  auto bytes = shards.begin();
  for (const RankRange& r : ranges(rank, Copies::all)) {
    const MemoryWindow window = machine_.system().window_at(r.address);
    if (sc_core::sc_is_running() || System::store_of(window)) {
      machine_.system().place(r.address, bytes->data, bytes->size);
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
  const Shard part = part_of(rank);
  const VirtualRange& mapped = range_of_rank_[rank];
  tl::View range{tl::Ptr(Space::hbm, mapped.base, dtype()), part.extent, part.offset, shape()};
  args.add(as, std::move(views), range, mapped.nbytes, in_order_[rank]);
}

}  // namespace kernbench::host
