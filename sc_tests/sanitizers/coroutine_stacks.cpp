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
#include <map>

namespace {

struct Stack {
  const void* bottom = nullptr;
  size_t bytes = 0;
  void* fake = nullptr;  ///< ASan's own, while the stack is left
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
  return {bottom, bytes};
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
  s.next = bytes == 0 ? &s.first : &s.others[reinterpret_cast<uintptr_t>(bottom)];
  if (bytes > 0 && s.next->bytes != bytes) {
    if (s.next->bytes > 0) __lsan_unregister_root_region(bottom, s.next->bytes);
    s.next->bottom = bottom;
    s.next->bytes = bytes;
    __lsan_register_root_region(bottom, bytes);
    __asan_unpoison_memory_region(bottom, bytes);  // of what lay there before
  }
  s.start(&s.current->fake, s.next->bottom, s.next->bytes);
}

void __sanitizer_finish_switch_fiber(void*, const void**, size_t*) {
  Stacks& s = stacks();
  s.current = s.next;
  s.finish(s.current->fake, nullptr, nullptr);
}

// SystemC's own, called on the stack that goes on, does nothing.
void* sc_cor_qt_aborthelp(void*, void*, void*) {
  Stacks& s = stacks();
  const Stack ended = *s.current;
  s.current = s.at(reinterpret_cast<uintptr_t>(__builtin_frame_address(0)));
  s.start(nullptr, s.current->bottom, s.current->bytes);
  s.finish(s.current->fake, nullptr, nullptr);
  __lsan_unregister_root_region(ended.bottom, ended.bytes);
  s.others.erase(reinterpret_cast<uintptr_t>(ended.bottom));
  return nullptr;
}

}  // extern "C"
