// SPDX-License-Identifier: Apache-2.0
// A multicast on TLM sockets (multicast rules §19.10): a write with this ignorable extension writes its bytes to
// several memories. Ports and host sockets accept it from foreign initiators; their headers include this one. A block
// that does not know it writes to the first.
#pragma once

#include <cstdint>
#include <tlm>
#include <vector>

namespace kernbench::protocol {

struct MulticastExtension : tlm::tlm_extension<MulticastExtension> {
  std::vector<uint64_t> destinations;  ///< in order, each in another memory; the first is the payload's address
  bool combined = false;               ///< forks join acknowledgements

  tlm::tlm_extension_base* clone() const override { return new MulticastExtension(*this); }
  void copy_from(const tlm::tlm_extension_base& other) override {
    *this = static_cast<const MulticastExtension&>(other);
  }
};

}  // namespace kernbench::protocol
