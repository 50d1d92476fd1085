// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/graph/executor.h"

#include <tbb/global_control.h>
#include <tbb/parallel_for_each.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <unordered_map>

#include "kernbench/phase2/eval/arithmetic.h"
#include "kernbench/phase2/eval/eval.h"
#include "kernbench/phase2/graph/replay_graph.h"
#include "kernbench/phase2/graph/replay_operands.h"
#include "kernbench/phase2/graph/threads.h"
#include "kernbench/phase2/graph/value_pool.h"

namespace kernbench::phase2 {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point t) {
  return std::chrono::duration<double>(Clock::now() - t).count();
}

/// An op whose parts run as separate tasks.
struct Parted {
  std::unique_ptr<Evaluation> evaluation;
  ReplayOperands operands;
  std::atomic<int> left{0};
};

struct RunState {
  std::unique_ptr<Parted> parted;
  std::atomic<uint32_t> waits_for{0};
  std::atomic<uint32_t> holders{0};  ///< readers that have not run, plus one if the final image needs the value
};

constexpr uint32_t kMostAlike = 32;
constexpr double kMostWork = 16e6;  ///< for ops that run as one task
constexpr double kLeastWork = 1e6;  ///< less work does not justify a separate task

/// Ops of one form that run consecutively, or a part of one op.
struct Task {
  std::array<uint32_t, kMostAlike> nodes;
  uint32_t count = 1;
  int part = -1;  ///< -1: start the op
};

