// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/run/run_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernbench/kernel_api/seeded_input.h"
#include "kernbench/phase2/check/reference_check.h"
#include "kernbench/phase2/io/logging.h"
#include "kernbench/phase2/io/npy.h"
#include "kernbench/phase2/log/oplog_json.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/energy/meter.h"
#include "kernbench/platform/launch/expected_values.h"
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

namespace {

/// The run has started, so an unwritable log is no longer bad input.
template <class Work>
void while_running(const Work& work) {
  try {
    work();
  } catch (const OpLogError& e) {
    throw RunError(e.what());
  }
}

/// This phase 2 does not have the data of earlier runs, so they count as unwritten.
void forget_pending(MemoryImage& image) {
  for (const MemoryImage::SpaceKey& key : image.spaces()) {
    std::vector<std::pair<uint64_t, uint64_t>> pending;
    image.for_each_piece(key, [&](uint64_t at, uint64_t n, const MemoryImage::Extent* e, uint64_t) {
      if (e && e->producer()) pending.emplace_back(at, n);
    });
    for (const auto& [at, n] : pending) image.erase(key, at, n);
  }
}

}  // namespace

void LoggedRun::attach_logs(bool materializes, std::vector<PlacedTensor> tensors) {
  if (materializes || platform_.system().pending_values()) platform_.system().keep_pending_values(o_.isa);
  at_start_ = platform_.system().image().snapshot();
  if (platform_.timeline().events() > 0) forget_pending(at_start_);
  if (o_.memory_file)
    while_running([&] { memory_ = std::make_unique<MemoryFileWriter>(std::move(o_.memory_file), at_start_); });
  // The memory file is closed first, so that a complete log always has a complete memory file.
  tee_.emplace(std::initializer_list<OpLogSink*>{memory_.get(), o_.log.get(), replayed() ? &records_ : nullptr});
  logging::debug(logging::Room::run, [&] {
    return fmt::format("placed {} tensors; {} kept for the replay", tensors.size(),
                       replayed() ? "records are" : "no record is");
  });
  o_.header.tensors = std::move(tensors);
  while_running([&] { tee_->begin(o_.header); });
  if (!tee_->empty() || o_.number_ops) platform_.attach_log(&*tee_);
  if (o_.check_races) platform_.pes().attach_history(&history_);
}

void LoggedRun::leave() {
  if (left_) return;
  left_ = true;
  platform_.attach_log(nullptr);
  if (o_.check_races) platform_.pes().attach_history(nullptr);
  tee_.reset();
  o_.log.reset();
  memory_.reset();
}

void LoggedRun::check_logs() const {
  if (!tee_->failure().empty()) throw RunError(tee_->failure());
}

void LoggedRun::close_logs(double run_ns, size_t pes) {
  check_logs();
  logging::info(logging::Room::run, [&] { return fmt::format("simulated {:.3f} ns of {} PEs", run_ns, pes); });
  if (o_.meter) energy_ = o_.meter->account(run_ns, pes);
  while_running([&] {
    if (energy_) tee_->energy(*energy_);
    tee_->close();
  });
}

void LoggedRun::log_notes(const RunReport& report) {
  for (const std::string& note : report.notes) {
    logging::info(logging::Room::run, [&] { return note; });
  }
}

