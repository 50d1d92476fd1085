// SPDX-License-Identifier: Apache-2.0
// Speed of Phase 2 and of the op logs: phase2_bench [--threads N] [--isa NAME] [--file NAME] [--cpu] CASE... One line
// per result, "name value unit"; the best of several rounds. --cpu: CPU seconds instead of wall time, for one thread on
// a shared machine. `scripts/bench-phase2` runs it together with numpy.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernbench/phase2/eval/eval.h"
#include "kernbench/phase2/graph/executor.h"
#include "kernbench/phase2/io/random.h"
#include "kernbench/phase2/log/memory_op_log.h"
#include "kernbench/phase2/log/oplog_file.h"
#include "kernbench/phase2/memory/bulk_bytes.h"

namespace kernbench {
namespace {

struct Settings {
  int threads = 1;
  Isa isa = best_isa();
  std::string file = "phase2_bench";  ///< of logs, without extension
};

bool cpu_time = false;

double now() {
  if (cpu_time) return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The maximum memory of this process so far, in MB; 0 if the system does not report it.
double peak_mb() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmHWM:", 0) == 0) return std::atof(line.c_str() + 6) / 1024;
  }
  return 0;
}

void print(const std::string& name, double value, const char* unit) {
  std::printf("%s %.4g %s\n", name.c_str(), value, unit);
  std::fflush(stdout);
}

double best_of(int rounds, const std::function<double()>& seconds) {
  double best = seconds();
  for (int i = 1; i < rounds; ++i) best = std::min(best, seconds());
  return best;
}

TensorRef tensor(Space space, uint64_t addr, DType t, const Dims& shape) {
  TensorRef r;
  r.space = space;
  if (space == Space::tcm) r.pe = 0;
  r.addr = addr;
  r.dtype = t;
  r.shape = shape;
  r.strides = TensorRef::row_major(shape);
  return r;
}

/// Commands of one PE, one per nanosecond.
class Program {
 public:
  OpDesc& add(CommandType type, OpKind kind, const std::string& op, const std::vector<TensorRef>& in,
              const TensorRef& out) {
    auto d = std::make_shared<OpDesc>();
    d->type = type;
    d->kind = kind;
    d->op = op;
    d->name = type == CommandType::load ? "dma_read" : type == CommandType::store ? "dma_write" : op;
    for (const TensorRef& t : in) {
      Operand o;
      o.ref = t;
      d->operands.push_back(o);
    }
    d->output = out;
    if (op == "gemm") {
      d->m = out.shape[0];
      d->n = out.shape[1];
      d->k = in[0].shape[1];
    }
    d->pe = 0;
    d->seq = records.size();
    d->submit_ns = static_cast<double>(records.size());
    OpRecord r;
    r.op_id = records.size() + 1;
    r.t_start = r.t_end = d->submit_ns;
    r.desc = d;
    records.push_back(std::move(r));
    return *d;
  }
  std::vector<OpRecord> records;
};

void place(MemoryImage& image, const TensorRef& t, uint64_t seed) {
  image.write_shared(MemoryImage::key_of(t), t.addr, SharedBytes::take(random_tensor(t.dtype, t.shape, seed)));
}

double replay_seconds(const Program& p, const MemoryImage& image, const Settings& s) {
  ReplayOptions o;
  o.threads = s.threads;
  o.isa = s.isa;
  const double start = now();
  const ReplayResult r = replay(p.records, image, o);
  return now() - start;
}

constexpr uint64_t kB = uint64_t{1} << 40, kC = uint64_t{1} << 41;  // away from A at 0

/// `count` products of n x n, each with its own operands.
void gemm(const std::string& name, DType t, int64_t n, int64_t count, const Settings& s) {
  Program p;
  MemoryImage image;
  const TensorRef a = tensor(Space::hbm, 0, t, {count * n, n}), b = tensor(Space::hbm, kB, t, {count * n, n});
  place(image, a, 1);
  place(image, b, 2);
  const uint64_t bytes = static_cast<uint64_t>(n * n) * size_of(t);
  const DType out = is_float(t) ? t : DType::i32;
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t at = static_cast<uint64_t>(i) * bytes;
    const uint64_t to = kC + static_cast<uint64_t>(i * n * n) * size_of(out);
    p.add(CommandType::gemm, OpKind::gemm, "gemm",
          {tensor(Space::hbm, at, t, {n, n}), tensor(Space::hbm, kB + at, t, {n, n})},
          tensor(Space::hbm, to, out, {n, n}));
  }
  const double s_best = best_of(7, [&] { return replay_seconds(p, image, s); });
  print(name, 2.0 * static_cast<double>(count * n * n * n) / s_best / 1e9, "GFLOP/s");
}

