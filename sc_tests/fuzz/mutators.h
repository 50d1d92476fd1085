// SPDX-License-Identifier: Apache-2.0
// Changes to inputs that keep most of their structure, so that what is behind a reader's first checks is reached.
#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace kernbench::fuzz {

/// The same numbers from the same seed on every machine.
class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  /// From 0 to below n; 0 for n = 0.
  size_t below(size_t n) { return n == 0 ? 0 : static_cast<size_t>(engine_() % n); }
  bool one_in(size_t n) { return below(n) == 0; }
  template <class List>
  const auto& one_of(const List& list) {
    return *(std::begin(list) + static_cast<std::ptrdiff_t>(below(std::size(list))));
  }

 private:
  std::mt19937_64 engine_;
};

// Each makes one change, rarely none; with checksums made anew, but in one of eight.

std::string mutate_bytes(std::string, Random&);
/// Words, marks and lines of YAML, CSV or options.
std::string mutate_text(std::string, Random&);
/// Values, keys and items of a JSON document; text that is none as text.
std::string mutate_json(std::string, Random&);
/// An op log of JSON lines.
std::string mutate_jsonl_log(std::string, Random&);
/// Cells, rows and tables of a database.
std::string mutate_sqlite(std::string, Random&);
/// Header and length of an .npy file.
std::string mutate_npy(std::string, Random&);
/// Chunks of a memory file.
std::string mutate_memory_file(std::string, Random&);
/// Fields of a Protocol Buffers message, at any depth; lengths around them fit again.
std::string mutate_protobuf(std::string, Random&);
/// A file of the mesh cache.
std::string mutate_mesh_cache(std::string, Random&);

}  // namespace kernbench::fuzz
