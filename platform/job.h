// SPDX-License-Identifier: Apache-2.0
// A kernel on PEs of a platform, for user code. Its tensors are placed in the PEs' memories; it can be launched
// repeatedly, before or during the simulation. platform/run/run.h does all steps of `kernbench run`.
//
//   kernbench::Job job(platform, {"vector_add", {{"n", "4096"}}});
// or a foreign initiator writes to job.ranges("a")
//   job.start([](const kernbench::LaunchResult& r) { … });    // the launch leaves the host now
//   wait(job.completed());                                    // in an SC_THREAD
// or, in sc_main, with other activity in the simulation:
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

/// Illegal in this state: the job is still running, or has not completed.
class JobNotReady : public RunError {
 public:
  using RunError::RunError;
};

struct JobOptions {
  std::string kernel;
  std::vector<std::pair<std::string, std::string>> params;  ///< name, text
  std::string pes = "all";                                  ///< as in PeChoice (launch/pe_selection.h)
  std::string device = "all";
  LaunchMode launch = LaunchMode::automatic;
  std::string ranks = "all";
  /// Keeps the data for verify(): the inputs at each start, and the inputs of pending results.
  bool verify = false;
  std::vector<std::string> optional = {};  ///< optional tensors of the kernel that the job has
};

struct JobVerification {
  bool passed = true;                 ///< all of them
  std::vector<TensorReport> tensors;  ///< outputs, in the kernel's order
};

class Job : public Launchable {
 public:
  /// Allocates the tensors. InputError, BadParam: with the messages of `kernbench run`.
  Job(Platform&, JobOptions);
  /// Frees the memory. Kernels that still run end at this instant, and their PEs are free. Not allowed in its own
  /// callback.
  ~Job() override;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  const KernelSpec& kernel() const { return spec_; }
  const Params& params() const { return params_; }
  /// Ranges of a tensor's bytes: physical addresses of all nonempty shards, by PE of the job.
  std::vector<Deployment::Range> ranges(const std::string& tensor) const { return deployment_.ranges(tensor); }

  /// Writes a tensor's bytes, now and without time. std::invalid_argument for another type or shape.
  void place(const std::string& tensor, const HostTensor&);
  /// Places a random input as `kernbench run --seed` makes it, and returns it.
  HostTensor place_random(const std::string& tensor, uint64_t seed);
  /// The current contents of a tensor. RunError if bytes are pending (unless the topology sets `materialize: outputs`).
  HostTensor read_back(const std::string& tensor);

  /// The launch leaves the host now (before the simulation: at 0). `done` is called when the host has the response, and
  /// may start the job again. JobNotReady if it is still running.
  void start(Done done) override;
  void start() { start({}); }
  /// Starts the job and simulates until it has completed: sc_start() from sc_main, paused at completion, also if other
  /// activity continues. Can be called again. Returns the result; an error of the kernel is in its `response`. RunError
  /// if the simulation deadlocks, pauses or stops before.
  const LaunchResult& run();
  bool running() const override { return running_; }
  void abort() override;
  const std::vector<size_t>& pes() const override { return pes_; }
  /// Waiting PEs of the platform and their reasons, now, one line each; empty if there are none.
  std::vector<std::string> waiting() const;
  /// Notified with `done`, in the next delta cycle.
  const sc_core::sc_event& completed() const { return completed_; }
  /// Result of the last completed launch.
  const LaunchResult& result() const { return result_; }
  /// Compares the outputs in memory, with pending ones computed, to the kernel's reference over the inputs of the last
  /// start. InputError if the kernel has no reference or JobOptions::verify was not set; RunError if the job has not
  /// completed, or failed.
  JobVerification verify();

 private:
  void end_kernels(const char* why);
  HostTensor collect(const std::string& tensor, PendingValues*);

  Platform& platform_;
  const KernelSpec spec_;  ///< without optional tensors that the job does not have
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
  TensorMap inputs_;  ///< of the last start, if they are kept
  LaunchResult result_;
  sc_core::sc_event completed_;
};

}  // namespace kernbench
