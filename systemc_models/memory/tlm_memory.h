// Models: a memory whose model is not this project's: whatever has a TLM-2.0 target socket (a DRAM simulator, a memory
// of the user's platform) stands in for an hbm_ctrl or an sram. Its time is what the foreign model takes, from
// BEGIN_REQ to BEGIN_RESP, and not less than the bytes need on the path (as §4 of the timing contract has it). Requests
// are cut at `max_bytes`, sent in order of arrival, any number under way; the model says with END_REQ when it takes the
// next. Does not model: what the foreign model does not; where only the project's own initiators know the bytes
// (pending results of Phase 2), zeros are sent.
//
// Bytes. With `storage: target` the foreign model keeps them: what is placed before the simulation goes there by debug
// transport, writes carry the bytes that memory holds at that moment, and bytes that the model changed by itself are
// taken over when they are read. A foreign initiator's byte enables go with its writes; a model that refuses them gets
// a read, and a write with the bytes that were there. With `storage: image` the model is asked for time only.
// An error response of the model is passed on to a foreign initiator, and ends the run where a kernel asked.
#pragma once

#include <map>
#include <memory>

#include "kernbench/phase2/memory/memory_image.h"
#include "kernbench/systemc_models/fabric/memory_target.h"
#include "kernbench/systemc_models/memory/system.h"
#include "kernbench/systemc_models/protocol/base_protocol_initiator.h"
#include "kernbench/systemc_models/protocol/wide_socket.h"

namespace kernbench {

/// Of Base and of the foreign model's side.
template <class Base>
struct TlmMemoryParameters : Base {
  uint64_t max_bytes = 0;
  std::string address = "offset", storage = "target", end_resp = "updated";
  unsigned bus_width = 32;
  template <class List>
  static void describe(List& list) {
    BufferParameters::describe(list);
    list.add(&TlmMemoryParameters::max_bytes, "max_bytes", "bytes",
             "largest transaction that the model takes; 0: no limit")
        .min(0)
        .max(1 << 30);
    list.add(&TlmMemoryParameters::address, "address", "",
             "what the model is given: the offset in its window, or the physical address")
        .choices({"offset", "physical"});
    list.add(&TlmMemoryParameters::storage, "storage", "",
             "who keeps the bytes: the model, or the platform's image (a model of time only)")
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

  /// The socket to which the foreign model's target socket is bound: a tlm_initiator_socket of `bus_width` bits.
  template <unsigned W = 32>
  OptionalInitiatorSocket<W>& socket() const {
    return socket_.as<W>();
  }
  void pull(uint64_t address, uint64_t nbytes) override;
  void push(uint64_t address, uint64_t nbytes) override;
  /// Its bytes and its time are the model's.
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
  TlmMemory(sc_core::sc_module_name name, const ComponentConfig& config, const BufferParameters&, const Settings&);
  void end_of_elaboration() override;
  void start_of_simulation() override;
  void begin(Access&);
  void add_transfers(Access&, uint64_t address, uint64_t nbytes);
  void enable_bytes(Access&);
  void start(Part&);
  void part_done(Part&);
  void finish(Access&);
  uint64_t to_target(uint64_t address) const { return physical_ ? address : address - base(); }
  void take_over(uint64_t address, const uint8_t* bytes, uint64_t nbytes);

  uint64_t max_bytes_;
  bool physical_, keeps_bytes_;
  bool takes_enables_ = true;  ///< the model has not refused byte enables
  BaseProtocolInitiator initiator_;
  WideInitiatorSocket socket_;
  System& system_;
  MemoryImage seen_;  ///< the model's bytes as last seen; space of the window
  std::map<const Access*, std::unique_ptr<Access>> accesses_;
};

}  // namespace kernbench
