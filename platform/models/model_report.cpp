// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/models/model_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernbench/phase2/energy/account.h"
#include "kernbench/phase2/text/forms.h"
#include "kernbench/phase2/text/print.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/insight/insight.h"
#include "kernbench/platform/models/work.h"
#include "kernbench/platform/run/record/run_report.h"

namespace kernbench::models {
namespace {

using Item = LayerTime::Item;

void add(std::vector<Item>* items, const std::string& name, double ns) {
  auto it = std::find_if(items->begin(), items->end(), [&](const Item& i) { return i.name == name; });
  if (it == items->end()) it = items->insert(it, Item{name, 0, 0});
  ++it->launches;
  it->time_ns += ns;
}

double end_of(const host::Operation& op) {
  return op.end_ns.empty() ? op.begin_ns : *std::max_element(op.end_ns.begin(), op.end_ns.end());
}

/// The time of each operation by its Mark, summed over steps. It counts only the part after the end of all earlier
/// operations. Operations of one stream follow each other; expert groups run in parallel.
std::vector<PhaseTimes> times_of(const ModelProgram& program, const ProgramReport& run) {
  std::vector<PhaseTimes> all(program.plan().phases.size());
  const std::vector<Mark>& marks = program.marks();
  size_t next = 0;
  double until = 0;
  for (size_t i = 0; i < run.ops.size(); ++i) {
    while (next < marks.size() && marks[next].first <= i) ++next;
    if (next == 0) continue;  // the program's inputs are still being transferred, with --transfer timed
    const Mark& mark = marks[next - 1];
    all[mark.phase].sums_beside = std::max(all[mark.phase].sums_beside, mark.sums_beside);
    std::vector<LayerTime>& layers = all[mark.phase].layers;
    auto layer = std::find_if(layers.begin(), layers.end(), [&](const LayerTime& l) { return l.layer == mark.layer; });
    if (layer == layers.end()) {
      layer = layers.insert(layer, LayerTime{});
      layer->layer = mark.layer;
      for (const SimulatedLayer& l : program.layers()) {
        if (mark.layer == l.name()) layer->times = l.times;
      }
    }
    const double end = end_of(run.ops[i]), ns = std::max(0.0, end - std::max(until, run.ops[i].begin_ns));
    until = std::max(until, end);
    layer->time_ns += ns;
    add(&layer->parts, mark.part, ns);
    add(&layer->kernels, run.ops[i].name, ns);
  }
  return all;
}

void for_one_step(PhaseTimes* p, int64_t steps) {
  const auto n = static_cast<double>(steps);
  for (LayerTime& l : p->layers) {
    l.time_ns /= n;
    for (std::vector<Item>* items : {&l.parts, &l.kernels}) {
      for (Item& i : *items) {
        i.launches /= steps;
        i.time_ns /= n;
      }
    }
    p->time_ns += static_cast<double>(l.times) * l.time_ns;
    for (const Item& i : l.parts) {
      if (i.name == "all_reduce") p->all_reduce_ns += static_cast<double>(l.times) * i.time_ns;
    }
  }
}

Work work_of(const ModelProgram& program, const Phase& phase, double experts) {
  const Plan& plan = program.plan();
  Work w = plan.whole() ? ends_work(program.model(), plan, phase) : Work{};
  for (const SimulatedLayer& l : program.layers()) {
    const Work layer = layer_work(program.model(), plan, phase, l.number, experts);
    w.macs += static_cast<double>(l.times) * layer.macs;
    w.bytes += static_cast<double>(l.times) * layer.bytes;
  }
  return w;
}

void settle(const ModelProgram& program, const Peaks& peaks, const ProgramReport& run, PhaseTimes* p) {
  for_one_step(p, p->phase.steps);
  const Work work = work_of(program, p->phase, p->experts_chosen);
  if (p->time_ns <= 0) return;
  p->mfu = 2 * work.macs / (p->time_ns * peaks.flop_ns);
  p->hbm_share = work.bytes / (p->time_ns * peaks.hbm_gbs);
  p->tokens_s = static_cast<double>(p->phase.rows()) / p->time_ns * 1e9;
  if (p->phase.has_prompt()) p->ttft_ns = p->time_ns;
  if (p->phase.has_sequences()) p->tpot_ns = p->time_ns;
  const int64_t tokens =
      program.plan().whole() && program.plan().phases.size() == 1 ? p->phase.rows() * p->phase.steps : 0;
  if (run.run.energy && tokens > 0)
    p->joules_token =
        (energy::headline(*run.run.energy).joules + run.run.repeated_joules) / static_cast<double>(tokens);
}

std::string verdict_of(const PhaseTimes& p) {
  const char* nearer = p.mfu >= p.hbm_share ? "GEMM" : "HBM";
  std::string text = fmt::format("{}: nearest to the peak of {}: GEMM at {:.1f} % of its peak, HBM at {:.1f} %",
                                 p.phase.text, nearer, 100 * p.mfu, 100 * p.hbm_share);
  if (p.all_reduce_ns > 0 || p.sums_beside > 0)
    text += fmt::format(
        "; sums over the ranks take {:.1f} % of the time exclusively, and {:.0f} % of their bytes overlap with "
        "products",
        100 * p.all_reduce_ns / p.time_ns, 100 * p.sums_beside);
  return text + ".";
}

}  // namespace

std::vector<RunReport::Repeated> repeated_parts(const ModelProgram& program, const ProgramReport& run) {
  std::vector<RunReport::Repeated> all;
  const std::vector<Mark>& marks = program.marks();
  size_t next = 0;
  double until = 0;
  const Mark* before = nullptr;
  for (size_t i = 0; i < run.ops.size(); ++i) {
    while (next < marks.size() && marks[next].first <= i) ++next;
    if (next == 0) continue;
    const Mark& mark = marks[next - 1];
    const auto is_its = [&](const SimulatedLayer& l) { return mark.layer == l.name() && l.times > 1; };
    const auto layer = std::find_if(program.layers().begin(), program.layers().end(), is_its);
    const double from = std::max(until, run.ops[i].begin_ns), end = std::max(until, end_of(run.ops[i]));
    until = end;
    const bool same = before && before->layer == mark.layer && before->step == mark.step && before->phase == mark.phase;
    before = &mark;
    if (layer == program.layers().end()) continue;
    if (same && !all.empty()) {
      all.back().to_ns = end;
    } else {
      all.push_back({from, end, static_cast<double>(layer->times)});
    }
  }
  return all;
}

ModelReport report_of(const ModelProgram& program, const Capacity& capacity) {
  ModelReport r;
  r.program = &program;
  r.capacity = capacity;
  if (!capacity.fits())
    r.verdict.push_back(fmt::format("does not fit: {} needs {} bytes and has {}, rings need {} of {} bytes of a TCM.",
                                    capacity.slice, capacity.slice_needs, capacity.slice_has, capacity.rings,
                                    capacity.tcm_has));
  return r;
}

ModelReport report_of(const ModelProgram& program, const Capacity& capacity, const Peaks& peaks,
                      const ProgramReport& run) {
  ModelReport r = report_of(program, capacity);
  r.peaks = peaks;
  r.phases = times_of(program, run);
  for (size_t i = 0; i < r.phases.size(); ++i) {
    r.phases[i].phase = program.plan().phases[i];
    r.phases[i].experts_chosen = program.experts_chosen(i);
    settle(program, peaks, run, &r.phases[i]);
    r.verdict.push_back(verdict_of(r.phases[i]));
  }
  if (program.layers().size() < static_cast<size_t>(program.plan().layers) && program.plan().whole()) {
    std::vector<std::string> times;
    for (const SimulatedLayer& l : program.layers())
      times.push_back(fmt::format("{} times what {}", l.times, l.name()));
    r.assumes.push_back(fmt::format(
        "{} layers take {} has taken: they are identical{}, and no layer begins before its predecessor ends",
        program.plan().layers, joined(times, " and "),
        program.model().experts > 0 ? ", as are the rows of experts" : ""));
  }
  if (run.run.insight) {
    for (const std::string& line : run.run.insight->verdict) r.verdict.push_back(line);
  }
  return r;
}

ModelFigures model_figures(const ModelReport& r) {
  ModelFigures f;
  const auto first = [&](std::optional<double> PhaseTimes::*which) {
    const auto it = std::find_if(r.phases.begin(), r.phases.end(), [&](const PhaseTimes& p) { return p.*which; });
    return it == r.phases.end() ? std::nullopt : *it.*which;
  };
  for (const PhaseTimes& p : r.phases) f.model_ns += p.time_ns;
  f.ttft_ns = first(&PhaseTimes::ttft_ns);
  f.tpot_ns = first(&PhaseTimes::tpot_ns);
  f.joules_token = first(&PhaseTimes::joules_token);
  if (r.phases.size() != 1) return f;
  f.tokens_s = r.phases[0].tokens_s;
  f.mfu = r.phases[0].mfu;
  f.hbm_share = r.phases[0].hbm_share;
  return f;
}

namespace {

std::string or_none(const std::optional<double>& ns) {
  return ns ? time_text(*ns) : "-";
}

void write_layers(std::ostream& out, const PhaseTimes& p) {
  print_to(out, "\n  {:32}{:>8}{:>16}{:>9}\n", p.phase.text, "times", "time", "%");
  for (const LayerTime& l : p.layers) {
    const double share = 100 * static_cast<double>(l.times) * l.time_ns / p.time_ns;
    print_to(out, "  {:32}{:>8}{:>16}{:>9.1f}\n", l.layer, l.times, time_text(l.time_ns), share);
    for (const auto& [title, items] : {std::pair("", &l.parts), {"kernel ", &l.kernels}}) {
      for (const Item& i : *items)
        print_to(out, "    {:30}{:>8}{:>16}{:>9.1f}\n", title + i.name, i.launches, time_text(i.time_ns),
                 l.time_ns > 0 ? 100 * i.time_ns / l.time_ns : 0);
    }
  }
}

void describe_phase(Fields& f, const PhaseTimes& p) {
  const auto items = [&](const char* list, const char* what, const std::vector<Item>& all) {
    f.each(list, all, [&](const Item& i) { f(what, i.name)("launches", i.launches)("time_ns", i.time_ns); });
  };
  f("phase", p.phase.text)("time_ns", p.time_ns)("ttft_ns", p.ttft_ns)("tpot_ns", p.tpot_ns)("tokens_s", p.tokens_s);
  f("mfu", p.mfu)("hbm_share", p.hbm_share)("all_reduce_ns", p.all_reduce_ns)("sums_beside", p.sums_beside);
  if (p.experts_chosen > 0) f("experts_chosen", p.experts_chosen);
  f.given("joules_token", p.joules_token).each("layers", p.layers, [&](const LayerTime& l) {
    f("layer", l.layer)("times", l.times)("time_ns", l.time_ns);
    items("parts", "part", l.parts);
    items("kernels", "kernel", l.kernels);
  });
}

void describe_model(Fields& f, const ModelProgram& program) {
  const ModelSpec& m = program.model();
  const Plan& plan = program.plan();
  f("file", m.file)("model_type", m.family)("dtype", plan.dtype);
  if (m.experts > 0) {
    f("num_experts", m.experts)("num_experts_per_tok", m.experts_per_token);
    f("routing", plan.routed ? "top_k" : "given")("ep", plan.expert_groups);
  }
  if (plan.quantized()) f("weights", plan.weights);
  if (plan.integer_rows()) f("activations", plan.activations);
  if (plan.kv != plan.dtype) f("kv", plan.kv);
  f("tp", plan.tensor_ranks())("pp", plan.stages)("layers", plan.whole() ? plan.layers : 1)("hidden_size", m.dim);
  f("num_attention_heads", m.heads)("num_key_value_heads", m.kv_heads)("head_dim", m.head_dim);
  f("intermediate_size", m.hidden)("vocab_size", m.vocab);
}

}  // namespace

void write_model_text(std::ostream& out, const ModelReport& r, const ProgramReport& p) {
  const ModelSpec& m = r.program->model();
  const Plan& plan = r.program->plan();
  std::string types(kernbench::name_of(plan.dtype));
  if (plan.quantized()) types += fmt::format(", weights {}", kernbench::name_of(plan.weights));
  if (plan.integer_rows()) types += fmt::format(", activations {}", kernbench::name_of(plan.activations));
  if (plan.kv != plan.dtype) types += fmt::format(", cache {}", kernbench::name_of(plan.kv));
  print_to(out, "{} ({}, {}) on {}, tp {}, {}pp {}, {} PEs{}\n\n", m.file, m.family, types, p.run.topology,
           plan.tensor_ranks(), m.experts > 0 ? fmt::format("ep {}, ", plan.expert_groups) : "", plan.stages,
           p.run.pes.size(), verdict_text(p.run));
  print_to(out, "  {:32}{:>14}{:>14}{:>14}{:>14}{:>9}{:>9}\n", "phase", "time", "TTFT", "TPOT", "tokens/s", "MFU %",
           "HBM %");
  for (const PhaseTimes& t : r.phases)
    print_to(out, "  {:32}{:>14}{:>14}{:>14}{:>14.1f}{:>9.1f}{:>9.1f}\n", t.phase.text, time_text(t.time_ns),
             or_none(t.ttft_ns), or_none(t.tpot_ns), t.tokens_s, 100 * t.mfu, 100 * t.hbm_share);
  for (const PhaseTimes& t : r.phases) {
    if (t.experts_chosen > 0)
      print_to(out, "  experts      {:.1f} of {} are chosen in a step of {} of a layer, {} by a token, {}\n",
               t.experts_chosen, m.experts, t.phase.text, m.experts_per_token,
               plan.routed ? "by the router's logits" : "as given");
    if (t.joules_token) print_to(out, "  energy       {:.4g} J a token\n", *t.joules_token);
  }
  for (const std::string& line : r.assumes) print_to(out, "  repeat       {}\n", line);
  for (const std::string& line : r.verdict) print_to(out, "  verdict      {}\n", line);
  for (const PhaseTimes& t : r.phases) write_layers(out, t);
  out << '\n' << capacity_text(r.capacity);
  if (!r.capacity.fits()) return;
  print_to(out, "\n  tensors      at most {} in HBM at a time, {} of it copies\n", bytes_text(p.tensors.bytes),
           bytes_text(p.tensors.copies));
  write_rates(out, p.run);
  write_findings(out, p.run);
}

void write_model_json(std::ostream& out, const ModelReport& r, const ProgramReport& p) {
  write_json(out, [&](Fields& f) {
    begin_report(f, "program", p.run);
    f("model", [&] { describe_model(f, *r.program); });
    f.each("phases", r.phases, [&](const PhaseTimes& t) { describe_phase(f, t); });
    f("capacity", r.capacity)("assumes", r.assumes)("verdict", r.verdict)("sim_ns", p.run.end_ns);
    if (!p.run.repeated.empty()) f("whole_ns", p.run.whole_ns());
    f("ranks", p.ranks);
    f("tensor_bytes", p.tensors.bytes)("copied_bytes", p.tensors.copies);
    end_report(f, p.run);
  });
}

}  // namespace kernbench::models
