// SPDX-License-Identifier: Apache-2.0
// Shared by the floorplans of tray, SIP and cube: the part of each node, and the parts' sizes.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernbench/platform/topology/view/diagram.h"

namespace kernbench::topology::floorplan {

struct Extent {
  double left = 1e300, right = -1e300, top = 1e300, bottom = -1e300;
  void take(const Position& p, double by = 0);
  bool empty() const { return left > right; }
  Box box(double pad) const;
};

/// "r0c0" of "sip0.cube3.r0c0".
std::string last_word(const std::string& id);
bool is_connection(const std::string& id);
/// A UCIe port, not one of its connections.
bool is_port(const Node&);
/// The port of a connection, or the port itself.
std::string port_of(const Node&);
/// "sip0.cube3" or "sip0.io1" of a node, "" for the tray's.
std::string part_of(const Node&);
/// "sip0" of "sip0.cube3".
std::string sip_of(const std::string& part);
bool is_io(const std::string& part);

/// Extents of the cubes and IO chiplets whose id starts with the prefix, in compiled order; cubes' ports are outside.
std::vector<std::pair<std::string, Extent>> parts_of(const Graph&, const std::string& prefix);

/// "6 GB", "32 MB".
std::string size_text(double bytes);
/// "1 PE", "8 PEs".
std::string count_text(size_t n, const char* what);
/// "8 PEs", "48 GB HBM", "32 MB SRAM": contents below a prefix such as "sip0.cube3."; everything for "".
std::vector<std::string> contents_of(const Graph&, const std::string& prefix);
/// "8 PEs, 48 GB HBM".

/// Distinct boxes by id.
class Boxes {
 public:
  explicit Boxes(Diagram& d) : d_(d) {}
  /// kOmitted if there is none.
  size_t find(const std::string& id) const;
  Box& at(const std::string& id) { return d_.boxes[index_.at(id)]; }
  size_t add(Box b);

 private:
  Diagram& d_;
  std::map<std::string, size_t> index_;
};

/// `geometry` has position and size.
Box make_box(Box geometry, std::string id, std::string kind, std::string title, std::vector<std::string> details = {});
/// Pixels per mm if the longer side has `pixels`.
double scale_for(const Diagram&, double pixels);

}  // namespace kernbench::topology::floorplan
