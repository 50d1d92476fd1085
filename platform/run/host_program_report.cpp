// SPDX-License-Identifier: Apache-2.0
// Text and JSON report of a program.
#include <fmt/format.h>

#include <algorithm>

#include "kernbench/phase2/energy/account.h"
#include "kernbench/phase2/text/forms.h"
#include "kernbench/phase2/text/print.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/insight/insight.h"
#include "kernbench/platform/run/host_program.h"

namespace kernbench {
namespace {

double end_of(const host::Operation& op) {
  return op.end_ns.empty() ? op.begin_ns : *std::max_element(op.end_ns.begin(), op.end_ns.end());
}

/// "all", "0", "0 2 3".
std::string ranks_text(const host::Operation& op, uint32_t ranks) {
  if (ranks > 1 && op.streams.size() == ranks) return "all";
  std::string text;
  for (const host::Stream& s : op.streams) text += (text.empty() ? "" : " ") + std::to_string(s.rank);
  return text;
}

/// The stream's number if it is the same for all ranks; else all numbers.
std::vector<uint32_t> stream_numbers(const host::Operation& op) {
  std::vector<uint32_t> all;
  for (const host::Stream& s : op.streams) all.push_back(s.number);
  const bool alike = std::all_of(all.begin(), all.end(), [&](uint32_t n) { return n == all.front(); });
  if (alike) all.resize(1);
  return all;
}

constexpr const char* kOpRow = "  {:10}{:18}{:8}{:8}{:>14}{:>14}{:>14}{:>14}\n";

void write_ops(std::ostream& out, const ProgramReport& r) {
  out << "\n";
  print_to(out, kOpRow, "operation", "of", "ranks", "stream", "begin ns", "start ns", "first end ns", "last end ns");
  for (const host::Operation& op : r.ops) {
    const double first = op.end_ns.empty() ? op.begin_ns : *std::min_element(op.end_ns.begin(), op.end_ns.end());
    std::string streams;
    for (const uint32_t n : stream_numbers(op)) streams += (streams.empty() ? "" : " ") + std::to_string(n);
    const auto ns = [](double t) { return fmt::format("{:.3f}", t); };
    print_to(out, kOpRow, host::name_of(op.kind), op.name, ranks_text(op, r.ranks), streams, ns(op.begin_ns),
             op.kind == host::Operation::Kind::launch ? ns(op.start_ns) : "", ns(first), ns(end_of(op)));
  }
}

/// The algorithms of collective launches, numbered from 0; equal ones share a line.
void write_choices(std::ostream& out, const ProgramReport& r) {
  std::vector<std::pair<std::string, std::string>> lines;  // decision, and its launches
  size_t number = 0;
  for (const host::Operation& op : r.ops) {
    if (op.kind != host::Operation::Kind::launch) continue;
    const std::string launch = std::to_string(number++);
    if (op.notes.algorithm.empty()) continue;
    const std::string choice = op.name + ": " + choice_text(op.notes);
    const auto it = std::find_if(lines.begin(), lines.end(), [&](const auto& line) { return line.first == choice; });
    if (it == lines.end()) {
      lines.emplace_back(choice, launch);
    } else {
      it->second += ", " + launch;
    }
  }
  if (!lines.empty()) out << "\n";
  for (const auto& [choice, launches] : lines) print_to(out, "  launch {}: {}\n", launches, choice);
}

void describe_op(Fields& f, const host::Operation& op) {
  f("op", host::name_of(op.kind))("name", op.name);
  const std::vector<uint32_t> streams = stream_numbers(op);
  streams.size() == 1 ? f("stream", streams.front()) : f("stream", streams);
  f.list("ranks", op.streams, [&](const host::Stream& s) { f("", s.rank); });
  f("begin_ns", op.begin_ns)("start_ns", op.start_ns)("end_ns", [&] {
    for (size_t i = 0; i < op.streams.size(); ++i) f(std::to_string(op.streams[i].rank), op.end_ns[i]);
  });
  describe_choice(f, op.notes);
}

}  // namespace

void write_program_text(std::ostream& out, const ProgramReport& p) {
  const RunReport& r = p.run;
  print_to(out, "{} on {}, {} {}, {} {}: {}{}\n\n", r.kernel, r.topology, p.ranks, p.ranks == 1 ? "rank" : "ranks",
           r.pes.size(), r.pes.size() == 1 ? "PE" : "PEs", time_text(r.end_ns), verdict_text(r));
  print_to(out, "  time         {:.3f} ns, to the end of the last operation\n", r.end_ns);
  print_to(out, "  launch       {}{}\n", r.launch, r.launch_note.empty() ? "" : " (" + r.launch_note + ")");
  print_to(out, "  transfer     {}\n",
           r.timed_transfer ? "timed: inputs are uploaded first, outputs downloaded last"
                            : "instant: tensors are placed and read back at no cost");
  if (r.addresses == AddressMode::virtual_) out << "  addresses    virtual: mapped at no cost\n";
  print_to(out, "  tensors      at most {} in HBM at a time, {} of it copies\n", bytes_text(p.tensors.bytes),
           bytes_text(p.tensors.copies));
  write_rates(out, r);
  out << "  parameters  ";
  for (const auto& [name, value] : r.params) out << ' ' << name << '=' << value;
  out << "\n";
  write_ops(out, p);
  write_choices(out, p);
  write_findings(out, r);
}

void write_program_json(std::ostream& out, const ProgramReport& p) {
  const RunReport& r = p.run;
  write_json(out, [&](Fields& f) {
    begin_report(f, "program", r);
    if (r.addresses == AddressMode::virtual_) f("addresses", r.addresses);
    f("sim_ns", r.end_ns)("ranks", p.ranks)("tensor_bytes", p.tensors.bytes)("copied_bytes", p.tensors.copies);
    f.each("ops", p.ops, [&](const host::Operation& op) { describe_op(f, op); });
    end_report(f, r);
  });
}

}  // namespace kernbench
