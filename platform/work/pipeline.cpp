// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/work/pipeline.h"

#include <algorithm>
#include <ostream>
#include <stdexcept>
#include <unordered_map>

#include "kernbench/phase2/log/op_record.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/forms.h"
#include "kernbench/phase2/text/print.h"
#include "kernbench/platform/elaborate/deadlock.h"
#include "kernbench/platform/elaborate/simulation.h"
#include "kernbench/platform/elaborate/stopped.h"
#include "kernbench/platform/platform.h"
#include "kernbench/platform/work/command_driver.h"
#include "kernbench/platform/work/program_player.h"

namespace kernbench::work {

namespace {

/// Fills the result from the run's op log, like any other reader of a log.
class StageLog : public OpLogSink {
 public:
  StageLog(Platform& platform, const PipelineWork& work, PipelineTiles tiles, PipelineResult& result)
      : keeps_tiles_(tiles == PipelineTiles::each), parts_(platform.graph().nodes.size()) {
    for (size_t p = 0; p < work.pes.size(); ++p) {
      for (const Pe::Engine& e : platform.pes().pe(work.pes[p].index).engines)
        parts_[e.block->index()] = {&work.pes[p], &result.pes[p], &platform.pes().pe(work.pes[p].index)};
    }
  }

  void record(OpRecord&& r) override {
    if (r.is_token) {
      const TokenInfo& t = r.token;
      tokens_.push_back({t.composite_op_id, r.component, t.tile_id, t.fed_ns, {t.stage, r.t_start, r.t_end}});
      if (tokens_.size() == kBlock) flush();
    } else if (r.desc && r.desc->kind != OpKind::unknown && r.desc->type != CommandType::composite) {
      const Part& part = parts_[r.component];
      part.result->commands[r.desc->seq].stage = {part.machine->stage_of(r.desc->type, r.desc->op), r.t_start, r.t_end};
    }
  }

  /// Moves the buffered stages to their places. In batches, because each causes cache misses, of which several can
  /// overlap.
  void flush() {
    for (const TokenStage& t : tokens_) {
      Part& part = parts_[t.component];
      if (part.op_id != t.composite_op_id) turn_to(part, t.composite_op_id);
      PipelineResult::Composite& c = *part.composite;
      c.busy_ns[static_cast<size_t>(t.stage.stage)] += t.stage.t_end - t.stage.t_start;
      if (!keeps_tiles_) continue;
      c.tokens[t.tile].fed_ns = t.fed_ns;
      c.tokens[t.tile].put(t.stage);
    }
    tokens_.clear();
  }

 private:
  struct TokenStage {
    uint64_t composite_op_id;
    uint32_t component, tile;
    double fed_ns;
    PipelineStage stage;
  };
  /// State of an engine.
  struct Part {
    const PipelineWork::PePart* work = nullptr;
    PipelineResult::PePart* result = nullptr;
    const Pe* machine = nullptr;
    uint64_t op_id = 0;  ///< the composite that it served last; 0: none
    PipelineResult::Composite* composite = nullptr;
    size_t next = 0;  ///< index after the composite found last: a PE executes composites in order of submission
  };

  void turn_to(Part& part, uint64_t op_id) {
    PipelineResult::Composite*& known = composites_[op_id];
    if (!known) known = &find(part, op_id);
    part.op_id = op_id;
    part.composite = known;
  }

  static PipelineResult::Composite& find(Part& part, uint64_t op_id) {
    const std::vector<PipelineWork::Entry>& all = part.work->composites;
    for (size_t tried = 0; tried < all.size(); ++tried) {
      const size_t i = part.next++ % all.size();
      if (all[i].command->op_id == op_id) return part.result->composites[i];
    }
    throw std::logic_error("a tile of a composite that was never submitted");
  }

