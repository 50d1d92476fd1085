// SPDX-License-Identifier: Apache-2.0
// The link modes, by the names in `timing.links` and `--links`. Each mode registers itself by one
// KERNBENCH_REGISTER_LINK_MODE in its .cpp (fabric/link_mode.h). Plain C++, no SystemC.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernbench/systemc_models/core/named_registry.h"

namespace kernbench::fabric {
class Fabric;
class LinkMode;
}  // namespace kernbench::fabric

namespace kernbench::core {

/// Facts about a mode, available without an instance.
struct LinkModeSpec {
  std::string name;
  std::string help;
  bool standard = false;     ///< default of timing.links
  bool routed = false;       ///< responses always travel; `response: ideal` is then an error
  bool cuts_data = false;    ///< at multiples of timing.flit_bytes, so blocks of a memory must be multiples of them
  bool has_buffers = false;  ///< the attribute buffer_flits takes effect
  std::unique_ptr<LinkMode> (*make)(Fabric&) = nullptr;
};

class LinkModes : public NamedRegistry {
 public:
  LinkModes() : NamedRegistry("link mode") {}
  void add(LinkModeSpec);
  const LinkModeSpec* find(const std::string& name) const;
  const LinkModeSpec& standard() const;
  const std::vector<std::unique_ptr<LinkModeSpec>>& all() const { return all_; }  ///< the default first, then by name
  std::vector<std::string> names() const;
  /// "ideal, cut_through": names of modes for which `has` is true; nullptr: of all.
  std::string names_text(bool LinkModeSpec::*has = nullptr) const;

 private:
  std::vector<std::unique_ptr<LinkModeSpec>> all_;
};

/// The list of the process.
LinkModes& link_modes();

/// A link mode by its name.
class Links {
 public:
  constexpr Links() = default;  ///< the default
  constexpr Links(const char* name) : name_(name) {}
  Links(const std::string& name) : name_(kept(name)) {}
  std::string name() const { return name_ ? name_ : link_modes().standard().name; }
  /// std::invalid_argument with one line if there is none of that name.
  const LinkModeSpec& spec() const;
  bool operator==(const Links& o) const { return name() == o.name(); }
  bool operator!=(const Links& o) const { return !(*this == o); }

  static const Links ideal, cut_through, flit;  // for C++ users; defined in fabric/

 private:
  static const char* kept(const std::string& name);
  const char* name_ = nullptr;  ///< of a literal, or never freed
};
inline constexpr Links Links::ideal("ideal");
inline constexpr Links Links::cut_through("cut_through");
inline constexpr Links Links::flit("flit");
inline std::string name_of(const Links& l) {
  return l.name();
}

/// The response of a transaction that its memory has served (timing rules §2).
enum class Response : uint8_t { ideal, routed };
inline const char* name_of(Response r) {
  return r == Response::ideal ? "ideal" : "routed";
}

}  // namespace kernbench::core
