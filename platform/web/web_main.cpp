// SPDX-License-Identifier: Apache-2.0
// kernbench-web: replaces the process of `kernbench web`. A separate program, because loading OpenSSL for cpp-httplib
// would make every start of kernbench a quarter longer.
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <system_error>
#include <thread>

#include "kernbench/phase2/io/logging.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/tool/faults.h"
#include "kernbench/phase2/tool/log_options.h"
#include "kernbench/phase2/tool/standard_output.h"
#include "kernbench/phase2/tool/usage.h"
#include "kernbench/phase2/tool/whole_number.h"
#include "kernbench/platform/web/web_api.h"

namespace {

using namespace kernbench;

struct Options {
  std::string folder = ".";
  std::vector<std::string> plugins;
  int port = 0;
  unsigned jobs = 1;
};

/// It is in the same folder.
std::string kernbench_program() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "kernbench").string();
}

std::thread started(const std::function<void()>& work) {
  try {
    return std::thread(work);
  } catch (const std::system_error& e) {
    throw RunError("web: no thread can be started: " + e.code().message());
  }
}

int serve(const Options& o) {
  web::RunFolder folder(o.folder);
  std::vector<std::string> more;
  for (const std::string& file : o.plugins) more.push_back("--plugin=" + std::filesystem::absolute(file).string());
  setenv("KERNBENCH_PROGRESS", "lines", 1);
  web::Children children(kernbench_program(), folder.path(), o.jobs);
  web::PageServer server;
  server.bind(o.port);
  const web::WebApi api(server, folder, children, more);
  std::thread http = started([&] { server.serve(); });
  logging::info(logging::Room::web, [&] { return "serves " + folder.path() + " with " + kernbench_program(); });
  std::cout << server.address() << "/" << std::endl;
  cli::tell("kernbench web: the page of " + folder.path() + "; Ctrl-C ends it");
  const int signal = children.work();
  server.end();
  http.join();
  return 128 + signal;
}

int command_line(int argc, char** argv) {
  Options o;
  CLI::App app{
      "Serve a local page: topologies and runs of a folder, a form for new runs, reports, comparison of two runs",
      "kernbench web"};
  app.add_option("folder", o.folder, "folder with topologies, where runs are kept as NAME.run")
      ->type_name("FOLDER")
      ->capture_default_str();
  cli::whole_number(app.add_option("--port", o.port, "port on 127.0.0.1; 0: any free port"), 0, 65535)
      ->capture_default_str();
  cli::whole_number(app.add_option("--jobs", o.jobs, "parallel runs"), 1, 1024)->capture_default_str();
  CLI::Option* plugin = app.add_option("--plugin", o.plugins, "shared object with kernels or components (repeatable)");
  cli::reads_file(plugin->allow_extra_args(false)->type_name("LIB.so"));
  cli::LogOptions log;
  log.add_to(app);
  app.footer("The printed address contains a token. Anyone with the token can start runs. docs/web.md");
  if (const auto status = cli::parse(app, argc, argv)) return *status;
  CommandFiles files;
  cli::add_files(files, app);
  log.begin();
  const int status = cli::close_stdout(serve(o));
  logging::check_file();
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  return cli::run_command("kernbench", [&] { return command_line(argc, argv); });
}
