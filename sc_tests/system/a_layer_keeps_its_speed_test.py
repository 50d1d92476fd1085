# SPDX-License-Identifier: Apache-2.0
"""Do the quick GEMM and a layer written with it stay as near to the peak, and as cheap, as docs/programs.md says?"""
import json
import os
import re
import resource

import cli_support
from cli_support import topology

LAYER = {"tokens": 2048, "dim": 4096, "heads": 32, "kv_heads": 8, "head_dim": 128, "hidden": 14336}


def params(values):
    return [w for name, value in values.items() for w in ("--param", f"{name}={value}")]


class Speed(cli_support.Cli):
    def report(self, *arguments):
        return json.loads(self.succeeds("run", "--topology", topology("default.yaml"), "--param", "dtype=f16", "--format", "json",
                                        *arguments))

    def cpu_s(self):
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    def documented(self, pattern):
        text = ""
        for page in ("docs/notes/models.md", "kernel_api/kernels/README.md", "platform/models/README.md"):
            with open(os.path.join(os.environ["KERNBENCH_SOURCE"], page), encoding="utf-8") as f:
                text += " ".join(f.read().split())
        return [float(x.replace(",", "")) for x in re.search(pattern, text).groups()]

    def test_gemm_2d(self):
        for shape, events in (((4096, 4096, 4096), 400e3), ((2048, 28672, 4096), 600e3), ((2048, 4096, 14336), 700e3)):
            us, share = self.documented(rf"\| {shape[0]} × {shape[1]} × {shape[2]} \| ([\d.]+) \| ([\d.]+) % \|")
            r = self.report("--kernel", "gemm_2d", *params(dict(zip("mnk", shape))))
            self.assertAlmostEqual(r["sim_ns"] / 1e3, us, delta=0.1)
            self.assertAlmostEqual(100 * r["gemm_peak_share"], share, delta=0.1)
            self.assertGreater(share, 85)
            self.assertLess(r["events"], events)

    def test_linear(self):
        """The same in a program, which shares out the columns of c: of a square the time is another."""
        square, share_of_square = self.documented(r"but for 4096 × 4096 × 4096: ([\d.]+) µs, ([\d.]+) %")
        for shape in ((4096, 4096, 4096), (2048, 28672, 4096), (2048, 4096, 14336)):
            us, share = self.documented(rf"\| {shape[0]} × {shape[1]} × {shape[2]} \| ([\d.]+) \| ([\d.]+) % \|")
            if shape[0] == shape[1]:
                us, share = square, share_of_square
            r = self.report("--program", "linear", *params(dict(zip("mnk", shape))))
            self.assertAlmostEqual(r["sim_ns"] / 1e3, us, delta=0.1)
            self.assertAlmostEqual(100 * r["gemm_peak_share"], share, delta=0.1)
            self.assertGreater(share, 85)

    def test_a_layer(self):
        us, share, events = self.documented(r"it takes ([\d.,]+) µs, ([\d.]+) % of the GEMM peak, with ([\d.]+) M events")
        before = self.cpu_s()
        r = self.report("--program", "llama_layer", "--ranks", "1", *params(LAYER))
        longer = int(os.environ.get("KERNBENCH_TIMES_LONGER", 1))
        self.assertLess(self.cpu_s() - before, 20 * longer)  # 10 on an idle machine
        if longer == 1:  # sanitizers need additional memory
            self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, 1 << 20)  # KiB
        self.assertAlmostEqual(r["sim_ns"] / 1e3, us, delta=0.1)
        self.assertAlmostEqual(100 * r["gemm_peak_share"], share, delta=0.1)
        self.assertGreater(share, 60)
        self.assertAlmostEqual(r["events"] / 1e6, events, delta=0.1)

    def test_causal_attention(self):
        """Half the work of all keys, shared out evenly: at least 0.75 of the rate."""
        for dim in (64, 128):
            times = [self.report("--kernel", "attention", *params({"heads": 8, "seq": 1024, "dim": dim, "causal": causal}))["sim_ns"]
                     for causal in ("true", "false")]
            self.assertLess(times[0], times[1] * (1025 / 2048) / 0.75)


if __name__ == "__main__":
    cli_support.main()
