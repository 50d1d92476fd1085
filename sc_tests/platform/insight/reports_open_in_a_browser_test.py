# SPDX-License-Identifier: Apache-2.0
"""Is a run's report one file that needs nothing else, and does it work in a browser: drawn without an error, no request
to anywhere, the slider and the zoom moved by real keys and wheels? The browser's part needs Chromium."""
import base64
import html.parser
import json
import os
import re
import shutil
import tempfile
import unittest

import cli_support
from browser import CHROMIUM, browser_of
from cli_support import topology

# Without positions: a PE whose blocks are drawn separately.
FLAT = """\
timing: {links: cut_through, response: routed, header_bytes: 16}
nodes:
- {id: pe.pe_cpu, kind: pe_cpu, attrs: {overhead_ns: 2}}
- {id: pe.pe_scheduler, kind: pe_scheduler, attrs: {overhead_ns: 1}}
- {id: pe.pe_dma, kind: pe_dma, attrs: {rd_engines: 2, wr_engines: 1, queue_depth: 2}}
- {id: pe.pe_fetch_store, kind: pe_fetch_store}
- {id: pe.pe_gemm, kind: pe_gemm, attrs: {macs_per_cycle: 4096, freq_ghz: 1, rates: {f32: 0.5}}}
- {id: pe.pe_math, kind: pe_math, attrs: {lanes: 128, freq_ghz: 1, cycles: {exp: 4}}}
- {id: pe.pe_tcm, kind: pe_tcm, attrs: {size_mb: 16, reserved_mb: 1, read_bw_gbs: 512, write_bw_gbs: 512}}
- {id: r, kind: router, attrs: {overhead_ns: 1}}
- {id: hbm, kind: hbm_ctrl, impl: builtin.hbm_pc,
   attrs: {pseudo_channels: 8, interleave_bytes: 256, pc_bw_gbs: 32}}
links:
- {from: pe.pe_dma, to: r, distance_mm: 0.5, bw_gbs: 256}
- {from: r, to: hbm, distance_mm: 2.5, bw_gbs: 256}
memories:
- {node: hbm, space: hbm, base: 0, size: 1073741824}
"""


BLOCKS = {"GEMM": "pe_gemm", "MATH": "pe_math", "DMA_READ": "pe_dma.rd", "DMA_WRITE": "pe_dma.wr"}


class Elements(html.parser.HTMLParser):
    """What a page holds: its elements with their attributes, and the text of its data block."""

    def __init__(self, text):
        super().__init__()
        self.found, self.data, self.in_data = [], "", False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))
        self.in_data = dict(attributes).get("id") == "data"

    def handle_data(self, text):
        if self.in_data:
            self.data += text
            self.in_data = False


def numbers_of(coded):
    """Of seven bits a byte, the lowest first."""
    value, shift = 0, 0
    for byte in coded:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value, shift = 0, 0


def signed(number):
    return -(number + 1) // 2 if number % 2 else number // 2


class Reports(cli_support.Cli):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.file = os.path.join(self.folder, "r.html")

    def report(self, *arguments):
        out = self.succeeds("run", *arguments, "--report", self.file)
        with open(self.file, encoding="utf-8") as f:
            return out, f.read()


