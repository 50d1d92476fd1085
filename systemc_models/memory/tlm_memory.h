// SPDX-License-Identifier: Apache-2.0
// Models a memory by a foreign model with a TLM-2.0 target socket (a DRAM simulator, a memory of the user's platform),
// in place of an hbm_ctrl or an sram. Its time is that of the foreign model from BEGIN_REQ to BEGIN_RESP, but not less
// than the bytes need on the path (timing rules §4). Requests are split at `max_bytes` and sent in order of arrival,
// with any number outstanding; the model's END_REQ permits the next. Does not model what the foreign model omits. If
// only project initiators know the bytes (pending results of Phase 2), zeros are sent.
//
// Bytes: with `storage: target` the foreign model stores them. Bytes placed before the simulation go there by debug
// transport; writes carry the current bytes; reads return bytes that the model changed by itself. A
// foreign initiator's byte enables go with its writes; a model that refuses them gets a read and a full write. With
// `storage: image` the model is used for time only. An error response of the model goes to the foreign initiator, or
// ends the run if a kernel made the access. With `materialize: stores` no bytes are pending for the model.
#pragma once

#include <map>
#include <memory>

#include "kernbench/phase2/memory/memory_image.h"
#include "kernbench/systemc_models/fabric/memory_target.h"
#include "kernbench/systemc_models/memory/system.h"
#include "kernbench/systemc_models/protocol/base_protocol_initiator.h"
#include "kernbench/systemc_models/protocol/wide_socket.h"

namespace kernbench::memory {

/// Parameters of Base and of the foreign model's interface.
template <class Base>
struct TlmMemoryParameters : Base {
  uint64_t max_bytes = 0;
  std::string address = "offset", storage = "target", end_resp = "updated";
  unsigned bus_width = 32;
  template <class List>
  static void describe(List& list) {
    BufferParameters::describe(list);
    Base::describe_reset(list);
    list.add(&TlmMemoryParameters::max_bytes, "max_bytes", "bytes",
             "largest transaction that the model takes; 0: no limit")
        .min(0)
        .max(1 << 30);
    list.add(&TlmMemoryParameters::address, "address", "",
             "address that the model gets: the offset in its window, or the physical address")
        .choices({"offset", "physical"});
    list.add(&TlmMemoryParameters::storage, "storage", "",
             "owner of the bytes: the model, or the platform's image (for a timing-only model)")
        .choices({"target", "image"});
    describe_end_resp(list, &TlmMemoryParameters::end_resp);
    describe_bus_width(list, &TlmMemoryParameters::bus_width);
    if constexpr (std::is_same_v<Base, HbmParameters>) Base::describe_efficiency(list);
  }
};

class TlmMemory : public MemoryTarget, public ForeignStore {
 public:
  template <class Base>
  TlmMemory(sc_core::sc_module_name name, const ComponentConfig& config, const TlmMemoryParameters<Base>& p)
      : TlmMemory(
            name, config, p,
            {p.max_bytes, p.address == "physical", p.storage == "target", p.bus_width, end_resp_named(p.end_resp)}) {}
  ~TlmMemory() override;

  /// The socket for the foreign model's target socket: a tlm_initiator_socket of `bus_width` bits.
  template <unsigned W = 32>
  OptionalInitiatorSocket<W>& socket() const {
    return socket_.as<W>();
  }
  void pull(uint64_t address, uint64_t nbytes) override;
  void push(uint64_t address, uint64_t nbytes) override;
  void peek(uint64_t address, uint8_t* out, uint64_t nbytes) override;
  void deliver(PendingValues&) override;
  /// Bytes and time are the model's.
  bool allows_dmi() const override { return false; }
  bool stands_for_foreign_model() const override { return true; }

 protected:
  Service take(FabricTransaction&) override;
  bool serves_past_its_edge() const override { return true; }

 private:
  struct Access;
  struct Part;
  struct Settings {
    uint64_t max_bytes;
    bool physical, keeps_bytes;
    unsigned bus_width;
    EndResp end_resp;
  };
  TlmMemory(sc_core::sc_module_name name, const ComponentConfig& config, const MemoryParameters&, const Settings&);
  void end_of_elaboration() override;
  void start_of_simulation() override;
  void begin(Access&);
  void add_transfers(Access&, uint64_t address, uint64_t nbytes);
  void enable_bytes(Access&);
  void start(Part&);
  void part_done(Part&);
  void finish(Access&);
  uint64_t to_target(uint64_t address) const { return physical_ ? address : address - base(); }
  void give(uint64_t address, const uint8_t* bytes, uint64_t nbytes);
  std::vector<bool> changed(uint64_t address, const uint8_t* bytes, uint64_t nbytes) const;
  void take_over(uint64_t address, const uint8_t* bytes, uint64_t nbytes);

  uint64_t max_bytes_;
  bool physical_, keeps_bytes_;
  bool takes_enables_ = true;  ///< the model has not refused byte enables
  BaseProtocolInitiator initiator_;
  WideInitiatorSocket socket_;
  System& system_;
  MemoryImage seen_;  ///< bytes of the model as last read; space of the window
  std::map<const Access*, std::unique_ptr<Access>> accesses_;
};

}  // namespace kernbench::memory
