#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What of a run may a change of its machine change? On 200 random machines (random_machines.py) and for every kernel that
ships: all rates twice and all times half give half of the time; observers, the order of keys, and parts that nothing uses
change no time and no byte. Sweeps run all variants of many machines, without a start for each."""
import csv
import io
import json
import os
import random
import tempfile

import cli_support
import random_machines

MACHINES = int(os.environ.get("KERNBENCH_MACHINES", 200))
# For random machines: their numbers of PEs, and their work.
KERNELS = {"vector_add": (3, {"n": 1000}), "gemm": (2, {"m": 40, "n": 40, "k": 72}), "softmax": (1, {"rows": 6, "cols": 100}),
           "all_reduce": (4, {"n": 500}), "rmsnorm": (2, {"rows": 6, "cols": 90})}
METRICS = "sim_ns,verified,bytes_read,bytes_written,tcm_bytes"


class Changes(cli_support.Cli):
    @classmethod
    def setUpClass(cls):
        cls.kept = tempfile.TemporaryDirectory()
        cls.declared = random_machines.Declarations(json.loads(cls().succeeds("list", "components", "--format", "json")))

    @classmethod
    def tearDownClass(cls):
        cls.kept.cleanup()

    def variants(self, name, machine, extended=True):
        """Paths of the machine and its variants."""
        rng = random.Random(f"variants {name}")
        made = {"base": machine, "half": random_machines.twice_as_fast(machine, self.declared),
                "permuted": random_machines.permuted(machine, rng)}
        if extended:
            made["beside"] = random_machines.with_unused_parts(machine, self.declared, rng)
        return {v: random_machines.write(m, os.path.join(self.kept.name, f"{name}_{v}.yaml")) for v, m in made.items()}

    def rows(self, machines, kernels, options, metrics=METRICS):
        """Of a sweep: by (machine, variant, kernel)."""
        names = {path: (m, v) for m, paths in machines.items() for v, path in paths.items()}
        status, out, err = self.run_cli("sweep", "--over", "topology=" + ",".join(names), "--over",
                                        "kernel=" + ",".join(kernels), "--metric", metrics, "--jobs", "2", "--", "run",
                                        "--verify", "--launch", "direct", *options, timeout=600)
        self.assertIn(status, (0, 1, 2), err)
        return {(*names[row["topology"]], row["kernel"]): row for row in csv.DictReader(io.StringIO(out))}

    def check(self, base, row, what):
        """Whether all but the time is the same, and the time what it shall be."""
        for name in ("exit", *METRICS.split(",")[1:]):
            self.assertEqual(row[name], base[name], f"{what}: {name}")
        if base["exit"] != "0":
            return
        if what[1] == "half":
            self.assertAlmostEqual(2 * float(row["sim_ns"]) / float(base["sim_ns"]), 1, delta=1e-6, msg=what)
        else:
            self.assertEqual(row["sim_ns"], base["sim_ns"], what)

    def compare(self, machines, kernels, options):
        """All variants with their machine, as told by an observer too. How many runs of the machines there were."""
        rows = self.rows(machines, kernels, options)
        for what, row in rows.items():
            self.check(rows[what[0], "base", what[2]], row, what)
        bases = {m: {"base": paths["base"]} for m, paths in machines.items()}
        for what, row in self.rows(bases, kernels, options, METRICS + ",bound").items():
            self.check(rows[what], row, (*what, "explained"))
        return sum(row["exit"] == "0" for what, row in rows.items() if what[1] == "base")

    def test_random_machines(self):
        ran = 0
        for k, (kernel, (count, params)) in enumerate(KERNELS.items()):
            machines = {}
            for seed in range(k, MACHINES, len(KERNELS)):
                buffers = seed % 4 == 0
                drawn = random_machines.draw(seed, self.declared, count, buffers)
                machines[seed] = self.variants(f"m{seed}", drawn, not buffers)
            options = [word for name, v in params.items() for word in ("--param", f"{name}={v}")]
            ran += self.compare(machines, [kernel], ["--pes", ",".join(f"sip0.cube0.pe{i}" for i in range(count)), *options])
        self.assertGreater(ran, MACHINES * 0.9)  # others have too little TCM or buffers that refuse a message

    def test_kernels_that_ship(self):
        graph = json.loads(self.succeeds("topology", cli_support.topology("small.yaml"), "--format", "json"))
        machine = random_machines.flat(graph)
        kernels = [line.partition(":")[0] for line in self.succeeds("list", "kernels").splitlines() if not line.startswith(" ")]
        paths, pes = self.variants("small", machine), ",".join(random_machines.pes(machine))
        self.assertGreater(self.compare({"small": paths}, kernels, ["--pes", pes]), 30)
        # All outputs at once, each with a file.
        watched = [word for option in ("trace", "vcd", "ftr", "oplog") for word in
                   (f"--{option}", os.path.join(self.kept.name, "watched." + {"trace": "json", "oplog": "jsonl"}.get(option, option)))]
        for kernel in kernels[::3]:
            command = ["run", "--topology", paths["base"], "--kernel", kernel, "--pes", pes, "--launch", "direct", "--format", "json"]
            (status, out, _), (again, seen, _) = self.run_cli(*command), self.run_cli(*command, *watched)
            self.assertEqual(again, status, kernel)
            if status == 0:
                self.assertEqual(*([json.loads(text)[k] for k in ("sim_ns", "pes", "engines")] for text in (out, seen)), kernel)


if __name__ == "__main__":
    cli_support.main()
