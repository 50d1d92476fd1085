// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/io/memory_file.h"

#include <fmt/format.h>

#include "kernbench/phase2/memory/bulk_bytes.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>

namespace kernbench::phase2 {

/// Head of a chunk, before its bytes.
struct ChunkHead {
  uint32_t kind = 0, space = 0, pe = 0, zero = 0;
  uint64_t key = 0, bytes = 0, checksum = 0;
};

namespace {

constexpr char kMagic[] = "KBMEM001";
enum Kind : uint32_t { kExtent = 1, kData = 2, kEnd = 3, kHeader = 4, kSpaceName = 5 };

static_assert(sizeof(ChunkHead) == 40, "as documented");

/// Mixes in each 8-byte word: a change of any bit changes the result.
uint64_t mix(uint64_t sum, const uint8_t* p, uint64_t n) {
  while (n) {
    uint64_t word = 0;
    const uint64_t len = n < 8 ? n : 8;
    std::memcpy(&word, p, len);
    sum = (sum ^ word) * 0x9e3779b97f4a7c15ull;
    sum ^= sum >> 29;
    p += len;
    n -= len;
  }
  return sum;
}

uint64_t checksum(ChunkHead h, const uint8_t* data) {
  h.checksum = 0;
  return mix(mix(0x6b6265656e6368ull, reinterpret_cast<const uint8_t*>(&h), sizeof h), data, h.bytes);
}

uint64_t padding(uint64_t n) {
  return (8 - n % 8) % 8;
}

/// Whether only the memory file has the bytes that the op wrote.
bool needs_bytes(const OpRecord& r) {
  const bool constant = r.desc->type == CommandType::store && r.desc->operands.empty();
  return r.foreign || constant || r.desc->materialized || r.desc->engine_result ||
         (r.desc->carried && r.desc->carried->bytes);
}

}  // namespace

void MemoryFileWriter::put(const void* p, uint64_t n) {
  if (!p || n == 0) return;
  if (std::fwrite(p, 1, n, file_->stream()) != n) file_->fail();
}

void MemoryFileWriter::chunk(ChunkHead h, const uint8_t* data) {
  h.checksum = checksum(h, data);
  put(&h, sizeof h);
  put(data, h.bytes);
  const uint64_t zero = 0;
  put(&zero, padding(h.bytes));
  ++chunks_;
}

void MemoryFileWriter::flush() {
  if (std::fflush(file_->stream()) != 0) file_->fail();
}

MemoryFileWriter::MemoryFileWriter(std::unique_ptr<WrittenFile> file, const MemoryImage& at_start)
    : file_(std::move(file)) {
  file_->empty();
  put(kMagic, 8);
  Space named = Space::tcm;
  for (const auto& key : at_start.spaces()) {
    if (key.space > named) name_space(named = key.space);
    at_start.for_each_piece(key, [&](uint64_t addr, uint64_t n, const MemoryImage::Extent* e, uint64_t offset) {
      if (!e) return;
      if (e->producer()) throw OpLogError(file_->name() + ": the image at the start holds pending bytes");
      ChunkHead h;
      h.kind = kExtent;
      h.space = static_cast<uint32_t>(key.space);
      h.pe = key.pe;
      h.key = addr;
      h.bytes = n;
      chunk(h, e->data() + offset);
    });
  }
  flush();
}

/// From here on, the file of a killed run can be used.
void MemoryFileWriter::name_space(Space space) {
  ChunkHead h;
  h.kind = kSpaceName;
  h.space = static_cast<uint32_t>(space);
  h.bytes = name_of(space).size();
  chunk(h, reinterpret_cast<const uint8_t*>(name_of(space).data()));
}

MemoryFileWriter::MemoryFileWriter(const std::string& file, const MemoryImage& at_start)
    : MemoryFileWriter(std::make_unique<WrittenFile>(file), at_start) {}

MemoryFileWriter::~MemoryFileWriter() = default;

void MemoryFileWriter::begin(const OpLogHeader& header) {
  const std::string text = header_json(header);
  ChunkHead h;
  h.kind = kHeader;
  h.bytes = text.size();
  chunk(h, reinterpret_cast<const uint8_t*>(text.data()));
  // Data that a replay requires is written before the log's record, also if the run is killed.
  flush();
}

void MemoryFileWriter::record(OpRecord&& r) {
  if (!r.desc) return;
  const std::shared_ptr<const Bytes>& bytes = r.desc->engine_result ? r.desc->engine_result->bytes
                                              : r.desc->carried     ? r.desc->carried->bytes
                                                                    : r.desc->data;
  if (!bytes) return;
  add(r.op_id, bytes->data(), bytes->size());
  // Data that a replay requires is written before the log's record, also if the run is killed.
  if (needs_bytes(r)) flush();
}

void MemoryFileWriter::add(uint64_t op_id, const void* data, uint64_t nbytes) {
  ChunkHead h;
  h.kind = kData;
  h.key = op_id;
  h.bytes = nbytes;
  chunk(h, static_cast<const uint8_t*>(data));
}

void MemoryFileWriter::close() {
  if (!file_->stream()) return;
  ChunkHead h;
  h.kind = kEnd;
  h.key = chunks_;
  chunk(h, nullptr);
  file_->close();
}

MemoryFileContents read_memory_file(const std::string& file) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> in(std::fopen(file.c_str(), "rb"), std::fclose);
  if (!in) throw OpLogError(file + ": cannot be opened: " + std::strerror(errno));
  std::fseek(in.get(), 0, SEEK_END);
  const auto size = static_cast<uint64_t>(std::ftell(in.get()));
  std::rewind(in.get());
  char magic[8] = {};
  if (std::fread(magic, 1, 8, in.get()) != 8 || std::memcmp(magic, kMagic, 5) != 0) {
    throw OpLogError(file + ": is no memory file (it does not begin with KBMEM)");
  }
  if (std::memcmp(magic, kMagic, 8) != 0) {
    throw OpLogError(file + ": memory file of version " + std::string(magic + 5, 3) + ", expected 001");
  }
  MemoryFileContents c;
  std::map<uint32_t, Space> spaces = {{0, Space::hbm}, {1, Space::sram}, {2, Space::tcm}};
  uint64_t at = 8, chunks = 0;
  const auto damaged = [&](const std::string& what) {
    throw OpLogError(fmt::format("{}: is damaged at byte {}: {}", file, at, what));
  };
  while (at < size) {
    if (c.complete) damaged("bytes after the end");
    ChunkHead h;
    if (size - at < sizeof h) break;  // cut off
    if (std::fread(&h, sizeof h, 1, in.get()) != 1) damaged("cannot be read");
    if (h.kind < kExtent || h.kind > kSpaceName) damaged("no chunk of a known kind");
    const uint64_t left = size - at - sizeof h;
    if (h.bytes > left || padding(h.bytes) > left - h.bytes) break;  // cut off, or a damaged size: incomplete
    auto bytes = std::make_shared<Bytes>(bulk_bytes(h.bytes));
    uint8_t pad[8];
    if ((h.bytes && std::fread(bytes->data(), 1, h.bytes, in.get()) != h.bytes) ||
        std::fread(pad, 1, padding(h.bytes), in.get()) != padding(h.bytes)) {
      damaged("cannot be read");
    }
    if (checksum(h, bytes->data()) != h.checksum) damaged("the checksum of a chunk does not agree with its bytes");
    if (h.kind == kExtent) {
      const auto space = spaces.find(h.space);
      if (space == spaces.end()) damaged("no such address space");
      try {
        c.image.write_shared({space->second, h.pe}, h.key, {bytes, bytes->data(), h.bytes});
      } catch (const std::out_of_range& e) {
        damaged(e.what());
      }
    } else if (h.kind == kSpaceName) {
      if (h.space <= static_cast<uint32_t>(Space::tcm)) damaged("a name for a standard address space");
      try {
        spaces[h.space] = add_space(std::string(bytes->begin(), bytes->end()));
      } catch (const std::invalid_argument& e) {
        damaged(e.what());
      }
    } else if (h.kind == kHeader) {
      c.header.assign(bytes->begin(), bytes->end());
    } else if (h.kind == kData) {
      c.data[h.key] = bytes;
    } else {
      if (h.key != chunks) damaged("chunks are missing");
      c.complete = true;
    }
    ++chunks;
    at += sizeof h + h.bytes + padding(h.bytes);
  }
  return c;
}

