// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/topology/read/yaml_scanner.h"

#include <yaml-cpp/emitterstyle.h>
#include <yaml-cpp/mark.h>

#include <cstddef>
#include <string_view>
#include <vector>

namespace kernbench::topology {
namespace {

constexpr int kDeepest = 64;         // containers; deeper texts are left to yaml-cpp
constexpr size_t kLongestKey = 512;  // bytes; yaml-cpp accepts keys of up to 1,024

/// A line with more than a comment.
struct Line {
  int number;             // from 0, as in YAML::Mark
  size_t indent;          // spaces before the text
  std::string_view text;  // without leading spaces
};

/// Thrown, only within this file, if the text is outside of the subset.
struct OutsideSubset {};

[[noreturn]] void leave() {
  throw OutsideSubset();
}

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool starts_item(std::string_view s) {
  return s.size() >= 2 && s[0] == '-' && s[1] == ' ';
}

class Scanner {
 public:
  Scanner(const std::string& text, YAML::EventHandler& out) : out_(out) {
    int number = 0;
    for (size_t at = 0; at < text.size(); ++number) {
      size_t end = text.find('\n', at);
      if (end == std::string::npos) end = text.size();
      const std::string_view line(text.data() + at, end - at);
      at = end + 1;
      const size_t indent = line.find_first_not_of(' ');
      if (indent == std::string_view::npos || line[indent] == '#') continue;
      lines_.push_back({number, indent, line.substr(indent)});
    }
  }

  void document() {
    if (lines_.empty() || lines_[0].indent != 0) leave();
    out_.OnDocumentStart(mark(lines_[0].number));
    block(0, 0);
    if (next_ != lines_.size()) leave();
    out_.OnDocumentEnd();
  }

 private:
  static YAML::Mark mark(int line) {
    YAML::Mark m;
    m.line = line;
    return m;
  }

  bool more_at(size_t indent) const { return next_ < lines_.size() && lines_[next_].indent == indent; }

  /// The map or list that starts at the next line, with that line's indent.
  void block(size_t indent, int depth) {
    if (depth > kDeepest) leave();
    if (starts_item(lines_[next_].text)) {
      list(indent, depth);
    } else {
      map(indent, depth);
    }
  }

  void list(size_t indent, int depth) {
    out_.OnSequenceStart(mark(lines_[next_].number), "?", 0, YAML::EmitterStyle::Block);
    while (more_at(indent) && starts_item(lines_[next_].text)) {
      Line& line = lines_[next_];
      const size_t skip = line.text.find_first_not_of(' ', 1);
      if (skip == std::string_view::npos || starts_item(line.text.substr(skip))) leave();
      line.text.remove_prefix(skip);
      if (holds_key(line.text)) {  // its first pair is on the dash's line
        line.indent += skip;
        map(line.indent, depth + 1);
      } else {
        const Line item = line;
        ++next_;
        value(item.text, item.number, depth);
        if (next_ < lines_.size() && lines_[next_].indent > indent) leave();  // the scalar may continue there
      }
    }
    if (next_ < lines_.size() && lines_[next_].indent > indent) leave();
    out_.OnSequenceEnd();
  }

  void map(size_t indent, int depth) {
    if (depth > kDeepest) leave();
    out_.OnMapStart(mark(lines_[next_].number), "?", 0, YAML::EmitterStyle::Block);
    while (more_at(indent) && !starts_item(lines_[next_].text)) {
      const Line line = lines_[next_];
      std::string_view rest = line.text;
      key(rest, line.number);
      ++next_;
      const auto deeper = [&] { return next_ < lines_.size() && lines_[next_].indent > indent; };
      if (!rest.empty() && rest[0] != '#') {
        value(rest, line.number, depth);
        if (deeper()) leave();
      } else if (deeper() || (more_at(indent) && starts_item(lines_[next_].text))) {
        block(lines_[next_].indent, depth + 1);
      } else {
        leave();  // a null, whose line is that of the next text
      }
    }
    if (next_ < lines_.size() && lines_[next_].indent > indent) leave();
    out_.OnMapEnd();
  }

  /// Whether a line starts with a key of a block map.
  static bool holds_key(std::string_view s) {
    if (s[0] == '{' || s[0] == '[') return false;
    size_t from = 0;
    if (s[0] == '"' || s[0] == '\'') {
      from = s.find(s[0], 1);
      if (from == std::string_view::npos) leave();
    }
    const size_t colon = s.find(':', from);
    return colon != std::string_view::npos && (colon + 1 == s.size() || s[colon + 1] == ' ');
  }

  /// Removes "key:" and the following spaces from `s`.
  void key(std::string_view& s, int line) {
    const std::string_view all = s;
    if (s[0] == '"' || s[0] == '\'') {
      out_.OnScalar(mark(line), "!", 0, std::string(quoted(s)));
    } else {
      const size_t end = s.find(':');
      if (end == std::string_view::npos) leave();
      plain(s.substr(0, end), line);
      s.remove_prefix(end);
    }
    if (all.size() - s.size() > kLongestKey || s.empty() || s[0] != ':') leave();
    s.remove_prefix(1);
    if (!s.empty() && s[0] != ' ') leave();
    skip_spaces(s);
  }