void elementwise(const std::string& name, const std::string& op, size_t operands, const Settings& s) {
  constexpr int64_t kElements = int64_t{64} << 20;
  Program p;
  MemoryImage image;
  std::vector<TensorRef> in;
  for (size_t i = 0; i < operands; ++i) {
    in.push_back(tensor(Space::hbm, i * kB, DType::f32, {kElements}));
    place(image, in.back(), i);
  }
  p.add(CommandType::math, OpKind::math, op, in, tensor(Space::hbm, kC, DType::f32, {kElements}));
  const double s_best = best_of(5, [&] { return replay_seconds(p, image, s); });
  print(name, s_best * 1e9 / static_cast<double>(kElements), "ns/element");
}

/// A million ops like those of a tiled kernel: loads of tiles into a TCM that is reused, products, sums, stores to
/// 4,096 places.
void graph(const std::string& name, const Settings& s) {
  constexpr int64_t kTile = 32;
  constexpr uint64_t kBytes = kTile * kTile * 4, kPlaces = 4096;
  Program p;
  MemoryImage image;
  place(image, tensor(Space::hbm, 0, DType::f32, {static_cast<int64_t>(kPlaces) * kTile, kTile}), 1);
  const Dims tile{kTile, kTile};
  for (uint64_t i = 0; p.records.size() < 1000000; ++i) {
    const uint64_t at = i % 64 * 4 * kBytes;
    const auto tcm = [&](uint64_t slot) { return tensor(Space::tcm, at + slot * kBytes, DType::f32, tile); };
    const auto hbm = [&](uint64_t base, uint64_t place) {
      return tensor(Space::hbm, base + place % kPlaces * kBytes, DType::f32, tile);
    };
    p.add(CommandType::load, OpKind::memory, "", {hbm(0, i)}, tcm(0));
    p.add(CommandType::load, OpKind::memory, "", {hbm(0, 7 * i)}, tcm(1));
    p.add(CommandType::gemm, OpKind::gemm, "gemm", {tcm(0), tcm(1)}, tcm(2));
    p.add(CommandType::math, OpKind::math, "add", {tcm(2), tcm(0)}, tcm(3));
    p.add(CommandType::store, OpKind::memory, "", {tcm(3)}, hbm(kC, i));
  }
  const double before = peak_mb();
  ReplayOptions o;
  o.threads = s.threads;
  o.isa = s.isa;
  const double start = now();
  const ReplayResult r = replay(p.records, image, o);
  const double all = now() - start;
  print(name + "_graph", all * r.graph_s / (r.graph_s + r.run_s), "s");
  print(name + "_run", all * r.run_s / (r.graph_s + r.run_s), "s");
  print(name + "_records_memory", before, "MB");
  print(name + "_peak_memory", peak_mb(), "MB");
}

