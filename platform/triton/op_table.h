// SPDX-License-Identifier: Apache-2.0
// The operations that the reader knows: how many operands they take, how their types go together, what they do.
#pragma once

#include <string>

#include "kernbench/phase2/op/math_op.h"
#include "kernbench/platform/triton/ir.h"

namespace kernbench::triton {

/// How the types of operands and results go together. "Told" types are those behind the operation's colon.
enum class Typing : uint8_t {
  alike,    ///< all of one type, which is told
  cast,     ///< one operand; its type and the result's are told
  compare,  ///< two of the told type; i1 of its shape
  select,   ///< i1 of the shape or one i1, then two of the told type
  told,     ///< all operands and all results are told
  shape,    ///< as told, but alike operands are told once (join, cat), alike results too (split)
  load,     ///< a pointer of the told type, i1 of its shape, a value to what it points to; such a value
  store,    ///< a pointer of the told type, a value to what it points to, i1 of its shape
  addptr,   ///< the told pointer and integers of its shape; such a pointer
  dot,      ///< A * B -> D, and a third operand as D
  tile,     ///< a base and numbers; only pointer types are told
  result,   ///< no operands to speak of: the result is told
  nothing,  ///< neither
};

/// What it does, for the interpreter.
enum class Does : uint8_t {
  nothing,  ///< a barrier
  integer,  ///< elementwise on integers: `tl` names the op on data (null: none), the name what it does to numbers
  real,     ///< elementwise on floats: `tl` names the op
  compare,
  select,
  convert,  ///< a cast of numbers
  bitcast,
  constant,
  poison,
  make_range,
  program_id,
  num_programs,
  splat,
  unsplat,
  expand_dims,
  broadcast,
  reshape,
  trans,
  join,
  split,
  cat,
  addptr,
  int_to_ptr,
  ptr_to_int,
  load,
  store,
  atomic,  ///< atomic_rmw, atomic_cas
  dot,
  reduce,
  scan,
  histogram,
  gather,  ///< of a block's own elements
  make_block_pointer,
  advance,
  make_descriptor,
  descriptor_load,
  descriptor_store,
  extern_call,
  assume,
  assertion,
  print,
  call,
  terminator,  ///< of a function, a region
  branch,
  for_loop,
  if_else,
  while_loop,
  not_run,  ///< read and checked, but nothing runs it
};

// What an operation does to two integers: its name behind the dialect's.
#define KERNBENCH_INTEGER_OPS(X) \
  X(addi)                        \
  X(subi)                        \
  X(muli)                        \
  X(divsi)                       \
  X(divui)                       \
  X(ceildivsi)                   \
  X(ceildivui)                   \
  X(floordivsi)                  \
  X(remsi)                       \
  X(remui) X(andi) X(ori) X(xori) X(shli) X(shrsi) X(shrui) X(maxsi) X(minsi) X(maxui) X(minui) X(absi) X(mulhiui)
enum class IntegerOp : uint8_t {
  none,
#define KERNBENCH_INTEGER_OP(name) name,
  KERNBENCH_INTEGER_OPS(KERNBENCH_INTEGER_OP)
#undef KERNBENCH_INTEGER_OP
};

struct OpInfo {
  const char* name;
  Typing typing;
  Does does;
  int least, most;  ///< operands; most < 0: any number
  const char* tl = nullptr;
  IntegerOp integer = IntegerOp::none;
  const MathOp* math = nullptr;  ///< the op whose row names it
};

/// Of floats, which MATH commands make together: no engine's op.
constexpr const char* kPower = "pow";

/// Null where there is none of that name.
const OpInfo* find_op(const std::string& name);
/// tl's op that a function of libdevice (__nv_expf) or of ocml (__ocml_exp_f32) is; null: none.
const char* library_op(const std::string& symbol);

}  // namespace kernbench::triton
