#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models whose weights and caches have types of their own, and steps of a prompt and sequences together: every family
against f64, over ranks and stages; scales of 0, groups that do not divide; what capacity and shares count."""
import itertools
import json
import os

from cli_support import main
import models_run_and_verify_test as models

SIX, PHASES = models.SIX, models.PHASES
INTEGERS = ("--weights", "i8", "--activations", "i8")
MIXED = ("--phase", "mixed:prefill=9,batch=3,context=13")

try:
    import numpy as np
except ImportError:
    np = None


class NarrowTypes(models.ModelsCli):
    def verifies(self, family, *options, system=models.SMALL, **more):
        r = self.report(self.config(family, **more), *options, "--verify", system=system)
        self.assertTrue(r["verify"]["passed"], r["verify"])
        return r

    def test_weights_of_every_family(self):
        for i, family in enumerate(models.FAMILIES):
            for weights in ("f8", "i8", "i4"):
                with self.subTest(family=family, weights=weights):
                    r = self.verifies(family, *PHASES, *MIXED[:2 * (i == 0)], "--weights", weights)
                    self.assertEqual(r["model"]["weights"], {"f8": "f8e4m3"}.get(weights, weights))
                    for t in r["verify"]["tensors"]:
                        self.assertLess(t["max_abs_err"], 2e-3, t)

    def test_caches_of_every_family(self):
        for family, kv in zip(models.FAMILIES, itertools.cycle(("f8", "i8"))):
            with self.subTest(family=family, kv=kv):
                r = self.verifies(family, *PHASES, "--kv", kv)
                self.assertEqual({t["dtype"] for t in r["verify"]["tensors"] if t["name"].endswith(".k")}, {{"f8": "f8e4m3"}.get(kv, kv)})

    def test_ranks_stages_and_types(self):
        for dtype, family, options in (("f16", "qwen3", ("--weights", "i4", "--kv", "i8")), ("bf16", "llama", ("--weights", "f8", "--kv", "f8")),
                                       ("f32", "qwen2", ("--weights", "i4", "--pp", 2)), ("f16", "mistral", ("--weights", "i8", "--kv", "i8", "--pp", 2))):
            with self.subTest(dtype=dtype, family=family, options=options):
                self.verifies(family, "--phase", "prefill:9", "--phase", "decode:batch=2,context=200,steps=2", "--phase",
                              "mixed:prefill=3,batch=2,context=0", "--tp", 2, "--pes", "leaders", "--dtype", dtype, *options, system=SIX)

    def test_mixed(self):
        """One of each; more rows than PEs; keys in ranges; sums beside products; every PE of two SIPs."""
        for family, phase, options in (("llama", "prefill=1,batch=1,context=0", ()), ("gemma", "prefill=70,batch=9,context=5", ()),
                                       ("mistral", "prefill=5,batch=1,context=250", ()), ("qwen3", "prefill=9,batch=2,context=200", ("--verify-layer", 1)),
                                       ("llama", "prefill=130,batch=126,context=3", ("--tp", 2, "--pes", "leaders", "--layers", 1)),
                                       ("qwen2", "prefill=6,batch=5,context=9", ("--tp", 2, "--layers", 1))):
            with self.subTest(family=family, phase=phase):
                r = self.verifies(family, "--phase", "mixed:" + phase, *options, system=SIX if "--tp" in options else models.SMALL)
                p = r["phases"][0]
                self.assertEqual((p["ttft_ns"], p["tpot_ns"]), (p["time_ns"], p["time_ns"]))
                rows = sum(int(w.split("=")[1]) for w in phase.split(",")[:2])
                self.assertAlmostEqual(p["tokens_s"], rows * 1e9 / p["time_ns"], places=3)
                self.assertLess(max(p["mfu"], p["hbm_share"]), 1)

    def test_mixed_is_counted(self):
        r = self.report(self.config("llama"), "--phase", "mixed:prefill=21,batch=3,context=13")["phases"][0]
        macs = 2 * (24 * 48 * (48 + 2 * 24 + 48 + 3 * 70) + 2 * (21 * 22 // 2 + 3 * 14) * 48) + 4 * 48 * 101
        self.assertAlmostEqual(r["mfu"], 2 * macs / (r["time_ns"] * 8 * 2 * 4096 * 0.5), places=9)

    def test_repeat_is_all_layers(self):
        model = self.config("llama", num_hidden_layers=5)
        options = ("--phase", "mixed:prefill=20,batch=4,context=64", "--weights", "i4", "--kv", "f8")
        every, one = (self.report(model, *options, *more)["phases"][0] for more in ((), ("--repeat",)))
        self.assertAlmostEqual(one["time_ns"] / every["time_ns"], 1, delta=0.01)

    def test_verification_changes_no_time(self):
        options = (*PHASES, *MIXED, "--weights", "i4", "--kv", "i8")
        a, b = (self.report(self.config("qwen3"), *options, *more)["phases"] for more in ((), ("--verify",)))
        self.assertEqual(a, b)

    def test_a_wrong_result_fails(self):
        for name in ("logits", "layers.1.v"):
            status, _, _ = self.run_cli("model", self.config("llama"), "--topology", models.SMALL, *MIXED, "--kv", "i8", "--verify",
                                        "--corrupt", name)
            self.assertEqual(status, 1)

    def test_groups_of_any_depth(self):
        """Rows that 128 does not divide, over ranks too: a short last group, and one in two ranks."""
        for more, options, system in (({"hidden_size": 200, "head_dim": 12}, (), models.SMALL),
                                      ({"intermediate_size": 270}, ("--tp", 2, "--pes", "leaders"), SIX),
                                      ({"intermediate_size": 512}, ("--tp", 2, "--pes", "leaders"), SIX)):
            with self.subTest(more=more):
                self.verifies("llama", "--phase", "prefill:5", "--phase", "decode:batch=2,context=3", "--weights", "i4", *options,
                              system=system, **more)

    def test_rows_are_integers(self):
        """Every family; an integer is never another one than in plain loops, so that all that differs is f32's roundings."""
        for family in models.FAMILIES:
            with self.subTest(family=family):
                r = self.verifies(family, *PHASES, *MIXED, *INTEGERS)
                self.assertEqual((r["model"]["weights"], r["model"]["activations"]), ("i8", "i8"))
        for seed in (1, 2, 3):
            r = self.verifies("llama", *PHASES, *INTEGERS, "--seed", seed)
            exact = [t for t in r["verify"]["tensors"] if t["max_abs_err"] < 1e-5]
            self.assertGreater(len(exact), len(r["verify"]["tensors"]) / 2)

    def test_rows_are_integers_over_ranks_and_stages(self):
        """Widths that ranks do not divide, one row, no column at all in a rank, as many rows as the model has, in halves."""
        for more, phases, options in (({}, ("prefill:9", "decode:batch=2,context=130,steps=8"), ("--tp", 2)),
                                      ({"intermediate_size": 71}, ("prefill:1", "mixed:prefill=3,batch=2,context=9"), ("--tp", 2, "--dtype", "f16")),
                                      ({}, ("prefill:9", "decode:batch=2,context=9,steps=8,page=4"), ("--pp", 2, "--dtype", "bf16", "--kv", "i8")),
                                      ({"intermediate_size": 1}, ("prefill:5", "mixed:prefill=3,batch=2,context=3"), ("--tp", 2, "--pp", 2)),
                                      ({"tie_word_embeddings": True}, ("prefill:256",), ("--tp", 2, "--layers", 1, "--check-races")),
                                      ({"hidden_act": "gelu_new", "mlp_bias": True}, ("prefill:255",), ("--tp", 2, "--layers", 1))):
            with self.subTest(more=more, options=options):
                self.verifies("llama", *(x for p in phases for x in ("--phase", p)), *INTEGERS, "--pes", "leaders", *options, system=SIX, **more)
        with self.subTest("one norm of two halves"):
            self.verifies("phi", "--phase", "prefill:255", *INTEGERS, "--tp", 2, "--layers", 1, "--pes", "leaders", system=SIX)

    def test_rows_of_experts_are_integers(self):
        experts = {"num_local_experts": 4, "num_experts_per_tok": 2}
        for family, options in (("mixtral", ("--tp", 2)), ("mixtral", ("--ep", 2)), ("gpt_oss", ("--tp", 2)),
                                ("mixtral", ("--routing", "top_k", "--dtype", "bf16"))):
            with self.subTest(family=family, options=options):
                self.verifies(family, "--phase", "prefill:9", "--phase", "decode:batch=2,context=13,steps=8", *INTEGERS, "--pes", "leaders",
                              *options, system=SIX, **experts)

    def test_rows_that_are_no_integers_are_found(self):
        """A run that rounds no row is not taken for one that does."""
        if np is None:
            self.skipTest("there is no NumPy")
        def logits(*options):
            self.verifies("llama", "--phase", "prefill:9", "--weights", "i8", *options, "--dump", f"logits={self.folder.name}/y.npy")
            return np.load(os.path.join(self.folder.name, "y.npy"))
        usual, integers = logits(), logits("--activations", "i8")
        self.assertGreater(np.abs(usual - integers).max(), 1e-3)
        self.assertLess(np.abs(usual - integers).max(), 0.1)
        status, _, _ = self.run_cli("model", self.config("llama"), "--topology", models.SMALL, "--phase", "prefill:9", *INTEGERS, "--verify",
                                    "--corrupt", "logits")
        self.assertEqual(status, 1)

    def test_types_that_the_model_says(self):
        """In the words of the options, which go before them."""
        words = {"weights": "i8", "activations": "i8", "kv": "f8"}
        text = "model_type: llama\n" + "".join(f"{k}: {v}\n" for k, v in {**models.SIZES, **words}.items())
        def types(*options, **more):
            r = self.report(self.text(text) if not more else self.config("llama", **more), "--phase", "decode:batch=1,context=3", *options)
            return [r["model"].get(word, "") for word in words]
        self.assertEqual(types(), ["i8", "i8", "f8e4m3"])
        self.assertEqual(types(**words), ["i8", "i8", "f8e4m3"])
        self.assertEqual(types("--weights", "i4", "--activations", "f32", "--kv", "f32"), ["i4", "", ""])
        self.assertEqual(types("--activations", "f32"), ["i8", "", "f8e4m3"])
        self.refuses("model", self.config("llama", "half.json", weights="f16"), "--topology", models.SMALL,
                     saying=["half.json: weights: found f16 beside --dtype f32"], lines=1)
        self.refuses("model", self.config("llama", "word.json", activations="i4"), "--topology", models.SMALL,
                     saying=["activations: found 'i4', expected f32, f16, bf16, i8"], lines=1)

    def test_integer_rows_beside_other_weights_are_refused(self):
        model = self.config("llama")
        for options, saying in ((("--activations", "i8"), "activations: found i8 beside weights of f32, expected --weights i8"),
                                (("--activations", "i8", "--weights", "i4"), "beside weights of i4"), (("--activations", "i8", "--weights", "f8"), "f8e4m3"),
                                (("--activations", "f16"), "--activations: found f16 beside --dtype f32"), (("--activations", "i4"), "i4"),
                                (("--activations", "i8", "--activations", "i8", "--weights", "i8"), "activations")):
            with self.subTest(options=options):
                self.refuses("model", model, "--topology", models.SMALL, *options, saying=[saying], lines=1)

    def test_capacity_counts_integer_rows(self):
        """What runs takes is what was counted, and that is less by what an operand is narrower and more by its integers."""
        for family, phase, options in (("qwen3", "prefill:21", ()), ("qwen3", "mixed:prefill=300,batch=4,context=0", ("--tp", 2)),
                                       ("phi", "prefill:300", ("--tp", 2)), ("llama", "decode:batch=1,context=200", ("--tp", 2))):
            with self.subTest(family=family, phase=phase):
                machine = {"system": SIX} if options else {}
                leaders = ("--pes", "leaders") if machine else ()
                r = self.report(self.config(family, max_position_embeddings=512), "--phase", phase, "--verify-layer", 1, *INTEGERS, *options, *leaders,
                                **machine)
                self.assertEqual(sum(x["bytes"] for x in r["capacity"]["hbm"]["rows"]), r["tensor_bytes"])

    def test_capacity_counts_types(self):
        for weights, kv, bits, extra in (("i8", "i8", 8, 1), ("i4", "f8", 4, 0)):
            r = self.report(self.config("llama"), "--phase", "decode:batch=3,context=61", "--weights", weights, "--kv", kv)
            rows = {x["what"]: x for x in r["capacity"]["hbm"]["rows"]}
            sizes = [(48, 96), (48, 48), (48, 70), (48, 70), (70, 48)]
            def stored(k, n):  # values, with whole bytes per row; one scale per column
                return k * -(-n * bits // 8) + 4 * n
            norms = 4 * 8 * 48
            expected = 2 * (sum(stored(k, n) for k, n in sizes) + 2 * norms) + stored(48, 101) + 4 * 48 * 101 + norms
            self.assertEqual(rows["weights"]["bytes"], expected)
            self.assertEqual(rows["KV cache"]["bytes"], 2 * 2 * (3 * 2 * 62 * 12 + extra * 8 * 4 * 2))
            needed = 2 * (sum(stored(k, n) for k, n in sizes) + 2 * 4 * 48 + 2 * 3 * 63 * 24 + extra * 16) + stored(48, 101) + 3 * 4 * 48
            p = r["phases"][0]
            share = p["hbm_share"] * p["time_ns"]
            f32 = self.report(self.config("llama"), "--phase", "decode:batch=3,context=61")["phases"][0]
            of_f32 = 4 * (2 * (sum(k * n for k, n in sizes) + 2 * 48 + 2 * 3 * 63 * 24) + 48 * 101 + 3 * 48)
            self.assertAlmostEqual(share / (f32["hbm_share"] * f32["time_ns"]), needed / of_f32, places=9)

    def test_capacity_counts_what_a_layer_makes(self):
        for phase, options in (("prefill:21", ("--weights", "i4")), ("mixed:prefill=9,batch=1,context=200", ("--kv", "i8")),
                               ("mixed:prefill=300,batch=4,context=0", ("--weights", "i4", "--tp", 2)),
                               ("decode:batch=1,context=200", ("--weights", "i4", "--kv", "f8", "--tp", 2))):
            with self.subTest(phase=phase, options=options):
                machine = {"system": SIX} if "--tp" in options else {}
                leaders = ("--pes", "leaders") if machine else ()
                r = self.report(self.config("qwen3", max_position_embeddings=512), "--phase", phase, "--verify-layer", 1, *options, *leaders, **machine)
                self.assertEqual(sum(x["bytes"] for x in r["capacity"]["hbm"]["rows"]), r["tensor_bytes"])

    def test_a_cache_type_of_a_prefill_is_told(self):
        status, _, err = self.run_cli("model", self.config("llama"), "--topology", models.SMALL, "--phase", "prefill:5", "--kv", "f8")
        self.assertEqual((status, err.count("\n")), (0, 1))
        self.assertIn("--kv: a prefill has no cache", err)

    def test_edges_from_files(self):
        """Scales of 0, the ends of the types."""
        if np is None:
            self.skipTest("there is no NumPy")
        def file(name, value):
            np.save(os.path.join(self.folder.name, name), value)
            return os.path.join(self.folder.name, name)
        random = np.random.default_rng(3)
        for weights, values in (("i8", np.array([-128, -127, 127, 0], np.int8)), ("i4", np.array([-8, 7], np.int8)),
                                ("f8", np.array([-448, 448, 2.0 ** -9], np.float32))):
            w = random.choice(values, (48, 96))
            scale = np.full((1, 96), 1e-3, np.float32)
            scale[0, :7] = 0
            self.verifies("llama", *PHASES[2:], "--weights", weights, "--kv", "i8", "--tensor", "layers.0.qkv=" + file("w.npy", w), "--tensor",
                          "layers.0.qkv_scale=" + file("s.npy", scale), "--tensor", "layers.1.k_scale=" + file("k.npy", np.zeros(2, np.float32)),
                          "--tensor", "layers.1.v=" + file("v.npy", np.full((6, 21, 12), -128, np.int8)))


if __name__ == "__main__":
    main()
