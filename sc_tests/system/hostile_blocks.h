// SPDX-License-Identifier: Apache-2.0
// Foreign blocks with any behaviour that IEEE 1666 allows for an interconnect or a target: forward, delay, respond,
// fail, split, use their own payloads, change the address. They use only the standard, except for the scratch ranges,
// which the test's kernel tells them, like a driver that programs a device. Some support AtomicExtension; others pass
// atomics on, or ignore them and respond OK.
#pragma once

#include <tlm_utils/multi_passthrough_initiator_socket.h>
#include <tlm_utils/multi_passthrough_target_socket.h>
#include <tlm_utils/passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kernbench/phase2/eval/atomic.h"
#include "kernbench/platform/elaborate/foreign_node.h"
#include "kernbench/systemc_models/protocol/atomic_extension.h"

namespace kernbench::testing {

/// Ranges that only one PE's kernel accesses.
struct Scratch {
  uint64_t address, nbytes;
};
inline std::vector<Scratch> scratch;

inline const Scratch* scratch_at(uint64_t address) {
  for (const Scratch& s : scratch) {
    if (address - s.address < s.nbytes) return &s;
  }
  return nullptr;
}

/// The corresponding address in the other half of its scratch range.
inline uint64_t swapped(uint64_t address) {
  const Scratch* s = scratch_at(address);
  if (!s) return address;
  const uint64_t half = s->nbytes / 2;
  return address - s->address < half ? address + half : address - half;
}

using Payload = tlm::tlm_generic_payload;

inline AtomicExtension* atomic_of(const Payload& p) {
  return p.get_command() == tlm::TLM_IGNORE_COMMAND ? p.get_extension<AtomicExtension>() : nullptr;
}

/// An atomic with the block's own payload: sends(own) sends it on, or executes it. elsewhere(address) gives the place
/// of its ranges.
template <class Send, class Elsewhere>
void convert_atomic(Payload& p, const Send& sends, const Elsewhere& elsewhere) {
  AtomicExtension* e = atomic_of(p);
  AtomicExtension copy = *e;
  Payload own;
  own.set_command(tlm::TLM_IGNORE_COMMAND);
  own.set_address(elsewhere(p.get_address() + copy.ranges.front().offset));
  for (AtomicExtension::Range& r : copy.ranges) r.offset = elsewhere(p.get_address() + r.offset) - own.get_address();
  own.set_data_length(p.get_data_length());
  own.set_streaming_width(p.get_data_length());
  own.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  own.set_extension(&copy);
  sends(own);
  own.clear_extension(&copy);
  e->old = copy.old;
  e->done = copy.done;
  p.set_response_status(own.get_response_status());
}

/// Executes it on the block's own bytes.
inline void do_atomic(Payload& p, std::map<uint64_t, uint8_t>& bytes) {
  AtomicExtension& e = *atomic_of(p);
  const uint64_t item = size_of(e.dtype);
  e.old.clear();
  for (size_t r = 0, at = 0; r < e.ranges.size(); ++r) {
    for (uint64_t i = 0; i < e.ranges[r].nbytes; i += item, at += item) {
      uint8_t now[8];
      for (uint64_t b = 0; b < item; ++b) now[b] = bytes[p.get_address() + e.ranges[r].offset + i + b];
      if (e.returns_old) e.old.insert(e.old.end(), now, now + item);
      kernbench::atomic_of(e.op, e.dtype)(e.operand.data() + at, e.expected.empty() ? nullptr : e.expected.data() + at,
                                          now);
      for (uint64_t b = 0; b < item; ++b) bytes[p.get_address() + e.ranges[r].offset + i + b] = now[b];
    }
  }
  e.done = true;
  p.set_response_status(tlm::TLM_OK_RESPONSE);
}

class HostileBlock : public sc_core::sc_module {
 public:
  explicit HostileBlock(sc_core::sc_module_name name, uint32_t seed) : sc_module(name), random_(seed) {}
  /// Between two neighbours, for the requests of the first.
  virtual void bind(ForeignNode& place, const std::string& from, const std::string& to) = 0;
  /// Whether errors are its purpose; whether it loses extensions.
  virtual bool fails() const { return false; }
  virtual bool loses_extensions() const { return false; }

 protected:
  uint64_t draw(uint64_t below) { return random_() % below; }
  /// The payload is an access; messages between blocks are passed on unchanged.
  static bool is_access(const Payload& p) { return p.is_read() || p.is_write(); }
  std::minstd_rand random_;
};

/// LT: b_transport, in a thread that the socket creates for an nb_transport.
class LtBlock : public HostileBlock {
 public:
  tlm_utils::simple_target_socket<LtBlock, 64> in{"in"};
  tlm_utils::simple_initiator_socket<LtBlock, 64> out{"out"};
  LtBlock(sc_core::sc_module_name name, uint32_t seed) : HostileBlock(name, seed) {
    in.register_b_transport(this, &LtBlock::transport);
    in.register_transport_dbg(this, &LtBlock::debug);
  }
  void bind(ForeignNode& place, const std::string& from, const std::string& to) override {
    place.bind(in, from);
    place.bind(out, to);
  }

