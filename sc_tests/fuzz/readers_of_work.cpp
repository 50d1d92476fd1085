// SPDX-License-Identifier: Apache-2.0
// Work for a machine: requests, work files, and options that are more than a number. The machine is small.yaml.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <sstream>

#include "kernbench/kernel_api/registry.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/elaborate/plugins.h"
#include "kernbench/platform/launch/pe_selection.h"
#include "kernbench/platform/models/model_file.h"
#include "kernbench/platform/models/phase.h"
#include "kernbench/platform/platform.h"
#include "kernbench/platform/service/request_trace.h"
#include "kernbench/platform/study/diff/run_diff.h"
#include "kernbench/platform/study/sweep/plan.h"
#include "kernbench/platform/study/sweep/progress_file.h"
#include "kernbench/platform/study/sweep/request.h"
#include "kernbench/platform/study/sweep/store.h"
#include "kernbench/platform/topology/build/compiler.h"
#include "kernbench/platform/topology/graph/faults.h"
#include "kernbench/platform/triton/interpreter.h"
#include "kernbench/platform/triton/reader.h"
#include "kernbench/platform/web/run_request.h"
#include "kernbench/platform/work/collective_table.h"
#include "kernbench/platform/work/pipeline.h"
#include "kernbench/platform/work/traffic.h"
#include "kernbench/sc_tests/fuzz/fuzzed_readers.h"
#include "kernbench/systemc_models/core/registry.h"

