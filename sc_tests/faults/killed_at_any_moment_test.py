#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills of run, replay, sweep, collectives and web with runs by SIGKILL, SIGINT and SIGTERM at seeded moments: the exit status, no process
that goes on, no output half-written under its name, logs that a replay reads or says were cut off, rows of a table that are
the right ones; and what was left is no hindrance to the next run.

    killed_at_any_moment_test.py [KILLS]
"""
import json
import os
import pathlib
import random
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from cli_support import KERNBENCH, TIMES_LONGER, topology
from page_server import PageServer, has_web
from what_runs_leave import is_whole, kernbench, what_is_left_is_honest

# LeakSanitizer stops all threads at a program's end. A signal at that time would make it wait for ever.
os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"

OLD = b"what was there before\n"
SIGNALS = (signal.SIGKILL, signal.SIGINT, signal.SIGTERM)
RUN = ("run", "--topology", topology("small.yaml"), "--kernel", "gemm_dot", "--param", "k=384", "--param", "m=384", "--param",
       "n=384")
SWEEP = ("sweep", "--jobs", "2", "--over", "param.n=64,128,192,256", "--", *RUN[:-2])
# Name, arguments, complete outputs, log.
COMMANDS = (
    ("jsonl", (*RUN, "--oplog", "OUT/l.jsonl", "--dump", "c=OUT/c.npy"), ("c.npy",), "l.jsonl"),
    ("sqlite", (*RUN, "--oplog", "OUT/l.sqlite", "--dump", "c=OUT/c.npy"), ("c.npy",), "l.sqlite"),
    ("observed", (*RUN, "--trace", "OUT/t.json", "--vcd", "OUT/v.vcd", "--ftr", "OUT/r.ftr", "--dump",
                  "c=OUT/c.npy"), ("c.npy", "t.json", "r.ftr", "v.vcd", "v.gtkw", "v.states.txt"), None),
    ("replay", ("replay", "--oplog", "IN/r.jsonl", "--dump", "c=OUT/c.npy"), ("c.npy",), None),
    ("sweep", SWEEP, (), None),
    ("collectives", ("collectives", "--topology", topology("small.yaml"), "--op", "all", "--jobs", "2"), (), None),
)


def survivors(mark):
    """Processes whose environment has the mark, by their own word: children of children too."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if mark in pathlib.Path(f"/proc/{pid}/environ").read_bytes():  # empty for an ended process
                found.append(int(pid))
        except OSError:
            pass
    return found


