#include "kernbench/platform/web/children.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "kernbench/phase2/op/errors.h"

namespace kernbench::web {
namespace {

constexpr size_t kQuestionsAtOnce = 4;

sigset_t ending_signals() {
  sigset_t s;
  sigemptyset(&s);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&s, number);
  return s;
}

/// A file that a process writes; closed with this object.
class Output {
 public:
  explicit Output(const std::string& file)
      : fd_(open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666)) {
    if (fd_ < 0) throw RunError(file + ": " + std::strerror(errno));
  }
  ~Output() { close(fd_); }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

double seconds_since(std::chrono::steady_clock::time_point t) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - t).count();
}

}  // namespace

Children::Children(std::string program, std::string folder, size_t jobs)
    : program_(std::move(program)), folder_(std::move(folder)), jobs_(jobs) {
  const sigset_t held = ending_signals();
  pthread_sigmask(SIG_BLOCK, &held, &before_);
  wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  signals_ = signalfd(-1, &held, SFD_CLOEXEC);
  if (wake_ < 0 || signals_ < 0) throw RunError(std::string("web: ") + std::strerror(errno));
}

Children::~Children() {
  close(wake_);
  close(signals_);
}

void Children::wake() const {
  eventfd_write(wake_, 1);
}

void Children::start(Run run) {
  const std::lock_guard<std::mutex> lock(mutex_);
  waiting_.push_back(std::move(run));
  wake();
}

ProcessResult Children::ask(const std::vector<std::string>& arguments) {
  std::future<ProcessResult> answer;
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
      if (s.run.name == run) return kill(s.process.pid, SIGINT) == 0;
    }
    const auto it = std::find_if(waiting_.begin(), waiting_.end(), [&](const Run& r) { return r.name == run; });
    if (it == waiting_.end()) return false;
    taken = std::move(*it);
    waiting_.erase(it);
  }
  taken.ended(128 + SIGINT, 0);
  return true;
}

size_t Children::started(bool runs) const {
  return static_cast<size_t>(
      std::count_if(started_.begin(), started_.end(), [&](const Started& s) { return s.run.name.empty() != runs; }));
}

void Children::start_run(Run run) {
  Started s;
  s.run = std::move(run);
  try {
    const Output out(s.run.out), err(s.run.err);
    s.process = start_program(program_, s.run.arguments, out.fd(), err.fd(), before_, folder_);
    started_.push_back(std::move(s));
  } catch (const RunError&) {
    s.run.ended(1, 0);
  }
}

void Children::start_question(Question q) {
  Started s;
  try {
    s.out = std::make_unique<MemoryFile>("stdout");
    s.err = std::make_unique<MemoryFile>("stderr");
    s.process = start_program(program_, q.arguments, s.out->fd(), s.err->fd(), before_, folder_);
    s.answer = std::move(q.answer);
    started_.push_back(std::move(s));
  } catch (const RunError&) {
    q.answer.set_exception(std::current_exception());
  }
}

void Children::start_what_waits() {
  for (; !questions_.empty() && started(false) < kQuestionsAtOnce; questions_.pop_front())
    start_question(std::move(questions_.front()));
  for (; !waiting_.empty() && started(true) < jobs_; waiting_.pop_front()) start_run(std::move(waiting_.front()));
}

void Children::end_of(std::list<Started>::iterator it) {
  const int status = exit_status(wait_for_child(it->process.pid));
  close(it->process.pidfd);
  if (it->run.name.empty()) {
    it->answer.set_value({status, it->out->text(), it->err->text()});
  } else {
    it->run.ended(status, seconds_since(it->since));
  }
  started_.erase(it);
}

int Children::work() {
  for (;;) {
    std::vector<pollfd> open = {{signals_, POLLIN, 0}, {wake_, POLLIN, 0}};
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      start_what_waits();
      for (const Started& s : started_) open.push_back({s.process.pidfd, POLLIN, 0});
    }
    if (poll(open.data(), open.size(), -1) < 0 && errno != EINTR)
      throw RunError(std::string("web: waiting for processes: ") + std::strerror(errno));
    if (signalfd_siginfo signal; open[0].revents != 0 && read(signals_, &signal, sizeof signal) == sizeof signal) {
      end_all();
      return static_cast<int>(signal.ssi_signo);
    }
    eventfd_t woken;
    eventfd_read(wake_, &woken);
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto it = started_.begin(); it != started_.end();) {
      const auto now = it++;
      const bool ended = std::any_of(open.begin() + 2, open.end(),
                                     [&](const pollfd& p) { return p.fd == now->process.pidfd && p.revents != 0; });
      if (ended) end_of(now);
    }
  }
}

void Children::end_all() {
  const std::lock_guard<std::mutex> lock(mutex_);
  over_ = true;
  for (Question& q : questions_) q.answer.set_exception(std::make_exception_ptr(RunError("web: ends")));
  for (const Started& s : started_) kill(s.process.pid, SIGTERM);  // an op log ends well; at once at the second
  while (!started_.empty()) end_of(started_.begin());
}

}  // namespace kernbench::web
