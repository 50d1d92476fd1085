// SPDX-License-Identifier: Apache-2.0
// Reference of a model: plain f64 loops without rounding, written independently of the kernels. Runs are verified
// against it.
#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "kernbench/phase2/check/verify.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/op/math_op.h"
#include "kernbench/platform/models/model_program.h"

namespace kernbench::models {
namespace {

using Vector = std::vector<double>;

struct Matrix {
  int64_t rows = 0, cols = 0;
  Vector values;
  Matrix(int64_t r, int64_t c) : rows(r), cols(c), values(static_cast<size_t>(r * c)) {}
  explicit Matrix(const HostTensor& t) : rows(t.shape[0]), cols(t.elements() / t.shape[0]) {
    const std::vector<float> all = t.floats();
    values.assign(all.begin(), all.end());
  }
  double& at(int64_t r, int64_t c) { return values[static_cast<size_t>(r * cols + c)]; }
  double at(int64_t r, int64_t c) const { return values[static_cast<size_t>(r * cols + c)]; }
};

/// Stored keys or values, without their scales.
struct Cache {
  Matrix stored;
  std::vector<float> away;  ///< allowed error of the machine's, if the type is coarser
  Cache(Matrix m) : stored(std::move(m)), away(stored.values.size()) {}  // NOLINT
  void append(size_t at, double value, double may_be_away) {
    stored.values[at] = value;
    away[at] = static_cast<float>(may_be_away);
  }
};

Matrix times(const Matrix& a, const Matrix& b) {
  Matrix c(a.rows, b.cols);
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t k = 0; k < a.cols; ++k) {
      for (int64_t j = 0; j < b.cols; ++j) c.at(i, j) += a.at(i, k) * b.at(k, j);
    }
  }
  return c;
}

double activated(const std::string& name, double x) {
  if (const MathOp* op = find_math_op(name)) return op->f64(x, 0, 0);
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));  // gelu_tanh
}

double soft_capped(double x, double cap) {
  return cap > 0 ? cap * std::tanh(x / cap) : x;
}

/// Norms `n` values of a row from a column on: divided by their root mean square, times w.
void norm(Matrix* m, int64_t row, int64_t col, int64_t n, const Vector& w, double eps) {
  double squares = 0;
  for (int64_t i = 0; i < n; ++i) squares += m->at(row, col + i) * m->at(row, col + i);
  const double scale = 1 / std::sqrt(squares / static_cast<double>(n) + eps);
  for (int64_t i = 0; i < n; ++i) m->at(row, col + i) *= scale * w[static_cast<size_t>(i)];
}

/// Norms a whole row: minus its mean, divided by its deviation, times w, plus b.
void layer_norm(Matrix* m, int64_t row, const Vector& w, const Vector& b, double eps) {
  double mean = 0, variance = 0;
  for (int64_t i = 0; i < m->cols; ++i) mean += m->at(row, i) / static_cast<double>(m->cols);
  for (int64_t i = 0; i < m->cols; ++i) variance += (m->at(row, i) - mean) * (m->at(row, i) - mean);
  const double deviation = std::sqrt(variance / static_cast<double>(m->cols) + eps);
  for (int64_t i = 0; i < m->cols; ++i) {
    const auto at = static_cast<size_t>(i);
    m->at(row, i) = (m->at(row, i) - mean) / deviation * w[at] + b[at];
  }
}

