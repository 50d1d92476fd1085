// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/topology/build/mesh_cache.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include <unistd.h>

#include "kernbench/phase2/io/logging.h"
#include "kernbench/phase2/log/checksum.h"
#include "kernbench/phase2/text/text_stream.h"
#include "kernbench/platform/topology/build/mesh_planner.h"
#include "kernbench/platform/topology/read/spec.h"

namespace kernbench::topology {
namespace {

constexpr const char* kFirstLine = "kernbench mesh plan, version 1\n";
constexpr uint64_t kLongestFile = 64 << 20;

// File format: a first line, the description, one line per list, and a checksum of everything before it.

std::string text_of(const std::string& key, const MeshPlan& p) {
  TextOutput out;
  const auto list = [&](const char* name, const auto& items, const auto& print) {
    out << name << ' ' << items.size();
    for (const auto& i : items) print(i);
    out << '\n';
  };
  const auto number = [&](uint32_t v) { out << ' ' << v; };
  const auto pair = [&](const auto& v) { out << ' ' << v.first << ' ' << v.second; };
  out << kFirstLine << key << '\n';
  list("routers", p.routers, [&](const Cell& c) { out << ' ' << c.row << ' ' << c.col; });
  list("horizontal", p.horizontal, pair);
  list("vertical", p.vertical, pair);
  list("pe", p.pe, number);
  out << "m_cpu " << p.m_cpu << "\nsram " << p.sram << '\n';
  for (int s = 0; s < kSides; ++s) list("ucie", p.ucie[s], number);
  const std::string body = out.str();
  return body + "checksum " + hex_of(Checksum().add(body).value()) + '\n';
}

/// Reads text_of()'s format; none if a word is invalid or a router is not in the plan.
class Reader {
 public:
  explicit Reader(const std::string& body) : in_(body), most_items_(body.size() / 2) {}

  std::optional<MeshPlan> plan() {
    MeshPlan p;
    const auto pairs = [&](const char* name, MeshPlan::Pairs& into) {
      into.resize(size(name));
      for (auto& [a, b] : into) a = router(p), b = router(p);
    };
    const auto routers = [&](const char* name, std::vector<uint32_t>& into) {
      into.resize(size(name));
      for (uint32_t& r : into) r = router(p);
    };
    p.routers.resize(size("routers"));
    for (Cell& c : p.routers) in_ >> c.row >> c.col;
    pairs("horizontal", p.horizontal);
    pairs("vertical", p.vertical);
    routers("pe", p.pe);
    p.m_cpu = attachment("m_cpu", p);
    p.sram = attachment("sram", p);
    for (auto& side : p.ucie) routers("ucie", side);
    std::string rest;
    if (!good_ || !in_ || in_ >> rest) return std::nullopt;
    return p;
  }

 private:
  void word(const char* expected) {
    std::string found;
    in_ >> found;
    good_ = good_ && found == expected;
  }
  size_t size(const char* name) {
    word(name);
    size_t n = 0;
    in_ >> n;
    good_ = good_ && in_ && n <= most_items_;
    return good_ ? n : 0;
  }
  uint32_t router(const MeshPlan& p) {
    uint32_t r = 0;
    in_ >> r;
    good_ = good_ && r < p.routers.size();
    return r;
  }
  uint32_t attachment(const char* name, const MeshPlan& p) {
    word(name);
    uint32_t r = 0;
    in_ >> r;
    good_ = good_ && (r == kNoNode || r < p.routers.size());
    return r;
  }

  TextInput in_;
  size_t most_items_;  ///< items have at least a digit and a space
  bool good_ = true;
};

/// The plan in a cube's file; without one, nothing and the reason.
std::optional<MeshPlan> parse(const std::string& text, const CubeSpec& cube, std::string& why) {
  const size_t end = text.rfind("checksum ");
  if (end == std::string::npos ||
      text.compare(end, std::string::npos, "checksum " + hex_of(Checksum().add({text.data(), end}).value()) + '\n')) {
    why = "is damaged";
    return std::nullopt;
  }
  const std::string head = kFirstLine + mesh_key(cube) + '\n';
  if (text.compare(0, head.size(), head) != 0) {
    why = "is of another description or version";
    return std::nullopt;
  }
  auto plan = Reader(text.substr(head.size(), end - head.size())).plan();
  if (plan && fits(*plan, cube)) return plan;
  why = "is damaged";
  return std::nullopt;
}

void note(const std::string& text) {
  logging::info(logging::Room::topology, [&] { return "mesh cache: " + text; });
}

}  // namespace

MeshCache::MeshCache(std::string folder) : folder_(std::move(folder)) {}

std::string MeshCache::file_of(const CubeSpec& cube) const {
  return folder_ + "/mesh-" + hex_of(Checksum().add(mesh_key(cube)).value()) + ".txt";
}

MeshPlan MeshCache::plan(const CubeSpec& cube) const {
  if (folder_.empty()) return plan_mesh(cube);
  const std::string file = file_of(cube);
  std::error_code error;
  const uint64_t size = std::filesystem::is_regular_file(file, error) ? std::filesystem::file_size(file, error) : 0;
  if (!error && size > 0 && size <= kLongestFile) {
    std::string text(size, '\0'), why = "cannot be read";
    std::ifstream in(file, std::ios::binary);
    if (in.read(text.data(), static_cast<std::streamsize>(size))) {
      if (auto found = parse(text, cube, why)) {
        note("taken from " + file);
        return *std::move(found);
      }
    }
    note(file + " " + why + "; made anew");
  }
  const MeshPlan made = plan_mesh(cube);
  keep(cube, made);
  return made;
}

void MeshCache::keep(const CubeSpec& cube, const MeshPlan& plan) const {
  const std::string file = file_of(cube);
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  std::string aside = folder_ + "/mesh-XXXXXX";
  const int fd = error ? -1 : mkstemp(aside.data());
  if (fd < 0) {
    note("nothing kept: " + folder_ + ": " + (error ? error.message() : std::strerror(errno)));
    return;
  }
  const std::string text = text_of(mesh_key(cube), plan);
  size_t written = 0;
  for (ssize_t n = 1; n > 0 && written<text.size(); written += n> 0 ? static_cast<size_t>(n) : 0)
    n = write(fd, text.data() + written, text.size() - written);
  const bool whole = close(fd) == 0 && written == text.size();
  if (whole && std::rename(aside.c_str(), file.c_str()) == 0) {
    note("kept in " + file);
    return;
  }
  note("nothing kept: " + file + ": " + std::strerror(errno));
  std::remove(aside.c_str());
}

std::string default_cache_folder() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value ? value : "");
  };
  const std::string own = variable("KERNBENCH_CACHE");
  if (own == "off") return "";
  if (!own.empty()) return own;
  const std::string xdg = variable("XDG_CACHE_HOME"), home = variable("HOME");
  if (!xdg.empty() && xdg[0] == '/') return xdg + "/kernbench";
  return home.empty() || home[0] != '/' ? "" : home + "/.cache/kernbench";
}

}  // namespace kernbench::topology
