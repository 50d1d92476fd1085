// SPDX-License-Identifier: Apache-2.0
// The expected result of a program: a memory of plain bytes, and the ops one after another in the order of their
// effects by the data rules (§1, §4), each computed with the project's own op function.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "byte_memory.h"
#include "kernbench/phase2/eval/atomic.h"
#include "kernbench/phase2/eval/convert.h"
#include "kernbench/phase2/eval/eval.h"
#include "kernbench/phase2/log/op_record.h"

namespace kernbench::testing {

/// Commands sorted by the instant of their effect (in fs), then PE, then program order; atomics of an instant follow,
/// by their numbers. A command with `dependency_ids` directly follows those. Tokens and records without an effect on
/// memory are omitted.
inline std::vector<const OpRecord*> in_effect_order(const std::vector<OpRecord>& records) {
  const auto instant = [](const OpRecord& r) {
    return std::llround(1e6 * (r.foreign                             ? r.effect_ns
                               : r.desc->type == CommandType::load   ? r.t_end
                               : r.desc->type == CommandType::atomic ? r.desc->ranged->effect_ns
                                                                     : r.desc->submit_ns));
  };
  const auto atomic_number = [](const OpRecord& r) {
    return r.desc->type == CommandType::atomic ? r.desc->ranged->number + 1 : 0;
  };
  std::vector<const OpRecord*> by_time;
  for (const OpRecord& r : records) {
    if (r.desc && !r.is_token && r.desc->kind != OpKind::unknown) by_time.push_back(&r);
  }
  std::sort(by_time.begin(), by_time.end(), [&](const OpRecord* a, const OpRecord* b) {
    return std::make_tuple(instant(*a), atomic_number(*a), a->desc->pe, a->desc->seq) <
           std::make_tuple(instant(*b), atomic_number(*b), b->desc->pe, b->desc->seq);
  });
  std::vector<const OpRecord*> order, waiting;
  std::set<uint64_t> done;
  const std::function<void(const OpRecord*)> take = [&](const OpRecord* r) {
    order.push_back(r);
    done.insert(r->op_id);
    const std::vector<const OpRecord*> behind = waiting;
    for (const OpRecord* w : behind) {
      const auto& ids = w->dependency_ids;
      if (done.count(w->op_id) || std::find(ids.begin(), ids.end(), r->op_id) == ids.end()) continue;
      if (std::all_of(ids.begin(), ids.end(), [&](uint64_t id) { return done.count(id); })) take(w);
    }
  };
  for (const OpRecord* r : by_time) {
    const auto& ids = r->dependency_ids;
    if (std::all_of(ids.begin(), ids.end(), [&](uint64_t id) { return done.count(id); })) {
      take(r);
    } else {
      waiting.push_back(r);
    }
  }
  return order;
}

inline bool carries_its_bytes(const OpDesc& d) {
  return d.type == CommandType::store && d.data && d.operands.size() <= 1;
}
/// Whether the output in the record is all that the op writes. Scatters and red atomics write ranges instead.
inline bool writes_its_output(const OpDesc& d) {
  return !d.ranged || d.type == CommandType::load || d.ranged->returns_old;
}

class SequentialMachine : public ByteMemory<uint8_t> {
 public:
  explicit SequentialMachine(const MemoryImage& at_start) { fill(at_start); }

  /// Returns the op's output.
  Bytes run(const OpDesc& d) {
    if (d.ranged) return run_ranges(d);
    const Bytes out = carries_its_bytes(d) ? *d.data : computed(d);
    put(d.output, out);
    return out;
  }
  /// The bytes that a store with its own data would otherwise move.
  Bytes source_of(const OpDesc& d) { return d.operands.empty() ? *d.data : get(d.operands[0].ref); }

