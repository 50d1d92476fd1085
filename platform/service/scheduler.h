// SPDX-License-Identifier: Apache-2.0
// Continuous batching with chunked prefill over one KV cache in blocks, step by step (docs/service.md defines the
// order). It stores only running requests; waiting ones are the unread part of the trace. Times in ns.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <unordered_map>
#include <vector>

#include "kernbench/platform/service/request_trace.h"

namespace kernbench::service {

struct SchedulerLimits {
  int64_t token_budget = 2048;  ///< tokens per step
  int64_t max_batch = 256;      ///< concurrent requests
  int64_t block = 16;           ///< tokens of a KV block
  int64_t blocks = 0;           ///< in the KV cache
  bool prefix_reuse = false;    ///< parts with equal hashes are computed once while they are cached
};

/// Tokens of a prompt (or of a recomputed one) after `past` cached tokens.
struct Chunk {
  int64_t past = 0, tokens = 0;
};

struct Step {
  uint64_t number = 0;
  double start_ns = 0, ns = 0;
  std::vector<Chunk> chunks = {};
  int64_t prefill = 0;  ///< tokens of all chunks
  int64_t batch = 0;    ///< sequences that generate one token
  int64_t context = 0;  ///< their mean number of cached keys, rounded
  int64_t running = 0, waiting = 0;
  int64_t blocks = 0, cached = 0;  ///< held by requests; kept only for reuse
};

struct Served {
  uint64_t number = 0;  ///< in the trace, from 0
  double arrival_ns = 0, first_ns = 0, end_ns = 0;
  int64_t prompt = 0, output = 0;
  int64_t reused = 0;       ///< prompt tokens found in the cache at the first admission
  int64_t preemptions = 0;  ///< how often its blocks were taken
};

struct ServiceTotals {
  uint64_t requests = 0, steps = 0, preemptions = 0;
  int64_t prompt_tokens = 0, output_tokens = 0, computed_tokens = 0, reused_tokens = 0;
  int64_t most_blocks = 0;
  double end_ns = 0, busy_ns = 0;
};

class Scheduler {
 public:
  using Price = std::function<double(const Step&)>;  ///< ns, above 0
  using OnStep = std::function<void(const Step&)>;
  using OnServed = std::function<void(const Served&)>;
  Scheduler(const SchedulerLimits& limits, const RequestTrace& trace);
  /// Serves all requests of the checked trace.
  ServiceTotals run(const Price&, const OnStep&, const OnServed&);

 private:
  struct Running {
    Request request;
    Served served;
    int64_t computed = 0, emitted = 0;  ///< keys in the cache; generated tokens
    int64_t own_blocks = 0;             ///< without shared ones
    size_t shared = 0;                  ///< leading parts of the prompt in the table
    int64_t tokens = 0;                 ///< of the present step
    int64_t known() const { return request.prompt + emitted; }
  };
  struct Part {
    int64_t users = 0;
    std::list<uint64_t>::iterator idle;  ///< position among the idle parts, if unused
  };
  bool arrived() { return has_next_ && next_.arrival_ns <= now_; }
  void advance() { has_next_ = cursor_->next(&next_); }
  void count_arrivals();
  int64_t part_blocks() const { return kHashTokens / limits_.block; }
  int64_t taken() const { return own_ + static_cast<int64_t>(parts_.size()) * part_blocks(); }
  bool take_blocks(Running* r, int64_t tokens);
  void use_part(uint64_t hash);
  void leave_part(uint64_t hash);
  void find_prefix(Running* r);
  void share_computed(Running* r);
  void release(Running* r);
  bool schedule_running(Step*, int64_t* budget);
  void admit(Step*, int64_t* budget);
  void add_to(Step*, Running*);
  void end_step(const OnServed&);

  const SchedulerLimits limits_;
  std::unique_ptr<RequestCursor> cursor_, arrivals_;
  Request next_, arriving_;
  bool has_next_ = true, has_arriving_ = true;
  uint64_t taken_in_ = 0, arrived_ = 0;
  double now_ = 0;
  std::vector<Running> running_;   // in order of admission
  std::deque<Running> preempted_;  // earliest first
  int64_t own_ = 0;
  std::unordered_map<uint64_t, Part> parts_;
  std::list<uint64_t> idle_;  // least recently used first
  ServiceTotals totals_;
};

}  // namespace kernbench::service
