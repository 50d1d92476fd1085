# SPDX-License-Identifier: Apache-2.0
"""Is a plug-in's class that cannot stand where `impl:` puts it told in one line, with exit status 2, by every command?"""
import os
import subprocess
import tempfile

import cli_support

COMPILER = os.environ["KERNBENCH_CXX"]
INCLUDE = os.environ["KERNBENCH_INCLUDE"]

KINDS = ("pe_cpu", "pe_scheduler", "pe_dma", "pe_fetch_store", "pe_gemm", "pe_math", "pe_tcm", "pe_mmu", "router",
         "hbm_ctrl")
PLUGIN = """
#include "kernbench/kernel_api/plugin.h"
#include "kernbench/systemc_models/core/registry.h"
namespace {
using namespace kernbench;
struct Bare : Component {
  using Parameters = BlockParameters;
  Bare(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& p) : Component(name, config, p) {}
};
const bool added = [] {
  for (const char* kind : {KINDS})
    component_registry().add(spec_of<BlockParameters>(std::string("bare.") + kind, kind, "nothing"), make_component<Bare>);
  return true;
}();
}  // namespace
KERNBENCH_PLUGIN("bare")
""".replace("KINDS", ", ".join(f'"{k}"' for k in KINDS))

TOPOLOGY = """\
nodes:
- {id: pe.pe_cpu, kind: pe_cpu}
- {id: pe.pe_scheduler, kind: pe_scheduler}
- {id: pe.pe_dma, kind: pe_dma}
- {id: pe.pe_fetch_store, kind: pe_fetch_store}
- {id: pe.pe_gemm, kind: pe_gemm, attrs: {macs_per_cycle: 1024, freq_ghz: 1}}
- {id: pe.pe_math, kind: pe_math, attrs: {lanes: 128, freq_ghz: 1}}
- {id: pe.pe_tcm, kind: pe_tcm, attrs: {size_mb: 2, reserved_mb: 1, read_bw_gbs: 512, write_bw_gbs: 512}}
- {id: pe.pe_mmu, kind: pe_mmu}
- {id: r, kind: router}
- {id: hbm, kind: hbm_ctrl}
links:
- {from: pe.pe_dma, to: r, distance_mm: 1, bw_gbs: 64}
- {from: r, to: hbm, distance_mm: 1, bw_gbs: 64}
memories:
- {node: hbm, space: hbm, base: 0, size: 16777216}
"""


class OwnBlocks(cli_support.Cli):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.plugin = f"{cls.folder}/bare.so"
        with open(f"{cls.folder}/bare.cpp", "w") as f:
            f.write(PLUGIN)
        subprocess.run([COMPILER, "-std=c++17", "-O0", "-fPIC", "-shared", "-I", INCLUDE, f"{cls.folder}/bare.cpp", "-o",
                        cls.plugin], check=True)
        with open(f"{cls.folder}/requests.csv", "w") as f:
            f.write("id,issue_ns,initiator,op,address,bytes\na,0,pe.pe_dma,read,0,64\n")

    def machine(self, kind):
        """The PE's machine with the bare class in the place of the block of that kind."""
        path = f"{self.folder}/{kind}.yaml"
        lines = TOPOLOGY.splitlines()
        (at,) = [i for i, line in enumerate(lines) if f"kind: {kind}," in line or f"kind: {kind}}}" in line]
        lines[at] = lines[at].split(f"kind: {kind}")[0] + f"kind: {kind}, impl: bare.{kind}}}"
        with open(path, "w") as f:
            f.write("\n".join(lines) + "\n")
        return path

    def test_are_told_before_a_run(self):
        for kind in KINDS:
            with self.subTest(kind=kind):
                self.refuses("run", "--plugin", self.plugin, "--topology", self.machine(kind), "--kernel", "vector_add",
                             saying=(f"'bare.{kind}' is no ", f"kind {kind} must be" if kind != "hbm_ctrl" else "must be"),
                             lines=1)

    def test_are_told_by_other_commands(self):
        for kind in KINDS:
            with self.subTest(kind=kind):
                machine = self.machine(kind)
                self.refuses("probe", "--plugin", self.plugin, "--topology", machine, saying=("is no ",), lines=1)
                self.refuses("traffic", "--plugin", self.plugin, "--topology", machine, "--trace",
                             f"{self.folder}/requests.csv", saying=("is no ",), lines=1)


if __name__ == "__main__":
    cli_support.main()
