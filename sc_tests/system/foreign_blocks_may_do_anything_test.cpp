// SPDX-License-Identifier: Apache-2.0
// A foreign block on a link does anything that IEEE 1666 allows. Is a kernel's result correct, or is there a fault that
// names the cause, and does the simulation continue? KERNBENCH_HOSTILE_CASES and KERNBENCH_HOSTILE_SEED make a
// campaign.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <sstream>

#include "hostile_engines.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/launch/host_interface.h"
#include "kernbench/platform/run/run.h"
#include "kernbench/platform/topology/graph/foreign_blocks.h"
#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/fabric/fabric_node.h"
#include "system_support.h"
#include "virtual_memory_kernels.h"

namespace kernbench::testing::foreign_blocks_may_do_anything {
namespace {

/// y = x or 2 x, through a range that belongs to the PE: dense and strided, with data and, optionally, pending values.
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

/// y = 2 x or 4 x, with ranges and atomics of each half of a range that belongs to the PE.
void through_ranges(tl::Context& tl, const tl::Args& args) {
  if (args["x"].empty()) return;
  const tl::Block x = args["x"], y = args["y"];
  const int64_t n = x.shape().elements(), half = n / 2;
  if (n % 2 > 0) {
    const double last = static_cast<float>(tl.load(x.ptr() + (n - 1), {1})(0)) * (args.flag("pending") ? 4 : 2);
    tl.store(y.ptr() + (n - 1), tl.tensor(std::vector<double>{last}, {1}, DType::f32));
  }
  if (half == 0) return;
  const auto own = x.ptr().unbounded() + (1 << 18);
  scratch.push_back({own.addr, 8 * static_cast<uint64_t>(half)});
  std::vector<int64_t> backwards(static_cast<size_t>(half));
  for (int64_t i = 0; i < half; ++i) backwards[static_cast<size_t>(i)] = half - 1 - i;
  const tl::Tensor index = tl.tensor(backwards, {half}, DType::i32);
  for (const int64_t from : {int64_t{0}, half}) {
    const auto there = own + from;
    const auto a = tl.load(x.ptr() + from, {half});
    tl.scatter(there, index, a);
    const auto b = tl.gather(there, index);
    const auto old = tl.atomic_add(there, index, a);
    const auto bits = tl.load(there.cast(DType::i32), {half});
    const auto same = tl.atomic_cas(there.cast(DType::i32).block({half}), bits, bits);
    for (int64_t i = 0; i < half; ++i) {
      if (b(i) != a(i)) throw std::logic_error("gathers what was not scattered");
      if (old(i) != a(i)) throw std::logic_error("an atomic gives what was not there");
      if (same(i) != bits(i)) throw std::logic_error("a compare-and-swap gives what was not there");
    }
    if (args.flag("pending")) tl.red_add(there, index, a + b);
    tl.store(y.ptr() + from, tl.gather(there, index));
  }
}

KernelSpec ranges() {
  KernelSpec s = copying_kernel("hostile_ranges", through_ranges);
  s.params.push_back(ParamSpec::flag("pending", false, "whether it moves what Phase 2 makes"));
  s.tensors[1].placement = Placement::rows;
  s.reference = [](const Params& p, const TensorMap& in) {
    std::vector<float> y = in.at("x").floats();
    for (float& v : y) v *= p.flag("pending") ? 4 : 2;
    return std::map<std::string, Expected>{{"y", {HostTensor::from(DType::f32, in.at("x").shape, y), {}}}};
  };
  return s;
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
const RegisterKernel registered[] = {RegisterKernel{probe()}, RegisterKernel{ranges()}};

/// Writes, reads back and exchanges with an atomic, like a host, concurrently with the kernel.
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
  /// A word without other users.
  void exchange(uint64_t address) {
    AtomicExtension e;
    e.op = "xchg";
    e.ranges = {{0, 4}};
    for (int i = 0; i < 4; ++i) e.operand.push_back(static_cast<uint8_t>(random_()));
    std::vector<uint8_t> bytes(4);
    Payload p;
    p.set_command(tlm::TLM_IGNORE_COMMAND);
    p.set_address(address);
    p.set_data_ptr(bytes.data());
    p.set_data_length(4);
    p.set_streaming_width(4);
    p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    p.set_extension(&e);
    sc_core::sc_time t = sc_core::SC_ZERO_TIME;
    socket->b_transport(p, t);
    p.clear_extension(&e);
    wait(t);
    const bool ok = p.get_response_status() == tlm::TLM_OK_RESPONSE;
    errors += !ok;
    if (ok != e.done) wrong = std::string(name()) + " is answered OK for an atomic that is not done, or the other way";
    if (ok && known_ && e.old != word_) wrong = std::string(name()) + " exchanges for what was not there";
    known_ |= ok;
    if (ok) word_ = e.operand;
    if (!ok) known_ = false;  // a block may report this for an executed one
  }
  void run() {
    for (int i = 0; i < 6; ++i) {
      std::vector<uint8_t> bytes(1 + random_() % 300), back(bytes.size());
      for (uint8_t& b : bytes) b = static_cast<uint8_t>(random_());
      const uint64_t at = address_ + random_() % 512;
      const bool ok =
          access(true, at, bytes) == tlm::TLM_OK_RESPONSE && access(false, at, back) == tlm::TLM_OK_RESPONSE;
      errors += !ok;
      if (ok && back != bytes) wrong = std::string(name()) + " reads back what it has not written";
      exchange(address_ + 1024);
    }
    done = true;
  }
  uint64_t address_;
  std::minstd_rand random_;
  std::vector<uint8_t> word_ = std::vector<uint8_t>(4);  ///< expected contents
  bool known_ = true;
};

/// Position and behaviour of a block.
struct Place {
  std::string from, to;
  const HostileKind* kind;
};

struct Case {
  uint32_t seed;
  std::string machine, text, kernel;  ///< the machine as text and as YAML
  std::vector<std::pair<std::string, std::string>> params;
  topology::Links links;
  bool finite = false;  ///< buffers
  bool stores = false;  ///< materialize: stores
  std::vector<Place> places;
  std::string to_string() const {
    std::ostringstream s;
    s << "seed " << seed << ": ";
    for (const Place& p : places) s << p.kind->name << " between " << p.from << " and " << p.to << ", ";
    s << machine << ", " << topology::name_of(links) << (finite ? " with finite buffers, " : ", ")
      << (stores ? "materialize: stores, " : "") << kernel;
    for (const auto& [name, value] : params) s << " " << name << "=" << value;
    return s.str();
  }
};

topology::Graph graph_of(const Case& c) {
  topology::Overrides o;
  o.links = c.links;
  o.response = topology::Response::routed;
  if (c.stores) o.materialize = topology::Materialize::stores;
  if (c.finite) {
    o.settings.emplace_back("*.buffer_flits", static_cast<int>(2 + c.seed % 15));
    o.settings.emplace_back("*.vcs", static_cast<int>(1 + c.seed % 4));
  }
  return topology::compile_text(c.text, "random.yaml", component_catalog(), o);
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  if (at == std::string::npos) throw std::logic_error("small.yaml has no '" + from + "'");
  return text.replace(at, from.size(), to);
}

/// small.yaml with random grid, PEs, cubes, memories and times, and a port for a foreign initiator.
void draw_machine(Case& c, const std::function<size_t(size_t)>& below) {
  const std::string columns = std::to_string(1 + below(4)), rows = std::to_string(1 + below(4));
  const std::string pes = std::to_string(1 + below(4)), cubes = std::to_string(1 + below(2));
  const std::string memory =
      std::vector<std::string>{"builtin.hbm_pc", "builtin.hbm_ctrl", "builtin.hbm_dram"}[below(3)];
  const auto ns = [&] { return std::to_string(below(70) / 10.0); };
  std::string t = read_file(topology_path("small.yaml"));
  t = with(t, "cubes: {w: 2,", "cubes: {w: " + cubes + ",");
  t = with(t, "grid: [4, 4]", "grid: [" + columns + ", " + rows + "]");
  t = with(t, "exclude: [1, 1, 2, 2]", "");
  t = with(t, "router: {attrs: {overhead_ns: 0.0}}", "router: {attrs: {overhead_ns: " + ns() + "}}");
  t = with(t, "count: 4 ", "count: " + pes + " ");
  t = with(t, "at: [r0c0, r0c3, r3c0, r3c3]", "");
  t = with(t, "attrs: {overhead_ns: 8.0}", "attrs: {overhead_ns: " + ns() + "}");
  t = with(t, "router_to_router: {bw_gbs: 256.0}",
           "router_to_router: {bw_gbs: " + std::to_string(16 << below(6)) + "}");
  t = with(t, "  # ports:                     # ",
           "  ports: [{at: r0c0, distance_mm: 0.5, bw_gbs: 64.0, attrs: {outstanding: 4}}]  # where");
  if (memory != "builtin.hbm_pc") {
    const size_t first = t.find("    impl: builtin.hbm_pc"), last = t.find("  sram:");
    t = t.replace(first, last - first, "    impl: " + memory + "\n");
  }
  c.text = t;
  c.machine = cubes + " cubes of " + columns + " x " + rows + " routers, " + pes + " PEs each, " + memory;
}

const HostileKind& draw_kind(uint32_t seed, size_t place) {
  const std::vector<HostileKind>& kinds = all_hostile_kinds();
  if (const char* only = std::getenv("KERNBENCH_HOSTILE_KIND")) {
    for (const HostileKind& kind : kinds) {
      if (std::string(only) == kind.name) return kind;
    }
  }
  return kinds[(seed + place * (1 + seed / kinds.size())) % kinds.size()];
}

/// Kernels with composites and chains of Phase 2's results.
void draw_computing(Case& c, const std::function<size_t(size_t)>& below) {
  const auto size = [&](size_t from, size_t more) { return std::to_string(from + below(more)); };
  switch (below(5)) {
    case 0:
      c.kernel = "gemm";
      c.params = {{"m", size(20, 60)}, {"n", size(20, 60)}, {"k", size(8, 90)}, {"tile_k", "32"}};
      break;
    case 1:
      c.kernel = "gemm_epilogue";
      c.params = {{"m", size(20, 60)}, {"n", size(20, 60)}, {"k", size(8, 60)}, {"activation", "gelu"}};
      break;
    case 2:
      c.kernel = "attention";
      c.params = {{"heads", "2"}, {"seq", size(8, 40)}, {"dim", "16"}};
      break;
    case 3:
      c.kernel = "mlp";
      c.params = {{"tokens", size(8, 24)}, {"dim", "32"}, {"hidden", size(16, 40)}};
      break;
    default:
      c.kernel = "softmax";
      c.params = {{"rows", size(4, 20)}, {"cols", size(4, 60)}};
  }
}

Case draw(uint32_t seed, bool stores) {
  std::mt19937 random(seed);
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  Case c;
  c.seed = seed;
  c.stores = stores;
  draw_machine(c, below);
  c.links = std::vector{topology::Links::ideal, topology::Links::cut_through, topology::Links::flit}[below(3)];
  c.finite = c.links == topology::Links::flit && below(2) == 0;
  const auto size = std::to_string(1 + below(3000));
  switch (below(7)) {
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
    case 3:
    case 4:
      c.kernel = "hostile_ranges";
      c.params = {{"n", std::to_string(2 + 2 * below(150))}, {"pending", below(2) ? "true" : "false"}};
      break;
    default:
      c.kernel = "hostile_probe";
      c.params = {{"n", std::to_string(64 + below(3000))}, {"pending", below(2) ? "true" : "false"}};
  }
  if (stores && below(2)) draw_computing(c, below);
  const topology::Graph g = graph_of(c);
  std::vector<const topology::Edge*> edges;
  for (const topology::Edge& e : g.edges) {
    const bool pe_cpu = g.nodes[e.from].kind == "pe_cpu" || g.nodes[e.to].kind == "pe_cpu";
    if (!pe_cpu && g.nodes[e.from].kind.rfind("pe_", 0) != 0) edges.push_back(&e);
    if (g.nodes[e.from].kind == "pe_dma" && g.nodes[e.to].kind.rfind("pe_", 0) != 0) edges.push_back(&e);
  }
  const size_t places = std::vector<size_t>{1, 2 + below(4), edges.size() / 2}[below(3)];
  for (size_t i = 0; i < places; ++i) {
    const topology::Edge& e = *edges[below(edges.size())];
    const std::string &from = g.nodes[e.from].id, &to = g.nodes[e.to].id;
    const bool taken = std::any_of(c.places.begin(), c.places.end(), [&](const Place& p) {
      return (p.from == from && p.to == to) || (p.from == to && p.to == from);
    });
    if (!taken) c.places.push_back({from, to, &draw_kind(seed, i)});
  }
  return c;
}

/// "verified", "fault: ...", or a defect.
std::string outcome(const Case& c) {
  alarm(120);
  scratch.clear();
  const topology::Graph plain = graph_of(c);
  topology::Graph g = plain;
  for (size_t i = 0; i < c.places.size(); ++i)
    topology::insert_foreign(g, "hostile" + std::to_string(i), c.places[i].from, c.places[i].to);
  Platform platform("system", g);
  std::vector<std::unique_ptr<HostileBlock>> blocks;
  bool fails = false, loses = false;
  for (size_t i = 0; i < c.places.size(); ++i) {
    const Place& place = c.places[i];
    for (const auto& [from, to] : {std::pair(place.from, place.to), std::pair(place.to, place.from)}) {
      const auto node = [&](const std::string& id) -> FabricNode* {
        return platform.component(plain.index_of.at(id)).fabric_node();
      };
      const bool edge = std::any_of(plain.edges.begin(), plain.edges.end(), [&](const topology::Edge& e) {
        return plain.nodes[e.from].id == from && plain.nodes[e.to].id == to;
      });
      if (!edge || !node(from) || !node(to) || !node(from)->initiator_socket() || !node(to)->target_socket()) continue;
      blocks.push_back(place.kind->make(("block" + std::to_string(blocks.size())).c_str(), c.seed));
      blocks.back()->bind(platform.foreign("hostile" + std::to_string(i)), from, to);
      fails |= blocks.back()->fails();
      loses |= blocks.back()->loses_extensions();
    }
  }
  const topology::Memory& last = g.memories[c.seed % g.memories.size()];
  HostTraffic host("host", last.base + last.size - 4096, c.seed), cpu("cpu", last.base + last.size - 8192, c.seed + 1);
  host.socket.bind(platform.host(0).socket());
  cpu.socket.bind(platform.port("sip0.cube0.port0").socket<32>());
  RunOptions o;
  o.kernel = c.kernel;
  o.params = c.params;
  o.verify = true;
  o.threads = 1;
  // A launch is answered when its kernel has ended. A block that takes one request at a time takes no other until then.
  if (c.kernel == "sendrecv") o.launch = LaunchMode::direct;
  std::string said;
  try {
    said = run_kernel(platform, std::move(o)).passed ? "verified" : "wrong: not verified";
  } catch (const RunError& e) {
    said = std::string("fault: ") + e.what();
  }
  // Blocks with only b_transport lack debug transport, which others use for responses.
  const bool silent = std::any_of(c.places.begin(), c.places.end(), [](const Place& p) {
    const std::string name = p.kind->name;
    return name == "multi_blocks" || name == "passthrough_blocks";
  });
  const auto says = [&](const char* text) { return said.find(text) != std::string::npos; };
  const bool known =
      (fails && says("answered") && says("TLM_")) || (loses && silent && says("answered TLM_GENERIC_ERROR")) ||
      (loses && !c.stores &&
       (says("expected it to pass the payload on with its extensions") ||
        says("expected the tiles of a composite to be passed on as they are") || says("answered TLM_GENERIC_ERROR"))) ||
      (loses && (says("expected messages between PEs to be passed on") ||
                 says("expected foreign blocks to pass the payload on with its extensions")));
  if (said != "verified" && !known) said = "wrong: " + said;
  for (const HostTraffic* t : {&host, &cpu}) {
    if (said == "verified" && !t->done) sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_MS));
    if (said == "verified" && !t->done) said = std::string("wrong: an access of ") + t->name() + " never ends";
    if (!t->wrong.empty()) said = "wrong: " + t->wrong;
    if (t->errors > 0 && !fails && !loses) said = std::string("wrong: an access of ") + t->name() + " has an error";
  }
  return said;
}

