// Which laws of links there are, by the names that `timing.links` and `--links` have. A law says so itself, by one
// KERNBENCH_REGISTER_LINK_MODE in its .cpp (fabric/link_mode.h). Plain C++: no SystemC here.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernbench/systemc_models/core/named_registry.h"

namespace kernbench {

class Fabric;
class LinkMode;

/// What is known of a law without making one.
struct LinkModeSpec {
  std::string name;
  std::string help;
  bool standard = false;     ///< meant where timing.links says nothing
  bool routed = false;       ///< responses always travel: `response: ideal` beside it is an error
  bool cuts_data = false;    ///< at multiples of timing.flit_bytes, so a memory's blocks must be multiples of them too
  bool has_buffers = false;  ///< nodes' buffer_flits count
  std::unique_ptr<LinkMode> (*make)(Fabric&) = nullptr;
};

class LinkModes : public NamedRegistry {
 public:
  LinkModes() : NamedRegistry("link mode") {}
  void add(LinkModeSpec);
  const LinkModeSpec* find(const std::string& name) const;
  const LinkModeSpec& standard() const;
  const std::vector<std::unique_ptr<LinkModeSpec>>& all() const { return all_; }  ///< the standard first, then by name
  std::vector<std::string> names() const;
  /// "ideal, cut_through": of those that `has` is true of; nullptr: of all.
  std::string names_text(bool LinkModeSpec::*has = nullptr) const;

 private:
  std::vector<std::unique_ptr<LinkModeSpec>> all_;
};

/// The one list of the process.
LinkModes& link_modes();

/// A law of links by its name.
class Links {
 public:
  constexpr Links() = default;  ///< the standard one
  constexpr Links(const char* name) : name_(name) {}
  Links(const std::string& name) : name_(kept(name)) {}
  std::string name() const { return name_ ? name_ : link_modes().standard().name; }
  /// std::invalid_argument where there is none of that name; one line.
  const LinkModeSpec& spec() const;
  bool operator==(const Links& o) const { return name() == o.name(); }
  bool operator!=(const Links& o) const { return !(*this == o); }

  static const Links ideal, cut_through, flit;  // for those who write C++; files that define them: fabric/

 private:
  static const char* kept(const std::string& name);
  const char* name_ = nullptr;  ///< of a literal, or kept for ever
};
inline constexpr Links Links::ideal("ideal");
inline constexpr Links Links::cut_through("cut_through");
inline constexpr Links Links::flit("flit");
inline std::string name_of(const Links& l) {
  return l.name();
}

/// What becomes of a transaction that its memory has served (timing contract §2).
enum class Response : uint8_t { ideal, routed };
inline const char* name_of(Response r) {
  return r == Response::ideal ? "ideal" : "routed";
}

}  // namespace kernbench
