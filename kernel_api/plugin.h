// A plug-in: a shared object with kernels or components that `kernbench --plugin LIB.so` (platform/elaborate/plugins.h)
// loads. They register themselves as in an executable; one of its source files says, outside of any namespace:
//
//   KERNBENCH_PLUGIN("my_blocks")
//
// which leaves a mark in the file: for which kernbench and with which C++ it was built. It is read before anything of
// the plug-in runs, so that one that does not fit is refused instead of crashing.
#pragma once

#include <cstddef>  // for the library's string ABI

/// Major and minor version of kernbench: what is built against another one does not fit.
#define KERNBENCH_PLUGIN_VERSION "0.1"

#ifdef _GLIBCXX_USE_CXX11_ABI
#define KERNBENCH_PLUGIN_STRING_ABI _GLIBCXX_USE_CXX11_ABI
#else
#define KERNBENCH_PLUGIN_STRING_ABI 0
#endif
#define KERNBENCH_PLUGIN_TEXT_OF(x) #x
#define KERNBENCH_PLUGIN_TEXT(x) KERNBENCH_PLUGIN_TEXT_OF(x)

/// What must be equal in a plug-in and in the program that loads it.
#define KERNBENCH_PLUGIN_BUILT_FOR      \
  "kernbench " KERNBENCH_PLUGIN_VERSION \
  ", C++ " KERNBENCH_PLUGIN_TEXT(__cplusplus) ", string ABI " KERNBENCH_PLUGIN_TEXT(KERNBENCH_PLUGIN_STRING_ABI)

#define KERNBENCH_PLUGIN(name)                                                                    \
  extern "C" {                                                                                    \
  extern __attribute__((visibility("default"))) const char kernbench_plugin[];                    \
  const char kernbench_plugin[] = "kernbench-plugin\n" KERNBENCH_PLUGIN_BUILT_FOR "\n" name "\n"; \
  }
