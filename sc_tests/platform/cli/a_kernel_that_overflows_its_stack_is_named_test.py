"""Does a kernel that needs more than its stack end in one line that names its PE, and one that needs less run?"""
import os
import subprocess
import tempfile

import cli_support
from cli_support import topology

CODE = r"""
#include "kernbench/kernel_api/plugin.h"
#include "kernbench/kernel_api/registry.h"
#include "kernbench/kernel_api/tl.h"
using namespace kernbench;
namespace {
[[gnu::noinline]] int dig(volatile char* above, int64_t kib) {
  volatile char block[1024];
  block[0] = above[0];
  return kib == 0 ? block[0] : dig(block, kib - 1) + block[0];
}
void deep(tl::Context&, const tl::Args& args) {
  volatile char first = 0;
  dig(&first, args.integer("kib"));
}
KernelSpec spec() {
  KernelSpec k;
  k.name = "deep";
  k.params = {ParamSpec::size("kib", 1, "about how much stack it takes")};
  k.function = deep;
  return k;
}
const RegisterKernel registered{spec()};
}  // namespace
KERNBENCH_PLUGIN("deep")
"""


class StackOverflow(cli_support.Cli):
    def test_it_is_told(self):
        with tempfile.TemporaryDirectory() as folder:
            source, library = f"{folder}/deep.cpp", f"{folder}/deep.so"
            with open(source, "w") as f:
                f.write(CODE)
            subprocess.run([os.environ["KERNBENCH_CXX"], "-std=c++17", "-O1", "-fPIC", "-shared", "-I",
                            os.environ["KERNBENCH_INCLUDE"], source, "-o", library], check=True)
            run = ["run", "--topology", topology("small.yaml"), "--plugin", library, "--kernel", "deep", "--param"]
            self.succeeds(*run, "kib=128")
            self.refuses(*run, "kib=100000", status=1, lines=1,
                         saying=["sip0.cube0.pe0", "the kernel needs more than its stack of 256 KiB"])


if __name__ == "__main__":
    cli_support.main()
