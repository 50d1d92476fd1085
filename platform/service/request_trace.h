// SPDX-License-Identifier: Apache-2.0
// Arrivals of requests at a service: from a file or drawn from distributions. A cursor reads one request at a time, so
// a trace of any length takes the memory of one line. Times in ns from the first arrival's zero.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace kernbench::service {

struct Request {
  double arrival_ns = 0;
  int64_t prompt = 0, output = 0;     ///< tokens, 1 or more each
  std::vector<uint64_t> hashes = {};  ///< of the prompt's parts of kHashTokens tokens, each with all before it
};

/// Tokens of a prompt that a hash of a Mooncake trace stands for.
constexpr int64_t kHashTokens = 512;

class RequestCursor {
 public:
  virtual ~RequestCursor() = default;
  /// False at the end. InputError of one line for a bad request; the next call goes on behind it.
  virtual bool next(Request*) = 0;
  /// Place of the request read last: "FILE:LINE".
  virtual std::string place() const = 0;
};

/// Opens cursors at the first request.
using RequestTrace = std::function<std::unique_ptr<RequestCursor>()>;

/// What a request may be at most.
struct RequestLimits {
  int64_t tokens = 0;  ///< prompt and output together: the model's positions
  int64_t blocks = 0;  ///< of the KV cache
  int64_t block = 16;  ///< tokens of each
};

/// `text`: a file (CSV of Azure 2023, JSONL of Mooncake or LLMServingSim), or words of a synthetic trace
/// (docs/service.md).
/// Synthetic lengths are cut to `most_tokens`. InputError for a file of another form and for a wrong word.
RequestTrace open_requests(const std::string& text, bool synthetic, uint64_t seed, int64_t most_tokens);

/// Reads all requests once. InputError with a line for each bad one (the first 50): not positive, earlier than the one
/// before, beyond the limits; and for a trace without requests. The number of requests.
uint64_t check_requests(const std::string& text, const RequestTrace&, const RequestLimits&);

}  // namespace kernbench::service
