#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do kernels multicast correctly? tl.multicast writes the same bytes to every memory, in Phase 1, in the op log, in replay
and under observers. send_all and algorithm=multicast give the results of the other algorithms. gemm_mcast verifies on
any grid and shape."""
import json
import unittest

import cli_support

THREE = ",".join(f"sip0.cube0.pe{i}" for i in (0, 3, 5))
LINKS = ("ideal", "cut_through", "flit")


class Multicasts(cli_support.FolderCli):
    def records(self, path):
        with open(path, encoding="utf-8") as f:
            return [json.loads(line) for line in f]

    def test_every_memory_gets_the_bytes(self):
        for links in LINKS:
            log, here, there = (self.path(links + e) for e in (".jsonl", ".a.npy", ".b.npy"))
            out = self.succeeds("run", "--kernel", "share_row", "--topology", "small", "--links", links, "--verify",
                                "--check-races", "--oplog", log, "--dump", f"copies={here}")
            self.assertIn("verified", out)
            writes = [r for r in self.records(log) if r.get("op_name") == "dma_write" and "destinations" in r["params"]]
            self.assertEqual(len(writes), 1)
            to = writes[0]["params"]["destinations"]
            self.assertEqual(len({(d["space"], d["addr"]) for d in to}), 8)
            self.assertEqual(to[0]["addr"], writes[0]["params"]["dst_addr"])
            self.succeeds("replay", "--oplog", log, "--dump", f"copies={there}")
            with open(here, "rb") as a, open(there, "rb") as b:
                self.assertEqual(a.read(), b.read())

    def test_observers_change_nothing_and_the_path_sums_to_the_run(self):
        for links in LINKS:
            for kernel in (["share_row"], ["all_gather", "--param", "algorithm=multicast"]):
                words = ["run", "--kernel", *kernel, "--topology", "small", "--links", links, "--format", "json"]
                runs = [json.loads(self.succeeds(*words, *o)) for o in (["--explain"], [], ["--energy", "n7.yaml"])]
                self.assertEqual(len({r["sim_ns"] for r in runs}), 1)
                insight = runs[0]["insight"]
                self.assertAlmostEqual(sum(insight["blame_ns"].values()), runs[0]["sim_ns"], 3)
                self.assertLess(insight["causes"]["unexplained_ns"], 1e-3, (links, kernel))

    def test_collectives_verify(self):
        for kernel in ("all_gather", "broadcast", "all_reduce"):
            for links in LINKS:
                for more in (["--param", "n=1"], ["--param", "n=3001", "--param", "dtype=f16"], ["--pes", THREE]):
                    out = self.succeeds("run", "--kernel", kernel, "--topology", "one_cube", "--links", links, "--param",
                                        "algorithm=multicast", "--verify", "--check-races", *more)
                    self.assertIn("verified", out)

    def test_gemm_mcast_verifies_on_any_grid(self):
        for topology, more in (("one_cube", "m=100 n=70 k=33 dtype=f16"), ("one_cube", "m=3 n=70 k=5 dtype=bf16"),
                               ("small", "m=257 n=130 k=64 panel_m=32 panel_n=48 panel_k=20 dtype=i8"),
                               ("one_cube", "m=1 n=1 k=1")):
            out = self.succeeds("run", "--kernel", "gemm_mcast", "--topology", topology, "--verify", "--check-races",
                                *[w for p in more.split() for w in ("--param", p)])
            self.assertIn("verified", out)
        self.assertIn("verified", self.succeeds("run", "--kernel", "gemm_mcast", "--topology", "one_cube", "--pes", THREE,
                                                "--param", "m=64", "--param", "n=48", "--param", "k=40", "--verify"))


if __name__ == "__main__":
    cli_support.main()
