// SPDX-License-Identifier: Apache-2.0
// Arrivals of requests at a service, from a file or drawn from distributions. A cursor reads one request at a time, so
// a trace of any length needs memory for one line. Times in ns; the first arrival is at 0.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace kernbench::service {

struct Request {
  double arrival_ns = 0;
  int64_t prompt = 0, output = 0;     ///< tokens, at least 1 each
  std::vector<uint64_t> hashes = {};  ///< by part of kHashTokens prompt tokens; each includes all earlier parts
};

/// Tokens of a prompt per hash of a Mooncake trace.
constexpr int64_t kHashTokens = 512;

class RequestCursor {
 public:
  virtual ~RequestCursor() = default;
  /// False at the end. InputError of one line for a bad request; the next call continues after it.
  virtual bool next(Request*) = 0;
  /// Location of the last request: "FILE:LINE".
  virtual std::string place() const = 0;
};

/// Opens cursors at the first request.
using RequestTrace = std::function<std::unique_ptr<RequestCursor>()>;

/// Limits of a request.
struct RequestLimits {
  int64_t tokens = 0;  ///< prompt and output together: the model's positions
  int64_t blocks = 0;  ///< of the KV cache
  int64_t block = 16;  ///< tokens of each block
};

/// `text`: a file (CSV of Azure 2023, JSONL of Mooncake or LLMServingSim), or the description of a synthetic trace
/// (docs/service.md). Synthetic lengths are limited to `most_tokens`. InputError for another file format or an invalid
/// description.
RequestTrace open_requests(const std::string& text, bool synthetic, uint64_t seed, int64_t most_tokens);

/// Reads all requests once and returns their number. InputError with one line per bad request (the first 50): not
/// positive, earlier than its predecessor, or beyond the limits; also for an empty trace.
uint64_t check_requests(const std::string& text, const RequestTrace&, const RequestLimits&);

}  // namespace kernbench::service
