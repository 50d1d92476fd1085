// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/core/effective_attributes.h"

namespace kernbench::core {

std::vector<std::pair<const AttrSpec*, AttrValue>> effective_attributes(const ImplSpec& impl,
                                                                        const Attributes& in_file) {
  std::vector<std::pair<const AttrSpec*, AttrValue>> all;
  const Attributes given = impl.resolved ? impl.resolved(in_file) : in_file;
  for (const AttrSpec& spec : impl.attributes) {
    const AttrValue* value = given.find(spec.name);
    if (!value && spec.default_value) value = &*spec.default_value;
    if (spec.type == AttrType::number_map) {
      NumberMap map = value ? std::get<NumberMap>(*value) : NumberMap();
      const NumberMap said = map;
      for (const KnownKey& key : spec.known_keys) map[key.name] = key.in(said).value_or(spec.key_default);
      all.emplace_back(&spec, std::move(map));
    } else if (value) {
      const auto* whole = std::get_if<int64_t>(value);
      all.emplace_back(&spec, spec.type == AttrType::number && whole ? AttrValue(static_cast<double>(*whole)) : *value);
    }
  }
  return all;
}

}  // namespace kernbench::core
