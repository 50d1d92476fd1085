# SPDX-License-Identifier: Apache-2.0
"""Does a sweep wait for its own children only, whatever its shell left it, and does none of them outlive it?"""
import os
import signal
import subprocess
import time

import cli_support
from cli_support import topology

SHORT = ("sweep", "--over", "param.n=32,64", "--", "run", "--topology", topology("small.yaml"), "--kernel", "gemm")
# Runs of many seconds.
LONG = ("sweep", "--jobs", "2", "--over", "seed=1,2,3,4", "--", "run", "--topology", topology("small.yaml"), "--kernel",
        "gemm", *(word for p in ("m=2048", "n=2048", "k=2048", "tile_m=8", "tile_n=8", "tile_k=8") for word in ("--param", p)))
COPIES = ("collectives", "--topology", topology("default.yaml"), "--op", "all", "--jobs", "2")


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        return [int(p) for p in f.read().split()]


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


class Processes(cli_support.Cli):
    def test_an_ignored_sigchld_is_no_hindrance(self):
        done = subprocess.run([cli_support.KERNBENCH, *SHORT], capture_output=True, timeout=60,
                              preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(done.stdout.decode(), self.succeeds(*SHORT))

    def test_a_child_that_the_shell_left_is_let_alone(self):
        done = subprocess.run(["sh", "-c", 'true & sleep 0.1 & exec "$@"', "sh", cli_support.KERNBENCH, *SHORT],
                              capture_output=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def ends_with(self, number, command, status):
        sweep = subprocess.Popen([cli_support.KERNBENCH, *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        deadline = time.monotonic() + 30
        while len(started := children(sweep.pid)) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertEqual(len(started), 2, "no children")
        sweep.send_signal(number)
        _, err = sweep.communicate(timeout=20)
        self.assertEqual(sweep.returncode, status, err)
        while any(map(alive, started)) and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertEqual([p for p in started if alive(p)], [])
        return err.decode()

    def test_no_child_survives_a_signal(self):
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)):
            err = self.ends_with(number, LONG, status)
            if number != signal.SIGKILL:
                self.assertEqual(err.splitlines(), [f"kernbench: stopped by {number.name}, and its processes with it"])

    def test_no_copy_survives_a_kill(self):
        self.ends_with(signal.SIGKILL, COPIES, -9)


if __name__ == "__main__":
    cli_support.main()
