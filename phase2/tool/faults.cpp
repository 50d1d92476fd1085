#include "kernbench/phase2/tool/faults.h"

#include <iostream>
#include <new>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/text.h"

namespace kernbench::cli {

void tell(const std::string& line) {
  std::cerr << escaped(line) + "\n";
}

namespace {

void tell_lines(const std::string& program, const RunError& e) {
  std::string before = program + ": ";
  for (const std::string& line : e.lines()) {
    tell(before + line);
    before.clear();
  }
}

}  // namespace

int run_command(const std::string& program, const std::function<int()>& command) {
  try {
    return command();
  } catch (const InputError& e) {
    for (const std::string& fault : e.faults()) tell(fault);
    return 2;
  } catch (const Stopped& e) {
    tell_lines(program, e);
    return e.status();
  } catch (const RunError& e) {
    tell_lines(program, e);
  } catch (const std::bad_alloc&) {
    tell(program + ": this machine's memory does not hold the system and its tensors");
  } catch (const std::exception& e) {
    tell(program + ": " + e.what());
  }
  return 1;
}

}  // namespace kernbench::cli
