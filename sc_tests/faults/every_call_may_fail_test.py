#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a command does when one of its calls of the system fails: every open, read, write, rename, fsync, start of a
process, and taking memory at seeded places; once, and from there on (a disk that is full, memory that is used up); and with
a limit on the size of files. One line on stderr and the right exit status, no output half-written under its name, logs that
a replay reads or says were cut off, nothing left over. ctest takes a seeded part, memory at 300 places;
--all takes every call, memory at 3,000.

    every_call_may_fail_test.py [--all] [--memory PLACES] [--only WORD]
"""
import argparse
import collections
import errno
import multiprocessing
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile

from cli_support import KERNBENCH, TOPOLOGIES, sample, skip_under_sanitizers
from what_runs_leave import is_whole, kernbench, told_in_one_line, what_is_left_is_honest

LIBRARY = os.environ["KERNBENCH_FAILING_CALLS"]
KINDS = ("open", "read", "write", "rename", "sync", "start", "memory")
ERRORS = {"open": (errno.EACCES, errno.EMFILE, errno.ENOSPC), "read": (errno.EIO,), "write": (errno.ENOSPC, errno.EIO),
          "rename": (errno.EACCES, errno.EIO), "sync": (errno.EIO,), "start": (errno.EAGAIN,), "memory": (errno.ENOMEM,)}
C_LIBRARY_GIVES_UP = "Fatal glibc error: failed to register TLS destructor: out of memory"
OLD = b"what was there before\n"
SMALL = ("m=64", "n=64", "k=64")


class Case:
    """A command; IN and OUT in its words are folders. `lines`: how many it may say where all of it fails."""

    def __init__(self, name, *words, params=(), whole=(), log=None, stdout=None, dumps="c", lines=1):
        self.name, self.whole, self.log, self.stdout, self.dumps, self.lines = name, whole, log, stdout, dumps, lines
        self.memory = log and log.rsplit(".", 1)[0] + ".kbmem"
        self.words = [*words, *(w for p in params for w in ("--param", p))]

    def arguments(self, folder):
        return [w.replace("IN/", f"{folder}/in/").replace("OUT/", f"{folder}/out/") for w in self.words]


RUN = ("run", "--topology", "IN/small.yaml", "--threads", "1")
CASES = (
    Case("jsonl", *RUN, "--kernel", "gemm", "--oplog", "OUT/l.jsonl", "--dump", "c=OUT/c.npy", "--trace", "OUT/t.json",
         "--vcd", "OUT/v.vcd", "--ftr", "OUT/r.ftr", "--oplog-hops", "--format", "json", params=SMALL, log="l.jsonl",
         whole=("c.npy", "t.json", "r.ftr", "v.vcd", "v.gtkw", "v.states.txt")),
    Case("sqlite", *RUN, "--kernel", "gemm", "--oplog", "OUT/l.sqlite", "--dump", "c=OUT/c.npy", params=SMALL, log="l.sqlite",
         whole=("c.npy",)),
    Case("messages", *RUN, "--kernel", "all_reduce", "--dump", "y=OUT/y.npy", "--vcd", "OUT/v.vcd", "--trace",
         "OUT/t.pftrace", "--wiring", "OUT/w.svg", params=("n=64",),
         whole=("y.npy", "v.vcd", "v.gtkw", "v.states.txt", "t.pftrace", "w.svg")),
    Case("verify", *RUN, "--kernel", "gemm_dot", "--verify", params=SMALL),
    Case("program", *RUN[:-3], "IN/two.yaml", *RUN[-2:], "--program", "all_reduce_loop", "--ranks", "2", "--pes", "leaders",
         "--dump", "y=OUT/y.npy", params=("n=64", "times=2"), whole=("y.npy",)),
    Case("replay", "replay", "--threads", "1", "--oplog", "IN/r.jsonl", "--dump", "c=OUT/c.npy", whole=("c.npy",)),
    Case("replay sqlite", "replay", "--threads", "2", "--oplog", "IN/r.sqlite", "--dump", "c=OUT/c.npy", whole=("c.npy",)),
    Case("sweep", "sweep", "--jobs", "1", "--over", "param.n=32,64", "--", "run", "--topology", "IN/small.yaml", "--kernel",
         "gemm", "--param", "m=32", "--param", "k=32", lines=2),
    Case("collectives", "collectives", "--topology", "IN/small.yaml", "--op", "all_reduce", "--jobs", "1", lines=2),
    Case("probe", "probe", "--topology", "IN/small.yaml"),
    Case("svg", "topology", "IN/small.yaml", "--view", "cube", "--format", "svg", stdout="s.svg"),
    Case("traffic", "traffic", "--topology", "IN/traffic.yaml", "--trace", "IN/trace.csv", "--vcd", "OUT/v.vcd",
         whole=("v.vcd", "v.gtkw", "v.states.txt")),
    Case("pipeline", "pipeline", "--topology", "IN/pipeline.yaml", "--work", "IN/work.json"),
)

Failure = collections.namedtuple("Failure", "kind at errno on")


def put_inputs(folder):
    (folder / "in").mkdir()
    for name, file in (("small.yaml", f"{TOPOLOGIES}/small.yaml"), ("two.yaml", f"{TOPOLOGIES}/six_sip_torus.yaml"),
                       ("traffic.yaml", sample("traffic_ideal", "topology.yaml")),
                       ("trace.csv", sample("traffic_ideal", "trace.csv")),
                       ("pipeline.yaml", sample("composite_ideal", "topology.yaml")),
                       ("work.json", sample("composite_ideal", "work.json"))):
        shutil.copyfile(file, folder / "in" / name)
    for ending in ("jsonl", "sqlite"):
        made = kernbench("run", "--topology", folder / "in" / "small.yaml", "--kernel", "gemm", "--oplog",
                         folder / "in" / f"r.{ending}", *(w for p in SMALL for w in ("--param", p)))
        assert made.returncode == 0, made.stderr


def without_times(text):
    """stdout without what the machine's clock says."""
    text = re.sub(r'"(\w+_s)": ?[-+.e\d]+', r'"\1":0', text)
    return re.sub(r"wall .*|in [-+.e\d]+ s$", "", text, flags=re.M)


