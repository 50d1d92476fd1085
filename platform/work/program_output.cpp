// SPDX-License-Identifier: Apache-2.0
// Output of `kernbench pipeline` for programs (collectives rules §14.1).
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <ostream>

#include "kernbench/phase2/text/fields.h"
#include "kernbench/phase2/text/print.h"
#include "kernbench/platform/run/record/run_report.h"
#include "kernbench/platform/work/programs.h"

namespace kernbench::work {
namespace {

/// The name of the port that a recv_any took.
const std::string& taken_port(const ProgramCall& c) {
  const auto it = std::find(c.queue.ports.begin(), c.queue.ports.end(), c.queue.port);
  return c.ports[static_cast<size_t>(it - c.queue.ports.begin())];
}

void describe_call(Fields& f, const ProgramCall& c) {
  f("id", c.id)("call_ns", c.call_ns)("return_ns", c.return_ns)("done_ns", c.done_ns);
  if (c.command && c.command->ranged && c.command->ranged->atomic != AtomicKind::none)
    f("effect_ns", c.command->ranged->groups.empty() ? c.done_ns : c.command->ranged->effect_ns);
  if (c.kind == ProgramCall::Kind::queue || c.kind == ProgramCall::Kind::copy) {
    if (c.queue.kind == QueueCall::Kind::receive_any) f("port", taken_port(c));
    const auto times = [&](const SegmentTimes& s) {
      f("", std::tuple(s.slot_ns, s.grant_ns, s.arrival_ns, s.visible_ns, s.credit_ns));
    };
    if (c.to_all) {
      std::vector<const QueueMessage*> messages = {c.queue.message.get()};
      for (const auto& m : c.queue.more_messages) messages.push_back(m.get());
      f.list("segments", messages, [&](const QueueMessage* m) { f.list("", m->segments, times); });
    } else if (c.queue.kind == QueueCall::Kind::send) {
      f.list("segments", c.queue.message->segments, times);
    } else {
      f.list("segments", c.queue.reads,
             [&](const ReadTimes& r) { f("", std::tuple(r.ready_ns, r.start_ns, r.end_ns)); });
    }
  }
  f.given("accounts", c.accounts);
}

/// "slot wait 12.250, wire 2.000": the parts that took time.
std::string account_text(const SegmentAccount& a) {
  std::string text;
  for (const SegmentPart& part : kSegmentParts) {
    if (a.*part.ns < 0.0005) continue;  // rounds to 0
    std::string words(part.name, std::strlen(part.name) - std::strlen("_ns"));
    std::replace(words.begin(), words.end(), '_', ' ');
    text += fmt::format("{}{} {:.3f}", text.empty() ? "" : ", ", words, a.*part.ns);
  }
  return text;
}

}  // namespace

void describe_programs(Fields& f, const std::deque<ProgramWork>& programs) {
  f.line(0).lines(1, 0).each("programs", programs, [&](const ProgramWork& p) {
    f("pe", p.pe)("end_ns", p.end_ns).lines(2).each("calls", p.calls, [&](auto& c) { describe_call(f, c); });
  });
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

}  // namespace kernbench::work
