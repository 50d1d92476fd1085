// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/web/page_server.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "kernbench/phase2/op/errors.h"

namespace kernbench::web {
namespace {

constexpr const char* kHost = "127.0.0.1";
/// Set while a connection beyond the limit is accepted.
thread_local bool turned_away = false;

std::string random_token() {
  unsigned char bytes[16];
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) throw RunError("web: the system gives no random bytes");
  std::string text;
  for (const unsigned char b : bytes) text += fmt::format("{:02x}", b);
  return text;
}

/// Compares in constant time, so that the time reveals nothing.
bool same(const std::string& a, const std::string& b) {
  if (a.size() != b.size()) return false;
  unsigned char difference = 0;
  for (size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

/// The reason to reject a request, as the end of a status line; empty: accepted.
using Refusal = std::string_view;

bool begins(std::string_view line, std::string_view lower) {
  const auto same_letter = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  return line.size() >= lower.size() &&
         std::equal(lower.begin(), lower.end(), line.begin(), [&](char b, char a) { return same_letter(a, b); });
}

/// A request and its answer: a socket with limits of time and bytes, however slowly data arrive.
class OneRequest : public httplib::Stream {
 public:
  explicit OneRequest(socket_t socket) : socket_(socket), until_(Clock::now() + PageServer::kToAsk) {}

  /// Reads the head and removes fields that cpp-httplib would process without limit. It answers every requested range
  /// of a file (RFC 9110 allows servers to ignore ranges) and decodes a body to any size.
  Refusal take_head() {
    std::string line;
    for (char c = 0; receive(&c, 1) == 1;) {
      line += c;
      if (line.size() > PageServer::kMostLine) return "431 Request Header Fields Too Large";
      if (c != '\n') continue;
      if (begins(line, "content-encoding:")) return "415 Unsupported Media Type";
      if (!begins(line, "range:")) head_ += line;
      if (head_.size() > PageServer::kMostHead) return "431 Request Header Fields Too Large";
      if (line == "\r\n") break;
      line.clear();
    }
    return "";
  }

  bool is_readable() const override { return at_ < head_.size() || at_received_ < received_.size() || wait(POLLIN); }
  bool is_writable() const override { return wait(POLLOUT); }
  ssize_t read(char* to, size_t size) override {
    if (at_ == head_.size()) return receive(to, size);
    const size_t n = head_.copy(to, size, at_);
    at_ += n;
    return static_cast<ssize_t>(n);
  }
  ssize_t write(const char* from, size_t size) override {
    if (!answering_) until_ = Clock::now() + PageServer::kToAnswer;
    answering_ = true;
    return wait(POLLOUT) ? send(socket_, from, size, MSG_NOSIGNAL | MSG_DONTWAIT) : -1;
  }
  void get_remote_ip_and_port(std::string& ip, int& port) const override { ip = kHost, port = 0; }
  void get_local_ip_and_port(std::string& ip, int& port) const override { ip = kHost, port = 0; }
  socket_t socket() const override { return socket_; }

 private:
  using Clock = std::chrono::steady_clock;
  bool wait(short what) const {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until_ - Clock::now()).count();
    pollfd p{socket_, what, 0};
    return left > 0 && poll(&p, 1, static_cast<int>(left)) > 0;
  }
  /// Buffered data of the socket.
  ssize_t receive(char* to, size_t size) {
    if (at_received_ == received_.size()) {
      received_.resize(std::min<size_t>(left_, 4096));
      at_received_ = 0;
      const ssize_t got =
          received_.empty() || !wait(POLLIN) ? -1 : recv(socket_, received_.data(), received_.size(), 0);
      received_.resize(got > 0 ? static_cast<size_t>(got) : 0);
      if (got <= 0) return got;
      left_ -= received_.size();
    }
    const size_t n = received_.copy(to, size, at_received_);
    at_received_ += n;
    return static_cast<ssize_t>(n);
  }

  socket_t socket_;
  Clock::time_point until_;
  size_t left_ = PageServer::kMostBytes;
  bool answering_ = false;
  std::string head_, received_;
  size_t at_ = 0, at_received_ = 0;
};

/// A few threads, as many as the system allows. If all are busy, a connection is accepted and rejected at once. Without
/// threads, each connection is served by the accepting thread.
class BusyAtMost : public httplib::TaskQueue {
 public:
  explicit BusyAtMost(size_t most) {
    try {
      while (threads_.size() < most) threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {  // the existing threads suffice
    }
  }
  void enqueue(std::function<void()> task) override {
    const bool alone = threads_.empty();
    std::unique_lock<std::mutex> lock(mutex_);
    if (alone || busy_ == threads_.size()) {
      lock.unlock();
      turned_away = !alone;
      task();
      turned_away = false;
      return;
    }
    ++busy_;
    tasks_.push_back(std::move(task));
    more_.notify_one();
  }
  void shutdown() override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      over_ = true;
    }
    more_.notify_all();
    for (std::thread& t : threads_) t.join();
  }

 private:
  void work() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      more_.wait(lock, [this] { return over_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      lock.lock();
      --busy_;
    }
  }

  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<std::function<void()>> tasks_;
  size_t busy_ = 0;
  bool over_ = false;
  std::vector<std::thread> threads_;
};

/// Sends an answer without body.
bool say(socket_t socket, std::string_view status) {
  const std::string text = fmt::format("HTTP/1.1 {}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", status);
  return send(socket, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT) > 0;
}

void close_gently(socket_t socket) {
  shutdown(socket, SHUT_RDWR);
  close(socket);
}

}  // namespace

