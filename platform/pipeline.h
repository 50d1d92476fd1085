// `kernbench pipeline`: plays composites and simple commands on PEs, timing only (interface contract).
#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "kernbench/systemc_models/pe_command.h"

namespace kernbench {

class Platform;

/// What one PE is to play. Commands live here until the run has ended.
struct PipelineWork {
  struct Entry {
    std::string id;
    double submit_ns = 0;
    std::unique_ptr<PeCommand> command;
  };
  struct PePart {
    std::string pe;
    size_t index = 0;  ///< of the PE
    std::vector<Entry> composites, commands;
    bool has_commands = false;  ///< the file has the key
  };
  std::vector<PePart> pes;
};

/// Reads the JSON of the samples. InputError with every fault (file: path of the field: …).
PipelineWork read_pipeline_work(std::istream&, const std::string& file_name, Platform&);

struct PipelineStage {
  Stage stage = Stage::dma_read;
  double t_start = 0, t_end = 0;
};
struct PipelineToken {
  int64_t tile = 0, i = 0, j = 0, k = 0;
  double fed_ns = 0;
  std::vector<PipelineStage> stages;
};
struct PipelineResult {
  struct Composite {
    std::string id;
    int64_t window = 0;
    double submit_ns = 0, done_ns = 0;
    std::vector<PipelineToken> tokens;
  };
  struct Command {
    std::string id;
    std::vector<PipelineStage> stages;
    double done_ns = 0;
  };
  struct PePart {
    std::string pe;
    std::vector<Composite> composites;
    std::vector<Command> commands;
    bool has_commands = false;
  };
  double end_ns = 0;
  std::vector<PePart> pes;
};

/// Runs the simulation to its end. AccessError at a submission that cannot be served; RunError if work is left over
/// when nothing can move.
PipelineResult run_pipeline(Platform&, PipelineWork&);

void write_pipeline_json(std::ostream&, const PipelineResult&);
void write_pipeline_text(std::ostream&, const PipelineResult&);

}  // namespace kernbench
