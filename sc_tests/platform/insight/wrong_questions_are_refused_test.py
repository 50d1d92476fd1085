# SPDX-License-Identifier: Apache-2.0
"""Are wrong factors, parts and commands of --scale and whatif told in one line? And does a scale change what it says?"""
import json

import cli_support
from cli_support import topology

SMALL = ("--topology", topology("small.yaml"))


class Questions(cli_support.Cli):
    def time(self, *more):
        return json.loads(self.succeeds("run", *SMALL, "--kernel", "gemm", "--format", "json", *more))["sim_ns"]

    def test_scales(self):
        for text in ("hbm", "hbm=", "hbm=0", "hbm=-1", "hbm=2x", "hbm=1e7", "hbm=inf", "hbm=nan", "moon=2", "host=2", "=2"):
            self.refuses("run", *SMALL, "--kernel", "gemm", "--scale", text, saying=["--scale"], lines=1)

    def test_what_a_scale_changes(self):
        usual = self.time()
        self.assertEqual(self.time("--scale", "hbm=1"), usual)
        self.assertEqual(self.time("--scale", "ucie=2"), usual)
        self.assertLess(self.time("--scale", "hbm=2", "--scale", "mesh=2"), usual)
        self.assertGreater(self.time("--scale", "gemm=0.01"), usual)
        # Twice and half as fast gives the original.
        self.assertEqual(self.time("--scale", "tcm=2", "--scale", "tcm=0.5"), usual)
        # By hand: PEs' commands cost 2 ns.
        self.assertAlmostEqual(self.time("--scale", "pe_cpu=2"), self.time("--set", "*.pe_cpu.overhead_ns=1"))

    def test_commands(self):
        self.refuses("whatif", "--", "probe", *SMALL, saying=["run"], lines=1)
        self.refuses("whatif", "--part", "moon", "--", "run", *SMALL, "--kernel", "gemm", saying=["--part", "hbm"], lines=1)
        self.refuses("whatif", "--", "run", *SMALL, "--kernel", "gemm", "--oplog", "x.jsonl", saying=["--oplog"], lines=1)
        self.refuses("whatif", "--", "run", *SMALL, "--kernel", "moon", status=1, saying=["moon"], lines=1)
        self.refuses("whatif", "--svg", "/nowhere/t.svg", "--", "run", *SMALL, "--kernel", "gemm", saying=["/nowhere/t.svg"],
                     lines=1)

    def test_predictions_alone(self):
        found = json.loads(self.succeeds("whatif", "--predict", "--format", "json", "--", "run", *SMALL, "--kernel", "gemm"))
        parts = {p["part"]: p for p in found["parts"]}
        self.assertIsNone(parts["hbm"]["faster_ns"])
        self.assertLess(parts["hbm"]["predicted_faster_ns"], found["sim_ns"] + 1e-9)
        self.assertGreater(parts["hbm"]["predicted_slower_ns"], found["sim_ns"])
        self.assertIsNone(parts["dma_engines"]["predicted_faster_ns"])


if __name__ == "__main__":
    cli_support.main()
