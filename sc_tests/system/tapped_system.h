// SPDX-License-Identifier: Apache-2.0
// A system with an observing module at every socket between blocks: in the fabric a foreign block (only IEEE 1666),
// inside a PE one that passes pe_command_protocol on.
#pragma once

#include <tlm_utils/passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernbench/platform/topology/graph/foreign_blocks.h"
#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/fabric/fabric_initiator.h"
#include "kernbench/systemc_models/pe/pe_setup.h"
#include "kernbench/systemc_models/pe/queue_message.h"
#include "kernbench/systemc_models/protocol/protocol_checker.h"
#include "system_support.h"

namespace kernbench::testing {

/// Passes requests on in one direction and their responses back, with a delay.
class Tap : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<Tap> in{"in"};
  tlm_utils::simple_initiator_socket<Tap> out{"out"};
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  std::map<std::pair<uint64_t, bool>, size_t> requests;  ///< of memory traffic, by address and direction
  std::vector<std::vector<uint8_t>> written;             ///< data of writes to address 0
  size_t calls = 0, messages = 0, responses = 0;
  size_t credits = 0;  ///< calls, by the extension of this project's payloads

  explicit Tap(sc_core::sc_module_name name) : sc_module(name) {
    in.register_nb_transport_fw(this, &Tap::forward);
    out.register_nb_transport_bw(this, &Tap::backward);
  }

 private:
  tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time& t) {
    if (phase == tlm::BEGIN_REQ) {
      ++calls;
      const auto* x = p.get_extension<FabricTransaction>();
      credits += x && x->message && x->channel == FabricInitiator::kCredit;
      if (p.get_command() == tlm::TLM_IGNORE_COMMAND) {
        ++messages;
      } else {
        ++requests[{p.get_address(), p.is_write()}];
        if (p.is_write() && p.get_address() == 0)
          written.emplace_back(p.get_data_ptr(), p.get_data_ptr() + p.get_data_length());
      }
      t += delay;
    }
    return out->nb_transport_fw(p, phase, t);
  }
  tlm::tlm_sync_enum backward(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time& t) {
    if (phase == tlm::BEGIN_RESP) {
      ++responses;
      t += delay;
    }
    return in->nb_transport_bw(p, phase, t);
  }
};

/// Observes items inside a PE, and their queries.
class PeTap : public sc_core::sc_module {
 public:
  tlm_utils::passthrough_target_socket<PeTap, 32, pe_command_protocol> in{"in"};
  tlm_utils::simple_initiator_socket<PeTap, 32, pe_command_protocol> out{"out"};
  size_t items = 0, completions = 0, asked = 0;
  size_t segments = 0, credits = 0;  ///< of the items
  struct Access {                    ///< for pe_tcm
    std::shared_ptr<const OpDesc> op;
    bool write;
    uint64_t bytes;
    double from_ns, answer_ns;
  };
  std::vector<Access> accesses;
  std::vector<size_t> opened;  ///< ports, by launch
  size_t closed = 0, mapped = 0, unmapped = 0, translated = 0;
  bool passes_debug_on = true;

  explicit PeTap(sc_core::sc_module_name name) : sc_module(name) {
    in.register_nb_transport_fw(this, &PeTap::forward);
    in.register_b_transport(this, &PeTap::ask);
    in.register_transport_dbg(this, &PeTap::set_up);
    out.register_nb_transport_bw(this, &PeTap::backward);
  }

 private:
  tlm::tlm_sync_enum forward(PeItem& item, tlm::tlm_phase& phase, sc_core::sc_time& t) {
    if (phase == tlm::BEGIN_REQ) {
      ++items;
      if (const QueueSegment* s = item.segment)
        ++(&item == &s->credit || &item == &s->credit_back ? credits : segments);
    }
    return out->nb_transport_fw(item, phase, t);
  }
  tlm::tlm_sync_enum backward(PeItem& item, tlm::tlm_phase& phase, sc_core::sc_time& t) {
    completions += phase == tlm::BEGIN_RESP;
    return in->nb_transport_bw(item, phase, t);
  }
  void ask(PeItem& item, sc_core::sc_time& t) {
    ++asked;
    out->b_transport(item, t);
    accesses.push_back({item.command ? item.command->desc : nullptr, item.asked_write, item.asked_bytes,
                        item.asked_from_ns, item.answer_ns});
  }
  unsigned set_up(PeItem& item) {
    if (const auto* open = dynamic_cast<const OpenPorts*>(item.setup)) opened.push_back(open->ports.size());
    closed += dynamic_cast<const ClosePorts*>(item.setup) != nullptr;
    mapped += dynamic_cast<const MapRange*>(item.setup) != nullptr;
    unmapped += dynamic_cast<const UnmapRange*>(item.setup) != nullptr;
    translated += dynamic_cast<const Translate*>(item.setup) != nullptr;
    return passes_debug_on ? out->transport_dbg(item) : 0;
  }
};

