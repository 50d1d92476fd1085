#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Are the machines that can be bought what scripts/silicon writes, are the measured cells those of the protocol, do the
four constants give their four cells, and a few predictions what docs/silicon.md reports?"""
import importlib.machinery
import importlib.util
import os
import re

import cli_support

ROOT = os.environ["KERNBENCH_SOURCE"]
loader = importlib.machinery.SourceFileLoader("silicon", os.path.join(ROOT, "scripts", "silicon"))
silicon = importlib.util.module_from_spec(importlib.util.spec_from_loader("silicon", loader))
loader.exec_module(silicon)


class Test(cli_support.Cli):
    def setUp(self):
        self.cells = silicon.read_cells()

    def test_files_are_what_the_script_writes(self):
        for machine in silicon.MACHINES.values():
            with open(machine.file, encoding="utf-8") as file:
                self.assertTrue(file.read() == machine.topology(), f"{machine.file}: scripts/silicon topologies")
            said = self.succeeds("topology", machine.file)
            self.assertIn("deadlock-free: proved", said)

    def test_cells_are_those_of_the_protocol(self):
        unicast = [c for c in self.cells if c.machine is silicon.WORMHOLE and c.memory == "l1"]
        self.assertEqual(len(unicast), 440)
        self.assertEqual([c.measured for c in unicast if c.fitted], [206, 2429, 5819])
        self.assertEqual([c.measured for c in self.cells if c.fitted and c.memory == "dram"], [381])
        for c in self.cells:  # parts other than padding grow with size, except for the noise of small ones
            self.assertGreater(c.measured, 100)
        self.assertEqual(len(silicon.read_csv("dram_bandwidth.csv")), 56)

    def test_constants_give_their_cells(self):
        fitted = [c for c in self.cells if c.fitted and c.count < 256]
        silicon.predict(fitted)
        for c in fitted:
            self.assertAlmostEqual(c.predicted / c.measured, 1, 2, c.what)

    def test_predictions(self):
        some = [c for c in self.cells if c.count in (1, 4) and c.size in (64, 4096) and c.stateful == "no"]
        silicon.predict(some)
        for name, holds, _ in silicon.GROUPS[:2]:
            errors = [abs(c.error) for c in some if holds(c)]
            self.assertGreater(len(errors), 10)
            self.assertLess(sorted(errors)[len(errors) // 2], 0.12, name)

    def test_tables_are_the_nodes_and_what_has_a_source(self):
        def constants(file):
            found, group = {}, ""
            with open(file, encoding="utf-8") as f:
                for line in f:
                    group = re.match(r"(\w*)", line)[1] or group  # from the left margin on
                    if m := re.match(r" +(\w+): \{value: ([\d.]+), unit: [^,]+, quality: \w+, range: \[([\d.]+), ([\d.]+)\]", line):
                        found[f"{group}.{m[1]}"] = [float(v) for v in m.groups()[1:]]
            return found

        for chip in silicon.CHIPS.values():
            with open(chip.table, encoding="utf-8") as file:
                self.assertTrue(file.read() == chip.energy_table(), f"{chip.table}: scripts/silicon topologies")
            for line in (line for lines in chip.own.values() for line in lines):
                value, low, high = (float(v) for v in re.search(
                    r"value: ([\d.]+).*range: \[([\d.]+), ([\d.]+)\]", line).groups())
                if line.startswith("rest:"):  # two chips that differ by more
                    low, value, high = 1 + low, 1 + value, 1 + high
                self.assertTrue(value / 2.5 <= low <= value <= high <= 2.05 * value, line)
                self.assertIn(" source: \"", line)
                itself = {"tpu_v4i": "TPUv4i", "h100": "H100", "a100": "A100"}[chip.name]
                self.assertNotIn(itself, line)
            node, own = (constants(os.path.join(os.path.dirname(chip.table), n + ".yaml")) for n in (chip.node, chip.name))
            for same in ("area.lane", "shoreline.hbm_phy", "cost.wafer"):
                self.assertEqual(own[same], node[same], same)

    def test_registers_by_hand(self):
        # 16384 registers of 32 bits with four ports: only the terms of depth matter.
        self.assertAlmostEqual(silicon.register_file(16384, 32, 4), 23.55, 2)
        self.assertAlmostEqual(silicon.V_CACHE, 41 / 64 / 8.388608, 6)

    def test_a_core_by_hand(self):
        # GC200: 215 mm2 for 1472 tiles with 250 TFLOP/s at 1.325 GHz.
        self.assertAlmostEqual(1472 * 64 * 2 * 1.325e-3, 250, delta=1)
        self.assertAlmostEqual(silicon.CORE_GC200, 2282, delta=1)
        # GA100: 476.25 mm2 for 128 SMs without their L1, 192 KB each.
        self.assertAlmostEqual(silicon.CORE_GA100, (476.25e6 - 128 * 192 * 8192 * 0.0763685) / 131072, delta=1)

    def test_area_and_power(self):
        found = {name: silicon.energy_of(chip) for name, chip in silicon.CHIPS.items()}
        errors = {(name, what): of / published - 1 for name, e in found.items() for what, of, published in (
            ("area", e["area"]["mm2"]["value"], silicon.CHIPS[name].mm2),
            ("power", e["average_w"]["value"], silicon.CHIPS[name].watts))}
        for each, error in {("h100", "area"): -0.01, ("h100", "power"): -0.04, ("tpu_v4i", "power"): -0.12,
                            ("tpu_v4i", "area"): -0.19, ("a100", "area"): -0.06, ("a100", "power"): -0.02}.items():
            self.assertAlmostEqual(errors[each], error, delta=0.01, msg=each)
            self.assertLess(abs(errors[each]), 0.3, each)
        for e in found.values():
            self.assertGreater(e["peak_share"], 0.9)
            self.assertEqual(e["out_of_bounds"], [])
        # All have the published GEMM rate; GH100 and GA100 have five stacks.
        self.assertEqual([found[name]["area"]["hbm_stacks"] for name in ("tpu_v4i", "h100", "a100")], [2, 5, 5])
        self.assertAlmostEqual(65536 * 2 * 1.05 / 1e3, 138, delta=0.5)
        self.assertAlmostEqual(8 * 33792 * 2 * 1.83 / 1e3, 989, delta=1)
        self.assertAlmostEqual(8 * 13824 * 2 * 1.41 / 1e3, 312, delta=1)
        # One block of TPUv4i is published: CMEM, 28 % of a die of at most 400 mm2.
        cmem = next(b for b in found["tpu_v4i"]["area"]["blocks"] if b["block"] == "*.sram" and b["of"] == "bits")
        self.assertAlmostEqual(cmem["mm2"]["value"] / (0.28 * 400) - 1, -0.27, delta=0.01)


if __name__ == "__main__":
    cli_support.main()
