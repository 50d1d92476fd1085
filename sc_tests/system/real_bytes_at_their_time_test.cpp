// SPDX-License-Identifier: Apache-2.0
// `materialize: outputs` and `stores`: do foreign memories contain results when a job is done, do kernels compute
// correctly behind blocks with their own payloads, and are times and the op log unchanged?
#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <sstream>

#include "kernbench/phase2/log/oplog_file.h"
#include "kernbench/platform/job.h"
#include "kernbench/platform/run/run.h"
#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/memory/tlm_memory.h"
#include "system_support.h"
#include "tlm_support.h"

namespace kernbench::testing {
namespace {

using Payload = tlm::tlm_generic_payload;

/// Two PEs and an HBM slice, at one router.
std::string machine(const std::string& links, const std::string& materialize, const std::string& hbm,
                    const std::string& tail) {
  std::ostringstream t;
  t << "materialize: " << materialize << "\ntiming: {links: " << links << ", response: routed, header_bytes: 16}\n"
    << "nodes:\n- {id: at, kind: port, attrs: {outstanding: 4, allow_dmi: true}}\n"
    << "- {id: r0, kind: router, attrs: {overhead_ns: 1}}\n- {id: hbm, kind: hbm_ctrl, " << hbm << "}\n";
  for (const char* pe : {"pe0", "pe1"}) {
    t << "- {id: " << pe << ".pe_cpu, kind: pe_cpu, attrs: {overhead_ns: 2}}\n- {id: " << pe
      << ".pe_scheduler, kind: pe_scheduler, attrs: {overhead_ns: 1}}\n- {id: " << pe
      << ".pe_dma, kind: pe_dma, attrs: {queue_depth: 2}}\n- {id: " << pe
      << ".pe_fetch_store, kind: pe_fetch_store}\n- {id: " << pe
      << ".pe_gemm, kind: pe_gemm, attrs: {macs_per_cycle: 4096, freq_ghz: 1, rates: {f32: 0.5}}}\n- {id: " << pe
      << ".pe_math, kind: pe_math, attrs: {lanes: 128, freq_ghz: 1, cycles: {exp: 4}}}\n- {id: " << pe
      << ".pe_tcm, kind: pe_tcm, attrs: {size_mb: 16, reserved_mb: 1, read_bw_gbs: 512, write_bw_gbs: 512}}\n";
  }
  t << "links:\n- {from: at, to: r0, distance_mm: 1, bw_gbs: 64}\n"
    << "- {from: pe0.pe_dma, to: r0, distance_mm: 0.5, bw_gbs: 256}\n"
    << "- {from: pe1.pe_dma, to: r0, distance_mm: 0.7, bw_gbs: 256}\n"
    << "- {from: r0, to: hbm, distance_mm: 1, bw_gbs: 256}\n"
    << "memories:\n- {node: hbm, space: hbm, base: 0, size: 16777216}\n"
    << tail;
  return t.str();
}
const char* const kTap = "foreign:\n- {id: tap, between: [r0, hbm]}\n";

/// A memory of the platform, with or without debug transport.
class Ram : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<Ram> socket{"socket"};
  std::vector<uint8_t> bytes = std::vector<uint8_t>(16 << 20);
  Ram(sc_core::sc_module_name name, bool debug) : sc_module(name) {
    socket.register_b_transport(this, &Ram::block);
    if (debug) socket.register_transport_dbg(this, &Ram::debug);
  }

 private:
  unsigned debug(Payload& p) {
    for (unsigned i = 0; i < p.get_data_length(); ++i) {
      if (p.get_byte_enable_ptr() && !p.get_byte_enable_ptr()[i % p.get_byte_enable_length()]) continue;
      uint8_t& at = bytes[p.get_address() + i];
      p.is_write() ? at = p.get_data_ptr()[i] : p.get_data_ptr()[i] = at;
    }
    return p.get_data_length();
  }
  void block(Payload& p, sc_core::sc_time& t) {
    debug(p);
    p.set_response_status(tlm::TLM_OK_RESPONSE);
    t += sc_core::sc_time(5, sc_core::SC_NS);
  }
};

/// LT; passes everything unchanged.
class Block : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<Block> in{"in"};
  tlm_utils::simple_initiator_socket<Block> out{"out"};
  size_t own = 0;  ///< its own payloads
  explicit Block(sc_core::sc_module_name name) : sc_module(name) {
    in.register_b_transport(this, &Block::serve);
    in.register_transport_dbg(this, &Block::debug);
  }
  /// Writes buffered data.
  virtual void flush() {}

