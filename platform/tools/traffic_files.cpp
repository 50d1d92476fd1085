// What `kernbench traffic` reads and writes.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <istream>
#include <ostream>
#include <string_view>

#include "kernbench/phase2/log/oplog_json.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/platform.h"
#include "kernbench/platform/tools/traffic.h"

namespace kernbench {

namespace {

constexpr const char* kHeader = "id,issue_ns,initiator,op,address,bytes";
constexpr double kLatestIssueNs = 1e12;  // 1,000 s; what fits the kernel's clock at 1 fs with room to spare
constexpr size_t kMaxFaults = 20;

struct Faults {
  std::string file;
  std::vector<std::string> lines;
  void add(size_t line, const std::string& field, const std::string& message) {
    lines.push_back(file + ":" + std::to_string(line) + ": " + field + ": " + message);
    if (lines.size() >= kMaxFaults) {
      lines.push_back(file + ": further faults are not listed");
      throw InputError(lines);
    }
  }
};

std::string quoted(std::string_view s) {
  std::string out = "'";
  for (char c : s.substr(0, 60)) out += c >= 32 && c < 127 ? c : '?';
  return out + (s.size() > 60 ? "…'" : "'");
}

template <class T>
bool parse(std::string_view s, T& v) {
  const auto r = std::from_chars(s.data(), s.data() + s.size(), v);
  return r.ec == std::errc() && r.ptr == s.data() + s.size();
}

bool parse_address(std::string_view s, uint64_t& v) {
  if (s.size() > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
    const auto r = std::from_chars(s.data() + 2, s.data() + s.size(), v, 16);
    return r.ec == std::errc() && r.ptr == s.data() + s.size();
  }
  return parse(s, v);
}

/// Hands out a stream's lines without their ends, reading it in blocks. A line is valid until the next is asked for.
class Lines {
 public:
  explicit Lines(std::istream& in) : in_(in) {}

  /// About how many lines the stream has, each of `bytes`; 0 where the stream does not tell.
  size_t about_all(size_t bytes) {
    const std::istream::pos_type here = in_.tellg();
    if (here < 0 || !in_.seekg(0, std::ios::end)) return 0;
    const std::istream::pos_type end = in_.tellg();
    in_.seekg(here);
    return static_cast<size_t>(end) / bytes + 1;
  }

  bool next(std::string_view& line) {
    size_t end = text_.find('\n', at_);
    while (end == std::string::npos && fill()) end = text_.find('\n', at_);
    if (end == std::string::npos) {
      if (at_ == text_.size()) return false;
      end = text_.size();
    }
    line = std::string_view(text_).substr(at_, end - at_);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    at_ = std::min(end + 1, text_.size());
    return true;
  }

 private:
  bool fill() {
    constexpr size_t kBlock = 1 << 18;
    if (!in_) return false;
    text_.erase(0, at_);
    at_ = 0;
    const size_t kept = text_.size();
    text_.resize(kept + kBlock);
    in_.read(text_.data() + kept, kBlock);
    text_.resize(kept + static_cast<size_t>(in_.gcount()));
    return text_.size() > kept;
  }

  std::istream& in_;
  std::string text_;
  size_t at_ = 0;
};

/// Finds nodes by their ids. Initiators mostly come in the order in which they came before: then one comparison is all.
class NodeFinder {
 public:
  static constexpr uint32_t kNone = ~0u;
  explicit NodeFinder(const topology::Graph& graph) : graph_(graph), follower_(graph.nodes.size(), kNone) {}

  uint32_t find(std::string_view id) {
    uint32_t& guess = last_ == kNone ? first_ : follower_[last_];
    if (guess == kNone || graph_.nodes[guess].id != id) {
      const auto it = graph_.index_of.find(std::string(id));
      if (it == graph_.index_of.end()) return kNone;
      guess = it->second;
    }
    last_ = guess;
    return guess;
  }

