// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/web/children.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "kernbench/phase2/io/logging.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/phase2/tool/faults.h"

namespace kernbench::web {
namespace {

constexpr size_t kQuestionsAtOnce = 4;

double seconds_since(std::chrono::steady_clock::time_point t) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - t).count();
}

}  // namespace

Children::Children(std::string program, std::string folder, size_t jobs)
    : program_(std::move(program)),
      folder_(std::move(folder)),
      jobs_(jobs),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (wake_ < 0) throw RunError(std::string("web: ") + std::strerror(errno));
}

Children::~Children() {
  close(wake_);
}

void Children::wake() const {
  eventfd_write(wake_, 1);
}

void Children::start(Run run) {
  const std::lock_guard<std::mutex> lock(mutex_);
  waiting_.push_back(std::move(run));
  wake();
}

ChildPool::Ended Children::ask(const std::vector<std::string>& arguments) {
  std::future<ChildPool::Ended> answer;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (over_) throw RunError("web: ends");
    questions_.push_back({arguments, {}});
    answer = questions_.back().answer.get_future();
    wake();
  }
  return answer.get();
}

Children::Place Children::place(const std::string& run) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const Started& s : started_) {
    if (s.run.name == run) return {State::running, seconds_since(s.since)};
  }
  for (const Run& r : waiting_) {
    if (r.name == run) return {State::waiting, 0};
  }
  return {};
}

bool Children::stop(const std::string& run) {
  Run taken;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const Started& s : started_) {
      if (s.run.name != run) continue;
      to_stop_.push_back(s.id);
      wake();
      return true;
    }
    const auto it = std::find_if(waiting_.begin(), waiting_.end(), [&](const Run& r) { return r.name == run; });
    if (it == waiting_.end()) return false;
    taken = std::move(*it);
    waiting_.erase(it);
  }
  end(taken, 128 + SIGINT, 0);
  return true;
}

/// If the end cannot be stored (folder removed, disk full), the page shows the run as cut off.
void Children::end(const Run& run, int status, double wall_s) {
  logging::info(logging::Room::web, [&] { return "run " + run.name + " has ended with " + std::to_string(status); });
  try {
    run.ended(status, wall_s);
  } catch (const std::exception& e) {
    cli::tell("kernbench web: " + run.name + ": its end is not kept: " + e.what());
  }
}

size_t Children::started(bool runs) const {
  return static_cast<size_t>(
      std::count_if(started_.begin(), started_.end(), [&](const Started& s) { return s.run.name.empty() != runs; }));
}

void Children::start_run(Run run) {
  try {
    pool_.start(next_id_, {program_, run.arguments, folder_, run.out, run.err});
    logging::info(logging::Room::web, [&] { return "run " + run.name + " is started"; });
    Started& s = started_.emplace_back();
    s.id = next_id_++;
    s.run = std::move(run);
  } catch (const std::exception& e) {
    cli::tell("kernbench web: " + run.name + ": cannot be started: " + e.what());
    end(run, 1, 0);
  }
}

void Children::start_question(Question q) {
  try {
    logging::debug(logging::Room::web, [&] { return "kernbench " + joined(q.arguments, " ") + " is asked"; });
    pool_.start(next_id_, {program_, q.arguments, folder_, "", ""});
    Started& s = started_.emplace_back();
    s.id = next_id_++;
    s.answer = std::move(q.answer);
  } catch (const std::exception&) {
    q.answer.set_exception(std::current_exception());
  }
}

void Children::start_what_waits() {
  for (; !questions_.empty() && started(false) < kQuestionsAtOnce; questions_.pop_front())
    start_question(std::move(questions_.front()));
  for (; !waiting_.empty() && started(true) < jobs_; waiting_.pop_front()) start_run(std::move(waiting_.front()));
}

void Children::take(ChildPool::Ended e) {
  const auto it = std::find_if(started_.begin(), started_.end(), [&](const Started& s) { return s.id == e.id; });
  if (it->run.name.empty()) {
    it->answer.set_value(std::move(e));
  } else {
    end(it->run, e.status, e.wall_s);
  }
  started_.erase(it);
}

int Children::work() {
  for (;;) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      start_what_waits();
      for (const size_t id : to_stop_) pool_.signal(id, SIGINT);
      to_stop_.clear();
    }
    std::vector<pollfd> others = {{wake_, POLLIN, 0}};
    std::optional<ChildPool::Ended> ended;
    try {
      ended = pool_.wait(std::chrono::minutes(1), &others);
    } catch (const std::exception& e) {  // a system error, possibly temporary
      cli::tell(std::string("kernbench web: ") + e.what());
      poll(nullptr, 0, 100);
    }
    if (const int signal = StopSignals::take()) {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (ended) take(std::move(*ended));
      end_all();
      return signal;
    }
    eventfd_t woken;
    eventfd_read(wake_, &woken);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (ended) take(std::move(*ended));
  }
}

void Children::end_all() {
  over_ = true;
  for (Question& q : questions_) q.answer.set_exception(std::make_exception_ptr(RunError("web: ends")));
  for (const Started& s : started_) pool_.signal(s.id, SIGTERM);  // lets an op log complete; a second one ends at once
  while (!started_.empty()) {
    if (auto ended = pool_.wait(std::chrono::minutes(1))) take(std::move(*ended));
  }
}

}  // namespace kernbench::web
