// SPDX-License-Identifier: Apache-2.0
// An op record as JSON (data rules §3; docs/phase2.md has every key).
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "kernbench/phase2/log/op_record.h"

namespace kernbench::phase2 {

class JsonWriter;

/// A log that cannot be written or read: one line with the file and the fault.
class OpLogError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// "memory", "gemm", "math", "unknown". A token has its stage's kind.
OpKind kind_of(const OpRecord&);
/// dma_read, gemm_f16, exp, composite_gemm, TileToken/GEMM, …
std::string log_name_of(const OpRecord&);

/// {"op_id":…,"t_start":…,"t_end":…,"component_id":…,"op_kind":…,"op_name":…,"params":{…},"dependency_ids":[…]}, one
/// line without a line end. Numbers are in shortest exact form.
void append_json(std::string& out, const OpRecord&, const OpLogHeader&);
/// Only the value of "params".
void append_params_json(std::string& out, const OpRecord&, const OpLogHeader&);
/// The value of "buffer_pieces", and its inverse.
void write_buffer_pieces(JsonWriter&, const std::vector<BufferPiece>&);
std::vector<BufferPiece> parse_buffer_pieces(std::string_view json);
/// A line that describes no op: log_header or a checksum. It has the form of a record of kind unknown with op_id 0, so
/// that all lines of a log have one form. `params` writes keys and values.
std::string note_json(std::string_view name, const std::function<void(JsonWriter&)>& params);
/// The header as such a line.
std::string header_json(const OpLogHeader&);
/// The energy of a run as such a line, log_energy.
std::string energy_json(const energy::Account&);

/// Limit for quoted texts of libraries and damaged files.
constexpr size_t kMostOfReason = 240;

/// A log in memory.
struct OpLogContents {
  OpLogHeader header;
  std::vector<OpRecord> records;                  ///< by (t_start, op_id)
  bool complete = false;                          ///< the run ended normally; otherwise the last records may be missing
  std::shared_ptr<const energy::Account> energy;  ///< null: energy was not counted
};

/// std::runtime_error if a time is invalid, or if a tensor or size is negative or so large that arithmetic overflows.
/// All records that are read pass this check.
void check_record(const OpRecord&);

/// Orders by (t_start, op_id).
void sort_log(std::vector<OpRecord>&);

/// Rebuilds records from their JSON: the inverse of append_json. The data of stores is not part of the log.
class OpRecordParser {
 public:
  explicit OpRecordParser(OpLogHeader header = {});
  ~OpRecordParser();
  /// For a line of the header or the energy, returns no record and sets header() or energy(). std::runtime_error with
  /// the fault.
  bool parse_line(std::string_view json, OpRecord&);
  /// Builds a record from its parts; params is JSON text.
  OpRecord parse(uint64_t op_id, double t_start, double t_end, std::string_view component, std::string_view op_kind,
                 std::string_view op_name, std::string_view params, std::string_view dependency_ids);
  const OpLogHeader& header() const;
  const std::shared_ptr<const energy::Account>& energy() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kernbench::phase2
