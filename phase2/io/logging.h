// SPDX-License-Identifier: Apache-2.0
// Log messages of the library and the programs. Each room has a named spdlog logger, such as "kernbench.run"
// (docs/logging.md). This header does not include spdlog. A caller passes a text and builds it only if the level is on.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace kernbench::logging {

enum class Room : uint8_t { topology, elaborate, launch, run, study, web, models };
constexpr std::array<std::string_view, 7> kRooms = {"topology", "elaborate", "launch", "run", "study", "web", "models"};

enum class Level : uint8_t { debug, info, warn, off };
constexpr std::array<std::string_view, 4> kLevels = {"debug", "info", "warn", "off"};

/// The minimum level of each room; initially warn. set_levels() sets it.
extern std::array<std::atomic<Level>, kRooms.size()> lowest;

inline bool enabled(Room room, Level level) {
  return level >= lowest[static_cast<size_t>(room)].load(std::memory_order_relaxed);
}

/// Writes one message. Line ends and control characters in it are escaped.
void write(Room room, Level level, const std::string& text);

/// `text` is a callable that returns the message. It is called only if the level is on.
template <class Text>
void debug(Room room, const Text& text) {
  if (enabled(room, Level::debug)) write(room, Level::debug, text());
}
template <class Text>
void info(Room room, const Text& text) {
  if (enabled(room, Level::info)) write(room, Level::info, text());
}
template <class Text>
void warn(Room room, const Text& text) {
  if (enabled(room, Level::warn)) write(room, Level::warn, text());
}

/// LEVEL or ROOM=LEVEL, separated by commas, applied in order: "warn,run=debug". InputError for other words; `option`
/// names the source of the text.
void set_levels(const std::string& option, const std::string& text);

/// Source of the simulated time in ns of each message; a Platform sets it.
void set_simulated_time(double (*now_ns)());

struct Message {
  Room room = Room::run;
  Level level = Level::info;
  std::chrono::system_clock::time_point wall;
  std::optional<double> simulated_ns;  ///< absent before a platform exists
  std::string_view text;               ///< not escaped
};

/// Redirects messages from stderr to `sink`. An empty function restores stderr.
void set_sink(std::function<void(const Message&)> sink);

/// Limits stderr to warnings, for any levels.
void keep_stderr_to_warnings();

/// Writes messages also to this file, which is overwritten. InputError if it cannot be written.
void open_file(const std::string& option, const std::string& file);
/// The name of the open file; empty without one.
const std::string& file_name();
/// RunError if a message could not be written to the file.
void check_file();

}  // namespace kernbench::logging
