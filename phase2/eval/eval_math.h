// SPDX-License-Identifier: Apache-2.0
// Evaluations of the individual commands. eval.h selects among them.
#pragma once

#include <memory>
#include <vector>

#include "kernbench/phase2/eval/arithmetic.h"
#include "kernbench/phase2/eval/eval.h"

namespace kernbench::phase2 {

std::unique_ptr<Evaluation> make_math(const OpDesc&, const std::vector<EvalInput>&, uint8_t* out, const Arithmetic&);
// Kinds of math ops. make_math selects among them.
std::unique_ptr<Evaluation> make_along_axis(const struct MathOp&, const OpDesc&, const std::vector<EvalInput>&,
                                            uint8_t* out, const Arithmetic&);
std::unique_ptr<Evaluation> make_sort(const OpDesc&, const std::vector<EvalInput>&, uint8_t* out, const Arithmetic&);
std::unique_ptr<Evaluation> make_arrangement(const struct MathOp&, const OpDesc&, const std::vector<EvalInput>&,
                                             uint8_t* out, const Arithmetic&);
std::unique_ptr<Evaluation> make_random(const OpDesc&, const std::vector<EvalInput>&, uint8_t* out, const Arithmetic&);
/// Simple and composite GEMM, and elementwise composites: a head, then the epilogue; the result is rounded once.
std::unique_ptr<Evaluation> make_fused(const OpDesc&, const std::vector<EvalInput>&, uint8_t* out, const Arithmetic&);
/// Masked loads and stores, and loads that gather.
std::unique_ptr<Evaluation> make_move(const OpDesc&, const std::vector<EvalInput>&, uint8_t* out);

}  // namespace kernbench::phase2
