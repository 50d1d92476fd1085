// SPDX-License-Identifier: Apache-2.0
// `kernbench pipeline`: plays composites, simple commands and programs of calls on PEs, timing only (rules on
// interfaces; programs: collectives rules §14.1).
#pragma once

#include <array>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "kernbench/platform/run/spec/run_document.h"
#include "kernbench/platform/work/programs.h"
#include "kernbench/systemc_models/pe/pe_command.h"

namespace kernbench::elaborate {
class Machine;
}
namespace kernbench {
class Platform;
}

namespace kernbench::work {

/// The work of one PE. The commands live here until the run has ended.
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
  bool has_pes = true;  ///< the file has the key
  ProgramsWork calls;
  std::string file;
};

/// Reads the JSON file. InputError with all errors (file: path of the field: …).
PipelineWork read_pipeline_work(std::istream&, const std::string& file_name, Machine&);

struct PipelineStage {
  Stage stage = Stage::dma_read;
  double t_start = 0, t_end = 0;
};
/// A tile's stages, each at most once, in the order of Stage. Large runs have millions.
class PipelineToken {
 public:
  double fed_ns = 0;
  void put(const PipelineStage& s) { taken_[static_cast<size_t>(s.stage)] = {s.t_start, s.t_end}; }
  /// Calls visit(const PipelineStage&) for each stage that the tile took, in order.
  template <class Visit>
  void for_each_stage(const Visit& visit) const {
    for (size_t s = 0; s < kTileStages; ++s) {
      if (taken_[s].t_end >= 0) visit(PipelineStage{static_cast<Stage>(s), taken_[s].t_start, taken_[s].t_end});
    }
  }

 private:
  struct Taken {
    double t_start = 0, t_end = -1;  // t_end < 0: not done
  };
  std::array<Taken, kTileStages> taken_;
};
struct PipelineResult {
  struct Composite {
    std::string id;
    int64_t window = 0;
    double submit_ns = 0, done_ns = 0;
    int64_t tiles = 0, tiles_n = 1, tiles_k = 1;
    std::array<double, kTileStages> busy_ns{};  ///< of all tiles, by Stage
    std::vector<PipelineToken> tokens;          ///< by tile: k fastest, then n; empty unless requested
  };
  struct Command {
    std::string id;
    PipelineStage stage;
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
  bool has_pes = true;
  const std::deque<ProgramWork>* programs = nullptr;  ///< programs with the times of their calls; null: none
};

/// Data kept of a composite's tiles: only sums, or the stages of each (100 bytes).
enum class PipelineTiles { sums, each };
/// Runs the simulation to its end. AccessError for an impossible submission; RunError if nothing can move and work is
/// left.
PipelineResult run_pipeline(Platform&, PipelineWork&, PipelineTiles = PipelineTiles::each);

/// Requires a run that kept each tile: {"run": …, "end_ns": …, "pes": […], "programs": […]}; "run" is omitted if unset.
void write_pipeline_json(std::ostream&, const PipelineResult&, const spec::RunDocument& = {});
void write_pipeline_text(std::ostream&, const PipelineResult&);

}  // namespace kernbench::work
