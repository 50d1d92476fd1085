// SPDX-License-Identifier: Apache-2.0
// Input and output files of `kernbench traffic`.
#include <fmt/compile.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <istream>
#include <iterator>
#include <ostream>
#include <string_view>
#include <unordered_map>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/forms.h"
#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/platform/run/spec/run_document.h"
#include "kernbench/platform/work/traffic.h"

namespace kernbench::work {

namespace {

constexpr const char* kHeader = "id,issue_ns,initiator,op,address,bytes";
constexpr double kLatestIssueNs = 1e12;  // 1,000 s; far below the limit of the kernel's clock at 1 fs
constexpr size_t kMaxFaults = 20;

struct AccessOp {
  const char* name;
  bool write;
  AtomicKind atomic;
  bool posted = false;
  bool multicast = false;
  bool grouped = false;
};
constexpr AccessOp kOps[] = {{"read", false, AtomicKind::none},
                             {"write", true, AtomicKind::none},
                             {"post", true, AtomicKind::none, true},
                             {"atomic", true, AtomicKind::fetch},
                             {"red", true, AtomicKind::reduce},
                             {"cas", true, AtomicKind::compare},
                             {"multicast", true, AtomicKind::none, false, true},
                             {"red_add", true, AtomicKind::reduce, false, false, true},
                             {"red_max", true, AtomicKind::reduce, false, false, true},
                             {"red_min", true, AtomicKind::reduce, false, false, true}};

/// Whether the complete text is the number.
bool is_all_of(std::string_view s, std::from_chars_result r) {
  return r.ec == std::errc() && r.ptr == s.data() + s.size();
}

bool parse(std::string_view s, double& v) {
  return is_all_of(s, std::from_chars(s.data(), s.data() + s.size(), v));
}

bool parse(std::string_view s, uint64_t& v, int base = 10) {
  return is_all_of(s, std::from_chars(s.data(), s.data() + s.size(), v, base));
}

bool parse_address(std::string_view s, uint64_t& v) {
  const bool hex = s.size() > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
  return hex ? parse(s.substr(2), v, 16) : parse(s, v);
}

/// Estimated number of lines of that length in the stream; 0 if unknown.
size_t lines_of(std::istream& in, size_t bytes) {
  const std::istream::pos_type here = in.tellg();
  if (here < 0 || !in.seekg(0, std::ios::end)) return 0;
  const std::istream::pos_type end = in.tellg();
  in.seekg(here);
  return static_cast<size_t>(end) / bytes + 1;
}

/// Reads line by line; collects errors up to a readable number.
class TrafficReader {
 public:
  TrafficReader(std::istream& in, const std::string& file, Machine& machine)
      : in_(in), file_(file), machine_(machine) {}

  Traffic read() {
    Traffic traffic;
    std::vector<TrafficRequest>& requests = traffic.requests;
    std::string line;
    bool header = false;
    while (std::getline(in_, line)) {
      ++line_;
      if (!line.empty() && line.back() == '\r') line.pop_back();
      if (line.empty()) continue;
      if (!header) {
        read_header(line);
        header = true;
        continue;
      }
      TrafficRequest r;
      if (!read_row(line, r)) continue;
      if (requests.empty()) requests.reserve(lines_of(in_, line.size() + 1));
      if (!group_.empty()) {
        std::vector<uint32_t>& sources = traffic.groups[std::string(group_)];
        if (sources.empty()) lines_of_groups_[std::string(group_)] = line_;
        sources.push_back(static_cast<uint32_t>(requests.size()));
      }
      requests.push_back(std::move(r));
    }
    split_operations(traffic);
    check_groups(traffic);
    if (in_.bad()) throw InputError(file_ + ": cannot be read to its end");
    line_ = 1;
    if (!header) fault("header", fmt::format("the file is empty, expected '{}'", kHeader));
    if (!faults_.empty()) throw InputError(faults_);
    return traffic;
  }

 private:
  void fault(const char* field, const std::string& message) {
    faults_.push_back(fmt::format("{}:{}: {}: {}", file_, line_, field, message));
    if (faults_.size() < kMaxFaults) return;
    faults_.push_back(file_ + ": further faults are not listed");
    throw InputError(faults_);
  }
  void expected(const char* field, std::string_view found, const char* what) {
    fault(field, fmt::format("found {}, expected {}", in_quotes(found), what));
  }

  /// The n-th item of a source, by time of issue, belongs to its group's n-th operation (multicast rules §20.1).
  void split_operations(Traffic& traffic) {
    TrafficGroups operations;
    for (auto& [name, items] : traffic.groups) {
      std::stable_sort(items.begin(), items.end(), [&](uint32_t a, uint32_t b) {
        return traffic.requests[a].issue_ns < traffic.requests[b].issue_ns;
      });
      std::map<uint32_t, size_t> items_of;  // by initiator, so far
      for (const uint32_t i : items) {
        const size_t n = ++items_of[traffic.requests[i].initiator];
        const std::string operation = n == 1 ? name : fmt::format("{}, operation {}", name, n);
        operations[operation].push_back(i);
        lines_of_groups_[operation] = lines_of_groups_.at(name);
      }
    }
    for (auto& [name, sources] : operations) std::sort(sources.begin(), sources.end());
    traffic.groups = std::move(operations);
  }

