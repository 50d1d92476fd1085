#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a run of a kernel, with messages or without, or of a program leaves that was killed at a random moment or ran out of
disk: a replay says in one line that it was cut off,
and with --allow-cut-off gives the bits of the whole run or says what is missing, also where a bit of what is left has
flipped; nothing is silently wrong."""
import os
import pathlib
import random
import resource
import subprocess
import sys
import tempfile
import time

from cli_support import KERNBENCH
from what_runs_leave import kernbench, told_in_one_line, what_is_left_is_honest

TOPOLOGIES = pathlib.Path(os.environ["KERNBENCH_TOPOLOGIES"])
KILLS = 5
SIZES = 4


class Run:
    """What is run, and the output that is looked at."""

    def __init__(self, output, topology, *options, **params):
        given = [word for name, value in params.items() for word in ("--param", f"{name}={value}")]
        self.output, self.words = output, ["run", "--topology", TOPOLOGIES / topology, *options, *given]


def gemm_dot(size=768):
    return Run("c", "small.yaml", "--kernel", "gemm_dot", m=size, n=size, k=size)


RING = Run("y", "small.yaml", "--kernel", "all_reduce", algorithm="ring", n=4096, slot_bytes=64)
PROGRAM = Run("y", "six_sip_torus.yaml", "--program", "all_reduce_loop", "--ranks", "2", "--pes", "leaders", n=4096, times=100)


def run_arguments(log, *more, run=gemm_dot()):
    return [*run.words, "--oplog", log, *more]


def limited(size):
    """No file may grow beyond so many bytes: a disk that is full, without being root."""
    # Python ignores SIGXFSZ. The child must do so too, so that a write fails like on a full disk.
    return {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)), "restore_signals": False}


def size_of(log):
    return sum(f.stat().st_size for f in (log, log.with_name(log.name + "-wal")) if f.exists())


def kill_at_size(log, size, what):
    run = subprocess.Popen([KERNBENCH, *map(str, run_arguments(log, run=what))], stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
    while size_of(log) < size and run.poll() is None:
        time.sleep(0.001)
    run.kill()
    run.wait()


def killed(folder, run, whole, kills):
    moments = random.Random(7)
    for ending in ("jsonl", "sqlite"):
        log = folder / f"killed.{ending}"
        assert kernbench(*run_arguments(log, run=run)).returncode == 0
        size = log.stat().st_size
        replayed = 0
        for i in range(8 * kills):
            if i >= kills and replayed:  # more kills only if all came too early to leave anything
                break
            for old in folder.glob("killed.*"):
                old.unlink()
            kill_at_size(log, moments.uniform(0, 1) * size, run)
            if log.exists():
                replayed += what_is_left_is_honest(f"killed {ending} {i}", log, whole, output=run.output)
                struck(f"killed {ending} {i}", log, whole, moments, 1, output=run.output)
        print(f"{ending}: {replayed} killed runs could be replayed in part")
        assert replayed > 0, f"no run was killed between its beginning and its end: {ending}"


def struck(what, log, whole, moments, times, output="c"):
    """A flipped bit in what a killed run left: told, or the bits are right all the same."""
    again, memory = log.with_name("again.npy"), log.with_suffix(".kbmem")
    for file in (log, memory):
        good = file.read_bytes() if file.exists() else b""
        for _ in range(times if good else 0):
            again.unlink(missing_ok=True)
            at, bit = moments.randrange(len(good)), moments.randrange(8)
            file.write_bytes(good[:at] + bytes([good[at] ^ (1 << bit)]) + good[at + 1:])
            result = kernbench("replay", "--oplog", log, "--allow-cut-off", "--dump", f"{output}={again}")
            here = f"{what}, bit {bit} of byte {at} of {file.name} flipped"
            if result.returncode == 0:
                assert again.read_bytes() == whole, f"{here}: other bits"
            else:
                told_in_one_line(here, result, (1, 2))
                assert not again.exists(), here
        if good:
            file.write_bytes(good)


def without_an_end(folder):
    """All that a run wrote but the marks of its end: flipped bits are told though nothing vouches for the whole."""
    log, dump = folder / "endless.jsonl", folder / "small.npy"
    assert kernbench(*run_arguments(log, "--dump", f"c={dump}", run=gemm_dot(128))).returncode == 0
    whole, lines = dump.read_bytes(), log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:-1]))
    memory = log.with_suffix(".kbmem")
    memory.write_bytes(memory.read_bytes()[:-40])
    assert what_is_left_is_honest("without its end", log, whole)
    struck("without its end", log, whole, random.Random(3), 25)


def out_of_disk(folder, whole):
    memory = folder / "whole.kbmem"
    for ending in ("jsonl", "sqlite"):
        log = folder / f"full.{ending}"
        assert kernbench(*run_arguments(log, "--memory", "none")).returncode == 0
        for file, size in ((log, log.stat().st_size), (folder / "full.kbmem", memory.stat().st_size)):
            more = ["--memory", "none"] if file == log else []
            for i in range(SIZES):
                for old in folder.glob("full.*"):
                    old.unlink()
                limit = (2 * i + 1) * size // (2 * SIZES)
                run = kernbench(*run_arguments(log, *more), **limited(limit))
                what = f"{ending}, files up to {limit} bytes"
                told_in_one_line(what, run, (1, 2))
                assert file.name in run.stderr, f"{what}: which file? {run.stderr}"
                assert run.stdout == "", what
                if log.exists():
                    what_is_left_is_honest(what, log, whole, *(["--memory", memory] if file == log else []))


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        dump = folder / "dump.npy"
        for run, kills in ((PROGRAM, 1), (RING, 1), (gemm_dot(), KILLS)):
            result = kernbench(*run_arguments(folder / "whole.jsonl", "--dump", f"{run.output}={dump}", run=run))
            assert result.returncode == 0, result.stderr
            whole = dump.read_bytes()
            killed(folder, run, whole, kills)
        without_an_end(folder)
        out_of_disk(folder, whole)
    return 0


if __name__ == "__main__":
    sys.exit(main())
