#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kernbench replay` gives, in a process of its own, the bits that `run --dump` gave; bad files are one line and status 2."""
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile

KERNBENCH = pathlib.Path(os.environ["KERNBENCH_CLI"])
ALONE = pathlib.Path(os.environ["KERNBENCH_REPLAY"])  # the same program without SystemC
SMALL = pathlib.Path(os.environ["KERNBENCH_TOPOLOGIES"]) / "small.yaml"
RUNS = [
    ("c", ["gemm", "--param", "m=100", "--param", "n=72", "--param", "k=130"]),
    ("c", ["gemm", "--param", "dtype=i8", "--param", "m=64", "--param", "n=64", "--param", "k=64"]),
    ("c", ["gemm_epilogue", "--param", "activation=gelu", "--param", "dtype=bf16"]),
    ("y", ["softmax"]),
    ("y", ["gather"]),
    ("y", ["newton_sqrt", "--param", "n=1000", "--param", "block=100"]),
    ("y", ["assemble"]),
    ("c", ["gemm", "--address", "virtual"]),
]


def kernbench(*arguments, program=KERNBENCH):
    return subprocess.run([program, *arguments], capture_output=True, text=True)


def same_bits(folder, output, kernel, log_name, extra=()):
    log, first, again = folder / log_name, folder / "run.npy", folder / "replay.npy"
    run = kernbench("run", "--topology", SMALL, "--kernel", *kernel, "--oplog", log, "--dump", f"{output}={first}", *extra)
    assert run.returncode == 0, run.stderr
    for program in (KERNBENCH, ALONE):
        for threads in ("1", "3"):
            again.unlink(missing_ok=True)
            replay = kernbench("replay", "--oplog", log, "--threads", threads, "--dump", f"{output}={again}", program=program)
            assert replay.returncode == 0, replay.stderr
            assert again.read_bytes() == first.read_bytes(), f"{kernel} {log_name} {threads} threads: other bits"


def refused(what, *arguments):
    result = kernbench("replay", *arguments)
    lines = result.stderr.strip().splitlines()
    assert result.returncode == 2, f"{what}: status {result.returncode}: {result.stderr}"
    assert len(lines) == 1 and result.stdout == "", f"{what}: {result.stderr}"


def bad_files_are_refused(folder):
    first, again = folder / "first.npy", folder / "again.npy"
    for name in ("good.jsonl", "good.sqlite"):
        log, memory = folder / name, folder / "good.kbmem"
        run = kernbench("run", "--topology", SMALL, "--kernel", "gemm", "--param", "m=64", "--param", "n=64", "--param",
                        "k=64", "--oplog", log, "--dump", f"c={first}")
        assert run.returncode == 0, run.stderr
        for path, option in ((log, "--oplog"), (memory, "--memory")):
            whole = path.read_bytes()
            other = folder / f"bad{path.suffix}"
            pair = {"--oplog": log, "--memory": memory, option: other}
            arguments = [x for item in pair.items() for x in item]
            for length in (0, 5, 50, len(whole) // 3, len(whole) // 2, len(whole) - 2):
                other.write_bytes(whole[:length])
                refused(f"{path.name} cut to {length}", *arguments)
            # One bit in every part of the file. Parts of pages that SQLite does not use may change.
            for i in range(200):
                at = (2 * i + 1) * len(whole) // 400
                other.write_bytes(whole[:at] + bytes([whole[at] ^ (1 << i % 8)]) + whole[at + 1:])
                result = kernbench("replay", *arguments, "--dump", f"c={again}")
                assert result.returncode in (0, 2), f"{path.name} flipped at {at}: {result.returncode} {result.stderr}"
                assert len(result.stderr.strip().splitlines()) == result.returncode // 2, result.stderr
                if result.returncode == 0:
                    assert path.suffix == ".sqlite", f"{path.name} flipped at {at} was not noticed"
                    assert again.read_bytes() == first.read_bytes(), f"{path.name} flipped at {at}: other bits"
        refused("memory as log", "--oplog", memory)
        refused("log as memory", "--oplog", log, "--memory", log)
        refused("no such log", "--oplog", folder / "none.sqlite")
        refused("no such output", "--oplog", log, "--dump", "nothing=x.npy")
        refused("no such instruction set", "--oplog", log, "--isa", "mmx")
        other_run = folder / "other.jsonl"
        run = kernbench("run", "--topology", SMALL, "--kernel", "gemm", "--seed", "7", "--oplog", other_run)
        assert run.returncode == 0, run.stderr
        refused("memory of another run", "--oplog", log, "--memory", folder / "other.kbmem")


def the_header_names_instruction_set_and_eigen(folder):
    """The bits of a product belong to both."""
    for log in (folder / "isa.jsonl", folder / "isa.sqlite"):
        same_bits(folder, "c", ["gemm"], log.name, ["--isa", "portable"])
    header = json.loads((folder / "isa.jsonl").read_text().splitlines()[0])["params"]
    rows = dict(sqlite3.connect(folder / "isa.sqlite").execute("SELECT key, value FROM header"))
    for isa, configuration in ((header["isa"], header["configuration"]),
                               (rows["isa"], json.loads(rows["configuration"]))):
        assert isa == "portable", isa
        assert re.fullmatch(r"\d+\.\d+\.\d+", configuration["versions"]["eigen"]), configuration["versions"]


def every_op_is_checked(folder):
    run = kernbench("run", "--topology", SMALL, "--kernel", "softmax", "--debug-verify", "--oplog", folder / "d.jsonl")
    assert run.returncode == 0, run.stderr
    replay = kernbench("replay", "--oplog", folder / "d.jsonl", "--debug-verify")
    assert replay.returncode == 0, replay.stderr


def what_was_materialized_is_taken_or_compared(folder):
    """Replay skips what Phase 1 computed for tl.materialize; --debug-verify computes it again and compares the bits."""
    log = folder / "m.jsonl"
    run = kernbench("run", "--topology", SMALL, "--kernel", "newton_sqrt", "--oplog", log)
    assert run.returncode == 0, run.stderr
    counts = []
    for more in ([], ["--debug-verify"]):
        replay = kernbench("replay", "--oplog", log, "--format", "json", *more)
        assert replay.returncode == 0, replay.stderr
        counts.append(json.loads(replay.stdout)["computed"])
    assert counts[0] < counts[1], counts
    records = [json.loads(line) for line in log.read_text().splitlines()]
    first = next(r for r in records if r["op_name"] == "materialize")
    assert first["component_id"] == first["params"]["pe"] + ".pe_cpu" and first["params"]["materialized"]["computed"]
    damage = kernbench("replay", "--oplog", log, "--corrupt-op", str(first["op_id"]), "--debug-verify")
    assert damage.returncode == 1 and "the bytes that Phase 1 took" in damage.stderr, damage.stderr


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for output, kernel in RUNS:
            for log_name in ("log.jsonl", "log.sqlite"):
                same_bits(folder, output, kernel, log_name)
        same_bits(folder, "c", ["gemm"], "timed.sqlite", ["--transfer", "timed"])
        if os.environ.get("KERNBENCH_SANITIZED") == "thread":
            return 0  # the remaining part has no threads
        the_header_names_instruction_set_and_eigen(folder)
        every_op_is_checked(folder)
        what_was_materialized_is_taken_or_compared(folder)
        bad_files_are_refused(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
