// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/job.h"

#include <algorithm>
#include <future>
#include <stdexcept>

#include "kernbench/kernel_api/context.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/elaborate/deadlock.h"
#include "kernbench/platform/elaborate/run_watch.h"
#include "kernbench/platform/elaborate/simulation.h"
#include "kernbench/platform/elaborate/stopped.h"
#include "kernbench/platform/launch/expected_values.h"
#include "kernbench/platform/launch/launch_host.h"
#include "kernbench/platform/launch/launch_preparation.h"
#include "kernbench/platform/launch/pe_selection.h"
#include "kernbench/platform/platform.h"
#include "kernbench/systemc_models/pe/kernel_runner.h"

namespace kernbench {
namespace {

constexpr const char *kAbandoned = "its job has been destroyed", *kAborted = "aborted by the host";

LaunchWay way_to(LaunchHost& host, const std::vector<size_t>& pes, LaunchMode mode) {
  try {
    return choose_launch_way(host, pes, mode);
  } catch (const HostPathError& e) {
    throw InputError(std::string("launch by the host: ") + e.what());
  }
}

}  // namespace

/// Data of the kernels, which live until the last kernel has ended, even if the job is destroyed.
struct Job::Kernels {
  std::vector<tl::Program> programs;
  std::vector<tl::Args> args;
  std::vector<bool> running;
  bool abandoned = false;
  std::string ended;  ///< reason why kernels that begin from now on end at once; empty: none
};

Job::Job(Platform& platform, JobOptions o)
    : platform_(platform),
      spec_(
          with_optional(KernelRegistry::instance().at(o.kernel),
                        [&](const std::string& t) { return std::count(o.optional.begin(), o.optional.end(), t) > 0; })),
      verified_(o.verify),
      pes_(choose_pes(platform.machine(), {o.pes, o.device, o.ranks})),
      kernels_(std::make_shared<Kernels>(Kernels{programs_of(platform.machine(), pes_), {}, {}, false, {}})),
      params_(prepare_launch(platform.machine(), spec_, kernel_params(spec_, o.params), pes_,
                             kernels_->programs.front().launch)
                  .params),
      deployment_(platform.machine(), platform.hosts().allocators(), spec_, params_, pes_),
      queues_(platform.machine(), platform.hosts().allocators(), spec_, params_, *kernels_->programs.front().launch,
              pes_),
      way_(way_to(platform.hosts().launch_host(), pes_, o.launch)),
      launcher_(platform.hosts().launch_host()) {
  for (size_t place = 0; place < pes_.size(); ++place) kernels_->args.push_back(deployment_.args(place));
  if (verified_ && !spec_.reference) throw InputError("kernel " + spec_.name + ": has no reference to verify it by");
  if (verified_ && !platform.system().pending_values()) platform.system().keep_pending_values();
}

Job::~Job() {
  if (!running_) return;
  platform_.machine().runs().end(spec_.name);
  kernels_->abandoned = true;
  if (sc_core::sc_get_status() > sc_core::SC_PAUSED) return;
  end_kernels(kAbandoned);
}

void Job::end_kernels(const char* why) {
  kernels_->ended = why;
  for (size_t place = 0; place < pes_.size(); ++place) {
    if (kernels_->running[place]) platform_.machine().pes().runner(pes_[place]).abandon(why);
  }
}

void Job::abort() {
  if (running_) end_kernels(kAborted);
}

void Job::place(const std::string& tensor, const HostTensor& value) {
  deployment_.for_each_shard(tensor, value, [&](uint64_t address, const uint8_t* bytes, uint64_t nbytes) {
    platform_.place(address, bytes, nbytes);
  });
}

HostTensor Job::place_random(const std::string& tensor, uint64_t seed) {
  const TensorSpec* t = spec_.tensor(tensor);
  if (!t || !t->is_input()) throw InputError("tensor " + tensor + ": kernel " + spec_.name + " has no such input");
  HostTensor value = make_input(*t, params_, seed);
  place(tensor, value);
  return value;
}

HostTensor Job::read_back(const std::string& tensor) {
  return collect(tensor, nullptr);
}

/// `values`: values for computing pending bytes; null: as the topology's `materialize` declares.
HostTensor Job::collect(const std::string& tensor, PendingValues* values) {
  System& system = platform_.system();
  return deployment_.collect(tensor, [&](uint64_t address, uint8_t* bytes, uint64_t nbytes) {
    const auto window = system.window_at(address);
    if (ForeignStore* store = System::store_of(window)) store->pull(address, nbytes);
    const auto read = [&] {
      return values ? read_from_outside(system.image(), values, window.key(), address, bytes, nbytes)
                    : system.read_from_outside(window.space, address, bytes, nbytes);
    };
    // Computing needs an ordinary stack, and the caller's SC_THREAD may have a smaller one.
    const auto producer = values ? std::async(std::launch::async, read).get() : read();
    if (producer) throw RunError("tensor " + tensor + ": its bytes are pending until Phase 2 runs " + producer->name);
  });
}

JobVerification Job::verify() {
  if (!verified_) throw InputError("kernel " + spec_.name + ": verify() needs a job with JobOptions::verify");
  if (running_ || !completed_once_)
    throw JobNotReady("kernel " + spec_.name + ": verify() before the job has completed");
  if (!result_.response.ok()) throw RunError(result_.response.text);
  JobVerification all;
  const auto expected = spec_.reference(params_, inputs_);
  for (const TensorSpec& t : spec_.tensors) {
    const auto it = expected.find(t.name);
    if (!t.is_output() || it == expected.end()) continue;
    const HostTensor value = collect(t.name, platform_.system().pending_values());
    all.tensors.push_back(
        kernbench::verify(t.name, value.dtype, value.shape, value.bytes.data(), reference_values(it->second)));
    all.passed = all.passed && all.tensors.back().passed;
  }
  return all;
}

const LaunchResult& Job::run() {
  require_no_process();
  start([this](const LaunchResult&) { platform_.machine().runs().pause_when_settled(); });
  const RunWatch::Call call(platform_.machine().runs());
  simulate();
  if (!running_) return result_;
  throw_if_left(platform_.machine(), "kernel " + spec_.name);
  throw stuck_error(waiting());
}

std::vector<std::string> Job::waiting() const {
  return stuck_report(platform_.machine());
}

void Job::start(Done done) {
  if (running_) throw JobNotReady("kernel " + spec_.name + ": started while it runs");
  platform_.check_attributes();
  if (verified_) {
    for (const TensorSpec& t : spec_.tensors) {
      if (t.is_input()) inputs_[t.name] = collect(t.name, platform_.system().pending_values());
    }
  }
  running_ = true;
  platform_.machine().runs().begin(spec_.name);
  KernelLaunch message;
  message.id.kernel = spec_.name;
  message.pes = pes_;
  message.ports = queues_.ports();
  kernels_->running.assign(pes_.size(), false);
  kernels_->ended.clear();
  message.kernel = [kernels = kernels_, function = spec_.function](size_t place) {
    kernels->running[place] = true;
    return [kernels, function, place](PeBackend& backend) {
      if (!kernels->ended.empty()) throw KernelAborted(kernels->ended);
      struct Ends {
        std::vector<bool>::reference running;
        ~Ends() { running = false; }
      } const ends{kernels->running[place]};
      tl::Context context(backend, kernels->programs[place]);
      function(context, kernels->args[place]);
      context.finish();
    };
  };
  launcher_.launch(std::move(message), way_, [this, kernels = kernels_, call = std::move(done)](const LaunchResult& r) {
    if (kernels->abandoned) return;
    running_ = false;
    completed_once_ = true;
    platform_.machine().runs().end(spec_.name);
    result_ = r;
    completed_.notify(sc_core::SC_ZERO_TIME);
    if (call) call(result_);
  });
}

}  // namespace kernbench
