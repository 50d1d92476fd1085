// SPDX-License-Identifier: Apache-2.0
/* C interface of kernbench, for other languages and compilers: a shared library, libkernbench_c, without C++ types and
 * exceptions. docs/integration.md is the guide; docs/stability.md has the promises.
 *
 * All calls except the first three return a kernbench_status. If it is not KERNBENCH_OK, kernbench_last_error() has the
 * reason, and output arguments are unchanged. Texts are UTF-8. Times are simulated ns.
 *
 * A process has one simulation. Create all platforms, open their ports and bind their memories before it begins. It
 * begins with kernbench_advance, kernbench_job_run or another simulating call; jobs may be added later. Afterwards
 * kernbench_create returns KERNBENCH_BAD_STATE: another machine needs another process. All calls must come from one
 * thread. In a callback, calls that simulate, create or destroy return KERNBENCH_BAD_STATE.
 *
 * The library has an sc_main that is never called. SystemC's warnings go to stderr. */
#ifndef KERNBENCH_C_H
#define KERNBENCH_C_H

#include <stddef.h>
#include <stdint.h>

#define KERNBENCH_C_ABI 1 /* raised, with the library's soname, for an incompatible change */
#define KERNBENCH_C_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

enum kernbench_status {
  KERNBENCH_OK = 0,
  KERNBENCH_FAILED = 1,    /* the run failed: a kernel's fault, a deadlock, an error of a memory */
  KERNBENCH_BAD_INPUT = 2, /* a file, name, parameter, address, size or handle; or a null pointer */
  KERNBENCH_BAD_STATE = 3, /* illegal now: the simulation has begun or failed; a callback; another thread */
  KERNBENCH_NO_MEMORY = 4,
};

typedef struct kernbench_platform kernbench_platform; /* a machine from a topology file */
typedef struct kernbench_port kernbench_port;         /* an initiator of the user at a port or at a host's socket */
typedef struct kernbench_job kernbench_job;           /* a kernel on PEs, with its tensors placed */

typedef struct kernbench_pair {
  const char* name;
  const char* value;
} kernbench_pair;

/* KERNBENCH_C_ABI of the library; its version, such as "0.1.0"; errors of the last call, one a line, valid until the
 * next call. */
KERNBENCH_C_API int kernbench_c_abi(void);
KERNBENCH_C_API const char* kernbench_version(void);
KERNBENCH_C_API const char* kernbench_last_error(void);

/* Creates a platform from a YAML file. `name`: unique; a letter, then letters, digits and _. `settings`: `count` values
 * that override the file, as --set does ({"*.pe_gemm.freq_ghz", "1.2"}); may be null. */
KERNBENCH_C_API int kernbench_create(const char* name, const char* topology_file, const kernbench_pair* settings,
                                     size_t count, kernbench_platform** platform);
/* Destroys the platform with its ports and jobs; their handles become invalid. */
KERNBENCH_C_API int kernbench_destroy(kernbench_platform* platform);

/* Accesses to the platform. `id`: a node of kind port; the other call opens the socket of a SIP's host, with memory and
 * registers (docs/tlm.md). Each may be opened once. */
KERNBENCH_C_API int kernbench_open_port(kernbench_platform* platform, const char* id, kernbench_port** port);
KERNBENCH_C_API int kernbench_open_host(kernbench_platform* platform, int sip, kernbench_port** port);
/* Called once, when the access is done, with KERNBENCH_OK, or with KERNBENCH_FAILED and the reason. */
typedef void (*kernbench_done)(void* user, int status, const char* error, double now_ns);
/* Begins an access of 1 to 2^31 - 1 bytes now; `data` must stay valid until it is done. */
KERNBENCH_C_API int kernbench_access(kernbench_port* port, int write, uint64_t address, void* data, uint64_t bytes,
                                     kernbench_done done, void* user);
/* The same, and simulates until it is done. */
KERNBENCH_C_API int kernbench_read(kernbench_port* port, uint64_t address, void* data, uint64_t bytes);
KERNBENCH_C_API int kernbench_write(kernbench_port* port, uint64_t address, const void* data, uint64_t bytes);

/* Accesses from the platform: the function of a user's memory. A write passes `data`, a read fills it in. The function
 * sets *latency_ns, which is 0 at the call; with `untimed` (debug transport) it is ignored. Returns 0, or an error. */
typedef int (*kernbench_memory_access)(void* user, int write, int untimed, uint64_t address, void* data, uint64_t bytes,
                                       double* latency_ns);
/* Binds the model of a memory with impl builtin.hbm_tlm or builtin.sram_tlm; the node's attribute `address` selects the
 * form of addresses. */
KERNBENCH_C_API int kernbench_bind_memory(kernbench_platform* platform, const char* id, kernbench_memory_access access,
                                          void* user);
/* Binds the host memory of the DMA of a SIP's host. */
KERNBENCH_C_API int kernbench_bind_host_memory(kernbench_platform* platform, int sip, kernbench_memory_access access,
                                               void* user);
