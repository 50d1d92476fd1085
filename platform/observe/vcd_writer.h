// SPDX-License-Identifier: Apache-2.0
// A Value Change Dump as IEEE 1364-2001 §18 defines it. The file depends on the changes only: it contains no date and
// no host name. It grows in whole time steps as FILE.part, which a reader can open at any time, also after the writer
// was killed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernbench/phase2/io/whole_file.h"
#include "kernbench/platform/observe/signal_sink.h"

namespace kernbench::observe {

class VcdWriter : public SignalSink {
 public:
  /// The format of values that are given as texts.
  enum class Form : unsigned char { bits, real, event };

  /// `recorded`: from time 0 on, else from record() on. InputError if the file cannot be written.
  explicit VcdWriter(const std::string& file, bool recorded = true);
  /// Without close() (a failed run) the file has the whole steps so far; nothing is left of it after forget().
  ~VcdWriter() override;
  VcdWriter(const VcdWriter&) = delete;
  VcdWriter& operator=(const VcdWriter&) = delete;

  /// After begin() it costs a new header and a copy of the file, which must be a regular file.
  Variable add(const std::string& scope, const std::string& name, unsigned bits, uint64_t initial = 0) override;
  /// Of any width; only set_text() sets its values. An event happens whenever its text changes.
  Variable add_text(const std::string& scope, const std::string& name, Form, unsigned bits, std::string initial);
  /// A number that set() gives as real_bits().
  Variable add_real(const std::string& scope, const std::string& name);
  static uint64_t real_bits(double value);
  /// Writes the header and the values at time 0.
  void begin() override;
  /// The value from the present on, which advance() has reached. Text: bits of 0, 1, x and z, most significant first,
  /// or a number.
  void set_text(Variable, std::string text);
  /// Whether changes from fs on are recorded ($dumpon, $dumpoff). Of several calls at one time the last counts.
  void record(uint64_t fs, bool on) { push({fs, 0, on, recording_, false}); }
  /// Writes the remaining changes up to end_fs, which is the file's last time if it is recorded. RunError if the file
  /// could not be written.
  void close(uint64_t end_fs) override;
  void forget() { closed_ = true; }

 private:
  struct Scope {
    std::vector<std::pair<std::string, std::unique_ptr<Scope>>> children;  // in order of first use
    std::map<std::string, Scope*> by_name;
    std::vector<Variable> variables;
  };
  /// A signal's state in the file.
  struct Declared {
    std::string name, code;
    Form form = Form::bits;
    bool has_text = false;
    bool unknown = false;  ///< the file shows x
    uint64_t initial = 0;
    std::string initial_text, text, next_text;  ///< of a signal with texts: initial, shown, after the current step
  };
  Variable declare(const std::string& scope, unsigned bits, Declared);
  void show(uint64_t fs, const std::vector<Variable>& touched) override;
  void switch_recording();
  void renew_header();
  std::string header() const;
  void write_scope(std::string& out, const std::string& name, const Scope&) const;
  void write_value(std::string& out, Variable) const;
  void write_number(std::string& out, Variable, uint64_t value) const;
  void write_text(std::string& out, Variable, const std::string& text) const;
  void flush();

  std::string file_;
  WholeFile out_;
  bool closed_ = false;
  std::string text_;           ///< not in the file yet
  size_t whole_steps_ = 0;     ///< complete part of text_
  uint64_t header_bytes_ = 0;  ///< in the file; 0: not written yet
  bool header_old_ = false;    ///< variables were added later
  bool renewable_ = true;      ///< the file can be rewritten
  Scope root_;
  std::vector<Declared> declared_;
  const bool recorded_at_start_;
  const Variable recording_;  ///< in no scope: 1 while changes are recorded
  uint64_t last_step_fs_ = 0;
};

}  // namespace kernbench::observe