void LoggedRun::report_races(RunReport& report) const {
  report.races_checked = true;
  report.races_unknown = history_.why_ended();
  if (report.races_unknown.empty()) report.races = find_races(history_);
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
  report.warning = result.warning();
  report.prints = result.prints;
  logging::info(logging::Room::run, [&] {
    return fmt::format("replayed {} ops with {} in {:.3f} s", result.ops, name_of(result.isa), report.phase2_s);
  });
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

const std::string* given(const std::vector<std::pair<std::string, std::string>>& options, const std::string& name) {
  const auto it = std::find_if(options.begin(), options.end(), [&](const auto& x) { return x.first == name; });
  return it == options.end() ? nullptr : &it->second;
}

namespace {

HostTensor tensor_from_file(const TensorSpec& t, const Params& params, const std::string& file) {
  NpyArray a = read_npy_tensor(file, t.name, t.dtype(params), t.shape(params));
  HostTensor value;
  value.dtype = a.dtype;
  value.shape = a.shape;
  value.bytes = std::move(a.bytes);
  return value;
}

}  // namespace

void LoggedRun::settle_judge(const std::string& what, const Reference& reference,
                             const std::vector<const TensorSpec*>& tensors, const Params& params) {
  for (const TensorSpec* t : tensors) {
    if (!t->is_output()) continue;
    if (const std::string* file = given(o_.expected, t->name)) {
      const HostTensor value = tensor_from_file(*t, params, *file);
      from_files_[t->name] = {values_of(value.dtype, value.bytes.data(), static_cast<size_t>(value.elements())), {}};
    } else {
      by_reference_.push_back(t->name);
    }
  }
  if (verifies_all() && !reference && !by_reference_.empty())
    throw InputError(std::string(o_.verify ? "--verify" : "--debug-verify") + ": " + what +
                     " has no reference; --expected NAME=FILE.npy gives the expected values of " +
                     joined(by_reference_));
}

std::map<std::string, ReferenceValues> LoggedRun::judge(const Reference& reference, const Params& params,
                                                        const TensorMap& inputs) const {
  std::map<std::string, ReferenceValues> all = from_files_;
  const bool all_from_files = by_reference_.empty() && !from_files_.empty();
  if (!verifies_all() || !reference || all_from_files) return all;
  const auto expected = reference(params, inputs);
  for (const std::string& name : by_reference_) {
    const auto it = expected.find(name);
    if (it == expected.end()) throw RunError("the reference returns no expected value for output " + name);
    const HostTensor& value = it->second.value;
    if (value.bytes.empty() && value.elements() > 0) continue;  // several results are correct
    all[name] = reference_values(it->second);
  }
  return all;
}

TensorMap make_inputs(const std::vector<const TensorSpec*>& tensors, const Params& params, const RunOptions& o) {
  TensorMap inputs;
  for (const TensorSpec* t : tensors) {
    if (!t->is_input()) continue;
    const std::string* file = given(o.tensors, t->name);
    inputs[t->name] = file ? tensor_from_file(*t, params, *file) : make_input(*t, params, o.seed);
  }
  return inputs;
}

std::optional<ElementSource> element_source(const TensorSpec& t, const Params& params, const RunOptions& o) {
  if (!t.is_input() || given(o.tensors, t.name)) return {};
  const auto elements = seeded_elements(t, params, o.seed);
  if (!elements) return {};
  return [e = *elements](int64_t first, int64_t count, uint8_t* out) { e.write(first, count, out); };
}

namespace {
constexpr size_t kNamesTold = 24;  // a model has thousands
}

void check_names(const std::string& what, const std::vector<const TensorSpec*>& tensors, const RunOptions& o) {
  const auto check = [&](const char* option, const std::string& name, bool (TensorSpec::*fits)() const) {
    std::string legal;
    size_t count = 0;
    for (const TensorSpec* t : tensors) {
      if (!(t->*fits)()) continue;
      if (t->name == name) return;
      if (++count <= kNamesTold) legal += (legal.empty() ? "" : ", ") + t->name;
    }
    if (count > kNamesTold) legal += fmt::format(", … ({} in all)", count);
    throw InputError(std::string(option) + ": found '" + name + "', " + what + " has " +
                     (legal.empty() ? "none" : legal));
  };
  for (const auto& [name, file] : o.tensors) check("--tensor", name, &TensorSpec::is_input);
  for (const auto& [name, file] : o.dumps) check("--dump", name, &TensorSpec::is_output);
  for (const auto& [name, file] : o.expected) check("--expected", name, &TensorSpec::is_output);
  if (!o.corrupt.empty()) check("--corrupt", o.corrupt, &TensorSpec::is_output);
}

bool names_tensor(const RunOptions& o, const std::string& name) {
  return given(o.tensors, name) || given(o.dumps, name) || given(o.expected, name);
}

void require_mmus(Platform& platform, const std::vector<size_t>& pes) {
  for (size_t p : pes) {
    if (!platform.pes().pe(p).mmu)
      throw InputError("--address virtual: " + platform.pes().pe(p).id + " has no pe_mmu that translates");
  }
}

}  // namespace kernbench
