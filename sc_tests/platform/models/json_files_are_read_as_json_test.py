#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files whose name ends in .json are read by a JSON reader: escapes that JSON alone has are legal, and faults have its
words, in a line with the place. Configurations of models, plans, topologies and work files."""
import json

import cli_support
from cli_support import main, topology

SMALL = topology("small.yaml")
CONFIG = {"model_type": "llama", "hidden_size": 32, "intermediate_size": 48, "num_attention_heads": 2, "num_key_value_heads": 1,
          "num_hidden_layers": 1, "vocab_size": 64, "rms_norm_eps": 1e-05, "rope_theta": 10000.0, "max_position_embeddings": 128,
          "torch_dtype": "float32", "_name_or_path": "x \U0001F600"}
WORK = {"pes": [{"pe": "sip0.cube0.pe0", "composites": [{"id": "\U0001F600", "kind": "math", "op": "relu", "submit_ns": 0, "m": 64, "n": 64,
                                                         "tile": [16, 64], "dtype_bytes": 4,
                                                         "inputs": [{"space": "hbm", "addr": 0}], "out": {"space": "hbm", "addr": 65536}}]}]}
PLAN = {"options": {"topology": SMALL, "kernel": "vector_add"}, "over": {"param.n": [64, 128]}}


class JsonFiles(cli_support.FolderCli):
    def file(self, name, text):
        with open(self.path(name), "wb") as f:
            f.write(text if isinstance(text, bytes) else text.encode())
        return self.path(name)

    def model(self, text, *more, name="config.json"):
        return ("model", self.file(name, text), "--topology", SMALL, "--phase", "prefill:4", *more)

    def readers(self):
        """What reads a JSON file: the command, by a text and a file's name."""
        yield CONFIG, lambda text: self.model(text)
        yield PLAN, lambda text: ("sweep", "--plan", self.file("plan.json", text))
        yield {"nodes": [], "edges": []}, lambda text: ("topology", self.file("machine.json", text))
        yield WORK, lambda text: ("pipeline", "--topology", SMALL, "--work", self.file("work.json", text))

    def test_faults_are_json_s(self):
        for value, command in self.readers():
            text = json.dumps(value, indent=1)
            cases = (("\ufeff" + text, ("byte order mark",)), (text.rstrip()[:-1] + ",\n}", ("not JSON", "line")),
                     (text[:-2], ("not JSON",)), (text + "x", ("not JSON",)), ("", ("not JSON",)), (b"\xff\xfe{}", ("not JSON",)),
                     ('{"a": 1,\n "a": 2}', ("key", "a", "stands twice")), ("[" * 100, ("nests deeper",)),
                     (text.replace(": ", ": \"\\ud83d\", \"z\": ", 1), ("not JSON",)))
            for content, said in cases:
                with self.subTest(command=command("")[0], said=said, content=content[:20]):
                    err = self.refuses(*command(content), saying=said, lines=1)
                    self.assertNotIn("YAML", err)
                    self.assertIn(".json", err)

    def test_emojis_are_text(self):
        self.assertIn("\\ud83d\\ude00", json.dumps(CONFIG))
        self.succeeds(*self.model(json.dumps(CONFIG)))
        self.succeeds(*self.model(json.dumps(CONFIG, ensure_ascii=False)))
        self.refuses("sweep", "--plan", self.file("plan.json", json.dumps({**PLAN, "\U0001F600": 1})), saying=("\U0001F600",), lines=1)
        self.succeeds("sweep", "--plan", self.file("plan.json", json.dumps(PLAN)))
        self.assertIn("\U0001F600", self.succeeds("pipeline", "--topology", SMALL, "--work", self.file("work.json", json.dumps(WORK))))

    def test_values_and_lines_are_those_of_yaml(self):
        text = json.dumps({**CONFIG, "num_attention_heads": "2"}, indent=1)
        line = 1 + text[:text.index('"num_attention_heads"')].count("\n")
        self.refuses(*self.model(text), saying=(f"config.json:{line}: num_attention_heads: found '2'",), lines=1)
        text = json.dumps({**CONFIG, "vocab_size": -3}, indent=1)
        line = 1 + text[:text.index('"vocab_size"')].count("\n")
        self.refuses(*self.model(text), saying=(f"config.json:{line}: vocab_size: found '-3'",), lines=1)

    def test_what_a_configuration_says_is_not_ignored(self):
        for name in ("rope_scaling", "rope_parameters"):
            for value in ([8.0], [], "linear", 2, True):
                with self.subTest(name=name, value=value):
                    self.refuses(*self.model(json.dumps({**CONFIG, name: value})), saying=(name, "expected an object"), lines=1)
        for method in ("fp8", "awq", "gptq", "mxfp4"):
            config = {**CONFIG, "quantization_config": {"quant_method": method, "bits": 4}}
            status, _, err = self.run_cli(*self.model(json.dumps(config)))
            self.assertEqual(status, 0, err)
            self.assertEqual(len(err.strip().splitlines()), 1, err)
            self.assertIn(f"quantization_config ({method})", err)
        self.assertEqual(self.run_cli(*self.model(json.dumps({**CONFIG, "quantization_config": None})))[::2], (0, ""))


if __name__ == "__main__":
    main()