/// The commands of the kernel `gemm` on 256 PEs: one composite each, over its rows of A. Compares the complete replay
/// with the evaluations alone, which write into existing memory.
void composites(const std::string& name, const Settings& s) {
  constexpr int64_t kPes = 256, kRows = 32, kDepth = 1024, kCols = 1024;
  Program p;
  MemoryImage image;
  const TensorRef b = tensor(Space::hbm, kB, DType::f32, {kDepth, kCols});
  place(image, b, 2);
  for (int64_t i = 0; i < kPes; ++i) {
    const TensorRef a = tensor(Space::hbm, static_cast<uint64_t>(i) << 30, DType::f32, {kRows, kDepth});
    place(image, a, static_cast<uint64_t>(i));
    OpDesc& d = p.add(CommandType::composite, OpKind::gemm, "gemm", {a, b},
                      tensor(Space::hbm, kC + (static_cast<uint64_t>(i) << 30), DType::f32, {kRows, kCols}));
    d.tile_m = d.tile_n = 32;
    d.tile_k = 64;
  }
  Bytes out(static_cast<size_t>(kPes * kRows * kCols) * 4);
  const double arithmetic = best_of(7, [&] {
    const double start = now();
    for (size_t i = 0; i < p.records.size(); ++i) {
      const OpDesc& d = *p.records[i].desc;
      std::vector<EvalInput> inputs;
      for (const Operand& o : d.operands) {
        inputs.push_back(EvalInput::tensor(image.view({}, o.ref.addr, o.ref.nbytes()), o.ref.dtype, o.ref.shape));
      }
      const auto e = make_evaluation(d, inputs, out.data() + i * d.output.nbytes(), s.isa);
      for (int part = 0; part < e->parts(); ++part) e->run(part);
    }
    return now() - start;
  });
  const double whole = best_of(7, [&] { return replay_seconds(p, image, s); });
  print(name + "_arithmetic_one_thread", arithmetic * 1e3, "ms");
  print(name + "_replay", whole * 1e3, "ms");
  if (s.threads == 1) print(name + "_overhead", 100 * (whole / arithmetic - 1), "%");
}

/// Only the products of a batch, into existing memory.
void evaluated_batch(const std::string& name, const Settings& s) {
  constexpr int64_t n = 64, kCount = 4096;
  constexpr size_t kBytes = n * n * 4;
  const Bytes a = random_tensor(DType::f32, {kCount * n, n}, 1), b = random_tensor(DType::f32, {kCount * n, n}, 2);
  Bytes c = bulk_bytes(kCount * kBytes + 64);
  uint8_t* out = c.data() + (64 - reinterpret_cast<uintptr_t>(c.data()) % 64);
  OpDesc d;
  d.type = CommandType::gemm;
  d.kind = OpKind::gemm;
  d.name = d.op = "gemm";
  d.operands.resize(2);
  d.m = d.n = d.k = n;
  d.output = tensor(Space::hbm, 0, DType::f32, {n, n});
  const double best = best_of(7, [&] {
    const double start = now();
    for (size_t i = 0; i < kCount; ++i) {
      const std::vector<EvalInput> in = {EvalInput::tensor(a.data() + i * kBytes, DType::f32, {n, n}),
                                         EvalInput::tensor(b.data() + i * kBytes, DType::f32, {n, n})};
      make_evaluation(d, in, out + i * kBytes, s.isa)->run(0);
    }
    return now() - start;
  });
  print(name, 2.0 * n * n * n * kCount / best / 1e9, "GFLOP/s");
}

/// The cost of new memory for a batch's result at its first use, when the system clears it.
void new_memory(const std::string& name, const Settings&) {
  constexpr size_t kBytes = size_t{64} << 20;
  const double best = best_of(7, [&] {
    const std::unique_ptr<uint8_t[]> memory(new uint8_t[kBytes]);
    ask_for_large_pages(memory.get(), kBytes);
    volatile uint8_t* p = memory.get();
    const double start = now();
    for (size_t i = 0; i < kBytes; i += 4096) p[i] = 1;
    return now() - start;
  });
  print(name, best * 1e3, "ms");
}

