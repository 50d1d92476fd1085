// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/memory/base_protocol_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>

#include "kernbench/phase2/op/address_text.h"
#include "kernbench/systemc_models/fabric/foreign_neighbour.h"
#include "kernbench/systemc_models/fabric/memory_target.h"
#include "kernbench/systemc_models/fabric/multicast.h"
#include "kernbench/systemc_models/fabric/path.h"
#include "kernbench/systemc_models/protocol/atomic_extension.h"

namespace kernbench::memory {

/// A range at its memory: a foreign block may have changed the address.
struct BaseProtocolTarget::Arrived {
  Access& access;
  PayloadRange range;
};

struct BaseProtocolTarget::Access : DataMover {
  BaseProtocolTarget* target = nullptr;
  tlm::tlm_generic_payload* payload = nullptr;
  MemoryWindow window;
  MemoryRequest request;
  Rows rows;  ///< for a request whose beats repeat the same addresses, and for an atomic
  struct Atomic;
  std::unique_ptr<Atomic> atomic;  ///< null: not an atomic
  tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
  MulticastTo to;                ///< of a multicast
  std::deque<Arrived> arrived;   ///< one for each destination
  size_t destinations_left = 1;  ///< whose bytes have not been moved
  bool local = false;            ///< served by a LocalWindow
  bool blocking = false;         ///< b_transport
  bool has_place = false;        ///< holds one of `outstanding` places
  bool served_by_fabric = false, complete = false;
  sc_core::sc_event completed;  ///< b_transport waits for it
  double grant_ns = 0, done_ns = 0;
  uint64_t op_id = 0;
  std::vector<ForeignRecord> records;  ///< a write: one for each run of enabled bytes

  void failed(FabricTransaction& x, tlm::tlm_response_status answer) override {
    if (status != tlm::TLM_OK_RESPONSE) return;  // the same error, at another block on the way back
    status = answer;
    if (to.addresses.size() > 1)
      target->last_error_ = target->owner_.id() + ": multicast: an error at " + address_text(x.address);
  }
  tlm::tlm_generic_payload* foreign() override;
  void answer_atomic();
  void served(FabricTransaction&, double at_ns) override;
  void moved_outside(FabricTransaction&) override { moved_one(); }
  void moved_one() { destinations_left -= destinations_left > 0; }
  bool moved() const { return destinations_left == 0; }
  bool still_moves() const override { return atomic && !moved(); }
};

struct BaseProtocolTarget::Access::Atomic {
  AtomicExtension& asked;  ///< from the payload
  AtomicExtension shown;   ///< the same, with offsets from the first range, which is the address of the request
  tlm::tlm_generic_payload pattern;
  std::vector<AccessRange> ranges;
  std::vector<uint8_t> bytes;  ///< the pattern's data, without meaning
  bool by_model = false;       ///< the model of a foreign memory decides whether to execute it

