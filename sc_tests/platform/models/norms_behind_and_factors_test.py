#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Families with norms behind attention and MLP, factors, caps and positions turned in two ways: over ranks and stages, in
narrower types, with what their files may say otherwise, and what each field changes."""
import os

from cli_support import main
import models_run_and_verify_test as models

PHASES, SIX = models.PHASES, models.SIX


class NormsBehindAndFactors(models.ModelsCli):
    def test_gemmas_phi3_and_granite_over_ranks_and_stages(self):
        """And capacity is what runs take."""
        for family, otherwise in (("gemma2", {"attn_logit_softcapping": None, "attention_bias": True}), ("gemma3_text", {"final_logit_softcapping": 2.0}),
                                  ("phi3", {"partial_rotary_factor": 0.5, "sliding_window": None}), ("granite", {"mlp_bias": True, "attention_bias": True})):
            # Only phi3 has no norm after its products and no factor: it adds them unchanged.
            self.runs_over_ranks_and_stages(family, otherwise, (("--tp", 2), ("--pp", 2), ("--tp", 2, "--dtype", "f16", "--kv", "f8"),
                                                                ("--dtype", "bf16", "--weights", "i8", "--activations", "i8")),
                                            1 if family == "phi3" else 0.5)
        with self.subTest("capacity"):
            for phase in ("decode:batch=1,context=200", "mixed:prefill=9,batch=1,context=20"):
                r = self.report(self.config("gemma3_text"), "--phase", phase, "--verify-layer", 1)
                self.assertEqual(sum(x["bytes"] for x in r["capacity"]["hbm"]["rows"]), r["tensor_bytes"])

    def test_what_their_fields_say_changes_logits(self):
        def logits(family, **more):
            self.report(self.config(family, **more), "--phase", "prefill:21", "--verify", "--dump", f"logits={self.folder.name}/y.npy")
            with open(os.path.join(self.folder.name, "y.npy"), "rb") as f:
                return f.read()
        for family, fields in (("granite", {"embedding_multiplier": 11.0, "residual_multiplier": 0.5, "attention_multiplier": 0.1, "logits_scaling": 2.0}),
                               ("gemma2", {"query_pre_attn_scalar": 100, "sliding_window": 5, "attn_logit_softcapping": None, "final_logit_softcapping": None,
                                           "layer_types": ["full_attention"] * 2}),
                               ("gemma3_text", {"query_pre_attn_scalar": 100, "rope_local_base_freq": 7.0, "rope_scaling": None, "sliding_window_pattern": 1,
                                                "rope_theta": 100.0, "layer_types": ["full_attention", "sliding_attention"]}),
                               ("phi3", {"sliding_window": None, "partial_rotary_factor": 0.5})):
            found = {logits(family)}
            for field, value in fields.items():
                with self.subTest(family=family, field=field):
                    other = logits(family, **{field: value})
                    self.assertNotIn(other, found)
                    found.add(other)

    def test_tables_of_two_thetas_with_repeat_and_stages(self):
        """One layer of each kind; each stage has what its layers are turned by."""
        model = self.config("gemma3_text", num_hidden_layers=6, sliding_window_pattern=3)
        every, one = (self.report(model, "--phase", "prefill:40", *more)["phases"][0] for more in ((), ("--repeat",)))
        self.assertEqual([(x["layer"], x["times"]) for x in one["layers"]], [("embedding", 1), ("layer 0", 4), ("layer 2", 2), ("head", 1)])
        self.assertAlmostEqual(one["time_ns"] / every["time_ns"], 1, delta=0.01)
        r = self.report(model, "--phase", "decode:batch=2,context=9,steps=2", "--verify", "--pp", 3, "--pes", "leaders", system=SIX)
        self.assertTrue(r["verify"]["passed"], r["verify"])
        r = self.report(model, "--phase", "prefill:9", "--verify-layer", 5)
        self.assertTrue(r["verify"]["passed"], r["verify"])


if __name__ == "__main__":
    main()
