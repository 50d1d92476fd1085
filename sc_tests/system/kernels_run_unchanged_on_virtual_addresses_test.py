#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`run --address virtual`: any kernel runs through the MMUs, with the same results, and with a free TLB at the same times."""
import json
import os
import tempfile
import unittest

from cli_support import Cli, main, topology

KERNELS = [
    ["vector_add", "--param", "n=100003"],
    ["gemm", "--param", "m=100", "--param", "n=72", "--param", "k=130"],
    ["gemm_dot", "--param", "dtype=i8"],
    ["gemm_epilogue", "--param", "activation=gelu", "--param", "dtype=bf16"],
    ["softmax", "--param", "rows=40"],
    ["rmsnorm"],
    ["attention", "--param", "seq=64"],
    ["mlp", "--param", "tokens=32", "--param", "dim=64", "--param", "hidden=64"],
    ["gather"],
]


class VirtualAddresses(Cli):
    def report(self, kernel, *options, file="small.yaml"):
        out = self.succeeds("run", "--topology", topology(file), "--kernel", *kernel, "--verify", "--format", "json",
                            *options)
        return json.loads(out)

    def test_give_equal_results_at_equal_times(self):
        with tempfile.TemporaryDirectory() as folder:
            for kernel in KERNELS:
                with self.subTest(kernel=kernel):
                    output = {"vector_add": "c", "gemm": "c", "gemm_dot": "c", "gemm_epilogue": "c",
                              "attention": "o"}.get(kernel[0], "y")
                    files = [os.path.join(folder, name) for name in ("physical.npy", "virtual.npy")]
                    physical = self.report(kernel, "--dump", f"{output}={files[0]}")
                    virtual = self.report(kernel, "--dump", f"{output}={files[1]}", "--address", "virtual")
                    self.assertTrue(virtual["verify"]["passed"])
                    for key in ("start_ns", "end_ns", "pes", "engines", "events"):
                        self.assertEqual(physical[key], virtual[key], key)
                    with open(files[0], "rb") as a, open(files[1], "rb") as b:
                        self.assertEqual(a.read(), b.read(), "other bits")

    def test_stand_in_the_log_beside_the_physical_ones(self):
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "log.jsonl")
            self.report(["assemble"], "--oplog", log)
            with open(log) as lines:
                records = [json.loads(line) for line in lines]
            loads = [r["params"] for r in records if r["op_name"] == "dma_read"]
            self.assertEqual(len(loads), 1, "one command")
            load = loads[0]
            self.assertEqual(load["src_virtual_addr"], 1 << 52)
            self.assertEqual(load["src_pieces"][0]["addr"], load["src_addr"])
            self.assertEqual(len(load["src_pieces"]), 8)
            self.assertEqual(sum(p["nbytes"] for p in load["src_pieces"]), load["nbytes"])
            shards = [t for t in records[0]["params"]["tensors"] if t["name"] == "x"][0]["shards"]
            self.assertEqual([p["addr"] for p in load["src_pieces"]], [s["addr"] for s in shards])

    def test_leave_no_trace_in_a_physical_run(self):
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "log.jsonl")
            report = self.report(["vector_add"], "--oplog", log)
            self.assertNotIn("addresses", report)
            with open(log) as lines:
                self.assertNotIn("virtual", "".join(lines.readlines()[1:]))  # the header contains the topology file

    def test_are_told_in_the_report(self):
        out = self.succeeds("run", "--topology", topology("small.yaml"), "--kernel", "vector_add", "--address",
                            "virtual")
        self.assertIn("addresses    virtual: mapped at no cost", out)
        out = self.succeeds("run", "--topology", topology("small.yaml"), "--kernel", "vector_add", "--address",
                            "virtual", "--transfer", "timed")
        self.assertIn("mapped by messages in", out)

    def test_need_legal_words(self):
        self.refuses("run", "--topology", topology("small.yaml"), "--kernel", "vector_add", "--address", "real",
                     lines=1)

    def test_with_a_tlb_that_costs_take_longer(self):
        with open(topology("small.yaml")) as file:
            text = file.read()
        self.assertIn("tlb_miss_ns: 0.0", text)
        with tempfile.TemporaryDirectory() as folder:
            costly = os.path.join(folder, "costly.yaml")
            with open(costly, "w") as file:
                file.write(text.replace("tlb_miss_ns: 0.0", "tlb_miss_ns: 100.0"))
            kernel = ["vector_add", "--param", "n=8192"]
            free = self.report(kernel, "--address", "virtual")
            paid = self.report(kernel, "--address", "virtual", file=costly)
            physical = self.report(kernel, file=costly)
            self.assertEqual(physical["end_ns"], free["end_ns"])
            # One block per PE: the reads of a and b miss sequentially in one channel, then the write of c.
            self.assertAlmostEqual(paid["end_ns"] - free["end_ns"], 300, delta=1e-6)
            for bad in ("3000", "32", "0", "many"):
                with open(costly, "w") as file:
                    file.write(text.replace("page_bytes: 2097152", f"page_bytes: {bad}"))
                self.refuses("topology", costly, saying=("page_bytes",), lines=1)


if __name__ == "__main__":
    main()
