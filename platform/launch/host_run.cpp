// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/launch/host_run.h"

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/platform/elaborate/run_watch.h"
#include "kernbench/platform/elaborate/simulation.h"
#include "kernbench/platform/launch/launch_host.h"

namespace kernbench::launch {

HostRun::HostRun(LaunchHost& host, HostPlan plan)
    : host_(host), plan_(std::move(plan)), mmu_(host), transfer_(host), launcher_(host) {}

const HostOutcome& HostRun::run() {
  const auto require = [](const HostResponse& r) {
    if (!r.ok()) throw InputError("--transfer timed: " + r.text);
  };
  for (const MemoryWrite& m : plan_.uploads) require(transfer_.check(m));
  for (const MemoryRead& m : plan_.downloads) require(transfer_.check(m));

  begin_ns_ = host_.timeline().now_ns();
  if (plan_.maps.empty()) {
    upload();
  } else {
    mmu_.map(plan_.maps, plan_.way, [this](const HostResponse& r) {
      if (failed(r)) return;
      outcome_.map_ns = r.done_ns - begin_ns_;
      upload();
    });
  }
  const RunWatch::Call call(host_.machine().runs());
  simulate();
  return outcome_;
}

void HostRun::upload() {
  if (plan_.uploads.empty()) return launch();
  transfer_.write(plan_.uploads, [this](const HostResponse& r) {
    if (failed(r)) return;
    outcome_.upload_ns = r.done_ns - begin_ns_ - outcome_.map_ns;
    launch();
  });
}

void HostRun::launch() {
  launcher_.launch(plan_.launch, plan_.way, [this](const LaunchResult& result) { launched(result); });
}

void HostRun::launched(const LaunchResult& result) {
  outcome_.launch = result;
  if (failed(result.response)) return;
  const double done_ns = result.response.done_ns;
  if (plan_.downloads.empty()) return complete(done_ns);
  transfer_.read(plan_.downloads, [this, done_ns](const HostResponse& r) {
    if (failed(r)) return;
    outcome_.download_ns = r.done_ns - done_ns;
    complete(r.done_ns);
  });
}

void HostRun::complete(double done_ns) {
  outcome_.end_ns = done_ns;
  outcome_.complete = true;
  host_.machine().runs().pause_when_settled();
}

bool HostRun::failed(const HostResponse& r) {
  if (r.ok()) return false;
  outcome_.fault = r.text;
  sc_core::sc_pause();  // unlike sc_stop, it prints nothing
  return true;
}

}  // namespace kernbench::launch
