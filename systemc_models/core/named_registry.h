// SPDX-License-Identifier: Apache-2.0
// Classes by a name in YAML. Each is registered with one line in the .cpp that defines it, in the library, an
// executable or a plug-in:
//
//   KERNBENCH_REGISTER_NAMED(DramScheduler, FrFcfs, "fr_fcfs", "requests of the open row first, then by age")
//
// The interface declares its registry: static NamedClasses<DramScheduler>& registry(). Legal values, help and error
// texts derive from the registered classes (AttrSpec::registry). Plain C++, no SystemC.
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernbench/phase2/rooms.h"

namespace kernbench::core {

/// Names and their help texts, in order of registration.
class NamedRegistry {
 public:
  struct Name {
    std::string name, help;
  };
  /// `what`: the kind of the classes for messages, such as "DRAM scheduler". Must live as long as the process.
  explicit NamedRegistry(std::string what);
  NamedRegistry(const NamedRegistry&) = delete;
  NamedRegistry& operator=(const NamedRegistry&) = delete;

  const std::string& what() const { return what_; }
  const std::vector<Name>& all() const { return all_; }
  std::vector<std::string> names() const;
  /// Names that were registered more than once; the first owner keeps the name.
  const std::vector<std::string>& conflicts() const { return conflicts_; }
  /// All registries of the process.
  static const std::vector<const NamedRegistry*>& registries();

 protected:
  static constexpr size_t kNone = ~size_t{0};
  /// Its number; kNone if the name is taken.
  size_t add(std::string name, std::string help);
  /// kNone if there is none.
  size_t find(const std::string& name) const;

 private:
  const std::string what_;
  std::vector<Name> all_;
  std::vector<std::string> conflicts_;
};

/// Makes classes derived from Interface by name.
template <class Interface, class... Arguments>
class NamedClasses : public NamedRegistry {
 public:
  using NamedRegistry::NamedRegistry;
  template <class Class>
  bool add(std::string name, std::string help) {
    if (NamedRegistry::add(std::move(name), std::move(help)) == kNone) return false;
    make_.push_back([](const Arguments&... arguments) -> std::unique_ptr<Interface> {
      return std::make_unique<Class>(arguments...);
    });
    return true;
  }
  bool has(const std::string& name) const { return find(name) != kNone; }
  /// std::invalid_argument, with one line that lists the legal names, for an unknown name.
  std::unique_ptr<Interface> make(const std::string& name, const Arguments&... arguments) const {
    const size_t n = find(name);
    if (n == kNone) throw std::invalid_argument(unknown(name));
    return make_[n](arguments...);
  }

 private:
  std::string unknown(const std::string& name) const {
    std::string legal;
    for (const Name& n : all()) legal += (legal.empty() ? "" : ", ") + n.name;
    return "found " + what() + " '" + name + "', expected " + legal;
  }

  std::vector<std::function<std::unique_ptr<Interface>(const Arguments&...)>> make_;
};

}  // namespace kernbench::core

#define KERNBENCH_REGISTER_NAMED(Interface, Class, name, help)                  \
  namespace {                                                                   \
  const bool registered_##Class = Interface::registry().add<Class>(name, help); \
  }
