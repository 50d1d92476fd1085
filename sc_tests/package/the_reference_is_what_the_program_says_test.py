# SPDX-License-Identifier: Apache-2.0
"""Is docs/reference what scripts/make-reference writes now, is a page that differs found, and do all kernels have shapes?"""
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import pathlib
import re
import shutil
import tempfile
import unittest

import cli_support

SCRIPT = os.path.join(os.environ["KERNBENCH_SOURCE"], "scripts", "make-reference")


def loaded():
    loader = importlib.machinery.SourceFileLoader("make_reference", SCRIPT)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("make_reference", loader))
    loader.exec_module(module)
    return module


@unittest.skipUnless(os.path.exists(os.path.join(os.path.dirname(cli_support.KERNBENCH), "kernbench-web")),
                     "kernbench-web, whose options are in the reference, is not built")
class Reference(cli_support.Cli):
    @classmethod
    def setUpClass(cls):
        cls.script = loaded()
        cls.pages = cls.script.generate()
        cls.script.generate = lambda: cls.pages

    def check(self):
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            return self.script.main(["--check"]), said.getvalue()

    def test_pages_are_up_to_date(self):
        self.assertEqual(self.check(), (0, ""))

    def test_pages_that_differ_are_found(self):
        there, root = self.script.PAGES, self.script.ROOT
        with tempfile.TemporaryDirectory() as folder:
            self.script.ROOT, self.script.PAGES = pathlib.Path(folder), pathlib.Path(folder) / "pages"
            try:
                shutil.copytree(there, self.script.PAGES)
                self.assertEqual(self.check(), (0, ""))
                with open(self.script.PAGES / "ops.md", "a", encoding="utf-8") as page:
                    page.write("more\n")
                (self.script.PAGES / "mine.md").write_text("by hand\n", encoding="utf-8")
                (self.script.PAGES / "tl.md").unlink()
                status, said = self.check()
            finally:
                self.script.ROOT, self.script.PAGES = root, there
        self.assertEqual(status, 1)
        self.assertEqual(sorted(re.findall(r"pages/(\w+)\.md is out of date", said)), ["mine", "ops", "tl"])

    def test_kernels_have_shapes_and_types(self):
        kernels = {k["name"]: k for k in json.loads(self.succeeds("list", "kernels", "--format", "json"))}
        forms = {name: {t["name"]: (t["shape"], t["dtype"]) for t in k["tensors"]} for name, k in kernels.items()}
        self.assertEqual(forms["gemm"], {"a": (["m", "k"], "dtype"), "b": (["k", "n"], "dtype"),
                                         "c": (["m", "n"], "f(dtype)")})
        self.assertEqual(forms["vector_add"]["c"], (["n"], "dtype"))
        self.assertEqual(forms["all_gather"]["y"], (["PEs", "n*PEs"], "dtype"))  # for a launch in one cube
        self.assertEqual(forms["rope"]["cos"], (["seq", "dim/2"], "dtype"))
        self.assertEqual(forms["gqa_attention"]["qkv"][0], ["seq", "f(heads, kv_heads, dim)"])
        self.assertEqual(forms["reduce_scatter"]["y"], (["PEs", "n/PEs"], "dtype"))
        self.assertIn("    in   a  [m, k] dtype  (placed: rows)\n", self.succeeds("list", "kernels"))


if __name__ == "__main__":
    cli_support.main()
