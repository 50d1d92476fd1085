// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/triton/ir.h"

#include <stdexcept>

namespace kernbench::triton {

const char* name_of(Element e) {
  switch (e) {
    case Element::unknown:
      return "?";
    case Element::i1:
      return "i1";
    case Element::i8:
      return "i8";
    case Element::i16:
      return "i16";
    case Element::i32:
      return "i32";
    case Element::i64:
      return "i64";
    case Element::index:
      return "index";
    case Element::f8e4m3:
      return "f8E4M3FN";
    case Element::f8e5m2:
      return "f8E5M2";
    case Element::bf16:
      return "bf16";
    case Element::f16:
      return "f16";
    case Element::f32:
      return "f32";
    case Element::f64:
      return "f64";
  }
  return "?";
}

bool is_float(Element e) {
  return e >= Element::f8e4m3;
}

int bits_of(Element e) {
  switch (e) {
    case Element::i1:
      return 1;
    case Element::i8:
    case Element::f8e4m3:
    case Element::f8e5m2:
      return 8;
    case Element::i16:
    case Element::bf16:
    case Element::f16:
      return 16;
    case Element::i32:
    case Element::f32:
      return 32;
    default:
      return 64;
  }
}

bool fits_memory(Element e) {
  return e != Element::unknown && e != Element::index && e != Element::f64;
}

DType dtype_of(Element e) {
  switch (e) {
    case Element::i1:
      return DType::u8;
    case Element::i8:
      return DType::i8;
    case Element::i16:
      return DType::i16;
    case Element::i32:
      return DType::i32;
    case Element::i64:
      return DType::i64;
    case Element::f8e4m3:
      return DType::f8e4m3;
    case Element::f8e5m2:
      return DType::f8e5m2;
    case Element::bf16:
      return DType::bf16;
    case Element::f16:
      return DType::f16;
    case Element::f32:
      return DType::f32;
    default:
      throw std::out_of_range(std::string("TCM holds no ") + name_of(e));
  }
}

void Shape::push_back(int64_t n) {
  if (!deep_ && dims_.rank() < kMaxRank) return dims_.push_back(n);
  std::vector<int64_t> all(begin(), end());
  all.push_back(n);
  dims_ = {dims_.elements() * n};
  deep_ = std::make_shared<const std::vector<int64_t>>(std::move(all));
}

std::string Type::to_string() const {
  std::string text = name_of(element);
  if (kind == Kind::pointer) text = "!tt.ptr<" + text + ">";
  if (tensor) {
    std::string dims;
    for (const int64_t d : shape) dims += std::to_string(d) + "x";
    text = "tensor<" + dims + text + ">";
  }
  if (kind == Kind::block_pointer) return "!tt.ptr<" + text + ">";
  if (kind == Kind::descriptor) return "!tt.tensordesc<" + text + ">";
  return text;
}

const Function* Module::function(const std::string& name) const {
  for (const Function& f : functions) {
    if (f.name == name) return &f;
  }
  return nullptr;
}

}  // namespace kernbench::triton
