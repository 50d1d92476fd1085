#include <iostream>
#include <memory>

#include "kernbench/phase2/io/input_file.h"
#include "kernbench/platform/cli/commands.h"
#include "kernbench/platform/observe/transaction_recorder.h"
#include "kernbench/platform/observe/waveform.h"
#include "kernbench/platform/platform.h"
#include "kernbench/platform/tools/traffic.h"

namespace kernbench::cli {

Command add_traffic(CLI::App& app) {
  struct Options {
    TopologyOptions topology;
    WaveformCliOptions vcd;
    RecordingOptions recording;
    LimitOptions limits;
    std::string trace, format;
  };
  auto o = std::make_shared<Options>();
  CLI::App* cmd = app.add_subcommand("traffic", "Play memory requests on a system and print each one's times");
  o->topology.add_to(*cmd);
  o->vcd.add_to(*cmd);
  o->recording.add_to(*cmd);
  o->limits.add_to(*cmd);
  cmd->add_option("--trace", o->trace, "requests: id,issue_ns,initiator,op,address,bytes")
      ->required()
      ->type_name("FILE.csv");
  add_format(*cmd, o->format, {"csv", "json"});
  return {cmd, [o] {
            o->limits.begin();
            check_output_files(o->vcd, o->recording);
            std::ifstream in = open_input(o->trace);
            Platform& platform = o->topology.build();
            const auto stops = o->limits.watch(platform.timeline());
            const auto requests = read_traffic(in, o->trace, platform);
            const std::unique_ptr<Waveform> waveform = o->vcd.attach(platform);
            const std::unique_ptr<TransactionRecorder> recorder = o->recording.attach(platform);
            const bool json = o->format == "json";
            std::vector<TrafficAccount> accounts;
            const auto results = run_traffic(platform, requests, json ? &accounts : nullptr);
            if (waveform) waveform->close();
            if (recorder) recorder->close();
            if (json) {
              write_traffic_json(std::cout, platform, requests, results, accounts);
            } else {
              write_traffic_csv(std::cout, platform, requests, results);
            }
            return 0;
          }};
}

}  // namespace kernbench::cli
