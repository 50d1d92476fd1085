// SPDX-License-Identifier: Apache-2.0
// Foreign blocks inside the tree of a multicast (rules §19.10): observers, and blocks that fork it by payloads of their
// own. Do all memories get the bytes, does the initiator get one response, and who is refused?
#include <gtest/gtest.h>
#include <map>

#include "hostile_blocks.h"
#include "kernbench/kernel_api/kernels/common.h"
#include "kernbench/kernel_api/tl.h"
#include "kernbench/platform/elaborate/foreign_node.h"
#include "kernbench/platform/elaborate/foreign_routes.h"
#include "kernbench/platform/run/run.h"
#include "kernbench/systemc_models/host/port.h"
#include "kernbench/systemc_models/protocol/multicast_extension.h"
#include "system_support.h"
#include "tapped_system.h"
#include "tlm_support.h"

namespace kernbench::testing::multicasts_past_foreign_blocks {
namespace {

const char* const kModes[] = {"links: ideal, response: ideal", "links: ideal, response: routed",
                              "links: cut_through, response: routed", "links: flit, flit_bytes: 256, response: routed",
                              "links: flit, flit_bytes: 256, response: routed, buffers"};

/// cpu - r - hub - a, b (routers) - m1, m2 | m3, and r - m4. `hub`: the node's kind and attributes.
std::string machine(std::string timing, const std::string& hub) {
  const size_t buffers = timing.find(", buffers");
  const bool finite = buffers != std::string::npos;
  if (finite) timing.resize(buffers);
  const std::string room = finite ? ", buffer_flits: 8" : "";
  std::string text = "ns_per_mm: 1.0\ntiming: {" + timing + R"(, header_bytes: 16}
nodes:
  - {id: cpu, kind: port}
  - {id: hub, )" + hub +
                     "}\n";
  for (const char* router : {"r", "a", "b"})
    text += std::string("  - {id: ") + router + ", kind: router, attrs: {overhead_ns: 5" + room + "}}\n";
  for (const char* m : {"m1", "m2", "m3", "m4"})
    text += std::string("  - {id: ") + m + ", kind: hbm_ctrl, attrs: {overhead_ns: 10" + room + "}}\n";
  text += "links:\n";
  for (const char* ends : {"from: cpu, to: r", "from: r, to: hub", "from: hub, to: a", "from: hub, to: b",
                           "from: a, to: m1", "from: a, to: m2", "from: b, to: m3", "from: r, to: m4"})
    text += std::string("  - {") + ends + ", distance_mm: 1, bw_gbs: 64}\n";
  text += "memories:\n";
  for (const char m : {'1', '2', '3', '4'})
    text += std::string("  - {node: m") + m + ", space: hbm, base: 0x" + m + "000, size: 0x1000}\n";
  return text;
}

enum class Forks { own_payloads, keeps_first, without_extension, error, other_address };

/// LT: sends one payload to each neighbour with destinations behind it, one after the other.
class Hub : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<Hub> in{"in"};
  tlm_utils::simple_initiator_socket<Hub> to_a{"to_a"}, to_b{"to_b"};
  size_t multicasts = 0, sent = 0;

  Hub(sc_core::sc_module_name name, Forks forks) : sc_module(name), forks_(forks) {
    in.register_b_transport(this, &Hub::access);
    in.register_transport_dbg(this, &Hub::debug);
  }

