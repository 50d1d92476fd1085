// SPDX-License-Identifier: Apache-2.0
// Evaluates ops for ops_agree_with_numpy_test.py. Each line of standard input is one op:
//   OUT.npy OP AXIS ARGUMENT DTYPE SHAPE OPERAND...
// ARGUMENT has "," for blanks, "-" for none. SHAPE is "2x3", or "-" for a scalar. An OPERAND is =NUMBER or
// DTYPE:FILE.npy. Every instruction set of the machine evaluates it, with its parts on 1, 2 and 3 threads; the portable
// result is written. It prints one line per op: the sets and threads whose bits differ, or the error. A line "ops"
// requests the rows of all ops, NAME:OPERANDS:any|floats|integers:0|1 (whether elementwise). "means OP NUMBER..."
// requests the f64 value.
#include <cstdio>
#include <iostream>
#include <sstream>
#include <thread>

#include "kernbench/phase2/eval/eval.h"
#include "kernbench/phase2/io/npy.h"
#include "kernbench/phase2/op/math_op.h"

namespace kernbench {
namespace {

Dims dims_of(const std::string& text) {
  Dims d;
  std::istringstream in(text);
  for (std::string each; text != "-" && std::getline(in, each, 'x');) d.push_back(std::stoll(each));
  return d;
}

Bytes on_threads(const OpDesc& d, const std::vector<EvalInput>& inputs, Isa isa, int threads) {
  Bytes bytes(d.value_bytes());
  const std::unique_ptr<Evaluation> e = make_evaluation(d, inputs, bytes.data(), isa);
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t) {
    all.emplace_back([&, t] {
      for (int part = t; part < e->parts(); part += threads) e->run(part);
    });
  }
  for (std::thread& t : all) t.join();
  return bytes;
}

std::string rows_of_ops() {
  std::string rows = "gemm:2:any:0";
  for (const MathOp& op : math_ops()) {
    const char* values = op.float_only ? "floats" : op.integer_only ? "integers" : "any";
    rows += " " + std::string(op.name) + ":" + std::to_string(op.arity) + ":" + values + ":" +
            (op.is_elementwise() ? "1" : "0");
  }
  return rows;
}

std::string meant(std::istringstream& in) {
  std::string op;
  std::vector<double> x;
  in >> op;
  for (std::string number; in >> number;) x.push_back(std::stod(number));
  char text[40];
  std::snprintf(text, sizeof text, "%a", find_math_op(op)->value(x));
  return text;
}

std::string evaluated(const std::string& line) {
  if (line == "ops") return rows_of_ops();
  std::istringstream in(line);
  if (line.rfind("means ", 0) == 0) return in.ignore(6), meant(in);
  OpDesc d;
  std::string file, dtype, shape;
  in >> file >> d.op >> d.axis >> d.argument >> dtype >> shape;
  if (d.argument == "-") d.argument.clear();
  for (char& c : d.argument) c = c == ',' ? ' ' : c;
  d.type = d.op == "gemm" ? CommandType::gemm : CommandType::math;
  d.kind = d.op == "gemm" ? OpKind::gemm : OpKind::math;
  d.name = d.op;
  d.output.dtype = parse_dtype(dtype).value();
  d.output.shape = dims_of(shape);
  d.output.strides = TensorRef::row_major(d.output.shape);
  std::vector<NpyArray> tensors;
  tensors.reserve(64);
  std::vector<EvalInput> inputs;
  for (std::string operand; in >> operand;) {
    if (operand[0] == '=') {
      inputs.push_back(EvalInput::immediate(std::stod(operand.substr(1))));
      continue;
    }
    const size_t colon = operand.find(':');
    tensors.push_back(read_npy_as(operand.substr(colon + 1), parse_dtype(operand.substr(0, colon)).value()));
    inputs.push_back(EvalInput::tensor(tensors.back().bytes.data(), tensors.back().dtype, tensors.back().shape));
  }
  d.operands.resize(inputs.size());
  if (d.op == "gemm") {
    d.m = d.output.shape[0];
    d.n = d.output.shape[1];
    d.k = inputs[0].shape[1] * values_in(inputs[0].dtype);
  }
  const Bytes bytes = evaluate(d, inputs, Isa::portable);
  write_npy(file, d.output.dtype, d.output.shape, bytes.data());
  std::string others = "same";
  for (Isa isa : available_isas()) {
    if (evaluate(d, inputs, isa) != bytes) others += " but " + std::string(name_of(isa));
  }
  for (int threads : {2, 3}) {
    if (on_threads(d, inputs, Isa::portable, threads) != bytes)
      return "other bits on " + std::to_string(threads) + " threads";
  }
  return others;
}

}  // namespace
}  // namespace kernbench

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    try {
      std::cout << kernbench::evaluated(line) << std::endl;
    } catch (const std::exception& e) {
      std::cout << "error " << e.what() << std::endl;
    }
  }
}
