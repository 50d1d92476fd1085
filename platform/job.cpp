#include "kernbench/platform/job.h"

#include <stdexcept>

#include "kernbench/kernel_api/context.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/platform.h"
#include "kernbench/platform/launch/launch_preparation.h"
#include "kernbench/platform/launch/pe_selection.h"

namespace kernbench {
namespace {

LaunchWay way_to(LaunchHost& host, const std::vector<size_t>& pes, LaunchMode mode) {
  try {
    return choose_launch_way(host, pes, mode);
  } catch (const HostPathError& e) {
    throw InputError(std::string("launch by the host: ") + e.what());
  }
}

}  // namespace

Job::Job(Platform& platform, JobOptions o)
    : platform_(platform),
      spec_(KernelRegistry::instance().at(o.kernel)),
      pes_(choose_pes(platform.machine(), {o.pes, o.device, o.ranks})),
      programs_(programs_of(platform.machine(), pes_)),
      params_(prepare_launch(platform.machine(), spec_, kernel_params(spec_, o.params), pes_,
                             programs_.front().launch).params),
      deployment_(platform.machine(), platform.hosts().allocators(), spec_, params_, pes_),
      queues_(platform.machine(), platform.hosts().allocators(), spec_, params_, *programs_.front().launch, pes_),
      way_(way_to(platform.hosts().launch_host(), pes_, o.launch)),
      launcher_(platform.hosts().launch_host()) {}

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
    const auto window = platform_.system().window_at(address);
    if (ForeignStore* store = System::store_of(window)) store->pull(address, nbytes);
    if (const auto producer = platform_.system().read_from_outside(window.space, address, bytes, nbytes))
      throw RunError("tensor " + tensor + ": its bytes are pending until Phase 2 runs " + producer->name);
  });
}

void Job::start(Done done) {
  if (running_) throw RunError("kernel " + spec_.name + ": started while it runs");
  running_ = true;
  KernelLaunch message;
  message.id.kernel = spec_.name;
  message.pes = pes_;
  message.ports = queues_.ports();
  message.kernel = [this](size_t place) {
    return [this, place](PeBackend& backend) {
      tl::Context context(backend, programs_[place]);
      spec_.function(context, deployment_.args(place));
      context.finish();
    };
  };
  launcher_.launch(std::move(message), way_, [this, call = std::move(done)](const LaunchResult& r) {
    running_ = false;
    result_ = r;
    completed_.notify(sc_core::SC_ZERO_TIME);
    if (call) call(result_);
  });
}

}  // namespace kernbench
