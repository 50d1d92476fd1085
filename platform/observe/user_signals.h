// SPDX-License-Identifier: Apache-2.0
// Objects of a user's sc_main in the waveform of a platform: whatever sc_trace() takes.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <systemc>
#include <vector>

#include "kernbench/platform/observe/vcd_writer.h"

namespace kernbench::observe {

/// To SystemC a trace file, so that sc_core::sc_trace() knows what it can be given. Like one, it looks at its objects
/// at the end of every time step, not between delta cycles; objects must outlive it, or finish() be called before they
/// end.
class UserSignals : public sc_core::sc_trace_file {
 public:
  /// `present` brings the file to the kernel's time before what is new there is told.
  UserSignals(VcdWriter&, std::function<void()> present);
  ~UserSignals() override;
  UserSignals(const UserSignals&) = delete;
  UserSignals& operator=(const UserSignals&) = delete;

  /// What `value` gives, `bits` (1 to 64) wide. InputError where there is such a name, or bits are none of these.
  void add(std::function<uint64_t()> value, const std::string& name, int bits);
  /// Looks a last time, and no more.
  void finish();

  void trace(const sc_core::sc_event&, const std::string& name) override;
  void trace(const sc_core::sc_time&, const std::string& name) override;
  void trace(const bool&, const std::string& name) override;
  void trace(const sc_dt::sc_bit&, const std::string& name) override;
  void trace(const sc_dt::sc_logic&, const std::string& name) override;
  void trace(const unsigned char&, const std::string& name, int width) override;
  void trace(const unsigned short&, const std::string& name, int width) override;
  void trace(const unsigned int&, const std::string& name, int width) override;
  void trace(const unsigned long&, const std::string& name, int width) override;
  void trace(const char&, const std::string& name, int width) override;
  void trace(const short&, const std::string& name, int width) override;
  void trace(const int&, const std::string& name, int width) override;
  void trace(const long&, const std::string& name, int width) override;
  void trace(const sc_dt::int64&, const std::string& name, int width) override;
  void trace(const sc_dt::uint64&, const std::string& name, int width) override;
  void trace(const float&, const std::string& name) override;
  void trace(const double&, const std::string& name) override;
  void trace(const sc_dt::sc_int_base&, const std::string& name) override;
  void trace(const sc_dt::sc_uint_base&, const std::string& name) override;
  void trace(const sc_dt::sc_signed&, const std::string& name) override;
  void trace(const sc_dt::sc_unsigned&, const std::string& name) override;
  void trace(const sc_dt::sc_fxval&, const std::string& name) override;
  void trace(const sc_dt::sc_fxval_fast&, const std::string& name) override;
  void trace(const sc_dt::sc_fxnum&, const std::string& name) override;
  void trace(const sc_dt::sc_fxnum_fast&, const std::string& name) override;
  void trace(const sc_dt::sc_bv_base&, const std::string& name) override;
  void trace(const sc_dt::sc_lv_base&, const std::string& name) override;
  void trace(const unsigned int&, const std::string& name, const char** literals) override;
  /// None: a VCD of SystemC's has no place for them either.
  void write_comment(const std::string&) override {}
  /// The file is in fs.
  void set_time_unit(double, sc_core::sc_time_unit) override {}

 private:
  class TimeSteps;
  using Text = std::function<std::string()>;
  struct Object {
    SignalSink::Variable variable;
    Text text;
    std::string last;
  };
  void add_object(const std::string& name, VcdWriter::Form, unsigned bits, Text);
  template <typename Bit>
  void add_bits(const std::string& name, int bits, Bit bit);
  template <typename T>
  void add_integer(const T& object, const std::string& name, int width);
  /// Of the integers of any width, and of vectors of four values.
  template <typename T>
  void add_wide_integer(const T& object, const std::string& name);
  template <typename T>
  void add_vector(const T& object, const std::string& name);
  void add_real(const std::string& name, std::function<double()> value);
  void cycle(bool delta) override;
  void look();

  VcdWriter& vcd_;
  std::function<void()> present_;
  std::vector<Object> objects_;
  std::set<std::string> names_;
  std::unique_ptr<TimeSteps> steps_;  // once there are objects
};

}  // namespace kernbench::observe