 protected:
  virtual void access(Payload& p, sc_core::sc_time& t) { out->b_transport(p, t); }
  virtual void atomic(Payload& p, sc_core::sc_time& t) { out->b_transport(p, t); }
  virtual unsigned debug(Payload& p) { return out->transport_dbg(p); }
  /// Its own payload for a part of another payload's bytes.
  tlm::tlm_response_status pass(const Payload& p, uint64_t from, uint64_t n, sc_core::sc_time& t) {
    Payload own;
    own.set_command(p.get_command());
    own.set_address(p.get_address() + from);
    own.set_data_ptr(p.get_data_ptr() + from);
    own.set_data_length(static_cast<unsigned>(n));
    own.set_streaming_width(static_cast<unsigned>(n));
    std::vector<uint8_t> enables;
    if (p.get_byte_enable_ptr()) {
      for (uint64_t i = from; i < from + n; ++i)
        enables.push_back(p.get_byte_enable_ptr()[i % p.get_byte_enable_length()]);
      own.set_byte_enable_ptr(enables.data());
      own.set_byte_enable_length(static_cast<unsigned>(n));
    }
    out->b_transport(own, t);
    return own.get_response_status();
  }

 private:
  void transport(Payload& p, sc_core::sc_time& t) {
    if (is_access(p)) return access(p, t);
    if (atomic_of(p)) return atomic(p, t);
    out->b_transport(p, t);
  }
};

class Delays : public LtBlock {
  using LtBlock::LtBlock;
  void access(Payload& p, sc_core::sc_time& t) override {
    wait(sc_core::sc_time(static_cast<double>(draw(200)), sc_core::SC_NS));
    out->b_transport(p, t);
    t += sc_core::sc_time(static_cast<double>(draw(50)), sc_core::SC_NS);
  }
  void atomic(Payload& p, sc_core::sc_time& t) override { access(p, t); }
};

class Fails : public LtBlock {
  using LtBlock::LtBlock;
  void access(Payload& p, sc_core::sc_time& t) override {
    const uint64_t what = draw(24);
    if (what != 0) out->b_transport(p, t);
    if (what == 0) p.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    if (what == 1) p.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
  }
  void atomic(Payload& p, sc_core::sc_time& t) override { access(p, t); }
  bool fails() const override { return true; }
};

/// It answers reads from the memory behind, by debug transport.
class AnswersReads : public LtBlock {
  using LtBlock::LtBlock;
  void access(Payload& p, sc_core::sc_time& t) override {
    if (!p.is_read()) return out->b_transport(p, t);
    const bool all = out->transport_dbg(p) == p.get_data_length();
    p.set_response_status(all ? tlm::TLM_OK_RESPONSE : tlm::TLM_GENERIC_ERROR_RESPONSE);
    t += sc_core::sc_time(3, sc_core::SC_NS);
  }
  bool loses_extensions() const override { return true; }
};

class Splits : public LtBlock {
  using LtBlock::LtBlock;
  void access(Payload& p, sc_core::sc_time& t) override {
    const uint64_t most = 1 + draw(96);
    p.set_response_status(tlm::TLM_OK_RESPONSE);
    for (uint64_t at = 0; at < p.get_data_length(); at += most) {
      const auto status = pass(p, at, std::min<uint64_t>(most, p.get_data_length() - at), t);
      if (status != tlm::TLM_OK_RESPONSE) p.set_response_status(status);
    }
  }
  /// It does not support them.
  void atomic(Payload& p, sc_core::sc_time&) override { p.set_response_status(tlm::TLM_OK_RESPONSE); }
  bool loses_extensions() const override { return true; }
};

class Converts : public LtBlock {
  using LtBlock::LtBlock;
  void access(Payload& p, sc_core::sc_time& t) override { p.set_response_status(pass(p, 0, p.get_data_length(), t)); }
  void atomic(Payload& p, sc_core::sc_time& t) override {
    convert_atomic(
        p, [&](Payload& own) { out->b_transport(own, t); }, [](uint64_t address) { return address; });
  }
  bool loses_extensions() const override { return true; }
};

/// Swaps the halves of the scratch ranges.
class Remaps : public LtBlock {
  using LtBlock::LtBlock;
  void access(Payload& p, sc_core::sc_time& t) override {
    const uint64_t address = p.get_address();
    p.set_address(swapped(address));
    out->b_transport(p, t);
    p.set_address(address);
  }
  void atomic(Payload& p, sc_core::sc_time& t) override { access(p, t); }  // the test's atomics lie in one half
  unsigned debug(Payload& p) override {
    const uint64_t address = p.get_address();
    p.set_address(swapped(address));
    const unsigned n = out->transport_dbg(p);
    p.set_address(address);
    return n;
  }
};

/// Stores the scratch ranges itself.
class Keeps : public LtBlock {
  using LtBlock::LtBlock;
  void access(Payload& p, sc_core::sc_time& t) override {
    for (const Scratch& s : scratch) {
      if (p.get_address() - s.address >= s.nbytes) continue;
      for (unsigned i = 0; i < p.get_data_length(); ++i) {
        uint8_t& here = bytes_[p.get_address() + i];
        if (p.get_byte_enable_ptr() && p.get_byte_enable_ptr()[i % p.get_byte_enable_length()] == 0) continue;
        p.is_write() ? here = p.get_data_ptr()[i] : p.get_data_ptr()[i] = here;
      }
      p.set_response_status(tlm::TLM_OK_RESPONSE);
      t += sc_core::sc_time(static_cast<double>(draw(20)), sc_core::SC_NS);
      return;
    }
    out->b_transport(p, t);
  }
  void atomic(Payload& p, sc_core::sc_time& t) override {
    scratch_at(p.get_address()) ? do_atomic(p, bytes_) : out->b_transport(p, t);
  }
  unsigned debug(Payload& p) override {
    if (!scratch_at(p.get_address())) return out->transport_dbg(p);
    for (unsigned i = 0; i < p.get_data_length(); ++i) {
      uint8_t& here = bytes_[p.get_address() + i];
      p.is_write() ? here = p.get_data_ptr()[i] : p.get_data_ptr()[i] = here;
    }
    return p.get_data_length();
  }
  bool loses_extensions() const override { return true; }
  std::map<uint64_t, uint8_t> bytes_;
};

/// AT: passes phases on, later.
class AtBlock : public HostileBlock {
 public:
  tlm_utils::simple_target_socket<AtBlock> in{"in"};
  tlm_utils::simple_initiator_socket<AtBlock> out{"out"};
  AtBlock(sc_core::sc_module_name name, uint32_t seed) : HostileBlock(name, seed) {
    in.register_nb_transport_fw(this, &AtBlock::forward);
    in.register_transport_dbg(this, &AtBlock::debug);
    out.register_nb_transport_bw(this, &AtBlock::backward);
  }
  void bind(ForeignNode& place, const std::string& from, const std::string& to) override {
    place.bind(in, from);
    place.bind(out, to);
  }

