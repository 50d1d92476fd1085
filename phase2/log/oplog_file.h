// Op logs in files: JSON lines and SQLite, streamed while the simulation runs, and read back.
#pragma once

#include <memory>
#include <string>

#include "kernbench/phase2/log/oplog_json.h"

namespace kernbench {

/// One record a line, in order of completion, the header first. What was recorded is on its way to the file within
/// about a tenth of a second, in whole lines. Throws OpLogError when the file cannot be made; record() and close()
/// throw it when it cannot be written to.
std::unique_ptr<OpLogSink> make_jsonl_log(const std::string& file);

/// Tables `commands` and `tokens`, the view `ops` with the columns of a record, and `header` (docs/phase2.md). A
/// background thread writes batches of at most 50 ms in one transaction each; the sink holds a bounded number of
/// records. A killed run leaves a file that opens and holds all but the last moments. An existing file is replaced.
std::unique_ptr<OpLogSink> make_sqlite_log(const std::string& file);

/// By the name's end: .jsonl, or .sqlite, .sqlite3, .db; anything else is an OpLogError.
std::unique_ptr<OpLogSink> make_op_log(const std::string& file);

/// Reads either kind, told apart by the file's first bytes. A log whose run was cut off is read as far as its checksums
/// reach (`complete` is then false); any other damage, to the single bit, is an OpLogError with the place.
OpLogContents read_op_log(const std::string& file);

/// Of a log that was cut off, what may depend on commands whose records are missing: all of a PE's behind the first
/// number that its program order lacks. Removes it; returns how many records that were.
size_t drop_behind_gaps(std::vector<OpRecord>&);

}  // namespace kernbench