class Command:
    def __init__(self, folder, name, words, whole, log):
        self.name, self.whole, self.log = name, whole, log
        self.out = folder / name
        self.out.mkdir()
        self.words = [w.replace("OUT/", f"{self.out}/").replace("IN/", f"{folder}/in/") for w in words]
        began = time.monotonic()
        self.stdout = self.succeeds()
        self.seconds = time.monotonic() - began
        self.files = {f: (self.out / f).read_bytes() for f in whole}

    def succeeds(self):
        done = kernbench(*self.words)
        assert done.returncode == 0, f"{self.name}: {done.stderr}"
        left = sorted(f.name for f in self.out.glob("*.part*"))
        assert not left, f"{self.name}: {left} left over"
        return done.stdout

    def kill(self, number, seconds, old):
        what = f"{self.name}, {number.name} after {seconds:.4f} s"
        for file in self.out.glob("*"):
            if not file.name.endswith(".part"):  # a kill may leave this, and the next run reuses it
                file.unlink()
        for file in self.whole if old else ():
            (self.out / file).write_bytes(OLD)
        mark, began = secrets.token_hex(16), time.monotonic()
        run = subprocess.Popen([KERNBENCH, *self.words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env={**os.environ, "KILLED_RUN": mark})
        try:
            out, err = run.communicate(timeout=seconds)
            self.seconds = time.monotonic() - began  # it became faster
        except subprocess.TimeoutExpired:
            run.send_signal(number)
            out, err = run.communicate(timeout=30 * TIMES_LONGER)
        wait_for_the_end(what, mark)
        self.check(what, number, run.returncode, out.decode(), err.decode())
        return run.returncode

    def check(self, what, number, status, out, err):
        if status in (0, -number):  # completed, or not started
            assert err == "", f"{what}: {err}"
        else:
            assert status == 128 + number, f"{what}: status {status}: {err}"
            assert err.startswith(f"kernbench: stopped by {number.name}"), f"{what}: {err}"
        if self.name == "sweep":
            assert self.stdout.startswith(out), f"{what}: other rows: {out}"
        for name, content in self.files.items():
            file = self.out / name
            found = file.read_bytes() if file.exists() else OLD
            assert found == OLD or is_whole(name, found, content), f"{what}: {name} is half-written: {len(found)} bytes"
            assert status != 0 or found == content, f"{what}: another {name}"
        may_be = {*self.whole, *(f + ".part" for f in self.whole)}
        if self.log:
            stem = self.log.rsplit(".", 1)[0]
            may_be |= {self.log, f"{stem}.kbmem", *(self.log + end for end in ("-wal", "-shm", "-journal"))}
        left = {f.name for f in self.out.glob("*")} - may_be
        assert not left, f"{what}: {left} left over"
        if self.log and (self.out / self.log).exists():
            what_is_left_is_honest(what, self.out / self.log, self.files["c.npy"])


class Web:
    """A page's server whose runs are under way. What it leaves is a folder that the next one serves."""

    name = "web"

    def __init__(self, folder):
        self.out = folder / self.name
        self.out.mkdir()
        self.request = json.dumps({"kernel": "gemm_dot", "topology": "small.yaml", "options": {},
                                   "params": {"m": "384", "n": "384", "k": "384"}})
        self.seconds = 1.0 * TIMES_LONGER

    def serve(self, mark=""):
        return PageServer(self.out, command=["env", f"KILLED_RUN={mark}", KERNBENCH, "web", str(self.out)])

    def kill(self, number, seconds, old):
        what, mark = f"{self.name}, {number.name} after {seconds:.4f} s", secrets.token_hex(16)
        server = self.serve(mark)
        try:
            for _ in range(3 if old else 1):
                status, _, text = server.ask("POST", "/api/runs", self.request)
                assert status == 200, f"{what}: {text}"
            time.sleep(seconds)
            server.process.send_signal(number)
            status = server.process.wait(timeout=30 * TIMES_LONGER)
            assert status in (0, -number, 128 + number), f"{what}: status {status}: {server.said()}"
            wait_for_the_end(what, mark)
        finally:
            server.close()
        self.succeeds()
        return -number  # whatever it prints about the signal that ends it

    def succeeds(self):
        server = self.serve()
        try:
            states = {r["name"]: r["state"] for r in server.runs()}
            assert not {"running", "waiting"} & set(states.values()), f"what nobody simulates any more: {states}"
            server.run(json.loads(self.request))
        finally:
            server.close()
        for run in self.out.iterdir():
            shutil.rmtree(run) if run.is_dir() else run.unlink()


def wait_for_the_end(what, mark):
    """Of all that has the mark."""
    deadline = time.monotonic() + 10
    while survivors(mark.encode()) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not survivors(mark.encode()), f"{what}: goes on: {survivors(mark.encode())}"


def main():
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 21
    moments = random.Random(11)
    statuses = {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "in").mkdir()
        assert kernbench(*RUN, "--oplog", folder / "in" / "r.jsonl").returncode == 0
        commands = [Command(folder, *c) for c in COMMANDS]
        if has_web():
            commands.append(Web(folder))
        struck = 0
        while struck < kills:
            command, number = commands[struck % len(commands)], SIGNALS[struck // len(commands) % len(SIGNALS)]
            status = command.kill(number, moments.uniform(0, 1) * command.seconds, old=moments.random() < 0.5)
            statuses[status] = statuses.get(status, 0) + 1
            struck += status != 0
        for command in commands:
            command.succeeds()
    print(f"{struck} kills, exit statuses {dict(sorted(statuses.items()))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