OpRecord token(uint64_t i) {
  OpRecord r;
  r.op_id = i + 2;
  r.is_token = true;
  r.component = static_cast<uint32_t>(i % 64);
  r.token.stage = static_cast<Stage>(i % kTileStages);
  r.token.tile_id = static_cast<uint32_t>(i / kTileStages);
  r.token.composite_op_id = 1;
  r.t_start = static_cast<double>(i) * 1.25;
  r.t_end = r.t_start + 17.0625;
  r.token.fed_ns = r.t_start - 3.5;
  r.token.buffer_offset = i % 16 * 4096;
  r.token.bytes = 4096;
  r.token.m = r.token.n = r.token.k = 32;
  return r;
}

void log(const std::string& name, OpLogSink& sink, uint64_t records) {
  OpLogHeader h;
  for (int i = 0; i < 64; ++i) h.components.push_back("sip0.cube0.pe" + std::to_string(i) + ".pe_dma");
  const double before = peak_mb(), start = now();
  sink.begin(h);
  for (uint64_t i = 0; i < records; ++i) sink.record(token(i));
  sink.close();
  print(name + "_rate", static_cast<double>(records) / (now() - start) / 1e6, "M_records/s");
  print(name + "_memory", peak_mb() - before, "MB");
}

using Case = std::function<void(const std::string&, const Settings&)>;

std::map<std::string, Case> cases() {
  std::map<std::string, Case> all;
  for (DType t : {DType::f32, DType::f16, DType::bf16, DType::i8}) {
    for (int64_t n : {64, 256, 1024}) {
      all["gemm_" + std::string(name_of(t)) + "_" + std::to_string(n)] = [=](const std::string& c, const Settings& s) {
        gemm(c, t, n, n == 64 ? 256 : n == 256 ? 16 : 1, s);
      };
    }
  }
  all["batch_f32_64"] = [](const std::string& c, const Settings& s) { gemm(c, DType::f32, 64, 4096, s); };
  all["exp_64mi"] = [](const std::string& c, const Settings& s) { elementwise(c, "exp", 1, s); };
  all["add_64mi"] = [](const std::string& c, const Settings& s) { elementwise(c, "add", 2, s); };
  all["composites_256"] = composites;
  all["evaluated_batch_f32_64"] = evaluated_batch;
  all["new_memory_64mib"] = new_memory;
  all["ops_1m"] = graph;
  all["log_memory"] = [](const std::string& c, const Settings&) {
    MemoryOpLog sink;
    log(c, sink, 1000000);
  };
  all["log_sqlite"] = [](const std::string& c, const Settings& s) {
    log(c, *make_op_log(s.file + ".sqlite"), 10000000);
    std::remove((s.file + ".sqlite").c_str());
  };
  all["log_jsonl"] = [](const std::string& c, const Settings& s) {
    log(c, *make_op_log(s.file + ".jsonl"), 2000000);
    std::remove((s.file + ".jsonl").c_str());
  };
  return all;
}

int run(const std::vector<std::string>& args) {
  const auto all = cases();
  Settings s;
  std::vector<std::string> names;
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string& a = args[i];
    if ((a == "--threads" || a == "--isa" || a == "--file") && i + 1 < args.size()) {
      const std::string& v = args[++i];
      if (a == "--threads") s.threads = std::max(1, std::atoi(v.c_str()));
      if (a == "--file") s.file = v;
      if (a == "--isa" && parse_isa(v)) s.isa = *parse_isa(v);
    } else if (a == "--cpu") {
      cpu_time = true;
    } else if (all.count(a)) {
      names.push_back(a);
    } else {
      std::fprintf(stderr,
                   "phase2_bench: found '%s', expected --threads N, --isa NAME, --file NAME, --cpu or a case:\n",
                   a.c_str());
      for (const auto& [name, run] : all) std::fprintf(stderr, "  %s\n", name.c_str());
      return 2;
    }
  }
  for (const std::string& name : names) all.at(name)(name, s);
  return 0;
}

}  // namespace
}  // namespace kernbench

int main(int argc, char** argv) {
  return kernbench::run({argv + 1, argv + argc});
}
