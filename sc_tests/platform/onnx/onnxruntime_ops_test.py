#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""onnxruntime's own ops in published graphs, against numpy in f64: products of transposed operands and of packed weights, and
those that are several of ONNX's in one node."""
import numpy as np

import onnx_file as onnx
from cli_support import main
from onnx_cli import SMALL, OnnxCli

RNG = np.random.default_rng(21)
MS = {"domain": "com.microsoft"}


def f4(*shape):
    return RNG.uniform(-1, 1, shape).astype("f4")


def u1(*shape):
    return RNG.integers(0, 256, shape).astype("u1")


def i4(*shape, below=9):
    return RNG.integers(0, below, shape).astype("i4")


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


class OnnxruntimeOps(OnnxCli):
    def check(self, op, inputs, *expected, atol=1e-5, fused=0, **words):
        """fused: how many of the nodes that it comes to run in the tiles of another."""
        with self.subTest(op, shapes=[None if a is None else a.shape for a in inputs], words=words):
            while inputs[-1] is None:
                inputs = inputs[:-1]
            there = {f"i{k}": a for k, a in enumerate(inputs) if a is not None}
            outputs = [f"o{k}" for k in range(len(expected))]
            m = self.file(onnx.model(
                [onnx.node(op, [f"i{k}" if a is not None else "" for k, a in enumerate(inputs)], outputs, name="n", **MS, **words)],
                [(k, a.dtype.name, a.shape) for k, a in there.items()], [(o, None, None) for o in outputs]))
            options = [w for k, a in there.items() for w in ("--tensor", f"{k}={self.array(k + '.npy', a, a.dtype)}")]
            self.assertIn(", verified", self.succeeds("model", m, "--topology", SMALL, *options, "--verify"))
            options += [w for o in outputs for w in ("--dump", f"{o}={self.path(o + '.npy')}")]
            nodes = self.report(m, *options)["nodes"]
            self.assertEqual(sum("fused into" in n["how"] for n in nodes), fused)
            for o, e in zip(outputs, expected):
                found = np.load(self.path(o + ".npy"))
                self.assertEqual(found.shape, np.shape(e))
                np.testing.assert_allclose(found.astype("f8"), e, rtol=1e-5, atol=atol)

    def refused(self, op, inputs, said, **words):
        with self.subTest(op, said=said):
            self.refuses_model(self.one_node(op, inputs, **MS, **words), saying=("com.microsoft" if "/" not in said else "node", said))

    def test_products_of_transposed_operands(self):
        def turned(x, last, first):
            x = np.moveaxis(x, 0, -2) if first else x
            return x.swapaxes(-1, -2).astype("f8") if last and x.ndim > 1 else x.astype("f8")
        for a, b, words in (((5, 7), (7, 3), {}), ((7, 5), (7, 3), {"transA": 1, "alpha": 0.5}), ((2, 3, 5, 7), (2, 3, 9, 7), {"transB": 1}),
                            ((2, 3, 7, 5), (3, 1, 7), {"transA": 1, "transB": 1}), ((5, 3, 7), (3, 7, 4), {"transBatchA": 1}),
                            ((5, 2, 3, 7), (4, 2, 3, 7), {"transBatchA": 1, "transBatchB": 1, "transB": 1}),
                            ((7, 3, 5), (1, 7, 4), {"transBatchA": 1, "transA": 1}), ((7,), (7, 3), {"transA": 1}),
                            ((2, 5, 7), (7,), {"alpha": -2.0}), ((1, 1), (1, 1), {"transA": 1, "transB": 1, "alpha": 0.0}),
                            ((300, 200), (260, 200), {"transB": 1})):
            x, y = f4(*a), f4(*b)
            expected = words.get("alpha", 1) * (turned(x, words.get("transA"), words.get("transBatchA")) @
                                                turned(y, words.get("transB"), words.get("transBatchB")))
            self.check("FusedMatMul", [x, y], expected, **words)
        self.refused("FusedMatMul", [f4(5, 7), f4(5, 7)], "[5, 7] times [5, 7]")
        self.refused("FusedMatMul", [f4(5, 7), f4(7, 3)], "no batches to transpose in [5, 7]", transBatchA=1)
        self.refused("FusedMatMul", [i4(5, 7), i4(7, 3)], "expected floats")
        self.refused("FusedMatMul", [f4(5, 7), f4(7, 3)], "alpha is an integer", alpha=2)

    def test_products_of_packed_weights(self):
        def numbers(packed, bits):
            return np.stack([packed >> shift & (1 << bits) - 1 for shift in range(0, 8, bits)], -1).reshape(len(packed), -1).astype("f8")

        for rows, k, n, bits, block, zeros, bias, dtype in (
                ((3,), 64, 5, 4, 32, None, False, "f4"), ((3,), 100, 5, 4, 32, "u1", True, "f4"), ((3,), 100, 5, 4, 32, "f4", False, "f4"),
                ((2, 70), 48, 130, 4, 16, None, False, "f4"), ((3,), 300, 5, 4, 256, "u1", False, "f4"), ((3,), 300, 5, 4, 128, "u1", False, "f4"),
                ((1,), 17, 1, 4, 16, None, False, "f4"), ((), 33, 4, 8, 32, "u1", False, "f4"), ((3,), 640, 33, 2, 64, "u1", True, "f4"),
                ((3,), 1000, 3, 2, 512, "u1", False, "f4"), ((5,), 64, 40, 4, 32, "u1", False, "f2")):
            blocks = -(-k // block)
            a, scale, shift = f4(*rows, k).astype(dtype), f4(n, blocks).astype(dtype) / 8, f4(n).astype(dtype)
            packed, zero_bytes = u1(n, blocks, block * bits // 8), u1(n, -(-blocks * bits // 8))
            zero = {None: np.full((n, blocks), 1 << bits - 1), "u1": numbers(zero_bytes, bits)[:, :blocks], "f4": 8 + 8 * f4(n, blocks)}[zeros]
            w = (numbers(packed.reshape(n, -1), bits).reshape(n, blocks, block) - zero[..., None]) * scale[..., None].astype("f8")
            expected = a.astype("f8") @ w.reshape(n, -1)[:, :k].T + (shift if bias else 0)
            self.check("MatMulNBits", [a, packed, scale, {None: None, "u1": zero_bytes, "f4": zero}[zeros], None, shift if bias else None],
                       expected, atol=1e-4 if dtype == "f4" else 3e-2, K=k, N=n, bits=bits, block_size=block)
        a, packed, scale = f4(3, 64), u1(5, 2, 16), f4(5, 2)
        for inputs, said, words in (
                ([a, packed, scale], "3 bits", {"bits": 3}), ([a, packed, scale], "block_size of 24", {"block_size": 24}),
                ([a, packed, scale], "block_size of 8", {"block_size": 8}), ([f4(3, 63), packed, scale], "[3, 63] times K of 64", {}),
                ([a, u1(5, 2, 15), scale], "[5, 2, 15], expected [5, 2, 16]", {}), ([a, packed, f4(5, 3)], "[5, 3], expected [5, 2]", {}),
                ([a, packed, scale, u1(5, 2)], "[5, 2], expected [5, 1]", {}), ([a, packed, scale, i4(5, 2)], "zero points are of int32", {}),
                ([a, packed, scale, None, i4(64)], "g_idx", {}), ([a, packed, scale], "N or K", {"N": 0}),
                ([a, packed, scale, None, None, f4(4)], "[4], expected [5]", {})):
            self.refused("MatMulNBits", inputs, said, **{"K": 64, "N": 5, "block_size": 32, **words})

    def test_products_of_what_is_quantized_on_the_way(self):
        for b, scale, zero, bias in ((u1(7, 5), np.float32(0.02), np.uint8(120), None), (u1(7, 5), np.abs(f4(5)) / 50, u1(5), f4(5))):
            x = 3 * f4(2, 3, 7)
            low, high = min(x.min(), 0), max(x.max(), 0)
            step = (high - low) / np.float32(255)
            at = np.round(-low / step)
            q = np.clip(np.round(x / step) + at, 0, 255) - at
            product = q @ (b.astype("f8") - zero) * (step * scale)
            self.check("DynamicQuantizeMatMul", [x, b, scale, zero, bias], product + (0 if bias is None else bias), atol=1e-4,
                       fused=2 if bias is None else 3)
            q = u1(3, 7)
            self.check("MatMulIntegerToFloat", [q, b, np.float32(0.1), scale, np.uint8(3), zero, bias],
                       (q.astype("f8") - 3) @ (b.astype("f8") - zero) * (np.float32(0.1) * scale) + (0 if bias is None else bias), atol=1e-4,
                       fused=2 if bias is None else 3)

    def test_what_follows_in_one_node(self):
        x, w, b, z = f4(2, 4, 6, 6), f4(6, 4, 3, 3), f4(6), f4(2, 6, 4, 4)
        windows = np.lib.stride_tricks.sliding_window_view(x.astype("f8"), (3, 3), (2, 3))
        y = np.einsum("ncxykl,ockl->noxy", windows, w) + b[:, None, None]
        for inputs, words, expected, fused in (
                ([x, w, b], {"activation": "Relu"}, np.maximum(y, 0), 1), ([x, w, b, z], {}, y + z, 1), ([x, w, b], {}, y, 0),
                ([x, w, b, z], {"activation": "LeakyRelu", "activation_params": [0.2]}, np.where(y + z < 0, 0.2 * (y + z), y + z), 2),
                ([x, w, b], {"activation": "Clip", "activation_params": [-0.5, 0.25]}, np.clip(y, -0.5, 0.25), 1),
                ([x, w, b], {"activation": "HardSigmoid", "activation_params": [0.3, 0.4]}, np.clip(0.3 * y + 0.4, 0, 1), 1)):
            self.check("FusedConv", inputs, expected, fused=fused, **words)
        a, b = f4(3, 4), f4(5, 4)
        y = 0.5 * (a.astype("f8") @ b.T)
        self.check("FusedGemm", [a, b], np.where(y < 0, y / 4, y), fused=1, transB=1, alpha=0.5, activation="LeakyRelu", activation_alpha=0.25)
        self.refused("FusedConv", [x, w], "activation 'Rellu' is not known", activation="Rellu")
        self.refused("FusedConv", [x, w], "1 activation_params of Clip", activation="Clip", activation_params=[1.0])
        self.refused("FusedConv", [x, f4(6, 3, 3, 3)], "node 'n/Conv'")

    def test_bounds_of_a_clip_of_an_older_opset(self):
        x, w = f4(1, 1, 4, 4) * 9, np.ones((1, 1, 1, 1), "f4")
        node = onnx.node("FusedConv", ["x", "w"], ["y"], name="n", activation="Clip", activation_params=[0.0, 6.0], **MS)
        for opset in (10, 11):
            m = self.file(onnx.model([node], [("x", "float32", x.shape), ("w", "float32", w.shape)], [("y", None, None)], opset=opset))
            self.succeeds("model", m, "--topology", SMALL, "--tensor", f"x={self.array('x.npy', x, 'f4')}", "--tensor",
                          f"w={self.array('w.npy', w, 'f4')}", "--dump", f"y={self.path('y.npy')}", "--verify")
            np.testing.assert_array_equal(np.load(self.path("y.npy")), np.clip(x, 0, 6))

    def test_attention_with_its_projections(self):
        for sizes, heads, past, padding, causal, keep in (((12, 12, 12), 3, 0, False, 0, True), ((8, 8, 4), 2, 0, False, 0, False),
                                                          ((12, 12, 12), 3, 4, True, 1, True), ((1, 1, 1), 1, 0, True, 0, True)):
            x, w, b = f4(2, 5, 7), f4(7, sum(sizes)), f4(sum(sizes))
            kept = f4(2, 2, heads, past, sizes[0] // heads)
            mask = (RNG.random((2, past + 5)) < 0.7).astype("i4") if padding else None
            q, k, v = (t.reshape(2, 5, heads, -1).swapaxes(1, 2) for t in np.split(x.astype("f8") @ w + b, np.cumsum(sizes)[:2], -1))
            if past:
                k, v = (np.concatenate([old, new], 2) for old, new in zip(kept, (k, v)))
            scores = q @ k.swapaxes(2, 3) / np.sqrt(q.shape[-1])
            scores = scores - 10000 * (1 - mask[:, None, None]) if padding else scores
            scores = np.where(np.arange(past + 5) <= past + np.arange(5)[:, None], scores, -np.inf) if causal else scores
            y = (softmax(scores) @ v).swapaxes(1, 2).reshape(2, 5, -1)
            words = {} if len(set(sizes)) == 1 else {"qkv_hidden_sizes": sizes}
            self.check("Attention", [x, w, b, mask, kept if past else None], y, *([np.stack([k, v])] if keep else []), fused=1,
                       num_heads=heads, unidirectional=causal, **words)
        x, w = f4(2, 5, 7), f4(7, 36)
        for inputs, said, words in (([x, f4(8, 36)], "[2, 5, 7] times [8, 36]", {}), ([x, w], "of [12, 12, 13]", {"qkv_hidden_sizes": [12, 12, 13]}),
                                    ([x, w, f4(36), None, f4(1, 2, 3, 4, 4)], "a past of [1, 2, 3, 4, 4]", {}),
                                    ([x, w, f4(36)], "node 'n/MultiHeadAttention'", {"num_heads": 5}), ([x, w], "rotary", {"do_rotary": 1}),
                                    ([x, w, f4(35)], "node 'n/Add'", {"outputs": 2})):
            self.refused("Attention", inputs, said, **{"num_heads": 3, **words})

    def test_sums_of_embeddings(self):
        words, places, segments, weight, shift = f4(20, 8), f4(9, 8), f4(2, 8), f4(8), f4(8)
        ids, of_segment, at = i4(2, 5, below=20), i4(2, 5, below=2), i4(2, 5)
        mask = (RNG.random((2, 5)) < 0.7).astype("i4")

        def normed(x):
            off = x.astype("f8") - x.mean(-1, keepdims=True)
            return off / np.sqrt((off * off).mean(-1, keepdims=True) + 1e-5) * weight + shift
        total = words[ids] + places[:5] + segments[of_segment]
        self.check("EmbedLayerNormalization", [ids, of_segment, words, places, segments, weight, shift, mask], normed(total), mask.sum(1),
                   total, fused=1, epsilon=1e-5)
        total = words[ids] + places[at]
        self.check("EmbedLayerNormalization", [ids, None, words, places, None, weight, shift, None, at], normed(total), np.zeros(2), epsilon=1e-5)
        self.check("EmbedLayerNormalization", [ids[:1, :1], None, words, places, None, weight, shift],
                   normed(words[ids[:1, :1]] + places[:1]), epsilon=1e-5)
        self.refused("EmbedLayerNormalization", [i4(5), None, words, places, None, weight, shift], "input_ids of [5]")

    def test_steps_of_quantized_values(self):
        """Rounded to even, saturated, each of its own scale and zero point."""
        a, b = u1(2, 3, 4), u1(4)
        scales, zeros = np.float32([0.1, 0.2, 0.15]), np.array([3, 200, 128], "u1")

        def real(x, i):
            return ((x.astype("f4") - zeros[i]) * scales[i]).astype("f4")

        def quantized(x, i):
            return np.clip(np.round(x.astype("f4") / scales[i]) + zeros[i], 0, 255)
        of_a, of_b, of_c = ([scales[i], zeros[i]] for i in range(3))
        self.check("QLinearAdd", [a, *of_a, b, *of_b, *of_c], quantized(real(a, 0) + real(b, 1), 2), atol=0, fused=2)
        self.check("QLinearMul", [a, *of_a, b, *of_b, *of_c], quantized(real(a, 0) * real(b, 1), 2), atol=0, fused=2)
        x = real(a, 0)
        self.check("QLinearLeakyRelu", [a, *of_a, *of_c], quantized(np.where(x < 0, x / 4, x), 2), atol=0, fused=2, alpha=0.25)
        self.check("QLinearSigmoid", [a, *of_a, np.float32(1 / 256), np.uint8(0)], np.clip(np.round(256 / (1 + np.exp(-x))), 0, 255),
                   atol=1, fused=2)
        self.check("QLinearConcat", [*of_c, a[0], *of_a, b[None], *of_b],
                   np.concatenate([quantized(real(a[0], 0), 2), quantized(real(b[None], 1), 2)]), atol=0, axis=0)
        self.check("QLinearSoftmax", [a, *of_a, np.float32(1 / 256), np.uint8(0)], np.clip(np.round(256 * softmax(x)), 0, 255), atol=1,
                   fused=1, axis=-1, opset=17)
        self.refused("QLinearSoftmax", [a, *of_a, *of_c], "opset is missing", axis=-1)
        images = u1(2, 3, 4, 4)
        mean = real(images, 0).mean((2, 3), keepdims=True)
        self.check("QLinearGlobalAveragePool", [images, *of_a, *of_c], quantized(mean, 2), atol=1)
        pooled = real(images, 0).reshape(2, 3, 2, 2, 2, 2).mean((3, 5))
        self.check("QLinearAveragePool", [images, *of_a, *of_c], quantized(pooled, 2), atol=1, kernel_shape=[2, 2], strides=[2, 2])
        # Without zero points the type is that of the operands.
        one, few = np.float32(1), np.array([[-5, -100, 7]], "i1")
        self.check("QLinearAdd", [few, one, None, few, one, None, one], [[-10, -128, 14]], atol=0, fused=2)
        self.check("QLinearAdd", [few.view("u1"), one, None, few.view("u1"), one, None, one], [[255, 255, 14]], atol=0, fused=2)
        self.check("QLinearLeakyRelu", [few, one, None, one], [[-1, -25, 7]], atol=0, fused=2, alpha=0.25)
        self.check("QLinearConcat", [one, None, few, one, np.int8(2)], few - 2, atol=0, axis=0)
        self.refused("QLinearConcat", [*of_c, a, *of_a, b], "no triples", axis=0)
        self.refused("QLinearGlobalAveragePool", [images, *of_a, *of_c], "channels are last", channels_last=1)


if __name__ == "__main__":
    main()
