#include "kernbench/platform/tools/pipeline.h"

#include <algorithm>
#include <iomanip>
#include <ostream>
#include <stdexcept>
#include <unordered_map>

#include "kernbench/phase2/log/oplog_json.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/elaborate/deadlock.h"
#include "kernbench/platform/platform.h"
#include "kernbench/platform/tools/command_driver.h"

namespace kernbench {

namespace {

/// Puts what the op log says of the run into its result: the driver learns times the way every reader of a log does.
class StageLog : public OpLogSink {
 public:
  StageLog(Platform& platform, const PipelineWork& work, PipelineResult& result)
      : parts_(platform.graph().nodes.size()) {
    for (size_t p = 0; p < work.pes.size(); ++p) {
      for (const Pe::Engine& e : platform.pes().pe(work.pes[p].index).engines)
        parts_[e.block->index()] = {&work.pes[p], &result.pes[p]};
    }
  }

  void record(OpRecord&& r) override {
    if (r.is_token) {
      const TokenInfo& t = r.token;
      tokens_.push_back({t.composite_op_id, r.component, t.tile_id, t.fed_ns, {t.stage, r.t_start, r.t_end}});
      if (tokens_.size() == kBlock) flush();
    } else if (r.desc->type != CommandType::composite) {
      parts_[r.component].result->commands[r.desc->seq].stage = {stage_of(r.desc->type), r.t_start, r.t_end};
    }
  }

  /// Puts what is kept where it belongs. Many at a time: each is a miss of all caches, of which several can be under
  /// way.
  void flush() {
    std::vector<PipelineToken*> places;
    places.reserve(tokens_.size());
    for (const TokenStage& t : tokens_) {
      const auto [it, fresh] = composites_.try_emplace(t.composite_op_id, nullptr);
      if (fresh) it->second = &composite(parts_[t.component], t.composite_op_id);
      places.push_back(&it->second->tokens[t.tile]);
    }
    for (size_t i = 0; i < tokens_.size(); ++i) {
      places[i]->fed_ns = tokens_[i].fed_ns;
      places[i]->put(tokens_[i].stage);
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
  /// One PE's.
  struct Part {
    const PipelineWork::PePart* work = nullptr;
    PipelineResult::PePart* result = nullptr;
    size_t next = 0;  ///< the composite after the one found last: a PE does them in order of submission
  };

  static PipelineResult::Composite& composite(Part& part, uint64_t op_id) {
    const std::vector<PipelineWork::Entry>& all = part.work->composites;
    for (size_t tried = 0; tried < all.size(); ++tried) {
      const size_t i = part.next++ % all.size();
      if (all[i].command->op_id == op_id) return part.result->composites[i];
    }
    throw std::logic_error("a tile of a composite that nobody submitted");
  }

  static Stage stage_of(CommandType t) {
    switch (t) {
      case CommandType::load:
        return Stage::dma_read;
      case CommandType::store:
        return Stage::dma_write;
      case CommandType::gemm:
        return Stage::gemm;
      default:
        return Stage::math;
    }
  }

  static constexpr size_t kBlock = 1 << 14;
  std::vector<Part> parts_;                                              // by component
  std::unordered_map<uint64_t, PipelineResult::Composite*> composites_;  // by op_id
  std::vector<TokenStage> tokens_;                                       // not in their places yet
};

/// The result with room for every tile, its times still to come.
PipelineResult result_for(const PipelineWork& work) {
  PipelineResult result;
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
      c.tokens.resize(static_cast<size_t>(e.command->plan.tiles()));
    }
    for (const PipelineWork::Entry& e : part.commands) out.commands.emplace_back().id = e.id;
  }
  return result;
}

}  // namespace

PipelineResult run_pipeline(Platform& platform, PipelineWork& work) {
  PipelineResult result = result_for(work);
  StageLog log(platform, work, result);
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
        try {
          driver.submit(part.index, *e.command, e.submit_ns);
        } catch (const AccessError& error) {
          throw AccessError(e.id + ": " + error.what());
        }
      }
    }
  }
  platform.timeline().run_ahead();
  platform.routes().close();  // the commands' checks have asked for every route that the work takes
  sc_core::sc_start();
  log.flush();

  const std::vector<std::string> stuck = stuck_report(platform.machine());
  if (!stuck.empty()) {
    std::string text = "nothing can move, but work is outstanding:";
    for (const std::string& line : stuck) text += "\n  " + line;
    throw RunError(text);
  }
  platform.attach_log(nullptr);

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
  return result;
}

