# SPDX-License-Identifier: Apache-2.0
"""Kernels whose tensors lie over ranks, cubes and PEs, on PEs that stand at other places in each cube or SIP: they give
what their references say, or one line tells why they do not run there."""
import cli_support
from cli_support import topology

# By SIP, cube and PE.
OTHER_PLACES = ((0, 0, 0), (0, 0, 1), (0, 1, 2), (0, 1, 3))
ONE_EACH = ((0, 0, 0), (0, 1, 3))
OTHER_CUBES = ((0, 0, 0), (0, 0, 1), (0, 2, 3), (0, 2, 7), (1, 1, 2), (1, 1, 3), (1, 5, 0), (1, 5, 4))
UNLIKE_CUBES = ((0, 0, 0), (0, 0, 1), (0, 0, 2), (0, 1, 3))
UNLIKE_RANKS = ((0, 0, 0), (0, 1, 1), (0, 2, 2), (1, 1, 5))


def pes(places):
    return ("--pes", ",".join("sip%d.cube%d.pe%d" % p for p in places))


class AnyPes(cli_support.FolderCli):
    def verifies(self, kernel, machine, *more):
        with self.subTest(kernel=kernel, machine=machine, more=more):
            self.assertIn(", verified", self.succeeds("run", "--kernel", kernel, "--topology", topology(machine), "--verify",
                                                      *more))

    def is_refused(self, kernel, machine, places, text):
        with self.subTest(kernel=kernel, places=places):
            self.refuses("run", "--kernel", kernel, "--topology", topology(machine), "--verify", *pes(places), saying=[text],
                         lines=1)

    def test_other_places_in_each_cube(self):
        for machine, places in (("small.yaml", OTHER_PLACES), ("small.yaml", ONE_EACH), ("default.yaml", OTHER_CUBES)):
            for kernel in ("decode_linear", "argmax_of_columns"):
                self.verifies(kernel, machine, *pes(places))
            self.verifies("decode_linear", machine, *pes(places), "--param", "m=3", "--param", "n=40", "--param", "k=17")

    def test_cubes_and_ranks_unlike_in_size(self):
        cubes = "cubes and ranks of the launch differ in size: 2 PEs with sip0.cube0.pe0, 1 PEs with sip0.cube0.pe1"
        for kernel in ("decode_linear", "argmax_of_columns"):
            self.is_refused(kernel, "small.yaml", UNLIKE_CUBES, cubes)
        self.is_refused("decode_linear", "default.yaml", UNLIKE_RANKS, "cubes and ranks of the launch differ in size")
        self.verifies("argmax_of_columns", "default.yaml", *pes(UNLIKE_RANKS))

    def test_sums_over_ranks_are_of_like_places(self):
        for places in (OTHER_CUBES, UNLIKE_RANKS):
            self.is_refused("tp_gemm_all_reduce", "default.yaml", places,
                            "expected one at the place of sip0.cube0.pe0 in all 2")
        alike = [(rank, cube, pe) for rank in (0, 1) for cube, pe in ((0, 0), (1, 1))]
        self.verifies("tp_gemm_all_reduce", "default.yaml", *pes(alike))
        self.verifies("tp_gemm_all_reduce", "default.yaml", *pes(ONE_EACH))

    def test_ranges_of_keys_are_put_together_in_each_rank(self):
        self.verifies("flash_combine", "default.yaml")
        self.verifies("flash_combine", "six_sip_torus.yaml", "--param", "batch=3", "--param", "splits=5")
        self.verifies("flash_combine", "default.yaml", "--param", "parts=2", "--param", "dtype=f16")
        for places in (OTHER_CUBES, UNLIKE_RANKS):
            for kernel in ("flash_combine", "flash_decode", "gqa_attention"):
                self.verifies(kernel, "default.yaml", *pes(places))
                self.verifies(kernel, "default.yaml", *pes(places), "--param", "parts=2")


if __name__ == "__main__":
    cli_support.main()
