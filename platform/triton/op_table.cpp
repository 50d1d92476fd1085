// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/triton/op_table.h"

#include <map>
#include <string_view>

#include "kernbench/phase2/op/math_op.h"
#include "kernbench/phase2/text/text.h"

namespace kernbench::triton {

namespace {

using T = Typing;
using D = Does;
using I = IntegerOp;

constexpr OpInfo kOps[] = {
    // Names of engine ops are columns of phase2/op/elementwise_ops.inc, not of this table.
    {"arith.ceildivsi", T::alike, D::integer, 2, 2, nullptr, I::ceildivsi},
    {"arith.ceildivui", T::alike, D::integer, 2, 2, nullptr, I::ceildivui},
    {"arith.floordivsi", T::alike, D::integer, 2, 2, nullptr, I::floordivsi},
    {"math.powf", T::alike, D::real, 2, 2, kPower},
    {"tt.extern_elementwise", T::told, D::extern_call, 1, 3},
    {"tt.elementwise_inline_asm", T::told, D::not_run, 0, -1},
    // Of integers and floats.
    {"arith.cmpi", T::compare, D::compare, 2, 2},
    {"arith.cmpf", T::compare, D::compare, 2, 2},
    {"arith.select", T::select, D::select, 3, 3},
    {"arith.constant", T::result, D::constant, 0, 0},
    {"ub.poison", T::result, D::poison, 0, 0},
    {"arith.extsi", T::cast, D::convert, 1, 1},
    {"arith.extui", T::cast, D::convert, 1, 1},
    {"arith.trunci", T::cast, D::convert, 1, 1},
    {"arith.index_cast", T::cast, D::convert, 1, 1},
    {"arith.index_castui", T::cast, D::convert, 1, 1},
    {"arith.extf", T::cast, D::convert, 1, 1},
    {"arith.truncf", T::cast, D::convert, 1, 1},
    {"arith.sitofp", T::cast, D::convert, 1, 1},
    {"arith.uitofp", T::cast, D::convert, 1, 1},
    {"arith.fptosi", T::cast, D::convert, 1, 1},
    {"arith.fptoui", T::cast, D::convert, 1, 1},
    {"tt.fp_to_fp", T::cast, D::convert, 1, 1},
    {"arith.bitcast", T::cast, D::bitcast, 1, 1},
    {"tt.bitcast", T::cast, D::bitcast, 1, 1},
    // Shapes.
    {"tt.make_range", T::result, D::make_range, 0, 0},
    {"tt.splat", T::cast, D::splat, 1, 1},
    {"tt.unsplat", T::cast, D::unsplat, 1, 1},
    {"tt.expand_dims", T::cast, D::expand_dims, 1, 1},
    {"tt.broadcast", T::cast, D::broadcast, 1, 1},
    {"tt.reshape", T::cast, D::reshape, 1, 1},
    {"tt.trans", T::cast, D::trans, 1, 1},
    {"tt.join", T::shape, D::join, 2, 2},
    {"tt.split", T::shape, D::split, 1, 1},
    {"tt.cat", T::shape, D::cat, 2, 2},
    // Programs and memory.
    {"tt.get_program_id", T::result, D::program_id, 0, 0},
    {"tt.get_num_programs", T::result, D::num_programs, 0, 0},
    {"tt.addptr", T::addptr, D::addptr, 2, 2},
    {"tt.int_to_ptr", T::cast, D::int_to_ptr, 1, 1},
    {"tt.ptr_to_int", T::cast, D::ptr_to_int, 1, 1},
    {"tt.load", T::load, D::load, 1, 3},
    {"tt.store", T::store, D::store, 2, 3},
    {"tt.atomic_rmw", T::told, D::atomic, 2, 3},
    {"tt.atomic_cas", T::told, D::atomic, 3, 3},
    {"tt.make_tensor_ptr", T::tile, D::make_block_pointer, 4, -1},
    {"tt.advance", T::tile, D::advance, 2, -1},
    {"tt.make_tensor_descriptor", T::tile, D::make_descriptor, 3, -1},
    {"tt.descriptor_load", T::tile, D::descriptor_load, 2, -1},
    {"tt.experimental_descriptor_load", T::tile, D::descriptor_load, 2, -1},
    {"tt.descriptor_store", T::tile, D::descriptor_store, 3, -1},
    {"tt.experimental_descriptor_store", T::tile, D::descriptor_store, 3, -1},
    {"tt.descriptor_reduce", T::tile, D::not_run, 3, -1},
    {"tt.descriptor_gather", T::tile, D::not_run, 3, 3},
    {"tt.descriptor_scatter", T::tile, D::not_run, 4, 4},
    {"tt.experimental_descriptor_gather", T::tile, D::not_run, 3, 3},
    {"tt.experimental_descriptor_scatter", T::tile, D::not_run, 4, 4},
    {"tt.reinterpret_tensor_descriptor", T::cast, D::not_run, 1, 1},
    // Engines.
    {"tt.dot", T::dot, D::dot, 3, 3},
    {"tt.dot_scaled", T::tile, D::not_run, 3, 5},
    {"tt.reduce", T::told, D::reduce, 1, -1},
    {"tt.scan", T::told, D::scan, 1, -1},
    {"tt.histogram", T::tile, D::histogram, 1, 2},
    {"tt.gather", T::told, D::gather, 2, 2},
    {"tt.map_elementwise", T::told, D::not_run, 1, -1},
    // Hints and tests.
    {"llvm.intr.assume", T::alike, D::assume, 1, 1},
    {"tt.assert", T::alike, D::assertion, 1, 1},
    {"tt.print", T::told, D::print, 0, -1},
    {"gpu.barrier", T::nothing, D::nothing, 0, 0},
    {"ttg.barrier", T::nothing, D::nothing, 0, 0},
    // Control.
    {"tt.call", T::told, D::call, 0, -1},
    {"tt.return", T::told, D::terminator, 0, -1},
    {"tt.reduce.return", T::told, D::terminator, 1, -1},
    {"tt.scan.return", T::told, D::terminator, 1, -1},
    {"tt.map_elementwise.return", T::told, D::terminator, 1, -1},
    {"scf.yield", T::told, D::terminator, 0, -1},
    {"scf.condition", T::told, D::terminator, 1, -1},
    {"scf.for", T::nothing, D::for_loop, 3, -1},
    {"scf.if", T::nothing, D::if_else, 1, 1},
    {"scf.while", T::nothing, D::while_loop, 0, -1},
    {"cf.br", T::nothing, D::branch, 0, 0},
    {"cf.cond_br", T::nothing, D::branch, 1, 1},
};

IntegerOp integer_op(std::string_view name) {
  const std::string_view bare = name.substr(name.find('.') + 1);
#define KERNBENCH_INTEGER_OP(op) \
  if (bare == #op) return I::op;
  KERNBENCH_INTEGER_OPS(KERNBENCH_INTEGER_OP)
#undef KERNBENCH_INTEGER_OP
  return I::none;
}

}  // namespace

const OpInfo* find_op(const std::string& name) {
  static const std::map<std::string, OpInfo, std::less<>> by_name = [] {
    std::map<std::string, OpInfo, std::less<>> m;
    for (const OpInfo& op : kOps) m.emplace(op.name, op);
    for (const MathOp& math : math_ops()) {
      for (const std::string& each : words_between_blanks(math.triton)) {
        const auto it = m.emplace(each, OpInfo{}).first;
        const IntegerOp integer = integer_op(each);
        it->second = {it->first.c_str(), T::alike,   integer == I::none ? D::real : D::integer,
                      math.arity,        math.arity, math.name.data(),
                      integer,           &math};
      }
    }
    return m;
  }();
  const auto it = by_name.find(name);
  return it == by_name.end() ? nullptr : &it->second;
}

const char* library_op(const std::string& symbol) {
  static const std::map<std::string, const char*> ops = [] {
    std::map<std::string, const char*> m = {{"pow", kPower}};
    for (const MathOp& math : math_ops()) {
      for (const std::string& each : words_between_blanks(math.library)) m[each] = math.name.data();
    }
    return m;
  }();
  const auto find = [](const std::string& name) {
    const auto it = ops.find(name);
    return it == ops.end() ? nullptr : it->second;
  };
  const auto starts = [&](const std::string& with) { return symbol.compare(0, with.size(), with) == 0; };
  if (starts("__ocml_")) {
    const size_t type = symbol.rfind("_f");
    return type > 6 && type != std::string::npos ? find(symbol.substr(7, type - 7)) : nullptr;
  }
  if (!starts("__nv_")) return nullptr;
  const std::string name = symbol.substr(5);
  if (const char* op = find(name)) return op;  // an f64 function
  return !name.empty() && name.back() == 'f' ? find(name.substr(0, name.size() - 1)) : nullptr;
}

}  // namespace kernbench::triton
