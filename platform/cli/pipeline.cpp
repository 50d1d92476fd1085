#include <iostream>
#include <memory>

#include "kernbench/phase2/io/input_file.h"
#include "kernbench/platform/cli/commands.h"
#include "kernbench/platform/observe/transaction_recorder.h"
#include "kernbench/platform/observe/waveform.h"
#include "kernbench/platform/platform.h"
#include "kernbench/platform/tools/pipeline.h"

namespace kernbench::cli {

Command add_pipeline(CLI::App& app) {
  struct Options {
    TopologyOptions topology;
    WaveformCliOptions vcd;
    RecordingOptions recording;
    LimitOptions limits;
    std::string work, format;
    bool accounts = false;
  };
  auto o = std::make_shared<Options>();
  CLI::App* cmd =
      app.add_subcommand("pipeline", "Play composites, simple commands and programs of calls on PEs, timing only");
  o->topology.add_to(*cmd);
  o->vcd.add_to(*cmd);
  o->recording.add_to(*cmd);
  o->limits.add_to(*cmd);
  cmd->add_option("--work", o->work, "what each PE plays")->required()->type_name("FILE.json");
  cmd->add_flag(
      "--accounts", o->accounts,
      "of every send in a program, where each segment's time went: parts that sum to the end of its slot read "
      "less the call");
  add_format(*cmd, o->format, {"text", "json"});
  return {cmd, [o] {
            o->limits.begin();
            check_output_files(o->vcd, o->recording);
            std::ifstream in = open_input(o->work);
            Platform& platform = o->topology.build();
            const auto stops = o->limits.watch(platform.timeline());
            PipelineWork work = read_pipeline_work(in, o->work, platform);
            work.calls.keep_accounts = o->accounts;
            const std::unique_ptr<Waveform> waveform = o->vcd.attach(platform);
            const std::unique_ptr<TransactionRecorder> recorder = o->recording.attach(platform);
            try {
              const PipelineResult result = run_pipeline(platform, work);
              if (waveform) waveform->close();
              if (recorder) recorder->close();
              if (o->format == "json") {
                write_pipeline_json(std::cout, result);
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