  static constexpr size_t kBlock = 1 << 14;
  const bool keeps_tiles_;
  std::vector<Part> parts_;                                              // by component
  std::unordered_map<uint64_t, PipelineResult::Composite*> composites_;  // by op_id
  std::vector<TokenStage> tokens_;                                       // buffered
};

constexpr double kNotDone = -1;

/// The result with memory for all entries, without times yet.
PipelineResult result_for(const PipelineWork& work, PipelineTiles tiles) {
  PipelineResult result;
  result.has_pes = work.has_pes;
  if (!work.calls.programs.empty()) result.programs = &work.calls.programs;
  result.pes.resize(work.pes.size());
  for (size_t p = 0; p < work.pes.size(); ++p) {
    const PipelineWork::PePart& part = work.pes[p];
    PipelineResult::PePart& out = result.pes[p];
    out.pe = part.pe;
    out.has_commands = part.has_commands;
    for (const PipelineWork::Entry& e : part.composites) {
      PipelineResult::Composite& c = out.composites.emplace_back();
      c.id = e.id;
      c.submit_ns = e.submit_ns;
      c.tiles_n = e.command->plan.tiles_n();
      c.tiles_k = e.command->plan.tiles_k();
      c.tiles = e.command->plan.tiles();
      if (tiles == PipelineTiles::each) c.tokens.resize(static_cast<size_t>(c.tiles));
    }
    for (const PipelineWork::Entry& e : part.commands) out.commands.emplace_back().id = e.id;
  }
  return result;
}

}  // namespace

PipelineResult run_pipeline(Platform& platform, PipelineWork& work, PipelineTiles tiles) {
  PipelineResult result = result_for(work, tiles);
  StageLog log(platform, work, tiles, result);
  platform.attach_log(&log);
  CommandDriver driver("command_driver", platform);
  for (auto& part : work.pes) {
    for (auto* list : {&part.commands, &part.composites}) {
      for (size_t i = 0; i < list->size(); ++i) {
        PipelineWork::Entry& e = (*list)[i];
        auto desc = std::make_shared<OpDesc>();
        desc->type = e.command->type;
        desc->name = e.id;
        desc->seq = i;
        desc->submit_ns = e.submit_ns;
        e.command->desc = desc;
        e.command->done_ns = kNotDone;
        try {
          driver.submit(part.index, *e.command, e.submit_ns);
        } catch (const AccessError& error) {
          throw AccessError(e.id + ": " + error.what());
        }
      }
    }
  }
  ProgramPlayer player(platform, work.calls, work.file);
  player.others_left([&work] {
    for (const auto& part : work.pes) {
      for (const auto* list : {&part.commands, &part.composites}) {
        for (const PipelineWork::Entry& e : *list) {
          if (e.command->done_ns == kNotDone) return true;
        }
      }
    }
    return false;
  });
  platform.machine().run_ahead();
  platform.routes().close();  // the commands' checks have requested all routes
  simulate();
  throw_if_stopped(platform.machine());
  log.flush();
  if (!player.fault().empty()) throw RunError(player.fault());
  const std::string circle = player.stuck();
  if (!circle.empty()) throw RunError("nothing can move: " + circle);

  const std::vector<std::string> stuck = stuck_report(platform.machine());
  if (!stuck.empty()) throw stuck_error(stuck);
  const std::string open = player.not_ended();
  if (!open.empty()) throw RunError("nothing can move: " + open);
  platform.attach_log(nullptr);
  for (const auto& part : work.pes) {
    for (const auto* list : {&part.commands, &part.composites}) {
      for (const PipelineWork::Entry& e : *list) {
        if (!e.command->fault.empty()) throw RunError(e.id + ": " + e.command->fault);
      }
    }
  }

  for (size_t p = 0; p < work.pes.size(); ++p) {
    const PipelineWork::PePart& part = work.pes[p];
    PipelineResult::PePart& out = result.pes[p];
    for (size_t i = 0; i < part.composites.size(); ++i) {
      const PeCommand& c = *part.composites[i].command;
      out.composites[i].window = c.window;
      out.composites[i].done_ns = c.done_ns;
      result.end_ns = std::max(result.end_ns, c.done_ns);
    }
    for (size_t i = 0; i < part.commands.size(); ++i) {
      out.commands[i].done_ns = part.commands[i].command->done_ns;
      result.end_ns = std::max(result.end_ns, out.commands[i].done_ns);
    }
  }
  for (const ProgramWork& p : work.calls.programs) result.end_ns = std::max(result.end_ns, p.end_ns);
  return result;
}

void write_pipeline_json(std::ostream& out, const PipelineResult& result, const spec::RunDocument& run) {
  JsonFields f(out, JsonWriter::Layout::spaced, JsonWriter::Reals::shortest);
  const auto stage = [&](const PipelineStage& s) { f("", std::tuple(s.stage, s.t_start, s.t_end)); };
  const auto composite = [&](const PipelineResult::Composite& c) {
    f("id", c.id)("window", c.window)("submit_ns", c.submit_ns)("done_ns", c.done_ns);
    f.lines(3).each("tokens", c.tokens, [&](const PipelineToken& token) {
      const int64_t tile = &token - c.tokens.data(), row = tile / c.tiles_k;
      f("tile", tile)("ijk", std::tuple(row / c.tiles_n, row % c.tiles_n, tile % c.tiles_k))("fed_ns", token.fed_ns);
      std::vector<PipelineStage> stages;
      token.for_each_stage([&](const PipelineStage& s) { stages.push_back(s); });
      f.list("stages", stages, stage);
    });
  };
  f.document([&] {
    spec::begin_report(f, run);
    f("end_ns", result.end_ns);
    if (result.has_pes) {
      f.lines(1, 0).each("pes", result.pes, [&](const PipelineResult::PePart& pe) {
        f("pe", pe.pe).lines(2).each("composites", pe.composites, composite);
        if (!pe.has_commands) return;
        f.lines(2).each("commands", pe.commands, [&](const PipelineResult::Command& c) {
          f("id", c.id).list("stages", std::array{c.stage}, stage)("done_ns", c.done_ns);
        });
      });
    }
    if (result.programs) describe_programs(f, *result.programs);
  });
}

void write_pipeline_text(std::ostream& out, const PipelineResult& result) {
  size_t width = 9;
  for (const auto& pe : result.pes) {
    for (const auto& c : pe.composites) width = std::max(width, c.id.size());
    for (const auto& c : pe.commands) width = std::max(width, c.id.size());
  }
  width += 2;
  print_to(out, "end {:.3f} ns\n\n", result.end_ns);
  for (const auto& pe : result.pes) {
    print_to(out, "{}\n  {:{}}{:>14}{:>14}{:>9}{:>8}  busy ns by stage\n", pe.pe, "work", width, "submit ns", "done ns",
             "tiles", "window");
    for (const auto& c : pe.composites) {
      print_to(out, "  {:{}}{:14.3f}{:14.3f}{:9}{:8} ", c.id, width, c.submit_ns, c.done_ns, c.tiles, c.window);
      for (size_t s = 0; s < c.busy_ns.size(); ++s) {
        if (c.busy_ns[s] > 0) print_to(out, " {} {:.3f}", name_of(static_cast<Stage>(s)), c.busy_ns[s]);
      }
      out << "\n";
    }
    for (const auto& c : pe.commands) {
      print_to(out, "  {:{}}{:14.3f}{:14.3f}{:>9}{:>8}  {} {:.3f}\n", c.id, width, c.stage.t_start, c.done_ns, "-", "-",
               name_of(c.stage.stage), c.stage.t_end - c.stage.t_start);
    }
  }
  if (result.programs) write_programs_text(out, *result.programs);
}

}  // namespace kernbench::work
