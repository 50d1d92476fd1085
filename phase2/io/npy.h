// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files (format versions 1.0, 2.0, 3.0), little endian.
//
// .npy has no bf16 and f8; they are stored as f32: rounded on load, exact on write (interface rules).
#pragma once

#include <stdexcept>
#include <string>

#include "kernbench/phase2/op/op.h"

namespace kernbench::phase2 {

/// A file that cannot be read. One line with the file, the found value and the expected one.
class NpyError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A tensor in ordinary memory, row-major.
struct NpyArray {
  DType dtype = DType::f32;
  Dims shape;
  Bytes bytes;
};

/// Reads f4, f2, i1, u1, i2, i4 (and b1 as u8) in C or Fortran order; the result is row-major. NpyError.
NpyArray read_npy(const std::string& file);
/// The same as a tensor of that dtype. f32 values in the file are rounded to a float dtype; any other difference of
/// types is an error.
NpyArray read_npy_as(const std::string& file, DType dtype);
/// The same for a tensor of that name; its shape must match.
NpyArray read_npy_tensor(const std::string& file, const std::string& tensor, DType dtype, const Dims& shape);
/// Version 1.0, C order; bf16 and f8 as f4. InputError if the file cannot be created, RunError if it cannot be written
/// completely; then no file remains (WholeFile).
void write_npy(const std::string& file, const NpyArray&);
void write_npy(const std::string& file, DType, const Dims& shape, const void* bytes);

}  // namespace kernbench::phase2
