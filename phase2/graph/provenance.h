// SPDX-License-Identifier: Apache-2.0
// How the bytes that an op read came to where it read them, from the records of a log: for the report of an op that
// departs from its reference.
#pragma once

#include <string>
#include <vector>

#include "kernbench/phase2/log/op_record.h"

namespace kernbench::phase2 {

/// "tcm 0x1000 of sip0.cube0.pe0".
std::string place_text(const TensorRef&, const std::vector<std::string>& pes);

/// The loads and stores that carried an operand of `reader`, the last one first, as far as they are in the log, and the
/// tile tokens where a composite did: "brought by dma_read op 12 from hbm 0x2000, dma_write op 9 from tcm 0x40 of …".
/// Empty where nothing was moved. Goes through the whole log: for one op, not for all.
std::string carriers_of(const std::vector<OpRecord>&, const OpRecord& reader, const TensorRef& operand,
                        const std::vector<std::string>& pes);

}  // namespace kernbench::phase2
