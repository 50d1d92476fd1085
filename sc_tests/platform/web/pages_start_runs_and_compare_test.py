# SPDX-License-Identifier: Apache-2.0
"""A user's way through `kernbench web` in a real browser: a form, a run with its progress, its report, two side by side.
Needs Chromium."""
import contextlib
import json
import os
import shutil
import tempfile
import unittest

import cli_support
from browser import CHROMIUM, browser_of
from cli_support import topology
from page_server import PageServer, without_web


def write_model(folder, name):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
        json.dump({"model_type": "llama", "hidden_size": 48, "intermediate_size": 70, "num_hidden_layers": 2,
                   "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 101, "torch_dtype": "float32"}, f)


class Api(cli_support.Cli):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        os.mkdir(os.path.join(self.folder, "topologies"))
        shutil.copy(topology("one_cube.yaml"), os.path.join(self.folder, "topologies", "below.yaml"))
        self.server = self.enterContext(contextlib.closing(PageServer(self.folder)))

    def test_a_run_is_the_command_lines(self):
        """Its JSON is what `kernbench run` prints; its report opens; `diff` says what it differs by."""
        request = {"kernel": "gemm", "topology": "below.yaml", "params": {"m": "128"}, "options": {"verify": True}}
        a = self.server.run(request)
        b = self.server.run({**request, "options": {"links": "flit"}, "set": ["edge:mesh.bw_gbs=64"]})
        self.assertEqual([a, b], ["gemm-below-1", "gemm-below-2"])
        mine = json.loads(self.server.ask("GET", f"/runs/{a}/run.json")[2])
        theirs = json.loads(self.succeeds("run", "--kernel", "gemm", "--topology", topology("one_cube.yaml"), "--param",
                                          "m=128", "--verify", "--explain", "--format", "json"))
        for run in (mine, theirs):
            run.pop("wall_s")
            run.pop("topology")
            run["run"].pop("command")
            run["run"]["topology"].pop("name")
            run["run"]["options"].pop("topology")
        self.assertEqual(mine, theirs)
        difference = json.loads(self.server.ask("GET", f"/api/diff?a={a}&b={b}")[2])
        self.assertEqual(difference["a_ns"], mine["sim_ns"])
        self.assertGreater(difference["b_ns"], difference["a_ns"])
        latest = self.server.runs()
        self.assertEqual([r["name"] for r in latest], [b, a])
        self.assertEqual(latest[1]["end"]["sim_ns"], mine["sim_ns"])
        self.assertEqual(latest[1]["end"]["verdict"], mine["insight"]["verdict"])
        self.assertIn("--set=edge:mesh.bw_gbs=64", latest[0]["command"])

    def test_programs_and_drawings(self):
        run = self.server.run({"program": "tp_mlp", "topology": "small.yaml"})
        self.assertEqual(self.server.runs()[0]["state"], "done")
        self.assertIn(b"<!doctype html>", self.server.ask("GET", f"/runs/{run}/report.html")[2][:20])
        status, headers, picture = self.server.ask("GET", "/topologies/below.yaml.svg")
        self.assertEqual((status, headers["Content-Type"]), (200, "image/svg+xml"))
        self.assertIn(b"<svg", picture)

    def test_models(self):
        """Of a folder: what says model_type. Their runs are `kernbench model`'s, and their reports open."""
        write_model(self.folder, "config.json")
        for name, text in (("other.json", '{"seq": 1}'), ("tiny.yaml", "# a system\nsystem: {}\n")):
            with open(os.path.join(self.folder, name), "w", encoding="utf-8") as f:
                f.write(text)
        os.symlink(os.path.join(self.folder, "config.json"), os.path.join(self.folder, "link.json"))
        system = json.loads(self.server.ask("GET", "/api/system")[2])
        self.assertEqual(system["models"], ["config.json"])
        self.assertIn("tiny.yaml", system["topologies"])
        self.assertIn("phase", [o["name"] for o in system["options"]["model"]])
        self.assertNotIn("phase", [o["name"] for o in system["options"]["run"]])

        phases = ["prefill:21", "decode:batch=3,context=13"]
        request = {"model": "config.json", "topology": "small.yaml", "options": {"phase": phases, "verify": True}}
        a = self.server.run(request)
        b = self.server.run({**request, "options": {"phase": phases[:1], "links": "flit"}, "scale": ["hbm=2"]})
        self.assertEqual([a, b], ["config-small-1", "config-small-2"])
        mine = json.loads(self.server.ask("GET", f"/runs/{a}/run.json")[2])
        self.assertTrue(mine["verify"]["passed"])
        self.assertEqual([p["phase"] for p in mine["phases"]], phases)
        theirs = json.loads(self.succeeds("model", os.path.join(self.folder, "config.json"), "--topology", topology("small.yaml"),
                                          "--phase", phases[0], "--phase", phases[1], "--verify", "--format", "json"))
        self.assertEqual(mine["phases"], theirs["phases"])
        self.assertIn(b"<!doctype html>", self.server.ask("GET", f"/runs/{b}/report.html")[2][:20])
        latest = self.server.runs()
        self.assertEqual([r["state"] for r in latest], ["done", "done"])
        self.assertEqual(latest[0]["request"]["options"], {"links": "flit", "phase": phases[:1]})
        difference = json.loads(self.server.ask("GET", f"/api/diff?a={a}&b={b}")[2])
        self.assertEqual(difference["a_ns"], mine["sim_ns"])

        for wrong, says in (({"model": "other.json"}, "no 'other.json' here"), ({"model": "link.json"}, "no 'link.json' here"),
                            ({"kernel": "gemm"}, "found a kernel and a model, expected one of them"),
                            ({"params": {"m": "1"}}, "a model has no parameters"),
                            ({"options": {"phase": "prefill:21"}}, "phase"), ({"options": {"tensor": ["a=b"]}}, "tensor"),
                            ({"options": {"pes": "all", "kernel": "gemm"}}, "kernel")):
            status, _, body = self.server.ask("POST", "/api/runs", json.dumps({**request, **wrong}))
            self.assertEqual(status, 400, wrong)
            self.assertIn(says, json.loads(body)["fault"])
        failed = self.server.run({**request, "options": {"phase": ["prefill:0"]}})
        self.assertEqual(self.server.runs()[0]["state"], "failed")
        self.assertIn("prefill:0", self.server.runs()[0]["said"][0], failed)

    def test_energy(self):
        self.assertIn("n7.yaml", json.loads(self.server.ask("GET", "/api/system")[2])["energies"])
        request = {"kernel": "gemm", "topology": "below.yaml", "energy": "n7.yaml"}
        run = self.server.run(request)
        mine = json.loads(self.server.ask("GET", f"/runs/{run}/run.json")[2])
        theirs = json.loads(self.succeeds("run", "--kernel", "gemm", "--topology", topology("one_cube.yaml"), "--energy", "n7.yaml", "--format", "json"))
        self.assertEqual(mine["energy"], theirs["energy"])
        self.assertEqual(self.server.runs()[0]["request"]["energy"], "n7.yaml")
        for wrong in ("none.yaml", "../n7.yaml", "/etc/passwd"):
            self.assertEqual(self.server.ask("POST", "/api/runs", json.dumps({**request, "energy": wrong}))[0], 400, wrong)

    def test_sweeps(self):
        request = {"kernel": "gemm", "topology": "below.yaml", "over": ["param.m=64,128,0", "scale.hbm=1,2"], "metrics": ["sim_ns", "tflops"]}
        run = self.server.run(request)
        points = json.loads(self.server.ask("GET", f"/runs/{run}/run.json")[2])
        self.assertEqual([(p["param.m"], p["scale.hbm"]) for p in points], [(m, h) for m in ("64", "128", "0") for h in ("1", "2")])
        one = json.loads(self.succeeds("run", "--kernel", "gemm", "--topology", topology("one_cube.yaml"), "--param", "m=128", "--scale", "hbm=2", "--format", "json"))
        self.assertEqual(points[3]["sim_ns"], one["sim_ns"])
        latest = self.server.runs()[0]
        self.assertEqual(latest["request"]["over"], request["over"])
        best = min(points[:4], key=lambda p: p["sim_ns"])
        self.assertEqual(latest["end"]["verdict"], [f"6 points, 2 failed; the shortest: param.m={best['param.m']} scale.hbm={best['scale.hbm']}: "
                                                    f"{best['sim_ns']:.3f} ns"])
        whole = self.server.run({**request, "over": ["param.m=64"]})
        self.assertEqual(self.server.runs()[0]["state"], "done")
        self.assertIn(b"<!doctype html>", self.server.ask("GET", f"/runs/{whole}/report.html")[2][:20])
        # No files, no columns without values, no columns from outside the sweep.
        for wrong in ({"over": ["oplog=a.jsonl,b.jsonl"]}, {"over": ["report=x"]}, {"over": ["param.m"]}, {"over": ["topology=a,b"]},
                      {"over": "param.m=1"}, {"over": []}, {"metrics": ["a=b"]}):
            status, _, body = self.server.ask("POST", "/api/runs", json.dumps({**request, **wrong}))
            self.assertEqual(status, 400, (wrong, body))

    def test_progress_and_what_an_earlier_run_tells(self):
        """A long run says how far it is; what is left is known once the same work has been done. And it can be stopped."""
        long = {"kernel": "gemm", "topology": "default.yaml", "params": {"m": "4096", "n": "4096", "k": "8192"}}
        folder = os.path.join(self.folder, "gemm-default-1.run")
        os.mkdir(folder)
        with open(os.path.join(folder, "request.json"), "w", encoding="utf-8") as f:
            json.dump(long, f)
        with open(os.path.join(folder, "end.json"), "w", encoding="utf-8") as f:
            json.dump({"status": 0, "wall_s": 99, "sim_ns": 1e9, "verdict": ["as if"]}, f)
        name = json.loads(self.server.ask("POST", "/api/runs", json.dumps({**long, "options": {"links": "flit"}}))[2])["name"]
        waits = json.loads(self.server.ask("POST", "/api/runs", json.dumps(long))[2])["name"]

        def now(run):
            return next(r for r in self.server.runs() if r["name"] == run)
        found = self.server.wait_for(lambda: now(name).get("left_s") is not None and now(name))
        self.assertRegex(found["progress"], r"^simulated [\d.]+ us, ")
        simulated = float(found["progress"].split()[1])
        self.assertAlmostEqual(found["left_s"] / (found["elapsed_s"] * (1e6 / simulated - 1)), 1, delta=0.01)
        self.assertEqual(now(waits)["state"], "waiting")
        for run in (waits, name):
            self.assertEqual(self.server.ask("POST", f"/api/runs/{run}/stop")[0], 200)
            self.server.wait_for(lambda: now(run)["state"] == "stopped")
        self.assertEqual(self.server.ask("POST", f"/api/runs/{name}/stop")[0], 409)


@unittest.skipUnless(CHROMIUM, "there is no Chromium (Debian: apt-get install chromium)")
class InABrowser(cli_support.Cli):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.server = self.enterContext(contextlib.closing(PageServer(self.folder)))
        self.browser = browser_of(self)

    def choose(self, element, value):
        self.browser.value(f"""(() => {{ const e = document.getElementById({element!r}); e.value = {value!r};
                               e.dispatchEvent(new Event('change', {{bubbles: true}})); }})()""")

    def start(self):
        before = self.browser.value("document.querySelectorAll('#runs tbody tr').length")
        self.browser.click("#new [type=submit]")
        self.browser.wait_for(f"document.querySelectorAll('#runs tbody tr').length === {before + 1}")

    def test_from_the_form_to_two_reports_side_by_side(self):
        b = self.browser
        b.open(self.server.url + "/")
        self.assertIn("an integer", b.value("document.querySelector('[data-param=m]').parentElement.title"))
        self.start()
        b.wait_for("document.querySelectorAll('#runs .done').length === 1")
        self.choose("option-links", "flit")
        b.focus("[data-param=m]")
        b.call("Input.insertText", text="512")
        b.focus("#set")
        b.call("Input.insertText", text="edge:mesh.bw_gbs=64")
        self.start()
        b.wait_for("document.querySelectorAll('#runs .done').length === 2")
        self.assertIn("m=512", b.text("runs"))
        self.assertIn("Bound by", b.text("runs"))

        for run in ("gemm-small-1", "gemm-small-2"):
            b.click(f"[data-run={run}] [type=checkbox]")
        b.click("#compare")
        b.wait_for("document.getElementById('difference-says') !== null")
        self.assertRegex(b.text("difference-says"), r"gemm-small-2 takes [\d.]+ % less than gemm-small-1\.")
        for differs in ("m512", "linksflit", "setedge:mesh.bw_gbs=64"):
            self.assertIn(differs, b.text("difference"))
        self.assertEqual(b.value("document.querySelectorAll('#reports iframe').length"), 2)
        # Both are drawn: neither makes a request, and the browser reports no error.
        b.wait_for(lambda: sum("/report.html" in url for url in b.requests()) == 2)

        # A wrong value: the run's own line is in the table.
        self.choose("option-links", "")
        b.focus("#scale")
        b.call("Input.insertText", text="nosuch=2")
        self.start()
        b.wait_for("document.querySelectorAll('#runs .failed').length === 1")
        self.assertIn("nosuch", b.value("document.querySelector('#runs tbody tr').textContent"))

        b.click("#show-system")
        b.wait_for("document.getElementById('system-picture').naturalWidth > 0")
        self.assertEqual(b.complaints(), [])
        for url in b.requests():
            self.assertTrue(url.startswith(self.server.url) or url.startswith("data:"), url)

    def test_timelines_of_two_reports_scroll_together(self):
        runs = [self.server.run({"kernel": "gemm", "topology": "small.yaml", "params": {"m": m}}) for m in ("256", "512")]
        b = self.browser
        b.open(self.server.url + "/")
        b.wait_for("document.querySelectorAll('#runs .done').length === 2")
        for run in runs:
            b.click(f"[data-run={run}] [type=checkbox]")
        b.click("#compare")
        b.wait_for(lambda: sum("/report.html" in url for url in b.requests()) == 2)
        # Messages of one page reach only the other one.
        b.value("""(() => { window.heard = [[], []];
            window.stand_ins = [...document.querySelectorAll('#reports iframe')].map((f, i) => {
                const other = document.createElement('iframe'); f.replaceWith(other);
                other.contentWindow.addEventListener('message', e => heard[i].push(e.data));
                return other.contentWindow; });
            window.tell = (source, about) => window.dispatchEvent(
                new MessageEvent('message', {source, data: {about, from: 1, to: 2, scroll: 0}})); })()""")
        b.value("tell(stand_ins[0], 'timeline')")
        b.wait_for("heard[1].length === 1 && heard[0].length === 0")
        b.value("tell(stand_ins[1], 'else'); tell(window, 'timeline')")
        # By the element: loading reports move it away from the mouse position.
        switch = "document.querySelector('#together')"
        b.value(f"{switch}.click(); tell(stand_ins[0], 'timeline')")
        b.value(f"{switch}.click(); tell(stand_ins[1], 'timeline')")
        b.wait_for("heard[0].length === 1")
        self.assertEqual(b.value("heard[1].length"), 1)

    def test_a_report_looks_where_the_page_around_it_says(self):
        run = self.server.run({"kernel": "gemm", "topology": "small.yaml"})
        report = self.server.ask("GET", f"/runs/{run}/report.html")[2].decode()
        around = os.path.join(self.folder, "around.html")
        with open(around, "w", encoding="utf-8") as f:
            f.write("<!doctype html><script>window.heard = []; addEventListener('message', e => heard.push(e.data));</script><iframe></iframe>"
                    "<script>const frame = document.querySelector('iframe'); frame.onload = () => { document.documentElement.dataset.ready = '1'; };"
                    "frame.srcdoc = " + json.dumps(report).replace("</", "<\\/") + ";</script>")
        b = self.browser
        b.open("file://" + around)
        b.value("frame.contentWindow.postMessage({about: 'timeline', from: 100, to: 300, scroll: 0}, '*')")
        window = "frame.contentDocument.getElementById('timeline-window').textContent"
        b.wait_for(f"{window}.startsWith('100')")
        self.assertEqual(b.value("heard.length"), 0)  # it is not sent again
        b.value("frame.contentWindow.postMessage({about: 'timeline', from: 300, to: 100, scroll: 'x'}, '*')")
        b.value("""frame.contentDocument.getElementById('timeline-canvas').dispatchEvent(
            new KeyboardEvent('keydown', {key: '+', bubbles: true}))""")
        b.wait_for("heard.length > 0")
        told = b.value("heard[heard.length - 1]")
        self.assertTrue(told["about"] == "timeline" and 100 < told["from"] < told["to"] < 300, told)

    def test_a_sweep_from_the_form(self):
        b = self.browser
        b.open(self.server.url + "/")
        b.focus("#over")
        b.call("Input.insertText", text="param.m=64,128")
        b.focus("#metrics")
        b.call("Input.insertText", text="sim_ns, energy_j")
        self.choose("energy", "n7.yaml")
        self.start()
        b.wait_for("document.querySelectorAll('#runs .done').length === 1")
        self.assertIn("2 points; the shortest: param.m=64", b.text("runs"))
        self.assertIn("energy n7.yaml", b.text("runs"))
        b.click("#runs tbody button")
        b.wait_for(lambda: sum("/report.html" in url for url in b.requests()) == 1)
        self.assertTrue(b.value("document.getElementById('together-choice').hidden"))
        self.assertEqual(b.complaints(), [])

    def test_a_model_from_the_form(self):
        write_model(self.folder, "config.json")
        b = self.browser
        b.open(self.server.url + "/")
        self.assertEqual(b.value("document.querySelectorAll('#option-phase').length"), 0)
        self.choose("work", "model:config.json")
        self.assertTrue(b.value("document.getElementById('of-params').hidden"))
        self.assertFalse(b.value("document.getElementById('option-verify').checked"))
        b.focus("#option-phase")
        b.call("Input.insertText", text="prefill:9\ndecode:batch=2,context=5")
        self.start()
        b.wait_for("document.querySelectorAll('#runs .done').length === 1")
        self.assertIn("phase prefill:9 decode:batch=2,context=5", b.text("runs"))
        self.choose("work", "kernel:gemm")
        self.assertFalse(b.value("document.getElementById('of-params').hidden"))
        self.assertTrue(b.value("document.getElementById('option-verify').checked"))
        self.assertEqual(b.complaints(), [])

    def test_a_report_reaches_nothing_of_the_server(self):
        """Even a page that somebody has put in the place of a report: it has no origin, and may ask for nothing."""
        run = self.server.run({"kernel": "gemm", "topology": "small.yaml"})
        report = os.path.join(self.folder, run + ".run", "report.html")
        with open(report, "w", encoding="utf-8") as f:
            f.write("""<!doctype html><title>evil</title><script>
                document.documentElement.dataset.ready = '1';
                document.title = origin;
                fetch('/').catch(e => { document.title += ' refused'; });
                </script>""")
        b = self.browser
        b.open(f"{self.server.url}/runs/{run}/report.html")
        b.wait_for("document.title === 'null refused'")


if __name__ == "__main__":
    without_web()
    cli_support.main()
