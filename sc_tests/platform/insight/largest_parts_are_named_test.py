# SPDX-License-Identifier: Apache-2.0
"""Does a verdict begin with the main cause and its place? Causes: parts of the DRAM, the spread over channels, polls, PEs
that wait for others, and a placement of experts. In each run only one of them is bad."""
import json
import os
import tempfile

import numpy as np

import cli_support
import onnx_file
import seeded_runs
from cli_support import topology

CONFIG = os.path.join(os.environ["KERNBENCH_SOURCE"], "examples/data/config.json")
SMALL = ("--topology", topology("small.yaml"))
DRAM = (*SMALL, "--set", "file:cube.hbm={slice_mb: 6144, impl: builtin.hbm_dram}")
LOCK = (*SMALL, "--plugin", seeded_runs.EXAMPLES, "--kernel", "ticket_lock", "--param", "rows=16")
SIZES = {"model_type": "mixtral", "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 8,
         "num_key_value_heads": 4, "vocab_size": 101, "max_position_embeddings": 256, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
         "torch_dtype": "float32", "hidden_act": "silu", "num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": None}


class Named(cli_support.Cli):
    def insight(self, *words, command="run"):
        insight = json.loads(self.succeeds(command, *words, "--format", "json", "--explain"))["insight"]
        self.assertLess(insight["causes"]["unexplained_ns"], 1e-3)
        self.assertEqual(insight["causes"]["contradictions"], 0)
        return insight

    def most(self, insight):
        return max(insight["blame_ns"], key=insight["blame_ns"].get)

    def test_refresh(self):
        insight = self.insight(*DRAM, "--kernel", "gemm", "--set", "*.tREFI=600", "--set", "*.tRFC=400")
        self.assertEqual(self.most(insight), "refresh")
        self.assertIn("DRAM refresh", insight["verdict"][0])
        self.assertIn("hbm_ctrl", insight["verdict"][0])
        none = self.insight(*DRAM, "--kernel", "gemm", "--set", "*.tREFI=600", "--set", "*.tRFC=400", "--set", "*.refresh=none")
        self.assertEqual(none["blame_ns"]["refresh"], 0)

    def test_each_part_of_a_dram(self):
        for part, words in (("banks", ("--set", "*.tRP=100", "--set", "*.tRC=150")), ("rows", ("--set", "*.tRCDRD=400",)),
                            ("turnaround", ("--set", "*.tRTW=2000",)),
                            ("dram_queue", ("--set", "*.read_queue=1", "--set", "*.refresh=none"))):
            with self.subTest(part=part):
                before, after = self.insight(*DRAM, "--kernel", "softmax"), self.insight(*DRAM, "--kernel", "softmax", *words)
                self.assertGreater(after["blame_ns"][part], 2 * before["blame_ns"][part] + 1)

    def test_the_spread_over_channels(self):
        insight = self.insight(*SMALL, "--kernel", "gemm", "--param", "dtype=bf16", "--param", "n=1024", "--param", "tile_n=32", "--set",
                               "*.hash=none")
        self.assertTrue(insight["verdict"][0].startswith("The run waits for the spread over memory channels first"), insight["verdict"])
        self.assertIn("--set '*.hash=xor'", insight["verdict"][0])

    def test_polls(self):
        """A poll waits for the write, then for the interval."""
        slow, usual = (self.insight(*LOCK, "--set", f"*.poll_ns={ns}") for ns in (20000, 10))
        self.assertEqual(self.most(slow), "polling")
        self.assertIn("the interval between polls", slow["verdict"][0])
        self.assertIn(".pe_cpu", slow["verdict"][0])
        self.assertLess(usual["blame_ns"]["polling"], 0.3 * sum(usual["blame_ns"].values()))

    def test_first_remedies(self):
        routed = (*SMALL, "--links", "cut_through", "--response", "routed")
        local = (*SMALL, "--plugin", seeded_runs.EXAMPLES, "--kernel", "histogram", "--param", "bins=1")
        rings = (*SMALL, "--kernel", "all_reduce", "--param", "n=16384", "--param", "tier=sram", "--set", "edge:*sram*.bw_gbs=4")
        for change, least, words in (
                ("--param method=local", 0.99, local), ("--param tier=", 0.95, rings),
                ("--set file:timing.header_bytes=", 0.42,
                 (*routed, "--kernel", "gather", "--param", "n=128", "--param", "cols=64", "--set", "file:timing.header_bytes=2048")),
                ("store_and_forward=false", 0.46, (*routed, "--kernel", "gemm", "--set", "*.r*c*.store_and_forward=true"))):
            with self.subTest(change):
                report = json.loads(self.succeeds("run", *words, "--format", "json", "--explain=verify"))
                first = report["insight"]["remedies"][0]
                self.assertIn(change, first["change"])
                self.assertGreater(1 - first["ns"] / report["sim_ns"], least)

    def test_a_convolution_is_bound_by_its_products(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "conv.onnx")
            weights = np.zeros((512, 128, 3, 3), "f4")
            with open(path, "wb") as f:
                f.write(onnx_file.model([onnx_file.node("Conv", ["x", "w"], ["y"], pads=[1] * 4)], [("x", "float32", (1, 128, 28, 28))],
                                        [("y", None, None)], {"w": weights}))
            insight = self.insight(path, *SMALL, command="model")
        self.assertGreater(insight["peaks"]["gemm"], 0.7)
        self.assertEqual(insight["bound_by"][0], "gemm")
        self.assertIn("GEMM rate", insight["verdict"][0])

    def experts(self, folder):
        model = os.path.join(folder, "config.json")
        with open(model, "w", encoding="utf-8") as f:
            json.dump(SIZES, f)
        words = [model, "--topology", topology("six_sip_torus.yaml"), "--phase", "decode:batch=4,context=13", "--ep", "2", "--pes",
                 "leaders"]
        for layer in range(2):  # both of the first group
            path = os.path.join(folder, f"choice{layer}.npy")
            np.save(path, np.array([[0, 1]] * 4, np.int32))
            words += ["--tensor", f"layers.{layer}.choice={path}"]
        return words

    def test_an_order_of_experts(self):
        with tempfile.TemporaryDirectory() as folder:
            words = self.experts(folder)
            found = json.loads(self.succeeds("model", *words, "--verify", "--format", "json"))
            other = json.loads(self.succeeds("model", *words, "--expert-order", "0,2,1,3", "--verify", "--format", "json"))
            self.assertTrue(found["verify"]["passed"] and other["verify"]["passed"])
            self.assertLess(other["sim_ns"], found["sim_ns"])
            same = json.loads(self.succeeds("model", *words, "--expert-order", "0,1,2,3", "--format", "json"))
            self.assertEqual(same["sim_ns"], found["sim_ns"])
            remedies = json.loads(self.succeeds("model", *words, "--explain=verify", "--format", "json"))["insight"]["remedies"]
            self.assertTrue(any("--expert-order" in r["change"] for r in remedies), remedies)
            for wrong in ("0,1", "0,1,2,2", "0,1,2,x", "0,1,2,4", ""):
                self.refuses("model", *words, "--expert-order", wrong)

    def test_stages(self):
        insight = self.insight(CONFIG, "--topology", topology("six_sip_torus.yaml"), "--phase",
                               "decode:batch=3,context=13", "--pp", "2", "--layers", "2", command="model")
        self.assertIn("PEs wait while launches run on others", insight["verdict"][0])

    def test_layers_count_as_often_as_they_run(self):
        """All layers and one repeated layer have the same shares and savings."""
        words = (CONFIG, *SMALL, "--phase", "decode:batch=3,context=13")
        whole, one = self.insight(*words, command="model"), self.insight(*words, "--repeat", command="model")
        sums = [sum(i["blame_ns"].values()) for i in (whole, one)]
        self.assertLess(abs(sums[1] / sums[0] - 1), 0.02)
        for part, ns in whole["blame_ns"].items():
            self.assertLess(abs(ns / sums[0] - one["blame_ns"][part] / sums[1]), 0.02, part)


if __name__ == "__main__":
    cli_support.main()
