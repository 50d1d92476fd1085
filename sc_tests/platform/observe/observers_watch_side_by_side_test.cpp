// SPDX-License-Identifier: Apache-2.0
// Any number of observers of a link, a block, a PE: each is notified of everything, independent of the others. Two
// recordings and a waveform of one simulation equal separate ones.
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdio>
#include <sstream>

#include "kernbench/platform/observe/transaction_recorder.h"
#include "kernbench/platform/observe/waveform.h"
#include "kernbench/platform/run/run.h"
#include "system_support.h"

namespace kernbench::testing::observers_watch_side_by_side {
namespace {

/// Records its notifications.
struct Notes : FabricObserver {
  std::ostringstream text;
  size_t crossings = 0;
  void link_crossed(const FabricTransaction& x, const Link& link, const LinkCrossing& c) override {
    ++crossings;
    text << "link " << link.edge << " " << x.address << " " << c.response << " " << c.ready_ns << " " << c.start_ns
         << " " << c.end_ns << " " << c.arrive_ns << " " << c.bytes << "\n";
  }
  void memory_request(const MemoryTarget& memory, const FabricTransaction& x, MemoryStep step, double t) override {
    text << "memory " << memory.id() << " " << x.address << " " << static_cast<int>(step) << " " << t << "\n";
  }
  void channel_taken(const MemoryTarget& memory, const FabricTransaction&, size_t channel, double, double from,
                     double to) override {
    text << "channel " << memory.id() << " " << channel << " " << from << " " << to << "\n";
  }
  void access_started(const Component& c, const FabricTransaction& x, double t) override { note("start", c, x, t); }
  void access_done(const Component& c, const FabricTransaction& x, double t) override { note("done", c, x, t); }
  void post_started(const Component& c, const FabricTransaction& x, double t) override { note("post", c, x, t); }
  void post_done(const Component& c, const FabricTransaction& x, double t) override { note("posted", c, x, t); }

 private:
  void note(const char* what, const Component& c, const FabricTransaction& x, double t) {
    text << what << " " << c.id() << " " << x.address << " " << x.nbytes << " " << t << "\n";
  }
};

template <class Do>
void for_each_place(Platform& platform, Do act) {
  for (uint32_t n = 0; n < platform.graph().nodes.size(); ++n) {
    if (FabricNode* node = platform.component(n).fabric_node()) act(node->observers());
  }
  for (uint32_t e = 0; e < platform.graph().edges.size(); ++e) {
    if (Link* link = platform.machine().blocks().link(e)) act(link->observers);
  }
}

void run(Platform& platform) {
  RunOptions o;
  o.kernel = "all_reduce";
  o.params = {{"n", "64"}};
  run_kernel(platform, std::move(o));
}

/// The result of a child, or its failed check, which is otherwise invisible to the parent.
std::string checked(const std::string& text) {
  return ::testing::Test::HasFailure() ? "a check failed" : text;
}

topology::Overrides with_links(topology::Links links) {
  topology::Overrides overrides;
  overrides.links = links;
  return overrides;
}

/// The notifications of each of `count` observers, and of one that was removed before the run.
std::string told(topology::Links links, size_t count) {
  return in_child([&]() -> std::string {
    const auto platform = platform_from_file(topology_path("small.yaml"), with_links(links));
    std::vector<Notes> notes(count);
    Notes gone;
    for_each_place(*platform, [&](FabricObservers& place) {
      EXPECT_FALSE(place);
      place.add(gone);
      for (Notes& n : notes) {
        place.add(n);
        place.add(n);  // it is added once
      }
      place.remove(gone);
      EXPECT_TRUE(place);
    });
    run(*platform);
    EXPECT_EQ(gone.text.str(), "");
    for (const Notes& n : notes) EXPECT_EQ(n.text.str(), notes.front().text.str());
    EXPECT_GT(notes.front().crossings, 50u);
    for_each_place(*platform, [&](FabricObservers& place) {
      for (Notes& n : notes) place.remove(n);
      EXPECT_FALSE(place);
    });
    return checked(notes.front().text.str());
  });
}

TEST(Observers, of_links_and_blocks_are_told_the_same_however_many_there_are) {
  for (const topology::Links links : {topology::Links::ideal, topology::Links::cut_through, topology::Links::flit}) {
    const std::string alone = told(links, 1);
    for (const char* what : {"link ", "memory ", "start ", "done ", "post ", "posted "})
      EXPECT_NE(alone.find(what), std::string::npos) << what;
    EXPECT_EQ(told(links, 2), alone);
    EXPECT_EQ(told(links, 3), alone);
  }
}

TEST(Observers, that_write_files_write_the_same_beside_others) {
  const std::string base = ::testing::TempDir() + "observers_" + std::to_string(::getpid());
  const auto files = [&](bool recording, bool waveform) {
    return in_child([&]() -> std::string {
      const auto platform = platform_from_file(topology_path("small.yaml"), with_links(topology::Links::cut_through));
      std::vector<std::unique_ptr<TransactionRecorder>> recorders;
      std::vector<std::unique_ptr<Waveform>> waveforms;
      for (const char* copy : {"1", "2"}) {
        if (recording) recorders.push_back(std::make_unique<TransactionRecorder>(*platform, base + copy + ".ftr"));
        WaveformOptions o;
        o.file = base + copy + ".vcd";
        if (waveform) waveforms.push_back(std::make_unique<Waveform>(*platform, o));
      }
      run(*platform);
      for (const auto& r : recorders) r->close();
      for (const auto& w : waveforms) w->close();
      std::string all;
      for (const char* end : {".ftr", ".vcd"}) {
        if (!(end == std::string(".ftr") ? recording : waveform)) continue;
        const std::string first = read_file(base + "1" + end);
        EXPECT_EQ(first, read_file(base + "2" + end)) << "two of one run";
        EXPECT_GT(first.size(), 1000u);
        all += first;
      }
      return checked(all);
    });
  };
  const std::string recording = files(true, false), waveform = files(false, true);
  EXPECT_GT(recording.size(), 1000u) << recording;
  EXPECT_GT(waveform.size(), 1000u) << waveform;
  EXPECT_EQ(files(true, true), recording + waveform);
  for (const char* copy : {"1", "2"}) {
    for (const char* end : {".ftr", ".vcd", ".gtkw", ".states.txt"}) std::remove((base + copy + end).c_str());
  }
}

}  // namespace
}  // namespace kernbench::testing::observers_watch_side_by_side
