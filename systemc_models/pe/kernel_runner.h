// SPDX-License-Identifier: Apache-2.0
// Runs a kernel on a PE: a C++ function in an SC_THREAD. Its commands leave through the PE's pe_cpu, of any class.
// Timing rules §5. Does not model the kernel's own instructions; only tl.elapse and reads of elements take time.
//
// Between two waits the kernel runs ahead of the simulation. A submission only advances the kernel's local clock; its
// effect on memory and its dispatch are entries on the timeline. So only tl.wait switches threads.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernbench/kernel_api/pe_backend.h"
#include "kernbench/phase2/check/races.h"
#include "kernbench/systemc_models/memory/memory_users.h"
#include "kernbench/systemc_models/pe/kernel_run.h"
#include "kernbench/systemc_models/pe/pe.h"
#include "kernbench/systemc_models/pe/poll_watch.h"
#include "kernbench/systemc_models/pe/queue_message.h"

namespace kernbench::memory {
class System;
}
namespace kernbench::core {
class Timeline;
}

namespace kernbench::pe {

class KernelReductions;
class RangedCommand;
class RunningKernel;

/// The kernel is ended from outside.
class KernelAborted : public KernelFault {
 public:
  using KernelFault::KernelFault;
};

class KernelRunner final : public PeBackend, private FlagWaiter {
 public:
  using Kernel = KernelBody;
  using Outcome = KernelOutcome;
  /// `block`: the pe_cpu; op-log records of work outside engines have its name.
  KernelRunner(Pe& pe, System& system, Component& block, CpuRole& cpu);
  ~KernelRunner() override;

  static constexpr size_t kStackBytes = 256 * 1024;
  /// Starts the kernel at start_ns (not before now) in its own thread. One kernel at a time.
  void launch(Kernel kernel, double start_ns, std::function<void(const Outcome&)> on_end,
              size_t stack_bytes = kStackBytes, LaunchId id = {}, std::shared_ptr<KernelReductions> reductions = {});
  /// Starts a driver without a thread. `step` is called at start_ns, and again after each wait (awaits(),
  /// awaits_slot(), pause()). It must call finish() once.
  void drive(std::function<void()> step, double start_ns, std::function<void(const Outcome&)> on_end);
  /// True: the command is not done, or has no slots, and the driver is blocked: `step` must return.
  bool awaits(Ticket);
  bool awaits_slot(Ticket);
  /// next_poll() in two parts: before and after the interval to the next poll.
  void pause(const FlagWait&);
  void look_again(const FlagWait&);
  /// Ends the driver; `step` is not called again.
  void finish();
  /// The kernel, which waits or has not begun, ends in a fault: now, or when it begins. Its commands continue; the next
  /// kernel does not wait for them.
  void abandon(const std::string& why);
  bool abandoned() const { return running_ && !abandoned_.empty(); }
  /// For an abandoned kernel: called when it has ended.
  void then(std::function<void()> next) { next_ = std::move(next); }
  /// The kernel's thread is woken and has not run yet: if nothing else happens, its process is suspended.
  bool due() const { return due_; }
  bool running() const { return running_; }
  System& system() const { return system_; }
  /// The current launch, or the last one.
  const LaunchId& launched() const { return launched_; }
  /// Of the current launch, or the last one; null if it has none.
  const KernelReductions* reductions() const { return reductions_.get(); }
  /// Reports commands and waits to the history, if any, from now on. The history must outlive the simulation.
  void attach_history(CommandHistory* history) { history_ = history; }
  /// For the next launch: after this many loads and stores of one address, a kernel counts as polling. There is one
  /// warning (SC_WARNING, /kernbench/polling), and a history, which would grow without limit, ends.
  void polls_after(uint64_t accesses) { polls_after_ = accesses; }
  /// The kernel's reason for waiting, for deadlock reports; empty if it runs or has ended.
  std::string waiting_for() const;
  /// A command that was submitted here is complete. Called by the pe_cpu, which hears it from the scheduler or pe_ipcq.
  void complete(PeCommand&);
  /// All segments of a send have slots; called likewise.
  void sent(PeCommand&);
  /// The seq of the call that the kernel waits for; none if it runs or has returned.
  std::optional<uint64_t> awaited_seq() const;

