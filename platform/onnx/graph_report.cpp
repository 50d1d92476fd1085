// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/onnx/graph_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "kernbench/phase2/text/forms.h"
#include "kernbench/phase2/text/print.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/run/record/run_report.h"

namespace kernbench::onnx {
namespace {

struct NodeLine {
  const Op* op;
  std::string how;
  const Launch* launch = nullptr;  ///< null: the node has no launch of its own
  double start_ns = 0, time_ns = 0;
  Roofline roofline = {};
  /// Shares of the machine's peaks, as fractions.
  double gemm_share() const { return time_ns > 0 ? roofline.compute_ns / time_ns : 0; }
  double hbm_share() const { return time_ns > 0 ? roofline.memory_ns / time_ns : 0; }
};

constexpr size_t kHeaviest = 5;

/// Returns the nodes that took the most time, longest first.
std::vector<NodeLine> heaviest(std::vector<NodeLine> lines) {
  std::stable_sort(lines.begin(), lines.end(), [](auto& a, auto& b) { return a.time_ns > b.time_ns; });
  const auto idle = std::find_if(lines.begin(), lines.end(), [](auto& l) { return l.time_ns <= 0; });
  lines.erase(std::min(idle, lines.begin() + static_cast<std::ptrdiff_t>(std::min(kHeaviest, lines.size()))),
              lines.end());
  return lines;
}

std::string how_of(const Launch& l) {
  if (!l.linear) return l.op->row->how;
  return l.linear->few_rows
             ? "decode_linear: weights are split into lanes; each PE reads its lane once; rows are broadcast"
             : "gemm_2d: weights are stored in a grid; PEs pass panels of both operands on";
}

/// In graph order.
std::vector<NodeLine> lines_of(const GraphProgram& program, const ProgramReport& p) {
  std::vector<NodeLine> lines;
  for (const NodeMark& m : program.marks()) {
    NodeLine l{m.launch->op, how_of(*m.launch), m.launch};
    l.roofline = program.roofline(*m.launch);
    if (m.last < p.ops.size() && p.ops[m.last].open == 0) {
      const std::vector<double>& ends = p.ops[m.last].end_ns;
      l.start_ns = p.ops[m.first].start_ns;
      l.time_ns = *std::max_element(ends.begin(), ends.end()) - l.start_ns;
    }
    lines.push_back(l);
    for (const Op* f : m.launch->followers)
      lines.push_back({f, fmt::format("fused into {}: {}, because no other node reads the values between",
                                      in_quotes(l.op->node->name),
                                      m.launch->linear ? "its kernel does it" : "position by position in its tiles")});
  }
  for (const Plan::Note& n : program.plan().skipped) lines.push_back({n.op, n.why});
  std::map<const Op*, size_t> place;
  for (const Op& op : program.plan().ops) place[&op] = place.size();
  const auto place_of = [&](const NodeLine& l) { return place.at(l.op->stands_for ? l.op->stands_for : l.op); };
  std::sort(lines.begin(), lines.end(), [&](auto& a, auto& b) { return place_of(a) < place_of(b); });
  return lines;
}

/// The verification result, printed after the machine's name.
std::string verdict_of(const GraphProgram& program, const ProgramReport& p) {
  const bool by_shape_alone = p.run.verified && p.run.tensors.empty() && !program.verified_by_shape().empty();
  return by_shape_alone ? ", verified" : verdict_text(p.run);
}

/// The first node in graph order whose output is wrong; null if there is none.
const Op* first_that_departs(const GraphProgram& program, const ProgramReport& p) {
  for (const Launch& l : program.plan().run) {
    for (const Launch::Operand& o : l.outputs()) {
      for (const TensorReport& t : p.run.tensors) {
        if (t.name == o.value->name && !t.passed) return &l.last();
      }
    }
  }
  return nullptr;
}

/// Describes each output, such as "float [1, 3]".
std::string outputs_of(const Op& op) {
  std::string text;
  for (const Value* v : op.outputs) {
    if (v) text += (text.empty() ? "" : ", ") + name_of(v->type) + " " + to_string(v->shape);
  }
  return text;
}

}  // namespace

ModelFigures graph_figures(const GraphProgram& program, const ProgramReport& p) {
  ModelFigures f;
  f.model_ns = p.run.end_ns;
  if (p.run.end_ns <= 0) return f;
  f.mfu = f.hbm_share = 0;
  for (const NodeMark& m : program.marks()) {
    *f.mfu += program.roofline(*m.launch).compute_ns / p.run.end_ns;
    *f.hbm_share += program.roofline(*m.launch).memory_ns / p.run.end_ns;
  }
  return f;
}

void write_graph_text(std::ostream& out, const GraphProgram& program, const ProgramReport& p, bool plan) {
  const std::vector<NodeLine> lines = lines_of(program, p);
  const auto run =
      static_cast<size_t>(std::count_if(lines.begin(), lines.end(), [](auto& l) { return l.launch != nullptr; }));
  print_to(out, "{} on {}: {} nodes run, {} do not, {} PEs{}\n\n", program.spec().name, p.run.topology, run,
           lines.size() - run, p.run.pes.size(), verdict_of(program, p));
  print_to(out, "  {:16}{}\n", "time", time_text(p.run.end_ns));
  if (const auto& f = p.run.model; f && f->mfu)
    print_to(out,
             "  {:16}{:.1f} %, HBM {:.1f} %: time of all products, and of all operands, at the peaks, as a share of "
             "the run\n",
             "MFU", 100 * *f->mfu, 100 * *f->hbm_share);
  if (plan) {
    print_to(out, "\n  {:32}{:20}{:>14}{:>16}{:>16}  {}\n", "node", "op", "bytes", "predicted", "time",
             "how it runs, what it gives");
    for (const NodeLine& l : lines)
      print_to(out, "  {:32}{:20}{:>14}{:>16}{:>16}  {}; {}\n", escaped(l.op->node->name), escaped(l.op->node->op),
               l.launch ? bytes_text(static_cast<uint64_t>(l.roofline.bytes)) : "-",
               l.launch ? time_text(l.roofline.predicted_ns()) : "-", l.launch ? time_text(l.time_ns) : "-", l.how,
               outputs_of(*l.op));
    print_to(out, "  predicted: the longer of products at peak GEMM rate and bytes at peak HBM bandwidth\n");
  }
  print_to(out, "\n  {:32}{:20}{:>16}{:>8}{:>9}{:>9}\n", "heaviest nodes", "op", "time", "%", "GEMM %", "HBM %");
  for (const NodeLine& l : heaviest(lines))
    print_to(out, "  {:32}{:20}{:>16}{:>8.1f}{:>9.1f}{:>9.1f}\n", escaped(l.op->node->name), escaped(l.op->node->op),
             time_text(l.time_ns), 100 * l.time_ns / p.run.end_ns, 100 * l.gemm_share(), 100 * l.hbm_share());
  print_to(out, "\n  tensors      at most {} in HBM at a time\n", bytes_text(p.tensors.bytes));
  write_rates(out, p.run);
  write_findings(out, p.run);
  for (const std::string& name : program.verified_by_shape())
    print_to(out, "pass  {}  has no elements, as expected\n", name);
  if (const Op* op = first_that_departs(program, p))
    print_to(out, "\n  differs      first at node '{}' ({})\n", escaped(op->node->name), escaped(op->node->op));
}

void write_graph_json(std::ostream& out, const GraphProgram& program, const ProgramReport& p) {
  const std::vector<NodeLine> lines = lines_of(program, p);
  write_json(out, [&](Fields& f) {
    begin_report(f, "program", p.run);
    f.each("nodes", lines, [&](const NodeLine& l) {
      f("name", l.op->node->name)("op", l.op->node->op)("runs", l.launch != nullptr)("how", l.how);
      f("gives", outputs_of(*l.op))("bytes", static_cast<uint64_t>(l.roofline.bytes));
      if (!l.launch) return;
      f("macs", l.roofline.macs)("predicted_ns", l.roofline.predicted_ns())("start_ns", l.start_ns);
      f("time_ns", l.time_ns)("gemm_peak_share", l.gemm_share())("hbm_peak_share", l.hbm_share());
    });
    f.list("heaviest", heaviest(lines), [&](const NodeLine& l) { f("", l.op->node->name); });
    if (const Op* op = first_that_departs(program, p)) f("first_that_departs", op->node->name);
    f.given("verified_by_shape", program.verified_by_shape());
    if (const auto& figures = p.run.model) f("mfu", figures->mfu)("hbm_share", figures->hbm_share);
    f("sim_ns", p.run.end_ns)("tensor_bytes", p.tensors.bytes);
    end_report(f, p.run);
  });
}

}  // namespace kernbench::onnx
