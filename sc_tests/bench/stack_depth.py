# SPDX-License-Identifier: Apache-2.0
"""How deep do a run's kernels go on their stacks? For gdb:

    gdb -batch -x sc_tests/bench/stack_depth.py --args build/release/bin/kernbench run --kernel mlp --topology T.yaml

Stops when the first kernel has ended and looks which pages of the stacks have been touched: those between the lowest
one in use and the upper end, in KiB, the deepest of all PEs.
"""

import re
import struct

import gdb

STACK = 256 * 1024  # PeCpu::launch
PAGE = 4096

gdb.execute("set breakpoint pending on")
gdb.execute("break kernbench::PeCpu::end_if_complete")
gdb.execute("run")
pid = gdb.selected_inferior().pid
regions = []
with open(f"/proc/{pid}/maps") as maps:
    for line in maps:
        start, end, rights = re.match(r"([0-9a-f]+)-([0-9a-f]+) (....)", line).groups()
        regions.append((int(start, 16), int(end, 16), rights))
depths = []
with open(f"/proc/{pid}/pagemap", "rb", buffering=0) as pagemap:
    for (start, end, rights), above in zip(regions, regions[1:]):
        # The lowest page of a stack is protected.
        if end - start != PAGE or rights[:3] != "---" or above[0] != end or above[2][:2] != "rw":
            continue
        at, top = end, start + STACK
        while at < top:
            pagemap.seek(at // PAGE * 8)
            if struct.unpack("Q", pagemap.read(8))[0] >> 63:
                break
            at += PAGE
        depths.append((top - at) // 1024)
print(f"{len(depths)} stacks, the deepest {max(depths, default=0)} KiB of {STACK // 1024}")
gdb.execute("kill")
