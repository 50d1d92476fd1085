#include "kernbench/platform/launch/launch.h"

#include "kernbench/platform/elaborate/machine.h"

namespace kernbench {

uint64_t Launcher::launch(KernelLaunch message, const LaunchTree& tree, Done done) {
  const MessageIds ids = message.ids;
  const auto result = std::make_shared<LaunchResult>();
  result->outcomes.resize(message.pes.size());
  result->start_ns = machine_.timeline().now_ns() + tree.latest_ns;
  const auto start = [this, result, m = std::move(message)](HostFanOut::Party& pe, size_t place) {
    PeCpu& cpu = machine_.pes().cpu(m.pes[place]);
    if (cpu.running()) {
      fan_out_.answer(pe, HostError::pe_busy, cpu.pe_id() + ": a launch found it running another kernel",
                      machine_.timeline().now_ns());
      return;
    }
    cpu.launch(m.kernel(place), result->start_ns, [this, result, place, &pe](const PeCpu::Outcome& outcome) {
      result->outcomes[place] = outcome;
      fan_out_.answer(pe, outcome.fault.empty() ? HostError::ok : HostError::kernel_fault, outcome.fault,
                      outcome.end_ns);
    });
  };
  return fan_out_.send(ids, tree, start, [result, done = std::move(done)](const HostResponse& response) {
    result->response = response;
    done(*result);
  });
}

}  // namespace kernbench
