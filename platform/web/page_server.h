// SPDX-License-Identifier: Apache-2.0
// HTTP for one user of this machine: only on the loopback interface, with a secret token at the start of the URL. It
// rejects, before any handler, requests with another Host (DNS rebinding), another Origin, a wrong token, or too many
// bytes or too much time. cpp-httplib does the rest.
#pragma once

#include <httplib.h>

#include <atomic>
#include <chrono>
#include <string>

namespace kernbench::web {

class PageServer : public httplib::Server {
 public:
  static constexpr size_t kMostBytes = 256 * 1024;  ///< of a request with its head; bodies are not decoded
  static constexpr size_t kMostHead = 32 * 1024, kMostLine = 4 * 1024;  ///< of the head; of a line in it
  static constexpr std::chrono::seconds kToAsk{5};                      ///< from the first byte to the last
  static constexpr std::chrono::seconds kToAnswer{60};
  static constexpr size_t kMostAtOnce = 32;  ///< connections; further ones are rejected at once

  PageServer();
  /// Binds a port, 0: a free one. RunError if it is in use.
  void bind(int port);
  /// http://127.0.0.1:PORT/TOKEN
  std::string address() const;
  /// A handler's path as a regular expression, after the token.
  std::string path(const std::string& pattern) const { return "/" + token_ + pattern; }
  /// Serves until end(), whatever requests or system errors come; in a separate thread.
  void serve();
  /// Called from another thread; serve() returns soon.
  void end();

 protected:
  bool process_and_close_socket(socket_t) override;

 private:
  HandlerResponse admit(const httplib::Request&, httplib::Response&) const;

  std::string token_;
  int port_ = 0;
  std::atomic<bool> ending_{false}, served_{false};
};

}  // namespace kernbench::web
