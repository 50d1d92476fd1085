// NumPy's .npy files (format versions 1.0, 2.0, 3.0), little endian.
//
// bf16 and f8, which .npy lacks, are f32 there: rounded on load, exact on write (interface contract).
#pragma once

#include <stdexcept>
#include <string>

#include "kernbench/phase2/op/op.h"

namespace kernbench {

/// A file that cannot be read: one line with the file, what was found and what is expected.
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

/// Reads f4, f2, i1, u1, i2, i4 (and b1 as u8) in C or Fortran order; the result is row-major. Throws NpyError.
NpyArray read_npy(const std::string& file);
/// The same as a tensor of that dtype: floats are rounded from f32 where the file holds f32 and the dtype is a float;
/// any other difference between the file and the dtype is an error.
NpyArray read_npy_as(const std::string& file, DType dtype);
/// The same for a tensor of that name; another shape than the tensor's is an error.
NpyArray read_npy_tensor(const std::string& file, const std::string& tensor, DType dtype, const Dims& shape);
/// Version 1.0, C order; bf16 and f8 as f4. InputError where the file cannot be made, RunError where it does not take
/// all; nothing is left then (WholeFile).
void write_npy(const std::string& file, const NpyArray&);
void write_npy(const std::string& file, DType, const Dims& shape, const void* bytes);

}  // namespace kernbench
