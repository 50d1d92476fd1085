// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/core/links.h"

#include <algorithm>
#include <set>
#include <stdexcept>

namespace kernbench::core {

void LinkModes::add(LinkModeSpec spec) {
  if (NamedRegistry::add(spec.name, spec.help) == kNone) return;
  all_.push_back(std::make_unique<LinkModeSpec>(std::move(spec)));
  std::sort(all_.begin(), all_.end(),
            [](const auto& a, const auto& b) { return a->standard != b->standard ? a->standard : a->name < b->name; });
}

const LinkModeSpec* LinkModes::find(const std::string& name) const {
  const auto it = std::find_if(all_.begin(), all_.end(), [&](const auto& m) { return m->name == name; });
  return it == all_.end() ? nullptr : it->get();
}

const LinkModeSpec& LinkModes::standard() const {
  if (all_.empty() || !all_.front()->standard) throw std::logic_error("no standard link mode is registered");
  return *all_.front();
}

std::vector<std::string> LinkModes::names() const {
  std::vector<std::string> names;
  for (const auto& m : all_) names.push_back(m->name);
  return names;
}

std::string LinkModes::names_text(bool LinkModeSpec::*has) const {
  std::string text;
  for (const auto& m : all_) {
    if (!has || (*m).*has) text += (text.empty() ? "" : ", ") + m->name;
  }
  return text;
}

LinkModes& link_modes() {
  static LinkModes modes;
  return modes;
}

const char* Links::kept(const std::string& name) {
  static std::set<std::string> names;
  return names.insert(name).first->c_str();
}

const LinkModeSpec& Links::spec() const {
  if (const LinkModeSpec* found = link_modes().find(name())) return *found;
  throw std::invalid_argument("timing.links: found '" + name() + "'; legal: " + link_modes().names_text());
}

}  // namespace kernbench::core
