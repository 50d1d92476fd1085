# SPDX-License-Identifier: Apache-2.0
"""Do a transaction and a tile token still take no more instructions than when the figures were last written down?

Each figure is the difference of a large and a small run (callgrind.py). It may be up to 10 % above its reference. To renew
the references, after a change that was meant:

    KERNBENCH_RENEW=1 python3 instructions_per_transaction_test.py KERNBENCH SYSTEMC_FLOOR
"""

import os
import sys
import tempfile

import bench_inputs as inputs
import callgrind

PES = 4
REFERENCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "instructions.json")


def storm(folder, kernbench, mode, reads):
    system = inputs.once(f"{folder}/{mode}.yaml", inputs.system, PES, mode)
    argv = lambda n: [kernbench, "traffic", "--topology", system,
                      "--trace", inputs.once(f"{folder}/{n}.csv", inputs.storm, PES, n, staggered=True)]
    return callgrind.per_item(folder, argv(reads), argv(5 * reads), 4 * reads * PES)


def tokens(folder, kernbench, mode):
    system = inputs.once(f"{folder}/{mode}.yaml", inputs.system, PES, mode)
    argv = lambda side: [kernbench, "pipeline", "--topology", system,
                         "--work", inputs.once(f"{folder}/{side}.json", inputs.composites, PES, 1, side)]
    return callgrind.per_item(folder, argv(128), argv(384), (6 ** 3 - 2 ** 3) * PES)


def main():
    kernbench, floor = sys.argv[1:]
    callgrind.skip_where_nothing_can_be_counted()
    with tempfile.TemporaryDirectory() as folder:
        counted = {
            "transaction_ideal": storm(folder, kernbench, "ideal", 100),
            "transaction_cut_through": storm(folder, kernbench, "cut_through", 100),
            "transaction_flit": storm(folder, kernbench, "flit", 25),
            "token_ideal": tokens(folder, kernbench, "ideal"),
            "token_cut_through": tokens(folder, kernbench, "cut_through"),
        }
        sys.exit(callgrind.judge(folder, floor, counted, REFERENCES))


if __name__ == "__main__":
    main()
