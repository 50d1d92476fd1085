// SPDX-License-Identifier: Apache-2.0
#include "system_support.h"

#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "kernbench/systemc_models/core/registry.h"

namespace kernbench::testing {

std::string topology_path(const std::string& file) {
  return std::string(KERNBENCH_TOPOLOGIES) + "/" + file;
}

std::string sample_path(const std::string& sample, const std::string& file) {
  return std::string(KERNBENCH_TEST_DATA) + "/samples/" + sample + "/" + file;
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error(path + ": cannot be opened");
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::unique_ptr<Platform> platform_from_text(const std::string& yaml, const topology::Overrides& overrides) {
  return std::make_unique<Platform>("system",
                                    topology::compile_text(yaml, "test.yaml", component_catalog(), overrides));
}

std::unique_ptr<Platform> platform_from_file(const std::string& path, const topology::Overrides& overrides) {
  return std::make_unique<Platform>("system", topology::compile_file(path, component_catalog(), overrides));
}

TrafficRequest request(Platform& platform, double issue_ns, const std::string& initiator, const std::string& op,
                       uint64_t address, uint64_t nbytes) {
  TrafficRequest r;
  r.issue_ns = issue_ns;
  r.initiator = platform.graph().index_of.at(initiator);
  r.write = op == "write";
  r.address = address;
  r.nbytes = nbytes;
  return r;
}

std::string in_child(const std::function<std::string()>& body) {
  int fds[2];
  if (pipe(fds) != 0) throw std::runtime_error("no pipe");
  const pid_t pid = fork();
  if (pid < 0) throw std::runtime_error("cannot fork");
  if (pid == 0) {
    close(fds[0]);
    std::string text;
    try {
      text = body();
    } catch (const std::exception& e) {
      text = std::string("exception: ") + e.what();
    }
    size_t sent = 0;
    while (sent < text.size()) {
      const ssize_t n = write(fds[1], text.data() + sent, text.size() - sent);
      if (n <= 0) break;
      sent += static_cast<size_t>(n);
    }
    _exit(0);
  }
  close(fds[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = read(fds[0], buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<size_t>(n));
  close(fds[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    text += "[the child ended with status " + std::to_string(status) + "]";
  return text;
}

}  // namespace kernbench::testing
