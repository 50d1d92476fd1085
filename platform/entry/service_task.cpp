// SPDX-License-Identifier: Apache-2.0
// `kernbench model` with --requests or --synthetic: the model as a service (platform/service).
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "kernbench/phase2/io/random.h"
#include "kernbench/phase2/io/whole_file.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/forms.h"
#include "kernbench/phase2/text/json_reader.h"
#include "kernbench/platform/entry/task.h"
#include "kernbench/platform/models/model_machine.h"
#include "kernbench/platform/models/model_report.h"
#include "kernbench/platform/platform.h"
#include "kernbench/platform/run/child/child_pool.h"
#include "kernbench/platform/run/run_of_spec.h"
#include "kernbench/platform/service/service_report.h"

namespace kernbench {
namespace {

using spec::RunSpec;

void check_options(const RunSpec& spec, bool shared_threads) {
  if (spec.given("requests") && spec.given("synthetic"))
    throw InputError("--synthetic: found beside --requests; a service has one trace");
  for (const spec::Option& o : spec.table().options) {
    if (o.beside_requests || !spec.given(o.name) || (shared_threads && o.name == "threads")) continue;
    throw InputError(fmt::format("--{}: found beside --{}, which simulates phases of its own", o.name,
                                 spec.given("requests") ? "requests" : "synthetic"));
  }
}

service::SchedulerLimits limits_of(const RunSpec& spec) {
  service::SchedulerLimits l;
  l.token_budget = static_cast<int64_t>(spec.whole("token-budget"));
  l.max_batch = static_cast<int64_t>(spec.whole("max-batch"));
  l.block = static_cast<int64_t>(spec.whole("kv-block"));
  l.prefix_reuse = spec.flag("prefix-reuse");
  if (l.prefix_reuse && service::kHashTokens % l.block != 0)
    throw InputError(fmt::format("--kv-block: found {}, with --prefix-reuse expected a divisor of {}", l.block,
                                 service::kHashTokens));
  if (l.token_budget < l.max_batch)
    throw InputError(
        fmt::format("--token-budget: found {}, expected at least --max-batch, {}", l.token_budget, l.max_batch));
  return l;
}

/// A uniform sample of the steps seen, as classes.
class StepSample {
 public:
  StepSample(size_t most, uint64_t seed) : most_(most), seed_(seed) {}
  void add(const service::Step& s) {
    const size_t place = seen_ < most_ ? seen_ : random_word(seed_, seen_ - most_) % (seen_ + 1);
    ++seen_;
    if (place >= most_) return;
    const service::ExactStep e{s.number, {s.prefill, s.batch, s.context}, 0, 0};
    place == steps_.size() ? steps_.push_back(e) : void(steps_[place] = e);
  }
  const std::vector<service::ExactStep>& steps() const { return steps_; }

 private:
  const size_t most_;
  const uint64_t seed_;
  uint64_t seen_ = 0;
  std::vector<service::ExactStep> steps_;
};

/// A CSV beside the report, on request.
class Rows {
 public:
  Rows(const RunSpec& spec, const char* option, const char* head) {
    if (!spec.given(option)) return;
    file_ = std::make_unique<WholeFile>(spec.text(option));
    file_->write(head);
  }
  explicit operator bool() const { return file_ != nullptr; }
  void add(const std::string& line) { file_->write(line); }
  void keep() {
    if (file_) file_->keep();
  }

 private:
  std::unique_ptr<WholeFile> file_;
};

class ServiceTask : public Task {
 public:
  ServiceTask(const RunSpec& spec, const RunHooks& hooks)
      : spec_(spec),
        tell_(hooks),
        of_((check_options(spec, hooks.shared_threads), model_of(spec, tell_))),
        limits_(limits_of(spec)),
        json_(wants_json(spec)) {
    if (of_.plan.stages > 1) throw InputError("--pp: not yet with requests");
    of_.plan.repeat = true;
    if (spec.given("slo")) slo_ = service::parse_slo(spec.text("slo"));
    const std::string text = spec.text(spec.given("requests") ? "requests" : "synthetic");
    trace_ = service::open_requests(text, spec.given("synthetic"), spec.whole("seed"), of_.model.positions);
    trace_name_ = text;
  }

