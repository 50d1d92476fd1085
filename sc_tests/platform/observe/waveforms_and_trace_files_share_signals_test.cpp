// SPDX-License-Identifier: Apache-2.0
// A user's objects in a platform's waveform, the platform's signals in a user's trace file, and windows: compared with
// SystemC's own VCD of the same objects.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/job.h"
#include "kernbench/platform/observe/waveform.h"
#include "kernbench/platform/run/run.h"
#include "system_support.h"

namespace kernbench::testing::waveforms_and_trace_files_share_signals {
namespace {

constexpr const char* kKernel = "gemm";

/// Contents of a VCD: full name -> [(ps, value)], without leading zeros, without changes to the same value, without x.
using Changes = std::vector<std::pair<uint64_t, std::string>>;
std::map<std::string, Changes> read_vcd(const std::string& file, uint64_t units_per_ps) {
  std::ifstream in(file);
  EXPECT_TRUE(in) << file;
  std::map<std::string, Changes> changes;
  std::map<std::string, std::string> names, kinds;  // by code
  std::vector<std::string> scopes;
  std::string word;
  uint64_t now = 0;
  const auto skip = [&] {
    while (in >> word && word != "$end") {
    }
  };
  while (in >> word) {
    if (word == "$scope") {
      in >> word >> word;
      scopes.push_back(word);
      skip();
    } else if (word == "$upscope") {
      scopes.pop_back();
      skip();
    } else if (word == "$var") {
      std::string kind, bits, code, name, full;
      in >> kind >> bits >> code >> name;
      for (const std::string& s : scopes) full += s + ".";
      names[code] = full + name.substr(0, name.find('['));
      kinds[code] = kind;
      skip();
    } else if (word == "$date" || word == "$version" || word == "$timescale" || word == "$enddefinitions" ||
               word == "$comment") {
      skip();
    } else if (word[0] == '#') {
      now = std::stoull(word.substr(1)) / units_per_ps;
    } else if (word[0] != '$') {
      const bool vector = word[0] == 'b', real = word[0] == 'r';
      std::string code, value = vector || real ? word.substr(1) : word.substr(0, 1);
      if (vector || real) {
        in >> code;
      } else {
        code = word.substr(1);
      }
      if (vector) value.erase(0, std::min(value.find_first_not_of('0'), value.size() - 1));
      for (char& digit : value) digit = static_cast<char>(std::tolower(digit));
      if (value.find_first_not_of('z') == std::string::npos) value = "z";
      if (real) value = std::to_string(std::stod(value));
      Changes& c = changes[names.at(code)];
      if (kinds[code] != "event" && !c.empty() && c.back().second == value) continue;
      if (!c.empty() && c.back().first == now) c.pop_back();
      c.emplace_back(now, value);
    }
  }
  return changes;
}

/// Objects of all types, changed at every edge of a clock, also while the platform is idle.
struct Objects : sc_core::sc_module {
  sc_core::sc_clock clock{"clock", sc_core::sc_time(7, sc_core::SC_NS)};
  sc_core::sc_signal<bool> irq{"irq"};
  sc_core::sc_signal<int> level{"level"};
  sc_core::sc_signal<sc_dt::sc_uint<12>> field{"field"};
  sc_dt::sc_lv<70> wide{sc_dt::SC_LOGIC_X};
  sc_dt::sc_logic line{'Z'};
  sc_dt::sc_biguint<80> big;
  double voltage = 0.5;
  int64_t number = -1;
  unsigned char byte = 0;
  sc_core::sc_event done{"done"};
  sc_core::sc_fifo<int> queue{"queue", 4};
  unsigned edges = 0;

