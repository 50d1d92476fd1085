// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <vector>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/tool/log_options.h"
#include "kernbench/platform/cli/commands.h"

namespace kernbench::cli {
namespace {

/// A separate program in the same folder (platform/web/web_main.cpp), which replaces this process. Returns only on an
/// error.
int become_page_server(const std::vector<std::string>& arguments) {
  std::string program = (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "kernbench-web").string();
  std::vector<char*> argv = {program.data()};
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  execv(program.c_str(), argv.data());
  throw RunError(program + ": " + std::strerror(errno) +
                 "; it is built only if cpp-httplib is found (docs/dependencies.md)");
}

}  // namespace

Command add_web(CLI::App& app) {
  CLI::App* cmd = app.add_subcommand(
      "web",
      "Serve a local page: topologies and runs of a folder, a form for new runs, reports, comparison of two runs");
  cmd->set_help_flag();
  cmd->footer("It is a separate program; its options: kernbench web --help. docs/web.md");
  cmd->prefix_command();
  return {cmd, [&app, cmd] {
            std::vector<std::string> words = log_words(app);
            const std::vector<std::string> own = cmd->remaining();
            words.insert(words.end(), own.begin(), own.end());
            return become_page_server(words);
          }};
}

}  // namespace kernbench::cli