  RunRecord run(Platform& platform) override {
    RunRecord record;
    record.document = spec::json_of(document_of(spec_, platform), false);
    RunOptions options = run_options(spec_);
    const models::Capacity capacity = room_for_blocks(platform, &options);
    if (!capacity.fits()) {
      record.status = 1;
      record.write = [capacity](std::ostream& out) { out << models::capacity_text(capacity); };
      return record;
    }
    service::check_requests(trace_name_, trace_, {of_.model.positions, limits_.blocks, limits_.block});
    auto report = std::make_shared<service::ServiceReport>();
    serve(platform, report.get());
    record.told = tell_.take();
    record.figures = {{"sim_ns", report->totals.end_ns}};
    if (report->ttft_ns.count() > 0) record.figures.emplace_back("ttft_ns", report->ttft_ns.mean());
    if (report->tpot_ns.count() > 0) record.figures.emplace_back("tpot_ns", report->tpot_ns.mean());
    if (spec_.given("report")) {
      WholeFile page(spec_.text("report"));
      service::write_service_page(*report, [&](std::string_view text) { page.write(text); });
      page.keep();
    }
    record.write = [report, json = json_, document = document_of(spec_, platform),
                    topology = spec_.flag("report-topology")](std::ostream& out) {
      if (!json) return service::write_service_text(out, *report);
      write_json(out, [&](Fields& f) {
        f("run", [&] { spec::describe(f, document, topology); });
        f("service", [&] { describe(f, *report); });
      });
    };
    return record;
  }

 private:
  /// Number of KV blocks: the given number, or the memory that is left in the fullest slice. Weights (laid out for
  /// steps with chunks and for decode steps) and a step's activations are subtracted; keys count as spread evenly over
  /// all slices.
  models::Capacity room_for_blocks(Platform& platform, RunOptions* options) {
    const models::ModelSpec& m = of_.model;
    models::Plan plan = of_.plan;
    const int64_t tokens = std::min(limits_.token_budget, m.positions);
    plan.phases = {service::StepClass{tokens, 1, 1}.phase(limits_.block),
                   service::StepClass{0, 1, 1}.phase(limits_.block)};
    const models::ModelMachine machine = machine_for(platform, m, plan, options);
    const models::ModelProgram program(m, plan, machine.pes_of_rank);
    const models::Capacity capacity = capacity_of(program, machine.room);
    if (!capacity.fits()) return capacity;
    const double bits = static_cast<double>(size_of(plan.kv)),
                 bytes = 2.0 * bits * static_cast<double>(limits_.block * plan.layers * m.kv_heads * m.head_dim),
                 room = static_cast<double>(capacity.slice_has - capacity.slice_needs) *
                        static_cast<double>(machine.room.slice_bytes.size());
    limits_.blocks = static_cast<int64_t>(room / bytes);
    if (!spec_.given("kv-blocks")) return capacity;
    const auto asked = static_cast<int64_t>(spec_.whole("kv-blocks"));
    if (asked > limits_.blocks)
      throw InputError(fmt::format("--kv-blocks: found {}, the machine has room for {}", asked, limits_.blocks));
    limits_.blocks = asked;
    return capacity;
  }

  /// In a forked process.
  std::string simulated(Platform& platform, const models::Phase& phase) const {
    models::Plan plan = of_.plan;
    plan.phases = {phase};
    models::check_plan(of_.model, plan);
    RunOptions options = run_options(spec_);
    const models::ModelMachine machine = machine_for(platform, of_.model, plan, &options);
    const models::ModelProgram program(of_.model, plan, machine.pes_of_rank);
    const models::Capacity capacity = capacity_of(program, machine.room);
    if (!capacity.fits())
      throw RunError(fmt::format("{}: does not fit: {} needs {} bytes and has {}", phase.text, capacity.slice,
                                 capacity.slice_needs, capacity.slice_has));
    options.own_program = &program.spec();
    const ProgramReport run = run_program(platform, std::move(options));
    const models::ModelReport report = report_of(program, capacity, machine.peaks, run);
    double attention_ns = 0, head_ns = 0;
    for (const models::LayerTime& l : report.phases.at(0).layers) {
      if (l.layer == "head") head_ns += l.time_ns;
      for (const models::LayerTime::Item& part : l.parts) {
        if (part.name == "attention") attention_ns += static_cast<double>(l.times) * part.time_ns;
      }
    }
    return fmt::format("[{},{},{}]", report.phases[0].time_ns, attention_ns, head_ns);
  }

