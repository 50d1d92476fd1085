// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/run/collective_trials.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>

#include "kernbench/phase2/io/whole_file.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/platform/run/child/child_pool.h"
#include "kernbench/platform/run/run.h"
#include "kernbench/platform/run/spec/run_document.h"
#include "kernbench/platform/run/spec/sha256.h"

namespace kernbench {
namespace {

constexpr double kFails = std::numeric_limits<double>::infinity();

/// Both directions send lines, the last one empty. A request: kernel, PEs, algorithms, NAME=VALUE of each parameter.
std::string question_of(const CollectiveTrial& t, const std::string& pes) {
  std::string text = t.kernel + '\n' + pes + '\n' + joined(t.algorithms, " ") + '\n';
  for (const auto& [name, value] : t.params) text += name + '=' + value + '\n';
  return text + '\n';
}

/// Parses a line of that many numbers; empty on an error.
std::vector<double> times_of(const std::string& line, size_t count) {
  std::vector<double> times;
  for (const std::string& w : parts_between(' ', line)) {
    size_t end = 0;
    try {
      times.push_back(std::stod(w, &end));
    } catch (const std::exception&) {
      return {};
    }
    if (end != w.size()) return {};
  }
  return times.size() == count ? times : std::vector<double>();
}

std::string text_of(const std::vector<double>& times) {
  std::string text;
  for (const double t : times) {
    if (!text.empty()) text += ' ';
    append_shortest(text, t);
  }
  return text;
}

bool send_all(int to, const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const ssize_t n = send(to, text.data() + at, text.size() - at, MSG_NOSIGNAL);
    if (n <= 0) return false;
    at += static_cast<size_t>(n);
  }
  return true;
}

/// Reads up to an empty line, without it; empty if the other end is closed.
std::string received(int from) {
  std::string text;
  const auto ended = [&] { return text.size() >= 2 && text.compare(text.size() - 2, 2, "\n\n") == 0; };
  while (!ended()) {
    char c = 0;
    if (read(from, &c, 1) != 1) return {};
    text += c;
  }
  return text.substr(0, text.size() - 1);
}

int answer(Platform& platform, int socket) {
  for (std::string text = received(socket); !text.empty(); text = received(socket)) {
    const std::vector<std::string> lines = parts_between('\n', text);
    CollectiveTrial t{lines.at(0), {}, parts_between(' ', lines.at(2))};
    for (size_t i = 3; i + 1 < lines.size(); ++i) {
      const size_t sign = lines[i].find('=');
      t.params.emplace_back(lines[i].substr(0, sign), lines[i].substr(sign + 1));
    }
    std::string said;
    try {
      said = text_of(simulate_collectives(platform, t, lines.at(1)));
    } catch (const std::exception& e) {
      said = e.what();
    }
    if (!send_all(socket, said + "\n\n")) return 1;
  }
  return 0;
}

}  // namespace

std::vector<double> simulate_collectives(Platform& platform, const CollectiveTrial& t, const std::string& pes) {
  const auto work = [&](size_t i) -> std::string {
    RunOptions r;
    r.kernel = t.kernel;
    r.params = t.params;
    r.params.emplace_back("algorithm", t.algorithms[i]);
    r.pes = pes;
    r.launch = LaunchMode::direct;
    try {
      const RunReport report = run_kernel(platform, std::move(r));
      double end_ns = 0;
      for (const RunReport::PeTimes& pe : report.pes) end_ns = std::max(end_ns, pe.end_ns);
      return fmt::format("{}", end_ns);
    } catch (const RunError&) {  // an algorithm that needs too much TCM is not the best
      return fmt::format("{}", kFails);
    }
  };
  std::vector<double> times(t.algorithms.size());
  run_forked(t.algorithms.size(), processes(0), work,
             [&](size_t i, const std::string& text) { times[i] = times_of(text, 1).at(0); });
  return times;
}

CollectiveTrials::CollectiveTrials(Platform& platform, std::string machine, std::string folder)
    : platform_(platform),
      machine_(std::move(machine)),
      folder_(std::move(folder)),
      pool_(std::make_unique<ChildPool>()) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) throw RunError("algorithm=best: no socket to simulate by");
  socket_ = ends[0];
  pool_->start(0, [&platform, ends] {
    close(ends[0]);
    return answer(platform, ends[1]);
  });
  close(ends[1]);
  machine_of(platform_).set_trials([this](const CollectiveTrial& t, const std::vector<size_t>& pes) {
    std::vector<std::string> ids;
    for (const size_t p : pes) ids.push_back(machine_of(platform_).graph().pes[p].id);
    return times_ns(t, joined(ids, ","));
  });
}

CollectiveTrials::~CollectiveTrials() {
  machine_of(platform_).set_trials({});
  close(socket_);
}

/// Reads the result of exactly this request from its file; otherwise simulates and stores it. A damaged or unwritable
/// file only costs time.
std::vector<double> CollectiveTrials::times_ns(const CollectiveTrial& t, const std::string& pes) {
  const std::string question = question_of(t, pes);
  if (folder_.empty()) return simulated_ns(question, t.algorithms.size());
  const std::string key = spec::sha256(machine_ + '\n' + question), file = folder_ + "/collective-" + key + ".txt";
  std::string line, checksum;
  std::ifstream kept(file);
  if (std::getline(kept, line) && std::getline(kept, checksum) && checksum == spec::sha256(key + line)) {
    if (const std::vector<double> times = times_of(line, t.algorithms.size()); !times.empty()) return times;
  }
  const std::vector<double> times = simulated_ns(question, t.algorithms.size());
  const std::string answer = text_of(times);
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  try {
    WholeFile out(file);
    out.write(answer + '\n' + spec::sha256(key + answer) + '\n');
    out.keep();
  } catch (const std::runtime_error&) {  // it will be simulated again
  }
  return times;
}

std::vector<double> CollectiveTrials::simulated_ns(const std::string& question, size_t algorithms) {
  const std::string said = send_all(socket_, question) ? received(socket_) : "";
  const std::vector<double> times = times_of(said.substr(0, said.find('\n')), algorithms);
  if (times.empty())
    throw RunError("algorithm=best: its simulations failed" +
                   (said.empty() ? "" : ": " + said.substr(0, said.find('\n'))));
  return times;
}

std::string machine_of(const spec::RunDocument& d) {
  std::string text = d.version + '\n' + d.topology_text;
  for (const char* option : {"links", "response", "set", "scale", "plugin"}) {
    for (const std::string& value : d.options.list(option)) {
      const auto file = d.files.find(value);
      text += std::string("\n") + option + ' ' + value + (file == d.files.end() ? "" : ' ' + file->second);
    }
  }
  return text;
}

}  // namespace kernbench