 private:
  const topology::Graph& graph_;
  std::vector<uint32_t> follower_;  // by node: which came after it the last time
  uint32_t last_ = kNone, first_ = kNone;
};

}  // namespace

std::vector<TrafficRequest> read_traffic(std::istream& in, const std::string& file_name, Platform& platform) {
  Faults faults{file_name, {}};
  std::vector<TrafficRequest> requests;
  const topology::Graph& graph = platform.graph();
  Lines lines(in);
  NodeFinder nodes(graph);
  std::string_view all;
  size_t line = 0;
  bool header = false;
  while (lines.next(all)) {
    ++line;
    if (all.empty()) continue;
    if (!header) {
      if (all != kHeader) {
        faults.add(line, "header", "found " + quoted(all) + ", expected " + std::string("'") + kHeader + "'");
        throw InputError(faults.lines);
      }
      header = true;
      continue;
    }
    std::string_view fields[6];
    size_t count = 0, from = 0;
    for (; from <= all.size(); ++count) {
      const size_t comma = std::min(all.find(',', from), all.size());
      if (count < 6) fields[count] = all.substr(from, comma - from);
      from = comma + 1;
    }
    if (count != 6) {
      faults.add(line, "row", "found " + std::to_string(count) + " fields, expected 6: " + kHeader);
      continue;
    }
    TrafficRequest r;
    r.id.assign(fields[0]);
    bool good = true;
    const auto fault = [&](const char* field, const std::string& message) {
      faults.add(line, field, message);
      good = false;
    };
    if (!parse(fields[1], r.issue_ns) || !std::isfinite(r.issue_ns) || r.issue_ns < 0 || r.issue_ns > kLatestIssueNs)
      fault("issue_ns", "found " + quoted(fields[1]) + ", expected a time in ns from 0 to 1e12");
    const uint32_t node = nodes.find(fields[2]);
    if (node == NodeFinder::kNone) {
      fault("initiator", "found " + quoted(fields[2]) + ", expected a node of the topology");
    } else if (!platform.request_port(node)) {
      fault("initiator",
            quoted(fields[2]) + " is a " + graph.nodes[node].kind + ", expected a pe_dma, m_cpu, pcie_ep or port");
    } else {
      r.initiator = node;
    }
    if (fields[3] == "write") {
      r.write = true;
    } else if (fields[3] != "read") {
      fault("op", "found " + quoted(fields[3]) + ", expected read or write");
    }
    if (!parse_address(fields[4], r.address))
      fault("address", "found " + quoted(fields[4]) + ", expected an address from 0 to 2^64 − 1");
    if (!parse(fields[5], r.nbytes) || r.nbytes == 0)
      fault("bytes", "found " + quoted(fields[5]) + ", expected a number of bytes from 1");
    if (good) {
      try {
        platform.routes().route(r.initiator, r.address, r.nbytes, r.write);
      } catch (const AccessError& e) {
        fault("address", e.what());
      }
    }
    if (!good) continue;
    if (requests.empty()) requests.reserve(lines.about_all(all.size() + 1));
    requests.push_back(std::move(r));
  }
  if (!header) faults.add(1, "header", std::string("the file is empty, expected '") + kHeader + "'");
  if (!faults.lines.empty()) throw InputError(faults.lines);
  return requests;
}

namespace {

constexpr size_t kLongestNumber = 340;  // of a double with 6 decimals

/// Writes v with 6 decimals (fs), never "-0.000000", and returns the end: what std::to_chars(fixed, 6) writes.
char* write_ns(char* to, double v) {
  if (std::abs(v) < 5e-7) v = 0;
  // Nearly always v · 10⁶ is far enough from a half for its rounding to be certain: then it is a whole number to print.
  const double scaled = std::abs(v) * 1e6;
  const auto whole = static_cast<uint64_t>(std::min(scaled, 1e13) + 0.5);
  if (scaled >= 1e13 || std::abs(std::abs(scaled - static_cast<double>(whole)) - 0.5) < 0.01)
    return std::to_chars(to, to + kLongestNumber, v, std::chars_format::fixed, 6).ptr;
  if (v < 0) *to++ = '-';
  to = std::to_chars(to, to + kLongestNumber, whole / 1'000'000).ptr;
  auto decimals = static_cast<uint32_t>(whole % 1'000'000);
  *to = '.';
  for (int digit = 6; digit > 0; --digit) {
    to[digit] = static_cast<char>('0' + decimals % 10);
    decimals /= 10;
  }
  return to + 7;
}

void append_ns(std::string& out, double v) {
  char text[kLongestNumber];
  out.append(text, static_cast<size_t>(write_ns(text, v) - text));
}

/// Text on its way to a stream, written by pointer: a row's room is asked for once.
class RowBuffer {
 public:
  explicit RowBuffer(std::ostream& out) : out_(out) {}
  ~RowBuffer() { flush(); }
  RowBuffer(const RowBuffer&) = delete;
  RowBuffer& operator=(const RowBuffer&) = delete;

