// SPDX-License-Identifier: Apache-2.0
// `kernbench traffic` and `pipeline`.
#include <fstream>
#include <ostream>

#include "kernbench/phase2/io/input_file.h"
#include "kernbench/phase2/io/whole_file.h"
#include "kernbench/platform/entry/task.h"
#include "kernbench/platform/observe/dram_command_log.h"
#include "kernbench/platform/observe/statistics.h"
#include "kernbench/platform/observe/transaction_recorder.h"
#include "kernbench/platform/observe/waveform.h"
#include "kernbench/platform/platform.h"
#include "kernbench/platform/work/pipeline.h"
#include "kernbench/platform/work/traffic.h"

namespace kernbench {
namespace {

/// Plays a file on a platform; derived classes define how.
class PlayTask : public Task {
 public:
  PlayTask(const spec::RunSpec& spec, const RunHooks& hooks, const char* played)
      : spec_(spec), hooks_(hooks), json_(wants_json(spec)), file_(spec.text(played)) {
    in_ = open_input(file_);
  }

  RunRecord run(Platform& platform) final {
    const auto watch = hooks_.watch ? hooks_.watch(platform.timeline()) : nullptr;
    read(platform);
    const auto waveform = waveform_of(spec_, platform);
    const auto recorder = recorder_of(spec_, platform);
    try {
      RunRecord record;
      record.write = play(platform);
      Told tell(hooks_);
      tell_empty_windows(spec_, platform, tell);
      record.told = tell.take();
      if (waveform) waveform->close();
      if (recorder) recorder->close();
      if (hooks_.document) record.document = spec::json_of(document_of(spec_, platform), false);
      return record;
    } catch (const std::bad_alloc&) {
      if (recorder) recorder->forget();
      throw;
    }
  }

 protected:
  using Write = std::function<void(std::ostream&)>;
  virtual void read(Platform&) = 0;
  virtual Write play(Platform&) = 0;

  const spec::RunSpec& spec_;
  const RunHooks& hooks_;
  const bool json_;
  const std::string file_;
  std::ifstream in_;
};

class TrafficTask : public PlayTask {
 public:
  TrafficTask(const spec::RunSpec& spec, const RunHooks& hooks) : PlayTask(spec, hooks, "trace") {}

 private:
  void read(Platform& platform) override {
    Traffic traffic = read_traffic(in_, file_, platform);
    played_->requests = std::move(traffic.requests);
    played_->groups = std::move(traffic.groups);
  }

  Write play(Platform& platform) override {
    std::unique_ptr<WholeFile> file;
    std::unique_ptr<Statistics> statistics;
    if (spec_.given("statistics")) {
      file = std::make_unique<WholeFile>(spec_.text("statistics"));
      statistics = std::make_unique<Statistics>(platform);
    }
    std::unique_ptr<DramCommandLog> commands;
    if (spec_.given("dram-commands"))
      commands = std::make_unique<DramCommandLog>(platform, spec_.text("dram-commands"));
    played_->results = run_traffic(platform, played_->requests, json_ ? &played_->accounts : nullptr, played_->groups);
    if (statistics) {
      file->write(statistics->snapshot().csv());
      file->keep();
    }
    if (commands) commands->close();
    if (!json_) {
      return [p = played_, &platform](std::ostream& out) { write_traffic_csv(out, platform, p->requests, p->results); };
    }
    return [p = played_, &platform, document = document_of(spec_, platform)](std::ostream& out) {
      write_traffic_json(out, platform, p->requests, p->results, p->accounts, document);
    };
  }

  struct Played {
    std::vector<TrafficRequest> requests;
    TrafficGroups groups;
    std::vector<TrafficResult> results;
    std::vector<TrafficAccount> accounts;
  };
  const std::shared_ptr<Played> played_ = std::make_shared<Played>();
};

class PipelineTask : public PlayTask {
 public:
  PipelineTask(const spec::RunSpec& spec, const RunHooks& hooks) : PlayTask(spec, hooks, "work") {}

 private:
  void read(Platform& platform) override {
    *work_ = read_pipeline_work(in_, file_, platform);
    work_->calls.keep_accounts = spec_.flag("breakdown");
  }

  Write play(Platform& platform) override {
    const auto result = std::make_shared<const PipelineResult>(
        run_pipeline(platform, *work_, json_ ? PipelineTiles::each : PipelineTiles::sums));
    if (!json_) return [result, work = work_](std::ostream& out) { write_pipeline_text(out, *result); };
    return [result, work = work_, document = document_of(spec_, platform)](std::ostream& out) {
      write_pipeline_json(out, *result, document);
    };
  }

  const std::shared_ptr<PipelineWork> work_ = std::make_shared<PipelineWork>();  ///< the result points into it
};

}  // namespace

std::unique_ptr<Task> traffic_task(const spec::RunSpec& spec, const RunHooks& hooks) {
  return std::make_unique<TrafficTask>(spec, hooks);
}

std::unique_ptr<Task> pipeline_task(const spec::RunSpec& spec, const RunHooks& hooks) {
  return std::make_unique<PipelineTask>(spec, hooks);
}

}  // namespace kernbench
