#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Groups of nodes as PyTorch 1.13 exports them (opset 17): a Llama layer is a dozen launches, right, and about as fast as the
layer of `kernbench model config.json`; what only looks like such a group runs node by node."""
import json
import os

import numpy as np

import onnx_file as onnx
from cli_support import main
from onnx_cli import SMALL, OnnxCli

LOWEST = np.finfo("f4").min


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


class Exporter:
    """Nodes one behind the other; what each gives is its name."""

    def __init__(self):
        self.nodes, self.constants = [], {}

    def __call__(self, op, *inputs, name=None, **attributes):
        name = name or f"/{op}_{len(self.nodes)}"
        self.nodes.append(onnx.node(op, inputs, [name], name=name, **attributes))
        return name

    def constant(self, array):
        name = f"constant_{len(self.constants)}"
        self.constants[name] = np.asarray(array)
        return name

    def number(self, x):
        return self.constant(np.float32(x))

    def list(self, *values):
        return self.constant(np.array(values, "i8"))

    def rms_norm(self, x, weight, name):
        x = self("Cast", x, to=1)
        mean = self("ReduceMean", self("Pow", x, self.number(2)), axes=[-1], keepdims=1)
        scale = self("Div", self.number(1), self("Sqrt", self("Add", mean, self.number(1e-5))))
        return self("Mul", weight, self("Cast", self("Mul", x, scale), to=1), name=name)

    def heads(self, x, n, dim):
        return self("Transpose", self("Reshape", x, self.list(1, -1, n, dim)), perm=[0, 2, 1, 3])

    def half(self, x, dim, second):
        ends = (dim // 2, np.iinfo("i8").max) if second else (0, dim // 2)
        return self("Slice", x, self.list(ends[0]), self.list(ends[1]), self.list(3), self.list(1))

    def turned(self, x, cos, sin, dim, name):
        other = self("Concat", self("Neg", self.half(x, dim, True)), self.half(x, dim, False), axis=-1)
        return self("Add", self("Mul", x, cos), self("Mul", other, sin), name=name)

    def repeated(self, x, kv, n, seq, dim):
        x = self("Unsqueeze", x, self.list(2))
        return self("Reshape", self("Expand", x, self.list(1, kv, n, seq, dim)), self.list(1, kv * n, seq, dim))

    def attention(self, q, k, v, mask, dim, name):
        scores = self("Div", self("MatMul", q, self("Transpose", k, perm=[0, 1, 3, 2])), self.number(np.sqrt(dim)))
        weights = self("Softmax", self("Add", scores, mask), axis=-1, name="weights")
        return self("MatMul", self("Cast", weights, to=1), v, name=name)


class Layer:
    """Of Llama: the exporter's graph, and what it is in f64."""

    def __init__(self, hidden, seq, heads, kv, inner, dim=64, seed=3):
        rng = np.random.default_rng(seed)
        sizes = {"q": (hidden, heads * dim), "k": (hidden, kv * dim), "v": (hidden, kv * dim), "o": (heads * dim, hidden),
                 "gate": (hidden, inner), "up": (hidden, inner), "down": (inner, hidden)}
        self.weights = {n: (rng.uniform(-1, 1, s) / np.sqrt(s[0])).astype("f4") for n, s in sizes.items()}
        self.weights.update({n: rng.uniform(0.5, 1.5, hidden).astype("f4") for n in ("norm1", "norm2")})
        angles = np.outer(np.arange(seq), 1 / 10000 ** (np.arange(0, dim, 2) / dim))
        angles = np.concatenate([angles, angles], -1)[None]
        mask = np.triu(np.full((seq, seq), LOWEST, "f4"), 1)[None, None]
        self.inputs = {"x": rng.uniform(-1, 1, (1, seq, hidden)).astype("f4"), "mask": mask, "cos": np.cos(angles).astype("f4"),
                       "sin": np.sin(angles).astype("f4")}
        self.sizes = (seq, heads, kv, dim)

    def model(self):
        seq, heads, kv, dim = self.sizes
        e = Exporter()
        e.constants.update(self.weights)
        n = e.rms_norm("x", "norm1", "norm1_out")
        q, k, v = (e.heads(e("MatMul", n, w, name=w + "_out"), h, dim) for w, h in (("q", heads), ("k", kv), ("v", kv)))
        cos, sin = (e("Unsqueeze", t, e.list(1)) for t in ("cos", "sin"))
        q, k = e.turned(q, cos, sin, dim, "q_turned"), e.turned(k, cos, sin, dim, "k_turned")
        if heads > kv:
            k, v = (e.repeated(t, kv, heads // kv, seq, dim) for t in (k, v))
        o = e("Transpose", e.attention(q, k, v, "mask", dim, "attended"), perm=[0, 2, 1, 3], name="attention")
        x = e("Add", "x", e("MatMul", e("Reshape", o, e.list(1, seq, heads * dim)), "o", name="o_out"), name="residual")
        n = e.rms_norm(x, "norm2", "norm2_out")
        gate = e("MatMul", n, "gate", name="gate_out")
        gate = e("Mul", gate, e("Sigmoid", gate))
        hidden = e("Mul", gate, e("MatMul", n, "up", name="up_out"))
        e("Add", x, e("MatMul", hidden, "down", name="down_out"), name="y")
        return onnx.model(e.nodes, [(n, "float32", a.shape) for n, a in self.inputs.items()], [("y", None, None)], e.constants)

    def expected(self):
        w, inputs = ({n: a.astype("f8") for n, a in all_.items()} for all_ in (self.weights, self.inputs))
        seq, heads, kv, dim = self.sizes

        def norm(x, weight):
            return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * weight

        def split(x, n):
            return x.reshape(1, seq, n, dim).transpose(0, 2, 1, 3)

        def turned(x):
            a, b = x[..., :dim // 2], x[..., dim // 2:]
            return x * inputs["cos"][:, None] + np.concatenate([-b, a], -1) * inputs["sin"][:, None]

        n = norm(inputs["x"], w["norm1"])
        q, k, v = turned(split(n @ w["q"], heads)), turned(split(n @ w["k"], kv)), split(n @ w["v"], kv)
        k, v = (t.repeat(heads // kv, 1) for t in (k, v))
        p = softmax(q @ k.swapaxes(2, 3) / np.sqrt(dim) + inputs["mask"])
        x = inputs["x"] + (p @ v).transpose(0, 2, 1, 3).reshape(1, seq, heads * dim) @ w["o"]
        n = norm(x, w["norm2"])
        gate = n @ w["gate"]
        return x + (gate / (1 + np.exp(-gate)) * (n @ w["up"])) @ w["down"]


class Patterns(OnnxCli):
    def given(self, inputs):
        return [w for name, a in inputs.items() for w in ("--tensor", f"{name}={self.array(name + '.npy', a, a.dtype)}")]

    def ops(self, report):
        return [n["op"] for n in report["nodes"] if n["runs"]]

    def test_a_decoder_layer(self):
        for name, sizes in (("shared keys", (128, 40, 4, 2, 96)), ("each its own", (96, 33, 3, 3, 80)), ("one", (64, 1, 2, 1, 64))):
            with self.subTest(name):
                layer = Layer(*sizes, dim=32)
                m, given = self.file(layer.model()), self.given(layer.inputs)
                report = self.report(m, *given)
                self.assertEqual(self.ops(report), ["RMSNormalization", "MatMul", "MatMul", "MatMul", "RotaryEmbedding",
                                                    "RotaryEmbedding", "Attention", "MatMul", "RMSNormalization", "MatMul",
                                                    "MatMul", "MatMul"])
                np.testing.assert_allclose(self.result(m, "y", *given), layer.expected(), rtol=1e-4, atol=1e-5)
                self.assertIn(", verified", self.succeeds("model", m, "--topology", SMALL, *given, "--verify"))

    def test_it_takes_about_as_long_as_the_decoder_of_a_config(self):
        config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 512, "intermediate_size": 1408,
                  "num_attention_heads": 8, "num_key_value_heads": 4, "num_hidden_layers": 1, "vocab_size": 256,
                  "rms_norm_eps": 1e-5, "hidden_act": "silu", "max_position_embeddings": 2048, "torch_dtype": "float32",
                  "tie_word_embeddings": False}
        os.mkdir(self.path("model"))
        with open(self.path("model/config.json"), "w") as f:
            json.dump(config, f)
        run = json.loads(self.succeeds("model", self.path("model/config.json"), "--topology", SMALL, "--phase", "prefill:128",
                                       "--dtype", "f32", "--format", "json"))
        layer = Layer(512, 128, 8, 4, 1408)
        m = self.file(layer.model())
        own = self.report(m, *self.given(layer.inputs))["sim_ns"]
        its = next(part["time_ns"] for part in run["phases"][0]["layers"] if "0" in str(part["layer"]))
        self.assertLess(own, 1.2 * its)

    def small(self, make, inputs, outputs=("y",)):
        e = Exporter()
        make(e)
        return self.file(onnx.model(e.nodes, [(n, a.dtype.name, a.shape) for n, a in inputs.items()],
                                    [(o, None, None) for o in outputs], e.constants)), self.given(inputs)

    def test_what_only_looks_like_attention(self):
        rng = np.random.default_rng(1)
        q, k, v = (rng.uniform(-2, 2, (2, 3, n, 8)).astype("f4") for n in (5, 7, 7))
        mask = rng.uniform(-2, 2, (2, 1, 5, 7)).astype("f4")
        inputs = {"q": q, "k": k, "v": v, "mask": mask}
        scores = q @ k.swapaxes(2, 3)

        def usual(e):
            e.attention("q", "k", "v", "mask", 8, "y")

        def scaled_behind(e):  # also for the mask
            s = e("Add", e("MatMul", "q", e("Transpose", "k", perm=[0, 1, 3, 2])), "mask")
            e("MatMul", e("Softmax", e("Mul", e.number(0.5), s), axis=-1), "v", name="y")

        def along_queries(e):
            s = e("MatMul", "q", e("Transpose", "k", perm=[0, 1, 3, 2]))
            e("MatMul", e("Softmax", s, axis=2), "v", name="y")

        def plain(e):
            e("MatMul", e("Softmax", e("MatMul", "q", e("Transpose", "k", perm=[0, 1, 3, 2])), axis=3), "v", name="y")

        along = np.exp(scores - scores.max(2, keepdims=True))
        for make, outputs, found, expected in (
                (usual, ("y",), ["Attention"], softmax(scores / np.sqrt(8) + mask) @ v),
                (plain, ("y",), ["Attention"], softmax(scores) @ v),
                (usual, ("y", "weights"), None, softmax(scores / np.sqrt(8) + mask) @ v),
                (scaled_behind, ("y",), None, softmax(0.5 * (scores + mask)) @ v),
                (along_queries, ("y",), None, along / along.sum(2, keepdims=True) @ v)):
            with self.subTest(make.__name__, outputs=outputs):
                m, given = self.small(make, {n: a for n, a in inputs.items() if n != "mask" or make in (usual, scaled_behind)}, outputs)
                ops = self.ops(self.report(m, *given))
                self.assertEqual(ops, found) if found else self.assertNotIn("Attention", ops)
                np.testing.assert_allclose(self.result(m, "y", *given), expected, rtol=1e-4, atol=1e-5)

    def test_what_reads_its_own_group(self):
        """An input of the one kernel would be made by a node that it stands for."""
        rng = np.random.default_rng(7)
        q, x = rng.uniform(-1, 1, (1, 2, 4, 4)).astype("f4"), rng.uniform(-1, 1, (1, 2, 5, 8)).astype("f4")
        row, weight = rng.uniform(-1, 1, (2, 10)).astype("f4")

        def scores(e):
            return e("MatMul", "q", e("Transpose", "q", perm=[0, 1, 3, 2]))

        def mask_is_the_scores(e):
            s = scores(e)
            e("MatMul", e("Softmax", e("Add", s, s), axis=-1), "q", name="y")

        def values_are_the_weights(e):
            w = e("Softmax", scores(e), axis=-1)
            e("MatMul", w, w, name="y")

        def norm(e):
            off = e("Sub", "row", e("ReduceMean", "row", axes=[-1]))
            square = e("ReduceMean", e("Pow", off, e.number(2)), axes=[-1])
            return off, e("Mul", e("Div", off, e("Sqrt", e("Add", square, e.number(1e-3)))), "weight")

        def shift_is_the_norm(e):
            _, n = norm(e)
            e("Add", n, n, name="y")

        def shift_is_centred(e):
            off, n = norm(e)
            e("Add", off, n, name="y")

        def sine_is_what_is_turned(e):
            t = e("Concat", e("Neg", e.half("x", 8, True)), e.half("x", 8, False), axis=-1)
            e("Add", e("Mul", "x", "x"), e("Mul", t, t), name="y")

        s = q @ q.swapaxes(2, 3)
        off = row - row.mean()
        normed = off / np.sqrt((off * off).mean() + 1e-3) * weight
        for make, inputs, expected in (
                (mask_is_the_scores, {"q": q}, softmax(2 * s) @ q), (values_are_the_weights, {"q": q}, softmax(s) @ softmax(s)),
                (shift_is_the_norm, {"row": row, "weight": weight}, 2 * normed),
                (shift_is_centred, {"row": row, "weight": weight}, off + normed),
                (sine_is_what_is_turned, {"x": x}, x * x + np.concatenate([x[..., 4:], x[..., :4]], -1) ** 2)):
            with self.subTest(make.__name__):
                m, given = self.small(make, inputs)
                np.testing.assert_allclose(self.result(m, "y", *given), expected, rtol=1e-4, atol=1e-5)
                self.assertIn(", verified", self.succeeds("model", m, "--topology", SMALL, *given, "--verify"))

    def test_queries_that_see_nothing(self):
        """All masked by the lowest number is a mean, all by -inf is NaN, as node by node; beside them others are as ever."""
        rng = np.random.default_rng(2)
        q, k, v = (rng.uniform(-2, 2, (1, 1, n, 4)).astype("f4") for n in (3, 150, 150))
        for hidden in (LOWEST, -np.inf):
            mask = np.zeros((1, 1, 3, 150), "f4")
            mask[0, 0, 1], mask[0, 0, 2, :140] = hidden, hidden
            m, given = self.small(lambda e: e.attention("q", "k", "v", "mask", 4, "y"), {"q": q, "k": k, "v": v, "mask": mask})
            with np.errstate(invalid="ignore"):
                expected = softmax((q @ k.swapaxes(2, 3) / 2 + mask).astype("f4")) @ v
            found = self.result(m, "y", *given)
            self.assertEqual(np.isnan(found).any(), hidden == -np.inf)
            np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)

    def test_masks_by_choice(self):
        """GPT-2's Where, masked_fill, what SDPA is exported as: a scale on both sides, weights of NaN that are 0."""
        rng = np.random.default_rng(9)
        q, k, v = (rng.uniform(-2, 2, (2, 3, n, 8)).astype("f4") for n in (70, 70, 70))
        seen = rng.random((2, 1, 70, 70)) < 0.6
        seen[..., 0] = True
        seen[0, 0, 5] = False
        scores, causal = q @ k.swapaxes(2, 3) / np.sqrt(8), np.tri(70, dtype=bool)[None, None]

        def product(e):
            return e("Div", e("MatMul", "q", e("Transpose", "k", perm=[0, 1, 3, 2])), e.number(np.sqrt(8)))

        def attended(e, scores):
            e("MatMul", e("Softmax", scores, axis=-1), "v", name="y")

        def shown(hidden, mask="seen"):
            return lambda e: attended(e, e("Where", e.constant(causal) if mask == "causal" else mask, product(e), e.number(hidden)))

        def filled(e):
            attended(e, e("Where", "hides", e.number(-np.inf), product(e)))

        def both(e):  # like GPT-2
            attended(e, e("Add", e("Where", e.constant(causal), product(e), e.number(LOWEST)), "mask"))

        def safe(e):
            w = e("Softmax", e("Where", "seen", product(e), e.number(-np.inf)), axis=-1)
            e("MatMul", e("Where", e("IsNaN", w), e.number(0), w), "v", name="y")

        def on_both_sides(e):
            root = 8 ** -0.25
            s = e("MatMul", e("Mul", "q", e.number(root)), e("Mul", e("Transpose", "k", perm=[0, 1, 3, 2]), e.number(root)))
            attended(e, e("Add", s, e("Where", "seen", e.number(0), e.number(-1e4))))

        def by_trilu(e):
            ones = e("ConstantOfShape", e.list(70, 70), value=np.float32([LOWEST]))
            attended(e, e("Add", product(e), e("Trilu", ones, e.constant(np.int64(1)), upper=1)))

        def number_of_each(e):  # hidden values are not numbers
            attended(e, e("Where", "seen", product(e), "other"))

        def wider(e):  # a mask that gives the scores a batch dimension
            s = e("MatMul", "q1", e("Transpose", "k1", perm=[0, 1, 3, 2]))
            e("MatMul", e("Softmax", e("Add", s, "mask"), axis=-1), "v", name="y")

        some = np.where(seen, scores, -1e4)
        with np.errstate(invalid="ignore"):
            infinite = softmax(np.where(seen, scores, -np.inf).astype("f4"))
        mask = rng.uniform(-2, 2, (2, 3, 70, 70)).astype("f4")
        hidden = np.where(rng.random((2, 1, 1, 70)) < 0.3, -1e4, 0).astype("f4")
        times = {}
        for make, also, found, expected in (
                (shown(-1e4), {"seen": seen}, True, softmax(some) @ v),
                (shown(-np.inf), {"seen": seen}, True, infinite @ v),
                (filled, {"hides": ~seen}, True, infinite @ v), (safe, {"seen": seen}, True, np.nan_to_num(infinite) @ v),
                (shown(-np.inf, "causal"), {}, True, softmax(np.where(causal, scores, -np.inf)) @ v),
                (both, {"mask": hidden}, True, softmax((np.where(causal, scores, LOWEST) + hidden).astype("f4")) @ v),
                (shown(-1e4, "causal"), {}, True, softmax(np.where(causal, scores, -1e4)) @ v),
                (on_both_sides, {"seen": seen}, True, softmax((scores + np.where(seen, 0, -1e4)).astype("f4")) @ v),
                (by_trilu, {}, True, softmax(np.where(causal, scores, -np.inf)) @ v),
                (number_of_each, {"seen": seen, "other": mask}, False, softmax(np.where(seen, scores, mask)) @ v),
                (wider, {"q1": q[:1, :1], "k1": k[:1, :1], "mask": mask}, False, softmax(q[:1, :1] @ k[:1, :1].swapaxes(2, 3) + mask) @ v)):
            with self.subTest(make.__qualname__, also=list(also)):
                m, given = self.small(make, {**({"v": v} if make is wider else {"q": q, "k": k, "v": v}), **also})
                report = self.report(m, *given)
                self.assertEqual("Attention" in self.ops(report), found)
                times[make] = report["sim_ns"]
                np.testing.assert_allclose(self.result(m, "y", *given), expected, rtol=1e-4, atol=1e-5)
                if not np.isnan(expected).any():
                    self.assertIn(", verified", self.succeeds("model", m, "--topology", SMALL, *given, "--verify"))
        self.assertLess(times[by_trilu], times[on_both_sides])  # keys that no query sees are skipped

    def test_a_mask_of_each_head_is_no_causal_one(self):
        """Of four heads and keys, as many numbers as a causal mask has, and the same ones."""
        rng = np.random.default_rng(5)
        q, k, v = (rng.uniform(-2, 2, (2, 4, 4, 8)).astype("f4") for _ in range(3))
        hidden = np.where(np.tri(4, dtype=bool), 0, LOWEST).astype("f4").reshape(4, 1, 4)
        m, given = self.small(lambda e: e.attention("q", "k", "v", e.constant(hidden), 8, "y"), {"q": q, "k": k, "v": v})
        self.succeeds("model", m, "--topology", SMALL, *given, "--dump", f"y={self.path('y.npy')}", "--verify")
        np.testing.assert_allclose(np.load(self.path("y.npy")), softmax(q @ k.swapaxes(2, 3) / np.sqrt(8) + hidden) @ v, atol=1e-5)

    def test_heads_and_batches_in_one_dimension(self):
        rng = np.random.default_rng(10)
        q, k, v = (rng.uniform(-2, 2, (6, n, 8)).astype("f4") for n in (5, 70, 70))
        for shape in (None, (6, 5, 70), (1, 5, 70), (5, 70), (6, 1, 70)):
            with self.subTest(shape=shape):
                mask = rng.uniform(-2, 2, shape or ()).astype("f4")

                def make(e):
                    s = e("MatMul", e("Mul", "q", e.number(0.25)), e("Transpose", "k", perm=[0, 2, 1]))
                    e("MatMul", e("Softmax", e("Add", s, "mask") if shape else s, axis=-1), "v", name="y")
                m, given = self.small(make, {"q": q, "k": k, "v": v, **({"mask": mask} if shape else {})})
                self.assertEqual(self.ops(self.report(m, *given)), ["Attention"])
                np.testing.assert_allclose(self.result(m, "y", *given), softmax(q @ k.swapaxes(1, 2) / 4 + mask) @ v, rtol=1e-4, atol=1e-5)
                self.assertIn(", verified", self.succeeds("model", m, "--topology", SMALL, *given, "--verify"))

    def test_norms(self):
        rng = np.random.default_rng(4)
        x, w, b = rng.uniform(-2, 2, (3, 4, 50)).astype("f4"), rng.uniform(-1, 1, 50).astype("f4"), rng.uniform(-1, 1, 50).astype("f4")

        def layer_norm(e, axis=-1, shift="b"):
            off = e("Sub", "x", e("ReduceMean", "x", axes=[axis]))
            square = e("ReduceMean", e("Pow", off, e.number(2)), axes=[axis])
            normed = e("Div", off, e("Sqrt", e("Add", square, e.number(1e-3))), name="normed")
            e("Add", e("Mul", normed, "w", name="scaled"), shift, name="y")

        def of_squares(e):
            square = e("ReduceMean", e("Mul", "x", "x"), axes=[2])
            e("Mul", e("Mul", "x", e("Reciprocal", e("Sqrt", e("Add", e.number(1e-3), square)))), "w", name="scaled")
            e("Add", "scaled", "b", name="y")

        off = x - x.mean(-1, keepdims=True)
        centred = off / np.sqrt((off * off).mean(-1, keepdims=True) + 1e-3)
        rms = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-3)
        off1 = x - x.mean(1, keepdims=True)
        along = off1 / np.sqrt((off1 * off1).mean(1, keepdims=True) + 1e-3)
        for make, outputs, ops, expected in ((layer_norm, ("y",), ["LayerNormalization"], centred * w + b),
                                             (layer_norm, ("scaled", "y"), ["LayerNormalization", "Add"], centred * w + b),
                                             (layer_norm, ("normed", "y"), None, centred * w + b),
                                             (of_squares, ("y",), ["RMSNormalization"], rms * w + b),
                                             (lambda e: layer_norm(e, 1), ("y",), None, along * w + b)):
            with self.subTest(outputs=outputs, ops=ops):
                m, given = self.small(make, {"x": x, "w": w, "b": b}, outputs)
                found = self.ops(self.report(m, *given))
                self.assertEqual(found, ops) if ops else self.assertFalse({"LayerNormalization", "RMSNormalization"} & set(found))
                np.testing.assert_allclose(self.result(m, "y", *given), expected, rtol=1e-4, atol=1e-5)

    def test_halves_that_are_not_turned(self):
        rng = np.random.default_rng(6)
        x, cos, sin = rng.uniform(-1, 1, (1, 2, 5, 8)).astype("f4"), *rng.uniform(-1, 1, (2, 1, 1, 5, 8)).astype("f4")

        def swapped(e):  # first half negative
            other = e("Concat", e("Neg", e.half("x", 8, False)), e.half("x", 8, True), axis=-1)
            e("Add", e("Mul", "x", "cos"), e("Mul", other, "sin"), name="y")

        a, b = x[..., :4], x[..., 4:]
        for make, op, other in ((lambda e: e.turned("x", "cos", "sin", 8, "y"), True, np.concatenate([-b, a], -1)),
                                (swapped, False, np.concatenate([-a, b], -1))):
            m, given = self.small(make, {"x": x, "cos": cos, "sin": sin})
            self.assertEqual("RotaryEmbedding" in self.ops(self.report(m, *given)), op)
            np.testing.assert_allclose(self.result(m, "y", *given), x * cos + other * sin, rtol=1e-5, atol=1e-6)


if __name__ == "__main__":
    main()
