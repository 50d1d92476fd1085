// SPDX-License-Identifier: Apache-2.0
// A library to preload. It counts the system calls of a program, and makes one of them fail, or one and all later ones.
// Environment:
//   FAILING_CALLS_COUNTS  a file for the counts, shared by all processes that the program starts
//   FAILING_CALLS_UNDER   the folder whose files count; stdout counts as one of them, stderr never does
//   FAILING_CALLS_KIND    open, read, write, rename, sync, start or memory: the calls that fail
//   FAILING_CALLS_AT      the number of the call that fails, from 1; 0 or nothing: none
//   FAILING_CALLS_ERRNO   its errno
//   FAILING_CALLS_ON      not empty: all later ones fail too
// Memory counts from the start of the program's own code on, because the loader's memory is outside the program's
// control. Memory of SystemC's pool of small objects does not count either: SystemC does not check malloc()'s result,
// so a failure could only crash (docs/robustness.md). For stdio the program's calls are counted, because libc's
// internal calls cannot be intercepted.
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
extern "C" {
#include <sys/pidfd.h>  // glibc 2.36 lacks extern "C" in it
}

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

enum Kind : unsigned { kOpen, kRead, kWrite, kRename, kSync, kStart, kMemory, kKinds };
constexpr const char* kNames[kKinds] = {"open", "read", "write", "rename", "sync", "start", "memory"};

/// Contents of the file of counts.
struct Counts {
  std::atomic<uint64_t> calls[kKinds], failed;
};

Counts* counts = nullptr;
const char* under = nullptr;
unsigned kind_that_fails = kKinds;
uint64_t at = 0;
bool and_on = false, started = false;
int error = EIO;

template <class F>
F find(const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

/// The real functions. All are looked up at the start: a later look-up could come between a failed dlopen() and its
/// dlerror().
struct Real {
#define FIND(name) decltype(&::name) name = find<decltype(&::name)>(#name);
  FIND(open)
  FIND(open64)
  FIND(openat)
  FIND(openat64)
  FIND(fopen)
  FIND(fopen64)
  FIND(fdopen)
  FIND(mkstemp)
  // clang-format off
  FIND(mkdir) FIND(read) FIND(pread) FIND(pread64) FIND(fread) FIND(write) FIND(writev) FIND(pwrite) FIND(pwrite64)
  FIND(ftruncate) FIND(ftruncate64) FIND(fwrite) FIND(fflush) FIND(fclose) FIND(close) FIND(rename) FIND(fsync)
  FIND(fdatasync) FIND(fork) FIND(pipe) FIND(memfd_create) FIND(pidfd_open) FIND(pthread_create) FIND(malloc)
  FIND(calloc) FIND(realloc) FIND(aligned_alloc) FIND(memalign) FIND(posix_memalign) FIND(mmap)
  // clang-format on
#undef FIND
      // operator new, by its mangled names
      using New = void * (*)(size_t);
  using AlignedNew = void* (*)(size_t, std::align_val_t);
  using NothrowNew = void* (*)(size_t, const std::nothrow_t&);
  New new_one = find<New>("_Znwm"), new_array = find<New>("_Znam");
  AlignedNew aligned_one = find<AlignedNew>("_ZnwmSt11align_val_t"),
             aligned_array = find<AlignedNew>("_ZnamSt11align_val_t");
  NothrowNew nothrow_one = find<NothrowNew>("_ZnwmRKSt9nothrow_t"),
             nothrow_array = find<NothrowNew>("_ZnamRKSt9nothrow_t");
};

const Real& real() {
  static const Real functions;
  return functions;
}

/// Counts a call and returns whether it must fail.
bool fails(Kind kind) {
  if (!counts) return false;
  const uint64_t n = counts->calls[kind].fetch_add(1) + 1;
  if (kind != kind_that_fails || at == 0 || (and_on ? n < at : n != at)) return false;
  counts->failed.fetch_add(1);
  errno = error;
  return true;
}

bool is_under(const char* path) {
  return under && strncmp(path, under, strlen(under)) == 0;
}

bool is_counted(int fd) {
  if (!counts || fd == STDERR_FILENO) return false;
  if (fd == STDOUT_FILENO) return true;
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t n = readlink(link, path, sizeof path - 1);
  if (n < 0) return false;
  path[n] = '\0';
  return is_under(path);
}

bool fails(Kind kind, int fd) {
  const int before = errno;
  const bool counted = is_counted(fd);
  errno = before;
  return counted && fails(kind);
}

bool fails(Kind kind, const char* path) {
  return is_under(path) && fails(kind);
}

bool is_written(int fd) {
  const int flags = fcntl(fd, F_GETFL);
  return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

bool memory_fails() {
  return started && fails(kMemory);
}

struct Range {
  uintptr_t begin = 0, end = 0;
};
Range systemc;

int find_systemc(dl_phdr_info* library, size_t, void*) {
  if (!strstr(library->dlpi_name, "libsystemc")) return 0;
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const auto& part = library->dlpi_phdr[i];
    const uintptr_t begin = library->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && (part.p_flags & PF_X) != 0) systemc = {begin, begin + part.p_memsz};
  }
  return 1;
}

