// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/launch/launch_queues.h"

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/elaborate/machine.h"

namespace kernbench::launch {
namespace {

/// Rings in SRAM start at multiples of 64 bytes.
uint64_t in_sram(uint64_t nbytes) {
  return (nbytes + 63) / 64 * 64;
}

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

/// The rest is tl.sram_bytes() of all PEs that share the SRAM.
uint64_t LaunchQueues::place_in_sram(size_t pe, uint64_t nbytes) {
  const Pe& at = machine_.pes().pe(pe);
  const uint64_t taken = in_sram(nbytes);
  if (at.sram_bytes < taken) {
    throw InputError("no room for a ring of " + at.id + " in sram: " + std::to_string(nbytes) + " bytes asked, " +
                     std::to_string(at.sram_bytes) + " bytes free");
  }
  resize_sram(pe, at.sram_bytes - taken);
  return at.sram_base + at.sram_bytes;
}

/// For all PEs of the cube, which share it.
void LaunchQueues::resize_sram(size_t pe, uint64_t nbytes) {
  const uint32_t cube = machine_.pes().pe(pe).cube;
  for (size_t p = 0; p < machine_.pes().count(); ++p) {
    if (machine_.pes().pe(p).cube == cube) machine_.pes().pe(p).sram_bytes = nbytes;
  }
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
      case Space::sram:
        resize_sram(r.pe, machine_.pes().pe(r.pe).sram_bytes + in_sram(r.nbytes));
        break;
    }
  }
  rooms_.clear();
}

}  // namespace kernbench::launch
