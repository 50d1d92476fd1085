// SPDX-License-Identifier: Apache-2.0
// Transparent observers between two sockets.
#pragma once

#include <typeinfo>

#include "kernbench/phase2/rooms.h"

namespace kernbench::protocol {

/// Forwards every call unchanged, with all phases, including those of extended protocols. The ports at both ends then
/// identify each other as if it were absent. `Interface`: one direction of the transport.
template <class Interface>
class Between {
 public:
  virtual ~Between() = default;
  /// The next object on the path.
  virtual Interface* behind() const = 0;
};

/// The object at the end of the path.
template <class Interface>
Interface* look_through(Interface* peer) {
  while (auto* between = dynamic_cast<Between<Interface>*>(peer)) peer = between->behind();
  return peer;
}

/// The same as a port of a final class; null if it is another class. Usually there is no observer. One comparison of
/// classes then replaces two dynamic_casts through all bases, which each port of a machine would need.
template <class Port, class Interface>
Port* look_through_to(Interface* peer) {
  if (peer && typeid(*peer) == typeid(Port)) return static_cast<Port*>(peer);
  return dynamic_cast<Port*>(look_through(peer));
}

}  // namespace kernbench::protocol
