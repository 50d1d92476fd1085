// SPDX-License-Identifier: Apache-2.0
// A transaction recording in the FTR format that LWTR4SC defines and that SCViewer and Surfer open: CBOR (RFC 8949),
// uncompressed. docs/recording.md lists the used parts of the format and the reasons.
//
// The file depends on the calls only: it contains no date and no host name. It grows in whole chunks as FILE.part,
// which a reader can open at any time, also after the writer was killed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kernbench/phase2/io/whole_file.h"

namespace kernbench::observe {

class FtrWriter {
 public:
  using Stream = uint32_t;
  using Generator = uint32_t;
  /// A transaction, which relations may name before it is written; id 0: none.
  struct Transaction {
    uint64_t id = 0;
    Stream stream = 0;
    explicit operator bool() const { return id != 0; }
  };

  /// InputError if the file cannot be written.
  explicit FtrWriter(const std::string& file);
  /// Without close() nothing remains of the file.
  ~FtrWriter();
  FtrWriter(const FtrWriter&) = delete;
  FtrWriter& operator=(const FtrWriter&) = delete;

  /// Viewers show names with dots as hierarchies: "system.sip0.cube0.pe0".
  Stream add_stream(std::string_view name, std::string_view kind);
  Generator add_generator(Stream, std::string_view name);

  Transaction make(Stream stream) { return {++last_transaction_, stream}; }
  /// Writes a transaction: begin(), its attributes, end(). For no transaction it writes nothing. The generator must
  /// belong to its stream; an attribute's name always has the same type.
  FtrWriter& begin(const Transaction&, Generator, uint64_t start_fs, uint64_t end_fs);
  FtrWriter& attribute(std::string_view name, uint64_t value);
  FtrWriter& attribute(std::string_view name, std::string_view value);
  void end();
  /// Writes nothing if either is none.
  void relate(std::string_view name, const Transaction& from, const Transaction& to);

  /// Writes the remaining data and renames the file. RunError if it could not be written.
  void close();

 private:
  struct Block {
    std::string text;
    uint64_t start_fs = ~uint64_t{0}, end_fs = 0;
  };
  uint64_t key_of(std::string_view);
  void flush_names();
  void flush(Stream);
  void flush_all();
  void flush_relations();
  void write_chunk(unsigned kind, std::string_view content);

  WholeFile out_;
  std::unordered_map<std::string, uint64_t> keys_;
  std::vector<std::string> new_names_;  ///< dictionary entries that are not in the file yet
  std::string directory_;               ///< directory entries that are not in the file yet
  std::string relations_;
  std::vector<Block> blocks_;  ///< by stream
  size_t waiting_bytes_ = 0;   ///< of all blocks
  uint32_t streams_ = 0, generators_ = 0;
  uint64_t last_transaction_ = 0;
  // The transaction between begin() and end().
  Stream stream_ = 0;
  std::string head_, attributes_;
  bool is_none_ = false;
  uint64_t attribute_count_ = 0;
  uint64_t start_fs_ = 0, end_fs_ = 0;
};

}  // namespace kernbench::observe
