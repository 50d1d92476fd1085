// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/io/input_file.h"

#include <cerrno>
#include <cstring>
#include <system_error>

#include "kernbench/phase2/op/errors.h"

namespace kernbench::phase2 {

std::ifstream open_input(const std::string& file) {
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  // Opening a folder succeeds, and only reading it fails.
  if (in) in.peek();
  if (in.bad() || (!in && !in.eof())) throw InputError(file + ": cannot be read: " + std::strerror(errno));
  in.clear();
  return in;
}

std::string read_all(std::istream& in, const std::string& file, size_t most) {
  std::string text, block(1 << 16, '\0');
  while (text.size() < most && in.read(block.data(), static_cast<std::streamsize>(block.size())).gcount() > 0)
    text.append(block, 0, static_cast<size_t>(in.gcount()));
  if (in.bad()) throw InputError(file + ": cannot be read to its end");
  return text;
}

}  // namespace kernbench::phase2
