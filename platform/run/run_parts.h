// SPDX-License-Identifier: Apache-2.0
// What runs of kernels and of programs share: where records go, inputs and references. Only for the files of this
// folder.
#pragma once

#include <chrono>
#include <initializer_list>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernbench/kernel_api/registry.h"
#include "kernbench/phase2/check/races.h"
#include "kernbench/phase2/check/verify.h"
#include "kernbench/phase2/graph/executor.h"
#include "kernbench/phase2/io/memory_file.h"
#include "kernbench/phase2/log/op_record.h"
#include "kernbench/platform/elaborate/simulation.h"
#include "kernbench/platform/launch/shard_bytes.h"
#include "kernbench/platform/run/engine_report.h"
#include "kernbench/platform/run/memory_report.h"
#include "kernbench/platform/run/run.h"

namespace kernbench {

/// Gives every record to several sinks; those that are null are left out. A sink that fails while the simulation runs
/// (a full disk) ends it: an exception must not pass through SystemC.
class TeeLog : public OpLogSink {
 public:
  explicit TeeLog(std::initializer_list<OpLogSink*> sinks) {
    for (OpLogSink* s : sinks) {
      if (s) sinks_.push_back(s);
    }
  }
  bool empty() const { return sinks_.empty(); }
  void begin(const OpLogHeader& h) override {
    for (OpLogSink* s : sinks_) s->begin(h);
  }
  void record(OpRecord&&) override;
  void energy(const energy::Account& account) override {
    for (OpLogSink* s : sinks_) s->energy(account);
  }
  /// What kept a sink from going on; empty: nothing.
  const std::string& failure() const { return failure_; }
  void close() override {
    for (OpLogSink* s : sinks_) s->close();
  }

 private:
  std::vector<OpLogSink*> sinks_;
  std::string failure_;
};

/// What Phase 2 reads of a log: not what is of no op (hops, messages of a user's own), and the tokens, which are many
/// and timing only, no more unless a check names what carried an operand.
class ReplayLog : public OpLogSink {
 public:
  explicit ReplayLog(bool keep_tokens) : keep_tokens_(keep_tokens) {}
  void record(OpRecord&& r) override {
    const bool wanted = r.is_token ? keep_tokens_ : r.desc && r.desc->kind != OpKind::unknown;
    if (wanted) records_.push_back(std::move(r));
  }
  const std::vector<OpRecord>& records() const { return records_; }

 private:
  bool keep_tokens_;
  std::vector<OpRecord> records_;
};

/// What runs of kernels and of programs do alike: their logs, Phase 2, its outputs into files.
class LoggedRun {
 public:
  /// The run's report. One that a fault has ended is left to the platform: the simulation may go on, and what was under
  /// way in it with it.
  template <class Run>
  static auto run_or_leave(const std::shared_ptr<Run>& run) {
    try {
      return run->run();
    } catch (...) {
      run->leave();
      if (run->begun_) run->platform_.keep(run);
      throw;
    }
  }

 protected:
  using Clock = std::chrono::steady_clock;
  LoggedRun(Platform& platform, RunOptions options)
      : platform_(platform), o_(std::move(options)), records_(o_.debug_verify) {
    require_no_process();
  }
  ~LoggedRun() { leave(); }
  /// Nothing of the platform's is told to the run any more; its files are closed.
  void leave();
  static double seconds_since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }
  double wall_s() const { return seconds_since(begin_); }

  /// Whether outputs are compared with what they must be: all of them, or those of --expected.
  bool verified() const { return verifies_all() || !o_.expected.empty(); }
  bool replayed() const { return verified() || !o_.dumps.empty(); }
  /// From here on all is logged; memory is as the run finds it.
  void attach_logs(bool materializes, std::vector<PlacedTensor> tensors);
  /// RunError where a log could not take all, which has ended the simulation.
  void check_logs() const;
  /// After the simulation, which took `run_ns` with so many PEs. RunError as check_logs().
  void close_logs(double run_ns, size_t pes);
  static void log_notes(const RunReport&);
  void report_races(RunReport&) const;
  ReplayResult replay_log(RunReport&) const;
  /// --corrupt and --dump.
  void write_outputs(TensorMap&) const;
  /// Reads the files of --expected, before anything runs. InputError where one does not fit its tensor, and where all
  /// outputs are to be verified and one has neither file nor reference. `what`: "kernel gemm".
  void settle_judge(const std::string& what, const Reference&, const std::vector<const TensorSpec*>&, const Params&);
  /// What outputs must be, by name: from files, else by the reference; those that are to be verified.
  std::map<std::string, ReferenceValues> judge(const Reference&, const Params&, const TensorMap& inputs) const;

  Platform& platform_;
  RunOptions o_;
  CommandHistory history_;
  std::shared_ptr<const energy::Account> energy_;  ///< since close_logs(), with a meter
  bool begun_ = false;                             ///< the simulation

 private:
  bool left_ = false;
  bool verifies_all() const { return o_.verify || o_.debug_verify; }

  const Clock::time_point begin_ = Clock::now();
  std::map<std::string, ReferenceValues> from_files_;  ///< --expected
  std::vector<std::string> by_reference_;              ///< outputs without
  MemoryImage at_start_;
  std::unique_ptr<MemoryFileWriter> memory_;
  ReplayLog records_;
  std::optional<TeeLog> tee_;
};

/// The value that an option gives for that name; null: none.
const std::string* given(const std::vector<std::pair<std::string, std::string>>& options, const std::string& name);
/// The inputs of a run by name: from files where --tensor gives them, else seeded.
TensorMap make_inputs(const std::vector<const TensorSpec*>&, const Params&, const RunOptions&);
/// What makes an input where it lies: of one that is seeded element by element and that nobody asks for as a whole.
std::optional<ElementSource> element_source(const TensorSpec&, const Params&, const RunOptions&);
/// Checks the names of --tensor, --dump, --expected and --corrupt before anything is built. `what`: "kernel gemm".
/// InputError.
void check_names(const std::string& what, const std::vector<const TensorSpec*>&, const RunOptions&);
/// Whether a file is named for the tensor: --tensor, --dump or --expected.
bool names_tensor(const RunOptions&, const std::string& name);
/// InputError where a PE has no MMU that translates.
void require_mmus(Platform&, const std::vector<size_t>& pes);

}  // namespace kernbench
