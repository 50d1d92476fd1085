#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models from config.json files written by hand, small ones of every family: prefill and decode steps against f64, over
ranks; what does not fit, wrong files and options; --repeat beside all layers; the report's sums."""
import json
import os
import tempfile

from cli_support import Cli, main, topology

SIX, SMALL = topology("six_sip_torus.yaml"), topology("small.yaml")
SIZES = {"hidden_size": 48, "intermediate_size": 70, "num_hidden_layers": 2, "num_attention_heads": 4,
         "num_key_value_heads": 2, "vocab_size": 101, "max_position_embeddings": 256, "rms_norm_eps": 1e-5,
         "rope_theta": 10000.0, "torch_dtype": "float32"}
FAMILIES = {
    "llama": {"hidden_act": "silu", "attention_bias": False, "tie_word_embeddings": False, "rope_scaling": None},
    "mistral": {"hidden_act": "silu", "sliding_window": 7},
    "qwen2": {"hidden_act": "silu", "use_sliding_window": False, "tie_word_embeddings": True},
    "qwen3": {"hidden_act": "silu", "head_dim": 16, "attention_bias": False},
    "gemma": {"hidden_activation": None, "hidden_act": "gelu_pytorch_tanh", "head_dim": 20},
    "gemma2": {"hidden_activation": "gelu_pytorch_tanh", "head_dim": 20, "query_pre_attn_scalar": 12, "sliding_window": 7,
               "attn_logit_softcapping": 0.5, "final_logit_softcapping": 0.6, "cache_implementation": "hybrid"},
    "gemma3_text": {"hidden_activation": "gelu_pytorch_tanh", "head_dim": 20, "query_pre_attn_scalar": 12, "sliding_window": 7,
                    "sliding_window_pattern": 2, "rope_theta": 1000000.0, "rope_local_base_freq": 100.0,
                    "rope_scaling": {"rope_type": "linear", "factor": 8.0}, "attn_logit_softcapping": None},
    "phi3": {"hidden_act": "silu", "sliding_window": 7, "original_max_position_embeddings": 256, "rope_scaling": None, "resid_pdrop": 0.0},
    "granite": {"hidden_act": "silu", "embedding_multiplier": 12.0, "residual_multiplier": 0.22, "attention_multiplier": 0.4,
                "logits_scaling": 8.0, "attention_bias": False, "tie_word_embeddings": True},
    "starcoder2": {"hidden_act": "gelu_pytorch_tanh", "norm_epsilon": 1e-5, "sliding_window": 7, "use_bias": True},
    "stablelm": {"hidden_act": "silu", "layer_norm_eps": 1e-5, "use_qkv_bias": True, "use_parallel_residual": False,
                 "partial_rotary_factor": 0.5, "qk_layernorm": False},
    "phi": {"hidden_act": "gelu_new", "layer_norm_eps": 1e-5, "partial_rotary_factor": 0.5, "num_key_value_heads": None},
    "gpt_neox": {"hidden_act": "gelu", "layer_norm_eps": 1e-5, "rotary_pct": 0.25, "rotary_emb_base": 10000, "hidden_size": 64,
                 "use_parallel_residual": True, "num_key_value_heads": None},
}
# With layer norms; their fields that a file may override.
LAYER_NORMS = {"starcoder2": {"sliding_window": None}, "stablelm": {"use_parallel_residual": True, "use_qkv_bias": False},
               "phi": {"partial_rotary_factor": 1.0}, "gpt_neox": {"use_parallel_residual": False, "attention_bias": False}}
PHASES = ("--phase", "prefill:21", "--phase", "decode:batch=3,context=13,steps=8")


class ModelsCli(Cli):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def config(self, family, name="config.json", **more):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as f:
            json.dump({"model_type": family, "architectures": ["X"], **SIZES, **FAMILIES.get(family, {}), **more}, f, indent=2)
        return path

    def text(self, text, name="model.yaml"):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def report(self, model, *options, system=SMALL):
        return json.loads(self.succeeds("model", model, "--topology", system, "--format", "json", *options))

    def runs_over_ranks_and_stages(self, family, otherwise, ways, beside=0.5):
        """And in narrower types, in halves of a prompt, in a step of both, and with what files may say otherwise."""
        steps = ("--phase", "prefill:9", "--phase", "decode:batch=2,context=130,steps=8", "--phase", "mixed:prefill=3,batch=2,context=9")
        for options in ways:
            with self.subTest(family=family, options=options):
                r = self.report(self.config(family), *steps, "--verify", "--pes", "leaders", *options, system=SIX)
                self.assertTrue(r["verify"]["passed"], r["verify"])
        with self.subTest(family=family, otherwise=otherwise):
            r = self.report(self.config(family, **otherwise), *PHASES, "--verify")
            self.assertTrue(r["verify"]["passed"], r["verify"])
            r = self.report(self.config(family, **otherwise), "--phase", "prefill:255", "--layers", 1, "--verify", "--tp", 2, "--pes",
                            "leaders", "--check-races", system=SIX)
            self.assertTrue(r["verify"]["passed"], r["verify"])
            self.assertEqual(r["phases"][0]["sums_beside"], beside)


