#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--debug-verify names the first op that departs from its reference, with its operands' addresses, the ops that made them
and the transactions that carried them."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import cli_support

KERNBENCH = os.environ["KERNBENCH_CLI"]
SMALL = pathlib.Path(os.environ["KERNBENCH_TOPOLOGIES"]) / "small.yaml"


def kernbench(*arguments):
    return subprocess.run([KERNBENCH, *map(str, arguments)], capture_output=True, text=True,
                          timeout=120 * cli_support.TIMES_LONGER)


def records_of(folder, *kernel):
    log = folder / "run.jsonl"
    run = kernbench("run", "--topology", SMALL, "--kernel", *kernel, "--oplog", log)
    assert run.returncode == 0, run.stderr
    return log, [json.loads(line) for line in log.read_text().splitlines()[1:-1]]


def departs(log, op_id):
    replay = kernbench("replay", "--oplog", log, "--corrupt-op", op_id, "--debug-verify")
    assert replay.returncode == 1, f"{replay.returncode} {replay.stderr}"
    lines = replay.stderr.strip().splitlines()
    assert len(lines) == 1 and replay.stdout == "", replay.stderr
    return lines[0]


def says(text, *parts):
    for part in parts:
        assert part in text, f"{part!r} is not in: {text}"


def a_math_op(folder):
    log, records = records_of(folder, "softmax")
    clean = kernbench("replay", "--oplog", log, "--debug-verify")
    assert clean.returncode == 0, clean.stderr
    op = next(r for r in records if r["op_kind"] == "math" and r["params"]["input_addrs"])
    text = departs(log, op["op_id"])
    p = op["params"]
    says(text, f"op {op['op_id']} ({op['op_name']}) at {p['source']} differs from its reference",
         f"{p['input_spaces'][0]} {p['input_addrs'][0]:#x} of {p['pe']}")
    load = next(r for r in records if r["op_name"] == "dma_read" and r["params"]["dst_addr"] == p["input_addrs"][0]
                and r["params"]["pe"] == p["pe"] and r["t_end"] <= p["submit_ns"])
    says(text, f"brought by dma_read op {load['op_id']} from hbm {load['params']['src_addr']:#x}")


def an_op_that_reads_another_ones_result(folder):
    log, records = records_of(folder, "rmsnorm")
    maker = {}  # of the contents of an address of a PE's TCM, in program order
    reader = None
    for r in sorted((r for r in records if r["params"].get("dst_space") == "tcm"), key=lambda r: r["params"]["seq"]):
        p = r["params"]
        if r["op_kind"] == "math" and p["input_addrs"] and maker.get((p["pe"], p["input_addrs"][0])) == "math":
            reader = reader or r
        maker[p["pe"], p["dst_addr"]] = r["op_kind"]
    text = departs(log, reader["op_id"])
    assert re.search(r"made by op \d+", text), text


def a_composite(folder):
    log, records = records_of(folder, "mlp")
    composites = [r for r in records if r["op_name"].startswith("composite_")]
    last = max(composites, key=lambda r: r["params"]["submit_ns"])
    text = departs(log, last["op_id"])
    tokens = [r["op_id"] for r in records if r["op_name"] == "TileToken/DMA_READ" and
              r["params"]["composite_op_id"] == last["op_id"]]
    says(text, f"op {last['op_id']} (composite_gemm)", "TileToken/DMA_READ op", f"of composite op {last['op_id']}",
         str(min(tokens)), "made by op")  # the hidden layer stays in TCM


def an_op_that_computes_nothing(folder):
    log, records = records_of(folder, "softmax")
    load = next(r for r in records if r["op_name"] == "dma_read")
    replay = kernbench("replay", "--oplog", log, "--corrupt-op", load["op_id"], "--debug-verify")
    assert replay.returncode == 2, replay.stderr
    says(replay.stderr, f"nothing is computed for op {load['op_id']}")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        a_math_op(folder)
        an_op_that_reads_another_ones_result(folder)
        a_composite(folder)
        an_op_that_computes_nothing(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
