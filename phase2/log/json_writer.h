// JSON text as the op log writes it, appended to a string.
#pragma once

#include <charconv>
#include <string>
#include <string_view>

#include "kernbench/phase2/log/oplog_json.h"

namespace kernbench {

/// Writes keys and values in order; knows only where a comma belongs.
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}
  JsonWriter& key(std::string_view k) {
    comma();
    append_string(out_, k);
    out_ += ':';
    fresh_ = true;
    return *this;
  }
  JsonWriter& open(char c) {
    comma();
    out_ += c;
    fresh_ = true;
    return *this;
  }
  JsonWriter& close(char c) {
    out_ += c;
    fresh_ = false;
    return *this;
  }
  void value(double v) { comma(), append_number(out_, v); }
  void value(std::string_view v) { comma(), append_string(out_, v); }
  void value(const char* v) { value(std::string_view(v)); }
  void value(bool v) { comma(), out_ += v ? "true" : "false"; }
  void value(int64_t v) { integer(v); }
  void value(int v) { integer(v); }
  void value(uint64_t v) { integer(v); }
  void value(const Dims& d) {
    open('[');
    for (int64_t x : d) value(x);
    close(']');
  }
  void null() { comma(), out_ += "null"; }
  void raw(std::string_view json) { comma(), out_ += json; }
  template <class T>
  void field(std::string_view k, const T& v) {
    key(k).value(v);
  }

 private:
  template <class T>
  void integer(T v) {
    comma();
    char buf[24];
    out_.append(buf, std::to_chars(buf, buf + sizeof buf, v).ptr);
  }
  void comma() {
    if (!fresh_) out_ += ',';
    fresh_ = false;
  }
  std::string& out_;
  bool fresh_ = true;
};

}  // namespace kernbench
