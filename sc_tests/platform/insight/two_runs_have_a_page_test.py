# SPDX-License-Identifier: Apache-2.0
"""Does `diff --report` say of two runs what diff says, with a floorplan that goes in and out by mouse and keys? Needs Chromium."""
import json
import re

import cli_support
from browser import CHROMIUM, browser_of
from cli_support import topology


class Pages(cli_support.FolderCli):
    def report(self, name, *more):
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(self.succeeds("run", "--kernel", "gemm", "--topology", topology("small.yaml"), "--format", "json", *more))
        return self.path(name)

    def opened(self, a, b):
        if CHROMIUM is None:
            self.skipTest("there is no Chromium (Debian: apt-get install chromium)")
        self.succeeds("diff", a, b, "--report", self.path("d.html"))
        browser = browser_of(self)
        browser.open("file://" + self.path("d.html"))
        return browser

    def test_two_runs(self):
        a = self.report("a.json", "--explain")
        b = self.report("<b>&.json", "--explain", "--scale", "mesh=2", "--param", "tile_m=64")
        browser = self.opened(a, b)
        said = json.loads(self.succeeds("diff", a, b, "--format", "json"))
        self.assertIn("−", browser.text("summary"))
        self.assertIn("<b>&.json", browser.text("summary"))
        for table, rows in (("settings-table", said["configuration"]), ("blame-table", said["blame"]), ("figures-table", said["figures"])):
            self.assertEqual(browser.value(f"document.querySelectorAll('#{table} tbody tr').length"), len(rows), table)
        self.assertIn("scale.mesh", browser.text("settings-table"))
        shown = browser.value("document.querySelectorAll('#engines-table tbody tr').length")
        self.assertLess(shown, len(said["engines"]))
        browser.click("#engines-more")
        self.assertEqual(browser.value("document.querySelectorAll('#engines-table tbody tr').length"), len(said["engines"]))
        browser.click('[data-box="sip0.cube0"]')
        browser.wait_for("!!document.querySelector('[data-box=\"sip0.cube0.pe0\"]')")
        busy = {e["name"]: (e["a_ns"] / said["a_ns"], e["b_ns"] / said["b_ns"]) for e in said["engines"] if e["name"].startswith("sip0.cube0.pe0.")}
        most = max((b - a for a, b in busy.values()), key=abs)
        number = browser.value("document.querySelector('[data-box=\"sip0.cube0.pe0\"]').lastChild.textContent")
        browser.focus('[data-box="sip0.cube0.pe0"]')
        told = re.fullmatch(r"sip0\.cube0\.pe0\..+: ([\d.]+) % in a, ([\d.]+) % in b, ([+−][\d.]+) points", browser.text("plan-detail"))
        self.assertEqual(told[3], number)
        by = float(number.replace("−", "-"))
        self.assertAlmostEqual(by, float(told[2]) - float(told[1]), delta=0.11)
        self.assertGreaterEqual(abs(by), 100 * abs(most) - 0.06)
        browser.key("Escape")
        browser.wait_for("!!document.querySelector('[data-box=\"sip0.cube1\"]')")
        self.assertEqual(browser.complaints(), [])
        self.assertEqual([u for u in browser.requests() if not u.startswith(("file:", "data:"))], [])

    def test_the_same_run_twice_and_without_causes(self):
        a = self.report("a.json")
        browser = self.opened(a, a)
        self.assertIn("Nothing.", browser.text("settings"))
        self.assertIn("run --explain brings it", browser.text("blame"))
        self.assertEqual(browser.complaints(), [])

    def test_a_topology_that_is_elsewhere(self):
        a = self.report("a.json")
        with open(a, encoding="utf-8") as f:
            report = json.load(f)
        report["run"]["options"]["topology"] = "/nowhere.yaml"
        with open(a, "w", encoding="utf-8") as f:
            json.dump(report, f)
        browser = self.opened(a, a)
        self.assertIn("--report-topology", browser.text("floorplan-note"))
        self.assertEqual(browser.complaints(), [])

    def test_logs_and_stores_have_none(self):
        log, store = self.path("r.jsonl"), self.path("s.sqlite")
        run = ("--kernel", "vector_add", "--topology", topology("small.yaml"))
        self.succeeds("run", *run, "--oplog", log)
        self.succeeds("sweep", "--store", store, "--over", "param.n=64", "--", "run", *run)
        for file, found in ((log, "op logs"), (store, "stores")):
            self.refuses("diff", file, file, "--report", self.path("d.html"), saying=[f"--report: found {found}"], lines=1)
        self.refuses("diff", self.report("a.json"), self.path("a.json"), "--report", "", saying=["--report"], lines=1)


if __name__ == "__main__":
    cli_support.main()
