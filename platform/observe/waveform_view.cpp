#include "kernbench/platform/observe/waveform_view.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>

#include "kernbench/phase2/op/errors.h"

namespace kernbench {

namespace {

// GTKWave's trace flags.
constexpr unsigned kHex = 0x2, kDecimal = 0x4, kBinary = 0x8, kRight = 0x20, kBlank = 0x200, kCollapsed = 0x1000,
                   kTranslated = 0x2000, kSteps = 0x8000, kStretch = 0x20000, kClosed = 0x400000,
                   kGroupBegin = 0x800000, kGroupEnd = 0x1000000;

// Its colours.
constexpr int kOrange = 2, kYellow = 3, kGreen = 4, kBlue = 5, kViolet = 7;

constexpr size_t kGroups = 64;        // of the first view; the rest is in the viewer's tree
constexpr double kPlotPixels = 1000;  // of a window as the save file asks for
constexpr double kZoomPixels = 200;   // GTKWave's zoom: 2^-zoom time steps on so many

/// Codes of Waveform: servers, the feed loop, kernels. Read by GTKWave as a translate file; with its first two lines,
/// and numbers for keys, by Surfer as a mapping.
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

std::string hex(unsigned flags) {
  char text[16];
  std::snprintf(text, sizeof text, "@%x\n", flags);
  return text;
}

/// The level of the hierarchy that a trace is shown under: its PE, its memory, or the block whose link it is.
std::string group_of(const std::string& scope) {
  const size_t pe = scope.find(".pe");
  if (pe != std::string::npos && pe + 3 < scope.size() && std::isdigit(static_cast<unsigned char>(scope[pe + 3])))
    return scope.substr(0, scope.find('.', pe + 1));
  return scope.substr(0, std::min(scope.find(".to_"), scope.find(".channel")));
}

}  // namespace

WaveformView::WaveformView(const std::string& vcd_file) : vcd_file_(vcd_file) {
  const std::filesystem::path path(vcd_file);
  save_file_ = std::filesystem::path(path).replace_extension(".gtkw").string();
  states_file_ = std::filesystem::path(path).replace_extension(".states.txt").string();
  if (save_file_ == vcd_file)
    throw InputError("--vcd: found '" + vcd_file + "', expected another ending than that of the save file beside it");
}

void WaveformView::add(const std::string& scope, const std::string& name, unsigned bits, TraceKind kind) {
  traces_.push_back({scope, name, bits, kind});
}

void WaveformView::write(uint64_t end_fs) const {
  std::ofstream states(states_file_, std::ios::binary);
  states << kStates;
  states.close();

  std::ofstream out(save_file_, std::ios::binary);
  // Whole paths: GTKWave looks for others where it was started.
  const std::string states_name = std::filesystem::absolute(states_file_).string();
  const double zoom = end_fs > 0 ? -std::log2(static_cast<double>(end_fs) * kZoomPixels / kPlotPixels) : 0;
  out << "[*] kernbench\n[dumpfile] \"" << std::filesystem::absolute(vcd_file_).string() << "\"\n[timestart] 0\n"
      << "[size] 1600 1000\n[pos] -1 -1\n*" << zoom << " 0\n[sst_width] 200\n[signals_width] 360\n";

  std::vector<std::pair<std::string, std::vector<const Trace*>>> groups;
  std::map<std::string, size_t> index;
  for (const Trace& t : traces_) {
    const std::string group = group_of(t.scope);
    const auto [it, added] = index.emplace(group, groups.size());
    if (added) groups.emplace_back(group, std::vector<const Trace*>());
    groups[it->second].second.push_back(&t);
  }
  const std::string top = traces_.empty() ? "" : traces_.front().scope.substr(0, traces_.front().scope.find('.'));
  if (!top.empty()) out << "[treeopen] " << top << ".\n";

  // The first group of its kind is open: a PE; a memory; a block with links.
  bool pe_open = false, other_open = false;
  size_t shown = 0;
  for (const auto& [group, traces] : groups) {
    if (++shown > kGroups) break;
    const bool pe = traces.front()->kind == TraceKind::state;
    bool& open = pe ? pe_open : other_open;
    const unsigned closed = open ? kClosed : 0;
    open = true;
    const std::string label = group.substr(group.find('.') + 1);
    out << hex(kGroupBegin | closed | kBlank) << "-" << label << "\n";
    for (const Trace* t : traces) {
      // Of a PE's engines the op ids, and what is busy besides a state, are in the tree: the state says it.
      if (pe && (t->name == "op_id" || t->name == "busy")) continue;
      std::string name = t->scope + "." + t->name;
      if (t->bits > 1) name += "[" + std::to_string(t->bits - 1) + ":0]";
      std::string alias = "+{" + t->scope.substr(std::min(t->scope.size(), group.size() + 1)) +
                          (t->scope.size() > group.size() ? " " : "") + t->name + "} ";
      std::replace(alias.begin(), alias.end(), '.', ' ');
      switch (t->kind) {
        case TraceKind::bit:
          out << hex(kBinary | kRight) << "[color] " << kGreen << "\n" << alias << name << "\n";
          break;
        case TraceKind::state:
          out << hex(kHex | kRight | kTranslated) << "^1 " << states_name << "\n[color] " << kYellow << "\n"
              << alias << name << "\n";
          break;
        case TraceKind::id:
          out << hex(kDecimal | kRight) << "[color] " << kBlue << "\n" << alias << name << "\n";
          break;
        case TraceKind::amount:
          out << hex(kDecimal | kRight | kSteps) << "[color] " << (t->name == "utilisation" ? kOrange : kViolet) << "\n"
              << alias << name << "\n"
              << hex(kStretch) << "-\n";
          break;
      }
    }
    out << hex(kGroupEnd | (closed ? closed | kCollapsed : 0) | kBlank) << "-" << label << "\n";
  }
  out.close();
  if (!states || !out) throw RunError("--vcd: " + save_file_ + " or " + states_file_ + " could not be written");
}

}  // namespace kernbench
