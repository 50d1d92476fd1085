# SPDX-License-Identifier: Apache-2.0
"""What the op log costs Phase 1 on the tile-token benchmark, and what its hook costs where no log is attached.

Runs without and with a log in memory take turns, so that other work on the machine strikes both; printed are the median
of the pairs' ratios of CPU time (user and system, the simulation alone) and, where there is valgrind, the instructions
per token by callgrind. With --other, runs of another build without a log take turns with ours, too.
"""

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys

import bench_inputs as inputs

CASES = (("ideal", 4, 16), ("ideal", 64, 2), ("cut_through", 64, 2))  # links, PEs, composites per PE
TOKENS = 512  # per composite


def seconds(program, system, work, mode):
    done = subprocess.run([program, system, work, mode], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"log_cost: {done.stderr.strip()}")
    return float(re.search(r"simulation (\S+) s", done.stdout).group(1))


def instructions(program, system, work, mode):
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, system, work, mode],
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"log_cost: {done.stderr.strip()[-300:]}")
    return int(re.search(r"Collected : (\d+)", done.stderr).group(1))


def pairs(first, second, count):
    """Median of second's time over first's, and first's median."""
    firsts, ratios = [], []
    for i in range(count):
        order = (first, second) if i % 2 == 0 else (second, first)
        times = {run: run() for run in order}
        firsts.append(times[first])
        ratios.append(times[second] / times[first])
    return statistics.median(ratios), statistics.median(firsts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, help="folder of the built programs")
    parser.add_argument("--data", required=True, help="folder for generated inputs; they are kept")
    parser.add_argument("--other", help="folder of another build's programs, to compare runs without a log")
    parser.add_argument("--pairs", type=int, default=9)
    args = parser.parse_args()
    os.makedirs(args.data, exist_ok=True)
    ours = os.path.join(args.bin, "log_bench")
    theirs = os.path.join(args.other, "log_bench") if args.other else None
    for links, pes, count in CASES:
        system = inputs.once(f"{args.data}/{links}_{pes}.yaml", inputs.system, pes, links)
        work = inputs.once(f"{args.data}/work_{pes}_{count}.json", inputs.composites, pes, count)
        name, tokens = f"{links}_{pes}", pes * count * TOKENS
        none = lambda: seconds(ours, system, work, "none")
        ratio, base = pairs(none, lambda: seconds(ours, system, work, "memory"), args.pairs)
        print(f"{name}_none {base / tokens * 1e9:.0f} ns/token\n{name}_memory {ratio:.3f} x", flush=True)
        if theirs:
            ratio, _ = pairs(lambda: seconds(theirs, system, work, "none"), none, args.pairs)
            print(f"{name}_none_over_other {ratio:.3f} x", flush=True)
    if not shutil.which("valgrind"):
        return
    links, pes, count = CASES[0]
    system, work = f"{args.data}/{links}_{pes}.yaml", f"{args.data}/work_{pes}_{count}.json"
    for label, program in (("", ours), ("_other", theirs)):
        if program:
            build = instructions(program, system, work, "build")
            for mode in ("none", "memory"):
                per_token = (instructions(program, system, work, mode) - build) / (pes * count * TOKENS)
                print(f"{links}_{pes}_{mode}{label} {per_token:.0f} instructions/token", flush=True)


if __name__ == "__main__":
    main()
