// SPDX-License-Identifier: Apache-2.0
// Foreign blocks that handle several requests at a time, with payloads from their own pool, using the complete base
// protocol: late END_REQ; END_REQ and BEGIN_RESP as return values; late and reordered responses; END_RESP early, late
// and as TLM_COMPLETED. Also practical blocks: a cache, a write buffer, a bridge of 64 bytes, a firewall.
#pragma once

#include <algorithm>
#include <optional>

#include "hostile_blocks.h"

namespace kernbench::testing {

/// AT on both sides. One thread per request, so that requests can overtake.
class HostileEngine : public HostileBlock, private tlm::tlm_mm_interface {
 public:
  tlm_utils::simple_target_socket<HostileEngine, 512> in{"in"};
  tlm_utils::simple_initiator_socket<HostileEngine, 256> out{"out"};
  HostileEngine(sc_core::sc_module_name name, uint32_t seed) : HostileBlock(name, seed) {
    in.register_nb_transport_fw(this, &HostileEngine::forward);
    in.register_transport_dbg(this, &HostileEngine::debug);
    out.register_nb_transport_bw(this, &HostileEngine::backward);
  }
  ~HostileEngine() override {
    for (Payload* p : pool_) delete p;
  }
  void bind(ForeignNode& place, const std::string& from, const std::string& to) override {
    place.bind(in, from);
    place.bind(out, to);
  }
  bool loses_extensions() const override { return true; }

 protected:
  /// In a separate thread.
  virtual void access(Payload& p) { convert(p, 0, p.get_data_length()); }
  virtual void atomic(Payload& p) { send(p); }
  /// May respond at BEGIN_REQ.
  virtual std::optional<tlm::tlm_sync_enum> at_once(Payload&, tlm::tlm_phase&, sc_core::sc_time&) { return {}; }
  virtual unsigned debug(Payload& p) { return out->transport_dbg(p); }

  /// Sends a part of a payload with one of the pool; `offset`: change of the address. Sets the response on an error.
  void convert(Payload& p, uint64_t from, uint64_t n, uint64_t offset = 0, std::vector<uint8_t> only = {}) {
    Payload& own = acquire();
    own.set_command(p.get_command());
    own.set_address(p.get_address() + from + offset);
    own.set_data_ptr(p.get_data_ptr() + from);
    own.set_data_length(static_cast<unsigned>(n));
    own.set_streaming_width(static_cast<unsigned>(n));
    std::vector<uint8_t> enables(only.empty() && !p.get_byte_enable_ptr() ? 0 : n, 0xff);
    for (uint64_t i = 0; i < enables.size(); ++i) {
      if (p.get_byte_enable_ptr()) enables[i] = p.get_byte_enable_ptr()[(from + i) % p.get_byte_enable_length()];
      if (!only.empty()) enables[i] &= only[i % only.size()];
    }
    own.set_byte_enable_ptr(enables.empty() ? nullptr : enables.data());
    own.set_byte_enable_length(static_cast<unsigned>(enables.size()));
    own.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    send(own);
    if (p.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE || own.is_response_error())
      p.set_response_status(own.get_response_status());
    own.release();
  }
  /// An atomic with a payload of the pool; elsewhere(address) gives the place of its ranges.
  template <class Elsewhere>
  void convert_own(Payload& p, const Elsewhere& elsewhere) {
    const auto by_the_pool = [&](Payload& shape) {
      Payload& own = acquire();
      own.set_command(tlm::TLM_IGNORE_COMMAND);
      own.set_address(shape.get_address());
      own.set_data_ptr(nullptr);
      own.set_data_length(shape.get_data_length());
      own.set_streaming_width(shape.get_data_length());
      own.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
      own.set_auto_extension(new AtomicExtension(*atomic_of(shape)));
      send(own);
      *atomic_of(shape) = *atomic_of(own);
      shape.set_response_status(own.get_response_status());
      own.release();
    };
    convert_atomic(p, by_the_pool, elsewhere);
  }
  /// Sends it on and waits for its response.
  void send(Payload& p) {
    while (requesting_) wait(request_ended_);
    requesting_ = &p;
    Sent& s = sent_[&p];
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time t = sc_core::sc_time(static_cast<double>(draw(3)), sc_core::SC_NS);
    const tlm::tlm_sync_enum said = out->nb_transport_fw(p, phase, t);
    if (said == tlm::TLM_COMPLETED || (said == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP)) {
      wait(t);
      end_request(p);
      if (said == tlm::TLM_UPDATED) end_response(p);
    } else {
      if (said == tlm::TLM_UPDATED) {
        wait(t);
        end_request(p);
      }
      while (!s.responded) wait(s.response);
      if (s.answer_later) {
        wait(sc_core::sc_time(static_cast<double>(draw(30)), sc_core::SC_NS));
        end_response(p);
      }
    }
    sent_.erase(&p);
  }
  void pause(uint64_t below_ns) { wait(sc_core::sc_time(static_cast<double>(draw(below_ns)), sc_core::SC_NS)); }

