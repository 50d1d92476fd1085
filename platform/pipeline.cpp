#include "kernbench/platform/pipeline.h"

#include <algorithm>
#include <iomanip>
#include <ostream>
#include <unordered_map>

#include "kernbench/phase2/oplog_json.h"
#include "kernbench/platform/deadlock.h"
#include "kernbench/platform/errors.h"
#include "kernbench/platform/platform.h"
#include "kernbench/systemc_models/pe_scheduler.h"

namespace kernbench {

namespace {

/// Keeps what the op log says of the run: the driver learns times the way every reader of a log does.
class StageLog : public OpLogSink {
 public:
  void record(OpRecord&& r) override {
    if (r.is_token) {
      tokens.push_back({r.token, {r.token.stage, r.t_start, r.t_end}});
    } else {
      commands[r.desc.get()] = {r.t_start, r.t_end};
    }
  }
  struct TokenStage {
    TokenInfo token;
    PipelineStage stage;
  };
  struct Service {
    double t_start, t_end;
  };
  std::vector<TokenStage> tokens;  // in order of completion, so each token's stages are in order
  std::unordered_map<const OpDesc*, Service> commands;
};

Stage stage_of(CommandType t) {
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

struct Play {
  PeScheduler* scheduler;
  PeCommand* command;
};

}  // namespace

PipelineResult run_pipeline(Platform& platform, PipelineWork& work) {
  StageLog log;
  platform.attach_log(&log);
  std::vector<Play> plays;
  std::vector<std::pair<double, size_t>> order;  // (time, index of play)
  size_t stages = 0;                             // three at least a tile
  for (auto& part : work.pes) {
    PeScheduler& scheduler = *platform.pe(part.index).scheduler;
    for (auto* list : {&part.commands, &part.composites}) {
      for (auto& e : *list) {
        if (e.command->type == CommandType::composite) stages += 3 * static_cast<size_t>(e.command->plan.tiles());
        auto desc = std::make_shared<OpDesc>();
        desc->type = e.command->type;
        desc->name = e.id;
        desc->submit_ns = e.submit_ns;
        e.command->desc = desc;
        try {
          scheduler.validate(*e.command);
        } catch (const AccessError& error) {
          throw AccessError(e.id + ": " + error.what());
        }
        order.emplace_back(e.submit_ns, plays.size());
        plays.push_back({&scheduler, e.command.get()});
      }
    }
  }
  log.tokens.reserve(std::min(stages, size_t{1} << 22));
  platform.timeline().run_ahead();
  platform.close_routes();  // validate() has asked for every route that the work takes
  for (const auto& [t, index] : order) {
    platform.timeline().at(
        t, Order(Order::kEngines, ~0u, 0),
        [](void* self, void*) {
          auto& play = *static_cast<Play*>(self);
          play.scheduler->dispatch(*play.command);
        },
        &plays[index]);
  }
  sc_core::sc_start();

  const std::vector<std::string> stuck = stuck_report(platform);
  if (!stuck.empty()) {
    std::string text = "nothing can move, but work is outstanding:";
    for (const std::string& line : stuck) text += "\n  " + line;
    throw RunError(text);
  }
  platform.attach_log(nullptr);

  std::unordered_map<uint64_t, PipelineResult::Composite*> by_op_id;
  PipelineResult result;
  for (auto& part : work.pes) {
    result.pes.emplace_back();
    PipelineResult::PePart& out = result.pes.back();
    out.pe = part.pe;
    out.has_commands = part.has_commands;
    out.composites.resize(part.composites.size());
    for (size_t i = 0; i < part.composites.size(); ++i) {
      const PeCommand& c = *part.composites[i].command;
      PipelineResult::Composite& r = out.composites[i];
      r.id = part.composites[i].id;
      r.window = c.window;
      r.submit_ns = part.composites[i].submit_ns;
      r.done_ns = c.done_ns;
      r.tokens.resize(static_cast<size_t>(c.plan.tiles()));
      by_op_id[c.op_id] = &r;
      result.end_ns = std::max(result.end_ns, c.done_ns);
      const int64_t nk = c.plan.tiles_k(), nn = c.plan.tiles_n();
      for (int64_t t = 0; t < c.plan.tiles(); ++t) {
        PipelineToken& token = r.tokens[static_cast<size_t>(t)];
        token.tile = t;
        token.i = t / nk / nn;
        token.j = t / nk % nn;
        token.k = t % nk;
      }
    }
    for (const auto& e : part.commands) {
      const auto& service = log.commands.at(e.command->desc.get());
      out.commands.push_back({e.id, {{stage_of(e.command->type), service.t_start, service.t_end}}, e.command->done_ns});
      result.end_ns = std::max(result.end_ns, e.command->done_ns);
    }
  }
  uint64_t op_id = 0;  // of `composite`
  PipelineResult::Composite* composite = nullptr;
  for (const StageLog::TokenStage& t : log.tokens) {
    if (t.token.composite_op_id != op_id) {
      op_id = t.token.composite_op_id;
      composite = by_op_id.at(op_id);
    }
    PipelineToken& token = composite->tokens[t.token.tile_id];
    token.fed_ns = t.token.fed_ns;
    if (token.stages.empty()) token.stages.reserve(kStages);
    token.stages.push_back(t.stage);
  }
  return result;
}

namespace {

std::string quoted(const std::string& s) {
  std::string q;
  append_string(q, s);
  return q;
}

void append_stages(std::string& out, const std::vector<PipelineStage>& stages) {
  out += "\"stages\": [";
  for (size_t s = 0; s < stages.size(); ++s) {
    out += (s ? ", [\"" : "[\"") + std::string(name_of(stages[s].stage)) + "\", ";
    append_number(out, stages[s].t_start);
    out += ", ";
    append_number(out, stages[s].t_end);
    out += "]";
  }
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
        out += (t ? ",\n   {" : "\n   {") + std::string("\"tile\": ") + std::to_string(token.tile) + ", \"ijk\": [" +
               std::to_string(token.i) + ", " + std::to_string(token.j) + ", " + std::to_string(token.k) +
               "], \"fed_ns\": ";
        append_number(out, token.fed_ns);
        out += ", ";
        append_stages(out, token.stages);
        out += "}";
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
        out += (c ? ",\n  {" : "\n  {") + std::string("\"id\": ") + quoted(pe.commands[c].id) + ", ";
        append_stages(out, pe.commands[c].stages);
        out += ", \"done_ns\": ";
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
        for (const auto& s : t.stages) busy[static_cast<int>(s.stage)] += s.t_end - s.t_start;
      }
      os << "  " << std::left << std::setw(w) << c.id << std::right << std::setw(14) << c.submit_ns << std::setw(14)
         << c.done_ns << std::setw(9) << c.tokens.size() << std::setw(8) << c.window << " ";
      for (int s = 0; s < kStages; ++s) {
        if (busy[s] > 0) os << " " << name_of(static_cast<Stage>(s)) << " " << busy[s];
      }
      os << "\n";
    }
    for (const auto& c : pe.commands) {
      os << "  " << std::left << std::setw(w) << c.id << std::right << std::setw(14) << c.stages[0].t_start
         << std::setw(14) << c.done_ns << std::setw(9) << "-" << std::setw(8) << "-"
         << "  " << name_of(c.stages[0].stage) << " " << c.stages[0].t_end - c.stages[0].t_start << "\n";
    }
  }
}

}  // namespace kernbench
