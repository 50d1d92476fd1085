// SPDX-License-Identifier: Apache-2.0
// Op logs in files: JSON lines and SQLite. Written during the simulation, and read back.
#pragma once

#include <memory>
#include <string>

#include "kernbench/phase2/log/oplog_json.h"

namespace kernbench::phase2 {

/// One record a line, in order of completion, after the header. Records reach the file within about 0.1 s, in complete
/// lines. OpLogError if the file cannot be created; record() and close() throw it if the file cannot be written.
std::unique_ptr<OpLogSink> make_jsonl_log(const std::string& file);

/// Tables `commands` and `tokens`, the view `ops` with the columns of a record, and `header` (docs/phase2.md). A
/// background thread writes batches of at most 50 ms, each in one transaction; the sink holds a bounded number of
/// records. A killed run leaves a readable file that lacks only the last records. An existing file is replaced.
std::unique_ptr<OpLogSink> make_sqlite_log(const std::string& file);

/// By the ending of the name: .jsonl, or .sqlite, .sqlite3, .db; OpLogError for any other.
std::unique_ptr<OpLogSink> make_op_log(const std::string& file);

/// Reads both kinds; the first bytes distinguish them. A log of an interrupted run is read as far as its checksums are
/// correct (`complete` is then false). OpLogError, with the position, for any other damage, even of one bit.
OpLogContents read_op_log(const std::string& file);

/// For a log that was cut off: removes records that may depend on commands with missing records. These are all records
/// of a PE after the first gap in its program order. Returns the number of removed records.
size_t drop_behind_gaps(std::vector<OpRecord>&);

}  // namespace kernbench::phase2
