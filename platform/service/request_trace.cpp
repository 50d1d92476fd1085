// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/service/request_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "kernbench/phase2/io/input_file.h"
#include "kernbench/phase2/io/random.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/json_reader.h"
#include "kernbench/phase2/text/text.h"

namespace kernbench::service {
namespace {

using json = nlohmann::json;

constexpr const char* kAzureHead = "TIMESTAMP,ContextTokens,GeneratedTokens";
constexpr const char* kForms =
    "a CSV with the head TIMESTAMP,ContextTokens,GeneratedTokens, or JSON lines with timestamp, input_length and "
    "output_length (Mooncake) or arrival_time_ns, input_toks and output_toks (LLMServingSim)";
constexpr double kLatestNs = 1e18;
constexpr size_t kMostFaults = 50;

template <class T>
std::optional<T> parsed(std::string_view text) {
  T v{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return v;
}

/// Days from 1970-01-01 of a date of the Gregorian calendar (Howard Hinnant's days_from_civil).
int64_t days_of(int64_t y, int64_t m, int64_t d) {
  y -= m <= 2 ? 1 : 0;
  const int64_t era = y / 400, of_era = y - era * 400, of_year = (153 * (m > 2 ? m - 3 : m + 9) + 2) / 5 + d - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/// "2023-11-16 18:15:46.6805900" in ns since 1970; a zone "+00:00" behind it is allowed.
std::optional<int64_t> time_of(std::string_view t) {
  if (t.size() > 6 && t.substr(t.size() - 6) == "+00:00") t.remove_suffix(6);
  if (t.size() < 19 || t[4] != '-' || t[7] != '-' || (t[10] != ' ' && t[10] != 'T') || t[13] != ':' || t[16] != ':')
    return std::nullopt;
  const auto number = [&](size_t at, size_t length) { return parsed<uint32_t>(t.substr(at, length)); };
  const auto y = number(0, 4), mo = number(5, 2), d = number(8, 2), h = number(11, 2), mi = number(14, 2),
             s = number(17, 2);
  if (!y || !mo || !d || !h || !mi || !s || *y < 1970 || *y > 2200 || *mo < 1 || *mo > 12 || *d < 1 || *d > 31 ||
      *h > 23 || *mi > 59 || *s > 60)
    return std::nullopt;
  int64_t ns = 0;
  if (t.size() > 19) {
    std::string digits(t.substr(20));
    if (t[19] != '.' || digits.empty() || digits.size() > 9) return std::nullopt;
    digits.resize(9, '0');
    const auto part = parsed<uint32_t>(digits);
    if (!part) return std::nullopt;
    ns = *part;
  }
  const int64_t seconds = ((days_of(*y, *mo, *d) * 24 + *h) * 60 + *mi) * 60 + *s;
  return seconds * 1000000000 + ns;
}

/// Reads a file line by line. Derived classes parse a line.
class FileCursor : public RequestCursor {
 public:
  explicit FileCursor(const std::string& file) : file_(file), in_(open_input(file)) {}
  std::string place() const final { return fmt::format("{}:{}", file_, line_); }
  bool next(Request* r) final {
    std::string text;
    while (std::getline(in_, text)) {
      ++line_;
      if (!text.empty() && text.back() == '\r') text.pop_back();
      if (text.empty() || (line_ == 1 && is_head(text))) continue;
      read(text, r);
      return true;
    }
    if (in_.bad()) throw InputError(file_ + ": cannot be read to its end");
    return false;
  }

 protected:
  [[noreturn]] void refuse(std::string_view field, const std::string& found, const std::string& expected) const {
    throw InputError(fmt::format("{}: {}: found {}, expected {}", place(), field, found, expected));
  }
  virtual bool is_head(const std::string&) const { return false; }
  virtual void read(const std::string& line, Request*) = 0;

 private:
  const std::string file_;
  std::ifstream in_;
  uint64_t line_ = 0;
};

class AzureCursor : public FileCursor {
 public:
  using FileCursor::FileCursor;

 private:
  bool is_head(const std::string& line) const override { return line == kAzureHead; }
  void read(const std::string& line, Request* r) override {
    const size_t first = line.find(','), second = line.find(',', first + 1);
    if (second == std::string::npos || line.find(',', second + 1) != std::string::npos)
      refuse("line", in_quotes(line), "three values: TIMESTAMP,ContextTokens,GeneratedTokens");
    const auto time = time_of(std::string_view(line).substr(0, first));
    if (!time) refuse("TIMESTAMP", in_quotes(line.substr(0, first)), "as 2023-11-16 18:15:46.6805900");
    if (!origin_) origin_ = *time;
    r->arrival_ns = static_cast<double>(*time - *origin_);
    r->prompt = tokens("ContextTokens", line.substr(first + 1, second - first - 1));
    r->output = tokens("GeneratedTokens", line.substr(second + 1));
  }
  int64_t tokens(const char* field, const std::string& text) const {
    const auto v = parsed<int64_t>(text);
    if (!v) refuse(field, in_quotes(text), "a whole number");
    return *v;
  }
  std::optional<int64_t> origin_;
};

class JsonCursor : public FileCursor {
 public:
  JsonCursor(const std::string& file, bool mooncake) : FileCursor(file), mooncake_(mooncake) {}

 private:
  void read(const std::string& line, Request* r) override {
    try {
      const auto v = parse_json_document<json>(line);
      r->arrival_ns = mooncake_ ? 1e6 * json_field<double>(v, "timestamp") : json_field<double>(v, "arrival_time_ns");
      r->prompt = json_field<int64_t>(v, mooncake_ ? "input_length" : "input_toks");
      r->output = json_field<int64_t>(v, mooncake_ ? "output_length" : "output_toks");
      r->hashes.clear();
      if (mooncake_ && v.contains("hash_ids"))
        r->hashes = json_field(v, "hash_ids", [](const json& list) {
          return json_items(list, [](const json& h) { return json_value<uint64_t>(h); });
        });
    } catch (const JsonFault& e) {
      throw InputError(place() + ": " + e.what());
    }
  }
  const bool mooncake_;
};

/// Draws of a stream (io/random.h). All but uniform() also depend on the C library's log, cos, exp and pow.
class Draws {
 public:
  explicit Draws(uint64_t seed) : seed_(seed) {}
  /// Above 0, up to 1.
  double uniform() { return (static_cast<double>(random_word(seed_, drawn_++) >> 11) + 1) / 9007199254740992.0; }
  double exponential() { return -std::log(uniform()); }
  double normal() {
    const double radius = std::sqrt(2 * exponential());
    return radius * std::cos(6.283185307179586 * uniform());
  }
  /// Mean `shape` (Marsaglia and Tsang 2000).
  double gamma(double shape) {
    if (shape < 1) return gamma(shape + 1) * std::pow(uniform(), 1 / shape);
    const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
    for (;;) {
      const double x = normal(), v = std::pow(1 + c * x, 3);
      if (v > 0 && std::log(uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
    }
  }

 private:
  const uint64_t seed_;
  uint64_t drawn_ = 0;
};

/// N, uniform/A/B, exponential/MEAN or lognormal/MEAN/CV.
struct Lengths {
  std::string kind = "fixed";
  double a = 0, b = 0;
  int64_t draw(Draws& draws, int64_t most) const {
    double v = a;
    if (kind == "uniform") v = a + std::floor((b - a + 1) * (1 - draws.uniform()));
    if (kind == "exponential") v = a * draws.exponential();
    if (kind == "lognormal") {
      const double s2 = std::log(1 + b * b);
      v = a * std::exp(std::sqrt(s2) * draws.normal() - s2 / 2);
    }
    return std::clamp<int64_t>(static_cast<int64_t>(std::min(std::round(v), 1e15)), 1, most);
  }
};

struct Synthetic {
  std::string arrivals;
  double rate = 0, cv = 1;
  uint64_t count = 0;
  Lengths prompt, output;
};

constexpr const char* kSynthetic =
    "poisson:rate=R,count=N,prompt=LENGTH,output=LENGTH, constant:..., or gamma:...,cv=V; rate in requests a second; "
    "LENGTH is N, uniform/A/B, exponential/MEAN or lognormal/MEAN/CV";

[[noreturn]] void refuse_word(const std::string& word) {
  throw InputError(fmt::format("--synthetic: found {}, expected {}", in_quotes(word), kSynthetic));
}

double positive(const std::string& word, std::string_view text) {
  const auto v = parsed<double>(text);
  if (!v || !(*v > 0) || *v > 1e12) refuse_word(word);
  return *v;
}

Lengths lengths_of(const std::string& word, std::string_view text) {
  Lengths l;
  std::vector<std::string_view> parts;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find('/', at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  if (parts.size() > 1) {
    l.kind = parts[0];
    parts.erase(parts.begin());
  }
  const size_t values = l.kind == "uniform" || l.kind == "lognormal"   ? 2
                        : l.kind == "fixed" || l.kind == "exponential" ? 1
                                                                       : 0;
  if (parts.size() != values || values == 0) refuse_word(word);
  l.a = positive(word, parts[0]);
  if (values == 2) l.b = positive(word, parts[1]);
  if (l.kind == "uniform" && (l.b < l.a || l.a != std::floor(l.a) || l.b != std::floor(l.b))) refuse_word(word);
  if (l.kind == "fixed" && l.a != std::floor(l.a)) refuse_word(word);
  return l;
}

Synthetic synthetic_of(const std::string& text) {
  const size_t colon = std::min(text.find(':'), text.size());
  Synthetic s;
  s.arrivals = text.substr(0, colon);
  if (colon == text.size() || (s.arrivals != "poisson" && s.arrivals != "gamma" && s.arrivals != "constant"))
    refuse_word(text);
  std::map<std::string, bool> given;
  for (const std::string& word : parts_between(',', text.substr(colon + 1))) {
    const std::string name = word.substr(0, word.find('='));
    const std::string_view value = std::string_view(word).substr(std::min(name.size() + 1, word.size()));
    if (given[name]) refuse_word(word);
    given[name] = true;
    if (name == "rate") {
      s.rate = positive(word, value);
    } else if (name == "cv" && s.arrivals == "gamma") {
      s.cv = positive(word, value);
    } else if (name == "count") {
      const auto v = parsed<uint64_t>(value);
      if (!v || *v == 0 || *v > 1000000000) refuse_word(word);
      s.count = *v;
    } else if (name == "prompt") {
      s.prompt = lengths_of(word, value);
    } else if (name == "output") {
      s.output = lengths_of(word, value);
    } else {
      refuse_word(word);
    }
  }
  if (s.rate <= 0 || s.count == 0 || s.prompt.a <= 0 || s.output.a <= 0) refuse_word(text);
  return s;
}

class SyntheticCursor : public RequestCursor {
 public:
  SyntheticCursor(const Synthetic& s, uint64_t seed, int64_t most) : s_(s), draws_(seed), most_(most) {}
  std::string place() const override { return fmt::format("--synthetic: request {}", done_); }
  bool next(Request* r) override {
    if (done_ == s_.count) return false;
    ++done_;
    const double shape = 1 / (s_.cv * s_.cv);
    const double wait = s_.arrivals == "constant"  ? 1
                        : s_.arrivals == "poisson" ? draws_.exponential()
                                                   : draws_.gamma(shape) / shape;
    now_ns_ += wait * 1e9 / s_.rate;
    r->arrival_ns = now_ns_;
    r->prompt = s_.prompt.draw(draws_, most_ - 1);
    r->output = s_.output.draw(draws_, most_ - r->prompt);
    return true;
  }

 private:
  const Synthetic s_;
  Draws draws_;
  const int64_t most_;
  uint64_t done_ = 0;
  double now_ns_ = 0;
};

}  // namespace

RequestTrace open_requests(const std::string& text, bool synthetic, uint64_t seed, int64_t most_tokens) {
  if (synthetic)
    return
        [s = synthetic_of(text), seed, most_tokens] { return std::make_unique<SyntheticCursor>(s, seed, most_tokens); };
  std::ifstream in = open_input(text);
  std::string line;
  while (line.empty() && std::getline(in, line)) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
  }
  if (line.empty()) throw InputError(text + ": found no request");
  if (line == kAzureHead) return [text] { return std::make_unique<AzureCursor>(text); };
  const auto names = [&](const char* key) { return line[0] == '{' && line.find(key) != std::string::npos; };
  const bool mooncake = names("\"input_length\"");
  if (!mooncake && !names("\"input_toks\""))
    throw InputError(fmt::format("{}:1: found {}, expected {}", text, in_quotes(line), kForms));
  return [text, mooncake] { return std::make_unique<JsonCursor>(text, mooncake); };
}

uint64_t check_requests(const std::string& text, const RequestTrace& trace, const RequestLimits& limits) {
  const auto cursor = trace();
  std::vector<std::string> faults;
  uint64_t count = 0;
  double before = 0;
  const auto fault = [&](const std::string& what) { faults.push_back(cursor->place() + ": " + what); };
  Request r;
  for (bool more = true; more && faults.size() < kMostFaults;) {
    try {
      more = cursor->next(&r);
      if (!more) break;
    } catch (const InputError& e) {
      faults.insert(faults.end(), e.faults().begin(), e.faults().end());
      continue;
    }
    ++count;
    if (count > 1 && r.arrival_ns < before) {
      fault(fmt::format("arrival: found {} ns, earlier than a request before it, {} ns", r.arrival_ns, before));
    } else if (!(r.arrival_ns >= 0 && r.arrival_ns <= kLatestNs)) {
      fault(fmt::format("arrival: found {} ns, expected 0 to {} ns", r.arrival_ns, kLatestNs));
    } else if (r.prompt < 1 || r.output < 1) {
      fault(fmt::format("found a prompt of {} tokens and an output of {}, expected 1 or more of each", r.prompt,
                        r.output));
    } else if (r.prompt > limits.tokens || r.output > limits.tokens - r.prompt) {
      fault(
          fmt::format("found a prompt of {} tokens and an output of {}, expected at most {} together, the model's "
                      "max_position_embeddings",
                      r.prompt, r.output, limits.tokens));
    } else if ((r.prompt + r.output - 2) / limits.block + 1 > limits.blocks) {
      fault(fmt::format("found a prompt of {} tokens and an output of {}, the KV cache has {} blocks of {} tokens",
                        r.prompt, r.output, limits.blocks, limits.block));
    } else if (static_cast<int64_t>(r.hashes.size()) > (r.prompt + kHashTokens - 1) / kHashTokens) {
      fault(fmt::format("hash_ids: found {} for a prompt of {} tokens, expected one for each {} tokens",
                        r.hashes.size(), r.prompt, kHashTokens));
    }
    before = std::max(before, r.arrival_ns);
  }
  if (!faults.empty()) throw InputError(std::move(faults));
  if (count == 0) throw InputError(text + ": found no request");
  return count;
}

}  // namespace kernbench::service
