// SPDX-License-Identifier: Apache-2.0
// GEMM and composites: a GEMM or elementwise head with its epilogue, computed like the tiled hardware.
//
// The accumulator is f32 (i32 for integers). k advances in steps of tile_k. Each step's partial product is added to the
// accumulator, then the per_k_tile ops are applied to it. The result of an element does not depend on its (m, n) tile.
// The exception is `once`, which applies to the last tile only. Therefore parts need not match the hardware's tiles.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernbench/phase2/eval/convert.h"
#include "kernbench/phase2/eval/elementwise.h"
#include "kernbench/phase2/eval/eval_math.h"

namespace kernbench::phase2 {
namespace {

constexpr int64_t kPartRows = kProductRows, kPartCols = kProductCols;

/// Uninitialised memory, aligned to 64 bytes. It grows as needed and is kept per thread, because parts are many and
/// short.
class Scratch {
 public:
  void* get(size_t bytes) {
    if (bytes > size_) {
      data_.reset(static_cast<uint8_t*>(::operator new (bytes, std::align_val_t{64})));
      size_ = bytes;
    }
    return data_.get();
  }

 private:
  struct Free {
    void operator()(uint8_t* p) const { ::operator delete (p, std::align_val_t{64}); }
  };
  std::unique_ptr<uint8_t, Free> data_;
  size_t size_ = 0;
};

struct Step {
  const MathOp* op = nullptr;
  Fn fn = Fn::copy;
  Scope scope = Scope::per_output_tile;
  std::vector<EvalInput> operands;  ///< without the running tile
  std::vector<Dims> strides;        ///< over [m, n]
  Compute compute = Compute::f32;   ///< if the running tile is still integer
};

/// A rectangle of the output and its accumulator, f32 or i32, rows `ld` apart.
struct Tile {
  int64_t row0, col0, rows, cols, ld;
  float* f32;
  int32_t* i32;
  bool floating;
};

class Fused : public Evaluation {
 public:
  Fused(const OpDesc& d, const std::vector<EvalInput>& inputs, uint8_t* out, const Arithmetic& arithmetic)
      : arithmetic_(arithmetic), dtype_(d.output.dtype), out_(out), m_(d.m), n_(d.n), k_(d.k) {
    const bool gemm_head = d.type == CommandType::gemm || d.op == "gemm" || d.kind == OpKind::gemm;
    if (!gemm_head && m_ * n_ != d.output.shape.elements()) {
      m_ = 1;
      for (int i = 0; i + 1 < d.output.shape.rank(); ++i) m_ *= d.output.shape[i];
      n_ = d.output.shape.rank() ? d.output.shape[d.output.shape.rank() - 1] : 1;
    }
    if (m_ * n_ != d.output.shape.elements()) {
      throw EvalError(d.name + ": " + std::to_string(m_) + " x " + std::to_string(n_) + " into an output of shape " +
                      d.output.shape.to_string());
    }
    size_t used = d.operands.size();
    if (gemm_head) {
      if (used != 2 && !(used == 3 && d.type == CommandType::gemm))
        throw EvalError(d.name + " takes 2 operands, got " + std::to_string(used));
      a_ = matrix(d, inputs[0], d.transpose_a, m_, k_, "A", &values_a_);
      b_ = matrix(d, inputs[1], d.transpose_b, k_, n_, "B", &values_b_);
      integer_head_ = !is_float(a_.dtype) && !is_float(b_.dtype);
      if (used == 3) {
        start_ = matrix(d, inputs[2], false, m_, n_, "C", nullptr);
        if (start_.dtype != (integer_head_ ? DType::i32 : DType::f32))
          throw EvalError(d.name + ": the accumulator is " + std::string(name_of(start_.dtype)));
      }
    } else {
      Step head = step(d.op, std::vector<EvalInput>(inputs.begin(), inputs.begin() + static_cast<int64_t>(used)));
      if (static_cast<int>(used) != head.op->arity) wrong_count(d.op, head.op->arity, used);
      head.compute = compute_type(*head.op, head.operands);
      head_ = std::make_unique<Step>(std::move(head));
      integer_head_ = head_->compute == Compute::i32;
      no_wide(*head_);
      k_ = 1;
    }
    tile_k_ = gemm_head && d.tile_k > 0 ? std::min(d.tile_k, std::max<int64_t>(k_, 1)) : std::max<int64_t>(k_, 1);
    for (const EpilogueOp& e : d.epilogue) {
      Step s = step(e.op, {inputs.begin() + static_cast<int64_t>(used),
                           inputs.begin() + static_cast<int64_t>(used + e.operands.size())});
      used += e.operands.size();
      if (static_cast<int>(s.operands.size()) + 1 != s.op->arity) wrong_count(e.op, s.op->arity, s.operands.size() + 1);
      s.scope = e.scope;
      std::vector<EvalInput> all = s.operands;
      EvalInput running;
      running.dtype = DType::i32;
      all.insert(all.begin(), running);
      s.compute = compute_type(*s.op, all);
      no_wide(s);
      steps_.push_back(std::move(s));
    }
    const bool floats = !integer_head_ || std::any_of(steps_.begin(), steps_.end(),
                                                      [](const Step& s) { return s.compute == Compute::f32; });
    for (const Step& s : steps_) {
      if (floats && s.op->integer_only) throw EvalError("'" + std::string(s.op->name) + "' takes integers");
    }
    last_row_ = d.tile_m > 0 && m_ > 0 ? (m_ - 1) / d.tile_m * d.tile_m : 0;
    last_col_ = d.tile_n > 0 && n_ > 0 ? (n_ - 1) / d.tile_n * d.tile_n : 0;
    const auto in_scope = [this](Scope s) {
      return std::any_of(steps_.begin(), steps_.end(), [s](const Step& e) { return e.scope == s; });
    };
    any_per_k_ = in_scope(Scope::per_k_tile);
    any_once_ = in_scope(Scope::once);
    // Plain f32: the product is written directly to its destination.
    direct_ = gemm_head && !integer_head_ && steps_.empty() && is_itself<float>(dtype_, out);
    col_parts_ = (n_ + kPartCols - 1) / kPartCols;
  }

