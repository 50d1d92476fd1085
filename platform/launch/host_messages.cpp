#include "kernbench/platform/launch/host_messages.h"

namespace kernbench {

const char* name_of(HostError e) {
  switch (e) {
    case HostError::ok:
      return "ok";
    case HostError::bad_address:
      return "bad_address";
    case HostError::no_path:
      return "no_path";
    case HostError::pe_busy:
      return "pe_busy";
    case HostError::kernel_fault:
      return "kernel_fault";
    case HostError::no_mmu:
      return "no_mmu";
    case HostError::overlap:
      return "overlap";
    case HostError::not_mapped:
      return "not_mapped";
  }
  return "";
}

}  // namespace kernbench
