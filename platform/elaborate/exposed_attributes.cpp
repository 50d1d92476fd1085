// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/elaborate/exposed_attributes.h"

#include <fmt/format.h>

#include "kernbench/platform/elaborate/elaboration.h"
#include "kernbench/platform/topology/graph/graph.h"
#include "kernbench/systemc_models/core/component.h"
#include "kernbench/systemc_models/core/component_registry.h"
#include "kernbench/systemc_models/core/effective_attributes.h"

namespace kernbench::elaborate {

class ExposedAttributes::Exposed {
 public:
  virtual ~Exposed() = default;
  /// "found 2, the block has 1.2", or empty.
  virtual std::string change() const = 0;
  virtual const sc_core::sc_object& block() const = 0;
  virtual const std::string& name() const = 0;
};

template <class T>
class ExposedAttributes::ExposedAs : public Exposed {
 public:
  ExposedAs(sc_core::sc_object& block, const std::string& name, T value)
      : block_(block), attribute_(name, value), value_(std::move(value)) {
    block_.add_attribute(attribute_);
  }
  ~ExposedAs() override { block_.remove_attribute(attribute_.name()); }
  std::string change() const override {
    if (attribute_.value == value_) return "";
    return fmt::format("found {}, its block has {}", attribute_.value, value_);
  }
  const sc_core::sc_object& block() const override { return block_; }
  const std::string& name() const override { return attribute_.name(); }

 private:
  sc_core::sc_object& block_;
  sc_core::sc_attribute<T> attribute_;
  const T value_;
};

ExposedAttributes::ExposedAttributes(const topology::Graph& graph, const Elaboration& blocks) {
  for (uint32_t n = 0; n < graph.nodes.size(); ++n) {
    const topology::Node& node = graph.nodes[n];
    for (const auto& [spec, value] : effective_attributes(*component_registry().find(node.impl), node.attrs)) {
      std::visit(
          [&, name = spec->name](const auto& v) {
            using T = std::decay_t<decltype(v)>;
            sc_core::sc_object& block = blocks.component(n);
            if constexpr (std::is_same_v<T, NumberMap>) {
              attributes_.push_back(std::make_unique<ExposedAs<std::string>>(block, name, text_of(v)));
            } else {
              attributes_.push_back(std::make_unique<ExposedAs<T>>(block, name, v));
            }
          },
          value);
    }
  }
}

ExposedAttributes::~ExposedAttributes() = default;

void ExposedAttributes::check(sc_core::sc_severity severity) const {
  for (const auto& attribute : attributes_) {
    const std::string change = attribute->change();
    if (change.empty()) continue;
    sc_core::sc_report_handler::report(
        severity, "/kernbench/attribute",
        fmt::format("{}.{}: {}: a block takes its parameters when it is made; set them over the file's by "
                    "compile_file(file, {{{{TARGET, VALUE}}}}) or --set",
                    attribute->block().name(), attribute->name(), change)
            .c_str(),
        __FILE__, __LINE__);
  }
}

}  // namespace kernbench::elaborate
