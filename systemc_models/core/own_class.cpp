// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/core/own_class.h"

#include <fmt/format.h>

#include <new>
#include <string_view>

#include "kernbench/phase2/op/femtoseconds.h"

namespace kernbench::core {

OwnClassError::OwnClassError(const Component& block, const std::string& said)
    : runtime_error(fmt::format("{} ({}): {}", block.id(), block.kind(), said)) {}

void refuse_ns(const Component& block, const char* function, double ns, double least_ns) {
  throw OwnClassError(
      block, least_ns > 0 ? fmt::format("{} gave {} ns, expected {} ns, which is now, or later", function, ns, least_ns)
                          : fmt::format("{} gave {} ns, expected 0 ns or more", function, ns));
}

void thrown_by(const Component& block, const char* function) {
  try {
    throw;
  } catch (const OwnClassError&) {
    throw;
  } catch (const TimeBeyondRange&) {
    throw;  // the transaction's name comes with it
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    if (std::string_view(block.kind()).rfind("builtin.", 0) == 0) throw;
    throw OwnClassError(block, fmt::format("{} threw: {}", function, e.what()));
  }
}

}  // namespace kernbench::core
