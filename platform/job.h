// A kernel on PEs of a platform, for user code: its tensors placed in the PEs' memories, launched as often as wanted,
// before or while the simulation runs. `kernbench run` in one sitting is platform/run/run.h.
//
//   kernbench::Job job(platform, {"vector_add", {{"n", "4096"}}});
//   job.place("a", values_a);  job.place("b", values_b);      // or a foreign initiator writes to job.ranges("a")
//   job.start([](const kernbench::LaunchResult& r) { … });    // the launch leaves the host now
//   wait(job.completed());                                    // in an SC_THREAD
// or, in sc_main, beside whatever else goes on:
//   job.run();                                                // simulates until it has completed
//   bool right = job.verify().passed;                         // with JobOptions::verify
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <systemc>
#include <utility>
#include <vector>

#include "kernbench/phase2/check/verify.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/launch/deployment.h"
#include "kernbench/platform/launch/launch.h"
#include "kernbench/platform/launch/launch_queues.h"
#include "kernbench/platform/platform.h"

namespace kernbench {

/// Not now: it still runs, or has not completed.
class JobNotReady : public RunError {
 public:
  using RunError::RunError;
};

struct JobOptions {
  std::string kernel;
  std::vector<std::pair<std::string, std::string>> params;  ///< name, text
  std::string pes = "all";                                  ///< as PeChoice (launch/pe_selection.h)
  std::string device = "all";
  LaunchMode launch = LaunchMode::automatic;
  std::string ranks = "all";
  /// Keeps what verify() needs: the inputs as they stand at each start, and what pending results are made of.
  bool verify = false;
  std::vector<std::string> optional = {};  ///< those of the kernel's optional tensors that the job has
};

struct JobVerification {
  bool passed = true;                 ///< all of them
  std::vector<TensorReport> tensors;  ///< outputs, in the kernel's order
};

class Job : public Launchable {
 public:
  /// Allocates the tensors. InputError, BadParam: as `kernbench run` says them.
  Job(Platform&, JobOptions);
  /// Gives the memory back. Its kernels that run end at this instant, and their PEs are free. Not inside its own
  /// callback.
  ~Job() override;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  const KernelSpec& kernel() const { return spec_; }
  const Params& params() const { return params_; }
  /// Where a tensor's bytes lie: physical addresses, every shard that has some, by PE of the job.
  std::vector<Deployment::Range> ranges(const std::string& tensor) const { return deployment_.ranges(tensor); }

  /// Puts a tensor's bytes in place, now and without time. std::invalid_argument where its type or shape is another.
  void place(const std::string& tensor, const HostTensor&);
  /// A random input as `kernbench run --seed` makes it, placed; and returned.
  HostTensor place_random(const std::string& tensor, uint64_t seed);
  /// A tensor as memory holds it now. RunError where bytes are pending (and the topology does not say
  /// `materialize: outputs`).
  HostTensor read_back(const std::string& tensor);

  /// The launch leaves the host now (before the simulation: at 0). `done` is called at the instant when the host has
  /// the response, and may start it again. JobNotReady if it still runs.
  void start(Done done) override;
  void start() { start({}); }
  /// Starts it and simulates until it has completed: sc_start() from sc_main, paused at completion, whatever else goes
  /// on; it can be called again. The result, a fault of the kernel in its `response`. RunError where the simulation
  /// stands still, pauses or stops before.
  const LaunchResult& run();
  bool running() const override { return running_; }
  /// Who of the platform's PEs waits for whom, now: a line each; none where nobody does.
  std::vector<std::string> waiting() const;
  /// Notified with `done`, in the next delta cycle.
  const sc_core::sc_event& completed() const { return completed_; }
  /// Of the last launch that has completed.
  const LaunchResult& result() const { return result_; }
  /// Compares the outputs as memory holds them, pending ones computed, with the kernel's reference over the inputs of
  /// the last start. InputError where the kernel has no reference or JobOptions::verify was not set; RunError where it
  /// has not completed, or in a fault.
  JobVerification verify();

 private:
  HostTensor collect(const std::string& tensor, PendingValues*);

  Platform& platform_;
  const KernelSpec spec_;  ///< without the optional tensors that the job does not have
  const bool verified_;
  std::vector<size_t> pes_;
  struct Kernels;
  const std::shared_ptr<Kernels> kernels_;
  Params params_;
  Deployment deployment_;
  LaunchQueues queues_;
  LaunchWay way_;
  Launcher launcher_;
  bool running_ = false;
  bool completed_once_ = false;
  TensorMap inputs_;  ///< of the last start, where they are kept
  LaunchResult result_;
  sc_core::sc_event completed_;
};

}  // namespace kernbench
