// What `kernbench pipeline` prints of programs (collectives contract §14.1).
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <ostream>

#include "kernbench/phase2/text/json_writer.h"
#include "kernbench/phase2/text/print.h"
#include "kernbench/platform/run/record/run_report.h"
#include "kernbench/platform/work/programs.h"

namespace kernbench {
namespace {

/// The name of the port that a recv_any has taken.
const std::string& taken_port(const ProgramCall& c) {
  const auto it = std::find(c.queue.ports.begin(), c.queue.ports.end(), c.queue.port);
  return c.ports[static_cast<size_t>(it - c.queue.ports.begin())];
}

void write_call(JsonWriter& w, const ProgramCall& c) {
  w.new_line(2).open('{').field("id", c.id).field("call_ns", c.call_ns).field("return_ns", c.return_ns);
  w.field("done_ns", c.done_ns);
  if (c.command && c.command->ranged && c.command->ranged->atomic != AtomicKind::none)
    w.field("effect_ns", c.command->ranged->groups.empty() ? c.done_ns : c.command->ranged->effect_ns);
  if (c.kind == ProgramCall::Kind::queue || c.kind == ProgramCall::Kind::copy) {
    if (c.queue.kind == QueueCall::Kind::receive_any) w.field("port", taken_port(c));
    w.key("segments").open('[');
    if (c.queue.kind == QueueCall::Kind::send) {
      for (const SegmentTimes& s : c.queue.message->segments)
        w.value(std::vector<double>{s.slot_ns, s.grant_ns, s.arrival_ns, s.visible_ns, s.credit_ns});
    } else {
      for (const ReadTimes& r : c.queue.reads) w.value(std::vector<double>{r.ready_ns, r.start_ns, r.end_ns});
    }
    w.close(']');
  }
  if (!c.accounts.empty()) {
    w.key("accounts").open('[');
    for (const SegmentAccount& a : c.accounts) write_account_json(w, a);
    w.close(']');
  }
  w.close('}');
}

/// "slot wait 12.250, wire 2.000": the parts that took time.
std::string account_text(const SegmentAccount& a) {
  std::string text;
  for (const SegmentPart& part : kSegmentParts) {
    if (a.*part.ns < 0.0005) continue;  // not to be seen
    std::string words(part.name, std::strlen(part.name) - std::strlen("_ns"));
    std::replace(words.begin(), words.end(), '_', ' ');
    text += fmt::format("{}{} {:.3f}", text.empty() ? "" : ", ", words, a.*part.ns);
  }
  return text;
}

}  // namespace

void write_programs_json(JsonWriter& w, const std::deque<ProgramWork>& programs) {
  w.new_line(0).key("programs").open('[');
  for (const ProgramWork& p : programs) {
    w.new_line(1).open('{').field("pe", p.pe).field("end_ns", p.end_ns).key("calls").open('[');
    for (const ProgramCall& c : p.calls) write_call(w, c);
    w.close(']').close('}');
  }
  w.new_line(0).close(']');
}

void write_programs_text(std::ostream& out, const std::deque<ProgramWork>& programs) {
  size_t width = 9;
  for (const ProgramWork& p : programs) {
    for (const ProgramCall& c : p.calls) width = std::max(width, c.id.size());
  }
  width += 2;
  for (const ProgramWork& p : programs) {
    print_to(out, "{}  end {:.3f} ns\n  {:{}}{:>14}{:>14}{:>14}{:>10}\n", p.pe, p.end_ns, "call", width, "call ns",
             "return ns", "done ns", "segments");
    for (const ProgramCall& c : p.calls) {
      const size_t sent = c.queue.kind == QueueCall::Kind::send && c.queue.message ? c.queue.message->segments.size()
                                                                                   : c.queue.reads.size();
      print_to(out, "  {:{}}{:14.3f}{:14.3f}{:14.3f}{:>10}\n", c.id, width, c.call_ns, c.return_ns, c.done_ns,
               sent > 0 ? std::to_string(sent) : "-");
      for (size_t i = 0; i < c.accounts.size(); ++i)
        print_to(out, "    segment {}: {}\n", i, account_text(c.accounts[i]));
    }
  }
}

}  // namespace kernbench
