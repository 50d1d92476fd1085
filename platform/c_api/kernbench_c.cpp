// SPDX-License-Identifier: Apache-2.0
// The C interface: handles are looked up, exceptions become a status and a text. Session contains SystemC's per-process
// state.
#include "kernbench/platform/c_api/kernbench_c.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "kernbench/phase2/io/npy.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/phase2/text/text_stream.h"
#include "kernbench/platform/c_api/host_side.h"
#include "kernbench/platform/elaborate/simulation.h"
#include "kernbench/platform/entry/run.h"
#include "kernbench/platform/job.h"

using namespace kernbench;

struct kernbench_port {
  std::unique_ptr<c_api::ToolPort> module;
};

struct kernbench_job {
  std::unique_ptr<Job> job;
  bool completed = false;
};

struct kernbench_record {
  RunRecord found;
  std::string verdict, json;
};

struct kernbench_platform {
  // Members are destroyed in reverse order: jobs first, and objects bound to the platform after it.
  std::vector<std::unique_ptr<kernbench_port>> ports;
  std::vector<std::unique_ptr<c_api::ToolMemory>> memories;
  std::vector<std::unique_ptr<c_api::ToolInterrupt>> interrupts;
  std::set<std::string> bound;  ///< names of bound sockets
  std::unique_ptr<Platform> device;
  std::vector<std::unique_ptr<kernbench_job>> jobs;
  spec::RunSpec asked;  ///< the system's options
  std::string report;
};

