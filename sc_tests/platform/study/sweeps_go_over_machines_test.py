# SPDX-License-Identifier: Apache-2.0
"""Do the scripts of `sweep --emit` give the table of one process, byte for byte, and simulate again only what was at
work when something was killed: by GNU parallel, by make, and by a Slurm array on this machine?"""
import contextlib
import json
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import tempfile
import time
import unittest

import cli_support
from cli_support import KERNBENCH, TIMES_LONGER, topology
from small_plan import PLAN, POINTS
from slurm_on_localhost import CannotRun, Slurm

TASKS = 4
needs_make = unittest.skipUnless(shutil.which("make"), "there is no make (Debian: apt-get install make)")
needs_parallel = unittest.skipUnless(shutil.which("parallel"), "there is no GNU parallel (Debian: apt-get install parallel)")
TABLE = ("--metric", "sim_ns,tflops,bound,verified", "--sort", "max:tflops", "--format", "json")
# A name that neither a shell nor make may interpret.
ODD = "it's $HOME, \"so\" `ls` #1"


class LinesEnds(cli_support.Cli):
    """A name may have lines in it; what stands in them is no command of the script's."""

    def test_no_command_comes_from_a_name(self):
        with tempfile.TemporaryDirectory() as folder:
            touched = os.path.join(folder, "touched")
            odd = os.path.join(folder, f"x\nendef\n$(shell touch {touched.replace('/', '%')})\ndefine y")
            for name in (odd, os.path.join(folder, f"y\n#SBATCH --wrap=touch\ntouch '{'x'}'\n")):
                os.mkdir(name)
                shutil.copy(topology("small.yaml"), os.path.join(name, "t.yaml"))
                for engine in ("make", "parallel", "slurm"):
                    done = subprocess.run([KERNBENCH, "sweep", "--emit", engine, "--store", "s.sqlite", "--over", "param.n=64",
                                           "--", "run", "--topology", "t.yaml", "--kernel", "vector_add"], cwd=name,
                                          capture_output=True, text=True)
                    if engine == "make":
                        self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, "", 1), done)
                        self.assertIn("--emit make: found", done.stderr)
                        continue
                    self.assertEqual(done.returncode, 0, done.stderr)
                    subprocess.run(["sh", "-n"], input=done.stdout, text=True, check=True)
                    if engine == "parallel":  # only the steps
                        script = os.path.join(folder, "script")
                        with open(script, "w") as f:
                            f.write(done.stdout)
                        subprocess.run(["sh", script, "shard", "1"], check=True, capture_output=True)
                        subprocess.run(["sh", script, "merge"], check=True, capture_output=True)
                        with open(os.path.join(name, "s.csv")) as f:
                            self.assertEqual(len(f.read().splitlines()), 2)
            self.assertFalse(os.path.exists(touched))


