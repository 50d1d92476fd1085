// SPDX-License-Identifier: Apache-2.0
// Signal windows, MaxUnpool, Einsum, and ops that are refused with a reason.
#include <algorithm>
#include <cmath>
#include <map>

#include "kernbench/kernel_api/pe_backend.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/onnx/pe.h"

namespace kernbench::onnx {
namespace {

using tl::Tensor;

// ---- Windows of signals: a0 − a1 · cos(2πn / N) + a2 · cos(4πn / N)

void shape_signal_window(Op& op) {
  op.set_output(0, type_of(op.integer("output_datatype", 1)), {op.value(0)});
}

void run_signal_window(Pe& pe) {
  const std::string& name = pe.op.node->op;
  const double a0 = name == "HannWindow" ? 0.5 : name == "HammingWindow" ? 25.0 / 46 : 0.42;
  const double a1 = name == "HammingWindow" ? 21.0 / 46 : 0.5, a2 = name == "BlackmanWindow" ? 0.08 : 0;
  const int64_t size = pe.op.out().shape[0],
                n = pe.op.integer("periodic", 1) != 0 ? size : std::max<int64_t>(1, size - 1);
  const double turn = 2 * 3.14159265358979323846 / static_cast<double>(n);
  pe.for_pieces([&](int64_t first, int64_t count) {
    const auto begin = static_cast<double>(first);
    const Tensor i = pe.tl.arange(begin, begin + static_cast<double>(count), 1, DType::f32);
    Tensor y = a0 - pe.tl.cos(i * turn) * a1;
    if (a2 != 0) y = y + pe.tl.cos(i * (2 * turn)) * a2;
    pe.put(0, first, y);
  });
}

// ---- MaxUnpool

Shape unpooled(const Op& op) {
  const size_t n = op.shape().size() - 2;
  const Shape kernel = op.attribute("kernel_shape", AttributeType::integers).ints,
              strides = op.ints("strides", Shape(n, 1));
  const Shape pads = op.ints("pads", Shape(2 * n, 0));
  op.require(kernel.size() == n && strides.size() == n && pads.size() == 2 * n, "found attributes of another rank");
  op.require_small({kernel, strides, pads});
  Shape to(op.shape().begin(), op.shape().begin() + 2);
  for (size_t d = 0; d < n; ++d) to.push_back((op.shape()[d + 2] - 1) * strides[d] + kernel[d] - pads[d] - pads[d + n]);
  return to;
}

void shape_max_unpool(Op& op) {
  op.require_type(1, Takes::indices);
  op.require(op.rank() >= 3 && op.shape(1) == op.shape(), "found indices of another shape");
  const Shape from = unpooled(op), to = op.has(2) ? op.values(2) : from;
  op.require(to.size() == op.shape().size(), "found output_shape of another rank");
  op.set_output(0, op.in(0).type, to);
}

void run_max_unpool(Pe& pe) {
  const Shape from = unpooled(pe.op), &to = pe.op.out().shape, strides = row_major_strides(to);
  const std::vector<int64_t> index = pe.ints(1);
  const Range mine = pe.share();
  std::vector<int64_t> source(static_cast<size_t>(mine.last - mine.first), -1);
  for (size_t i = 0; i < index.size(); ++i) {
    if (index[i] < 0 || index[i] >= elements_of(from)) throw Refusal("found index " + std::to_string(index[i]));
    const Shape at = unflattened(index[i], from);
    int64_t place = 0;
    bool inside = true;
    for (size_t d = 0; d < at.size(); ++d) {
      inside = inside && at[d] < to[d];
      place += at[d] * strides[d];
    }
    if (inside && place >= mine.first && place < mine.last)
      source[static_cast<size_t>(place - mine.first)] = static_cast<int64_t>(i);
  }
  pe.for_pieces([&](int64_t first, int64_t count) {
    const auto begin = source.begin() + (first - mine.first);
    pe.put(0, first, pe.pick(0, std::vector<int64_t>(begin, begin + count)));
  });
}

// ---- Einsum

struct Sum {
  std::vector<std::string> operands;  ///< one letter per dimension; digits stand for an ellipsis's dimensions, the last
                                      ///< of which is 9
  std::vector<Shape> shapes;          ///< of the operands
  std::string result, summed;
  std::map<char, int64_t> sizes;
};

constexpr const char* kEllipsis = "...";

bool is_of_ellipsis(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

/// Expands letters whose ellipsis stands for this many dimensions.
std::string spelt_out(const std::string& letters, size_t dimensions) {
  const size_t at = letters.find(kEllipsis);
  if (at == std::string::npos) return letters;
  return letters.substr(0, at) + std::string("0123456789").substr(10 - dimensions) + letters.substr(at + 3);
}

/// The number of dimensions that an operand's ellipsis stands for; 0 without one.
size_t dimensions_of_ellipsis(const Op& op, const std::string& letters, const Shape& shape) {
  const size_t at = letters.find(kEllipsis);
  const std::string plain = at == std::string::npos ? letters : letters.substr(0, at) + letters.substr(at + 3);
  for (const char c : plain)
    op.require(std::isalpha(static_cast<unsigned char>(c)) != 0, "found an equation that is none");
  op.require(at == std::string::npos ? plain.size() == shape.size() : plain.size() <= shape.size(),
             "found '" + letters + "' for " + to_string(shape));
  op.require(shape.size() - plain.size() <= 10, "found an ellipsis of more than 10 dimensions");
  return shape.size() - plain.size();
}

/// Records an operand's dimensions; those of an ellipsis are broadcast.
void add_operand(const Op& op, const std::string& letters, const Shape& shape, Sum* s) {
  for (size_t d = 0; d < shape.size(); ++d) {
    const char c = letters[d];
    int64_t& size = s->sizes.emplace(c, shape[d]).first->second;
    if (is_of_ellipsis(c) && size == 1) size = shape[d];
    op.require(size == shape[d] || (is_of_ellipsis(c) && shape[d] == 1),
               "found two sizes of '" + (is_of_ellipsis(c) ? kEllipsis : std::string(1, c)) + "'");
  }
  s->operands.push_back(letters);
  s->shapes.push_back(shape);
}

Sum sum_of(const Op& op) {
  std::string equation = op.attribute("equation", AttributeType::string).s;
  equation.erase(std::remove(equation.begin(), equation.end(), ' '), equation.end());
  const size_t arrow = equation.find("->");
  const std::vector<std::string> operands = parts_between(',', equation.substr(0, arrow));
  op.require(operands.size() == op.inputs.size(), "found an equation of another number of operands");
  Sum s;
  size_t most = 0;  // dimensions of an ellipsis
  for (size_t i = 0; i < operands.size(); ++i) {
    const size_t dimensions = dimensions_of_ellipsis(op, operands[i], op.shape(i));
    most = std::max(most, dimensions);
    add_operand(op, spelt_out(operands[i], dimensions), op.shape(i), &s);
  }
  std::map<char, int> seen;
  for (const std::string& letters : s.operands) {
    for (const char c : letters) ++seen[c];
  }
  if (arrow != std::string::npos) {
    s.result = spelt_out(equation.substr(arrow + 2), most);
  } else {
    for (const auto& [c, n] : seen) {
      if (n == 1 || is_of_ellipsis(c)) s.result += c;
    }
  }
  std::map<char, int> in_result;
  for (const char c : s.result)
    op.require(s.sizes.count(c) > 0 && ++in_result[c] == 1, "found an equation that is none");
  for (const auto& [c, n] : s.sizes) {
    if (in_result.count(c) == 0) s.summed += c;
  }
  return s;
}

/// View of an operand's elements over some letters.
Strides over(const Sum& s, const std::string& letters, size_t operand) {
  Strides view;
  const Shape &shape = s.shapes[operand], strides = row_major_strides(shape);
  for (const char c : letters) {
    int64_t stride = 0;
    for (size_t d = 0; d < shape.size(); ++d) stride += s.operands[operand][d] == c && shape[d] > 1 ? strides[d] : 0;
    view.shape.push_back(s.sizes.at(c));
    view.strides.push_back(stride);
  }
  return view;
}

void shape_einsum(Op& op) {
  op.require_type(0, Takes::numbers);
  for (size_t i = 1; i < op.inputs.size(); ++i) op.require_same_types(0, i);
  const Sum s = sum_of(op);
  Shape to;
  for (const char c : s.result) to.push_back(s.sizes.at(c));
  op.set_output(0, op.in(0).type, to);
}

void run_einsum(Pe& pe) {
  const Sum s = sum_of(pe.op);
  int64_t length = 1;
  for (const char c : s.summed) length *= s.sizes.at(c);
  std::vector<Strides> kept, summed;  // of each operand
  for (size_t i = 0; i < s.operands.size(); ++i) {
    kept.push_back(over(s, s.result, i));
    summed.push_back(over(s, s.summed, i));
  }
  const int64_t step = std::clamp<int64_t>(kPiece / std::max<int64_t>(1, length), 1, kPiece);
  pe.for_pieces(
      [&](int64_t first, int64_t count) {
        const int64_t piece = std::max<int64_t>(1, kPiece / count);
        Tensor all = length == 0 ? pe.tl.zeros({count}, pe.out_type()) : Tensor();  // an empty sum
        for (int64_t j = 0; j < length; j += piece) {
          const int64_t n = std::min(piece, length - j);
          Tensor product;
          for (size_t i = 0; i < s.operands.size(); ++i) {
            const std::vector<int64_t> starts = kept[i].range(first, count);
            const std::vector<int64_t> steps = summed[i].range(j, n);
            std::vector<int64_t> places;
            for (const int64_t a : starts) {
              for (const int64_t b : steps) places.push_back(a + b);
            }
            const Tensor x = pe.widened(pe.pick(i, places, {count, n}));
            product = product.valid() ? product * x : x;
          }
          const Tensor part = pe.tl.sum(product, 1);
          all = all.valid() ? all + part : part;
        }
        pe.put(0, first, all);
      },
      0, step);
}

// ---- Refused

void refuse_random(Op& op) {
  op.refuse("it draws random numbers, of which ONNX does not say which");
}
void refuse_sequence(Op& op) {
  op.refuse("it works on sequences or optionals; tensors alone are run");
}

const RegisterOps registered_more{{
    {"HannWindow", 17, shape_signal_window, run_signal_window, "MATH: cosines", "1 output_datatype periodic"},
    {"HammingWindow", 17, shape_signal_window, run_signal_window, "MATH: cosines", "1 output_datatype periodic"},
    {"BlackmanWindow", 17, shape_signal_window, run_signal_window, "MATH: cosines", "1 output_datatype periodic"},
    {"MaxUnpool", 9, shape_max_unpool, run_max_unpool, "pe_cpu reads the indices; DMA gathers",
     "3 kernel_shape pads strides", true},
    {"Einsum", 12, shape_einsum, run_einsum, "MATH: products, gathered and added up", "many equation", false, true},
    {"Bernoulli", 15, refuse_random, nullptr, "refused"},
    {"RandomNormal", 1, refuse_random, nullptr, "refused"},
    {"RandomNormalLike", 1, refuse_random, nullptr, "refused"},
    {"RandomUniform", 1, refuse_random, nullptr, "refused"},
    {"RandomUniformLike", 1, refuse_random, nullptr, "refused"},
    {"Multinomial", 7, refuse_random, nullptr, "refused"},
    {"SequenceConstruct", 11, refuse_sequence, nullptr, "refused"},
    {"SequenceEmpty", 11, refuse_sequence, nullptr, "refused"},
    {"SplitToSequence", 11, refuse_sequence, nullptr, "refused"},
}};

}  // namespace
}  // namespace kernbench::onnx
