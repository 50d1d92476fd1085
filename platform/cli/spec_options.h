// SPDX-License-Identifier: Apache-2.0
// Options of the command line from the table of a run's options (platform/run/spec/run_spec.h).
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

#include "kernbench/platform/run/spec/run_spec.h"

namespace kernbench::cli {

/// What the table says of an option, beside where its value goes.
CLI::Option* described(CLI::Option*, const spec::Option&);

/// An option of the table for a command that shares it with `run`; `names` where it has others than --name.
template <class T>
CLI::Option* add_option(CLI::App& app, std::string_view name, T& value, const std::string& names = "") {
  const spec::Option& o = spec::option(name);
  return described(app.add_option(names.empty() ? "--" + std::string(name) : names, value, std::string(o.help)), o);
}

/// All of their table. The values must outlive the parser.
void add_options(CLI::App&, spec::RunSpec& values);

}  // namespace kernbench::cli
