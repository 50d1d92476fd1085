// SPDX-License-Identifier: Apache-2.0
// `cube.noc.type: foreign`: a TLM-2.0 model of a NoC replaces the mesh of every cube. Do kernels, messages between PEs
// and launches pass it, with the times of the built-in zero-delay block (`type: single`)?
#include <gtest/gtest.h>
#include <tlm_utils/multi_passthrough_initiator_socket.h>
#include <tlm_utils/multi_passthrough_target_socket.h>

#include <map>

#include "kernbench/platform/elaborate/foreign_node.h"
#include "kernbench/platform/elaborate/foreign_routes.h"
#include "kernbench/platform/run/run.h"
#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/fabric/fabric_node.h"
#include "kernbench/systemc_models/protocol/multicast_extension.h"
#include "system_support.h"
#include "tlm_support.h"

namespace kernbench::testing {
namespace {

/// AT: from any neighbour to any other, all concurrently, by the platform's routes. A multicast goes on as own
/// payloads, one for each neighbour with destinations behind it.
class OwnNoc : public sc_core::sc_module {
 public:
  tlm_utils::multi_passthrough_target_socket<OwnNoc, 512> in{"in"};
  tlm_utils::multi_passthrough_initiator_socket<OwnNoc, 512> out{"out"};
  size_t requests = 0, forks = 0;
  OwnNoc(sc_core::sc_module_name name, double delay_ns) : sc_module(name), delay_(delay_ns, sc_core::SC_NS) {
    in.register_nb_transport_fw(this, &OwnNoc::forward);
    in.register_transport_dbg(this, &OwnNoc::debug);
    out.register_nb_transport_bw(this, &OwnNoc::backward);
  }
  void bind_neighbour(ForeignNode& place, const std::string& id, bool sends, bool takes) {
    if (sends) {
      place.bind(in, id);
    }
    if (takes) {
      to_.emplace(id, static_cast<int>(to_.size()));
      place.bind(out, id);
    }
  }

 private:
  struct Way {
    int from, to;
  };
  struct Branch {
    tlm::tlm_generic_payload* whole;
    MulticastExtension destinations;
  };
  tlm::tlm_sync_enum forward(int i, tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time& t) {
    if (phase == tlm::BEGIN_REQ) {
      ++requests;
      const auto* e = p.get_extension<MulticastExtension>();
      if (e && e->destinations.size() > 1) return fork(i, p, *e, phase, t);
      ways_[&p] = {i, to_.at(heads_for(p))};
      t += delay_;
    }
    return out[ways_.at(&p).to]->nb_transport_fw(p, phase, t);
  }
  tlm::tlm_sync_enum fork(int i, tlm::tlm_generic_payload& p, const MulticastExtension& e, tlm::tlm_phase& phase,
                          const sc_core::sc_time& t) {
    ++forks;
    std::map<std::string, MulticastExtension> parts;
    for (const uint64_t d : e.destinations) parts[heads_for(p, d)].destinations.push_back(d);
    forked_[&p] = {i, parts.size()};
    for (auto& [id, part] : parts) {
      tlm::tlm_generic_payload& q = *pool_.take();
      q.set_command(p.get_command());
      q.set_address(part.destinations.front());
      q.set_data_ptr(p.get_data_ptr());
      q.set_data_length(p.get_data_length());
      q.set_streaming_width(p.get_data_length());
      q.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
      Branch& b = branches_[&q] = {&p, part};
      q.set_extension(&b.destinations);
      tlm::tlm_phase begin = tlm::BEGIN_REQ;
      sc_core::sc_time delay = t + delay_;
      EXPECT_NE(out[to_.at(id)]->nb_transport_fw(q, begin, delay), tlm::TLM_COMPLETED);
    }
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }
  tlm::tlm_sync_enum branch_back(tlm::tlm_generic_payload& q, const tlm::tlm_phase& phase, sc_core::sc_time& t) {
    if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
    EXPECT_EQ(q.get_response_status(), tlm::TLM_OK_RESPONSE);
    auto branch = branches_.extract(&q);
    q.clear_extension(&branch.mapped().destinations);
    q.release();
    tlm::tlm_generic_payload& whole = *branch.mapped().whole;
    auto& [from, left] = forked_.at(&whole);
    if (--left > 0) return tlm::TLM_COMPLETED;
    whole.set_response_status(tlm::TLM_OK_RESPONSE);
    tlm::tlm_phase response = tlm::BEGIN_RESP;
    in[from]->nb_transport_bw(whole, response, t);
    return tlm::TLM_COMPLETED;
  }
  tlm::tlm_sync_enum backward(int, tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time& t) {
    if (branches_.count(&p)) return branch_back(p, phase, t);
    return in[ways_.at(&p).from]->nb_transport_bw(p, phase, t);
  }
  unsigned debug(int, tlm::tlm_generic_payload& p) { return out[to_.begin()->second]->transport_dbg(p); }

