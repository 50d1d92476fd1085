# SPDX-License-Identifier: Apache-2.0
"""Does `sweep --report` write one page that needs nothing else, with the table's points and front, and does it work by
mouse and keys? The browser's part needs Chromium."""
import csv
import io
import json
import os
import re
import shlex
import unittest

import cli_support
from browser import CHROMIUM, browser_of
from cli_support import topology

RUN = ("run", "--topology", topology("small.yaml"), "--energy", "n7.yaml", "--kernel", "gemm", "--param", "m=128", "--param", "dtype=f16")
OVER = ("--over", "set.*.macs_per_cycle=1024,16384", "--over", "param.tile_m=8,16,-1", "--over", "links=ideal,flit")
FRONT = ("--pareto", "min:sim_ns,min:cost")
POINTS, FAILED = 12, 4


class Pages(cli_support.FolderCli):
    def page(self, *arguments, status=0):
        file = os.path.join(self.folder, "s.html")
        found, out, err = self.run_cli("sweep", "--report", file, *arguments)
        self.assertEqual(found, status, err)
        with open(file, encoding="utf-8") as f:
            text = f.read()
        return out, text, json.loads(re.search(r'id="data">(.*?)</script>', text, re.S)[1])


class Data(Pages):
    def test_has_all_points_and_marks_the_tables(self):
        out, text, data = self.page(*OVER, *FRONT, "--", *RUN, status=2)
        self.assertIn("default-src 'none'", text)
        self.assertEqual(re.findall(r"""(?:src|href)=["'](?![#d])""", text), [])
        self.assertEqual((data["axes"], [m["name"] for m in data["metrics"]]),
                         (["set.*.macs_per_cycle", "param.tile_m", "links"], ["sim_ns", "verified", "cost"]))
        points = data["points"]
        self.assertEqual((len(points), sum(p["exit"] != 0 for p in points)), (POINTS, FAILED))
        self.assertTrue(all(p["error"] and p["metrics"]["cost"] is None for p in points if p["exit"] != 0))
        table = [{**r} for r in csv.DictReader(io.StringIO(out))]
        marked = [p for p in points if p["front"]]
        self.assertEqual({(r["links"], r["param.tile_m"], float(r["sim_ns"]), float(r["cost"])) for r in table},
                         {(p["axes"]["links"], p["axes"]["param.tile_m"], p["metrics"]["sim_ns"], p["metrics"]["cost"]) for p in marked})
        again = json.loads(self.succeeds(*shlex.split(marked[0]["command"])[1:], "--format", "json"))
        self.assertEqual(again["sim_ns"], marked[0]["metrics"]["sim_ns"])

    def test_without_a_front_and_with_nothing_found(self):
        data = self.page("--over", "links=ideal,flit", "--sort", "sim_ns", "--", *RUN)[2]
        self.assertEqual((data["objectives"], [p["front"] for p in data["points"]]), ([], [False, False]))
        self.assertEqual([p["axes"]["links"] for p in data["points"]], ["ideal", "flit"], "the plan's order")
        data = self.page("--over", "param.tile_m=-1", *FRONT, "--", *RUN, status=2)[2]
        self.assertEqual([p["front"] for p in data["points"]], [False])

    def test_wrong_requests_are_refused_in_one_line(self):
        file = os.path.join(self.folder, "s.html")
        self.refuses("sweep", "--over", "links=ideal,flit", "--report", file, "--", "probe", "--topology", topology("small.yaml"),
                     saying=["--report", "probe"], lines=1)
        self.refuses("sweep", *OVER, *FRONT, "--svg", file, "--report", file, "--", *RUN, saying=["--svg", "--report"], lines=1)
        self.refuses("sweep", *OVER, "--report", os.path.join(self.folder, "none", "s.html"), "--", *RUN, lines=1)


@unittest.skipUnless(CHROMIUM, "there is no Chromium (Debian: apt-get install chromium)")
class InABrowser(Pages):
    def setUp(self):
        super().setUp()
        self.browser = browser_of(self)

    def opens(self, *arguments, status=0):
        data = self.page(*arguments, status=status)[2]
        self.browser.open("file://" + os.path.join(self.folder, "s.html"))
        return data

    def count(self, selector):
        return self.browser.value(f"document.querySelectorAll({selector!r}).length")

    def test_points_are_chosen_and_ranges_drawn(self):
        b = self.browser
        data = self.opens(*OVER, *FRONT, "--", *RUN, status=2)
        front = sum(p["front"] for p in data["points"])
        self.assertEqual((self.count("#scatter-picture circle"), self.count("#scatter-picture circle.front")), (POINTS - FAILED, front))
        self.assertIn(f"{POINTS} points; {FAILED} of them failed; {front} on the Pareto front", b.text("summary"))
        self.assertEqual(self.count("#scatter-picture .front-line"), 1)
        # A point of the plot, and one of the table with the keyboard.
        b.click("#scatter-picture circle.front")
        self.assertIn(b.text("command"), {p["command"] for p in data["points"] if p["front"]})
        b.focus("#table tbody tr:nth-child(2) button")
        b.key("Enter", 13, "\r")
        self.assertEqual(b.text("command"), data["points"][1]["command"])
        self.assertEqual(self.count("tr.is-chosen"), 1)
        # The lower half of tile_m's column: -1 and 8 of -1 to 16; a click shows all again.
        left, top, width, height = b.place("#parallel-picture [data-column='1']")
        for kind, y in (("mousePressed", top + 0.45 * height), ("mouseReleased", top + height - 1)):
            b.call("Input.dispatchMouseEvent", type=kind, x=left + width / 2, y=y, button="left", clickCount=1)
        self.assertEqual(b.text("parallel-count"), f"{8} of {POINTS} points")
        self.assertEqual(self.count("#table tbody tr"), 8)
        b.click("#parallel-picture [data-column='1']")
        self.assertEqual(self.count("#table tbody tr"), POINTS)
        # Other metrics, also logarithmic; words have separate positions.
        for across in ("2", "3"):
            b.value(f"(() => {{ const s = document.getElementById('across'); s.value = '{across}'; s.dispatchEvent(new Event('change')); }})()")
            b.click("#logarithmic")
            self.assertGreater(self.count("#scatter-picture .grid"), 3)
        b.click("#table th:nth-child(3) button")
        self.assertEqual(b.value("document.querySelector('#table th:nth-child(3)').getAttribute('aria-sort')"), "descending")
        self.assertEqual(b.complaints(), [])
        for url in b.requests():
            self.assertRegex(url, "^(file|data):")

    def test_one_point_and_names_that_are_markup(self):
        system = os.path.join(self.folder, "<img src=x onerror=window.hit=1>.yaml")
        os.symlink(topology("small.yaml"), system)
        for over in (("links=ideal",), ("param.tile_m=-1",)):
            self.opens("--over", *over, "--", "run", "--topology", system, "--kernel", "gemm", status=0 if over == ("links=ideal",) else 2)
            self.assertEqual(self.browser.text("summary").split(";")[0].rstrip("."), "1 point")
            self.assertIn("<img", self.browser.value("document.querySelector('h1').textContent"))
            self.assertIsNone(self.browser.value("window.hit"))
            self.assertEqual(self.browser.complaints(), [])


if __name__ == "__main__":
    cli_support.main()