 protected:
  virtual void serve(Payload& p, sc_core::sc_time& t) { out->b_transport(p, t); }
  virtual unsigned debug(Payload& p) { return out->transport_dbg(p); }
  static bool enabled(const Payload& p, uint64_t i) {
    return !p.get_byte_enable_ptr() || p.get_byte_enable_ptr()[i % p.get_byte_enable_length()] != 0;
  }
  tlm::tlm_response_status send(tlm::tlm_command command, uint64_t address, uint8_t* bytes, uint8_t* enables,
                                unsigned n, sc_core::sc_time& t) {
    Payload p;
    p.set_command(command);
    p.set_address(address);
    p.set_data_ptr(bytes);
    p.set_data_length(n);
    p.set_streaming_width(n);
    p.set_byte_enable_ptr(enables);
    p.set_byte_enable_length(enables ? n : 0);
    p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    ++own;
    out->b_transport(p, t);
    return p.get_response_status();
  }
};

/// Parts of at most 24 bytes.
class Splitter : public Block {
  using Block::Block;
  void serve(Payload& p, sc_core::sc_time& t) override {
    for (unsigned at = 0; at < p.get_data_length(); at += 24) {
      const unsigned n = std::min(24u, p.get_data_length() - at);
      std::vector<uint8_t> enables(n);
      for (unsigned i = 0; i < n; ++i) enables[i] = enabled(p, at + i) ? 0xff : 0;
      p.set_response_status(send(p.get_command(), p.get_address() + at, p.get_data_ptr() + at,
                                 p.get_byte_enable_ptr() ? enables.data() : nullptr, n, t));
      if (p.is_response_error()) return;
    }
  }
};

/// From 64 to 256 bit: aligned beats of 32 bytes, with byte enables for writes.
class WidthConverter : public Block {
  using Block::Block;
  void serve(Payload& p, sc_core::sc_time& t) override {
    const uint64_t first = p.get_address(), end = first + p.get_data_length();
    for (uint64_t beat = first / 32 * 32; beat < end; beat += 32) {
      uint8_t bytes[32] = {}, enables[32] = {};
      bool any = false;
      for (uint64_t i = 0; i < 32; ++i) {
        const uint64_t at = beat + i;
        if (at < first || at >= end || !enabled(p, at - first)) continue;
        any = true;
        enables[i] = 0xff;
        bytes[i] = p.get_data_ptr()[at - first];
      }
      p.set_response_status(any ? send(p.get_command(), beat, bytes, p.is_write() ? enables : nullptr, 32, t)
                                : tlm::TLM_OK_RESPONSE);
      if (p.is_response_error()) return;
      for (uint64_t i = 0; p.is_read() && i < 32; ++i) {
        if (enables[i]) p.get_data_ptr()[beat + i - first] = bytes[i];
      }
    }
  }
};

/// Eight lines of 64 bytes, written back on eviction.
class WriteBackCache : public Block {
  using Block::Block;
  struct Line {
    uint8_t bytes[64];
    bool dirty = false;
  };
  static constexpr size_t kLines = 8;
  std::map<uint64_t, Line> lines_;
  std::vector<uint64_t> order_;

  void write_back(uint64_t address, Line& line, sc_core::sc_time& t) {
    if (line.dirty) send(tlm::TLM_WRITE_COMMAND, address, line.bytes, nullptr, 64, t);
  }
  Line& line_at(uint64_t address, sc_core::sc_time& t) {
    if (lines_.count(address)) return lines_[address];
    if (order_.size() == kLines) {
      Line old = lines_[order_.front()];
      lines_.erase(order_.front());
      const uint64_t at = order_.front();
      order_.erase(order_.begin());
      write_back(at, old, t);
    }
    Line line;
    send(tlm::TLM_READ_COMMAND, address, line.bytes, nullptr, 64, t);
    order_.push_back(address);
    return lines_[address] = line;
  }
  /// One access at a time.
  void serve(Payload& p, sc_core::sc_time& t) override {
    while (busy_) wait(free_);
    busy_ = true;
    for (uint64_t i = 0; i < p.get_data_length(); ++i) {
      if (!enabled(p, i)) continue;
      const uint64_t at = p.get_address() + i;
      Line& line = line_at(at / 64 * 64, t);
      if (p.is_write()) {
        line.bytes[at % 64] = p.get_data_ptr()[i];
        line.dirty = true;
      } else {
        p.get_data_ptr()[i] = line.bytes[at % 64];
      }
    }
    p.set_response_status(tlm::TLM_OK_RESPONSE);
    busy_ = false;
    free_.notify();
  }
  unsigned debug(Payload& p) override {
    const unsigned n = out->transport_dbg(p);
    for (uint64_t i = 0; i < n; ++i) {
      const uint64_t at = p.get_address() + i;
      const auto line = lines_.find(at / 64 * 64);
      if (line != lines_.end() && p.is_read()) p.get_data_ptr()[i] = line->second.bytes[at % 64];
    }
    return n;
  }
  void flush() override {
    sc_core::sc_time t;
    for (auto& [address, line] : lines_) write_back(address, line, t);
    lines_.clear();
    order_.clear();
    wait(t);
  }
  bool busy_ = false;
  sc_core::sc_event free_;
};

