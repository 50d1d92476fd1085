#include "kernbench/platform/observe/vcd_writer.h"

#include <fmt/compile.h>

#include <algorithm>
#include <iterator>

#include "kernbench/phase2/op/errors.h"

namespace kernbench {

namespace {

constexpr size_t kFlushBytes = 1 << 16;

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

VcdWriter::VcdWriter(const std::string& file) : file_(file), out_(file) {}

VcdWriter::~VcdWriter() {
  if (closed_ || header_bytes_ == 0) return;
  try {
    text_.resize(whole_steps_);
    flush();
    out_.keep();
  } catch (const std::exception&) {
    // What made the run fail is told; a destructor cannot tell more.
  }
}

VcdWriter::Variable VcdWriter::add(const std::string& scope, const std::string& name, unsigned bits, uint64_t initial) {
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
  const auto v = static_cast<Variable>(signals_.size());
  at->variables.push_back(v);
  Signal s;
  s.name = name;
  s.code = code_of(v);
  s.bits = bits;
  s.initial = s.value = s.next = initial;
  signals_.push_back(std::move(s));
  header_old_ = header_bytes_ > 0;
  return v;
}

void VcdWriter::write_scope(std::string& out, const std::string& name, const Scope& scope) const {
  if (!name.empty()) out += fmt::format("$scope module {} $end\n", name);
  for (Variable v : scope.variables) {
    const Signal& s = signals_[v];
    out += fmt::format("$var wire {} {} {}{} $end\n", s.bits, s.code, s.name,
                       s.bits > 1 ? fmt::format(" [{}:0]", s.bits - 1) : "");
  }
  for (const auto& [child_name, child] : scope.children) write_scope(out, child_name, *child);
  if (!name.empty()) out += "$upscope $end\n";
}

std::string VcdWriter::header() const {
  std::string out = "$version kernbench $end\n$timescale 1 fs $end\n";
  write_scope(out, "", root_);
  out += "$enddefinitions $end\n#0\n$dumpvars\n";
  for (const Signal& s : signals_) write_value(out, s, s.initial);
  return out + "$end\n";
}

void VcdWriter::begin() {
  const std::string text = header();
  header_bytes_ = text.size();
  out_.write(text);
}

/// The file anew, with all variables that there are now.
void VcdWriter::renew_header() {
  renewable_ = out_.has_part();
  if (renewable_) {
    const std::string text = header();
    out_.replace_start(text, header_bytes_);
    header_bytes_ = text.size();
  }
  header_old_ = false;
}

void VcdWriter::write_value(std::string& out, const Signal& s, uint64_t value) {
  if (value == kNone) {
    out.append(s.bits > 1 ? "bz " : "z").append(s.code) += '\n';
  } else if (s.bits > 1) {
    fmt::format_to(std::back_inserter(out), FMT_COMPILE("b{:b} {}\n"), value, s.code);
  } else {
    out.append(value ? "1" : "0").append(s.code) += '\n';
  }
}

void VcdWriter::push(Variable v, uint64_t fs, uint64_t value, bool add) {
  changes_.push({std::max(fs, now_fs_), sequence_++, value, v, add});
}

void VcdWriter::write_step(uint64_t fs) {
  bool stamped = false;
  for (Variable v : touched_) {
    Signal& s = signals_[v];
    s.touched = false;
    const bool same = s.bits == 1 ? !s.next == !s.value : s.next == s.value;  // a bit: how many make it 1
    s.value = s.next;
    if (same) continue;
    if (!stamped && fs > last_step_fs_) text_ += fmt::format("#{}\n", fs);
    stamped = true;
    write_value(text_, s, s.value);
  }
  if (stamped) last_step_fs_ = fs;
  touched_.clear();
  whole_steps_ = text_.size();
  if (text_.size() > kFlushBytes) flush();
}

void VcdWriter::advance(uint64_t fs) {
  while (!changes_.empty() && changes_.top().fs < fs) {
    const uint64_t step = changes_.top().fs;
    while (!changes_.empty() && changes_.top().fs == step) {
      const Change c = changes_.top();
      changes_.pop();
      Signal& s = signals_[c.variable];
      s.next = c.add ? s.next + c.value : c.value;
      if (!s.touched) touched_.push_back(c.variable);
      s.touched = true;
    }
    write_step(step);
  }
  now_fs_ = std::max(now_fs_, fs);
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
  if (end_fs > last_step_fs_) text_ += fmt::format("#{}\n", end_fs);
  closed_ = true;
  flush();
  out_.keep();
  if (!renewable_) throw RunError("--vcd: " + file_ + " is no regular file, which the signals of inter-PE queues need");
}

}  // namespace kernbench
