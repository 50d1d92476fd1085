// SPDX-License-Identifier: Apache-2.0
// Shared parts of kernel runs and program runs: logs, inputs and references. Only for the files of this folder.
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

/// Gives every record to several sinks, except null ones. A sink that fails during the simulation (a full disk) stops
/// it, because an exception must not pass through SystemC.
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
  /// The error of a sink; empty: none.
  const std::string& failure() const { return failure_; }
  void close() override {
    for (OpLogSink* s : sinks_) s->close();
  }

 private:
  std::vector<OpLogSink*> sinks_;
  std::string failure_;
};

/// The records that phase 2 needs. Records without an op (hops, user messages) are dropped. Tokens, which are many and
/// only have timing, are dropped unless a check names the command that moved an operand.
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

/// The common steps: logs, phase 2, writing outputs.
class LoggedRun {
 public:
  /// The run's report. The platform keeps the report of a failed run, because the simulation may continue with messages
  /// in flight.
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
  /// Detaches the run from the platform and closes its files.
  void leave();
  static double seconds_since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }
  double wall_s() const { return seconds_since(begin_); }

  /// Whether outputs are compared with expected values: all, or those of --expected.
  bool verified() const { return verifies_all() || !o_.expected.empty(); }
  bool replayed() const { return verified() || !o_.dumps.empty(); }
  /// Starts logging; records the present memory contents.
  void attach_logs(bool materializes, std::vector<PlacedTensor> tensors);
  /// RunError if a log failed, which has stopped the simulation.
  void check_logs() const;
  /// Call it after the simulation, which took `run_ns` with `pes` PEs. RunError as in check_logs().
  void close_logs(double run_ns, size_t pes);
  static void log_notes(const RunReport&);
  void report_races(RunReport&) const;
  ReplayResult replay_log(RunReport&) const;
  /// Handles --corrupt and --dump.
  void write_outputs(TensorMap&) const;
  /// Reads the files of --expected, before anything runs. InputError if a file does not fit its tensor, or if all
  /// outputs are verified and one has neither file nor reference. `what`: "kernel gemm".
  void settle_judge(const std::string& what, const Reference&, const std::vector<const TensorSpec*>&, const Params&);
  /// Expected outputs by name: from files, else by the reference; only those to verify.
  std::map<std::string, ReferenceValues> judge(const Reference&, const Params&, const TensorMap& inputs) const;

  Platform& platform_;
  RunOptions o_;
  CommandHistory history_;
  std::shared_ptr<const energy::Account> energy_;  ///< set by close_logs(), with a meter
  bool begun_ = false;                             ///< the simulation has begun

 private:
  bool left_ = false;
  bool verifies_all() const { return o_.verify || o_.debug_verify; }

  const Clock::time_point begin_ = Clock::now();
  std::map<std::string, ReferenceValues> from_files_;  ///< of --expected
  std::vector<std::string> by_reference_;              ///< outputs without a file
  MemoryImage at_start_;
  std::unique_ptr<MemoryFileWriter> memory_;
  ReplayLog records_;
  std::optional<TeeLog> tee_;
};

/// The option's value for that name; null: none.
const std::string* given(const std::vector<std::pair<std::string, std::string>>& options, const std::string& name);
/// The inputs of a run by name: from files with --tensor, else seeded.
TensorMap make_inputs(const std::vector<const TensorSpec*>&, const Params&, const RunOptions&);
/// Generates an input in place, if it is seeded element by element and not needed as a whole.
std::optional<ElementSource> element_source(const TensorSpec&, const Params&, const RunOptions&);
/// Checks the names of --tensor, --dump, --expected and --corrupt before anything is built. `what`: "kernel gemm".
/// InputError.
void check_names(const std::string& what, const std::vector<const TensorSpec*>&, const RunOptions&);
/// Whether --tensor, --dump or --expected names a file for the tensor.
bool names_tensor(const RunOptions&, const std::string& name);
/// InputError if a PE has no translating MMU.
void require_mmus(Platform&, const std::vector<size_t>& pes);

}  // namespace kernbench