class Files(Reports):
    def test_one_file_and_nothing_else(self):
        out, page = self.report("--kernel", "gemm", "--topology", topology("small.yaml"))
        self.assertEqual(os.listdir(self.folder), ["r.html"])
        self.assertNotIn("verdict", out, "stdout has it with --explain only")
        self.assertLess(len(page), 1e6)
        elements = Elements(page)
        policy = next(a["content"] for tag, a in elements.found if a.get("http-equiv") == "Content-Security-Policy")
        self.assertTrue(policy.startswith("default-src 'none'"), policy)
        for tag, attributes in elements.found:
            for name in ("src", "href", "data", "action", "srcset"):
                if name in attributes:
                    self.assertRegex(attributes[name], "^(#|data:)", tag)
        data = json.loads(elements.data)
        self.assertEqual(data["name"], "gemm")
        self.assertTrue(data["run"]["command"].startswith("kernbench run --topology "), data["run"]["command"])
        self.assertGreater(sum(n for _, _, n in data["tracks"]), 500)
        self.assertEqual(data["run"]["topology"]["name"], "small.yaml")

    def test_changes_no_result(self):
        arguments = ("--kernel", "softmax", "--topology", topology("small.yaml"), "--format", "json", "--explain")
        plain = json.loads(self.succeeds("run", *arguments))
        reported = json.loads(self.report(*arguments)[0])
        for run in (plain, reported):
            run.pop("wall_s")
        self.assertEqual(plain, reported)

    def test_slices_sum_to_the_engines_busy_time(self):
        for arguments in (("--kernel", "gemm"), ("--kernel", "attention", "--links", "cut_through"),
                          ("--program", "tp_mlp")):
            with self.subTest(arguments=arguments):
                data = json.loads(Elements(self.report(*arguments, "--topology", topology("small.yaml"))[1]).data)
                busy = {e["id"]: e["busy_ns"] for e in data["engines"]}
                numbers = numbers_of(base64.b64decode(data["slices"]))
                seen = 0
                for pe, name, count in data["tracks"]:
                    end = served = 0
                    for _ in range(count):
                        begin = end + signed(next(numbers))
                        end = begin + next(numbers)
                        head = next(numbers)
                        if head & 8:
                            next(numbers)
                        if head & 16:
                            next(numbers)
                        if head & 7 == 0:
                            served += end - begin
                        self.assertLessEqual(end, data["sim_ns"] * 1e3 + 1)
                    block = BLOCKS.get(name)
                    if block:
                        self.assertLess(abs(served / 1e3 - busy[f"{data['pes'][pe]}.{block}"]), 0.001 * count + 1e-6)
                        seen += 1
                self.assertGreater(seen, 8)
                self.assertIsNone(next(numbers, None), "nothing is left over")

    def test_bytes_over_time_sum_to_the_runs(self):
        for links in ("ideal", "cut_through", "flit"):
            with self.subTest(links=links):
                page = self.report("--kernel", "mlp", "--topology", topology("small.yaml"), "--links", links)[1]
                data = json.loads(Elements(page).data)
                bins = data["bins"]
                values = base64.b64decode(bins["series"])

                def total(coded):
                    place, most = coded or (0, 0)
                    return sum(values[place * bins["count"]:(place + 1) * bins["count"]]) / 255 * most
                moved = {data["nodes"][node][0]: total(read) + total(write) for node, read, write, _ in bins["memories"]}
                for memory in data["insight"]["memories"]:
                    self.assertLess(abs(moved[memory["name"]] / memory["bytes"] - 1), 0.02, memory["name"])

    def test_energy_and_figures_are_those_of_the_report(self):
        run = ("--kernel", "gemm", "--topology", topology("small.yaml"))
        for more in ((), ("--energy", "n7.yaml")):
            out, page = self.report(*run, *more, "--explain", "--format", "json")
            told, data = json.loads(out), json.loads(Elements(page).data)
            self.assertEqual(data["figures"], told["figures"])
            self.assertEqual(data.get("energy"), told.get("energy"))
            self.assertEqual("energy" in data, bool(more))
            self.assertEqual(data["insight"]["capacity"], told["insight"]["capacity"])

    def test_names_cannot_leave_their_place(self):
        system = os.path.join(self.folder, "</script><b>x.yaml")
        os.makedirs(os.path.dirname(system))
        shutil.copy(topology("one_cube.yaml"), system)
        page = self.report("--kernel", "vector_add", "--topology", system)[1]
        self.assertFalse([tag for tag, _ in Elements(page).found if tag == "b"])
        self.assertIn(system, json.loads(Elements(page).data)["run"]["command"])

    def test_a_file_that_another_option_writes(self):
        self.refuses("run", "--kernel", "gemm", "--topology", topology("small.yaml"), "--report", self.file, "--trace",
                     self.file, saying=["--report", "--trace"], lines=1)

    def test_what_cannot_be_written(self):
        self.refuses("run", "--kernel", "gemm", "--topology", topology("small.yaml"), "--report",
                     os.path.join(self.folder, "none", "r.html"), lines=1)


