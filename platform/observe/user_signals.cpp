// SPDX-License-Identifier: Apache-2.0
#define SC_INCLUDE_FX  // the fixed-point types

#include "kernbench/platform/observe/user_signals.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "kernbench/phase2/op/errors.h"

namespace kernbench::observe {

/// The end of each time step. SystemC 2.3 calls trace files; 3.0 calls registered callbacks.
class UserSignals::TimeSteps
#if SC_VERSION_MAJOR >= 3
    : private sc_core::sc_stage_callback_if {
 public:
  explicit TimeSteps(UserSignals& signals) : signals_(signals) {
    sc_core::sc_register_stage_callback(*this, sc_core::SC_PRE_TIMESTEP);
  }
  ~TimeSteps() override {
    sc_core::sc_unregister_stage_callback(*this, sc_core::SC_PRE_TIMESTEP);
  }

 private:
  void stage_callback(const sc_core::sc_stage&) override {
    signals_.cycle(false);
  }
#else
{
 public:
  explicit TimeSteps(UserSignals& signals) : signals_(signals) {
    sc_core::sc_get_curr_simcontext()->add_trace_file(&signals_);
  }
  ~TimeSteps() {
    sc_core::sc_get_curr_simcontext()->remove_trace_file(&signals_);
  }

 private:
#endif
  UserSignals& signals_;
};

UserSignals::UserSignals(VcdWriter& vcd, std::function<void()> present) : vcd_(vcd), present_(std::move(present)) {}

UserSignals::~UserSignals() {
  finish();
}

void UserSignals::finish() {
  if (!steps_) return;
  look();
  steps_.reset();
}

void UserSignals::add_object(const std::string& name, VcdWriter::Form form, unsigned bits, Text text) {
  if (name.empty()) throw InputError("Waveform::trace: found no name, expected one like \"cpu.irq\"");
  if (!names_.insert(name).second) throw InputError("Waveform::trace: '" + name + "' is traced already");
  // Dots separate levels; names without a level go where SystemC's VCD puts them. VCD separates names with blanks.
  std::string path = name.find('.') == std::string::npos ? "SystemC." + name : name;
  std::replace_if(
      path.begin(), path.end(), [](unsigned char c) { return !std::isgraph(c); }, '_');
  const size_t dot = path.rfind('.');
  present_();
  std::string now = text();
  const SignalSink::Variable v = vcd_.add_text(path.substr(0, dot), path.substr(dot + 1), form, bits, now);
  objects_.push_back({v, std::move(text), std::move(now)});
  if (!steps_) steps_ = std::make_unique<TimeSteps>(*this);
}

/// `bit(i)` is '0', '1', 'x' or 'z', 0 the lowest.
template <typename Bit>
void UserSignals::add_bits(const std::string& name, int bits, Bit bit) {
  add_object(name, VcdWriter::Form::bits, static_cast<unsigned>(bits), [bits, bit] {
    std::string text;
    for (int i = bits; i-- > 0;) text += bit(i);
    return text;
  });
}

template <typename T>
void UserSignals::add_integer(const T& object, const std::string& name, int width) {
  add([&object] { return static_cast<uint64_t>(object); }, name, width);
}

template <typename T>
void UserSignals::add_wide_integer(const T& object, const std::string& name) {
  add_bits(name, object.length(), [&object](int i) { return object.test(i) ? '1' : '0'; });
}

template <typename T>
void UserSignals::add_vector(const T& object, const std::string& name) {
  add_bits(name, object.length(), [&object](int i) { return "01zx"[object.get_bit(i)]; });
}

void UserSignals::add_real(const std::string& name, std::function<double()> value) {
  add_object(name, VcdWriter::Form::real, 64, [value = std::move(value)] { return fmt::format("{}", value()); });
}

void UserSignals::add(std::function<uint64_t()> value, const std::string& name, int bits) {
  if (bits < 1 || bits > 64)
    throw InputError(fmt::format("Waveform::trace: '{}': found {} bits, expected 1 to 64", name, bits));
  add_object(name, VcdWriter::Form::bits, static_cast<unsigned>(bits), [value = std::move(value), bits] {
    const uint64_t now = value();
    std::string text;
    for (int i = bits; i-- > 0;) text += now >> i & 1 ? '1' : '0';
    return text;
  });
}

void UserSignals::cycle(bool delta) {
  if (!delta) look();
}

void UserSignals::look() {
  present_();
  for (Object& o : objects_) {
    std::string text = o.text();
    if (text == o.last) continue;
    vcd_.set_text(o.variable, text);
    o.last = std::move(text);
  }
}

void UserSignals::trace(const sc_core::sc_event& object, const std::string& name) {
  add_object(name, VcdWriter::Form::event, 1, [this, &object] { return std::to_string(event_trigger_stamp(object)); });
}
void UserSignals::trace(const sc_core::sc_time& object, const std::string& name) {
  add_real(name, [&object] { return object.to_seconds() * 1e9; });
}
void UserSignals::trace(const bool& object, const std::string& name) {
  add_integer(object, name, 1);
}
void UserSignals::trace(const sc_dt::sc_bit& object, const std::string& name) {
  add_bits(name, 1, [&object](int) { return object.to_char(); });
}
void UserSignals::trace(const sc_dt::sc_logic& object, const std::string& name) {
  add_bits(name, 1, [&object](int) { return "01zx"[object.value()]; });
}
void UserSignals::trace(const unsigned char& object, const std::string& name, int width) {
  add_integer(object, name, width);
}
void UserSignals::trace(const unsigned short& object, const std::string& name, int width) {
  add_integer(object, name, width);
}
void UserSignals::trace(const unsigned int& object, const std::string& name, int width) {
  add_integer(object, name, width);
}
void UserSignals::trace(const unsigned long& object, const std::string& name, int width) {
  add_integer(object, name, width);
}
void UserSignals::trace(const char& object, const std::string& name, int width) {
  add_integer(object, name, width);
}
void UserSignals::trace(const short& object, const std::string& name, int width) {
  add_integer(object, name, width);
}
void UserSignals::trace(const int& object, const std::string& name, int width) {
  add_integer(object, name, width);
}
void UserSignals::trace(const long& object, const std::string& name, int width) {
  add_integer(object, name, width);
}
void UserSignals::trace(const sc_dt::int64& object, const std::string& name, int width) {
  add_integer(object, name, width);
}
void UserSignals::trace(const sc_dt::uint64& object, const std::string& name, int width) {
  add_integer(object, name, width);
}
void UserSignals::trace(const float& object, const std::string& name) {
  add_real(name, [&object] { return static_cast<double>(object); });
}
void UserSignals::trace(const double& object, const std::string& name) {
  add_real(name, [&object] { return object; });
}
void UserSignals::trace(const sc_dt::sc_int_base& object, const std::string& name) {
  add_wide_integer(object, name);
}
void UserSignals::trace(const sc_dt::sc_uint_base& object, const std::string& name) {
  add_wide_integer(object, name);
}
void UserSignals::trace(const sc_dt::sc_signed& object, const std::string& name) {
  add_wide_integer(object, name);
}
void UserSignals::trace(const sc_dt::sc_unsigned& object, const std::string& name) {
  add_wide_integer(object, name);
}
void UserSignals::trace(const sc_dt::sc_fxval& object, const std::string& name) {
  add_real(name, [&object] { return object.to_double(); });
}
void UserSignals::trace(const sc_dt::sc_fxval_fast& object, const std::string& name) {
  add_real(name, [&object] { return object.to_double(); });
}
void UserSignals::trace(const sc_dt::sc_fxnum& object, const std::string& name) {
  add_real(name, [&object] { return object.to_double(); });
}
void UserSignals::trace(const sc_dt::sc_fxnum_fast& object, const std::string& name) {
  add_real(name, [&object] { return object.to_double(); });
}
void UserSignals::trace(const sc_dt::sc_bv_base& object, const std::string& name) {
  add_vector(object, name);
}
void UserSignals::trace(const sc_dt::sc_lv_base& object, const std::string& name) {
  add_vector(object, name);
}
/// As many bits as the number of literals needs; a VCD has no place for their names.
void UserSignals::trace(const unsigned int& object, const std::string& name, const char** literals) {
  int count = 0, bits = 1;
  while (literals[count]) ++count;
  while (count > 1 << bits) ++bits;
  add_integer(object, name, bits);
}

}  // namespace kernbench::observe
