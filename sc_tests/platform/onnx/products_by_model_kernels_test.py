#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Products with weights run as models run them, by decode_linear and gemm_2d, whose operands lie in layouts of their own:
which do and what they take with them, that values and verification hold, and what layouts are worth."""
import json
import os

import numpy as np

import onnx_file as onnx
from cli_support import main, topology
from onnx_cli import OnnxCli

CASES = int(os.environ.get("KERNBENCH_RANDOM_PRODUCTS", "8"))
FROM = int(os.environ.get("KERNBENCH_RANDOM_PRODUCTS_FROM", "0"))
# 2 cubes of 4 PEs, and 4 such cubes: gemm_2d needs several cubes.
TWO, FOUR = (), ("--set", "file:sip.cubes.h=2")


def node(op, inputs, output, **attributes):
    return onnx.node(op, inputs, [output], name=output, **attributes)


def numbers(rng, *shape, dtype="f4"):
    return rng.uniform(-1, 1, shape).astype(dtype)


def sigmoid(x):
    return 1 / (1 + np.exp(-x.astype("f8")))


class Products(OnnxCli):
    def setUp(self):
        super().setUp()
        self.rng = np.random.default_rng(7)

    def model(self, nodes, inputs, outputs=("y",), constants=None, **words):
        """inputs: {name: array}."""
        self.options = [w for name, a in inputs.items() for w in ("--tensor", f"{name}={self.array(name + '.npy', a, a.dtype)}")]
        kind = next(iter(inputs.values())).dtype.name
        return self.file(onnx.model(nodes, [(k, a.dtype.name, a.shape) for k, a in inputs.items()], [(o, kind, None) for o in outputs],
                                    constants, **words))

    def hows(self, m, *options):
        return {n["name"]: n["how"].split(":")[0] for n in self.report(m, *self.options, *options)["nodes"]}

    def holds(self, m, expected, hows, *options, close=1e-5, output="y"):
        """What runs how, that y is so, and that every node is verified."""
        found = self.hows(m, *options)
        self.assertEqual({n: found[n] for n in hows}, hows)
        y = self.result(m, output, *self.options, *options)
        self.assertEqual(y.shape, expected.shape)
        scale = np.abs(expected).max()
        np.testing.assert_allclose(y.astype("f8"), expected, rtol=close, atol=close * scale)
        report = self.report(m, *self.options, *options, "--verify")
        self.assertTrue(report["verify"]["passed"])
        self.assertEqual([t["shape"] for t in report["verify"]["tensors"] if t["name"] == output], [list(expected.shape)])

    def test_a_product_takes_its_bias_activation_and_residual_with_it(self):
        x, w, b, r = (numbers(self.rng, *s) for s in ((3, 5, 96), (96, 200), (200,), (3, 5, 200)))
        m = self.model([node("MatMul", ["x", "w"], "p"), node("Add", ["b", "p"], "q"), node("Relu", ["q"], "a"), node("Add", ["a", "r"], "y")],
                       {"x": x, "r": r}, constants={"w": w, "b": b})
        self.holds(m, np.maximum(x @ w + b, 0) + r, {"p": "decode_linear", "q": "fused into 'p'", "y": "fused into 'p'"})

    def test_gemm_as_pytorch_leaves_it(self):
        x, w, c = numbers(self.rng, 5, 130), numbers(self.rng, 150, 130), numbers(self.rng, 150)
        for c in (c, numbers(self.rng, 5, 150)):
            m = self.model([node("Gemm", ["x", "w", "c"], "g", transB=1), node("Sigmoid", ["g"], "s"), node("Mul", ["g", "s"], "y")],
                           {"x": x}, constants={"w": w, "c": c})
            g = x @ w.T + c
            self.assertEqual(self.hows(m)["s"] == "fused into 'g'", c.ndim == 1)  # nothing follows a residual
            self.holds(m, g * sigmoid(g), {"g": "decode_linear"})
        m = self.model([node("Gemm", ["x", "w", "c"], "y", transB=1, alpha=0.5)], {"x": x}, constants={"w": w, "c": c})
        self.holds(m, 0.5 * (x @ w.T) + c, {"y": "GEMM"})

    def test_what_is_read_twice_is_there_for_both(self):
        # The product before its bias, and after it; a weight used by two products; constant weights.
        x, w, b = numbers(self.rng, 4, 160), numbers(self.rng, 160, 160), numbers(self.rng, 160)
        m = self.model([node("MatMul", ["x", "w"], "p"), node("Add", ["p", "b"], "q"), node("Mul", ["p", "q"], "y")], {"x": x},
                       constants={"w": w, "b": b})
        p = x @ w
        self.holds(m, p * (p + b), {"p": "decode_linear"})
        m = self.model([node("MatMul", ["x", "w"], "p"), node("MatMul", ["p", "w"], "y")], {"x": x}, constants={"w": w})
        self.holds(m, p @ w, {"p": "GEMM", "y": "GEMM"})
        m = self.model([node("MatMul", ["x", "w"], "p"), node("MatMul", ["p", "v"], "y")], {"x": x, "w": w, "v": w.T.copy()})
        self.holds(m, p @ w.T, {"p": "decode_linear", "y": "decode_linear"})

    def test_values_that_others_read_flat(self):
        x, w, v = numbers(self.rng, 6, 128), numbers(self.rng, 128, 128), numbers(self.rng, 128, 130)
        nodes = [node("MatMul", ["x", "w"], "p"), node("Add", ["p", "x"], "s"), node("Softmax", ["s"], "n", axis=-1), node("MatMul", ["n", "v"], "t"),
                 node("Transpose", ["s"], "u", perm=[1, 0]), node("MatMul", ["u", "t"], "y")]
        m = self.model(nodes, {"x": x}, constants={"w": w, "v": v}, outputs=("y", "s"))
        s = x @ w + x
        e = np.exp(s - s.max(-1, keepdims=True))
        self.holds(m, s.T @ (e / e.sum(-1, keepdims=True) @ v), {"p": "decode_linear", "t": "decode_linear", "y": "GEMM"})
        np.testing.assert_allclose(self.result(m, "s", *self.options), s, rtol=1e-5, atol=1e-5)

    def test_norms_go_into_the_products_that_read_them(self):
        x, s, b = numbers(self.rng, 2, 3, 128), numbers(self.rng, 128), numbers(self.rng, 128)
        w, v = numbers(self.rng, 128, 130), numbers(self.rng, 128, 136)
        centred = x - x.mean(-1, keepdims=True)
        rms, layer = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-3) * s, centred / np.sqrt((centred * centred).mean(-1, keepdims=True) + 1e-3) * s + b
        for op, inputs, n in (("RMSNormalization", ["x", "s"], rms), ("LayerNormalization", ["x", "s", "b"], layer)):
            nodes = [node(op, inputs, "n", epsilon=1e-3, axis=-1), node("MatMul", ["n", "w"], "p"), node("MatMul", ["n", "v"], "q"),
                     node("Concat", ["p", "q"], "y", axis=-1)]
            constants = {"s": s, "b": b, "w": w, "v": v}
            m = self.model(nodes, {"x": x}, constants=constants, opset=23)
            y = np.concatenate([n @ w, n @ v], -1)
            self.holds(m, y, {"n": "by the kernels of the products that read it", "p": "decode_linear", "q": "decode_linear"})
            # Not if the value has another reader, or more than one row.
            m = self.model(nodes[:2] + [node("Neg", ["n"], "q"), node("Concat", ["p", "q"], "y", axis=-1)], {"x": x}, constants=constants, opset=23)
            self.holds(m, np.concatenate([n @ w, -n], -1), {"n": "MATH on whole rows, split over the PEs", "p": "decode_linear"})
            m = self.model(nodes, {"x": x}, constants=constants, outputs=("y", "n"), opset=23)
            self.holds(m, y, {"n": "MATH on whole rows, split over the PEs"})
        whole = numbers(self.rng, 3, 128)
        m = self.model([node("RMSNormalization", ["x", "s"], "n", epsilon=1e-3, axis=1), node("MatMul", ["n", "w"], "y")], {"x": x},
                       constants={"s": whole, "w": w}, opset=23)
        self.holds(m, x / np.sqrt((x * x).mean((1, 2), keepdims=True) + 1e-3) * whole @ w, {"y": "decode_linear"})

    def test_gates_are_one_product(self):
        x, w, v, b = numbers(self.rng, 7, 128), numbers(self.rng, 128, 130), numbers(self.rng, 130, 128), numbers(self.rng, 130)
        gate = [node("Gemm", ["x", "w"], "g"), node("Sigmoid", ["g"], "s"), node("Mul", ["g", "s"], "a")]
        nodes = [*gate, node("Gemm", ["x", "v", "b"], "u", transB=1), node("Mul", ["u", "a"], "y")]
        m = self.model(nodes, {"x": x}, constants={"w": w, "v": v, "b": b})
        g, u = x @ w, x @ v.T + b
        self.holds(m, g * sigmoid(g) * u, {"g": "decode_linear", "u": "fused into 'g'", "y": "fused into 'g'"})
        # Not for other rows, for sums with other readers, or for one product with itself.
        r = numbers(self.rng, 7, 128)
        m = self.model([*gate, node("Gemm", ["r", "v", "b"], "u", transB=1), node("Mul", ["u", "a"], "y")], {"x": x, "r": r},
                       constants={"w": w, "v": v, "b": b})
        self.holds(m, g * sigmoid(g) * (r @ v.T + b), {"g": "decode_linear", "u": "decode_linear"})
        m = self.model(nodes, {"x": x}, constants={"w": w, "v": v, "b": b}, outputs=("y", "u"))
        self.holds(m, g * sigmoid(g) * u, {"g": "decode_linear", "u": "decode_linear"})
        m = self.model([node("MatMul", ["x", "w"], "p"), node("Mul", ["p", "p"], "y")], {"x": x}, constants={"w": w})
        self.holds(m, g * g, {"p": "decode_linear"})

    def test_one_row_and_few_columns(self):
        x, w = numbers(self.rng, 1, 20000), numbers(self.rng, 20000, 1)
        self.holds(self.model([node("MatMul", ["x", "w"], "y")], {"x": x}, constants={"w": w}), x @ w, {"y": "decode_linear"})
        x, w, r = numbers(self.rng, 1, 1, 130), numbers(self.rng, 130, 131), numbers(self.rng, 1, 1, 131)
        m = self.model([node("MatMul", ["x", "w"], "p"), node("Add", ["p", "r"], "q"), node("Exp", ["q"], "y")], {"x": x, "r": r}, constants={"w": w})
        self.holds(m, np.exp(x @ w + r), {"p": "decode_linear"})

    def test_many_rows_go_over_the_grid_of_cubes(self):
        x, w, v = numbers(self.rng, 150, 136), numbers(self.rng, 136, 144), numbers(self.rng, 144, 136)
        nodes = [node("MatMul", ["x", "w"], "p"), node("Relu", ["p"], "a"), node("MatMul", ["a", "v"], "q"), node("Add", ["q", "x"], "y")]
        m = self.model(nodes, {"x": x}, constants={"w": w, "v": v})
        expected = np.maximum(x @ w, 0) @ v + x
        self.holds(m, expected, {"p": "gemm_2d", "a": "fused into 'p'", "q": "gemm_2d"}, *FOUR)
        self.holds(m, expected, {"p": "GEMM", "q": "GEMM"}, *TWO)  # with two cubes, tiles are as fast
        # Gemm's C belongs to the product; gemm_2d has no such input.
        b = numbers(self.rng, 144)
        m2 = self.model([node("Gemm", ["x", "w", "b"], "y")], {"x": x}, constants={"w": w, "b": b})
        self.holds(m2, x @ w + b, {"y": "decode_linear"}, *FOUR)
        self.holds(m2, x @ w + b, {"y": "GEMM"}, *TWO)
        m = self.model(nodes, {"x": x}, constants={"w": w, "v": v})
        # Cubes with different numbers of PEs.
        self.holds(m, expected, {"p": "GEMM"}, *FOUR, "--pes", "sip0.cube0.pe0,sip0.cube0.pe1,sip0.cube1.pe0")

    def test_floats_of_16_bits_are_rounded_once(self):
        x, w, v = (numbers(self.rng, *s, dtype="f2") for s in ((8, 512), (512, 256), (256, 128)))
        m = self.model([node("MatMul", ["x", "w"], "p"), node("MatMul", ["p", "v"], "y")], {"x": x}, constants={"w": w, "v": v})
        p = (x.astype("f4") @ w.astype("f4")).astype("f2")
        self.assertLessEqual(np.abs(self.result(m, "p", *self.options).astype("f8") - p).max(), 2.0 ** -6)  # one step at 16
        self.holds(m, p.astype("f8") @ v.astype("f8"), {"p": "decode_linear", "y": "decode_linear"}, close=2e-3)

    def test_masks_that_lie_on_several_pes(self):
        # For all heads or one; for all queries; bytes; rows that are not a multiple of a block; more keys than fit at
        # once.
        for queries, keys, shape, dtype in ((130, 130, (130, 130), "f4"), (70, 200, (1, 4, 70, 200), "f4"), (130, 90, (2, 1, 1, 90), "f4"),
                                            (130, 130, (130, 130), "?"), (64, 1100, (64, 1100), "f4"), (1, 2000, (1, 2000), "f4")):
            q, k, v = (numbers(self.rng, 2, 4, n, 16) for n in (queries, keys, keys))
            mask = self.rng.random(shape) < 0.7 if dtype == "?" else numbers(self.rng, *shape)
            if dtype == "?":
                mask[:, 0] = True
            m = self.model([node("Attention", ["q", "k", "v", "m"], "y")], {"q": q, "k": k, "v": v, "m": mask}, opset=23)
            scores = q.astype("f8") @ k.swapaxes(2, 3) / 4
            scores = np.where(mask, scores, -np.inf) if dtype == "?" else scores + mask
            e = np.exp(scores - scores.max(-1, keepdims=True))
            self.holds(m, e / e.sum(-1, keepdims=True) @ v, {}, *FOUR)

    def test_shares_of_the_peaks(self):
        # 8 PEs with 4,096 f16 products per ns, and 8 slices of 256 GB/s.
        x, w = numbers(self.rng, 24, 320, dtype="f2"), numbers(self.rng, 320, 160, dtype="f2")
        m = self.model([node("MatMul", ["x", "w"], "p"), node("Relu", ["p"], "q"), node("Exp", ["q"], "y")], {"x": x}, constants={"w": w})
        r = self.report(m, *self.options)
        self.assertAlmostEqual(r["mfu"], 24 * 320 * 160 / (r["sim_ns"] * 8 * 4096), places=9)
        operands = 24 * 320 + 320 * 160 + 24 * 160 + 2 * 24 * 160
        self.assertAlmostEqual(r["hbm_share"], 2 * operands / (r["sim_ns"] * 8 * 256), places=9)
        table = self.succeeds("sweep", "--over", "scale.mesh=1", "--metric", "sim_ns,mfu,hbm_share", "--", "model", m, "--topology", topology("small.yaml"), *self.options)
        self.assertEqual([float(v) for v in table.splitlines()[1].split(",")[2:5]], [r["sim_ns"], r["mfu"], r["hbm_share"]])

    def test_random_shapes(self):
        for seed in range(FROM, FROM + CASES):
            rng = np.random.default_rng(seed)
            m, k = int(rng.integers(1, 200)), int(rng.integers(17, 200))
            n = int(rng.integers(16384 // k + 1, 16384 // k + 300))
            x, w, b, r, scale = (numbers(rng, *s) for s in ((m, k), (k, n), (n,), (m, n), (m, 1)))
            nodes, y, name = [node("MatMul", ["x", "w"], "p")], x @ w, "p"
            for step in rng.permutation(["bias", "relu", "residual", "scale", "silu"])[: rng.integers(0, 5)]:
                to = f"{name}{step[0]}"
                if step == "silu":
                    nodes += [node("Sigmoid", [name], to + "g"), node("Mul", [to + "g", name], to)]
                else:
                    op, *other = {"bias": ("Add", "b"), "relu": ("Relu",), "residual": ("Add", "r"), "scale": ("Mul", "scale")}[step]
                    nodes.append(node(op, [name, *other], to))
                y = {"bias": lambda y: y + b, "relu": lambda y: np.maximum(y, 0), "residual": lambda y: y + r, "scale": lambda y: y * scale,
                     "silu": lambda y: y * sigmoid(y)}[step](y)
                name = to
            model = self.model(nodes, {"x": x, "r": r, "scale": scale}, constants={"w": w, "b": b}, outputs=(name,))
            cubes = FOUR if seed % 2 else TWO
            with self.subTest(seed=seed):
                self.holds(model, y, {}, *cubes, output=name)

    def test_what_layouts_are_worth(self):
        """On 128 PEs whose DMA goes to one memory after the other: a product of few rows takes about what decode_linear
        alone takes (0.45 and 1.8 us), and what is small lies on few PEs. In blocks over all PEs it took 26 and 77 us."""
        default = topology("default.yaml")
        for (m, k, n), most in (((8, 256, 256), 2000), ((32, 2048, 2048), 6000)):
            x = numbers(self.rng, m, k)
            model = self.model([node("MatMul", ["x", "w"], "y")], {"x": x}, constants={"w": numbers(self.rng, k, n)})
            report = self.succeeds("model", model, "--topology", default, *self.options)
            words = report.split()
            at = words.index("time")
            self.assertLess(float(words[at + 1]) * {"ns": 1, "us": 1000}[words[at + 2]], most)
        # Each PE's rows of a mask are stored at several PEs: loaded at once, not block by block from all of these (35.1
        # us).
        q, mask = numbers(self.rng, 1, 8, 512, 64), numbers(self.rng, 512, 512)
        model = self.model([node("Attention", ["q", "q", "q", "m"], "y")], {"q": q, "m": mask}, opset=23)
        self.assertLess(json.loads(self.succeeds("model", model, "--topology", default, "--format", "json"))["sim_ns"], 25000)


if __name__ == "__main__":
    main()
