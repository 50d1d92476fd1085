// SPDX-License-Identifier: Apache-2.0
// Reads the `connections` and `programs` of `kernbench pipeline`'s work file.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <unordered_map>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/platform/work/json_fields.h"
#include "kernbench/platform/work/programs.h"
#include "kernbench/platform/work/traffic.h"
#include "kernbench/systemc_models/pe/queue_ports.h"

namespace kernbench::work {
namespace {

using nlohmann::json;

class ProgramReader : private JsonFieldReader {
 public:
  ProgramReader(std::string file, Machine& machine) : JsonFieldReader(std::move(file)), machine_(machine) {
    for (size_t p = 0; p < machine.graph().pes.size(); ++p) pes_[machine.graph().pes[p].id] = p;
  }

  ProgramsWork read(const json& root) {
    const json* connections = array(root, "", "connections", false);
    for (size_t i = 0; connections && i < connections->size(); ++i)
      read_connection((*connections)[i], fmt::format("connections[{}]", i));
    const json* programs = array(root, "", "programs", false);
    for (size_t i = 0; programs && i < programs->size(); ++i)
      read_program((*programs)[i], fmt::format("programs[{}]", i));
    if (!faults_.empty()) throw InputError(faults_);
    return std::move(work_);
  }

 private:
  size_t pe(const json& o, const std::string& path, const char* key) {
    const std::string id = text(o, path, key);
    const auto it = pes_.find(id);
    if (it != pes_.end()) return it->second;
    if (!id.empty()) fault(path + "." + key, "found '" + id + "', expected a PE of the topology");
    return 0;
  }
  int64_t number(const json& o, const std::string& path, const char* key, int64_t least, int64_t most) {
    const auto it = o.find(key);
    if (it != o.end()) return whole(*it, path + "." + key, least, most);
    fault(path + "." + key, "is missing, expected a whole number");
    return least;
  }

  void read_connection(const json& o, const std::string& path) {
    if (!keys(o, path, {"a", "port", "b", "peer_port", "slots", "slot_bytes", "tier", "protocol"})) return;
    QueueConnection c;
    c.a = static_cast<int64_t>(pe(o, path, "a"));
    c.port = text(o, path, "port");
    c.b = static_cast<int64_t>(pe(o, path, "b"));
    c.peer_port = text(o, path, "peer_port");
    if (o.contains("slots")) c.slots = static_cast<uint32_t>(number(o, path, "slots", 1, QueueParameters::kMostSlots));
    if (o.contains("slot_bytes"))
      c.slot_bytes = static_cast<uint64_t>(number(o, path, "slot_bytes", 1, QueueParameters::kMostSlotBytes));
    if (o.contains("tier")) c.tier = text(o, path, "tier");
    if (o.contains("protocol")) c.protocol = text(o, path, "protocol");
    ports_[{c.a, c.port}] = ports_[{c.b, c.peer_port}] = true;
    work_.connections.push_back(std::move(c));
  }

  void read_program(const json& o, const std::string& path) {
    if (!keys(o, path, {"pe", "start_ns", "calls"})) return;
    ProgramWork p;
    p.index = pe(o, path, "pe");
    p.pe = text(o, path, "pe");
    p.start_ns = time(o, path, "start_ns");
    for (const ProgramWork& other : work_.programs) {
      if (other.pe == p.pe) fault(path + ".pe", p.pe + " stands twice");
    }
    require(p, "pe_cpu", path + ".pe");
    call_of_id_.clear();
    const json* calls = array(o, path, "calls");
    for (size_t i = 0; calls && i < calls->size(); ++i) read_call((*calls)[i], fmt::format("{}.calls[{}]", path, i), p);
    work_.programs.push_back(std::move(p));
  }

  void require(const ProgramWork& p, const char* kind, const std::string& path) {
    if (machine_.graph().pes[p.index].blocks.count(kind) == 0) fault(path, p.pe + " has no " + kind);
  }