@unittest.skipUnless(CHROMIUM, "there is no Chromium (Debian: apt-get install chromium)")
class InABrowser(Reports):
    def setUp(self):
        super().setUp()
        self.browser = browser_of(self)

    def opens(self, *arguments):
        self.report(*arguments)
        took = self.browser.open("file://" + self.file)
        self.assertEqual(self.browser.complaints(), [])
        return took

    def shown_ns(self):
        """What the timeline shows, ns."""
        text = self.browser.text("timeline-window")
        number, unit = re.search(r"\(([\d.,]+) (ns|µs|ms)\)", text).groups()
        return float(number.replace(",", "")) * {"ns": 1, "µs": 1e3, "ms": 1e6}[unit]

    def test_tables_of_energy_area_and_dies(self):
        b = self.browser
        tabs = "[...document.querySelectorAll('#table-tabs button')]"
        for more, there in (((), False), (("--energy", "n7.yaml"), True)):
            self.opens("--kernel", "gemm", "--topology", topology("small.yaml"), *more)
            names = b.value(tabs + ".map(e => e.textContent).join()").split(",")
            for name in ("Energy", "Area", "Dies"):
                self.assertEqual(name in names, there, name)
            for name in {"Figures", "Capacity"} | ({"Energy", "Area", "Dies"} if there else set()):
                b.value(f"{tabs}.find(e => e.textContent === '{name}').click()")
                self.assertGreater(b.value("document.querySelectorAll('#table tbody tr').length"), 0, name)
                self.assertNotIn("undefined", b.text("table"))
                self.assertNotIn("NaN", b.text("table"))
        self.assertEqual(b.complaints(), [])

    def test_works_by_mouse_and_keys(self):
        b = self.browser
        self.opens("--kernel", "gemm", "--topology", topology("small.yaml"))
        self.assertIn("Bound by", b.text("verdict-text"))
        self.assertGreater(b.value("document.querySelectorAll('#blame-table tbody tr').length"), 3)
        self.assertEqual(b.value("document.querySelectorAll('#roofline-picture circle').length"), 1)
        self.assertGreater(b.value("document.querySelectorAll('#bandwidth-picture polyline').length"), 1)
        self.assertIn("--kernel gemm", b.text("command"))

        # The slider: each key gives another time, other colours, and the components on the path at that time.
        fills = "[...document.querySelectorAll('#plan-picture .box')].map(e => e.style.fill).join()"
        whole = b.value(fills)
        b.focus("#plan-time")
        self.assertEqual(b.text("plan-window"), "whole run")
        b.key("ArrowRight", 39)
        self.assertTrue(b.text("plan-window").startswith("0.000 ns"), b.text("plan-window"))
        self.assertNotEqual(b.value(fills), whole, "nothing is busy before the launch")
        self.assertGreater(b.value("document.querySelectorAll('#plan-picture .on-path').length"), 0)
        b.key("Home", 36)
        self.assertEqual(b.value(fills), whole)

        # Down the floorplan with the keyboard, and up again.
        b.focus("#plan-picture [data-id='sip0.cube0']")
        b.key("Enter", 13, "\r")
        self.assertEqual(b.value("document.querySelector('#plan-path [aria-current=true]').textContent"), "cube0")
        self.assertIn("%", b.value("document.querySelector(\"#plan-picture [data-id='sip0.cube0.pe0']\").textContent"))
        b.key("Escape", 27)
        self.assertEqual(b.value("document.querySelector('#plan-path [aria-current=true]').textContent"), "sip0")

        # The timeline: with the wheel down to a tile, with keys back.
        left, top, width, height = b.place("#timeline-canvas")
        before = self.shown_ns()
        for _ in range(20):
            b.call("Input.dispatchMouseEvent", type="mouseWheel", x=left + width / 2, y=top + height / 2, deltaX=0,
                   deltaY=-120)
        b.wait_for(lambda: self.shown_ns() < before / 100)
        b.focus("#timeline-canvas")
        b.key("Home", 36)
        b.wait_for(lambda: self.shown_ns() == before)
        for _ in range(12):
            b.key("ArrowDown", 40)
            if "DMA_READ" in b.text("timeline-detail"):
                break
        b.key(".", 190, ".")
        self.assertRegex(b.text("timeline-detail"), r"composite_gemm tile \d+ \(.*gemm\.cpp:\d+\), .* ns")
        now = self.shown_ns()
        b.key("+", 187, "+")
        b.wait_for(lambda: self.shown_ns() < now)

        # Tables sort and search.
        first = "document.querySelector('#table tbody td').textContent"
        shown = b.value(first)
        b.click("#table th:nth-child(1) button")
        b.click("#table th:nth-child(1) button")
        self.assertEqual(b.value("document.querySelector('#table th').getAttribute('aria-sort')"), "descending")
        self.assertNotEqual(b.value(first), shown)
        b.focus("#table-search")
        b.call("Input.insertText", text="cube1 hbm_ctrl.pe2")
        self.assertIn("sip0.cube1.hbm_ctrl.pe2", b.value(first))

        self.assertEqual(b.complaints(), [])
        for url in b.requests():
            self.assertRegex(url, "^(file|data):")

    def test_dark_and_printed(self):
        b = self.browser
        back = "getComputedStyle(document.body).backgroundColor"
        b.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        self.opens("--kernel", "softmax", "--topology", topology("small.yaml"))
        self.assertLess(max(map(int, re.findall(r"\d+", b.value(back)))), 60)
        b.call("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        self.assertEqual(b.value(back), "rgb(255, 255, 255)")
        self.assertGreater(len(b.call("Page.printToPDF")["data"]), 10000)
        self.assertEqual(b.complaints(), [])

    def test_programs_queues_and_flat_systems(self):
        flat = os.path.join(self.folder, "flat.yaml")
        with open(flat, "w", encoding="utf-8") as f:
            f.write(FLAT)
        for arguments in (("--program", "tp_mlp", "--topology", topology("six_sip_torus.yaml")),
                          ("--kernel", "gemm", "--topology", flat, "--param", "m=64"),
                          ("--kernel", "all_reduce", "--topology", topology("small.yaml"), "--transfer", "timed"),
                          ("--kernel", "gemm", "--topology", topology("latency_model.yaml")),
                          ("--kernel", "barrier", "--topology", topology("one_cube.yaml"), "--links", "flit")):
            with self.subTest(arguments=arguments):
                self.opens(*arguments)
                self.assertTrue(self.browser.text("verdict-text"))
                self.assertGreater(self.browser.value("document.querySelectorAll('#plan-picture .box').length"), 0)

    def test_256_pes_are_small_and_open_at_once(self):
        took = self.opens("--kernel", "attention", "--topology", topology("default.yaml"))
        self.assertLess(took, 2000 * cli_support.TIMES_LONGER)
        self.report("--kernel", "gemm", "--topology", topology("default.yaml"))
        self.assertLess(os.path.getsize(self.file), 5e6)

    def test_a_million_slices_at_30_frames_a_second(self):
        page = self.report("--kernel", "gemm", "--topology", topology("default.yaml"))[1]
        text = Elements(page).data
        data = json.loads(text)
        # Replaces the run's data: six tracks for every PE, with that many slices of 1 ns and gaps of 0.4 to 0.6 ns.
        each = 1000000 // (6 * len(data["pes"])) + 1
        slices = bytearray()
        data["tracks"] = []
        for pe in range(len(data["pes"])):
            for stage in ("DMA_READ", "FETCH", "GEMM", "MATH", "STORE", "DMA_WRITE"):
                data["tracks"].append([pe, stage, each])
                for i in range(each):
                    gap = 2 * (400 + (i * 7919 + pe) % 200)
                    slices += bytes((gap & 127 | 128, gap >> 7, 1000 & 127 | 128, 1000 >> 7, 16, 2))
        data["slices"] = base64.b64encode(slices).decode()
        with open(self.file, "w", encoding="utf-8") as f:
            f.write(page.replace(text, json.dumps(data).replace("<", "\\u003c")))
        b = self.browser
        b.open("file://" + self.file)
        self.assertGreaterEqual(each * 6 * len(data["pes"]), 1000000)
        b.click("#rows-all")
        b.place("#timeline-canvas")

        def frames_a_second(wheel):
            """Of the fastest ten frames in a row of sixty: others may have the processors for a while."""
            return b.value("""new Promise(done => {
                const canvas = document.getElementById('timeline-canvas'), box = canvas.getBoundingClientRect();
                const times = [];
                let n = 0;
                const frame = () => {
                    times.push(performance.now());
                    canvas.dispatchEvent(new WheelEvent(
                        'wheel', {deltaY: %s, clientX: box.left + 300 + n, clientY: box.top + 99}));
                    if (++n < 60) return requestAnimationFrame(frame);
                    done(Math.max(...times.slice(10).map((t, i) => 10000 / (t - times[i]))));
                };
                requestAnimationFrame(frame);
            })""" % wheel)
        for where, wheel in (("the whole run", "n % 2 ? -3 : 3"), ("on the way in and out", "n % 30 < 15 ? -120 : 120")):
            most = 0
            for _ in range(10):
                most = max(most, frames_a_second(wheel))
                if most > 30:
                    break
            print(f"{where}: {most:.0f} frames/s", flush=True)
            self.assertGreater(most, 30 / cli_support.TIMES_LONGER, where)
        self.assertEqual(b.complaints(), [])


if __name__ == "__main__":
    cli_support.main()
