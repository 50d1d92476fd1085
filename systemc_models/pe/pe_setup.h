// SPDX-License-Identifier: Apache-2.0
// What pe_cpu tells or asks pe_ipcq and pe_mmu at no time and without messages (collectives rules §10.2): the
// payload of transport_dbg at their sockets (pe_port.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernbench/systemc_models/pe/pe_block.h"
#include "kernbench/systemc_models/pe/roles.h"

namespace kernbench::pe {

struct Pe;

struct PeSetup {
  virtual ~PeSetup() = default;
  /// Done by the block at which it has come in. False: it is for another kind of block.
  virtual bool done_by(PeBlock&) = 0;
  /// By which a pe_cpu has it done; null: it has no such port.
  virtual PePort* way_from(const PeBlock& cpu) const = 0;
};

/// Has pe_cpu have it done, over the sockets. RunError, one line: it does not come through.
void set_up(const Pe&, PeSetup&);
/// Likewise, by who acts as the pe_cpu of that PE.
void set_up(const std::string& pe, const CpuRole&, PeSetup&);

/// For a block in that role.
template <class Role>
struct SetupOf : PeSetup {
  virtual void act_on(Role&) = 0;
  bool done_by(PeBlock& block) final {
    auto* role = dynamic_cast<Role*>(&block);
    if (role) act_on(*role);
    return role != nullptr;
  }
  PePort* way_from(const PeBlock& cpu) const final { return cpu.way_to<Role>(); }
};

/// The ports of the launch that begins, and its number.
struct OpenPorts final : SetupOf<IpcqRole> {
  OpenPorts(std::vector<QueuePort> of, uint64_t number) : ports(std::move(of)), launch(number) {}
  void act_on(IpcqRole& ipcq) override { ipcq.open_ports(std::move(ports), launch); }
  std::vector<QueuePort> ports;
  uint64_t launch;
};

/// The kernel has ended.
struct ClosePorts final : SetupOf<IpcqRole> {
  void act_on(IpcqRole& ipcq) override { left = ipcq.close_ports(); }
  std::string left;  ///< in a ring: one line; empty: nothing
};

struct MapRange final : SetupOf<MmuRole> {
  explicit MapRange(std::shared_ptr<const VirtualMapping> m) : mapping(std::move(m)) {}
  void act_on(MmuRole& mmu) override { overlaps = mmu.map(mapping); }
  std::shared_ptr<const VirtualMapping> mapping;
  const VirtualMapping* overlaps = nullptr;  ///< another one, and nothing has changed
};

struct UnmapRange final : SetupOf<MmuRole> {
  UnmapRange(uint64_t at, uint64_t bytes) : address(at), nbytes(bytes) {}
  void act_on(MmuRole& mmu) override {
    unmapped = mmu.unmap(address, nbytes);
    if (!unmapped) nearest = mmu.nearest(address);
  }
  uint64_t address, nbytes;
  bool unmapped = false;
  std::string nearest;  ///< where no mapping is that range
};

/// Where a tensor lies. TranslationFault.
struct Translate final : SetupOf<MmuRole> {
  explicit Translate(const TensorRef& tensor) : ref(tensor) {}
  void act_on(MmuRole& mmu) override { ref = mmu.translate(ref); }
  TensorRef ref;  ///< virtual, then physical
};

}  // namespace kernbench::pe