  void read_call(const json& o, const std::string& path, ProgramWork& p) {
    if (!o.is_object()) return fault(path, "found " + shown(o) + ", expected an object");
    ProgramCall& c = p.calls.emplace_back();
    c.id = text(o, path, "id");
    if (!call_of_id_.emplace(c.id, p.calls.size() - 1).second) fault(path + ".id", "'" + c.id + "' stands twice");
    std::string call = text(o, path, "call");
    constexpr std::string_view kAsync = "_async";
    if (call.size() > kAsync.size() && call.compare(call.size() - kAsync.size(), kAsync.size(), kAsync) == 0) {
      c.async = true;
      call.resize(call.size() - kAsync.size());
    }
    if (call == "send" || call == "send_all" || call == "recv" || call == "copy_to_dst" ||
        (call == "recv_any" && !c.async)) {
      read_queue_call(o, path, call, p, c);
    } else if (call == "gather" || call == "scatter" || call == "atomic" || call == "red" || call == "cas") {
      read_ranged(o, path, call, p, c);
    } else if ((call == "signal" || call == "wait_until") && !c.async) {
      read_flag(o, path, call, p, c);
    } else if (call == "load" || call == "store" || call == "gemm" || call == "math") {
      read_command(o, path, call, p, c);
    } else if (is_reduction(call)) {
      read_reduction(o, path, p, c);
    } else if (call == "multicast") {
      read_multicast(o, path, p, c);
    } else if (call == "wait" && !c.async) {
      read_wait(o, path, p, c);
    } else {
      fault(path + ".call",
            "found " + shown(o.value("call", json())) +
                ", expected send, send_all, recv, copy_to_dst, load, store, multicast, gather, scatter, atomic, red, "
                "red_add, red_max, red_min, cas, gemm or "
                "math, each also as _async, recv_any, signal, wait_until or wait");
    }
  }

  void read_wait(const json& o, const std::string& path, const ProgramWork& p, ProgramCall& c) {
    keys(o, path, {"id", "call", "for"});
    c.kind = ProgramCall::Kind::wait;
    const json* ids = array(o, path, "for");
    for (size_t i = 0; ids && i < ids->size(); ++i) {
      const auto call = (*ids)[i].is_string() ? call_of_id_.find((*ids)[i].get<std::string>()) : call_of_id_.end();
      if (call != call_of_id_.end() && call->second + 1 < p.calls.size()) {
        c.waits_for.push_back(call->second);
      } else {
        fault(fmt::format("{}.for[{}]", path, i), "found " + shown((*ids)[i]) + ", expected the id of a call before");
      }
    }
  }

  /// Space and ranges of a gather, a scatter or an atomic.
  void read_ranged(const json& o, const std::string& path, const std::string& call, ProgramWork& p, ProgramCall& c) {
    for (const char* kind : {"pe_scheduler", "pe_dma"}) require(p, kind, path);
    const bool moves = call == "gather" || call == "scatter";
    moves ? keys(o, path, {"id", "call", "space", "ranges"}) : keys(o, path, {"id", "call", "space", "ranges", "sem"});
    check_space(text(o, path, "space"), path);
    c.writes = call != "gather";
    c.command = std::make_unique<PeCommand>();
    c.command->type = call == "gather" ? CommandType::load : CommandType::store;
    auto ranged = std::make_shared<ProgramRanges>();
    ranged->atomic = moves              ? AtomicKind::none
                     : call == "atomic" ? AtomicKind::fetch
                     : call == "red"    ? AtomicKind::reduce
                                        : AtomicKind::compare;
    if (!moves) read_sem(o, path, c);
    std::vector<AccessRange> ranges;
    const json* list = array(o, path, "ranges");
    for (size_t i = 0; list && i < list->size(); ++i) {
      const json& r = (*list)[i];
      if (r.is_array() && r.size() == 2 && r[0].is_number_unsigned() && r[1].is_number_unsigned() &&
          r[1].get<uint64_t>() > 0 && r[1].get<uint64_t>() <= static_cast<uint64_t>(kMostBytes)) {
        ranges.push_back({r[0].get<uint64_t>(), r[1].get<uint64_t>()});
      } else {
        fault(fmt::format("{}.ranges[{}]", path, i), "found " + shown(r) + ", expected [address, bytes from 1]");
      }
    }
    group(path + ".ranges", ranges, p, *ranged);
    c.command->ranged = std::move(ranged);
  }

