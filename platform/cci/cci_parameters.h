// SPDX-License-Identifier: Apache-2.0
// A platform's attributes as parameters of Accellera's CCI. Header only: kernbench itself does not need CCI. The user
// provides CCI (tried with its main branch after 1.0.2), links it, and registers a broker first.
//
//   cci::cci_register_broker(new cci_utils::consuming_broker("broker"));
//   cci::cci_get_global_broker(me).set_preset_cci_value("device.sip0.cube0.pe0.pe_gemm.freq_ghz", cci::cci_value(1.2));
//   kernbench::Platform device("device", kernbench::compile_file("system.yaml", kernbench::cci_presets("device", me)));
//   kernbench::CciParameters parameters(device, me);           // me: a cci::cci_originator
#pragma once

#include <cci_configuration>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "kernbench/platform/platform.h"
#include "kernbench/systemc_models/core/effective_attributes.h"
#include "kernbench/systemc_models/core/registry.h"

namespace kernbench {

/// The broker's unused presets below a platform's full name, as settings that override the topology file; blocks are
/// constructed with them. A preset that matches no attribute is an error of the topology.
inline std::vector<topology::Setting> cci_presets(const std::string& platform, const cci::cci_originator& originator) {
  std::vector<topology::Setting> settings;
  for (const auto& [name, value] : cci::cci_get_global_broker(originator).get_unconsumed_preset_values()) {
    if (name.compare(0, platform.size() + 1, platform + ".") == 0)
      settings.emplace_back(name.substr(platform.size() + 1), value.to_json());  // also valid YAML
  }
  return settings;
}

/// Each attribute of each node, given or default, as a cci_param of double, int64_t, bool or std::string under its
/// block's full name: "device.sip0.cube0.pe0.pe_gemm.freq_ghz"; a map of numbers is text. All are immutable, because
/// blocks read their parameters at construction; CCI refuses changes. A preset that did not reach the block (without
/// cci_presets()) is an SC_ERROR "/kernbench/attribute". Must not outlive the platform.
class CciParameters {
 public:
  CciParameters(Platform& platform, const cci::cci_originator& originator) {
    for (uint32_t n = 0; n < platform.graph().nodes.size(); ++n) {
      const topology::Node& node = platform.graph().nodes[n];
      const std::string block = platform.component(n).name();
      for (const auto& [spec, value] : effective_attributes(*component_registry().find(node.impl), node.attrs)) {
        std::visit(
            [&, spec = spec](const auto& v) {
              if constexpr (std::is_same_v<std::decay_t<decltype(v)>, NumberMap>) {
                add(block + "." + spec->name, text_of(v), *spec, originator);
              } else {
                add(block + "." + spec->name, v, *spec, originator);
              }
            },
            value);
      }
    }
  }
  CciParameters(const CciParameters&) = delete;
  CciParameters& operator=(const CciParameters&) = delete;

 private:
  template <class T>
  void add(const std::string& name, const T& value, const AttrSpec& spec, const cci::cci_originator& originator) {
    auto parameter = std::make_shared<cci::cci_param<T, cci::CCI_IMMUTABLE_PARAM>>(
        name, value, cci::cci_get_global_broker(originator), spec.help, cci::CCI_ABSOLUTE_NAME, originator);
    if (!spec.unit.empty()) parameter->add_metadata("unit", cci::cci_value(spec.unit));
    if (!(parameter->get_value() == value))
      SC_REPORT_ERROR("/kernbench/attribute",
                      (name + ": its preset is " + parameter->get_cci_value().to_json() + ", its block has " +
                       cci::cci_value(value).to_json() + ": give presets to the topology by cci_presets()")
                          .c_str());
    parameters_.push_back(std::move(parameter));
  }

  std::vector<std::shared_ptr<void>> parameters_;  // of several types
};

}  // namespace kernbench
