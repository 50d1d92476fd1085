// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/eval/isa_option.h"

#include "kernbench/phase2/op/errors.h"

namespace kernbench::phase2 {

Isa isa_of(const std::string& name) {
  const auto isa = parse_isa(name);
  if (!isa) throw InputError("--isa: found '" + name + "', expected portable, avx2 or avx512");
  if (!available(*isa)) throw InputError("--isa: this machine has no " + name);
  return *isa;
}

}  // namespace kernbench::phase2
