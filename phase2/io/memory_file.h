// SPDX-License-Identifier: Apache-2.0
// The memory file beside an op log (data rules §4). It has the image at t = 0 and, by op_id, the bytes of each
// non-pending store and foreign write and the results of foreign engines. A replay in another process needs only this
// file and the log.
//
// Layout, little endian: "KBMEM001", then chunks. A chunk is a 40-byte head {u32 kind, u32 space, u32 pe, u32 0, u64
// key, u64 bytes, u64 checksum} and its bytes, padded to 8. The checksum covers the rest of the head and the bytes.
// Kinds:
// - 1: extent of the image at address `key`
// - 2: data of the op `key`
// - 3: end; `key` is the number of chunks before it
// - 4: header of the log, equal to the first JSON line of that log
// - 5: name of the space with the number `space` in later chunks (0 to 2 are hbm, sram, tcm)
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernbench/phase2/log/oplog_json.h"
#include "kernbench/phase2/log/written_file.h"
#include "kernbench/phase2/memory/memory_image.h"

namespace kernbench::phase2 {

struct ChunkHead;

/// A log sink that writes the memory file during the simulation. OpLogError if the file cannot be created or written.
class MemoryFileWriter : public OpLogSink {
 public:
  /// The image must not have pending bytes.
  MemoryFileWriter(std::unique_ptr<WrittenFile>, const MemoryImage& at_start);
  MemoryFileWriter(const std::string& file, const MemoryImage& at_start);
  ~MemoryFileWriter() override;
  void begin(const OpLogHeader&) override;
  /// Keeps the data of stores and the results of engines; ignores all other records.
  void record(OpRecord&&) override;
  void add(uint64_t op_id, const void* data, uint64_t nbytes);
  void close() override;

 private:
  void put(const void* p, uint64_t n);
  void chunk(ChunkHead, const uint8_t* data);
  void name_space(Space);
  void flush();

  std::unique_ptr<WrittenFile> file_;
  uint64_t chunks_ = 0;
};

struct MemoryFileContents {
  MemoryImage image;
  std::map<uint64_t, std::shared_ptr<const Bytes>> data;  ///< by op_id
  std::string header;                                     ///< of the log, from header_json(); empty: none
  bool complete = false;  ///< false: the run was cut off; the contents are still consistent
};

/// OpLogError for a file of another kind, a damaged file (with the position) and another version.
MemoryFileContents read_memory_file(const std::string& file);

/// Attaches the bytes to records of stores, and the results to ops that an engine computed. OpLogError if required
/// bytes are missing (foreign writes, materializations, results).
void attach_data(std::vector<OpRecord>&, const MemoryFileContents&);

}  // namespace kernbench::phase2
