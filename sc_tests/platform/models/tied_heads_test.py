# SPDX-License-Identifier: Apache-2.0
"""With tied weights the head's matrix is the embedding's, whether that is drawn or comes from a file."""
import json

from kernel_cli import KernelCli, cli_support, np, topology

SIZES = {"model_type": "qwen2", "hidden_size": 48, "intermediate_size": 70, "num_hidden_layers": 1, "num_attention_heads": 4,
         "num_key_value_heads": 2, "vocab_size": 101, "max_position_embeddings": 256, "torch_dtype": "float32"}
PHASES = ("prefill:5", "decode:batch=3,context=13,steps=2")


class TiedHeads(KernelCli):
    def config(self, tied):
        with open(self.path("config.json"), "w", encoding="utf-8") as f:
            json.dump({**SIZES, "tie_word_embeddings": tied}, f)
        return self.path("config.json")

    def logits(self, tied, files, phases=PHASES, dtype="f32", more=()):
        """Of the last step of each phase."""
        names = ["phase0.logits", "phase1.logits.1"] if len(phases) > 1 else ["logits.1" if "steps" in phases[0] else "logits"]
        arguments = ["model", self.config(tied), "--topology", topology("small.yaml"), "--verify", "--dtype", dtype, *more]
        for phase in phases:
            arguments += ["--phase", phase]
        for name, value in files.items():
            np.save(self.path(name + ".npy"), value)
            arguments += ["--tensor", f"{name}={self.path(name + '.npy')}"]
        for name in names:
            arguments += ["--dump", f"{name}={self.path(name + '_out.npy')}"]
        self.succeeds(*arguments)
        return [np.load(self.path(name + "_out.npy")) for name in names]

    def equal(self, a, b):
        for x, y in zip(a, b, strict=True):
            np.testing.assert_array_equal(x, y)

    def setUp(self):
        super().setUp()
        self.table = np.random.default_rng(3).uniform(-1, 1, (101, 48)).astype(np.float32)

    def test_the_head_is_that_of_the_file(self):
        for phase in PHASES:
            for dtype, table in (("f32", self.table), ("f16", self.table.astype(np.float16)), ("f16", self.table)):
                with self.subTest(phase=phase, dtype=dtype):
                    tied = self.logits(True, {"embedding": table}, [phase], dtype)
                    self.equal(tied, self.logits(False, {"embedding": table, "head": table.T.copy()}, [phase], dtype))

    def test_phases_share_what_lies_alike(self):
        """An embedding of the first phase is the other's too, and makes the head of both."""
        drawn = self.logits(True, {})
        first = self.logits(True, {"phase0.embedding": self.table})
        for now, before in zip(first, drawn, strict=True):
            self.assertFalse(np.array_equal(now, before))
        self.equal(first, self.logits(True, {"phase0.embedding": self.table, "phase0.head": self.table.T.copy()}))

    def test_weights_in_a_narrow_type_leave_it_as_it_is(self):
        more = ("--weights", "i8")
        tied = self.logits(True, {"embedding": self.table}, PHASES[:1], more=more)
        self.equal(tied, self.logits(True, {"embedding": self.table, "head": self.table.T.copy()}, PHASES[:1], more=more))

    def test_heads_of_their_own_are_drawn(self):
        drawn = self.logits(False, {"embedding": self.table}, PHASES[:1])
        self.assertFalse(np.array_equal(drawn[0], self.logits(True, {"embedding": self.table}, PHASES[:1])[0]))

    def test_a_file_of_another_shape_is_refused(self):
        np.save(self.path("e.npy"), self.table.T.copy())
        self.refuses("model", self.config(True), "--topology", topology("small.yaml"), "--verify", "--phase", "prefill:5",
                     "--tensor", "embedding=" + self.path("e.npy"), saying=["embedding", "[101, 48]"], lines=1)


if __name__ == "__main__":
    cli_support.main()
