// SPDX-License-Identifier: Apache-2.0
// Traces the path of an op's operands through a log. Used in the report of an op that differs from its reference.
#pragma once

#include <string>
#include <vector>

#include "kernbench/phase2/log/op_record.h"

namespace kernbench::phase2 {

/// "tcm 0x1000 of sip0.cube0.pe0".
std::string place_text(const TensorRef&, const std::vector<std::string>& pes);

/// The loads and stores in the log that moved an operand of `reader`, the last one first, and the tile tokens of a
/// composite: "brought by dma_read op 12 from hbm 0x2000, dma_write op 9 from tcm 0x40 of …". Empty if nothing was
/// moved. It searches the complete log, so call it for single ops only.
std::string carriers_of(const std::vector<OpRecord>&, const OpRecord& reader, const TensorRef& operand,
                        const std::vector<std::string>& pes);

}  // namespace kernbench::phase2
