// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/memory/tlm_memory.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "kernbench/phase2/op/address_text.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/fabric/fabric_initiator.h"
#include "kernbench/systemc_models/protocol/atomic_extension.h"
#include "kernbench/systemc_models/protocol/payload_access.h"

namespace kernbench::memory {

struct TlmMemory::Part {
  Access* of = nullptr;
  ForeignTransfer transfer;
  uint64_t address = 0;  ///< physical
  Bytes bytes;
  // For a write whose byte enables the model refuses, during the read of the current bytes:
  std::vector<uint8_t> enables;
  Bytes written;
};

/// A transaction of the fabric that the foreign model serves in parts.
struct TlmMemory::Access {
  FabricTransaction* transaction = nullptr;
  double begin_ns = 0;
  std::vector<Part> parts;
  size_t open = 0;
  void begin_atomic(TlmMemory&);
  tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
};

TlmMemory::TlmMemory(sc_core::sc_module_name name, const ComponentConfig& config, const MemoryParameters& parameters,
                     const Settings& settings)
    : MemoryTarget(name, config, parameters),
      max_bytes_(settings.max_bytes),
      physical_(settings.physical),
      keeps_bytes_(settings.keeps_bytes),
      initiator_(timeline(), index(), id(), settings.end_resp),
      socket_("socket", settings.bus_width, initiator_),
      system_(System::of(*this)) {
  if (keeps_bytes_) system_.foreign_stores().push_back(this);
}

TlmMemory::~TlmMemory() = default;

void TlmMemory::end_of_elaboration() {
  initiator_.set_forward(socket_.forward());
}

void TlmMemory::start_of_simulation() {
  if (!initiator_.forward())
    throw std::runtime_error(id() + ": no model is bound to its socket; a platform with it needs an sc_main that does");
  const MemoryWindow window = system_.window_at(base());
  uint8_t byte = 0;
  if (keeps_bytes_ && system_.materializes_stores() && initiator_.debug(false, to_target(base()), &byte, 1) != 1)
    throw std::runtime_error(id() +
                             ": the model behind it has no debug transport, which materialize: stores reads "
                             "operands by; expected one, or storage: image");
  push(window.base, window.size);
}

Service TlmMemory::take(FabricTransaction& x) {
  if (x.is_atomic() && !atomic_of(x.payload)) {
    throw RunError(
        x.initiator->owner().id() + ": atomic of " + std::to_string(x.nbytes) + " bytes at " + address_text(x.address) +
        ": a driver's says nothing of what it does, which the foreign memory behind " + id() + " would have to know");
  }
  auto access = std::make_unique<Access>();
  Access& a = *access;
  a.transaction = &x;
  a.begin_ns = x.time_ns + overhead_ns();
  accesses_.emplace(&a, std::move(access));
  if (x.mover && x.write && !x.is_atomic()) x.mover->served(x, a.begin_ns);  // before the bytes are sent
  timeline().at(a.begin_ns, Order(Order::kDepartures, 0, 1), call<&TlmMemory::begin>(*this, a));
  Service s;
  s.later = true;
  return s;
}

void TlmMemory::begin(Access& a) {
  const FabricTransaction& x = *a.transaction;
  if (x.is_atomic()) return a.begin_atomic(*this);
  if (x.rows.ranges) {
    for_each_range(x.address, x.rows, [&](uint64_t at, uint64_t nbytes) { add_transfers(a, at, nbytes); });
  } else {
    for (uint64_t row = 0; row < x.rows.count; ++row) add_transfers(a, x.address + row * x.rows.stride, x.rows.bytes);
  }
  if (x.write && keeps_bytes_ && x.payload.get_byte_enable_ptr()) enable_bytes(a);
  a.open = a.parts.size();
  if (a.open == 0) return finish(a);
  for (Part& part : a.parts) {
    ForeignTransfer& t = part.transfer;
    t.write = x.write;
    t.address = to_target(part.address);
    t.data = part.bytes.data();
    t.nbytes = static_cast<unsigned>(part.bytes.size());
    if (x.mover) t.foreign = x.mover->foreign();
    t.done = call<&TlmMemory::part_done>(*this, part);
    if (x.write && keeps_bytes_) {
      system_.known_bytes(part.address, part.bytes.data(), part.bytes.size());
      const uint64_t run = t.enables.empty() ? part.bytes.size() : 1;
      for (uint64_t i = 0; i < part.bytes.size(); i += run) {
        if (t.enables.empty() || t.enables[i]) seen_.write({Space::hbm, kNoPe}, part.address + i, &part.bytes[i], run);
      }
    }
  }
  for (Part& part : a.parts) start(part);
}

/// Each part of a foreign initiator's write has its byte enables. A part without enabled bytes is not sent.
void TlmMemory::enable_bytes(Access& a) {
  const PayloadRange range(a.transaction->payload);
  for (Part& part : a.parts) {
    std::vector<uint8_t>& enables = part.transfer.enables;
    enables.assign(part.bytes.size(), TLM_BYTE_DISABLED);
    range.for_each_run([&](const PayloadRange::Run& run) {
      const uint64_t first = std::max(run.address, part.address);
      const uint64_t last = std::min(run.address + run.nbytes, part.address + part.bytes.size());
      for (uint64_t at = first; at < last; ++at) enables[at - part.address] = TLM_BYTE_ENABLED;
    });
  }
  const auto writes_nothing = [](const Part& p) {
    return std::count(p.transfer.enables.begin(), p.transfer.enables.end(), TLM_BYTE_ENABLED) == 0;
  };
  a.parts.erase(std::remove_if(a.parts.begin(), a.parts.end(), writes_nothing), a.parts.end());
  for (Part& part : a.parts) {
    std::vector<uint8_t>& enables = part.transfer.enables;
    if (std::count(enables.begin(), enables.end(), TLM_BYTE_DISABLED) == 0) enables.clear();
  }
}

/// If the model refuses byte enables, the current bytes are read, and the complete part is written.
void TlmMemory::start(Part& part) {
  ForeignTransfer& t = part.transfer;
  if (!t.enables.empty() && !takes_enables_) {
    part.enables = std::exchange(t.enables, {});
    part.written = part.bytes;
    t.write = false;
  }
  initiator_.start(t);
}

/// One transfer of any length, because its extension lists the ranges.
void TlmMemory::Access::begin_atomic(TlmMemory& memory) {
  const FabricTransaction& x = *transaction;
  bool pending = false;
  for_each_range(x.address, x.rows, [&](uint64_t at, uint64_t nbytes) {
    const MemoryImage::SpaceKey key = memory.system_.window_at(at).key();
    pending |= memory.system_.first_unknown(key, at, nbytes).producer != nullptr;
  });
  if (pending && memory.keeps_bytes_) {
    status = tlm::TLM_GENERIC_ERROR_RESPONSE;
    return memory.finish(*this);
  }
  Part& part = parts.emplace_back();
  part.of = this;
  part.address = x.address;
  part.bytes.resize(x.nbytes);
  open = 1;
  ForeignTransfer& t = part.transfer;
  t.address = memory.to_target(part.address);
  t.data = part.bytes.data();
  t.nbytes = static_cast<unsigned>(part.bytes.size());
  t.foreign = x.mover->foreign();
  t.done = call<&TlmMemory::part_done>(memory, part);
  memory.initiator_.start(t);
}

void TlmMemory::add_transfers(Access& a, uint64_t address, uint64_t nbytes) {
  while (nbytes > 0) {
    const uint64_t offset = to_target(address);
    const uint64_t n = max_bytes_ ? std::min(nbytes, max_bytes_ - offset % max_bytes_) : nbytes;
    Part part;
    part.of = &a;
    part.address = address;
    part.bytes.resize(n);
    a.parts.push_back(std::move(part));
    address += n;
    nbytes -= n;
  }
}

void TlmMemory::part_done(Part& part) {
  Access& a = *part.of;
  if (part.transfer.status == tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE && !part.transfer.enables.empty()) {
    takes_enables_ = false;
    return start(part);
  }
  if (part.transfer.status == tlm::TLM_OK_RESPONSE && !part.enables.empty()) {
    for (uint64_t i = 0; i < part.bytes.size(); ++i) {
      if (part.enables[i]) part.bytes[i] = part.written[i];
    }
    part.enables.clear();
    part.transfer.write = true;
    return initiator_.start(part.transfer);
  }
  if (part.transfer.status != tlm::TLM_OK_RESPONSE && a.status == tlm::TLM_OK_RESPONSE) a.status = part.transfer.status;
  if (--a.open == 0) finish(a);
}

void TlmMemory::finish(Access& a) {
  FabricTransaction& x = *a.transaction;
  const double now = timeline().now_ns();
  if (a.status != tlm::TLM_OK_RESPONSE) {
    x.payload.set_response_status(a.status);
    if (x.mover) x.mover->failed(x, a.status);
  } else if (x.is_atomic() && !keeps_bytes_) {
    hide_atomic(x.payload);  // it is applied to the image; the model only provided the time
  } else if (x.is_atomic()) {
    for_each_range(x.address, x.rows, [&](uint64_t at, uint64_t nbytes) { pull(at, nbytes); });
  } else if (!x.write && keeps_bytes_) {
    for (const Part& part : a.parts) take_over(part.address, part.bytes.data(), part.bytes.size());
  }
  if (x.mover && !x.write) x.mover->served(x, now);
  Service s;
  s.header_leaves_ns = now;
  s.finish_ns = std::max(now, a.begin_ns + data_path_ns(Request(x)));
  s.overhead_ns = overhead_ns();
  s.drain_ns = s.finish_ns - a.begin_ns;
  accesses_.erase(&a);
  answer(x, s);
}

/// The bytes that the model changed itself: those that differ from the bytes last seen there. Where none were seen,
/// those that are unknown to the platform.
std::vector<bool> TlmMemory::changed(uint64_t address, const uint8_t* bytes, uint64_t nbytes) const {
  const MemoryWindow window = system_.window_at(address);
  std::vector<bool> changed(nbytes, false);
  seen_.for_each_piece({Space::hbm, kNoPe}, address, nbytes,
                       [&](uint64_t at, uint64_t n, const MemoryImage::Extent* e, uint64_t offset) {
                         for (uint64_t i = 0; i < n; ++i) {
                           const uint8_t before = e ? e->data()[offset + i] : 0;
                           changed[at - address + i] = bytes[at - address + i] != before;
                         }
                         if (e) return;
                         system_.image().for_each_piece(
                             window.key(), at, n,
                             [&](uint64_t from, uint64_t m, const MemoryImage::Extent* own, uint64_t) {
                               for (uint64_t i = 0; own && i < m; ++i) changed[from - address + i] = false;
                             });
                       });
  return changed;
}

/// Takes over the bytes that the model changed. Pending bytes stay pending unless they are known by now.
void TlmMemory::take_over(uint64_t address, const uint8_t* bytes, uint64_t nbytes) {
  const MemoryWindow window = system_.window_at(address);
  const std::vector<bool> changed = this->changed(address, bytes, nbytes);
  constexpr MemoryImage::SpaceKey kSeen{Space::hbm, kNoPe};
  seen_.write(kSeen, address, bytes, nbytes);
  for (uint64_t i = 0; i < nbytes;) {
    if (!changed[i]) {
      ++i;
      continue;
    }
    uint64_t end = i + 1;
    while (end < nbytes && changed[end]) ++end;
    if (!system_.first_unknown(window.key(), address + i, end - i).producer) {
      system_.write_as_memory(address + i, bytes + i, end - i);
    }
    i = end;
  }
}

void TlmMemory::pull(uint64_t address, uint64_t nbytes) {
  if (!keeps_bytes_) return;
  Bytes bytes(nbytes);
  if (initiator_.debug(false, to_target(address), bytes.data(), static_cast<unsigned>(nbytes)) == nbytes)
    take_over(address, bytes.data(), nbytes);
}

void TlmMemory::peek(uint64_t address, uint8_t* out, uint64_t nbytes) {
  if (!keeps_bytes_) return;
  Bytes bytes(nbytes);
  if (initiator_.debug(false, to_target(address), bytes.data(), static_cast<unsigned>(nbytes)) != nbytes) return;
  const std::vector<bool> changed = this->changed(address, bytes.data(), nbytes);
  for (uint64_t i = 0; i < nbytes; ++i) {
    if (changed[i]) out[i] = bytes[i];
  }
}

void TlmMemory::push(uint64_t address, uint64_t nbytes) {
  if (!keeps_bytes_) return;
  const MemoryWindow window = system_.window_at(address);
  std::vector<std::pair<uint64_t, uint64_t>> pieces;
  system_.image().for_each_piece(window.key(), address, nbytes,
                                 [&](uint64_t at, uint64_t n, const MemoryImage::Extent* e, uint64_t) {
                                   if (e && !e->producer()) pieces.emplace_back(at, n);
                                 });
  for (const auto& [at, n] : pieces) {
    Bytes bytes(n);
    system_.known_bytes(window.key(), at, bytes.data(), n);
    give(at, bytes.data(), n);
  }
}

void TlmMemory::give(uint64_t address, const uint8_t* bytes, uint64_t nbytes) {
  Bytes sent(bytes, bytes + nbytes);
  seen_.write({Space::hbm, kNoPe}, address, bytes, nbytes);
  if (initiator_.debug(true, to_target(address), sent.data(), static_cast<unsigned>(nbytes)) != nbytes)
    SC_REPORT_ERROR("/kernbench/tlm",
                    (id() + ": the model's debug transport does not take the bytes that are placed in it; a model "
                            "without storage needs storage: image")
                        .c_str());
}

void TlmMemory::deliver(PendingValues& values) {
  const MemoryWindow window = system_.window_at(base());
  std::vector<std::pair<uint64_t, uint64_t>> pieces;
  system_.image().for_each_piece(window.key(), window.base, window.size,
                                 [&](uint64_t at, uint64_t n, const MemoryImage::Extent* e, uint64_t) {
                                   if (e && e->producer()) pieces.emplace_back(at, n);
                                 });
  for (const auto& [at, n] : pieces) {
    Bytes now(n), sent(n);
    try {
      values.read(system_.image(), window.key(), at, now.data(), n);
    } catch (const EngineNotFinished&) {
      continue;  // of a job that still runs
    }
    seen_.read({Space::hbm, kNoPe}, at, sent.data(), n);
    if (now != sent) give(at, now.data(), n);
  }
}

namespace {

class HbmTlm : public TlmMemory {
 public:
  using Parameters = TlmMemoryParameters<HbmParameters>;
  HbmTlm(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters)
      : TlmMemory(name, config, checked(parameters)) {}
  static ImplSpec spec() {
    return spec_of<Parameters>("builtin.hbm_tlm", "hbm_ctrl", "a foreign TLM-2.0 memory model as HBM slice")
        .memory("hbm");
  }
};

class SramTlm : public TlmMemory {
 public:
  using Parameters = TlmMemoryParameters<MemoryParameters>;
  SramTlm(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters)
      : TlmMemory(name, config, checked(parameters)) {}
  static ImplSpec spec() {
    return spec_of<Parameters>("builtin.sram_tlm", "sram", "a foreign TLM-2.0 memory model as shared SRAM")
        .memory("sram");
  }
};

}  // namespace

KERNBENCH_REGISTER_COMPONENT(HbmTlm)
KERNBENCH_REGISTER_COMPONENT(SramTlm)

}  // namespace kernbench::memory
