// Whatever a foreign block on a link does of what IEEE 1666 allows: is a kernel's result right, or a fault that says so,
// and does the simulation go on? KERNBENCH_HOSTILE_CASES and KERNBENCH_HOSTILE_SEED make a campaign of it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <sstream>

#include "hostile_blocks.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/launch/host_interface.h"
#include "kernbench/platform/tools/run.h"
#include "kernbench/platform/topology/graph/foreign_blocks.h"
#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/fabric/fabric_node.h"
#include "system_support.h"
#include "virtual_memory_kernels.h"

namespace kernbench::testing::foreign_blocks_may_do_anything {
namespace {

/// y = x or 2 x, by way of a range that is the PE's own: dense and strided, data and, if asked for, what is pending.
void through_scratch(tl::Context& tl, const tl::Args& args) {
  if (args["x"].empty()) return;
  const tl::Block x = args["x"], y = args["y"];
  const int64_t n = x.shape().elements();
  const auto own = x.ptr().unbounded() + (1 << 18);
  scratch.push_back({own.addr, 8 * static_cast<uint64_t>(n)});
  const auto a = tl.load(x);
  tl.store(own, a);
  const auto b = tl.load(own, {n});
  for (int64_t i = 0; i < n; ++i) {
    if (b(i) != a(i)) throw std::logic_error("reads back what was not written");
  }
  const int64_t rows = n / 32;
  if (rows > 0) {
    const tl::Block spread = own.block({rows, 8}, 16);
    tl.store(spread, tl.load(x.ptr(), {rows, 8}));
    const auto back = tl.load(spread);
    for (int64_t i = 0; i < rows * 8; ++i) {
      if (back(i / 8, i % 8) != a(i)) throw std::logic_error("reads back rows that were not written");
    }
  }
  if (!args.flag("pending")) {
    tl.store(y, b);
    return;
  }
  tl.store(own, a + b);
  tl.store(y, tl.load(own, {n}));
}

KernelSpec probe() {
  KernelSpec s = copying_kernel("hostile_probe", through_scratch);
  s.params.push_back(ParamSpec::flag("pending", false, "whether it moves what Phase 2 makes"));
  s.tensors[1].placement = Placement::rows;
  s.reference = [](const Params& p, const TensorMap& in) {
    std::vector<float> y = in.at("x").floats();
    for (float& v : y) v *= p.flag("pending") ? 2 : 1;
    return std::map<std::string, Expected>{{"y", {HostTensor::from(DType::f32, in.at("x").shape, y), {}}}};
  };
  return s;
}
const RegisterKernel registered{probe()};

/// Writes and reads back as a host would, beside the kernel.
class HostTraffic : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<HostTraffic> socket{"socket"};
  std::string wrong;
  bool done = false;
  size_t errors = 0;
  HostTraffic(sc_core::sc_module_name name, uint64_t address, uint32_t seed)
      : sc_module(name), address_(address), random_(seed) {
    SC_HAS_PROCESS(HostTraffic);
    SC_THREAD(run);
  }

