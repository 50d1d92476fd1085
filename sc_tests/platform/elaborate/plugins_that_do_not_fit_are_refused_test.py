# SPDX-License-Identifier: Apache-2.0
"""Is a plug-in that cannot be used refused in one line, before anything of it runs?"""
import os
import subprocess

import cli_support
from cli_support import topology

COMPILER = os.environ["KERNBENCH_CXX"]
INCLUDE = os.environ["KERNBENCH_INCLUDE"]
MARK = '#include "kernbench/kernel_api/plugin.h"\nKERNBENCH_PLUGIN("tested")\n'
# Code that runs when the object is loaded writes to stderr, where only the refusal is allowed.
SHOUT = '#include <cstdio>\nconst int shout = std::fputs("it ran", stderr);\n'


class Plugins(cli_support.FolderCli):
    def build(self, code, name="plugin"):
        source, library = f"{self.folder}/{name}.cpp", f"{self.folder}/{name}.so"
        with open(source, "w") as f:
            f.write(code)
        subprocess.run([COMPILER, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-I", INCLUDE, source,
                        "-o", library], check=True)
        return library

    def is_refused(self, library, *saying):
        err = self.refuses("list", "kernels", "--plugin", library, saying=["--plugin " + library, *saying], lines=1)
        self.assertNotIn("it ran", err)

    def test_files_that_are_no_plug_ins(self):
        self.is_refused(f"{self.folder}/missing.so", "cannot be opened")
        self.is_refused(self.folder, "cannot be opened")
        self.is_refused(topology("small.yaml"), "is no shared object")
        self.is_refused(self.build(SHOUT), "lacks KERNBENCH_PLUGIN(name)")

    def test_one_that_was_built_for_another_version(self):
        library = self.build(MARK + SHOUT)
        with open(library, "rb") as f:
            content = f.read()
        self.assertIn(b"kernbench 0.1, C++ ", content)
        for old, new in ((b"kernbench 0.1, C++ ", b"kernbench 7.1, C++ "), (b"C++ 201703L", b"C++ 201103L")):
            with open(library, "wb") as f:
                f.write(content.replace(old, new))
            self.is_refused(library, new.decode(), "this is kernbench 0.1, C++ 201703L", "build it again")

    def test_one_that_cannot_be_linked(self):
        self.is_refused(self.build(MARK + "int nowhere();\nextern const int x;\nconst int x = nowhere();\n"),
                        "cannot be loaded", "nowhere")

    def test_one_that_registers_nothing(self):
        self.is_refused(self.build(MARK), "registers neither a component nor a kernel")

    def test_one_that_takes_a_name_that_is_taken(self):
        code = MARK + """
#include "kernbench/kernel_api/registry.h"
const kernbench::RegisterKernel registered{[] { kernbench::KernelSpec k; k.name = "NAME"; return k; }()};
"""
        self.is_refused(self.build(code.replace("NAME", "gemm")), "kernel 'gemm' is there already")
        mine = self.build(code.replace("NAME", "mine"), "mine")
        self.assertIn(f"mine  (from {mine})", self.succeeds("list", "kernels", "--plugin", mine))
        self.succeeds("list", "kernels", "--plugin", mine, "--plugin", mine)
        other = self.build(code.replace("NAME", "mine"), "other")
        self.refuses("list", "kernels", "--plugin", mine, "--plugin", other, saying=["kernel 'mine' is there already"],
                     lines=1)

    def test_a_policy_with_a_name_that_is_taken(self):
        code = MARK + """
#include "kernbench/systemc_models/memory/dram_policies.h"
struct Mine : kernbench::DramPagePolicy {
  bool closes(bool) const override { return true; }
};
KERNBENCH_REGISTER_NAMED(kernbench::DramPagePolicy, Mine, "TITLE", "closes at once")
"""
        self.is_refused(self.build(code.replace("TITLE", "open")), "DRAM page policy 'open' is there already")
        mine = self.build(code.replace("TITLE", "at_once"), "mine")
        self.assertRegex(self.succeeds("list", "components", "--plugin", mine), f"at_once +closes at once, from {mine}")

    def test_an_unknown_impl_points_to_plug_ins(self):
        yaml = f"{self.folder}/t.yaml"
        with open(yaml, "w") as f:
            f.write("nodes:\n- {id: h, kind: hbm_ctrl, impl: custom.my_hbm}\nlinks: []\n"
                    "memories:\n- {node: h, space: hbm, base: 0, size: 4096}\n")
        self.refuses("topology", yaml, saying=["unknown impl 'custom.my_hbm'", "--plugin LIB.so"])


if __name__ == "__main__":
    cli_support.main()