struct Case {
  std::string kernel, links, block;
  std::vector<std::pair<std::string, std::string>> params;
  unsigned seed;
  std::string to_string() const {
    std::string s = "seed " + std::to_string(seed) + ": " + kernel + " with links " + links + " behind " + block;
    for (const auto& [name, value] : params) s += " " + name + "=" + value;
    return s;
  }
};

Case draw(unsigned seed) {
  std::mt19937 random(seed);
  const auto size = [&](unsigned from, unsigned more) { return std::to_string(from + random() % more); };
  Case c;
  c.seed = seed;
  c.links = std::vector<std::string>{"ideal", "cut_through", "flit"}[random() % 3];
  c.block = std::vector<std::string>{"splitter", "converter", "cache"}[seed % 3];
  switch (random() % 6) {
    case 0:
      c.kernel = "vector_add";
      c.params = {{"n", size(1, 900)}};
      break;
    case 1:
      c.kernel = "gemm";
      c.params = {{"m", size(8, 50)}, {"n", size(8, 50)}, {"k", size(8, 70)}, {"tile_k", "32"}};
      break;
    case 2:
      c.kernel = "gemm_epilogue";
      c.params = {{"m", size(8, 40)}, {"n", size(8, 40)}, {"k", size(8, 40)}, {"activation", "gelu"}};
      break;
    case 3:
      c.kernel = "attention";
      c.params = {{"heads", "2"}, {"seq", size(4, 28)}, {"dim", "16"}};
      break;
    case 4:
      c.kernel = "mlp";
      c.params = {{"tokens", size(4, 12)}, {"dim", "16"}, {"hidden", size(8, 24)}};
      break;
    default:
      c.kernel = "softmax";
      c.params = {{"rows", size(1, 12)}, {"cols", size(1, 50)}};
  }
  return c;
}

void place_inputs(Job& job, unsigned seed) {
  for (const TensorSpec& t : job.kernel().tensors) {
    if (t.is_input()) job.place_random(t.name, ++seed);
  }
}

std::string bytes_of(Job& job) {
  std::string all;
  for (const TensorSpec& t : job.kernel().tensors) {
    if (!t.is_output()) continue;
    const HostTensor value = job.read_back(t.name);
    all.append(value.bytes.begin(), value.bytes.end());
  }
  return all;
}

std::unique_ptr<Block> make_block(const std::string& kind, const char* name) {
  if (kind == "splitter") return std::make_unique<Splitter>(name);
  if (kind == "converter") return std::make_unique<WidthConverter>(name);
  if (kind == "cache") return std::make_unique<WriteBackCache>(name);
  return std::make_unique<Block>(name);
}

/// The results of two passes.
std::string two_passes(const Case& c) {
  Platform platform("system", topology::compile_text(machine(c.links, "outputs", "attrs: {overhead_ns: 10}", ""), "m",
                                                     component_catalog()));
  Job job(platform, {c.kernel, c.params});
  place_inputs(job, c.seed);
  const LaunchResult& r = job.run();
  return r.response.ok() ? bytes_of(job) : r.response.text;
}

/// The contents of the memory behind the block after it has written everything back.
std::string behind(const Case& c) {
  Platform platform("system", topology::compile_text(machine(c.links, "stores", "attrs: {overhead_ns: 10}", kTap), "m",
                                                     component_catalog()));
  const auto block = make_block(c.block, "block");
  platform.foreign("tap").bind(block->in, "r0");
  platform.foreign("tap").bind(block->out, "hbm");
  Job job(platform, {c.kernel, c.params});
  place_inputs(job, c.seed);
  std::string found = "not done";
  LtInitiator driver("driver", [&](LtInitiator&) {
    job.start();
    wait(job.completed());
    block->flush();
    found = job.result().response.ok() ? bytes_of(job) : job.result().response.text;
  });
  driver.socket.bind(platform.port("at").socket());
  sc_core::sc_start();
  return block->own > 0 ? found : "the block has done nothing";
}

TEST(RealBytes, of_random_kernels_pass_splitters_converters_and_a_write_back_cache) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    const Case c = draw(seed);
    const std::string right = in_child([&] { return two_passes(c); });
    const std::string found = in_child([&] { return behind(c); });
    ASSERT_EQ(found.size(), right.size()) << c.to_string() << ": " << found.substr(0, 200);
    ASSERT_TRUE(found == right) << c.to_string();
  }
}

