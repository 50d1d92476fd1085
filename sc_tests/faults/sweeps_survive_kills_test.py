#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kill -9 of a sweep, and of the points that it has at work, at seeded moments: in the end one row a point, each the right
one, and no more points simulated again than were at work when something was killed.

    sweeps_survive_kills_test.py [KILLS]
"""
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

from cli_support import KERNBENCH, TIMES_LONGER, topology

JOBS = 2
PLAN = f"""
options:
  topology: {topology("small.yaml")}
  kernel: gemm
over:
  links: [ideal, flit]
  param.m: {{from: 32, to: 512, step: 16}}
  param.n: [64, 96]
"""


def children(pid):
    try:
        return [int(p) for p in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def main():
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 8
    moments = random.Random(19)
    with tempfile.TemporaryDirectory() as name:
        plan, store = os.path.join(name, "plan.yaml"), os.path.join(name, "s.sqlite")
        with open(plan, "w") as f:
            f.write(PLAN)
        words = [KERNBENCH, "sweep", "--plan", plan, "--jobs", str(JOBS)]
        began = time.monotonic()
        expected = subprocess.run(words, stdout=subprocess.PIPE, check=True, text=True).stdout
        seconds = time.monotonic() - began
        words += ["--store", store]
        of_sweeps = of_points = 0
        while of_sweeps + of_points < kills:
            sweep = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(moments.uniform(0.01, 2 * seconds / kills))
            if moments.random() < 0.5:
                for pid in children(sweep.pid)[:1]:  # the sweep continues
                    try:
                        os.kill(pid, signal.SIGKILL)
                        of_points += 1
                    except ProcessLookupError:
                        pass
                time.sleep(moments.uniform(0, 0.05))
            if sweep.poll() is None:
                sweep.kill()
                of_sweeps += 1
            sweep.wait(30 * TIMES_LONGER)
            if sweep.returncode == 0:  # complete: start again
                for file in pathlib.Path(name).glob("s.sqlite*"):
                    file.unlink()
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300 * TIMES_LONGER)
        assert done.returncode == 0, done.stderr
        assert done.stdout == expected, "another table"
        with sqlite3.connect(store) as db:
            rows, different, starts = db.execute("select count(*), count(distinct key), sum(starts) from points").fetchone()
            assert rows == different == expected.count("\n") - 1, f"{rows} rows"
            assert db.execute("select count(*) from points where status <> 0").fetchone()[0] == 0
        again = starts - rows
        assert again <= JOBS * of_sweeps + of_points, f"{again} simulated again"
    print(f"{of_sweeps} sweeps and {of_points} points killed; {rows} points, {again} of them begun again")
    return 0


if __name__ == "__main__":
    sys.exit(main())
