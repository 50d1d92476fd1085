#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Single nodes: edges whose elements are easily wrong, against numpy; and what ONNX does not allow, refused with the node's
name and the reason before anything runs."""
import numpy as np

import onnx_file as onnx
from cli_support import main
from onnx_cli import SMALL, X, Y, OnnxCli


def f4(*shape):
    return np.zeros(shape, "f4")


def i4(*shape):
    return np.zeros(shape, "i4")


def i8(*shape):
    return np.zeros(shape, "i8")


class Nodes(OnnxCli):
    def refused(self, op, inputs, *said, **attributes):
        with self.subTest(op=op, said=said, **attributes):
            self.refuses_model(self.one_node(op, inputs, **attributes), saying=(f"node 'n' ({op}): ", *said))

    def test_exclusive_sums_are_of_what_comes_before(self):
        x = np.float32([[1, 2, 1e9, 3], [np.inf, 1, 2, 3], [4, 5, 6, np.nan]])
        for axis in (0, 1, -1):
            for reverse in (0, 1):
                with self.subTest(axis=axis, reverse=reverse):
                    turned = np.flip(x, axis) if reverse else x
                    sums = np.roll(np.cumsum(turned, axis), 1, axis)
                    np.moveaxis(sums, axis, 0)[0] = 0
                    expected = np.flip(sums, axis) if reverse else sums
                    found = self.result_of_node("CumSum", [x, np.array(axis, "i4")], exclusive=1, reverse=reverse)
                    np.testing.assert_array_equal(found, expected)

    def test_tiles_of_products_fit_tcm(self):
        """1 MB of it is reserved."""
        rng = np.random.default_rng(8)
        a, b = rng.uniform(-1, 1, (2048, 256)).astype("f4"), rng.uniform(-1, 1, (256, 2048)).astype("f4")
        ia, ib, zeros = rng.integers(-9, 9, (300, 200)), rng.integers(-9, 9, (200, 300)), rng.integers(-9, 9, 300)
        c = rng.uniform(-1, 1, (2048, 2048)).astype("f4")
        for op, mb, inputs, expected in (
                ("MatMul", 1.5, [a, b], a @ b),
                ("Gemm", 1.25, [a, b, c], 0.5 * (a @ b) + 0.25 * c),
                ("MatMulInteger", 1.125, [ia.astype("i1"), ib.astype("i1"), np.int8([3]), zeros.astype("i1")], (ia - 3) @ (ib - zeros))):
            with self.subTest(op):
                m = self.one_node(op, inputs, **({"alpha": 0.5, "beta": 0.25} if op == "Gemm" else {}))
                given = [w for k, x in enumerate(inputs) for w in ("--tensor", f"i{k}={self.array(f'i{k}.npy', x, x.dtype)}")]
                found = self.result(m, "o0", *given, "--set", f"*.pe_tcm.size_mb={mb}")
                np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)

    def test_sums_of_nothing_are_zeros(self):
        a, b = f4(2, 0), f4(0, 3)
        np.testing.assert_array_equal(self.result_of_node("Einsum", [a, b], equation="ij,jk->ik"), np.zeros((2, 3)))
        np.testing.assert_array_equal(self.result_of_node("Einsum", [a], equation="ij->"), 0)
        self.assertEqual(self.report(self.one_node("Einsum", [a, f4(0)], equation="ij,j->ij"))["nodes"][0]["runs"], False)

    def test_pads_of_a_pool_are_less_than_all_elements(self):
        for dtype in ("i1", "u1", "f4", "f2"):
            with self.subTest(dtype=dtype):
                x = np.full((1, 1, 2, 3), 0 if dtype == "u1" else -100, dtype)
                found = self.result_of_node("MaxPool", [x], kernel_shape=[2, 2], pads=[1, 1, 1, 1])
                np.testing.assert_array_equal(found, np.full((1, 1, 3, 4), x.flat[0]))
        self.refused("MaxPool", [i4(1, 1, 2, 3)], "int32", kernel_shape=[2, 2], pads=[1, 1, 1, 1])

    def test_indices_stay_beside_the_axis(self):
        x = np.arange(12, dtype="f4").reshape(3, 4)
        index = np.array([[2, 0], [-1, 1]], "i8")
        np.testing.assert_array_equal(self.result_of_node("GatherElements", [x, index], axis=0),
                                      np.take_along_axis(x[:, :2], index % 3, 0))
        self.refused("GatherElements", [x, i8(3, 5)], "[3, 5]", "[3, 4]", axis=0)
        self.refused("GatherElements", [x, i8(4, 4)], "[4, 4]", "[3, 4]", axis=1)
        self.refused("ScatterElements", [x, i8(1, 5), f4(1, 5)], "[1, 5]", "[3, 4]", axis=0)
        self.refused("ScatterElements", [x, i8(1, 4), f4(1, 3)], "updates", axis=0)
        self.refused("GatherND", [f4(2, 3, 4), i8(3, 5, 1)], "[2, 3, 4]", "[3, 5, 1]", batch_dims=1)
        for op, inputs in (("Gather", [x, f4(2)]), ("GatherElements", [x, f4(3, 4)]), ("GatherND", [x, f4(3, 1)]),
                           ("ScatterElements", [x, f4(1, 4), f4(1, 4)]), ("ScatterND", [x, f4(1, 1), f4(1, 4)])):
            self.refused(op, inputs, "input 1 is of float, expected int32 or int64")
        self.refused("ScatterND", [x, i8(1, 1), i4(1, 4)], "float and int32")

    def test_data_that_do_not_fit_are_a_fault_of_the_node(self):
        for op, inputs, said, attributes in (
                ("Gather", [f4(3, 4), np.array([3], "i8")], "found index 3 of 3", {}),
                ("GatherND", [f4(3, 4), np.array([[0, -5]], "i8")], "found index -5 of 4", {}),
                ("ReverseSequence", [f4(3, 4), np.array([1, 2, 3, 4], "i8")], "found a length of 4 of 3", {})):
            with self.subTest(op=op):
                options = [w for k, a in enumerate(inputs)
                           for w in ("--tensor", f"i{k}={self.array(f'i{k}.npy', a, a.dtype)}")]
                self.refuses("model", self.one_node(op, inputs, **attributes), "--topology", SMALL, *options, status=1,
                             saying=(f"node 'n' ({op}): {said}",), lines=1)
        # A fault of a known value is found during planning and reported once.
        m = self.file(onnx.model([onnx.node("Gather", ["c", "i"], ["y"], name="n")], [], [Y],
                                 {"c": np.float32([1, 2]), "i": np.array([5])}))
        self.refuses_model(m, saying=("m.onnx: node 'n' (Gather): found index 5 of 2",))
        # A shape from another node is reported with that node's name.
        m = self.file(onnx.model([onnx.node("Gather", ["c", "i"], ["s"], name="n"), onnx.node("Expand", ["x", "s"], ["y"], name="e")],
                                 [X, ("i", "int64", [1])], [Y], {"c": np.array([1, 1])}))
        self.refuses_model(m, "--tensor", f"i={self.array('i.npy', [2], 'i8')}",
                           saying=("m.onnx: node 'e' (Expand): node 'n' (Gather): found index 2 of 2",))

    def test_element_types(self):
        floats, ints, bools = f4(2, 3), i4(2, 3), np.zeros((2, 3), bool)
        for op, inputs, expected in (("Exp", [ints], "floats"), ("Tan", [ints], "floats"), ("Floor", [ints], "floats"),
                                     ("IsNaN", [ints], "floats"), ("BitwiseNot", [floats], "integers"), ("Neg", [bools], "numbers"),
                                     ("BitwiseAnd", [floats, floats], "integers"), ("And", [ints, ints], "bool"),
                                     ("Not", [floats], "bool"), ("Less", [bools, bools], "numbers"), ("Add", [bools, bools], "numbers"),
                                     ("Where", [ints, floats, floats], "bool"), ("Softmax", [ints], "floats"),
                                     ("ReduceSum", [bools], "numbers"), ("ReduceL2", [ints], "floats"), ("ArgMax", [bools], "numbers"),
                                     ("LpNormalization", [ints], "floats"), ("Einsum", [bools], "numbers")):
            attributes = {"equation": "ij->i"} if op == "Einsum" else {}
            self.refused(op, inputs, f"expected {expected}", opset=18, **attributes)
        for op in ("Add", "Less", "Max", "MatMul", "Einsum"):
            attributes = {"equation": "ij,ij->i"} if op == "Einsum" else {}
            self.refused(op, [f4(3, 3), i4(3, 3)], "float and int32", **attributes)
        self.refused("Concat", [floats, ints], "float and int32", axis=0)
        u1, one = np.zeros((2, 3), "u1"), np.zeros((), "u1")
        for op, inputs, said in (
                ("Gemm", [f4(3, 3), f4(3, 3), i4(3)], "float and int32"),
                ("MatMulInteger", [u1, u1.T, np.zeros((), "i1")], "uint8 and int8"),
                ("DequantizeLinear", [u1, f4(), np.zeros((), "i1")], "uint8 and int8"),
                ("QuantizeLinear", [floats, one, one], "input 1 is of uint8, expected floats"),
                ("BatchNormalization", [f4(2, 3), f4(3), f4(3), i4(3), f4(3)], "input 3 is of int32, expected floats"),
                ("LayerNormalization", [floats, i4(3)], "input 1 is of int32, expected floats"),
                ("SoftmaxCrossEntropyLoss", [floats, i8(2), i4(3)], "float and int32"),
                ("RNN", [f4(2, 1, 3), f4(1, 4, 3), i4(1, 4, 4)], "float and int32"),
                ("Pad", [floats, i8(4), i4()], "float and int32"), ("Range", [f4(), f4(), i4()], "float and int32"),
                ("Reshape", [floats, f4(2)], "input 1 is of float, expected integers"),
                ("QuantizeLinear", [floats, f4(), np.zeros((), bool)], "input 2 is of bool, expected numbers"),
                ("Mod", [floats, floats], "expected fmod of 1"), ("Shrink", [ints], "expected floats")):
            self.refused(op, inputs, said)
        self.refused("GridSample", [np.zeros((1, 1, 2, 3), bool), f4(1, 2, 2, 2)], "input 0 is of bool")
        self.refused("Clip", [ints], "expected floats", opset=6, min=0.5)
        np.testing.assert_array_equal(self.result_of_node("Pow", [np.float32([2, 3]), np.array([3, 2], "i4")]), [8, 9])

    def test_shapes_of_biases_and_scales(self):
        x, w = f4(1, 2, 5, 5), f4(2, 3, 3, 3)
        self.refused("ConvTranspose", [x, w, f4(2)], "input 2 is of shape [2], expected [3]")
        self.refused("ConvTranspose", [x, w, i4(3)], "bias of int32")
        self.refused("Conv", [x, f4(4, 2, 3, 3), f4(1)], "input 2 is of shape [1], expected [4]")
        one, u1 = f4(1), np.zeros(1, "u1")
        quantized = [np.zeros((1, 2, 5, 5), "u1"), one, u1, np.zeros((4, 2, 3, 3), "u1"), one, u1, one, u1]
        self.refused("QLinearConv", [*quantized, i4(3)], "input 8 is of shape [3], expected [4]")
        self.refused("QLinearConv", [*quantized, f4(4)], "bias of float")
        for inputs in ([x, f4(3), f4(2)], [x, f4(2), f4(1)]):
            self.refused("InstanceNormalization", inputs, "expected [2]")

    def test_attention(self):
        """Against softmax(q kT) v: heads that share keys, more keys than a block, masks, three and four dimensions."""
        rng = np.random.default_rng(3)
        for rank, heads, kv, rows, keys, dim, width, dtype, mask, words in (
                (4, 3, 3, 5, 7, 8, 8, "f4", None, {}),
                (4, 4, 2, 70, 70, 16, 16, "f4", None, {"is_causal": 1}),
                (3, 4, 1, 5, 150, 6, 10, "f4", (5, 150), {"scale": 0.3}),
                (4, 2, 2, 9, 9, 8, 4, "f4", (2, 1, 9, 9), {"is_causal": 1}),
                (4, 2, 2, 9, 3, 8, 4, "f4", None, {"softcap": 0.5}),
                (3, 2, 2, 66, 130, 8, 8, "f2", bool, {})):
            with self.subTest(rank=rank, heads=heads, kv=kv, rows=rows, keys=keys, dtype=dtype, **words):
                q, k, v = (rng.uniform(-2, 2, (2, h, n, d)).astype(dtype)
                           for h, n, d in ((heads, rows, dim), (kv, keys, dim), (kv, keys, width)))
                wide = [t.astype("f8") for t in (q, k, v)]
                wide[1:] = [t.repeat(heads // kv, 1) for t in wide[1:]]
                scores = wide[0] @ wide[1].swapaxes(2, 3) * words.get("scale", dim ** -0.5)
                if "softcap" in words:
                    scores = np.tanh(scores / words["softcap"]) * words["softcap"]
                given = []
                if mask is bool:
                    given = [rng.uniform(size=(rows, keys)) < 0.8]
                    scores = np.where(given[0], scores, -np.inf)
                elif mask:
                    given = [np.where(rng.uniform(size=mask) < 0.9, rng.uniform(-1, 1, mask), -np.inf).astype(dtype)]
                    given[0][..., 0] = 0  # each row has at least one key
                    scores = scores + given[0]
                if "is_causal" in words:
                    scores = np.where(np.tri(rows, keys, dtype=bool), scores, -np.inf)
                weights = np.exp(scores - scores.max(-1, keepdims=True))
                expected = weights / weights.sum(-1, keepdims=True) @ wide[2]
                if rank == 3:
                    q, k, v, expected = (t.swapaxes(1, 2).reshape(2, t.shape[2], -1) for t in (q, k, v, expected))
                    words = {**words, "q_num_heads": heads, "kv_num_heads": kv}
                found = self.result_of_node("Attention", [q, k, v, *given], opset=23, **words)
                np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 if dtype == "f4" else 4e-3)
        x = f4(1, 4, 5, 8)
        for inputs, said, attributes in (
                ([x, f4(1, 3, 5, 8), f4(1, 3, 5, 8)], "[1, 3, 5, 8]", {}),
                ([x, x, f4(1, 4, 6, 8)], "[1, 4, 6, 8]", {}),
                ([x, x, f4(1, 5, 8)], "input 2 is of shape [1, 5, 8]", {}),
                ([f4(1, 5, 8)] * 3, "q_num_heads of 0", {}),
                ([x, x, x, f4(6, 5)], "do not broadcast", {}),
                ([x, x, x, f4(2, 4, 5, 5)], "its mask is of shape [2, 4, 5, 5], expected that of scores, [1, 4, 5, 5]", {}),
                ([x, x, x, i4(5, 5)], "its mask is of int32", {}),
                ([x, x, x], "a softcap and a mask", {"softcap": 1.0, "is_causal": 1})):
            self.refused("Attention", inputs, said, opset=23, **attributes)

    def test_attention_of_onnxruntime(self):
        ms = {"domain": "com.microsoft"}
        rng = np.random.default_rng(8)
        q, k, v = (rng.uniform(-2, 2, (2, n, 12)).astype("f4") for n in (5, 70, 70))
        bias = rng.uniform(-1, 1, (1, 3, 5, 70)).astype("f4")
        scores = np.einsum("bqhd,bkhd->bhqk", q.reshape(2, 5, 3, 4), k.reshape(2, 70, 3, 4)) / 2 + bias
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        found = self.result_of_node("MultiHeadAttention", [q, k, v, None, None, bias], num_heads=3, **ms)
        np.testing.assert_allclose(found, np.einsum("bhqk,bkhd->bqhd", weights, v.reshape(2, 70, 3, 4)).reshape(2, 5, 12), atol=1e-5)
        for inputs, said in (([q, k, v, f4(35)], "input 3 is of shape [35], expected [36]"),
                             ([q, k, v, None, i4(3)], "key_padding_mask is of shape [3]"),
                             ([q, k, v, None, None, None, f4(2, 3, 1, 4)], "input 7 is missing"),
                             ([q, k, v, None, None, None, None, f4(2, 3, 1, 4)], "past values without keys"),
                             ([q, k, v, None, None, None, None, None, i4(1)], "past_sequence_length"),
                             ([q, k], "keys or values alone"), ([f4(2, 3, 5, 4)] * 3, "expected 3 dimensions")):
            self.refuses_model(self.one_node("MultiHeadAttention", inputs, num_heads=3, **ms),
                               saying=("node 'n' (com.microsoft.MultiHeadAttention): ", said))

    def test_norms_and_activations_of_a_sum(self):
        """onnxruntime's: a skip that is broadcast, optional shifts and biases, the sum as an output."""
        rng = np.random.default_rng(11)
        x, skip = rng.uniform(-2, 2, (2, 5, 7)).astype("f4"), rng.uniform(-2, 2, (5, 7)).astype("f4")
        scale, shift, bias = rng.uniform(-1, 1, (3, 7)).astype("f4")
        ms = {"domain": "com.microsoft"}

        def norm(x, centred, epsilon):
            x = x.astype("f8") - (x.mean(-1, keepdims=True) if centred else 0)
            return x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon)
        for op, inputs, total, expected in (
                ("SkipLayerNormalization", [x, skip, scale, shift, bias], x + skip + bias, lambda t: norm(t, 1, 1e-3) * scale + shift),
                ("SkipLayerNormalization", [x, x, scale], x + x, lambda t: norm(t, 1, 1e-3) * scale),
                ("SkipSimplifiedLayerNormalization", [x, skip, scale, bias], x + skip + bias, lambda t: norm(t, 0, 1e-3) * scale)):
            with self.subTest(op=op, inputs=len(inputs)):
                has_mean = op == "SkipLayerNormalization"
                found = {k: self.result_of_node(op, inputs, f"o{k}", outputs=4 if has_mean else 1, epsilon=1e-3, **ms)
                         for k in ((0, 1, 3) if has_mean else (0,))}
                np.testing.assert_allclose(found[0], expected(total), rtol=0, atol=1e-5)
                if has_mean:
                    np.testing.assert_allclose(found[1], total.mean(-1, keepdims=True), rtol=0, atol=1e-6)
                    np.testing.assert_allclose(found[3], total, rtol=0, atol=1e-6)
        found = self.result_of_node("SimplifiedLayerNormalization", [x, scale], "o1", outputs=2, axis=-1, epsilon=1e-3)
        np.testing.assert_allclose(found, 1 / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-3), rtol=1e-5)
        tanh = lambda t: t / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (t + 0.044715 * t ** 3)))
        for op, inputs, expected, words in (("FastGelu", [x], tanh(x), {}), ("FastGelu", [x, bias], tanh(x + bias), {}),
                                            ("QuickGelu", [x], x / (1 + np.exp(-0.7 * x)), {"alpha": 0.7}),
                                            ("BiasGelu", [x, np.float32([20] * 7)], x + 20, {})):
            with self.subTest(op=op, inputs=len(inputs)):
                np.testing.assert_allclose(self.result_of_node(op, inputs, **words, **ms), expected, rtol=1e-5, atol=1e-5)
        for op, inputs, said, words in (
                ("BiasGelu", [x, f4(5)], "input 1 is of shape [5], expected [7]", {}),
                ("SkipLayerNormalization", [x, f4(3, 5, 7), scale], "do not broadcast, [3, 5, 7]", {}),
                ("SkipLayerNormalization", [f4(1, 5, 7), x, scale], "found a skip of shape [2, 5, 7]", {}),
                ("SkipLayerNormalization", [x, skip, f4(1, 7)], "input 2 is of shape [1, 7]", {}),
                ("SkipSimplifiedLayerNormalization", [x, skip, scale], "no mean", {"outputs": 2})):
            self.refuses_model(self.one_node(op, inputs, **words, **ms), saying=(said,))
        self.refused("RMSNormalization", [x, scale], "no mean", opset=23, outputs=2)

    def test_rotary_embedding(self):
        """Against ONNX's words: halves and neighbours, part of a head, three and four dimensions, ids that come twice."""
        rng = np.random.default_rng(7)
        batch, heads, seq, head = 2, 3, 5, 8
        for rank, interleaved, turned, by_id, dtype in ((4, 0, 0, False, "f4"), (4, 1, 0, True, "f4"), (3, 0, 4, True, "f4"),
                                                        (3, 1, 6, False, "f4"), (4, 0, 2, True, "f2")):
            with self.subTest(rank=rank, interleaved=interleaved, turned=turned, by_id=by_id, dtype=dtype):
                half = (turned or head) // 2
                x = rng.uniform(-1, 1, (batch, heads, seq, head)).astype(dtype)
                angles = rng.uniform(-3, 3, (9, half) if by_id else (batch, seq, half))
                tables = [np.cos(angles).astype(dtype), np.sin(angles).astype(dtype)]
                ids = rng.integers(0, 9, (batch, seq), "i8") if by_id else None
                cos, sin = (t[ids if by_id else ...].astype("f8")[:, None] for t in tables)
                expected = x.astype("f8")
                a, b = ((slice(0, 2 * half, 2), slice(1, 2 * half, 2)) if interleaved else
                        (slice(0, half), slice(half, 2 * half)))
                first, second = expected[..., a].copy(), expected[..., b].copy()
                expected[..., a], expected[..., b] = cos * first - sin * second, sin * first + cos * second
                if rank == 3:
                    x, expected = (t.swapaxes(1, 2).reshape(batch, seq, heads * head) for t in (x, expected))
                found = self.result_of_node("RotaryEmbedding", [x, *tables, *([ids] if by_id else [])], opset=23,
                                            interleaved=interleaved, rotary_embedding_dim=turned, num_heads=heads)
                np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 if dtype == "f4" else 1e-3)
        x, table, three = f4(1, 2, 3, 4), f4(1, 3, 2), f4(1, 3, 8)
        for inputs, said, attributes in (
                ([x, table, f4(1, 3, 4)], "input 2 is of shape [1, 3, 4], expected [1, 3, 2]", {}),
                ([three, table, table], "num_heads of 3 for 8 columns", {"num_heads": 3}),
                ([three, table, table], "num_heads of 0", {}),
                ([x, table, table], "rotary_embedding_dim of 3", {"rotary_embedding_dim": 3}),
                ([x, table, table], "rotary_embedding_dim of 6", {"rotary_embedding_dim": 6}),
                ([x, f4(9, 2), f4(9, 2), i8(3)], "input 3 is of shape [3], expected [1, 3]", {}),
                ([f4(3, 4), table, table], "rank 2", {})):
            self.refused("RotaryEmbedding", inputs, said, opset=23, **attributes)

    def test_rotary_embedding_of_onnxruntime(self):
        """Its places are its second input, or the first one alone; heads of three dimensions follow from the tables."""
        rng = np.random.default_rng(9)
        x, angles = rng.uniform(-1, 1, (2, 5, 3, 8)).astype("f4"), rng.uniform(-3, 3, (9, 4))
        tables = [np.cos(angles).astype("f4"), np.sin(angles).astype("f4")]
        for ids, words in ((np.array([3]), {}), (rng.integers(0, 9, (2, 5)), {"interleaved": 1}), (np.array([4]), {"num_heads": 3})):
            at = ids if ids.ndim == 2 else np.broadcast_to(ids + np.arange(5), (2, 5))
            cos, sin = (t[at][:, :, None].astype("f8") for t in tables)
            pairs = (slice(0, 8, 2), slice(1, 8, 2)) if words.get("interleaved") else (slice(0, 4), slice(4, 8))
            expected, (a, b) = x.astype("f8"), (x[..., p] for p in pairs)
            expected[..., pairs[0]], expected[..., pairs[1]] = a * cos - b * sin, b * cos + a * sin
            for rank in (3, 4):
                with self.subTest(ids=ids.ndim, rank=rank, **words):
                    given, wanted = (t.reshape(2, 5, 24) if rank == 3 else t.swapaxes(1, 2) for t in (x, expected))
                    found = self.result_of_node("RotaryEmbedding", [given, ids, *tables], domain="com.microsoft", **words)
                    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-6)
        for inputs, said, words in (([f4(1, 5, 24), i8(2), *tables], "input 1 is of shape [2], expected [1, 5]", {}),
                                    ([f4(1, 5, 24), i8(1, 1), *tables], "input 1 is of shape [1, 1], expected [1, 5]", {}),
                                    ([f4(1, 5, 25), i8(1), *tables], "num_heads of 3 for 25 columns", {}),
                                    ([f4(1, 5, 24), None, *tables], "input 1 is missing", {}),
                                    ([f4(1, 5, 24), i8(1), *tables], "it scales", {"scale": 2.0})):
            self.refuses_model(self.one_node("RotaryEmbedding", inputs, domain="com.microsoft", **words), saying=(said,))

    def test_numbers_are_one_element(self):
        for count in (0, 2):
            of = f"input 1 is of shape [{count}], expected one element"
            self.refused("CumSum", [f4(2, 3), i4(count)], of)
            self.refused("TopK", [f4(2, 3), i8(count)], of)
            self.refused("Trilu", [f4(3, 3), i8(count)], of)
            self.refused("Range", [i8(), i8(count), i8()], of)
            self.refused("OneHot", [i8(2), i8(count), i8(2)], of)

    def test_scales_of_blocks(self):
        rng = np.random.default_rng(13)
        for shape, axis, block in (((4, 6), 1, 3), ((4, 6), 0, 2), ((128, 30), -2, 32), ((3, 1), 0, 3), ((2, 5, 6), 2, 1), ((2, 5, 6), 1, 5)):
            of = list(shape)
            of[axis] //= block
            q, zero = rng.integers(0, 256, shape).astype("u1"), rng.integers(0, 256, of).astype("u1")
            scale = rng.uniform(0.01, 0.1, of).astype("f4")
            wide_scale, wide_zero = (np.repeat(t, block, axis) for t in (scale, zero))
            with self.subTest(shape=shape, axis=axis):
                words = {"axis": axis, "block_size": block, "opset": 21}
                np.testing.assert_allclose(self.result_of_node("DequantizeLinear", [q, scale, zero], **words),
                                           (q.astype("f8") - wide_zero) * wide_scale, rtol=1e-6)
                x = rng.uniform(-3, 3, shape).astype("f4")
                np.testing.assert_array_equal(self.result_of_node("QuantizeLinear", [x, scale, zero], **words),
                                              np.clip(np.round(x / wide_scale) + wide_zero, 0, 255))
        q = np.zeros((4, 6), "u1")
        for inputs, said, block in (([q, f4(4, 2)], "block_size of 4 for 6 elements", 4), ([q, f4(4, 3)], "[4, 3], expected [4, 2]", 3),
                                    ([q, f4(4, 2), np.zeros((4, 3), "u1")], "input 2 is of shape [4, 3]", 3), ([q, f4(4, 2)], "block_size of -3", -3)):
            self.refused("DequantizeLinear", inputs, said, opset=21, block_size=block)

    def test_the_greatest_of_booleans(self):
        few = np.zeros((2, 3, 40), bool)
        few[0, 1, 7] = few[1, 1, 30] = True
        for op, f in (("ReduceMax", np.any), ("ReduceMin", np.all)):
            for axes in ((1,), (0, 2), ()):
                for x in (few, np.zeros_like(few)):
                    x = x if op == "ReduceMax" else ~x
                    found = self.result_of_node(op, [x, np.array(axes, "i8")], opset=20, keepdims=0)
                    np.testing.assert_array_equal(found, f(x, axis=axes or None))
            self.refused(op, [x, i8(1)], "expected numbers", opset=18)

    def test_a_shape_does_not_ask_for_elements(self):
        """What is known of a tensor that cannot be worked out, for its indices are those that are drawn."""
        for op, shape in (("Shape", [2]), ("Size", [1])):
            nodes = [onnx.node("Gather", ["table", "ids"], ["rows"], name="g"), onnx.node(op, ["rows"], ["dims"], name="s"),
                     onnx.node("Reshape", ["dims", "as"], ["list"]), onnx.node("Reshape", ["x", "list"], ["y"], name="n")]
            m = self.file(onnx.model(nodes, [("x", "float32", [6]), ("ids", "int64", [3])], [Y],
                                     {"table": f4(1, 2), "as": np.array(shape)}))
            x = np.arange(6, dtype="f4")
            found = self.result(m, "y", "--tensor", f"x={self.array('x.npy', x)}", "--tensor", f"ids={self.array('i.npy', [9, 9, 9], 'i8')}")
            np.testing.assert_array_equal(found, x.reshape(3, 2) if op == "Shape" else x)

    def test_boxes_that_cover_each_other(self):
        """Against boxes met one by one; scores that are the same, none above the threshold, none asked for, corners the other way round."""
        rng = np.random.default_rng(15)

        def corners(b, middle):
            b = b.astype("f8")
            if middle:
                x, y, w, h = b
                return y - h / 2, x - w / 2, y + h / 2, x + w / 2
            return min(b[0], b[2]), min(b[1], b[3]), max(b[0], b[2]), max(b[1], b[3])

        def common(a, b):
            inside = max(0, min(a[2], b[2]) - max(a[0], b[0])) * max(0, min(a[3], b[3]) - max(a[1], b[1]))
            return inside / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - inside)
        for batch, classes, n, most, part, threshold, middle in ((1, 1, 6, 3, 0.5, 0.0, 0), (2, 3, 40, 5, 0.3, 0.2, 0), (2, 2, 30, 1 << 40, 0.4, None, 1),
                                                                 (1, 2, 9, 2, 0.5, 2.0, 0), (1, 2, 9, 0, 0.5, 0.0, 0), (1, 1, 1, 1, 1.0, 0.0, 0)):
            with self.subTest(batch=batch, n=n, most=most):
                boxes, scores = rng.uniform(0.1, 1, (batch, n, 4)).astype("f4"), (rng.integers(0, 9, (batch, classes, n)) / 8).astype("f4")
                expected = []
                for b in range(batch):
                    for c in range(classes):
                        kept = []
                        for i in sorted(range(n), key=lambda i: (-scores[b, c, i], i)):
                            box = corners(boxes[b, i], middle)
                            if (threshold is None or scores[b, c, i] > threshold) and len(kept) < most and \
                                    all(common(box, corners(boxes[b, k], middle)) <= part for k in kept):
                                kept.append(i)
                        expected += [(b, c, i) for i in kept]
                inputs = [boxes, scores, np.array([most], "i8"), np.float32([part])] + ([] if threshold is None else [np.float32([threshold])])
                found = self.result_of_node("NonMaxSuppression", inputs, center_point_box=middle)
                np.testing.assert_array_equal(found, np.array(expected, "i8").reshape(-1, 3))
        boxes, scores, three = f4(1, 6, 4), f4(1, 2, 6), i8(1)
        for inputs, said in (([f4(1, 6, 5), scores, three], "found boxes [1, 6, 5]"), ([boxes, f4(1, 2, 5), three], "scores [1, 2, 5]"),
                             ([boxes, scores, i8(2)], "expected one element"), ([boxes.astype("f2"), scores], "found float16")):
            self.refused("NonMaxSuppression", inputs, said)
        m = self.one_node("NonMaxSuppression", [boxes, scores, three, np.float32([0])])
        self.refuses_model(m, "--tensor", f"i3={self.array('part.npy', [1.5])}", saying=("iou_threshold",))

    def test_recurrent_activations(self):
        inputs = [f4(2, 1, 3), f4(1, 16, 3), f4(1, 16, 4)]
        def rnn(*activations):
            return self.file(onnx.model(
                [onnx.node("LSTM", ["x", "w", "r"], ["y"], name="n", hidden_size=4, activations=list(activations))],
                [(k, "float32", a.shape) for k, a in zip("xwr", inputs)], [Y]))
        self.report(rnn("Sigmoid", "Tanh", "Relu"))
        self.refuses_model(rnn("Sigmoid", "Tanh"), saying=("node 'n' (LSTM): found 2 activations, expected 3",))
        self.refuses_model(rnn("Sigmoid", "Tanh", "Rellu"), saying=("'Rellu', did you mean 'Relu'?",))
        self.refused("LSTM", inputs, "direction", "did you mean 'reverse'?", direction="revers")

    def test_sequences_of_different_lengths(self):
        """Behind its end a sequence gives nothing and keeps its state; backward it begins at its end."""
        rng = np.random.default_rng(5)
        steps, hidden, lengths = 4, 3, [4, 2, 0]
        x, w, r = (rng.uniform(-1, 1, s).astype("f4") for s in ((steps, 3, 2), (2, 4 * hidden, 2), (2, 4 * hidden, hidden)))

        def lstm(direction, sequence):
            h, c, y = np.zeros(hidden), np.zeros(hidden), np.zeros((steps, hidden))
            order = range(lengths[sequence])
            for t in reversed(order) if direction else order:
                i, o, _, g = np.split(w[direction] @ x[t, sequence] + r[direction] @ h, 4)
                i, o = 1 / (1 + np.exp(-i)), 1 / (1 + np.exp(-o))
                c = (1 - i) * c + i * np.tanh(g)  # coupled gates
                y[t] = h = o * np.tanh(c)
            return y, h, c
        made = [[lstm(d, b) for b in range(3)] for d in range(2)]
        for k, axes in ((0, (2, 0, 1, 3)), (1, (0, 1, 2)), (2, (0, 1, 2))):
            found = self.result_of_node("LSTM", [x, w, r, None, np.int32(lengths)], f"o{k}", outputs=3, hidden_size=hidden,
                                        direction="bidirectional", input_forget=1)
            np.testing.assert_allclose(found, np.transpose([[s[k] for s in of] for of in made], axes), atol=1e-5)
        for wrong in ([4, 2], [5, 2, 1], [4, 2, -1]):
            model = self.one_node("LSTM", [x, w, r, None, np.int32(wrong)], hidden_size=hidden, direction="bidirectional")
            self.refuses_model(model, "--tensor", f"i4={self.array('l.npy', wrong, 'i4')}", saying=("from 0 to 4",))

    def test_ellipses_are_broadcast(self):
        rng = np.random.default_rng(6)
        # numpy sums the dimensions of an ellipsis only if they are written out.
        for equation, spelt_out, *shapes in (
                ("...ij,...jk->...ik", "", (2, 1, 3, 4), (5, 4, 2)), ("...i,i", "", (3, 2), (2,)), ("i...->...i", "", (3,)),
                ("...,...->...", "", (), (2, 3)), ("...i->i", "ji->i", (2, 3)), ("b...,b...->b", "bij,bij->b", (2, 3, 1), (2, 1, 4))):
            with self.subTest(equation=equation, shapes=shapes):
                given = [rng.uniform(-1, 1, s).astype("f4") for s in shapes]
                expected = np.einsum(spelt_out or equation, *given)
                found = self.result_of_node("Einsum", given, equation=equation)
                self.assertEqual(found.shape, expected.shape)
                np.testing.assert_allclose(found, expected, atol=1e-5)
        self.refused("Einsum", [f4(2, 3), f4(4, 3)], "two sizes of '...'", equation="...i,...i->...")
        self.refused("Einsum", [f4(2)], "'...ij' for [2]", equation="...ij->...")
        self.refused("Einsum", [f4(2, 3)], "none", equation="..i->i")
        self.refused("Einsum", [f4(2, 3)], "none", equation="0i->i")

    def test_norms_of_windows(self):
        x = np.random.default_rng(7).uniform(-2, 2, (2, 3, 5, 4)).astype("f4")
        for p in (1, 2, 3):
            np.testing.assert_allclose(self.result_of_node("GlobalLpPool", [x], p=p),
                                       (np.abs(x) ** p).sum((2, 3), keepdims=True) ** (1 / p), rtol=1e-4)
        found = self.result_of_node("LpPool", [x], p=3, kernel_shape=[2, 2])
        self.assertAlmostEqual(found[0, 0, 0, 0] / (np.abs(x[0, 0, :2, :2]) ** 3).sum() ** (1 / 3), 1, delta=1e-4)
        self.refused("GlobalLpPool", [x], "found p, expected 1 to 16", p=0)

    def test_shapes_of_dumps(self):
        """Scalars have none, and what has no elements is written too."""
        self.assertEqual(self.result_of_node("ReduceSum", [np.float32([[1, 2]])], keepdims=0).shape, ())
        x = np.float32([[1, 2, 3]])
        found = self.result_of_node("Compress", [x, np.zeros(3, bool)], axis=1)
        self.assertEqual((found.shape, found.dtype), ((1, 0), np.float32))
        self.refuses_model(self.one_node("Compress", [x, np.zeros(3, bool)], axis=1), "--tensor",
                           f"i1={self.array('c.npy', [0, 0, 0], '?')}", "--dump", f"o1={self.path('no.npy')}", saying=("o1",))

    def test_words(self):
        image, sizes = f4(1, 4, 4, 4), np.array([1, 1, 2, 2], "f4")
        for op, inputs, attributes, meant in (
                ("Resize", [image, None, sizes], {"coordinate_transformation_mode": "halfpixel"}, "half_pixel"),
                ("Resize", [image, None, sizes], {"nearest_mode": "flor"}, "floor"),
                ("Resize", [image, None, sizes], {"mode": "linea"}, "linear"),
                ("MaxPool", [image], {"kernel_shape": [2, 2], "auto_pad": "SAME_UPER"}, "SAME_UPPER"),
                ("Conv", [image, f4(1, 4, 2, 2)], {"auto_pad": "VALLID"}, "VALID"),
                ("DepthToSpace", [image], {"blocksize": 2, "mode": "CRDD"}, "CRD"),
                ("BitShift", [np.zeros(3, "u1"), np.zeros(3, "u1")], {"direction": "LEF"}, "LEFT"),
                ("Gelu", [image], {"approximate": "tan"}, "tanh"),
                ("Pad", [image, i8(8)], {"mode": "refelct"}, "reflect"),
                ("ScatterND", [f4(3), i8(1, 1), f4(1)], {"reduction": "ad"}, "add"),
                ("GridSample", [image, f4(1, 2, 2, 2)], {"padding_mode": "boarder"}, "border"),
                ("SoftmaxCrossEntropyLoss", [f4(2, 3), i8(2)], {"reduction": "means"}, "mean")):
            wrong = list(attributes.values())[-1]
            self.refused(op, inputs, f"{list(attributes)[-1]} '{wrong}', did you mean '{meant}'?", opset=20, **attributes)
        self.refused("BitShift", [np.zeros(3, "u1")] * 2, "direction ''", "LEFT, RIGHT")

    def test_types_of_attributes(self):
        image = f4(1, 1, 4, 4)
        self.refused("Softmax", [image], "attribute axis is a float, expected an integer", axis=1.0)
        self.refused("Transpose", [image], "attribute perm is an integer, expected a list of integers", perm=3)
        self.refused("LeakyRelu", [image], "attribute alpha is an integer, expected a float", alpha=1)
        self.refused("MaxPool", [image], "attribute auto_pad is an integer, expected a string", kernel_shape=[2, 2], auto_pad=1)
        self.refused("Cast", [image], "attribute to is missing")
        self.refused("ConstantOfShape", [i8(1)], "attribute value is a string, expected a tensor", value="x")
        self.refused("Constant", [], "attribute value_int is a float, expected an integer", value_int=2.0)
        self.refused("If", [np.zeros((), bool)], "_branch is an integer, expected a graph", then_branch=1, else_branch=1)
        # Old files do not have the type.
        axis = onnx.field(5, onnx.field(1, "axis") + onnx.field(3, 0))
        m = self.file(onnx.model([onnx.node("Softmax", ["x"], ["y"]) + axis], [X], [Y]))
        found = self.result(m, "y", "--tensor", f"x={self.array('x.npy', np.zeros((2, 3)))}")
        np.testing.assert_array_equal(found, np.full((2, 3), 0.5))

    def test_names_that_are_there_twice(self):
        axis = onnx.field(5, onnx.attribute("axis", 1))
        twice = onnx.tensor(np.float32([1, 2, 3]), "w")
        for nodes, inputs, raw, said in (
                ([onnx.node("Neg", ["x"], ["y"])], [X, X], (), "input 'x' is there twice"),
                ([onnx.node("Add", ["x", "w"], ["y"])], [X], (twice, twice), "initializer 'w' is there twice"),
                ([onnx.node("Softmax", ["x"], ["y"], name="n") + axis + axis], [X], (), "node 'n' has attribute 'axis' twice")):
            with self.subTest(said=said):
                self.refuses_model(self.file(onnx.model(nodes, inputs, [Y], raw_constants=raw)), saying=("m.onnx", said))


if __name__ == "__main__":
    main()