  void read_sem(const json& o, const std::string& path, ProgramCall& c) {
    const std::string sem = text(o, path, "sem", "acq_rel");
    if (sem != "relaxed" && sem != "acquire" && sem != "release" && sem != "acq_rel")
      fault(path + ".sem", "found '" + sem + "', expected relaxed, acquire, release or acq_rel");
    c.releases = sem == "release" || sem == "acq_rel";
  }

  /// The DMA's plan for the ranges. An atomic needs a return path, like a read.
  void group(const std::string& path, const std::vector<AccessRange>& ranges, const ProgramWork& p,
             ProgramRanges& ranged) {
    const auto& blocks = machine_.graph().pes[p.index].blocks;
    if (blocks.count("pe_dma") == 0) return;
    const bool write = ranged.atomic == AtomicKind::none;
    RangeGrouping grouping(machine_.routes(), blocks.at("pe_dma"), write);
    try {
      for (const AccessRange& r : ranges) grouping.add(r.offset, r.nbytes);
      ranged.groups = grouping.take();
    } catch (const AccessError& e) {
      fault(path, e.what());
    }
  }

  /// A signal or a wait_until: 4 bytes.
  void read_flag(const json& o, const std::string& path, const std::string& call, ProgramWork& p, ProgramCall& c) {
    for (const char* kind : {"pe_scheduler", "pe_dma"}) require(p, kind, path);
    c.command = std::make_unique<PeCommand>();
    c.flag = address(o, path);
    if (o.contains("value")) {
      c.value =
          static_cast<int32_t>(whole(o.at("value"), path + ".value", -(int64_t{1} << 31), (int64_t{1} << 32) - 1));
    } else {
      fault(path + ".value", "is missing, expected a whole number of 32 bits");
    }
    if (o.contains("space")) check_space(text(o, path, "space"), path);
    if (c.flag % 4 != 0) fault(path + ".addr", fmt::format("found {}, expected a multiple of 4", c.flag));
    if (call == "wait_until") {
      keys(o, path, {"id", "call", "space", "addr", "value", "cmp"});
      c.kind = ProgramCall::Kind::wait_until;
      c.command->type = CommandType::load;
      c.command->dma.addr = c.flag;
      c.command->dma.nbytes = 4;
      c.command->dma.rows = {1, 4, 0};
      const std::string cmp = text(o, path, "cmp");
      constexpr const char* kNames[] = {"eq", "ne", "lt", "ge"};
      const auto name = std::find(std::begin(kNames), std::end(kNames), cmp);
      if (name == std::end(kNames)) return fault(path + ".cmp", "found '" + cmp + "', expected eq, ne, lt or ge");
      c.compare = static_cast<ProgramCall::Compare>(name - std::begin(kNames));
      return;
    }
    keys(o, path, {"id", "call", "space", "addr", "value"});
    c.writes = c.releases = true;
    c.command->type = CommandType::store;
    auto ranged = std::make_shared<ProgramRanges>();
    ranged->atomic = AtomicKind::reduce;
    ranged->call = &c;
    group(path + ".addr", {{c.flag, 4}}, p, *ranged);
    c.command->ranged = std::move(ranged);
  }