bool contains(const std::vector<int32_t>& all, int32_t one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

class Reference {
 public:
  Reference(const ModelProgram& program, const TensorMap& inputs)
      : program_(program), m_(program.model()), in_(inputs) {}

  std::map<std::string, Expected> all() {
    for (size_t p = 0; p < program_.plan().phases.size(); ++p) {
      phase_ = p;
      caches_.clear();
      unsure_caches_.clear();
      for (step_ = 0; step_ < phase().steps; ++step_) step();
      for (const auto& [name, cache] : caches_) tell(name, cache);
    }
    return std::move(expected_);
  }

 private:
  const Phase& phase() const { return program_.plan().phases[phase_]; }
  std::string named(const std::string& name) const { return program_.name_of(phase_, name); }
  std::string of_step(const std::string& name) const {
    return phase().steps > 1 ? name + "." + std::to_string(step_) : name;
  }
  const HostTensor& input(const std::string& name) const { return in_.at(named(name)); }
  Matrix matrix(const std::string& name) const { return Matrix(input(name)); }
  /// Weights as stored; quantized ones times their scales.
  Matrix weights(const std::string& name, DType type) const {
    if (type == program_.plan().dtype) return matrix(name);
    const HostTensor &stored = input(name), &by = input(name + "_scale");
    const Matrix scale(by);
    Matrix w(stored.shape[0], scale.cols);
    const int64_t group = program_.plan().group(w.rows), width = stored.shape[1];
    const std::vector<float> whole = type == DType::i4 ? std::vector<float>() : stored.floats();
    for (int64_t r = 0; r < w.rows; ++r) {
      for (int64_t c = 0; c < w.cols; ++c) {
        double v = 0;
        if (type == DType::i4) {
          const int nibble = stored.bytes[static_cast<size_t>(r * width + c / 2)] >> (c % 2 * 4) & 15;
          v = nibble < 8 ? nibble : nibble - 16;
        } else {
          v = whole[static_cast<size_t>(r * width + c)];
        }
        w.at(r, c) = v * scale.at(group > 0 ? r / group : 0, c);
      }
    }
    return w;
  }
  Matrix of_layer(const std::string& name) const { return weights(name, program_.plan().weights); }

  /// Rows times weights, quantized if the plan quantizes rows. In a prefill, and for experts, each of the `parts` ranks
  /// that split a row quantizes its own part. `rows`: their indices in the phase, if these are a subset.
  Matrix product(const Matrix& x, const Matrix& w, int64_t parts = 1, const std::vector<int64_t>& rows = {}) {
    if (!program_.plan().integer_rows()) return times(x, w);
    Matrix integers = x;
    const int64_t of_part = (x.cols + parts - 1) / parts;
    for (int64_t r = 0; r < x.rows; ++r) {
      for (int64_t c = 0; c < x.cols; c += of_part) {
        if (make_integers(&integers, r, c, std::min(c + of_part, x.cols))) unsure_[row_of(r, x.rows, rows)] = true;
      }
    }
    return times(integers, w);
  }
  /// A row's index in the phase; without a list these are its last rows.
  size_t row_of(int64_t r, int64_t count, const std::vector<int64_t>& rows = {}) const {
    return static_cast<size_t>(rows.empty() ? phase().rows() - count + r : rows[static_cast<size_t>(r)]);
  }
  /// Quantizes columns of a row in steps of their largest magnitude / 127. Returns whether a value lies so close to a
  /// rounding boundary that the machine may get another integer.
  bool make_integers(Matrix* m, int64_t row, int64_t first, int64_t end) const {
    double most = 1e-36;
    for (int64_t c = first; c < end; ++c) {
      const double v = std::abs(m->at(row, c));
      if (std::isnan(v) || v > most) most = v;
    }
    const DType dtype = program_.plan().dtype;
    const int mantissa = dtype == DType::f32 ? 24 : dtype == DType::f16 ? 11 : 8;
    const double step = most / 127, near = 127 * roundings() * std::ldexp(1.0, -mantissa);
    bool unsure = false;
    for (int64_t c = first; c < end; ++c) {
      const double steps = m->at(row, c) / step;
      unsure = unsure || std::abs(steps - std::floor(steps) - 0.5) < near;
      m->at(row, c) = std::nearbyint(steps) * step;
    }
    return unsure;
  }
  /// Allowed error of a row's values of this size. If one integer differs, all later values may differ, and each
  /// rounding then adds half a step.
  double noise(size_t row, double most) const { return unsure_[row] ? roundings() / 254 * most : 0; }
  /// For a prefill's products on several ranks, or an expert's.
  int64_t parts() const { return phase().has_prompt() ? program_.plan().ranks : 1; }
  Vector vector(const std::string& name) const {
    const std::vector<float> all = input(name).floats();
    return {all.begin(), all.end()};
  }

  /// `roundings` to the element type lie between the inputs and it, at values of about this size. `of_rows`: for the
  /// last rows of the phase.
  void tell(const std::string& name, const Matrix& m, double roundings, bool of_rows = true) {
    const ProgramTensor& t = *program_.spec().tensor(named(name));
    const Params none;
    double most = 1;
    for (const double v : m.values) most = std::max(most, std::abs(v));
    const std::vector<float> values(m.values.begin(), m.values.end());
    Expected e{HostTensor::from(program_.plan().dtype, t.shape(none), values), {}};
    e.scale.assign(m.values.size(), static_cast<float>(roundings * most));
    for (size_t i = 0; i < m.values.size() && of_rows && program_.plan().integer_rows(); ++i)
      e.away.push_back(static_cast<float>(noise(row_of(static_cast<int64_t>(i) / m.cols, m.rows), most)));
    expected_[named(name)] = std::move(e);
  }

  /// Reports a cache in its own type.
  void tell(const std::string& name, const Cache& cache) {
    tell(name, cache.stored, roundings(), false);
    Expected& e = expected_[named(name)];
    const DType type = program_.plan().kv;
    if (type == program_.plan().dtype && program_.plan().integer_rows()) e.away = cache.away;
    if (type == program_.plan().dtype) return;
    const std::vector<float> values(cache.stored.values.begin(), cache.stored.values.end());
    e = {HostTensor::from(type, e.value.shape, values), {}, cache.away};
  }

  void step() {
    unsure_.assign(static_cast<size_t>(phase().rows()), false);
    Matrix x = program_.plan().whole() ? embedded() : matrix("x");
    for (const SimulatedLayer& l : program_.layers()) layer(l.number, &x);
    if (!program_.plan().whole()) return tell("y", x, roundings());
    head(x);
  }
  /// A layer's norms, products, activation and sums; also used by the head.
  double roundings() const { return (m_.experts > 0 ? 12 : 8) * static_cast<double>(program_.layers().size()) + 4; }

  Matrix embedded() const {
    const std::vector<int32_t> tokens = input(of_step("tokens")).ints();
    const Matrix table = matrix("embedding");
    Matrix x(phase().rows(), m_.dim);
    for (int64_t r = 0; r < x.rows; ++r) {
      for (int64_t c = 0; c < m_.dim; ++c)
        x.at(r, c) = m_.embedding_scale * table.at(tokens[static_cast<size_t>(r)], c);
    }
    return x;
  }

  void layer(int64_t l, Matrix* x) {
    const std::string before = "layers." + std::to_string(l) + ".";
    const Matrix n = normed(*x, before + "norm1");
    Matrix qkv = product(n, of_layer(before + "qkv"));
    if (m_.qkv_bias) add_bias(before + "qkv_bias", &qkv);
    turn(l, before, &qkv);
    Matrix heads(qkv.rows, m_.width());
    window_ = m_.window_of(l);
    sinks_ = m_.sinks ? vector(before + "sinks") : Vector();
    table_ = phase().page > 0 ? input(program_.positions_of(l, "table")).ints() : std::vector<int32_t>();
    attend_to_prompt(qkv, &heads);
    if (phase().has_sequences()) attend_to_caches(before, qkv, &heads);
    Matrix o = product(heads, of_layer(before + "o"), parts());
    if (m_.o_bias) add_bias(before + "o_bias", &o);
    const Matrix beside = *x;
    if (m_.post_norms) o = normed(std::move(o), before + "post_norm1");
    for (size_t i = 0; i < o.values.size(); ++i) x->values[i] += m_.residual_scale * o.values[i];

    const Matrix of_mlp = normed(m_.parallel ? beside : *x, before + (m_.one_norm ? "norm1" : "norm2"));
    Matrix y = m_.experts > 0 ? of_experts(l, before, of_mlp) : mlp(before, of_mlp, parts());
    if (m_.post_norms) y = normed(std::move(y), before + "post_norm2");
    for (size_t i = 0; i < y.values.size(); ++i) x->values[i] += m_.residual_scale * y.values[i];
  }

  /// Norms every row with the named weights.
  Matrix normed(Matrix x, const std::string& name) const {
    const Vector w = vector(name), b = m_.layer_norm ? vector(name + "_bias") : Vector();
    for (int64_t r = 0; r < x.rows; ++r) {
      if (m_.layer_norm)
        layer_norm(&x, r, w, b, m_.eps);
      else
        norm(&x, r, 0, x.cols, w, m_.eps);
    }
    return x;
  }

  void add_bias(const std::string& name, Matrix* to) const {
    const Vector bias = vector(name);
    for (int64_t r = 0; r < to->rows; ++r) {
      for (int64_t c = 0; c < to->cols; ++c) to->at(r, c) += bias[static_cast<size_t>(c)];
    }
  }

  double gated(double gate, double up) const {
    if (m_.activation != "swiglu_oai") return activated(m_.activation, gate) * up;
    const double limit = m_.activation_limit, held = std::min(gate, limit);
    return held / (1 + std::exp(-1.702 * held)) * (std::clamp(up, -limit, limit) + 1);
  }

  /// `rows`: indices in the phase, if x holds a subset.
  Matrix mlp(const std::string& before, const Matrix& x, int64_t parts_of_down, const std::vector<int64_t>& rows = {}) {
    const bool biased = m_.experts > 0 ? m_.expert_bias : m_.mlp_bias;
    const auto linear = [&](const Matrix& to, const std::string& name, int64_t parts = 1) {
      Matrix y = product(to, of_layer(before + name), parts, rows);
      if (biased) add_bias(before + name + "_bias", &y);
      return y;
    };
    Matrix hidden = linear(x, "up");
    if (m_.gated) {
      const Matrix gate = linear(x, "gate");
      for (size_t i = 0; i < gate.values.size(); ++i) hidden.values[i] = gated(gate.values[i], hidden.values[i]);
    } else {
      for (double& v : hidden.values) v = activated(m_.activation, v);
    }
    return linear(hidden, "down", parts_of_down);
  }

  Matrix of_experts(int64_t l, const std::string& before, const Matrix& x) {
    Matrix logits = times(x, matrix(before + "router"));
    if (m_.expert_bias) add_bias(before + "router_bias", &logits);
    const std::vector<int32_t> choice =
        program_.plan().routed ? computed_choice(l, logits) : input(of_step(before + "choice")).ints();
    const int64_t k = m_.experts_per_token;
    Matrix y(x.rows, x.cols);
    const auto chosen = [&](int64_t row) {
      return std::vector<int32_t>(choice.begin() + row * k, choice.begin() + (row + 1) * k);
    };
    for (int32_t e = 0; e < m_.experts; ++e) {
      std::vector<int64_t> rows;
      for (int64_t r = 0; r < x.rows; ++r) {
        if (contains(chosen(r), e)) rows.push_back(r);
      }
      if (rows.empty()) continue;
      Matrix its_x(static_cast<int64_t>(rows.size()), x.cols);
      for (int64_t i = 0; i < its_x.rows; ++i)
        std::copy_n(x.values.begin() + rows[static_cast<size_t>(i)] * x.cols, x.cols,
                    its_x.values.begin() + i * x.cols);
      const Matrix its_y =
          mlp(before + "experts." + std::to_string(e) + ".", its_x, program_.plan().tensor_ranks(), rows);
      for (int64_t i = 0; i < its_y.rows; ++i) {
        const int64_t r = rows[static_cast<size_t>(i)];
        const double w = weight(logits, r, e, chosen(r));
        for (int64_t c = 0; c < y.cols; ++c) y.at(r, c) += w * its_y.at(i, c);
      }
    }
    return y;
  }

  /// The weight of an expert in a row that chose it among these.
  double weight(const Matrix& logits, int64_t row, int64_t expert, const std::vector<int32_t>& chosen) const {
    double top = -1e300, sum = 0;
    const auto counts = [&](int32_t e) { return !m_.weights_of_chosen || contains(chosen, e); };
    for (int32_t e = 0; e < m_.experts; ++e) {
      if (counts(e)) top = std::max(top, logits.at(row, e));
    }
    for (int32_t e = 0; e < m_.experts; ++e) {
      if (counts(e)) sum += std::exp(logits.at(row, e) - top);
    }
    return std::exp(logits.at(row, expert) - top) / sum;
  }

  /// Checks the run's choice: it must be one of the best, within the logits' tolerance. RunError.
  std::vector<int32_t> computed_choice(int64_t l, const Matrix& logits) const {
    const auto& all = program_.routes();
    const auto route = std::find_if(
        all.begin(), all.end(), [&](const Route& r) { return r.phase == phase_ && r.layer == l && r.step == step_; });
    const std::vector<int32_t> choice = route->choice.ints();
    const Tolerance t = tolerance_of(program_.plan().dtype);
    const auto k = m_.experts_per_token;
    for (int64_t r = 0; r < logits.rows; ++r) {
      const std::vector<int32_t> chosen(choice.begin() + r * k, choice.begin() + (r + 1) * k);
      for (int32_t e = 0; e < m_.experts; ++e) {
        if (contains(chosen, e)) continue;
        for (const int32_t c : chosen) {
          const double better = logits.at(r, e), worse = logits.at(r, c);
          const double most = std::max(1.0, std::abs(better));
          if (better - worse <= 2 * (t.atol + t.rtol * roundings() * most + noise(row_of(r, logits.rows), most)))
            continue;
          throw RunError(fmt::format("layer {}: row {} has chosen expert {} with logit {}, and not {} with {}", l, r, c,
                                     worse, e, better));
        }
      }
    }
    return choice;
  }

  // Columns of qkv: each rank's share of the heads of q, then k, then v.
  int64_t q_heads() const { return m_.heads / program_.plan().ranks; }
  int64_t kv_heads() const { return m_.kv_heads / program_.plan().ranks; }
  int64_t share(int64_t kv_head) const { return kv_head / kv_heads() * (q_heads() + 2 * kv_heads()) * m_.head_dim; }
  int64_t q_col(int64_t head) const { return share(head / (m_.heads / m_.kv_heads)) + head % q_heads() * m_.head_dim; }
  int64_t k_col(int64_t head) const { return share(head) + (q_heads() + head % kv_heads()) * m_.head_dim; }
  int64_t v_col(int64_t head) const { return k_col(head) + kv_heads() * m_.head_dim; }

  void turn(int64_t l, const std::string& before, Matrix* qkv) const {
    const auto table = [&](const std::string& name) {
      return matrix(program_.positions_of(l, of_step(name + program_.kind_of_positions(l))));
    };
    const Matrix cos = table("cos"), sin = table("sin");
    const int64_t half = m_.rotary / 2;
    for (int64_t head = 0; head < m_.heads + m_.kv_heads; ++head) {
      const bool is_q = head < m_.heads;
      const int64_t col = is_q ? q_col(head) : k_col(head - m_.heads);
      for (int64_t r = 0; r < qkv->rows; ++r) {
        if (m_.qk_norm) norm(qkv, r, col, m_.head_dim, vector(before + (is_q ? "q_norm" : "k_norm")), m_.eps);
        for (int64_t d = 0; d < half; ++d) {
          const double a = qkv->at(r, col + d), b = qkv->at(r, col + half + d);
          qkv->at(r, col + d) = a * cos.at(r, d) - b * sin.at(r, d);
          qkv->at(r, col + half + d) = b * cos.at(r, d) + a * sin.at(r, d);
        }
      }
    }
  }

  /// One head of q in a row over keys [first, end), which key(j) and value(j) point at, times their scales.
  template <class Key, class Value>
  void attend(const Matrix& qkv, int64_t row, int64_t head, int64_t first, int64_t end, const Key& key,
              const Value& value, Matrix* o, double k_scale = 1, double v_scale = 1) const {
    Vector weight;
    double top = -1e300, sum = 0;
    for (int64_t j = first; j < end; ++j) {
      double score = 0;
      for (int64_t d = 0; d < m_.head_dim; ++d) score += qkv.at(row, q_col(head) + d) * key(j)[d];
      const double by = m_.score_scale > 0 ? m_.score_scale : 1 / std::sqrt(static_cast<double>(m_.head_dim));
      weight.push_back(soft_capped(k_scale * score * by, m_.score_softcap));
      top = std::max(top, weight.back());
    }
    for (double& w : weight) sum += w = std::exp(w - top);
    if (!sinks_.empty()) sum += std::exp(sinks_[static_cast<size_t>(head)] - top);
    for (int64_t j = first; j < end; ++j) {
      for (int64_t d = 0; d < m_.head_dim; ++d)
        o->at(row, head * m_.head_dim + d) += v_scale * weight[static_cast<size_t>(j - first)] / sum * value(j)[d];
    }
  }

  int64_t first_key(int64_t position) const { return window_ > 0 ? std::max<int64_t>(0, position - window_ + 1) : 0; }

  /// A row that sees an uncertain row becomes uncertain, from the last row on.
  void attend_to_prompt(const Matrix& qkv, Matrix* o) {
    for (int64_t r = phase().tokens - 1; r >= 0; --r) {
      const auto first = unsure_.begin() + first_key(r), own = unsure_.begin() + r;
      *own = std::find(first, own + 1, true) != own + 1;
    }
    for (int64_t head = 0; head < m_.heads; ++head) {
      const int64_t of = head / (m_.heads / m_.kv_heads);
      const auto at = [&](int64_t row, int64_t col) { return &qkv.values[static_cast<size_t>(row * qkv.cols + col)]; };
      for (int64_t r = 0; r < phase().tokens; ++r)
        attend(
            qkv, r, head, first_key(r), r + 1, [&](int64_t j) { return at(j, k_col(of)); },
            [&](int64_t j) { return at(j, v_col(of)); }, o);
    }
  }

  /// A head's scale of k or v in an i8 cache; else 1.
  double cache_scale(const std::string& name, int64_t head) const {
    if (program_.plan().kv != DType::i8) return 1;
    return vector(name + "_scale")[static_cast<size_t>(head)];
  }
  /// A key or value rounded to the cache's type, without its scale.
  double as_cached(double x, double scale) const {
    if (program_.plan().kv == program_.plan().dtype) return x;
    if (program_.plan().kv == DType::i8) return scale == 0 ? 0 : std::clamp(std::nearbyint(x / scale), -127.0, 127.0);
    auto v = static_cast<float>(x);
    round_to(program_.plan().kv, &v, 1);
    return v;
  }

  /// Allowed error of a value rounded to a coarser cache type: one step plus its own error. In the rows' own type only
  /// the error of uncertain rows.
  double away(double value, double scale, size_t row, double most) const {
    const double unsure = noise(row, most);
    if (program_.plan().kv == program_.plan().dtype) return unsure;
    const Tolerance t = tolerance_of(program_.plan().dtype);
    const double itself = t.atol + t.rtol * roundings() * std::max(1.0, std::abs(value)) + unsure;
    if (program_.plan().kv != DType::i8) return std::abs(value) / 8 + itself;  // 3 mantissa bits
    return scale == 0 ? 0 : 1 + itself / scale;
  }

  void attend_to_caches(const std::string& before, const Matrix& qkv, Matrix* o) {
    for (const char* name : {"k", "v"}) {
      if (caches_.count(before + name) == 0) caches_.emplace(before + name, matrix(before + name));
    }
    Cache &k = caches_.at(before + "k"), &v = caches_.at(before + "v");
    const ModelProgram::Ranges r = program_.ranges(phase());
    const int64_t position = phase().context + step_;
    const int64_t batch = phase().batch, page = phase().page;
    // Paged: for each head the pages of all sequences, as the table places them.
    const auto pages = static_cast<int64_t>(table_.size());
    const auto block = [&](int64_t sequence, int64_t j) {
      return static_cast<size_t>(sequence * (pages / batch) + j / page);
    };
    const auto dim = static_cast<size_t>(m_.head_dim);
    for (int64_t sequence = 0; sequence < batch; ++sequence) {
      const int64_t row = phase().tokens + sequence;
      const auto at_row = static_cast<size_t>(row);
      unsure_caches_[before].resize(static_cast<size_t>(batch));
      auto appended = unsure_caches_[before][static_cast<size_t>(sequence)];
      unsure_[at_row] = appended = appended || unsure_[at_row];
      double most = 1;
      for (int64_t c = 0; c < qkv.cols; ++c) most = std::max(most, std::abs(qkv.at(row, c)));
      for (int64_t head = 0; head < m_.kv_heads; ++head) {
        // Units are ordered by rank, sequence, head; a sequence's keys follow each other over its ranges.
        const int64_t unit = (head / kv_heads() * batch + sequence) * kv_heads() + head % kv_heads();
        const auto place = [&](int64_t j) {
          if (!table_.empty())
            return static_cast<size_t>((head * pages + table_[block(sequence, j)]) * page + j % page) * dim;
          return static_cast<size_t>(unit * r.splits * r.keys + j) * dim;
        };
        const auto at = [&](const Cache& cache, int64_t j) { return &cache.stored.values[place(j)]; };
        const double k_scale = cache_scale(before + "k", head), v_scale = cache_scale(before + "v", head);
        for (int64_t d = 0; d < m_.head_dim; ++d) {
          const auto append = [&](Cache* cache, int64_t col, double scale) {
            const double value = qkv.at(row, col + d);
            cache->append(place(position) + static_cast<size_t>(d), as_cached(value, scale),
                          away(value, scale, at_row, most));
          };
          append(&k, k_col(head), k_scale);
          append(&v, v_col(head), v_scale);
        }
        const int64_t group = m_.heads / m_.kv_heads;
        for (int64_t g = 0; g < group; ++g)
          attend(
              qkv, row, head * group + g, first_key(position), position + 1, [&](int64_t j) { return at(k, j); },
              [&](int64_t j) { return at(v, j); }, o, k_scale, v_scale);
      }
    }
  }

  void head(const Matrix& x) {
    Matrix last(phase().logits(), m_.dim);
    std::copy(x.values.end() - static_cast<int64_t>(last.values.size()), x.values.end(), last.values.begin());
    const Matrix w = weights("head", program_.head_type()), of_head = normed(last, "norm");
    Matrix logits = program_.head_has_integer_rows() ? product(of_head, w) : times(of_head, w);
    if (m_.head_bias) add_bias("head_bias", &logits);
    for (double& v : logits.values) v = soft_capped(v * m_.logits_scale, m_.logits_softcap);
    tell(of_step("logits"), logits, roundings());
    tell_next(logits);
  }

  /// Empty if a row's two largest logits differ by less than their tolerances.
  void tell_next(const Matrix& logits) {
    const Tolerance t = tolerance_of(program_.plan().dtype);
    std::vector<int32_t> next;
    bool clear = true;
    for (int64_t r = 0; r < logits.rows; ++r) {
      Vector row(logits.values.begin() + r * logits.cols, logits.values.begin() + (r + 1) * logits.cols);
      next.push_back(static_cast<int32_t>(std::max_element(row.begin(), row.end()) - row.begin()));
      if (row.size() == 1) continue;
      std::partial_sort(row.begin(), row.begin() + 2, row.end(), std::greater<>());
      const double most = std::max(1.0, std::abs(row[0]));
      clear =
          clear && row[0] - row[1] > 2 * (t.atol + t.rtol * roundings() * most + noise(row_of(r, logits.rows), most));
    }
    Expected& e = expected_[named(of_step("next"))];
    if (clear) e = {HostTensor::from(DType::i32, {logits.rows}, next), {}};
  }

  const ModelProgram& program_;
  const ModelSpec& m_;
  const TensorMap& in_;
  std::map<std::string, Expected> expected_;
  std::map<std::string, Cache> caches_;
  size_t phase_ = 0;
  int64_t step_ = 0;
  int64_t window_ = 0;  ///< of the layer, like the sinks
  Vector sinks_;
  // Whether an integer may differ from the one computed here: by row of the phase, and by layer and sequence for cached
  // rows.
  std::vector<bool> unsure_;
  std::map<std::string, std::vector<bool>> unsure_caches_;
  std::vector<int32_t> table_;  ///< of the layer's paged cache
};

}  // namespace

std::map<std::string, Expected> model_reference(const ModelProgram& program, const TensorMap& inputs) {
  return Reference(program, inputs).all();
}

}  // namespace kernbench::models
