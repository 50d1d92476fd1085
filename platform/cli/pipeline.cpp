#include <iostream>
#include <memory>

#include "kernbench/phase2/io/input_file.h"
#include "kernbench/platform/cli/commands.h"
#include "kernbench/platform/cli/spec_options.h"
#include "kernbench/platform/observe/transaction_recorder.h"
#include "kernbench/platform/observe/waveform.h"
#include "kernbench/platform/platform.h"
#include "kernbench/platform/work/pipeline.h"

namespace kernbench::cli {

Command add_pipeline(CLI::App& app) {
  auto spec = std::make_shared<spec::RunSpec>(spec::table_of("pipeline"));
  CLI::App* cmd =
      app.add_subcommand("pipeline", "Play composites, simple commands and programs of calls on PEs, timing only");
  add_options(*cmd, *spec);
  return {cmd, [spec] {
            const LimitOptions limits(*spec);
            limits.begin();
            const bool json = wants_json(*spec);
            check_output_files(*spec);
            const std::string file = spec->text("work");
            std::ifstream in = open_input(file);
            Platform& platform = TopologyOptions(*spec).build();
            const auto stops = limits.watch(platform.timeline());
            PipelineWork work = read_pipeline_work(in, file, platform);
            work.calls.keep_accounts = spec->flag("accounts");
            const auto waveform = WaveformCliOptions(*spec).attach(platform);
            const auto recorder = RecordingOptions(*spec).attach(platform);
            try {
              const PipelineResult result =
                  run_pipeline(platform, work, json ? PipelineTiles::each : PipelineTiles::sums);
              if (waveform) waveform->close();
              if (recorder) recorder->close();
              if (json) {
                write_pipeline_json(std::cout, result, document_of(*spec, platform));
              } else {
                write_pipeline_text(std::cout, result);
              }
              return 0;
            } catch (const std::bad_alloc&) {
              if (recorder) recorder->forget();
              throw;
            }
          }};
}

}  // namespace kernbench::cli
