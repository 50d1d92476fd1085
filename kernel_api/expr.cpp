// SPDX-License-Identifier: Apache-2.0
#include "kernbench/kernel_api/expr.h"

#include <fmt/format.h>

namespace kernbench::tl {

Expr Expr::op(const char* name, std::initializer_list<Expr> operands) {
  std::string text;
  for (const Expr& x : operands) text += x.text_ + " ";
  return Expr(text + name);
}

Expr Expr::constant(double number) {
  return Expr(fmt::format("{}", number));
}

}  // namespace kernbench::tl