  /// A timing-only command: it moves no data and has no desc.
  struct TimedCommand {
    const PeCommand* command = nullptr;
    const QueueCall* queue = nullptr;  ///< of a send or a receive
    const PeCommand* store = nullptr;  ///< the command after the receive
    bool writes = false, releases = false;
  };
  /// Submits a copy of it like submit(). `what` is stamped; reports and call_of() use it as the command's description.
  Ticket submit_timed(const TimedCommand&, const std::shared_ptr<OpDesc>& what);
  /// Description of a command that was submitted here.
  static const OpDesc& call_of(const PeCommand& c) { return *static_cast<const Submitted&>(c).what; }

  // PeBackend.
  uint32_t pe_index() const override { return pe_.index; }
  const std::string& pe_id() const override { return pe_.id; }
  uint32_t cube_index() const override { return pe_.cube; }
  Ticket submit(const std::shared_ptr<OpDesc>& desc) override;
  const std::vector<std::string>& ports() const override { return port_names_; }
  Ticket submit_queue_op(const std::shared_ptr<OpDesc>& desc, const std::shared_ptr<QueueOp>& op) override;
  void wait_for_slot(Ticket) override;
  void wait(Ticket) override;
  bool done(Ticket) const override;
  void follow(Ticket) override;
  void next_poll(const FlagWait&) override;
  void flag_held(const OpDesc& poll) override;
  void elapse(double cycles, const SourceLine& where) override { work(cpu_.cycles_ns(cycles), &where); }
  void read_elements(uint64_t count) override { work(static_cast<double>(count) * cpu_.read_ns()); }
  ScalarCycles scalar_cycles() const override { return cpu_.scalar_cycles(); }
  double now_ns() const override { return local_ns_; }
  uint64_t tcm_alloc(uint64_t nbytes) override;
  void tcm_free(uint64_t addr) override;
  void check_range(Space, uint64_t addr, uint64_t nbytes) const override;
  void materialize(const std::shared_ptr<OpDesc>& desc) override;
  TensorRef translate(const TensorRef&) const override;
  Range sram() const override { return {pe_.sram_base, pe_.sram_bytes}; }
  std::string owner_of(Space space, uint64_t addr) const override;
  MemoryImage& memory() override;

 private:
  struct Submitted : PeCommand {
    Ticket ticket = 0;
    double issue_ns = 0;
    std::shared_ptr<const OpDesc> what;    ///< `desc`, or the driver's description
    bool writes = false;                   ///< a release waits for it
    bool releases = false;                 ///< waits for earlier commands that write
    std::shared_ptr<OpDesc> materializes;  ///< set for a materialization, which no engine serves
    RangedCommand* of_ranges = nullptr;    ///< `ranged`, for a gather, a scatter or an atomic
    // A send or a receive.
    std::shared_ptr<QueueOp> op;
    QueueCall call;
    bool has_slots = false;
    double slots_ns = 0;
    std::unique_ptr<Submitted> store;  ///< store of a copy_to_dst, for its receive
    Submitted* store_of = nullptr;     ///< receive of a copy_to_dst, for its store
  };
  /// Map from tickets to commands, because tickets are used more often than the large commands.
  struct Kept {
    std::unique_ptr<Submitted> command;  ///< null: done, and its records are not needed
    bool done = false;
  };
  void leave_behind();
  void end_left_behind(const Submitted&);
  void begin(double start_ns, std::function<void(const Outcome&)> on_end, LaunchId id);
  void start();
  void run();
  void stands_still(const char* op, const SourceLine& where);
  void wake();
  void step();
  void returned();
  void nothing() {}
  void check_destinations(const PeCommand&, const OpDesc&);
  void join(Submitted&, const OpDesc&);
  Submitted& enqueue(std::unique_ptr<Submitted>, const std::shared_ptr<OpDesc>&);
  void take_effect(Submitted&);
  void issue(Submitted&);
  bool writes_before(const Submitted&) const;
  void release_held();
  void issue_held(Submitted&);
  void poll_due();
  Polling polling() const override;
  bool has_open_messages() const override;
  bool only_messages_open(const Submitted* beside) const;
  std::string flag_text() const override;
  void issue_materialization(Submitted&);
  void issue_queue_op(Submitted&);
  void tell_polling(const OpDesc&, uint64_t address);
  void store_received(Submitted&);
  void note_message(const Submitted&);
  void fail_if_faulty(Ticket);
  void resume(const PeCommand&, double at_ns);
  void end_if_complete();
  void go_on(double ns, const SourceLine& where = {});
  void work(double ns, const SourceLine* where = nullptr);
  void end_work();
  std::string behind_last_call() const;
  void stay();
  void stand();
  void end_abandoned();
  /// Observer of kernels. A driver of calls reports them itself.
  PeObserver* watcher() const { return step_ ? nullptr : pe_.observer; }
  void tell(KernelActivity) const;
  /// The first ticket is 1, the first seq 0.
  static uint64_t seq_of(Ticket t) { return t - 1; }
  const Kept* kept(Ticket) const;
  Submitted* find(Ticket) const;
  /// A command that is not done; else null.
  Submitted* open(Ticket) const;
  void keep_op_ids(const Submitted&);
  void load_begins(uint64_t addr);
  void load_ends(uint64_t addr);

