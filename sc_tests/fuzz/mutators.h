// SPDX-License-Identifier: Apache-2.0
// Mutations that keep most of an input's structure, so that code behind a reader's first checks is reached.
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

// Each makes one change, rarely none. Checksums are recomputed in seven of eight cases.

std::string mutate_bytes(std::string, Random&);
/// Words, markers and lines of YAML, CSV or options.
std::string mutate_text(std::string, Random&);
/// Values, keys and items of a JSON document; other text is mutated as text.
std::string mutate_json(std::string, Random&);
/// An op log of JSON lines.
std::string mutate_jsonl_log(std::string, Random&);
/// Cells, rows and tables of a database.
std::string mutate_sqlite(std::string, Random&);
/// Header and length of an .npy file.
std::string mutate_npy(std::string, Random&);
/// Chunks of a memory file.
std::string mutate_memory_file(std::string, Random&);
/// Fields of a Protocol Buffers message, at any depth. Enclosing lengths are adjusted.
std::string mutate_protobuf(std::string, Random&);
/// A file of the mesh cache.
std::string mutate_mesh_cache(std::string, Random&);

}  // namespace kernbench::fuzz