/* Called at every change of a SIP's interrupt, with its new level. */
typedef void (*kernbench_interrupt)(void* user, int level, double now_ns);
KERNBENCH_C_API int kernbench_on_interrupt(kernbench_platform* platform, int sip, kernbench_interrupt call, void* user);

/* Resets a PE ("sip0.cube0.pe1"), a cube, a SIP, or all ("") now: jobs on its PEs end, accesses of ports under way
 * fail, memories with clear_at_reset have zeros. */
KERNBENCH_C_API int kernbench_reset(kernbench_platform* platform, const char* part);

/* Adds a job: a kernel by name on PEs (as --pes; null: all) with `count` parameters; others have their defaults. A
 * nonzero `verify` keeps the data for kernbench_job_verify(). */
KERNBENCH_C_API int kernbench_add_job(kernbench_platform* platform, const char* kernel, const kernbench_pair* params,
                                      size_t count, const char* pes, int verify, kernbench_job** job);
/* Its number for the DOORBELL register of a SIP's host. */
KERNBENCH_C_API int kernbench_job_doorbell(kernbench_job* job, int sip, uint64_t* number);
/* Location of a tensor: the number of its ranges, and the address and length of one. */
KERNBENCH_C_API int kernbench_job_ranges(kernbench_job* job, const char* tensor, size_t* count);
KERNBENCH_C_API int kernbench_job_range(kernbench_job* job, const char* tensor, size_t index, uint64_t* address,
                                        uint64_t* bytes);
/* Writes or reads a complete tensor, row-major, without simulated time. */
KERNBENCH_C_API int kernbench_job_place(kernbench_job* job, const char* tensor, const void* data, uint64_t bytes);
KERNBENCH_C_API int kernbench_job_place_random(kernbench_job* job, const char* tensor, uint64_t seed);
KERNBENCH_C_API int kernbench_job_read(kernbench_job* job, const char* tensor, void* data, uint64_t bytes);
/* Starts the job now; kernbench_job_run also simulates until it has completed. A completed job may be started again.
 * KERNBENCH_FAILED: a fault of the kernel. */
KERNBENCH_C_API int kernbench_job_start(kernbench_job* job);
KERNBENCH_C_API int kernbench_job_run(kernbench_job* job);
/* Ends a running job now; its completion arrives later. kernbench_job_result is then KERNBENCH_FAILED. */
KERNBENCH_C_API int kernbench_job_abort(kernbench_job* job);
/* 1 while it runs. */
KERNBENCH_C_API int kernbench_job_running(kernbench_job* job, int* running);
/* Last launch: the start of all kernels, and the arrival of the completion at the host. KERNBENCH_FAILED with the
 * reason if a kernel failed. */
KERNBENCH_C_API int kernbench_job_result(kernbench_job* job, double* start_ns, double* end_ns);
/* 1 if its outputs, with pending ones computed, agree with the kernel's reference. */
KERNBENCH_C_API int kernbench_job_verify(kernbench_job* job, int* passed);

/* `kernbench run` in one call: random inputs, and verified outputs if `verify` is nonzero. `report`: JSON, owned by the
 * platform until the next run. KERNBENCH_FAILED also for a wrong output; then there is a report. */
KERNBENCH_C_API int kernbench_run_kernel(kernbench_platform* platform, const char* kernel, const kernbench_pair* params,
                                         size_t count, const char* pes, int verify, const char** report);

/* A run as a function, with all options of the command line. `command`: run, model, traffic, pipeline, probe or
 * collectives. `options`: {"topology", "small.yaml"}, or {"verify", "true"} for a flag; repeat an entry for a repeated
 * option. It simulates in a separate process, so it may be called repeatedly, with or without platforms, also during a
 * simulation. KERNBENCH_FAILED also for a wrong output; then there is a record. */
typedef struct kernbench_record kernbench_record;
KERNBENCH_C_API int kernbench_run(const char* command, const kernbench_pair* options, size_t count,
                                  kernbench_record** record);
/* A numeric metric of `kernbench sweep --list-metrics`: "sim_ns", "energy_j". KERNBENCH_BAD_INPUT if the run has none
 * of that name. */
KERNBENCH_C_API int kernbench_record_figure(kernbench_record* record, const char* name, double* value);
/* What bounds the run, one sentence a line, with the option explain or report. Owned by the record. */
KERNBENCH_C_API int kernbench_record_verdict(kernbench_record* record, const char** text);
/* {"status", "told", "figures", "verdict", "wall_s", "report"}; the report is JSON unless the option format changes it.
 * Owned by the record. */
KERNBENCH_C_API int kernbench_record_json(kernbench_record* record, const char** json);
KERNBENCH_C_API int kernbench_record_destroy(kernbench_record* record);

/* Simulates all platforms for this time: more than 0, up to 2^64 fs in total. */
KERNBENCH_C_API int kernbench_advance(double ns);
KERNBENCH_C_API int kernbench_now(double* ns);

#ifdef __cplusplus
}
#endif

#endif
