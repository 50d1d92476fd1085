# SPDX-License-Identifier: Apache-2.0
"""`run --check-races` finds nothing in any kernel that ships, says so, and is an option of no cost to the result."""
import json

import cli_support
from cli_support import topology

VARIED = {
    "gemm": [["m=100", "n=72", "k=130"], ["dtype=i8"]],
    "gemm_2d": [["m=100", "n=72", "k=130", "panel_k=8"], ["m=1", "n=1", "k=1"]],
    "gemm_dot": [["m=100", "n=72", "k=130"]],
    "attention": [["causal=true", "seq=64"]],
    "softmax": [["rows=13", "cols=700"]],
    "newton_sqrt": [["n=1000", "block=100"]],
}


class CheckRaces(cli_support.Cli):
    def kernels(self):
        lines = self.succeeds("list", "kernels").splitlines()
        return [line.split(":")[0] for line in lines if line and not line.startswith(" ")]

    def test_no_shipped_kernel_races(self):
        kernels = self.kernels()
        self.assertIn("newton_sqrt", kernels)
        for kernel in kernels:
            for params in [[]] + VARIED.get(kernel, []):
                given = [x for p in params for x in ("--param", p)]
                report = json.loads(self.succeeds("run", "--topology", topology("small.yaml"), "--kernel", kernel, *given,
                                                  "--check-races", "--format", "json"))
                self.assertEqual(report["races"], [], f"{kernel} {params}")

    def test_the_text_says_so(self):
        out = self.succeeds("run", "--topology", topology("small.yaml"), "--kernel", "mlp", "--check-races")
        self.assertIn("\nno races\n", out)

    def test_without_the_option_nothing_is_said(self):
        report = json.loads(self.succeeds("run", "--topology", topology("small.yaml"), "--kernel", "softmax", "--format",
                                          "json"))
        self.assertNotIn("races", report)


if __name__ == "__main__":
    cli_support.main()
