#include "kernbench/platform/launch/launch.h"

#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/platform/launch/launch_host.h"
#include "kernbench/systemc_models/pe/pe_control.h"

namespace kernbench {

uint64_t Launcher::launch(KernelLaunch message, const LaunchWay& way, Done done) {
  const auto result = std::make_shared<LaunchResult>();
  result->outcomes.resize(message.pes.size());
  result->start_ns = host_.timeline().now_ns() + way.latest_ns;
  auto body = std::make_shared<LaunchBody>();
  body->start_ns = result->start_ns;
  body->kernel = std::move(message.kernel);
  body->ports = std::move(message.ports);
  body->number = host_.machine().system().next_launch();
  body->ended = [result](size_t place, const KernelRunner::Outcome& outcome) { result->outcomes[place] = outcome; };
  return host_.send(message.ids, way, std::move(body), [result, done = std::move(done)](const HostResponse& response) {
    result->response = response;
    done(*result);
  });
}

}  // namespace kernbench
