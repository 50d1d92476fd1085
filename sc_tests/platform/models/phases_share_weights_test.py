#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Weights that lie alike in several phases of a run are there once; the capacity table says what is there once more."""
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


if __name__ == "__main__":
    main()
