// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/eval/isa.h"

#include <stdexcept>
#include <string>

#include "kernbench/phase2/eval/arithmetic.h"

namespace kernbench::phase2 {
namespace {

constexpr Isa kAll[] = {Isa::portable, Isa::avx2, Isa::avx512};

bool machine_has(Isa isa) {
#if defined(__x86_64__) && defined(__GNUC__)
  switch (isa) {
    case Isa::portable:
      return true;
    case Isa::avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case Isa::avx512:
      return machine_has(Isa::avx2) && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  }
  return false;
#else
  return isa == Isa::portable;
#endif
}

const Arithmetic* table_of(Isa isa) {
  switch (isa) {
    case Isa::portable:
      return detail::arithmetic_portable();
    case Isa::avx2:
      return detail::arithmetic_avx2();
    case Isa::avx512:
      return detail::arithmetic_avx512();
  }
  return nullptr;
}

}  // namespace

std::string_view name_of(Isa isa) {
  constexpr std::string_view kNames[] = {"portable", "avx2", "avx512"};
  return kNames[static_cast<size_t>(isa)];
}

std::optional<Isa> parse_isa(std::string_view name) {
  for (Isa isa : kAll) {
    if (name_of(isa) == name) return isa;
  }
  return std::nullopt;
}

bool available(Isa isa) {
  return table_of(isa) && machine_has(isa);
}

std::vector<Isa> available_isas() {
  std::vector<Isa> v;
  for (Isa isa : kAll) {
    if (available(isa)) v.push_back(isa);
  }
  return v;
}

Isa best_isa() {
  static const Isa best = available_isas().back();
  return best;
}

const Arithmetic& arithmetic_of(Isa isa) {
  if (!available(isa))
    throw std::invalid_argument("instruction set '" + std::string(name_of(isa)) + "' is not available here");
  return *table_of(isa);
}

}  // namespace kernbench::phase2
