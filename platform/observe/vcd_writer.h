// A Value Change Dump, as IEEE 1364-2001 §18 defines it, whose changes may be told ahead of time.
//
// Reservations are known before they happen, so a change may lie after the present; the writer keeps it until time has
// come there. What the file holds depends on the changes alone: no date, no machine. It grows in whole time steps as
// FILE.part, which a reader can open at any time, also after the writer was killed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "kernbench/phase2/io/whole_file.h"

namespace kernbench {

class VcdWriter {
 public:
  using Variable = uint32_t;
  /// Written as z: nothing there.
  static constexpr uint64_t kNone = ~0ull;

  /// InputError if the file cannot be written.
  explicit VcdWriter(const std::string& file);
  /// Without close() (a failed run) the file has the whole steps so far.
  ~VcdWriter();
  VcdWriter(const VcdWriter&) = delete;
  VcdWriter& operator=(const VcdWriter&) = delete;

  /// `scope`: levels separated by dots, "system.sip0.cube0"; 1 to 64 bits. One bit is 1 where the value
  /// is not 0. Behind begin() it costs a new header, and a copy of what is in the file, which must be a regular one.
  Variable add(const std::string& scope, const std::string& name, unsigned bits, uint64_t initial = 0);
  /// The header and the values at time 0.
  void begin();

  /// The value from fs on; times before that of the last advance() count as that. Of several at one time the last
  /// holds.
  void set(Variable v, uint64_t fs, uint64_t value) { push(v, fs, value, false); }
  /// Adds to the value from fs on.
  void change(Variable v, uint64_t fs, int64_t by) { push(v, fs, static_cast<uint64_t>(by), true); }
  /// Time has come to fs: what lies before is written.
  void advance(uint64_t fs);
  /// Writes what is left up to end_fs, which is the last time in the file. RunError if the file could not be written.
  void close(uint64_t end_fs);

 private:
  struct Scope {
    std::vector<std::pair<std::string, std::unique_ptr<Scope>>> children;  // in order of first use
    std::map<std::string, Scope*> by_name;
    std::vector<Variable> variables;
  };
  struct Signal {
    std::string name, code;
    unsigned bits = 1;
    uint64_t initial = 0;
    uint64_t value = 0, next = 0;  ///< written; at the time being worked off
    bool touched = false;
  };
  struct Change {
    uint64_t fs, sequence, value;
    Variable variable;
    bool add;
    bool operator<(const Change& o) const { return fs != o.fs ? fs > o.fs : sequence > o.sequence; }  // earliest on top
  };
  void push(Variable, uint64_t fs, uint64_t value, bool add);
  void renew_header();
  std::string header() const;
  void write_scope(std::string& out, const std::string& name, const Scope&) const;
  static void write_value(std::string& out, const Signal&, uint64_t value);
  void write_step(uint64_t fs);
  void flush();

  std::string file_;
  WholeFile out_;
  bool closed_ = false;
  std::string text_;           ///< not in the file yet
  size_t whole_steps_ = 0;     ///< so much of it
  uint64_t header_bytes_ = 0;  ///< in the file; 0: none is yet
  bool header_old_ = false;    ///< variables have come since
  bool renewable_ = true;      ///< a file that can be put together anew
  Scope root_;
  std::vector<Signal> signals_;
  std::priority_queue<Change> changes_;
  std::vector<Variable> touched_;
  uint64_t sequence_ = 0, now_fs_ = 0, last_step_fs_ = 0;
};

}  // namespace kernbench
