// SPDX-License-Identifier: Apache-2.0
// The implementations and attributes of timing rules §8, so that the compiler can be tested without SystemC.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernbench/systemc_models/core/impl_catalog.h"
#include "kernbench/systemc_models/core/links.h"
#include "kernbench/systemc_models/pe/queue_ports.h"

namespace kernbench::topology::testing {

class TestCatalog : public ImplCatalog {
 public:
  TestCatalog() {
    if (link_modes().all().empty()) {
      add_mode("ideal", [](LinkModeSpec& m) { m.standard = true; });
      add_mode("cut_through", [](LinkModeSpec&) {});
      add_mode("flit", [](LinkModeSpec& m) { m.routed = m.cuts_data = m.has_buffers = true; });
    }
    for (const char* k : {"router", "xbar", "bridge", "switch", "ucie", "noc", "io_noc", "io_cpu"})
      add(k, {flag("store_and_forward"), flag("multicast"), flag("reduces"), number("reduce_bw_gbs", 0, true),
              number("reduce_ns", 0, false)})
          .transit();
    add("pcie_ep", {flag("store_and_forward"), count("outstanding")}).transit().initiator();
    add("hbm_ctrl", {share("efficiency"), number("request_ns", 0, false), number("read_request_ns", 0, false)})
        .memory("hbm");
    add("hbm_ctrl",
        {share("efficiency"), required(count("pseudo_channels")), required(count("interleave_bytes")),
         rate("pc_bw_gbs", "GB/s"), text("hash", {"none", "xor"}), count("burst_bytes"), number("request_ns", 0, false),
         number("read_request_ns", 0, false)},
        "builtin.hbm_pc")
        .memory("hbm")
        .fault_together = [](const Attributes& given) -> std::optional<AttrFault> {
      if (given.integer("interleave_bytes", 0) % given.integer("burst_bytes", 1) == 0) return std::nullopt;
      return AttrFault{"burst_bytes", "does not go with interleave_bytes"};
    };
    add("sram", {number("request_ns", 0, false), number("read_request_ns", 0, false)}).memory("sram");
    add("foreign", {}).transit();
    add("port", {}).initiator();
    add("m_cpu", {count("rd_engines"), count("wr_engines")}).initiator();
    add("pe_dma", {count("rd_engines"), count("wr_engines"), count("queue_depth"), count("outstanding"),
                   flag("join_pieces"), number("range_bytes", 0, false)})
        .initiator()
        .engine({{{Stage::dma_read, StageWork::reads}, {Stage::dma_write, StageWork::writes}}, true})
        .leads_to({"pe_fetch_store", "pe_mmu", "pe_ipcq"});
    add("pe_cpu", {number("dispatch_cycles", 0, false), number("read_cycles", 0, false), number("freq_ghz", 0, true),
                   number("poll_ns", 0, false)})
        .leads_to({"pe_scheduler", "pe_ipcq"})
        .bound_without_edge_to({"pe_mmu"});
    add("pe_scheduler", {});
    add("pe_fetch_store", {count("queue_depth")})
        .engine({{{Stage::fetch, StageWork::fetches}, {Stage::store, StageWork::stores}}, true})
        .leads_to({"pe_gemm", "pe_math", "pe_tcm", "pe_dma"});
    add("pe_mmu",
        {count("page_bytes"), count("tlb_entries"), number("tlb_hit_ns", 0, false), number("tlb_miss_ns", 0, false)});
    std::vector<AttrSpec> queues = parameters_of<QueueParameters>().attributes();
    queues.erase(queues.begin());  // overhead_ns
    add("pe_ipcq", queues).leads_to({"pe_dma"});
    add("pe_tcm",
        {rate("size_mb", "MB"), rate("reserved_mb", "MB"), rate("read_bw_gbs", "GB/s"), rate("write_bw_gbs", "GB/s")});
    add("pe_gemm", {rate("macs_per_cycle", ""), rate("freq_ghz", "GHz"), rates("rates"), flag("stream_operands"),
                    count("queue_depth"), slot()})
        .engine({{{Stage::gemm, StageWork::macs}}, true})
        .leads_to({"pe_math", "pe_fetch_store"})
        .bound_without_edge_to({"pe_tcm"});
    AttrSpec dataflow = text("dataflow", {"os", "ws", "is"});
    dataflow.required = true;
    add("pe_gemm",
        {required(count("rows")), required(count("cols")), dataflow, rate("freq_ghz", "GHz"), flag("stream_operands"),
         count("queue_depth"), slot()},
        "builtin.pe_gemm_systolic");
    add("pe_math", {rate("lanes", ""), rate("freq_ghz", "GHz"), rates("cycles"), flag("stream_operands"),
                    count("queue_depth"), slot()})
        .engine({{{Stage::math, StageWork::elements}}, true})
        .leads_to({"pe_fetch_store"})
        .bound_without_edge_to({"pe_tcm"});
    for (const auto& [name, spec] : specs_) kinds_.add(spec);
  }
  /// With a user's implementations in addition.
  explicit TestCatalog(const std::vector<ImplSpec>& more) : TestCatalog() {
    for (const ImplSpec& s : more) kinds_.add(specs_[s.impl] = s);
  }

  const ImplSpec* find(const std::string& impl) const override {
    const auto it = specs_.find(impl);
    return it == specs_.end() ? nullptr : &it->second;
  }
  std::vector<const ImplSpec*> all() const override {
    std::vector<const ImplSpec*> v;
    for (const auto& [name, spec] : specs_) v.push_back(&spec);
    return v;
  }
  const Kinds& kinds() const override { return kinds_; }

 private:
  template <class Facts>
  static void add_mode(const char* name, Facts facts) {
    LinkModeSpec m;
    m.name = name;
    facts(m);
    link_modes().add(std::move(m));
  }
  static AttrSpec number(const char* name, double min, bool exclusive) {
    AttrSpec a;
    a.name = name;
    a.min = min;
    a.min_exclusive = exclusive;
    return a;
  }
  static AttrSpec rate(const char* name, const char* unit) {
    AttrSpec a = number(name, 0, true);
    a.unit = unit;
    a.required = true;
    return a;
  }
  static AttrSpec share(const char* name) {
    AttrSpec a = number(name, 0, true);
    a.max = 1;
    return a;
  }
  static AttrSpec count(const char* name) {
    AttrSpec a = number(name, 1, false);
    a.type = AttrType::integer;
    return a;
  }
  static AttrSpec required(AttrSpec a) {
    a.required = true;
    return a;
  }
  static AttrSpec flag(const char* name) {
    AttrSpec a;
    a.name = name;
    a.type = AttrType::boolean;
    return a;
  }
  static AttrSpec text(const char* name, std::vector<std::string> choices) {
    AttrSpec a;
    a.name = name;
    a.type = AttrType::string;
    a.choices = std::move(choices);
    return a;
  }
  static AttrSpec slot() { return text("shared_resource", {"accel_slot"}); }
  static AttrSpec rates(const char* name) {
    AttrSpec a = number(name, 0, true);
    a.type = AttrType::number_map;
    return a;
  }
  ImplSpec& add(const std::string& kind, std::vector<AttrSpec> attributes, std::string impl = "") {
    if (impl.empty()) impl = "builtin." + kind;
    attributes.insert(attributes.begin(), number("overhead_ns", 0, false));
    return specs_[impl] = {impl, kind, "", std::move(attributes)};
  }

  std::map<std::string, ImplSpec> specs_;
  Kinds kinds_;
};

}  // namespace kernbench::topology::testing
