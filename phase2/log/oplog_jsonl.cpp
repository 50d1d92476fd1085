// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <new>
#include <set>

#include "kernbench/phase2/log/checksum.h"
#include "kernbench/phase2/log/oplog_file.h"
#include "kernbench/phase2/log/oplog_sqlite.h"
#include "kernbench/phase2/log/written_file.h"
#include "kernbench/phase2/text/json_writer.h"

namespace kernbench::phase2 {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kFlushBytes = 64 * 1024;
constexpr auto kFlushEvery = std::chrono::milliseconds(100);
/// Number of bytes after which a checksum follows: the most that a killed run can lose. It counts only bytes, so that
/// two runs write identical files.
constexpr size_t kCheckEvery = 4096;

/// The checksum of all bytes before it. log_end marks a normal end.
std::string check_line(const char* name, const Checksum& before) {
  return note_json(name, [&](JsonWriter& w) { w.field("checksum", hex_of(before.value())); });
}

bool is_check(const std::string& line, const std::string& name) {
  return line.compare(0, 11, "{\"op_id\":0,") == 0 && line.find("\"op_name\":\"" + name + "\"") != std::string::npos;
}

class JsonlOpLog : public OpLogSink {
 public:
  explicit JsonlOpLog(const std::string& file) : file_(file) {
    file_.empty();
    // Only complete lines are written, so the only buffer is ours.
    std::setvbuf(file_.stream(), nullptr, _IONBF, 0);
  }
  ~JsonlOpLog() override {
    try {
      flush();
    } catch (const std::exception&) {
      // record() or close() reports the error; a destructor cannot.
    }
  }

  void begin(const OpLogHeader& h) override {
    header_ = h;
    buffer_ += header_json(h);
    buffer_ += '\n';
    check("log_check");
    flush();
  }
  void record(OpRecord&& r) override {
    append_json(buffer_, r, header_);
    buffer_ += '\n';
    if (since_check_ + buffer_.size() - summed_ >= kCheckEvery) check("log_check");
    if (buffer_.size() >= kFlushBytes || (++since_look_ % 64 == 0 && Clock::now() - flushed_ > kFlushEvery)) flush();
  }
  void energy(const energy::Account& account) override { buffer_ += energy_json(account) + '\n'; }
  void close() override {
    if (!file_.stream()) return;
    check("log_end");
    flush();
    file_.close();
  }

 private:
  /// Adds the buffer's contents to the checksum.
  void sum() {
    sum_.add(std::string_view(buffer_).substr(summed_));
    since_check_ += buffer_.size() - summed_;
    summed_ = buffer_.size();
  }
  void check(const char* name) {
    sum();
    buffer_ += check_line(name, sum_) + '\n';
    sum();
    since_check_ = 0;
  }
  void flush() {
    flushed_ = Clock::now();
    if (!file_.stream() || buffer_.empty()) return;
    sum();
    const size_t done = std::fwrite(buffer_.data(), 1, buffer_.size(), file_.stream());
    const bool all = done == buffer_.size();
    buffer_.clear();
    summed_ = 0;
    if (!all) file_.fail();
  }

  WrittenFile file_;
  OpLogHeader header_;
  std::string buffer_;
  Checksum sum_;  ///< of all bytes before buffer_[summed_]
  size_t summed_ = 0;
  size_t since_check_ = 0;  ///< bytes after the last line with a checksum
  Clock::time_point flushed_ = Clock::now();
  uint32_t since_look_ = 0;
};

OpLogContents read_jsonl(const std::string& file, std::istream& in) {
  OpLogContents log;
  OpRecordParser parser;
  Checksum sum;
  std::string line;
  size_t checked = 0;  // records that a checksum covers
  for (uint64_t number = 1; std::getline(in, line); ++number) {
    const bool last_without_end = in.eof();
    if (log.complete) throw OpLogError(fmt::format("{}:{}: text after the end of the log", file, number));
    if (last_without_end) break;  // cut off in the middle of a line
    const bool end = is_check(line, "log_end"), check = end || is_check(line, "log_check");
    if (check) {
      if (line != check_line(end ? "log_end" : "log_check", sum))
        throw OpLogError(
            fmt::format("{}:{}: is damaged: the lines up to here do not agree with their checksum", file, number));
      checked = log.records.size();
      log.header = parser.header();
      log.energy = parser.energy();
      log.complete = end;
    }
    sum.add(line).add("\n");
    if (check) continue;
    try {
      OpRecord r;
      if (parser.parse_line(line, r)) log.records.push_back(std::move(r));
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& e) {
      throw OpLogError(fmt::format("{}:{}: no record of an op log: {}", file, number, cut(e.what(), kMostOfReason)));
    }
  }
  if (in.bad()) throw OpLogError(file + ": cannot be read to its end");
  log.records.resize(checked);
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

namespace {

bool in_program_order(const OpRecord& r) {
  return r.desc && !r.is_token && !r.foreign && r.desc->kind != OpKind::unknown && r.desc->pe != kNoPe;
}

/// A call of a PE, in its program order.
using Call = std::pair<uint32_t, uint64_t>;

/// Calls of messages with a missing segment, or whose send is missing.
std::set<Call> torn_messages(const std::vector<OpRecord>& records) {
  std::set<uint64_t> copies;
  std::map<Call, std::pair<uint32_t, uint32_t>> segments;  // found, expected
  for (const OpRecord& r : records) {
    if (!r.desc || !r.desc->queue) continue;
    if (r.desc->type == CommandType::store) copies.insert(r.op_id);
    auto& [there, expected] = segments[{r.desc->pe, r.desc->seq}];
    ++there;
    expected = r.desc->queue->segments;
  }
  std::set<Call> torn;
  for (const auto& [call, count] : segments) {
    if (count.first < count.second) torn.insert(call);
  }
  for (const OpRecord& r : records) {
    if (!r.desc || !r.desc->queue || r.desc->type == CommandType::store) continue;
    for (const uint64_t id : r.dependency_ids) {
      if (copies.count(id) == 0) torn.insert({r.desc->pe, r.desc->seq});
    }
  }
  return torn;
}

/// One pass: it may remove sends of messages that others received.
size_t drop_once(std::vector<OpRecord>& records) {
  const std::set<Call> torn = torn_messages(records);
  std::map<uint32_t, std::set<uint64_t>> seen;
  for (const OpRecord& r : records) {
    if (!in_program_order(r)) continue;
    std::set<uint64_t>& of_pe = seen[r.desc->pe];
    if (torn.count({r.desc->pe, r.desc->seq}) == 0) of_pe.insert(r.desc->seq);
  }
  std::map<uint32_t, uint64_t> first_missing;
  for (const auto& [pe, numbers] : seen) {
    uint64_t& next = first_missing[pe];
    for (auto it = numbers.begin(); it != numbers.end() && *it == next; ++it) ++next;
  }
  const size_t before = records.size();
  records.erase(std::remove_if(records.begin(), records.end(),
                               [&](const OpRecord& r) {
                                 return in_program_order(r) && r.desc->seq >= first_missing.at(r.desc->pe);
                               }),
                records.end());
  return before - records.size();
}

}  // namespace

size_t drop_behind_gaps(std::vector<OpRecord>& records) {
  size_t dropped = 0;
  while (const size_t more = drop_once(records)) dropped += more;
  return dropped;
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

}  // namespace kernbench::phase2
