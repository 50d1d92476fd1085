// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/observe/waveform_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <map>

#include "kernbench/phase2/io/whole_file.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/print.h"
#include "kernbench/phase2/text/text_stream.h"

namespace kernbench::observe {

namespace {

// GTKWave's trace flags.
constexpr unsigned kHex = 0x2, kDecimal = 0x4, kBinary = 0x8, kRight = 0x20, kBlank = 0x200, kCollapsed = 0x1000,
                   kTranslated = 0x2000, kSteps = 0x8000, kStretch = 0x20000, kClosed = 0x400000,
                   kGroupBegin = 0x800000, kGroupEnd = 0x1000000;

// Its colours.
constexpr int kOrange = 2, kYellow = 3, kGreen = 4, kBlue = 5, kViolet = 7;

constexpr size_t kGroups = 64;        // of the first view; the others are in the viewer's tree
constexpr double kPlotPixels = 1000;  // of a window of the size that the save file sets
constexpr double kZoomPixels = 200;   // GTKWave's zoom: 2^-zoom time steps in this many pixels

/// Codes of Waveform: servers, the feed loop, kernels. GTKWave reads the file as a translate file. Surfer needs its
/// first two lines and numeric keys to read it as a mapping.
constexpr const char* kStates =
    "Name = kernbench\n"
    "Bits = 3\n"
    "0 idle\n"
    "1 waits_for_slot\n"
    "2 service\n"
    "3 queue_full\n"
    "4 waits_for_window\n"
    "5 waits_for_room\n"
    "6 runs\n"
    "7 waits\n";

/// The hierarchy level of a trace: its PE, its memory, or the block that owns the link.
std::string group_of(const std::string& scope) {
  const size_t pe = scope.find(".pe");
  if (pe != std::string::npos && pe + 3 < scope.size() && std::isdigit(static_cast<unsigned char>(scope[pe + 3])))
    return scope.substr(0, scope.find('.', pe + 1));
  return scope.substr(0, std::min(scope.find(".to_"), scope.find(".channel")));
}

}  // namespace

std::string WaveformView::save_file_of(const std::string& vcd_file) {
  return std::filesystem::path(vcd_file).replace_extension(".gtkw").string();
}

std::string WaveformView::states_file_of(const std::string& vcd_file) {
  return std::filesystem::path(vcd_file).replace_extension(".states.txt").string();
}

WaveformView::WaveformView(const std::string& vcd_file)
    : vcd_file_(vcd_file), save_file_(save_file_of(vcd_file)), states_file_(states_file_of(vcd_file)) {
  if (save_file_ == vcd_file)
    throw InputError("--vcd: found '" + vcd_file + "', expected another ending than that of the save file beside it");
}

void WaveformView::add(const std::string& scope, const std::string& name, unsigned bits, TraceKind kind) {
  traces_.push_back({scope, name, bits, kind});
}

void WaveformView::write(uint64_t from_fs, uint64_t end_fs) const {
  WholeFile states(states_file_);
  states.write(kStates);
  states.keep();

  WholeFile file(save_file_);
  TextOutput out;
  const double zoom =
      end_fs > from_fs ? -std::log2(static_cast<double>(end_fs - from_fs) * kZoomPixels / kPlotPixels) : 0;
  // Absolute paths: GTKWave searches relative ones in its own working directory.
  print_to(
      out,
      "[*] kernbench\n[dumpfile] \"{}\"\n[timestart] {}\n[size] 1600 1000\n[pos] -1 -1\n*{:.6g} 0\n[sst_width] 200\n"
      "[signals_width] 360\n",
      std::filesystem::absolute(vcd_file_).string(), from_fs, zoom);
  if (!traces_.empty()) {
    const std::string& scope = traces_.front().scope;
    print_to(out, "[treeopen] {}.\n", scope.substr(0, scope.find('.')));
  }

  std::vector<Group> groups;
  std::map<std::string, size_t> index;
  for (const Trace& t : traces_) {
    const auto [it, added] = index.emplace(group_of(t.scope), groups.size());
    if (added) groups.push_back({it->first, {}});
    groups[it->second].traces.push_back(&t);
  }
  // The first group of each kind is open: a PE; a memory; a block with links.
  bool pe_open = false, other_open = false;
  for (size_t i = 0; i < std::min(groups.size(), kGroups); ++i) {
    bool& open = groups[i].traces.front()->kind == TraceKind::state ? pe_open : other_open;
    write_group(out, groups[i], open);
    open = true;
  }
  file.write(out.str());
  file.keep();
}

void WaveformView::write_group(std::ostream& out, const Group& group, bool closed) const {
  const bool pe = group.traces.front()->kind == TraceKind::state;
  const unsigned flag = closed ? kClosed : 0;
  const std::string label = group.name.substr(group.name.find('.') + 1);
  print_to(out, "@{:x}\n-{}\n", kGroupBegin | flag | kBlank, label);
  for (const Trace* t : group.traces) {
    // A PE's op ids and busy signals besides the state are only in the tree, because the state implies them.
    if (pe && (t->name == "op_id" || t->name == "busy")) continue;
    write_trace(out, group, *t);
  }
  print_to(out, "@{:x}\n-{}\n", kGroupEnd | (closed ? flag | kCollapsed : 0) | kBlank, label);
}

void WaveformView::write_trace(std::ostream& out, const Group& group, const Trace& t) const {
  std::string name = t.scope + "." + t.name;
  if (t.bits > 1) name += fmt::format("[{}:0]", t.bits - 1);
  const std::string inner = t.scope.substr(std::min(t.scope.size(), group.name.size() + 1));
  std::string alias = fmt::format("+{{{}{}{}}} ", inner, t.scope.size() > group.name.size() ? " " : "", t.name);
  std::replace(alias.begin(), alias.end(), '.', ' ');
  const auto show = [&](unsigned flags, const std::string& before, int colour) {
    print_to(out, "@{:x}\n{}[color] {}\n{}{}\n", flags, before, colour, alias, name);
  };
  switch (t.kind) {
    case TraceKind::bit:
      show(kBinary | kRight, "", kGreen);
      break;
    case TraceKind::state:
      show(kHex | kRight | kTranslated, fmt::format("^1 {}\n", std::filesystem::absolute(states_file_).string()),
           kYellow);
      break;
    case TraceKind::id:
      show(kDecimal | kRight, "", kBlue);
      break;
    case TraceKind::amount:
      show(kDecimal | kRight | kSteps, "", t.name == "utilisation" ? kOrange : kViolet);
      print_to(out, "@{:x}\n-\n", kStretch);
      break;
  }
}

}  // namespace kernbench::observe