  int parts() const override { return static_cast<int>((m_ + kPartRows - 1) / kPartRows * col_parts_); }

  void run(int part) override {
    thread_local Scratch f32, i32, work;
    Tile t;
    t.row0 = part / col_parts_ * kPartRows;
    t.col0 = part % col_parts_ * kPartCols;
    t.rows = std::min(kPartRows, m_ - t.row0);
    t.cols = std::min(kPartCols, n_ - t.col0);
    t.ld = t.cols;
    const size_t bytes = static_cast<size_t>(t.rows * t.cols) * 4;
    t.floating = !integer_head_;
    if (direct_) {
      t.f32 = reinterpret_cast<float*>(out_) + t.row0 * n_ + t.col0;
      t.ld = n_;
    } else {
      t.f32 = static_cast<float*>(f32.get(bytes));
    }
    t.i32 = integer_head_ ? static_cast<int32_t*>(i32.get(bytes)) : nullptr;
    for (int64_t k0 = 0; k0 < k_ || k0 == 0; k0 += tile_k_) {
      if (head_) {
        apply(*head_, t, true);
      } else {
        product(t, k0, std::min(tile_k_, k_ - k0), work.get(arithmetic_.product_work_bytes));
      }
      if (any_per_k_) apply_all(Scope::per_k_tile, t);
    }
    apply_all(Scope::per_output_tile, t);
    if (direct_) return;
    round(t);
    // Only the last tile may become f32 here; the others keep their type.
    if (any_once_ && corner(t)) {
      apply_all(Scope::once, t);
      round(t);
    }
  }

 private:
  static void wrong_count(const std::string& op, int arity, size_t got) {
    throw EvalError(op + " takes " + std::to_string(arity) + " operands, got " + std::to_string(got));
  }

