// SPDX-License-Identifier: Apache-2.0
// A plug-in: a shared object with kernels or components, loaded by `kernbench --plugin LIB.so`
// (platform/elaborate/plugins.h). They register as in an executable. One of its source files has, outside of any
// namespace:
//
//   KERNBENCH_PLUGIN("my_blocks")
//
// This stores in the file for which kernbench and C++ it was built. The loader checks that before it runs any code of
// the plug-in, so an incompatible plug-in is refused and cannot crash.
#pragma once

#include <cstddef>  // for the library's string ABI

/// Major and minor version of kernbench. A plug-in built for another version is incompatible.
#define KERNBENCH_PLUGIN_VERSION "0.1"

#ifdef _GLIBCXX_USE_CXX11_ABI
#define KERNBENCH_PLUGIN_STRING_ABI _GLIBCXX_USE_CXX11_ABI
#else
#define KERNBENCH_PLUGIN_STRING_ABI 0
#endif
#define KERNBENCH_PLUGIN_TEXT_OF(x) #x
#define KERNBENCH_PLUGIN_TEXT(x) KERNBENCH_PLUGIN_TEXT_OF(x)

/// Must be equal in the plug-in and in the loading program.
#define KERNBENCH_PLUGIN_BUILT_FOR      \
  "kernbench " KERNBENCH_PLUGIN_VERSION \
  ", C++ " KERNBENCH_PLUGIN_TEXT(__cplusplus) ", string ABI " KERNBENCH_PLUGIN_TEXT(KERNBENCH_PLUGIN_STRING_ABI)

#define KERNBENCH_PLUGIN(name)                                                                    \
  extern "C" {                                                                                    \
  extern __attribute__((visibility("default"))) const char kernbench_plugin[];                    \
  const char kernbench_plugin[] = "kernbench-plugin\n" KERNBENCH_PLUGIN_BUILT_FOR "\n" name "\n"; \
  }