namespace {

class BadState : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Session {
  std::vector<std::unique_ptr<kernbench_platform>> platforms;
  std::vector<std::unique_ptr<kernbench_record>> records;
  bool prepared = false;
  int depth = 0;  ///< of nested calls: 2 inside a callback
  std::thread::id thread;
};

/// Never destroyed, because SystemC's own objects may be gone before.
Session& session() {
  static Session& only = *new Session;
  return only;
}

thread_local std::string last_error;
thread_local bool out_of_memory = false;

int told(int status, const std::string& text) {
  last_error = text;
  return status;
}

/// Converts an exception to a status.
template <class Work>
int status_of(Work work) {
  try {
    last_error.clear();
    out_of_memory = false;
    work();
    return KERNBENCH_OK;
  } catch (const topology::TopologyError& e) {
    std::vector<std::string> lines;
    for (const topology::Fault& f : e.faults()) lines.push_back(f.to_string());
    return told(KERNBENCH_BAD_INPUT, joined(lines, "\n"));
  } catch (const InputError& e) {
    return told(KERNBENCH_BAD_INPUT, joined(e.faults(), "\n"));
  } catch (const std::invalid_argument& e) {  // BadParam, and wrong tensor sizes
    return told(KERNBENCH_BAD_INPUT, e.what());
  } catch (const NpyError& e) {
    return told(KERNBENCH_BAD_INPUT, e.what());
  } catch (const BadState& e) {
    return told(KERNBENCH_BAD_STATE, e.what());
  } catch (const JobNotReady& e) {
    return told(KERNBENCH_BAD_STATE, e.what());
  } catch (const RunError& e) {
    return told(KERNBENCH_FAILED, joined(e.lines(), "\n"));
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const sc_core::sc_report& e) {
    return told(KERNBENCH_FAILED, std::string(e.get_msg_type()) + ": " + e.get_msg());
  } catch (const std::exception& e) {
    return told(KERNBENCH_FAILED, e.what());
  }
}

struct Depth {
  Depth() { ++session().depth; }
  ~Depth() { --session().depth; }
};

/// Whether a call is legal inside a callback: `alone` is not.
enum class Call { anywhere, alone };
template <class Work>
int call(Call where, Work work) noexcept {
  try {
    return status_of([&] {
      Session& s = session();
      if (s.thread == std::thread::id()) s.thread = std::this_thread::get_id();
      if (s.thread != std::this_thread::get_id()) throw BadState("another thread has made the first call");
      if (where == Call::alone && s.depth > 0) throw BadState("this call is not possible inside a callback");
      const Depth deeper;
      work();
    });
  } catch (const std::bad_alloc&) {  // also while formatting another error
    out_of_memory = true;
    return KERNBENCH_NO_MEMORY;
  }
}

template <class T>
T& given(T* pointer, const char* what) {
  if (!pointer) throw InputError(std::string(what) + ": found null");
  return *pointer;
}

std::string text(const char* s, const char* what) {
  return &given(s, what);
}

kernbench_platform& find(kernbench_platform* handle) {
  for (const auto& p : session().platforms) {
    if (p.get() == handle) return *p;
  }
  throw InputError("platform: is none, or is destroyed");
}

/// A port or job of any platform.
template <class T>
T& find(T* handle, std::vector<std::unique_ptr<T>> kernbench_platform::*all, const char* what) {
  for (const auto& p : session().platforms) {
    for (const auto& one : (*p).*all) {
      if (one.get() == handle) return *one;
    }
  }
  throw InputError(std::string(what) + ": is none, or its platform is destroyed");
}

kernbench_port& find(kernbench_port* handle) {
  return find(handle, &kernbench_platform::ports, "port");
}

kernbench_job& find(kernbench_job* handle) {
  return find(handle, &kernbench_platform::jobs, "job");
}

kernbench_record& find(kernbench_record* handle) {
  for (const auto& r : session().records) {
    if (r.get() == handle) return *r;
  }
  throw InputError("record: is none, or is destroyed");
}

/// The options of a command with a table.
spec::RunSpec spec_of(const std::string& command, const std::vector<std::pair<std::string, std::string>>& options) {
  std::vector<std::string> words = {command};
  for (const auto& [name, value] : options) words.push_back("--" + name + "=" + value);
  const auto legal = spec::commands_with_tables();
  if (std::find(legal.begin(), legal.end(), command) == legal.end())
    throw InputError("command: found '" + command + "'; legal: " + joined(legal));
  spec::RunSpec spec = spec::RunSpec::of_words(words);
  if (!spec.given("format")) spec.set("format", "json");
  return spec;
}

kernbench_platform& platform_of(const kernbench_job& job) {
  for (const auto& p : session().platforms) {
    for (const auto& one : p->jobs) {
      if (one.get() == &job) return *p;
    }
  }
  throw InputError("job: is none");
}

std::vector<std::pair<std::string, std::string>> pairs(const kernbench_pair* all, size_t count, const char* what) {
  std::vector<std::pair<std::string, std::string>> out;
  if (count > 0) given(all, what);
  for (size_t i = 0; i < count; ++i) out.emplace_back(text(all[i].name, what), text(all[i].value, what));
  return out;
}

/// SystemC's default handler prints on the tool's stdout and aborts on fatal errors.
void report_to_stderr(const sc_core::sc_report& report, const sc_core::sc_actions& actions) {
  sc_core::sc_actions others = actions & ~(sc_core::SC_DISPLAY | sc_core::SC_ABORT);
  if (actions & sc_core::SC_ABORT) others |= sc_core::SC_THROW;
  if (actions & sc_core::SC_DISPLAY) std::fprintf(stderr, "%s\n", sc_core::sc_report_compose_message(report).c_str());
  sc_core::sc_report_handler::default_handler(report, others);
}

/// The setup that the project's sc_main does.
void prepare() {
  Session& s = session();
  if (s.prepared) return;
  s.prepared = true;
  sc_core::sc_report_handler::set_handler(report_to_stderr);
  sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
}

void before_it_begins(const char* what) {
  if (sc_core::sc_get_status() != sc_core::SC_ELABORATION)
    throw BadState(std::string(what) +
                   ": the simulation of this process has begun; another machine needs another process");
}

/// Simulates by `run` until `done` returns true.
template <class Run, class Done>
void simulate_until(Run run, Done done, const char* what) {
  do {
    run();
  } while (!done() && sc_core::sc_pending_activity());
  if (!done()) throw RunError(std::string(what) + ": nothing can move, and not done");
}

void check_name(const std::string& name) {
  const auto word = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  if (name.empty() || !std::isalpha(static_cast<unsigned char>(name[0])) ||
      !std::all_of(name.begin(), name.end(), word))
    throw InputError("name: found '" + name + "'; legal: a letter, then letters, digits and _");
  if (sc_core::sc_find_object(name.c_str())) throw InputError("name: '" + name + "' is taken");
}

/// Each socket can be bound once.
void take(kernbench_platform& p, const std::string& socket) {
  if (!p.bound.insert(socket).second) throw InputError(socket + ": is bound already");
}

/// A port at `target`, a Port or a HostInterface.
template <class Target>
kernbench_port* open(kernbench_platform& p, Target& target) {
  take(p, std::string(target.name()) + ".socket");
  const unsigned width = c_api::bus_width_of(target, "socket");
  auto port = std::make_unique<kernbench_port>();
  port->module = std::make_unique<c_api::ToolPort>(sc_core::sc_gen_unique_name("tool_port"), *p.device, width,
                                                   [&target] { return target.last_error(); });
  c_api::with_bus_width(width, [&](auto w) {
    constexpr unsigned kWidth = decltype(w)::value;
    port->module->template socket<kWidth>().bind(target.template socket<kWidth>());
  });
  p.ports.push_back(std::move(port));
  return p.ports.back().get();
}

/// `socket_of(width)`: the initiator's.
template <class SocketOf>
void bind_memory(kernbench_platform& p, const sc_core::sc_module& owner, const char* socket, SocketOf socket_of,
                 kernbench_memory_access access, void* user) {
  given(access, "access");
  take(p, std::string(owner.name()) + "." + socket);
  const unsigned width = c_api::bus_width_of(owner, socket);
  p.memories.push_back(
      std::make_unique<c_api::ToolMemory>(sc_core::sc_gen_unique_name("tool_memory"), width, access, user));
  c_api::with_bus_width(width,
                        [&](auto w) { socket_of(w).bind(p.memories.back()->template socket<decltype(w)::value>()); });
}

void access(kernbench_port& port, bool write, uint64_t address, void* data, uint64_t bytes, kernbench_done done,
            void* user) {
  given(static_cast<char*>(data), "data");
  if (bytes < 1 || bytes > std::numeric_limits<int32_t>::max())
    throw InputError("bytes: found " + std::to_string(bytes) + "; legal: 1 to 2147483647");
  port.module->access(write, address, data, static_cast<unsigned>(bytes), done, user);
}

/// An access, simulated to its completion.
void access_now(kernbench_port& port, bool write, uint64_t address, void* data, uint64_t bytes) {
  struct Ended {
    bool done = false;
    int status = KERNBENCH_OK;
    std::string error;
  };
  // Outlives this call if the simulation fails before, because the access is then still in progress.
  auto ended = std::make_unique<Ended>();
  const kernbench_done end = [](void* user, int status, const char* error, double) {
    auto& e = *static_cast<Ended*>(user);
    e.done = true;
    e.status = status;
    e.error = error;
    sc_core::sc_pause();
  };
  access(port, write, address, data, bytes, end, ended.get());
  try {
    simulate_until(
        simulate, [&] { return ended->done; }, "access");
  } catch (...) {
    if (!ended->done) ended.release();
    throw;
  }
  if (ended->status != KERNBENCH_OK) throw RunError(ended->error);
}

const TensorSpec& tensor_of(const Job& job, const char* name) {
  const std::string tensor = text(name, "tensor");
  const TensorSpec* t = job.kernel().tensor(tensor);
  if (!t) throw InputError("tensor " + tensor + ": kernel " + job.kernel().name + " has no such tensor");
  return *t;
}

/// A tensor of the same type and shape, all zero.
HostTensor tensor_like(const Job& job, const TensorSpec& t) {
  return HostTensor(t.dtype(job.params()), t.shape(job.params()));
}

void check_size(const std::string& tensor, const HostTensor& like, uint64_t bytes) {
  if (bytes != like.bytes.size())
    throw InputError("tensor " + tensor + ": found " + std::to_string(bytes) +
                     " bytes; legal: " + std::to_string(like.bytes.size()));
}

void start(kernbench_job& job) {
  job.completed = false;
  job.job->start([&job](const LaunchResult&) { job.completed = true; });
}

}  // namespace

