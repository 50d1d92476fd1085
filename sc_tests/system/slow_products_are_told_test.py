# SPDX-License-Identifier: Apache-2.0
"""A run that stays far under its roofline is told what would be quicker: is that so, and only then?"""
import re

import cli_support
from cli_support import topology

DEFAULT = topology("default.yaml")
TOLD = re.compile(r"^kernbench: (\S+)(?: at (\S+):(\d+))? took ([\d.]+) us, ([\d.]+) times the ([\d.]+) us that its roofline allows"
                  r"(?:, reading [\d.]+ \S+ for operands of [\d.]+ \S+)?: gemm_2d, .* would take about ([\d.]+) us(?:; so of (\d+) launches)?$", re.M)


def sizes(m, n, k):
    return ["--param", f"m={m}", "--param", f"n={n}", "--param", f"k={k}"]


class Advice(cli_support.Cli):
    def run_and_read(self, *arguments):
        status, out, err = self.run_cli("run", "--topology", DEFAULT, *arguments)
        self.assertEqual(status, 0, err)
        return out, err

    def us(self, out):
        return float(re.search(r": ([\d.]+) us$", out.splitlines()[0])[1])

    def test_what_it_says_is_so(self):
        """The prediction is within a quarter of what gemm_2d takes when it is simulated."""
        for shape, dtype in (((2048, 2048, 2048), "f32"), ((1024, 4096, 2048), "f16")):
            wide = ["--param", "tile_m=32", "--param", "tile_n=512", "--param", "tile_k=32"]
            slow, err = self.run_and_read("--kernel", "gemm", *sizes(*shape), "--param", f"dtype={dtype}", *wide)
            [told] = TOLD.findall(err)
            self.assertEqual(told[0], "gemm")
            took, times, allowed, predicted = map(float, told[3:7])
            self.assertGreater(times, 3)
            self.assertRegex(err, r", reading [\d.]+ [MG]iB for operands of [\d.]+ MiB: ")  # b in each PE, a repeatedly
            self.assertAlmostEqual(took, self.us(slow), delta=1)
            self.assertAlmostEqual(took / allowed, times, delta=0.2)
            quick, err = self.run_and_read("--kernel", "gemm_2d", *sizes(*shape), "--param", f"dtype={dtype}")
            self.assertEqual(err, "")
            self.assertLess(abs(predicted / self.us(quick) - 1), 0.25, (shape, dtype, predicted, self.us(quick)))

    def test_explain_says_it_too(self):
        out, err = self.run_and_read("--kernel", "gemm", *sizes(1024, 4096, 2048), "--param", "dtype=f16", "--param", "tile_n=512",
                                     "--param", "tile_k=32", "--explain")
        self.assertIn(TOLD.search(err)[0].replace("kernbench: ", "               ", 1) + ".\n", out)

    def test_what_is_tiny_or_near_its_roofline_is_not_told(self):
        for arguments in (["--kernel", "gemm"], ["--kernel", "gemm_dot"], ["--kernel", "mlp"], ["--program", "tp_mlp"],
                          ["--kernel", "gemm", *sizes(1, 4096, 4096)], ["--kernel", "vector_add"]):
            self.assertEqual(self.run_and_read(*arguments)[1], "", arguments)

    def test_a_program_is_told_once_and_where(self):
        _, err = self.run_and_read("--program", "tp_mlp", "--param", "tokens=1024", "--param", "dim=2048", "--param",
                                   "hidden=2048")
        [told] = TOLD.findall(err)
        self.assertEqual(told[0], "tp_linear")
        self.assertTrue(told[1].endswith("tp_mlp.cpp"), told)
        self.assertEqual(told[7], "2")


if __name__ == "__main__":
    cli_support.main()
