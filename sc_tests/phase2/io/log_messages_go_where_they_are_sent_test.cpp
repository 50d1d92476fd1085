// SPDX-License-Identifier: Apache-2.0
// Do levels apply by room? Is the text of a disabled message never built? Do sinks and files get their messages?
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "kernbench/phase2/io/logging.h"
#include "kernbench/phase2/op/errors.h"

namespace kernbench::logging::log_messages_go_where_they_are_sent {
namespace {

class Logging : public ::testing::Test {
 protected:
  Logging() {
    set_sink([this](const Message& m) {
      lines_.push_back(std::string(kRooms[static_cast<size_t>(m.room)]) + " " +
                       std::string(kLevels[static_cast<size_t>(m.level)]) + " " + std::string(m.text));
      simulated_ = m.simulated_ns;
    });
  }
  ~Logging() override {
    set_sink({});
    set_simulated_time(nullptr);
    set_levels("test", "warn");
  }
  static std::string fault_of(const std::string& levels) {
    try {
      set_levels("--log-level", levels);
    } catch (const InputError& e) {
      return e.what();
    }
    return "";
  }

  std::vector<std::string> lines_;
  std::optional<double> simulated_;
};

using Lines = std::vector<std::string>;

TEST_F(Logging, writes_warnings_only_unless_levels_are_set) {
  debug(Room::run, [] { return "d"; });
  info(Room::run, [] { return "i"; });
  warn(Room::run, [] { return "w"; });
  EXPECT_EQ(lines_, Lines{"run warn w"});
}

TEST_F(Logging, sets_a_level_for_all_rooms_and_then_for_one) {
  set_levels("test", "info,run=debug,web=off");
  for (const Room room : {Room::topology, Room::run, Room::web}) {
    debug(room, [] { return "d"; });
    info(room, [] { return "i"; });
    warn(room, [] { return "w"; });
  }
  EXPECT_EQ(lines_, (Lines{"topology info i", "topology warn w", "run debug d", "run info i", "run warn w"}));
}

TEST_F(Logging, makes_no_text_while_the_level_is_off) {
  info(Room::study, []() -> std::string { throw std::logic_error("made"); });
  set_levels("test", "study=info");
  EXPECT_THROW(info(Room::study, []() -> std::string { throw std::logic_error("made"); }), std::logic_error);
}

TEST_F(Logging, refuses_words_that_are_no_levels_and_changes_nothing_then) {
  for (const char* text :
       {"loud", "run=loud", "kitchen=info", "", "info,", "=info", "run=", "run", "INFO", "off=run"}) {
    const std::string fault = fault_of(std::string("debug,") + text);
    EXPECT_NE(fault.find("--log-level: found '"), std::string::npos) << text << ": " << fault;
    EXPECT_NE(fault.find("levels: debug, info, warn, off; rooms: topology, elaborate, launch, run, study, web, models"),
              std::string::npos)
        << fault;
    EXPECT_FALSE(enabled(Room::run, Level::info)) << text;
  }
}

TEST_F(Logging, carries_simulated_time_where_there_is_one) {
  warn(Room::run, [] { return "w"; });
  EXPECT_FALSE(simulated_);
  set_simulated_time([] { return 12.5; });
  warn(Room::run, [] { return "w"; });
  EXPECT_EQ(simulated_, 12.5);
}

TEST_F(Logging, loggers_are_spdlogs) {
  set_levels("test", "models=info");
  const auto logger = spdlog::get("kernbench.models");
  ASSERT_TRUE(logger);
  logger->info("from outside");
  const auto sink = logger->sinks().front();
  spdlog::logger("mine", sink).info("of the user");
  EXPECT_EQ(lines_, (Lines{"models info from outside", "run info of the user"}));
}

TEST_F(Logging, a_file_has_one_line_a_message_with_both_times) {
  const std::string file = ::testing::TempDir() + "logging_test.log";
  std::ofstream(file) << "old\n";
  open_file("--log", file);
  EXPECT_EQ(file_name(), file);
  set_levels("test", "run=info");
  info(Room::run, [] { return "two\nlines"; });
  set_simulated_time([] { return 3.25; });
  warn(Room::launch, [] { return "w"; });
  check_file();
  std::ifstream in(file);
  std::string first, second, third;
  std::getline(in, first);
  std::getline(in, second);
  const std::string wall = R"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} )";
  EXPECT_TRUE(std::regex_match(first, std::regex(wall + R"(- run info: two\\nlines)"))) << first;
  EXPECT_TRUE(std::regex_match(second, std::regex(wall + R"(3\.250 launch warn: w)"))) << second;
  EXPECT_FALSE(std::getline(in, third)) << third;
  std::remove(file.c_str());
}

TEST_F(Logging, a_file_that_cannot_be_written_is_bad_input) {
  EXPECT_THROW(open_file("--log", "/no/such/folder/x.log"), InputError);
}

TEST_F(Logging, a_full_disk_is_told_at_the_end) {
  open_file("--log", "/dev/full");
  warn(Room::run, [] { return "w"; });
  EXPECT_THROW(check_file(), RunError);
}

}  // namespace
}  // namespace kernbench::logging::log_messages_go_where_they_are_sent
