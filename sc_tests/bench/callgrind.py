# SPDX-License-Identifier: Apache-2.0
"""Instructions of programs by callgrind, which does not see the machine's load, in units of a hop through a TLM socket pair
counted the same way, which evens out compilers and libraries; held to references that are written down.
"""

import json
import os
import re
import shutil
import subprocess
import sys

MARGIN = 1.10


def instructions(folder, argv):
    """Of a run, and what it printed."""
    out = os.path.join(folder, "callgrind.out")
    done = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *argv],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(argv)}: exit {done.returncode}: {done.stderr[-500:]}")
    return int(re.search(r"Collected : (\d+)", done.stderr).group(1)), done.stdout


def per_item(folder, small, large, items):
    """Start and elaboration cancel out."""
    return (instructions(folder, large)[0] - instructions(folder, small)[0]) / items


def leave_out(why):
    print(f"left out: {os.path.basename(sys.argv[0])}: {why}")
    sys.exit(77)


def skip_where_nothing_can_be_counted():
    if os.environ.get("KERNBENCH_SANITIZED"):
        leave_out("not under a sanitizer: its own instructions would be counted")
    if not shutil.which("valgrind"):
        leave_out("there is no valgrind (Debian: apt-get install valgrind)")


def judge(folder, floor, counted, references):
    """Exit status: 1 where a figure is more than the margin above its reference; KERNBENCH_RENEW writes them anew."""
    hop = per_item(folder, [floor, "sockets", "1000"], [floor, "sockets", "11000"], 10000 * 16)
    print(f"socket hop: {hop:.1f} instructions")
    found = {name: round(n / hop, 2) for name, n in counted.items()}
    if os.environ.get("KERNBENCH_RENEW"):
        with open(references, "w") as f:
            json.dump(found, f, indent=1)
            f.write("\n")
    with open(references) as f:
        written = json.load(f)
    too_many = 0
    for name, hops in found.items():
        over = hops > written[name] * MARGIN
        too_many += over
        print(f"{name}: {counted[name]:.0f} instructions, {hops} hops, reference {written[name]}"
              + (": MORE THAN 10 % ABOVE" if over else ""))
    return 1 if too_many else 0