  void read_queue_call(const json& o, const std::string& path, const std::string& call, ProgramWork& p,
                       ProgramCall& c) {
    for (const char* kind : {"pe_ipcq", "pe_dma"}) require(p, kind, path);
    c.kind = call == "copy_to_dst" ? ProgramCall::Kind::copy : ProgramCall::Kind::queue;
    c.writes = call == "copy_to_dst";
    c.command = std::make_unique<PeCommand>();
    c.to_all = call == "send_all";
    c.queue.kind = call == "send" || c.to_all ? QueueCall::Kind::send
                   : call == "recv_any"       ? QueueCall::Kind::receive_any
                                              : QueueCall::Kind::receive;
    c.queue.nbytes = static_cast<uint64_t>(number(o, path, "bytes", 0, kMostBytes));
    if (call == "recv_any" || c.to_all) {
      keys(o, path, {"id", "call", "ports", "bytes"});
      const json* ports = array(o, path, "ports");
      for (size_t i = 0; ports && i < ports->size(); ++i) {
        if (!(*ports)[i].is_string())
          fault(path + ".ports", "found " + shown((*ports)[i]) + ", expected a port's name");
        else
          c.ports.push_back((*ports)[i].get<std::string>());
      }
      if (ports && ports->empty()) fault(path + ".ports", "is empty, expected a port or more");
    } else {
      c.ports.push_back(text(o, path, "port"));
    }
    for (const std::string& port : c.ports) {
      if (ports_.count({static_cast<int64_t>(p.index), port}) == 0)
        fault(path + ".port", p.pe + " has no port '" + port + "'");
    }
    if (call == "send" || call == "recv") keys(o, path, {"id", "call", "port", "bytes"});
    if (call != "copy_to_dst") return;
    keys(o, path, {"id", "call", "port", "bytes", "space", "addr"});
    c.queue.credit_blocks = false;
    if (c.queue.nbytes == 0) return;
    require(p, "pe_scheduler", path);
    c.store = std::make_unique<PeCommand>();
    c.store->type = CommandType::store;
    read_memory(o, path, c.queue.nbytes, *c.store);
  }

  void read_reduction(const json& o, const std::string& path, ProgramWork& p, ProgramCall& c) {
    for (const char* kind : {"pe_scheduler", "pe_dma"}) require(p, kind, path);
    keys(o, path, {"id", "call", "space", "addr", "nbytes", "group", "sem"});
    check_space(text(o, path, "space"), path);
    c.writes = true;
    c.command = std::make_unique<PeCommand>();
    c.command->type = CommandType::store;
    read_sem(o, path, c);
    auto ranged = std::make_shared<ProgramRanges>();
    ranged->atomic = AtomicKind::reduce;
    const uint64_t addr = address(o, path), nbytes = static_cast<uint64_t>(number(o, path, "nbytes", 1, kMostBytes));
    group(path + ".addr", {{addr, nbytes}}, p, *ranged);
    if (ranged->groups.size() > 1)
      fault(path + ".addr", "found a range in several memories, expected one memory for a reduction");
    c.command->ranged = std::move(ranged);
    c.group = text(o, path, "group", "");
    if (c.group.empty()) return;
    // The n-th item of each source is part of the n-th operation.
    for (const ProgramCall& other : p.calls) c.operation += &other != &c && other.group == c.group;
    const size_t n = c.operation;
    std::vector<std::vector<size_t>>& operations = work_.groups[c.group];
    if (operations.size() <= n) operations.resize(n + 1);
    operations[n].push_back(p.index);
    const std::string what = std::string(o.value("call", "")).substr(0, 7) + fmt::format(" {} {}", addr, nbytes);
    const auto [known, added] = operations_.emplace(std::pair(c.group, n), what);
    if (!added && known->second != what)
      fault(path,
            fmt::format("operation {} of group {} is '{}' elsewhere, found '{}'", n, c.group, known->second, what));
  }

