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

/// A log that cannot be written or read: one line with the file and what is wrong.
class OpLogError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// "memory", "gemm", "math", "unknown": a token has its stage's kind.
OpKind kind_of(const OpRecord&);
/// dma_read, gemm_f16, exp, composite_gemm, TileToken/GEMM, …
std::string log_name_of(const OpRecord&);

/// {"op_id":…,"t_start":…,"t_end":…,"component_id":…,"op_kind":…,"op_name":…,"params":{…},"dependency_ids":[…]}, one
/// line without its end. Numbers in shortest exact form.
void append_json(std::string& out, const OpRecord&, const OpLogHeader&);
/// The value of "params" alone.
void append_params_json(std::string& out, const OpRecord&, const OpLogHeader&);
/// The value of "buffer_pieces", and its inverse.
void write_buffer_pieces(JsonWriter&, const std::vector<BufferPiece>&);
std::vector<BufferPiece> parse_buffer_pieces(std::string_view json);
/// A line of no op, in the form of a record of kind unknown and op_id 0, so that every line of a log has one form:
/// log_header and the checksums. `params` writes keys and values.
std::string note_json(std::string_view name, const std::function<void(JsonWriter&)>& params);
/// The header as such a line.
std::string header_json(const OpLogHeader&);
/// What a run's energy came to as such a line, log_energy.
std::string energy_json(const energy::Account&);

/// So much is told of what a library or a damaged file says.
constexpr size_t kMostOfReason = 240;

/// A log in memory.
struct OpLogContents {
  OpLogHeader header;
  std::vector<OpRecord> records;                  ///< by (t_start, op_id)
  bool complete = false;                          ///< the run ended in order; otherwise the last moments may be missing
  std::shared_ptr<const energy::Account> energy;  ///< null: it was not counted
};

/// std::runtime_error where a time is none, or a tensor or a size so large, or negative, that arithmetic with it has no
/// meaning. What is read has passed this.
void check_record(const OpRecord&);

/// Orders by (t_start, op_id).
void sort_log(std::vector<OpRecord>&);

/// Rebuilds records from their JSON: the inverse of append_json. Store data is not part of the log.
class OpRecordParser {
 public:
  explicit OpRecordParser(OpLogHeader header = {});
  ~OpRecordParser();
  /// A line of the header or of the energy gives nothing and sets header() or energy(). Throws std::runtime_error with
  /// what is wrong.
  bool parse_line(std::string_view json, OpRecord&);
  /// From the parts, params as JSON text.
  OpRecord parse(uint64_t op_id, double t_start, double t_end, std::string_view component, std::string_view op_kind,
                 std::string_view op_name, std::string_view params, std::string_view dependency_ids);
  const OpLogHeader& header() const;
  const std::shared_ptr<const energy::Account>& energy() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kernbench::phase2