  /// Checks that the sources of a group agree and that their routes are a tree. A group of one is a red.
  void check_groups(Traffic& traffic) {
    for (auto it = traffic.groups.begin(); it != traffic.groups.end();) {
      const auto& [name, sources] = *it;
      line_ = lines_of_groups_.at(name);
      const TrafficRequest& first = traffic.requests[sources.front()];
      try {
        for (const uint32_t i : sources) {
          const TrafficRequest& r = traffic.requests[i];
          if (r.op != first.op || r.address != first.address || r.nbytes != first.nbytes)
            throw AccessError(fmt::format("request {} differs from request {} of its group {} in op, address or bytes",
                                          r.id, first.id, name));
        }
        if (sources.size() > 1) check_group(machine_, traffic.requests, sources);
      } catch (const AccessError& e) {
        fault("group", e.what());
      }
      it = sources.size() > 1 ? std::next(it) : traffic.groups.erase(it);
    }
  }

  void read_header(std::string_view line) {
    for (const bool acks : {false, true}) {
      for (const bool group : {false, true}) {
        const std::string header = fmt::format("{}{}{}", kHeader, acks ? ",acks" : "", group ? ",group" : "");
        if (line != header) continue;
        header_ = header;
        acks_at_ = acks ? 6 : kMostColumns;
        group_at_ = !group ? kMostColumns : acks ? 7 : 6;
        return;
      }
    }
    expected("header", line, fmt::format("'{}', optionally followed by acks and group", kHeader).c_str());
    throw InputError(faults_);
  }

  /// Whether the row is valid.
  bool read_row(std::string_view line, TrafficRequest& r) {
    std::array<std::string_view, kMostColumns + 1> fields;
    size_t count = 0;
    for (size_t from = 0; from <= line.size(); ++count) {
      const size_t comma = std::min(line.find(',', from), line.size());
      if (count < fields.size()) fields[count] = line.substr(from, comma - from);
      from = comma + 1;
    }
    const size_t columns = 6u + (acks_at_ < kMostColumns) + (group_at_ < kMostColumns);
    if (count != columns) {
      fault("row", fmt::format("found {} fields, expected {}: {}", count, columns, header_));
      return false;
    }
    const size_t before = faults_.size();
    const std::string_view id = fields[0], issue = fields[1], initiator = fields[2], op = fields[3],
                           address = fields[4], bytes = fields[5];
    const std::string_view acks = acks_at_ < kMostColumns ? fields[acks_at_] : "";
    group_ = group_at_ < kMostColumns ? fields[group_at_] : "";
    r.id.assign(id);
    if (!parse(issue, r.issue_ns) || !std::isfinite(r.issue_ns) || r.issue_ns < 0 || r.issue_ns > kLatestIssueNs)
      expected("issue_ns", issue, "a time in ns from 0 to 1e12");
    read_initiator(initiator, r);
    read_op(op, r);
    if (r.multicast) {
      read_destinations(address, r);
    } else if (!parse_address(address, r.address))
      expected("address", address, "an address from 0 to 2^64 − 1");
    if (!parse(bytes, r.nbytes) || r.nbytes == 0) expected("bytes", bytes, "a number of bytes from 1");
    const std::optional<bool> combined = acks.empty() ? false : combined_acks(acks);
    if (!r.multicast && !acks.empty()) {
      expected("acks", acks, "nothing: the op is no multicast");
    } else if (!combined) {
      expected("acks", acks, "separate, combined or nothing");
    }
    if (!group_.empty() && faults_.size() == before && !kOps[r.op].grouped)
      expected("group", group_, "nothing: the op is no red_add, red_max or red_min");
    if (faults_.size() > before) return false;
    if (r.multicast) r.multicast->combined = *combined;
    try {
      if (r.multicast) check_destinations(machine_, r.initiator, *r.multicast, r.nbytes);
      machine_.routes().route(r.initiator, r.address, r.nbytes, r.write && r.atomic == AtomicKind::none);
    } catch (const AccessError& e) {
      fault("address", e.what());
    }
    return faults_.size() == before;
  }

  void read_op(std::string_view op, TrafficRequest& r) {
    for (const AccessOp& known : kOps) {
      if (op != known.name) continue;
      r.op = static_cast<uint8_t>(&known - kOps);
      r.write = known.write;
      r.atomic = known.atomic;
      r.posted = known.posted;
      r.multicast = known.multicast ? Destinations(MulticastTo()) : Destinations();
      return;
    }
    r.multicast = {};
    expected("op", op, names_of_ops().c_str());
  }

