"""Do the kernel, the topology and the block of README.md compile and do what it says?"""
import os
import re
import subprocess
import tempfile

import cli_support
from cli_support import KERNBENCH, topology

README = os.environ["KERNBENCH_README"]
COMPILER = os.environ["KERNBENCH_CXX"]
INCLUDE = os.environ["KERNBENCH_INCLUDE"]


class Readme(cli_support.Cli):
    @classmethod
    def setUpClass(cls):
        with open(README) as f:
            text = f.read()
        cls.kernel, cls.block = re.findall(r"```cpp\n(.*?)```", text, re.S)
        cls.yaml = re.search(r"```yaml\n(.*?)```", text, re.S).group(1)
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)

    def path(self, name, content):
        path = os.path.join(self.folder.name, name)
        with open(path, "w") as f:
            f.write(content)
        return path

    def run_with(self, code, *arguments):
        """The command line with `code` in the process, as if it had been built in."""
        source = self.path("example.cpp", code)
        library = source.replace(".cpp", ".so")
        subprocess.run([COMPILER, "-std=c++17", "-Wall", "-Wextra", "-Wshadow", "-Werror", "-fPIC", "-shared", "-I", INCLUDE,
                        source, "-o", library], check=True)
        done = subprocess.run([KERNBENCH, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              env={**os.environ, "LD_PRELOAD": library}, timeout=120 * cli_support.TIMES_LONGER)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_the_kernel_compiles_runs_and_is_verified(self):
        out = self.run_with(self.kernel, "run", "--kernel", "saxpy", "--topology", topology("small.yaml"), "--param",
                            "alpha=0.5", "--verify")
        self.assertIn("verified", out)

    def test_the_topology_runs_gemm(self):
        out = self.succeeds("run", "--topology", self.path("one_pe.yaml", self.yaml), "--kernel", "gemm", "--verify")
        self.assertIn("verified", out)

    def test_the_block_compiles_and_delays_what_meets_a_refresh(self):
        yaml = self.yaml.replace("builtin.hbm_pc", "custom.hbm_refresh")
        yaml = re.sub(r"attrs: \{pseudo_channels[^}]*\}", "attrs: {refresh_ns: 100, interval_ns: 1000}", yaml)
        requests = self.path("requests.csv", "id,issue_ns,initiator,op,address,bytes\n"
                             "before,500,pe.pe_dma,write,0,256\nin,940,pe.pe_dma,write,0,256\n")
        out = self.run_with(self.block, "traffic", "--topology", self.path("refresh.yaml", yaml), "--trace", requests)
        before, within = (dict(zip(out.splitlines()[0].split(","), row.split(","))) for row in out.splitlines()[1:])
        self.assertEqual(float(before["queueing_ns"]), 0)
        arrival = 940 + 0.005 + 1 + 0.025
        self.assertAlmostEqual(float(within["queueing_ns"]), 1000 - arrival, places=6)


if __name__ == "__main__":
    cli_support.main()
