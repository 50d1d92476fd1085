// A block's side that faces the memory fabric: its sockets, its ports, and what it does with what comes in.
#pragma once

#include <tlm>
#include <vector>

#include "kernbench/systemc_models/core/component.h"
#include "kernbench/systemc_models/fabric/fabric.h"
#include "kernbench/systemc_models/fabric/fabric_port.h"
#include "kernbench/systemc_models/fabric/input_buffers.h"
#include "kernbench/systemc_models/protocol/port_sockets.h"

namespace kernbench {

class FabricNode;
class RequestPort;

/// Base-protocol sockets of 32 bits, any number of peers.
using FabricTargetSocket = PortTargetSocket<tlm::tlm_base_protocol_types, FabricNode, FabricPort>;
using FabricInitiatorSocket = PortInitiatorSocket<tlm::tlm_base_protocol_types, FabricNode, FabricPort>;

/// A message as a block sees it that it passes: a request, or its response. Those that are no access to memory have no
/// address.
struct PassingMessage {
  bool write = false;
  bool response = false;
  uint64_t address = 0, nbytes = 0;
  AtomicKind atomic = AtomicKind::none;
  bool posted = false;  ///< nothing comes back
  PassingMessage() = default;
  PassingMessage(bool writes, bool is_response, uint64_t at, uint64_t bytes)
      : PassingMessage(writes, is_response, at, bytes, Rows{}) {}
  /// Of an access that does what the rows say.
  PassingMessage(bool writes, bool is_response, uint64_t at, uint64_t bytes, const Rows& rows)
      : write(writes), response(is_response), address(at), nbytes(bytes), atomic(rows.atomic), posted(rows.posted) {}
  PassingMessage(const FabricTransaction& x, bool is_response)
      : PassingMessage(x.write, is_response, x.address, x.nbytes, x.rows) {}
  bool has_data() const { return kind().has_data(write, response); }
  uint64_t data_bytes() const { return kind().data_bytes(write, response, nbytes); }

 private:
  Rows kind() const {
    Rows r;
    r.atomic = atomic;
    return r;
  }
};

/// What a block adds to a message, from when its header is there until it is ready to leave. ns.
struct NodeCost {
  double overhead_ns = 0;
  double store_forward_ns = 0;  ///< waits for the rest of the data
  double ns() const { return overhead_ns + store_forward_ns; }
  NodeCost& operator+=(const NodeCost& o) {
    overhead_ns += o.overhead_ns;
    store_forward_ns += o.store_forward_ns;
    return *this;
  }
};

/// Who may ask whom over a connection.
enum class Requests : uint8_t { both_ways, there };

/// What a connection's port leads over: a new link, one that another port uses too, or nothing: no way there.
struct LinkTo {
  LinkTo() = default;
  LinkTo(const LinkParameters& p) : parameters(p), exists(true) {}
  LinkTo(Link& another_ports) : link(&another_ports), exists(true) {}
  Link* link = nullptr;
  LinkParameters parameters;
  bool exists = false;
};

class FabricNode {
 public:
  /// `owner`: the block; its context is a Fabric (std::invalid_argument).
  explicit FabricNode(Component& owner);
  FabricNode(const FabricNode&) = delete;
  FabricNode& operator=(const FabricNode&) = delete;
  virtual ~FabricNode();

  Component& owner() const { return owner_; }
  Fabric& fabric() const { return fabric_; }
  const std::vector<FabricPort*>& ports() const { return ports_; }
  /// The port for the next peer that is bound: the one that connect() has made, or a new one.
  FabricPort& port_for_binding();

  /// Who watches its memory traffic; any number, side by side.
  FabricObservers& observers() { return observers_; }
  const FabricObservers& observers() const { return observers_; }

  /// The sockets; null where it has none of that side.
  virtual FabricTargetSocket* target_socket() { return nullptr; }
  virtual FabricInitiatorSocket* initiator_socket() { return nullptr; }
  /// False: only messages come here (control_message.h); its edges are no links of the memory traffic.
  virtual bool takes_memory_traffic() const { return true; }
  /// Passes data on only when it has all of it.
  virtual bool stores_and_forwards() const { return false; }
  /// Of a message that passes it, and has come by `from` (null beside a foreign block). PathHop::cost() asks for it.
  virtual NodeCost passing_cost(const PassingMessage&, const Link* /*from*/) const { return {end_ns(), 0}; }
  /// Whether that is the same for all messages.
  virtual bool costs_alike() const { return true; }
  /// Of a message that ends here.
  double end_ns() const { return owner_.overhead_ns(); }
  /// Of a message that begins here.
  virtual double begin_ns(const PassingMessage&) const { return end_ns(); }
  /// Where flits wait that have come in; by default they are taken as they come.
  virtual InputBuffers input_buffers() const { return {}; }
  /// Its side that issues memory traffic, and where drivers can give it requests; else null.
  virtual FabricInitiator* initiator() { return nullptr; }
  virtual RequestPort* request_port() { return nullptr; }

  /// A request of the fabric has come in; its header is here at x.time_ns.
  virtual tlm::tlm_sync_enum request_in(FabricTransaction&, FabricPort& in, tlm::tlm_phase&, sc_core::sc_time& delay);
  /// A payload that carries no FabricTransaction has come in, or is back. Messages (socket_message.h) are passed on.
  virtual tlm::tlm_sync_enum other_request_in(tlm::tlm_generic_payload&, FabricPort& in, tlm::tlm_phase&,
                                              sc_core::sc_time& delay);
  virtual tlm::tlm_sync_enum other_response_in(tlm::tlm_generic_payload&, FabricPort& out, tlm::tlm_phase&,
                                               sc_core::sc_time& delay);

 private:
  friend void connect(FabricNode&, FabricNode&, const LinkTo&, const LinkTo&, Requests);
  friend void bind(FabricPort&, FabricPort&);
  friend FabricPort& open_port(FabricNode&, const LinkTo&, const LinkParameters&);
  FabricPort& add_port(const LinkTo&);
  Fabric& fabric_;
  Component& owner_;
  FabricObservers observers_;
  std::vector<FabricPort*> ports_;
  FabricPort* connecting_ = nullptr;
};

/// Binds a's initiator socket to b's target socket, and b's to a's, as far as they have them and there is a link in
/// that direction; one port at each end for both, so that requests and responses share a link. With Requests::there,
/// only a's.
void connect(FabricNode& a, FabricNode& b, const LinkTo& there, const LinkTo& back, Requests = Requests::both_ways);
/// With links of their own, alike in both directions.
void connect(FabricNode& a, FabricNode& b, const LinkParameters&);

/// Binds the initiator socket of one port's block to the target socket of the other's.
void bind(FabricPort& from, FabricPort& to);

/// A port to a block that is not of this project, whose sockets are bound later, and of which the port cannot know what
/// its edge to here costs: `back`. Its sockets are bound by ForeignSockets.
FabricPort& open_port(FabricNode&, const LinkTo& there, const LinkParameters& back);

}  // namespace kernbench
