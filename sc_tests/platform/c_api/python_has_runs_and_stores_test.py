#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`import kernbench`: records, stores and faults as the command line has them; the notebook runs."""
import json
import os
import sys
import tempfile
import unittest

SOURCE = os.environ["KERNBENCH_SOURCE"]
sys.path.insert(0, os.path.join(SOURCE, "platform/c_api/python"))
import kernbench  # noqa: E402

GEMM = {"topology": "small", "kernel": "gemm", "param": {"m": 64, "n": 64, "k": 64}}


class Python(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_a_record_has_figures_and_report(self):
        record = kernbench.run(**GEMM, verify=True)
        self.assertEqual(record["status"], 0)
        self.assertGreater(record["figures"]["sim_ns"], 0)
        self.assertEqual(record["figures"]["sim_ns"], kernbench.run(**GEMM)["figures"]["sim_ns"])
        page = os.path.join(self.folder, "page.html")
        kernbench.report(page, **GEMM)
        with open(page, encoding="utf-8") as f:
            self.assertIn("<html", f.read())

    def test_a_store_has_a_row_for_each_point(self):
        file = os.path.join(self.folder, "store.sqlite")
        rows = kernbench.sweep(file, {"links": ["ideal", "flit"]}, jobs=1, **GEMM).rows()
        self.assertEqual([r["exit"] for r in rows], [0, 0])
        self.assertEqual({r["sim_ns"] for r in rows},
                         {kernbench.run(**GEMM, links=links)["figures"]["sim_ns"] for links in ("ideal", "flit")})
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.assertRaisesRegex(kernbench.Error, "pandas", kernbench.store(file).frame)
        else:
            self.assertEqual(list(kernbench.store(file).frame()["sim_ns"]), [r["sim_ns"] for r in rows])

    def test_faults_have_the_lines_of_the_command_line(self):
        other = os.path.join(self.folder, "other")
        with open(other, "w", encoding="utf-8") as f:
            f.write("no database")
        for fault, call in (("there is no kernel 'gem'", lambda: kernbench.run(topology="small", kernel="gem")),
                            ("unknown option '--kernell'", lambda: kernbench.run(topology="small", kernell="gemm")),
                            ("none.json: cannot be read", lambda: kernbench.model("none.json", topology="small")),
                            ("no such file", kernbench.store("none.sqlite").rows),
                            ("is no store", kernbench.store(other).rows),
                            ("nothing", lambda: kernbench.sweep(other + ".sqlite", {"nothing": [1]}, **GEMM))):
            with self.assertRaisesRegex(kernbench.Error, fault) as told:
                call()
            self.assertEqual(told.exception.status, 2)

    def test_the_notebook_runs(self):
        with open(os.path.join(SOURCE, "examples/notebooks/capacity_plan.ipynb"), encoding="utf-8") as f:
            cells = json.load(f)["cells"]
        os.chdir(SOURCE)
        names = {}
        for cell in cells:
            if cell["cell_type"] == "code":
                exec("".join(cell["source"]), names)  # pylint: disable=exec-used
        self.assertGreater(names["plan"][10000], names["plan"][1000000])


if __name__ == "__main__":
    unittest.main()