  void read_multicast(const json& o, const std::string& path, ProgramWork& p, ProgramCall& c) {
    for (const char* kind : {"pe_scheduler", "pe_dma"}) require(p, kind, path);
    keys(o, path, {"id", "call", "addrs", "nbytes", "space", "acks"});
    c.writes = true;
    c.command = std::make_unique<PeCommand>();
    c.command->type = CommandType::store;
    MulticastPart part;
    part.nbytes = static_cast<uint64_t>(number(o, path, "nbytes", 1, kMostBytes));
    if (o.contains("space")) check_space(text(o, path, "space"), path);
    const std::string acks = text(o, path, "acks", "separate");
    const std::optional<bool> combined = combined_acks(acks);
    if (!combined) fault(path + ".acks", "found '" + acks + "', expected separate or combined");
    part.to.combined = combined.value_or(false);
    const json* addrs = array(o, path, "addrs");
    for (size_t i = 0; addrs && i < addrs->size(); ++i) {
      if ((*addrs)[i].is_number_unsigned()) {
        part.to.addresses.push_back((*addrs)[i].get<uint64_t>());
      } else {
        fault(fmt::format("{}.addrs[{}]", path, i), "found " + shown((*addrs)[i]) + ", expected an address");
      }
    }
    if (addrs && addrs->empty()) fault(path + ".addrs", "found no address, expected one or more");
    if (part.to.addresses.empty()) return;
    c.command->dma = {part.to.addresses.front(), part.nbytes, {1, part.nbytes, 0}, nullptr};
    const auto& blocks = machine_.graph().pes[p.index].blocks;
    try {
      if (blocks.count("pe_dma") > 0) check_destinations(machine_, blocks.at("pe_dma"), part.to, part.nbytes);
    } catch (const AccessError& e) {
      fault(path + ".addrs", e.what());
    }
    c.command->multicast = std::make_shared<const std::vector<MulticastPart>>(1, std::move(part));
  }

  void read_rows(const json& o, const std::string& path, PeCommand& command) {
    if (!o.contains("rows") && !o.contains("stride")) return;
    const auto rows = static_cast<uint64_t>(size(o, path, "rows"));
    if (command.dma.nbytes % rows != 0)
      return fault(path + ".rows", fmt::format("found {}, expected a divisor of nbytes", rows));
    const uint64_t bytes = command.dma.nbytes / rows;
    const auto stride = static_cast<uint64_t>(number(o, path, "stride", 1, kMostBytes));
    if (stride < bytes) fault(path + ".stride", fmt::format("found {}, expected at least a row, {}", stride, bytes));
    command.dma.rows = {rows, bytes, stride};
  }

  void read_command(const json& o, const std::string& path, const std::string& call, ProgramWork& p, ProgramCall& c) {
    for (const char* kind : {"pe_scheduler", call == "gemm" ? "pe_gemm" : call == "math" ? "pe_math" : "pe_dma"})
      require(p, kind, path);
    c.command = std::make_unique<PeCommand>();
    PeCommand& command = *c.command;
    if (call == "gemm") {
      keys(o, path, {"id", "call", "m", "n", "k", "dtype", "in_bytes", "out_bytes"});
      read_gemm(o, path, command);
    } else if (call == "math") {
      keys(o, path, {"id", "call", "op", "elements", "in_bytes", "out_bytes"});
      read_math(o, path, command);
    } else {
      keys(o, path, {"id", "call", "space", "addr", "nbytes", "rows", "stride"});
      command.type = call == "load" ? CommandType::load : CommandType::store;
      c.writes = call == "store";
      read_memory(o, path, static_cast<uint64_t>(number(o, path, "nbytes", 1, kMostBytes)), command);
      read_rows(o, path, command);
    }
  }

  Machine& machine_;
  std::map<std::string, size_t> pes_;
  std::unordered_map<std::string, size_t> call_of_id_;  ///< of the current program
  std::map<std::pair<int64_t, std::string>, bool> ports_;
  std::map<std::pair<std::string, size_t>, std::string> operations_;  ///< of groups: op, address and bytes of the n-th
  ProgramsWork work_;
};

}  // namespace

ProgramsWork read_programs(const json& root, const std::string& file_name, Machine& machine) {
  return ProgramReader(file_name, machine).read(root);
}

}  // namespace kernbench::work
