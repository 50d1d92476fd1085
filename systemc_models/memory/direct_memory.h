// SPDX-License-Identifier: Apache-2.0
// Pages of memory that foreign initiators access through pointers (TLM-2.0 DMI).
//
// The memory image consists of extents of shared, immutable buffers, so a page is a separate copy. Writes through a
// pointer are found by comparison. They become a foreign write as soon as anything else accesses the page: a kernel's
// op, a transaction, debug transport, or the end of a run (settle_all). Writes of others are copied into the page. If
// an op makes a page pending, its bytes cannot be shown, and its grants are invalidated.
#pragma once

#include <map>
#include <tlm>
#include <vector>

#include "kernbench/systemc_models/memory/system.h"

namespace kernbench::memory {

/// A socket whose initiator holds pointers.
class DmiUser {
 public:
  virtual ~DmiUser() = default;
  /// Pointers into [first, last] are no longer valid.
  virtual void invalidate(uint64_t first, uint64_t last) = 0;
  /// Writes bytes now, and logs them as a write of the socket's owner.
  virtual void write_now(const MemoryWindow&, uint64_t address, const uint8_t* bytes, uint64_t nbytes) = 0;
};

class DirectMemory : public OpWatcher {
 public:
  static constexpr uint64_t kPageBytes = 64 * 1024;  ///< aligned; clipped to the memory's window and to non-pending
                                                     ///< bytes

  explicit DirectMemory(System& system) : system_(system) {}
  ~DirectMemory() override;

  /// Grants the page that holds `address`, for reading or for both. Returns false, and sets nothing, if that byte is
  /// pending.
  bool grant(DmiUser&, const MemoryWindow&, uint64_t address, bool write, tlm::tlm_dmi&);
  bool empty() const { return pages_.empty(); }

  /// Applies writes through pointers to the pages that the range touches.
  void settle(MemoryImage::SpaceKey key, uint64_t address, uint64_t nbytes) {
    if (!pages_.empty()) settle_pages(key, address, nbytes);
  }
  void settle_all();
  /// The image has changed: updates or invalidates the pages that the range touches.
  void refresh(MemoryImage::SpaceKey key, uint64_t address, uint64_t nbytes) {
    if (!pages_.empty()) refresh_pages(key, address, nbytes);
  }

  void before_op(const OpDesc&) override;
  void after_op(const OpDesc&) override;

 private:
  struct Page {
    MemoryWindow window;
    std::vector<uint8_t> bytes, known;  ///< as pointers see them; as the image has them
    DmiUser* writer = nullptr;          ///< the last user with a grant to write; null: none
    std::vector<DmiUser*> users;
  };
  using Pages = std::map<uint64_t, Page>;  ///< by first address; spaces do not overlap
  template <class Visit>
  void for_each_page(MemoryImage::SpaceKey, uint64_t address, uint64_t nbytes, Visit);
  void settle_pages(MemoryImage::SpaceKey, uint64_t address, uint64_t nbytes);
  void refresh_pages(MemoryImage::SpaceKey, uint64_t address, uint64_t nbytes);
  void settle(uint64_t base, Page&);
  void fill_unwritten(uint64_t base, Page&);

  System& system_;
  Pages pages_;
};

}  // namespace kernbench::memory
