#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random collectives over networks with finite buffers and virtual channels: is every byte right, whatever the sizes of
segments, and does every queue keep its order? Segments of one message are unlike in size (n that slots do not divide),
so that short ones can overtake long ones where channels let them.

    segments_keep_their_order_test.py [CASES [FIRST_SEED]]"""
import json
import os
import random
import subprocess
import sys
import tempfile

from cli_support import KERNBENCH, TOPOLOGIES

KERNELS = ("sendrecv", "all_reduce", "all_gather", "broadcast", "reduce", "reduce_scatter", "all_to_all")


def draw(seed):
    figures = random.Random(seed)
    kernel = figures.choice(KERNELS)
    n = 8 * figures.randrange(1, 1200) if kernel in ("reduce_scatter", "all_to_all") else figures.randrange(1, 9000)
    words = ["run", "--topology", os.path.join(TOPOLOGIES, "small.yaml"), "--links", "flit", "--response", "routed",
             "--kernel", kernel, "--param", f"n={n}", "--param", f"slot_bytes={64 * figures.randrange(1, 64)}",
             "--param", f"slots={figures.randrange(1, 6)}",
             "--set", f"*.buffer_flits={figures.choice((2, 3, 8, 64))}", "--set", f"*.vcs={figures.randrange(1, 5)}"]
    if figures.random() < 0.3:
        words += ["--set", "*.store_and_forward=true"]
    return words


def messages_in_order(log):
    """The first pair of segments of a queue that came in another order than they were sent, or None."""
    last = {}
    with open(log, encoding="utf-8") as file:
        copies = [r for r in map(json.loads, file) if r["op_name"] == "ipcq_copy"]
    for r in sorted(copies, key=lambda r: (r["params"]["message"], r["params"].get("segment", 0))):
        p = r["params"]
        queue = (p["dst_pe"], p["port"])
        if r["t_end"] < last.get(queue, 0):
            return f"{queue}: message {p['message']}, segment {p.get('segment', 0)}"
        last[queue] = r["t_end"]
    return None


def fault(seed, folder):
    """What is wrong with the case, or None."""
    log = os.path.join(folder, "log.jsonl")
    words = draw(seed)
    done = subprocess.run([KERNBENCH, *words, "--verify", "--oplog", log], capture_output=True, text=True, timeout=120)
    if done.returncode:
        return f"exit {done.returncode}: {done.stderr.strip()[:300]}"
    return messages_in_order(log)


def main():
    cases, first = map(int, (sys.argv[1:] + ["24", "1"][len(sys.argv) - 1:])[:2])
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + cases):
            if found := fault(seed, folder):
                sys.exit(f"seed {seed}: {found}\n  kernbench {' '.join(draw(seed))}")
    print(f"seeds {first} to {first + cases - 1}: all verified, in order")


if __name__ == "__main__":
    main()