namespace {

std::string quoted(const std::string& s) {
  std::string q;
  append_string(q, s);
  return q;
}

void append_stage(std::string& out, const PipelineStage& s) {
  out += "[\"";
  out += name_of(s.stage);
  out += "\", ";
  append_number(out, s.t_start);
  out += ", ";
  append_number(out, s.t_end);
  out += "]";
}

}  // namespace

void write_pipeline_json(std::ostream& os, const PipelineResult& result) {
  std::string out = "{\"end_ns\": ";
  append_number(out, result.end_ns);
  out += ", \"pes\": [";
  for (size_t p = 0; p < result.pes.size(); ++p) {
    const auto& pe = result.pes[p];
    out += (p ? ",\n {" : "\n {") + std::string("\"pe\": ") + quoted(pe.pe) + ", \"composites\": [";
    for (size_t c = 0; c < pe.composites.size(); ++c) {
      const auto& composite = pe.composites[c];
      out += (c ? ",\n  {" : "\n  {") + std::string("\"id\": ") + quoted(composite.id) +
             ", \"window\": " + std::to_string(composite.window) + ", \"submit_ns\": ";
      append_number(out, composite.submit_ns);
      out += ", \"done_ns\": ";
      append_number(out, composite.done_ns);
      out += ", \"tokens\": [";
      for (size_t t = 0; t < composite.tokens.size(); ++t) {
        const PipelineToken& token = composite.tokens[t];
        const auto tile = static_cast<int64_t>(t), row = tile / composite.tiles_k;
        out += (t ? ",\n   {" : "\n   {") + std::string("\"tile\": ") + std::to_string(tile) + ", \"ijk\": [" +
               std::to_string(row / composite.tiles_n) + ", " + std::to_string(row % composite.tiles_n) + ", " +
               std::to_string(tile % composite.tiles_k) + "], \"fed_ns\": ";
        append_number(out, token.fed_ns);
        out += ", \"stages\": [";
        token.for_each_stage([&](const PipelineStage& s) {
          append_stage(out, s);
          out += ", ";
        });
        out.resize(out.size() - 2);
        out += "]}";
        if (out.size() > (1 << 16)) {
          os << out;
          out.clear();
        }
      }
      out += "]}";
    }
    out += "]";
    if (pe.has_commands) {
      out += ", \"commands\": [";
      for (size_t c = 0; c < pe.commands.size(); ++c) {
        out += (c ? ",\n  {" : "\n  {") + std::string("\"id\": ") + quoted(pe.commands[c].id) + ", \"stages\": [";
        append_stage(out, pe.commands[c].stage);
        out += "], \"done_ns\": ";
        append_number(out, pe.commands[c].done_ns);
        out += "}";
      }
      out += "]";
    }
    out += "}";
  }
  os << out << "\n]}\n";
}

void write_pipeline_text(std::ostream& os, const PipelineResult& result) {
  os << std::fixed << std::setprecision(3) << "end " << result.end_ns << " ns\n\n";
  size_t width = 9;
  for (const auto& pe : result.pes) {
    for (const auto& c : pe.composites) width = std::max(width, c.id.size());
    for (const auto& c : pe.commands) width = std::max(width, c.id.size());
  }
  const auto w = static_cast<int>(width) + 2;
  for (const auto& pe : result.pes) {
    os << pe.pe << "\n  " << std::left << std::setw(w) << "work" << std::right << std::setw(14) << "submit ns"
       << std::setw(14) << "done ns" << std::setw(9) << "tiles" << std::setw(8) << "window"
       << "  busy ns by stage\n";
    for (const auto& c : pe.composites) {
      double busy[kStages] = {};
      for (const auto& t : c.tokens) {
        t.for_each_stage([&](const PipelineStage& s) { busy[static_cast<int>(s.stage)] += s.t_end - s.t_start; });
      }
      os << "  " << std::left << std::setw(w) << c.id << std::right << std::setw(14) << c.submit_ns << std::setw(14)
         << c.done_ns << std::setw(9) << c.tokens.size() << std::setw(8) << c.window << " ";
      for (int s = 0; s < kStages; ++s) {
        if (busy[s] > 0) os << " " << name_of(static_cast<Stage>(s)) << " " << busy[s];
      }
      os << "\n";
    }
    for (const auto& c : pe.commands) {
      os << "  " << std::left << std::setw(w) << c.id << std::right << std::setw(14) << c.stage.t_start << std::setw(14)
         << c.done_ns << std::setw(9) << "-" << std::setw(8) << "-"
         << "  " << name_of(c.stage.stage) << " " << c.stage.t_end - c.stage.t_start << "\n";
    }
  }
}

}  // namespace kernbench
