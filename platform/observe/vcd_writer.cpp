// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/observe/vcd_writer.h"

#include <fmt/compile.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/text.h"

namespace kernbench::observe {

namespace {

constexpr size_t kBufferBytes = 1 << 16;

/// Identifier codes: printable characters, shortest first.
std::string code_of(uint32_t index) {
  std::string code;
  do {
    code += static_cast<char>('!' + index % 94);
    index /= 94;
  } while (index-- > 0);
  return code;
}

}  // namespace

VcdWriter::VcdWriter(const std::string& file, bool recorded)
    : file_(file), out_(file), recorded_at_start_(recorded), recording_(add_signal(1, recorded)) {
  declared_.emplace_back();
}

VcdWriter::~VcdWriter() {
  if (closed_ || header_bytes_ == 0) return;
  try {
    text_.resize(whole_steps_);
    flush();
    out_.keep();
  } catch (const std::exception&) {
    // The run's own error is already reported; a destructor cannot report another.
  }
}

VcdWriter::Variable VcdWriter::declare(const std::string& scope, unsigned bits, Declared d) {
  Scope* at = &root_;
  for (size_t from = 0; from <= scope.size();) {
    const size_t dot = std::min(scope.find('.', from), scope.size());
    const std::string level = scope.substr(from, dot - from);
    Scope*& child = at->by_name[level];
    if (!child) {
      at->children.emplace_back(level, std::make_unique<Scope>());
      child = at->children.back().second.get();
    }
    at = child;
    from = dot + 1;
  }
  const Variable v = add_signal(bits, d.initial);
  at->variables.push_back(v);
  d.code = code_of(v - 1);
  d.unknown = !recorded_at_start_;
  header_old_ = header_bytes_ > 0;
  if (header_old_) set(v, now_fs(), d.initial);
  declared_.push_back(std::move(d));
  return v;
}

VcdWriter::Variable VcdWriter::add(const std::string& scope, const std::string& name, unsigned bits, uint64_t initial) {
  Declared d;
  d.name = name;
  d.initial = initial;
  return declare(scope, bits, std::move(d));
}

VcdWriter::Variable VcdWriter::add_text(const std::string& scope, const std::string& name, Form form, unsigned bits,
                                        std::string initial) {
  Declared d;
  d.name = name;
  d.form = form;
  d.has_text = true;
  d.initial_text = d.text = d.next_text = std::move(initial);
  return declare(scope, bits, std::move(d));
}

VcdWriter::Variable VcdWriter::add_real(const std::string& scope, const std::string& name) {
  Declared d;
  d.name = name;
  d.form = Form::real;
  d.initial = real_bits(0);
  return declare(scope, 64, std::move(d));
}

uint64_t VcdWriter::real_bits(double value) {
  uint64_t bits = 0;
  static_assert(sizeof bits == sizeof value);
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

void VcdWriter::set_text(Variable v, std::string text) {
  declared_[v].next_text = std::move(text);
  set(v, now_fs(), 0);
}

void VcdWriter::write_scope(std::string& out, const std::string& name, const Scope& scope) const {
  static constexpr const char* kKinds[] = {"wire", "real", "event"};
  if (!name.empty()) out += fmt::format("$scope module {} $end\n", name);
  for (Variable v : scope.variables) {
    const Declared& d = declared_[v];
    const unsigned bits = signal(v).bits;
    out += fmt::format("$var {} {} {} {}{} $end\n", kKinds[static_cast<int>(d.form)], bits, d.code, d.name,
                       d.form == Form::bits && bits > 1 ? fmt::format(" [{}:0]", bits - 1) : "");
  }
  for (const auto& [child_name, child] : scope.children) write_scope(out, child_name, *child);
  if (!name.empty()) out += "$upscope $end\n";
}

std::string VcdWriter::header() const {
  std::string out = "$version kernbench $end\n$timescale 1 fs $end\n";
  write_scope(out, "", root_);
  out += "$enddefinitions $end\n#0\n$dumpvars\n";
  for (Variable v = 1; v < signals(); ++v) {
    const Declared& d = declared_[v];
    if (d.form == Form::event) continue;  // has no value between events
    if (!recorded_at_start_) {
      write_text(out, v, "x");
    } else if (d.has_text) {
      write_text(out, v, d.initial_text);
    } else {
      write_number(out, v, d.initial);
    }
  }
  return out + "$end\n";
}

void VcdWriter::begin() {
  const std::string text = header();
  header_bytes_ = text.size();
  out_.write(text);
}

/// Rewrites the file with all present variables.
void VcdWriter::renew_header() {
  renewable_ = out_.has_part();
  if (renewable_) {
    const std::string text = header();
    out_.replace_start(text, header_bytes_);
    header_bytes_ = text.size();
  }
  header_old_ = false;
}

void VcdWriter::write_number(std::string& out, Variable v, uint64_t value) const {
  const std::string& code = declared_[v].code;
  const unsigned bits = signal(v).bits;
  if (declared_[v].form == Form::real) {
    double number = 0;
    std::memcpy(&number, &value, sizeof number);
    out += 'r';
    append_shortest(out, number);
    out.append(" ").append(code) += '\n';
  } else if (value == kNone) {
    out.append(bits > 1 ? "bz " : "z").append(code) += '\n';
  } else if (bits > 1) {
    fmt::format_to(std::back_inserter(out), FMT_COMPILE("b{:b} {}\n"), value, code);
  } else {
    out.append(value ? "1" : "0").append(code) += '\n';
  }
}

void VcdWriter::write_text(std::string& out, Variable v, const std::string& text) const {
  const Declared& d = declared_[v];
  switch (d.form) {
    case Form::bits:
      out.append(signal(v).bits > 1 ? "b" + text + " " : text).append(d.code) += '\n';
      break;
    case Form::real:  // no number means x
      if (text != "x") out.append("r").append(text).append(" ").append(d.code) += '\n';
      break;
    case Form::event:
      out.append("1").append(d.code) += '\n';
      break;
  }
}

void VcdWriter::write_value(std::string& out, Variable v) const {
  if (declared_[v].has_text) {
    write_text(out, v, declared_[v].text);
  } else {
    write_number(out, v, signal(v).value);
  }
}

/// $dumpon and $dumpoff repeat the value of every signal.
void VcdWriter::switch_recording() {
  const bool on = signal(recording_).value;
  text_ += on ? "$dumpon\n" : "$dumpoff\n";
  for (Variable v = 1; v < signals(); ++v) {
    Declared& d = declared_[v];
    d.unknown = !on;
    if (d.form == Form::event) continue;
    if (on) {
      write_value(text_, v);
    } else {
      write_text(text_, v, "x");
    }
  }
  text_ += "$end\n";
}

void VcdWriter::show(uint64_t fs, const std::vector<Variable>& touched) {
  bool stamped = false;
  const auto stamp = [&] {
    if (!stamped && fs > last_step_fs_) text_ += fmt::format("#{}\n", fs);
    stamped = true;
  };
  const bool switched = !signal(recording_).same();
  signal(recording_).value = signal(recording_).next;
  const bool recorded = signal(recording_).value && !switched;
  for (const Variable v : touched) {
    Signal& s = signal(v);
    Declared& d = declared_[v];
    const bool same = d.has_text ? d.next_text == d.text : s.same();
    s.value = s.next;
    if (d.has_text && !same) d.text = d.next_text;
    if (!recorded || (same && !d.unknown) || v == recording_) continue;
    stamp();
    d.unknown = false;
    write_value(text_, v);
  }
  if (switched) {
    stamp();
    switch_recording();
  }
  if (stamped) last_step_fs_ = fs;
  whole_steps_ = text_.size();
  if (text_.size() > kBufferBytes) flush();
}

void VcdWriter::flush() {
  if (header_old_) renew_header();
  out_.write(text_);
  text_.clear();
  whole_steps_ = 0;
}

void VcdWriter::close(uint64_t end_fs) {
  if (closed_) return;
  advance(end_fs + 1);
  if (signal(recording_).value && end_fs > last_step_fs_) text_ += fmt::format("#{}\n", end_fs);
  closed_ = true;
  flush();
  out_.keep();
  if (!renewable_) throw RunError("--vcd: " + file_ + " is no regular file, which signals that come late need");
}

}  // namespace kernbench::observe
