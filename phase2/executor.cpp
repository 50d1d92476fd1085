#include "kernbench/phase2/executor.h"

#include <tbb/global_control.h>
#include <tbb/parallel_for_each.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <new>
#include <thread>
#include <unordered_map>

#include "kernbench/phase2/eval.h"
#include "kernbench/phase2/kernels.h"
#include "kernbench/phase2/replay_graph.h"
#include "kernbench/phase2/runs.h"

namespace kernbench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point t) {
  return std::chrono::duration<double>(Clock::now() - t).count();
}

/// Uninitialised and aligned for the kernels; shared with the extents of the final image.
std::shared_ptr<uint8_t> aligned_bytes(uint64_t n) {
  constexpr std::align_val_t kAlign{64};
  return {static_cast<uint8_t*>(::operator new(n, kAlign)), [](uint8_t* p) { ::operator delete(p, kAlign); }};
}

double work_of(const OpDesc& d) {
  const bool gemm = d.kind == OpKind::gemm || d.op == "gemm";
  const double elements = static_cast<double>(d.output.shape.elements());
  return gemm ? 2.0 * static_cast<double>(d.m) * static_cast<double>(d.n) * static_cast<double>(d.k) + elements
              : 8.0 * elements;
}

struct RunState {
  std::shared_ptr<uint8_t> output;
  std::unique_ptr<Evaluation> evaluation;
  std::vector<EvalInput> inputs;
  std::vector<std::shared_ptr<uint8_t>> gathered;
  std::atomic<uint32_t> waits_for{0};
  std::atomic<uint32_t> holders{0};  ///< readers yet to run, and one if the final image needs the value
  std::atomic<int> parts_left{0};
};

struct Task {
  uint32_t node;
  int part;  ///< -1: prepare, then run
};

class Runner {
 public:
  Runner(const std::vector<OpRecord>& records, const ReplayGraph& g, const ReplayOptions& options)
      : records_(records), g_(g), options_(options), states_(g.nodes.size()) {
    for (size_t i = 0; i < g.nodes.size(); ++i) {
      states_[i].waits_for = g.nodes[i].waits_for;
      states_[i].holders = g.nodes[i].readers;
      work_total_ += work_of(*g.nodes[i].desc);
      index_.emplace(g.nodes[i].desc.get(), static_cast<uint32_t>(i));
    }
    for (const auto& [key, extents] : g.memory.spaces()) {
      for (const auto& [addr, e] : extents) {
        if (e.pending.producer) ++states_[index_.at(e.pending.producer.get())].holders;
      }
    }
  }

  void run() {
    std::vector<Task> ready;
    for (uint32_t i = 0; i < g_.nodes.size(); ++i) {
      if (g_.nodes[i].waits_for == 0) ready.push_back({i, -1});
    }
    const int threads = options_.threads > 0 ? options_.threads : std::max(1u, std::thread::hardware_concurrency());
    if (threads == 1) return run_alone(ready);
    tbb::global_control limit(tbb::global_control::max_allowed_parallelism, static_cast<size_t>(threads));
    tbb::task_arena arena(threads);
    arena.execute([&] {
      tbb::parallel_for_each(ready.begin(), ready.end(), [this](const Task& t, tbb::feeder<Task>& feeder) {
        step(t, [&feeder](const Task& next) { feeder.add(next); });
      });
    });
  }

  /// The final image. Short neighbours are copied into common buffers: what tiles wrote row by row is one extent again.
  MemoryImage result() const {
    constexpr uint64_t kShort = 64 * 1024, kBuffer = 1024 * 1024;
    MemoryImage image;
    for (const auto& [key, extents] : g_.memory.spaces()) {
      Bytes joined;
      uint64_t joined_at = 0;
      const auto flush = [&, &at = key] {
        if (!joined.empty()) image.write_shared(at, joined_at, SharedBytes::take(std::move(joined)));
        joined = Bytes{};
      };
      for (const auto& [addr, e] : extents) {
        SharedBytes bytes = e.bytes;
        if (e.pending.producer) {
          const std::shared_ptr<uint8_t>& out = states_[index_.at(e.pending.producer.get())].output;
          bytes = {out, out.get() + e.pending.offset, e.size};
        }
        if (e.size >= kShort) {
          flush();
          image.write_shared(key, addr, std::move(bytes));
          continue;
        }
        if (joined.size() + e.size > kBuffer || joined_at + joined.size() != addr) flush();
        if (joined.empty()) joined_at = addr;
        joined.insert(joined.end(), bytes.data, bytes.data + e.size);
      }
      flush();
    }
    return image;
  }

