// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/io/logging.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <mutex>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/text.h"

namespace kernbench::logging {

std::array<std::atomic<Level>, kRooms.size()> lowest{Level::warn, Level::warn, Level::warn, Level::warn,
                                                     Level::warn, Level::warn, Level::warn};

namespace {

constexpr std::string_view kPrefix = "kernbench.";
std::atomic<double (*)()> simulated_time{nullptr};

spdlog::level::level_enum to_spdlog(Level level) {
  constexpr std::array kOf = {spdlog::level::debug, spdlog::level::info, spdlog::level::warn, spdlog::level::off};
  return kOf[static_cast<size_t>(level)];
}

template <class Enum, class Names>
std::optional<Enum> named(const Names& names, std::string_view name) {
  const auto it = std::find(names.begin(), names.end(), name);
  return it == names.end() ? std::nullopt : std::optional(static_cast<Enum>(it - names.begin()));
}

Message message_of(const spdlog::details::log_msg& m) {
  Message message;
  const std::string_view logger(m.logger_name.data(), m.logger_name.size());
  // A user's own logger may share the sinks.
  message.room = named<Room>(kRooms, logger.substr(std::min(kPrefix.size(), logger.size()))).value_or(Room::run);
  message.level = m.level >= spdlog::level::warn   ? Level::warn
                  : m.level == spdlog::level::info ? Level::info
                                                   : Level::debug;
  message.wall = m.time;
  if (const auto now_ns = simulated_time.load()) message.simulated_ns = now_ns();
  message.text = {m.payload.data(), m.payload.size()};
  return message;
}

std::string wall_time(const Message& m, const char* form) {
  const auto since_epoch = std::chrono::duration_cast<std::chrono::milliseconds>(m.wall.time_since_epoch());
  return fmt::format(fmt::runtime(form), fmt::localtime(std::chrono::system_clock::to_time_t(m.wall))) +
         fmt::format(".{:03}", since_epoch.count() % 1000);
}

std::string_view room_of(const Message& m) {
  return kRooms[static_cast<size_t>(m.room)];
}

/// stderr, or the sink of set_sink().
class Sink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  std::function<void(const Message&)> function;

 private:
  void sink_it_(const spdlog::details::log_msg& m) override {
    const Message message = message_of(m);
    if (function) return function(message);
    if (message.level == Level::warn) {
      std::cerr << "kernbench: warning: " + escaped(message.text) + "\n";
    } else {
      std::cerr << fmt::format("{} {}: {}\n", wall_time(message, "{:%H:%M:%S}"), room_of(message),
                               escaped(message.text));
    }
  }
  void flush_() override { std::cerr.flush(); }
};

/// Each line is one write() at the end of the file, because forked processes may share it.
class File : public spdlog::sinks::base_sink<std::mutex> {
 public:
  File(const std::string& option, const std::string& file)
      : name(file), fd_(open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666)) {
    if (fd_ < 0) throw InputError(option + ": " + file + ": cannot be written: " + std::strerror(errno));
  }
  ~File() override { close(fd_); }
  const std::string name;
  int error = 0;  ///< of the first failed write

 private:
  void sink_it_(const spdlog::details::log_msg& m) override {
    const Message message = message_of(m);
    const std::string line =
        fmt::format("{} {} {} {}: {}\n", wall_time(message, "{:%Y-%m-%d %H:%M:%S}"),
                    message.simulated_ns ? fmt::format("{:.3f}", *message.simulated_ns) : "-", room_of(message),
                    kLevels[static_cast<size_t>(message.level)], escaped(message.text));
    errno = 0;
    if (::write(fd_, line.data(), line.size()) != static_cast<ssize_t>(line.size()) && error == 0)
      error = errno ? errno : ENOSPC;
  }
  void flush_() override {}

  int fd_;
};

/// Never destroyed, because objects that are destroyed at exit may still write.
struct Loggers {
  std::shared_ptr<Sink> sink = std::make_shared<Sink>();
  std::shared_ptr<File> file;
  std::array<std::shared_ptr<spdlog::logger>, kRooms.size()> all;
  Loggers() {
    for (size_t i = 0; i < all.size(); ++i) {
      all[i] = std::make_shared<spdlog::logger>(std::string(kPrefix) + std::string(kRooms[i]), sink);
      all[i]->set_level(spdlog::level::debug);
      spdlog::register_logger(all[i]);
    }
  }
};

Loggers& loggers() {
  static Loggers& made = *new Loggers;
  return made;
}

}  // namespace

void write(Room room, Level level, const std::string& text) {
  loggers().all[static_cast<size_t>(room)]->log(to_spdlog(level), text);
}

void set_levels(const std::string& option, const std::string& text) {
  std::array<std::optional<Level>, kRooms.size()> set;
  for (size_t from = 0; from <= text.size();) {
    const size_t to = std::min(text.find(',', from), text.size());
    const std::string word = text.substr(from, to - from);
    const size_t equals = word.find('=');
    const auto room = named<Room>(kRooms, word.substr(0, equals));
    const auto level = named<Level>(kLevels, equals == std::string::npos ? word : word.substr(equals + 1));
    if (!level || (equals != std::string::npos && !room))
      throw InputError(option + ": found " + in_quotes(word) +
                       ", expected LEVEL or ROOM=LEVEL; levels: " + joined(kLevels) + "; rooms: " + joined(kRooms));
    for (size_t i = 0; i < set.size(); ++i) {
      if (!room || static_cast<size_t>(*room) == i) set[i] = level;
    }
    from = to + 1;
  }
  loggers();  // from here on, spdlog::get() finds them
  for (size_t i = 0; i < set.size(); ++i) {
    if (set[i]) lowest[i].store(*set[i], std::memory_order_relaxed);
  }
}

void set_simulated_time(double (*now_ns)()) {
  simulated_time = now_ns;
}

void set_sink(std::function<void(const Message&)> sink) {
  loggers().sink->function = std::move(sink);
}

void keep_stderr_to_warnings() {
  loggers().sink->set_level(spdlog::level::warn);
}

void open_file(const std::string& option, const std::string& file) {
  loggers().file = std::make_shared<File>(option, file);
  for (const auto& logger : loggers().all) logger->sinks() = {loggers().sink, loggers().file};
}

const std::string& file_name() {
  static const std::string none;
  return loggers().file ? loggers().file->name : none;
}

void check_file() {
  if (loggers().file && loggers().file->error != 0)
    throw RunError(file_name() + ": cannot be written to: " + std::strerror(loggers().file->error));
}

}  // namespace kernbench::logging
