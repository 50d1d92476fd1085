#include "kernbench/platform/web/page_server.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "kernbench/phase2/op/errors.h"

namespace kernbench::web {
namespace {

constexpr const char* kHost = "127.0.0.1";
/// Set while a connection is taken that is one too many.
thread_local bool turned_away = false;

std::string random_token() {
  unsigned char bytes[16];
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) throw RunError("web: the system gives no random bytes");
  std::string text;
  for (const unsigned char b : bytes) text += fmt::format("{:02x}", b);
  return text;
}

/// In a time that does not tell how much of it is right.
bool same(const std::string& a, const std::string& b) {
  if (a.size() != b.size()) return false;
  unsigned char difference = 0;
  for (size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

/// One request and its answer: a socket that ends when its time or its bytes are used up, however slowly they come.
class OneRequest : public httplib::Stream {
 public:
  explicit OneRequest(socket_t socket) : socket_(socket), until_(Clock::now() + PageServer::kToAsk) {}

  bool is_readable() const override { return wait(POLLIN); }
  bool is_writable() const override { return wait(POLLOUT); }
  ssize_t read(char* to, size_t size) override {
    size = std::min(size, left_);
    if (size == 0 || !wait(POLLIN)) return -1;
    const ssize_t got = recv(socket_, to, size, 0);
    if (got > 0) left_ -= static_cast<size_t>(got);
    return got;
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

  socket_t socket_;
  Clock::time_point until_;
  size_t left_ = PageServer::kMostBytes;
  bool answering_ = false;
};

/// A few threads; a connection that finds them all busy is taken at once, to be turned away.
class BusyAtMost : public httplib::TaskQueue {
 public:
  explicit BusyAtMost(size_t most) : most_(most), threads_(most) {}
  void enqueue(std::function<void()> work) override {
    if (busy_.fetch_add(1) >= most_) {
      turned_away = true;
      work();
      turned_away = false;
      --busy_;
      return;
    }
    threads_.enqueue([this, work = std::move(work)] {
      work();
      --busy_;
    });
  }
  void shutdown() override { threads_.shutdown(); }

 private:
  size_t most_;
  std::atomic<size_t> busy_{0};
  httplib::ThreadPool threads_;
};

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

bool PageServer::process_and_close_socket(socket_t socket) {
  if (turned_away) {
    constexpr std::string_view kBusy =
        "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    const bool told = send(socket, kBusy.data(), kBusy.size(), MSG_NOSIGNAL | MSG_DONTWAIT) > 0;
    close_gently(socket);
    return told;
  }
  OneRequest stream(socket);
  bool closed = false;
  const bool done = process_request(stream, true, closed, nullptr);
  close_gently(socket);
  return done;
}

}  // namespace kernbench::web
