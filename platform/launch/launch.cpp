// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/launch/launch.h"

#include <fmt/format.h>

#include <numeric>

#include "kernbench/phase2/io/logging.h"
#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/platform/launch/launch_host.h"
#include "kernbench/systemc_models/memory/system.h"
#include "kernbench/systemc_models/pe/kernel_reductions.h"
#include "kernbench/systemc_models/pe/pe_control.h"

namespace kernbench::launch {
namespace {

const std::string& text_of(const LaunchId& id) {
  return id.what.empty() ? id.kernel : id.what;
}

}  // namespace

uint64_t Launcher::launch(KernelLaunch message, const LaunchWay& way, Done done) {
  std::vector<uint32_t> all(message.pes.size());
  std::iota(all.begin(), all.end(), 0u);
  return launch(std::move(message), way, {all},
                [done = std::move(done)](size_t, const LaunchResult& result) { done(result); });
}

uint64_t Launcher::launch(KernelLaunch message, const LaunchWay& way, const std::vector<std::vector<uint32_t>>& parts,
                          PartDone done) {
  const auto result = std::make_shared<LaunchResult>();
  result->outcomes.resize(message.pes.size());
  result->start_ns = host_.timeline().now_ns() + way.latest_ns;
  auto body = std::make_shared<LaunchBody>();
  body->id = std::move(message.id);
  body->start_ns = result->start_ns;
  body->kernel = std::move(message.kernel);
  body->ports = std::move(message.ports);
  body->number = host_.machine().system().next_launch();
  std::vector<const Pe*> pes;
  for (const size_t p : message.pes) pes.push_back(&host_.machine().pes().pe(p));
  body->reductions = std::make_shared<KernelReductions>(host_.machine().system(), std::move(pes));
  body->ended = [result](size_t place, const KernelOutcome& outcome) { result->outcomes[place] = outcome; };
  for (HostObserver* o : host_.machine().host_observers())
    o->launch_sent(result.get(), body->id, message.pes, way, host_.timeline().now_ns());
  logging::debug(logging::Room::launch,
                 [&] { return fmt::format("{} is sent to {} PEs", text_of(body->id), message.pes.size()); });
  const auto open = std::make_shared<size_t>(parts.size());
  MessageIds ids = message.ids;
  for (const std::vector<uint32_t>& part : parts)
    host_.machine().system().expect_kernels(static_cast<int64_t>(part.size()));
  for (size_t part = 0; part < parts.size(); ++part) {
    const auto ended = [&host = host_, result, body, open, part, places = parts[part],
                        done](const HostResponse& response) {
      result->response = response;
      const std::string lost = host.machine().system().deliver();
      if (!lost.empty() && result->response.ok()) {
        result->response.code = HostError::kernel_fault;
        result->response.text = lost;
      }
      for (HostObserver* o : host.machine().host_observers())
        o->launch_returned(result.get(), places, host.timeline().now_ns());
      if (--*open == 0) {
        logging::debug(logging::Room::launch, [&] { return fmt::format("{} has ended", text_of(body->id)); });
        for (HostObserver* o : host.machine().host_observers()) o->launch_done(result.get(), host.timeline().now_ns());
      }
      done(part, *result);
    };
    ids.correlation = host_.send(ids, way, parts[part], body, ended);
  }
  return ids.correlation;
}

}  // namespace kernbench::launch