  Atomic(AtomicExtension& e, uint64_t rebased) : asked(e), shown(e), bytes(e.nbytes()) {
    asked.done = shown.done = false;
    shown.old.clear();
    for (AtomicExtension::Range& r : shown.ranges) {
      r.offset -= rebased;
      ranges.push_back({r.offset, r.nbytes});
    }
    pattern.set_command(tlm::TLM_IGNORE_COMMAND);
    pattern.set_data_ptr(bytes.data());
    pattern.set_data_length(static_cast<unsigned>(bytes.size()));
    pattern.set_streaming_width(static_cast<unsigned>(bytes.size()));
    pattern.set_extension(&shown);
  }
  ~Atomic() { pattern.clear_extension(&shown); }
};

tlm::tlm_generic_payload* BaseProtocolTarget::Access::foreign() {
  return atomic ? &atomic->pattern : payload;
}

void BaseProtocolTarget::Access::served(FabricTransaction& x, double at_ns) {
  // Now, because the payload may belong to another object before the bytes are moved.
  arrived.push_back({*this, PayloadRange(x.payload)});
  if (atomic) atomic->by_model = atomic_of(x.payload) && System::store_of(target->system_.window_at(x.address));
  // After all effects of PEs at that instant. Foreign transactions follow the order of service at the memory, atomics
  // the order of arrival there.
  target->system_.timeline().at(at_ns, Order(Order::kDepartures, 0, atomic ? x.memory_arrival : 0),
                                call<&BaseProtocolTarget::move_bytes>(*target, arrived.back()));
}

BaseProtocolTarget::BaseProtocolTarget(Component& owner, RequestPort& requests, const Settings& settings)
    : owner_(owner),
      system_(System::of(owner)),
      requests_(requests),
      settings_(settings),
      responses_(owner.timeline(), owner.index(), *this) {
  system_.foreign_entries().push_back(this);
}

BaseProtocolTarget::~BaseProtocolTarget() {
  std::vector<BaseProtocolTarget*>& all = system_.foreign_entries();
  all.erase(std::remove(all.begin(), all.end(), this), all.end());
}

std::vector<std::string> BaseProtocolTarget::waiting() const {
  std::vector<std::pair<double, std::string>> lines;
  for (const auto& [payload, a] : accesses_) {
    const char* op = payload->is_read() ? "read" : payload->is_write() ? "write" : "atomic";
    lines.emplace_back(a->request.issue_ns,
                       fmt::format("{}: a foreign {} of {} bytes at {:#x}, asked for at {:.3f} ns, {}", owner_.id(), op,
                                   payload->get_data_length(), payload->get_address(), a->request.issue_ns,
                                   a->complete ? "has a response that has not ended" : "is not answered"));
  }
  std::sort(lines.begin(), lines.end());
  std::vector<std::string> texts;
  for (auto& line : lines) texts.push_back(std::move(line.second));
  return texts;
}

void BaseProtocolTarget::protocol_error(const char* what) const {
  SC_REPORT_ERROR("/kernbench/tlm", (owner_.id() + ": " + what).c_str());
}

void BaseProtocolTarget::fail(tlm::tlm_generic_payload& p, tlm::tlm_response_status status, const std::string& why) {
  p.set_response_status(status);
  last_error_ = owner_.id() + ": " + (p.is_write() ? "write to " : "read of ") + address_text(p.get_address()) + ", " +
                std::to_string(p.get_data_length()) + " bytes: " + why;
}

std::unique_ptr<BaseProtocolTarget::Access> BaseProtocolTarget::decode(tlm::tlm_generic_payload& p, bool* ignored) {
  *ignored = false;
  p.set_dmi_allowed(false);
  if (p.get_command() == tlm::TLM_IGNORE_COMMAND) {
    if (const auto* atomic = p.get_extension<AtomicExtension>()) return decode_atomic(p, *atomic);
    *ignored = true;
    p.set_response_status(tlm::TLM_OK_RESPONSE);
    return nullptr;
  }
  const tlm::tlm_response_status bad = check_payload(p);
  if (bad != tlm::TLM_OK_RESPONSE) {
    fail(p, bad, "the payload cannot be acted on");
    return nullptr;
  }
  if (local_ && local_->holds(p.get_address()) && !p.get_extension<MulticastExtension>()) {
    auto a = std::make_unique<Access>();
    a->target = this;
    a->payload = &p;
    a->local = true;
    return a;
  }
  const uint64_t span = std::min(p.get_data_length(), p.get_streaming_width());
  const MemoryWindow window = system_.window_at(p.get_address());
  if (!window.holds(p.get_address(), span)) {
    fail(p, tlm::TLM_ADDRESS_ERROR_RESPONSE,
         window.size ? "runs over the end of its memory" : std::string("no memory is there"));
    return nullptr;
  }
  try {
    system_.routes().route(owner_.index(), p.get_address(), span, p.is_write());
  } catch (const AccessError& e) {
    p.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    last_error_ = e.what();
    return nullptr;
  }
  auto a = std::make_unique<Access>();
  a->target = this;
  a->payload = &p;
  a->window = window;
  MemoryRequest& r = a->request;
  r.write = p.is_write();
  r.address = p.get_address();
  r.nbytes = p.get_data_length();
  // Beats of a stream repeat the same addresses. A stream that ends within its width counts as a complete one.
  if (span < r.nbytes) {
    a->rows = {(r.nbytes + span - 1) / span, span, 0};
    r.rows = &a->rows;
    r.nbytes = a->rows.count * span;
  }
  r.mover = a.get();
  r.context = a.get();
  r.done = [](MemoryRequest& request, const FabricTransaction& x) {
    auto& me = *static_cast<Access*>(request.context);
    me.grant_ns = x.grant_ns;
    me.done_ns = x.done_ns;
    me.served_by_fabric = true;
    if (me.moved()) me.target->complete(me);
  };
  return decode_multicast(*a) ? std::move(a) : nullptr;
}

/// A write with a MulticastExtension. Returns false if it cannot be one; the payload's status is then set.
bool BaseProtocolTarget::decode_multicast(Access& a) {
  tlm::tlm_generic_payload& p = *a.payload;
  const MulticastExtension* e = a.request.write ? p.get_extension<MulticastExtension>() : nullptr;
  if (!e) return true;
  const auto refuse = [&](tlm::tlm_response_status status, const std::string& why) {
    fail(p, status, "multicast: " + why);
    return false;
  };
  a.to = {e->destinations, e->combined};
  if (a.to.addresses.empty() || a.to.addresses.front() != p.get_address())
    return refuse(tlm::TLM_COMMAND_ERROR_RESPONSE, "expected the payload's address as its first destination");
  if (a.request.rows) return refuse(tlm::TLM_BURST_ERROR_RESPONSE, "expected a streaming width of all bytes");
  for (const uint64_t address : a.to.addresses) {
    if (!system_.window_at(address).holds(address, a.request.nbytes))
      return refuse(tlm::TLM_ADDRESS_ERROR_RESPONSE, "no memory holds its destination at " + address_text(address));
  }
  try {
    check_multicast(system_, owner_.index(), a.to, a.request.nbytes);
  } catch (const AccessError& error) {
    return refuse(tlm::TLM_ADDRESS_ERROR_RESPONSE, error.what());
  }
  a.destinations_left = a.to.addresses.size();
  a.request.multicast = &a.to;
  return true;
}

std::unique_ptr<BaseProtocolTarget::Access> BaseProtocolTarget::decode_atomic(tlm::tlm_generic_payload& p,
                                                                              const AtomicExtension& e) {
  const auto refuse = [&](tlm::tlm_response_status status, const std::string& why) {
    p.set_response_status(status);
    last_error_ = owner_.id() + ": atomic " + e.op + " of " + std::string(name_of(e.dtype)) + " at " +
                  address_text(p.get_address()) + ", " + std::to_string(e.nbytes()) + " bytes: " + why;
    return nullptr;
  };
  const uint64_t item = size_of(e.dtype), nbytes = e.nbytes();
  const auto fits = [&](const AtomicExtension::Range& r) {
    return r.nbytes > 0 && r.nbytes % item == 0 && (p.get_address() + r.offset) % item == 0;
  };
  if (!atomic_of(e.op, e.dtype)) return refuse(tlm::TLM_COMMAND_ERROR_RESPONSE, "there is no such atomic");
  if (e.ranges.empty() || !std::all_of(e.ranges.begin(), e.ranges.end(), fits))
    return refuse(tlm::TLM_COMMAND_ERROR_RESPONSE, "expected ranges of whole, aligned elements");
  if (e.operand.size() != nbytes || e.expected.size() != (e.op == "cas" ? nbytes : 0))
    return refuse(tlm::TLM_COMMAND_ERROR_RESPONSE,
                  "expected as many bytes of the operand, and of a cas of what is expected, as the ranges have");
  const uint64_t first = p.get_address() + e.ranges.front().offset;
  const MemoryWindow window = system_.window_at(first);
  for (const AtomicExtension::Range& r : e.ranges) {
    if (!window.holds(p.get_address() + r.offset, r.nbytes))
      return refuse(tlm::TLM_ADDRESS_ERROR_RESPONSE, "its ranges lie in no one memory");
  }
  try {
    system_.routes().route(owner_.index(), first, e.ranges.front().nbytes, false);
  } catch (const AccessError& error) {
    p.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    last_error_ = error.what();
    return nullptr;
  }
  auto a = std::make_unique<Access>();
  a->target = this;
  a->payload = &p;
  a->window = window;
  a->atomic = std::make_unique<Access::Atomic>(*p.get_extension<AtomicExtension>(), e.ranges.front().offset);
  const std::vector<AccessRange>& ranges = a->atomic->ranges;
  a->rows = {ranges.size(), ranges.front().nbytes, 0};
  if (ranges.size() > 1) a->rows.ranges = &ranges;
  a->rows.atomic = e.op == "cas" ? AtomicKind::compare : e.returns_old ? AtomicKind::fetch : AtomicKind::reduce;
  MemoryRequest& r = a->request;
  r.write = true;
  r.address = first;
  r.nbytes = nbytes;
  r.rows = &a->rows;
  r.mover = a.get();
  r.context = a.get();
  r.done = [](MemoryRequest& request, const FabricTransaction& x) {
    auto& me = *static_cast<Access*>(request.context);
    me.grant_ns = x.grant_ns;
    me.done_ns = x.done_ns;
    me.served_by_fabric = true;
    if (me.moved()) me.target->complete(me);
  };
  return a;
}

/// The memory has served the atomic. It is applied element by element, so a repeated element is updated repeatedly.
/// Each range becomes a foreign write in the log. If a foreign model stores the bytes, the model has applied the atomic
/// itself, or refused it.
void BaseProtocolTarget::do_atomic(Access& a, AtomicExtension& e) {
  const uint64_t arrived = a.arrived.front().range.address(), item = size_of(e.dtype);
  a.window = system_.window_at(arrived);
  if (a.atomic->by_model) return;
  const auto fail = [&](tlm::tlm_response_status status, uint64_t address, uint64_t nbytes, const std::string& why) {
    a.status = status;
    last_error_ =
        owner_.id() + ": atomic at " + address_text(address) + ", " + std::to_string(nbytes) + " bytes: " + why;
  };
  const AtomicFn function = atomic_of(e.op, e.dtype);
  e.old.resize(e.operand.size());
  uint64_t at = 0;
  for (const AtomicExtension::Range& r : e.ranges) {
    const uint64_t address = arrived + r.offset;
    if (!a.window.holds(address, r.nbytes) || address % item != 0)
      return fail(tlm::TLM_ADDRESS_ERROR_RESPONSE, address, r.nbytes,
                  "where a foreign block has led it are no aligned elements of one memory");
    system_.direct_memory().settle(a.window.key(), address, r.nbytes);
    if (const auto pending = system_.read_from_outside(a.window.space, address, e.old.data() + at, r.nbytes))
      return fail(tlm::TLM_GENERIC_ERROR_RESPONSE, address, r.nbytes,
                  "they are pending until Phase 2 runs " + describe_op(*pending));
    std::vector<uint8_t> now(e.old.begin() + static_cast<std::ptrdiff_t>(at),
                             e.old.begin() + static_cast<std::ptrdiff_t>(at + r.nbytes));
    for (uint64_t i = 0; i < r.nbytes; i += item)
      function(e.operand.data() + at + i, e.expected.empty() ? nullptr : e.expected.data() + at + i, now.data() + i);
    a.records.push_back(commit(a.window, address, now.data(), now.size()));
    at += r.nbytes;
  }
  e.done = true;
}

/// The initiator gets the old values if the atomic was executed.
void BaseProtocolTarget::Access::answer_atomic() {
  if (status == tlm::TLM_OK_RESPONSE && !atomic->shown.done) {
    status = tlm::TLM_COMMAND_ERROR_RESPONSE;
    target->last_error_ = target->owner_.id() + ": atomic at " + address_text(request.address) + ", " +
                          std::to_string(request.nbytes) +
                          " bytes: a foreign block or memory has answered and not done it; expected it to know "
                          "AtomicExtension, or to pass it on";
  }
  atomic->asked.done = status == tlm::TLM_OK_RESPONSE;
  if (atomic->asked.done && atomic->asked.returns_old) atomic->asked.old = std::move(atomic->shown.old);
}

void BaseProtocolTarget::issue_at(Access& a, double t_ns) {
  a.request.issue_ns = t_ns;
  system_.timeline().at(t_ns, Order(Order::kEngines, ~0u, owner_.index()), call<&BaseProtocolTarget::due>(*this, a));
}

void BaseProtocolTarget::b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
  bool ignored = false;
  std::unique_ptr<Access> access = decode(p, &ignored);
  if (!access) return;
  Access& a = *access;
  a.blocking = true;
  if (!accesses_.emplace(&p, std::move(access)).second) {
    protocol_error("b_transport with a payload that is under way");
    return;
  }
  issue_at(a, system_.timeline().after(delay));
  while (!a.complete) sc_core::wait(a.completed);
  p.set_response_status(a.status);
  p.set_dmi_allowed(a.status == tlm::TLM_OK_RESPONSE && may_be_pointed_to(a.window));
  delay = sc_core::SC_ZERO_TIME;
  accesses_.erase(&p);
}

