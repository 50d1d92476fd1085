# SPDX-License-Identifier: Apache-2.0
"""Do the events of what users run still take no more instructions than when the figures were last written down?

Of a gemm with long rows over cut_through links and of attention with flits on default.yaml: the difference of a large and a
small run, for each event of the simulation by which they differ (callgrind.py). It may be up to 10 % above its reference.
To renew the references, after a change that was meant:

    KERNBENCH_RENEW=1 python3 instructions_per_event_test.py KERNBENCH SYSTEMC_FLOOR
"""

import os
import re
import sys
import tempfile

import callgrind

HERE = os.path.dirname(os.path.abspath(__file__))
DEFAULT = os.path.join(HERE, "..", "..", "topologies", "default.yaml")
REFERENCES = os.path.join(HERE, "instructions_per_event.json")
# Arguments of `kernbench run`; the small and the large size.
RUNS = {
    "gemm_cut_through": ("--links cut_through --kernel gemm --param m=4096 --param n=512 --param dtype=f16 "
                         "--param tile_m=16 --param tile_n=512 --param tile_k=64", "k=64", "k=512"),
    "attention_flit": ("--links flit --kernel attention", "seq=32", "seq=64"),
}


def per_event(folder, kernbench, options, small, large):
    counted = []
    for size in (small, large):
        argv = [kernbench, "run", "--topology", DEFAULT, *options.split(), "--param", size]
        instructions, text = callgrind.instructions(folder, argv)
        counted.append((instructions, int(re.search(r"([\d,]+) events", text).group(1).replace(",", ""))))
    (few, few_events), (many, many_events) = counted
    return (many - few) / (many_events - few_events)


def main():
    kernbench, floor = sys.argv[1:]
    callgrind.skip_where_nothing_can_be_counted()
    with tempfile.TemporaryDirectory() as folder:
        counted = {name: per_event(folder, kernbench, *run) for name, run in RUNS.items()}
        sys.exit(callgrind.judge(folder, floor, counted, REFERENCES))


if __name__ == "__main__":
    main()
