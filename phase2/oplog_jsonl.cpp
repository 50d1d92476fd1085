#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "kernbench/phase2/checksum.h"
#include "kernbench/phase2/oplog_file.h"
#include "kernbench/phase2/oplog_sqlite.h"

namespace kernbench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kFlushBytes = 64 * 1024;
constexpr auto kFlushEvery = std::chrono::milliseconds(100);
/// Marks an orderly end, with the checksum of all bytes before; of the form of a record, as the header is.
std::string end_line(const Checksum& before) {
  return "{\"op_id\":0,\"t_start\":0,\"t_end\":0,\"component_id\":\"\",\"op_kind\":\"unknown\",\"op_name\":\"log_end\","
         "\"params\":{\"checksum\":\"" +
         hex_of(before.value()) + "\"},\"dependency_ids\":[]}";
}

class JsonlOpLog : public OpLogSink {
 public:
  explicit JsonlOpLog(const std::string& file) : name_(file), file_(std::fopen(file.c_str(), "wb")) {
    if (!file_) throw OpLogError(file + ": cannot be written: " + std::strerror(errno));
    // Whole lines or nothing: our buffer is the only one.
    std::setvbuf(file_, nullptr, _IONBF, 0);
  }
  ~JsonlOpLog() override {
    try {
      flush();
    } catch (const OpLogError&) {
      // record() or close() has told or would have told; a destructor cannot.
    }
    if (file_) std::fclose(file_);
  }

  void begin(const OpLogHeader& h) override {
    header_ = h;
    buffer_ += header_json(h);
    buffer_ += '\n';
    flush();
  }
  void record(OpRecord&& r) override {
    append_json(buffer_, r, header_);
    buffer_ += '\n';
    if (buffer_.size() >= kFlushBytes || (++since_look_ % 64 == 0 && Clock::now() - flushed_ > kFlushEvery)) flush();
  }
  void close() override {
    if (!file_) return;
    flush();
    buffer_ = end_line(sum_) + '\n';
    flush();
    std::FILE* f = file_;
    file_ = nullptr;
    if (std::fclose(f) != 0) fail();
  }

 private:
  void flush() {
    flushed_ = Clock::now();
    if (!file_ || buffer_.empty()) return;
    sum_.add(buffer_);
    const size_t done = std::fwrite(buffer_.data(), 1, buffer_.size(), file_);
    const bool all = done == buffer_.size();
    buffer_.clear();
    if (!all) fail();
  }
  [[noreturn]] void fail() const { throw OpLogError(name_ + ": cannot be written to: " + std::strerror(errno)); }

  std::string name_;
  std::FILE* file_;
  OpLogHeader header_;
  std::string buffer_;
  Checksum sum_;
  Clock::time_point flushed_ = Clock::now();
  uint32_t since_look_ = 0;
};

OpLogContents read_jsonl(const std::string& file, std::istream& in) {
  OpLogContents log;
  OpRecordParser parser;
  Checksum sum;
  std::string line;
  for (uint64_t number = 1; std::getline(in, line); ++number) {
    const bool last_without_end = in.eof();
    if (log.complete) throw OpLogError(file + ":" + std::to_string(number) + ": text behind the end of the log");
    if (line.find("\"op_name\":\"log_end\"") != std::string::npos) {
      if (line != end_line(sum)) throw OpLogError(file + ": is damaged: its lines do not agree with its checksum");
      log.complete = true;
      continue;
    }
    sum.add(line).add("\n");
    try {
      OpRecord r;
      if (parser.parse_line(line, r)) log.records.push_back(std::move(r));
    } catch (const std::exception& e) {
      if (last_without_end) break;  // cut off in the middle of a line
      throw OpLogError(file + ":" + std::to_string(number) + ": no record of an op log: " + one_line(e.what()));
    }
  }
  log.header = parser.header();
  sort_log(log.records);
  return log;
}

bool ends_with(const std::string& s, const std::string& end) {
  return s.size() >= end.size() && s.compare(s.size() - end.size(), end.size(), end) == 0;
}

}  // namespace

std::unique_ptr<OpLogSink> make_jsonl_log(const std::string& file) {
  return std::make_unique<JsonlOpLog>(file);
}

std::unique_ptr<OpLogSink> make_op_log(const std::string& file) {
  if (ends_with(file, ".jsonl")) return make_jsonl_log(file);
  for (const char* end : {".sqlite", ".sqlite3", ".db"}) {
    if (ends_with(file, end)) return make_sqlite_log(file);
  }
  throw OpLogError(file + ": the name of an op log ends in .jsonl, .sqlite, .sqlite3 or .db");
}

OpLogContents read_op_log(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw OpLogError(file + ": cannot be opened: " + std::strerror(errno));
  char lead[16] = {};
  in.read(lead, sizeof lead);
  const std::streamsize got = in.gcount();
  if (in.bad()) throw OpLogError(file + ": cannot be read");
  if (got == sizeof lead && std::memcmp(lead, "SQLite format 3", 16) == 0) return read_sqlite_log(file);
  if (got == 0) throw OpLogError(file + ": is no op log: it is empty (cut off before its header)");
  if (lead[0] != '{') throw OpLogError(file + ": is no op log (neither JSON lines nor SQLite)");
  in.clear();
  in.seekg(0);
  return read_jsonl(file, in);
}

}  // namespace kernbench
