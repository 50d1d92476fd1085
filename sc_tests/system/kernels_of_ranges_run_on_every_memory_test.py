# SPDX-License-Identifier: Apache-2.0
"""Kernels of gathers, scatters, atomics, flags, scans, sorts and random numbers verify and do not race: on every HBM
controller, in every link mode and with finite buffers, by physical and virtual addresses, for sizes that no block or PE
divides. KERNBENCH_RANGES_CASES and KERNBENCH_RANGES_SEED make a campaign of it."""
import json
import os
import random
import re
import tempfile

import cli_support
from cli_support import topology

CASES = int(os.environ.get("KERNBENCH_RANGES_CASES", 44))
SEED = int(os.environ.get("KERNBENCH_RANGES_SEED", 1))

FLOATS = ("f32", "f16", "bf16")
# By kernel: the ranges of its random parameters.
KERNELS = {
    "embedding_gather": {"vocab": (1, 300), "dim": (1, 70), "tokens": (1, 90), "dtype": FLOATS},
    "paged_gather": {"pages": (1, 40), "page": (1, 20), "dim": (1, 40), "seqs": (1, 20), "blocks": (1, 9), "dtype": FLOATS},
    "histogram": {"n": (1, 900), "bins": (1, 70), "method": ("atomics", "local")},
    "ticket_lock": {"rows": (1, 20), "cols": (1, 70)},
    "gemm_stream_k": {"m": (1, 50), "n": (1, 50), "k": (1, 90), "tile_m": (1, 40), "tile_n": (1, 40), "tile_k": (1, 64),
                      "dtype": FLOATS},
    "moe_dispatch": {"tokens": (1, 60), "dim": (1, 40), "experts": (2, 9), "k": (1, 2), "capacity": (1, 40),
                     "dtype": FLOATS},
    "moe_sort": {"tokens": (1, 60), "dim": (1, 40), "experts": (2, 9), "first": (0, 3), "k": (1, 2), "dtype": FLOATS},
    "moe_combine": {"tokens": (1, 60), "dim": (1, 40), "k": (1, 4), "slots": (1, 90), "dtype": FLOATS},
    "dropout": {"n": (1, 3000), "p": ("0", "0.1", "0.5", "0.9"), "seed": (0, 1 << 31), "dtype": FLOATS},
    "cumsum": {"rows": (1, 40), "cols": (1, 90), "dtype": FLOATS + ("i32",)},
    "sort": {"rows": (1, 20), "cols": (1, 60), "descending": ("true", "false"), "dtype": FLOATS + ("i32",)},
    "topk": {"rows": (1, 20), "cols": (8, 60), "k": (1, 8), "dtype": FLOATS},
}
MEMORIES = ("builtin.hbm_pc", "builtin.hbm_ctrl", "builtin.hbm_dram")
MODES = (["--links", "ideal"], ["--links", "ideal", "--response", "routed"],
         ["--links", "cut_through", "--response", "routed"], ["--links", "flit"],
         ["--links", "flit", "--set", "*.buffer_flits=3", "--set", "*.vcs=2"])


class Ranges(cli_support.Cli):
    def machine(self, folder, memory):
        with open(topology("small.yaml"), encoding="utf-8") as file:
            text = file.read()
        if memory != "builtin.hbm_pc":
            text = re.sub(r"    impl: builtin\.hbm_pc.*?(?=  sram:)", f"    impl: {memory}\n", text, flags=re.S)
        name = os.path.join(folder, memory + ".yaml")
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)
        return name

    def test_they_verify_and_do_not_race(self):
        with tempfile.TemporaryDirectory() as folder:
            machines = [self.machine(folder, memory) for memory in MEMORIES]
            for number in range(CASES):
                draw = random.Random(SEED + number)
                kernel = list(KERNELS)[number % len(KERNELS)]
                given = []
                for name, values in KERNELS[kernel].items():
                    numbers = isinstance(values[0], int)
                    given += ["--param", f"{name}={draw.randint(*values) if numbers else draw.choice(values)}"]
                if draw.random() < 0.4:
                    given += ["--address", "virtual"]
                given += ["--set", f"*.pe_dma.outstanding={draw.choice((1, 2, 7))}",
                          "--set", f"*.pe_dma.range_bytes={draw.choice((0, 8))}"]
                command = ["run", "--topology", machines[number // 3 % 3], "--kernel", kernel, *draw.choice(MODES), *given,
                           "--verify", "--check-races", "--format", "json"]
                with self.subTest(number=number, command=" ".join(command)):
                    report = json.loads(self.succeeds(*command))
                    self.assertEqual(report["races"], [])


if __name__ == "__main__":
    cli_support.main()