 private:
  tlm::tlm_response_status access(bool write, uint64_t address, std::vector<uint8_t>& bytes) {
    Payload p;
    p.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    p.set_address(address);
    p.set_data_ptr(bytes.data());
    p.set_data_length(static_cast<unsigned>(bytes.size()));
    p.set_streaming_width(p.get_data_length());
    sc_core::sc_time t = sc_core::SC_ZERO_TIME;
    socket->b_transport(p, t);
    wait(t);
    return p.get_response_status();
  }
  void run() {
    for (int i = 0; i < 6; ++i) {
      std::vector<uint8_t> bytes(1 + random_() % 300), back(bytes.size());
      for (uint8_t& b : bytes) b = static_cast<uint8_t>(random_());
      const uint64_t at = address_ + random_() % 512;
      const bool ok = access(true, at, bytes) == tlm::TLM_OK_RESPONSE && access(false, at, back) == tlm::TLM_OK_RESPONSE;
      errors += !ok;
      if (ok && back != bytes) wrong = "the host reads back what it has not written";
    }
    done = true;
  }
  uint64_t address_;
  std::minstd_rand random_;
};

struct Case {
  uint32_t seed;
  std::string file, kernel, edge_from, edge_to;
  std::vector<std::pair<std::string, std::string>> params;
  topology::Links links;
  bool finite = false;  ///< buffers
  const HostileKind* kind;
  std::string to_string() const {
    std::ostringstream s;
    s << "seed " << seed << ": " << kind->name << " between " << edge_from << " and " << edge_to << " of " << file << ", "
      << topology::name_of(links)
      << (finite ? " with finite buffers, " : ", ") << kernel;
    for (const auto& [name, value] : params) s << " " << name << "=" << value;
    return s.str();
  }
};

topology::Graph graph_of(const Case& c) {
  topology::Overrides o;
  o.links = c.links;
  o.response = topology::Response::routed;
  if (c.finite) {
    o.settings.emplace_back("*.buffer_flits", static_cast<int>(2 + c.seed % 15));
    o.settings.emplace_back("*.vcs", static_cast<int>(1 + c.seed % 4));
  }
  return topology::compile_file(topology_path(c.file), component_catalog(), o);
}

Case draw(uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  Case c;
  c.seed = seed;
  c.file = std::vector<std::string>{"small.yaml", "one_cube.yaml"}[below(2)];
  c.links = std::vector{topology::Links::ideal, topology::Links::cut_through, topology::Links::flit}[below(3)];
  c.finite = c.links == topology::Links::flit && below(2) == 0;
  c.kind = &hostile_kinds()[seed % hostile_kinds().size()];
  const auto size = std::to_string(1 + below(3000));
  switch (below(5)) {
    case 0:
      c.kernel = "vector_add";
      c.params = {{"n", size}};
      break;
    case 1:
      c.kernel = "sendrecv";
      c.params = {{"n", size}};
      break;
    case 2:
      c.kernel = "gemm";
      c.params = {{"m", "64"}, {"n", "48"}, {"k", "40"}};
      break;
    default:
      c.kernel = "hostile_probe";
      c.params = {{"n", std::to_string(64 + below(3000))}, {"pending", below(2) ? "true" : "false"}};
  }
  if (const char* only = std::getenv("KERNBENCH_HOSTILE_KIND")) {
    for (const HostileKind& kind : hostile_kinds()) {
      if (std::string(only) == kind.name) c.kind = &kind;
    }
  }
  const topology::Graph g = graph_of(c);
  std::vector<const topology::Edge*> edges;
  for (const topology::Edge& e : g.edges) {
    const bool pe_cpu = g.nodes[e.from].kind == "pe_cpu" || g.nodes[e.to].kind == "pe_cpu";
    if (!pe_cpu && g.nodes[e.from].kind.rfind("pe_", 0) != 0) edges.push_back(&e);
    if (g.nodes[e.from].kind == "pe_dma" && g.nodes[e.to].kind.rfind("pe_", 0) != 0) edges.push_back(&e);
  }
  const topology::Edge& e = *edges[below(edges.size())];
  c.edge_from = g.nodes[e.from].id;
  c.edge_to = g.nodes[e.to].id;
  return c;
}

/// "verified", "fault: ...", or what is wrong.
std::string outcome(const Case& c) {
  alarm(120);
  scratch.clear();
  topology::Graph g = graph_of(c);
  const topology::Graph plain = g;
  topology::insert_foreign(g, "hostile", c.edge_from, c.edge_to);
  Platform platform("system", g);
  std::vector<std::unique_ptr<HostileBlock>> blocks;
  bool fails = false, loses = false;
  for (const auto& [from, to] : {std::pair(c.edge_from, c.edge_to), std::pair(c.edge_to, c.edge_from)}) {
    const auto node = [&](const std::string& id) -> FabricNode* {
      for (uint32_t n = 0; n < plain.nodes.size(); ++n) {
        if (plain.nodes[n].id == id) return platform.component(n).fabric_node();
      }
      return nullptr;
    };
    const auto edge = [&](const topology::Edge& e) {
      return plain.nodes[e.from].id == from && plain.nodes[e.to].id == to;
    };
    if (!std::any_of(plain.edges.begin(), plain.edges.end(), edge)) continue;
    if (!node(from) || !node(to) || !node(from)->initiator_socket() || !node(to)->target_socket()) continue;
    blocks.push_back(c.kind->make(("block" + std::to_string(blocks.size())).c_str(), c.seed));
    blocks.back()->bind(platform.foreign("hostile"), from, to);
    fails = blocks.back()->fails();
    loses = blocks.back()->loses_extensions();
  }
  const topology::Memory& last = g.memories[c.seed % g.memories.size()];
  HostTraffic host("host", last.base + last.size - 4096, c.seed);
  host.socket.bind(platform.host(0).socket());
  RunOptions o;
  o.kernel = c.kernel;
  o.params = c.params;
  o.verify = true;
  o.threads = 1;
  // A launch is answered when its kernel has ended. A block that takes one request at a time takes no other till then.
  if (c.kernel == "sendrecv") o.launch = LaunchMode::direct;
  std::string said;
  try {
    said = run_kernel(platform, std::move(o)).passed ? "verified" : "wrong: not verified";
  } catch (const RunError& e) {
    said = std::string("fault: ") + e.what();
  }
  const auto says = [&](const char* text) { return said.find(text) != std::string::npos; };
  const bool known = (fails && says("answered") && says("TLM_")) ||
                     (loses && (says("expected it to pass the payload on with its extensions") ||
                                says("expected the tiles of a composite to be passed on as they are") ||
                                says("expected messages between PEs to be passed on") ||
                                says("answered TLM_GENERIC_ERROR")));
  if (said != "verified" && !known) said = "wrong: " + said;
  if (said == "verified" && !host.done) sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_MS));
  if (said == "verified" && !host.done) said = "wrong: the host's access never ends";
  if (!host.wrong.empty()) said = "wrong: " + host.wrong;
  if (host.errors > 0 && !fails && !loses) said = "wrong: the host's access is answered with an error";
  return said;
}

TEST(HostileBlocks, leave_results_right_or_clearly_faulty) {
  const auto number = [](const char* name, unsigned long otherwise) {
    const char* text = std::getenv(name);
    return text ? std::strtoul(text, nullptr, 10) : otherwise;
  };
  const unsigned long cases = number("KERNBENCH_HOSTILE_CASES", 210), seed = number("KERNBENCH_HOSTILE_SEED", 1);
  std::map<std::string, std::pair<size_t, size_t>> kinds;  // verified, faults
  size_t verified = 0;
  for (unsigned long i = 0; i < cases; ++i) {
    const Case c = draw(static_cast<uint32_t>(seed + i));
    const std::string said = in_child([&] { return outcome(c); });
    const bool right = said == "verified", fault = said.rfind("fault: ", 0) == 0;
    EXPECT_TRUE(right || fault) << c.to_string() << "\n  " << said;
    EXPECT_EQ(said.find('\n'), std::string::npos) << c.to_string() << "\n  " << said;
    (right ? kinds[c.kind->name].first : kinds[c.kind->name].second)++;
    verified += right;
  }
  for (const auto& [name, counts] : kinds)
    std::cout << name << ": " << counts.first << " verified, " << counts.second << " faults\n";
  EXPECT_GT(verified * 2, cases);
}

}  // namespace
}  // namespace kernbench::testing::foreign_blocks_may_do_anything
