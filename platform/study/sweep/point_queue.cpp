// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/study/sweep/point_queue.h"

#include <algorithm>

#include "kernbench/phase2/io/logging.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/study/sweep/point_run.h"

namespace kernbench::sweep {
namespace {

constexpr auto kAskAgain = std::chrono::milliseconds(50);  // polling interval for points of other processes

}  // namespace

PointQueue::PointQueue(Options o) : o_(std::move(o)), workers_(o_.timeout_s, o_.spared) {}

Store::Claim PointQueue::claim(size_t id, const Words& words) {
  if (!o_.store) return Store::Claim::mine;
  const std::string key = o_.key(id);
  if (keys_at_work_.count(key) > 0) return Store::Claim::others;
  const Store::Claim claim = o_.store->claim(key, command_text(words), is_explained(words));
  if (claim == Store::Claim::mine) keys_at_work_.insert(key);
  return claim;
}

std::vector<PointQueue::Done> PointQueue::start_some() {
  std::vector<Done> done;
  for (size_t n = waiting_.size(); n > 0 && workers_.size() < o_.jobs && !stopped_; --n) {
    const size_t id = waiting_.front();
    waiting_.pop_front();
    const Words words = o_.words(id);
    const Store::Claim claim = this->claim(id, words);
    if (claim == Store::Claim::others) waiting_.push_back(id);
    if (claim != Store::Claim::others) {
      logging::info(logging::Room::study, [&] {
        const char* how = claim == Store::Claim::done ? " is stored: " : " is simulated: ";
        return "point " + std::to_string(id) + how + command_text(words);
      });
    }
    if (claim == Store::Claim::done) done.push_back({id, *o_.store->find(o_.key(id), true), Done::How::stored});
    if (claim != Store::Claim::mine) continue;
    try {
      workers_.start(id, [&] { return simulate_point(words, o_.jobs); });
    } catch (const RunError& e) {
      if (o_.store) keys_at_work_.erase(o_.key(id));
      done.push_back({id, {1, e.what(), nullptr, 0}, Done::How::not_started});
    }
  }
  return done;
}

std::optional<PointQueue::Done> PointQueue::wait(std::chrono::milliseconds patience, std::vector<pollfd>* others) {
  // If there is room, waiting points are being simulated by other processes.
  const bool room = workers_.size() < o_.jobs && !waiting_.empty() && !stopped_;
  const auto ended = workers_.wait(room ? std::min(patience, kAskAgain) : patience, others);
  if (!ended) return std::nullopt;
  Done done{ended->id, result_of(*ended, o_.timeout_s, o_.runs), Done::How::simulated};
  if (o_.store) keys_at_work_.erase(o_.key(done.id));
  if (done.result.status > 2 && tries_[done.id]++ < o_.retries) {
    waiting_.push_front(done.id);
    return std::nullopt;
  }
  if (o_.store) o_.store->put(o_.key(done.id), done.result);
  return done;
}

void PointQueue::run(const std::function<void(Done&)>& take, const std::function<void(int)>& on_signal,
                     const std::function<void()>& pause) {
  while (busy()) {
    for (Done& d : start_some()) {
      if (d.how == Done::How::not_started) throw RunError(d.result.error);
      take(d);
    }
    if (!busy()) break;
    pause();
    std::optional<Done> ended = wait(std::chrono::seconds(1));
    if (const int signal = StopSignals::take()) on_signal(signal);
    if (ended) take(*ended);
  }
}

}  // namespace kernbench::sweep
