# SPDX-License-Identifier: Apache-2.0
"""kernbench probe as a user sees it: the seed's table, hops, sweep, checks and saturation, in text, csv and json."""
import csv
import io
import json
import os
import tempfile

from cli_support import Cli, main, topology

COLUMNS = ["case", "target", "actual_ns", "overhead_ns", "drain_ns", "wire_ns", "queueing_ns", "overhead_pct",
           "drain_pct", "eff_bw_gbs", "bottleneck_bw_gbs", "util_pct"]

# The near slice, c.h0, is the slow one.
ODD = """
nodes:
- {id: c.pe0.pe_dma, kind: pe_dma}
- {id: c.r0, kind: router, attrs: {overhead_ns: 50}}
- {id: c.r1, kind: router}
- {id: c.h0, kind: hbm_ctrl}
- {id: c.h1, kind: hbm_ctrl}
links:
- {from: c.pe0.pe_dma, to: c.r0, distance_mm: 1, bw_gbs: 64}
- {from: c.pe0.pe_dma, to: c.r1, distance_mm: 1, bw_gbs: 64}
- {from: c.r0, to: c.h0, distance_mm: 1, bw_gbs: 64}
- {from: c.r1, to: c.h1, distance_mm: 5, bw_gbs: 64}
memories:
- {node: c.h0, space: hbm, base: 0, size: 65536}
- {node: c.h1, space: hbm, base: 65536, size: 16384}
"""


