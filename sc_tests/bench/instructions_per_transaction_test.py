"""Do a transaction and a tile token still take no more instructions than when the figures were last written down?

callgrind counts them, so the result does not depend on the machine's load. Each figure is the difference of a large and
a small run, so that start and elaboration cancel out, in units of a hop through a TLM socket pair counted the same way,
which evens out compilers and libraries. A figure may be up to 10 % above its reference. To renew the references, after
a change that was meant:

    KERNBENCH_RENEW=1 python3 instructions_per_transaction_test.py KERNBENCH SYSTEMC_FLOOR
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import bench_inputs as inputs

MARGIN = 1.10
PES = 4
REFERENCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "instructions.json")


def instructions(folder, argv):
    out = os.path.join(folder, "callgrind.out")
    done = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *argv],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(argv)}: exit {done.returncode}: {done.stderr[-500:]}")
    return int(re.search(r"Collected : (\d+)", done.stderr).group(1))


def per_item(folder, small, large, items):
    return (instructions(folder, large) - instructions(folder, small)) / items


def storm(folder, kernbench, mode, reads):
    system = inputs.once(f"{folder}/{mode}.yaml", inputs.system, PES, mode)
    argv = lambda n: [kernbench, "traffic", "--topology", system,
                      "--trace", inputs.once(f"{folder}/{n}.csv", inputs.storm, PES, n, staggered=True)]
    return per_item(folder, argv(reads), argv(5 * reads), 4 * reads * PES)


def tokens(folder, kernbench, mode):
    system = inputs.once(f"{folder}/{mode}.yaml", inputs.system, PES, mode)
    argv = lambda side: [kernbench, "pipeline", "--topology", system,
                         "--work", inputs.once(f"{folder}/{side}.json", inputs.composites, PES, 1, side)]
    return per_item(folder, argv(128), argv(384), (6 ** 3 - 2 ** 3) * PES)


def main():
    kernbench, floor = sys.argv[1:]
    if not shutil.which("valgrind"):
        print("skipped: valgrind is not installed (scripts/setup does)")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        hop = per_item(folder, [floor, "sockets", "1000"], [floor, "sockets", "11000"], 10000 * 16)
        counted = {
            "transaction_ideal": storm(folder, kernbench, "ideal", 100),
            "transaction_cut_through": storm(folder, kernbench, "cut_through", 100),
            "transaction_flit": storm(folder, kernbench, "flit", 25),
            "token_ideal": tokens(folder, kernbench, "ideal"),
            "token_cut_through": tokens(folder, kernbench, "cut_through"),
        }
    print(f"socket hop: {hop:.1f} instructions")
    found = {name: round(n / hop, 2) for name, n in counted.items()}
    if os.environ.get("KERNBENCH_RENEW"):
        with open(REFERENCES, "w") as f:
            json.dump(found, f, indent=1)
            f.write("\n")
    with open(REFERENCES) as f:
        references = json.load(f)
    too_many = 0
    for name, hops in found.items():
        over = hops > references[name] * MARGIN
        too_many += over
        print(f"{name}: {counted[name]:.0f} instructions, {hops} hops, reference {references[name]}"
              + (": MORE THAN 10 % ABOVE" if over else ""))
    sys.exit(1 if too_many else 0)


if __name__ == "__main__":
    if os.environ.get("KERNBENCH_SANITIZED"):
        print("skipped under a sanitizer: its own instructions would be counted")
        sys.exit(77)
    main()
