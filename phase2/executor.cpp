#include "kernbench/phase2/executor.h"

#include <tbb/global_control.h>
#include <tbb/parallel_for_each.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "kernbench/phase2/eval.h"
#include "kernbench/phase2/kernels.h"
#include "kernbench/phase2/replay_graph.h"
#include "kernbench/phase2/runs.h"
#include "kernbench/phase2/value_pool.h"

namespace kernbench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point t) {
  return std::chrono::duration<double>(Clock::now() - t).count();
}

double work_of(const OpDesc& d) {
  const bool gemm = d.kind == OpKind::gemm || d.op == "gemm";
  const double elements = static_cast<double>(d.output.shape.elements());
  return gemm ? 2.0 * static_cast<double>(d.m) * static_cast<double>(d.n) * static_cast<double>(d.k) + elements
              : 8.0 * elements;
}

/// The operands of one op, in place or gathered.
struct Operands {
  std::vector<EvalInput> inputs;
  std::vector<std::pair<uint8_t*, uint64_t>> gathered;  ///< of the pool, with their sizes
};

/// An op whose parts run as tasks of their own.
struct Parted {
  std::unique_ptr<Evaluation> evaluation;
  Operands operands;
  std::atomic<int> left{0};
};

struct RunState {
  uint8_t* output = nullptr;
  std::unique_ptr<Parted> parted;
  std::atomic<uint32_t> waits_for{0};
  std::atomic<uint32_t> holders{0};  ///< readers yet to run, and one if the final image needs the value
};

constexpr uint32_t kMostAlike = 16;
constexpr double kMostWork = 16e6;  ///< of ops that run as one task

/// Ops alike that run one after the other, or a part of one op.
struct Task {
  std::array<uint32_t, kMostAlike> nodes;
  uint32_t count = 1;
  int part = -1;  ///< -1: from the start
};

bool same_form(const TensorRef& a, const TensorRef& b) {
  return a.dtype == b.dtype && a.shape == b.shape && a.strides == b.strides;
}

/// Whether two ops differ in their operands' places and nothing else.
bool alike(const OpDesc& a, const OpDesc& b) {
  if (a.type != b.type || a.op != b.op || !same_form(a.output, b.output) || a.operands.size() != b.operands.size() ||
      !a.epilogue.empty() || !b.epilogue.empty() || a.m != b.m || a.n != b.n || a.k != b.k ||
      a.transpose_a != b.transpose_a || a.transpose_b != b.transpose_b || a.tile_k != b.tile_k ||
      a.tile_m != b.tile_m || a.tile_n != b.tile_n || a.axis != b.axis || a.reduction != b.reduction) {
    return false;
  }
  for (size_t i = 0; i < a.operands.size(); ++i) {
    const Operand &x = a.operands[i], &y = b.operands[i];
    if (x.is_scalar != y.is_scalar || (x.is_scalar ? x.scalar != y.scalar : !same_form(x.ref, y.ref))) return false;
  }
  return true;
}

