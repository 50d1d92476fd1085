# SPDX-License-Identifier: Apache-2.0
"""What does every command say to a user who is not root where a folder may not be written, a disk is full, and descriptors,
processes or memory are few? One line and 1 or 2, or it does without; nothing half-written has a final name."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import cli_support
from cli_support import KERNBENCH, sample, topology

SANITIZED = bool(os.environ.get("KERNBENCH_SANITIZED"))
SMALL = topology("small.yaml")
MODEL = os.path.join(os.path.dirname(SMALL), os.pardir, "examples/data/decoder.yaml")
ADD = ("run", "--topology", SMALL, "--kernel", "vector_add")
TRAFFIC = ("traffic", "--topology", sample("traffic_cut_through", "topology.yaml"), "--trace", sample("traffic_cut_through", "trace.csv"))
PIPELINE = ("pipeline", "--topology", sample("composite_ideal", "topology.yaml"), "--work",
            sample("composite_ideal", "work.json"))
# The command and the files that it writes. A file of IN exists before.
COMMANDS = (
    (ADD + ("--verify",), ()),
    *((ADD + (option, "OUT/" + name), (name,)) for option, name in (
        ("--oplog", "l.jsonl"), ("--oplog", "l.sqlite"), ("--trace", "t.json"), ("--trace", "t.pftrace"),
        ("--ftr", "t.ftr"), ("--vcd", "t.vcd"), ("--report", "r.html"))),
    (ADD + ("--energy", "n7.yaml", "--activity", "OUT/a.csv"), ("a.csv",)),
    (ADD + ("--dump", "c=OUT/c.npy"), ("c.npy",)),
    (("run", "--topology", SMALL, "--kernel", "all_reduce", "--wiring", "OUT/w.svg"), ("w.svg",)),
    (("replay", "--oplog", "IN/l.jsonl", "--dump", "c=OUT/c.npy"), ("c.npy",)),
    (TRAFFIC + ("--statistics", "OUT/s.csv", "--ftr", "OUT/t.ftr"), ("s.csv", "t.ftr")),
    (PIPELINE + ("--vcd", "OUT/t.vcd"), ("t.vcd",)),
    (("sweep", "--store", "OUT/s", "--over", "param.n=64,96", "--", *ADD), ("s",)),
    (("sweep", "--sqlite", "OUT/s.db", "--over", "param.n=64,96", "--", *ADD), ("s.db",)),
    (("tune", "--store", "OUT/s", "--over", "param.n=64,96", *ADD[1:]), ("s",)),
    (("whatif", "--svg", "OUT/w.svg", *ADD[1:]), ("w.svg",)),
    (("man", "--into", "OUT"), ("kernbench.1",)),
    (("topology", SMALL), ()), (("list", "kernels"), ()), (("probe", "--topology", SMALL), ()),
    (("collectives", "--topology", SMALL, "--sizes", "64"), ()), (("report", "IN/l.jsonl", "--output", "OUT/r.html"), ("r.html",)),
    (("diff", "IN/l.jsonl", "IN/l.jsonl"), ()),
    (("completion", "bash"), ()), (("serve", "--stdio", "--", "run", "--topology", SMALL), ()),
    (("run", "--topology", SMALL, "--program", "all_reduce_loop", "--oplog", "OUT/l.jsonl"), ("l.jsonl",)),
    (("model", MODEL, "--topology", SMALL, "--phase", "prefill:8", "--oplog", "OUT/l.jsonl"), ("l.jsonl",)),
)
ELSEWHERE = {"web": "platform/web/requests_never_end_the_server_test.py"}
PART_IS_OF_USE = (".jsonl", ".sqlite", "s")  # logs and stores: a part of them is readable
NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")


def as_user():
    """What a command stands behind so that root's rights are not in it; None where that cannot be."""
    if os.geteuid() != 0:
        return ()
    usable = subprocess.run([*NOBODY, KERNBENCH, "list", "kernels"], capture_output=True).returncode == 0
    return NOBODY if usable else None