bool is_of_systemc(void* caller) {
  const auto address = reinterpret_cast<uintptr_t>(caller);
  return address >= systemc.begin && address < systemc.end;
}

__attribute__((constructor)) void begin() {
  const char* file = getenv("FAILING_CALLS_COUNTS");
  if (!file) return;
  const char* kind = getenv("FAILING_CALLS_KIND");
  for (unsigned k = 0; kind && k < kKinds; ++k) {
    if (strcmp(kind, kNames[k]) == 0) kind_that_fails = k;
  }
  under = getenv("FAILING_CALLS_UNDER");
  if (const char* n = getenv("FAILING_CALLS_AT")) at = strtoull(n, nullptr, 10);
  if (const char* n = getenv("FAILING_CALLS_ERRNO")) error = atoi(n);
  if (const char* on = getenv("FAILING_CALLS_ON")) and_on = *on != '\0';
  dl_iterate_phdr(find_systemc, nullptr);
  const int fd = real().open(file, O_RDWR | O_CLOEXEC);
  void* p = fd < 0 ? MAP_FAILED : real().mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (p == MAP_FAILED) abort();
  real().close(fd);
  counts = static_cast<Counts*>(p);
}

mode_t mode_of(int flags, va_list more) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
}

}  // namespace

extern "C" {

// ---- where the program's own code begins

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(), void (*fini)(),
                      void (*rtld_fini)(), void* stack_end) {
  started = true;
  const auto next = reinterpret_cast<decltype(&__libc_start_main)>(dlsym(RTLD_NEXT, "__libc_start_main"));
  return next(main, argc, argv, init, fini, rtld_fini, stack_end);
}

// ---- files

#define OPEN(name)                                                   \
  int name(const char* path, int flags, ...) {                       \
    va_list more;                                                    \
    va_start(more, flags);                                           \
    const mode_t mode = mode_of(flags, more);                        \
    va_end(more);                                                    \
    return fails(kOpen, path) ? -1 : real().name(path, flags, mode); \
  }
#define OPENAT(name)                                                         \
  int name(int folder, const char* path, int flags, ...) {                   \
    va_list more;                                                            \
    va_start(more, flags);                                                   \
    const mode_t mode = mode_of(flags, more);                                \
    va_end(more);                                                            \
    return fails(kOpen, path) ? -1 : real().name(folder, path, flags, mode); \
  }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
FILE* fopen(const char* path, const char* mode) {
  return fails(kOpen, path) ? nullptr : real().fopen(path, mode);
}
FILE* fopen64(const char* path, const char* mode) {
  return fails(kOpen, path) ? nullptr : real().fopen64(path, mode);
}
FILE* fdopen(int fd, const char* mode) {
  return fails(kOpen, fd) ? nullptr : real().fdopen(fd, mode);
}
int mkstemp(char* path) {
  return fails(kOpen, path) ? -1 : real().mkstemp(path);
}
int mkdir(const char* path, mode_t mode) {
  return fails(kOpen, path) ? -1 : real().mkdir(path, mode);
}

ssize_t read(int fd, void* to, size_t n) {
  return fails(kRead, fd) ? -1 : real().read(fd, to, n);
}
ssize_t pread(int fd, void* to, size_t n, off_t from) {
  return fails(kRead, fd) ? -1 : real().pread(fd, to, n, from);
}
ssize_t pread64(int fd, void* to, size_t n, off64_t from) {
  return fails(kRead, fd) ? -1 : real().pread64(fd, to, n, from);
}
size_t fread(void* to, size_t size, size_t n, FILE* f) {
  return fails(kRead, fileno(f)) ? 0 : real().fread(to, size, n, f);
}