class Runner {
 public:
  Runner(const std::vector<OpRecord>& records, const ReplayGraph& g, const ReplayOptions& options)
      : records_(records),
        g_(g),
        options_(options),
        threads_(options.threads > 0 ? options.threads
                                     : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()))),
        states_(g.nodes.size()) {
    for (size_t i = 0; i < g.nodes.size(); ++i) {
      states_[i].waits_for = g.nodes[i].waits_for;
      states_[i].holders = g.nodes[i].readers;
      work_total_ += work_of(*g.nodes[i].desc);
    }
    for (const auto& [key, extents] : g.memory.spaces()) {
      for (const auto& [addr, e] : extents) {
        if (e.pending.producer) index_.emplace(e.pending.producer.get(), kLeafNode);
      }
    }
    for (uint32_t i = 0; i < g.nodes.size(); ++i) {
      const auto it = index_.find(g.nodes[i].desc.get());
      if (it == index_.end()) continue;
      it->second = i;
      ++states_[i].holders;
    }
  }

  void run() {
    std::vector<uint32_t> first;
    for (uint32_t i = 0; i < g_.nodes.size(); ++i) {
      if (g_.nodes[i].waits_for == 0) first.push_back(i);
    }
    std::vector<Task> ready;
    add_tasks(first, [&ready](const Task& t) { ready.push_back(t); });
    if (threads_ == 1) return run_alone(ready);
    tbb::global_control limit(tbb::global_control::max_allowed_parallelism, static_cast<size_t>(threads_));
    tbb::task_arena arena(threads_);
    arena.execute([&] {
      tbb::parallel_for_each(ready.begin(), ready.end(), [this](const Task& t, tbb::feeder<Task>& feeder) {
        step(t, [&feeder](const Task& next) { feeder.add(next); });
      });
    });
  }

  /// The final image. Short neighbours are copied into common buffers: what tiles wrote row by row is one extent again.
  MemoryImage result() const {
    constexpr uint64_t kShort = 4 * 1024, kBuffer = 1024 * 1024;
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
          const uint8_t* out = states_[index_.at(e.pending.producer.get())].output;
          bytes = {nullptr, out + e.pending.offset, e.size};
        }
        if (e.size >= kShort) {
          flush();
          if (e.pending.producer) bytes.hold = pool_.owner_of(bytes.data);
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

  /// Nodes that can run now, as tasks: neighbours that are alike and small together.
  template <class Add>
  void add_tasks(const std::vector<uint32_t>& nodes, Add add) const {
    const size_t fair = nodes.size() / (4 * static_cast<size_t>(threads_));
    const auto most = static_cast<uint32_t>(std::clamp<size_t>(fair, 1, kMostAlike));
    for (size_t i = 0; i < nodes.size();) {
      Task t;
      t.nodes[0] = nodes[i];
      const OpDesc& d = *g_.nodes[nodes[i]].desc;
      const double work = work_of(d);
      ++i;
      while (i < nodes.size() && t.count < most && work * (t.count + 1) <= kMostWork &&
             alike(d, *g_.nodes[nodes[i]].desc)) {
        t.nodes[t.count++] = nodes[i++];
      }
      add(t);
    }
  }

  template <class Add>
  void step(const Task& t, Add add) {
    std::vector<uint32_t> ready;
    if (t.part >= 0) {
      run_part(t.nodes[0], t.part, ready);
    } else {
      run_alike(t, ready, add);
    }
    add_tasks(ready, add);
  }

  template <class Add>
  void run_alike(const Task& t, std::vector<uint32_t>& ready, Add add) {
    Operands now, next;
    std::unique_ptr<Evaluation> e;
    for (uint32_t i = 0; i < t.count; ++i) {
      const uint32_t index = t.nodes[i];
      const ReplayGraph::Node& n = g_.nodes[index];
      RunState& s = states_[index];
      try {
        if (i == 0) take(n, now);
        if (i + 1 < t.count) take(g_.nodes[t.nodes[i + 1]], next);
        s.output = pool_.get(n.desc->output.nbytes());
        if (!e || !e->again(now.inputs, s.output)) {
          e = make_evaluation(*n.desc, now.inputs, s.output, options_.isa);
        }
        const int parts = e->parts();
        if (parts > 1) {
          s.parted = std::make_unique<Parted>();
          s.parted->evaluation = std::move(e);
          s.parted->operands = std::move(now);
          s.parted->left = parts;
          Task more;
          more.nodes[0] = index;
          for (more.part = parts - 1; more.part > 0; --more.part) add(more);
          run_part(index, 0, ready);
        } else {
          e->expect(i + 1 < t.count ? &next.inputs : nullptr, n.readers > 0);
          if (parts == 1) e->run(0);
          finish(index, now, ready);
        }
      } catch (const EvalError& error) {
        fail(n, error);
      }
      std::swap(now, next);
    }
  }

  void run_part(uint32_t index, int part, std::vector<uint32_t>& ready) {
    RunState& s = states_[index];
    try {
      s.parted->evaluation->run(part);
    } catch (const EvalError& error) {
      fail(g_.nodes[index], error);
    }
    if (--s.parted->left > 0) return;
    const std::unique_ptr<Parted> done = std::move(s.parted);
    finish(index, done->operands, ready);
  }

  [[noreturn]] void fail(const ReplayGraph::Node& n, const EvalError& e) const {
    throw ReplayError("op " + std::to_string(records_[n.record].op_id) + " (" + n.desc->name + "): " + e.what());
  }

  void take(const ReplayGraph::Node& n, Operands& o) {
    o.inputs.clear();
    for (uint32_t i = 0; i < n.inputs; ++i) o.inputs.push_back(input(g_.inputs[n.first_input + i], o));
  }

  const uint8_t* address(const Piece& p) const {
    return p.node == kLeafNode ? p.leaf : states_[p.node].output + p.offset;
  }

  /// The operand in place where its pieces are one strided view, else gathered.
  EvalInput input(const ReplayGraph::Input& in, Operands& o) {
    if (in.operand->is_scalar) return EvalInput::immediate(in.operand->scalar);
    const TensorRef& whole = in.operand->ref;
    const TensorRef t = without_repeats(whole);
    EvalInput e = EvalInput::tensor(nullptr, t.dtype, t.shape);
    const bool in_place =
        in.pieces == 1 && g_.pieces[in.first_piece].node != kZeroNode && view(g_.pieces[in.first_piece], e);
    if (!in_place) gather(in, t.nbytes(), e, o);
    for (int i = 0; i < whole.shape.rank(); ++i) {
      if (whole.shape[i] == t.shape[i]) continue;
      e.shape[i] = whole.shape[i];
      e.strides[i] = 0;
    }
    return e;
  }

  void gather(const ReplayGraph::Input& in, uint64_t nbytes, EvalInput& e, Operands& o) {
    uint8_t* to = pool_.get(nbytes);
    o.gathered.emplace_back(to, nbytes);
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

  /// An op is done: its readers may run, and what it read may go.
  void finish(uint32_t index, Operands& o, std::vector<uint32_t>& ready) {
    const ReplayGraph::Node& n = g_.nodes[index];
    if (options_.corrupt_op && records_[n.record].op_id == options_.corrupt_op) {
      for (uint64_t i = 0; i < n.desc->output.nbytes(); ++i) states_[index].output[i] ^= 0x5a;
    }
    if (options_.check) check(n, o.inputs, states_[index].output);
    for (const auto& [bytes, size] : o.gathered) pool_.put(bytes, size);
    o.gathered.clear();
    if (states_[index].holders == 0) release(index);
    for_each_source(n, [this](uint32_t from) {
      if (--states_[from].holders == 0) release(from);
    });
    for (uint32_t i = 0; i < n.readers; ++i) {
      const uint32_t reader = g_.readers[n.first_reader + i];
      if (--states_[reader].waits_for == 0) ready.push_back(reader);
    }
    done_.fetch_add(1, std::memory_order_relaxed);
    if (options_.progress) report(work_of(*n.desc));
  }

  void release(uint32_t index) {
    RunState& s = states_[index];
    pool_.put(s.output, g_.nodes[index].desc->output.nbytes());
    s.output = nullptr;
  }

  /// The nodes this one waited for, each once.
  template <class F>
  void for_each_source(const ReplayGraph::Node& n, F f) const {
    for (uint32_t i = 0; i < n.waits_for; ++i) f(g_.sources[n.first_source + i]);
  }

  void check(const ReplayGraph::Node& n, const std::vector<EvalInput>& inputs, const uint8_t* output) {
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
    options_.check({records_[n.record], inputs, output, producers, records_});
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
  const int threads_;
  std::vector<RunState> states_;
  ValuePool pool_;
  std::unordered_map<const OpDesc*, uint32_t> index_;  ///< of nodes whose values the final image needs
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
