// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/service/scheduler.h"

#include <algorithm>
#include <stdexcept>

namespace kernbench::service {

Scheduler::Scheduler(const SchedulerLimits& limits, const RequestTrace& trace)
    : limits_(limits), cursor_(trace()), arrivals_(trace()) {
  advance();
  has_arriving_ = arrivals_->next(&arriving_);
}

void Scheduler::count_arrivals() {
  while (has_arriving_ && arriving_.arrival_ns <= now_) {
    ++arrived_;
    has_arriving_ = arrivals_->next(&arriving_);
  }
}

/// Allocates blocks for `tokens` more keys; evicts unused parts, least recently used first.
bool Scheduler::take_blocks(Running* r, int64_t tokens) {
  const int64_t shared = static_cast<int64_t>(r->shared) * part_blocks();
  const int64_t more = (r->computed + tokens + limits_.block - 1) / limits_.block - shared - r->own_blocks;
  while (more > limits_.blocks - taken() && !idle_.empty()) {
    parts_.erase(idle_.front());
    idle_.pop_front();
  }
  if (more > limits_.blocks - taken()) return false;
  r->own_blocks += more;
  own_ += more;
  return true;
}

void Scheduler::use_part(uint64_t hash) {
  Part& p = parts_.at(hash);
  if (p.users++ == 0) idle_.erase(p.idle);
}

void Scheduler::leave_part(uint64_t hash) {
  Part& p = parts_.at(hash);
  if (--p.users == 0) p.idle = idle_.insert(idle_.end(), hash);
}

/// Leading parts of the prompt that are cached. At least one token must be computed, to give the next token.
void Scheduler::find_prefix(Running* r) {
  const std::vector<uint64_t>& hashes = r->request.hashes;
  while (limits_.prefix_reuse && r->shared < hashes.size() &&
         static_cast<int64_t>(r->shared + 1) * kHashTokens < r->known() &&
         static_cast<int64_t>(r->shared + 1) * kHashTokens <= r->request.prompt &&
         parts_.count(hashes[r->shared]) > 0) {
    use_part(hashes[r->shared++]);
    r->computed += kHashTokens;
  }
}

/// Moves complete parts into the shared table. A part computed by two requests is kept once.
void Scheduler::share_computed(Running* r) {
  const std::vector<uint64_t>& hashes = r->request.hashes;
  while (limits_.prefix_reuse && r->shared < hashes.size()) {
    const int64_t end = static_cast<int64_t>(r->shared + 1) * kHashTokens;
    if (end > r->request.prompt || end > r->computed) return;
    const auto [part, is_new] = parts_.try_emplace(hashes[r->shared]);
    if (is_new) {
      part->second.users = 1;
    } else {
      use_part(hashes[r->shared]);
    }
    ++r->shared;
    r->own_blocks -= part_blocks();
    own_ -= part_blocks();
  }
}

void Scheduler::release(Running* r) {
  own_ -= r->own_blocks;
  r->own_blocks = 0;
  while (r->shared > 0) leave_part(r->request.hashes[--r->shared]);  // later parts are evicted before earlier ones
}

void Scheduler::add_to(Step* s, Running* r) {
  if (r->emitted > 0 && r->computed + 1 == r->known()) {
    ++s->batch;
    s->context += r->computed;
    return;
  }
  s->chunks.push_back({r->computed, r->tokens});
  s->prefill += r->tokens;
}

/// False if a request was preempted.
bool Scheduler::schedule_running(Step* s, int64_t* budget) {
  bool all = true;
  for (size_t i = 0; i < running_.size(); ++i) {
    Running& r = running_[i];
    r.tokens = std::min(r.known() - r.computed, *budget);
    while (i < running_.size() && !take_blocks(&running_[i], running_[i].tokens)) {
      Running victim = std::move(running_.back());
      running_.pop_back();
      release(&victim);
      victim.computed = 0;
      ++victim.served.preemptions;
      ++totals_.preemptions;
      preempted_.push_front(std::move(victim));
      all = false;
    }
    if (i == running_.size()) break;
    if (running_[i].tokens == 0) continue;
    *budget -= running_[i].tokens;
    add_to(s, &running_[i]);
  }
  return all;
}

void Scheduler::admit(Step* s, int64_t* budget) {
  while (*budget > 0 && static_cast<int64_t>(running_.size()) < limits_.max_batch &&
         (!preempted_.empty() || arrived())) {
    Running r;
    const bool again = !preempted_.empty();
    if (again) {
      r = std::move(preempted_.front());
    } else {
      r.request = next_;
      r.served = {taken_in_, next_.arrival_ns, 0, 0, next_.prompt, next_.output, 0, 0};
    }
    find_prefix(&r);
    const int64_t found = r.computed;
    r.tokens = std::min(r.known() - r.computed, *budget);
    if (!take_blocks(&r, r.tokens)) {  // later requests must not overtake it
      release(&r);
      r.computed = 0;
      if (again) preempted_.front() = std::move(r);
      return;
    }
    totals_.reused_tokens += found;
    if (again) {
      preempted_.pop_front();
    } else {
      r.served.reused = found;
      ++taken_in_;
      advance();
    }
    *budget -= r.tokens;
    add_to(s, &r);
    running_.push_back(std::move(r));
  }
}

void Scheduler::end_step(const OnServed& on_served) {
  size_t left = 0;
  for (size_t i = 0; i < running_.size(); ++i) {
    Running& r = running_[i];
    r.computed += r.tokens;
    totals_.computed_tokens += r.tokens;
    share_computed(&r);
    if (r.tokens > 0 && r.computed == r.known()) {
      if (r.emitted++ == 0) r.served.first_ns = now_;
      ++totals_.output_tokens;
    }
    r.tokens = 0;
    if (r.emitted < r.request.output) {
      if (left != i) running_[left] = std::move(r);
      ++left;
      continue;
    }
    release(&r);
    r.served.end_ns = now_;
    ++totals_.requests;
    totals_.prompt_tokens += r.request.prompt;
    on_served(r.served);
  }
  running_.resize(left);
}

ServiceTotals Scheduler::run(const Price& price, const OnStep& on_step, const OnServed& on_served) {
  while (has_next_ || !running_.empty() || !preempted_.empty()) {
    if (running_.empty() && preempted_.empty()) now_ = std::max(now_, next_.arrival_ns);
    Step s;
    s.number = totals_.steps++;
    int64_t budget = limits_.token_budget;
    if (schedule_running(&s, &budget)) admit(&s, &budget);
    if (s.chunks.empty() && s.batch == 0) throw std::logic_error("a step of a service without work");
    if (s.batch > 0) s.context = (s.context + s.batch / 2) / s.batch;
    s.start_ns = now_;
    count_arrivals();
    s.running = static_cast<int64_t>(running_.size());
    s.waiting = static_cast<int64_t>(arrived_ - taken_in_ + preempted_.size());
    s.cached = static_cast<int64_t>(idle_.size()) * part_blocks();
    s.blocks = taken() - s.cached;
    totals_.most_blocks = std::max(totals_.most_blocks, taken());
    s.ns = price(s);
    now_ += s.ns;
    totals_.busy_ns += s.ns;
    on_step(s);
    end_step(on_served);
  }
  totals_.end_ns = now_;
  return totals_;
}

}  // namespace kernbench::service