PageServer::PageServer() : token_(random_token()) {
  new_task_queue = [] { return new BusyAtMost(kMostAtOnce); };
  set_payload_max_length(kMostBytes);
  set_tcp_nodelay(true);
  set_default_headers({{"X-Content-Type-Options", "nosniff"},
                       {"Referrer-Policy", "no-referrer"},
                       {"Cache-Control", "no-store"},
                       {"Cross-Origin-Resource-Policy", "same-origin"}});
  set_pre_routing_handler([this](const auto& request, auto& response) { return admit(request, response); });
}

void PageServer::bind(int port) {
  port_ = port == 0 ? bind_to_any_port(kHost) : bind_to_port(kHost, port) ? port : -1;
  if (port_ < 0) throw RunError(fmt::format("web: port {} of {} is taken", port, kHost));
}

std::string PageServer::address() const {
  return fmt::format("http://{}:{}/{}", kHost, port_, token_);
}

httplib::Server::HandlerResponse PageServer::admit(const httplib::Request& request, httplib::Response& response) const {
  const auto refuse = [&](int status, const char* why) {
    response.status = status;
    response.set_content(std::string(why) + "\n", "text/plain");
    return HandlerResponse::Handled;
  };
  const std::string here = fmt::format("{}:{}", kHost, port_), by_name = fmt::format("localhost:{}", port_);
  const std::string host = request.get_header_value("Host"), origin = request.get_header_value("Origin");
  if (host != here && host != by_name) return refuse(403, "another Host");
  if (!origin.empty() && origin != "http://" + host) return refuse(403, "another Origin");
  if (!same(request.path.substr(0, request.path.find('/', 1)), "/" + token_)) return refuse(403, "not this token");
  return HandlerResponse::Unhandled;
}

void PageServer::serve() {
  constexpr auto kPause = std::chrono::milliseconds(20);
  while (!ending_) {
    // Ends by itself if the system cannot accept another connection.
    listen_after_bind();
    while (!ending_ && !bind_to_port(kHost, port_)) std::this_thread::sleep_for(kPause);
  }
  served_ = true;
}

void PageServer::end() {
  ending_ = true;
  while (!served_ && !is_running()) std::this_thread::yield();  // required by stop()
  if (!served_) stop();
}

bool PageServer::process_and_close_socket(socket_t socket) {
  bool done = false;
  try {
    if (turned_away) {
      done = say(socket, "503 Service Unavailable");
    } else {
      OneRequest stream(socket);
      const Refusal refusal = stream.take_head();
      bool closed = false;
      done = refusal.empty() ? process_request(stream, true, closed, nullptr) : say(socket, refusal);
    }
  } catch (...) {  // mostly lack of memory; only this request fails
    say(socket, "500 Internal Server Error");
  }
  close_gently(socket);
  return done;
}

}  // namespace kernbench::web
