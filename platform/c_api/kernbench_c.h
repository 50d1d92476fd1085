/* kernbench for tools in other languages or of another compiler: a shared library, libkernbench_c, that names nothing
 * of C++ and throws nothing. docs/integration.md is the guide, docs/stability.md says what stays.
 *
 * Every call but the first three returns a kernbench_status; where it is not KERNBENCH_OK, kernbench_last_error() says
 * why, and what the call was to give is unchanged. Texts are UTF-8. Times are ns of the simulation.
 *
 * There is one simulation a process. All platforms must be made, their ports opened and their memories bound before it
 * begins (kernbench_advance, kernbench_job_run and all that simulate begin it); jobs may be added later. Once it has
 * begun, kernbench_create says KERNBENCH_BAD_STATE, for ever: another machine needs another process. All calls come
 * from one thread. In a callback calls that simulate, make or destroy say KERNBENCH_BAD_STATE; others do what they do.
 *
 * The library brings an sc_main that is never called; SystemC's warnings go to stderr. */
#ifndef KERNBENCH_C_H
#define KERNBENCH_C_H

#include <stddef.h>
#include <stdint.h>

#define KERNBENCH_C_ABI 1 /* raised, with the library's soname, when something here changes or goes */
#define KERNBENCH_C_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

enum kernbench_status {
  KERNBENCH_OK = 0,
  KERNBENCH_FAILED = 1,    /* it was started and failed: a kernel's fault, nothing can move, an error of a memory */
  KERNBENCH_BAD_INPUT = 2, /* a file, name, parameter, address or size; also a handle that is none, or a null pointer */
  KERNBENCH_BAD_STATE = 3, /* not now: the simulation has begun, or has failed; inside a callback; another thread */
  KERNBENCH_NO_MEMORY = 4,
};

typedef struct kernbench_platform kernbench_platform; /* a machine from a topology file */
typedef struct kernbench_port kernbench_port;         /* an initiator of yours at a port or at a host's socket */
typedef struct kernbench_job kernbench_job;           /* a kernel on PEs, with its tensors placed */

typedef struct kernbench_pair {
  const char* name;
  const char* value;
} kernbench_pair;

/* KERNBENCH_C_ABI of the library, "0.1.0", and why the last call failed: a line a fault, until the next call. */
KERNBENCH_C_API int kernbench_c_abi(void);
KERNBENCH_C_API const char* kernbench_version(void);
KERNBENCH_C_API const char* kernbench_last_error(void);

/* A platform called `name` (a letter, then letters, digits and _; no two alike) from a YAML file. `settings`: `count`
 * values over the file's, as --set has them ({"*.pe_gemm.freq_ghz", "1.2"}); may be null. */
KERNBENCH_C_API int kernbench_create(const char* name, const char* topology_file, const kernbench_pair* settings,
                                     size_t count, kernbench_platform** platform);
/* The platform, with its ports and jobs: their handles are none any more. */
KERNBENCH_C_API int kernbench_destroy(kernbench_platform* platform);

/* Accesses in. `id`: a node of kind port; or the socket of a SIP's host: memory and registers (docs/tlm.md). Each may
 * be opened once. */
KERNBENCH_C_API int kernbench_open_port(kernbench_platform* platform, const char* id, kernbench_port** port);
KERNBENCH_C_API int kernbench_open_host(kernbench_platform* platform, int sip, kernbench_port** port);
/* Called once, when the access is done, with KERNBENCH_OK, or KERNBENCH_FAILED and why. */
typedef void (*kernbench_done)(void* user, int status, const char* error, double now_ns);
/* Begins an access of 1 to 2^31 - 1 bytes now; `data` stays the caller's, until it is done. */
KERNBENCH_C_API int kernbench_access(kernbench_port* port, int write, uint64_t address, void* data, uint64_t bytes,
                                     kernbench_done done, void* user);
/* The same, simulated until it is done. */
KERNBENCH_C_API int kernbench_read(kernbench_port* port, uint64_t address, void* data, uint64_t bytes);
KERNBENCH_C_API int kernbench_write(kernbench_port* port, uint64_t address, const void* data, uint64_t bytes);

/* Accesses out: what a memory of the tool's does with one. A write takes `data`, a read fills it in; *latency_ns, 0
 * when it is called, is how long it takes. With `untimed` (debug transport) that does not count. 0: done; else an
 * error. */
typedef int (*kernbench_memory_access)(void* user, int write, int untimed, uint64_t address, void* data, uint64_t bytes,
                                       double* latency_ns);
/* The model behind a memory of impl builtin.hbm_tlm or builtin.sram_tlm; it is given what the node's `address` says. */
KERNBENCH_C_API int kernbench_bind_memory(kernbench_platform* platform, const char* id, kernbench_memory_access access,
                                          void* user);
