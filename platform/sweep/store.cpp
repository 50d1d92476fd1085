#include "kernbench/platform/sweep/store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "kernbench/phase2/io/input_file.h"
#include "kernbench/phase2/log/sqlite_database.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/json_reader.h"

namespace kernbench::sweep {
namespace {

constexpr int kPatienceMs = 60'000;  // for another process' transaction
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
  run text not null                -- which run it was, JSON, as reports begin with it
) without rowid;
)";

}  // namespace

/// A file whose bytes are locked: one for each process that uses the store, and byte 0 by who makes it. The system
/// frees them when a process ends, however it ends; children do not inherit them.
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
  /// Whether another process has it.
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

PointResult result_of(const Statement& s, int from, const std::string& file) {
  PointResult r;
  r.status = static_cast<int>(s.integer(from));
  r.error = s.text(from + 1);
  r.wall_s = s.real(from + 3);
  r.run = s.text(from + 4);
  try {
    r.metrics = parse_json<nlohmann::json>(s.text(from + 2));
    if (!r.metrics.is_object() && !r.metrics.is_null())
      throw JsonFault("found " + shown(r.metrics) + ", expected an object");
    for (const auto& v : r.metrics) {
      if (v.is_structured()) throw JsonFault("found " + shown(v) + ", expected a number or a text");
    }
  } catch (const JsonFault& e) {
    throw InputError(file + ": metrics of a point: " + e.what());
  }
  return r;
}

/// The version that made the store; empty where the database is empty.
std::string version_of(Database& db) {
  {
    Statement tables(db, "select count(*) from sqlite_master");
    if (tables.next() && tables.integer(0) == 0) return "";
  }
  {
    Statement tables(
        db, "select count(*) from sqlite_master where type = 'table' and name in ('store', 'owners', 'points')");
    if (!tables.next() || tables.integer(0) != 3)
      throw InputError(db.name() + ": found a database that is no store of sweeps");
  }
  Statement version(db, "select kernbench from store");
  if (!version.next()) throw InputError(db.name() + ": found a store without its version");
  return std::string(version.text(0));
}

void check_version(Database& db, const std::string& found, const std::string& expected) {
  if (found == expected) return;
  throw InputError(fmt::format("{}: found a store of kernbench {}, expected one of {}: their results are not mixed",
                               db.name(), in_quotes(found), expected));
}

/// A transaction; undone where it is left by an exception.
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

/// What SQLite says of the file is about an input.
template <class Work>
auto told(const Work& work) {
  try {
    return work();
  } catch (const OpLogError& e) {
    throw InputError(e.what());
  }
}

constexpr const char* kKeep =
    "insert into points (key, command, owner, starts, status, final, error, metrics, wall_s, run) values "
    "(?,?,?,?,?,?,?,?,?,?) "
    "on conflict (key) do update set owner = excluded.owner, starts = excluded.starts, status = excluded.status, "
    "final = excluded.final, error = excluded.error, metrics = excluded.metrics, wall_s = excluded.wall_s, "
    "run = excluded.run "
    "where not final";

}  // namespace

bool PointResult::final() const {
  return status <= 2 && error.find(kOutOfMemory) == std::string::npos;
}

bool PointResult::lacks(bool explained) const {
  return explained && metrics.is_object() && !metrics.contains("bound_by");
}

struct Store::Open {
  Open(const std::string& file, const std::string& v, double s)
      : version(v), sync_s(s), db(file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) {
    sqlite3_busy_timeout(db.get(), kPatienceMs);
    const auto checked_version = [&] {
      std::string found = version_of(db);
      if (!found.empty()) check_version(db, found, version);
      return found;
    };
    checked_version();  // nothing is made beside a file that is no store
    owners = std::make_unique<OwnerLocks>(file + "-owners");
    owners->lock(0);  // one process makes it
    const std::string found = checked_version();
    // After a loss of power the last commits may be missing, and no other.
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
    keep.emplace(db, kKeep);
  }
  /// A commit alone needs no disk.
  void sync_if_due() {
    const auto now = std::chrono::steady_clock::now();
    if (std::chrono::duration<double>(now - synced).count() < sync_s) return;
    synced = now;
    // Only what other processes read just now may be left for the next time.
    db.check(sqlite3_wal_checkpoint_v2(db.get(), nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr));
  }
  const std::string version;
  const double sync_s;
  std::chrono::steady_clock::time_point synced = std::chrono::steady_clock::now();
  Database db;
  std::unique_ptr<OwnerLocks> owners;
  int64_t owner = 0;
  std::optional<Statement> keep;
};

