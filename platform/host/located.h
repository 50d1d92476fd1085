// SPDX-License-Identifier: Apache-2.0
// Errors of a program: adds the line of the call, and stores errors where exceptions are not allowed.
#pragma once

#include <exception>
#include <functional>
#include <new>
#include <string>
#include <systemc>

#include "kernbench/kernel_api/pe_backend.h"
#include "kernbench/phase2/op/errors.h"

namespace kernbench::host {

/// Runs `work`. Error messages start with the program's line.
template <class Work>
auto located(const SourceLine& where, const Work& work) {
  const auto told = [&](const std::exception& e) {
    const std::string text = e.what(), here = where.line > 0 ? to_string(where) + ": " : "";
    return text.compare(0, here.size(), here) == 0 ? text : here + text;
  };
  try {
    return work();
  } catch (const BadParam& e) {
    throw BadParam(told(e));
  } catch (const InputError& e) {
    throw InputError(told(e));
  } catch (const KernelFault&) {
    throw;
  } catch (const RunError& e) {
    throw RunError(told(e));
  }
}

/// Runs `work`. An error without a line is located after the program's last call.
template <class Work>
void located_behind(const SourceLine& last_call, const Work& work) {
  const auto told = [&](const std::exception& e) {
    const std::string text = e.what(), there = to_string(last_call) + ": ";
    return last_call.line == 0 || text.compare(0, there.size(), there) == 0 ? text : "behind " + there + text;
  };
  try {
    work();
  } catch (const sc_core::sc_unwind_exception&) {
    throw;  // from the simulation itself
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const BadParam& e) {
    throw BadParam(told(e));
  } catch (const InputError& e) {
    throw InputError(told(e));
  } catch (const std::exception& e) {
    throw RunError(told(e));
  }
}

/// Stores the first error of a program. The timeline calls through guarded(), because exceptions must not pass through
/// SystemC.
class FirstFault {
 public:
  void guarded(const std::function<void()>& work) {
    try {
      work();
    } catch (...) {
      if (!fault_) fault_ = std::current_exception();
      sc_core::sc_pause();  // unlike sc_stop, it prints nothing
    }
  }
  const std::exception_ptr& get() const { return fault_; }

 private:
  std::exception_ptr fault_;
};

}  // namespace kernbench::host