/* The host memory that the DMA of a SIP's host reads and writes. */
KERNBENCH_C_API int kernbench_bind_host_memory(kernbench_platform* platform, int sip, kernbench_memory_access access,
                                               void* user);
/* Called at every change of a SIP's interrupt, with its new level. */
typedef void (*kernbench_interrupt)(void* user, int level, double now_ns);
KERNBENCH_C_API int kernbench_on_interrupt(kernbench_platform* platform, int sip, kernbench_interrupt call, void* user);

/* A kernel by name on PEs (as --pes; null: all) with `count` parameters; what is left out has its default. `verify`,
 * where it is not 0, keeps what kernbench_job_verify() needs. */
KERNBENCH_C_API int kernbench_add_job(kernbench_platform* platform, const char* kernel, const kernbench_pair* params,
                                      size_t count, const char* pes, int verify, kernbench_job** job);
/* Its number for the DOORBELL register of a SIP's host. */
KERNBENCH_C_API int kernbench_job_doorbell(kernbench_job* job, int sip, uint64_t* number);
/* Where a tensor lies: how many ranges, and the address and length of one. */
KERNBENCH_C_API int kernbench_job_ranges(kernbench_job* job, const char* tensor, size_t* count);
KERNBENCH_C_API int kernbench_job_range(kernbench_job* job, const char* tensor, size_t index, uint64_t* address,
                                        uint64_t* bytes);
/* A whole tensor, row-major, put in place and read as memory holds it, in no time. */
KERNBENCH_C_API int kernbench_job_place(kernbench_job* job, const char* tensor, const void* data, uint64_t bytes);
KERNBENCH_C_API int kernbench_job_place_random(kernbench_job* job, const char* tensor, uint64_t seed);
KERNBENCH_C_API int kernbench_job_read(kernbench_job* job, const char* tensor, void* data, uint64_t bytes);
/* Starts it now; simulates until it has completed, too. It may be started again when it has. KERNBENCH_FAILED: a fault
 * of the kernel. */
KERNBENCH_C_API int kernbench_job_start(kernbench_job* job);
KERNBENCH_C_API int kernbench_job_run(kernbench_job* job);
/* 1 while it runs. */
KERNBENCH_C_API int kernbench_job_running(kernbench_job* job, int* running);
/* Of its last launch: when every kernel started and when the host had the completion. KERNBENCH_FAILED and why, if that
 * was a fault. */
KERNBENCH_C_API int kernbench_job_result(kernbench_job* job, double* start_ns, double* end_ns);
/* 1 where its outputs, pending ones computed, are those of the kernel's reference. */
KERNBENCH_C_API int kernbench_job_verify(kernbench_job* job, int* passed);

/* `kernbench run` in one sitting: random inputs, and outputs verified where `verify` is not 0. `report`: its JSON, the
 * platform's, until the next run. KERNBENCH_FAILED where an output is wrong, too; then there is a report. */
KERNBENCH_C_API int kernbench_run_kernel(kernbench_platform* platform, const char* kernel, const kernbench_pair* params,
                                         size_t count, const char* pes, int verify, const char** report);

/* A run as a function: what the command line does, with all its options. `command`: run, model, traffic, pipeline,
 * probe or collectives. `options`: {"topology", "small.yaml"}, {"verify", "true"} for a flag; an option that may be
 * repeated stands there as often. It simulates in a process of its own: it may be called as often as wanted, with or
 * without platforms, also when a simulation has begun. KERNBENCH_FAILED where an output is wrong, too; then there is a
 * record. */
typedef struct kernbench_record kernbench_record;
KERNBENCH_C_API int kernbench_run(const char* command, const kernbench_pair* options, size_t count,
                                  kernbench_record** record);
/* A figure of `kernbench sweep --list-metrics` that is a number: "sim_ns", "energy_j". KERNBENCH_BAD_INPUT where the
 * run has none of that name. */
KERNBENCH_C_API int kernbench_record_figure(kernbench_record* record, const char* name, double* value);
/* What bounds the run, a sentence a line, where the option explain or report was given; the record's. */
KERNBENCH_C_API int kernbench_record_verdict(kernbench_record* record, const char** text);
/* {"status", "told", "figures", "verdict", "wall_s", "report"}; the report is JSON unless the option format is another;
 * the record's. */
KERNBENCH_C_API int kernbench_record_json(kernbench_record* record, const char** json);
KERNBENCH_C_API int kernbench_record_destroy(kernbench_record* record);

/* Simulates for so long, all platforms: more than 0, and to at most 2^64 fs in all. */
KERNBENCH_C_API int kernbench_advance(double ns);
KERNBENCH_C_API int kernbench_now(double* ns);

#ifdef __cplusplus
}
#endif

#endif