  explicit Objects(sc_core::sc_module_name name) : sc_module(name) {
    SC_HAS_PROCESS(Objects);
    SC_METHOD(edge);
    sensitive << clock.posedge_event();
    dont_initialize();
  }
  void edge() {
    ++edges;
    irq = edges % 3 == 0;
    level = 5 - static_cast<int>(edges);
    field = edges * 77;
    wide = sc_dt::sc_lv<70>(edges % 2 ? sc_dt::SC_LOGIC_Z : sc_dt::SC_LOGIC_1);
    wide[edges % 70] = sc_dt::SC_LOGIC_0;
    line = sc_dt::sc_logic("01ZX"[edges % 4]);
    big = sc_dt::sc_biguint<80>(edges) << 65;
    voltage = edges % 9 == 8 ? 0.5 : voltage * 1.25;
    number = edges % 5 == 4 ? -1 : static_cast<int64_t>(edges) << 40;
    byte = static_cast<unsigned char>(edges);
    if (edges % 4 == 0) done.notify();
    if (edges % 2 == 0) {
      int taken;
      queue.nb_read(taken);
    } else {
      queue.nb_write(1);
      queue.nb_write(2);
    }
  }
  template <typename Trace>
  void traced_by(Trace trace) {
    trace(irq, "irq"), trace(level, "level"), trace(field, "field"), trace(wide, "wide"), trace(line, "line");
    trace(big, "big"), trace(voltage, "voltage"), trace(number, "number"), trace(byte, "byte"), trace(done, "done");
    trace(clock, "clock");
  }
};

/// For this test, because others run concurrently.
std::string folder() {
  const std::string name =
      ::testing::TempDir() + "waveforms_" + ::testing::UnitTest::GetInstance()->current_test_info()->name() + "/";
  std::filesystem::create_directories(name);
  return name;
}

std::unique_ptr<Platform> small() {
  return platform_from_file(topology_path("small.yaml"));
}

void run(Platform& platform) {
  RunOptions o;
  o.kernel = kKernel;
  run_kernel(platform, std::move(o));
}

TEST(Waveforms, hold_what_users_trace) {
  const auto platform = small();
  Objects objects("objects");
  Waveform waveform(*platform, WaveformOptions{folder() + "own.vcd", {"sip0.cube0.pe0"}});
  sc_core::sc_trace_file* beside = sc_core::sc_create_vcd_trace_file((folder() + "systemc").c_str());
  beside->set_time_unit(1, sc_core::SC_PS);
  objects.traced_by([&](const auto& o, const char* name) {
    waveform.trace(o, std::string("objects.") + name);
    sc_core::sc_trace(beside, o, std::string("objects.") + name);
  });
  waveform.trace([&] { return static_cast<uint64_t>(objects.queue.num_available()); }, "depth", 3);
  run(*platform);
  sc_core::sc_start(sc_core::sc_time(100, sc_core::SC_NS));
  waveform.close();
  sc_core::sc_close_vcd_trace_file(beside);

  const auto own = read_vcd(folder() + "own.vcd", 1000);
  auto systemc = read_vcd(folder() + "systemc.vcd", 1);
  ASSERT_GT(objects.edges, 50u);
  size_t compared = 0;
  for (auto& [name, changes] : systemc) {
    const std::string at = name.substr(name.find("objects."));
    ASSERT_TRUE(own.count(at)) << at;
    Changes ours = own.at(at);
    if (at == "objects.done") {  // SystemC's file begins with its value
      const auto first = [](const auto& c) { return c.first == 0; };
      ours.erase(std::remove_if(ours.begin(), ours.end(), first), ours.end());
      changes.erase(std::remove_if(changes.begin(), changes.end(), [](const auto& c) { return c.second != "1"; }),
                    changes.end());
      changes.erase(std::remove_if(changes.begin(), changes.end(), first), changes.end());
      EXPECT_EQ(ours.size(), objects.edges / 4);
    }
    EXPECT_EQ(ours, changes) << at;
    ++compared;
  }
  EXPECT_EQ(compared, 11u);
  const Changes& depth = own.at("SystemC.depth");
  EXPECT_EQ(depth[0].second, "10");
  EXPECT_EQ(depth[1].second, "1");
  EXPECT_TRUE(std::any_of(depth.begin(), depth.end(), [](const auto& c) { return c.second == "100"; }));
  EXPECT_TRUE(own.count("system.sip0.cube0.pe0.pe_gemm.busy"));
}

TEST(Waveforms, names_of_users_are_told_where_they_do_not_fit) {
  const auto platform = small();
  Waveform waveform(*platform, WaveformOptions{folder() + "names.vcd", {"sip0.cube0.pe0"}});
  const int x = 0;
  waveform.trace(x, "x");
  EXPECT_THROW(waveform.trace(x, "x"), InputError);
  EXPECT_THROW(waveform.trace(x, ""), InputError);
  EXPECT_THROW(waveform.trace([] { return uint64_t{0}; }, "y", 65), InputError);
  EXPECT_THROW((Waveform{*platform, WaveformOptions{folder() + "w.vcd", {}, 5, 5}}), InputError);
}

/// Signals of a PE: its own, or those in a user's file.
std::map<std::string, Changes> signals_of_a_run(bool in_own_file) {
  const std::string name = folder() + (in_own_file ? "alone" : "users");
  const std::string error = in_child([&]() -> std::string {
    const auto platform = small();
    if (in_own_file) {
      Waveform waveform(*platform, WaveformOptions{name + ".vcd", {}});
      run(*platform);
      waveform.close();
    } else {
      sc_core::sc_trace_file* file = sc_core::sc_create_vcd_trace_file(name.c_str());
      file->set_time_unit(1, sc_core::SC_PS);
      Waveform waveform(*platform, *file);
      run(*platform);
      sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_US));  // reservations beyond the run's end
      sc_core::sc_close_vcd_trace_file(file);
    }
    return "";
  });
  EXPECT_EQ(error, "");
  return read_vcd(name + ".vcd", in_own_file ? 1000 : 1);
}