class Bench:
    """A folder in which a case is done again and again; what it comes to when nothing fails."""

    def __init__(self, case, folder):
        self.case, self.folder, self.out = case, folder, folder / "out"
        done, self.counts, _ = self.run(None, old=False)
        assert done.returncode == 0 and done.stderr == "", f"{case.name}: {done.stderr}"
        self.stdout = without_times(done.stdout)
        self.files = {name: (self.out / name).read_bytes() for name in case.whole}
        self.largest = max((f.stat().st_size for f in self.out.glob("*")), default=0)
        self.dump = self.files.get(f"{case.dumps}.npy")
        assert sorted(os.listdir(self.out)) == sorted(self.may_be_there()), os.listdir(self.out)

    def may_be_there(self):
        log = [self.case.log, self.case.memory] if self.case.log else []
        return [*self.case.whole, *log, *([self.case.stdout] if self.case.stdout else [])]

    def run(self, failure, old, limit=None):
        """With `old`, whole outputs are there already."""
        for name in ("out", "cache"):
            shutil.rmtree(self.folder / name, ignore_errors=True)
            (self.folder / name).mkdir()
        for name in self.case.whole if old else ():
            (self.out / name).write_bytes(OLD)
        counts = self.folder / "counts"
        counts.write_bytes(bytes(8 * (len(KINDS) + 1)))
        environment = {**os.environ, "KERNBENCH_CACHE": str(self.folder / "cache"), "LD_PRELOAD": LIBRARY,
                       "FAILING_CALLS_COUNTS": str(counts), "FAILING_CALLS_UNDER": f"{self.folder}/"}
        if failure:
            environment.update(FAILING_CALLS_KIND=failure.kind, FAILING_CALLS_AT=str(failure.at),
                               FAILING_CALLS_ERRNO=str(failure.errno), FAILING_CALLS_ON="yes" if failure.on else "")

        def prepare():
            if limit is not None:  # Python ignores SIGXFSZ; a write then fails like on a full disk
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        stdout = self.out / self.case.stdout if self.case.stdout else self.folder / "stdout"
        with open(stdout, "wb") as into:
            done = subprocess.run([KERNBENCH, *self.case.arguments(self.folder)], stdout=into, stderr=subprocess.PIPE,
                                  stdin=subprocess.DEVNULL, env=environment, preexec_fn=prepare, restore_signals=False,
                                  timeout=60)
        done.stdout, done.stderr = stdout.read_bytes().decode(), done.stderr.decode()
        *calls, failed = struct.unpack(f"{len(KINDS) + 1}Q", counts.read_bytes())
        return done, dict(zip(KINDS, calls)), failed

    def check(self, what, done, failed, used_up):
        """With `used_up` there is no more memory at all: SystemC cannot pass the exception on, and the process ends as by a
        kill. So does the C library, where a thread's own variables find no memory."""
        used_up = used_up or done.stderr.startswith(C_LIBRARY_GIVES_UP)
        if done.returncode == 0:
            assert done.stderr == "" or (failed and done.stderr.count("\n") == 1), f"{what}: {done.stderr}"
            assert without_times(done.stdout) == self.stdout, f"{what}: another stdout"
            for name, content in self.files.items():
                assert (self.out / name).read_bytes() == content, f"{what}: another {name}"
        else:
            assert failed, f"{what}: {done.stderr}"
            self.check_failed(what, done)
        left = set(os.listdir(self.out)) - set(self.may_be_there())
        if self.case.log:  # if its writer fails, SQLite leaves files that a reader recovers
            left -= {self.case.log + end for end in ("-wal", "-shm", "-journal")}
        if used_up:
            left -= {name + ".part" for name in self.case.whole}
        assert not left, f"{what}: {left} left over"
        if self.case.log and (self.out / self.case.log).exists():
            what_is_left_is_honest(what, self.out / self.case.log, self.dump)

    def check_failed(self, what, done):
        if done.stderr.startswith(C_LIBRARY_GIVES_UP):
            assert done.returncode == -signal.SIGABRT and done.stderr.count("\n") == 1, f"{what}: {done.stderr}"
        elif self.case.lines == 1 or done.stderr.count("\n") <= 1:
            told_in_one_line(what, done, (1, 2))
        else:
            assert done.returncode in (1, 2) and done.stderr.count("\n") <= self.case.lines + 1, f"{what}: {done.stderr}"
        for name, content in self.files.items():
            file = self.out / name
            found = file.read_bytes() if file.exists() else OLD
            good = found == OLD or is_whole(name, found, content, renewed=self.case.name == "messages")
            # The points of a sweep write one after another.
            good = good or self.case.name == "sweep" and len(found) == 128 + 4 * 32 * 32
            assert good, f"{what}: {name} is half-written: {len(found)} of {len(content)} bytes"


