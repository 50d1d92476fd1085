// Races as text and as JSON.
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "kernbench/phase2/check/races.h"

namespace kernbench {
namespace {

std::string pe_name(uint32_t pe, const std::vector<std::string>& pes) {
  return pe < pes.size() ? pes[pe] : "PE " + std::to_string(pe);
}

std::string number(double ns) {
  char text[32];
  std::snprintf(text, sizeof text, "%.10g", ns);
  return text;
}

std::string source(const SourceLine& where) {
  return where.line ? std::string(where.file) + ":" + std::to_string(where.line) : "";
}

std::string place(const Race& r, const std::vector<std::string>& pes) {
  char text[64];
  std::snprintf(text, sizeof text, "[0x%llx, 0x%llx)", static_cast<unsigned long long>(r.addr),
                static_cast<unsigned long long>(r.addr + r.nbytes));
  std::string s = std::string(name_of(r.space)) + " " + text;
  return r.pe == kNoPe ? s : s + " of " + pe_name(r.pe, pes);
}

std::string line(const RacingAccess& a, const std::vector<std::string>& pes) {
  std::string s = std::string(a.writes ? "  write" : "  read") + " by " + a.what + " of " + pe_name(a.pe, pes);
  if (a.where.line) s += " at " + source(a.where);
  return s + ", submitted " + number(a.submit_ns) + " ns, complete " + number(a.done_ns) + " ns\n";
}

nlohmann::ordered_json json(const RacingAccess& a, const std::vector<std::string>& pes) {
  return {{"op", a.what},
          {"access", a.writes ? "write" : "read"},
          {"pe", pe_name(a.pe, pes)},
          {"source", source(a.where)},
          {"submit_ns", a.submit_ns},
          {"done_ns", a.done_ns}};
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
    switch (r.kind) {
      case Race::Kind::read_of_unfinished_write:
        s += "race: a read that is not behind the write of its bytes: ";
        break;
      case Race::Kind::overwrite_of_unfinished_read:
        s += "race: a write that is not behind the read of the old bytes: ";
        break;
      case Race::Kind::two_writes:
        s += "race: two writes without an order: ";
        break;
    }
    s += place(r, pes);
    if (r.count > 1) s += ", and " + std::to_string(r.count - 1) + " more from these lines";
    s += "\n" + line(r.first, pes) + line(r.second, pes);
  }
  return s;
}

std::string races_json(const std::vector<Race>& races, const std::vector<std::string>& pes) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Race& r : races) {
    nlohmann::ordered_json j;
    j["kind"] = std::string(name_of(r.kind));
    j["space"] = std::string(name_of(r.space));
    if (r.pe != kNoPe) j["tcm_of"] = pe_name(r.pe, pes);
    j["addr"] = r.addr;
    j["nbytes"] = r.nbytes;
    j["count"] = r.count;
    j["first"] = json(r.first, pes);
    j["second"] = json(r.second, pes);
    list.push_back(std::move(j));
  }
  return list.dump();
}

}  // namespace kernbench
