// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/study/sweep/point_key.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernbench/phase2/io/input_file.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/run/spec/run_document.h"
#include "kernbench/platform/run/spec/sha256.h"
#include "kernbench/platform/study/sweep/point_options.h"

namespace kernbench::sweep {
namespace {

using spec::Option;

spec::RunSpec run_of(const Words& words) {
  if (words.empty() || !spec::is_run(words[0]))
    throw InputError("--store: keeps runs and models; found " + in_quotes(words.empty() ? "" : words[0]));
  spec::RunSpec run = spec::RunSpec::of_words(words, "--store");
  for (const Option& o : run.table().options) {
    if (run.given(o.name) && !o.is_of_points())
      throw InputError(fmt::format("--store: found '--{}' in the command; legal: --{}", o.name,
                                   joined(point_option_names(run.table()), ", --")));
  }
  return run;
}

}  // namespace

const std::string& PointKeys::hash_of_file(const std::string& name) {
  const auto it = files_.find(name);
  return it != files_.end() ? it->second : files_.emplace(name, spec::checksum_of_file(name)).first->second;
}

const std::string& PointKeys::hash_of_topology(const std::string& name) {
  const auto it = topologies_.find(name);
  if (it != topologies_.end()) return it->second;
  std::string hash = hash_of_file(name);
  std::ifstream in = open_input(name);
  if (const std::string table = spec::energy_table_of(read_all(in, name), name); !table.empty())
    hash += hash_of_file(table);
  return topologies_.emplace(name, std::move(hash)).first->second;
}

std::string PointKeys::key(const Words& words) {
  const spec::RunSpec run = run_of(words);
  spec::Sha256 hash;
  // Each part is preceded by its length, so that different lists have different bytes.
  const auto add = [&](std::string_view part) { hash.add(fmt::format("{}:", part.size())).add(part); };
  add(version_);
  for (const Option* o : run.table().deciding()) {
    Words parts = run.list(o->name);
    // An option with its default value gives the same key as an absent one. For repeated options the run reports
    // errors.
    if (parts.empty() && !o->initial.empty()) parts = {std::string(o->initial)};
    for (std::string& v : parts) {
      const size_t name_end = o->has_names() && !v.empty() ? std::min(v.find('='), v.size() - 1) + 1 : 0;
      const std::string value = v.substr(name_end);
      if (o->file == Option::File::topology) v = hash_of_topology(find_file_(std::string(o->name), value));
      if (o->file == Option::File::energy) v = hash_of_file(find_file_(std::string(o->name), value));
      const bool made = !run.text_or_none("ttir").empty() && spec::is_made_tensor(value);
      if (o->file == Option::File::input && !made) v = v.substr(0, name_end) + hash_of_file(value);
    }
    // Values of one name keep their order.
    if (o->often == Option::Often::named) {
      const auto name = [](const std::string& v) { return std::string_view(v).substr(0, v.find('=')); };
      std::stable_sort(parts.begin(), parts.end(), [&](const auto& a, const auto& b) { return name(a) < name(b); });
    }
    add(o->name);
    add(std::to_string(parts.size()));
    for (const std::string& v : parts) add(v);
  }
  return hash.hex();
}

}  // namespace kernbench::sweep
