# SPDX-License-Identifier: Apache-2.0
"""How full HBM and TCM were at most: by a pencil; in the verdict above 90 %; as metrics; and a refusal beyond."""
import json
import os
import tempfile

import cli_support
from cli_support import topology

KB = 1 << 10
MB = 1 << 20
PES = 8  # of small.yaml


class Capacity(cli_support.Cli):
    def setUp(self):
        """small.yaml with slices of 1 MB."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.system = os.path.join(folder.name, "slices.yaml")
        with open(topology("small.yaml"), encoding="utf-8") as file, open(self.system, "w", encoding="utf-8") as mine:
            mine.write(file.read().replace("slice_mb: 1024", "slice_mb: 1"))

    def run_of(self, kb, *more):
        """a, b and c of vector_add, `kb` KB each on every PE."""
        return ("run", "--topology", self.system, "--kernel", "vector_add", "--param", f"n={kb * KB // 4 * PES}", *more)

    def insight(self, kb, *more):
        return json.loads(self.succeeds(*self.run_of(kb, "--explain", "--format", "json", *more)))["insight"]

    def fill(self, insight, space):
        """Bytes used and there, of each; all PEs do the same."""
        return {(c["most_bytes"], c["bytes"], c["near"]) for c in insight["capacity"] if c["space"] == space}

    def told(self, insight):
        return [s for s in insight["verdict"] if "nearly full" in s]

    def test_by_a_pencil(self):
        for kb, near in ((32, False), (300, False), (320, True), (340, True)):
            with self.subTest(kb):
                found = self.insight(kb)
                self.assertEqual(self.fill(found, "hbm"), {(3 * kb * KB, MB, near)})
                self.assertEqual(sum(c["space"] == "hbm" for c in found["capacity"]), PES)
                self.assertEqual(len(self.told(found)), near)
        self.assertEqual(self.told(self.insight(340)), [
            "HBM is nearly full: 1,044,480 of 1,048,576 bytes at sip0.cube0.hbm_ctrl.pe0, 99.6 %; above 90 % at 7 more."])
        self.refuses(*self.run_of(344), saying=["do not fit sip0.cube0.hbm_ctrl.pe0"], lines=1)

    def test_buffers_of_kernels_in_tcm(self):
        self.assertEqual(self.fill(self.insight(32), "tcm"), {(96 * KB, 15 * MB, False)})
        tight = self.insight(32, "--set", "*.reserved_mb=15.9")  # of 16
        (most, there, near), = self.fill(tight, "tcm")
        self.assertEqual((most, near), (96 * KB, True))
        self.assertAlmostEqual(there, 0.1 * MB, delta=64)
        self.assertIn("TCM is nearly full", self.told(tight)[0])

    def test_of_a_machine_that_holds_nothing_nothing_is_said(self):
        out = self.succeeds("run", "--topology", self.system, "--kernel", "barrier", "--explain", "--format", "json")
        self.assertNotIn("hbm_full_pct", json.loads(out)["figures"])
        self.assertEqual([c for c in json.loads(out)["insight"]["capacity"] if c["space"] == "hbm"], [])

    def test_some_pes(self):
        found = self.insight(40, "--pes", "sip0.cube0.pe0,sip0.cube0.pe1")
        self.assertEqual(sum(c["space"] == "hbm" for c in found["capacity"]), 2)
        self.assertEqual(self.fill(found, "hbm"), {(3 * 4 * 40 * KB, MB, False)})

    def test_metrics_and_text(self):
        self.assertIn("full         HBM at most 93.8 %: 983,040 of 1,048,576 bytes at sip0.cube0.hbm_ctrl.pe0",
                      self.succeeds(*self.run_of(320, "--explain")))
        table = json.loads(self.succeeds("sweep", "--over", "param.n=65536,655360", "--metric", "hbm_full_pct,tcm_full_pct",
                                         "--format", "json", "--", "run", "--topology", self.system, "--kernel",
                                         "vector_add"))
        rows = table if isinstance(table, list) else table["rows"]
        self.assertEqual([r["hbm_full_pct"] for r in rows], [9.375, 93.75])


if __name__ == "__main__":
    cli_support.main()
