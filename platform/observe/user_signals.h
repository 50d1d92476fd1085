// SPDX-License-Identifier: Apache-2.0
// Objects of a user's sc_main in a platform's waveform: all types that sc_trace() accepts.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <systemc>
#include <vector>

#include "kernbench/platform/observe/vcd_writer.h"

namespace kernbench::observe {

/// A trace file for SystemC, so that sc_core::sc_trace() accepts the same types. It samples its objects at the end of
/// each time step, not between delta cycles. Objects must outlive it or its finish().
class UserSignals : public sc_core::sc_trace_file {
 public:
  /// `present` advances the file to the kernel's time before a new value is reported.
  UserSignals(VcdWriter&, std::function<void()> present);
  ~UserSignals() override;
  UserSignals(const UserSignals&) = delete;
  UserSignals& operator=(const UserSignals&) = delete;

  /// The result of `value`, `bits` (1 to 64) wide. InputError for a repeated name or other widths.
  void add(std::function<uint64_t()> value, const std::string& name, int bits);
  /// Samples a last time and stops.
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
  /// Ignored; SystemC's own VCD has no place for comments either.
  void write_comment(const std::string&) override {}
  /// Ignored; the file's unit is fs.
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
  /// For integers of any width and vectors of four-valued bits.
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
  std::unique_ptr<TimeSteps> steps_;  // null until the first object
};

}  // namespace kernbench::observe
