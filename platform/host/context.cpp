// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/host/context.h"

#include <algorithm>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/elaborate/host_observer.h"
#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/platform/host/context_parts.h"

namespace kernbench::host {

Context::Context(Platform& platform, const ProgramSpec& spec, Params params, std::vector<size_t> pes,
                 ContextOptions options)
    : platform_(platform),
      spec_(spec),
      params_(std::move(params)),
      options_(options),
      pes_(platform.machine(), std::move(pes)),
      streams_(platform.timeline(), pes_.ranks, [this] { operation_ended(); }),
      may_change_memory_(std::make_shared<std::function<bool()>>([this] { return streams_.moves_beside_launches(); })),
      parts_(std::make_unique<Parts>(platform, spec_, pes_, options_, streams_)) {
  platform.system().may_change_memory(may_change_memory_);
  launch_mode_ = parts_->launches.way().mode;
  launch_note_ = parts_->launches.way().note;
  parts_->tensors.add_named(spec_, params_);
}

Context::~Context() = default;

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
  if (!has(name)) throw InputError("input '" + name + "' is not in memory; bring_in() places it");
  return Tensor(parts_->tensors.named(name));
}

bool Context::has(const std::string& name) const {
  return parts_->tensors.has(name);
}

Tensor Context::input(const std::string& name, const char* file, int line) const {
  return at(file, line, [&] { return named(name, TensorSpec::Role::in); });
}

Tensor Context::output(const std::string& name, const char* file, int line) const {
  return at(file, line, [&] { return named(name, TensorSpec::Role::out); });
}

Tensor Context::tensor(DType dtype, const Dims& shape, const Layout& layout, const std::string& name, const char* file,
                       int line) {
  return at(file, line, [&] {
    give_back_freed();
    const std::string called = name.empty() ? "tensor" + std::to_string(parts_->tensors_made++) : name;
    return Tensor(parts_->tensors.make(dtype, shape, layout, called));
  });
}

Tensor Context::tensor(const HostTensor& value, const Layout& layout, const std::string& name, const char* file,
                       int line) {
  const Tensor t = tensor(value.dtype, value.shape, layout, name, file, line);
  parts_->tensors.place(*t.places(), value);
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
    parts_->tensors.free(t, {file, line});
    give_back_freed();
  });
}

void Context::bring_in(const std::string& input, const char* file, int line) {
  at(file, line, [&] {
    const ProgramTensor* t = spec_.tensor(input);
    if (!t || !t->is_input() || has(input)) throw InputError("'" + input + "' is no input, or is already in memory");
    give_back_freed();
    parts_->tensors.add_named(*t, params_);
    if (options_.place_late) options_.place_late(*t);
  });
}

void Context::take_out(const std::string& input, const char* file, int line) {
  at(file, line, [&] {
    const Tensor t = named(input, TensorSpec::Role::in);
    check(t);
    parts_->tensors.take_out(input, {file, line});
    give_back_freed();
  });
}

/// Memory that a running kernel may use must stay valid, so freed tensors are released when no kernel runs.
void Context::give_back_freed() {
  if (!parts_->launches.any_runs()) parts_->tensors.give_back_freed();
}

Scope::Scope(Context& h, const char* file, int line)
    : context_(h), first_(h.parts_->tensors.made().size()), made_at_{file, line} {}

Scope::~Scope() {
  const auto& made = context_.parts_->tensors.made();
  while (made.size() > first_) context_.free(Tensor(made.back()), made_at_.file, made_at_.line);
}

const TensorPlaces& Context::places(const std::string& tensor) const {
  return *parts_->tensors.named(tensor);
}

uint64_t Context::stored_bytes() const {
  return parts_->tensors.stored().bytes;
}

const Context::Stored& Context::most_stored() const {
  return parts_->tensors.most_stored();
}

void Context::place(const std::string& input, const HostTensor& value) {
  parts_->tensors.place(places(input), value);
}

void Context::place_zeros(const std::string& input) {
  parts_->tensors.place_zeros(places(input));
}

void Context::place(const std::string& input, const ElementSource& source) {
  parts_->tensors.place(places(input), source);
}

/// An input keeps its initial value, because verification and replay rely on it.
void Context::refuse_input(const std::string& what, const Tensor& written) const {
  const TensorPlaces& owner = written.places()->owner();
  const bool own = parts_->tensors.has(owner.name()) && parts_->tensors.named(owner.name()).get() == &owner;
  if (!own || spec_.tensor(owner.name())->is_output()) return;
  throw InputError(what + ": found '" + owner.name() + "', an input of program " + spec_.name +
                   "; legal: a tensor of role out or in_out, or one that the program makes");
}

// ---- launches