/// A system with a tap between every two connected blocks: on its edges, and between blocks of a PE that are bound
/// without an edge.
class Tapped {
 public:
  using Ends = std::pair<uint32_t, uint32_t>;

 private:
  std::map<Ends, std::string> nodes_;  ///< by the ends of their edges

 public:
  Tapped(const char* name, const topology::Graph& plain) : platform(name, with_nodes(plain)) {
    for (const auto& [from, to] : pairs(plain)) bind(plain, from, to, nodes_.at(std::minmax(from, to)));
  }
  /// The tap between two blocks of a PE, by kinds.
  PeTap& inside(size_t pe, const std::string& from, const std::string& to) {
    const auto& blocks = platform.graph().pes.at(pe).blocks;
    return *pe_taps.at({blocks.at(from), blocks.at(to)});
  }
  Platform platform;
  std::map<Ends, std::unique_ptr<Tap>> taps;  ///< by (querying block, queried block)
  std::map<Ends, std::unique_ptr<PeTap>> pe_taps;
  std::vector<std::string> violations;

 private:
  static std::vector<Ends> pairs(const topology::Graph& g) {
    std::vector<Ends> all;
    for (const topology::Edge& e : g.edges) all.emplace_back(e.from, e.to);
    for (const topology::Pe& pe : g.pes) {
      for (const auto& [from, to] : g.pe_edges.without_edge) {
        const auto a = pe.blocks.find(from), b = pe.blocks.find(to);
        if (a != pe.blocks.end() && b != pe.blocks.end()) all.emplace_back(a->second, b->second);
      }
    }
    return all;
  }
  topology::Graph with_nodes(topology::Graph g) {
    for (const auto& [from, to] : pairs(g)) {
      const std::string id = "tap" + std::to_string(nodes_.size());
      if (nodes_.emplace(std::minmax(from, to), id).second)
        topology::insert_foreign(g, id, g.nodes[from].id, g.nodes[to].id);
    }
    return g;
  }
  void bind(const topology::Graph& g, uint32_t from, uint32_t to, const std::string& node) {
    Component &a = platform.component(from), &b = platform.component(to);
    ForeignNode& foreign = platform.foreign(node);
    const std::string name = node + (from < to ? "_there" : "_back");
    if (inside_pe(g, from, to)) {
      if (!a.pe_block()->command_initiator() || !b.pe_block()->command_target()) return;
      auto tap = std::make_unique<PeTap>(name.c_str());
      foreign.bind(tap->in, a.id());
      foreign.bind(tap->out, b.id());
      pe_taps[{from, to}] = std::move(tap);
      return;
    }
    FabricNode *x = a.fabric_node(), *y = b.fabric_node();
    if (!x || !y || !x->initiator_socket() || !y->target_socket()) return;
    auto tap = std::make_unique<Tap>(name.c_str());
    for (const char* side : {"_before", "_behind"}) {
      checkers_.push_back(std::make_unique<ProtocolChecker<>>((name + side).c_str()));
      checkers_.back()->monitor().set_report([this](const std::string& v) { violations.push_back(v); });
    }
    ProtocolChecker<>&before = **(checkers_.end() - 2), &behind = *checkers_.back();
    foreign.bind(before.target_socket, a.id());
    before.initiator_socket.bind(tap->in);
    tap->out.bind(behind.target_socket);
    foreign.bind(behind.initiator_socket, b.id());
    taps[{from, to}] = std::move(tap);
  }
  static bool inside_pe(const topology::Graph& g, uint32_t a, uint32_t b) {
    const auto has = [](const topology::Pe& pe, uint32_t n) {
      return std::any_of(pe.blocks.begin(), pe.blocks.end(), [n](const auto& x) { return x.second == n; });
    };
    return std::any_of(g.pes.begin(), g.pes.end(), [&](const topology::Pe& pe) { return has(pe, a) && has(pe, b); });
  }

  std::vector<std::unique_ptr<ProtocolChecker<>>> checkers_;
};

inline topology::Graph small(topology::Links links, topology::Response response) {
  topology::Overrides o;
  o.links = links;
  o.response = response;
  return topology::compile_file(topology_path("small.yaml"), component_catalog(), o);
}

struct LogCopy : OpLogSink {
  std::vector<OpRecord>* to;
  void record(OpRecord&& r) override { to->push_back(std::move(r)); }
};

}  // namespace kernbench::testing
