#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do sweep, tune, serve, whatif and diff take a model as they take a run?"""
import csv
import io
import json
import pathlib
import subprocess

from cli_support import FolderCli, KERNBENCH, main, topology

SYSTEM = topology("six_sip_torus.yaml")
MODEL = str(pathlib.Path(SYSTEM).parent.parent / "examples" / "data" / "decoder.yaml")
FIGURES = "model_ns,ttft_ns,tpot_ns,tokens_s,mfu,hbm_share,sim_ns"
PLAN = """options: {model: MODEL, topology: SYSTEM, repeat: true}
over:
  phase: ["prefill:16", "decode:batch=2,context=8"]
  tp: [1, 2]
"""


class Models(FolderCli):
    def setUp(self):
        super().setUp()
        self.plan = pathlib.Path(self.path("plan.yaml"))
        self.plan.write_text(PLAN.replace("MODEL", json.dumps(MODEL)).replace("SYSTEM", json.dumps(SYSTEM)), encoding="utf-8")

    def rows(self, *words):
        return list(csv.DictReader(io.StringIO(self.succeeds(*words))))

    def report(self, *more):
        return json.loads(self.succeeds("model", MODEL, "--topology", SYSTEM, "--format", "json", *more))

    def test_rows_say_what_the_models_reports_say(self):
        rows = self.rows("sweep", "--plan", self.plan, "--metric", FIGURES)
        self.assertEqual([(r["phase"], r["tp"], r["exit"]) for r in rows],
                         [(p, t, "0") for p in ("prefill:16", "decode:batch=2,context=8") for t in "12"])
        for r in rows:
            whole = self.report("--phase", r["phase"], "--tp", r["tp"], "--repeat")
            phase = whole["phases"][0]
            self.assertEqual(float(r["model_ns"]), phase["time_ns"])
            self.assertGreater(float(r["model_ns"]), float(r["sim_ns"]))  # two layers, one of which is simulated
            for name in ("tokens_s", "mfu", "hbm_share"):
                self.assertEqual(float(r[name]), phase[name])
            self.assertEqual((r["ttft_ns"] == "", r["tpot_ns"] == ""), (phase["tpot_ns"] is not None, phase["ttft_ns"] is not None))

    def test_text_and_pages_show_shares_in_percent(self):
        page, plot, text = self.path("f.html"), self.path("f.svg"), "mfu %"
        sweep = ("sweep", "--plan", self.plan, "--store", self.path("s.sqlite"), "--metric", "mfu", "--pareto", "max:mfu,min:sim_ns",
                 "--report", page, "--svg", plot)
        shares = [float(r["mfu"]) for r in self.rows(*sweep)]
        lines = [line.split() for line in self.succeeds(*sweep, "--format", "text").splitlines()]
        self.assertEqual(lines[0][3:5], text.split())
        for shown, share in zip(lines[1:], shares):
            self.assertAlmostEqual(float(shown[3]), 100 * share, places=3)
        told = self.run_cli(*sweep[:-4], "--sort", "max:mfu")[2]
        self.assertRegex(told, rf"{text} {max(100 * s for s in shares):.3g}")
        for file in (page, plot):
            self.assertIn(text, pathlib.Path(file).read_text(encoding="utf-8"))
        self.assertIn(repr(100 * shares[0])[:8], pathlib.Path(page).read_text(encoding="utf-8"))

    def test_of_several_phases_there_is_the_time(self):
        r = self.report("--phase", "prefill:8", "--phase", "decode:batch=2,context=8")
        self.assertEqual(r["figures"]["model_ns"], sum(p["time_ns"] for p in r["phases"]))
        self.assertEqual((r["figures"]["ttft_ns"], r["figures"]["tpot_ns"]), (r["phases"][0]["ttft_ns"], r["phases"][1]["tpot_ns"]))
        self.assertNotIn("tokens_s", r["figures"])

    def test_a_store_keeps_them_and_diff_compares_it(self):
        store, other = self.path("s.sqlite"), self.path("other.sqlite")
        first = self.rows("sweep", "--plan", self.plan, "--store", store, "--metric", FIGURES)
        stored = self.rows("sweep", "--plan", self.plan, "--store", store, "--metric", FIGURES, "--stored")
        self.assertEqual(first, stored)
        self.plan.write_text(self.plan.read_text(encoding="utf-8").replace("repeat: true", "layers: 1"), encoding="utf-8")
        self.succeeds("sweep", "--plan", self.plan, "--store", other)
        self.assertIn("layers", self.succeeds("diff", store, other))

    def test_tuned_by_what_a_model_is_measured_by(self):
        status, _, told = self.run_cli("tune", "model", MODEL, "--topology", SYSTEM, "--phase", "prefill:16", "--repeat", "--budget", "1",
                               "--over", "set.*.macs_per_cycle=16,256", "--over", "dtype=f32,f16", "--sort", "max:tokens_s")
        self.assertEqual(status, 0, told)
        self.assertIn("best: set.*.macs_per_cycle=256 dtype=f16: tokens_s", told)

    def test_served(self):
        lines = [{"id": 1, "options": {"phase": "prefill:8"}}, {"id": 2, "options": {"kernel": "gemm"}},
                 {"id": 3, "options": {"phase": ["prefill:8", "decode:batch=1,context=4"], "tp": 2}}]
        done = subprocess.run([KERNBENCH, "serve", "--stdio", "--", "model", MODEL, "--topology", SYSTEM], check=True, text=True,
                              input="".join(json.dumps(x) + "\n" for x in lines), capture_output=True)
        answers = {a["id"]: a for a in map(json.loads, done.stdout.splitlines()[1:])}
        self.assertEqual({i: a["status"] for i, a in answers.items()}, {1: 0, 2: 2, 3: 0})
        self.assertIn("options.kernel: unknown option; legal: model, phase, tp", answers[2]["error"])
        self.assertEqual(answers[1]["metrics"]["ttft_ns"], self.report("--phase", "prefill:8")["phases"][0]["ttft_ns"])

    def test_what_if_a_part_were_faster(self):
        what = ("whatif", "--part", "hbm", "--format", "json")
        w = json.loads(self.succeeds(*what, "--", "model", MODEL, "--topology", SYSTEM, "--phase", "prefill:16"))
        self.assertEqual(w["sim_ns"], self.report("--phase", "prefill:16")["sim_ns"])
        self.assertLess(w["parts"][0]["faster_ns"], w["sim_ns"])

    def test_two_reports_differ_by_their_phases(self):
        names = []
        for i, phase in enumerate(("prefill:8", "prefill:16")):
            names.append(self.path(f"{i}.json"))
            pathlib.Path(names[-1]).write_text(json.dumps(self.report("--phase", phase)), encoding="utf-8")
        page = self.path("diff.html")
        out = self.succeeds("diff", *names, "--report", page)
        self.assertIn("prefill:16", out)
        shares = [json.loads(pathlib.Path(name).read_text(encoding="utf-8"))["figures"]["mfu"] for name in names]
        self.assertRegex(out, rf"mfu % +{100 * shares[0]:.6g} +{100 * shares[1]:.6g}\n")
        self.assertIn(f'"mfu %","a":"{100 * shares[0]:.6g}"', pathlib.Path(page).read_text(encoding="utf-8").replace(" ", "").replace("mfu%", "mfu %"))

    def test_wrong_ones_are_refused_in_a_line(self):
        self.plan.write_text("options: {model: nothing.json, topology: small}\nover: {phase: ['prefill:8']}\n", encoding="utf-8")
        self.refuses("sweep", "--plan", self.plan, "--store", self.path("t.sqlite"), saying=["nothing.json"], lines=1)
        self.refuses("serve", "--stdio", "--", "probe", saying=["expected run or model"], lines=1)
        self.refuses("whatif", "--", "probe", saying=["expected run or model"], lines=1)


if __name__ == "__main__":
    main()
