// The memory file beside an op log (data contract §4): the image at t = 0 and, by op_id, the bytes of every real store
// and foreign write and the results of engines of the user's. With the log it is all that a replay in another process
// needs.
//
// Layout, little endian: "KBMEM001", then chunks of a 40-byte head {u32 kind, u32 space, u32 pe, u32 0, u64 key,
// u64 bytes, u64 checksum} and the bytes, padded to 8. Kinds: 1 = extent of the image at address `key`; 2 = data of the
// op `key`; 3 = end, `key` = number of chunks before it; 4 = the header of the log beside it, as that log's first JSON
// line has it; 5 = the name of the space that is called `space` in what follows (0 to 2 are hbm, sram, tcm). The
// checksum covers the rest of the head and the bytes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernbench/phase2/log/oplog_json.h"
#include "kernbench/phase2/log/written_file.h"
#include "kernbench/phase2/memory/memory_image.h"

namespace kernbench {

struct ChunkHead;

/// A log sink that writes the memory file while the simulation runs. Throws OpLogError when the file cannot be made or
/// written to.
class MemoryFileWriter : public OpLogSink {
 public:
  /// The image holds real bytes only.
  MemoryFileWriter(std::unique_ptr<WrittenFile>, const MemoryImage& at_start);
  MemoryFileWriter(const std::string& file, const MemoryImage& at_start);
  ~MemoryFileWriter() override;
  void begin(const OpLogHeader&) override;
  /// Keeps the data of stores and the results of engines; every other record passes by.
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
  std::string header;                                     ///< of the log, as header_json() gives it; empty: none
  bool complete = false;                                  ///< false: the run was cut off; what is there is whole
};

/// Throws OpLogError for what is no memory file, for a damaged one (with the place) and for another version.
MemoryFileContents read_memory_file(const std::string& file);

/// Gives the records of stores their bytes, and those of ops that an engine computed their results. Bytes that nothing
/// else can give (foreign writes, materialisations, results) and that are missing are an OpLogError.
void attach_data(std::vector<OpRecord>&, const MemoryFileContents&);

}  // namespace kernbench
