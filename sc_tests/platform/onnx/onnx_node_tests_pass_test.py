#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ONNX's own node tests: none is wrong, none crashes, and as many pass as did."""
import os
import re
import subprocess
import unittest

from cli_support import KERNBENCH, leave_out, main, skip_under_sanitizers, topology

SUITE = os.path.join(os.environ["KERNBENCH_SOURCE"], "scripts/onnx-suite")
PASSED = 808  # of libonnx-testdata 1.12


class NodeTests(unittest.TestCase):
    def test_suite(self):
        done = subprocess.run([SUITE, "--kernbench", KERNBENCH, "--topology", topology("small.yaml"), "--jobs", "2"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        counts = re.search(r"(\d+) passed, (\d+) refused, 0 wrong, 0 crashed, of (\d+)\n$", done.stdout)
        self.assertTrue(counts, done.stdout)
        if counts[3] == "932":
            self.assertGreaterEqual(int(counts[1]), PASSED)


if __name__ == "__main__":
    skip_under_sanitizers("a process for each of 932 tests")
    # Here and not in the test, because unittest takes the exit of leave_out() for an error.
    if subprocess.run([SUITE, "--only", "test_abs", "--kernbench", KERNBENCH], capture_output=True, check=False).returncode == 77:
        leave_out("libonnx-testdata is not installed")
    main()
