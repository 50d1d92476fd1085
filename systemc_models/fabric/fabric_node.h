// SPDX-License-Identifier: Apache-2.0
// A block's interface to the memory fabric: its sockets, its ports, and the handling of incoming messages.
#pragma once

#include <tlm>
#include <vector>

#include "kernbench/systemc_models/core/component.h"
#include "kernbench/systemc_models/fabric/fabric.h"
#include "kernbench/systemc_models/fabric/fabric_port.h"
#include "kernbench/systemc_models/fabric/input_buffers.h"
#include "kernbench/systemc_models/protocol/port_sockets.h"

namespace kernbench::fabric {

class FabricNode;
class RequestPort;
struct ReduceRules;

/// Base-protocol sockets of 32 bits, any number of peers.
using FabricTargetSocket = PortTargetSocket<tlm::tlm_base_protocol_types, FabricNode, FabricPort>;
using FabricInitiatorSocket = PortInitiatorSocket<tlm::tlm_base_protocol_types, FabricNode, FabricPort>;

/// A message as a passed block sees it: a request, or its response. Messages without memory access have no address.
struct PassingMessage {
  bool write = false;
  bool response = false;
  uint64_t address = 0, nbytes = 0;
  AtomicKind atomic = AtomicKind::none;
  bool posted = false;  ///< there is no response
  PassingMessage() = default;
  PassingMessage(bool writes, bool is_response, uint64_t at, uint64_t bytes)
      : PassingMessage(writes, is_response, at, bytes, Rows{}) {}
  /// For an access described by rows.
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

/// Delay of a message in a block, from the arrival of its header until it is ready to leave. ns.
struct NodeCost {
  double overhead_ns = 0;
  double store_forward_ns = 0;  ///< wait for the rest of the data
  double ns() const { return overhead_ns + store_forward_ns; }
  NodeCost& operator+=(const NodeCost& o) {
    overhead_ns += o.overhead_ns;
    store_forward_ns += o.store_forward_ns;
    return *this;
  }
};

/// Direction of requests over a connection.
enum class Requests : uint8_t { both_ways, there };

/// Link of a connection's port: a new link, one shared with another port, or none in this direction.
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
  /// `owner`: the block; its context must be a Fabric (std::invalid_argument).
  explicit FabricNode(Component& owner);
  FabricNode(const FabricNode&) = delete;
  FabricNode& operator=(const FabricNode&) = delete;
  virtual ~FabricNode();

  Component& owner() const { return owner_; }
  Fabric& fabric() const { return fabric_; }
  const std::vector<FabricPort*>& ports() const { return ports_; }
  /// The port for the next bound peer: the one made by connect(), or a new one.
  FabricPort& port_for_binding();

  /// Observers of its memory traffic; any number.
  FabricObservers& observers() { return observers_; }
  const FabricObservers& observers() const { return observers_; }

  /// The sockets; null if it has none in that direction.
  virtual FabricTargetSocket* target_socket() { return nullptr; }
  virtual FabricInitiatorSocket* initiator_socket() { return nullptr; }
  /// False: only control messages arrive here (control_message.h); its edges carry no memory traffic.
  virtual bool takes_memory_traffic() const { return true; }
  /// Passes data on only after all of it has arrived.
  virtual bool stores_and_forwards() const { return false; }
  /// How it adds messages of reductions on the way; null: it adds none.
  virtual const ReduceRules* reduce_rules() const { return nullptr; }
  /// Attribute `multicast`: whether collectives may send multicasts through it.
  virtual bool multicasts() const { return false; }
  /// Cost of a passing message that arrived by `from` (null beside a foreign block). Called by PathHop::cost().
  virtual NodeCost passing_cost(const PassingMessage&, const Link* /*from*/) const { return {end_ns(), 0}; }
  /// Whether passing_cost() is equal for all messages.
  virtual bool costs_alike() const { return true; }
  /// Cost of a message that ends here.
  double end_ns() const { return owner_.overhead_ns(); }
  /// Cost of a message that starts here.
  virtual double begin_ns(const PassingMessage&) const { return end_ns(); }
  /// Buffers of incoming flits; by default flits are accepted on arrival.
  virtual InputBuffers input_buffers() const { return {}; }
  /// Its interface for issuing memory traffic and requests of drivers; else null.
  virtual FabricInitiator* initiator() { return nullptr; }
  virtual RequestPort* request_port() { return nullptr; }

  /// A request of the fabric has arrived; its header is here at x.time_ns.
  virtual tlm::tlm_sync_enum request_in(FabricTransaction&, FabricPort& in, tlm::tlm_phase&, sc_core::sc_time& delay);
  /// A payload without FabricTransaction has arrived or returned. Messages (socket_message.h) are passed on.
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

/// Binds a's initiator socket to b's target socket, and b's to a's, if they exist and there is a link in that
/// direction. Each end has one port for both, so requests and responses share a link. With Requests::there, binds only
/// a's.
void connect(FabricNode& a, FabricNode& b, const LinkTo& there, const LinkTo& back, Requests = Requests::both_ways);
/// With a new link in each direction, with equal parameters.
void connect(FabricNode& a, FabricNode& b, const LinkParameters&);

/// Binds the initiator socket of one port's block to the target socket of the other port's block.
void bind(FabricPort& from, FabricPort& to);

/// A port to a foreign block, whose sockets ForeignSockets binds later. `back`: cost of the block's edge to here, which
/// the port cannot determine.
FabricPort& open_port(FabricNode&, const LinkTo& there, const LinkParameters& back);

}  // namespace kernbench::fabric
