// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/study/sweep/store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>

#include "kernbench/phase2/io/input_file.h"
#include "kernbench/phase2/log/checksum.h"
#include "kernbench/phase2/log/real_name.h"
#include "kernbench/phase2/log/sqlite_database.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/json_reader.h"

namespace kernbench::sweep {
namespace {

constexpr int kPatienceMs = 60'000;  // maximal wait for another process's transaction
constexpr const char* kTables = R"(
create table if not exists store (kernbench text not null);
create table if not exists owners (id integer primary key autoincrement);
create table if not exists points (
  key text primary key,            -- SHA-256 of all that decides its results
  command text not null,           -- what repeats it
  owner integer not null,          -- who simulates it, or did last
  starts integer not null,         -- how often it was begun
  status integer,                  -- exit status; null until it has ended
  final integer not null,          -- 1: it would come out the same again
  error text not null,             -- the first line on stderr
  metrics text not null,           -- JSON
  wall_s real not null,
  run text not null,               -- which run it was, JSON, as reports begin with it
  checksums text not null          -- of each column before, 8 hexadecimal digits
) without rowid;
)";

}  // namespace

/// A file with one locked byte per process that uses the store; byte 0 is locked by the process that creates it. The
/// system releases locks when a process ends in any way. Children do not inherit them.
class OwnerLocks {
 public:
  explicit OwnerLocks(const std::string& file)
      : name_(file), fd_(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    if (fd_ < 0) throw InputError(fmt::format("{}: cannot be opened: {}", name_, std::strerror(errno)));
  }
  ~OwnerLocks() { close(fd_); }
  OwnerLocks(const OwnerLocks&) = delete;
  OwnerLocks& operator=(const OwnerLocks&) = delete;
  void lock(int64_t byte) { ask(F_SETLKW, F_WRLCK, byte); }
  void unlock(int64_t byte) { ask(F_SETLK, F_UNLCK, byte); }
  /// Whether another process holds the lock.
  bool taken(int64_t byte) { return ask(F_GETLK, F_WRLCK, byte) != F_UNLCK; }

 private:
  short ask(int what, short type, int64_t byte) {
    struct flock l {};
    l.l_type = type;
    l.l_whence = SEEK_SET;
    l.l_start = byte;
    l.l_len = 1;
    while (fcntl(fd_, what, &l) != 0) {
      if (errno != EINTR) throw RunError(fmt::format("{}: cannot be locked: {}", name_, std::strerror(errno)));
    }
    return l.l_type;
  }
  std::string name_;
  int fd_;
};

