// SPDX-License-Identifier: Apache-2.0
// Memory for the values of a replay. There are many of them, of few sizes, mostly short-lived.
//
// Returned memory is reused, so that a long replay touches little new memory. Pages are large if the system supports
// them. Each thread keeps a list of the memory that it returned and cuts small values from its own block. If two
// threads touched one new page, both would make the system clear it.
#pragma once

#include <tbb/enumerable_thread_specific.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "kernbench/phase2/rooms.h"

namespace kernbench::phase2 {

class ValuePool {
 public:
  ValuePool();
  ~ValuePool();
  ValuePool(const ValuePool&) = delete;
  ValuePool& operator=(const ValuePool&) = delete;

  /// Returns uninitialised memory, aligned to 64 bytes. std::bad_alloc if there is none.
  uint8_t* get(uint64_t nbytes);
  /// Returns memory from get(nbytes) to the pool.
  void put(uint8_t*, uint64_t nbytes);
  /// The owner of the memory of a value from get(). It may outlive the pool.
  std::shared_ptr<const void> owner_of(const uint8_t*) const;

 private:
  using FreeValues = std::unordered_map<uint64_t, std::vector<uint8_t*>>;  ///< by rounded size
  struct Block {
    std::shared_ptr<uint8_t> bytes;
    uint64_t size = 0;
  };
  struct Shelf {
    FreeValues free;
    uint64_t free_bytes = 0;
    uint8_t* next = nullptr;  ///< rest of the thread's newest block
    uint64_t left = 0;
  };
  uint8_t* take(uint64_t size);
  Block& add_block(uint64_t size);
  uint8_t* take_free(uint64_t size);

  tbb::enumerable_thread_specific<Shelf> shelves_;
  mutable std::mutex mutex_;                ///< protects the members below
  std::map<const uint8_t*, Block> blocks_;  ///< by first byte
  FreeValues free_;
  uint64_t free_large_ = 0;  ///< bytes of the large values in it
};

}  // namespace kernbench::phase2
