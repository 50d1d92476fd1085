// SPDX-License-Identifier: Apache-2.0
// Requests over a connection to `kernbench web`, from the first byte on: the page's server, without a network.
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>

#include "kernbench/platform/web/page_server.h"
#include "kernbench/sc_tests/fuzz/fuzzed_readers.h"

namespace kernbench::fuzz {
namespace {

constexpr size_t kMostInput = 128 * 1024;  // a socket accepts this much before anything is read
constexpr char kToken[] = "TOKEN";         // replaced by the server's token in inputs

/// Serves connections that are passed to it, one after another.
class OneServer : public web::PageServer {
 public:
  OneServer() : token_(address().substr(address().rfind('/') + 1)) {
    Post(path("/api/runs"), [](const httplib::Request& q, httplib::Response& r) {
      r.set_content(std::to_string(q.body.size()) + "\n", "text/plain");
    });
    Get(path("/file"), [](const httplib::Request&, httplib::Response& r) {
      r.set_content_provider(1000, "text/plain", [](size_t, size_t n, httplib::DataSink& sink) {
        const std::string bytes(n, 'x');
        return sink.write(bytes.data(), bytes.size());
      });
    });
  }

  /// The complete output of the server.
  std::string answer(std::string request) {
    for (size_t at; (at = request.find(kToken)) != std::string::npos;) request.replace(at, sizeof kToken - 1, token_);
    request.resize(std::min(request.size(), kMostInput));
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) throw std::runtime_error("no pair of sockets");
    const auto sent = send(ends[0], request.data(), request.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent != static_cast<ssize_t>(request.size())) throw std::runtime_error("the sockets are too small");
    shutdown(ends[0], SHUT_WR);
    process_and_close_socket(ends[1]);
    std::string text;
    std::array<char, 4096> part{};
    for (ssize_t n; (n = recv(ends[0], part.data(), part.size(), 0)) > 0;)
      text.append(part.data(), static_cast<size_t>(n));
    close(ends[0]);
    return text;
  }

 private:
  const std::string token_;
};

/// Status and body; the rest comes from cpp-httplib.
std::string read_http(const std::string& input) {
  static OneServer server;
  const std::string answer = server.answer(input);
  const std::string status = answer.substr(0, answer.find("\r\n"));
  if (status.size() < 12 || status[9] != '2') throw Refused(status.empty() ? "closed without an answer" : status);
  return status + "\n" + answer.substr(std::min(answer.size(), answer.find("\r\n\r\n")));
}

/// Mostly words and bytes; sometimes a header about the encoding of the body or the response.
std::string mutate_http(std::string text, Random& random) {
  if (!random.one_in(3)) return mutate_text(std::move(text), random);
  static const std::vector<std::string> kHeaders = {"Content-Encoding: gzip",
                                                    "content-encoding: br",
                                                    "Content-Encoding: deflate, gzip",
                                                    "Transfer-Encoding: chunked",
                                                    "Transfer-Encoding: gzip",
                                                    "Content-Length: 18446744073709551615",
                                                    "Content-Length: 0",
                                                    "Content-Length: 5",
                                                    "Expect: 100-continue",
                                                    "Range: bytes=0-0,2-2,4-4",
                                                    "Range: bytes=-1",
                                                    "Accept-Encoding: gzip, br",
                                                    "Content-Type: multipart/form-data; boundary=x",
                                                    "Connection: Upgrade"};
  const size_t end = text.find("\r\n");
  const std::string header = "\r\n" + random.one_of(kHeaders);
  return end == std::string::npos ? text + header : text.insert(end, header);
}

}  // namespace

std::vector<FuzzedReader> readers_of_requests() {
  return {{"http_request", read_http, mutate_http}};
}

}  // namespace kernbench::fuzz
