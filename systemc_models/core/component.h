// The base of every block: a named node of the topology with typed attributes, and the hook that logs a service.
#pragma once

#include <tlm_utils/multi_passthrough_initiator_socket.h>
#include <tlm_utils/multi_passthrough_target_socket.h>

#include <cstdint>
#include <functional>
#include <string>
#include <systemc>
#include <vector>

#include "kernbench/phase2/log/op_record.h"
#include "kernbench/systemc_models/core/parameters.h"
#include "kernbench/systemc_models/fabric/fabric.h"

namespace kernbench {

/// Counts and hands out op ids; holds the log that is attached, if any. One per platform.
class OpLogger {
 public:
  explicit OpLogger(OpLogSink& sink) : sink_(sink) {}
  uint64_t next_id() { return ++last_id_; }
  void record(OpRecord&& r) { sink_.record(std::move(r)); }

 private:
  OpLogSink& sink_;
  uint64_t last_id_ = 0;
};

/// What a block is told when it is made.
struct ComponentConfig {
  std::string id;      ///< of the node, "sip0.cube0.pe0.pe_dma"
  uint32_t index = 0;  ///< of the node in compiled order
  const Attributes* attributes = nullptr;
  Fabric* fabric = nullptr;
  /// Makes the blocks whose ids begin with this one's, as children of this module; may be empty.
  std::function<void()> build_children;
};

/// Base-protocol sockets of the fabric: any number of peers.
using FabricOut = tlm::tlm_initiator_socket<32, tlm::tlm_base_protocol_types, 0, sc_core::SC_ZERO_OR_MORE_BOUND>;
using FabricIn = tlm::tlm_target_socket<32, tlm::tlm_base_protocol_types, 0, sc_core::SC_ZERO_OR_MORE_BOUND>;

template <class Module>
using FabricTargetSocket = tlm_utils::multi_passthrough_target_socket<Module, 32, tlm::tlm_base_protocol_types, 0,
                                                                      sc_core::SC_ZERO_OR_MORE_BOUND>;
template <class Module>
using FabricInitiatorSocket = tlm_utils::multi_passthrough_initiator_socket<Module, 32, tlm::tlm_base_protocol_types, 0,
                                                                            sc_core::SC_ZERO_OR_MORE_BOUND>;

class FabricInitiator;
class RequestPort;

class Component : public sc_core::sc_module {
 public:
  Component(sc_core::sc_module_name name, const ComponentConfig& config, const BlockParameters&);

  /// Blocks are made in their fabric's arena, whose memory outlives them.
  static void* operator new(size_t bytes, Arena& arena) { return arena.allocate(bytes); }
  static void operator delete(void*, Arena&) {}
  static void operator delete(void*) {}

  const std::string& id() const { return id_; }
  uint32_t index() const { return index_; }
  double overhead_ns() const { return overhead_ns_; }
  Timeline& timeline() const { return *fabric_->timeline; }
  Fabric& fabric() const { return *fabric_; }

  /// Asks for what every event of a block touches.
  void fetch_component() const {
    fetch_lines(this, 1);
    fetch_lines(&index_, 1);
  }

  /// Attaches the op log (null: none). The only place that records are made from is end_service().
  void attach_logger(OpLogger* logger) { logger_ = logger; }
  bool logged() const { return logger_ != nullptr; }
  /// Who watches its memory traffic (null: nobody).
  void observe(FabricObserver* observer) { observer_ = observer; }
  FabricObserver* observer() const { return observer_; }

  /// True for a forwarding block that passes data on only when it has all of it.
  virtual bool stores_and_forwards() const { return false; }
  /// True for a forwarding block of which the fabric knows all: it adds overhead (and waits for data where it stores
  /// and forwards), and keeps no message for any other reason. Its sockets need not be walked (fabric_path.h).
  virtual bool forwards_plainly() const { return false; }
  /// The sockets that the fabric's edges are bound to; null where the block has none.
  virtual FabricOut* fabric_out() { return nullptr; }
  virtual FabricIn* fabric_in() { return nullptr; }
  /// Its other side where it issues memory traffic, and where drivers can give it requests; else null.
  virtual FabricInitiator* initiator() { return nullptr; }
  virtual RequestPort* request_port() { return nullptr; }
  /// The links that leave the block, made once by the platform.
  std::vector<Link>& out_links() { return out_links_; }

  /// Begin of service of a message that says `data_op`: gives it an op id. One branch where no log is attached.
  template <class Message>
  uint64_t begin_service(const Message& m) {
    return logger_ && m.data_op ? logger_->next_id() : 0;
  }
  /// End of service: the record. `describe(OpRecord&)` of the message fills in what it is.
  template <class Message>
  void end_service(const Message& m, uint64_t op_id, double t_start, double t_end) {
    if (!logger_ || !m.data_op) return;
    OpRecord r;
    r.op_id = op_id;
    r.t_start = t_start;
    r.t_end = t_end;
    r.component = index_;
    m.describe(r);
    logger_->record(std::move(r));
  }

 private:
  std::string id_;
  std::vector<Link> out_links_;
  // What events touch, beside the first members of derived classes.
  uint32_t index_;
  double overhead_ns_;
  Fabric* fabric_;
  FabricObserver* observer_ = nullptr;
  OpLogger* logger_ = nullptr;
};

}  // namespace kernbench
