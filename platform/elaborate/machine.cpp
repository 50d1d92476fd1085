// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/elaborate/machine.h"

#include <systemc>

#include "kernbench/platform/elaborate/flow_control.h"
#include "kernbench/platform/elaborate/run_watch.h"
#include "kernbench/platform/topology/route/path_router.h"
#include "kernbench/systemc_models/core/component.h"
#include "kernbench/systemc_models/memory/system.h"

namespace kernbench::elaborate {
namespace {

FabricTiming timing_of(const topology::Graph& graph) {
  FabricTiming t;
  t.links = graph.timing.links;
  t.response = graph.timing.response;
  t.header_bytes = graph.timing.header_bytes;
  t.flit_bytes = graph.timing.flit_bytes;
  t.packet_flits = graph.timing.packet_flits;
  t.finite_buffers = graph.has_finite_buffers();
  t.proven = t.finite_buffers && graph.timing.prove_deadlock_free;
  return t;
}

}  // namespace

Machine::Machine(topology::Graph graph)
    : graph_(std::move(graph)),
      system_(std::make_unique<System>(timing_of(graph_))),
      blocks_(graph_, *system_),
      routes_(graph_, blocks_, *system_),
      pes_(graph_, blocks_, routes_, *system_),
      runs_(std::make_unique<RunWatch>(sc_core::sc_gen_unique_name("runs"), *this)) {
  system_->set_channel_layers(require_flow_control(graph_, routes_.paths()));
  system_->set_routes(routes_);
  if (graph_.materialize == topology::Materialize::outputs) system_->materialize_outputs();
  if (graph_.materialize == topology::Materialize::stores) system_->materialize_stores();
}

Machine::~Machine() = default;

Timeline& Machine::timeline() {
  return system_->timeline();
}

double Machine::now_ns() {
  return timeline().now_ns();
}

void Machine::run_ahead() {
  if (!blocks_.has_foreign_nodes()) timeline().run_ahead();
}

void Machine::attach_log(OpLogSink* sink) {
  logger_ = sink ? std::make_unique<OpLogger>(*sink) : nullptr;
  for (uint32_t n = 0; n < blocks_.size(); ++n) blocks_.component(n).attach_logger(logger_.get());
}

}  // namespace kernbench::elaborate
