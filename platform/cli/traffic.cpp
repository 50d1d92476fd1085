#include <iostream>
#include <memory>

#include "kernbench/phase2/io/input_file.h"
#include "kernbench/phase2/io/whole_file.h"
#include "kernbench/platform/cli/commands.h"
#include "kernbench/platform/cli/spec_options.h"
#include "kernbench/platform/observe/dram_command_log.h"
#include "kernbench/platform/observe/statistics.h"
#include "kernbench/platform/observe/transaction_recorder.h"
#include "kernbench/platform/observe/waveform.h"
#include "kernbench/platform/platform.h"
#include "kernbench/platform/work/traffic.h"

namespace kernbench::cli {

Command add_traffic(CLI::App& app) {
  auto spec = std::make_shared<spec::RunSpec>(spec::table_of("traffic"));
  CLI::App* cmd = app.add_subcommand("traffic", "Play memory requests on a system and print each one's times");
  add_options(*cmd, *spec);
  return {cmd, [spec] {
            const LimitOptions limits(*spec);
            limits.begin();
            const bool json = wants_json(*spec);
            check_output_files(*spec);
            const std::string trace = spec->text("trace"), dram_commands = spec->text("dram-commands");
            std::ifstream in = open_input(trace);
            Platform& platform = TopologyOptions(*spec).build();
            const auto stops = limits.watch(platform.timeline());
            const auto requests = read_traffic(in, trace, platform);
            const auto waveform = WaveformCliOptions(*spec).attach(platform);
            const auto recorder = RecordingOptions(*spec).attach(platform);
            std::unique_ptr<Statistics> statistics;
            std::unique_ptr<WholeFile> statistics_file;
            if (spec->given("statistics")) {
              statistics_file = std::make_unique<WholeFile>(spec->text("statistics"));
              statistics = std::make_unique<Statistics>(platform);
            }
            std::unique_ptr<DramCommandLog> commands;
            if (!dram_commands.empty()) commands = std::make_unique<DramCommandLog>(platform, dram_commands);
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
                write_traffic_json(std::cout, platform, requests, results, accounts, document_of(*spec, platform));
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