class Models(ModelsCli):
    def test_every_family_verifies(self):
        for family in FAMILIES:
            with self.subTest(family=family):
                r = self.report(self.config(family), *PHASES, "--verify")
                self.assertTrue(r["verify"]["passed"], r["verify"])
                names = {t["name"] for t in r["verify"]["tensors"]}
                self.assertLessEqual({"phase0.logits", "phase0.next", "phase1.logits.7", "phase1.next.0",
                                      "phase1.layers.1.k"}, names)
                for t in r["verify"]["tensors"]:
                    self.assertLess(t["max_abs_err"], 2e-3, t)

    def test_layer_norms_over_ranks_and_stages(self):
        for family, otherwise in LAYER_NORMS.items():
            self.runs_over_ranks_and_stages(family, otherwise, (("--tp", 2), ("--pp", 2), ("--tp", 2, "--dtype", "f16"), ("--dtype", "bf16"),
                                                                ("--dtype", "f16", "--weights", "i4")))

    def test_launches_of_a_layer_are_what_its_family_has(self):
        def kernels(family, phase, **more):
            r = self.report(self.config(family, **more), "--phase", phase, "--layers", 1)
            return {k["kernel"]: k["launches"] for k in r["phases"][0]["layers"][1]["kernels"]}
        prompt = {family: kernels(family, "prefill:9") for family in FAMILIES}
        self.assertEqual({f: (k.get("rmsnorm", 0), k.get("layer_norm", 0), k["gemm_2d"]) for f, k in prompt.items()},
                         {**{f: (2, 0, 5) for f in FAMILIES}, "gemma2": (4, 0, 5), "gemma3_text": (4, 0, 5), "starcoder2": (0, 2, 4), "stablelm": (0, 2, 5), "phi": (0, 1, 4), "gpt_neox": (0, 2, 4)})
        self.assertEqual({f: k.get("add_bias", 0) for f, k in prompt.items()},
                         {**{f: 0 for f in FAMILIES}, "qwen2": 1, "starcoder2": 4, "stablelm": 1, "phi": 4, "gpt_neox": 4})
        for family in LAYER_NORMS:
            self.assertEqual(kernels(family, "decode:batch=3,context=13"), {"decode_linear": 4, "flash_decode": 1}, family)

    def test_work_and_weights_of_an_mlp_without_a_gate(self):
        """MACs and bytes by hand: 21 tokens, causal, one layer and one row of logits."""
        r = self.report(self.config("phi"), "--phase", "prefill:21", "--layers", 1)
        dim, hidden, vocab, rows = 48, 70, 101, 21
        macs = rows * (dim * (3 * dim + dim) + 2 * dim * hidden) + 2 * rows * (rows + 1) // 2 * dim + dim * vocab
        p = r["phases"][0]
        self.assertAlmostEqual(p["mfu"], 2 * macs / (p["time_ns"] * 8 * 2 * 4096 * 0.5), places=9)
        matrices = dim * 3 * dim + dim * dim + 2 * dim * hidden + 2 * dim * vocab
        copies = 2 * dim + 3 * dim + dim + hidden + dim + 2 * dim + vocab  # norm, biases of layer and head
        weights = next(x["bytes"] for x in r["capacity"]["hbm"]["rows"] if x["what"] == "weights")
        self.assertEqual(weights, 4 * (matrices + 8 * copies))

    def test_biases_of_a_gated_mlp(self):
        """llama's mlp_bias: of both activations that a prompt's products have behind them and of one that they have not."""
        for act in ("silu", "gelu_new"):
            for options, system in (((), SMALL), (("--tp", 2, "--pes", "leaders"), SIX)):
                with self.subTest(act=act, options=options):
                    r = self.report(self.config("llama", mlp_bias=True, hidden_act=act), *PHASES, "--verify", *options, system=system)
                    self.assertTrue(r["verify"]["passed"], r["verify"])

    def test_caches_in_pages(self):
        """Steps that go on into a next page, pages of one token and longer than all that there is, ranges that end within
        one; over ranks and stages; each page of the pool is one sequence's, and a file may say which."""
        for phase, options, system in (("decode:batch=3,context=13,steps=8,page=4", (), SMALL), ("decode:page=100,batch=3,context=13", (), SMALL),
                                       ("mixed:prefill=9,batch=3,context=13,page=1", (), SMALL), ("decode:batch=2,context=0,page=3", (), SMALL),
                                       ("decode:batch=2,context=130,page=16", ("--kv", "i8"), SMALL),
                                       ("decode:batch=5,context=70,steps=3,page=7", ("--tp", "2"), SIX),
                                       ("decode:batch=1,context=200,steps=2,page=16", ("--tp", "2", "--pp", "2"), SIX)):
            with self.subTest(phase=phase):
                r = self.report(self.config("llama"), "--phase", phase, "--verify", *options, system=system)
                self.assertTrue(r["verify"]["passed"], r["verify"])
        table = os.path.join(self.folder.name, "table.npy")
        phase = ("--phase", "decode:batch=1,context=13,page=4", "--verify")
        def with_table(numbers):
            header = "{'descr': '<i4', 'fortran_order': False, 'shape': (1, 4), }"
            with open(table, "wb") as f:
                f.write(b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little") + header.ljust(117).encode() + b"\n" +
                        b"".join(n.to_bytes(4, "little", signed=True) for n in numbers))
            return ("--tensor", f"table={table}")
        r = self.report(self.config("llama"), *phase, *with_table((2, 0, 3, 1)))
        self.assertTrue(r["verify"]["passed"], r["verify"])
        stages = with_table((3, 2, 1, 0))[1].replace("table=", "stage1.table=")  # of a single stage
        r = self.report(self.config("llama"), *phase, "--tensor", stages, "--pp", "2", "--pes", "leaders", system=SIX)
        self.assertTrue(r["verify"]["passed"], r["verify"])
        for numbers, bad in (((2, 0, 4, 1), "page 2 of sequence 0 is number 4 of a pool of 4"), ((2, -1, 3, 1), "is number -1 of")):
            self.refuses("model", self.config("llama"), "--topology", SMALL, *phase, *with_table(numbers), saying=[bad], status=1)
        for words, why in (("decode:batch=1,context=3,page=0", "no whole number from 1"), ("decode:page=2,batch=1,context=3,page=2", "page stands twice"),
                           ("prefill:9,page=2", "no whole number")):
            self.refuses("model", self.config("llama"), "--topology", SMALL, "--phase", words, saying=[why], lines=1)

    def test_in_less_tcm_rings_and_panels_take_less(self):
        """Their defaults alone are more than there is."""
        for mb, has in ((4, 3 << 20), (1.5, 1 << 19)):
            r = self.report(self.config("llama"), *PHASES, "--verify", "--set", f"*.pe_tcm.size_mb={mb}")
            self.assertTrue(r["verify"]["passed"], r["verify"])
            self.assertEqual(r["capacity"]["tcm"]["has_bytes"], has)
            self.assertLess(r["capacity"]["tcm"]["rings_bytes"], has / 2)

    def test_one_pe_with_less_tcm_is_what_all_go_by_and_what_is_given_stays(self):
        def params(*more):
            r = json.loads(self.succeeds("run", "--topology", SMALL, "--kernel", "gemm_2d", "--verify", "--format", "json", "--param",
                                         "m=67", "--param", "n=130", "--param", "k=33", *more))
            self.assertTrue(r["verify"]["passed"])
            return r["params"]
        usual, one = params(), params("--set", "sip0.cube0.pe1.pe_tcm.size_mb=2")
        self.assertEqual(params("--set", "*.pe_tcm.size_mb=2"), one)
        for name in ("panel_bytes", "keep_bytes", "slot_bytes", "panel_m", "panel_n"):
            self.assertLess(one[name], usual[name])
        given = params("--set", "*.pe_tcm.size_mb=2", "--param", "slot_bytes=8192", "--param", "panel_m=64")
        self.assertEqual((given["slot_bytes"], given["panel_m"], given["panel_n"]), (8192, 64, one["panel_n"]))

    def test_ranks_and_types(self):
        for tp, dtype, family in ((2, "f32", "llama"), (2, "f32", "qwen3"), (2, "bf16", "mistral"), (4, "f16", "qwen2")):
            with self.subTest(tp=tp, dtype=dtype):
                more = {"num_key_value_heads": 4, "num_attention_heads": 8} if tp == 4 else {}
                r = self.report(self.config(family, **more), "--phase", "prefill:9", "--verify", "--tp", tp, "--dtype", dtype,
                                "--pes", "leaders", system=SIX)
                self.assertTrue(r["verify"]["passed"], r["verify"])
                self.assertGreater(r["phases"][0]["all_reduce_ns"], 0)
                r = self.report(self.config(family, **more), "--phase", "decode:batch=2,context=130,steps=2", "--verify", "--tp",
                                tp, "--dtype", dtype, "--pes", "leaders", system=SIX)
                self.assertTrue(r["verify"]["passed"], r["verify"])

    def test_sums_go_beside_products(self):
        """Where each PE has rows enough: an odd number of them, several sharers, biases, an MLP that is not one op, stages; in halves
        where ranks have unequal shares of the MLP; else alone."""
        eight = {"num_key_value_heads": 4, "num_attention_heads": 8, "intermediate_size": 72}
        narrow = ("--dtype", "f16", "--weights", "i4")
        for tp, family, rows, more, options, beside in (
                (2, "llama", 256, {}, ("--dtype", "f32"), 1), (2, "gemma", 255, {}, ("--dtype", "bf16"), 1),
                (2, "qwen2", 63, {}, ("--dtype", "f32"), 0), (4, "qwen3", 255, eight, ("--dtype", "f16"), 1),
                (2, "llama", 255, {"mlp_bias": True, "attention_bias": True}, ("--dtype", "f32"), 1),
                (2, "mistral", 256, {}, narrow, 1), (2, "llama", 201, {"intermediate_size": 71}, ("--dtype", "f32"), 0.5),
                (2, "llama", 256, {"num_hidden_layers": 2}, ("--pp", 2, "--dtype", "f16"), 1)):
            with self.subTest(tp=tp, family=family, rows=rows, options=options):
                layers = () if "--pp" in options else ("--layers", 1)
                r = self.report(self.config(family, **more), "--phase", f"prefill:{rows}", *layers, "--verify", "--tp",
                                tp, *options, "--pes", "leaders", "--check-races", system=SIX)
                self.assertTrue(r["verify"]["passed"], r["verify"])
                p = r["phases"][0]
                self.assertEqual(p["sums_beside"], beside)
                alone = sum(x["launches"] for x in p["layers"][1]["parts"] if x["part"] == "all_reduce")
                self.assertEqual(alone, 0 if beside == 1 else 2)
                self.assertEqual(p["all_reduce_ns"] == 0, beside == 1)
                self.assertIn(f"{100 * beside:.0f} % of their bytes overlap with products", r["verdict"][0])

    def test_rings_between_ranks_are_counted_where_sums_go_beside_products(self):
        def rings(family, rows):
            r = self.report(self.config(family), "--phase", f"prefill:{rows}", "--layers", 1, "--tp", 2, "--pes", "leaders", system=SIX)
            return r["capacity"]["tcm"]["rings_bytes"]
        # With one other rank: two exchanges of four slots of 16 KiB.
        self.assertEqual(rings("llama", 255), rings("llama", 63) + 2 * 4 * 16384)
        self.assertEqual(rings("gemma2", 255), rings("llama", 63))

    def test_sums_beside_products_in_a_small_tcm(self):
        r = self.report(self.config("llama"), "--phase", "prefill:256", "--layers", 1, "--verify", "--tp", 2, "--pes", "leaders", "--set",
                        "*.pe_tcm.size_mb=2", system=SIX)
        self.assertTrue(r["verify"]["passed"], r["verify"])
        self.assertEqual(r["phases"][0]["sums_beside"], 1)

    def test_a_step_of_both_adds_up_beside_products(self):
        """A prompt's rows and those of sequences, and a layer alone."""
        r = self.report(self.config("llama"), "--phase", "mixed:prefill=250,batch=6,context=9", "--verify", "--tp", 2, "--pes", "leaders",
                        "--layers", 1, system=SIX)
        self.assertTrue(r["verify"]["passed"], r["verify"])
        self.assertEqual(r["phases"][0]["sums_beside"], 1)
        r = self.report(self.config("llama"), "--phase", "prefill:256", "--verify-layer", 1, "--tp", 2, "--pes", "leaders", system=SIX)
        self.assertTrue(r["verify"]["passed"], r["verify"])

    def test_a_prompt_on_ranks_without_a_part_of_the_mlp(self):
        for tp, width, more in ((2, 1, ()), (3, 2, ()), (3, 1, ("--weights", "i4")), (2, 1, ("--dtype", "f16", "--weights", "i8"))):
            with self.subTest(tp=tp, width=width, more=more):
                heads = {"num_attention_heads": 2 * tp, "num_key_value_heads": tp}
                for phase in ("prefill:5", "mixed:prefill=3,batch=2,context=3"):
                    r = self.report(self.config("llama", intermediate_size=width, head_dim=4, **heads), "--phase", phase, "--layers", 1, "--verify",
                                    "--tp", tp, "--pes", "leaders", *more, system=SIX)
                    self.assertTrue(r["verify"]["passed"], r["verify"])

    def test_ranks_without_a_part(self):
        """An MLP of one column and two ranks; more sequences than PEs; all PEs of a SIP."""
        for more, phase, pes in (({"intermediate_size": 1}, "decode:batch=2,context=3", "leaders"),
                                 ({"hidden_size": 4, "head_dim": 4}, "decode:batch=67,context=2", "leaders"),
                                 ({"num_hidden_layers": 1}, "decode:batch=5,context=9", "all")):
            with self.subTest(more=more):
                r = self.report(self.config("llama", **more), "--phase", phase, "--verify", "--tp", 2, "--pes", pes, system=SIX)
                self.assertTrue(r["verify"]["passed"], r["verify"])

    def test_stages(self):
        """Three layers over two stages, and tensor parallel ones; a prompt and steps go through all of them."""
        model = self.config("qwen3", num_hidden_layers=3)
        for options in (("--pp", 2), ("--pp", 3), ("--pp", 2, "--tp", 2, "--dtype", "f16")):
            with self.subTest(options=options):
                r = self.report(model, "--phase", "prefill:9", "--phase", "decode:batch=2,context=13,steps=3", "--verify",
                                "--pes", "leaders", *options, system=SIX)
                self.assertTrue(r["verify"]["passed"], r["verify"])
                parts = [[p["part"] for p in x["parts"]] for x in r["phases"][1]["layers"]]
                self.assertEqual(sum("stage" in p for p in parts), options[1] - 1)
                self.assertEqual(r["model"]["pp"], options[1])

    def test_keys_of_a_sequence_are_cut_over_pes(self):
        """One sequence has 2 units for 8 PEs; an empty cache has one range."""
        for context in (0, 1, 255, 200):
            with self.subTest(context=context):
                r = self.report(self.config("llama"), "--phase", f"decode:batch=1,context={context}", "--verify")
                self.assertTrue(r["verify"]["passed"], r["verify"])

    def test_a_wrong_result_fails(self):
        for name in ("logits", "next"):
            status, _, _ = self.run_cli("model", self.config("llama"), "--topology", SMALL, "--phase", "prefill:5", "--verify",
                                        "--corrupt", name)
            self.assertEqual(status, 1)

    def test_one_layer_alone(self):
        r = self.report(self.config("qwen3"), "--phase", "prefill:6", "--verify-layer", 1)
        self.assertEqual([t["name"] for t in r["verify"]["tensors"]], ["y"])
        self.assertTrue(r["verify"]["passed"])
        self.assertEqual([x["layer"] for x in r["phases"][0]["layers"]], ["layer 1"])

    def test_repeat_is_all_layers(self):
        model = self.config("llama", num_hidden_layers=5)
        for phase in ("prefill:40", "decode:batch=4,context=64"):
            every = self.report(model, "--phase", phase)["phases"][0]
            one = self.report(model, "--phase", phase, "--repeat")
            self.assertEqual([x["times"] for x in one["phases"][0]["layers"]], [1, 5, 1])
            self.assertIn("5 layers", one["assumes"][0])
            self.assertAlmostEqual(one["phases"][0]["time_ns"] / every["time_ns"], 1, delta=0.01)

    def test_yaml_has_the_same_words(self):
        for family, lacks in (("llama", ()), ("starcoder2", ("rms_norm_eps",)), ("stablelm", ("rms_norm_eps",)), ("phi", ("rms_norm_eps",)),
                              ("gpt_neox", ("rms_norm_eps", "rope_theta"))):
            with self.subTest(family=family):
                words = {"model_type": family, **SIZES, **FAMILIES[family]}
                words = {k: v for k, v in words.items() if k not in lacks}
                yaml = self.text("".join(f"{k}: {json.dumps(v)}\n" for k, v in words.items()))
                a = self.report(yaml, "--phase", "prefill:8")
                b = self.report(self.config(family), "--phase", "prefill:8")
                self.assertEqual(a["phases"], b["phases"])

    def test_the_report_adds_up(self):
        r = self.report(self.config("llama"), *PHASES)
        for p in r["phases"]:
            layers = p["layers"]
            self.assertEqual([x["layer"] for x in layers], ["embedding", "layer 0", "layer 1", "head"])
            self.assertAlmostEqual(p["time_ns"], sum(x["times"] * x["time_ns"] for x in layers), places=3)
            for x in layers:
                for by in ("parts", "kernels"):
                    self.assertAlmostEqual(x["time_ns"], sum(i["time_ns"] for i in x[by]), places=3)
            self.assertGreater(p["mfu"], 0)
            self.assertLess(max(p["mfu"], p["hbm_share"]), 1)
        prefill, decode = r["phases"]
        self.assertEqual((prefill["ttft_ns"], prefill["tpot_ns"]), (prefill["time_ns"], None))
        self.assertEqual((decode["ttft_ns"], decode["tpot_ns"]), (None, decode["time_ns"]))
        self.assertAlmostEqual(decode["tokens_s"], 3e9 / decode["tpot_ns"], places=3)
        self.assertAlmostEqual(prefill["time_ns"] + 8 * decode["time_ns"], r["sim_ns"], delta=1e-6 * r["sim_ns"])
        # MACs by hand: 21 tokens, causal, two layers, one row of logits.
        macs = 2 * (21 * 48 * (48 + 2 * 24 + 48 + 3 * 70) + 2 * 21 * 22 // 2 * 48) + 48 * 101
        self.assertAlmostEqual(prefill["mfu"], 2 * macs / (prefill["time_ns"] * 8 * 2 * 4096 * 0.5), places=9)

    def test_capacity(self):
        fits = self.report(self.config("llama"), "--phase", "decode:batch=3,context=61")["capacity"]
        self.assertTrue(fits["fits"])
        rows = {x["what"]: x for x in fits["hbm"]["rows"]}
        layer = 48 * 96 + 48 * 48 + 3 * 48 * 70 + 8 * 2 * 48  # norms: a copy in each of 8 PEs
        self.assertEqual(rows["weights"]["bytes"], 4 * (2 * layer + 2 * 48 * 101 + 8 * 48))
        self.assertEqual(rows["KV cache"]["bytes"], 2 * 4 * 2 * 3 * 2 * 62 * 12)
        model = self.config("llama", num_hidden_layers=4000, intermediate_size=1 << 20, hidden_size=4096, head_dim=64)
        status, out, err = self.run_cli("model", model, "--topology", SMALL, "--phase", "prefill:8", "--repeat", "--format",
                                        "json")
        self.assertEqual((status, err), (1, ""))
        out = json.loads(out)
        self.assertFalse(out["capacity"]["fits"])
        self.assertEqual(out["phases"], [])
        self.assertIn("does not fit", out["verdict"][0])

    def test_capacity_counts_what_a_layer_makes(self):
        """To the byte: heads that PEs have whole and in parts, are normed, ranges of a cache, over ranks."""
        split_heads = {"num_attention_heads": 3, "num_key_value_heads": 1, "head_dim": 12}
        for family, more, phase, options in (
                ("llama", {}, "prefill:21", ()), ("qwen3", split_heads, "prefill:21", ()), ("gemma", {}, "prefill:1", ()),
                ("qwen3", {}, "decode:batch=3,context=200", ()), ("llama", {}, "decode:batch=1,context=200", ()),
                ("qwen2", split_heads, "decode:batch=9,context=0", ()), ("mistral", {}, "prefill:9", ("--tp", 2)),
                ("gemma", {}, "prefill:255", ("--tp", 2)),
                ("qwen3", {}, "decode:batch=1,context=200", ("--tp", 2)),
                ("starcoder2", {}, "prefill:9", ("--tp", 2)), ("stablelm", split_heads, "prefill:21", ()), ("phi", {}, "prefill:21", ()),
                ("phi", {}, "prefill:255", ("--tp", 2)), ("gpt_neox", {}, "decode:batch=3,context=200", ())):
            with self.subTest(family=family, more=more, phase=phase, options=options):
                machine = {"system": SIX} if options else {}
                leaders = ("--pes", "leaders") if options else ()
                r = self.report(self.config(family, **more), "--phase", phase, "--verify-layer", 1, *options, *leaders, **machine)
                self.assertEqual(sum(x["bytes"] for x in r["capacity"]["hbm"]["rows"]), r["tensor_bytes"])

    def test_capacity_has_the_activations_of_the_largest_phase(self):
        def activations(*phases):
            rows = self.report(self.config("llama"), *(x for p in phases for x in ("--phase", p)))["capacity"]["hbm"]["rows"]
            return next(x for x in rows if x["what"] == "activations")
        small, large = "decode:batch=3,context=13", "prefill:21"
        self.assertLess(activations(small)["bytes"], activations(large)["bytes"])
        self.assertEqual(activations(small, large, small), activations(large))

    def test_tokens_of_a_joule(self):
        energy = ("--energy", "n7.yaml")
        for phase, tokens in (("prefill:21", 21), ("decode:batch=3,context=13,steps=8", 24)):
            r = self.report(self.config("llama"), "--phase", phase, *energy)
            self.assertAlmostEqual(r["figures"]["tokens_per_j"] * r["figures"]["energy_j"], tokens, places=6)
            self.assertAlmostEqual(r["figures"]["tokens_per_j"] * r["phases"][0]["joules_token"], 1, places=9)
        whole = r["phases"][0]["joules_token"]
        for options in ((*PHASES,), ("--phase", "prefill:21", "--verify-layer", 0)):
            r = self.report(self.config("llama"), *options, *energy)  # several phases, or not all layers
            self.assertNotIn("tokens_per_j", r["figures"])
            self.assertNotIn("joules_token", r["phases"][0])
        r = self.report(self.config("llama"), "--phase", phase, "--repeat", *energy)
        self.assertAlmostEqual(r["phases"][0]["joules_token"] / whole, 1, delta=0.01)

    def test_rings_that_do_not_fit_are_not_run(self):
        """Those of a decode too, of the head's products where a layer has none, and of one stage of several."""
        rings = {}
        for phase in ("decode:batch=1,context=16", "prefill:4"):
            rings[phase] = self.report(self.config("llama"), "--phase", phase)["capacity"]["tcm"]["rings_bytes"]
            status, out, err = self.run_cli("model", self.config("llama"), "--topology", SMALL, "--phase", phase, "--set",
                                            f"*.pe_tcm.size_mb={1 + 512 / (1 << 20)}")
            self.assertEqual((status, err), (1, ""))
            self.assertRegex(out, r"rings need [0-9]{4} of 512 bytes of a TCM")
        self.assertEqual(rings["decode:batch=1,context=16"], 7 * 8 * 8192)  # one other cube, three PEs for rows and sums
        self.assertGreater(rings["prefill:4"], rings["decode:batch=1,context=16"])
        of_stage = [self.report(self.config("llama"), "--phase", "decode:batch=1,context=3", "--pes", "leaders", *pp,
                                system=SIX)["capacity"]["tcm"]["rings_bytes"] for pp in ((), ("--pp", 2))]
        self.assertEqual(*of_stage)

    def test_what_cannot_be_run_yet_is_told(self):
        for family, more, saying in (("stablelm", {"qk_layernorm": True}, "qk_layernorm"), ("phi", {"qk_layernorm": True}, "qk_layernorm"),
                                     ("starcoder2", {"use_bias": False}, "use_bias: false"),
                                     ("gemma3_text", {"use_bidirectional_attention": True}, "use_bidirectional_attention")):
            self.refuses("model", self.config(family, **more), "--topology", SMALL, saying=["not yet: " + saying], lines=1)

    def test_biases_and_windows_in_some_layers(self):
        """Each changes the logits, and is the reference's."""
        def logits(family, **more):
            r = self.report(self.config(family, **more), *PHASES, "--verify", "--dump", f"phase0.logits={self.folder.name}/y.npy")
            self.assertTrue(r["verify"]["passed"], r["verify"])
            with open(os.path.join(self.folder.name, "y.npy"), "rb") as f:
                return f.read()
        for family in ("llama", "qwen3", "gemma"):
            with self.subTest(family=family):
                self.assertNotEqual(logits(family), logits(family, attention_bias=True))
        windows = [{"use_sliding_window": False}] + [
            {"use_sliding_window": True, "sliding_window": 5, "max_window_layers": first} for first in (0, 1, 2)] + [
            {"use_sliding_window": True, "sliding_window": 5, "layer_types": ["sliding_attention", "full_attention"]}]
        for family in ("qwen2", "qwen3"):
            with self.subTest(family=family):
                found = [logits(family, **w) for w in windows]
                self.assertEqual(found[0], found[3])  # the window begins after the last layer
                self.assertEqual(len(set(found)), 4)

    def test_rope_of_transformers_5(self):
        def logits(**more):
            self.report(self.config("llama", **more), "--phase", "prefill:21", "--verify", "--dump", f"logits={self.folder.name}/y.npy")
            with open(os.path.join(self.folder.name, "y.npy"), "rb") as f:
                return f.read()
        scaling = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                   "original_max_position_embeddings": 64}
        usual, scaled = logits(rope_theta=500.0), logits(rope_theta=500.0, rope_scaling=scaling)
        self.assertNotEqual(usual, scaled)
        self.assertEqual(logits(rope_theta=None, rope_parameters={**scaling, "rope_theta": 500.0}), scaled)
        self.assertEqual(logits(rope_theta=None, rope_scaling={**scaling, "rope_theta": 500.0}), scaled)
        for parameters in ({"rope_theta": 500.0}, {"rope_theta": 500.0, "rope_type": "default"}):
            self.assertEqual(logits(rope_theta=None, rope_parameters=parameters), usual)
        self.assertEqual(logits(rope_theta=500.0, rope_scaling={}), usual)

    def test_repeat_of_layers_that_see_as_far(self):
        """Two of four layers have a window: one of each kind is simulated."""
        model = self.config("qwen2", num_hidden_layers=5, use_sliding_window=True, sliding_window=3, max_window_layers=2)
        r = self.report(model, "--phase", "decode:batch=2,context=99", "--repeat")
        decode = r["phases"][0]
        self.assertEqual([(x["layer"], x["times"]) for x in decode["layers"]],
                         [("embedding", 1), ("layer 0", 2), ("layer 2", 3), ("head", 1)])
        self.assertIn("5 layers take 2 times what layer 0 and 3 times what layer 2 has taken", r["assumes"][0])
        whole = self.report(model, "--phase", "decode:batch=2,context=99")
        self.assertAlmostEqual(decode["time_ns"], whole["phases"][0]["time_ns"], delta=0.01 * decode["time_ns"])
        for what in ("hbm_share", "mfu"):
            self.assertAlmostEqual(decode[what], whole["phases"][0][what], delta=0.01 * decode[what])
        weights = [next(x["bytes"] for x in r["capacity"]["hbm"]["rows"] if x["what"] == "weights") for r in (r, whole)]
        self.assertEqual(*weights)

    def test_wrong_files_are_one_line(self):
        half = self.text('{"model_type": "llama", "hidden_size": 8}', "half.json")
        cases = [
            (self.text("", "empty.json"), []),
            (self.text("[1, 2]", "list.json"), ["expected a model"]),
            (self.text('{"model_type": "llama", "hidden_size": ', "cut.json"), ["cut.json"]),
            (os.path.join(self.folder.name, "none.json"), ["none.json"]),
            (self.text('{"hidden_size": 8}', "typeless.json"), ["model_type is missing", "llama, mistral"]),
            (self.config("bert", "bert.json"), ["bert.json:2: model_type: found 'bert'", "qwen3"]),
            (half, ["lacks intermediate_size, num_hidden_layers", "vocab_size"]),
            (self.config("gemma", "gemma.json", head_dim=None), ["lacks head_dim"]),
            (self.config("llama", "divide.json", num_key_value_heads=3), ["num_key_value_heads", "a divisor of num_attention_heads"]),
            (self.config("llama", "zero.json", hidden_size=0), ["hidden_size: found '0'", "whole number"]),
            (self.config("llama", "text.json", vocab_size="big"), ["vocab_size: found 'big'"]),
            (self.config("llama", "act.json", hidden_act="relu6"), ["hidden_act: found 'relu6'", "gelu"]),
            (self.config("llama", "dynamic.json", rope_scaling={"rope_type": "dynamic", "factor": 2}), ["rope_scaling.rope_type", "yarn"]),
            (self.config("llama", "yarn.json", rope_scaling={"rope_type": "yarn", "factor": 2, "beta_fast": 0.5}),
             ["rope_scaling.beta_fast: found '0.5', expected at least beta_slow"]),
            (self.config("llama", "word.json", rope_scaling="linear"), ["rope_scaling: found 'linear', expected an object"]),
            (self.config("llama", "theta.json", rope_theta=1, rope_scaling={"rope_type": "yarn", "factor": 2}), ["rope_theta: found '1'"]),
            (self.config("llama", "layers.json", num_hidden_layers=1 << 20), ["num_hidden_layers: found '1048576', expected at most"]),
            (self.config("qwen2", "few.json", use_sliding_window=True, layer_types=["full_attention"]), ["one item for each of num_hidden_layers, 2"]),
            (self.config("qwen2", "type.json", use_sliding_window=True, layer_types=["full_attention", "none"]), ["not 'none'"]),
            (self.config("stablelm", "third.json", partial_rotary_factor=0.25), ["partial_rotary_factor: found '0.25', expected a share of a head's 12"]),
            (self.config("stablelm", "more.json", partial_rotary_factor=1.25), ["partial_rotary_factor: found '1.25'", "an even number"]),
            (self.config("stablelm", "none.json", partial_rotary_factor=0), ["partial_rotary_factor: found '0', expected a number above 0"]),
            (self.config("phi", "five.json", rope_parameters={"rope_theta": 1e4, "partial_rotary_factor": 0.1}),
             ["rope_parameters.partial_rotary_factor: found '0.1'"]),
            (self.config("gpt_neox", "pct.json", rotary_pct="all"), ["rotary_pct: found 'all'"]),
            (self.config("gpt_neox", "flag.json", use_parallel_residual=1), ["use_parallel_residual: found '1', expected true or false"]),
            (self.config("gemma2", "cap.json", attn_logit_softcapping=0), ["attn_logit_softcapping: found '0', expected a number above 0"]),
            (self.config("gemma2", "final.json", final_logit_softcapping=True), ["final_logit_softcapping: found 'true'"]),
            (self.config("gemma2", "scalar.json", query_pre_attn_scalar=-256), ["query_pre_attn_scalar: found '-256'"]),
            (self.config("gemma2", "types.json", layer_types=["sliding_attention"]), ["one item for each of num_hidden_layers, 2"]),
            (self.config("gemma3_text", "pattern.json", sliding_window_pattern=0), ["sliding_window_pattern: found '0'"]),
            (self.config("gemma3_text", "local.json", rope_local_base_freq="10k"), ["rope_local_base_freq: found '10k'"]),
            (self.config("gemma3_text", "kinds.json", rope_parameters={"full_attention": {"rope_theta": 1e6}, "sliding_attention": {"rope_theta": 1e4}}),
             ["rope_parameters: found an object", "rope_local_base_freq"]),
            (self.config("gemma3_text", "window.json", sliding_window=0), ["sliding_window: found '0'"]),
            (self.config("phi3", "long.json", rope_scaling={"type": "longrope", "short_factor": [1.0], "long_factor": [2.0]}),
             ["rope_scaling.short_factor: found a list, expected a list of 6 numbers above 0"]),
            (self.config("phi3", "short.json", rope_scaling={"type": "longrope", "short_factor": [1] * 6}), ["rope_scaling.long_factor is missing"]),
            (self.config("phi3", "words.json", rope_scaling={"type": "su", "short_factor": [1] * 6, "long_factor": [1] * 5 + ["a"]}),
             ["rope_scaling.long_factor: found a list, expected a list of 6"]),
            (self.config("phi3", "share.json", partial_rotary_factor=1.5), ["partial_rotary_factor: found '1.5'"]),
            (self.config("granite", "no_residual.json", residual_multiplier=0), ["residual_multiplier: found '0', expected a number above 0"]),
            (self.config("granite", "logits.json", logits_scaling=-8), ["logits_scaling: found '-8'"]),
            (self.config("granite", "factors.json", attention_multiplier=[1]), ["attention_multiplier: found a list"]),
            (self.config("starcoder2", "eps.json", norm_epsilon=-1), ["norm_epsilon: found '-1'"]),
            (self.text("model_type: starcoder2\n" + "".join(f"{k}: {v}\n" for k, v in SIZES.items()), "eps.yaml"),
             ["eps.yaml:9: rms_norm_eps: unknown field of model_type starcoder2; legal: ", "norm_epsilon"]),
            (self.text("model_type: llama\nhidden_sise: 8\n" + "".join(f"{k}: {v}\n" for k, v in SIZES.items())),
             ["model.yaml:2: hidden_sise", "did you mean"]),
        ]
        for file, saying in cases:
            with self.subTest(file=file):
                self.refuses("model", file, "--topology", SMALL, saying=saying, lines=1)

    def test_wrong_options_are_one_line(self):
        model = self.config("llama")
        for options, saying in (
                (("--phase", "prefill"), "prefill:N"), (("--phase", "prefill:0"), "'0'"), (("--phase", "decode:batch=2"), "context is missing"),
                (("--phase", "decode:batch=2,batch=2,context=1"), "twice"), (("--phase", "decode:batch=2,contest=1"), "'contest=1'"),
                (("--phase", "mixed:prefill=1,batch=1"), "context is missing"), (("--phase", "mixed:prefill=0,batch=1,context=1"), "'0'"),
                (("--phase", "mixed:prefill=1,batch=1,context=1,steps=2"), "'steps=2' says nothing"), (("--phase", "mixed:prefill=1,batch=1,context=256"), "position 257"),
                (("--phase", "mixed:9"), "'9' says nothing"), (("--phase", "prefill:257"), "position 257"),
                (("--phase", "decode:batch=1,context=250,steps=8"), "position 258"), (("--tp", "2"), "1 SIP"),
                (("--tp", "3"), "a divisor of num_key_value_heads, 2"), (("--pp", "2"), "--tp times --pp: found 2"), (("--pp", "3"), "at most one stage for each layer, 2"),
                (("--pp", "2", "--repeat"), "stages have different layers"), (("--ep", "2"), "a llama has no experts"),
                (("--routing", "top_k"), "a llama has no experts"), (("--routing", "best"), "best"),
                (("--weights", "i2"), "f8,i8,i4"), (("--kv", "i4"), "f8,i8}"), (("--weights", "f16"), "legal beside it: f32, or a type of 8 bits"),
                (("--kv", "f32", "--dtype", "f16"), "--kv: found f32 beside --dtype f16"), (("--layers", "3"), "the model has 2"),
                (("--verify-layer", "2"), "from 0 to 1"), (("--verify-layer", "0", "--repeat"), "one layer only")):
            with self.subTest(options=options):
                self.refuses("model", model, "--topology", SMALL, *options, saying=[saying], lines=1)

    def test_output_is_the_same_byte_for_byte(self):
        outputs = set()
        for threads in (1, 3):
            r = self.report(self.config("mistral"), *PHASES, "--verify", "--threads", threads)
            r.pop("wall_s")
            r.pop("run")
            outputs.add(json.dumps(r))
        self.assertEqual(len(outputs), 1)


if __name__ == "__main__":
    main()