class Shards(cli_support.Cli):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = os.path.join(folder.name, ODD)
        os.mkdir(self.folder)
        with open(self.file("plan.yaml"), "w") as f:
            f.write(PLAN)

    def file(self, name):
        return os.path.join(self.folder, name)

    def sweep(self, *words, status=0):
        """In the folder, so that files have short names there alone."""
        done = subprocess.run([KERNBENCH, "sweep", *words], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout

    def emit(self, engine, *words, tasks=TASKS):
        script = self.file(f"{engine} script")
        with open(script, "w") as f:
            f.write(self.sweep("--emit", engine, "--tasks", str(tasks), "--store", engine + ".sqlite", *words))
        return script

    def run_script(self, *command, status=0, environment=None):
        done = subprocess.run(command, cwd="/", stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=200 * TIMES_LONGER, env=environment)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def read(self, name):
        with open(self.file(name)) as f:
            return f.read()

    def starts(self, engine):
        """[[starts of the points of a shard]]"""
        found = []
        for i in range(1, TASKS + 1):
            uri = "file:" + self.file(f"{engine}.shards/{i}.sqlite").replace("#", "%23") + "?mode=ro"
            with contextlib.closing(sqlite3.connect(uri, uri=True)) as db:
                found.append([n for n, in db.execute("select starts from points")])
        return found

    def progress(self, engine):
        """Exit status, and the rows."""
        folder = self.file(engine + ".shards")
        stores = sorted(os.path.join(folder, n) for n in os.listdir(folder) if n.endswith(".sqlite"))
        status, out, err = self.run_cli("sweep", "progress", *stores, "--format", "json")
        self.assertEqual(err, "")
        return status, *json.loads(out)


class Engines(Shards):
    def whole_run(self, engine, command, *words):
        whole = self.sweep(*words)
        command = command(self.emit(engine, *words))
        for _ in range(2):  # the second time all points are done
            self.run_script(*command)
            self.assertEqual(self.read(f"{engine}.json"), whole)
        starts = self.starts(engine)
        self.assertEqual([set(s) for s in starts], [{1}] * TASKS)
        self.assertEqual(sum(map(len, starts)), POINTS)
        status, *rows = self.progress(engine)
        self.assertEqual((status, [(r["state"], r["done"]) for r in rows]), (0, [("done", n) for n in (3, 3, 2, 2)] +
                                                                             [("4 done", POINTS)]))

    @needs_make
    def test_make(self):
        self.whole_run("make", lambda script: ("make", "-s", "-f", script, "-j", "2"), "--plan", "plan.yaml", *TABLE)

    @needs_parallel
    def test_parallel(self):
        self.whole_run("parallel", lambda script: ("sh", script, "--jobs", "2"), "--plan", "plan.yaml", *TABLE)

    @needs_make
    def test_sweeps_without_a_plan(self):
        self.whole_run("make", lambda script: ("make", "-s", "-f", script), "--over", "links=ideal,flit", "--over",
                       "param.n=32,64,96,128,160", "--where", "links = 'flit' or param.n < 1000", *TABLE, "--", "run",
                       "--topology", topology("small.yaml"), "--kernel", "gemm", "--param", "k=64")

    @needs_make
    def test_points_that_fail_are_rows(self):
        words = ("--over", "param.n=32,-1,64,96", "--", "run", "--topology", topology("small.yaml"), "--kernel", "gemm")
        whole = self.sweep(*words, status=2)
        script = self.emit("make", *words)
        self.run_script("make", "-s", "-f", script, "-k", status=2)
        self.assertEqual(self.read("make.csv"), whole)

    @needs_parallel
    def test_a_lost_host_costs_its_shard_a_second_try_elsewhere(self):
        words = ("--plan", "plan.yaml", *TABLE)
        script = self.emit("parallel", *words)
        ssh = os.path.join(os.path.dirname(self.folder), "ssh")
        with open(ssh, "w") as f:  # like ssh: its words as one line, to a login shell. One host is down
            f.write('#!/bin/sh\nhost=$1; shift 2  # --\n[ "$host" != down ] || exit 255\n'
                    'SHELL=/bin/sh exec sh -c "$*"\n')
        os.chmod(ssh, 0o755)
        told = self.run_script("sh", script, "--ssh", ssh, "--sshlogin", "1/down,1/up")
        self.assertEqual(self.read("parallel.json"), self.sweep(*words), told)
        self.assertIn("up", self.read("parallel.shards/joblog"))

    @needs_parallel
    def test_all_hosts_lost(self):
        script = self.emit("parallel", "--plan", "plan.yaml", *TABLE)
        told = self.run_script("sh", script, "--ssh", "/bin/false", "--sshlogin", "1/down", status=1)
        self.assertIn("no shard has written a store", told)

    @needs_make
    def test_a_machine_with_another_kernbench_does_nothing(self):
        script = self.emit("make", "--plan", "plan.yaml")
        other = self.file("kernbench")
        with open(other, "w") as f:
            f.write("#!/bin/sh\necho 0.0.1\n")
        os.chmod(other, 0o755)
        with open(script) as f:
            text = f.read().replace(f"kernbench={KERNBENCH}\n", f"kernbench={shlex.quote(other).replace('$', '$$')}\n")
        self.assertIn("/kernbench'\n", text)
        with open(script, "w") as f:
            f.write(text)
        self.assertIn("found kernbench 0.0.1, expected", self.run_script("make", "-s", "-f", script, status=2))
        self.assertEqual(os.path.exists(self.file("make.shards")), False)

    @needs_make
    def test_one_machine_at_a_time_is_at_a_shard(self):
        script = self.emit("make", "--plan", "plan.yaml")
        with open(script) as f:
            text = f.read()
        with open(script, "w") as f:
            f.write(re.sub(r"flock -w \d+", "flock -w 0", text))
        os.mkdir(self.file("make.shards"))
        with subprocess.Popen(["flock", self.file("make.shards/2.lock"), "cat"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as holder:
            holder.stdin.write(b"x")
            holder.stdin.flush()
            holder.stdout.read(1)  # from cat, which runs once the lock is held
            self.assertIn("another process is at this shard",
                          self.run_script("make", "-s", "-f", script, "-k", status=2))
            holder.stdin.close()
        self.run_script("make", "-s", "-f", script)
        self.assertEqual(self.starts("make"), [[1] * 3, [1] * 3, [1] * 2, [1] * 2])

    def test_wrong_requests_are_refused_in_one_line(self):
        plan, store = ("--plan", self.file("plan.yaml")), ("--store", self.file("s.sqlite"))
        for arguments, word in (((*plan, "--emit", "slurm"), "--store"), ((*plan, *store, "--emit", "pbs"), "parallel"),
                                ((*plan, *store, "--emit", "make", "--tasks", "0"), "--tasks"),
                                ((*plan, *store, "--tasks", "4"), "--emit"),
                                ((*plan, *store, "--emit", "make", "--shard", "1/2"), "--shard"),
                                ((*plan, *store, "--emit", "make", "--stored"), "--stored"),
                                ((*store, "--emit", "make", "--over", "links=a", "--", "probe"), "probe"),
                                ((*store, "--emit", "make", "--over", "links=ideal", "--", "run", "--topology",
                                  self.file("none.yaml"), "--kernel", "gemm"), "none.yaml")):
            self.refuses("sweep", *arguments, saying=[word], lines=1)
        self.assertEqual(os.listdir(self.folder), ["plan.yaml"])

    def test_no_more_tasks_than_points(self):
        with open(self.emit("slurm", "--plan", "plan.yaml", tasks=99)) as f:
            self.assertIn(f"tasks={POINTS}\n", f.read())


class SlurmArrays(Shards):
    LONG = PLAN.split("where:")[0].replace("[32, 64]", "{from: 1056, to: 1824, step: 32}")
    LONG_POINTS = 150

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="slurm")
        cls.addClassCleanup(folder.cleanup)
        try:
            cls.slurm = Slurm(folder.name, TASKS)
        except CannotRun as why:
            raise unittest.SkipTest(str(why))
        cls.addClassCleanup(cls.slurm.stop)

    def submit(self, script):
        told = self.run_script("sh", script, "--time=10", environment=self.slurm.environment)
        return told.split()[1].rstrip(",")

    def test_an_array_gives_the_table_of_one_process(self):
        words = ("--plan", "plan.yaml", *TABLE)
        script = self.emit("slurm", *words)
        self.submit(script)
        self.slurm.wait_until_empty(120 * TIMES_LONGER)
        self.assertEqual(self.read("slurm.json"), self.sweep(*words), self.read("slurm.shards/table.out"))
        starts = self.starts("slurm")
        self.assertEqual([len(s) for s in starts], [3, 3, 2, 2])
        self.assertEqual({n for s in starts for n in s}, {1})

    def test_what_was_lost_alone_is_simulated_again(self):
        with open(self.file("plan.yaml"), "w") as f:
            f.write(self.LONG)
        words = ("--plan", "plan.yaml", "--jobs", "1")
        script = self.emit("slurm", *words)
        job = self.submit(script)
        deadline = time.monotonic() + 60 * TIMES_LONGER
        while time.monotonic() < deadline:
            with contextlib.suppress(sqlite3.OperationalError):  # not created yet
                if min(map(len, self.starts("slurm"))) > 2:
                    break
            time.sleep(0.02)
        # Like a lost node, a user, and the time limit.
        self.slurm.ask("scancel", "--batch", "--signal=KILL", f"{job}_1")
        self.slurm.ask("scancel", f"{job}_2")
        self.slurm.ask("scancel", "--batch", "--signal=INT", f"{job}_3")
        self.slurm.wait_until_empty(120 * TIMES_LONGER)
        self.assertRegex(self.read("slurm.shards/3.out"), r"finishing \d+ running points")
        lost = [i for i, s in enumerate(self.starts("slurm"), 1) if len(s) < self.LONG_POINTS // TASKS]
        self.assertEqual(lost, [1, 2, 3], "they were killed too late")
        self.assertIn("missing", self.read("slurm.shards/table.out"))
        status, *rows = self.progress("slurm")
        self.assertEqual((status, rows[-1]["points"]), (1, self.LONG_POINTS))
        states = [r["state"] for r in rows]
        self.assertIn(states[0], ("running", "silent"))  # its end was not reported
        self.assertEqual(states[2:4], ["stopped", "done"])
        self.submit(script)
        self.slurm.wait_until_empty(120 * TIMES_LONGER)
        self.assertEqual(self.read("slurm.csv"), self.sweep(*words))
        starts = self.starts("slurm")
        self.assertEqual(sum(map(len, starts)), self.LONG_POINTS)
        # A point may be started a third time: scancel ends it before the sweep, which retries it once.
        again = [sum(n > 1 for n in s) for s in starts]
        self.assertLessEqual(max(again[:2]), 1, "more than what was at work")
        self.assertLessEqual(max(map(max, starts)), 3)
        self.assertEqual(again[2:], [0, 0])


if __name__ == "__main__":
    cli_support.main()
