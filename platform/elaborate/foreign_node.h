// SPDX-License-Identifier: Apache-2.0
// A node of kind `foreign`: a placeholder for a user's block; the platform leaves its sockets to that block. It may be
// between any two blocks of the memory fabric (an LT or AT model of IEEE 1666's base protocol, a bus monitor) or inside
// a PE (an observer of pe_command_protocol). docs/tlm.md.
//
//   platform.foreign("tap").bind(tap.target_socket, "sip0.cube0.r0c0");     // whose requests it takes
//   platform.foreign("tap").bind(tap.initiator_socket, "sip0.cube0.r0c1");  // to whom it sends them
#pragma once

#include <string>
#include <vector>

#include "kernbench/systemc_models/fabric/fabric_node.h"
#include "kernbench/systemc_models/fabric/foreign_sockets.h"
#include "kernbench/systemc_models/pe/pe_block.h"
#include "kernbench/systemc_models/protocol/request_channel.h"

namespace kernbench::elaborate {

/// Requirements of the user's block towards its neighbours.
struct ForeignParameters : BlockParameters {
  std::string end_resp = "updated";
  double clock_ghz = 0;
  bool multicast = false;
  template <class List>
  static void describe(List& list) {
    BlockParameters::describe(list);
    describe_end_resp(list, &ForeignParameters::end_resp);
    list.add(&ForeignParameters::clock_ghz, "clock_ghz", "GHz",
             "clock of the block: delays that it annotates are rounded up to its cycles; 0: as they are")
        .min(0);
    list.add(&ForeignParameters::multicast, "multicast", "true, false",
             "the block forks multicasts: it knows MulticastExtension");
  }
};

class ForeignNode : public Component {
  using Forward = tlm::tlm_fw_transport_if<>;
  using Backward = tlm::tlm_bw_transport_if<>;
  using PeForward = tlm::tlm_fw_transport_if<pe_command_protocol>;
  using PeBackward = tlm::tlm_bw_transport_if<pe_command_protocol>;

 public:
  using Parameters = ForeignParameters;
  ForeignNode(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& = {});
  static ImplSpec spec();

  // Sockets of any width. InputError, with one line, if there is no such neighbour.
  /// Accepts the requests (inside a PE: the items) of the neighbour with that id.
  template <unsigned W>
  void bind(tlm::tlm_base_target_socket_b<W, Forward, Backward>& socket, const std::string& from) {
    sockets_.send(port_from(from), socket);
  }
  template <unsigned W>
  void bind(tlm::tlm_base_target_socket_b<W, PeForward, PeBackward>& socket, const std::string& from) {
    take_items(from, socket.get_base_interface(), socket.get_base_port());
  }
  /// Sends requests (inside a PE: items) to the neighbour with that id.
  template <unsigned W>
  void bind(tlm::tlm_base_initiator_socket_b<W, Forward, Backward>& socket, const std::string& to) {
    sockets_.take(port_to(to), socket);
  }
  template <unsigned W, int N, sc_core::sc_port_policy P>
  void bind(tlm::tlm_base_initiator_socket<W, Forward, Backward, N, P>& socket, const std::string& to) {
    sockets_.take(port_to(to), socket);
  }
  template <unsigned W>
  void bind(tlm::tlm_base_initiator_socket_b<W, PeForward, PeBackward>& socket, const std::string& to) {
    send_items(to, socket.get_base_port(), socket.get_base_interface());
  }

  // For elaboration.
  /// A neighbour in the fabric: its port to here, and the directions of requests.
  void add_neighbour(FabricPort& port, bool sends, bool takes);
  /// Inside a PE: items go from one block to another through one or more foreign nodes. Of these, this one is the first
  /// (comes: items of `from` arrive here), the last (goes: they leave for `to` here), or both.
  void add_way(PeBlock& from, PeBlock& to, bool comes, bool goes);

 private:
  struct Neighbour {
    FabricPort* port;
    bool sends, takes;  ///< can send requests to here, can accept them from here
    bool sends_bound = false, takes_bound = false;
  };
  struct Way {
    PeBlock *from, *to;
    bool comes, goes;
    bool comes_bound = false, goes_bound = false;
  };
  FabricPort& port_from(const std::string& neighbour);
  FabricPort& port_to(const std::string& neighbour);
  void take_items(const std::string& from, PeForward&, sc_core::sc_port_b<PeBackward>&);
  void send_items(const std::string& to, sc_core::sc_port_b<PeForward>&, PeBackward&);
  [[noreturn]] void no_neighbour(const std::string& id, const char* what) const;
  [[noreturn]] void not_bound(const std::string& what) const;
  [[noreturn]] void bound_twice(const std::string& what) const;
  void before_end_of_elaboration() override;
  void end_of_elaboration() override { sockets_.end_of_elaboration(); }

  EndResp end_resp_;
  sc_core::sc_time cycle_;
  const bool multicasts_;
  ForeignSockets sockets_;
  std::vector<Neighbour> neighbours_;
  std::vector<Way> ways_;
};

}  // namespace kernbench::elaborate
