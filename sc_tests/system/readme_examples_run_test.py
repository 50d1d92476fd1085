# SPDX-License-Identifier: Apache-2.0
"""Do README.md's kernel, topology, block and command lines do what it says? What the lines print is compared whole.

What each line prints stands in data/readme.txt; --record writes it anew, where it is to be different."""
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile

import cli_support
from cli_support import KERNBENCH, topology

README = os.environ["KERNBENCH_README"]
SOURCE = os.path.dirname(README)
PRINTED = os.path.join(cli_support.DATA, "readme.txt")
COMPILER = os.environ["KERNBENCH_CXX"]
INCLUDE = os.environ["KERNBENCH_INCLUDE"]


# Parts that depend on machine and version: the distance of floats from the reference depends on the processor's
# vectors.
MASKS = [(r"max abs \S+  (max rel \S+|\S+( %)? of its tolerance)", "max abs #  of tolerance #"),
         (r"wall \d+\.\d+ s \(simulation \d+\.\d+, replay \d+\.\d+\)", "wall # s (simulation #, replay #)"),
         (r"computed \(\w+\), in [\d.]+ s", "computed (#), in # s"), (r"\d+\.\d+ s of CPU time", "# s of CPU time"),
         (r'"kernbench": "[\w.+]+"', '"kernbench": "#"'), (r'"wall_s": [\d.e-]+', '"wall_s": #')]
RUN = "kernbench run --kernel gemm --topology topologies/default.yaml --verify --param tile_n=256 --param tile_k=16"


def masked(text):
    for pattern, instead in MASKS:
        text = re.sub(pattern, instead, text)
    return text


class CommandLines(cli_support.Cli):
    """Each in bash, as it stands, in a folder that has what a fresh clone has."""

    @classmethod
    def setUpClass(cls):
        with open(README) as f:
            cls.text = f.read()
        block = re.search(r"```\nexport PATH=.*\n((?:kernbench .*\n)+)```", cls.text).group(1)
        cls.lines = [re.split(r"\s+# ", line)[0].strip() for line in block.splitlines()]
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        for part in ("topologies", "examples"):
            os.symlink(os.path.join(SOURCE, part), os.path.join(cls.folder, part))

    def shell(self, line, timeout=120):
        path = os.path.dirname(KERNBENCH) + os.pathsep + os.environ["PATH"]
        done = subprocess.run(["bash", "-c", line], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              env={**os.environ, "PATH": path}, timeout=timeout * cli_support.TIMES_LONGER)
        self.assertEqual(done.returncode, 0, f"{line}: {done.stderr}")
        lines = done.stdout.splitlines(True)
        if "kernbench serve" in line:  # after its greeting, answers come in the order in which points are done
            lines[1:] = sorted(lines[1:])
        return "".join(lines) + done.stderr

    def printed(self):
        """What each line prints, but for the page server, which runs until it is stopped."""
        return "".join(f"$ {line}\n{masked(self.shell(line))}" for line in self.lines if line != "kernbench web")

    def test_every_line_prints_what_was_recorded(self):
        self.maxDiff = None
        with open(PRINTED) as f:
            self.assertEqual(self.printed(), f.read())
        for line in self.lines:  # and leaves the files that it names
            for name in re.findall(r"(?:> |-o |--(?:report|oplog|trace|vcd|ftr|wiring|store) )(\S+)", line):
                self.assertGreater(os.path.getsize(os.path.join(self.folder, name)), 100, line)

    def test_the_page_server_says_where_it_is_and_ends_on_ctrl_c(self):
        self.assertIn("kernbench web", self.lines)
        if not shutil.which("kernbench-web", path=os.path.dirname(KERNBENCH)):
            return  # built if cpp-httplib is found
        with subprocess.Popen([KERNBENCH, "web"], cwd=tempfile.mkdtemp(dir=self.folder), stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True) as server:
            try:
                self.assertTrue(select.select([server.stdout], [], [], 30 * cli_support.TIMES_LONGER)[0])
                self.assertRegex(server.stdout.readline(), r"^http://127\.0\.0\.1:\d+/\w+/$")
                server.send_signal(signal.SIGINT)
                self.assertEqual(server.wait(30 * cli_support.TIMES_LONGER), 130)
            finally:
                server.kill()

    def test_outputs_shown_are_those_printed(self):
        blocks = re.findall(r"```\n\$ (.*)\n((?:.*\n)*?)```", self.text)
        self.assertGreaterEqual(len(blocks), 3)
        with open(os.path.join(SOURCE, "scripts/run")) as f:
            self.assertIn(RUN.split(" --param")[0].split("kernbench ")[1], f.read())
        for command, shown in blocks:
            printed, at = masked(self.shell(command.replace("scripts/run", RUN))), 0
            for piece in masked(shown).split("…\n"):
                found = printed.find(piece, at)
                self.assertNotEqual(found, -1, f"{command} does not print, behind what stands before:\n{piece}\nbut\n{printed}")
                at = found + len(piece)

    def test_every_page_is_linked_and_it_stays_short(self):
        for name in sorted(os.listdir(os.path.join(SOURCE, "docs"))):
            if name.endswith(".md"):
                self.assertIn(f"(docs/{name})", self.text)
        for link in re.findall(r"\]\(([\w./-]+)", re.sub(r"```cpp.*?```", "", self.text, flags=re.S)):
            self.assertTrue(os.path.exists(os.path.join(SOURCE, link)), link)
        self.assertLess(len(self.text.splitlines()), 300)


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


def record():
    CommandLines.setUpClass()
    with open(PRINTED, "w") as f:
        f.write(CommandLines().printed())


if __name__ == "__main__":
    if "--record" in sys.argv:
        record()
    else:
        cli_support.main()