class Probe(Cli):
    def table(self, *arguments):
        return list(csv.DictReader(io.StringIO(self.succeeds("probe", *arguments, "--format", "csv"))))

    def cases(self, *arguments):
        return json.loads(self.succeeds("probe", *arguments, "--format", "json"))["cases"]

    def odd(self):
        file = tempfile.NamedTemporaryFile("w", suffix=".yaml", delete=False)
        self.addCleanup(os.unlink, file.name)
        with file:
            file.write(ODD)
        return file.name

    def test_the_rows_of_the_latency_model_seed(self):
        out = self.succeeds("probe", "--topology", topology("latency_model.yaml"), "--bytes", 4096)
        for row in (["pe-local-hbm", "18.085", "2.000", "16.000", "0.085", "0.000", "11.1", "88.5", "226.49", "256.00",
                     "88.5"],
                    ["pe-cross-half-hbm", "37.145", "5.000", "32.000", "0.145", "0.000", "13.5", "86.1", "110.27",
                     "128.00", "86.1"]):
            lines = [line.split() for line in out.splitlines() if line.startswith(row[0] + " ")]
            self.assertEqual(len(lines), 1)
            self.assertEqual(lines[0][:1] + lines[0][4:], row)
        self.assertRegex(out.splitlines()[-1], r"^checks: \d+ passed \(formula, parts, hops, read-write, distance, ")

    def test_columns_keep_their_names_and_order(self):
        out = self.succeeds("probe", "--topology", topology("small.yaml"), "--format", "csv")
        self.assertEqual(out.splitlines()[0].split(","), COLUMNS + ["store_forward_ns"])
        rows = self.cases("--topology", topology("small.yaml"))
        self.assertEqual([k for k in rows[0] if k in COLUMNS], COLUMNS)
        for row in rows:
            self.assertTrue(all(c["passed"] for c in row["checks"]))
            self.assertIn("formula", [c["name"] for c in row["checks"]])

    def test_csv_and_json_agree_and_parts_sum_in_every_mode(self):
        for links in ("ideal", "cut_through", "flit"):
            arguments = ("--topology", topology("default.yaml"), "--links", links)
            rows = self.cases(*arguments)
            table = self.table(*arguments)
            self.assertEqual([r["case"] for r in rows], [r["case"] for r in table])
            self.assertEqual(len(rows), 16)
            for row, line in zip(rows, table):
                for name in COLUMNS[2:]:
                    self.assertEqual(row[name], float(line[name]))
                parts = sum(row[k] for k in ("overhead_ns", "drain_ns", "wire_ns", "queueing_ns", "store_forward_ns"))
                self.assertAlmostEqual(parts, row["actual_ns"], delta=1e-5)
                self.assertAlmostEqual(row["eff_bw_gbs"], row["bytes"] / row["actual_ns"], delta=1e-5)
                self.assertLessEqual(row["util_pct"], 100)

    def test_a_sweep_marks_the_smallest_size_at_90_percent(self):
        rows = self.table("--topology", topology("latency_model.yaml"), "--sweep", "--case", "pe-local-hbm")
        self.assertEqual([int(r["bytes"]) for r in rows], [4096 << i for i in range(9)])
        for row in rows:  # 2 ns of overhead, 0.085 ns of wire, 256 GB/s
            ns = 2.085 + int(row["bytes"]) / 256
            self.assertAlmostEqual(float(row["actual_ns"]), ns, delta=1e-5)
            self.assertAlmostEqual(float(row["util_pct"]), 100 * int(row["bytes"]) / 256 / ns, delta=1e-4)
        self.assertEqual([r["bytes"] for r in rows if r["first_at_90_pct"] == "1"], ["8192"])
        case, = self.cases("--topology", topology("latency_model.yaml"), "--sweep", "--case", "pe-local-hbm")
        self.assertEqual(case["bytes_at_90_pct"], 8192)
        self.assertEqual(len(case["sweep"]), 9)

    def test_a_sweep_stays_within_small_memories(self):
        rows = self.table("--topology", self.odd(), "--bytes", 4096, "--sweep")
        sizes = [int(r["bytes"]) for r in rows if r["case"] == "pe-cross-half-hbm"]
        self.assertEqual(sizes, [4096, 8192, 16384])

    def test_cases_larger_than_their_memory_are_left_out_and_named(self):
        status, out, err = self.run_cli("probe", "--topology", self.odd())
        self.assertEqual(status, 0)
        self.assertNotIn("pe-cross-half-hbm", out)
        self.assertEqual(err.count("skipped"), 2)
        self.refuses("probe", "--topology", self.odd(), "--case", "pe-cross-half-hbm",
                     saying=["pe-cross-half-hbm", "32768"], lines=1)

    def test_hops_add_up(self):
        for links in ("ideal", "cut_through", "flit"):
            rows = self.cases("--topology", topology("small.yaml"), "--links", links, "--hops")
            for row in rows:
                total = 0
                for hop in row["hops"]:
                    self.assertAlmostEqual(hop["arrive_ns"], total, delta=1e-4)
                    total = hop["arrive_ns"] + sum(hop.get(part + "_ns", 0) for part in (
                        "overhead", "store_forward", "drain", "transfer", "wire"))
                self.assertAlmostEqual(total, row["actual_ns"], delta=1e-4)
                self.assertEqual(total > 0 and row["hops"][-1]["response"], links == "flit")
        text = self.succeeds("probe", "--topology", topology("small.yaml"), "--hops", "--case", "h2d-write")
        self.assertIn("<- bottleneck", text)
        self.assertRegex(text, r"drain \d+\.\d{3} ns, total \d+\.\d{3} ns")

    def test_an_odd_topology_is_told_of_and_fails_when_checked(self):
        status, out, err = self.run_cli("probe", "--topology", self.odd(), "--bytes", 4096)
        self.assertEqual((status, err), (0, ""))
        self.assertRegex(out, r"checks: \d+ passed, 2 failed")
        status, out, err = self.run_cli("probe", "--topology", self.odd(), "--bytes", 4096, "--check")
        self.assertEqual(status, 1)
        self.assertEqual(len(err.splitlines()), 2)
        self.assertIn("check distance failed: pe-cross-half-hbm:", err.splitlines()[0])
        self.assertIn("FAIL  distance, pe-cross-half-hbm: ", out)
        self.assertEqual(self.run_cli("probe", "--topology", topology("default.yaml"), "--check")[0], 0)

    def test_saturation_prints_one_row_a_scenario(self):
        rows = self.table("--topology", topology("one_cube.yaml"), "--links", "flit", "--saturate")
        self.assertEqual([r["scenario"] for r in rows], ["hot-1", "hot-2", "hot-4", "hot-8", "own-slices"])
        for row in rows:
            self.assertEqual(row["bytes"], "16384")
            self.assertLessEqual(float(row["aggregate_gbs"]), float(row["peak_gbs"]))
        scenarios = self.cases("--topology", topology("one_cube.yaml"), "--links", "flit", "--saturate")
        self.assertEqual([len(s["shares_gbs"]) for s in scenarios], [1, 2, 4, 8, 8])
        self.assertIn("fairness", [c["name"] for c in scenarios[3]["checks"]])

    def test_faults_are_told(self):
        self.refuses("probe", "--topology", topology("small.yaml"), "--case", "pe-locl-hbm",
                     saying=["pe-locl-hbm", "pe-local-hbm", "h2d-write"], lines=1)
        self.refuses("probe", "--topology", topology("small.yaml"), "--case", "pe-local-hbm", "--saturate", lines=1)
        self.refuses("probe", "--topology", topology("small.yaml"), "--hops", "--sweep", "--format", "csv", lines=1)
        self.refuses("probe", "--topology", topology("small.yaml"), "--bytes", 0, lines=1)
        self.refuses("probe", "--topology", topology("small.yaml"), "--saturate", "--bytes", 1 << 40, lines=1)


if __name__ == "__main__":
    main()
