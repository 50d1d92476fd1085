// `--trace FILE.json`: what every engine did, in the Chrome trace-event form that Perfetto opens.
//
// One process per cube; a PE has a track for its kernel, its scheduler's feed loop and each server of its engines.
// Slices: services (width = occupancy), and stalls by their reason: "waiting for slot", "queue full", "waiting for TCM
// window", "waiting for room"; inside a DMA's service "waiting for link" and "waiting for memory", whose lengths are
// exact and whose place within the transaction is not (waits add up along the way). Instants: command_submitted,
// sub_command_dispatched, tile_ready, command_complete (ADR-0014 D7; engine_start and engine_complete are a service
// slice's ends). Flow arrows join the services of a tile.
// Of messages between PEs: a track for each server that segments pass (vc_comm, inbound, slot writer and reader), and
// for each port that sends or receives by which have waited, made when there is something on it. A segment's slices
// carry port, peer, message and segment; the reader's its whole account. Flow arrows go from vc_comm to slot write and
// slot read. Times: µs with all digits; args carry the op log's ids. Where the host launches it has a process of its
// own, first: upload, launch, kernels, completion, read back, one after the other.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "kernbench/phase2/io/whole_file.h"
#include "kernbench/systemc_models/pe/observer.h"

namespace kernbench {

class JsonWriter;
class Platform;
struct ProgramReport;
struct RunReport;

class ChromeTrace : public PeObserver {
 public:
  /// Attaches to every complete PE of the platform. InputError if the file cannot be made.
  ChromeTrace(Platform&, const std::string& file);
  /// Without close() (a failed run) the file has what has happened.
  ~ChromeTrace() override;
  /// The host's track, once the run is over; none where kernels were launched directly.
  void host(const RunReport&);
  /// The same of a program: a track for each stream with operations that take time.
  void host(const ProgramReport&);
  /// Ends the file; RunError if it could not be written. That of a process that was killed, FILE.part, has no closing
  /// bracket, which the format allows.
  void close();

  void activity(const Pe&, Stage, unsigned server, Activity, const PeItem*, uint64_t op_id, double from,
                double to) override;
  void transaction(const Pe&, Stage, unsigned server, const PeItem&, double granted, double done, double link_wait,
                   double memory_wait) override;
  void feed(const Pe&, FeedActivity, double from, double to) override;
  void kernel_wait(const Pe&, const PeCommand&, double from, double to) override;
  void kernel_works(const Pe&, double from, double to) override;
  void queue_stall(const Pe&, uint32_t port, QueueStall, double from, double to) override;
  void segment_served(const Pe&, QueueServer, const QueueSegment&, double from, double to) override;
  void command_submitted(const Pe&, const PeCommand&, double t) override;
  void sub_command_dispatched(const Pe&, const PeItem&, double t) override;
  void tile_ready(const Pe&, const PeItem&, double t) override;
  void command_complete(const Pe&, const PeCommand&, double t) override;

 private:
  void name_tracks(const Pe&, const std::string& cube);
  // An event is begun, given more fields, and ended. Of slices and instants "args" stays open for more.
  void begin(const char* phase, const Pe&, unsigned track, const std::string& name, double t);
  void begin(const char* phase, uint32_t process, uint64_t track, const std::string& name, double t);
  void end();
  void begin_args(const char* category, double from, double to);
  void end_args();
  void begin_slice(const Pe&, unsigned track, const std::string& name, const char* category, double from, double to);
  void slice(const Pe&, unsigned track, const std::string& name, const char* category, double from, double to);
  struct MessageTrack {
    uint64_t number = 0;
    double until_ns = 0;  ///< there is something on it
  };
  MessageTrack& message_track(const Pe&, const std::string& name);
  void begin_instant(const Pe&, unsigned track, const char* name, double t);
  void flush();

  Platform& platform_;
  WholeFile out_;
  std::string text_;         ///< not in the file yet
  size_t whole_events_ = 0;  ///< so much of it
  bool closed_ = false;
  std::unique_ptr<JsonWriter> json_;
  std::map<std::pair<uint32_t, std::string>, MessageTrack> message_tracks_;  ///< by PE and name
};

}  // namespace kernbench
