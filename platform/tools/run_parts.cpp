#include "kernbench/platform/tools/run_parts.h"

#include <algorithm>

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