void Context::launch(const On& on, const std::string& kernel, const KernelParams& params,
                     const std::map<std::string, Tensor>& tensors, const std::string& pes, const char* file, int line) {
  return at(file, line, [&] {
    check(on);
    TensorPointers places;
    for (const auto& [name, t] : tensors) {
      check(t);
      places[name] = t.places();
    }
    ProgramLaunches::Prepared prepared = parts_->launches.prepare(on, kernel, params, places, pes, {file, line});
    for (const auto& [name, t] : tensors) {
      if (prepared.kernel->tensor(name)->is_output()) refuse_input("launch of " + kernel + ": " + name, t);
    }
    streams_.enqueue(std::move(prepared.operation));
    for (const auto& [name, t] : tensors) {
      if (prepared.kernel->tensor(name)->is_output()) parts_->tensors.written_by(t, streams_.operations().back());
    }
  });
}

const std::vector<Context::PeTimes>& Context::pe_times() const {
  return parts_->launches.pe_times();
}

// ---- copies

void Context::upload(const Tensor& t, const HostTensor& value, const char* file, int line) {
  upload(ranks(), t, value, file, line);
}

void Context::upload(const On& on, const Tensor& t, const HostTensor& value, const char* file, int line) {
  return at(file, line, [&] {
    check(t);
    t.places()->check(value);
    refuse_input("upload", t);
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
  streams_.enqueue(parts_->copies.operation(kind, on, t, std::move(value), where));
  if (kind == Operation::Kind::upload) parts_->tensors.written_by(t, streams_.operations().back());
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
    op.begin = [this, ns, where = op.where](Operation& o) {
      parts_->clocks.join(o);
      for (HostObserver* h : machine_of(platform_).host_observers()) h->host_waits(where, now_ns() + ns);
      platform_.timeline().at(now_ns() + ns, Order(Order::kEngines, 0, 0), call<&Streams::end_all>(streams_, o));
    };
    streams_.enqueue(std::move(op));
  });
}

Event Context::event(const std::string& name) {
  auto e = std::make_shared<EventState>();
  e->name = name.empty() ? "event" + std::to_string(parts_->events_made++) : name;
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
      o.event->clock = parts_->clocks.of(o.streams.front());
      streams_.end(o, 0);
    };
    streams_.enqueue(std::move(op));
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
        StreamClocks::merge(o.event->clock, parts_->clocks.of(o.streams.front()));
        streams_.end(o, 0);
      };
      streams_.enqueue(std::move(op));
    }
  });
}

// ---- blocking

void Context::block_until(const std::function<bool()>& condition) {
  while (!condition()) {
    waiting_ = true;
    sc_core::wait(parts_->changed);
  }
}

void Context::operation_ended() {
  end_ns_ = std::max(end_ns_, now_ns());
  if (parts_->tensors.any_freed()) give_back_freed();
  if (waiting_) parts_->changed.notify();
  waiting_ = false;
}

void Context::synchronize() {
  block_until([this] { return streams_.empty(); });
  parts_->clocks.program_waited();
}

void Context::synchronize(const Stream& s, const char* file, int line) {
  return at(file, line, [&] {
    check(s);
    block_until([&] { return streams_.empty(s); });
    parts_->clocks.program_waited(s);
  });
}

void Context::synchronize(const Event& e, const char* file, int line) {
  return at(file, line, [&] {
    if (!e) throw InputError("an event that is none");
    block_until([&] { return e->done; });
    parts_->clocks.program_waited(e->clock);
  });
}

HostTensor Context::read(const Tensor& t, ReadAfter after, const char* file, int line) {
  return at(file, line, [&] {
    check(t);
    if (after == ReadAfter::all) {
      synchronize();
    } else {
      const std::vector<const Operation*> waited_for = parts_->tensors.writers_of(t);
      block_until([&] {
        return std::all_of(waited_for.begin(), waited_for.end(), [](const Operation* op) { return op->open == 0; });
      });
    }
    t.places()->collect([](uint64_t, uint8_t*, uint64_t) {});  // reports a partial tensor before the copy
    if (after == ReadAfter::all) {
      download(t, file, line);
      synchronize();
    } else if (options_.timed_transfer) {
      std::vector<Stream> aside;
      for (uint32_t r = 0; r < pes_.ranks; ++r) {
        const auto known = parts_->readers.find(r);
        aside.push_back(known != parts_->readers.end() ? known->second : parts_->readers[r] = streams_.add(r));
      }
      download(aside, t, file, line);
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

// ---- running

const std::exception_ptr& Context::fault() const {
  return parts_->fault.get();
}

void Context::run() {
  parts_->fault.guarded([&] {
    for (const ProgramTensor& t : spec_.tensors) {
      if (options_.timed_transfer && t.is_input() && !t.already_there)
        copy(Operation::Kind::upload, ranks(), Tensor(parts_->tensors.named(t.name)), nullptr, {});
    }
    located_behind(last_call_, [&] { spec_.function(*this); });
    for (const ProgramTensor& t : spec_.tensors) {
      if (options_.timed_transfer && t.is_output())
        copy(Operation::Kind::download, ranks(), Tensor(parts_->tensors.named(t.name)), nullptr, {});
    }
    synchronize();
    complete_ = true;
  });
}

}  // namespace kernbench::host