 private:
  bool behind_a(uint64_t address) const { return address < 0x3000; }
  tlm_utils::simple_initiator_socket<Hub>& way(uint64_t address) { return behind_a(address) ? to_a : to_b; }
  unsigned debug(Payload& p) { return way(p.get_address())->transport_dbg(p); }
  void access(Payload& p, sc_core::sc_time& t) {
    auto* e = p.get_extension<MulticastExtension>();
    if (!e) return way(p.get_address())->b_transport(p, t);
    ++multicasts;
    EXPECT_EQ(e->destinations.front(), p.get_address());
    for (const uint64_t d : e->destinations) EXPECT_EQ(heads_for(p, d), behind_a(d) ? "a" : "b");
    if (forks_ == Forks::error) return p.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    std::map<bool, std::vector<uint64_t>> branches;
    for (const uint64_t d : e->destinations) branches[behind_a(d)].push_back(d);
    const bool kept = behind_a(p.get_address());
    if (forks_ == Forks::other_address) {
      p.set_address(e->destinations.back());
      return way(p.get_address())->b_transport(p, t);
    }
    for (auto& [a, destinations] : branches) {
      if (forks_ == Forks::keeps_first && a == kept) continue;
      MulticastExtension own = *e;
      own.destinations = destinations;
      Payload q;
      q.set_command(p.get_command());
      q.set_address(destinations.front());
      q.set_data_ptr(p.get_data_ptr());
      q.set_data_length(p.get_data_length());
      q.set_streaming_width(p.get_data_length());
      q.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
      if (forks_ != Forks::without_extension) q.set_extension(&own);
      way(q.get_address())->b_transport(q, t);
      q.clear_extension(&own);
      ++sent;
      EXPECT_EQ(q.get_response_status(), tlm::TLM_OK_RESPONSE);
    }
    if (forks_ == Forks::keeps_first) return way(p.get_address())->b_transport(p, t);
    p.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  const Forks forks_;
};

/// The directions of the hub's links that carry nothing.
struct OtherWays : sc_core::sc_module {
  tlm_utils::simple_target_socket<OtherWays> from_a{"from_a"}, from_b{"from_b"};
  tlm_utils::simple_initiator_socket<OtherWays> to_r{"to_r"};
  OtherWays(sc_core::sc_module_name name, ForeignNode& hub) : sc_module(name) {
    from_a.register_b_transport(this, &OtherWays::none);
    from_b.register_b_transport(this, &OtherWays::none);
    hub.bind(from_a, "a");
    hub.bind(from_b, "b");
    hub.bind(to_r, "r");
  }
  void none(Payload&, sc_core::sc_time&) { FAIL() << "a request from a memory"; }
};

struct Silent : sc_core::sc_module {
  tlm_utils::simple_initiator_socket<Silent> out{"out"};
  explicit Silent(sc_core::sc_module_name name) : sc_module(name) {}
};

struct Outcome {
  tlm::tlm_response_status status = tlm::TLM_INCOMPLETE_RESPONSE;
  double done_ns = 0;
  std::vector<std::vector<uint8_t>> seen;
};

/// A write of 512 bytes to the destinations by a foreign initiator, and what their memories hold then.
Outcome write_to_all(const Platform& platform, const std::vector<uint64_t>& to, bool combined) {
  Outcome out;
  LtInitiator cpu("cpu_model", [&](LtInitiator& self) {
    Shape write;
    write.command = tlm::TLM_WRITE_COMMAND;
    write.address = to.front();
    for (size_t i = 0; i < 512; ++i) write.data.push_back(static_cast<uint8_t>(i * 7));
    MulticastExtension e;
    e.destinations = to;
    e.combined = combined;
    Payload p;
    write.fill(p);
    p.set_extension(&e);
    sc_core::sc_time none;
    self.socket->b_transport(p, none);
    p.clear_extension(&e);
    out.status = p.get_response_status();
    out.done_ns = now_ns();
    for (const uint64_t address : to) {
      Shape seen;
      seen.address = address;
      seen.data.resize(512);
      self.access(seen);
      seen.data.resize(seen.data == write.data ? 1 : 512);
      out.seen.push_back(std::move(seen.data));
    }
  });
  cpu.socket.bind(const_cast<Platform&>(platform).port("cpu").socket());
  sc_core::sc_start();
  EXPECT_TRUE(cpu.finished);
  return out;
}

/// Text of the outcome: "" if all memories hold the bytes.
std::string run_hub(const char* mode, const std::string& hub, Forks forks, const std::vector<uint64_t>& to,
                    bool combined) {
  return in_child([&]() -> std::string {
    const auto platform = platform_from_text(machine(mode, "kind: foreign" + hub));
    Hub block("hub_model", forks);
    OtherWays others("others", platform->foreign("hub"));
    platform->foreign("hub").bind(block.in, "r");
    platform->foreign("hub").bind(block.to_a, "a");
    platform->foreign("hub").bind(block.to_b, "b");
    const Outcome out = write_to_all(*platform, to, combined);
    if (out.status != tlm::TLM_OK_RESPONSE) return platform->port("cpu").last_error();
    for (const auto& bytes : out.seen) {
      if (bytes.size() != 1) return "other bytes";
    }
    return block.multicasts == 1 ? "" : "no multicast has come";
  });
}

TEST(Multicasts, are_forked_by_a_foreign_block) {
  for (const char* mode : kModes) {
    for (const bool combined : {false, true}) {
      for (const Forks forks : {Forks::own_payloads, Forks::keeps_first}) {
        SCOPED_TRACE(std::string(mode) + (combined ? ", combined" : "") + std::to_string(static_cast<int>(forks)));
        const std::string attrs = ", attrs: {multicast: true}";
        EXPECT_EQ(run_hub(mode, attrs, forks, {0x1000, 0x2400, 0x3000}, combined), "");
        EXPECT_EQ(run_hub(mode, attrs, forks, {0x3000, 0x4000, 0x1000}, combined), "");
        EXPECT_EQ(run_hub(mode, attrs, forks, {0x4000, 0x2000, 0x3000, 0x1000}, combined), "");
      }
    }
  }
}

TEST(Multicasts, that_a_foreign_block_would_not_deliver_are_refused) {
  const std::string knows = ", attrs: {multicast: true}";
  for (const char* mode : kModes) {
    SCOPED_TRACE(mode);
    const std::vector<uint64_t> parts = {0x1000, 0x3000}, same = {0x1000, 0x2000};
    EXPECT_EQ(run_hub(mode, "", Forks::own_payloads, parts, false),
              "cpu: write to 0x1000, 512 bytes: multicast: the routes part in the foreign block hub; expected its "
              "attribute multicast: true, and not a message between PEs");
    // A block that is no fork passes the payload on. One that uses its own must know the extension.
    EXPECT_EQ(run_hub(mode, "", Forks::keeps_first, same, false), "");
    EXPECT_NE(run_hub(mode, "", Forks::without_extension, same, false).find("hub has answered it"), std::string::npos);
    EXPECT_NE(run_hub(mode, knows, Forks::other_address, parts, false).find("hub has changed its address"),
              std::string::npos);
    EXPECT_EQ(run_hub(mode, knows, Forks::error, parts, true), "cpu: multicast: an error at 0x1000");
  }
}

/// An observer in front of the fork: separate acknowledgements come to it as one.
TEST(Multicasts, pass_an_observer_at_their_times) {
  for (const char* mode : kModes) {
    for (const bool combined : {false, true}) {
      SCOPED_TRACE(std::string(mode) + (combined ? ", combined" : ""));
      const std::vector<uint64_t> to = {0x1000, 0x2000};
      const auto time_of = [&](bool observed) {
        return in_child([&] {
          const auto platform = platform_from_text(machine(mode, observed ? "kind: foreign" : "kind: router"));
          std::unique_ptr<Tap> there;
          std::unique_ptr<OtherWays> others;
          std::unique_ptr<Silent> silent;
          if (observed) {
            there = std::make_unique<Tap>("there");
            platform->foreign("hub").bind(there->in, "r");
            platform->foreign("hub").bind(there->out, "a");
            others = std::make_unique<OtherWays>("others", platform->foreign("hub"));
            silent = std::make_unique<Silent>("silent");
            platform->foreign("hub").bind(silent->out, "b");
          }
          const Outcome out = write_to_all(*platform, to, combined);
          if (out.status != tlm::TLM_OK_RESPONSE) return platform->port("cpu").last_error();
          if (there && (there->calls != 3 || there->responses != 3)) return std::string("more than one payload");
          return std::to_string(out.done_ns);
        });
      };
      const std::string plain = time_of(false), observed = time_of(true);
      const double separate = std::stod(plain), together = std::stod(observed);
      EXPECT_GT(together, 0) << observed;
      EXPECT_LE(together, separate + 1e-3);
      // At most the header of one acknowledgement less on each of two links.
      EXPECT_GE(together, separate - (combined ? 1e-3 : 0.5 + 1e-3));
    }
  }
}

// ---- PEs

/// copies of 2 s, or of s, in the memories of all PEs.
void spread(tl::Context& tl, const tl::Args& args) {
  if (tl.index() != 0) return;
  std::vector<tl::Ptr> all;
  for (uint32_t pe = 0; pe < args.shards(); ++pe) all.push_back(args.shard("copies", pe).ptr);
  const tl::Tensor s = tl.load(args["s"]);
  tl.multicast(all, args.flag("pending") ? s * 2 : s);
}

KernelSpec spread_spec() {
  KernelSpec s;
  s.name = "spread";
  s.help = "copies = s, or 2 s, by a multicast";
  s.params = {ParamSpec::size("n", 600, "elements"), ParamSpec::flag("pending", false, "2 s, which Phase 2 computes"),
              ParamSpec::dtypes({DType::f32})};
  const auto copies = [](const Params& p) {
    return Dims{p.launch() ? static_cast<int64_t>(p.launch()->pes.size()) : 1, p.integer("n")};
  };
  s.tensors = {kernels::input("s", {"n"}, Placement::single), kernels::output("copies", {"n"}, Placement::rows)};
  s.tensors[1].shape = copies;
  s.function = spread;
  s.reference = [copies](const Params& p, const TensorMap& in) {
    std::vector<float> all;
    for (int64_t i = 0; i < copies(p)[0]; ++i) {
      for (const float v : in.at("s").floats()) all.push_back(p.flag("pending") ? v * 2 : v);
    }
    return std::map<std::string, Expected>{{"copies", {HostTensor::from(DType::f32, copies(p), all), {}}}};
  };
  return s;
}
const RegisterKernel registered{spread_spec()};

/// "" if a run verifies, and its log replays to the same; else what it says.
std::string spread_in(Platform& platform, bool pending) {
  RunOptions o;
  o.kernel = "spread";
  o.params = {{"pending", pending ? "true" : "false"}};
  o.verify = true;
  o.check_races = true;
  o.threads = 1;
  const RunReport report = run_kernel(platform, std::move(o));
  return report.passed ? "" : "not verified";
}

TEST(MulticastsOfPes, pass_observers_at_every_socket) {
  for (const auto links : {topology::Links::ideal, topology::Links::cut_through, topology::Links::flit}) {
    for (const bool pending : {false, true}) {
      SCOPED_TRACE(std::string(topology::name_of(links)) + (pending ? ", pending" : ""));
      EXPECT_EQ(in_child([&]() -> std::string {
                  Tapped system("system", small(links, topology::Response::routed));
                  const std::string said = spread_in(system.platform, pending);
                  size_t writes = 0;
                  for (const auto& [ends, tap] : system.taps) {
                    std::map<uint64_t, size_t> seen;
                    for (const auto& [request, n] : tap->requests) {
                      if (request.second) seen[request.first] += n;
                    }
                    for (const auto& [address, n] : seen) {
                      if (n != 1) return "a write twice over one edge";
                    }
                    writes += seen.size();
                  }
                  if (writes == 0) return "no write was seen";
                  return system.violations.empty() ? said : system.violations.front();
                }),
                "");
    }
  }
}

}  // namespace
}  // namespace kernbench::testing::multicasts_past_foreign_blocks
