// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/topology/graph/naming.h"

#include <algorithm>
#include <charconv>

namespace kernbench::topology {
namespace {

/// The number after `prefix` if the word consists of both, else -1.
int index_in(const std::string& word, const std::string& prefix) {
  if (word.compare(0, prefix.size(), prefix) != 0 || word.size() == prefix.size()) return -1;
  int v = -1;
  const auto r = std::from_chars(word.data() + prefix.size(), word.data() + word.size(), v);
  return r.ec == std::errc() && r.ptr == word.data() + word.size() ? v : -1;
}

std::string numbered(const std::string& prefix, uint32_t i) {
  return prefix + std::to_string(i);
}

}  // namespace

char letter_of(Side s) {
  return "NESW"[static_cast<int>(s)];
}

Side opposite(Side s) {
  return static_cast<Side>((static_cast<int>(s) + 2) % kSides);
}

namespace naming {

std::string pcie_switch(uint32_t i) {
  return numbered("fabric.switch", i);
}
std::string sip(uint32_t s) {
  return numbered("sip", s);
}
std::string cube(uint32_t s, uint32_t c) {
  return sip(s) + numbered(".cube", c);
}
std::string io_chiplet(uint32_t s, uint32_t i) {
  return sip(s) + numbered(".io", i);
}

std::string router(const std::string& cube, uint32_t row, uint32_t col) {
  return cube + numbered(".r", row) + numbered("c", col);
}
std::string xbar(const std::string& cube, uint32_t pe) {
  return cube + numbered(".xbar.pe", pe);
}
std::string bridge(const std::string& cube, uint32_t i) {
  return cube + numbered(".bridge", i);
}
std::string noc(const std::string& owner) {
  return owner + ".noc";
}
std::string hbm_ctrl(const std::string& cube, uint32_t pe) {
  return cube + numbered(".hbm_ctrl.pe", pe);
}
std::string m_cpu(const std::string& cube) {
  return cube + ".m_cpu";
}
std::string sram(const std::string& cube) {
  return cube + ".sram";
}
std::string ucie(const std::string& cube, Side side) {
  return cube + ".ucie-" + letter_of(side);
}
std::string port(const std::string& owner, uint32_t i) {
  return owner + numbered(".port", i);
}
std::string pe(const std::string& cube, uint32_t pe) {
  return cube + numbered(".pe", pe);
}
std::string pe_block(const std::string& pe, const std::string& block) {
  return pe + "." + block;
}

std::string pcie_ep(const std::string& io) {
  return io + ".pcie_ep";
}
std::string io_cpu(const std::string& io) {
  return io + ".io_cpu";
}
std::string io_ucie(const std::string& io, uint32_t port) {
  return io + numbered(".ucie-P", port);
}

std::string connection(const std::string& port, uint32_t i) {
  return port + numbered(".conn", i);
}

Owner owner_of(const std::string& id) {
  Owner o;
  size_t at = 0;
  for (int depth = 0; at < id.size(); ++depth) {
    const size_t dot = std::min(id.find('.', at), id.size());
    const std::string word = id.substr(at, dot - at);
    if (depth == 0) {
      o.sip = index_in(word, "sip");
    } else if (depth == 1) {
      o.cube = index_in(word, "cube");
      o.io = index_in(word, "io");
    } else if (o.cube >= 0 && o.pe < 0) {
      o.pe = index_in(word, "pe");  // "pe2", "hbm_ctrl.pe2", "xbar.pe2" all belong to PE 2
    }
    at = dot + 1;
  }
  return o;
}

std::string scope_of(const std::string& id) {
  const size_t dot = id.rfind('.');
  return dot == std::string::npos ? std::string() : id.substr(0, dot);
}

std::string outermost_scope_of(const std::string& id) {
  const size_t dot = id.find('.');
  return dot == std::string::npos ? std::string() : id.substr(0, dot);
}

}  // namespace naming
}  // namespace kernbench::topology
