// SPDX-License-Identifier: Apache-2.0
// What a generic payload does to memory: byte enables, streaming width, and the state of the bytes it meets.
// Bytes only; who calls it when decides the time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <tlm>
#include <vector>

#include "kernbench/phase2/log/op_record.h"
#include "kernbench/phase2/memory/memory_image.h"

namespace kernbench::protocol {

/// The bytes that a payload reads or writes, in address order: beat i of the data array goes to address + i mod
/// streaming width, where its byte enable (repeated as often as needed) says so.
class PayloadRange {
 public:
  /// Of a payload that check_payload() has found good.
  explicit PayloadRange(const tlm::tlm_generic_payload&);

  uint64_t address() const { return address_; }
  uint64_t nbytes() const { return nbytes_; }  ///< from the first to the last byte that may be touched
  struct Run {
    uint64_t address = 0, nbytes = 0;
  };
  /// Calls visit(run) for every run of enabled bytes, in address order.
  template <class Visit>
  void for_each_run(Visit visit) const {
    if (enabled_.empty()) return visit(Run{address_, nbytes_});
    for (uint64_t i = 0; i < nbytes_;) {
      if (!enabled_[i]) {
        ++i;
        continue;
      }
      uint64_t end = i + 1;
      while (end < nbytes_ && enabled_[end]) ++end;
      visit(Run{address_ + i, end - i});
      i = end;
    }
  }
  bool plain() const { return enabled_.empty() && nbytes_ == length_; }
  /// The data array as one value for each address: the last beat wins. Bytes that are not enabled are undefined.
  std::vector<uint8_t> collect(const tlm::tlm_generic_payload&) const;
  /// The other way: `bytes` (nbytes() of them) into the enabled beats of the data array.
  void spread(const uint8_t* bytes, tlm::tlm_generic_payload&) const;

 private:
  uint64_t address_, nbytes_, length_;
  std::vector<bool> enabled_;  ///< by address; empty: all
};

/// Status for a payload that no target could act on, whatever its address: an unknown command, data length or
/// streaming width 0, no data, byte enables of length 0. TLM_OK_RESPONSE where there is nothing to object to.
tlm::tlm_response_status check_payload(const tlm::tlm_generic_payload&);

/// The first byte of [address, address + nbytes) that an op has still to make, and that op; null where there is none.
struct PendingByte {
  uint64_t address = 0;
  std::shared_ptr<const OpDesc> producer;
};
PendingByte first_pending(const MemoryImage&, MemoryImage::SpaceKey, uint64_t address, uint64_t nbytes);

/// "gemm_f32 of PE 3 (gemm.cpp:31)": an op in a message.
std::string describe_op(const OpDesc&);

/// A foreign transaction as the op log is told of it, by Component::begin_service and end_service.
struct ForeignRecord {
  static constexpr bool data_op = true;
  std::shared_ptr<const OpDesc> desc;
  double effect_ns = 0;
  std::shared_ptr<const OpDesc> pending_on;  ///< reads: who has still to make the bytes
  void describe(OpRecord& r) const {
    r.desc = desc;
    r.foreign = true;
    r.effect_ns = effect_ns;
    r.pending_on = pending_on;
  }
};

/// The log's description of a foreign write of [address, address + bytes), data rules §3.
std::shared_ptr<OpDesc> foreign_write_desc(Space, uint64_t address, std::shared_ptr<const Bytes> data, uint64_t seq);
/// The same of a foreign read.
std::shared_ptr<OpDesc> foreign_read_desc(Space, uint64_t address, uint64_t nbytes);

}  // namespace kernbench::protocol