 protected:
  virtual tlm::tlm_sync_enum forward(Payload& p, tlm::tlm_phase& phase, sc_core::sc_time& t) {
    if (phase == tlm::BEGIN_REQ) t += sc_core::sc_time(static_cast<double>(draw(30)), sc_core::SC_NS);
    return out->nb_transport_fw(p, phase, t);
  }
  tlm::tlm_sync_enum backward(Payload& p, tlm::tlm_phase& phase, sc_core::sc_time& t) {
    return in->nb_transport_bw(p, phase, t);
  }
  unsigned debug(Payload& p) { return out->transport_dbg(p); }
};

/// Answers reads and writes at BEGIN_REQ and executes them by debug transport.
class Completes : public AtBlock {
  using AtBlock::AtBlock;
  tlm::tlm_sync_enum forward(Payload& p, tlm::tlm_phase& phase, sc_core::sc_time& t) override {
    if (phase != tlm::BEGIN_REQ || !is_access(p) || p.get_byte_enable_ptr()) return out->nb_transport_fw(p, phase, t);
    const bool all = out->transport_dbg(p) == p.get_data_length();
    p.set_response_status(all ? tlm::TLM_OK_RESPONSE : tlm::TLM_GENERIC_ERROR_RESPONSE);
    t += sc_core::sc_time(static_cast<double>(draw(40)), sc_core::SC_NS);
    return tlm::TLM_COMPLETED;
  }
  bool loses_extensions() const override { return true; }
};

/// Answers reads and writes of the scratch ranges at BEGIN_REQ.
class CompletesScratch : public AtBlock {
  using AtBlock::AtBlock;
  tlm::tlm_sync_enum forward(Payload& p, tlm::tlm_phase& phase, sc_core::sc_time& t) override {
    if (phase == tlm::BEGIN_REQ && atomic_of(p) && scratch_at(p.get_address())) {  // which it does not execute
      p.set_response_status(tlm::TLM_OK_RESPONSE);
      return tlm::TLM_COMPLETED;
    }
    for (const Scratch& s : scratch) {
      if (phase != tlm::BEGIN_REQ || !is_access(p) || p.get_address() - s.address >= s.nbytes) continue;
      for (unsigned i = 0; i < p.get_data_length(); ++i) {
        uint8_t& here = bytes_[p.get_address() + i];
        if (p.get_byte_enable_ptr() && p.get_byte_enable_ptr()[i % p.get_byte_enable_length()] == 0) continue;
        p.is_write() ? here = p.get_data_ptr()[i] : p.get_data_ptr()[i] = here;
      }
      p.set_response_status(tlm::TLM_OK_RESPONSE);
      return tlm::TLM_COMPLETED;
    }
    return out->nb_transport_fw(p, phase, t);
  }
  bool loses_extensions() const override { return true; }
  std::map<uint64_t, uint8_t> bytes_;
};

/// Multi sockets, AT.
class Multi : public HostileBlock {
 public:
  tlm_utils::multi_passthrough_target_socket<Multi, 128> in{"in"};
  tlm_utils::multi_passthrough_initiator_socket<Multi, 128> out{"out"};
  Multi(sc_core::sc_module_name name, uint32_t seed) : HostileBlock(name, seed) {
    in.register_nb_transport_fw(this, &Multi::forward);
    in.register_b_transport(this, &Multi::block);
    in.register_transport_dbg(this, &Multi::debug);
    out.register_nb_transport_bw(this, &Multi::backward);
  }
  void bind(ForeignNode& place, const std::string& from, const std::string& to) override {
    place.bind(in, from);
    place.bind(out, to);
  }