 private:
  /// In effect order where dependencies allow, and depth first, so that values die young.
  void run_alone(const std::vector<Task>& ready) {
    std::vector<Task> stack;
    for (const Task& t : ready) {
      stack.push_back(t);
      while (!stack.empty()) {
        const Task next = stack.back();
        stack.pop_back();
        step(next, [&stack](const Task& more) { stack.push_back(more); });
      }
    }
  }

  template <class Add>
  void step(const Task& t, Add add) {
    const ReplayGraph::Node& n = g_.nodes[t.node];
    RunState& s = states_[t.node];
    try {
      int part = t.part;
      if (part < 0) {
        prepare(n, s);
        const int parts = s.evaluation->parts();
        s.parts_left = std::max(parts, 1);
        for (int p = parts - 1; p > 0; --p) add({t.node, p});
        part = parts > 0 ? 0 : -1;
      }
      if (part >= 0) s.evaluation->run(part);
    } catch (const EvalError& e) {
      const OpRecord& r = records_[n.record];
      throw ReplayError("op " + std::to_string(r.op_id) + " (" + n.desc->name + "): " + e.what());
    }
    if (--s.parts_left > 0) return;
    finish(n, s);
    for (uint32_t i = 0; i < n.readers; ++i) {
      const uint32_t reader = g_.readers[n.first_reader + i];
      if (--states_[reader].waits_for == 0) add({reader, -1});
    }
  }

  void prepare(const ReplayGraph::Node& n, RunState& s) {
    s.output = aligned_bytes(n.desc->output.nbytes());
    for (uint32_t i = 0; i < n.inputs; ++i) s.inputs.push_back(input(g_.inputs[n.first_input + i], s));
    s.evaluation = make_evaluation(*n.desc, s.inputs, s.output.get(), options_.isa);
  }

  const uint8_t* address(const Piece& p) const {
    return p.node == kLeafNode ? p.leaf : states_[p.node].output.get() + p.offset;
  }

  /// The operand in place where its pieces are one strided view, else gathered.
  EvalInput input(const ReplayGraph::Input& in, RunState& s) const {
    if (in.operand.is_scalar) return EvalInput::immediate(in.operand.scalar);
    const TensorRef& whole = in.operand.ref;
    const TensorRef t = without_repeats(whole);
    EvalInput e = EvalInput::tensor(nullptr, t.dtype, t.shape);
    const bool in_place =
        in.pieces == 1 && g_.pieces[in.first_piece].node != kZeroNode && view(g_.pieces[in.first_piece], e);
    if (!in_place) gather(in, t.nbytes(), e, s);
    for (int i = 0; i < whole.shape.rank(); ++i) {
      if (whole.shape[i] == t.shape[i]) continue;
      e.shape[i] = whole.shape[i];
      e.strides[i] = 0;
    }
    return e;
  }

  void gather(const ReplayGraph::Input& in, uint64_t nbytes, EvalInput& e, RunState& s) const {
    s.gathered.push_back(aligned_bytes(nbytes));
    uint8_t* to = s.gathered.back().get();
    e.data = to;
    for (uint32_t i = 0; i < in.pieces; ++i) {
      const Piece& p = g_.pieces[in.first_piece + i];
      for (uint32_t run = 0; run < p.count; ++run, to += p.bytes) {
        if (p.node == kZeroNode) {
          std::memset(to, 0, p.bytes);
        } else {
          std::memcpy(to, address(p) + static_cast<int64_t>(run) * p.stride, p.bytes);
        }
      }
    }
  }

  bool view(const Piece& p, EvalInput& e) const {
    const auto item = static_cast<int64_t>(size_of(e.dtype));
    e.data = address(p);
    if (p.count == 1) return true;
    if (p.stride % item != 0) return false;
    // The runs are rows: find the dimension that the stride belongs to.
    int64_t rows = 1;
    for (int i = 0; i < e.shape.rank(); ++i) {
      if (rows == p.count) break;
      rows *= e.shape[i];
    }
    if (rows != p.count) return false;
    int64_t step = p.stride / item;
    int64_t left = p.count;
    int outer = 0;
    for (int64_t covered = 1; covered < left; ++outer) covered *= e.shape[outer];
    for (int i = outer - 1; i >= 0; --i) {
      e.strides[i] = step;
      step *= e.shape[i];
    }
    return true;
  }

