// SPDX-License-Identifier: Apache-2.0
// The operations that the reader knows: number of operands, rule for types, meaning.
#pragma once

#include <string>

#include "kernbench/phase2/op/math_op.h"
#include "kernbench/platform/triton/ir.h"

namespace kernbench::triton {

/// The rule for the types of operands and results. "Written" types follow the operation's colon.
enum class Typing : uint8_t {
  alike,    ///< all have one type, which is written
  cast,     ///< one operand; its type and the result's are written
  compare,  ///< two of the written type; i1 of its shape
  select,   ///< i1 of the shape or one i1, then two of the told type
  told,     ///< all operand and result types are written
  shape,    ///< written, but equal operand types once (join, cat), equal result types too (split)
  load,     ///< a pointer of the written type, i1 of its shape, a pointee value; returns a pointee value
  store,    ///< a pointer of the written type, a pointee value, i1 of its shape
  addptr,   ///< the written pointer and integers of its shape; returns such a pointer
  dot,      ///< A * B -> D; the third operand has D's type
  tile,     ///< a base and numbers; only pointer types are written
  result,   ///< only the result's type is written
  nothing,  ///< no types
};

/// The meaning, for the interpreter.
enum class Does : uint8_t {
  nothing,  ///< a barrier
  integer,  ///< elementwise on integers: `tl` names the op on data (null: none), the name the op on numbers
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
  not_run,  ///< read and checked, but unsupported at run time
};

// Integer ops: the name without the dialect.
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
  int least, most;  ///< number of operands; most < 0: unlimited
  const char* tl = nullptr;
  IntegerOp integer = IntegerOp::none;
  const MathOp* math = nullptr;  ///< the op with this name
};

/// Float op that several MATH commands compute together; no engine has it.
constexpr const char* kPower = "pow";

/// Null if the name is unknown.
const OpInfo* find_op(const std::string& name);
/// The op of tl for a function of libdevice (__nv_expf) or ocml (__ocml_exp_f32); null: none.
const char* library_op(const std::string& symbol);

}  // namespace kernbench::triton
