// Memory for the values of a replay: many, of few sizes, most of them short-lived.
//
// What is given back is used again, so that a long replay touches little new memory. Pages are large where the system
// has such. Each thread cuts small values from a block of its own: two that touch one new page would both have it
// cleared.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

namespace kernbench {

class ValuePool {
 public:
  ValuePool() = default;
  ValuePool(const ValuePool&) = delete;
  ValuePool& operator=(const ValuePool&) = delete;

  struct Place {
    uint8_t* bytes;
    bool fresh;  ///< nobody had it before
  };
  /// Uninitialised, aligned to 64 bytes; std::bad_alloc.
  Place get(uint64_t nbytes);
  /// What get(nbytes) gave.
  void put(uint8_t*, uint64_t nbytes);
  /// The memory that a value of get() lies in; it outlives the pool.
  std::shared_ptr<const void> owner_of(const uint8_t*) const;

 private:
  struct Block {
    std::shared_ptr<uint8_t> bytes;
    uint64_t size = 0;
  };
  /// What a thread has left of its newest block of small values.
  struct Rest {
    std::thread::id thread;
    uint8_t* next = nullptr;
    uint64_t left = 0;
  };
  Block& add_block(uint64_t size);
  Rest& rest_of_this_thread();

  mutable std::mutex mutex_;
  std::map<const uint8_t*, Block> blocks_;                    ///< by first byte
  std::unordered_map<uint64_t, std::vector<uint8_t*>> free_;  ///< by rounded size
  uint64_t free_large_ = 0;                                   ///< bytes of large values among them
  std::vector<Rest> rests_;                                   ///< by thread, few
};

}  // namespace kernbench