Store::Store(const std::string& file, const std::string& version, double sync_s) {
  told([&] { open_ = std::make_unique<Open>(file, version, sync_s); });
}

Store::~Store() = default;

std::optional<PointResult> Store::find(const std::string& key, bool final) {
  return told([&]() -> std::optional<PointResult> {
    Statement s(open_->db,
                "select status, error, metrics, wall_s, run, final from points where key = ? and status is not null");
    s.bind(std::string_view(key));
    if (!s.next() || (final && s.integer(5) == 0)) return std::nullopt;
    return result_of(s, 0, open_->db.name());
  });
}

Store::Claim Store::claim(const std::string& key, const std::string& command, bool explained) {
  return told([&] {
    Transaction all(open_->db);
    int64_t starts = 0;
    {
      Statement s(open_->db, "select owner, status is null, final, starts from points where key = ?");
      s.bind(std::string_view(key));
      if (s.next()) {
        if (s.integer(2) != 0 && !find(key, true)->lacks(explained)) return Claim::done;
        const int64_t owner = s.integer(0);
        if (s.integer(1) != 0 && owner != open_->owner && open_->owners->taken(owner)) return Claim::others;
        starts = s.integer(3);
      }
    }
    Statement s(
        open_->db,
        "insert into points (key, command, owner, starts, status, final, error, metrics, wall_s, run) "
        "values (?, ?, ?, ?, null, 0, '', 'null', 0, '') on conflict (key) do update set owner = excluded.owner, "
        "starts = excluded.starts, status = null, final = 0");
    s.bind(std::string_view(key)).bind(std::string_view(command)).bind(open_->owner).bind(starts + 1).run();
    all.commit();
    return Claim::mine;
  });
}

void Store::put(const std::string& key, const PointResult& r) {
  told([&] {
    const std::string metrics = r.metrics.dump();
    Statement s(
        open_->db,
        "update points set status = ?, final = ?, error = ?, metrics = ?, wall_s = ?, run = ? where key = ? and not "
        "final");
    s.bind(int64_t{r.status}).bind(int64_t{r.final()}).bind(std::string_view(r.error)).bind(std::string_view(metrics));
    s.bind(r.wall_s).bind(std::string_view(r.run)).bind(std::string_view(key)).run();
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
    Statement points(from,
                     "select key, command, starts, final, status, error, metrics, wall_s, run from points "
                     "where status is not null order by key");
    while (points.next()) {
      const std::string key(points.text(0));
      const PointResult r = result_of(points, 4, file);
      if (const auto there = find(key, true)) {
        if (points.integer(3) != 0 && (there->status != r.status || there->metrics != r.metrics))
          throw RunError(fmt::format("{} and {} have other results of one point: {}", open_->db.name(), file,
                                     cut(points.text(1), 200)));
        ++merged.there;
        continue;
      }
      const std::string metrics = r.metrics.dump();
      open_->keep->bind(std::string_view(key)).bind(points.text(1)).bind(open_->owner).bind(points.integer(2));
      open_->keep->bind(int64_t{r.status}).bind(points.integer(3)).bind(std::string_view(r.error));
      open_->keep->bind(std::string_view(metrics)).bind(r.wall_s).bind(std::string_view(r.run)).run();
      ++merged.added;
    }
    all.commit();
    return merged;
  });
}

bool Store::is_store(const std::string& file) {
  std::ifstream in = open_input(file);
  char first[6] = {};
  if (!in.read(first, sizeof first) || std::string_view(first, sizeof first) != "SQLite") return false;
  return told([&] {
    Database db(file, SQLITE_OPEN_READWRITE);
    Statement s(db, "select count(*) from sqlite_master where type = 'table' and name in ('store', 'points')");
    return s.next() && s.integer(0) == 2;
  });
}

std::vector<PointResult> Store::read(const std::string& file) {
  return told([&] {
    Database db(file, SQLITE_OPEN_READWRITE);
    sqlite3_busy_timeout(db.get(), kPatienceMs);
    std::vector<PointResult> all;
    Statement s(db, "select status, error, metrics, wall_s, run from points where status is not null order by key");
    while (s.next()) all.push_back(result_of(s, 0, file));
    return all;
  });
}

}  // namespace kernbench::sweep
