// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/work/collective_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iostream>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/forms.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/phase2/text/text_stream.h"
#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/platform/run/child/child_pool.h"
#include "kernbench/platform/run/collective_trials.h"
#include "kernbench/platform/run/run.h"

namespace kernbench::work {
namespace {

using ccl::Op;

bool reduces(Op op) {
  return op == Op::all_reduce || op == Op::reduce_scatter || op == Op::reduce;
}
/// Its size counts the blocks of all members.
bool blockwise(Op op) {
  return op == Op::all_gather || op == Op::reduce_scatter || op == Op::all_to_all;
}
bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<Op> ops_of(const CollectiveOptions& o) {
  std::vector<Op> ops;
  for (const Op op : ccl::kOps) {
    const bool can = o.algorithm == "auto" || o.algorithm == "best" || has(ccl::algorithms_of(op), o.algorithm);
    if (o.op == ccl::name_of(op) || (o.op == "all" && can)) ops.push_back(op);
  }
  if (!ops.empty()) return ops;
  if (o.op == "all") throw InputError("--algorithm: found '" + o.algorithm + "', which is not an algorithm of any op");
  std::string names = "all";
  for (const Op op : ccl::kOps) names += std::string(", ") + ccl::name_of(op);
  throw InputError("--op: found '" + o.op + "', expected one of " + names);
}

/// A size with its unit. InputError.
uint64_t parse_size(const std::string& text, const std::string& whole) {
  uint64_t v = 0;
  const auto r = std::from_chars(text.data(), text.data() + text.size(), v);
  std::string unit(r.ptr, text.data() + text.size());
  const int shift = unit.empty() ? 0 : unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : -1;
  if (r.ec != std::errc() || shift < 0 || v == 0 || v > (uint64_t{1} << 40) >> shift) {
    throw InputError("--sizes: found '" + whole + "', expected sizes such as 4K, or 1K:1M:x2 or 1K:8K:+1K, of 1 to " +
                     std::to_string(uint64_t{1} << 40) + " bytes");
  }
  return v << shift;
}

/// One future row of the table.
struct Point {
  Op op;
  uint64_t count = 0;  ///< elements of the row's size
  int64_t n = 0;       ///< the kernel's parameter
};

std::vector<Point> points_of(const CollectiveOptions& o, const std::vector<Op>& ops, DType dtype, int64_t members) {
  std::vector<Point> points;
  const uint64_t item = size_of(dtype);
  for (const Op op : ops) {
    for (const uint64_t size : parse_sizes(o.sizes)) {
      const uint64_t unit = blockwise(op) ? item * static_cast<uint64_t>(members) : item;
      const uint64_t rounded = size / unit * unit;
      if (rounded == 0)
        throw InputError(fmt::format("--sizes: {} bytes are less than one element of each block of {}: {}", size,
                                     ccl::name_of(op), unit));
      const uint64_t count = rounded / item;
      points.push_back({op, count, static_cast<int64_t>(op == Op::all_gather ? rounded / unit : count)});
    }
  }
  return points;
}

RunOptions run_options(const CollectiveOptions& o, const Point& p) {
  RunOptions r;
  static_cast<PeChoice&>(r) = o;
  r.kernel = ccl::name_of(p.op);
  r.params = {{"n", std::to_string(p.n)}, {"dtype", o.dtype}, {"over", o.over}};
  const KernelSpec& spec = KernelRegistry::instance().at(r.kernel);
  const auto give = [&](const std::string& name, const std::string& value) {
    for (const ParamSpec& s : spec.params) {
      if (s.name == name) r.params.emplace_back(name, value);
    }
  };
  give("redop", o.redop);
  give("algorithm", o.algorithm);
  if (!o.root.empty()) give("root", o.root);
  for (const auto& [name, value] : o.geometry) give(name, value);
  r.verify = o.check;
  r.threads = 1;
  return r;
}

/// A run's result as words, passed from the forked process.
std::string text_of(const RunReport& report) {
  double end_ns = 0;
  uint64_t wrong = 0;
  for (const auto& pe : report.pes) end_ns = std::max(end_ns, pe.end_ns);
  for (const TensorReport& t : report.tensors) wrong += t.passed ? 0 : std::max<uint64_t>(1, t.mismatches);
  return fmt::format("{} {} {} {} {}", end_ns - report.start_ns, report.launch_notes.algorithm,
                     report.launch_notes.members, report.verified ? static_cast<int64_t>(wrong) : -1,
                     report.launch_notes.root.empty() ? "-1" : report.launch_notes.root);
}

/// Members of a group of the requested launch.
int64_t members_of(Platform& platform, const CollectiveOptions& o) {
  const auto shape = launch_shape(machine_of(platform), choose_pes(machine_of(platform), o));
  return static_cast<int64_t>(ccl::groups_of(*shape, ccl::parse_axes(o.over)).front().size());
}

DType dtype_of(const CollectiveOptions& o) {
  const KernelSpec& spec = KernelRegistry::instance().at("all_reduce");
  return kernel_params(spec, {{"dtype", o.dtype}}).dtype();
}

}  // namespace

double CollectiveRow::busbw_gbs() const {
  const auto n = static_cast<double>(members);
  if (op == "all_reduce") return algbw_gbs() * 2 * (n - 1) / n;
  const bool others = op == "all_gather" || op == "reduce_scatter" || op == "all_to_all";
  return others ? algbw_gbs() * (n - 1) / n : algbw_gbs();
}

std::vector<uint64_t> parse_sizes(const std::string& text) {
  constexpr size_t kMost = 10000;
  const size_t first = text.find(':');
  if (first == std::string::npos) return {parse_size(text, text)};
  const size_t second = text.find(':', first + 1);
  const std::string step = second == std::string::npos ? "x2" : text.substr(second + 1);
  const uint64_t from = parse_size(text.substr(0, first), text),
                 to = parse_size(text.substr(first + 1, second - first - 1), text);
  const bool factor = !step.empty() && step[0] == 'x';
  if (step.size() < 2 || (!factor && step[0] != '+')) parse_size("", text);
  const uint64_t by = parse_size(step.substr(1), text);
  if (from > to || (factor && by < 2)) parse_size("", text);
  std::vector<uint64_t> sizes;
  for (uint64_t s = from; s <= to; s = factor ? s * by : s + by) {
    if (sizes.size() == kMost) throw InputError("--sizes: '" + text + "' are more than " + std::to_string(kMost));
    sizes.push_back(s);
  }
  return sizes;
}

void run_collectives(Platform& platform, const CollectiveOptions& o,
                     const std::function<void(const CollectiveRow&, size_t rows)>& done) {
  const std::vector<Op> ops = ops_of(o);
  std::vector<Point> points;
  try {
    points = points_of(o, ops, dtype_of(o), members_of(platform, o));
  } catch (const BadParam& e) {
    throw InputError(e.what());
  }
  const auto simulate = [&](const CollectiveTrial& t, const std::vector<size_t>& pes) {
    std::vector<std::string> ids;
    for (const size_t p : pes) ids.push_back(machine_of(platform).graph().pes[p].id);
    return simulate_collectives(platform, t, joined(ids, ","));
  };
  const auto work = [&](size_t i) {
    machine_of(platform).set_trials(simulate);  // in this forked copy, which has not run anything
    return text_of(run_kernel(platform, run_options(o, points[i])));
  };
  run_forked(points.size(), std::max<size_t>(1, o.jobs), work, [&](size_t i, const std::string& text) {
    CollectiveRow row;
    const Point& p = points[i];
    row.op = ccl::name_of(p.op);
    row.count = p.count;
    row.size_bytes = p.count * size_of(dtype_of(o));
    row.dtype = o.dtype;
    row.redop = reduces(p.op) ? o.redop : "none";
    TextInput(text) >> row.time_ns >> row.algorithm >> row.members >> row.wrong >> row.root;
    done(row, points.size());
  });
}

void describe(Fields& f, const CollectiveRow& r) {
  f("op", r.op, {"op"})("size_bytes", r.size_bytes, {"size_bytes"})("count", r.count, {"count"});
  f("dtype", r.dtype, {"dtype"})("redop", r.redop, {"redop"})("root", r.root, {"root"});
  f("algorithm", r.algorithm, {"algorithm"})("members", r.members, {"members"})("time_us", r.time_ns / 1e3,
                                                                                {"time_us"});
  f("algbw_gbs", r.algbw_gbs(), {"algbw_gbs"})("busbw_gbs", r.busbw_gbs(), {"busbw_gbs"})("wrong", r.wrong, {"wrong"});
}

RowWriter collective_writer(std::ostream& out, const std::string& format, const spec::RunDocument& run) {
  if (format == "csv") return {out, std::make_unique<CsvFields>(out, CsvFields::Reals::shortest), ""};
  const std::vector<int> widths = {-14, 12, 12, 5, 5, 7, 13, 7, 12, 10, 10, 6};
  if (format == "text") return {out, std::make_unique<TextFields>(out, 0, " ", widths), ""};
  const std::string of = json_of(run, run.options.flag("report-topology"));
  return {out, nullptr, "{" + (run.version.empty() ? "" : "\"run\": " + of + ",\n") + "\"rows\": ["};
}

}  // namespace kernbench::work
