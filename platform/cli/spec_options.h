// SPDX-License-Identifier: Apache-2.0
// Command-line options from the table of a run's options (platform/run/spec/run_spec.h).
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

#include "kernbench/platform/run/spec/run_spec.h"

namespace kernbench::cli {

/// The table's properties of an option, except for the destination of its value.
CLI::Option* described(CLI::Option*, const spec::Option&);

/// An option of the table for a command that shares it with `run`; `names` if they differ from --name.
template <class T>
CLI::Option* add_option(CLI::App& app, std::string_view name, T& value, const std::string& names = "") {
  const spec::Option& o = spec::option(name);
  return described(app.add_option(names.empty() ? "--" + std::string(name) : names, value, std::string(o.help)), o);
}

/// All options of the spec's table. The values must outlive the parser.
void add_options(CLI::App&, spec::RunSpec& values);

}  // namespace kernbench::cli