  /// Room for a row of at most `bytes`; its end is to be told by end_row().
  char* begin_row(size_t bytes) {
    if (used_ + bytes > text_.size()) {
      flush();
      if (bytes > text_.size()) text_.resize(bytes);
    }
    return text_.data() + used_;
  }
  void end_row(const char* end) { used_ = static_cast<size_t>(end - text_.data()); }

 private:
  void flush() {
    out_.write(text_.data(), static_cast<std::streamsize>(used_));
    used_ = 0;
  }

  std::ostream& out_;
  std::vector<char> text_ = std::vector<char>(1 << 16);
  size_t used_ = 0;
};

char* write_text(char* to, std::string_view text) {
  std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

}  // namespace

void write_traffic_csv(std::ostream& out, const Platform& platform, const std::vector<TrafficRequest>& requests,
                       const std::vector<TrafficResult>& results) {
  out << "id,initiator,op,address,bytes,issue_ns,grant_ns,done_ns,latency_ns,formula_ns,queueing_ns\n";
  RowBuffer rows(out);
  for (size_t i = 0; i < requests.size(); ++i) {
    const TrafficRequest& q = requests[i];
    const TrafficResult& r = results[i];
    const std::string& initiator = platform.graph().nodes[q.initiator].id;
    const double latency = r.done_ns - q.issue_ns;
    char* to = rows.begin_row(q.id.size() + initiator.size() + 64 + 6 * (kLongestNumber + 1));
    to = write_text(to, q.id);
    *to++ = ',';
    to = write_text(to, initiator);
    to = write_text(to, q.write ? ",write," : ",read,");
    to = std::to_chars(to, to + 20, q.address).ptr;
    *to++ = ',';
    to = std::to_chars(to, to + 20, q.nbytes).ptr;
    for (double v : {q.issue_ns, r.grant_ns, r.done_ns, latency, r.formula_ns, latency - r.formula_ns}) {
      *to++ = ',';
      to = write_ns(to, v);
    }
    *to++ = '\n';
    rows.end_row(to);
  }
}

void write_traffic_json(std::ostream& out, const Platform& platform, const std::vector<TrafficRequest>& requests,
                        const std::vector<TrafficResult>& results, const std::vector<TrafficAccount>& accounts) {
  const auto quote = [](const std::string& s) {
    std::string q;
    append_string(q, s);
    return q;
  };
  out << "[";
  for (size_t i = 0; i < requests.size(); ++i) {
    const TrafficRequest& q = requests[i];
    const TrafficResult& r = results[i];
    const TrafficAccount& a = accounts[i];
    const double latency = r.done_ns - q.issue_ns;
    std::string text = i ? ",\n {" : "\n {";
    text += "\"id\": " + quote(q.id) + ", \"initiator\": " + quote(platform.graph().nodes[q.initiator].id) +
            ", \"op\": \"" + (q.write ? "write" : "read") + "\", \"address\": " + std::to_string(q.address) +
            ", \"bytes\": " + std::to_string(q.nbytes);
    const std::pair<const char*, double> numbers[] = {{"issue_ns", q.issue_ns},
                                                      {"grant_ns", r.grant_ns},
                                                      {"done_ns", r.done_ns},
                                                      {"latency_ns", latency},
                                                      {"formula_ns", r.formula_ns},
                                                      {"queueing_ns", latency - r.formula_ns},
                                                      {"grant_wait_ns", a.grant_wait_ns},
                                                      {"overhead_ns", a.overhead_ns},
                                                      {"wire_ns", a.wire_ns},
                                                      {"drain_ns", a.drain_ns},
                                                      {"store_forward_ns", a.store_forward_ns},
                                                      {"link_queue_ns", a.link_queue_ns},
                                                      {"memory_queue_ns", a.memory_queue_ns}};
    for (const auto& [name, v] : numbers) {
      text += std::string(", \"") + name + "\": ";
      append_ns(text, v);
    }
    out << text << "}";
  }
  out << "\n]\n";
}

}  // namespace kernbench