  static std::string names_of_ops() {
    std::string all;
    for (const AccessOp& known : kOps)
      all += (all.empty() ? "" : &known == std::end(kOps) - 1 ? " or " : ", ") + std::string(known.name);
    return all;
  }

  /// Addresses joined by +.
  void read_destinations(std::string_view text, TrafficRequest& r) {
    for (size_t from = 0; from <= text.size();) {
      const size_t plus = std::min(text.find('+', from), text.size());
      uint64_t address = 0;
      if (!parse_address(text.substr(from, plus - from), address))
        return expected("address", text, "addresses from 0 to 2^64 − 1, joined by +");
      r.multicast->addresses.push_back(address);
      from = plus + 1;
    }
    r.address = r.multicast->addresses.front();
  }

  /// Each is searched once among all nodes.
  void read_initiator(std::string_view id, TrafficRequest& r) {
    const auto known = initiators_.find(id_.assign(id));
    if (known != initiators_.end()) {
      r.initiator = known->second;
      return;
    }
    const topology::Graph& graph = machine_.graph();
    const auto node = graph.index_of.find(id_);
    if (node == graph.index_of.end()) return expected("initiator", id, "a node of the topology");
    r.initiator = node->second;
    if (!machine_.blocks().request_port(r.initiator)) {
      return fault("initiator", fmt::format("{} is a {}, expected a pe_dma, m_cpu, pcie_ep or port", in_quotes(id),
                                            graph.nodes[r.initiator].kind));
    }
    initiators_.emplace(id_, r.initiator);
  }

  std::istream& in_;
  const std::string& file_;
  Machine& machine_;
  std::string id_;  // the id to find
  std::unordered_map<std::string, uint32_t> initiators_;
  size_t line_ = 0;
  static constexpr size_t kMostColumns = 8;
  std::string header_;
  size_t acks_at_ = kMostColumns, group_at_ = kMostColumns;  // kMostColumns: there is no such column
  std::string_view group_;                                   // of the row
  std::map<std::string, size_t> lines_of_groups_;            // of their first rows
  std::vector<std::string> faults_;
};

}  // namespace

const char* op_of(const TrafficRequest& r) {
  return kOps[r.op].name;
}

bool is_reduction(std::string_view op) {
  return std::any_of(std::begin(kOps), std::end(kOps), [&](const AccessOp& o) { return o.grouped && op == o.name; });
}

std::optional<bool> combined_acks(std::string_view word) {
  if (word == "separate" || word == "combined") return word == "combined";
  return std::nullopt;
}

Traffic read_traffic(std::istream& in, const std::string& file_name, Machine& machine) {
  return TrafficReader(in, file_name, machine).read();
}

static void describe_request(Fields& f, const Machine& machine, const TrafficRequest& q, const TrafficResult& r,
                             const TrafficAccount& a) {
  const double latency = r.done_ns - q.issue_ns;
  f("id", q.id)("initiator", machine.graph().nodes[q.initiator].id)("op", op_of(q));
  if (q.multicast && q.multicast->addresses.size() > 1) {
    std::string all;
    for (const uint64_t address : q.multicast->addresses) all += (all.empty() ? "" : "+") + std::to_string(address);
    f("address", all);
  } else {
    f("address", q.address);
  }
  f("bytes", q.nbytes)("issue_ns", q.issue_ns)("grant_ns", r.grant_ns)("done_ns", r.done_ns)("latency_ns", latency);
  f("formula_ns", r.formula_ns)("queueing_ns", latency - r.formula_ns);
  if (!f.is(Fields::Form::json)) return;
  f("grant_wait_ns", a.grant_wait_ns)("overhead_ns", a.overhead_ns)("wire_ns", a.wire_ns)("drain_ns", a.drain_ns);
  f("store_forward_ns", a.store_forward_ns)("link_queue_ns", a.link_queue_ns)("memory_queue_ns", a.memory_queue_ns);
}

void write_traffic_csv(std::ostream& out, const Machine& machine, const std::vector<TrafficRequest>& requests,
                       const std::vector<TrafficResult>& results) {
  CsvFields csv(out);
  const auto row = [&](const TrafficRequest& q, const TrafficResult& r) {
    return [&] { describe_request(csv, machine, q, r, {}); };
  };
  csv.head(row({}, {}));
  for (size_t i = 0; i < requests.size(); ++i) csv.row(row(requests[i], results[i]));
}

void write_traffic_json(std::ostream& out, const Machine& machine, const std::vector<TrafficRequest>& requests,
                        const std::vector<TrafficResult>& results, const std::vector<TrafficAccount>& accounts,
                        const spec::RunDocument& run) {
  JsonFields f(out, JsonWriter::Layout::spaced, JsonWriter::Reals::fixed);
  f.document([&] {
    spec::begin_report(f, run);
    f.lines(1, 0).each("requests", requests, [&](const TrafficRequest& q) {
      const auto i = static_cast<size_t>(&q - requests.data());
      describe_request(f, machine, q, results[i], accounts[i]);
    });
  });
}

}  // namespace kernbench::work
