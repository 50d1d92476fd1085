#!/usr/bin/env python3
"""Are the machines that can be bought what scripts/silicon writes, are the measured cells those of the protocol, do the
four constants give their four cells, and a few predictions what docs/silicon.md reports?"""
import importlib.machinery
import importlib.util
import os

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
        for c in self.cells:  # what is no padding grows with its size, but for the noise of small ones
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


if __name__ == "__main__":
    cli_support.main()