  Timeline& timeline() const;

  Pe& pe_;
  System& system_;
  Component& block_;
  CpuRole& cpu_;
  CommandHistory* history_ = nullptr;

  bool running_ = false, returned_ = false;
  double local_ns_ = 0;  ///< the kernel's clock, ahead of the simulation between two waits
  double last_done_ns_ = 0;
  double work_from_ns_ = -1;  ///< start of scalar work that was not reported yet; negative: none
  SourceLine work_where_;     ///< source line of its longest tl.elapse
  double work_most_ns_ = 0;
  Outcome outcome_;
  LaunchId launched_;
  std::shared_ptr<KernelReductions> reductions_;
  RunningKernel* place_ = nullptr;  ///< of the running kernel
  std::function<void(const Outcome&)> on_end_;
  Kernel kernel_;
  std::function<void()> step_;  ///< of the driver; empty: a kernel runs in a thread
  size_t stack_bytes_ = 0, guard_bytes_ = 0;
  struct Thread;
  std::unique_ptr<Thread> thread_;  ///< of SystemC, in which the kernel runs
  Ticket awaited_ = 0;
  bool waiting_ = false, waiting_for_slot_ = false, due_ = false;
  std::string abandoned_;                     ///< reason; empty: not abandoned
  std::function<void()> next_;                ///< runs after an abandoned kernel
  std::string* materialize_fault_ = nullptr;  ///< where the blocked kernel expects the fault of a materialization

  Ticket first_ticket_ = 1;  ///< tickets below are done
  std::deque<Kept> submitted_;
  std::vector<std::unique_ptr<Submitted>> left_behind_;  ///< commands of kernels that ended in a fault
  size_t outstanding_ = 0;
  uint64_t seq_ = 0;
  // If there is a log, for tl.follow.
  std::vector<uint64_t> op_ids_;    ///< op ids of finished commands, in sequence; 0: no record
  std::vector<size_t> op_ids_end_;  ///< end of the op ids of a command, by ticket
  std::vector<uint64_t> followed_;  ///< for the next command
  std::deque<Submitted*> held_;     ///< release atomics, until all earlier writes of the kernel are complete
  const FlagWait* flag_ = nullptr;  ///< the condition that the kernel polls for, from the first unsuccessful poll on
  bool pauses_ = false;             ///< between two polls
  std::string poll_fault_;
  double last_poll_ns_ = -1;
  size_t polls_of_instant_ = 0;
  uint64_t polls_after_ = PollWatch::kMany;
  PollWatch polls_;
  std::map<Ticket, KernelFault> faults_;           ///< of receives whose message did not match
  std::vector<std::string> port_names_;            ///< of the launch
  std::vector<uint64_t> messages_sent_;            ///< by port, for the history
  std::unordered_map<Ticket, uint64_t> messages_;  ///< of receives without a wait so far, for the history
  std::vector<uint64_t> loads_;                    ///< TCM addresses of loads in flight, sorted
  std::unordered_map<uint64_t, bool> free_later_;  ///< TCM freed while a load into it is in flight
};

/// Fills in the command that times an OpDesc. KernelFault if the hardware has no such command (strides).
void fill_command(const OpDesc&, PeCommand&);

}  // namespace kernbench::pe
