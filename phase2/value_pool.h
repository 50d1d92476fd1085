// Memory for the values of a replay: many, of few sizes, most of them short-lived.
//
// What is given back is used again, so that a long replay touches little new memory. Pages are large where the system
// has such.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace kernbench {

class ValuePool {
 public:
  ValuePool() = default;
  ValuePool(const ValuePool&) = delete;
  ValuePool& operator=(const ValuePool&) = delete;

  /// Uninitialised, aligned to 64 bytes; std::bad_alloc.
  uint8_t* get(uint64_t nbytes);
  /// What get(nbytes) gave.
  void put(uint8_t*, uint64_t nbytes);
  /// The memory that a value of get() lies in; it outlives the pool.
  std::shared_ptr<const void> owner_of(const uint8_t*) const;

 private:
  struct Block {
    std::shared_ptr<uint8_t> bytes;
    uint64_t size = 0;
  };
  Block& add_block(uint64_t size);

  mutable std::mutex mutex_;
  std::map<const uint8_t*, Block> blocks_;                    ///< by first byte
  std::unordered_map<uint64_t, std::vector<uint8_t*>> free_;  ///< by rounded size
  uint64_t free_large_ = 0;                                   ///< bytes of large values among them
  uint8_t* next_ = nullptr;                                   ///< the rest of the newest block of small values
  uint64_t left_ = 0;
};

}  // namespace kernbench
