// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/pe/carried_tiles.h"

#include <algorithm>
#include <cstring>

#include "kernbench/phase2/eval/eval.h"
#include "kernbench/phase2/op/runs.h"
#include "kernbench/systemc_models/protocol/payload_access.h"

namespace kernbench::pe {

struct CarriedTiles::Tile : DataMover {
  CarriedTiles& all;
  Bytes bytes, enables;
  tlm::tlm_generic_payload pattern;
  const tlm::tlm_generic_payload* moving = nullptr;

  explicit Tile(CarriedTiles& a) : all(a) {}
  void served(FabricTransaction& x, double at_ns) override {
    moving = &x.payload;
    // Like a foreign initiator's effect: after all effects of PEs at that instant.
    all.system_.timeline().at(at_ns, Order(Order::kDepartures, 0, 0), call<&Tile::move>(*this));
  }
  tlm::tlm_generic_payload* foreign() override { return &pattern; }
  void failed(FabricTransaction&, tlm::tlm_response_status) override {}  // the initiator reports it
  void moved_outside(FabricTransaction&) override {}
  bool still_moves() const override { return moving != nullptr; }
  bool of_an_op() const override { return true; }

  void move() {
    const tlm::tlm_generic_payload& p = *moving;
    moving = nullptr;
    if (p.is_write()) return all.put(p);
    PayloadRange(p).for_each_run([&](const PayloadRange::Run& r) {
      all.system_.known_bytes(r.address, p.get_data_ptr() + (r.address - p.get_address()), r.nbytes);
    });
  }
};

CarriedTiles::CarriedTiles(System& system, uint32_t initiator, const std::shared_ptr<OpDesc>& desc)
    : system_(system), initiator_(initiator), desc_(desc) {
  uint64_t offset = 0;
  if (desc->output.space == Space::tcm) return;
  for_each_run(desc->output, [&](uint64_t address, uint64_t nbytes) {
    runs_.push_back({address, nbytes, offset});
    offset += nbytes;
  });
  std::sort(runs_.begin(), runs_.end(), [](const Run& a, const Run& b) { return a.address < b.address; });
}

CarriedTiles::~CarriedTiles() = default;

std::shared_ptr<CarriedTiles> CarriedTiles::of(System& system, uint32_t initiator,
                                               const std::shared_ptr<OpDesc>& desc) {
  if (!system.materializes_stores() || desc->type != CommandType::composite) return nullptr;
  if (!system.meets_foreign_blocks() && system.foreign_stores().empty()) return nullptr;
  return std::shared_ptr<CarriedTiles>(new CarriedTiles(system, initiator, desc));
}

bool CarriedTiles::is_outside(uint64_t address, bool write) const {
  try {
    return !system_.routes().route(initiator_, address, 1, write).known;
  } catch (const AccessError&) {
    return false;  // the sender reports it
  }
}

/// Returns false if debug transport agrees with the image. Results of composites in flight count as present.
bool CarriedTiles::take_operands(MemoryImage& seen) const {
  bool differs = false;
  const auto take = [&](MemoryImage::SpaceKey key, uint64_t address, uint64_t nbytes) {
    Bytes held(nbytes), found(nbytes);
    system_.known_bytes(key, address, held.data(), nbytes);
    system_.debug_read(initiator_, address, found.data(), nbytes);
    if (held == found) return;
    if (!std::exchange(differs, true)) seen = system_.image().snapshot();
    system_.image().for_each_piece(key, address, nbytes,
                                   [&](uint64_t at, uint64_t n, const MemoryImage::Extent* e, uint64_t) {
                                     if (e && e->producer() && system_.in_flight(*e->producer())) return;
                                     if (e || !std::equal(found.begin() + static_cast<std::ptrdiff_t>(at - address),
                                                          found.begin() + static_cast<std::ptrdiff_t>(at - address + n),
                                                          held.begin() + static_cast<std::ptrdiff_t>(at - address)))
                                       seen.write(key, at, found.data() + (at - address), n);
                                   });
  };
  for (const Operand& o : inputs_of(*desc_)) {
    if (o.is_scalar || o.ref.space == Space::tcm) continue;
    for_each_run(without_repeats(o.ref), [&](uint64_t address, uint64_t nbytes) {
      if (is_outside(address, false) || System::store_of(system_.window_at(address)))
        take(MemoryImage::key_of(o.ref), address, nbytes);
    });
  }
  return differs;
}

void CarriedTiles::begin() {
  MemoryImage seen;
  const bool differs = take_operands(seen);
  system_.set_in_flight(*desc_, true);
  system_.apply(desc_, differs ? &seen : nullptr);
  value_ = system_.pending_values()->value_of(*desc_);
}

void CarriedTiles::value_at(uint64_t address, uint8_t* out, uint64_t nbytes) const {
  system_.known_bytes(address, out, nbytes);
  if (!value_.hold) return;
  auto r =
      std::upper_bound(runs_.begin(), runs_.end(), address, [](uint64_t at, const Run& x) { return at < x.address; });
  if (r != runs_.begin()) --r;
  for (; r != runs_.end() && r->address < address + nbytes; ++r) {
    const uint64_t first = std::max(address, r->address), last = std::min(address + nbytes, r->address + r->nbytes);
    if (first < last)
      std::memcpy(out + (first - address), value_.data() + r->offset + (first - r->address), last - first);
  }
}

DataMover* CarriedTiles::show(uint64_t address, const Rows& rows, bool write) {
  if (!is_outside(address, write)) return nullptr;
  uint64_t end = address, enabled = 0;
  bool in_order = true;
  for_each_range(address, rows, [&](uint64_t at, uint64_t n) {
    in_order &= at >= address;
    end = std::max(end, at + n);
    enabled += n;
  });
  const uint64_t span = end - address;
  if (!in_order || span == 0 || span > std::numeric_limits<unsigned>::max()) return nullptr;
  auto tile = std::make_unique<Tile>(*this);
  Tile& t = *tile;
  t.bytes.resize(span);
  if (enabled < span) t.enables.assign(span, TLM_BYTE_DISABLED);
  for_each_range(address, rows, [&](uint64_t at, uint64_t n) {
    if (write) value_at(at, t.bytes.data() + (at - address), n);
    if (enabled < span) std::fill_n(t.enables.begin() + static_cast<std::ptrdiff_t>(at - address), n, TLM_BYTE_ENABLED);
  });
  t.pattern.set_data_ptr(t.bytes.data());
  t.pattern.set_data_length(static_cast<unsigned>(span));
  t.pattern.set_streaming_width(static_cast<unsigned>(span));
  t.pattern.set_byte_enable_ptr(t.enables.empty() ? nullptr : t.enables.data());
  t.pattern.set_byte_enable_length(static_cast<unsigned>(t.enables.size()));
  tiles_.emplace(&t, std::move(tile));
  return &t;
}

/// Stores the bytes that arrived at a memory. Usually the image has them since the submission.
void CarriedTiles::put(const tlm::tlm_generic_payload& p) {
  struct Piece {
    uint64_t address, nbytes;
  };
  std::vector<Piece> pieces;
  PayloadRange(p).for_each_run([&](const PayloadRange::Run& r) {
    system_.image().for_each_piece(system_.window_at(r.address).key(), r.address, r.nbytes,
                                   [&](uint64_t at, uint64_t n, const MemoryImage::Extent* e, uint64_t offset) {
                                     const uint8_t* arrived = p.get_data_ptr() + (at - p.get_address());
                                     const OpDesc* maker = e ? e->producer() : nullptr;
                                     if (maker && maker != desc_.get() && system_.in_flight(*maker))
                                       return;  // its own bytes have not arrived yet
                                     const uint8_t* held = system_.known(e);
                                     if (maker == desc_.get() && !held) return;  // an engine has not finished it
                                     if (!held || std::memcmp(held + offset, arrived, n) != 0)
                                       pieces.push_back({at, n});
                                   });
  });
  for (const Piece& piece : pieces)
    system_.write_as_memory(piece.address, p.get_data_ptr() + (piece.address - p.get_address()), piece.nbytes);
}

void CarriedTiles::ended(const FabricTransaction& x) {
  tiles_.erase(x.mover);
}

}  // namespace kernbench::pe
