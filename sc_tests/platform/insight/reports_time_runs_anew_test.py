# SPDX-License-Identifier: Apache-2.0
"""Do the sliders of a run's report say what --predict says on the command line, digit by digit, in a browser without a
network? Needs Chromium, and a build with a compiler for WebAssembly."""
import json
import os
import random
import sys

import cli_support
from browser import CHROMIUM, browser_of
from cli_support import topology

RUNS = (("small.yaml", "gemm", "--links", "flit"), ("small.yaml", "attention"), ("small.yaml", "gemm_2d"), ("default.yaml", "softmax"),
        ("six_sip_torus.yaml", "all_reduce"))
MOVE = """(values => { for (const s of document.querySelectorAll('#what-if-parts input')) {
    if (!(s.dataset.part in values)) continue;
    s.value = values[s.dataset.part];
    s.dispatchEvent(new Event('input')); } const v = document.getElementById('what-if-verdict');
  return [v.dataset.predict, v.dataset.ns, v.dataset.doubt, v.textContent]; })(%s)"""


class Sliders(cli_support.FolderCli):
    settings, seed = 40, 3

    def run_with(self, run, *more):
        system, kernel, *options = run
        return self.succeeds("run", "--kernel", kernel, "--topology", topology(system), *options, *more)

    def opened(self, run, *more):
        page = self.path("r.html")
        self.run_with(run, "--report", page, *more)
        browser = browser_of(self)
        browser.open("file://" + page)
        return browser

    def setUp(self):
        super().setUp()
        if CHROMIUM is None:
            self.skipTest("there is no Chromium (Debian: apt-get install chromium)")

    def sliders_of(self, browser):
        browser.wait_for("document.getElementById('what-if-note').textContent !== ''")
        if "without a compiler" in browser.text("what-if-note"):
            self.skipTest("built without a compiler for WebAssembly (Debian: apt-get install clang lld)")
        browser.wait_for("document.getElementById('what-if-verdict').dataset.ns")
        return browser.value("[...document.querySelectorAll('#what-if-parts input')].map(s => s.dataset.part)")

    def test_they_say_what_the_command_line_says(self):
        drawn = random.Random(self.seed)
        for run in RUNS:
            with self.subTest(run=run):
                browser = self.opened(run)
                parts = self.sliders_of(browser)
                self.assertGreaterEqual(len(parts), 3)
                self.assertLessEqual(len(parts), 10)
                found = {}
                for i in range(self.settings // len(RUNS)):
                    moved = drawn.sample(parts, 1 if i % 4 == 0 else drawn.randint(1, len(parts)))
                    values = {p: round(drawn.uniform(-3, 3), 2) if p in moved else 0 for p in parts}
                    predict, ns, doubt, text = browser.value(MOVE % json.dumps(values))
                    found[predict] = (float(ns), float(doubt), text)
                found.pop("", None)
                words = [w for p in found for w in ("--predict", p)]
                report = json.loads(self.run_with(run, "--explain", "--format", "json", *words))
                said = report["insight"]["predicted"]
                self.assertEqual(len(said), len(found))
                for (predict, (ns, doubt, text)), of_run in zip(found.items(), said):
                    self.assertEqual(f"{ns:.6f}", f"{of_run['ns']:.6f}", predict)
                    self.assertEqual(f"{doubt:.6f}", f"{of_run['doubt_ns']:.6f}", predict)
                    self.assertEqual("±" in text, of_run["other_order"], text)
                self.assertEqual(browser.complaints(), [])
                self.assertEqual([u for u in browser.requests() if not u.startswith(("file:", "data:"))], [])

    def test_the_verdict_at_rest_is_the_runs(self):
        run = ("small.yaml", "gemm")
        browser = self.opened(run)
        self.sliders_of(browser)
        insight = json.loads(self.run_with(run, "--explain", "--format", "json"))["insight"]
        title = browser.value(f"JSON.parse(document.getElementById('data').textContent).resource_titles.{insight['bound_by'][0]}")
        text = browser.text("what-if-verdict")
        self.assertIn(f"Bound by {title}", text)
        self.assertEqual(" together: " in text, len(insight["bound_by"]) == 2)
        self.assertIn(f"would save {100 * insight['saved_by_bound']:.1f} %", text)
        browser.value(MOVE % json.dumps({insight["bound_by"][0]: 2}))
        self.assertIn(f"--scale {insight['bound_by'][0]}=4", browser.text("what-if-options"))
        browser.click("#what-if-reset")
        browser.wait_for(f"document.getElementById('what-if-verdict').textContent === {json.dumps(text)}")

    def test_many_causes_are_left_out_unless_asked_for(self):
        run = ("small.yaml", "gemm", *(w for p in ("m=2048", "n=512", "k=256", "tile_m=16", "tile_n=16", "tile_k=16") for w in ("--param", p)))
        browser = self.opened(run)
        browser.wait_for("document.getElementById('what-if-note').textContent !== ''")
        self.assertIn("--report-events", browser.text("what-if-note"))
        self.assertTrue(browser.value("document.getElementById('what-if-controls').hidden"))
        size = os.path.getsize(self.path("r.html"))
        self.run_with(run, "--report", self.path("r.html"), "--report-events")
        self.assertGreater(os.path.getsize(self.path("r.html")), size + 5_000_000)


class CommandLine(cli_support.Cli):
    def test_words_of_another_form(self):
        run = ("run", "--kernel", "gemm", "--topology", topology("small.yaml"), "--explain", "--predict")
        for word, said in (("hmb=2", "--predict: found 'hmb', did you mean 'hbm'?"), ("hbm", "--predict: found 'hbm'"),
                           ("hbm=0", "--predict hbm: found '0'"), ("hbm=2,hbm=3", "--predict: found hbm twice"),
                           ("queue_depth=2", "--predict: found 'queue_depth'"), ("hbm=2,,mesh=2", "--predict: found ''")):
            self.refuses(*run, word, saying=[said], lines=1)
        for words, said in ((("--predict", "hbm=2"), "--predict: needs --explain or --report"), (("--report-events",), "--report-events: needs")):
            self.refuses("run", "--kernel", "gemm", "--topology", topology("small.yaml"), *words, saying=[said], lines=1)

    def test_one_part_alone_is_its_what_if(self):
        insight = json.loads(self.succeeds("run", "--kernel", "gemm", "--topology", topology("small.yaml"), "--explain", "--format", "json",
                                           "--predict", "hbm=2", "--predict", "mesh=0.5", "--predict", "hbm=1"))["insight"]
        twice, half, none = (p["ns"] for p in insight["predicted"])
        self.assertEqual(twice, insight["what_if"]["hbm"]["faster_ns"])
        self.assertEqual(half, insight["what_if"]["mesh"]["slower_ns"])
        self.assertAlmostEqual(none, sum(insight["blame_ns"].values()), places=6)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        Sliders.settings, Sliders.seed = int(sys.argv[1]), int(sys.argv[2])
        sys.argv[1:] = ["Sliders.test_they_say_what_the_command_line_says"]
    cli_support.main()
