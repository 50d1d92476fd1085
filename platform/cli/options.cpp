#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "kernbench/phase2/io/input_file.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/op/named_values.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/phase2/tool/faults.h"
#include "kernbench/phase2/io/output_files.h"
#include "kernbench/phase2/log/version.h"
#include "kernbench/platform/cli/commands.h"
#include "kernbench/platform/cli/shared_systems.h"
#include "kernbench/platform/cli/spec_options.h"
#include "kernbench/platform/cli/topology_places.h"
#include "kernbench/platform/insight/scaling.h"
#include "kernbench/platform/observe/transaction_recorder.h"
#include "kernbench/platform/observe/waveform.h"
#include "kernbench/platform/platform.h"
#include "kernbench/platform/run/run_of_spec.h"
#include "kernbench/platform/run/unused_attributes.h"
#include "kernbench/platform/topology/build/mesh_cache.h"
#include "kernbench/systemc_models/core/component_catalog.h"
#include "kernbench/systemc_models/core/timeline.h"

namespace kernbench::cli {

void PluginOptions::add_to(CLI::App& app) {
  add_option(app, "plugin", files);
}

std::vector<Plugin> PluginOptions::load() const {
  std::vector<Plugin> plugins;
  for (const std::string& file : files) {
    plugins.push_back(load_plugin(file));
    spdlog::info(fmt::format("plug-in {} from {}", plugins.back().name, file));
  }
  return plugins;
}

TopologyOptions::TopologyOptions(const spec::RunSpec& run)
    : file(run.text("topology")),
      plugins{run.list("plugin")},
      links(run.text("links")),
      response(run.text("response")),
      settings(run.list("set")),
      scales(run.list("scale")) {}

void TopologyOptions::add_to(CLI::App& app, bool positional) {
  add_option(app, "topology", file, positional ? "topology,--topology" : "");
  add_option(app, "links", links);
  add_option(app, "response", response);
  add_option(app, "set", settings);
  add_option(app, "scale", scales);
  plugins.add_to(app);
}

namespace {

void apply_scales(const std::vector<std::string>& scales, topology::Graph& graph) {
  for (const std::string& text : scales) {
    const auto [part, factor] = insight::part_and_factor("--scale", text);
    if (insight::scale(graph, component_catalog(), part, factor) == 0 && factor != 1)
      spdlog::info(fmt::format("--scale {}: nothing in {} changes", text, graph.name));
  }
}

}  // namespace

std::string TopologyOptions::text() const {
  if (!yaml.empty()) return yaml;
  check_topology_name(file);
  const std::string name = topology_file(file);
  std::ifstream in = open_input(name);
  return read_all(in, name);
}

topology::Graph TopologyOptions::compile() const {
  if (auto shared = take_shared_system(*this)) return std::move(*shared);
  plugins.load();
  topology::Overrides overrides;
  if (!links.empty()) {
    const LinkModeSpec* mode = link_modes().find(links);
    if (!mode)
      throw InputError("--links: found " + in_quotes(links) + did_you_mean(links, link_modes().names()) +
                       " legal: " + link_modes().names_text());
    if (mode->routed && response == "ideal")
      throw InputError("--response: found ideal beside --links " + links + ", whose responses are routed");
    overrides.links = links;
  }
  if (!response.empty()) overrides.response = response == "routed" ? Response::routed : Response::ideal;
  for (const std::string& text : settings) {
    const auto [target, value] = name_and_value("--set", text, "TARGET=VALUE");
    overrides.settings.emplace_back(target, value);
  }
  if (yaml.empty()) check_topology_name(file);
  const topology::MeshCache cache(topology::default_cache_folder(), [](const std::string& s) { spdlog::info(s); });
  topology::Graph graph = yaml.empty()
                              ? topology::compile_file(topology_file(file), component_catalog(), overrides, &cache)
                              : topology::compile_text(yaml, file, component_catalog(), overrides, &cache);
  apply_scales(scales, graph);
  spdlog::info(fmt::format("compiled {}: {} nodes, {} edges, {} PEs", file, graph.nodes.size(), graph.edges.size(),
                           graph.pes.size()));
  return graph;
}

Platform& TopologyOptions::build() const {
  Platform& platform = *new Platform("system", compile());
  for (const std::string& line : unused_attributes(platform)) tell("kernbench: warning: " + line);
  return platform;
}

LimitOptions::LimitOptions(const spec::RunSpec& run)
    : max_time_ns(run.table().find("max-time") ? run.number("max-time").value_or(0) : 0),
      max_wall_s(run.number("max-wall").value_or(0)) {}

void LimitOptions::begin() const {
  if (max_wall_s > 0) limit_wall_time(max_wall_s);
}

std::unique_ptr<StopsOnSignals> LimitOptions::watch(Timeline& timeline) const {
  if (max_time_ns > 0) timeline.limit(max_time_ns);
  return std::make_unique<StopsOnSignals>(timeline);
}

TimeWindow window_of(const spec::RunSpec& run, const std::string& recording) {
  TimeWindow window;
  for (const auto& [end, ns] : {std::pair("-from", &window.from_ns), {"-to", &window.to_ns}}) {
    *ns = run.number(recording + end).value_or(*ns);
  }
  return window;
}

WaveformCliOptions::WaveformCliOptions(const spec::RunSpec& run)
    : file(run.text("vcd")), scopes(run.list("vcd-scope")), window(window_of(run, "vcd")) {}

std::vector<std::string> WaveformCliOptions::files() const {
  if (file.empty()) return {};
  return {file, WaveformView::save_file_of(file), WaveformView::states_file_of(file)};
}

std::unique_ptr<Waveform> WaveformCliOptions::attach(Platform& platform, energy::Meter* meter) const {
  if (file.empty()) return nullptr;
  const WaveformOptions options{file, scopes, window.from_ns, window.to_ns, meter};
  return std::make_unique<Waveform>(platform, options);
}

RecordingOptions::RecordingOptions(const spec::RunSpec& run) : file(run.text("ftr")), window(window_of(run, "ftr")) {}

std::unique_ptr<TransactionRecorder> RecordingOptions::attach(Platform& platform) const {
  return file.empty() ? nullptr : std::make_unique<TransactionRecorder>(platform, file, window);
}

std::string memory_file(const spec::RunSpec& spec) {
  const std::string log = spec.text("oplog"), memory = spec.text("memory");
  return log.empty() || memory == "none" ? "" : memory.empty() ? memory_file_of(log) : memory;
}

void check_output_files(const spec::RunSpec& spec) {
  OutputFiles files;
  for (const spec::Option& o : spec.table().options) {
    if (o.file != spec::Option::File::written) continue;
    const std::string option = "--" + std::string(o.name);
    if (o.has_names()) {
      for (const auto& [name, file] : spec.named(o.name)) files.add(option + " " + name, file);
    } else if (o.name == "memory") {
      files.add(option, memory_file(spec));
    } else if (o.name == "vcd") {
      for (const std::string& file : WaveformCliOptions(spec).files()) files.add(option, file);
    } else {
      files.add(option, spec.text(o.name));
    }
  }
}

bool wants_json(const spec::RunSpec& spec) {
  spec.check_needs();
  const bool json = spec.text("format") == "json";
  if (spec.flag("report-topology") && !json) throw InputError("--report-topology: needs --format json beside it");
  return json;
}

const topology::Graph& graph_of(const Platform& platform) {
  return platform.graph();
}

spec::RunDocument document_of(const spec::RunSpec& spec, const Platform& platform) {
  auto document = spec::RunDocument::of(spec, version(), topology_file(spec.text("topology")), "");
  set_links(document, platform.graph());
  return document;
}

void add_format(CLI::App& app, std::string& format, std::vector<std::string> legal) {
  format = legal.front();
  app.add_option("--format", format, "form of the output")->check(CLI::IsMember(legal))->capture_default_str();
}

}  // namespace kernbench::cli
