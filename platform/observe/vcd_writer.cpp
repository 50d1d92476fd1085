#include "kernbench/platform/observe/vcd_writer.h"

#include <fmt/compile.h>

#include <algorithm>
#include <filesystem>
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

VcdWriter::VcdWriter(const std::string& file) : file_(file), out_(std::fopen(file.c_str(), "wb")) {
  if (!out_) throw InputError("--vcd: " + file + " cannot be written");
  std::setvbuf(out_, nullptr, _IONBF, 0);  // what is written ends where a time step ends
}

VcdWriter::~VcdWriter() {
  if (!out_) return;
  flush();
  std::fclose(out_);
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
  header_bytes_ = static_cast<long>(text.size());
  if (std::fwrite(text.data(), 1, text.size(), out_) != text.size()) failed_ = true;
}

/// The file anew, with all variables that there are now: beside the old one until it is whole.
void VcdWriter::renew_header() {
  header_old_ = false;
  std::error_code fault;
  renewable_ = std::filesystem::is_regular_file(file_, fault);
  if (!renewable_) return;
  const std::string file = std::filesystem::canonical(file_, fault).string(), beside = file + ".new", text = header();
  std::FILE* in = std::fopen(file.c_str(), "rb");
  std::FILE* out = std::fopen(beside.c_str(), "wb");
  if (in && out && std::fseek(in, header_bytes_, SEEK_SET) == 0) {
    std::setvbuf(out, nullptr, _IONBF, 0);
    failed_ = std::fwrite(text.data(), 1, text.size(), out) != text.size() || failed_;
    std::string block(kFlushBytes, 0);
    for (size_t n = 0; (n = std::fread(block.data(), 1, block.size(), in)) > 0;)
      failed_ = std::fwrite(block.data(), 1, n, out) != n || failed_;
    failed_ = std::rename(beside.c_str(), file.c_str()) != 0 || failed_;
    header_bytes_ = static_cast<long>(text.size());
    std::swap(out, out_);
  } else {
    failed_ = true;
  }
  if (in) std::fclose(in);
  if (out) std::fclose(out);
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
  if (std::fwrite(text_.data(), 1, text_.size(), out_) != text_.size()) failed_ = true;
  text_.clear();
}

void VcdWriter::close(uint64_t end_fs) {
  if (!out_) return;
  advance(end_fs + 1);
  if (end_fs > last_step_fs_) text_ += fmt::format("#{}\n", end_fs);
  flush();
  failed_ = std::fclose(out_) != 0 || failed_;
  out_ = nullptr;
  if (!renewable_) throw RunError("--vcd: " + file_ + " is no regular file, which the signals of inter-PE queues need");
  if (failed_) throw RunError("--vcd: " + file_ + " could not be written to its end");
}

}  // namespace kernbench