tlm::tlm_sync_enum BaseProtocolTarget::nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                                       sc_core::sc_time& delay) {
  if (phase == tlm::END_RESP) {
    if (!responses_.end_response(p, delay)) protocol_error("END_RESP without a response that waits for it");
    return tlm::TLM_COMPLETED;  // as legal as TLM_ACCEPTED, and some initiators require it
  }
  if (phase != tlm::BEGIN_REQ) {
    if (phase == tlm::END_REQ || phase == tlm::BEGIN_RESP) protocol_error("a target's phase on the forward path");
    return tlm::TLM_ACCEPTED;  // phases outside the base protocol may be ignored
  }
  if (accesses_.count(&p)) {
    protocol_error("BEGIN_REQ of a payload that is under way");
    return tlm::TLM_ACCEPTED;
  }
  bool ignored = false;
  std::unique_ptr<Access> access = decode(p, &ignored);
  if (!access) return tlm::TLM_COMPLETED;
  Access& a = *access;
  if (p.has_mm()) p.acquire();
  accesses_.emplace(&p, std::move(access));
  if (has_room() && waiting_.empty()) {
    a.has_place = true;
    ++taken_;
  }
  issue_at(a, system_.timeline().after(delay));
  if (!a.has_place) return tlm::TLM_ACCEPTED;
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

void BaseProtocolTarget::due(Access& a) {
  if (!a.has_place) {
    if (!has_room() || !waiting_.empty()) {
      waiting_.push_back(&a);
      return;
    }
    a.has_place = true;
    ++taken_;
    end_request(a);
  }
  grant(a);
}

/// Sends END_REQ if BEGIN_REQ was only accepted.
void BaseProtocolTarget::end_request(Access& a) {
  if (a.blocking) return;
  tlm::tlm_phase phase = tlm::END_REQ;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  responses_.backward()->nb_transport_bw(*a.payload, phase, delay);
}

void BaseProtocolTarget::grant(Access& a) {
  if (a.local) {
    a.status = local_->access(*a.payload);
    return complete(a);
  }
  a.op_id = owner_.begin_service(ForeignRecord{});
  requests_.request(a.request);
}

void BaseProtocolTarget::move_bytes(Arrived& at) {
  Access& a = at.access;
  if (a.atomic) {
    do_atomic(a, a.atomic->shown);
  } else {
    a.window = system_.window_at(at.range.address());
    a.request.write ? write(a, at.range) : read(a, at.range);
  }
  a.moved_one();
  if (a.served_by_fabric && a.moved()) complete(a);
}

void BaseProtocolTarget::write(Access& a, const PayloadRange& range) {
  std::vector<uint8_t> collected;
  if (!range.plain()) collected = range.collect(*a.payload);
  const uint8_t* bytes = range.plain() ? a.payload->get_data_ptr() : collected.data();
  range.for_each_run([&](const PayloadRange::Run& run) {
    a.records.push_back(commit(a.window, run.address, bytes + (run.address - range.address()), run.nbytes));
  });
}

ForeignRecord BaseProtocolTarget::commit(const MemoryWindow& window, uint64_t address, const uint8_t* bytes,
                                         uint64_t nbytes) {
  system_.direct_memory().settle(window.key(), address, nbytes);
  system_.image().write(window.key(), address, bytes, nbytes);
  system_.direct_memory().refresh(window.key(), address, nbytes);
  ForeignRecord record;
  record.effect_ns = system_.timeline().now_ns();
  if (owner_.logged()) {
    record.desc = foreign_write_desc(window.space, address, std::make_shared<const Bytes>(bytes, bytes + nbytes),
                                     system_.next_foreign_write());
  }
  return record;
}

void BaseProtocolTarget::read(Access& a, const PayloadRange& range) {
  system_.direct_memory().settle(a.window.key(), range.address(), range.nbytes());
  ForeignRecord record;
  record.effect_ns = system_.timeline().now_ns();
  if (owner_.logged()) record.desc = foreign_read_desc(a.window.space, range.address(), range.nbytes());
  std::vector<uint8_t> bytes(range.plain() ? 0 : range.nbytes());
  uint8_t* out = range.plain() ? a.payload->get_data_ptr() : bytes.data();
  range.for_each_run([&](const PayloadRange::Run& run) {
    if (a.status != tlm::TLM_OK_RESPONSE) return;
    record.pending_on =
        system_.read_from_outside(a.window.space, run.address, out + (run.address - range.address()), run.nbytes);
    if (!record.pending_on) return;
    a.status = tlm::TLM_GENERIC_ERROR_RESPONSE;
    last_error_ = owner_.id() + ": read of " + address_text(run.address) + ", " + std::to_string(run.nbytes) +
                  " bytes: they are pending until Phase 2 runs " + describe_op(*record.pending_on);
  });
  if (a.status == tlm::TLM_OK_RESPONSE && !range.plain()) range.spread(bytes.data(), *a.payload);
  a.records.push_back(std::move(record));
}

void BaseProtocolTarget::complete(Access& a) {
  if (a.atomic) a.answer_atomic();
  for (size_t i = 0; i < a.records.size(); ++i) {
    const uint64_t id = i == 0 ? a.op_id : owner_.begin_service(a.records[i]);
    owner_.end_service(a.records[i], id, a.grant_ns, a.done_ns);
  }
  a.records.clear();
  a.complete = true;
  if (a.blocking) {
    give_back_place(a);
    a.completed.notify();
  } else {
    a.payload->set_response_status(a.status);
    a.payload->set_dmi_allowed(a.status == tlm::TLM_OK_RESPONSE && may_be_pointed_to(a.window));
    responses_.send(*a.payload);
  }
}

void BaseProtocolTarget::response_ended(tlm::tlm_generic_payload& p) {
  const auto it = accesses_.find(&p);
  give_back_place(*it->second);
  accesses_.erase(it);
  if (p.has_mm()) p.release();
}

void BaseProtocolTarget::give_back_place(const Access& a) {
  if (a.has_place) --taken_;
  while (has_room() && !waiting_.empty()) {
    Access& next = *waiting_.front();
    waiting_.pop_front();
    next.has_place = true;
    ++taken_;
    end_request(next);
    grant(next);
  }
}

void BaseProtocolTarget::write_now(const MemoryWindow& window, uint64_t address, const uint8_t* bytes,
                                   uint64_t nbytes) {
  system_.image().write(window.key(), address, bytes, nbytes);
  if (!owner_.logged()) return;
  ForeignRecord record;
  record.effect_ns = system_.timeline().now_ns();
  record.desc = foreign_write_desc(window.space, address, std::make_shared<const Bytes>(bytes, bytes + nbytes),
                                   system_.next_foreign_write());
  owner_.end_service(record, owner_.begin_service(record), record.effect_ns, record.effect_ns);
}

unsigned BaseProtocolTarget::transport_dbg(tlm::tlm_generic_payload& p) {
  if ((!p.is_read() && !p.is_write()) || !p.get_data_ptr()) return 0;
  if (ForeignNeighbour* block = block_before(p.get_address(), p.is_write())) return block->forward()->transport_dbg(p);
  unsigned done = 0;
  while (done < p.get_data_length()) {
    const uint64_t at = p.get_address() + done;
    const MemoryWindow window = system_.window_at(at);
    if (window.size == 0) break;
    uint64_t n = std::min<uint64_t>(p.get_data_length() - done, window.base + (window.size - 1) - at + 1);
    unsigned char* bytes = p.get_data_ptr() + done;
    ForeignStore* store = System::store_of(window);
    system_.direct_memory().settle(window.key(), at, n);
    if (p.is_write()) {
      write_now(window, at, bytes, n);
      system_.direct_memory().refresh(window.key(), at, n);
      if (store) store->push(at, n);
      done += static_cast<unsigned>(n);
      continue;
    }
    if (store) store->pull(at, n);
    const bool pending = system_.read_from_outside(window.space, at, bytes, n) != nullptr;
    if (pending) {
      n = first_pending(system_.image(), window.key(), at, n).address - at;
      system_.read_from_outside(window.space, at, bytes, n);
    }
    done += static_cast<unsigned>(n);
    if (pending) break;
  }
  return done;
}

ForeignNeighbour* BaseProtocolTarget::block_before(uint64_t address, bool write, double* ns) const {
  return system_.block_before(owner_.index(), address, write, settings_.bus_bytes, ns);
}

/// The page that the block grants, with latencies that include the path to it.
bool BaseProtocolTarget::point_past(ForeignNeighbour& block, double way_ns, tlm::tlm_generic_payload& p,
                                    tlm::tlm_dmi& dmi) {
  if (!block.ask_for_pointer(p, dmi, responses_.backward())) return false;
  const sc_core::sc_time way(way_ns, sc_core::SC_NS);
  dmi.set_read_latency(dmi.get_read_latency() + way);
  dmi.set_write_latency(dmi.get_write_latency() + way);
  return true;
}

bool BaseProtocolTarget::get_direct_mem_ptr(tlm::tlm_generic_payload& p, tlm::tlm_dmi& dmi) {
  dmi.init();
  if (!settings_.allow_dmi) return false;  // not allowed at any address
  double way_ns = 0;
  if (ForeignNeighbour* block = block_before(p.get_address(), p.is_write(), &way_ns))
    return point_past(*block, way_ns, p, dmi);
  const MemoryWindow window = system_.window_at(p.get_address());
  const auto gap = window.size == 0 ? system_.address_map().gap_at(p.get_address()) : std::pair<uint64_t, uint64_t>();
  dmi.set_start_address(window.size > 0 ? window.base : gap.first);
  dmi.set_end_address(window.size > 0 ? window.base + (window.size - 1) : gap.second);
  if (!may_be_pointed_to(window)) return false;
  const bool write = p.is_write();
  try {
    const double read_ns = lone_ns(false, p.get_address()), write_ns = write ? lone_ns(true, p.get_address()) : 0;
    if (std::isnan(read_ns + write_ns)) return false;
    if (!system_.direct_memory().grant(*this, window, p.get_address(), write, dmi)) return false;
    dmi.set_read_latency({read_ns, sc_core::SC_NS});
    dmi.set_write_latency({write_ns, sc_core::SC_NS});
    return true;
  } catch (const AccessError&) {
    return false;
  }
}

/// The image stores its bytes, and the memory allows DMI.
bool BaseProtocolTarget::may_be_pointed_to(const MemoryWindow& window) const {
  const auto* memory = dynamic_cast<const MemoryTarget*>(window.memory);
  return settings_.allow_dmi && memory && memory->allows_dmi();
}

double BaseProtocolTarget::lone_ns(bool write, uint64_t address) const {
  const uint64_t n = settings_.bus_bytes;
  const Route& route = system_.routes().route(owner_.index(), address, 1, write);
  return system_.mode().formula_ns(route, write, address, n, {1, n, 0});
}

void BaseProtocolTarget::invalidate(uint64_t first, uint64_t last) {
  if (responses_.backward()) responses_.backward()->invalidate_direct_mem_ptr(first, last);
}

}  // namespace kernbench::memory
