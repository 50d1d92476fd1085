// SPDX-License-Identifier: Apache-2.0
// Pages of memory that foreign initiators reach by pointer (TLM-2.0 DMI).
//
// The memory image is extents of shared, immutable buffers, so a page is a copy beside it. What was written through a
// pointer is found by comparison and becomes a foreign write as soon as anybody else looks at the page: an op of a
// kernel, a transaction, debug transport, the end of a run (settle_all). What others write is copied into the page.
// A page that an op makes pending cannot be shown as bytes: its grants are invalidated.
#pragma once

#include <map>
#include <tlm>
#include <vector>

#include "kernbench/systemc_models/memory/system.h"

namespace kernbench::memory {

/// A socket whose initiator has pointers.
class DmiUser {
 public:
  virtual ~DmiUser() = default;
  /// Pointers into [first, last] hold no more.
  virtual void invalidate(uint64_t first, uint64_t last) = 0;
  /// Writes bytes now, and logs them as a write of whom the socket belongs to.
  virtual void write_now(const MemoryWindow&, uint64_t address, const uint8_t* bytes, uint64_t nbytes) = 0;
};

class DirectMemory : public OpWatcher {
 public:
  static constexpr uint64_t kPageBytes = 64 * 1024;  ///< aligned; clipped to the memory's window and to what is pending

  explicit DirectMemory(System& system) : system_(system) {}
  ~DirectMemory() override;

  /// Grants the page that holds `address`: read only, or read and write. False, and nothing is set, where that byte is
  /// pending.
  bool grant(DmiUser&, const MemoryWindow&, uint64_t address, bool write, tlm::tlm_dmi&);
  bool empty() const { return pages_.empty(); }

  /// Takes over what was written by pointer into the pages that the range touches.
  void settle(MemoryImage::SpaceKey key, uint64_t address, uint64_t nbytes) {
    if (!pages_.empty()) settle_pages(key, address, nbytes);
  }
  void settle_all();
  /// The image has changed: pages that the range touches follow, or are invalidated.
  void refresh(MemoryImage::SpaceKey key, uint64_t address, uint64_t nbytes) {
    if (!pages_.empty()) refresh_pages(key, address, nbytes);
  }

  void before_op(const OpDesc&) override;
  void after_op(const OpDesc&) override;

 private:
  struct Page {
    MemoryWindow window;
    std::vector<uint8_t> bytes, known;  ///< what pointers see; what the image holds
    DmiUser* writer = nullptr;          ///< the last one that was granted writes; null: none
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
