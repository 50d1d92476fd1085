// SPDX-License-Identifier: Apache-2.0
// Predicts a run's time in a page: reads the bytes of insight/joins.h and walks the graph. WebAssembly, compiled
// without a library (CMakeLists.txt); page/report.js calls it.
#include <stddef.h>
#include <stdint.h>

#include "kernbench/platform/insight/doubt.h"

#define PAGE_CALLS(name) extern "C" __attribute__((export_name(name)))

namespace {

constexpr uint32_t kResources = 64;  // at most; each part is one resource

extern "C" uint8_t __heap_base;
size_t used;

/// Memory is never freed, because a page has one run.
template <class T>
T* room_for(size_t count) {
  if (used == 0) used = reinterpret_cast<size_t>(&__heap_base);
  const size_t at = (used + 15) & ~size_t{15}, end = at + count * sizeof(T), page = size_t{1} << 16;
  const size_t has = __builtin_wasm_memory_size(0) * page;
  if (end > has && __builtin_wasm_memory_grow(0, (end - has + page - 1) / page) == ~size_t{0}) __builtin_trap();
  used = end;
  return reinterpret_cast<T*>(at);
}

struct Part {
  uint32_t resource;
  double ns;
};
struct Behind {
  uint32_t join, cost;
};
struct Turn {
  Behind first, second;
  uint32_t count;
  double in_run;  ///< how long the first comes after the second, ns
};

uint32_t costs, joins, turns;
uint32_t *parts_begin, *causes_begin;  ///< by cost and by join, with one more at the end
Part* parts;
Behind* causes;
Turn* turn_of;
Behind end_of_run;
double begin_ns;
double *takes, *comes;  ///< by cost; by join, 0 is the begin
double factors[kResources], blame[kResources];
kernbench::insight::Overtakes overtakes;

struct Reader {
  const uint8_t* at;
  uint32_t number() {
    uint64_t v = 0;
    for (int shift = 0;; shift += 7) {
      const uint8_t byte = *at++;
      v |= static_cast<uint64_t>(byte & 127) << shift;
      if (byte < 128) return static_cast<uint32_t>(v);
    }
  }
  double time() {
    double v;
    __builtin_memcpy(&v, at, sizeof v);
    at += sizeof v;
    return v;
  }
  Behind behind() {
    const uint32_t join = number();
    return {join, number()};
  }
};

double at(const Behind& b) {
  return comes[b.join] + takes[b.cost];
}

void time_joins() {
  for (uint32_t c = 0; c < costs; ++c) {
    takes[c] = 0;
    for (uint32_t p = parts_begin[c]; p < parts_begin[c + 1]; ++p) takes[c] += parts[p].ns * factors[parts[p].resource];
  }
  comes[0] = begin_ns;
  for (uint32_t j = 1; j <= joins; ++j) {
    double latest = 0;
    for (uint32_t c = causes_begin[j]; c < causes_begin[j + 1]; ++c) {
      const double t = at(causes[c]);
      latest = latest < t ? t : latest;
    }
    comes[j] = latest;
  }
}

}  // namespace

/// Allocates the buffer for read().
PAGE_CALLS("room") uint8_t* room(size_t bytes) {
  return room_for<uint8_t>(bytes);
}

PAGE_CALLS("read") void read(const uint8_t* bytes) {
  Reader r{bytes};
  costs = r.number();
  parts_begin = room_for<uint32_t>(costs + 1);
  parts = room_for<Part>(0);
  uint32_t n = 0;
  parts_begin[0] = 0;
  for (uint32_t c = 0; c < costs; ++c) {
    for (uint32_t p = r.number(); p > 0; --p) {
      Part* part = room_for<Part>(1);  // contiguous with the previous one
      part->resource = *r.at++;
      part->ns = r.time();
      ++n;
    }
    parts_begin[c + 1] = n;
  }
  joins = r.number();
  causes = room_for<Behind>(r.number());
  causes_begin = room_for<uint32_t>(joins + 2);
  n = 0;
  causes_begin[0] = causes_begin[1] = 0;
  for (uint32_t j = 1; j <= joins; ++j) {
    for (uint32_t c = r.number(); c > 0; --c) {
      const Behind b = r.behind();
      causes[n++] = {j - b.join, b.cost};
    }
    causes_begin[j + 1] = n;
  }
  turns = r.number();
  turn_of = room_for<Turn>(turns);
  for (uint32_t t = 0; t < turns; ++t) {
    const Behind first = r.behind();
    const Behind second = r.behind();
    turn_of[t] = {first, second, r.number(), 0};
  }
  end_of_run = r.behind();
  begin_ns = r.time();
  takes = room_for<double>(costs);
  comes = room_for<double>(joins + 1);
  for (double& f : factors) f = 1;
  time_joins();
  for (uint32_t t = 0; t < turns; ++t) turn_of[t].in_run = at(turn_of[t].first) - at(turn_of[t].second);
}

/// By resource: factors of its parts' times; the page writes them before retime().
PAGE_CALLS("factors") double* factors_of() {
  return factors;
}

/// The run's time, ns.
PAGE_CALLS("retime") double retime() {
  time_joins();
  overtakes = {};
  for (uint32_t t = 0; t < turns; ++t) {
    const Turn& turn = turn_of[t];
    overtakes.add(turn.in_run, at(turn.first) - at(turn.second), turn.count);
  }
  return at(end_of_run) - begin_ns;
}

/// Of the last retime(): how far it may be off. `room_ns`: the run's waits for room in buffers.
PAGE_CALLS("doubt") double doubt_ns(double ns, double run_ns, double room_ns) {
  return overtakes.doubt_ns(ns, run_ns, room_ns);
}

/// Of the last retime(), by resource: its time on the critical path, ns.
PAGE_CALLS("blame") double* blame_of() {
  for (double& b : blame) b = 0;
  for (Behind now = end_of_run;;) {
    for (uint32_t p = parts_begin[now.cost]; p < parts_begin[now.cost + 1]; ++p)
      blame[parts[p].resource] += parts[p].ns * factors[parts[p].resource];
    if (now.join == 0) return blame;
    uint32_t last = causes_begin[now.join];
    for (uint32_t c = last + 1; c < causes_begin[now.join + 1]; ++c) {
      if (at(causes[c]) > at(causes[last])) last = c;
    }
    now = causes[last];
  }
}
