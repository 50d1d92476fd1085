// SPDX-License-Identifier: Apache-2.0
// Output of races as text and as fields.
#include <fmt/format.h>

#include "kernbench/phase2/check/races.h"
#include "kernbench/phase2/text/fields.h"

namespace kernbench::phase2 {
namespace {

std::string pe_name(uint32_t pe, const std::vector<std::string>& pes) {
  return pe < pes.size() ? pes[pe] : fmt::format("PE {}", pe);
}

std::string source(const SourceLine& where) {
  return where.line ? fmt::format("{}:{}", where.file, where.line) : "";
}

std::string place(const Race& r, const std::vector<std::string>& pes) {
  return fmt::format("{} [{:#x}, {:#x}){}", name_of(r.space), r.addr, r.addr + r.nbytes,
                     r.pe == kNoPe ? "" : " of " + pe_name(r.pe, pes));
}

std::string line(const RacingAccess& a, const std::vector<std::string>& pes) {
  return fmt::format("  {} by {} of {}{}, submitted {:.10g} ns, complete {:.10g} ns\n", a.writes ? "write" : "read",
                     a.what, pe_name(a.pe, pes), a.where.line ? " at " + source(a.where) : "", a.submit_ns, a.done_ns);
}

const char* told(Race::Kind k) {
  switch (k) {
    case Race::Kind::read_of_unfinished_write:
      return "a read that is not ordered after the write of its bytes";
    case Race::Kind::overwrite_of_unfinished_read:
      return "a write that is not ordered after the read of the old bytes";
    case Race::Kind::two_writes:
      return "two unordered writes";
  }
  return "";
}

}  // namespace

std::string_view name_of(Race::Kind k) {
  switch (k) {
    case Race::Kind::read_of_unfinished_write:
      return "read_of_unfinished_write";
    case Race::Kind::overwrite_of_unfinished_read:
      return "overwrite_of_unfinished_read";
    case Race::Kind::two_writes:
      return "two_writes";
  }
  return "";
}

std::string races_text(const std::vector<Race>& races, const std::vector<std::string>& pes) {
  std::string s;
  for (const Race& r : races) {
    s += fmt::format("race: {}: {}{}\n{}{}", told(r.kind), place(r, pes),
                     r.count > 1 ? fmt::format(", and {} more from these lines", r.count - 1) : "", line(r.first, pes),
                     line(r.second, pes));
  }
  return s;
}

void describe_races(Fields& f, const std::vector<Race>& races, const std::vector<std::string>& pes) {
  const auto access = [&](const RacingAccess& a) {
    f("op", a.what)("access", a.writes ? "write" : "read")("pe", pe_name(a.pe, pes))("source", source(a.where));
    f("submit_ns", a.submit_ns)("done_ns", a.done_ns);
  };
  f.each("races", races, [&](const Race& r) {
    f("kind", r.kind)("space", r.space);
    if (r.pe != kNoPe) f("tcm_of", pe_name(r.pe, pes));
    f("addr", r.addr)("nbytes", r.nbytes)("count", r.count);
    f("first", [&] { access(r.first); })("second", [&] { access(r.second); });
  });
}

}  // namespace kernbench::phase2
