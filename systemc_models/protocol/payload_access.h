// SPDX-License-Identifier: Apache-2.0
// The effect of a generic payload on memory: byte enables, streaming width, and the state of the accessed bytes. It
// handles only bytes; callers determine the time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <tlm>
#include <vector>

#include "kernbench/phase2/log/op_record.h"
#include "kernbench/phase2/memory/memory_image.h"

namespace kernbench::protocol {

/// The bytes that a payload reads or writes, in address order. Beat i of the data array goes to address + i mod
/// streaming width, if its byte enable (repeated as needed) allows it.
class PayloadRange {
 public:
  /// For a payload that check_payload() accepted.
  explicit PayloadRange(const tlm::tlm_generic_payload&);

  uint64_t address() const { return address_; }
  uint64_t nbytes() const { return nbytes_; }  ///< from the first to the last accessible byte
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
  /// The reverse: copies `bytes` (nbytes() of them) into the enabled beats of the data array.
  void spread(const uint8_t* bytes, tlm::tlm_generic_payload&) const;

 private:
  uint64_t address_, nbytes_, length_;
  std::vector<bool> enabled_;  ///< by address; empty: all
};

/// Status for a payload that no target could execute at any address: an unknown command, data length or streaming width
/// 0, no data, byte enables of length 0. TLM_OK_RESPONSE for a legal payload.
tlm::tlm_response_status check_payload(const tlm::tlm_generic_payload&);

/// The first pending byte of [address, address + nbytes) and its op; null if there is none.
struct PendingByte {
  uint64_t address = 0;
  std::shared_ptr<const OpDesc> producer;
};
PendingByte first_pending(const MemoryImage&, MemoryImage::SpaceKey, uint64_t address, uint64_t nbytes);

/// "gemm_f32 of PE 3 (gemm.cpp:31)": an op in a message.
std::string describe_op(const OpDesc&);

/// A foreign transaction for the op log, with Component::begin_service and end_service.
struct ForeignRecord {
  static constexpr bool data_op = true;
  std::shared_ptr<const OpDesc> desc;
  double effect_ns = 0;
  std::shared_ptr<const OpDesc> pending_on;  ///< reads: the op that has yet to make the bytes
  void describe(OpRecord& r) const {
    r.desc = desc;
    r.foreign = true;
    r.effect_ns = effect_ns;
    r.pending_on = pending_on;
  }
};

/// The log's description of a foreign write of [address, address + bytes), data rules §3.
std::shared_ptr<OpDesc> foreign_write_desc(Space, uint64_t address, std::shared_ptr<const Bytes> data, uint64_t seq);
/// The same for a foreign read.
std::shared_ptr<OpDesc> foreign_read_desc(Space, uint64_t address, uint64_t nbytes);

}  // namespace kernbench::protocol