extern "C" {

int kernbench_c_abi(void) {
  return KERNBENCH_C_ABI;
}

const char* kernbench_version(void) {
  return KERNBENCH_VERSION;
}

const char* kernbench_last_error(void) {
  return out_of_memory ? kOutOfMemory : last_error.c_str();
}

int kernbench_create(const char* name, const char* topology_file, const kernbench_pair* settings, size_t count,
                     kernbench_platform** platform) {
  return call(Call::alone, [&] {
    kernbench_platform*& out = given(platform, "platform");
    before_it_begins("kernbench_create");
    prepare();
    const std::string called = text(name, "name"), file = text(topology_file, "topology_file");
    check_name(called);
    std::vector<topology::Setting> over;
    for (auto& [target, value] : pairs(settings, count, "settings")) over.emplace_back(target, value);
    auto made = std::make_unique<kernbench_platform>();
    made->asked.set("topology", file);
    for (const auto& [target, value] : over) made->asked.add("set", target + "=" + value);
    made->device = std::make_unique<Platform>(called.c_str(), compile_file(file, over));
    session().platforms.push_back(std::move(made));
    out = session().platforms.back().get();
  });
}

int kernbench_destroy(kernbench_platform* platform) {
  return call(Call::alone, [&] {
    auto& all = session().platforms;
    const kernbench_platform* p = &find(platform);
    all.erase(std::find_if(all.begin(), all.end(), [p](const auto& one) { return one.get() == p; }));
  });
}

int kernbench_open_port(kernbench_platform* platform, const char* id, kernbench_port** port) {
  return call(Call::alone, [&] {
    kernbench_platform& p = find(platform);
    kernbench_port*& out = given(port, "port");
    before_it_begins("kernbench_open_port");
    out = open(p, p.device->port(text(id, "id")));
  });
}

int kernbench_open_host(kernbench_platform* platform, int sip, kernbench_port** port) {
  return call(Call::alone, [&] {
    kernbench_platform& p = find(platform);
    kernbench_port*& out = given(port, "port");
    before_it_begins("kernbench_open_host");
    out = open(p, p.device->host(sip));
  });
}

int kernbench_access(kernbench_port* port, int write, uint64_t address, void* data, uint64_t bytes, kernbench_done done,
                     void* user) {
  return call(Call::anywhere, [&] {
    kernbench_port& p = find(port);
    given(done, "done");
    access(p, write != 0, address, data, bytes, done, user);
  });
}

int kernbench_read(kernbench_port* port, uint64_t address, void* data, uint64_t bytes) {
  return call(Call::alone, [&] { access_now(find(port), false, address, data, bytes); });
}

int kernbench_write(kernbench_port* port, uint64_t address, const void* data, uint64_t bytes) {
  // Only read: TLM-2.0's payload has one pointer for both directions.
  return call(Call::alone, [&] { access_now(find(port), true, address, const_cast<void*>(data), bytes); });
}

int kernbench_bind_memory(kernbench_platform* platform, const char* id, kernbench_memory_access access, void* user) {
  return call(Call::alone, [&] {
    kernbench_platform& p = find(platform);
    before_it_begins("kernbench_bind_memory");
    TlmMemory& memory = p.device->tlm_memory(text(id, "id"));
    bind_memory(
        p, memory, "socket", [&](auto w) -> auto& { return memory.socket<decltype(w)::value>(); }, access, user);
  });
}

int kernbench_bind_host_memory(kernbench_platform* platform, int sip, kernbench_memory_access access, void* user) {
  return call(Call::alone, [&] {
    kernbench_platform& p = find(platform);
    before_it_begins("kernbench_bind_host_memory");
    HostInterface& host = p.device->host(sip);
    bind_memory(
        p, host, "dma_socket", [&](auto w) -> auto& { return host.dma_socket<decltype(w)::value>(); }, access, user);
  });
}

int kernbench_on_interrupt(kernbench_platform* platform, int sip, kernbench_interrupt interrupt, void* user) {
  return call(Call::alone, [&] {
    kernbench_platform& p = find(platform);
    before_it_begins("kernbench_on_interrupt");
    given(interrupt, "call");
    p.interrupts.push_back(std::make_unique<c_api::ToolInterrupt>(sc_core::sc_gen_unique_name("tool_interrupt"),
                                                                  p.device->host(sip), interrupt, user));
  });
}

int kernbench_add_job(kernbench_platform* platform, const char* kernel, const kernbench_pair* params, size_t count,
                      const char* pes, int verify, kernbench_job** job) {
  return call(Call::anywhere, [&] {
    kernbench_platform& p = find(platform);
    kernbench_job*& out = given(job, "job");
    JobOptions options{text(kernel, "kernel"), pairs(params, count, "params"), pes ? pes : "all"};
    options.verify = verify != 0;
    auto made = std::make_unique<kernbench_job>();
    made->job = std::make_unique<Job>(*p.device, std::move(options));
    p.jobs.push_back(std::move(made));
    out = p.jobs.back().get();
  });
}

int kernbench_job_doorbell(kernbench_job* job, int sip, uint64_t* number) {
  return call(Call::anywhere, [&] {
    kernbench_job& j = find(job);
    uint64_t& out = given(number, "number");
    out = platform_of(j).device->host(sip).add_job(*j.job);
  });
}

int kernbench_job_ranges(kernbench_job* job, const char* tensor, size_t* count) {
  return call(Call::anywhere, [&] {
    const Job& j = *find(job).job;
    size_t& out = given(count, "count");
    out = j.ranges(tensor_of(j, tensor).name).size();
  });
}

int kernbench_job_range(kernbench_job* job, const char* tensor, size_t index, uint64_t* address, uint64_t* bytes) {
  return call(Call::anywhere, [&] {
    const Job& j = *find(job).job;
    uint64_t &to_address = given(address, "address"), &to_bytes = given(bytes, "bytes");
    const auto ranges = j.ranges(tensor_of(j, tensor).name);
    if (index >= ranges.size())
      throw InputError("index: found " + std::to_string(index) + "; legal: less than " + std::to_string(ranges.size()));
    to_address = ranges[index].address;
    to_bytes = ranges[index].nbytes;
  });
}

int kernbench_job_place(kernbench_job* job, const char* tensor, const void* data, uint64_t bytes) {
  return call(Call::anywhere, [&] {
    Job& j = *find(job).job;
    const TensorSpec& t = tensor_of(j, tensor);
    HostTensor value = tensor_like(j, t);
    check_size(t.name, value, bytes);
    if (bytes > 0) std::memcpy(value.bytes.data(), &given(static_cast<const char*>(data), "data"), bytes);
    j.place(t.name, value);
  });
}

int kernbench_job_place_random(kernbench_job* job, const char* tensor, uint64_t seed) {
  return call(Call::anywhere, [&] {
    Job& j = *find(job).job;
    j.place_random(tensor_of(j, tensor).name, seed);
  });
}

int kernbench_job_read(kernbench_job* job, const char* tensor, void* data, uint64_t bytes) {
  return call(Call::anywhere, [&] {
    Job& j = *find(job).job;
    const TensorSpec& t = tensor_of(j, tensor);
    check_size(t.name, tensor_like(j, t), bytes);
    if (bytes == 0) return;
    char& to = given(static_cast<char*>(data), "data");
    const HostTensor value = j.read_back(t.name);
    std::memcpy(&to, value.bytes.data(), bytes);
  });
}

int kernbench_job_start(kernbench_job* job) {
  return call(Call::anywhere, [&] { start(find(job)); });
}

int kernbench_job_run(kernbench_job* job) {
  return call(Call::alone, [&] {
    kernbench_job& j = find(job);
    j.completed = false;
    const LaunchResult& result = j.job->run();
    j.completed = true;
    if (!result.response.ok()) throw RunError(result.response.text);
  });
}

int kernbench_job_abort(kernbench_job* job) {
  return call(Call::anywhere, [&] { find(job).job->abort(); });
}

int kernbench_reset(kernbench_platform* platform, const char* part) {
  return call(Call::anywhere, [&] { find(platform).device->reset(text(part, "part")); });
}

int kernbench_job_running(kernbench_job* job, int* running) {
  return call(Call::anywhere, [&] {
    const Job& j = *find(job).job;
    int& out = given(running, "running");
    out = j.running();
  });
}

int kernbench_job_result(kernbench_job* job, double* start_ns, double* end_ns) {
  return call(Call::anywhere, [&] {
    const kernbench_job& j = find(job);
    double &start = given(start_ns, "start_ns"), &end = given(end_ns, "end_ns");
    if (!j.completed && j.job->result().response.done_ns == 0)
      throw BadState("kernel " + j.job->kernel().name + ": has not completed");
    const LaunchResult& result = j.job->result();
    if (!result.response.ok()) throw RunError(result.response.text);
    start = result.start_ns;
    end = result.response.done_ns;
  });
}

int kernbench_job_verify(kernbench_job* job, int* passed) {
  return call(Call::alone, [&] {
    Job& j = *find(job).job;
    int& out = given(passed, "passed");
    out = j.verify().passed;
  });
}

int kernbench_run_kernel(kernbench_platform* platform, const char* kernel, const kernbench_pair* params, size_t count,
                         const char* pes, int verify, const char** report) {
  return call(Call::alone, [&] {
    kernbench_platform& p = find(platform);
    const char*& out = given(report, "report");
    spec::RunSpec asked = p.asked;
    asked.set("kernel", text(kernel, "kernel"));
    for (const auto& [name, value] : pairs(params, count, "params")) asked.add("param", name + "=" + value);
    if (pes) asked.set("pes", pes);
    if (verify != 0) asked.set("verify", "true");
    asked.set("format", "json");
    const RunRecord r = run(asked, *p.device);
    p.report = r.report();
    out = p.report.c_str();
    if (r.status != 0) throw RunError("kernel " + asked.text("kernel") + ": an output is wrong");
  });
}

int kernbench_run(const char* command, const kernbench_pair* options, size_t count, kernbench_record** record) {
  return call(Call::alone, [&] {
    kernbench_record*& out = given(record, "record");
    const spec::RunSpec spec = spec_of(text(command, "command"), pairs(options, count, "options"));
    auto made = std::make_unique<kernbench_record>();
    made->found = run(spec);
    made->verdict = joined(made->found.verdict, "\n");
    made->json = json_of(made->found, spec.text("format") == "json");
    session().records.push_back(std::move(made));
    out = session().records.back().get();
    if (out->found.status != 0) throw RunError("an output, a race or a check is wrong");
  });
}

int kernbench_record_figure(kernbench_record* record, const char* name, double* value) {
  return call(Call::anywhere, [&] {
    const FigureValue v = find(record).found.figure(text(name, "name"));
    double& out = given(value, "value");
    if (const auto* whole = std::get_if<int64_t>(&v)) {
      out = static_cast<double>(*whole);
    } else if (const auto* real = std::get_if<double>(&v)) {
      out = *real;
    } else {
      throw InputError(std::string("name: found '") + name + "', which is no number of this run");
    }
  });
}

int kernbench_record_verdict(kernbench_record* record, const char** verdict) {
  return call(Call::anywhere, [&] { given(verdict, "text") = find(record).verdict.c_str(); });
}

int kernbench_record_json(kernbench_record* record, const char** json) {
  return call(Call::anywhere, [&] { given(json, "json") = find(record).json.c_str(); });
}

int kernbench_record_destroy(kernbench_record* record) {
  return call(Call::anywhere, [&] {
    auto& all = session().records;
    const kernbench_record* r = &find(record);
    all.erase(std::find_if(all.begin(), all.end(), [r](const auto& one) { return one.get() == r; }));
  });
}

int kernbench_advance(double ns) {
  return call(Call::alone, [&] {
    const double left = c_api::in_ns(sc_core::sc_max_time() - sc_core::sc_time_stamp());
    if (!(ns > 0 && ns < left))
      throw InputError("ns: found " + std::to_string(ns) + "; legal: more than 0, and to at most 2^64 fs in all");
    simulate_for(ns);
  });
}

int kernbench_now(double* ns) {
  return call(Call::anywhere, [&] { given(ns, "ns") = c_api::in_ns(sc_core::sc_time_stamp()); });
}

}  // extern "C"

/// SystemC's library needs it; it is never called.
KERNBENCH_C_API int sc_main(int, char**) {
  return 0;
}