  std::vector<service::PhasePrice> simulate(Platform& platform, const std::vector<models::Phase>& phases) const {
    std::vector<service::PhasePrice> prices(phases.size());
    run_forked(
        phases.size(), processes(static_cast<unsigned>(spec_.whole("jobs"))),
        [&](size_t i) { return simulated(platform, phases[i]); },
        [&](size_t i, const std::string& text) {
          const auto v = parse_json<nlohmann::json>(text);
          prices[i] = {json_value<double>(v[0]), json_value<double>(v[1]), json_value<double>(v[2])};
        });
    return prices;
  }

  void serve(Platform& platform, service::ServiceReport* r) const {
    r->model = spec_.text("model");
    r->trace = trace_name_;
    r->machine = platform.graph().name;
    r->limits = limits_;
    r->slo = slo_;
    r->usd_hour = spec_.number("usd-hour");
    const auto simulate = [&](const std::vector<models::Phase>& phases) { return this->simulate(platform, phases); };
    service::StepPrices prices(simulate, of_.model.positions, limits_.block);
    // Half of the sample has chunks, because such steps are rare and long.
    const uint64_t most = spec_.whole("exact-steps"), seed = spec_.whole("seed");
    StepSample with_chunks(most / 2, seed), decodes(most - most / 2, seed);
    Rows requests(spec_, "requests-csv", "request,arrival_ns,first_ns,end_ns,prompt,output,reused,preemptions\n");
    Rows steps(spec_, "steps-csv",
               "step,start_ns,ns,prefill,batch,context,chunks,running,waiting,kv_blocks,kv_blocks_kept\n");
    const auto on_step = [&](const service::Step& s) {
      r->add(s);
      if (s.prefill <= of_.model.positions) (s.prefill > 0 ? with_chunks : decodes).add(s);
      if (steps)
        steps.add(fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", s.number, s.start_ns, s.ns, s.prefill, s.batch,
                              s.context, s.chunks.size(), s.running, s.waiting, s.blocks, s.cached));
    };
    const auto on_served = [&](const service::Served& s) {
      r->add(s);
      if (requests)
        requests.add(fmt::format("{},{},{},{},{},{},{},{}\n", s.number, s.arrival_ns, s.first_ns, s.end_ns, s.prompt,
                                 s.output, s.reused, s.preemptions));
    };
    service::Scheduler scheduler(limits_, trace_);
    r->totals = scheduler.run([&](const service::Step& s) { return prices.ns(s); }, on_step, on_served);
    r->simulated = prices.simulated();
    requests.keep();
    steps.keep();
    r->exact = with_chunks.steps();
    r->exact.insert(r->exact.end(), decodes.steps().begin(), decodes.steps().end());
    std::sort(r->exact.begin(), r->exact.end(), [](const auto& a, const auto& b) { return a.step < b.step; });
    std::vector<models::Phase> phases;
    for (const service::ExactStep& e : r->exact) phases.push_back(e.of.phase(limits_.block));
    const std::vector<service::PhasePrice> exact = this->simulate(platform, phases);
    for (size_t i = 0; i < exact.size(); ++i) {
      r->exact[i].exact_ns = exact[i].ns;
      r->exact[i].priced_ns = prices.ns(r->exact[i].of);
    }
  }

  const RunSpec& spec_;
  Told tell_;
  ModelOfSpec of_;
  service::SchedulerLimits limits_;
  const bool json_;
  service::Slo slo_;
  service::RequestTrace trace_;
  std::string trace_name_;
};

}  // namespace

std::unique_ptr<Task> service_task(const spec::RunSpec& spec, const RunHooks& hooks) {
  return std::make_unique<ServiceTask>(spec, hooks);
}

}  // namespace kernbench
