// SPDX-License-Identifier: Apache-2.0
// Files that Phase 2 reads: logs, memory files, arrays.
#include <fmt/format.h>

#include "kernbench/phase2/io/memory_file.h"
#include "kernbench/phase2/io/npy.h"
#include "kernbench/phase2/log/checksum.h"
#include "kernbench/phase2/log/oplog_file.h"
#include "kernbench/sc_tests/fuzz/fuzzed_readers.h"

namespace kernbench::fuzz {
namespace {

std::string text_of(const OpLogContents& log) {
  std::string text = header_json(log.header) + (log.complete ? "\ncomplete\n" : "\ncut off\n");
  for (const OpRecord& r : log.records) {
    append_json(text, r, log.header);
    text += '\n';
  }
  return log.energy ? text + energy_json(*log.energy) + '\n' : text;
}

std::string read_log(const std::string& input) {
  const InputFile file(input);
  try {
    OpLogContents log = read_op_log(file.name());
    const std::string text = text_of(log);
    const size_t dropped = drop_behind_gaps(log.records);
    return text + fmt::format("{} behind gaps\n", dropped);
  } catch (const OpLogError& e) {
    throw Refused(e.what());
  }
}

std::string read_memory(const std::string& input) {
  const InputFile file(input);
  try {
    const MemoryFileContents c = read_memory_file(file.name());
    std::string text = fmt::format("{} {}\n", c.complete ? "complete" : "cut off", c.header);
    for (const auto& key : c.image.spaces()) {
      c.image.for_each_piece(key, [&](uint64_t addr, uint64_t n, const MemoryImage::Extent* e, uint64_t offset) {
        if (!e) return;
        const std::string_view bytes(reinterpret_cast<const char*>(e->data() + offset), n);
        text += fmt::format("{} {} {}: {} {}\n", static_cast<int>(key.space), key.pe, addr, n,
                            hex_of(Checksum().add(bytes).value()));
      });
    }
    for (const auto& [op, bytes] : c.data) text += fmt::format("op {}: {}\n", op, bytes->size());
    return text;
  } catch (const OpLogError& e) {
    throw Refused(e.what());
  }
}

std::string read_array(const std::string& input) {
  const InputFile file(input);
  try {
    const NpyArray a = read_npy(file.name());
    const std::string_view bytes(reinterpret_cast<const char*>(a.bytes.data()), a.bytes.size());
    std::string text =
        fmt::format("{} {} {}\n", name_of(a.dtype), a.shape.elements(), hex_of(Checksum().add(bytes).value()));
    for (const DType as : {DType::bf16, DType::f16, DType::f8e4m3}) {
      try {
        text += fmt::format("{} bytes as {}\n", read_npy_as(file.name(), as).bytes.size(), name_of(as));
      } catch (const NpyError&) {
        text += fmt::format("none as {}\n", name_of(as));
      }
    }
    return text;
  } catch (const NpyError& e) {
    throw Refused(e.what());
  }
}

}  // namespace

std::vector<FuzzedReader> readers_of_phase2() {
  return {{"jsonl_log", read_log, mutate_jsonl_log},
          {"memory_file", read_memory, mutate_memory_file},
          {"npy", read_array, mutate_npy},
          {"sqlite_log", read_log, mutate_sqlite}};
}

}  // namespace kernbench::fuzz