namespace {

/// A row of `points`.
struct StoredPoint {
  std::string key, command;
  int64_t owner = 0, starts = 0;
  std::optional<int64_t> status = std::nullopt;
  int64_t final = 0;
  std::string error = "", metrics = "null";
  double wall_s = 0;
  std::string run = "";
};

constexpr const char* kSelect =
    "select key, command, owner, starts, status, final, error, metrics, wall_s, run, checksums from points ";
constexpr const char* kWrite = "insert or replace into points values (?,?,?,?,?,?,?,?,?,?,?)";

struct Column {
  const char* name;
  int type;
  bool may_be_null = false;
};
constexpr Column kColumns[] = {{"key", SQLITE_TEXT},       {"command", SQLITE_TEXT},         {"owner", SQLITE_INTEGER},
                               {"starts", SQLITE_INTEGER}, {"status", SQLITE_INTEGER, true}, {"final", SQLITE_INTEGER},
                               {"error", SQLITE_TEXT},     {"metrics", SQLITE_TEXT},         {"wall_s", SQLITE_FLOAT},
                               {"run", SQLITE_TEXT},       {"checksums", SQLITE_TEXT}};
constexpr size_t kDigits = 8;  ///< of a column's checksum

const char* name_of_type(int type) {
  switch (type) {
    case SQLITE_INTEGER:
      return "a whole number";
    case SQLITE_FLOAT:
      return "a number";
    case SQLITE_TEXT:
      return "text";
    case SQLITE_NULL:
      return "nothing";
    default:
      return "bytes";
  }
}

/// Checksums of each column, and of the complete row.
std::string checksums(const StoredPoint& p) {
  std::string all;
  const auto add = [&](const auto& value) {
    const uint64_t sum = Checksum().add(p.key).add("\n").add(value).value();
    all += hex_of(sum ^ (sum >> 32)).substr(16 - kDigits);
  };
  add(std::string_view(p.key));
  add(std::string_view(p.command));
  add(static_cast<uint64_t>(p.owner));
  add(static_cast<uint64_t>(p.starts));
  add(static_cast<uint64_t>(p.status.value_or(-1)));
  add(static_cast<uint64_t>(p.final));
  add(std::string_view(p.error));
  add(std::string_view(p.metrics));
  add(p.wall_s);
  add(std::string_view(p.run));
  return all;
}

[[noreturn]] void refuse(const std::string& file, std::string_view key, const std::string& column,
                         const std::string& why) {
  throw InputError(
      fmt::format("{}: is damaged: point {}, column {}: {}", file, in_quotes(std::string(key)), column, why));
}

/// A row of kSelect. InputError with row and column if it differs from what was written.
StoredPoint point_of(const Statement& s, const std::string& file) {
  const std::string_view key = s.text(0);
  int c = 0;
  for (const Column& column : kColumns) {
    const int type = s.type(c++);
    if (type != column.type && !(column.may_be_null && type == SQLITE_NULL))
      refuse(file, key, column.name,
             fmt::format("found {}, expected {}", name_of_type(type), name_of_type(column.type)));
  }
  StoredPoint p{std::string(key), std::string(s.text(1)), s.integer(2), s.integer(3)};
  if (s.type(4) != SQLITE_NULL) p.status = s.integer(4);
  p.final = s.integer(5);
  p.error = s.text(6);
  p.metrics = s.text(7);
  p.wall_s = s.real(8);
  p.run = s.text(9);
  const std::string found = std::string(s.text(10)), expected = checksums(p);
  if (found.size() != expected.size()) refuse(file, key, "checksums", "found those of other columns");
  for (size_t at = 0; at < expected.size(); at += kDigits) {
    if (found.compare(at, kDigits, expected, at, kDigits) != 0)
      refuse(file, key, kColumns[at / kDigits].name, "does not agree with its checksum");
  }
  // A correct checksum excludes damage, not invalid contents.
  if (p.status && (*p.status < 0 || *p.status > 255))
    refuse(file, key, "status", fmt::format("found {}, expected an exit status", *p.status));
  if (p.final != 0 && (p.final != 1 || !p.status))
    refuse(file, key, "final", fmt::format("found {}{}", p.final, p.status ? "" : " beside no status"));
  if (!(p.wall_s >= 0) || std::isinf(p.wall_s)) refuse(file, key, "wall_s", "found no time");
  return p;
}

/// Of an ended point.
PointResult result_of(const StoredPoint& p, const std::string& file) {
  PointResult r;
  r.status = static_cast<int>(*p.status);
  r.error = p.error;
  r.wall_s = p.wall_s;
  r.run = p.run;
  try {
    r.metrics = parse_json<nlohmann::json>(p.metrics);
    if (!r.metrics.is_object() && !r.metrics.is_null())
      throw JsonFault("found " + shown(r.metrics) + ", expected an object");
    for (const auto& v : r.metrics) {
      if (v.is_structured()) throw JsonFault("found " + shown(v) + ", expected a number or a text");
    }
  } catch (const JsonFault& e) {
    refuse(file, p.key, "metrics", e.what());
  }
  return r;
}

/// The version that created the store; empty for an empty database. Afterwards SQLite only stores rows.
std::string version_of(Database& db) {
  db.distrust();
  {
    Statement all(db, "select count(*) from sqlite_schema");
    if (all.next() && all.integer(0) == 0) return "";
  }
  {
    Statement tables(
        db, "select count(*) from sqlite_schema where type = 'table' and name in ('store', 'owners', 'points')");
    if (!tables.next() || tables.integer(0) != 3)
      throw InputError(db.name() + ": found a database that is no store of sweeps");
  }
  Statement version(db, "select kernbench from store");
  if (!version.next() || version.type(0) != SQLITE_TEXT)
    throw InputError(db.name() + ": found a store without its version");
  return std::string(version.text(0));
}

void check_version(Database& db, const std::string& found, const std::string& expected) {
  if (found != expected)
    throw InputError(fmt::format(
        "{}: found a store of kernbench {}, expected one of {}: results of different versions are not mixed", db.name(),
        in_quotes(found), expected));
  check_schema(db, kTables, "store of kernbench " + expected);
  Statement triggers(db, "select name from sqlite_schema where type = 'trigger'");
  if (triggers.next())
    throw InputError(
        fmt::format("{}: found trigger {}, which no store has", db.name(), in_quotes(std::string(triggers.text(0)))));
  check_pages(db);
  db.limit_steps(~uint64_t{0});
}

/// A transaction; rolled back if an exception leaves it.
class Transaction {
 public:
  explicit Transaction(Database& db) : db_(db) { db_.run("begin immediate"); }
  ~Transaction() {
    if (!done_) sqlite3_exec(db_.get(), "rollback", nullptr, nullptr, nullptr);
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit() {
    db_.run("commit");
    done_ = true;
  }

 private:
  Database& db_;
  bool done_ = false;
};

/// While opening, SQLite's errors about the file are input errors.
template <class Work>
auto about_input(const Work& work) {
  try {
    return work();
  } catch (const OpLogError& e) {
    throw InputError(e.what());
  }
}

/// The same for an open store: errors of the system are not the file's.
template <class Work>
auto told(const Work& work) {
  try {
    return work();
  } catch (const DatabaseFailed& e) {
    throw RunError(e.what());
  } catch (const OpLogError& e) {
    throw InputError(e.what());
  }
}

/// A second hard link would have a separate log and separate locks.
std::string only_name(const std::string& file) {
  struct stat s {};
  if (::stat(file.c_str(), &s) == 0 && s.st_nlink > 1)
    throw InputError(fmt::format(
        "{}: found a file with {} names (hard links), expected one: sweeps by another would not know of this one", file,
        s.st_nlink));
  return real_name(name_of_file(file));
}

}  // namespace

bool PointResult::final() const {
  return status <= 2 && error.find(kOutOfMemory) == std::string::npos;
}

bool PointResult::lacks(bool explained) const {
  return explained && metrics.is_object() && !metrics.contains("bound_by");
}

struct Store::Open {
  Open(const std::string& file, const std::string& v, double s)
      : version(v), sync_s(s), name(only_name(file)), db(name, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) {
    sqlite3_busy_timeout(db.get(), kPatienceMs);
    const auto checked_version = [&] {
      std::string found = version_of(db);
      if (!found.empty()) check_version(db, found, version);
      return found;
    };
    checked_version();  // creates nothing beside a file that is no store
    owners = std::make_unique<OwnerLocks>(name + "-owners");
    owners->lock(0);  // one process creates it
    const std::string found = checked_version();
    // After a loss of power only the last commits may be missing.
    db.run("pragma journal_mode = wal; pragma synchronous = normal");
    if (found.empty()) {
      db.run("begin immediate");
      db.run(kTables);
      Statement(db, "insert into store values (?)").bind(std::string_view(version)).run();
      db.run("commit");
    }
    db.run("insert into owners default values");
    owner = sqlite3_last_insert_rowid(db.get());
    owners->lock(owner);
    owners->unlock(0);
    write.emplace(db, kWrite);
  }
  std::optional<StoredPoint> find(const std::string& key) {
    Statement s(db, (std::string(kSelect) + "where key = ?").c_str());
    s.bind(std::string_view(key));
    if (!s.next()) return std::nullopt;
    return point_of(s, db.name());
  }
  /// Replaces the old row.
  void keep(const StoredPoint& p) {
    const std::string sums = checksums(p);
    write->bind(std::string_view(p.key)).bind(std::string_view(p.command)).bind(p.owner).bind(p.starts);
    if (p.status) {
      write->bind(*p.status);
    } else {
      write->null();
    }
    write->bind(p.final).bind(std::string_view(p.error)).bind(std::string_view(p.metrics)).bind(p.wall_s);
    write->bind(std::string_view(p.run)).bind(std::string_view(sums)).run();
  }
  /// Commits alone do not sync.
  void sync_if_due() {
    const auto now = std::chrono::steady_clock::now();
    if (std::chrono::duration<double>(now - synced).count() < sync_s) return;
    synced = now;
    // Only data that other processes are reading now may remain for the next time.
    db.check(sqlite3_wal_checkpoint_v2(db.get(), nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr));
  }
  const std::string version;
  const double sync_s;
  const std::string name;  ///< real_name(): the store's other files are beside it
  std::chrono::steady_clock::time_point synced = std::chrono::steady_clock::now();
  Database db;
  std::unique_ptr<OwnerLocks> owners;
  int64_t owner = 0;
  std::optional<Statement> write;
};

Store::Store(const std::string& file, const std::string& version, double sync_s) {
  about_input([&] { open_ = std::make_unique<Open>(file, version, sync_s); });
}

Store::~Store() = default;

std::optional<PointResult> Store::find(const std::string& key, bool final) {
  return told([&]() -> std::optional<PointResult> {
    const auto p = open_->find(key);
    if (!p || !p->status || (final && p->final == 0)) return std::nullopt;
    return result_of(*p, open_->db.name());
  });
}

Store::Claim Store::claim(const std::string& key, const std::string& command, bool explained) {
  return told([&] {
    Transaction all(open_->db);
    const auto p = open_->find(key);
    if (p && p->final != 0 && !result_of(*p, open_->db.name()).lacks(explained)) return Claim::done;
    if (p && !p->status && p->owner != open_->owner && open_->owners->taken(p->owner)) return Claim::others;
    open_->keep({key, command, open_->owner, (p ? p->starts : 0) + 1});
    all.commit();
    return Claim::mine;
  });
}

void Store::put(const std::string& key, const PointResult& r) {
  told([&] {
    Transaction all(open_->db);
    auto p = open_->find(key);
    if (!p || p->final != 0) return;
    p->status = r.status;
    p->final = r.final();
    p->error = r.error;
    p->metrics = json_text(r.metrics);
    p->wall_s = r.wall_s;
    p->run = r.run;
    open_->keep(*p);
    all.commit();
    open_->sync_if_due();
  });
}

Store::Merged Store::merge(const std::string& file) {
  return told([&] {
    Database from(file, SQLITE_OPEN_READWRITE);
    sqlite3_busy_timeout(from.get(), kPatienceMs);
    check_version(from, version_of(from), open_->version);
    Merged merged;
    Transaction all(open_->db);
    Statement points(from, (std::string(kSelect) + "where status is not null order by key").c_str());
    while (points.next()) {
      StoredPoint p = point_of(points, file);
      const PointResult r = result_of(p, file);
      if (const auto there = find(p.key, true)) {
        if (p.final != 0 && (there->status != r.status || there->metrics != r.metrics))
          throw RunError(fmt::format("{} and {} have other results of one point: {}", open_->db.name(), file,
                                     cut(p.command, 200)));
        ++merged.there;
        continue;
      }
      p.owner = open_->owner;
      open_->keep(p);
      ++merged.added;
    }
    all.commit();
    return merged;
  });
}

std::vector<std::string> Store::files(const std::string& file) {
  std::vector<std::string> all;
  for (const char* end : {"", "-owners", "-progress", "-wal", "-shm", "-journal"}) all.push_back(real_name(file) + end);
  return all;
}

bool Store::is_store(const std::string& file) {
  std::ifstream in = open_input(file);
  char first[6] = {};
  if (!in.read(first, sizeof first) || std::string_view(first, sizeof first) != "SQLite") return false;
  return about_input([&] {
    Database db(file, SQLITE_OPEN_READWRITE);
    db.distrust();
    Statement s(db, "select count(*) from sqlite_master where type = 'table' and name in ('store', 'points')");
    return s.next() && s.integer(0) == 2;
  });
}

std::vector<PointResult> Store::read(const std::string& file) {
  return about_input([&] {
    Database db(file, SQLITE_OPEN_READWRITE);
    sqlite3_busy_timeout(db.get(), kPatienceMs);
    const std::string version = version_of(db);
    check_version(db, version, version);
    std::vector<PointResult> all;
    Statement s(db, (std::string(kSelect) + "where status is not null order by key").c_str());
    while (s.next()) all.push_back(result_of(point_of(s, file), file));
    return all;
  });
}

}  // namespace kernbench::sweep
