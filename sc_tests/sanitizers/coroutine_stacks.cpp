// SystemC 2.3.4 tells AddressSanitizer when it goes from one thread's stack to another's, but leaves out what follows from
// three things: sc_main's stack has bounds too, a stack that is left may be come back to, and a thread may end. Linked
// into a program, this stands between the two and says it all, so that ASan knows the stack that an exception unwinds and
// the frames that a function has left. What only the stack of a waiting thread points to is no leak.
#include <dlfcn.h>
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/lsan_interface.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>

namespace {

struct Stack {
  const void* bottom = nullptr;
  size_t bytes = 0;
  void* frames = nullptr;  ///< ASan's own memory for the stack's frames, while the stack is left
};

using Start = void (*)(void**, const void*, size_t);
using Finish = void (*)(void*, const void**, size_t*);

template <class Function>
Function of_asan(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

Stack first_stack() {
  pthread_attr_t attributes;
  pthread_getattr_np(pthread_self(), &attributes);
  void* bottom = nullptr;
  size_t bytes = 0;
  pthread_attr_getstack(&attributes, &bottom, &bytes);
  pthread_attr_destroy(&attributes);
  return {bottom, bytes, nullptr};
}

/// As FakeStack::RequiredSize of GCC 12's ASan: frames of 11 sizes, and a flag for each.
size_t bytes_of_frames(size_t stack_bytes) {
  size_t log = 16;
  while (log < 20 && size_t{1} << log < stack_bytes) ++log;
  return 4096 + (size_t{1} << (log - 5)) + 11 * (size_t{1} << log);
}

struct Stacks {
  Stack first = first_stack();
  std::map<uintptr_t, Stack> others;  ///< by bottom
  Stack* current = &first;
  Stack* next = nullptr;
  Start start = of_asan<Start>("__sanitizer_start_switch_fiber");
  Finish finish = of_asan<Finish>("__sanitizer_finish_switch_fiber");

  Stack* at(uintptr_t address) {
    const auto it = others.upper_bound(address);
    if (it == others.begin()) return &first;
    Stack& s = std::prev(it)->second;
    return address - reinterpret_cast<uintptr_t>(s.bottom) < s.bytes ? &s : &first;
  }

  /// A thread's, which SystemC may have put where another's was.
  Stack* thread(const void* bottom, size_t bytes) {
    Stack& s = others[reinterpret_cast<uintptr_t>(bottom)];
    if (s.bytes == bytes) return &s;
    if (s.bytes > 0) __lsan_unregister_root_region(bottom, s.bytes);
    s.bottom = bottom;
    s.bytes = bytes;
    __lsan_register_root_region(bottom, bytes);
    __asan_unpoison_memory_region(bottom, bytes);  // of what lay there before
    return &s;
  }

  /// While a stack is in use LeakSanitizer looks at its frames by itself.
  void leave(Stack& s) {
    start(&s.frames, next->bottom, next->bytes);
    if (s.frames) __lsan_register_root_region(s.frames, bytes_of_frames(s.bytes));
  }
  void enter(Stack& s) {
    if (s.frames) __lsan_unregister_root_region(s.frames, bytes_of_frames(s.bytes));
    current = &s;
    finish(s.frames, nullptr, nullptr);
    s.frames = nullptr;
  }
};

Stacks& stacks() {
  static Stacks all;
  return all;
}

}  // namespace

extern "C" {

// No size: sc_main's.
void __sanitizer_start_switch_fiber(void**, const void* bottom, size_t bytes) {
  Stacks& s = stacks();
  s.next = bytes == 0 ? &s.first : s.thread(bottom, bytes);
  s.leave(*s.current);
}

void __sanitizer_finish_switch_fiber(void*, const void**, size_t*) {
  Stacks& s = stacks();
  s.enter(*s.next);
}

// SystemC's own, called on the stack that goes on, does nothing.
void* sc_cor_qt_aborthelp(void*, void*, void*) {
  Stacks& s = stacks();
  const Stack ended = *s.current;
  s.next = s.at(reinterpret_cast<uintptr_t>(__builtin_frame_address(0)));
  s.start(nullptr, s.next->bottom, s.next->bytes);
  s.enter(*s.next);
  __lsan_unregister_root_region(ended.bottom, ended.bytes);
  s.others.erase(reinterpret_cast<uintptr_t>(ended.bottom));
  return nullptr;
}

}  // extern "C"
