#include "kernbench/platform/launch/host_run.h"

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/platform/elaborate/simulation.h"
#include "kernbench/platform/launch/launch_host.h"

namespace kernbench {

HostOutcome simulate(LaunchHost& host, HostPlan plan) {
  HostMmu mmu(host);
  HostTransfer transfer(host);
  Launcher launcher(host);
  const auto require = [](const HostResponse& r) {
    if (!r.ok()) throw InputError("--transfer timed: " + r.text);
  };
  for (const MemoryWrite& m : plan.uploads) require(transfer.check(m));
  for (const MemoryRead& m : plan.downloads) require(transfer.check(m));

  HostOutcome outcome;
  const double begin_ns = host.timeline().now_ns();
  const auto complete = [&](double done_ns) {
    outcome.end_ns = done_ns;
    outcome.complete = true;
    host.machine().runs().pause_when_settled();
  };
  const auto failed = [&](const HostResponse& r) {
    if (r.ok()) return false;
    outcome.fault = r.text;
    sc_core::sc_pause();  // unlike sc_stop, says nothing on stdout
    return true;
  };
  const auto downloaded = [&](const HostResponse& r) {
    if (failed(r)) return;
    outcome.download_ns = r.done_ns - outcome.launch.response.done_ns;
    complete(r.done_ns);
  };
  const auto launched = [&](const LaunchResult& result) {
    outcome.launch = result;
    if (failed(result.response)) return;
    if (plan.downloads.empty()) {
      complete(result.response.done_ns);
    } else {
      transfer.read(plan.downloads, downloaded);
    }
  };
  const auto uploaded = [&](const HostResponse& r) {
    if (failed(r)) return;
    outcome.upload_ns = r.done_ns - begin_ns - outcome.map_ns;
    launcher.launch(plan.launch, plan.way, launched);
  };
  const auto upload = [&] {
    if (plan.uploads.empty()) {
      launcher.launch(plan.launch, plan.way, launched);
    } else {
      transfer.write(plan.uploads, uploaded);
    }
  };
  const auto mapped = [&](const HostResponse& r) {
    if (failed(r)) return;
    outcome.map_ns = r.done_ns - begin_ns;
    upload();
  };
  if (plan.maps.empty()) {
    upload();
  } else {
    mmu.map(plan.maps, plan.way, mapped);
  }
  const RunWatch::Call call(host.machine().runs());
  simulate();
  return outcome;
}

}  // namespace kernbench