  static void no_wide(const Step& s) {
    if (s.compute == Compute::i64)
      throw EvalError("'" + std::string(s.op->name) + "' of a composite is not done in i64");
  }

  /// The operand in the form that the product reads. Packed values are unpacked into `values`.
  static GemmOperand matrix(const OpDesc& d, const EvalInput& in, bool transposed, int64_t rows, int64_t cols,
                            const char* which, Bytes* values) {
    const int64_t r = transposed ? cols : rows, c = transposed ? rows : cols;
    const int each = values ? values_in(in.dtype) : 1;
    if (in.is_scalar || in.shape.rank() != 2 || in.shape[0] != r || in.shape[1] * each != c) {
      throw EvalError(d.name + ": operand " + which + " has shape " + in.shape.to_string() + ", expected [" +
                      std::to_string(r) + ", " + std::to_string(c) + "]");
    }
    GemmOperand g{in.data, in.dtype, in.strides[0], in.strides[1]};
    if (each > 1) {
      const DType plain = unpacked(in.dtype);
      const size_t row = static_cast<size_t>(c) * size_of(plain);
      values->resize(static_cast<size_t>(r) * row);
      for (int64_t i = 0; i < r; ++i) {
        Bytes line(static_cast<size_t>(in.shape[1]));
        for (int64_t j = 0; j < in.shape[1]; ++j)
          line[static_cast<size_t>(j)] = in.data[i * in.strides[0] + j * in.strides[1]];
        unpack(line.data(), in.dtype, values->data() + static_cast<size_t>(i) * row, line.size());
      }
      g = {values->data(), plain, c, 1};
    }
    if (transposed) std::swap(g.row_stride, g.col_stride);
    return g;
  }

  Step step(const std::string& name, std::vector<EvalInput> operands) const {
    Step s;
    s.op = find_math_op(name);
    if (!s.op || !s.op->is_elementwise()) throw EvalError("'" + name + "' is no elementwise op");
    s.fn = fn_of(name);
    s.operands = std::move(operands);
    for (const EvalInput& in : s.operands) s.strides.push_back(broadcast_strides(in, {m_, n_}, name));
    return s;
  }

  void product(Tile& t, int64_t k0, int64_t depth, void* work) {
    GemmOperand a = a_, b = b_;
    const int64_t item_a = static_cast<int64_t>(size_of(a.dtype)), item_b = static_cast<int64_t>(size_of(b.dtype));
    a.data += (t.row0 * a.row_stride + k0 * a.col_stride) * item_a;
    b.data += (k0 * b.row_stride + t.col0 * b.col_stride) * item_b;
    if (k0 == 0 && start_.data) begin_at_start(t);
    const bool goes_on = k0 > 0 || start_.data;
    if (!integer_head_) return arithmetic_.product_f32(t.rows, t.cols, depth, a, b, t.f32, t.ld, goes_on, work);
    arithmetic_.product_i32(t.rows, t.cols, depth, a, b, t.i32, t.ld, goes_on && !t.floating, work);
    if (!t.floating) return;
    alignas(64) float part[kPartCols];
    for (int64_t r = 0; r < t.rows; ++r) {
      float* acc = t.f32 + r * t.ld;
      arithmetic_.to_f32(t.i32 + r * t.ld, DType::i32, part, static_cast<size_t>(t.cols));
      arithmetic_.f32[static_cast<int>(Fn::add)](acc, acc, part, nullptr, static_cast<size_t>(t.cols));
    }
  }

  void begin_at_start(Tile& t) const {
    for (int64_t r = 0; r < t.rows; ++r) {
      for (int64_t c = 0; c < t.cols; ++c) {
        const int64_t from = (t.row0 + r) * start_.row_stride + (t.col0 + c) * start_.col_stride;
        void* to = integer_head_ ? static_cast<void*>(t.i32 + r * t.ld + c) : t.f32 + r * t.ld + c;
        std::memcpy(to, start_.data + from * 4, 4);
      }
    }
  }