class HostileBlocks : public ::testing::TestWithParam<bool> {};

/// With `materialize: stores`, a block that preserves data causes no fault, even with its own payloads.
TEST_P(HostileBlocks, leave_results_right_or_clearly_faulty) {
  const auto number = [](const char* name, unsigned long otherwise) {
    const char* text = std::getenv(name);
    return text ? std::strtoul(text, nullptr, 10) : otherwise;
  };
  const unsigned long cases = number("KERNBENCH_HOSTILE_CASES", GetParam() ? 200 : 240),
                      seed = number("KERNBENCH_HOSTILE_SEED", 1);
  std::map<std::string, std::pair<size_t, size_t>> kinds;  // verified, faults
  size_t verified = 0;
  for (unsigned long i = 0; i < cases; ++i) {
    const Case c = draw(static_cast<uint32_t>(seed + i), GetParam());
    const std::string said = in_child([&] { return outcome(c); });
    const bool right = said == "verified", fault = said.rfind("fault: ", 0) == 0;
    EXPECT_TRUE(right || fault) << c.to_string() << "\n  " << said;
    EXPECT_EQ(said.find('\n'), std::string::npos) << c.to_string() << "\n  " << said;
    (right ? kinds[c.places[0].kind->name].first : kinds[c.places[0].kind->name].second)++;
    verified += right;
  }
  std::cout << "seeds " << seed << " to " << seed + cases - 1 << "; by the first block's kind:\n";
  for (const auto& [name, counts] : kinds)
    std::cout << name << ": " << counts.first << " verified, " << counts.second << " faults\n";
  EXPECT_GT(verified * 2, cases);
}
INSTANTIATE_TEST_SUITE_P(with, HostileBlocks, ::testing::Bool(),
                         [](const auto& p) { return p.param ? "real_bytes" : "pending_bytes"; });

}  // namespace
}  // namespace kernbench::testing::foreign_blocks_may_do_anything
