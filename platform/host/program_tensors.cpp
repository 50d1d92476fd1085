// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/host/program_tensors.h"

#include <algorithm>
#include <iterator>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/launch/host_mmu.h"
#include "kernbench/platform/platform.h"

namespace kernbench::host {
namespace {

Context::Stored stored_of(const TensorPlaces& t) {
  const uint64_t bytes = t.stored_bytes();
  return {bytes, t.layout().partial() ? 0 : bytes - std::min(bytes, t.nbytes())};
}

}  // namespace

ProgramTensors::Places ProgramTensors::placed(const std::string& name, DType dtype, const Dims& shape,
                                              const Layout& layout) const {
  return std::make_shared<TensorPlaces>(platform_.machine(), platform_.hosts().allocators(), pes_, name, dtype, shape,
                                        layout);
}

void ProgramTensors::add_named(const ProgramSpec& spec, const Params& params) {
  for (const ProgramTensor& t : spec.tensors) {
    if (!t.late) named_[t.name] = placed(t.name, t.dtype(params), t.shape(params), t.layout);
  }
  for (const auto& [name, t] : named_) add(*t);
}

void ProgramTensors::add_named(const ProgramTensor& t, const Params& params) {
  add(*(named_[t.name] = placed(t.name, t.dtype(params), t.shape(params), t.layout)));
}

void ProgramTensors::take_out(const std::string& name, const SourceLine& where) {
  const auto it = named_.find(name);
  it->second->free(where);
  freed_.push_back(it->second);
  named_.erase(it);
}

const ProgramTensors::Places& ProgramTensors::make(DType dtype, const Dims& shape, const Layout& layout,
                                                   const std::string& name) {
  made_.push_back(placed(name, dtype, shape, layout));
  add(*made_.back());
  return made_.back();
}

/// Maps the tensor and counts its bytes.
void ProgramTensors::add(const TensorPlaces& t) {
  const std::vector<size_t> pes = with_mmu();
  for (const auto& mapping : t.mappings()) {
    const HostResponse r = HostMmu::map_now(platform_.machine(), {{}, mapping}, pes);
    if (!r.ok()) throw RunError(r.text);
  }
  const Context::Stored more = stored_of(t);
  stored_ = {stored_.bytes + more.bytes, stored_.copies + more.copies};
  if (stored_.bytes > most_stored_.bytes) most_stored_ = stored_;
}

/// PEs without an MMU use physical addresses only.
std::vector<size_t> ProgramTensors::with_mmu() const {
  std::vector<size_t> some;
  std::copy_if(pes_.pes.begin(), pes_.pes.end(), std::back_inserter(some),
               [&](size_t p) { return platform_.pes().pe(p).mmu != nullptr; });
  return some;
}

void ProgramTensors::free(const Tensor& t, const SourceLine& where) {
  const auto it =
      std::find_if(made_.begin(), made_.end(), [&](const auto& made) { return made.get() == &t.places()->owner(); });
  if (it == made_.end()) throw InputError("tensor " + t.name() + " is the program's own and stays");
  t.places()->free(where);
  freed_.push_back(*it);
  made_.erase(it);
}

void ProgramTensors::give_back_freed() {
  for (auto it = freed_.begin(); it != freed_.end();) {
    if ((*it)->use().use_count() > (writers_.count((*it)->use()) ? 2 : 1)) {
      ++it;
      continue;
    }
    writers_.erase((*it)->use());
    for (const auto& m : (*it)->mappings())
      HostMmu::unmap_now(platform_.machine(), {{}, m->begin(), m->nbytes}, with_mmu());
    const Context::Stored less = stored_of(**it);
    stored_ = {stored_.bytes - less.bytes, stored_.copies - less.copies};
    (*it)->give_back();
    it = freed_.erase(it);
  }
}

void ProgramTensors::written_by(const Tensor& t, const Operation& operation) {
  std::vector<const Operation*>& all = writers_[t.places()->use()];
  // Operations end nearly in order, so checking the first one avoids repeated scans of a long queue.
  if (!all.empty() && all.front()->open == 0)
    all.erase(std::remove_if(all.begin(), all.end(), [](const Operation* op) { return op->open == 0; }), all.end());
  all.push_back(&operation);
}

void ProgramTensors::place(const TensorPlaces& to, const HostTensor& value) const {
  for (uint32_t r = 0; r < pes_.ranks; ++r) to.place(to.shards_of(value, r), r);
}

void ProgramTensors::place(const TensorPlaces& to, const ElementSource& source) const {
  for (uint32_t r = 0; r < pes_.ranks; ++r) to.place(to.shards_of(source, r), r);
}

void ProgramTensors::place_zeros(const TensorPlaces& to) const {
  const uint64_t most = static_cast<uint64_t>(to.most_elements()) * size_of(to.dtype());
  const SharedBytes zeros = SharedBytes::take(Bytes(most));
  for (uint32_t r = 0; r < pes_.ranks; ++r) {
    std::vector<SharedBytes> shards;
    for (const RankRange& range : to.ranges(r, TensorPlaces::Copies::all)) {
      shards.push_back(zeros);
      shards.back().size = range.nbytes;
    }
    to.place(shards, r);
  }
}

}  // namespace kernbench::host
