#include <iostream>
#include <memory>

#include "kernbench/phase2/io/input_file.h"
#include "kernbench/phase2/io/whole_file.h"
#include "kernbench/phase2/tool/output_files.h"
#include "kernbench/platform/cli/commands.h"
#include "kernbench/platform/observe/dram_command_log.h"
#include "kernbench/platform/observe/statistics.h"
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
    std::string trace, format, statistics, dram_commands;
  };
  auto o = std::make_shared<Options>();
  CLI::App* cmd = app.add_subcommand("traffic", "Play memory requests on a system and print each one's times");
  o->topology.add_to(*cmd);
  o->vcd.add_to(*cmd);
  o->recording.add_to(*cmd);
  o->limits.add_to(*cmd);
  cmd->add_option("--trace", o->trace,
                  "requests: id,issue_ns,initiator,op,address,bytes; op read, write, atomic, red or cas")
      ->required()
      ->type_name("FILE.csv");
  cmd->add_option("--statistics", o->statistics, "what every object counted (docs/statistics.md)")
      ->type_name("FILE.csv");
  cmd->add_option("--dram-commands", o->dram_commands, "every command of builtin.hbm_dram (docs/memory_models.md)")
      ->type_name("FILE.csv");
  add_format(*cmd, o->format, {"csv", "json"});
  return {cmd, [o] {
            o->limits.begin();
            OutputFiles files;
            for (const std::string& file : o->vcd.files()) files.add("--vcd", file);
            files.add("--ftr", o->recording.file);
            files.add("--statistics", o->statistics);
            files.add("--dram-commands", o->dram_commands);
            std::ifstream in = open_input(o->trace);
            Platform& platform = o->topology.build();
            const auto stops = o->limits.watch(platform.timeline());
            const auto requests = read_traffic(in, o->trace, platform);
            const std::unique_ptr<Waveform> waveform = o->vcd.attach(platform);
            const std::unique_ptr<TransactionRecorder> recorder = o->recording.attach(platform);
            std::unique_ptr<Statistics> statistics;
            std::unique_ptr<WholeFile> statistics_file;
            if (!o->statistics.empty()) {
              statistics_file = std::make_unique<WholeFile>(o->statistics);
              statistics = std::make_unique<Statistics>(platform);
            }
            std::unique_ptr<DramCommandLog> commands;
            if (!o->dram_commands.empty()) commands = std::make_unique<DramCommandLog>(platform, o->dram_commands);
            const bool json = o->format == "json";
            std::vector<TrafficAccount> accounts;
            try {
              const auto results = run_traffic(platform, requests, json ? &accounts : nullptr);
              if (waveform) waveform->close();
              if (recorder) recorder->close();
              if (statistics) {
                statistics_file->write(statistics->snapshot().csv());
                statistics_file->keep();
              }
              if (commands) commands->close();
              if (json) {
                write_traffic_json(std::cout, platform, requests, results, accounts);
              } else {
                write_traffic_csv(std::cout, platform, requests, results);
              }
              return 0;
            } catch (const std::bad_alloc&) {
              if (recorder) recorder->forget();
              throw;
            }
          }};
}

}  // namespace kernbench::cli