TEST(Waveforms, go_to_trace_files_of_the_user) {
  const auto own = signals_of_a_run(true);
  auto users = signals_of_a_run(false);
  ASSERT_GT(own.size(), 300u);
  size_t changes = 0;
  for (const auto& [name, ours] : own) {
    auto theirs = std::find_if(users.begin(), users.end(), [&](const auto& u) {
      return u.first.size() >= name.size() && u.first.compare(u.first.size() - name.size(), name.size(), name) == 0;
    });
    if (name.find(".utilisation") != std::string::npos) continue;  // of complete windows, reported after them
    ASSERT_NE(theirs, users.end()) << name;
    // Several changes within a tick are one change there, and a time may be rounded up.
    Changes rounded;
    for (const auto& c : ours) {
      if (!rounded.empty() && rounded.back().first == c.first) rounded.pop_back();
      rounded.push_back(c);
    }
    ASSERT_EQ(rounded.size(), theirs->second.size()) << name;
    for (size_t i = 0; i < rounded.size(); ++i, ++changes) {
      EXPECT_EQ(rounded[i].second, theirs->second[i].second) << name;
      EXPECT_NEAR(static_cast<double>(rounded[i].first), static_cast<double>(theirs->second[i].first), 1) << name;
    }
  }
  EXPECT_GT(changes, 5000u);
}

TEST(Waveforms, begin_and_stop_at_the_users_word) {
  const auto whole = signals_of_a_run(true);
  const auto platform = small();
  Waveform waveform(*platform, WaveformOptions{folder() + "parts.vcd", {}});
  waveform.stop();
  struct Switches : sc_core::sc_module {
    Waveform& waveform;
    Switches(sc_core::sc_module_name name, Waveform& w) : sc_module(name), waveform(w) {
      SC_HAS_PROCESS(Switches);
      SC_THREAD(act);
    }
    void act() {
      for (int i = 0; i < 2; ++i) {
        wait(100, sc_core::SC_NS);
        waveform.start();
        wait(100, sc_core::SC_NS);
        waveform.stop();
      }
    }
  } switches("switches", waveform);
  run(*platform);
  waveform.close();

  const auto value_at = [](const Changes& changes, uint64_t t) {
    std::string value;
    for (const auto& c : changes) {
      if (c.first <= t) value = c.second;
    }
    return value;
  };
  const auto parts = read_vcd(folder() + "parts.vcd", 1000);
  size_t changes = 0;
  for (const auto& [name, c] : whole) {
    ASSERT_TRUE(parts.count(name)) << name;
    const Changes& p = parts.at(name);
    for (uint64_t t = 50'000; t < 450'000; t += 99'999) {
      const bool recorded = (t / 100'000) % 2 == 1;
      EXPECT_EQ(value_at(p, t), recorded ? value_at(c, t) : "x") << name << " at " << t;
    }
    for (const auto& change : c) {
      const uint64_t t = change.first;
      if (!(t > 100'000 && t < 200'000) && !(t > 300'000 && t < 400'000)) continue;
      EXPECT_NE(std::find(p.begin(), p.end(), change), p.end()) << name << " at " << t;
      ++changes;
    }
  }
  EXPECT_GT(changes, 1000u);
}

TEST(Waveforms, end_where_the_last_reservation_ends) {
  topology::Overrides overrides;
  overrides.links = topology::Links::cut_through;
  overrides.response = topology::Response::routed;
  const auto platform = platform_from_file(topology_path("small.yaml"), overrides);
  Waveform waveform(*platform, WaveformOptions{folder() + "cut.vcd", {}});
  JobOptions options;
  options.kernel = kKernel;
  Job job(*platform, options);
  job.start();
  sc_core::sc_start(sc_core::sc_time(330, sc_core::SC_NS));
  waveform.close();
  const auto vcd = read_vcd(folder() + "cut.vcd", 1000);
  uint64_t end = 0, links = 0;
  for (const auto& [name, changes] : vcd) {
    end = std::max(end, changes.back().first);
    if (name.find(".to_") == std::string::npos || name.find(".busy") == std::string::npos) continue;
    EXPECT_EQ(changes.back().second, "0") << name;
    links += changes.size() > 1;
  }
  EXPECT_GT(links, 10u);
  EXPECT_GT(end, 330'000u);
}

}  // namespace
}  // namespace kernbench::testing::waveforms_and_trace_files_share_signals