 private:
  Bytes run_ranges(const OpDesc& d) {
    if (d.type == CommandType::store) {
      to_ranges(*d.ranged, source_of(d));
      return {};
    }
    Bytes out(writes_its_output(d) ? d.output.nbytes() : 0);
    const size_t item = size_of(d.output.dtype);
    for (const MovedRange& r : d.ranged->left_out) {
      for (uint64_t i = 0; !out.empty() && i < r.nbytes; i += item)
        store_scalar(d.ranged->other, d.output.dtype, out.data() + r.offset + i);
    }
    if (d.type == CommandType::load) {
      from_ranges(*d.ranged, out);
    } else {
      run_atomic(d, out);
    }
    if (!out.empty()) put(d.output, out);
    return out;
  }
  /// Element by element. The old values go to `out` if it is not empty.
  void run_atomic(const OpDesc& d, Bytes& out) {
    const DType type = d.output.dtype;
    const size_t item = size_of(type);
    std::vector<Bytes> operands;
    for (const Operand& o : d.operands) operands.push_back(o.is_scalar ? Bytes{} : get(o.ref));
    const auto element_of = [&](size_t operand, uint64_t at) {
      Bytes e(item);
      if (d.operands[operand].is_scalar) {
        store_scalar(d.operands[operand].scalar, type, e.data());
      } else {
        std::copy_n(operands[operand].begin() + static_cast<int64_t>(at), item, e.begin());
      }
      return e;
    };
    std::vector<uint8_t*> cells;
    each_in_ranges(*d.ranged, [&](uint8_t& c, uint64_t at) {
      cells.push_back(&c);
      if (cells.size() < item) return;
      const uint64_t first = at + 1 - item;
      Bytes held;
      for (const uint8_t* cell : cells) held.push_back(*cell);
      if (!out.empty()) std::copy(held.begin(), held.end(), out.begin() + static_cast<int64_t>(first));
      const Bytes value = element_of(0, first), expected = operands.size() > 1 ? element_of(1, first) : Bytes{};
      atomic_of(d.op, type)(value.data(), expected.empty() ? nullptr : expected.data(), held.data());
      for (size_t b = 0; b < item; ++b) *cells[b] = held[b];
      cells.clear();
    });
  }

  Bytes computed(const OpDesc& d) {
    const std::vector<Operand> operands = inputs_of(d);
    std::vector<Bytes> bytes;
    std::vector<EvalInput> in;
    for (const Operand& o : operands) bytes.push_back(o.is_scalar ? Bytes{} : get(o.ref));
    for (size_t i = 0; i < operands.size(); ++i) {
      in.push_back(operands[i].is_scalar
                       ? EvalInput::immediate(operands[i].scalar)
                       : EvalInput::tensor(bytes[i].data(), operands[i].ref.dtype, operands[i].ref.shape));
    }
    return evaluate(d, in);
  }
};

/// Empty if equal, else the first different byte and the number of differences.
inline std::string difference(const Bytes& got, const Bytes& want) {
  size_t first = 0, count = 0;
  for (size_t i = want.size(); i-- > 0;) {
    if (got.at(i) == want[i]) continue;
    first = i;
    ++count;
  }
  return count ? std::to_string(count) + " bytes differ, the first at " + std::to_string(first) : "";
}

/// The same for memories: every byte that the machine read or wrote. Bytes that are pending in the image before replay
/// are skipped if they are in `pending_too`.
inline std::string difference(const MemoryImage& got, const SequentialMachine& machine, bool pending_too = false,
                              bool with_tcm = true) {
  for (const auto& [key, bytes] : machine.spaces()) {
    if (key.space == Space::tcm && !with_tcm) continue;
    std::vector<uint64_t> addresses;
    for (const auto& [addr, byte] : bytes) addresses.push_back(addr);
    std::sort(addresses.begin(), addresses.end());
    for (size_t i = 0; i < addresses.size();) {
      size_t end = i + 1;
      while (end < addresses.size() && addresses[end] == addresses[end - 1] + 1) ++end;
      std::string where;
      got.for_each_piece(key, addresses[i], end - i, [&](uint64_t at, uint64_t n, const auto* extent, uint64_t offset) {
        const bool pending = extent && extent->producer();
        if (pending && pending_too) return;
        for (uint64_t b = 0; b < n && where.empty(); ++b) {
          if (extent && !pending && extent->data()[offset + b] == bytes.at(at + b)) continue;
          where = std::string(name_of(key.space)) + " differs at " + std::to_string(at + b) +
                  (key.pe == kNoPe ? "" : " of PE " + std::to_string(key.pe)) + (pending ? ", pending" : "");
        }
      });
      if (!where.empty()) return where;
      i = end;
    }
  }
  return "";
}

}  // namespace kernbench::testing
