#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Weights that lie alike in several phases of a run are there once; the capacity table says what is there once more. Layouts
that do not fit together are placed in turn: a model that fits each phase alone fits all of them."""
import json

import cli_support
from cli_support import main, topology

SMALL = topology("small.yaml")
CONFIG = {"model_type": "llama", "hidden_size": 32, "intermediate_size": 48, "num_attention_heads": 2, "num_key_value_heads": 1,
          "num_hidden_layers": 1, "vocab_size": 64, "rms_norm_eps": 1e-05, "max_position_embeddings": 128, "torch_dtype": "float32"}


class Phases(cli_support.FolderCli):
    def setUp(self):
        super().setUp()
        with open(self.path("config.json"), "w", encoding="utf-8") as f:
            json.dump(CONFIG, f)

    def test_phases_share_what_lies_alike(self):
        def weights(*phases):
            r = json.loads(self.succeeds("model", self.path("config.json"), "--topology", SMALL, "--format", "json",
                                         *(w for p in phases for w in ("--phase", p))))
            return next(row for row in r["capacity"]["hbm"]["rows"] if row["what"] == "weights")
        prefill, decode = weights("prefill:4"), weights("decode:batch=2,context=8")
        alike = weights("decode:batch=2,context=8", "decode:batch=1,context=4")
        self.assertEqual((alike["bytes"], alike["again_bytes"]), (decode["bytes"], 0))
        both = weights("prefill:4", "decode:batch=2,context=8", "decode:batch=1,context=4")
        self.assertLess(both["bytes"], prefill["bytes"] + decode["bytes"])
        self.assertGreater(both["again_bytes"], 0)
        self.assertEqual(both["bytes"] - both["again_bytes"], prefill["bytes"])
        text = self.succeeds("model", self.path("config.json"), "--topology", SMALL, "--phase", "prefill:4", "--phase", "decode:batch=2,context=8")
        self.assertIn("once more, as phases lay them out differently", text)

    def test_layouts_that_do_not_fit_together_are_placed_in_turn(self):
        config = {**CONFIG, "hidden_size": 256, "intermediate_size": 512, "num_attention_heads": 4, "num_key_value_heads": 2,
                  "num_hidden_layers": 2, "vocab_size": 1024}
        with open(self.path("config.json"), "w", encoding="utf-8") as f:
            json.dump(config, f)
        with open(SMALL, encoding="utf-8") as f:
            small = f.read()
        for mb in (1, 0.5):
            with open(self.path(f"{mb}.yaml"), "w", encoding="utf-8") as f:
                f.write(small.replace("slice_mb: 1024", f"slice_mb: {mb}"))

        def words(mb, *phases):
            return ("model", self.path("config.json"), "--topology", self.path(f"{mb}.yaml"), "--format", "json",
                    *(w for p in phases for w in ("--phase", p)))
        phases = ("decode:batch=2,context=8", "prefill:16", "decode:batch=1,context=4")  # the first layout comes back
        alone = [json.loads(self.succeeds(*words(1, p))) for p in phases]
        log, first, last = self.path("l.sqlite"), self.path("0.npy"), self.path("2.npy")
        all_three = json.loads(self.succeeds(*words(1, *phases), "--verify", "--oplog", log, "--dump", "phase0.logits=" + first,
                                             "--dump", "phase2.logits=" + last))
        hbm = all_three["capacity"]["hbm"]
        self.assertEqual(hbm["fullest_phase"], "prefill:16")
        self.assertTrue(max(a["capacity"]["hbm"]["needs_bytes"] for a in alone) <= hbm["needs_bytes"] <= hbm["has_bytes"])
        self.assertEqual([row["again_bytes"] for row in hbm["rows"]], [0] * len(hbm["rows"]))
        for one, among in zip(alone, all_three["phases"], strict=True):
            self.assertAlmostEqual(among["time_ns"], one["phases"][0]["time_ns"], delta=1e-6)
        self.succeeds("replay", "--oplog", log, "--expected", "phase0.logits=" + first, "--expected", "phase2.logits=" + last)
        self.succeeds(*words(1, *phases), "--repeat")
        status, out, err = self.run_cli(*words(0.5, *phases))
        self.assertEqual((status, err), (1, ""))
        self.assertFalse(json.loads(out)["capacity"]["fits"])


if __name__ == "__main__":
    main()
