"""Area, static power and price follow what a machine has; they are metrics of sweeps and fronts; bounds are told."""
import json
import os
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
