# SPDX-License-Identifier: Apache-2.0
"""Area, static power and price follow what a machine has; they are metrics of sweeps and fronts; bounds are told."""
import json
import math
import os
import re
import sys
import tempfile
import unittest

import cli_support
from cli_support import topology

RUN = ("run", "--topology", topology("small.yaml"), "--kernel", "gemm", "--param", "m=64")


class Machines(cli_support.Cli):
    def energy(self, *more, table="n7.yaml"):
        return json.loads(self.succeeds(*RUN, "--energy", table, "--format", "json", *more))["energy"]

    def area(self, *more, **table):
        return self.energy(*more, **table)["area"]["mm2"]["value"]

    def test_more_of_anything_takes_more_area_power_and_money(self):
        base = self.energy()
        for change in ("*.macs_per_cycle=16384", "*.lanes=512", "*.pe_tcm.size_mb=32", "*.pe_tcm.read_bw_gbs=2048",
                       "edge:mesh.bw_gbs=512", "edge:ucie.bw_gbs=1024", "edge:pcie.bw_gbs=512", "*.pseudo_channels=32"):
            with self.subTest(change):
                more = self.energy("--set", change)
                self.assertGreater(more["area"]["mm2"]["value"], base["area"]["mm2"]["value"])
                self.assertGreater(more["static_w"]["value"], base["static_w"]["value"])
                self.assertGreater(more["cost"]["total"]["value"], base["cost"]["total"]["value"])

    def test_dies_add_up(self):
        area = self.energy()["area"]
        for end in ("low", "value", "high"):
            self.assertAlmostEqual(sum(d["count"] * d["mm2"][end] for d in area["dies"]), area["mm2"][end], places=6)
        self.assertAlmostEqual(sum(b["mm2"]["value"] for b in area["blocks"]), area["mm2"]["value"], places=6)
        self.assertEqual([d["die"] for d in area["dies"]], ["sip0.io0", "sip0.cube0"])
        self.assertEqual(area["packages"], 1)

    def with_rest(self, low, value, high):
        """n7.yaml with another share; without one where there is none."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        table = os.path.join(folder.name, "mine.yaml")
        with open(topology("energy/n7.yaml"), encoding="utf-8") as file, open(table, "w", encoding="utf-8") as mine:
            text = re.sub(r"(?ms)^  rest: \{.*?\}\n", "", file.read())
            if value is not None:
                text = text.replace("\narea:", f'\narea:\n  rest: {{value: {value}, unit: "1", quality: assumed, range: '
                                               f'[{low}, {high}], source: "a test"}}', 1)
            mine.write(text)
        return table

    def test_the_rest_of_a_die_is_a_share_of_its_blocks(self):
        blocks = self.energy(table=self.with_rest(0, None, 0))["area"]
        self.assertNotIn("*.rest", [b["block"] for b in blocks["blocks"]])
        for low, value, high in ((0, 0, 0), (0.05, 0.25, 0.5), (0, 1000, 1e9)):
            area = self.energy(table=self.with_rest(low, value, high))["area"]
            of = dict(zip(("low", "value", "high"), (1 + low, 1 + value, 1 + high)))
            for end, share in of.items():
                self.assertAlmostEqual(area["mm2"][end] / (blocks["mm2"][end] * share), 1, places=9)
                for die, bare in zip(area["dies"], blocks["dies"]):
                    self.assertAlmostEqual(die["mm2"][end] / (bare["mm2"][end] * share), 1, places=9)
            rest = [b for b in area["blocks"] if b["block"] == "*.rest"]
            self.assertEqual([(b["count"], b["of"]) for b in rest], [(3, "dies")])
            self.assertAlmostEqual(rest[0]["mm2"]["value"], blocks["mm2"]["value"] * value, places=6)
        # It leaks like the blocks.
        leaks = [self.energy(table=self.with_rest(0, v, 1))["static_w"]["value"] for v in (0, 1)]
        self.assertAlmostEqual(leaks[1] / leaks[0], 2, places=4)  # in whole units of 1e-3 mm2
        self.refuses(*RUN, "--energy", self.with_rest(0, -0.1, 1), saying=["rest", "-0.1", ">= 0"], lines=1)
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "run.sqlite")
            report = json.loads(self.succeeds(*RUN, "--energy", "n7.yaml", "--format", "json", "--oplog", log))
            again = json.loads(self.succeeds("replay", "--oplog", log, "--format", "json"))
        self.assertEqual(again["energy"]["area"], report["energy"]["area"])

    def test_a_mac_at_7_nm_by_a_pencil(self):
        # fp16 multiply 1640 + 32-bit add 4184 um2 at 45 nm, whose density is between 3.3 at 65 nm and 7.7 at 40.
        at_45 = 3.3 * (7.7 / 3.3) ** (math.log(65 / 45) / math.log(65 / 40))
        with open(topology("energy/n7.yaml"), encoding="utf-8") as file:
            area = file.read().split("\narea:")[1]
        for dtype, um2 in (("i8", 282 + 137), ("f16", 1640 + 4184), ("f32", 7700 + 4184)):
            value = float(re.search(rf"\n    {dtype}: {{value: ([\d.]+)", area)[1])
            self.assertAlmostEqual(value / (um2 * at_45 / 96.3), 1, places=2)

    def test_logic_of_n5_is_smaller_and_wafers_are_dearer(self):
        n7, n5 = self.energy(), self.energy(table="n5.yaml")
        gemm = lambda e: next(b["mm2"]["value"] for b in e["area"]["blocks"] if b["block"] == "*.pe_gemm")
        self.assertAlmostEqual(gemm(n5) / gemm(n7), 96.3 / 138.2, places=2)
        self.assertLess(n5["joules"]["value"], n7["joules"]["value"])

    def test_metrics_of_sweeps_and_fronts(self):
        metrics = "sim_ns,area_mm2,static_w,peak_w,cost,tflops_per_w,tflops_per_mm2"
        table = json.loads(self.succeeds("sweep", "--over", "set.*.macs_per_cycle=1024,4096", "--metric", metrics,
                                         "--pareto", "min:sim_ns,min:cost", "--format", "json", "--", *RUN, "--energy",
                                         "n7.yaml"))
        rows = table if isinstance(table, list) else table["rows"]
        self.assertEqual(len(rows), 2)
        self.assertLess(min(r["cost"] for r in rows), max(r["cost"] for r in rows))

    def test_tokens_of_a_joule(self):
        report = json.loads(self.succeeds("run", "--topology", topology("small.yaml"), "--kernel", "mlp", "--param",
                                          "tokens=64", "--energy", "n7.yaml", "--format", "json"))
        self.assertAlmostEqual(report["figures"]["tokens_per_j"] * report["figures"]["energy_j"], 64, places=6)
        self.assertNotIn("tokens_per_j", self.succeeds(*RUN, "--energy", "n7.yaml"))

    def with_bounds(self, *lines):
        """n7.yaml with these behind its last."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        table = os.path.join(folder.name, "mine.yaml")
        with open(topology("energy/n7.yaml"), encoding="utf-8") as file, open(table, "w", encoding="utf-8") as mine:
            mine.write(file.read() + "".join(f"  {line}\n" for line in lines))
        return table

    def edge(self, *more, table="n7.yaml", die="sip0.cube0"):
        return next(d for d in self.energy(*more, table=table)["area"]["dies"] if d["die"] == die)

    def test_edges_by_a_pencil(self):
        with open(topology("small.yaml"), encoding="utf-8") as file:
            ports = file.read().count("io_ucie: {distance_mm: 10.0, bw_gbs: 512.0}")
        self.assertEqual(ports, 1)
        # Four slices of 256 GB/s are three stacks of 460.8; UCIe leaves a cube at two of its ports at 512 GB/s.
        cube, io = self.edge(), self.edge(die="sip0.io0")
        ucie = (cube["phy_edge_mm"]["value"] - 3 * 10) / 0.00304
        self.assertAlmostEqual(ucie % 512, 0, places=4)
        self.assertAlmostEqual(cube["shoreline_mm"], 4 * cube["mm2"]["value"] ** 0.5, places=6)
        self.assertAlmostEqual(io["phy_edge_mm"]["value"], 0.081 * 128 + 0.00304 * 1024, places=6)
        twice = self.edge("--set", "edge:ucie.bw_gbs=1024")["phy_edge_mm"]["value"]
        self.assertGreater(twice, cube["phy_edge_mm"]["value"])
        more = self.edge("--set", "*.pseudo_channels=16")["phy_edge_mm"]["value"]  # twice the GB/s: five stacks
        self.assertAlmostEqual(more - cube["phy_edge_mm"]["value"], 20, places=6)

    def test_edges_are_bounded(self):
        table = self.with_bounds("shoreline_mm: 25")
        told = self.energy(table=table)["out_of_bounds"]
        self.assertEqual(len(told), 1)
        self.assertIn("of edge for its PHYs, over the 25 of shoreline_mm; so would 1 other.", told[0])
        out = self.succeeds(*RUN, "--energy", table, "--explain")
        self.assertEqual(out.count(told[0]), 2)  # in the report, and in the verdict
        # Around the die itself: PEs with little memory make a small die.
        told = self.energy("--set", "*.pe_tcm.size_mb=2", "--set", "*.pseudo_channels=32")["out_of_bounds"]
        self.assertTrue(told and " around " in told[0], told)

    def test_edges_are_metrics_and_stay_in_logs(self):
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "run.jsonl")
            report = json.loads(self.succeeds(*RUN, "--energy", "n7.yaml", "--format", "json", "--oplog", log))
            again = json.loads(self.succeeds("replay", "--oplog", log, "--format", "json"))
        self.assertEqual(again["energy"]["area"]["dies"], report["energy"]["area"]["dies"])
        shares = [100 * d["phy_edge_mm"]["value"] / d["shoreline_mm"] for d in report["energy"]["area"]["dies"]]
        self.assertAlmostEqual(report["figures"]["shoreline_pct"], max(shares), places=6)

    def test_bounds_are_told(self):
        with tempfile.TemporaryDirectory() as folder, open(topology("energy/n7.yaml"), encoding="utf-8") as file:
            table = os.path.join(folder, "mine.yaml")
            with open(table, "w", encoding="utf-8") as mine:
                mine.write(file.read().replace("die_mm2: 858", "die_mm2: 50\n  tdp_w: 0.5"))
            out = self.succeeds(*RUN, "--energy", table, "--explain")
            told = json.loads(self.succeeds(*RUN, "--energy", table, "--explain", "--format", "json"))
            with open(table, "a", encoding="utf-8") as mine:
                mine.write("  tpd_w: 3\n")
            self.refuses(*RUN, "--energy", table, saying=["mine.yaml:", "tpd_w", "tdp_w"], lines=1)
        self.assertIn("over the 50 of die_mm2", out)
        self.assertEqual(len(told["energy"]["out_of_bounds"]), 2)
        for sentence in told["energy"]["out_of_bounds"]:
            self.assertIn(sentence, told["insight"]["verdict"])
        self.assertEqual(self.energy()["out_of_bounds"], [])


if __name__ == "__main__":
    cli_support.main()
