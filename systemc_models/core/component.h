// SPDX-License-Identifier: Apache-2.0
// Base class of every block: a named node of the topology, with the hook that logs a service.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <systemc>

#include "kernbench/phase2/log/op_record.h"
#include "kernbench/systemc_models/core/component_ptr.h"
#include "kernbench/systemc_models/core/context.h"
#include "kernbench/systemc_models/core/parameters.h"

namespace kernbench::fabric {
class FabricNode;
}
namespace kernbench::pe {
class PeBlock;
}

namespace kernbench::core {

/// Assigns op ids, and holds the attached log, if any. One per platform.
class OpLogger {
 public:
  explicit OpLogger(OpLogSink& sink) : sink_(sink) {}
  uint64_t next_id() { return ++last_id_; }
  void record(OpRecord&& r) { sink_.record(std::move(r)); }

 private:
  OpLogSink& sink_;
  uint64_t last_id_ = 0;
};

/// Construction arguments of a block, beside its parameters. By hand: `Router r("r", fabric, parameters)`.
struct ComponentConfig {
  ComponentConfig(Context& c) : context(&c), index(c.next_index()) {}  // implicit: a context is sufficient
  ComponentConfig(Context& c, std::string node_id, uint32_t node_index)
      : context(&c), id(std::move(node_id)), index(node_index) {}

  Context* context;
  std::string id;                          ///< of the node, "sip0.cube0.pe0.pe_dma"; empty: the module's name
  uint32_t index = 0;                      ///< of the node in compiled order; it breaks ties between blocks
  const Attributes* attributes = nullptr;  ///< for a block from a file
  const char* impl = nullptr;              ///< for a block from a file: "builtin.pe_dma"; must outlive the block
  /// Creates the blocks whose ids begin with this one's, as children of this module; may be empty.
  std::function<void()> build_children;
};

class Component : public sc_core::sc_module {
 public:
  Component(sc_core::sc_module_name name, const ComponentConfig& config, const BlockParameters&);

  /// The implementation named by `impl:` in a file, such as "builtin.pe_dma"; "sc_module" for a block made by hand.
  const char* kind() const override { return impl_ ? impl_ : sc_module::kind(); }
  const std::string& id() const { return id_; }
  uint32_t index() const { return index_; }
  Context& context() const { return *context_; }
  Timeline& timeline() const { return context_->timeline(); }
  /// Its interface to the memory fabric (fabric/fabric_node.h); null if it has none.
  virtual FabricNode* fabric_node() { return nullptr; }
  /// Its interface to the blocks of its PE (pe/pe_block.h); null if it has none.
  virtual PeBlock* pe_block() { return nullptr; }
  /// Whether it wraps a foreign model, which may have its own processes.
  virtual bool stands_for_foreign_model() const { return false; }

  /// Attaches the op log (null: none). Only end_service() makes records.
  void attach_logger(OpLogger* logger) { logger_ = logger; }
  bool logged() const { return logger_ != nullptr; }

  /// Begin of service of a message. Assigns an op id if its `data_op` (a member or static member) is true; else 0.
  /// Costs one branch without a log.
  template <class Message>
  uint64_t begin_service(const Message& m) {
    return logger_ && m.data_op ? logger_->next_id() : 0;
  }
  /// End of service: makes the record of a message with an op id. Its `describe(OpRecord&)` fills the record in; a
  /// user-defined type calls `r.own("refresh").with("bank", 3)`.
  template <class Message>
  void end_service(const Message& m, uint64_t op_id, double t_start, double t_end) {
    if (!logger_ || op_id == 0) return;
    OpRecord r;
    r.op_id = op_id;
    r.t_start = t_start;
    r.t_end = t_end;
    r.component = index_;
    m.describe(r);
    logger_->record(std::move(r));
  }

 protected:
  /// Its attribute overhead_ns. Other blocks read it through PathHop::cost() (fabric/path.h) or
  /// PeBlock::block_overhead_ns().
  double overhead_ns() const { return overhead_ns_; }

 private:
  friend class fabric::FabricNode;
  friend class pe::PeBlock;
  // Members that no event accesses come first, members that each event accesses last, so that these share a cache line
  // with the first members of derived classes.
  std::string id_;
  const char* impl_;
  OpLogger* logger_ = nullptr;
  Context* context_;
  double overhead_ns_;
  uint32_t index_;
};

}  // namespace kernbench::core
