#include "kernbench/platform/tools/run.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>

#include "kernbench/kernel_api/context.h"
#include "kernbench/phase2/check/reference_check.h"
#include "kernbench/phase2/graph/executor.h"
#include "kernbench/phase2/io/memory_file.h"
#include "kernbench/phase2/io/npy.h"
#include "kernbench/phase2/log/oplog_json.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/elaborate/deadlock.h"
#include "kernbench/platform/platform.h"
#include "kernbench/platform/launch/host_run.h"
#include "kernbench/platform/launch/pe_selection.h"

namespace kernbench {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point t) {
  return std::chrono::duration<double>(Clock::now() - t).count();
}

/// Gives every record to several sinks; those that are null are left out. A sink that fails while the simulation runs
/// (a full disk) ends it: an exception must not pass through SystemC.
class TeeLog : public OpLogSink {
 public:
  explicit TeeLog(std::initializer_list<OpLogSink*> sinks) {
    for (OpLogSink* s : sinks) {
      if (s) sinks_.push_back(s);
    }
  }
  bool empty() const { return sinks_.empty(); }
  void begin(const OpLogHeader& h) override {
    for (OpLogSink* s : sinks_) s->begin(h);
  }
  void record(OpRecord&& r) override {
    if (!failure_.empty()) return;
    try {
      for (size_t i = 0; i + 1 < sinks_.size(); ++i) sinks_[i]->record(OpRecord(r));
      if (!sinks_.empty()) sinks_.back()->record(std::move(r));
    } catch (const OpLogError& e) {
      failure_ = e.what();
      sc_core::sc_pause();
    }
  }
  /// What kept a sink from going on; empty: nothing.
  const std::string& failure() const { return failure_; }
  void close() override {
    for (OpLogSink* s : sinks_) s->close();
  }

 private:
  std::vector<OpLogSink*> sinks_;
  std::string failure_;
};

/// What Phase 2 reads of a log: all but the tokens, which are many and timing only, unless a check names what carried
/// an operand.
class ReplayLog : public OpLogSink {
 public:
  explicit ReplayLog(bool keep_tokens) : keep_tokens_(keep_tokens) {}
  void record(OpRecord&& r) override {
    if (keep_tokens_ || !r.is_token) records_.push_back(std::move(r));
  }
  const std::vector<OpRecord>& records() const { return records_; }

 private:
  bool keep_tokens_;
  std::vector<OpRecord> records_;
};

void require_mmus(Platform& platform, const std::vector<size_t>& pes) {
  for (size_t p : pes) {
    if (!platform.pes().pe(p).mmu)
      throw InputError("--address virtual: " + platform.pes().pe(p).id + " has no pe_mmu that translates");
  }
}

