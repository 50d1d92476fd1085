// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/memory/direct_memory.h"

#include <algorithm>
#include <cstring>

#include "kernbench/systemc_models/protocol/payload_access.h"

namespace kernbench::memory {
namespace {

/// Byte range of an op's operand or result, from its first element to the end of its last.
template <class Visit>
void for_each_operand(const OpDesc& op, Visit visit) {
  const auto one = [&](const Operand& o) {
    if (!o.is_scalar && o.ref.space != Space::tcm) visit(o.ref);
  };
  for (const Operand& o : op.operands) one(o);
  for (const EpilogueOp& e : op.epilogue) {
    for (const Operand& o : e.operands) one(o);
  }
}

}  // namespace

DirectMemory::~DirectMemory() {
  system_.watch_ops(nullptr);
}

template <class Visit>
void DirectMemory::for_each_page(MemoryImage::SpaceKey key, uint64_t address, uint64_t nbytes, Visit visit) {
  if (nbytes == 0) return;
  const uint64_t last = address + (nbytes - 1);
  auto it = pages_.upper_bound(address);
  if (it != pages_.begin()) --it;
  while (it != pages_.end() && it->first <= last) {
    const auto page = it++;  // visit may erase it
    const bool same_space = page->second.window.space == key.space && key.pe == kNoPe;
    if (same_space && page->first + (page->second.bytes.size() - 1) >= address) visit(page);
  }
}

bool DirectMemory::grant(DmiUser& target, const MemoryWindow& window, uint64_t address, bool write, tlm::tlm_dmi& dmi) {
  Pages::iterator page = pages_.end();
  for_each_page(window.key(), address, 1, [&](Pages::iterator p) { page = p; });
  if (page == pages_.end()) {
    uint64_t first = std::max(window.base, address / kPageBytes * kPageBytes);
    uint64_t last = std::min(window.base + (window.size - 1), address / kPageBytes * kPageBytes + (kPageBytes - 1));
    bool pending = false;
    system_.image().for_each_piece(window.key(), first, last - first + 1,
                                   [&](uint64_t at, uint64_t n, const MemoryImage::Extent* e, uint64_t) {
                                     if (!e || !e->producer() || !system_.first_unknown(window.key(), at, n).producer)
                                       return;
                                     if (at + (n - 1) < address) {
                                       first = std::max(first, at + n);
                                     } else if (at > address) {
                                       last = std::min(last, at - 1);
                                     } else {
                                       pending = true;
                                       dmi.set_start_address(at);
                                       dmi.set_end_address(at + (n - 1));
                                     }
                                   });
    if (pending) return false;
    Page p;
    p.window = window;
    p.bytes.resize(last - first + 1);
    system_.known_bytes(window.key(), first, p.bytes.data(), p.bytes.size());
    p.known = p.bytes;
    page = pages_.emplace(first, std::move(p)).first;
    system_.watch_ops(this);
  }
  Page& p = page->second;
  if (write) {
    p.writer = &target;
    fill_unwritten(page->first, p);
  }
  if (std::find(p.users.begin(), p.users.end(), &target) == p.users.end()) p.users.push_back(&target);
  dmi.set_dmi_ptr(p.bytes.data());
  dmi.set_start_address(page->first);
  dmi.set_end_address(page->first + (p.bytes.size() - 1));
  dmi.set_granted_access(write ? tlm::tlm_dmi::DMI_ACCESS_READ_WRITE : tlm::tlm_dmi::DMI_ACCESS_READ);
  return true;
}

/// Zeros written through a pointer cannot be detected. Therefore a grant for writing first writes the zeros that the
/// page shows.
void DirectMemory::fill_unwritten(uint64_t base, Page& p) {
  std::vector<std::pair<uint64_t, uint64_t>> holes;
  system_.image().for_each_piece(p.window.key(), base, p.bytes.size(),
                                 [&](uint64_t at, uint64_t n, const MemoryImage::Extent* e, uint64_t) {
                                   if (!e) holes.emplace_back(at, n);
                                 });
  for (const auto& [at, n] : holes) p.writer->write_now(p.window, at, p.known.data() + (at - base), n);
}

void DirectMemory::settle(uint64_t base, Page& p) {
  if (!p.writer || std::memcmp(p.bytes.data(), p.known.data(), p.bytes.size()) == 0) return;
  constexpr size_t kJoin = 16;  // differences closer than this become one write
  for (size_t i = 0; i < p.bytes.size();) {
    if (p.bytes[i] == p.known[i]) {
      ++i;
      continue;
    }
    size_t end = i + 1;
    for (size_t k = end; k < p.bytes.size() && k < end + kJoin; ++k) {
      if (p.bytes[k] != p.known[k]) end = k + 1;
    }
    p.writer->write_now(p.window, base + i, p.bytes.data() + i, end - i);
    i = end;
  }
  p.known = p.bytes;
}

void DirectMemory::settle_pages(MemoryImage::SpaceKey key, uint64_t address, uint64_t nbytes) {
  for_each_page(key, address, nbytes, [&](Pages::iterator p) { settle(p->first, p->second); });
}

void DirectMemory::settle_all() {
  for (auto& [base, page] : pages_) settle(base, page);
}

void DirectMemory::refresh_pages(MemoryImage::SpaceKey key, uint64_t address, uint64_t nbytes) {
  for_each_page(key, address, nbytes, [&](Pages::iterator it) {
    Page& p = it->second;
    if (!system_.first_unknown(key, it->first, p.bytes.size()).producer) {
      std::fill(p.bytes.begin(), p.bytes.end(), uint8_t{0});
      system_.known_bytes(key, it->first, p.bytes.data(), p.bytes.size());
      p.known = p.bytes;
      return;
    }
    const uint64_t first = it->first, last = it->first + (p.bytes.size() - 1);
    const std::vector<DmiUser*> users = p.users;
    pages_.erase(it);
    if (pages_.empty()) system_.watch_ops(nullptr);
    for (DmiUser* u : users) u->invalidate(first, last);
  });
}

void DirectMemory::before_op(const OpDesc& op) {
  if (op.ranged) {
    for (const MovedRange& r : op.ranged->ranges) settle_pages({op.ranged->space, kNoPe}, r.addr, r.nbytes);
    return;
  }
  const auto touch = [&](const TensorRef& r) { settle_pages(MemoryImage::key_of(r), r.addr, r.span_bytes()); };
  for_each_operand(op, touch);
  for_each_output(op, touch);
}

void DirectMemory::after_op(const OpDesc& op) {
  if (op.ranged && op.type != CommandType::load) {
    for (const MovedRange& r : op.ranged->ranges) refresh_pages({op.ranged->space, kNoPe}, r.addr, r.nbytes);
    return;
  }
  for_each_output(op, [&](const TensorRef& t) { refresh_pages(MemoryImage::key_of(t), t.addr, t.span_bytes()); });
}

}  // namespace kernbench::memory