namespace kernbench::fuzz {
namespace {

/// Created when a reader first uses it.
Platform& machine() {
  static Platform& platform =
      *new Platform("system", topology::compile_file(KERNBENCH_TOPOLOGIES "/small.yaml", component_catalog()));
  return platform;
}

std::string read_requests(const std::string& input) {
  std::istringstream in(input);
  try {
    std::string text;
    for (const TrafficRequest& r : read_traffic(in, "t.csv", machine()).requests)
      text += fmt::format("{} {} {} {} {} {}\n", r.id, r.issue_ns, r.initiator, r.write, r.address, r.nbytes);
    return text;
  } catch (const InputError& e) {
    throw Refused(e.what());
  }
}

std::string text_of(const PeCommand& c) {
  const CompositePlan& p = c.plan;
  std::string text =
      fmt::format("{} {}x{}x{} {} {} {}", static_cast<int>(c.type), c.m, c.n, c.k, c.dtype, c.op, c.elements);
  text += fmt::format(" {} {} {}x{}", c.dma.addr, c.dma.nbytes, c.dma.rows.count, c.dma.rows.bytes);
  if (c.type == CommandType::composite)
    text += fmt::format(" {} {} {} tiles of {}", p.m, p.n, p.tiles(), p.tile_bytes());
  return text + '\n';
}

std::string read_work(const std::string& input) {
  std::istringstream in(input);
  try {
    const PipelineWork work = read_pipeline_work(in, "w.json", machine());
    std::string text;
    for (const auto& pe : work.pes) {
      text += pe.pe + '\n';
      for (const auto* entries : {&pe.composites, &pe.commands})
        for (const auto& e : *entries) text += fmt::format("{} {} {}", e.id, e.submit_ns, text_of(*e.command));
    }
    for (const QueueConnection& c : work.calls.connections)
      text += fmt::format("{} {} {} {} {}\n", c.a, c.port, c.b, c.peer_port, c.slot_bytes.value_or(0));
    for (const ProgramWork& p : work.calls.programs) {
      text += fmt::format("{} {}\n", p.pe, p.start_ns);
      for (const ProgramCall& c : p.calls) {
        text += fmt::format("{} {} {}\n", c.id, static_cast<int>(c.kind), c.waits_for.size());
        if (c.command) text += text_of(*c.command);
      }
    }
    return text;
  } catch (const InputError& e) {
    throw Refused(e.what());
  }
}

/// "gemm m=64", "--pes sip0.cube0.pe0", "--device …", "--ranks …", "--sizes …", "--phase …": one per line.
std::string read_option(const std::string& line) {
  const size_t space = std::min(line.find(' '), line.size());
  const std::string first = line.substr(0, space), rest = line.substr(std::min(space + 1, line.size()));
  if (first == "--phase") return fmt::format("{} rows\n", models::parse_phase(rest).rows());
  if (first == "--sizes") return fmt::format("{} sizes\n", parse_sizes(rest).size());
  if (first.compare(0, 2, "--") == 0) {
    PeChoice choice;
    (first == "--pes" ? choice.pes : first == "--device" ? choice.device : choice.ranks) = rest;
    return fmt::format("{} PEs\n", choose_pes(machine().machine(), choice).size());
  }
  const KernelSpec* kernel = KernelRegistry::instance().find(first);
  if (!kernel) throw InputError("no kernel");
  const size_t equals = std::min(rest.find('='), rest.size());
  const Params params =
      kernel_params(*kernel, {{rest.substr(0, equals), rest.substr(std::min(equals + 1, rest.size()))}});
  std::string text;
  for (const auto& [name, value] : params.values()) text += name + "=" + to_text(value) + "\n";
  return text;
}

std::string read_options(const std::string& input) {
  std::istringstream in(input);
  std::string text;
  try {
    for (std::string line; std::getline(in, line);) text += read_option(line);
  } catch (const InputError& e) {
    throw Refused(e.what());
  } catch (const BadParam& e) {
    throw Refused(e.what());
  }
  return text;
}

std::string read_a_model(const std::string& input) {
  try {
    const models::ModelSpec m = models::read_model_text(input, input.substr(0, 1) == "{" ? "m.json" : "m.yaml");
    return fmt::format("{} {} {} {} {}\n", m.family, m.layers, m.dim, m.hidden, m.vocab);
  } catch (const InputError& e) {
    throw Refused(e.what());
  } catch (const topology::TopologyError& e) {  // broken YAML
    throw Refused(e.what());
  }
}

std::string read_mark(const std::string& input) {
  const InputFile file(input);
  try {
    const PluginMark mark = read_plugin_mark(file.name());
    return mark.name + '\n' + mark.built_for;
  } catch (const InputError& e) {
    throw Refused(e.what());
  }
}

std::string read_report(const std::string& input) {
  try {
    const RunFile run = read_run_json(input, "r.json");
    std::string text = fmt::format("{}\n", run.sim_ns);
    for (const auto& [key, value] : run.configuration) text += key + "=" + value + "\n";
    for (const auto* times : {&run.blame_ns, &run.busy_ns}) {
      for (const auto& [name, ns] : *times) text += fmt::format("{} {}\n", name, ns);
    }
    return text;
  } catch (const InputError& e) {
    throw Refused(e.what());
  }
}

/// A report, a log or a store: inputs of `diff`.
std::string read_diff_input(const std::string& input) {
  const InputFile file(input);
  try {
    const RunFile run = read_run_file(file.name(), true);
    return fmt::format("{} {} {}", run.sim_ns, run.log, run.busy_ns.size());
  } catch (const InputError& e) {
    throw Refused(e.what());
  }
}

std::string text_of(const sweep::PointResult& r) {
  return fmt::format("{} {} {} {} {}\n", r.status, r.error, r.metrics.dump(), r.wall_s, r.run);
}

std::string read_store(const std::string& input) {
  const InputFile file(input);
  try {
    std::string text;
    for (const sweep::PointResult& r : sweep::Store::read(file.name())) text += text_of(r);
    return text;
  } catch (const InputError& e) {
    throw Refused(e.what());
  } catch (const RunError& e) {
    throw Refused(e.what());
  }
}

/// A trace as a file. If the first line is "synthetic", the second one is the value of --synthetic.
std::string read_request_trace(const std::string& input) {
  const std::string head = "synthetic\n";
  const bool drawn = input.compare(0, head.size(), head) == 0;
  const InputFile file(input);
  try {
    const service::RequestTrace trace = service::open_requests(
        drawn ? input.substr(head.size(), input.find('\n', head.size()) - head.size()) : file.name(), drawn, 1, 4096);
    const auto cursor = trace();
    std::string text;
    service::Request r;
    for (int i = 0; i < 20 && cursor->next(&r); ++i)
      text += fmt::format("{} {} {}\n", r.arrival_ns, r.prompt, r.output);
    if (!drawn) service::check_requests(file.name(), trace, {4096, 1000, 16});
    return text;
  } catch (const InputError& e) {
    throw Refused(e.what());
  }
}

std::string read_sweep_progress(const std::string& input) {
  const InputFile file(input);
  const std::string store = file.name() + "-store";
  std::filesystem::rename(file.name(), store + "-progress");
  struct Back {
    const std::string from, to;
    ~Back() { std::rename(from.c_str(), to.c_str()); }
  } const back{store + "-progress", file.name()};
  try {
    const sweep::SweepProgress p = sweep::read_progress(store);
    return fmt::format("{} {}/{} {} {} {} {} {} {} {}", p.host, p.shard, p.shards, p.plan, p.points, p.done, p.failed,
                       p.simulated, p.elapsed_s, p.ended);
  } catch (const InputError& e) {
    throw Refused(e.what());
  }
}

/// A request, or the result of a run. It must read its own output.
std::string read_web(const std::string& input) {
  try {
    if (input.find("status") != std::string::npos) {
      const web::RunEnd end = web::parse_run_end(input);
      return web::parse_run_end(end.json()).json();
    }
    const web::RunRequest request = web::parse_run_request(input);
    std::string text = web::parse_run_request(request.json()).json() + "\n";
    for (const std::string& word : request.arguments()) text += word + "\n";
    return text;
  } catch (const InputError& e) {
    throw Refused(e.what());
  }
}

std::string read_point(const std::string& input) {
  sweep::PointRequest r = sweep::parse_request(input, {"run"});
  if (!r.fault.empty()) r = sweep::parse_request(input, {"model"});
  if (!r.fault.empty()) throw Refused(r.fault);
  return fmt::format("{} {}", r.id, fmt::join(r.words, " "));
}

/// The first ones of many samples: thousands take long to print.
std::string read_plan(const std::string& input) {
  try {
    sweep::Plan plan = sweep::parse_plan(input, "p.yaml");
    plan.sampling.points = std::min<size_t>(plan.sampling.points, 64);
    std::string text;
    for (const sweep::Point& p : sweep::points_of(plan)) text += fmt::format("{}\n", fmt::join(p.words(plan), " "));
    return text;
  } catch (const topology::TopologyError& e) {
    throw Refused(e.what());
  } catch (const InputError& e) {
    throw Refused(e.what());
  }
}

/// A complete module is examined as before a run.
std::string read_ttir(const std::string& input) {
  try {
    const auto module = triton::read_module("k.ttir", input);
    std::string text = to_string(*module);
    for (const triton::Function& f : module->functions) {
      const auto refused = triton::refusals(*module, f);
      for (const triton::Refusal& r : refused) text += fmt::format("{} {} {}\n", r.line, r.op, r.why);
      if (!refused.empty()) continue;
      const triton::Program program(module, f);
      for (const bool stored : triton::stored_arguments(*module, f)) text += stored ? '1' : '0';
    }
    return text;
  } catch (const InputError& e) {
    throw Refused(e.what());
  }
}

}  // namespace

std::vector<FuzzedReader> readers_of_work() {
  return {{"diff_input", read_diff_input, mutate_jsonl_log},
          {"model", read_a_model, mutate_text},
          {"options", read_options, mutate_text},
          {"pipeline_work", read_work, mutate_json},
          {"plugin_mark", read_mark, mutate_bytes},
          {"point_request", read_point, mutate_json},
          {"request_trace", read_request_trace, mutate_text},
          {"run_report", read_report, mutate_json},
          {"sweep_plan", read_plan, mutate_text},
          {"sweep_progress", read_sweep_progress, mutate_json},
          {"sweep_store", read_store, mutate_sqlite},
          {"traffic", read_requests, mutate_text},
          {"ttir", read_ttir, mutate_text},
          {"web_request", read_web, mutate_json}};
}

}  // namespace kernbench::fuzz
