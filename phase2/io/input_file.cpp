#include "kernbench/phase2/io/input_file.h"

#include <cerrno>
#include <cstring>
#include <sstream>
#include <system_error>

#include "kernbench/phase2/op/errors.h"

namespace kernbench {

std::ifstream open_input(const std::string& file) {
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  // A folder can be opened, and fails when it is read.
  if (in) in.peek();
  if (in.bad() || (!in && !in.eof())) throw InputError(file + ": cannot be read: " + std::strerror(errno));
  in.clear();
  return in;
}

std::string read_all(std::istream& in, const std::string& file) {
  std::ostringstream text;
  text << in.rdbuf();
  if (in.bad()) throw InputError(file + ": cannot be read to its end");
  return text.str();
}

}  // namespace kernbench
