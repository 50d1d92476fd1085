# SPDX-License-Identifier: Apache-2.0
"""Do sweeps keep their points: none simulated twice, the same table however they came about, failures and stops told?"""
import contextlib
import csv
import io
import json
import os
import shlex
import signal
import sqlite3
import subprocess
import tempfile
import time

import numpy as np

import cli_support
import onnx_file as onnx
from cli_support import KERNBENCH, topology
from small_plan import PLAN, POINTS

LONG = ("run", "--topology", topology("small.yaml"), "--kernel", "gemm", *(w for p in (
    "m=2048", "n=2048", "k=2048", "tile_m=8", "tile_n=8", "tile_k=8") for w in ("--param", p)))


class Stores(cli_support.Cli):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.plan = self.file("plan.yaml")
        with open(self.plan, "w") as f:
            f.write(PLAN)

    def file(self, name):
        return os.path.join(self.folder, name)

    def sweep(self, store, *more, simulated, status=0):
        found, out, err = self.run_cli("sweep", "--plan", self.plan, "--store", self.file(store), *more)
        self.assertEqual(found, status, err)
        self.assertIn(f": {simulated} simulated", err)
        return out

    def points(self, store, what="*"):
        with contextlib.closing(sqlite3.connect(f"file:{self.file(store)}?mode=ro", uri=True)) as db:
            return db.execute(f"select {what} from points order by key").fetchall()

    def test_tables_are_the_same_however_they_came_about(self):
        whole = self.succeeds("sweep", "--plan", self.plan, "--jobs", 1)
        self.assertEqual(len(whole.splitlines()), 1 + POINTS)
        self.assertEqual(self.sweep("a", "--jobs", 3, simulated=POINTS), whole)
        self.assertEqual(self.sweep("a", simulated=0), whole)
        for i in (3, 1, 4, 2):
            self.sweep(f"shard{i}", "--shard", f"{i}/4", simulated=len(range(i - 1, POINTS, 4)))
        self.succeeds("sweep", "merge", self.file("all"), *(self.file(f"shard{i}") for i in (2, 4, 1, 3)))
        self.assertEqual(self.sweep("all", "--stored", simulated=0), whole)
        self.assertEqual(self.points("all", "key, command, status, metrics"),
                         self.points("a", "key, command, status, metrics"))

    def test_tensors_that_are_made_are_no_files(self):
        """--tensor x=zeros:f32[4] beside --ttir: in the key is the word."""
        kernel = self.file("k.ttir")
        with open(kernel, "w", encoding="utf-8") as f:
            f.write("module {\ntt.func public @k(%x: !tt.ptr<f32>) {\ntt.return\n}\n}\n")
        def rows(of, *more):
            found, out, err = self.run_cli("sweep", "--over", "seed=1,2", "--store", self.file("made"), *more, "--", "run", "--ttir", kernel,
                                           "--topology", topology("small.yaml"), "--grid", 1, "--tensor", f"x={of}")
            self.assertEqual(found, 0, err)
            return out, err
        self.assertIn(": 2 simulated", rows("zeros:f32[4]")[1])
        self.assertIn(": 0 simulated", rows("zeros:f32[4]")[1])
        self.assertIn(": 2 simulated", rows("zeros:f32[8]")[1])
        self.assertIn("zeros:f32[4]", rows("zeros:f32[4]", "--emit", "parallel")[0])

    def test_folders_are_what_is_in_them(self):
        """--test-data of an ONNX graph: a file that changes makes another point."""
        os.mkdir(self.file("data"))
        x = onnx.tensor(np.float32([1, -2]))
        def write(y):
            for name, of in (("input_0", x), ("output_0", onnx.tensor(np.float32(y)))):
                with open(os.path.join(self.file("data"), name + ".pb"), "wb") as f:
                    f.write(of)
        with open(self.file("m.onnx"), "wb") as f:
            f.write(onnx.model([onnx.node("Neg", ["x"], ["y"])], [("x", "float32", [2])], [("y", "float32", [2])]))
        def err(status=0):
            found, _, told = self.run_cli("sweep", "--over", "seed=1,2", "--store", self.file("s"), "--", "model", self.file("m.onnx"),
                                          "--topology", topology("small.yaml"), "--test-data", self.file("data"))
            self.assertEqual(found, status, told)
            return told
        write([-1, 2])
        self.assertIn(": 2 simulated", err())
        self.assertIn(": 0 simulated", err())
        write([-1, 3])
        self.assertIn(": 2 simulated", err(status=1))

    def test_several_processes_share_the_points_of_one_store(self):
        sweeps = [subprocess.Popen([KERNBENCH, "sweep", "--plan", self.plan, "--store", self.file("s"), "--jobs", "2"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(4)]
        told = [s.communicate(timeout=120) for s in sweeps]
        self.assertEqual([s.returncode for s in sweeps], [0] * 4, told)
        self.assertEqual(len({out for out, _ in told}), 1)
        self.assertEqual(self.points("s", "starts"), [(1,)] * POINTS)

    def test_a_wider_plan_simulates_what_is_new_alone(self):
        self.sweep("s", simulated=POINTS)
        with open(self.plan, "w") as f:
            f.write(PLAN.replace("to: 96", "to: 128"))
        self.sweep("s", simulated=2)  # n = 128 with m = 32, for both links

    def test_commands_of_rows_repeat_them(self):
        self.sweep("s", simulated=POINTS)
        command, metrics = self.points("s", "command, metrics")[0]
        words = shlex.split(command)
        self.assertEqual(words[0], "kernbench")
        report = self.file("r.html")
        alone = json.loads(self.succeeds(*words[1:], "--format", "json", "--report", report))
        self.assertEqual(json.loads(metrics)["sim_ns"], alone["sim_ns"])
        self.assertTrue(os.path.getsize(report))

    def test_failures_are_rows(self):
        arguments = ("sweep", "--over", "param.n=32,-1", "--metric", "sim_ns,error", "--store", self.file("s"), "--", "run",
                     "--topology", topology("small.yaml"), "--kernel", "gemm")
        for simulated in (2, 0):
            status, out, err = self.run_cli(*arguments)
            self.assertEqual(status, 2)
            self.assertIn(f"2 points: {simulated} simulated", err)
            rows = list(csv.DictReader(io.StringIO(out)))
            self.assertEqual([r["exit"] for r in rows], ["0", "2"])
            self.assertIn("n", rows[1]["error"])
            self.assertIn(rows[1]["error"], err)

    def test_points_that_take_too_long_are_ended_and_tried_again_next_time(self):
        arguments = ("sweep", "--over", "seed=1", "--timeout", "0.3", "--retries", "1", "--store", self.file("s"), "--", *LONG)
        for starts in (2, 4):
            status, out, err = self.run_cli(*arguments)
            self.assertEqual((status, out.splitlines()[1][:6]), (1, "1,124,"), err)
            self.assertIn("took longer than 0.3 s", err)
            self.assertEqual(self.points("s", "status, final, starts"), [(124, 0, starts)])

    def test_an_interrupt_finishes_what_is_begun_and_says_how_to_go_on(self):
        with open(self.plan, "w") as f:
            f.write(PLAN.split("where:")[0].replace("[32, 64]", "{from: 32, to: 8192, step: 32}"))
        command = [KERNBENCH, "sweep", "--plan", self.plan, "--store", self.file("s"), "--jobs", "2"]
        sweep = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with contextlib.suppress(sqlite3.OperationalError):  # not created yet
                if len(self.points("s")) > 5:
                    break
            time.sleep(0.02)
        os.killpg(sweep.pid, signal.SIGINT)  # like a terminal: also to the running points
        out, err = sweep.communicate(timeout=60)
        self.assertEqual(sweep.returncode, 130, err)
        self.assertRegex(err, r"finishing \d+ running points")
        self.assertRegex(err, r"kernbench: stopped by SIGINT: \d+ of 1536 points are in .*s; the same command continues from there")
        self.assertEqual(self.points("s", "distinct status, starts"), [(0, 1)])

    def test_stores_of_other_versions_do_not_mix(self):
        self.sweep("s", simulated=POINTS)
        with contextlib.closing(sqlite3.connect(self.file("s"))) as db, db:
            db.execute("update store set kernbench = '0.0.1'")
        version = self.succeeds("--version").strip()
        self.refuses("sweep", "--plan", self.plan, "--store", self.file("s"), saying=["'0.0.1'", version], lines=1)
        self.refuses("sweep", "merge", self.file("t"), self.file("s"), saying=["'0.0.1'", version], lines=1)

    def test_wrong_requests_are_refused_in_one_line(self):
        store = ("--store", self.file("s"))
        run = ("--", "run", "--topology", topology("small.yaml"), "--kernel", "gemm")
        over = ("--over", "links=ideal")
        for arguments, word in (((), "--over"), (over, "run, model or probe"), (("--plan", self.plan, *over), "--plan"),
                                (("--plan", self.file("none.yaml")), "none.yaml"),
                                ((*over, "--shard", "0/4", *run), "--shard"), ((*over, "--shard", "5/4", *run), "--shard"),
                                ((*over, "--shard", "1", *run), "--shard"), ((*over, "--metric", "time", *run), "sim_ns"),
                                ((*over, "--sort", "sim_ns,gbs", *run), "--sort"),
                                ((*over, "--pareto", "sim_ns", *run), "--pareto"), ((*over, "--svg", "x", *run), "--pareto"),
                                ((*over, "--stored", *run), "--store"), ((*over, "--metric", "key", *run), "--store"),
                                ((*over, "--where", "nothing = 1", *run), "--where"),
                                ((*over, "--where", "links = 'flit'", *run), "no combination"),
                                ((*over, *store, *run, "--oplog", "l.jsonl"), "--oplog"),
                                ((*over, *store, "--", "probe", "--topology", topology("small.yaml")), "--store"),
                                ((*over, "--metric", "tflops", "--", "probe", "--topology", "t.yaml"), "probe"),
                                ((*over, "--resume", *run), "no --store"),
                                ((*over, *store, "--resume", *run), "no file"),
                                ((*over, "--store", self.plan, *run), "plan.yaml"),
                                ((*over, *store, "--", "run", "--topology", self.file("no.yaml")), "no.yaml")):
            self.refuses("sweep", *arguments, saying=[word], lines=1)

    def test_bad_plans_are_refused_by_line(self):
        with open(self.plan, "w") as f:
            f.write(PLAN.replace("kernel: gemm", "kernal: gemm").replace("step", "stop").replace("param.m *", "param.z *"))
        err = self.refuses("sweep", "--plan", self.plan)
        lines = PLAN.split("\n")
        for word, at in (("options.kernal", "kernel"), ("over.param.n", "param.n:"), ("where[0]", "- param.m")):
            line = 1 + next(i for i, text in enumerate(lines) if at in text)
            self.assertIn(f"{self.plan}:{line}: {word}", err)


class Tables(cli_support.Cli):
    RUN = ("--", "run", "--topology", topology("small.yaml"), "--kernel", "gemm", "--verify")
    OVER = ("--over", "links=ideal,flit", "--over", "param.n=32,64,128")

    def rows(self, *arguments):
        return list(csv.DictReader(io.StringIO(self.succeeds("sweep", *self.OVER, *arguments, *self.RUN))))

    def test_metrics_are_what_the_run_alone_says(self):
        rows = self.rows("--metric", "tflops,gemm_peak_pct,bound,hbm_bytes", "--metric", "bytes_read,verified")
        self.assertEqual(list(rows[0]), ["links", "param.n", "exit", "tflops", "gemm_peak_pct", "bound", "hbm_bytes",
                                         "bytes_read", "verified"])
        for r in rows:
            alone = json.loads(self.succeeds(*self.RUN[1:], "--links", r["links"], "--param", "n=" + r["param.n"], "--explain",
                                             "--format", "json"))
            self.assertEqual(r["bound"], alone["insight"]["bound"])
            self.assertEqual(float(r["hbm_bytes"]), alone["insight"]["roofline"]["hbm_bytes"])
            self.assertAlmostEqual(float(r["gemm_peak_pct"]), 100 * alone["gemm_peak_share"], 9)
            self.assertAlmostEqual(float(r["tflops"]), sum(e["flops"] for e in alone["engines"]) / alone["sim_ns"] / 1e3, 9)
            self.assertEqual(int(r["bytes_read"]), sum(e["bytes"] for e in alone["engines"] if e["id"].endswith(".rd")))

    def test_sorted_rows_and_the_best_one(self):
        by_plan = self.rows()
        status, out, err = self.run_cli("sweep", *self.OVER, "--sort", "max:sim_ns", *self.RUN)
        rows = list(csv.DictReader(io.StringIO(out)))
        self.assertEqual(rows, sorted(by_plan, key=lambda r: -float(r["sim_ns"])))
        self.assertEqual((status, err), (0, f"kernbench: best: links={rows[0]['links']} param.n={rows[0]['param.n']}: sim_ns "
                                            f"{float(rows[0]['sim_ns']):.3f}".rstrip("0").rstrip(".") + "\n"))

    def test_a_front_and_its_picture(self):
        with tempfile.TemporaryDirectory() as folder:
            svg = os.path.join(folder, "p.svg")
            front = self.rows("--pareto", "min:sim_ns,max:tflops", "--svg", svg)
            with open(svg) as f:
                picture = f.read()
        every = self.rows("--metric", "sim_ns,verified,tflops")

        def beats(a, b):
            a, b = ((float(r["sim_ns"]), -float(r["tflops"])) for r in (a, b))
            return a != b and a[0] <= b[0] and a[1] <= b[1]
        expected = [r for r in every if not any(beats(other, r) for other in every)]
        self.assertEqual(front, sorted(expected, key=lambda r: float(r["sim_ns"])))
        self.assertLess(len(front), len(every))
        self.assertEqual(picture.count("<circle"), len(every))
        self.assertIn(f"{len(every)} points, {len(front)} of them on the Pareto front", picture)

    def test_a_table_as_a_database(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "t.sqlite")
            rows = self.rows("--pareto", "min:sim_ns,max:tflops", "--metric", "verified,sim_ns,bound,energy_j",
                             "--sqlite", file)
            with contextlib.closing(sqlite3.connect(file)) as db:
                columns = [c[1:3] for c in db.execute("pragma table_info(sweep)")]
                found = db.execute("select * from sweep order by rowid").fetchall()
        self.assertEqual(columns, [("links", "TEXT"), ("param.n", "INTEGER"), ("exit", "INTEGER"),
                                   ("verified", "INTEGER"), ("sim_ns", "REAL"), ("bound", "TEXT"), ("energy_j", ""),
                                   ("tflops", "REAL")])
        self.assertEqual(found, [(r["links"], int(r["param.n"]), 0, 1, float(r["sim_ns"]), r["bound"], None,
                                  float(r["tflops"])) for r in rows])

    def test_columns_that_are_one_to_sqlite_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            self.refuses("sweep", "--over", "param.n=32", "--over", "param.N=32", "--sqlite", os.path.join(folder, "t"),
                         *self.RUN, saying=["--sqlite", "'param.n'", "'param.N'"], lines=1)
            self.assertEqual(os.listdir(folder), [])

    def test_bytes_by_class_are_those_of_the_run(self):
        run = ("run", "--topology", topology("default.yaml"), "--kernel", "gemm", "--param", "m=256")
        lists = {"mesh": "links", "ucie": "links", "pcie": "links", "sram": "memories", "hbm": "memories"}
        row, = csv.DictReader(io.StringIO(self.succeeds(
            "sweep", "--over", "links=flit", "--metric", ",".join(n + "_bytes" for n in ("tcm", *lists)), "--", *run)))
        insight = json.loads(self.succeeds(*run, "--links", "flit", "--explain", "--format", "json"))["insight"]
        for name, rows in lists.items():
            expected = sum(r["bytes"] for r in insight[rows] if r["resource"] == name)
            self.assertEqual(float(row[name + "_bytes"]), expected, name)
        self.assertGreater(int(row["tcm_bytes"]), 0)
        self.assertGreater(int(row["mesh_bytes"]), 0)

    def test_text_has_a_line_a_row(self):
        lines = self.succeeds("sweep", *self.OVER, "--format", "text", *self.RUN).splitlines()
        self.assertEqual(lines[0].split(), ["links", "param.n", "exit", "sim_ns", "verified"])
        self.assertEqual(len(lines), 7)

    def test_all_metrics_are_listed(self):
        self.assertIn("hbm_peak_pct", self.succeeds("sweep", "--list-metrics"))


if __name__ == "__main__":
    cli_support.main()
