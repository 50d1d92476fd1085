// SPDX-License-Identifier: Apache-2.0
// Settings and queries of pe_cpu at pe_ipcq and pe_mmu, in no time and without messages (collectives rules §10.2). They
// are the payload of transport_dbg at their sockets (pe_port.h).
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
  /// Executed by the receiving block. Returns false if it is meant for another kind of block.
  virtual bool done_by(PeBlock&) = 0;
  /// The port of a pe_cpu that leads to the block; null if it has none.
  virtual PePort* way_from(const PeBlock& cpu) const = 0;
};

/// pe_cpu sends it over the sockets. RunError, with one line, if it is not executed.
void set_up(const Pe&, PeSetup&);
/// The same, for the class that acts as pe_cpu of that PE.
void set_up(const std::string& pe, const CpuRole&, PeSetup&);

/// For a block with that role.
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

/// Ports of the starting launch, and its number.
struct OpenPorts final : SetupOf<IpcqRole> {
  OpenPorts(std::vector<QueuePort> of, uint64_t number) : ports(std::move(of)), launch(number) {}
  void act_on(IpcqRole& ipcq) override { ipcq.open_ports(std::move(ports), launch); }
  std::vector<QueuePort> ports;
  uint64_t launch;
};

/// For the end of a kernel.
struct ClosePorts final : SetupOf<IpcqRole> {
  void act_on(IpcqRole& ipcq) override {
    if (discards) ipcq.discard_messages();
    left = ipcq.close_ports();
  }
  bool discards = false;  ///< the launch was aborted
  std::string left;       ///< remaining contents of a ring, one line; empty: none
};

struct MapRange final : SetupOf<MmuRole> {
  explicit MapRange(std::shared_ptr<const VirtualMapping> m) : mapping(std::move(m)) {}
  void act_on(MmuRole& mmu) override { overlaps = mmu.map(mapping); }
  std::shared_ptr<const VirtualMapping> mapping;
  const VirtualMapping* overlaps = nullptr;  ///< another mapping; then nothing has changed
};

struct UnmapRange final : SetupOf<MmuRole> {
  UnmapRange(uint64_t at, uint64_t bytes) : address(at), nbytes(bytes) {}
  void act_on(MmuRole& mmu) override {
    unmapped = mmu.unmap(address, nbytes);
    if (!unmapped) nearest = mmu.nearest(address);
  }
  uint64_t address, nbytes;
  bool unmapped = false;
  std::string nearest;  ///< if no mapping has exactly that range
};

/// Physical place of a tensor. TranslationFault.
struct Translate final : SetupOf<MmuRole> {
  explicit Translate(const TensorRef& tensor) : ref(tensor) {}
  void act_on(MmuRole& mmu) override { ref = mmu.translate(ref); }
  TensorRef ref;  ///< virtual before, physical after
};

}  // namespace kernbench::pe