ssize_t write(int fd, const void* from, size_t n) {
  return fails(kWrite, fd) ? -1 : real().write(fd, from, n);
}
ssize_t writev(int fd, const struct iovec* parts, int n) {
  return fails(kWrite, fd) ? -1 : real().writev(fd, parts, n);
}
ssize_t pwrite(int fd, const void* from, size_t n, off_t to) {
  return fails(kWrite, fd) ? -1 : real().pwrite(fd, from, n, to);
}
ssize_t pwrite64(int fd, const void* from, size_t n, off64_t to) {
  return fails(kWrite, fd) ? -1 : real().pwrite64(fd, from, n, to);
}
int ftruncate(int fd, off_t size) {
  return fails(kWrite, fd) ? -1 : real().ftruncate(fd, size);
}
int ftruncate64(int fd, off64_t size) {
  return fails(kWrite, fd) ? -1 : real().ftruncate64(fd, size);
}
size_t fwrite(const void* from, size_t size, size_t n, FILE* f) {
  return fails(kWrite, fileno(f)) ? 0 : real().fwrite(from, size, n, f);
}
int fflush(FILE* f) {
  return f && fails(kWrite, fileno(f)) ? EOF : real().fflush(f);
}
/// Closed nevertheless, like the system does.
int fclose(FILE* f) {
  const bool failed = is_written(fileno(f)) && fails(kWrite, fileno(f));
  const int result = real().fclose(f);
  if (failed) errno = error;
  return failed ? EOF : result;
}
int close(int fd) {
  const bool failed = counts && is_written(fd) && fails(kWrite, fd);
  const int result = real().close(fd);
  if (failed) errno = error;
  return failed ? -1 : result;
}

int rename(const char* from, const char* to) {
  return fails(kRename, to) ? -1 : real().rename(from, to);
}
int fsync(int fd) {
  return fails(kSync, fd) ? -1 : real().fsync(fd);
}
int fdatasync(int fd) {
  return fails(kSync, fd) ? -1 : real().fdatasync(fd);
}

// ---- processes and threads

pid_t fork() {
  return fails(kStart) ? -1 : real().fork();
}
int pipe(int* ends) {
  return fails(kStart) ? -1 : real().pipe(ends);
}
int memfd_create(const char* name, unsigned flags) {
  return fails(kStart) ? -1 : real().memfd_create(name, flags);
}
int pidfd_open(pid_t pid, unsigned flags) {
  return fails(kStart) ? -1 : real().pidfd_open(pid, flags);
}
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*), void* argument) {
  return fails(kStart) ? error : real().pthread_create(thread, attributes, function, argument);
}

// ---- memory

void* malloc(size_t n) {
  return !is_of_systemc(__builtin_return_address(0)) && memory_fails() ? nullptr : real().malloc(n);
}
void* calloc(size_t n, size_t size) {
  return memory_fails() ? nullptr : real().calloc(n, size);
}
void* realloc(void* p, size_t n) {
  return memory_fails() ? nullptr : real().realloc(p, n);
}
void* aligned_alloc(size_t alignment, size_t n) {
  return memory_fails() ? nullptr : real().aligned_alloc(alignment, n);
}
void* memalign(size_t alignment, size_t n) {
  return memory_fails() ? nullptr : real().memalign(alignment, n);
}
int posix_memalign(void** p, size_t alignment, size_t n) {
  return memory_fails() ? ENOMEM : real().posix_memalign(p, alignment, n);
}
void* mmap(void* address, size_t n, int protection, int flags, int fd, off_t from) {
  if ((flags & MAP_ANONYMOUS) != 0 && memory_fails()) return MAP_FAILED;
  return real().mmap(address, n, protection, flags, fd, from);
}

}  // extern "C"

void* operator new(size_t n) {
  if (memory_fails()) throw std::bad_alloc();
  return real().new_one(n);
}
void* operator new[](size_t n) {
  if (memory_fails()) throw std::bad_alloc();
  return real().new_array(n);
}
void* operator new(size_t n, std::align_val_t alignment) {
  if (memory_fails()) throw std::bad_alloc();
  return real().aligned_one(n, alignment);
}
void* operator new[](size_t n, std::align_val_t alignment) {
  if (memory_fails()) throw std::bad_alloc();
  return real().aligned_array(n, alignment);
}
void* operator new(size_t n, const std::nothrow_t& nothrow) noexcept {
  return memory_fails() ? nullptr : real().nothrow_one(n, nothrow);
}
void* operator new[](size_t n, const std::nothrow_t& nothrow) noexcept {
  return memory_fails() ? nullptr : real().nothrow_array(n, nothrow);
}
