# SPDX-License-Identifier: Apache-2.0
"""Does a file of which a case cannot be done here count as skipped, with what would bring it, and never as passed?"""
import os
import subprocess
import sys
import tempfile

import cli_support

CASES = {
    "def test_a(self): self.assertTrue(True)": (0, ()),
    "def test_a(self): self.skipTest('no x (Debian: apt-get install x)')":
        (cli_support.SKIPPED, ("left out: t.py: Some.test_a: no x (Debian: apt-get install x)",)),
    "def test_a(self):\n  for i in (1, 2):\n   with self.subTest(i=i):\n    if i == 2: self.skipTest('no x')":
        (cli_support.SKIPPED, ("left out: t.py: Some.test_a (i=2): no x",)),
    "@classmethod\n def setUpClass(cls): raise unittest.SkipTest('no x')\n def test_a(self): pass":
        (cli_support.SKIPPED, ("left out: t.py: setUpClass (Some): no x",)),
    "def test_a(self): self.skipTest('no x')\n def test_b(self): self.fail()": (1, ()),
    "pass": (1, ()),  # no test at all
}


class LeftOut(cli_support.Cli):
    def test_of_each_kind(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "t.py")
            for body, (status, lines) in CASES.items():
                with open(file, "w", encoding="utf-8") as f:
                    f.write(f"import unittest, cli_support\nclass Some(unittest.TestCase):\n {body}\ncli_support.main()\n")
                done = subprocess.run([sys.executable, file], capture_output=True, text=True)
                found = tuple(line for line in done.stdout.splitlines() if line.startswith("left out: "))
                self.assertEqual((done.returncode, found), (status, lines), body + done.stderr)


if __name__ == "__main__":
    cli_support.main()