/// The op log and the end of a run, past a block that adds nothing.
std::string logged(const Case& c, const std::string& materialize) {
  const std::string file = ::testing::TempDir() + "real_bytes" + std::to_string(::getpid()) + ".jsonl";
  Platform platform("system", topology::compile_text(machine(c.links, materialize, "attrs: {overhead_ns: 10}", kTap),
                                                     "m", component_catalog()));
  Block there("there");
  platform.foreign("tap").bind(there.in, "r0");
  platform.foreign("tap").bind(there.out, "hbm");
  LtInitiator idle("idle", [](LtInitiator&) {});
  idle.socket.bind(platform.port("at").socket());
  RunOptions o;
  o.kernel = c.kernel;
  o.params = c.params;
  o.verify = true;
  o.log = make_op_log(file);
  const RunReport r = run_kernel(platform, std::move(o));
  const std::string log = read_file(file);
  ::unlink(file.c_str());
  return std::to_string(r.end_ns) + (r.passed ? " right\n" : " wrong\n") + log;
}

TEST(RealBytes, change_neither_times_nor_the_op_log) {
  for (unsigned seed = 300; seed < 318; ++seed) {
    const Case c = draw(seed);
    const std::string pending = in_child([&] { return logged(c, "none"); });
    EXPECT_NE(pending.find(" right\n"), std::string::npos) << c.to_string() << pending.substr(0, 300);
    EXPECT_TRUE(pending == in_child([&] { return logged(c, "stores"); })) << c.to_string();
  }
}

/// The bytes of a foreign memory when a job is done whose inputs its owner wrote directly, twice.
std::string in_ram(const std::string& links, const std::string& materialize) {
  Platform platform(
      "system", topology::compile_text(machine(links, materialize, "impl: builtin.hbm_tlm, attrs: {max_bytes: 64}", ""),
                                       "m", component_catalog()));
  Ram ram("ram", true);
  platform.tlm_memory("hbm").socket().bind(ram.socket);
  Job job(platform, {"vector_add", {{"n", "1000"}}});
  place_inputs(job, 1);
  std::string wrong;
  const auto floats = [&](const std::string& name, const auto& visit) {
    float i = 0;
    for (const Deployment::Range& r : job.ranges(name)) {
      for (uint64_t at = 0; at < r.nbytes; at += 4) visit(reinterpret_cast<float&>(ram.bytes[r.address + at]), i++);
    }
  };
  LtInitiator owner("owner", [&](LtInitiator&) {
    for (float run = 1; run <= 2; ++run) {
      floats("a", [&](float& f, float i) { f = i * run; });
      floats("b", [&](float& f, float) { f = 1000 * run; });
      job.start();
      wait(job.completed());
      if (!job.result().response.ok()) wrong += job.result().response.text;
      floats("c", [&](float& f, float i) {
        if (f != i * run + 1000 * run && wrong.empty())
          wrong = "run " + std::to_string(run) + ": element " + std::to_string(i) + " is " + std::to_string(f);
      });
    }
    if (wrong.empty()) wrong = "right";
  });
  owner.socket.bind(platform.port("at").socket());
  sc_core::sc_start();
  return wrong;
}

TEST(RealBytes, are_in_a_foreign_memory_when_the_job_is_done) {
  for (const char* links : {"ideal", "cut_through", "flit"}) {
    EXPECT_EQ(in_child([&] { return in_ram(links, "outputs"); }), "right") << links;
    EXPECT_EQ(in_child([&] { return in_ram(links, "stores"); }), "right") << links;
    EXPECT_NE(in_child([&] { return in_ram(links, "none"); }), "right") << links;
  }
}

TEST(RealBytes, need_debug_transport_of_a_foreign_memory_that_keeps_them) {
  const auto run = [](const std::string& storage) {
    return in_child([&]() -> std::string {
      Platform platform(
          "system",
          topology::compile_text(
              machine("ideal", "stores", "impl: builtin.hbm_tlm, attrs: {max_bytes: 64, storage: " + storage + "}", ""),
              "m", component_catalog()));
      Ram ram("ram", false);
      platform.tlm_memory("hbm").socket().bind(ram.socket);
      try {
        Job job(platform, {"vector_add", {{"n", "100"}}, "all", "all", LaunchMode::automatic, "all", true});
        place_inputs(job, 1);
        job.run();
        return job.verify().passed ? "right" : "wrong";
      } catch (const std::exception& e) {
        return e.what();
      }
    });
  };
  const std::string said = run("target");
  EXPECT_NE(said.find("hbm: the model behind it has no debug transport"), std::string::npos) << said;
  EXPECT_NE(said.find("storage: image"), std::string::npos) << said;
  EXPECT_EQ(run("image"), "right");
}

}  // namespace
}  // namespace kernbench::testing
