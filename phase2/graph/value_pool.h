// SPDX-License-Identifier: Apache-2.0
// Memory for the values of a replay: many, of few sizes, most of them short-lived.
//
// What is given back is used again, so that a long replay touches little new memory. Pages are large where the system
// has such. Each thread has a shelf of its own of what it gave back, and cuts small values from a block of its own: two
// threads that touch one new page would both have it cleared.
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

  /// Uninitialised, aligned to 64 bytes; std::bad_alloc.
  uint8_t* get(uint64_t nbytes);
  /// What get(nbytes) gave.
  void put(uint8_t*, uint64_t nbytes);
  /// The memory that a value of get() lies in; it outlives the pool.
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
    uint8_t* next = nullptr;  ///< the rest of the thread's newest block
    uint64_t left = 0;
  };
  uint8_t* take(uint64_t size);
  Block& add_block(uint64_t size);
  uint8_t* take_free(uint64_t size);

  tbb::enumerable_thread_specific<Shelf> shelves_;
  mutable std::mutex mutex_;                ///< of what follows
  std::map<const uint8_t*, Block> blocks_;  ///< by first byte
  FreeValues free_;
  uint64_t free_large_ = 0;  ///< bytes of large values among them
};

}  // namespace kernbench::phase2
