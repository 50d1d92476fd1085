// What the stages of an engine are called where a block has several: "rd" and "wr" of pe_dma.
#pragma once

#include "kernbench/systemc_models/pe/pe_command.h"

namespace kernbench {

inline const char* short_name_of(Stage s) {
  switch (s) {
    case Stage::dma_read:
      return "rd";
    case Stage::dma_write:
      return "wr";
    case Stage::fetch:
      return "fetch";
    case Stage::store:
      return "store";
    case Stage::gemm:
      return "gemm";
    case Stage::math:
      return "math";
  }
  return "";
}

}  // namespace kernbench
