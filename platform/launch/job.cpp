#include "kernbench/platform/launch/job.h"

#include <stdexcept>

#include "kernbench/kernel_api/context.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/elaborate/platform.h"
#include "kernbench/platform/launch/pe_selection.h"

namespace kernbench {
namespace {

LaunchTree tree_of(Platform& platform, const std::vector<size_t>& pes, LaunchMode mode) {
  if (mode == LaunchMode::direct) return direct_launch_tree(platform, pes);
  try {
    return host_launch_tree(platform, pes);
  } catch (const HostPathError& e) {
    if (mode == LaunchMode::host) throw InputError(std::string("launch by the host: ") + e.what());
    return direct_launch_tree(platform, pes);
  }
}

}  // namespace

Job::Job(Platform& platform, JobOptions o)
    : platform_(platform),
      spec_(KernelRegistry::instance().at(o.kernel)),
      params_(kernel_params(spec_, o.params)),
      pes_(choose_pes(platform, o.pes, o.device)),
      deployment_(platform, spec_, params_, pes_),
      programs_(programs_of(platform, pes_)),
      tree_(tree_of(platform, pes_, o.launch)),
      launcher_(platform) {}

Job::~Job() = default;

void Job::place(const std::string& tensor, const HostTensor& value) {
  deployment_.for_each_shard(tensor, value, [&](uint64_t address, const uint8_t* bytes, uint64_t nbytes) {
    platform_.place(address, bytes, nbytes);
  });
}

HostTensor Job::place_random(const std::string& tensor, uint64_t seed) {
  const TensorSpec* t = spec_.tensor(tensor);
  if (!t || t->role != TensorSpec::Role::in)
    throw InputError("tensor " + tensor + ": kernel " + spec_.name + " has no such input");
  HostTensor value = make_input(*t, params_, seed);
  place(tensor, value);
  return value;
}

HostTensor Job::read_back(const std::string& tensor) {
  return deployment_.collect(tensor, [&](uint64_t address, uint8_t* bytes, uint64_t nbytes) {
    const auto window = platform_.window_at(address);
    if (ForeignStore* store = platform_.store_of(window.node)) store->pull(address, nbytes);
    if (const auto producer = platform_.read_from_outside(window.space, address, bytes, nbytes))
      throw RunError("tensor " + tensor + ": its bytes are pending until Phase 2 runs " + producer->name);
  });
}

void Job::start(Done done) {
  if (running_) throw RunError("kernel " + spec_.name + ": started while it runs");
  running_ = true;
  KernelLaunch message;
  message.pes = pes_;
  message.kernel = [this](size_t place) {
    return [this, place](PeBackend& backend) {
      tl::Context context(backend, programs_[place]);
      spec_.function(context, deployment_.args(place));
      context.finish();
    };
  };
  launcher_.launch(std::move(message), tree_, [this, call = std::move(done)](const LaunchResult& r) {
    running_ = false;
    result_ = r;
    completed_.notify(sc_core::SC_ZERO_TIME);
    if (call) call(result_);
  });
}

}  // namespace kernbench