  void finish(const ReplayGraph::Node& n, RunState& s) {
    if (options_.corrupt_op && records_[n.record].op_id == options_.corrupt_op) {
      for (uint64_t i = 0; i < n.desc->output.nbytes(); ++i) s.output.get()[i] ^= 0x5a;
    }
    if (options_.check) check(n, s);
    s.evaluation.reset();
    s.inputs = {};
    s.gathered.clear();
    if (s.holders == 0) s.output.reset();
    for_each_source(n, [this](uint32_t from) {
      if (--states_[from].holders == 0) states_[from].output.reset();
    });
    done_.fetch_add(1, std::memory_order_relaxed);
    if (options_.progress) report(work_of(*n.desc));
  }

  /// The nodes this one waited for, each once.
  template <class F>
  void for_each_source(const ReplayGraph::Node& n, F f) const {
    for (uint32_t i = 0; i < n.waits_for; ++i) f(g_.sources[n.first_source + i]);
  }

  void check(const ReplayGraph::Node& n, const RunState& s) {
    std::vector<std::vector<uint64_t>> producers;
    for (uint32_t i = 0; i < n.inputs; ++i) {
      const ReplayGraph::Input& in = g_.inputs[n.first_input + i];
      std::vector<uint64_t> ids;
      for (uint32_t p = 0; p < in.pieces; ++p) {
        const uint32_t node = g_.pieces[in.first_piece + p].node;
        if (node >= kZeroNode) continue;
        const uint64_t id = records_[g_.nodes[node].record].op_id;
        if (ids.empty() || ids.back() != id) ids.push_back(id);
      }
      producers.push_back(std::move(ids));
    }
    const std::lock_guard<std::mutex> lock(check_mutex_);
    options_.check({records_[n.record], s.inputs, s.output.get(), producers, records_});
  }

  void report(double work) {
    const std::lock_guard<std::mutex> lock(progress_mutex_);
    work_done_ += work;
    const double now = seconds_since(start_);
    const uint64_t done = done_.load(std::memory_order_relaxed);
    if (now - reported_ < options_.progress_every_s && done != g_.nodes.size()) return;
    reported_ = now;
    ReplayProgress p;
    p.ops_done = done;
    p.ops_total = g_.nodes.size();
    p.work_done = work_done_;
    p.work_total = work_total_;
    p.elapsed_s = now;
    p.remaining_s = work_done_ > 0 ? now * (work_total_ - work_done_) / work_done_ : 0;
    options_.progress(p);
  }

  const std::vector<OpRecord>& records_;
  const ReplayGraph& g_;
  const ReplayOptions& options_;
  std::vector<RunState> states_;
  std::unordered_map<const OpDesc*, uint32_t> index_;
  double work_total_ = 0, work_done_ = 0, reported_ = 0;
  std::atomic<uint64_t> done_{0};
  std::mutex progress_mutex_, check_mutex_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace

ReplayResult replay(const std::vector<OpRecord>& records, const MemoryImage& image, const ReplayOptions& options) {
  kernels_of(options.isa);  // a path that is not there is an error before anything is done
  ReplayResult r;
  const auto start = Clock::now();
  GraphOptions graph_options;
  graph_options.skip_materialized = !options.check;
  graph_options.keep_tcm = options.keep_tcm;
  const ReplayGraph g = build_replay_graph(records, image, graph_options);
  if (options.corrupt_op && std::none_of(g.nodes.begin(), g.nodes.end(), [&](const ReplayGraph::Node& n) {
        return records[n.record].op_id == options.corrupt_op;
      })) {
    throw ReplayError("nothing is computed for op " + std::to_string(options.corrupt_op) + ", which is to be damaged");
  }
  r.graph_s = seconds_since(start);
  const auto began = Clock::now();
  Runner runner(records, g, options);
  runner.run();
  r.memory = runner.result();
  r.run_s = seconds_since(began);
  r.ops = g.ops;
  r.computed = g.nodes.size();
  r.isa = options.isa;
  return r;
}

}  // namespace kernbench
