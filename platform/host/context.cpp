#include "kernbench/platform/host/context.h"

#include <algorithm>

#include "kernbench/kernel_api/collectives/redistribution.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/launch/host_mmu.h"
#include "kernbench/platform/launch/host_transfer.h"
#include "kernbench/platform/launch/launch.h"
#include "kernbench/platform/launch/launch_host.h"
#include "kernbench/platform/launch/launch_preparation.h"
#include "kernbench/platform/launch/pe_selection.h"
#include "kernbench/platform/platform.h"

namespace kernbench::host {
namespace {

void merge(const CommandHistory::Clock& from, CommandHistory::Clock& into) {
  for (const auto& [pe, events] : from) {
    uint64_t& known = into[pe];
    known = std::max(known, events);
  }
}

/// What `work` does not like is told with the program's line.
template <class Work>
auto located(const char* file, int line, const Work& work) {
  const auto told = [&](const std::exception& e) {
    const std::string text = e.what(), here = line > 0 ? to_string(SourceLine{file, line}) + ": " : "";
    return text.compare(0, here.size(), here) == 0 ? text : here + text;
  };
  try {
    return work();
  } catch (const BadParam& e) {
    throw BadParam(told(e));
  } catch (const InputError& e) {
    throw InputError(told(e));
  } catch (const KernelFault&) {
    throw;
  } catch (const RunError& e) {
    throw RunError(told(e));
  }
}

/// What `work` throws that no call of the Context has told stands somewhere behind the program's last one.
template <class Work>
void located_behind(const SourceLine& last_call, const Work& work) {
  const auto told = [&](const std::exception& e) {
    const std::string text = e.what(), there = to_string(last_call) + ": ";
    return last_call.line == 0 || text.compare(0, there.size(), there) == 0 ? text : "behind " + there + text;
  };
  try {
    work();
  } catch (const sc_core::sc_unwind_exception&) {
    throw;  // the simulation's own
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const BadParam& e) {
    throw BadParam(told(e));
  } catch (const InputError& e) {
    throw InputError(told(e));
  } catch (const std::exception& e) {
    throw RunError(told(e));
  }
}

}  // namespace

struct Context::Simulated {
  explicit Simulated(LaunchHost& host) : launcher(host), transfer(host, HostTransfer::kWhole) {}
  Launcher launcher;
  HostTransfer transfer;
  sc_core::sc_event changed;
};

template <class Work>
auto Context::at(const char* file, int line, const Work& work) const {
  last_call_ = {file, line};
  return located(file, line, work);
}

Context::Context(Platform& platform, const ProgramSpec& spec, Params params, std::vector<size_t> pes,
                 ContextOptions options)
    : platform_(platform),
      spec_(spec),
      params_(std::move(params)),
      options_(options),
      pes_(platform.machine(), std::move(pes)),
      streams_(platform.timeline(), pes_.ranks, [this] { operation_ended(); }),
      may_change_memory_(std::make_shared<std::function<bool()>>([this] { return streams_.moves_beside_launches(); })),
      simulated_(std::make_unique<Simulated>(platform.hosts().launch_host())),
      pe_times_(pes_.pes.size()) {
  platform.system().may_change_memory(may_change_memory_);
  const Group& all = group(pes_.pes);
  launch_mode_ = all.way.mode;
  launch_note_ = all.way.note;
  for (const ProgramTensor& t : spec_.tensors)
    named_[t.name] = std::make_shared<TensorPlaces>(platform_.machine(), platform_.hosts().allocators(), pes_, t.name,
                                                    t.dtype(params_), t.shape(params_), t.layout);
  for (const auto& [name, t] : named_) {
    map(*t);
    count_stored(*t);
  }
}

Context::~Context() {
  for (const auto& plan : running_) plan->queues.reset();
}

double Context::now_ns() const {
  return platform_.timeline().now_ns();
}

// ---- ranks and streams

On Context::ranks() const {
  std::vector<Stream> all;
  for (uint32_t r = 0; r < pes_.ranks; ++r) all.push_back({r, 0});
  return all;
}

On Context::rank(uint32_t r, const char* file, int line) const {
  return at(file, line, [&]() -> On {
    const On on = Stream{r, 0};
    check(on);
    return on;
  });
}

Stream Context::stream(uint32_t rank, const char* file, int line) {
  return at(file, line, [&]() -> Stream {
    if (rank >= pes_.ranks)
      throw InputError("rank " + std::to_string(rank) + ": the program has " + std::to_string(pes_.ranks) + " ranks");
    return streams_.add(rank);
  });
}

void Context::check(const On& on) const {
  const std::vector<Stream>& s = on.streams();
  if (s.empty()) throw InputError("an operation on no rank");
  for (size_t i = 0; i < s.size(); ++i) {
    if (!streams_.exists(s[i])) throw InputError(s[i].to_string() + ": the program has none");
    if (i > 0 && s[i - 1].rank >= s[i].rank)
      throw InputError("an operation stands in one stream of each of its ranks, in their order: found " +
                       s[i - 1].to_string() + " before " + s[i].to_string());
  }
}

// ---- tensors

Tensor Context::named(const std::string& name, TensorSpec::Role role) const {
  const ProgramTensor* t = spec_.tensor(name);
  if (!t || !(role == TensorSpec::Role::in ? t->is_input() : t->is_output())) {
    throw InputError("program " + spec_.name + " has no " + (role == TensorSpec::Role::in ? "input" : "output") + " '" +
                     name + "'");
  }
  return Tensor(named_.at(name));
}

Tensor Context::input(const std::string& name, const char* file, int line) const {
  return at(file, line, [&] { return named(name, TensorSpec::Role::in); });
}

Tensor Context::output(const std::string& name, const char* file, int line) const {
  return at(file, line, [&] { return named(name, TensorSpec::Role::out); });
}

Tensor Context::made(std::shared_ptr<const TensorPlaces> places) {
  made_.push_back(std::move(places));
  map(*made_.back());
  count_stored(*made_.back());
  return Tensor(made_.back());
}

Tensor Context::tensor(DType dtype, const Dims& shape, const Layout& layout, const std::string& name, const char* file,
                       int line) {
  return at(file, line, [&] {
    give_back_freed();
    const std::string called = name.empty() ? "tensor" + std::to_string(tensors_made_++) : name;
    return made(std::make_shared<TensorPlaces>(platform_.machine(), platform_.hosts().allocators(), pes_, called, dtype,
                                               shape, layout));
  });
}

Tensor Context::tensor(const HostTensor& value, const Layout& layout, const std::string& name, const char* file,
                       int line) {
  const Tensor t = tensor(value.dtype, value.shape, layout, name, file, line);
  for (uint32_t r = 0; r < pes_.ranks; ++r) t.places()->place(t.places()->shards_of(value, r), r);
  return t;
}

Tensor Context::partial_like(const Tensor& t, const std::string& name, const char* file, int line) {
  return tensor(t.dtype(), t.shape(), t.layout().over_ranks(rank_partial().rank()), name, file, line);
}

Tensor Context::slice(const Tensor& t, int axis, int64_t first, int64_t count, const char* file, int line) const {
  return at(file, line, [&] {
    check(t);
    return Tensor(std::make_shared<TensorPlaces>(t.places(), axis, first, count));
  });
}

Tensor Context::view(const Tensor& t, const Dims& shape, const char* file, int line) const {
  return at(file, line, [&] {
    check(t);
    return Tensor(std::make_shared<TensorPlaces>(t.places(), shape));
  });
}

void Context::check(const Tensor& t) const {
  if (!t.places()) throw InputError("a tensor that is none");
  if (t.places()->freed())
    throw InputError("tensor " + t.name() + " was freed at " + to_string(t.places()->freed_at()));
}

void Context::free(const Tensor& t, const char* file, int line) {
  at(file, line, [&] {
    check(t);
    const auto it =
        std::find_if(made_.begin(), made_.end(), [&](const auto& made) { return made.get() == &t.places()->owner(); });
    if (it == made_.end()) throw InputError("tensor " + t.name() + " is the program's own and stays");
    t.places()->free({file, line});
    freed_.push_back(*it);
    made_.erase(it);
    give_back_freed();
  });
}

/// What a kernel may use does not vanish under it: where none runs.
void Context::give_back_freed() {
  if (!running_.empty()) return;
  for (auto it = freed_.begin(); it != freed_.end();) {
    if ((*it)->use().use_count() > (writers_.count((*it)->use()) ? 2 : 1)) {
      ++it;
      continue;
    }
    writers_.erase((*it)->use());
    for (const auto& m : (*it)->mappings())
      HostMmu::unmap_now(platform_.machine(), {{}, m->begin(), m->nbytes}, with_mmu());
    const Stored less = stored_of(**it);
    stored_ = {stored_.bytes - less.bytes, stored_.copies - less.copies};
    (*it)->give_back();
    it = freed_.erase(it);
  }
}

Context::Stored Context::stored_of(const TensorPlaces& t) {
  const uint64_t bytes = t.stored_bytes();
  return {bytes, t.layout().partial() ? 0 : bytes - std::min(bytes, t.nbytes())};
}

void Context::count_stored(const TensorPlaces& t) {
  const Stored more = stored_of(t);
  stored_ = {stored_.bytes + more.bytes, stored_.copies + more.copies};
  if (stored_.bytes > most_stored_.bytes) most_stored_ = stored_;
}

Scope::~Scope() {
  while (context_.made_.size() > first_) context_.free(Tensor(context_.made_.back()));
}

void Context::writes(const Tensor& t) {
  std::vector<const Operation*>& all = writers_[t.places()->use()];
  // Operations end nearly in order; of a program that enqueues many before one ends none is looked at again and again.
  if (!all.empty() && all.front()->open == 0)
    all.erase(std::remove_if(all.begin(), all.end(), [](const Operation* op) { return op->open == 0; }), all.end());
  all.push_back(&streams_.operations().back());
}

/// PEs without an MMU know physical addresses only.
std::vector<size_t> Context::with_mmu() const {
  std::vector<size_t> some;
  std::copy_if(pes_.pes.begin(), pes_.pes.end(), std::back_inserter(some),
               [&](size_t p) { return platform_.pes().pe(p).mmu != nullptr; });
  return some;
}

void Context::map(const TensorPlaces& t) {
  const std::vector<size_t> pes = with_mmu();
  for (const auto& mapping : t.mappings()) {
    const HostResponse r = HostMmu::map_now(platform_.machine(), {{}, mapping}, pes);
    if (!r.ok()) throw RunError(r.text);
  }
}

void Context::place(const std::string& input, const HostTensor& value) {
  const TensorPlaces& to = places(input);
  for (uint32_t r = 0; r < pes_.ranks; ++r) to.place(to.shards_of(value, r), r);
}

void Context::place_zeros(const std::string& input) {
  const TensorPlaces& to = places(input);
  const uint64_t most = static_cast<uint64_t>(to.most_elements()) * size_of(to.dtype());
  const SharedBytes zeros = SharedBytes::take(Bytes(most));
  for (uint32_t r = 0; r < pes_.ranks; ++r) {
    std::vector<SharedBytes> shards;
    for (const RankRange& range : to.ranges(r, TensorPlaces::Copies::all)) {
      shards.push_back(zeros);
      shards.back().size = range.nbytes;
    }
    to.place(shards, r);
  }
}

void Context::place(const std::string& input, const ElementSource& source) {
  const TensorPlaces& to = places(input);
  for (uint32_t r = 0; r < pes_.ranks; ++r) to.place(to.shards_of(source, r), r);
}

// ---- launches

const Context::Group& Context::group(const std::vector<size_t>& pes) {
  const auto [it, is_new] = groups_.try_emplace(pes);
  if (is_new) {
    try {
      it->second.way = choose_launch_way(platform_.hosts().launch_host(), pes, options_.launch);
    } catch (const HostPathError& e) {
      throw InputError(std::string("--launch host: ") + e.what());
    }
    it->second.programs = programs_of(platform_.machine(), pes);
  }
  return it->second;
}

void Context::choose_pes(LaunchPlan& plan, const On& on, const std::string& pes) const {
  std::vector<size_t> chosen = pes_.pes;
  if (pes != "all")
    chosen =
        kernbench::choose_pes(platform_.machine(), {pes, "all", "all", "launch of " + plan.kernel->name + ": pes"});
  for (const Stream& s : on.streams()) {
    plan.parts.emplace_back();
    for (size_t p = 0; p < pes_.pes.size(); ++p) {
      if (pes_.rank[p] != s.rank || !std::binary_search(chosen.begin(), chosen.end(), pes_.pes[p])) continue;
      plan.parts.back().push_back(static_cast<uint32_t>(plan.pes.size()));
      plan.pes.push_back(pes_.pes[p]);
      plan.places.push_back(p);
    }
  }
  if (plan.pes.empty()) throw InputError("launch of " + plan.kernel->name + ": none of its ranks has a PE of " + pes);
  if (pes == "all" || pes == "leaders") return;
  for (const size_t p : chosen) {
    if (std::find(plan.pes.begin(), plan.pes.end(), p) == plan.pes.end())
      throw InputError("launch of " + plan.kernel->name + ": pes: " + platform_.pes().pe(p).id +
                       " is on none of its ranks");
  }
}

void Context::give_tensors(LaunchPlan& plan, const TensorPointers& tensors) const {
  std::map<uint32_t, std::shared_ptr<tl::LaunchArgs>> of_rank;
  for (const size_t p : plan.places) {
    std::shared_ptr<tl::LaunchArgs>& args = of_rank[pes_.rank[p]];
    if (!args) {
      args = std::make_shared<tl::LaunchArgs>(plan.params);
      for (const TensorSpec& t : plan.kernel->tensors) {
        const bool flat = t.placement == Placement::flat_rows && !t.policy;
        tensors.at(t.name)->add_to(*args, t.name, plan.places, pes_.rank[p], options_.addresses, flat);
      }
    }
    plan.args.push_back(args);
  }
}

void Context::launch(const On& on, const std::string& kernel, const KernelParams& params,
                     const std::map<std::string, Tensor>& tensors, const std::string& pes, const char* file, int line) {
  return at(file, line, [&] {
    check(on);
    const auto plan = std::make_shared<LaunchPlan>();
    const KernelSpec& named = KernelRegistry::instance().at(kernel);
    TensorPointers places;
    for (const auto& [name, t] : tensors) {
      check(t);
      places[name] = t.places();
    }
    plan->kernel = launched_kernel(named, places);
    plan->params = launch_params(*plan->kernel, params, places);
    if (plan->kernel->materializes && !platform_.system().pending_values())
      throw InputError("launch of " + kernel + ": it materializes values, and program " + spec_.name +
                       " does not say so (ProgramSpec::materializes)");
    choose_pes(*plan, on, pes);
    plan->way = group(plan->pes).way;
    plan->programs = group(plan->pes).programs;
    PreparedLaunch prepared = prepare_launch(platform_.machine(), *plan->kernel, std::move(plan->params), plan->pes,
                                             plan->programs.front().launch);
    plan->params = std::move(prepared.params);
    give_tensors(*plan, places);
    plan->number = launches_++;
    plan->behind = program_clock_;
    Operation op;
    op.kind = Operation::Kind::launch;
    op.where = {file, line};
    op.name = kernel;
    op.streams = on.streams();
    op.notes = std::move(prepared.notes);
    for (const auto& [name, t] : tensors) op.uses.push_back(t.places()->use());
    op.begin = [this, plan](Operation& o) {
      guarded([&] { located(o.where.file, o.where.line, [&] { begin_launch(plan, o); }); });
    };
    enqueue(std::move(op));
    for (const auto& [name, t] : tensors) {
      if (plan->kernel->tensor(name)->is_output()) writes(t);
    }
  });
}

void Context::begin_launch(const std::shared_ptr<LaunchPlan>& plan, Operation& op) {
  try {
    plan->queues = std::make_unique<LaunchQueues>(platform_.machine(), platform_.hosts().allocators(), *plan->kernel,
                                                  plan->params, *plan->programs.front().launch, plan->pes);
  } catch (const InputError& e) {
    if (plan->number == 0) throw;
    throw RunError(e.what());  // what is there depends on what ran before
  }
  running_.insert(plan);
  KernelLaunch message;
  message.id = {plan->number, "launch " + std::to_string(plan->number) + " (" + plan->kernel->name + ")",
                plan->kernel->name};
  message.pes = plan->pes;
  message.ports = plan->queues->ports();
  message.kernel = [plan](size_t place) {
    return [plan, place](PeBackend& backend) {
      tl::Context context(backend, plan->programs[place]);
      plan->kernel->function(context, tl::Args(plan->args[place], static_cast<uint32_t>(place)));
      context.finish();
    };
  };
  op.start_ns = now_ns() + plan->way.latest_ns;
  join_streams(op);
  merge(stream_clocks_[op.streams.front()], plan->behind);
  if (options_.history) {
    for (const size_t pe : plan->pes) options_.history->begins(static_cast<uint32_t>(pe), plan->behind);
  }
  std::vector<std::vector<uint32_t>> parts;
  std::vector<size_t> place_of_part;
  for (size_t i = 0; i < plan->parts.size(); ++i) {
    if (plan->parts[i].empty()) continue;
    parts.push_back(plan->parts[i]);
    place_of_part.push_back(i);
  }
  simulated_->launcher.launch(
      std::move(message), plan->way, parts, [this, plan, &op, place_of_part](size_t part, const LaunchResult& r) {
        guarded([&] { located(op.where.file, op.where.line, [&] { part_ended(plan, op, place_of_part[part], r); }); });
      });
  for (size_t i = 0; i < plan->parts.size(); ++i) {
    if (plan->parts[i].empty()) streams_.end(op, i);
  }
}

void Context::part_ended(const std::shared_ptr<LaunchPlan>& plan, Operation& op, size_t part, const LaunchResult& r) {
  if (!r.response.ok()) {
    const bool busy = r.response.code == HostError::pe_busy;
    throw RunError((busy ? "pe_busy: " : "") + r.response.text);
  }
  for (const uint32_t place : plan->parts[part]) {
    const KernelOutcome& outcome = r.outcomes[place];
    PeTimes& times = pe_times_[plan->places[place]];
    if (!times.launched) times.start_ns = outcome.start_ns;
    times.launched = true;
    times.end_ns = std::max(times.end_ns, outcome.end_ns);
    times.scalar_ns += outcome.scalar_ns;
  }
  if (options_.history) {
    CommandHistory::Clock& clock = stream_clocks_[op.streams[part]];
    merge(plan->behind, clock);
    for (const uint32_t place : plan->parts[part])
      options_.history->ended(static_cast<uint32_t>(plan->pes[place]), &clock);
  }
  if (op.open == 1) {
    plan->queues.reset();
    running_.erase(plan);
  }
  streams_.end(op, part);
}

// ---- copies

void Context::upload(const Tensor& t, const HostTensor& value, const char* file, int line) {
  upload(ranks(), t, value, file, line);
}

void Context::upload(const On& on, const Tensor& t, const HostTensor& value, const char* file, int line) {
  return at(file, line, [&] {
    check(t);
    t.places()->check(value);
    copy(Operation::Kind::upload, on, t, std::make_shared<const HostTensor>(value), {file, line});
  });
}

void Context::download(const Tensor& t, const char* file, int line) {
  download(ranks(), t, file, line);
}

void Context::download(const On& on, const Tensor& t, const char* file, int line) {
  return at(file, line, [&] { copy(Operation::Kind::download, on, t, nullptr, {file, line}); });
}

void Context::copy(Operation::Kind kind, const On& on, const Tensor& t, std::shared_ptr<const HostTensor> value,
                   const SourceLine& where) {
  check(on);
  check(t);
  for (const Stream& s : on.streams()) {
    if (!options_.timed_transfer) break;
    for (const RankRange& r : t.places()->ranges(s.rank, TensorPlaces::Copies::all)) {
      const HostResponse response = kind == Operation::Kind::upload
                                        ? simulated_->transfer.check(MemoryWrite{{}, r.address, r.nbytes})
                                        : simulated_->transfer.check(MemoryRead{{}, r.address, r.nbytes});
      if (!response.ok()) throw InputError("--transfer timed: " + response.text);
    }
  }
  Operation op;
  op.kind = kind;
  op.where = where;
  op.name = t.name();
  op.streams = on.streams();
  op.uses = {t.places()->use()};
  op.begin = [this, places = t.places(), value](Operation& o) { guarded([&] { begin_copy(o, places, value); }); };
  enqueue(std::move(op));
  if (kind == Operation::Kind::upload) writes(t);
}

void Context::begin_copy(Operation& op, const std::shared_ptr<const TensorPlaces>& places,
                         const std::shared_ptr<const HostTensor>& value) {
  join_streams(op);
  for (size_t i = 0; i < op.streams.size(); ++i) {
    const uint32_t rank = op.streams[i].rank;
    std::vector<SharedBytes> shards;
    if (value) shards = places->shards_of(*value, rank);
    std::vector<MemoryWrite> writes;
    std::vector<MemoryRead> reads;
    const bool up = op.kind == Operation::Kind::upload;
    if (options_.timed_transfer) {
      for (const RankRange& r : places->ranges(rank, up ? TensorPlaces::Copies::all : TensorPlaces::Copies::first)) {
        if (up)
          writes.push_back({{}, r.address, r.nbytes, value ? shards[writes.size()].data() : nullptr});
        else
          reads.push_back({{}, r.address, r.nbytes});
      }
    }
    const auto ended = [this, &op, i, rank, places, shards = std::move(shards)](const HostResponse& r) {
      guarded([&] {
        located(op.where.file, op.where.line, [&] {
          if (!r.ok()) throw RunError(r.text);
        });
        if (!shards.empty()) places->place(shards, rank);
        streams_.end(op, i);
      });
    };
    if (writes.empty() && reads.empty()) {
      ended({});
    } else if (up) {
      simulated_->transfer.write(writes, ended);
    } else {
      simulated_->transfer.read(reads, ended);
    }
  }
}

// ---- delays and events

void Context::delay(const On& on, double ns, const char* file, int line) {
  return at(file, line, [&] {
    check(on);
    if (!(ns >= 0 && ns < 1e15)) throw InputError("delay: " + std::to_string(ns) + " ns; legal: 0 to 1e15");
    Operation op;
    op.kind = Operation::Kind::delay;
    op.where = {file, line};
    op.streams = on.streams();
    op.begin = [this, ns](Operation& o) {
      join_streams(o);
      platform_.timeline().at(now_ns() + ns, Order(Order::kEngines, 0, 0), call<&Streams::end_all>(streams_, o));
    };
    enqueue(std::move(op));
  });
}

Event Context::event(const std::string& name) {
  auto e = std::make_shared<EventState>();
  e->name = name.empty() ? "event" + std::to_string(events_made_++) : name;
  return e;
}

void Context::record(const Event& e, const Stream& s, const char* file, int line) {
  return at(file, line, [&] {
    check(s);
    if (!e || e->recorded) throw InputError(e ? "event " + e->name + " is recorded twice" : "an event that is none");
    Operation op;
    op.kind = Operation::Kind::record;
    op.where = {file, line};
    op.name = e->name;
    op.streams = {s};
    op.event = e;
    op.begin = [this](Operation& o) {
      o.event->clock = stream_clocks_[o.streams.front()];
      streams_.end(o, 0);
    };
    enqueue(std::move(op));
  });
}

void Context::wait(const Event& e, const On& on, const char* file, int line) {
  return at(file, line, [&] {
    check(on);
    if (!e) throw InputError("an event that is none");
    for (const Stream& s : on.streams()) {
      Operation op;
      op.kind = Operation::Kind::wait;
      op.where = {file, line};
      op.name = e->name;
      op.streams = {s};
      op.event = e;
      op.begin = [this](Operation& o) {
        merge(o.event->clock, stream_clocks_[o.streams.front()]);
        streams_.end(o, 0);
      };
      enqueue(std::move(op));
    }
  });
}

void Context::enqueue(Operation op) {
  streams_.enqueue(std::move(op));
}

// ---- blocking

void Context::block_until(const std::function<bool()>& condition) {
  while (!condition()) {
    waiting_ = true;
    sc_core::wait(simulated_->changed);
  }
}

void Context::join_streams(const Operation& op) {
  if (op.streams.size() == 1) return;
  CommandHistory::Clock all;
  for (const Stream& s : op.streams) merge(stream_clocks_[s], all);
  for (const Stream& s : op.streams) stream_clocks_[s] = all;
}

void Context::operation_ended() {
  end_ns_ = std::max(end_ns_, now_ns());
  if (!freed_.empty()) give_back_freed();
  if (waiting_) simulated_->changed.notify();
  waiting_ = false;
}

void Context::synchronize() {
  block_until([this] { return streams_.empty(); });
  for (const auto& [stream, clock] : stream_clocks_) merge(clock, program_clock_);
}

void Context::synchronize(const Stream& s, const char* file, int line) {
  return at(file, line, [&] {
    check(s);
    block_until([&] { return streams_.empty(s); });
    merge(stream_clocks_[s], program_clock_);
  });
}

void Context::synchronize(const Event& e, const char* file, int line) {
  return at(file, line, [&] {
    if (!e) throw InputError("an event that is none");
    block_until([&] { return e->done; });
    merge(e->clock, program_clock_);
  });
}

HostTensor Context::read(const Tensor& t, ReadAfter after, const char* file, int line) {
  return at(file, line, [&] {
    check(t);
    if (after == ReadAfter::all) {
      synchronize();
    } else {
      const std::vector<const Operation*> waited_for = writers_[t.places()->use()];
      block_until([&] {
        return std::all_of(waited_for.begin(), waited_for.end(), [](const Operation* op) { return op->open == 0; });
      });
    }
    t.places()->collect([](uint64_t, uint8_t*, uint64_t) {});  // a partial tensor is told before it is copied
    if (after == ReadAfter::all) {
      download(t);
      synchronize();
    } else if (options_.timed_transfer) {
      std::vector<Stream> aside;
      for (uint32_t r = 0; r < pes_.ranks; ++r) {
        const auto known = readers_.find(r);
        aside.push_back(known != readers_.end() ? known->second : readers_[r] = streams_.add(r));
      }
      download(aside, t);
      const Operation& copy = streams_.operations().back();
      block_until([&] { return copy.open == 0; });
    }
    return t.places()->collect([&](uint64_t address, uint8_t* bytes, uint64_t nbytes) {
      System& system = platform_.system();
      const MemoryWindow window = system.window_at(address);
      if (ForeignStore* store = System::store_of(window)) store->pull(address, nbytes);
      if (const auto producer = system.read_from_outside(window.space, address, bytes, nbytes))
        throw RunError("tensor " + t.name() + ": its bytes are pending until Phase 2 runs " + producer->name +
                       " (a topology that says `materialize: outputs` lets the host read them)");
    });
  });
}

// ---- layouts

Tensor Context::redistribute(const Tensor& x, const Layout& layout, const std::string& name, const char* file,
                             int line) {
  return at(file, line, [&] {
    check(x);
    if (layout.partial()) throw InputError("redistribute: to a layout that is partial: nobody sums it up");
    if (x.layout() == layout && &x.places()->owner() == x.places().get()) return x;
    const Tensor y =
        tensor(x.dtype(), x.shape(), layout, name.empty() ? x.name() + "_" + std::to_string(tensors_made_++) : name);
    redistribute(x, y, file, line);
    return y;
  });
}

void Context::redistribute(const Tensor& x, const Tensor& y, const char* file, int line) {
  at(file, line, [&] {
    const On on = ranks_of({x, y});
    launch(on, "redistribute", {{"partial", x.layout().partial()}, {"rings", rings(on, x, y)}}, {{"x", x}, {"y", y}},
           "all", file, line);
  });
}

/// The kernel's queues are made before it sees its tensors: what goes round whom is said by text.
std::string Context::rings(const On& on, const Tensor& x, const Tensor& y) const {
  ShardPlan from = x.places()->plan(), to = y.places()->plan();
  std::vector<LayoutPlace> places;
  const auto keep = [&](ShardPlan& plan) {
    std::vector<Shard> some;
    for (size_t p = 0; p < pes_.pes.size(); ++p) {
      const auto has = [&](const Stream& s) { return s.rank == pes_.rank[p]; };
      if (std::any_of(on.streams().begin(), on.streams().end(), has)) some.push_back(plan.shards[p]);
    }
    plan.shards = std::move(some);
  };
  keep(from);
  keep(to);
  for (size_t p = 0; p < pes_.pes.size(); ++p) {
    const auto has = [&](const Stream& s) { return s.rank == pes_.rank[p]; };
    if (std::any_of(on.streams().begin(), on.streams().end(), has)) places.push_back(pes_.place[p]);
  }
  return ccl::Redistribution(from, x.layout().partial(), to, places).rings();
}

std::string Context::redistribution(const Tensor& x, const Layout& layout, const char* file, int line) const {
  return at(file, line, [&] {
    check(x);
    const ShardPlan y = plan_shards(layout, x.dtype(), x.shape(), pes_.place, pes_.grids);
    return ccl::Redistribution(x.places()->plan(), x.layout().partial(), y, pes_.place).to_string(pes_.place);
  });
}

On Context::ranks_of(const std::vector<Tensor>& tensors) const {
  std::vector<Stream> all;
  for (uint32_t r = 0; r < pes_.ranks; ++r) {
    const bool has = std::any_of(tensors.begin(), tensors.end(), [&](const Tensor& t) {
      return !t.places()->ranges(r, TensorPlaces::Copies::all).empty();
    });
    if (has) all.push_back({r, 0});
  }
  return all;
}

// ---- running

void Context::guarded(const std::function<void()>& work) {
  try {
    work();
  } catch (...) {
    fail(std::current_exception());
  }
}

void Context::fail(const std::exception_ptr& e) {
  if (!fault_) fault_ = e;
  sc_core::sc_pause();  // unlike sc_stop, says nothing on stdout
}

void Context::run() {
  guarded([&] {
    for (const ProgramTensor& t : spec_.tensors) {
      if (options_.timed_transfer && t.is_input() && !t.already_there)
        copy(Operation::Kind::upload, ranks(), Tensor(named_.at(t.name)), nullptr, {});
    }
    located_behind(last_call_, [&] { spec_.function(*this); });
    for (const ProgramTensor& t : spec_.tensors) {
      if (options_.timed_transfer && t.is_output()) download(Tensor(named_.at(t.name)));
    }
    synchronize();
    complete_ = true;
  });
}

}  // namespace kernbench::host
