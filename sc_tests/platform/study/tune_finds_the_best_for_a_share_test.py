# SPDX-License-Identifier: Apache-2.0
"""Does `kernbench tune` find what the whole grid would have shown, for the share of it that it was allowed?"""
import contextlib
import csv
import io
import json
import os
import shlex
import sqlite3
import tempfile

import cli_support
from cli_support import topology

PES = 8  # of small.yaml
RUN = ("--topology", topology("small.yaml"), "--kernel", "gemm", "--param", "m=512", "--param", "n=256", "--param", "k=256",
       "--param", "dtype=f16")
GRID = ("--over", "param.tile_m=4,8,16,32", "--over", "param.tile_n=16,32,64,128", "--over", "param.tile_k=32,64,128")
POINTS = 48


class Tune(cli_support.Cli):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.store = os.path.join(folder.name, "s.sqlite")

    def tune(self, *arguments, status=0):
        """Rows and what was told."""
        found, out, err = self.run_cli("tune", "--format", "csv", *arguments)
        self.assertEqual(found, status, err)
        return list(csv.DictReader(io.StringIO(out))), err

    def test_the_best_of_a_grid_is_found_for_a_share_of_it(self):
        grid = [float(r["sim_ns"]) for r in csv.DictReader(io.StringIO(self.succeeds("sweep", *GRID, "--", "run", *RUN)))]
        self.assertEqual(len(grid), POINTS)
        self.assertGreater(sorted(grid)[POINTS // 2], 1.5 * min(grid), "a grid where any point would do")
        ratios = {}
        for budget, text in ((0.25, "25%"), (0.1, "0.1")):
            for seed in range(1, 6):
                rows, err = self.tune("--seed", seed, "--budget", text, "--store", self.store, *GRID, *RUN)
                rungs = [[r for r in rows if r["rung"] == rung] for rung in ("1", "2")]
                self.assertEqual([{r["pes"] for r in rung} for rung in rungs], [{"1"}, {str(PES)}])
                self.assertLessEqual(sum(int(r["pes"]) for r in rows) / PES, budget * POINTS)
                times = [[float(r["sim_ns"]) for r in rung] for rung in rungs]
                self.assertEqual(times, [sorted(t) for t in times])
                self.assertIn(f"sim_ns {round(float(rungs[1][0]['sim_ns']), 3)}\n", err)
                ratios.setdefault(budget, []).append(min(grid) / times[1][0])
                if budget == 0.25:
                    self.assertEqual((len(rungs[0]), len(rungs[1])), (POINTS, 4))
        self.assertGreaterEqual(min(ratios[0.25]), 0.95)
        self.assertEqual(len(set(ratios[0.25])), 1, "all points are tried: no seed matters")
        self.assertGreaterEqual(sorted(ratios[0.1])[2], 0.9)

    def test_the_best_comes_with_the_command_that_repeats_it(self):
        rows, err = self.tune("--budget", 0.25, *GRID, *RUN)
        best = next(r for r in rows if r["rung"] == "2")
        command = next(line for line in err.splitlines() if line.startswith("kernbench: best: kernbench run"))
        words = shlex.split(command.split("best: kernbench ")[1])
        self.assertEqual(json.loads(self.succeeds(*words, "--format", "json"))["sim_ns"], float(best["sim_ns"]))

    def test_tables_are_the_same_for_any_jobs_and_stores_keep_the_points(self):
        arguments = ("--budget", 0.1, "--seed", 3, *GRID, *RUN)
        tables = [self.tune(*more, *arguments)[0] for more in (("--jobs", 1), ("--jobs", 3), ("--store", self.store))]
        tables.append(self.tune("--store", self.store, *arguments)[0])
        self.assertTrue(all(t == tables[0] for t in tables))
        with contextlib.closing(sqlite3.connect(self.store)) as db:
            self.assertEqual(db.execute("select count(*), max(starts) from points").fetchone(), (len(tables[0]), 1))

    def test_a_plan_file_is_tuned_as_well(self):
        plan = self.store + ".yaml"
        with open(plan, "w") as f:
            f.write(f"options: {{topology: {topology('small.yaml')}, kernel: softmax}}\n"
                    "over: {param.cols: [64, 512, 1024], links: [ideal, flit]}\nwhere: [param.cols < 1000]\n")
        rows, err = self.tune("--plan", plan, "--budget", 0.9)
        self.assertEqual([(r["rung"], r["pes"]) for r in rows], [("1", "1")] * 4 + [("2", "8")])
        self.assertEqual((rows[-1]["param.cols"], rows[-1]["links"]), ("64", "ideal"))

    MACHINES = ("--over", "param.tile_m=4,8,16,32", "--over", "set.*.macs_per_cycle=1024,4096,16384", *RUN, "--energy", "n7.yaml")

    @staticmethod
    def front_of(rows, *metrics):
        values = [[float(r[m]) for m in metrics] for r in rows]
        return {tuple(v) for v in values if not any(w != v and all(a <= b for a, b in zip(w, v)) for w in values)}

    def test_a_front_of_a_grid_is_found_for_a_share_of_it(self):
        grid, machine = self.MACHINES[:4], self.MACHINES[4:]
        swept = csv.DictReader(io.StringIO(self.succeeds("sweep", *grid, "--metric", "sim_ns,cost", "--", "run", *machine)))
        front = self.front_of(list(swept), "sim_ns", "cost")
        self.assertEqual(len(front), 3)
        rows, err = self.tune("--budget", 0.6, "--pareto", "min:sim_ns,min:cost", *self.MACHINES)
        whole = [r for r in rows if r["pes"] == str(PES)]
        self.assertLess(len(whole), 12)
        self.assertEqual(self.front_of(whole, "sim_ns", "cost"), front)
        told = [line for line in err.splitlines() if line.startswith("kernbench: front: param")]
        self.assertEqual(len(told), len(front))

    def test_weights_make_one_figure_of_several(self):
        best = {}
        for weights in ("1,1", "0.01,1", "1,0.01"):
            rows, err = self.tune("--budget", 1, "--sort", "min:sim_ns,max:tflops_per_w", "--weights", weights, *self.MACHINES)
            powers = [float(w) for w in weights.split(",")]
            scores = [float(r["sim_ns"]) ** powers[0] / float(r["tflops_per_w"]) ** powers[1] for r in rows]
            self.assertEqual(len(rows), 12)
            self.assertEqual(scores, sorted(scores))
            self.assertIn("no smaller machine determines tflops_per_w", err)
            best[weights] = rows[0]
        self.assertEqual(float(best["0.01,1"]["tflops_per_w"]), max(float(r["tflops_per_w"]) for r in rows))
        self.assertEqual(float(best["1,0.01"]["sim_ns"]), min(float(r["sim_ns"]) for r in rows))

    def test_a_figure_of_explained_runs_is_tuned_as_well(self):
        rows, err = self.tune("--budget", 1, "--sort", "max:hbm_peak_pct", "--over", "param.tile_m=4,32", *RUN)
        shares = [float(r["hbm_peak_pct"]) for r in rows]
        self.assertEqual((len(shares), shares), (2, sorted(shares, reverse=True)))

    def test_a_figure_that_no_point_has_is_told(self):
        self.refuses("tune", "--sort", "cost", "--over", "param.tile_m=4,8", *RUN, lines=1,
                     saying=("tune: no point has a number for cost: price of the machine",))

    def test_what_cannot_be_made_smaller_is_sampled_whole(self):
        samples = set()
        for seed in range(1, 4):
            for command in (("--kernel", "attention"), ("--kernel", "gemm", "--pes", "leaders")):
                rows, err = self.tune("--seed", seed, "--budget", 0.5, "--over", "links=ideal,cut_through,flit", "--over",
                                      "set.edge:mesh.bw_gbs=64,256", "--topology", topology("small.yaml"), *command)
                self.assertEqual([(r["rung"], r["pes"], r["exit"]) for r in rows], [("1", "", "0")] * 3)
                self.assertIn("no smaller machine represents all points", err)
                samples.add(tuple(sorted((r["links"], r["set.edge:mesh.bw_gbs"]) for r in rows)))
        self.assertGreater(len(samples), 1)

    def test_kernels_take_as_long_on_a_smaller_machine_as_they_declare(self):
        declared = {k["name"]: p for k in json.loads(self.succeeds("list", "kernels", "--format", "json"))
                    for p in k["params"] if p.get("split_over_pes")}
        self.assertIn("gemm", declared)
        self.assertGreater(len(declared), 4)
        for kernel, p in declared.items():
            size = max(int(p["default"]), 64 * PES)
            whole, one = (json.loads(self.succeeds("run", "--kernel", kernel, "--topology", topology("small.yaml"), "--format",
                                                   "json", "--param", f"{p['name']}={n}", "--pes", pes))["sim_ns"]
                          for n, pes in ((size, "all"), (size // PES, "sip0.cube0.pe0")))
            self.assertAlmostEqual(one / whole, 1, delta=0.2, msg=kernel)

    def test_points_that_fail_are_told(self):
        rows, err = self.tune("--over", "param.tile_n=32,-1", *RUN)
        self.assertEqual([(r["rung"], r["param.tile_n"], r["exit"]) for r in rows], [("1", "32", "0"), ("1", "-1", "2"),
                                                                                  ("2", "32", "0")])
        self.assertIn("rung 1: 1 of 2 points failed; the first: param.tile_n=-1", err)
        rows, err = self.tune("--over", "param.tile_n=-1,0", *RUN, status=1)
        self.assertEqual({r["exit"] for r in rows}, {"2"})
        self.assertIn("rung 1: 2 of 2 points failed; the first: param.tile_n=-1", err)
        self.assertIn("no point completed", err)

    def test_wrong_requests_are_refused_in_one_line(self):
        for arguments, word in (((), "--over"), (GRID, "the options of run"), ((*GRID, "--budget", "0", *RUN), "--budget"),
                                ((*GRID, "--budget", "1.5", *RUN), "--budget"),
                                ((*GRID, "--budget", "150%", *RUN), "--budget"), ((*GRID, "--budget", "%", *RUN), "--budget"),
                                ((*GRID, "--budget", "1%%", *RUN), "--budget"), ((*GRID, "--seed", "x", *RUN), "--seed"),
                                (("--plan", "none.yaml"), "none.yaml"), (("--plan", "none.yaml", *RUN), "--plan"),
                                ((*GRID, "--where", "nothing = 1", *RUN), "--where"),
                                ((*GRID, "--sort", "sim_nss", *RUN), "sim_nss"), ((*GRID, "--sort", "wall_s", *RUN), "wall_s"),
                                ((*GRID, "--sort", "max:bound", *RUN), "bound"), ((*GRID, "--pareto", "verified,sim_ns", *RUN), "verified"),
                                ((*GRID, "--sort", "sim_ns,cost", *RUN), "--weights"),
                                ((*GRID, "--sort", "sim_ns,cost", "--weights", "1", *RUN), "--weights"),
                                ((*GRID, "--sort", "sim_ns,cost", "--weights", "1,0", *RUN), "--weights"),
                                ((*GRID, "--weights", "1", *RUN), "--sort"), ((*GRID, "--pareto", "cost", *RUN), "--pareto"),
                                ((*GRID, "--pareto", "sim_ns,cost", "--sort", "cost", *RUN), "--pareto"),
                                ((*GRID, "--store", topology("small.yaml"), *RUN), "small.yaml")):
            self.refuses("tune", *arguments, saying=[word], lines=1)


if __name__ == "__main__":
    cli_support.main()