def some(numbers, most, moments):
    """All, or the first, the last and seeded ones between."""
    if len(numbers) <= most:
        return numbers
    return sorted({numbers[0], numbers[-1], *moments.sample(numbers, max(0, most - 2))})


def failures(bench, options, moments):
    plan = []
    for kind in KINDS:
        calls = range(1, bench.counts[kind] + 1)
        most = options.memory // len(CASES) + 1 if kind == "memory" else len(calls) if options.all else options.calls
        for at in some(calls, most, moments):
            both = (False, True) if options.all else (moments.random() < 0.5,)
            plan += [Failure(kind, at, moments.choice(ERRORS[kind]), on) for on in both]
    return plan


def limits(bench, options, moments):
    return [moments.randint(0, bench.largest) for _ in range(30 if options.all else 2)] if bench.largest else []


def do_case(job):
    case, options = job
    moments = random.Random(f"{options.seed} {case.name}")
    tally, faults = collections.Counter(), []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        put_inputs(folder)
        bench = Bench(case, folder)
        plan = [(f, None) for f in failures(bench, options, moments)]
        plan += [(None, limit) for limit in limits(bench, options, moments)]
        for failure, limit in plan:
            what = f"{case.name}, {failure or f'files up to {limit} bytes'}"
            try:
                done, _, failed = bench.run(failure, old=moments.random() < 0.5, limit=limit)
                tally[failure.kind if failure else "limit", done.returncode if failed or limit is not None else "not reached"] += 1
                used_up = failure is not None and failure.kind == "memory" and failure.on
                bench.check(what, done, failed or limit is not None, used_up)
                # A file that the machine cannot read differs from one that was cut off.
                assert not (failed and failure.kind == "read" and "cut off" in done.stderr), f"{what}: {done.stderr}"
            except Exception as e:
                faults.append(f"{what}: {type(e).__name__}: {e}")
    return case.name, bench.counts, tally, faults


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--calls", type=int, default=3, help="of each kind and command, without --all")
    parser.add_argument("--memory", type=int, help="places at which memory is short, over all commands")
    parser.add_argument("--only", default="", help="commands with this word in their name")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.memory is None:
        options.memory = 3000 if options.all else 300
    total, faults = collections.Counter(), []
    with multiprocessing.Pool(2) as pool:
        jobs = [(c, options) for c in CASES if options.only in c.name]
        for name, counts, tally, found in pool.imap_unordered(do_case, jobs):
            print(f"{name}: calls {counts}", flush=True)
            total += tally
            faults += found
    for (kind, status), n in sorted(total.items(), key=str):
        print(f"{kind}: exit status {status}: {n}")
    print(f"{sum(total.values())} failures, {len(faults)} not as promised")
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    skip_under_sanitizers("their malloc cannot be loaded behind another library")
    sys.exit(main())
