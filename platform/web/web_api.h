// SPDX-License-Identifier: Apache-2.0
// Requests of the page's scripts and the server's answers. All paths follow the token of PageServer:
//
//   GET  /                     the page; /page.css, /page.js
//   GET  /api/system           kernels, programs, models, energy tables, topologies of the folder and shipped ones
//   GET  /api/runs             every run of the folder: request, state, progress, end
//   POST /api/runs             starts a run or a sweep (run_request.h); {"name": …}
//   POST /api/runs/NAME/stop   ends it
//   GET  /api/diff?a=&b=       `kernbench diff --format json` of two runs
//   GET  /runs/NAME/FILE       report.html, run.json or stderr.txt
//   GET  /topologies/NAME.svg  `kernbench topology --format svg`
//
// An error is {"fault": "one line"} with status 400, 404 or 409.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kernbench/platform/web/children.h"
#include "kernbench/platform/web/page_server.h"
#include "kernbench/platform/web/run_folder.h"

namespace kernbench::web {

class WebApi {
 public:
  /// `more`: options for each command of kernbench that uses kernels or components: --plugin and its files.
  WebApi(PageServer&, RunFolder&, Children&, std::vector<std::string> more);

 private:
  using Handler = httplib::Server::Handler;

  void serve_page();
  void serve_runs();
  void serve_answers();
  /// A handler whose errors are answered as JSON.
  static Handler told(Handler);
  /// The output of kernbench. InputError with its first line if the exit status is not 0.
  std::string answer(std::vector<std::string> arguments, bool knows_kernels);
  std::vector<std::filesystem::path> shipped_topologies();
  std::vector<std::string> topologies();
  /// Tables shipped with kernbench.
  std::vector<std::string> energies();
  std::string system();
  std::string runs() const;
  std::string start(const std::string& body);
  std::string run_named(const httplib::Request&) const;

  PageServer& server_;
  RunFolder& folder_;
  Children& children_;
  const std::vector<std::string> more_;
};

}  // namespace kernbench::web
