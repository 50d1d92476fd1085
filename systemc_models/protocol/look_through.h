// SPDX-License-Identifier: Apache-2.0
// Who stands between two sockets and watches.
#pragma once

#include <typeinfo>

#include "kernbench/phase2/rooms.h"

namespace kernbench::protocol {

/// Passes every call on as it is, in every phase, those of a protocol's own too. The ports at both ends then know each
/// other as if it were not there. `Interface`: of one direction of the transport.
template <class Interface>
class Between {
 public:
  virtual ~Between() = default;
  /// Who is called.
  virtual Interface* behind() const = 0;
};

/// Who is called in the end.
template <class Interface>
Interface* look_through(Interface* peer) {
  while (auto* between = dynamic_cast<Between<Interface>*>(peer)) peer = between->behind();
  return peer;
}

/// The same as a port of a class without heirs; null where it is none. Mostly nobody stands between, and then one
/// comparison of classes does instead of two dynamic_casts through all bases, which each port of a machine would take.
template <class Port, class Interface>
Port* look_through_to(Interface* peer) {
  if (peer && typeid(*peer) == typeid(Port)) return static_cast<Port*>(peer);
  return dynamic_cast<Port*>(look_through(peer));
}

}  // namespace kernbench::protocol
