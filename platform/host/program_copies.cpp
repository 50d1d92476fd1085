// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/host/program_copies.h"

#include <vector>

#include "kernbench/phase2/op/errors.h"

namespace kernbench::host {

Operation ProgramCopies::operation(Operation::Kind kind, const On& on, const Tensor& t,
                                   std::shared_ptr<const HostTensor> value, const SourceLine& where) {
  for (const Stream& s : on.streams()) {
    if (!timed_) break;
    for (const RankRange& r : t.places()->ranges(s.rank, TensorPlaces::Copies::all)) {
      const HostResponse response = kind == Operation::Kind::upload
                                        ? transfer_.check(MemoryWrite{{}, r.address, r.nbytes})
                                        : transfer_.check(MemoryRead{{}, r.address, r.nbytes});
      if (!response.ok()) throw InputError("--transfer timed: " + response.text);
    }
  }
  Operation op;
  op.kind = kind;
  op.where = where;
  op.name = t.name();
  op.streams = on.streams();
  op.uses = {t.places()->use()};
  op.begin = [this, places = t.places(), value](Operation& o) { fault_.guarded([&] { begin(o, places, value); }); };
  return op;
}

void ProgramCopies::begin(Operation& op, const Places& places, const std::shared_ptr<const HostTensor>& value) {
  clocks_.join(op);
  for (size_t i = 0; i < op.streams.size(); ++i) {
    const uint32_t rank = op.streams[i].rank;
    std::vector<SharedBytes> shards;
    if (value) shards = places->shards_of(*value, rank);
    std::vector<MemoryWrite> writes;
    std::vector<MemoryRead> reads;
    const bool up = op.kind == Operation::Kind::upload;
    if (timed_) {
      for (const RankRange& r : places->ranges(rank, up ? TensorPlaces::Copies::all : TensorPlaces::Copies::first)) {
        if (up)
          writes.push_back({{}, r.address, r.nbytes, value ? shards[writes.size()].data() : nullptr});
        else
          reads.push_back({{}, r.address, r.nbytes});
      }
    }
    const auto ended = [this, &op, i, rank, places, shards = std::move(shards)](const HostResponse& r) {
      fault_.guarded([&] {
        located(op.where, [&] {
          if (!r.ok()) throw RunError(r.text);
        });
        if (!shards.empty()) places->place(shards, rank);
        streams_.end(op, i);
      });
    };
    if (writes.empty() && reads.empty()) {
      ended({});
    } else if (up) {
      transfer_.write(writes, ended);
    } else {
      transfer_.read(reads, ended);
    }
  }
}

}  // namespace kernbench::host
