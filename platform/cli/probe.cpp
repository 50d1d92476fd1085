#include <algorithm>
#include <iostream>
#include <memory>

#include "kernbench/platform/cli/commands.h"
#include "kernbench/platform/errors.h"
#include "kernbench/platform/platform.h"
#include "kernbench/platform/probe.h"

namespace kernbench::cli {

Command add_probe(CLI::App& app) {
  struct Options {
    TopologyOptions topology;
    uint64_t bytes = 32768;
    std::vector<std::string> cases;
    std::string format;
  };
  auto o = std::make_shared<Options>();
  CLI::App* cmd = app.add_subcommand("probe", "Send one transaction at a time and show where its time goes");
  o->topology.add_to(*cmd);
  cmd->add_option("--bytes", o->bytes, "size of each transaction")->capture_default_str();
  cmd->add_option("--case", o->cases, "only these (repeatable)")->type_name("NAME");
  add_format(*cmd, o->format, {"text", "json", "csv"});
  return {cmd, [o] {
            if (o->bytes == 0) throw InputError("--bytes: found 0, expected at least 1");
            Platform platform("system", o->topology.compile());
            std::vector<ProbeCase> cases = probe_cases(platform);
            if (!o->cases.empty()) {
              std::string legal;
              for (const ProbeCase& c : cases) legal += (legal.empty() ? "" : ", ") + c.name;
              std::vector<ProbeCase> chosen;
              for (const std::string& name : o->cases) {
                const auto it = std::find_if(cases.begin(), cases.end(), [&](const ProbeCase& c) { return c.name == name; });
                if (it == cases.end()) throw InputError("--case: found '" + name + "', this topology has " + legal);
                chosen.push_back(*it);
              }
              cases = chosen;
            }
            if (cases.empty()) throw InputError(o->topology.file + ": has no PE and no PCIe endpoint to probe from");
            const auto results = run_probe(platform, cases, o->bytes);
            if (o->format == "json") {
              write_probe_json(std::cout, results);
            } else if (o->format == "csv") {
              write_probe_csv(std::cout, results);
            } else {
              write_probe_text(std::cout, results);
            }
            return 0;
          }};
}

}  // namespace kernbench::cli