 private:
  struct Sent {
    sc_core::sc_event response;
    bool responded = false, answer_later = false;
  };
  Payload& acquire() {
    if (idle_.empty()) {
      tlm::tlm_mm_interface* pool = this;
      pool_.push_back(new Payload(pool));
      idle_.push_back(pool_.back());
    }
    Payload& p = *idle_.back();
    idle_.pop_back();
    p.acquire();
    return p;
  }
  void free(Payload* p) override {
    p->reset();
    idle_.push_back(p);
  }
  void end_request(Payload& p) {
    if (requesting_ != &p) return;
    requesting_ = nullptr;
    request_ended_.notify();
  }
  void end_response(Payload& p) {
    tlm::tlm_phase phase = tlm::END_RESP;
    sc_core::sc_time t = sc_core::SC_ZERO_TIME;
    out->nb_transport_fw(p, phase, t);
  }
  tlm::tlm_sync_enum backward(Payload& p, tlm::tlm_phase& phase, sc_core::sc_time& t) {
    if (phase == tlm::END_REQ) {
      sc_core::sc_spawn([this, &p, t] {
        wait(t);
        end_request(p);
      });
      return tlm::TLM_ACCEPTED;
    }
    if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
    Sent& s = sent_.at(&p);
    const uint64_t how = draw(3);
    s.answer_later = how == 0;
    end_request(p);
    s.responded = true;
    s.response.notify(t);
    if (how == 0) return tlm::TLM_ACCEPTED;
    phase = tlm::END_RESP;
    return how == 1 ? tlm::TLM_UPDATED : tlm::TLM_COMPLETED;
  }
  tlm::tlm_sync_enum forward(Payload& p, tlm::tlm_phase& phase, sc_core::sc_time& t) {
    if (phase == tlm::END_RESP) {
      response_ended_.notify(t);
      responding_ = false;
      return tlm::TLM_COMPLETED;
    }
    if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
    if (is_access(p)) {
      if (const auto said = at_once(p, phase, t)) return *said;
    }
    p.acquire();
    const bool late = draw(2) == 0;
    sc_core::sc_spawn([this, &p, late, delay = t] { serve(p, late, delay); });
    if (late) return tlm::TLM_ACCEPTED;
    phase = tlm::END_REQ;
    t += sc_core::sc_time(static_cast<double>(draw(4)), sc_core::SC_NS);
    return tlm::TLM_UPDATED;
  }
  void serve(Payload& p, bool ends_request, const sc_core::sc_time& delay) {
    wait(delay);
    if (ends_request) {
      pause(20);
      tlm::tlm_phase phase = tlm::END_REQ;
      sc_core::sc_time t = sc_core::SC_ZERO_TIME;
      in->nb_transport_bw(p, phase, t);
    }
    if (is_access(p) || atomic_of(p)) {
      is_access(p) ? access(p) : atomic(p);
      pause(100);
    } else {
      send(p);
    }
    while (responding_) wait(response_ended_);
    responding_ = true;
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time t = sc_core::sc_time(static_cast<double>(draw(5)), sc_core::SC_NS);
    if (in->nb_transport_bw(p, phase, t) != tlm::TLM_ACCEPTED) {
      wait(t);
      responding_ = false;
      response_ended_.notify();
    }
    p.release();
  }

