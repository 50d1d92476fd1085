// SPDX-License-Identifier: Apache-2.0
// Registers of a user's engine, as a PE writes and reads them (tlm_engine.h; explained in docs/tlm.md). 8 bytes each,
// little endian; offsets in bytes from the engine's `register_base`.
#pragma once

#include <cstdint>

#include "kernbench/phase2/op/dtype.h"

namespace kernbench::engine_registers {

constexpr uint64_t kDoorbell = 0x00;   ///< wo: 1 starts the command in the registers from kOps on
constexpr uint64_t kStatus = 0x08;     ///< ro: kBusy, kError; read after an interrupt
constexpr uint64_t kInterrupt = 0x10;  ///< wo: 1 lowers the interrupt

// Written before each doorbell, from kOps up to kEnd.
constexpr uint64_t kOps = 0x20;       ///< number of consecutive ops of the service: 1, except for a tile's MATH
constexpr uint64_t kOp = 0x28;        ///< kMostOps registers: names in ASCII, the first character in the lowest byte
constexpr uint64_t kFlags = 0x68;     ///< kTile, …
constexpr uint64_t kPe = 0x70;        ///< index of the PE in compiled order
constexpr uint64_t kCommand = 0x78;   ///< number of the call in the PE's program, from 0
constexpr uint64_t kTileId = 0x80;    ///< in the composite, from 0
constexpr uint64_t kM = 0x88;         ///< GEMM, and a tile's MATH: rows of the result
constexpr uint64_t kN = 0x90;         ///< and its columns
constexpr uint64_t kK = 0x98;         ///< GEMM
constexpr uint64_t kOperands = 0xa0;  ///< number of valid operand blocks
constexpr uint64_t kAxis = 0xa8;      ///< reductions and softmax
constexpr uint64_t kRank = 0xb0;      ///< of kShape
constexpr uint64_t kShape = 0xb8;     ///< kMostDims registers: elements of the loop nest, outermost first
constexpr uint64_t kOperand = 0x100;  ///< block of the first operand; the others follow at kOperandBytes
constexpr uint64_t kOperandBytes = 0x50;
constexpr uint64_t kResult = kOperand + 3 * kOperandBytes;  ///< block of the result
constexpr uint64_t kEnd = kResult + kOperandBytes;

// In a block.
constexpr uint64_t kAddress = 0x00;    ///< of the first element, in the PE's TCM, bytes
constexpr uint64_t kDtype = 0x08;      ///< dtype_code(); 0: an immediate
constexpr uint64_t kImmediate = 0x10;  ///< value of an immediate, as the bits of an IEEE double
constexpr uint64_t kStride = 0x18;     ///< kMostDims registers: bytes between elements; 0 repeats

constexpr int kMostOps = 8;
constexpr int kMostOperands = 3;
constexpr int kMostDims = 6;

// kFlags.
constexpr uint64_t kTile = 1;        ///< a tile of a composite; else a simple command
constexpr uint64_t kData = 2;        ///< operands can be read and the result must be written (`data: engine`)
constexpr uint64_t kAccumulate = 4;  ///< GEMM of a tile: the product is added to the result
constexpr uint64_t kLast = 8;        ///< a tile: the last for its output tile

// kStatus.
constexpr uint64_t kBusy = 1;
constexpr uint64_t kError = 2;

/// Address of the accumulator of a composite's GEMM, which is not in the TCM.
constexpr uint64_t kAccumulator = uint64_t{1} << 40;

/// 1 f32, 2 f16, 3 bf16, 4 i8, 5 i16, 6 i32, 7 u8, 8 f8e4m3, 9 f8e5m2.
constexpr uint64_t dtype_code(DType t) {
  return static_cast<uint64_t>(t) + 1;
}
static_assert(dtype_code(DType::f32) == 1 && dtype_code(DType::i8) == 4 && dtype_code(DType::i32) == 6 &&
                  dtype_code(DType::f8e5m2) == 9,
              "the codes are an interface");

}  // namespace kernbench::engine_registers
