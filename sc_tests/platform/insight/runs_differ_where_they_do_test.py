# SPDX-License-Identifier: Apache-2.0
"""Does diff find what two runs differ in, and nothing where they are the same? From reports and from op logs of either kind."""
import json
import os
import tempfile

import cli_support
from cli_support import topology


class Diffs(cli_support.Cli):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def run_of(self, name, *more, kernel="gemm"):
        """A report and a log of it."""
        log = self.path(name + (".sqlite" if name.endswith("q") else ".jsonl"))
        out = self.succeeds("run", "--topology", topology("small.yaml"), "--kernel", kernel, "--explain", "--format", "json",
                            "--oplog", log, "--memory", "none", *more)
        with open(self.path(name + ".json"), "w") as file:
            file.write(out)
        return self.path(name + ".json"), log

    def diff(self, a, b):
        return json.loads(self.succeeds("diff", a, b, "--format", "json"))

    def test_the_same_run_twice(self):
        for a, b in zip(self.run_of("a"), self.run_of("b")):
            d = self.diff(a, b)
            self.assertEqual((d["slower"], d["configuration"], d["blame"], d["engines"], d["ops_that_differ"]),
                             (0, [], [], [], 0))

    def test_a_slower_machine(self):
        (a, log_a), (b, log_b) = self.run_of("a"), self.run_of("b", "--scale", "gemm=0.25")
        d = self.diff(a, b)
        runs = []
        for name in (a, b):
            with open(name) as file:
                runs.append(json.load(file))
        self.assertAlmostEqual(d["slower"], runs[1]["sim_ns"] / runs[0]["sim_ns"] - 1)
        self.assertAlmostEqual(sum(c["by_ns"] for c in d["blame"]), runs[1]["sim_ns"] - runs[0]["sim_ns"], 3)
        # The components of the eight computing PEs changed most.
        self.assertEqual([c["name"].split(".")[-1] for c in d["engines"][:8]], ["pe_gemm"] * 8)
        self.assertAlmostEqual(d["engines"][0]["b_ns"], 4 * d["engines"][0]["a_ns"])
        logs = self.diff(log_a, log_b)
        self.assertEqual([c["key"] for c in logs["configuration"]], ["scale.gemm"])
        self.assertGreater(logs["ops_that_differ"], 0)
        self.assertRegex(logs["first"]["line"], r"gemm\.cpp:\d+$")
        self.assertLess(logs["first"]["a"]["end_ns"], logs["first"]["b"]["end_ns"])

    def test_ops_that_are_not_there(self):
        (_, a), (_, b) = self.run_of("a"), self.run_of("bq", "--pes", "sip0.cube0.pe0")
        d = self.diff(a, b)
        self.assertIn("pes", [c["key"] for c in d["configuration"]])
        self.assertGreater(d["ops_that_differ"], 6)
        # If only one PE has work, the ops of the others are missing.
        self.assertEqual(d["ops"], 8)
        self.assertEqual(self.diff(b, a)["ops_that_differ"], d["ops_that_differ"])

    def test_a_gate(self):
        (a, _), (b, _) = self.run_of("a"), self.run_of("b", "--scale", "hbm=0.5", "--scale", "mesh=0.5")
        self.assertGreater(self.diff(a, b)["slower"], 0.01)
        for first, second, share, expected in ((a, b, "1%", 1), (b, a, "1%", 0), (a, b, "5000%", 0), (a, a, "0%", 0)):
            status, out, err = self.run_cli("diff", first, second, "--fail-over", share)
            self.assertEqual(status, expected, (share, err))
            self.assertIn("ns", out)

    def store_of(self, name, seeds, *more):
        store = self.path(name)
        self.succeeds("sweep", "--over", f"seed={seeds}", "--store", store, "--", "run", "--topology",
                      topology("small.yaml"), "--kernel", "vector_add", *more)
        return store

    def test_stores(self):
        a, b = self.store_of("a.sqlite", "1,2"), self.store_of("b.sqlite", "1,2,3", "--scale", "hbm=0.5")
        self.assertIn("2 points in both, 0 of them with another time; 0 in a alone, 0 in b alone",
                      self.succeeds("diff", a, a))
        out = self.succeeds("diff", a, b)
        self.assertRegex(out, r"scale\.hbm +- +0\.5\n")
        self.assertIn("2 points in both, 2 of them with another time; 0 in a alone, 1 in b alone", out)
        self.assertEqual(self.run_cli("diff", a, b, "--fail-over", "1%")[0], 1)
        self.assertEqual(self.run_cli("diff", b, a, "--fail-over", "1%")[0], 0)
        report, log = self.run_of("r")
        for other in (report, log):
            self.refuses("diff", a, other, saying=["two of a kind"], lines=1)

    def test_wrong_files(self):
        a, log = self.run_of("a")
        self.refuses("diff", a, log, saying=["two of a kind"], lines=1)
        self.refuses("diff", a, self.path("none"), saying=["none"], lines=1)
        self.refuses("diff", a, self.folder.name, lines=1)
        self.refuses("diff", a, a, "--fail-over", "1", saying=["--fail-over", "1%"], lines=1)
        for text in ("", "{", "[1, 2]", "{\n \"sim_ns\": -1\n}", "{\n \"sim_ns\": 1, \"sim_ns\": 2\n}",
                     "{\n \"sim_ns\": 1, \"engines\": 3\n}", "{\n" + "\"a\": {" * 100):
            with open(self.path("bad.json"), "w") as file:
                file.write(text)
            self.refuses("diff", self.path("bad.json"), a, saying=["bad.json"], lines=1)
        with open(log, "r+b") as file:
            file.seek(200)
            byte = file.read(1)
            file.seek(200)
            file.write(bytes([byte[0] ^ 1]))
        self.refuses("diff", log, log, saying=[os.path.basename(log)], lines=1)


if __name__ == "__main__":
    cli_support.main()