namespace {

/// A desc with data. It also keeps alive the objects that the original's pointers refer to.
struct DescWithData : OpDesc {
  explicit DescWithData(std::shared_ptr<const OpDesc> o) : OpDesc(*o), origin(std::move(o)) {}
  std::shared_ptr<const OpDesc> origin;
};

}  // namespace

void attach_data(std::vector<OpRecord>& records, const MemoryFileContents& memory) {
  for (OpRecord& r : records) {
    const bool gives = r.desc && (r.desc->carried                      ? r.desc->carried->bytes != nullptr
                                  : r.desc->type == CommandType::store ? !r.desc->data
                                                                       : r.desc->engine_result != nullptr);
    if (!gives) continue;
    const auto it = memory.data.find(r.op_id);
    if (it == memory.data.end()) {
      if (needs_bytes(r)) {
        throw OpLogError(fmt::format("op {}: the memory file lacks the bytes it wrote", r.op_id));
      }
      continue;  // the source was pending, or moving it gives the same bytes
    }
    if (it->second->size() != r.desc->output.nbytes()) {
      throw OpLogError(fmt::format("op {}: the memory file has {} bytes for {} of {}", r.op_id, it->second->size(),
                                   r.desc->engine_result ? "a result" : "a store", r.desc->output.nbytes()));
    }
    auto d = std::make_shared<DescWithData>(r.desc);
    if (d->carried) {
      d->carried = std::make_shared<Carried>(Carried{d->carried->parts, it->second});
    } else if (d->engine_result) {
      d->engine_result = std::make_shared<EngineResult>(EngineResult{it->second});
    } else {
      d->data = it->second;
    }
    r.desc = std::move(d);
  }
}

}  // namespace kernbench::phase2
