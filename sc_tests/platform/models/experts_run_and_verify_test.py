#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models with experts, small ones from config.json files written by hand: prefill and decode steps against f64, over
groups of ranks; experts that are given and computed, that nobody and that all choose; what is read of them; wrong ones."""
import json
import os
import tempfile

import numpy as np

from cli_support import Cli, main, topology

SIX, SMALL = topology("six_sip_torus.yaml"), topology("small.yaml")
SIZES = {"hidden_size": 48, "intermediate_size": 70, "num_hidden_layers": 2, "num_attention_heads": 8,
         "num_key_value_heads": 4, "vocab_size": 101, "max_position_embeddings": 256, "rms_norm_eps": 1e-5,
         "rope_theta": 10000.0, "torch_dtype": "float32", "hidden_act": "silu"}
FAMILIES = {
    "mixtral": {"num_local_experts": 8, "num_experts_per_tok": 2, "sliding_window": None},
    "qwen3_moe": {"head_dim": 16, "num_experts": 6, "num_experts_per_tok": 3, "moe_intermediate_size": 26, "norm_topk_prob": True,
                  "decoder_sparse_step": 1, "mlp_only_layers": [], "use_sliding_window": False},
    "gpt_oss": {"head_dim": 16, "num_local_experts": 8, "num_experts_per_tok": 3, "sliding_window": 9, "swiglu_limit": 1.5,
                "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "beta_fast": 32.0, "beta_slow": 1.0,
                                 "original_max_position_embeddings": 64, "truncate": False}},
}
PHASES = ("--phase", "prefill:21", "--phase", "decode:batch=3,context=13,steps=8")


class Experts(Cli):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def config(self, family="mixtral", **more):
        path = os.path.join(self.folder.name, "config.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump({"model_type": family, **SIZES, **FAMILIES.get(family, {}), **more}, f, indent=2)
        return path

    def choice(self, rows, layer=0):
        path = tempfile.mktemp(".npy", dir=self.folder.name)
        np.save(path, np.array(rows, np.int32))
        return "--tensor", f"layers.{layer}.choice={path}"

    def report(self, model, *options, system=SMALL):
        return json.loads(self.succeeds("model", model, "--topology", system, "--format", "json", *options))

    def verifies(self, *args, **more):
        r = self.report(*args, "--verify", **more)
        self.assertTrue(r["verify"]["passed"], r["verify"])
        return r

    @staticmethod
    def launches(r, kernel, layer=1):
        return sum(k["launches"] for k in r["phases"][0]["layers"][layer]["kernels"] if k["kernel"] == kernel)

    def test_a_prompt_and_steps(self):
        r = self.verifies(self.config(), *PHASES)
        names = {t["name"] for t in r["verify"]["tensors"]}
        self.assertLessEqual({"phase0.logits", "phase0.next", "phase1.logits.7", "phase1.next.0", "phase1.layers.1.k"}, names)
        parts = [p["part"] for p in r["phases"][0]["layers"][1]["parts"]]
        self.assertEqual(parts, ["qkv", "attention", "output", "router", "experts"])
        for p in r["phases"]:
            for x in p["layers"]:
                for by in ("parts", "kernels"):
                    self.assertAlmostEqual(x["time_ns"], sum(i["time_ns"] for i in x[by]), places=3)
        prefill, decode = r["phases"]
        self.assertAlmostEqual(prefill["time_ns"] + 8 * decode["time_ns"], r["sim_ns"], delta=1e-6 * r["sim_ns"])
        self.assertEqual((r["model"]["num_experts"], r["model"]["ep"], r["model"]["routing"]), (8, 1, "given"))

    def test_groups_of_ranks(self):
        """Groups work side by side, and yet times add up to what passes."""
        for options in (("--ep", 2), ("--tp", 2), ("--tp", 2, "--ep", 2), ("--ep", 2, "--pp", 2)):
            with self.subTest(options=options):
                r = self.verifies(self.config(), *PHASES, "--pes", "leaders", *options, system=SIX)
                parts = [p["part"] for p in r["phases"][1]["layers"][1]["parts"]]
                self.assertEqual(parts[-4:], ["output", "router", "experts", "all_reduce"])
                decode = r["phases"][1]
                for x in decode["layers"]:
                    self.assertAlmostEqual(x["time_ns"], sum(i["time_ns"] for i in x["parts"]), places=3)
                whole = r["phases"][0]["time_ns"] + 8 * decode["time_ns"]
                self.assertAlmostEqual(whole, r["sim_ns"], delta=1e-6 * r["sim_ns"])

    def test_experts_in_narrow_types_and_mixed_steps(self):
        phases = ("--phase", "prefill:21", "--phase", "decode:batch=3,context=13,steps=2", "--phase", "mixed:prefill=9,batch=2,context=150")
        for options in (("--weights", "f8", "--kv", "i8"), ("--weights", "i4", "--tp", 2, "--ep", 2), ("--weights", "i8", "--kv", "f8", "--ep", 2, "--pp", 2)):
            with self.subTest(options=options):
                r = self.verifies(self.config(intermediate_size=71), *phases, "--pes", "leaders", *options, system=SIX)
                self.assertEqual(r["model"]["weights"], options[1].replace("f8", "f8e4m3"))

    def test_the_router_chooses(self):
        for options, system in (((), SMALL), (("--tp", 2, "--ep", 2, "--pes", "leaders", "--dtype", "f16"), SIX)):
            r = self.verifies(self.config(), *PHASES, "--routing", "top_k", *options, system=system)
            self.assertEqual(r["model"]["routing"], "top_k")
            self.assertGreater(r["phases"][0]["experts_chosen"], 2)  # weights are not zeros

    def test_families(self):
        for more in ({}, {"norm_topk_prob": False}, {"num_experts": 1, "num_experts_per_tok": 1},
                     {"num_experts": 5, "num_experts_per_tok": 5}):
            with self.subTest(more=more):
                for routing in ("given", "top_k"):
                    self.verifies(self.config("qwen3_moe", **more), "--phase", "prefill:9", "--routing", routing)

    def test_gpt_oss(self):
        """Sinks and biases over all ways to share a layer out, its window in one of two layers, keys in several ranges."""
        phases = (*PHASES, "--phase", "mixed:prefill=9,batch=2,context=150")
        for options, system in (((), SMALL), (("--routing", "top_k"), SMALL), (("--dtype", "f16", "--weights", "i4", "--kv", "f8"), SMALL),
                                (("--tp", 2, "--ep", 2), SIX), (("--ep", 4), SIX), (("--tp", 2, "--pp", 2, "--dtype", "bf16"), SIX)):
            with self.subTest(options=options):
                self.verifies(self.config("gpt_oss"), *phases, *options, *(("--pes", "leaders") if system == SIX else ()), system=system)
        r = self.report(self.config("gpt_oss", num_hidden_layers=5), "--phase", "decode:batch=2,context=200", "--repeat")
        self.assertEqual([x["times"] for x in r["phases"][0]["layers"]], [1, 3, 2, 1])
        windowed, full = ([p["time_ns"] for p in x["parts"] if p["part"] == "attention"][0] for x in r["phases"][0]["layers"][1:3])
        self.assertLess(windowed, full)

    def test_given_choices(self):
        """All rows to one expert of a group, and two that nobody chooses; to experts of one group alone."""
        one = [[5, 2]] * 11
        some = [[i % 3, 3 + i % 3] for i in range(11)]
        for choice, chosen, options in ((one, 2, ()), (some, 6, ("--ep", 2)), ([[1, 0]] * 11, 2, ("--ep", 2)),
                                        ([[7, 0]] * 11, 2, ("--tp", 2, "--ep", 2))):
            with self.subTest(chosen=chosen, options=options):
                system = {"system": SIX} if options else {}
                leaders = ("--pes", "leaders") if options else ()
                r = self.verifies(self.config(), "--phase", "prefill:11", *self.choice(choice), "--layers", 1, *options, *leaders,
                                  **system)
                self.assertEqual(r["phases"][0]["experts_chosen"], chosen)

    def test_a_group_that_nobody_chooses(self):
        """Its PEs have scatters and gathers that move nothing, several of them one after the other."""
        model = self.config("qwen3_moe", num_experts=8, num_experts_per_tok=3)
        self.verifies(model, "--phase", "prefill:3", *self.choice([[0, 1, 2]] * 3), "--layers", 1, "--ep", 2, "--pes", "leaders",
                      system=SIX)

    def test_logits_depend_on_who_is_chosen(self):
        """What verifies with one choice is wrong with another, and with other weights of the same experts."""
        logits = os.path.join(self.folder.name, "logits.npy")
        chosen = self.choice([[1, 4, 5]] * 5)
        run = ("--topology", SMALL, "--phase", "prefill:5", "--layers", 1)
        self.succeeds("model", self.config("qwen3_moe"), *run, *chosen, "--dump", f"logits={logits}")
        expected = ("--expected", f"logits={logits}")
        for more, choice, status in (({}, chosen, 0), ({}, self.choice([[1, 4, 5]] * 4 + [[1, 4, 3]]), 1),
                                     ({"norm_topk_prob": False}, chosen, 1)):
            found, _, err = self.run_cli("model", self.config("qwen3_moe", **more), *run, *choice, *expected)
            self.assertEqual(found, status, err)

    def test_copies_that_take_time(self):
        """Inputs are on their way before any phase begins."""
        r = self.verifies(self.config(), "--phase", "prefill:9", "--transfer", "timed", "--layers", 1)
        usual = self.report(self.config(), "--phase", "prefill:9", "--layers", 1)
        self.assertGreater(r["phases"][0]["time_ns"], usual["phases"][0]["time_ns"])
        self.assertLess(r["phases"][0]["time_ns"], r["sim_ns"])

    def test_only_the_chosen_are_read(self):
        model = self.config(hidden_size=256, intermediate_size=512)
        phase = ("--phase", "decode:batch=4,context=5", "--layers", 1)
        few, many = ([[0, 1]] * 4, 2), ([[0, 1], [2, 3], [4, 5], [6, 7]], 8)
        reads = []
        for choice, chosen in (few, many):
            r = self.report(model, *phase, *self.choice(choice))
            self.assertEqual(self.launches(r, "decode_linear"), 2 + 2 * chosen)
            reads.append(r["figures"]["bytes_read"])
        expert = 4 * 3 * 256 * 512
        self.assertAlmostEqual((reads[1] - reads[0]) / (6 * expert), 1, delta=0.05)

    def test_times_do_not_depend_on_who_looks(self):
        options = (self.config(), "--phase", "prefill:21", "--phase", "decode:batch=3,context=13")
        self.assertEqual(self.report(*options)["phases"], self.report(*options, "--verify")["phases"])
        computed = (*options, "--routing", "top_k")
        self.assertEqual(self.report(*computed)["phases"], self.report(*computed, "--verify")["phases"])

    def test_what_the_router_has_chosen_takes_as_long_when_it_is_given(self):
        model, phase = self.config("qwen3_moe", num_experts=4, num_experts_per_tok=4), ("--phase", "prefill:9", "--layers", 1)
        given = self.report(model, *phase, *self.choice([[3, 2, 1, 0]] * 9))["phases"][0]["layers"][1]
        computed = self.report(model, *phase, "--routing", "top_k")["phases"][0]["layers"][1]
        of = lambda x, part: next(p["time_ns"] for p in x["parts"] if p["part"] == part)
        self.assertAlmostEqual(of(given, "experts"), of(computed, "experts"), delta=0.02 * of(given, "experts"))

    def test_a_wrong_result_fails(self):
        status, _, _ = self.run_cli("model", self.config(), "--topology", SMALL, "--phase", "prefill:5", "--verify", "--corrupt",
                                    "logits")
        self.assertEqual(status, 1)

    def test_work_by_hand(self):
        r = self.report(self.config(), "--phase", "decode:batch=3,context=13", *self.choice([[0, 1], [0, 2], [2, 0]]), "--layers", 1)
        p = r["phases"][0]
        head, kv, dim, hidden = 48 // 8, 24, 48, 70
        keys, weights = 3 * 14, dim * (48 + 2 * kv + 48 + 8)
        macs = 3 * (weights + 2 * 3 * dim * hidden) + 2 * keys * 48 + 3 * dim * 101
        self.assertEqual(head * 4, kv)
        self.assertAlmostEqual(p["mfu"], 2 * macs / (p["time_ns"] * 8 * 2 * 4096 * 0.5), places=9)
        moved = 4 * (weights + 3 * 3 * dim * hidden + 2 * dim + 2 * (keys + 3) * kv + dim * (101 + 3))
        other = self.report(self.config(), "--phase", "decode:batch=3,context=13", *self.choice([[0, 1]] * 3), "--layers", 1)["phases"][0]
        rate = moved / (p["hbm_share"] * p["time_ns"])
        fewer = rate * other["hbm_share"] * other["time_ns"]
        self.assertAlmostEqual(moved - fewer, 4 * 3 * dim * hidden, delta=1)

    def test_capacity_counts_what_a_layer_makes(self):
        """To the byte where one group has all experts; else as many rows as may choose it, of which few do."""
        for phase, options in (("prefill:21", ()), ("decode:batch=3,context=200", ()), ("prefill:9", ("--tp", 2)),
                               ("decode:batch=1,context=200", ("--tp", 2)), ("prefill:9", ("--ep", 2))):
            with self.subTest(phase=phase, options=options):
                system = {"system": SIX} if options else {}
                leaders = ("--pes", "leaders") if options else ()
                r = self.report(self.config(), "--phase", phase, "--verify-layer", 1, *options, *leaders, **system)
                self.assertTrue(r["verify"]["passed"])
                counted = sum(x["bytes"] for x in r["capacity"]["hbm"]["rows"])
                if "--ep" in options:
                    self.assertGreaterEqual(counted, r["tensor_bytes"])
                else:
                    self.assertEqual(counted, r["tensor_bytes"])

    def test_repeat(self):
        model = self.config(num_hidden_layers=3)
        r = self.report(model, "--phase", "prefill:9", "--repeat")
        self.assertEqual([x["times"] for x in r["phases"][0]["layers"]], [1, 3, 1])
        self.assertIn("as are the rows of experts", r["assumes"][0])

    def test_wrong_ones_are_one_line(self):
        for family, more, options, saying in (
                ("mixtral", {}, ("--ep", 3), "--ep: found 3, expected a divisor of the number of experts, 8"),
                ("mixtral", {}, ("--ep", 8), "--tp times --ep: found 8, expected a divisor of num_key_value_heads, 4"),
                ("mixtral", {}, ("--ep", 2), "--tp times --ep: found 2, the machine has 1 SIP"),
                ("mixtral", {"num_experts_per_tok": 9}, (), "num_experts_per_tok: found '9', expected at most the number of experts, 8"),
                ("mixtral", {"num_local_experts": 0}, (), "num_local_experts: found '0'"),
                ("qwen3_moe", {"mlp_only_layers": [1]}, (), "not yet: mlp_only_layers"),
                ("qwen3_moe", {"mlp_only_layers": 1}, (), "mlp_only_layers: found '1', expected a list"),
                ("qwen3_moe", {"decoder_sparse_step": 2}, (), "not yet: decoder_sparse_step"),
                ("qwen3_moe", {"moe_intermediate_size": None}, (), "lacks moe_intermediate_size"),
                ("mixtral", {}, self.choice([[0, 1], [2, 8]]), "row 1: found expert 8, expected 0 to 7"),
                ("mixtral", {}, self.choice([[0, -1], [2, 3]]), "row 0: found expert -1"),
                ("mixtral", {}, self.choice([[4, 4], [2, 3]]), "row 0: found expert 4 twice"),
                ("mixtral", {}, self.choice([[4, 1, 2]]), "layers.0.choice"),
                ("mixtral", {}, ("--routing", "top_k", *self.choice([[0, 1], [2, 3]])), "layers.0.choice")):
            with self.subTest(more=more, options=options):
                self.refuses("model", self.config(family, **more), "--topology", SMALL, "--phase", "prefill:2", *options,
                             saying=[saying], lines=1)


if __name__ == "__main__":
    main()