  /// Narrows a tile to its part of the last output tile. Returns false if it has none.
  bool corner(Tile& t) const {
    const int64_t down = std::max<int64_t>(0, last_row_ - t.row0), right = std::max<int64_t>(0, last_col_ - t.col0);
    if (down >= t.rows || right >= t.cols) return false;
    t.row0 += down;
    t.col0 += right;
    t.rows -= down;
    t.cols -= right;
    t.f32 += down * t.ld + right;
    if (t.i32) t.i32 += down * t.ld + right;
    return true;
  }

  void apply_all(Scope scope, Tile& t) const {
    for (const Step& s : steps_) {
      if (s.scope == scope) apply(s, t, false);
    }
  }

  void apply(const Step& s, Tile& t, bool head) const {
    if (!head && !t.floating && s.compute == Compute::f32) to_float(t);
    if (head ? s.compute == Compute::f32 : t.floating) {
      apply_as<float>(s, t, t.f32, arithmetic_.f32[static_cast<int>(s.fn)], head);
    } else {
      apply_as<int32_t>(s, t, t.i32, arithmetic_.i32[static_cast<int>(s.fn)], head);
    }
  }

  void to_float(Tile& t) const {
    for (int64_t r = 0; r < t.rows; ++r) {
      arithmetic_.to_f32(t.i32 + r * t.ld, DType::i32, t.f32 + r * t.ld, static_cast<size_t>(t.cols));
    }
    t.floating = true;
  }

  template <class T, class F>
  void apply_as(const Step& s, const Tile& t, T* acc, F fn, bool head) const {
    static_assert(kPartCols <= static_cast<int64_t>(kBlock), "a row of a part is one block");
    alignas(64) T buffers[3][kBlock];
    const size_t n = static_cast<size_t>(t.cols);
    for (int64_t r = 0; r < t.rows; ++r) {
      T* row = acc + r * t.ld;
      const T* in[3] = {nullptr, nullptr, nullptr};
      const size_t first = head ? 0 : 1;
      if (!head) in[0] = row;
      for (size_t j = 0; j < s.operands.size(); ++j) {
        const int64_t offset = (t.row0 + r) * s.strides[j][0] + t.col0 * s.strides[j][1];
        const bool condition = head && j == 0 && s.op->first_is_condition;
        in[first + j] = fetch_block<T>(arithmetic_, s.operands[j], offset, s.strides[j][1], n, condition, buffers[j]);
      }
      fn(row, in[0], in[1], in[2], n);
    }
  }

  void round(const Tile& t) const {
    const int64_t item = static_cast<int64_t>(size_of(dtype_));
    for (int64_t r = 0; r < t.rows; ++r) {
      uint8_t* to = out_ + ((t.row0 + r) * n_ + t.col0) * item;
      if (t.floating) {
        arithmetic_.from_f32(t.f32 + r * t.ld, dtype_, to, static_cast<size_t>(t.cols));
      } else {
        arithmetic_.from_i32(t.i32 + r * t.ld, dtype_, to, static_cast<size_t>(t.cols));
      }
    }
  }

  const Arithmetic& arithmetic_;
  DType dtype_;
  uint8_t* out_;
  int64_t m_, n_, k_;
  int64_t tile_k_ = 1, last_row_ = 0, last_col_ = 0, col_parts_ = 1;
  GemmOperand a_, b_, start_;  ///< start_: the accumulator's initial value; without one it starts at zero
  Bytes values_a_, values_b_;  ///< of packed operands
  std::unique_ptr<Step> head_;
  std::vector<Step> steps_;
  bool integer_head_ = false, any_per_k_ = false, any_once_ = false, direct_ = false;
};

}  // namespace

std::unique_ptr<Evaluation> make_fused(const OpDesc& d, const std::vector<EvalInput>& inputs, uint8_t* out,
                                       const Arithmetic& arithmetic) {
  return std::make_unique<Fused>(d, inputs, out, arithmetic);
}

}  // namespace kernbench::phase2