  const sc_core::sc_time delay_;
  std::map<std::string, int> to_;
  std::map<const tlm::tlm_generic_payload*, Way> ways_;
  PayloadPool pool_;
  std::map<const tlm::tlm_generic_payload*, Branch> branches_;
  std::map<const tlm::tlm_generic_payload*, std::pair<int, size_t>> forked_;
};

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// small.yaml with this NoC in its cubes.
std::string machine(const std::string& noc) {
  std::string t = read_file(topology_path("small.yaml"));
  const size_t first = t.find("  noc:\n    type: mesh"), last = t.find("  pe_layout:");
  t.replace(first, last - first, "  noc: " + noc + "\n");
  replace_all(t, "    at: [r0c0, r0c3, r3c0, r3c3]", "    ");
  replace_all(t, "    router_to_router:", "    #");
  replace_all(t, "_to_router:", "_to_noc:");
  replace_all(t, "    router_to_", "    noc_to_");
  return t;
}

struct NocRun {
  topology::Links links;
  topology::Response response;
  bool finite;
  const char* kernel;
  std::vector<std::pair<std::string, std::string>> params;
  bool forks = false;  ///< the NoC's attribute `multicast`
  topology::Materialize materialize = topology::Materialize::none;
};

/// The end of a run in ns, or a fault. `delay_ns`: of each user-defined NoC; none: the built-in block.
std::string end_of(const NocRun& r, std::optional<double> delay_ns) {
  topology::Overrides o;
  o.links = r.links;
  o.response = r.response;
  if (r.finite) o.settings = {{"*.buffer_flits", 4}, {"*.vcs", 2}};
  if (r.forks && delay_ns) o.settings.emplace_back("*.noc.multicast", true);
  o.materialize = r.materialize;
  const topology::Graph g = topology::compile_text(machine(delay_ns ? "{type: foreign}" : "{type: single}"), "own.yaml",
                                                   component_catalog(), o);
  Platform platform("system", g);
  std::vector<std::unique_ptr<OwnNoc>> nocs;
  for (uint32_t n = 0; n < g.nodes.size() && delay_ns; ++n) {
    if (g.nodes[n].kind != "foreign") continue;
    nocs.push_back(std::make_unique<OwnNoc>(("noc" + std::to_string(nocs.size())).c_str(), *delay_ns));
    for (const uint32_t e : g.out_edges[n]) {
      FabricNode& neighbour = *platform.component(g.edges[e].to).fabric_node();
      nocs.back()->bind_neighbour(platform.foreign(g.nodes[n].id), g.nodes[g.edges[e].to].id,
                                  neighbour.initiator_socket(), neighbour.target_socket());
    }
  }
  RunOptions options;
  options.kernel = r.kernel;
  options.params = r.params;
  options.verify = true;
  options.threads = 1;
  const RunReport report = run_kernel(platform, std::move(options));
  if (!report.passed) return "not verified";
  for (const auto& noc : nocs) {
    if (r.forks && noc->forks == 0) return std::string(noc->name()) + ": no multicast has come";
    if (noc->requests == 0) return std::string(noc->name()) + ": nothing has passed";
  }
  return std::to_string(report.end_ns);
}

TEST(OwnNoc, takes_the_place_of_a_mesh) {
  using topology::Links;
  using topology::Response;
  for (const NocRun& r :
       std::vector<NocRun>{{Links::ideal, Response::routed, false, "vector_add", {{"n", "5000"}}},
                           {Links::ideal, Response::routed, false, "gemm", {{"m", "96"}, {"n", "64"}, {"k", "80"}}},
                           {Links::ideal, Response::ideal, false, "vector_add", {{"n", "5000"}}},
                           {Links::cut_through, Response::ideal, false, "vector_add", {{"n", "5000"}}},
                           {Links::cut_through, Response::routed, false, "all_reduce", {{"n", "600"}}},
                           {Links::flit, Response::routed, false, "sendrecv", {{"n", "1500"}}},
                           {Links::flit, Response::routed, true, "all_to_all", {{"n", "512"}}}}) {
    const std::string ours = in_child([&] { return end_of(r, std::nullopt); });
    const std::string none = in_child([&] { return end_of(r, 0.0); }), late = in_child([&] { return end_of(r, 5.0); });
    ASSERT_EQ(ours.find_first_not_of("0123456789."), std::string::npos) << r.kernel << ": " << ours;
    ASSERT_EQ(none.find_first_not_of("0123456789."), std::string::npos) << r.kernel << ": " << none;
    ASSERT_EQ(late.find_first_not_of("0123456789."), std::string::npos) << r.kernel << ": " << late;
    if (r.links == Links::ideal) {
      EXPECT_NEAR(std::stod(none), std::stod(ours), 1e-3) << r.kernel;
    }
    EXPECT_GT(std::stod(late), std::stod(none)) << r.kernel;
  }
}

TEST(OwnNoc, forks_multicasts_by_own_payloads) {
  using topology::Links;
  const std::vector<std::pair<std::string, std::string>> pending = {{"pending", "true"}};
  for (const auto links : {Links::ideal, Links::cut_through, Links::flit}) {
    NocRun r = {links, topology::Response::routed, false, "spread", {}};
    EXPECT_NE(in_child([&] { return end_of(r, 0.0); }).find(".noc; expected its attribute multicast: true"),
              std::string::npos);
    r.forks = true;
    const std::string ours = in_child([&] { return end_of(r, std::nullopt); });
    const std::string none = in_child([&] { return end_of(r, 0.0); });
    ASSERT_EQ(none.find_first_not_of("0123456789."), std::string::npos) << none;
    // Own payloads enter at the neighbours, so the link behind the block costs nothing, and adds no queue.
    EXPECT_LE(std::stod(none), std::stod(ours) + 1e-3);
    EXPECT_GE(std::stod(none), std::stod(ours) - 20);
    // Bytes of Phase 2 go on by own payloads where they are computed in Phase 1.
    NocRun spread = {links, topology::Response::routed, false, "spread", pending};
    spread.forks = true;
    EXPECT_NE(in_child([&] { return end_of(spread, 0.0); }).find("a foreign block has taken bytes that"),
              std::string::npos);
    spread.materialize = topology::Materialize::stores;
    const std::string real = in_child([&] { return end_of(spread, 0.0); });
    EXPECT_EQ(real.find_first_not_of("0123456789."), std::string::npos) << real;
  }
}

TEST(OwnNoc, that_cannot_be_is_told_in_one_line) {
  const auto fault = [](const std::string& yaml) -> std::string {
    try {
      topology::compile_text(yaml, "own.yaml", component_catalog());
    } catch (const topology::TopologyError& e) {
      return e.what();
    }
    return "none";
  };
  EXPECT_EQ(fault(machine("{type: single}")), "none");
  EXPECT_EQ(fault(machine("{type: single, noc: {attrs: {overhead_ns: 2.0}}}")), "none");
  EXPECT_NE(fault(machine("{type: foreign, noc: {}}")).find("cube.noc"), std::string::npos);
  EXPECT_NE(fault(machine("{type: torus}")).find("legal: mesh, crossbar, single, foreign"), std::string::npos);
  std::string t = machine("{type: foreign}");
  t.replace(t.find("  # ports:                     # "), 5, "  ports: [{at: pe0, bw_gbs: 1}] #");
  EXPECT_NE(fault(t).find("found 'pe0'; legal: noc"), std::string::npos) << fault(t);
  // Unbound: reported before the run.
  EXPECT_NE(in_child([&]() -> std::string {
              Platform platform("system",
                                topology::compile_text(machine("{type: foreign}"), "own.yaml", component_catalog()));
              sc_core::sc_start(sc_core::SC_ZERO_TIME);
              return "runs";
            }).find("sip0.cube0.noc: nothing is bound that"),
            std::string::npos);
}

}  // namespace
}  // namespace kernbench::testing
