#include "kernbench/platform/launch/launch_queues.h"

#include "kernbench/phase2/op/errors.h"

namespace kernbench {
namespace {

constexpr uint64_t kSramUnit = 64;

}  // namespace

LaunchQueues::LaunchQueues(Machine& machine, DeviceAllocators& allocators, const KernelSpec& kernel,
                           const Params& params, const LaunchShape& shape, const std::vector<size_t>& pes)
    : machine_(machine), allocators_(allocators) {
  if (!kernel.queues) return;
  const std::vector<QueueConnection> connections = kernel.queues(params, shape);
  if (connections.empty()) return;
  try {
    ports_ = connect_queues(machine, connections, pes, *this, "kernel " + kernel.name + ": queues");
  } catch (...) {
    give_back();
    throw;
  }
}

LaunchQueues::~LaunchQueues() {
  give_back();
}

uint64_t LaunchQueues::place(size_t pe, Space space, uint64_t nbytes) {
  uint64_t addr = 0;
  switch (space) {
    case Space::tcm:
      addr = allocators_.allocate_tcm(pe, nbytes);
      break;
    case Space::hbm:
      addr = allocators_.allocate_hbm(pe, nbytes);
      break;
    case Space::sram:
      addr = place_in_sram(pe, nbytes);
      break;
  }
  rooms_.push_back({pe, space, addr, nbytes});
  return addr;
}

/// tl.sram_bytes() of all PEs that share it is what is left.
uint64_t LaunchQueues::place_in_sram(size_t pe, uint64_t nbytes) {
  const Pe& at = machine_.pes().pe(pe);
  const uint64_t taken = (nbytes + kSramUnit - 1) / kSramUnit * kSramUnit;
  if (at.sram_bytes < taken) {
    throw InputError("no room for a ring of " + at.id + " in sram: " + std::to_string(nbytes) + " bytes asked, " +
                     std::to_string(at.sram_bytes) + " bytes free");
  }
  const uint64_t base = at.sram_base;
  for (size_t p = 0; p < machine_.pes().count(); ++p) {
    Pe& other = machine_.pes().pe(p);
    if (other.sram_base == base && other.sram_bytes > 0) other.sram_bytes -= taken;
  }
  return base + at.sram_bytes;
}

void LaunchQueues::give_back() noexcept {
  for (const Room& r : rooms_) {
    switch (r.space) {
      case Space::tcm:
        allocators_.free_tcm(r.pe, r.addr);
        break;
      case Space::hbm:
        allocators_.free_hbm(r.pe, r.addr);
        break;
      case Space::sram: {
        const uint64_t base = machine_.pes().pe(r.pe).sram_base;
        for (size_t p = 0; p < machine_.pes().count(); ++p) {
          Pe& other = machine_.pes().pe(p);
          if (other.sram_base == base) other.sram_bytes += (r.nbytes + kSramUnit - 1) / kSramUnit * kSramUnit;
        }
        break;
      }
    }
  }
  rooms_.clear();
}

}  // namespace kernbench