HostTensor from_file(const TensorSpec& t, const Params& params, const std::string& file) {
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

/// Checks the names of --tensor and --dump before anything is built.
void check_names(const KernelSpec& spec, const RunOptions& o) {
  const auto check = [&](const char* option, const std::string& name, TensorSpec::Role role) {
    const TensorSpec* t = spec.tensor(name);
    if (t && t->role == role) return;
    std::string legal;
    for (const TensorSpec& x : spec.tensors) {
      if (x.role == role) legal += (legal.empty() ? "" : ", ") + x.name;
    }
    throw InputError(std::string(option) + ": found '" + name + "', kernel " + spec.name + " has " + legal);
  };
  for (const auto& [name, file] : o.tensors) check("--tensor", name, TensorSpec::Role::in);
  for (const auto& [name, file] : o.dumps) check("--dump", name, TensorSpec::Role::out);
  if (!o.corrupt.empty()) check("--corrupt", o.corrupt, TensorSpec::Role::out);
}

std::vector<EngineReport> engine_reports(Platform& platform, const std::vector<size_t>& pes, double sim_ns) {
  std::vector<EngineReport> v;
  for (size_t p : pes) {
    platform.pes().pe(p).scheduler->settle(sim_ns);
    for (const auto& [block, engine] : platform.pes().pe(p).engines) {
      engine->settle(sim_ns);
      // pe_dma's two channels are engines of their own; other blocks are one, with all their servers.
      EngineReport r;
      const auto push = [&](const std::string& id) {
        r.id = id;
        r.utilization = sim_ns > 0 ? r.busy_ns / (sim_ns * r.servers) : 0;
        v.push_back(r);
        r = {};
      };
      for (const StageStatistics& s : engine->statistics()) {
        r.busy_ns += s.busy_ns;
        r.ops += s.ops;
        r.bytes += s.bytes;
        r.flops += s.flops;
        r.idle_ns += s.idle_ns;
        r.slot_wait_ns += s.slot_wait_ns;
        r.queue_full_ns += s.queue_full_ns;
        r.link_wait_ns += s.link_wait_ns;
        r.memory_wait_ns += s.memory_wait_ns;
        r.servers += s.servers;
        if (s.stage == Stage::dma_read) push(block->id() + ".rd");
        if (s.stage == Stage::dma_write) push(block->id() + ".wr");
      }
      if (r.servers > 0) push(block->id());
    }
  }
  return v;
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

}  // namespace

LaunchWay choose_launch_way(Platform& platform, const RunOptions& o) {
  try {
    return choose_launch_way(platform.hosts().launch_host(), choose_pes(platform.machine(), o.pes, o.device), o.launch);
  } catch (const HostPathError& e) {
    throw InputError(std::string("--launch host: ") + e.what());
  }
}

RunReport run_kernel(Platform& platform, RunOptions o) {
  const auto wall = Clock::now();
  const KernelSpec& spec = KernelRegistry::instance().at(o.kernel);
  check_names(spec, o);
  const Params params = kernel_params(spec, o.params);
  const std::vector<size_t> pes = choose_pes(platform.machine(), o.pes, o.device);
  const LaunchWay way = choose_launch_way(platform, o);

  if (o.addresses == AddressMode::virtual_) require_mmus(platform, pes);
  Deployment deployment(platform.machine(), platform.hosts().allocators(), spec, params, pes, o.addresses);  // before the inputs: it knows what does not fit
  TensorMap inputs;
  for (const TensorSpec& t : spec.tensors) {
    if (t.role != TensorSpec::Role::in) continue;
    const auto file =
        std::find_if(o.tensors.begin(), o.tensors.end(), [&](const auto& x) { return x.first == t.name; });
    inputs[t.name] = file == o.tensors.end() ? make_input(t, params, o.seed) : from_file(t, params, file->second);
  }
  for (const auto& [name, value] : inputs) deployment.upload(name, value);
  if (spec.materializes || platform.system().pending_values()) platform.system().keep_pending_values(o.isa);

  const bool verified = o.verify || o.debug_verify;
  const bool replayed = verified || !o.dumps.empty();
  const MemoryImage at_start = platform.system().image().snapshot();
  ReplayLog records(o.debug_verify);
  std::unique_ptr<MemoryFileWriter> memory;
  if (!o.memory_file.empty()) memory = std::make_unique<MemoryFileWriter>(o.memory_file, at_start);
  // The memory file first: a log that says it is complete has a complete memory file beside it.
  TeeLog tee{memory.get(), o.log.get(), replayed ? &records : nullptr};
  o.header.tensors = deployment.placed();
  tee.begin(o.header);
  if (!tee.empty() || o.number_ops) platform.attach_log(&tee);

  CommandHistory history;
  if (o.check_races) platform.pes().attach_history(history);

  // Phase 1.
  const std::vector<tl::Program> programs = programs_of(platform.machine(), pes);
  HostPlan plan;
  plan.way = way;
  plan.launch.pes = pes;
  plan.launch.kernel = [&](size_t i) {
    return [&, i](PeBackend& backend) {
      tl::Context context(backend, programs[i]);
      spec.function(context, deployment.args(i));
      context.finish();  // loads and composites that nobody waited for are checked too
    };
  };
  for (const TensorSpec& t : spec.tensors) {
    if (!o.timed_transfer) break;
    for (const Deployment::Range& r : deployment.ranges(t.name)) {
      if (t.role == TensorSpec::Role::in) {
        plan.uploads.push_back({{}, r.address, r.nbytes});
      } else {
        plan.downloads.push_back({{}, r.address, r.nbytes});
      }
    }
  }
  const bool timed_maps = o.timed_transfer && o.addresses == AddressMode::virtual_;
  std::vector<size_t> mapped_pes;  // the others know physical addresses only
  std::copy_if(pes.begin(), pes.end(), std::back_inserter(mapped_pes), [&](size_t p) { return platform.pes().pe(p).mmu; });
  for (const auto& mapping : deployment.mappings()) {
    if (timed_maps) {
      plan.maps.push_back({{}, mapping});
      continue;
    }
    const HostResponse r = HostMmu::map_now(platform.machine(), {{}, mapping}, mapped_pes);
    if (!r.ok()) throw RunError(r.text);
  }
  const auto phase1 = Clock::now();
  const HostOutcome host = simulate(platform.hosts().launch_host(), std::move(plan));
  RunReport report;
  report.phase1_s = seconds_since(phase1);
  if (!tee.failure().empty()) throw RunError(tee.failure());
  tee.close();
  if (!host.fault.empty()) throw RunError(host.fault);
  if (!host.complete) {
    std::string text = "nothing can move, but work is outstanding:";
    for (const std::string& line : stuck_report(platform.machine())) text += "\n  " + line;
    throw RunError(text);
  }

  report.kernel = spec.name;
  report.topology = platform.graph().name;
  for (const auto& [name, value] : params.values()) report.params.emplace_back(name, to_text(value));
  for (size_t i = 0; i < pes.size(); ++i) {
    const KernelRunner::Outcome& pe = host.launch.outcomes[i];
    report.pes.push_back({platform.graph().pes[pes[i]].id, pe.start_ns, pe.end_ns});
  }
  report.launch = name_of(way.mode);
  report.launch_note = way.note;
  report.timed_transfer = o.timed_transfer;
  report.addresses = o.addresses;
  report.map_ns = host.map_ns;
  report.upload_ns = host.upload_ns;
  report.download_ns = host.download_ns;
  report.start_ns = host.launch.start_ns;
  report.end_ns = host.end_ns;
  report.engines = engine_reports(platform, pes, report.end_ns);
  report.events = platform.timeline().events();

  if (o.check_races) {
    report.races_checked = true;
    report.races = find_races(history);
    for (const auto& pe : platform.graph().pes) report.pe_names.push_back(pe.id);
  }

  // Phase 2.
  if (replayed) {
    const auto phase2 = Clock::now();
    ReplayOptions options;
    options.threads = o.threads;
    options.isa = o.isa;
    options.progress = o.on_replay_progress;
    if (o.debug_verify) options.check = reference_check(o.header.pes);
    const ReplayResult result = replay(records.records(), at_start, options);
    report.phase2_s = seconds_since(phase2);
    TensorMap outputs;
    for (const TensorSpec& t : spec.tensors) {
      if (t.role == TensorSpec::Role::out) outputs[t.name] = deployment.read_back(t.name, result.memory);
    }
    if (!o.corrupt.empty()) {
      for (uint8_t& b : outputs.at(o.corrupt).bytes) b ^= 0x5a;
    }
    for (const auto& [name, file] : o.dumps) {
      const HostTensor& t = outputs.at(name);
      write_npy(file, t.dtype, t.shape, t.bytes.data());
    }
    if (verified) {
      report.verified = true;
      const auto expected = spec.reference(params, inputs);
      for (const auto& [name, value] : outputs) {
        report.tensors.push_back(
            verify(name, value.dtype, value.shape, value.bytes.data(), reference_values(expected.at(name))));
        report.passed = report.passed && report.tensors.back().passed;
      }
    }
  }
  report.wall_s = seconds_since(wall);
  return report;
}

}  // namespace kernbench
