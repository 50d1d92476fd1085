// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/log/oplog_sqlite.h"

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <filesystem>
#include <mutex>
#include <new>
#include <thread>

#include "kernbench/phase2/energy/account.h"
#include "kernbench/phase2/log/checksum.h"
#include "kernbench/phase2/log/oplog_file.h"
#include "kernbench/phase2/log/real_name.h"
#include "kernbench/phase2/log/sqlite_database.h"
#include "kernbench/phase2/log/versions.h"
#include "kernbench/phase2/log/written_file.h"
#include "kernbench/phase2/text/json_writer.h"

namespace kernbench::phase2 {
namespace {

constexpr size_t kMostWaiting = 256 * 1024;  ///< records; beyond this the producer waits
constexpr auto kBatchEvery = std::chrono::milliseconds(50);
constexpr size_t kBatchAtOnce = 16 * 1024;

// Tokens are many and small, so their rows hold only numbers. The view gives them the form of other records.
constexpr const char* kSchema = R"sql(
CREATE TABLE header(key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE components(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE pes(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE commands(op_id INTEGER PRIMARY KEY, t_start REAL NOT NULL, t_end REAL NOT NULL,
  component INTEGER NOT NULL, op_kind TEXT NOT NULL, op_name TEXT NOT NULL, params TEXT NOT NULL,
  dependency_ids TEXT NOT NULL);
CREATE TABLE tokens(op_id INTEGER PRIMARY KEY, t_start REAL NOT NULL, t_end REAL NOT NULL,
  component INTEGER NOT NULL, stage INTEGER NOT NULL, composite_op_id INTEGER NOT NULL, tile_id INTEGER NOT NULL,
  fed_ns REAL NOT NULL, buffer_offset INTEGER NOT NULL, bytes INTEGER NOT NULL, m INTEGER NOT NULL, n INTEGER NOT NULL, k INTEGER NOT NULL,
  buffer_pieces TEXT NOT NULL);
CREATE TABLE stages(id INTEGER PRIMARY KEY, name TEXT NOT NULL, op_kind TEXT NOT NULL);
CREATE VIEW ops AS
  SELECT op_id, t_start, t_end, coalesce(c.name, '#' || component) AS component_id, op_kind, op_name, params,
         dependency_ids
    FROM commands LEFT JOIN components c ON c.id = component
  UNION ALL
  SELECT op_id, t_start, t_end, component_id, op_kind, op_name,
         CASE WHEN buffer_pieces = '' THEN params
              ELSE json_insert(params, '$.buffer_pieces', json(buffer_pieces)) END,
         '[]'
    FROM (SELECT op_id, t_start, t_end, coalesce(c.name, '#' || component) AS component_id, s.op_kind AS op_kind,
                 'TileToken/' || s.name AS op_name, buffer_pieces,
                 CASE WHEN s.op_kind = 'memory'
                   THEN json_object('composite_op_id', composite_op_id, 'tile_id', tile_id, 'stage_type', s.name,
                                    'fed_ns', json(printf('%!.17g', fed_ns)), 'buffer_offset', buffer_offset,
                                    'bytes', bytes)
                   ELSE json_object('composite_op_id', composite_op_id, 'tile_id', tile_id, 'stage_type', s.name,
                                    'fed_ns', json(printf('%!.17g', fed_ns)), 'buffer_offset', buffer_offset,
                                    'm', m, 'n', n, 'k', k) END AS params
            FROM tokens JOIN stages s ON s.id = stage LEFT JOIN components c ON c.id = component);
)sql";

// For runs with an energy account, in addition to the header's key `energy`. Joules are for queries; null without a
// constant.
constexpr const char* kEnergySchema =
    "CREATE TABLE energy(id INTEGER PRIMARY KEY, component TEXT NOT NULL, action TEXT NOT NULL, constant TEXT NOT "
    "NULL, "
    "count INTEGER NOT NULL, nm INTEGER NOT NULL, joules REAL, joules_low REAL, joules_high REAL)";

// The file's checksum is computed from the sum of the rows' checksums, so the order of rows does not matter. Every
// batch updates it in its own transaction, so that it is correct whenever a run is killed.

/// The text in the column: empty for the usual single piece.
std::string pieces_text(const TokenInfo& t) {
  std::string text;
  if (t.buffer_pieces.empty()) return text;
  JsonWriter w(text);
  write_buffer_pieces(w, t.buffer_pieces);
  return text;
}

std::string file_checksum(uint64_t rows, uint64_t header, bool complete) {
  return hex_of(Checksum().add(rows + header).add(uint64_t{complete}).value());
}

uint64_t checksum_of_token(const OpRecord& r, std::string_view pieces) {
  const TokenInfo& t = r.token;
  return Checksum()
      .add(r.op_id)
      .add(r.t_start)
      .add(r.t_end)
      .add(uint64_t{r.component})
      .add(static_cast<uint64_t>(t.stage))
      .add(t.composite_op_id)
      .add(uint64_t{t.tile_id})
      .add(t.fed_ns)
      .add(t.buffer_offset)
      .add(t.bytes)
      .add(static_cast<uint64_t>(t.m))
      .add(static_cast<uint64_t>(t.n))
      .add(static_cast<uint64_t>(t.k))
      .add(pieces)
      .value();
}

uint64_t checksum_of_command(uint64_t op_id, double t_start, double t_end, uint64_t component, std::string_view op_kind,
                             std::string_view op_name, std::string_view params, std::string_view dependencies) {
  Checksum sum;
  sum.add(op_id).add(t_start).add(t_end).add(component);
  return sum.add(op_kind).add(op_name).add(params).add(dependencies).value();
}

uint64_t checksum_of_header(const OpLogHeader& h, std::string_view tensors) {
  Checksum sum;
  for (const auto* names : {&h.components, &h.pes}) {
    for (const std::string& name : *names) sum.add(name).add("\n");
  }
  return sum.add(h.configuration).add("\n").add(h.isa).add("\n").add(tensors).value();
}

uint64_t checksum_of_action(const energy::Action& a) {
  Checksum sum;
  sum.add(a.component).add("\n").add(a.action).add("\n").add(a.constant);
  return sum.add(a.count).add(static_cast<uint64_t>(a.nm)).value();
}

class SqliteOpLog : public OpLogSink {
 public:
  explicit SqliteOpLog(const std::string& file)
      : file_(name_of_file(file)), db_(emptied(file_), SQLITE_OPEN_READWRITE) {
    // The write-ahead log survives a killed process. Only a crash of the machine could lose more.
    db_.run("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 4000;");
    db_.run(kSchema);
    insert_command_ = std::make_unique<Statement>(db_, "INSERT INTO commands VALUES(?,?,?,?,?,?,?,?)");
    insert_token_ = std::make_unique<Statement>(db_, "INSERT INTO tokens VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    set("version", std::to_string(kOpLogVersion));
    set("complete", "0");
    for (int i = 0; i < stage_count(); ++i) {
      OpRecord r;
      r.is_token = true;
      r.token.stage = static_cast<Stage>(i);
      Statement s(db_, "INSERT INTO stages VALUES(?, ?, ?)");
      s.bind(int64_t{i}).bind(name_of(r.token.stage)).bind(name_of(kind_of(r))).run();
    }
    try {
      writer_ = std::thread([this] { write(); });
    } catch (const std::system_error& e) {
      throw OpLogError(db_.name() + ": no thread can be started to write it: " + e.code().message());
    }
  }
  ~SqliteOpLog() override { stop(); }

  void begin(const OpLogHeader& h) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    header_ = h;
    header_is_new_ = true;
    more_.notify_one();
  }

  void record(OpRecord&& r) override {
    std::unique_lock<std::mutex> lock(mutex_);
    if (waiting_.size() >= kMostWaiting)
      room_.wait(lock, [this] { return waiting_.size() < kMostWaiting || failed(); });
    if (failed()) std::rethrow_exception(error_);
    waiting_.push_back(std::move(r));
    if (waiting_.size() == kBatchAtOnce) more_.notify_one();
  }

  void energy(const energy::Account& account) override { energy_ = std::make_unique<energy::Account>(account); }

  void close() override {
    if (!writer_.joinable()) return;
    stop();
    if (failed()) std::rethrow_exception(error_);
    db_.run("BEGIN");
    if (energy_) write_energy(*energy_);
    set("checksum", file_checksum(rows_sum_, header_sum_, true));
    db_.run("UPDATE header SET value = '1' WHERE key = 'complete'; COMMIT");
    insert_command_.reset();
    insert_token_.reset();
    // Moves everything into one file.
    db_.run("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE;");
  }

 private:
  static const std::string& emptied(WrittenFile& file) {
    file.empty();
    const std::string real = real_name(file.name());  // as SQLite resolves it
    for (const char* end : {"-wal", "-shm", "-journal"}) ::unlink((real + end).c_str());
    return file.name();
  }

  bool failed() const { return error_ != nullptr; }

  void stop() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
    }
    more_.notify_one();
    if (writer_.joinable()) writer_.join();
  }

  /// Errors are rethrown in the thread that delivers records.
  void write() {
    try {
      write_batches();
    } catch (...) {
      const std::lock_guard<std::mutex> lock(mutex_);
      error_ = std::current_exception();
      waiting_.clear();
      room_.notify_all();
    }
  }

  void write_batches() {
    std::vector<OpRecord> batch;
    for (bool last = false; !last; batch.clear()) {
      {
        std::unique_lock<std::mutex> lock(mutex_);
        more_.wait_for(lock, kBatchEvery,
                       [this] { return stopping_ || header_is_new_ || waiting_.size() >= kBatchAtOnce; });
        last = stopping_;
        batch.swap(waiting_);
        if (header_is_new_) {
          written_header_ = header_;
          header_pending_ = true;
          header_is_new_ = false;
        }
      }
      room_.notify_all();
      if (batch.empty() && !header_pending_) continue;
      db_.run("BEGIN");
      if (header_pending_) write_header();
      for (const OpRecord& r : batch) write(r);
      set("checksum", file_checksum(rows_sum_, header_sum_, false));
      db_.run("COMMIT");
    }
  }

  /// Updates the row in place. INSERT OR REPLACE would change the rowid, and the file's bytes would depend on the
  /// number of batches, which depends on the machine's load.
  void set(std::string_view key, std::string_view value) {
    Statement(db_, "INSERT INTO header VALUES(?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value")
        .bind(key)
        .bind(value)
        .run();
  }

  void write_header() {
    header_pending_ = false;
    set("configuration", written_header_.configuration);
    set("isa", written_header_.isa);
    const std::string tensors = tensors_json(written_header_.tensors, written_header_.pes);
    set("tensors", tensors);
    header_sum_ = checksum_of_header(written_header_, tensors);
    const auto names = [this](const char* sql, const std::vector<std::string>& list) {
      Statement s(db_, sql);
      for (size_t i = 0; i < list.size(); ++i) s.bind(uint64_t{i}).bind(std::string_view(list[i])).run();
    };
    names("INSERT INTO components VALUES(?, ?)", written_header_.components);
    names("INSERT INTO pes VALUES(?, ?)", written_header_.pes);
  }

  void write_energy(const energy::Account& account) {
    db_.run(kEnergySchema);
    std::string text;
    JsonWriter w(text);
    energy::write_account(w, account);
    set("energy", text);
    rows_sum_ += Checksum().add(text).value();
    Statement insert(db_, "INSERT INTO energy VALUES(?,?,?,?,?,?,?,?,?)");
    for (size_t i = 0; i < account.actions.size(); ++i) {
      const energy::Action& a = account.actions[i];
      rows_sum_ += checksum_of_action(a);
      insert.bind(uint64_t{i}).bind(std::string_view(a.component)).bind(std::string_view(a.action));
      insert.bind(std::string_view(a.constant)).bind(a.count).bind(a.nm);
      const energy::Band e = energy::energy_of(account, a);
      for (const energy::Rontojoules part : {e.value, e.low, e.high}) {
        if (account.find(a.constant)) {
          insert.bind(energy::joules(part));
        } else {
          insert.null();
        }
      }
      insert.run();
    }
  }

  void write(const OpRecord& r) {
    if (r.is_token) {
      const TokenInfo& t = r.token;
      const std::string pieces = pieces_text(t);
      rows_sum_ += checksum_of_token(r, pieces);
      insert_token_->bind(r.op_id)
          .bind(r.t_start)
          .bind(r.t_end)
          .bind(int64_t{r.component})
          .bind(static_cast<int64_t>(t.stage))
          .bind(t.composite_op_id)
          .bind(int64_t{t.tile_id})
          .bind(t.fed_ns)
          .bind(t.buffer_offset)
          .bind(t.bytes)
          .bind(t.m)
          .bind(t.n)
          .bind(t.k)
          .bind(std::string_view(pieces))
          .run();
      return;
    }
    params_.clear();
    append_params_json(params_, r, written_header_);
    dependencies_.clear();
    JsonWriter(dependencies_).value(r.dependency_ids);
    const std::string name = log_name_of(r);
    rows_sum_ += checksum_of_command(r.op_id, r.t_start, r.t_end, r.component, name_of(kind_of(r)), name, params_,
                                     dependencies_);
    insert_command_->bind(r.op_id)
        .bind(r.t_start)
        .bind(r.t_end)
        .bind(int64_t{r.component})
        .bind(name_of(kind_of(r)))
        .bind(std::string_view(name))
        .bind(std::string_view(params_))
        .bind(std::string_view(dependencies_))
        .run();
  }

  WrittenFile file_;  ///< locked while the database is open; SQLite writes it
  Database db_;
  std::unique_ptr<Statement> insert_command_, insert_token_;
  std::string params_, dependencies_;
  uint64_t rows_sum_ = 0, header_sum_ = checksum_of_header({}, "[]");
  OpLogHeader written_header_;  ///< used by the writer thread
  std::unique_ptr<energy::Account> energy_;
  bool header_pending_ = false;

  std::mutex mutex_;
  std::condition_variable more_, room_;
  std::vector<OpRecord> waiting_;
  OpLogHeader header_;
  bool header_is_new_ = false, stopping_ = false;
  std::exception_ptr error_;
  std::thread writer_;
};

}  // namespace

std::unique_ptr<OpLogSink> make_sqlite_log(const std::string& file) {
  return std::make_unique<SqliteOpLog>(file);
}

namespace {

/// Contents of a log file other than its records.
struct Header {
  OpLogHeader header;
  bool complete = false;
  std::string checksum;     ///< as written: covers header and rows
  uint64_t header_sum = 0;  ///< as computed from the file
  std::string energy;       ///< an account without its actions; empty: none
};

Header read_header(Database& db) {
  Header h;
  std::string tensors = "[]";
  for (Statement s(db, "SELECT key, value FROM header"); s.next();) {
    if (s.text(0) == "version" && s.text(1) != std::to_string(kOpLogVersion))
      throw OpLogError(fmt::format("{}: log version {}, expected {}", db.name(), s.text(1), kOpLogVersion));
    if (s.text(0) == "complete") h.complete = s.text(1) == "1";
    if (s.text(0) == "configuration") h.header.configuration = s.text(1);
    if (s.text(0) == "isa") h.header.isa = s.text(1);
    if (s.text(0) == "tensors") tensors = s.text(1);
    if (s.text(0) == "checksum") h.checksum = s.text(1);
    if (s.text(0) == "energy") h.energy = s.text(1);
  }
  for (Statement s(db, "SELECT name FROM components ORDER BY id"); s.next();)
    h.header.components.emplace_back(s.text(0));
  for (Statement s(db, "SELECT name FROM pes ORDER BY id"); s.next();) h.header.pes.emplace_back(s.text(0));
  try {
    h.header.tensors = parse_tensors(tensors, h.header.pes);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    throw OpLogError(db.name() + ": header: " + cut(e.what(), kMostOfReason));
  }
  h.header_sum = checksum_of_header(h.header, tensors);
  return h;
}

/// Adds the commands to the records and returns the sum of their checksums.
uint64_t read_commands(Database& db, const OpLogHeader& header, std::vector<OpRecord>& records) {
  uint64_t sum = 0;
  OpRecordParser parser(header);
  Statement s(db,
              "SELECT op_id, t_start, t_end, coalesce(c.name, '#' || component), op_kind, op_name, params, "
              "dependency_ids, component FROM commands LEFT JOIN components c ON c.id = component");
  while (s.next()) {
    const auto op_id = static_cast<uint64_t>(s.integer(0));
    sum += checksum_of_command(op_id, s.real(1), s.real(2), static_cast<uint64_t>(s.integer(8)), s.text(4), s.text(5),
                               s.text(6), s.text(7));
    try {
      records.push_back(
          parser.parse(op_id, s.real(1), s.real(2), s.text(3), s.text(4), s.text(5), s.text(6), s.text(7)));
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& e) {
      throw OpLogError(fmt::format("{}: op {}: {}", db.name(), s.integer(0), cut(e.what(), kMostOfReason)));
    }
  }
  return sum;
}

/// The same for tokens.
uint64_t read_tokens(Database& db, std::vector<OpRecord>& records) {
  uint64_t sum = 0;
  Statement s(db,
              "SELECT op_id, t_start, t_end, component, stage, composite_op_id, tile_id, fed_ns, bytes, m, n, k, "
              "buffer_offset, buffer_pieces FROM tokens");
  while (s.next()) {
    OpRecord& r = records.emplace_back();
    r.op_id = static_cast<uint64_t>(s.integer(0));
    r.t_start = s.real(1);
    r.t_end = s.real(2);
    r.component = static_cast<uint32_t>(s.integer(3));
    r.is_token = true;
    const int64_t stage = s.integer(4);
    if (stage < 0 || stage >= stage_count())
      throw OpLogError(fmt::format("{}: op {}: no such stage", db.name(), r.op_id));
    r.token.stage = static_cast<Stage>(stage);
    r.token.composite_op_id = static_cast<uint64_t>(s.integer(5));
    r.token.tile_id = static_cast<uint32_t>(s.integer(6));
    r.token.fed_ns = s.real(7);
    r.token.bytes = static_cast<uint64_t>(s.integer(8));
    r.token.m = s.integer(9);
    r.token.n = s.integer(10);
    r.token.k = s.integer(11);
    r.token.buffer_offset = static_cast<uint64_t>(s.integer(12));
    const std::string_view pieces = s.text(13);
    sum += checksum_of_token(r, pieces);
    try {
      check_record(r);
      if (!pieces.empty()) r.token.buffer_pieces = parse_buffer_pieces(pieces);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& e) {
      throw OpLogError(fmt::format("{}: op {}: {}", db.name(), r.op_id, cut(e.what(), kMostOfReason)));
    }
  }
  return sum;
}

std::string what_it_is() {
  return fmt::format("op log of version {}", kOpLogVersion);
}

/// Adds the energy to the log and returns the sum of its checksums.
uint64_t read_energy(Database& db, const std::string& account_text, OpLogContents& log) {
  check_schema(db, kEnergySchema, what_it_is());
  auto account = std::make_shared<energy::Account>();
  try {
    *account = energy::parse_account(account_text);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    throw OpLogError(db.name() + ": energy: " + cut(e.what(), kMostOfReason));
  }
  uint64_t sum = Checksum().add(account_text).value();
  for (Statement s(db, "SELECT component, action, constant, count, nm FROM energy ORDER BY id"); s.next();) {
    if (s.integer(3) < 0 || s.integer(4) < 0) throw OpLogError(db.name() + ": energy: a count or a length is negative");
    account->actions.push_back({std::string(s.text(0)), std::string(s.text(1)), std::string(s.text(2)),
                                static_cast<uint64_t>(s.integer(3)), s.integer(4)});
    sum += checksum_of_action(account->actions.back());
  }
  log.energy = std::move(account);
  return sum;
}

}  // namespace

OpLogContents read_sqlite_log(const std::string& file) {
  // Opened read-write, to recover the write-ahead log of a killed run. A read-only file has no such log.
  const bool writable = ::access(file.c_str(), W_OK) == 0;
  Database db(file, writable ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY);
  db.distrust();
  check_schema(db, kSchema, what_it_is());
  check_pages(db);
  Header h = read_header(db);
  OpLogContents log;
  log.complete = h.complete;
  uint64_t sum = read_commands(db, h.header, log.records);
  sum += read_tokens(db, log.records);
  if (!h.energy.empty()) sum += read_energy(db, h.energy, log);
  // A run that was killed before its first batch wrote neither records nor a checksum.
  const bool nothing = h.checksum.empty() && log.records.empty() && !log.complete;
  if (!nothing && h.checksum != file_checksum(sum, h.header_sum, log.complete))
    throw OpLogError(file + ": is damaged: its rows do not agree with its checksum");
  log.header = std::move(h.header);
  sort_log(log.records);
  return log;
}

}  // namespace kernbench::phase2