  std::vector<Payload*> pool_, idle_;
  std::map<Payload*, Sent> sent_;
  Payload* requesting_ = nullptr;
  bool responding_ = false;
  sc_core::sc_event request_ended_, response_ended_;
};

/// Consecutive beats of an odd length.
class Beats : public HostileEngine {
  using HostileEngine::HostileEngine;
  void access(Payload& p) override {
    const uint64_t most = 1 + draw(200);
    for (uint64_t at = 0; at < p.get_data_length(); at += most)
      convert(p, at, std::min<uint64_t>(most, p.get_data_length() - at));
  }
  /// Without the extension.
  void atomic(Payload& p) override {
    std::vector<uint8_t> bytes(p.get_data_length());
    Payload data;
    data.set_command(tlm::TLM_IGNORE_COMMAND);
    data.set_address(p.get_address());
    data.set_data_ptr(bytes.data());
    data.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    convert(data, 0, bytes.size());
    p.set_response_status(data.get_response_status());
  }
};

/// Splits each access into two of its own: the even bytes, then the odd ones, with byte enables.
class Interleaves : public HostileEngine {
  using HostileEngine::HostileEngine;
  void access(Payload& p) override {
    convert(p, 0, p.get_data_length(), 0, {0xff, 0});
    convert(p, 0, p.get_data_length(), 0, {0, 0xff});
  }
};

/// Swaps the halves of the scratch ranges, in parts that end at multiples of 64 bytes.
class Bridge64 : public HostileEngine {
  using HostileEngine::HostileEngine;
  void access(Payload& p) override {
    for (uint64_t at = 0; at < p.get_data_length();) {
      const uint64_t address = p.get_address() + at;
      const uint64_t n = std::min<uint64_t>(64 - address % 64, p.get_data_length() - at);
      convert(p, at, n, swapped(address) - address);
      at += n;
    }
  }
  void atomic(Payload& p) override { convert_own(p, swapped); }
  unsigned debug(Payload& p) override {
    unsigned all = 0;
    while (all < p.get_data_length()) {
      const uint64_t address = p.get_address() + all;
      const auto n = static_cast<unsigned>(std::min<uint64_t>(64 - address % 64, p.get_data_length() - all));
      Payload own;
      own.set_command(p.get_command());
      own.set_address(swapped(address));
      own.set_data_ptr(p.get_data_ptr() + all);
      own.set_data_length(n);
      own.set_streaming_width(n);
      const unsigned moved = out->transport_dbg(own);
      all += moved;
      if (moved < n) break;
    }
    return all;
  }
};

/// Answers reads of the scratch ranges from earlier writes or reads.
class Cache : public HostileEngine {
  using HostileEngine::HostileEngine;
  void access(Payload& p) override {
    const bool own = std::any_of(scratch.begin(), scratch.end(),
                                 [&](const Scratch& s) { return p.get_address() - s.address < s.nbytes; });
    bool hit = own && p.is_read() && !p.get_byte_enable_ptr();
    for (uint64_t i = 0; hit && i < p.get_data_length(); ++i) hit = lines_.count(p.get_address() + i) > 0;
    if (hit) {
      for (uint64_t i = 0; i < p.get_data_length(); ++i) p.get_data_ptr()[i] = lines_[p.get_address() + i];
      p.set_response_status(tlm::TLM_OK_RESPONSE);
      return;
    }
    convert(p, 0, p.get_data_length());
    if (!own || p.is_response_error()) return;
    for (uint64_t i = 0; i < p.get_data_length(); ++i) {
      if (!p.get_byte_enable_ptr() || p.get_byte_enable_ptr()[i % p.get_byte_enable_length()])
        lines_[p.get_address() + i] = p.get_data_ptr()[i];
    }
  }
  void atomic(Payload& p) override {
    for (const AtomicExtension::Range& r : atomic_of(p)->ranges) {
      for (uint64_t i = 0; i < r.nbytes; ++i) lines_.erase(p.get_address() + r.offset + i);
    }
    send(p);
  }
  std::map<uint64_t, uint8_t> lines_;
};

/// A write buffer for the scratch ranges. A store is answered at once. It is sent together with later ones that
/// continue it, when any other access arrives.
class Combines : public HostileEngine {
  using HostileEngine::HostileEngine;
  void access(Payload& p) override {
    while (busy_) wait(free_);
    busy_ = true;
    const bool own = p.is_write() && !p.get_byte_enable_ptr() &&
                     std::any_of(scratch.begin(), scratch.end(),
                                 [&](const Scratch& s) { return p.get_address() - s.address < s.nbytes; });
    if (!own || p.get_address() != address_ + bytes_.size()) flush();
    if (own) {
      if (bytes_.empty()) address_ = p.get_address();
      bytes_.insert(bytes_.end(), p.get_data_ptr(), p.get_data_ptr() + p.get_data_length());
      p.set_response_status(tlm::TLM_OK_RESPONSE);
    } else {
      convert(p, 0, p.get_data_length());
    }
    busy_ = false;
    free_.notify();
  }
  void atomic(Payload& p) override {
    while (busy_) wait(free_);
    busy_ = true;
    flush();
    send(p);
    busy_ = false;
    free_.notify();
  }
  /// The buffered data are newer than those behind.
  unsigned debug(Payload& p) override {
    const unsigned n = out->transport_dbg(p);
    for (unsigned i = 0; i < n; ++i) {
      const uint64_t at = p.get_address() + i - address_;
      if (at >= bytes_.size()) continue;
      p.is_write() ? bytes_[at] = p.get_data_ptr()[i] : p.get_data_ptr()[i] = bytes_[at];
    }
    return n;
  }
  void flush() {
    if (bytes_.empty()) return;
    Payload merged;
    merged.set_command(tlm::TLM_WRITE_COMMAND);
    merged.set_address(address_);
    merged.set_data_ptr(bytes_.data());
    merged.set_data_length(static_cast<unsigned>(bytes_.size()));
    convert(merged, 0, bytes_.size());
    bytes_.clear();
  }
  std::vector<uint8_t> bytes_;
  uint64_t address_ = 0;
  bool busy_ = false;
  sc_core::sc_event free_;
};

/// Denies every ninth access.
class Firewall : public HostileEngine {
  using HostileEngine::HostileEngine;
  bool fails() const override { return true; }
  void access(Payload& p) override {
    if (++count_ % 9 != 0) return convert(p, 0, p.get_data_length());
    p.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
  }
  void atomic(Payload& p) override {
    if (++count_ % 9 != 0) return send(p);
    p.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
  }
  unsigned count_ = 0;
};

/// BEGIN_RESP as the return value of BEGIN_REQ, with a delay.
class RespondsAtOnce : public HostileEngine {
  using HostileEngine::HostileEngine;
  std::optional<tlm::tlm_sync_enum> at_once(Payload& p, tlm::tlm_phase& phase, sc_core::sc_time& t) override {
    if (p.get_byte_enable_ptr()) return {};
    const bool all = out->transport_dbg(p) == p.get_data_length();
    p.set_response_status(all ? tlm::TLM_OK_RESPONSE : tlm::TLM_GENERIC_ERROR_RESPONSE);
    t += sc_core::sc_time(static_cast<double>(draw(60)), sc_core::SC_NS);
    phase = tlm::BEGIN_RESP;
    return tlm::TLM_UPDATED;
  }
};

/// Passes the payload itself on, delayed and reordered in both directions.
class Reorders : public HostileEngine {
  using HostileEngine::HostileEngine;
  bool loses_extensions() const override { return false; }
  void access(Payload& p) override {
    pause(80);
    send(p);
    pause(150);
  }
  void atomic(Payload& p) override { access(p); }
};

/// Temporally decoupled LT: it annotates delays and never waits.
class RunsAhead : public LtBlock {
  using LtBlock::LtBlock;
  void access(Payload& p, sc_core::sc_time& t) override {
    t += sc_core::sc_time(static_cast<double>(draw(300)), sc_core::SC_NS);
    out->b_transport(p, t);
    t += sc_core::sc_time(static_cast<double>(draw(300)), sc_core::SC_NS);
  }
  void atomic(Payload& p, sc_core::sc_time& t) override { access(p, t); }
};

inline const std::vector<HostileKind>& all_hostile_kinds() {
  static const std::vector<HostileKind> kinds = [] {
    std::vector<HostileKind> all = hostile_kinds();
    const std::vector<HostileKind> more = {
        {"own_payloads", make_hostile<HostileEngine>},
        {"beats", make_hostile<Beats>},
        {"interleaves", make_hostile<Interleaves>},
        {"bridge64", make_hostile<Bridge64>},
        {"cache", make_hostile<Cache>},
        {"combines", make_hostile<Combines>},
        {"firewall", make_hostile<Firewall>},
        {"responds_at_once", make_hostile<RespondsAtOnce>},
        {"reorders", make_hostile<Reorders>},
        {"runs_ahead", make_hostile<RunsAhead>},
    };
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return kinds;
}

}  // namespace kernbench::testing
