// SPDX-License-Identifier: Apache-2.0
// HTTP for one user of this machine: on the loopback interface alone, behind a token that the URL begins with. What a
// stranger or another page may try is refused before any handler sees it: another Host (DNS rebinding), another Origin,
// a wrong token, more bytes or more time than a request needs. cpp-httplib does the rest.
#pragma once

#include <httplib.h>

#include <atomic>
#include <chrono>
#include <string>

namespace kernbench::web {

class PageServer : public httplib::Server {
 public:
  static constexpr size_t kMostBytes = 256 * 1024;  ///< of a request, its head included; bodies are taken as they are
  static constexpr size_t kMostHead = 32 * 1024, kMostLine = 4 * 1024;  ///< of the head, of a line of it
  static constexpr std::chrono::seconds kToAsk{5};                      ///< from the first byte to the last
  static constexpr std::chrono::seconds kToAnswer{60};
  static constexpr size_t kMostAtOnce = 32;  ///< connections; who comes then is told so at once

  PageServer();
  /// Takes a port, a free one for 0. RunError where it is taken.
  void bind(int port);
  /// http://127.0.0.1:PORT/TOKEN
  std::string address() const;
  /// A handler's path as a regular expression, behind the token.
  std::string path(const std::string& pattern) const { return "/" + token_ + pattern; }
  /// Serves until end(), whatever comes and whatever the system refuses; from a thread of its own.
  void serve();
  /// From another thread; serve() returns soon.
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
