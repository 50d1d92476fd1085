// SPDX-License-Identifier: Apache-2.0
// The library's run() for a test in Python. It reads command lines, each a JSON list of words, and writes a line of
// JSON for each: the record, or the error. It has no sc_main.
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/entry/run.h"

namespace {

nlohmann::json answer(const std::vector<std::string>& words) {
  try {
    const auto spec = kernbench::spec::RunSpec::of_words(words);
    const kernbench::RunRecord r = kernbench::run(spec);
    return nlohmann::json::parse(json_of(r, spec.text("format") == "json"));
  } catch (const kernbench::InputError& e) {
    return {{"status", 2}, {"faults", e.faults()}};
  } catch (const kernbench::RunError& e) {
    return {{"status", 1}, {"faults", e.lines()}};
  }
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);)
    std::cout << answer(nlohmann::json::parse(line).get<std::vector<std::string>>()).dump() << std::endl;
  return 0;
}
