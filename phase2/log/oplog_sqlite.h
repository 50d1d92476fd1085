// SPDX-License-Identifier: Apache-2.0
// Reads an op log in SQLite. Callers use oplog_file.h.
#pragma once

#include "kernbench/phase2/log/oplog_json.h"

namespace kernbench::phase2 {

OpLogContents read_sqlite_log(const std::string& file);

}  // namespace kernbench::phase2
