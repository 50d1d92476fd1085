#include "kernbench/platform/tools/run_parts.h"

#include <algorithm>

#include "kernbench/phase2/check/reference_check.h"
#include "kernbench/phase2/io/npy.h"
#include "kernbench/phase2/log/oplog_json.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/elaborate/deadlock.h"
#include "kernbench/platform/platform.h"

namespace kernbench {

void TeeLog::record(OpRecord&& r) {
  if (!failure_.empty()) return;
  try {
    for (size_t i = 0; i + 1 < sinks_.size(); ++i) sinks_[i]->record(OpRecord(r));
    if (!sinks_.empty()) sinks_.back()->record(std::move(r));
  } catch (const OpLogError& e) {
    failure_ = e.what();
    sc_core::sc_pause();
  }
}

void LoggedRun::attach_logs(bool materializes, std::vector<PlacedTensor> tensors) {
  if (materializes || platform_.system().pending_values()) platform_.system().keep_pending_values(o_.isa);
  at_start_ = platform_.system().image().snapshot();
  if (o_.memory_file) memory_ = std::make_unique<MemoryFileWriter>(std::move(o_.memory_file), at_start_);
  // The memory file first: a log that says it is complete has a complete memory file beside it.
  tee_.emplace(std::initializer_list<OpLogSink*>{memory_.get(), o_.log.get(), replayed() ? &records_ : nullptr});
  o_.header.tensors = std::move(tensors);
  tee_->begin(o_.header);
  if (!tee_->empty() || o_.number_ops) platform_.attach_log(&*tee_);
  if (o_.check_races) platform_.pes().attach_history(history_);
}

void LoggedRun::close_logs() {
  if (!tee_->failure().empty()) throw RunError(tee_->failure());
  tee_->close();
}

void LoggedRun::report_races(RunReport& report) const {
  report.races_checked = true;
  report.races = find_races(history_);
  for (const auto& pe : platform_.graph().pes) report.pe_names.push_back(pe.id);
}

ReplayResult LoggedRun::replay_log(RunReport& report) const {
  const auto start = Clock::now();
  ReplayOptions options;
  options.threads = o_.threads;
  options.isa = o_.isa;
  options.progress = o_.on_replay_progress;
  if (o_.debug_verify) options.check = reference_check(o_.header.pes);
  ReplayResult result = replay(records_.records(), at_start_, options);
  report.phase2_s = seconds_since(start);
  return result;
}

void LoggedRun::write_outputs(TensorMap& outputs) const {
  if (!o_.corrupt.empty()) {
    for (uint8_t& b : outputs.at(o_.corrupt).bytes) b ^= 0x5a;
  }
  for (const auto& [name, file] : o_.dumps) {
    const HostTensor& t = outputs.at(name);
    write_npy(file, t.dtype, t.shape, t.bytes.data());
  }
}

HostTensor tensor_from_file(const TensorSpec& t, const Params& params, const std::string& file) {
  NpyArray a = read_npy_as(file, t.dtype(params));
  const Dims shape = t.shape(params);
  if (a.shape != shape)
    throw InputError(file + ": shape " + a.shape.to_string() + ", but tensor " + t.name + " has " + shape.to_string() +
                     " with these parameters");
  HostTensor value;
  value.dtype = a.dtype;
  value.shape = a.shape;
  value.bytes = std::move(a.bytes);
  return value;
}

TensorMap make_inputs(const std::vector<const TensorSpec*>& tensors, const Params& params, const RunOptions& o) {
  TensorMap inputs;
  for (const TensorSpec* t : tensors) {
    if (t->role != TensorSpec::Role::in) continue;
    const auto file =
        std::find_if(o.tensors.begin(), o.tensors.end(), [&](const auto& x) { return x.first == t->name; });
    inputs[t->name] =
        file == o.tensors.end() ? make_input(*t, params, o.seed) : tensor_from_file(*t, params, file->second);
  }
  return inputs;
}

void check_names(const std::string& what, const std::vector<const TensorSpec*>& tensors, const RunOptions& o) {
  const auto check = [&](const char* option, const std::string& name, TensorSpec::Role role) {
    std::string legal;
    for (const TensorSpec* t : tensors) {
      if (t->role != role) continue;
      if (t->name == name) return;
      legal += (legal.empty() ? "" : ", ") + t->name;
    }
    throw InputError(std::string(option) + ": found '" + name + "', " + what + " has " + legal);
  };
  for (const auto& [name, file] : o.tensors) check("--tensor", name, TensorSpec::Role::in);
  for (const auto& [name, file] : o.dumps) check("--dump", name, TensorSpec::Role::out);
  if (!o.corrupt.empty()) check("--corrupt", o.corrupt, TensorSpec::Role::out);
}

ReferenceValues reference_values(const Expected& e) {
  ReferenceValues r;
  if (is_float(e.value.dtype)) {
    for (float f : e.value.floats()) r.values.push_back(f);
  } else {
    for (int32_t i : e.value.ints()) r.values.push_back(i);
  }
  r.scale.assign(e.scale.begin(), e.scale.end());
  return r;
}

void require_mmus(Platform& platform, const std::vector<size_t>& pes) {
  for (size_t p : pes) {
    if (!platform.pes().pe(p).mmu)
      throw InputError("--address virtual: " + platform.pes().pe(p).id + " has no pe_mmu that translates");
  }
}

void throw_nothing_can_move(Platform& platform) {
  std::string text = "nothing can move, but work is outstanding:";
  for (const std::string& line : stuck_report(platform.machine())) text += "\n  " + line;
  throw RunError(text);
}

}  // namespace kernbench
