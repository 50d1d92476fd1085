// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/study/sweep/progress_file.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "kernbench/phase2/io/input_file.h"
#include "kernbench/phase2/log/real_name.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/forms.h"
#include "kernbench/phase2/text/json_source.h"

namespace kernbench::sweep {
namespace {

// Frequent updates at first; rarer ones later, because hundreds of sweeps share one file system.
constexpr auto kFirst = std::chrono::milliseconds(500), kMost = std::chrono::milliseconds(10'000);

std::string file_of(const std::string& store) {
  return real_name(store) + "-progress";
}

std::string host_name() {
  char name[256] = "";
  return gethostname(name, sizeof name - 1) == 0 ? name : "";
}

}  // namespace

static void describe(Fields& f, SweepProgress& p) {
  f("host", p.host)("shard", p.shard)("shards", p.shards)("plan", p.plan)("points", p.points)("done", p.done);
  f("failed", p.failed)("simulated", p.simulated)("elapsed_s", p.elapsed_s)("ended", p.ended);
}

SweepProgress read_progress(const std::string& store) {
  const std::string file = file_of(store);
  std::ifstream in = open_input(file);
  SweepProgress p;
  try {
    p = read_record<SweepProgress>(read_all(in, file));
    if (p.done > p.points) throw JsonFault("done: found more than points");
  } catch (const JsonFault& e) {
    throw InputError(file + ": " + e.what());
  }
  std::error_code error;
  const auto written = std::filesystem::last_write_time(file, error);
  if (!error) {
    const auto age = std::filesystem::file_time_type::clock::now() - written;
    p.age_s = std::max(0.0, std::chrono::duration<double>(age).count());
  }
  return p;
}

ProgressFile::ProgressFile(const std::string& store) : file_(file_of(store)) {}

void ProgressFile::update(bool ended, const std::function<SweepProgress()>& now) {
  if (!ended && Clock::now() < next_) return;
  const auto elapsed = Clock::now() - start_;
  next_ = Clock::now() + std::clamp<Clock::duration>(elapsed / 10, kFirst, kMost);
  SweepProgress p = now();
  p.host = host_name();
  p.elapsed_s = std::chrono::duration<double>(elapsed).count();
  p.ended = ended;
  // Written under another name and renamed, so that readers find a complete file. Several sweeps may share a store.
  const std::string part = file_ + "." + std::to_string(getpid());
  std::ofstream out(part);
  write_json(out, p, JsonWriter::Layout::compact, JsonWriter::Reals::shortest);
  out.close();
  std::error_code error;
  if (out) std::filesystem::rename(part, file_, error);
  if (!out || error) std::filesystem::remove(part, error);
}

}  // namespace kernbench::sweep