int wanted_threads(const ReplayOptions& o) {
  return o.threads > 0 ? o.threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

class Runner {
 public:
  Runner(const std::vector<OpRecord>& records, const ReplayGraph& g, const ReplayOptions& options)
      : records_(records),
        g_(g),
        options_(options),
        threads_(threads_to_be_had(wanted_threads(options))),
        states_(g.nodes.size()),
        outputs_(g.nodes.size()),
        operands_(g, outputs_, pool_) {
    for (size_t i = 0; i < g.nodes.size(); ++i) {
      states_[i].waits_for = g.nodes[i].waits_for;
      states_[i].holders = g.nodes[i].readers;
      work_total_ += form(g.nodes[i]).work;
    }
    for (const auto& key : g.memory.spaces()) {
      g.memory.for_each_piece(key, [&](uint64_t, uint64_t, const MemoryImage::Extent* e, uint64_t) {
        if (e && e->producer()) index_.emplace(e->producer(), kLeafNode);
      });
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
    auto limit = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism,
                                                       static_cast<size_t>(threads_));
    tbb::task_arena arena(threads_);
    try {
      arena.initialize();
    } catch (const std::bad_alloc&) {
      limit.release();  // its destructor would wait for ever for objects that TBB left half constructed
      throw;
    }
    arena.execute([&] {
      tbb::parallel_for_each(ready.begin(), ready.end(),
                             [this](const Task& t, tbb::feeder<Task>& feeder) { run_on(t, feeder); });
    });
  }

  int threads() const { return threads_; }

  std::vector<std::string> prints() const {
    std::vector<std::string> lines;
    for (const auto& [node, line] : prints_) lines.push_back(line);
    return lines;
  }

  /// The final image. Short neighbours are copied into common buffers, so that rows written by tiles become one extent
  /// again.
  MemoryImage result() const {
    constexpr uint64_t kShort = 4 * 1024, kBuffer = 1024 * 1024;
    MemoryImage image;
    for (const auto& key : g_.memory.spaces()) {
      Bytes joined;
      uint64_t joined_at = 0;
      const auto flush = [&] {
        if (!joined.empty()) image.write_shared(key, joined_at, SharedBytes::take(std::move(joined)));
        joined = Bytes{};
      };
      g_.memory.for_each_piece(key, [&](uint64_t addr, uint64_t n, const MemoryImage::Extent* e, uint64_t offset) {
        if (!e) return;
        SharedBytes bytes;
        if (e->producer()) {
          bytes = {nullptr, outputs_[index_.at(e->producer())] + e->offset() + offset, n};
        } else {
          bytes = e->bytes().part(offset, n);
        }
        if (n >= kShort) {
          flush();
          if (e->producer()) bytes.hold = pool_.owner_of(bytes.place);
          image.write_shared(key, addr, std::move(bytes));
          return;
        }
        if (joined.size() + n > kBuffer || joined_at + joined.size() != addr) flush();
        if (joined.empty()) joined_at = addr;
        joined.insert(joined.end(), bytes.data(), bytes.data() + n);
      });
      flush();
    }
    return image;
  }

 private:
  /// Runs in effect order where dependencies allow, and depth first, so that values have short lives.
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

  /// Runs a task and then, in the same thread, one task that it made ready, so that values have short lives. Other
  /// threads may take the rest.
  void run_on(Task t, tbb::feeder<Task>& feeder) {
    for (bool more = true; more;) {
      more = false;
      const Task now = t;
      step(now, [&](const Task& next) {
        if (more || next.part >= 0) {
          feeder.add(next);
        } else {
          t = next;
          more = true;
        }
      });
    }
  }

  /// Makes tasks of the nodes that can run now. Small neighbours of one form share a task.
  template <class Add>
  void add_tasks(const std::vector<uint32_t>& nodes, Add add) const {
    const size_t fair = nodes.size() / (4 * static_cast<size_t>(threads_));
    for (size_t i = 0; i < nodes.size();) {
      Task t;
      t.nodes[0] = nodes[i];
      const ReplayGraph::Node& n = g_.nodes[nodes[i]];
      const double work = form(n).work;
      ++i;
      const auto fits = [&] {
        const double all = work * (t.count + 1);
        return t.count < kMostAlike && all <= kMostWork && (t.count < fair || all <= kLeastWork);
      };
      while (i < nodes.size() && g_.nodes[nodes[i]].form == n.form && fits()) t.nodes[t.count++] = nodes[i++];
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
    ReplayOperands now, next;
    for (uint32_t i = 0; i < t.count; ++i) {
      const uint32_t index = t.nodes[i];
      const ReplayGraph::Node& n = g_.nodes[index];
      try {
        if (i == 0) operands_.read(n, now);
        if (i + 1 < t.count) operands_.read_alike(g_.nodes[t.nodes[i + 1]], next, n, now);
        outputs_[index] = pool_.get(form(n).output_bytes);
        std::unique_ptr<Evaluation> e = make_evaluation(*n.desc, now.inputs, outputs_[index], options_.isa);
        const int parts = e->parts();
        if (parts > 1) {
          RunState& s = states_[index];
          s.parted = std::make_unique<Parted>();
          s.parted->evaluation = std::move(e);
          s.parted->operands = std::move(now);
          s.parted->left = parts;
          Task more;
          more.nodes[0] = index;
          for (more.part = parts - 1; more.part > 0; --more.part) add(more);
          run_part(index, 0, ready);
        } else {
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

  /// Completes an op: its readers may run, and its inputs may be freed.
  void finish(uint32_t index, ReplayOperands& o, std::vector<uint32_t>& ready) {
    const ReplayGraph::Node& n = g_.nodes[index];
    if (options_.corrupt_op && records_[n.record].op_id == options_.corrupt_op) {
      for (uint64_t i = 0; i < n.desc->value_bytes(); ++i) outputs_[index][i] ^= 0x5a;
    }
    if (options_.check) check(n, o.inputs, outputs_[index]);
    if (n.desc->type == CommandType::math && !n.desc->argument.empty()) say(index, o.inputs.front());
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
    if (options_.progress) report(form(n).work);
  }

  void say(uint32_t index, const EvalInput& in) {
    const OpDesc& d = *g_.nodes[index].desc;
    const bool asserts = d.op == "device_assert";
    if (!asserts && d.op != "device_print") return;
    if (asserts && outputs_[index][0] != 0) return;
    std::string text = report_text(d, in);
    if (asserts) throw AssertFailed(text);
    const std::lock_guard<std::mutex> lock(prints_mutex_);
    prints_.emplace(index, std::move(text));
  }

  const OpForm& form(const ReplayGraph::Node& n) const { return g_.forms[n.form]; }

  void release(uint32_t index) {
    pool_.put(outputs_[index], form(g_.nodes[index]).output_bytes);
    outputs_[index] = nullptr;
  }

  /// Calls f once for each node that this one waited for.
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
  std::vector<uint8_t*> outputs_;
  ValuePool pool_;
  const OperandReader operands_;
  std::unordered_map<const OpDesc*, uint32_t> index_;  ///< nodes whose values the final image needs
  double work_total_ = 0, work_done_ = 0, reported_ = 0;
  std::atomic<uint64_t> done_{0};
  std::mutex progress_mutex_, check_mutex_, prints_mutex_;
  std::map<uint32_t, std::string> prints_;  ///< by node
  Clock::time_point start_ = Clock::now();
};

}  // namespace

ReplayResult replay(const std::vector<OpRecord>& records, const MemoryImage& image, const ReplayOptions& options) {
  arithmetic_of(options.isa);  // an unavailable instruction set is an error before any work starts
  ReplayResult r;
  const auto start = Clock::now();
  GraphOptions graph_options;
  graph_options.skip_materialized = !options.check;
  graph_options.keep_tcm = options.keep_tcm;
  graph_options.until = options.until;
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
  r.prints = runner.prints();
  r.isa = options.isa;
  r.threads = runner.threads();
  r.threads_refused = wanted_threads(options) - r.threads;
  return r;
}

std::string ReplayResult::warning() const {
  if (threads_refused == 0) return "";
  return "the system starts " + std::to_string(threads) + " of " + std::to_string(threads + threads_refused) +
         " threads; the replay continues with those";
}

}  // namespace kernbench::phase2