 private:
  tlm::tlm_sync_enum forward(int i, Payload& p, tlm::tlm_phase& phase, sc_core::sc_time& t) {
    return out[i]->nb_transport_fw(p, phase, t);
  }
  tlm::tlm_sync_enum backward(int i, Payload& p, tlm::tlm_phase& phase, sc_core::sc_time& t) {
    return in[i]->nb_transport_bw(p, phase, t);
  }
  void block(int i, Payload& p, sc_core::sc_time& t) { out[i]->b_transport(p, t); }
  unsigned debug(int i, Payload& p) { return out[i]->transport_dbg(p); }
};

/// A multi socket, and a passthrough socket, with only b_transport.
class MultiBlocks : public HostileBlock {
 public:
  tlm_utils::multi_passthrough_target_socket<MultiBlocks> in{"in"};
  tlm_utils::simple_initiator_socket<MultiBlocks> out{"out"};
  MultiBlocks(sc_core::sc_module_name name, uint32_t seed) : HostileBlock(name, seed) {
    in.register_b_transport(this, &MultiBlocks::block);
  }
  void bind(ForeignNode& place, const std::string& from, const std::string& to) override {
    place.bind(in, from);
    place.bind(out, to);
  }

 private:
  void block(int, Payload& p, sc_core::sc_time& t) { out->b_transport(p, t); }
};
class PassthroughBlocks : public HostileBlock {
 public:
  tlm_utils::passthrough_target_socket<PassthroughBlocks> in{"in"};
  tlm_utils::simple_initiator_socket<PassthroughBlocks> out{"out"};
  PassthroughBlocks(sc_core::sc_module_name name, uint32_t seed) : HostileBlock(name, seed) {
    in.register_b_transport(this, &PassthroughBlocks::block);
  }
  void bind(ForeignNode& place, const std::string& from, const std::string& to) override {
    place.bind(in, from);
    place.bind(out, to);
  }

 private:
  void block(Payload& p, sc_core::sc_time& t) { out->b_transport(p, t); }
};

struct HostileKind {
  const char* name;
  std::unique_ptr<HostileBlock> (*make)(const char* name, uint32_t seed);
};
template <class Block>
std::unique_ptr<HostileBlock> make_hostile(const char* name, uint32_t seed) {
  return std::make_unique<Block>(name, seed);
}
class PassesOn : public LtBlock {
  using LtBlock::LtBlock;
};
inline const std::vector<HostileKind>& hostile_kinds() {
  static const std::vector<HostileKind> kinds = {
      {"passes_on", make_hostile<PassesOn>},
      {"delays", make_hostile<Delays>},
      {"fails", make_hostile<Fails>},
      {"answers_reads", make_hostile<AnswersReads>},
      {"splits", make_hostile<Splits>},
      {"converts", make_hostile<Converts>},
      {"remaps", make_hostile<Remaps>},
      {"keeps", make_hostile<Keeps>},
      {"at", make_hostile<AtBlock>},
      {"completes", make_hostile<Completes>},
      {"completes_scratch", make_hostile<CompletesScratch>},
      {"multi", make_hostile<Multi>},
      {"multi_blocks", make_hostile<MultiBlocks>},
      {"passthrough_blocks", make_hostile<PassthroughBlocks>},
  };
  return kinds;
}

}  // namespace kernbench::testing