  static void skip_spaces(std::string_view& s) {
    const size_t n = s.find_first_not_of(' ');
    s.remove_prefix(n == std::string_view::npos ? s.size() : n);
  }

  /// A complete one-line value, with the following comment.
  void value(std::string_view s, int line, int depth) {
    if (s[0] == '{' || s[0] == '[') {
      flow(s, line, depth + 1);
      end_of_line(s);
    } else if (s[0] == '"' || s[0] == '\'') {
      out_.OnScalar(mark(line), "!", 0, std::string(quoted(s)));
      end_of_line(s);
    } else {
      const size_t comment = s.find(" #");
      const std::string_view text = s.substr(0, comment);
      if (text.find(": ") != std::string_view::npos || text.back() == ':') leave();
      plain(text, line);
    }
  }

  static void end_of_line(std::string_view s) {
    if (s.empty()) return;
    if (s[0] != ' ') leave();
    skip_spaces(s);
    if (!s.empty() && s[0] != '#') leave();
  }

  /// Removes a quoted scalar from `s`; returns its text.
  static std::string_view quoted(std::string_view& s) {
    const size_t end = s.find(s[0], 1);
    if (end == std::string_view::npos) leave();
    const std::string_view text = s.substr(1, end - 1);
    const bool escape = s[0] == '"' ? text.find('\\') != std::string_view::npos : s.substr(end + 1, 1) == "'";
    if (escape) leave();
    s.remove_prefix(end + 1);
    return text;
  }

  void plain(std::string_view s, int line) {
    while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
    if (s.empty() || s == "null" || s == "Null" || s == "NULL") leave();
    const bool sign = s.size() > 1 && (s[0] == '-' || s[0] == '+') && (is_letter_or_digit(s[1]) || s[1] == '.');
    // "..." and "---" end documents
    if (!is_letter_or_digit(s[0]) && s[0] != '_' && s[0] != '/' && !sign &&
        !(s[0] == '.' && s.size() > 1 && s[1] != '.'))
      leave();
    if (s.find(" #") != std::string_view::npos) leave();
    out_.OnScalar(mark(line), "?", 0, std::string(s));
  }

  /// Skips spaces and the end of the line with its comment.
  void skip_to_item(std::string_view& s, int& line) {
    skip_spaces(s);
    if (!s.empty() && s[0] != '#') return;
    if (next_ == lines_.size() || lines_[next_].indent == 0) leave();
    s = lines_[next_].text;
    line = lines_[next_].number;
    ++next_;
  }

  /// Removes a flow map or list from `s`. A line may end after a bracket or a comma.
  void flow(std::string_view& s, int& line, int depth) {
    if (depth > kDeepest) leave();
    const bool is_map = s[0] == '{';
    const char closing = is_map ? '}' : ']';
    if (is_map) {
      out_.OnMapStart(mark(line), "?", 0, YAML::EmitterStyle::Flow);
    } else {
      out_.OnSequenceStart(mark(line), "?", 0, YAML::EmitterStyle::Flow);
    }
    s.remove_prefix(1);
    skip_to_item(s, line);
    while (s[0] != closing) {
      if (is_map) {
        flow_scalar(s, line);
        if (s.size() < 2 || s[0] != ':' || s[1] != ' ') leave();
        s.remove_prefix(1);
        skip_spaces(s);
      }
      if (s.empty()) leave();
      if (s[0] == '{' || s[0] == '[') {
        flow(s, line, depth + 1);
      } else {
        flow_scalar(s, line);
      }
      skip_spaces(s);
      if (s.empty()) leave();
      if (s[0] == closing) break;
      if (s[0] != ',') leave();
      s.remove_prefix(1);
      skip_to_item(s, line);
      if (s[0] == closing || s[0] == ',') leave();
    }
    s.remove_prefix(1);
    if (is_map) {
      out_.OnMapEnd();
    } else {
      out_.OnSequenceEnd();
    }
  }

  void flow_scalar(std::string_view& s, int line) {
    if (s.empty()) leave();
    if (s[0] == '"' || s[0] == '\'') {
      out_.OnScalar(mark(line), "!", 0, std::string(quoted(s)));
      return;
    }
    // yaml-cpp treats ? and quotes within a flow scalar as special characters.
    const size_t end = s.find_first_of(",[]{}:?'\"");
    if (end == std::string_view::npos) leave();
    if (s[end] == '[' || s[end] == '{' || s[end] == '?' || s[end] == '\'' || s[end] == '"') leave();
    plain(s.substr(0, end), line);
    s.remove_prefix(end);
  }

  YAML::EventHandler& out_;
  std::vector<Line> lines_;
  size_t next_ = 0;
};

}  // namespace

bool scan_simple_yaml(const std::string& text, YAML::EventHandler& out) {
  for (const char c : text) {
    if (c == '\t' || c == '\r') return false;
  }
  if (!text.empty() && static_cast<unsigned char>(text[0]) >= 0x80) return false;  // byte order mark
  try {
    Scanner(text, out).document();
    return true;
  } catch (const OutsideSubset&) {
    return false;
  }
}

}  // namespace kernbench::topology