class Shortage(cli_support.Cli):
    def setUp(self):
        self.user = as_user()
        if self.user is None:
            self.skipTest("nobody may not run the build: needs setpriv, and a folder that all may read")
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        os.chmod(self.folder, 0o755)
        self.made, self.out = os.path.join(self.folder, "in"), os.path.join(self.folder, "out")
        os.mkdir(self.made)
        self.succeeds(*ADD, "--oplog", os.path.join(self.made, "l.jsonl"))
        os.mkdir(self.out)

    def anew(self, mode):
        os.chmod(self.out, 0o777)
        for name in os.listdir(self.out):
            os.unlink(os.path.join(self.out, name))
        os.chmod(self.out, mode)

    def done(self, command, limit="true"):
        words = [w.replace("OUT", self.out).replace("IN/", self.made + "/") for w in command]
        return subprocess.run([*self.user, "bash", "-c", limit + ' && exec "$@"', "bash", KERNBENCH, *words],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd="/",
                              env={**os.environ, "KERNBENCH_CACHE": "off"}, timeout=120 * cli_support.TIMES_LONGER)

    def check(self, command, files, limit="true", statuses=(0, 1, 2)):
        done = self.done(command, limit)
        what = (command, limit, done.returncode, done.stderr)
        self.assertIn(done.returncode, statuses, what)
        told = [line for line in done.stderr.splitlines() if not line.startswith("kernbench: the replay goes on")]
        left = os.listdir(self.out)
        if done.returncode != 0:
            failed_points = command[0] in ("sweep", "tune", "whatif", "collectives")  # one line each
            self.assertTrue(len(told) == 1 or (failed_points and told), what)
            self.assertNotIn("terminate called", done.stderr, what)
            for name in files:
                if name in left and not name.endswith(PART_IS_OF_USE) and not failed_points:
                    found = self.content(name)
                    self.assertEqual(found, self.whole(command, name), what)
            self.assertEqual([name for name in left if name.endswith(".part")], [], what)
        else:
            self.assertEqual([name for name in files if name not in left], [], what)
        return done.returncode

    def content(self, name):
        with open(os.path.join(self.out, name), "rb") as f:
            return f.read()

    def whole(self, command, name):
        """What it writes where nothing is short."""
        self.anew(0o777)
        self.done(command)
        return self.content(name)

    def test_every_command_is_here(self):
        listed = re.findall(r"^  ([a-z]+) +[A-Z]", self.succeeds("--help"), re.MULTILINE)
        self.assertGreater(len(listed), 15)
        self.assertEqual(sorted({c[0] for c, _ in COMMANDS} | set(ELSEWHERE)), sorted(listed))

    def test_a_folder_that_may_not_be_written(self):
        for command, files in COMMANDS:
            self.anew(0o555)
            self.check(command, files, statuses=(2,) if files else (0,))

    @unittest.skipIf(SANITIZED, "UndefinedBehaviorSanitizer asks by a pipe what memory there is")
    def test_few_descriptors(self):
        found = set()
        for n in (4, 6, 9):
            for command, files in COMMANDS:
                self.anew(0o777)
                found.add(self.check(command, files, f"ulimit -n {n}"))
        self.assertLess({0}, found, "nothing was short")

    @unittest.skipIf(SANITIZED, "LeakSanitizer looks for leaks in a process of its own")
    def test_few_processes(self):
        for command, files in COMMANDS:
            self.anew(0o777)
            self.check(command, files, "ulimit -u 1")

    @unittest.skipIf(SANITIZED, "sanitizers reserve memory themselves")
    def test_little_memory(self):
        found = set()
        for kb in (100_000, 200_000):
            for command, files in COMMANDS:
                self.anew(0o777)
                found.add(self.check(command, files, f"ulimit -v {kb}", statuses=(0, 1, 2, 127)))

    def test_a_full_disk(self):
        if os.geteuid() != 0 or not shutil.which("unshare") or subprocess.run(
                ["unshare", "-m", "mount", "-t", "tmpfs", "none", self.out], capture_output=True).returncode != 0:
            self.skipTest("no file system may be mounted here: needs root, and unshare -m")
        script = 'mount -t tmpfs -o size=4k,mode=777 none "$1" && head -c 4096 /dev/zero > "$1/full" && shift && "$@"; s=$?; ls "$OUT" >&3; exit $s'
        for command, files in COMMANDS:
            if not files:
                continue
            words = [w.replace("OUT", self.out).replace("IN/", self.made + "/") for w in command]
            with tempfile.TemporaryFile() as listed:
                done = subprocess.run(["unshare", "-m", "bash", "-c", f"exec 3>&{listed.fileno()}; {script}", "bash", self.out,
                                       *self.user, KERNBENCH, *words], pass_fds=(listed.fileno(),), capture_output=True,
                                      text=True, cwd="/", env={**os.environ, "OUT": self.out, "KERNBENCH_CACHE": "off"},
                                      timeout=120 * cli_support.TIMES_LONGER)
                listed.seek(0)
                left = listed.read().decode().split()
            what = (command, done.returncode, done.stderr, left)
            self.assertIn(done.returncode, (1, 2), what)
            self.assertEqual(len(done.stderr.splitlines()), 1, what)
            self.assertEqual([n for n in files if n in left and not n.endswith(PART_IS_OF_USE)], [], what)
            self.assertEqual([n for n in left if n.endswith(".part")], [], what)


if __name__ == "__main__":
    cli_support.main()
