#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nodes that run in the tiles of the one before: which do, why others do not, and that not a bit differs from them alone."""
import numpy as np

import onnx_file as onnx
from cli_support import main
from onnx_cli import SMALL, OnnxCli

RNG = np.random.default_rng(5)


def f4(*shape):
    return RNG.uniform(-1, 1, shape).astype("f4")


def node(op, inputs, output, **attributes):
    return onnx.node(op, inputs, [output], name=output, **attributes)


class Fused(OnnxCli):
    def model(self, nodes, inputs, outputs=("y",), constants=None, **words):
        """inputs: {name: array}."""
        self.options = [w for name, a in inputs.items() for w in ("--tensor", f"{name}={self.array(name + '.npy', a, a.dtype)}")]
        return self.file(onnx.model(nodes, [(k, a.dtype.name, a.shape) for k, a in inputs.items()],
                                    [(o, None, None) for o in outputs], constants, **words))

    def runs(self, m, *options):
        return {n["name"]: n["how"] for n in self.report(m, *self.options, *options)["nodes"]}

    def fused(self, m, *options):
        return {n: how.split("'")[1] for n, how in self.runs(m, *options).items() if how.startswith("fused into")}

    def same(self, m, expected, fused, between, output="y", close=1e-5):
        """Fused like that; every value between them as an output has nothing fused, and the same bits."""
        self.assertEqual(self.fused(m), fused)
        found = self.result(m, output, *self.options)
        apart = [w for t in between for w in ("--dump", f"{t}={self.path(t + '.npy')}")]
        self.assertEqual(self.fused(m, *apart), {})
        np.testing.assert_array_equal(found, self.result(m, output, *self.options, *apart))
        np.testing.assert_allclose(found, expected, rtol=close, atol=close)
        self.assertIn(", verified", self.succeeds("model", m, "--topology", SMALL, *self.options, "--verify"))

    def test_what_follows_a_product(self):
        a, b, residual = f4(70, 40), f4(40, 90), f4(70, 90)
        for name, bias in (("of columns", f4(90)), ("of rows", f4(70, 1)), ("of one", f4(1, 1, 1)), ("of all", f4(70, 90))):
            with self.subTest(name):
                m = self.model([node("MatMul", ["a", "b"], "p"), node("Add", ["bias", "p"], "s"), node("Sigmoid", ["s"], "g"),
                                node("Mul", ["s", "g"], "u"), node("Add", ["u", "residual"], "y")],
                               {"a": a, "residual": residual}, constants={"b": b, "bias": bias})
                s = a @ b + bias
                self.same(m, s / (1 + np.exp(-s)) + residual, dict.fromkeys("sguy", "p"), "psgu")

    def test_a_convolution_its_batch_norm_and_an_addition(self):
        x, w = f4(2, 4, 9, 9), f4(6, 2, 3, 3)
        scale, shift, mean, variance = f4(6), f4(6), f4(6), np.abs(f4(6)) + 1
        m = self.model([node("Conv", ["x", "w"], "c", pads=[1, 1, 1, 1], group=2),
                        node("BatchNormalization", ["c", "scale", "shift", "mean", "variance"], "n"),
                        node("Relu", ["n"], "r"), node("Add", ["r", "z"], "y")],
                       {"x": x, "z": f4(2, 6, 9, 9)},
                       constants={"w": w, "scale": scale, "shift": shift, "mean": mean, "variance": variance})
        self.assertEqual(self.fused(m), dict.fromkeys("nry", "c"))
        apart = self.result(m, "y", *self.options, *(w for t in "cnr" for w in ("--dump", f"{t}={self.path(t + '.npy')}")))
        np.testing.assert_array_equal(self.result(m, "y", *self.options), apart)

    def test_a_residual_of_another_type(self):
        a, b, z = f4(33, 20).astype("f2"), f4(20, 65).astype("f2"), f4(33, 65)
        m = self.model([node("MatMul", ["a", "b"], "p"), node("Cast", ["p"], "w", to=1), node("Add", ["w", "z"], "y")],
                       {"a": a, "b": b, "z": z})
        self.same(m, a.astype("f4") @ b.astype("f4") + z, {"w": "p", "y": "p"}, "pw", close=2e-2)

    def test_what_a_coarser_type_on_the_way_rounds(self):
        """Two orders of a sum round to neighbours of f16, and an addition in f32 leaves little but that: whether it is
        fused or not."""
        a, b = f4(301, 100).astype("f2"), (f4(100, 403) / 10).astype("f2")
        z = -(a.astype("f4") @ b.astype("f4"))
        m = self.model([node("MatMul", ["a", "b"], "p"), node("Cast", ["p"], "w", to=1), node("Add", ["w", "z"], "y")],
                       {"a": a, "b": b, "z": z})
        for apart in ([], ["--dump", f"w={self.path('w.npy')}"]):
            self.assertIn(", verified", self.succeeds("model", m, "--topology", SMALL, *self.options, *apart, "--verify"))
        far = self.path("far.npy")
        np.save(far, self.result(m, "y", *self.options) + np.float32(0.003))  # an error of two steps is reported
        status, out, _ = self.run_cli("model", m, "--topology", SMALL, *self.options, "--expected", f"y={far}")
        self.assertEqual(status, 1)
        self.assertIn("VERIFICATION FAILED", out)

    def test_a_chain_without_a_product(self):
        x, row, column = f4(5, 6, 130), f4(130), f4(6, 1)
        m = self.model([node("Mul", ["x", "column"], "a"), node("Reshape", ["a", "flat"], "r"), node("Tanh", ["r"], "t"),
                        node("Add", ["row", "t"], "y")], {"x": x},
                       constants={"row": row, "column": column, "flat": np.array([30, 130])})
        self.same(m, np.tanh((x * column).reshape(30, 130)) + row, {"t": "a", "y": "a"}, "at")

    def test_what_others_read_is_stored(self):
        x = f4(8, 8)
        product = node("MatMul", ["x", "x"], "p")
        for name, nodes, outputs, fused in (
                ("it is an output", [product, node("Relu", ["p"], "y")], "yp", {}),
                ("two readers that go apart", [product, node("Relu", ["p"], "y"), node("Tanh", ["p"], "z")], "yz", {}),
                ("a reader of another kind", [product, node("Relu", ["p"], "y"), node("Softmax", ["p"], "z")], "yz", {}),
                ("it is made larger", [product, node("Unsqueeze", ["p", "first"], "u"), node("Add", ["u", "more"], "y")], "y", {}),
                ("its sum is read beside it", [product, node("ReduceSum", ["p"], "s"), node("Sub", ["p", "s"], "y")], "y", {}),
                ("an output on the way", [product, node("Relu", ["p"], "r"), node("Tanh", ["r"], "y")], "ry", {"r": "p"}),
                ("of two products the later one", [product, node("MatMul", ["x", "p"], "q"), node("Neg", ["q"], "n"),
                                                   node("Add", ["p", "n"], "y")], "y", {"n": "q", "y": "q"})):
            with self.subTest(name):
                m = self.model(nodes, {"x": x}, outputs, {"first": np.array([0]), "more": f4(3, 1, 1)})
                self.assertEqual(self.fused(m), fused)
                self.succeeds("model", m, "--topology", SMALL, *self.options, "--verify")

    def test_what_nobody_reads_is_verified(self):
        m = self.model([node("MatMul", ["x", "x"], "p"), node("Tanh", ["p"], "dead"), node("Relu", ["p"], "y")], {"x": f4(6, 6)})
        self.assertEqual(self.fused(m), {"y": "p"})
        tensors = self.report(m, *self.options, "--verify")["verify"]["tensors"]
        self.assertEqual({t["name"] for t in tensors}, {"p", "dead", "y"})

    def test_more_than_tcm_takes(self):
        """Twenty values that a last node sums up: they do not lie in TCM side by side."""
        nodes = [node("MatMul", ["x", "x"], "p"), *(node("Sin" if k % 2 else "Cos", ["p"], f"t{k}") for k in range(20)),
                 node("Sum", [f"t{k}" for k in range(20)], "y")]
        x = f4(6, 6)
        m = self.model(nodes, {"x": x})
        self.assertEqual(self.fused(m), {})
        p = x @ x
        np.testing.assert_allclose(self.result(m, "y", *self.options), 10 * (np.sin(p) + np.cos(p)), rtol=1e-5)
        # A chain of the same length has one live value at a time.
        m = self.model([node("MatMul", ["x", "x"], "t0"), *(node("Sin", [f"t{k}"], f"t{k + 1}") for k in range(40))], {"x": x}, ["t40"])
        self.assertEqual(len(self.fused(m)), 40)

    def summed_up(self, leader, inputs, constants=None):
        """A leader, s, and a chain behind it whose values are all summed up at its end: y."""
        made, sums = ["s"] + [f"t{k}" for k in range(11)], ["s"] + [f"u{k}" for k in range(11)]
        nodes = [leader, *(node("Relu" if k % 2 else "Tanh", [made[k]], made[k + 1]) for k in range(11)),
                 *(node("Add", [sums[k], made[k + 1]], sums[k + 1]) for k in range(11)), node("Relu", ["u10"], "y")]
        return self.model(nodes, inputs, constants=constants)

    def test_a_small_tcm(self):
        """Where the nodes run apart they run fused, in slices of rows that are longer than a slice."""
        long, wide = f4(1, 65536), f4(70000)
        a, b = f4(100, 300), f4(300, 200)
        for name, mb, leader, inputs in (
                ("a row that fills half of it", 1.5, node("Softmax", ["x"], "s", axis=-1), {"x": long}),
                ("the default's quarter", 4, node("Softmax", ["x"], "s", axis=-1), {"x": long}),
                ("rows across", 1.5, node("Softmax", ["x"], "s", axis=0), {"x": f4(60000, 3)}),
                ("a column along rows", 1.125, node("Add", ["x", "column"], "s"), {"x": wide, "column": f4(2, 1)}),
                ("halves", 1.125, node("MatMul", ["x", "b"], "s"), {"x": a.astype("f2"), "b": b.astype("f2")}),
                ("tiles", 1.125, node("MatMul", ["x", "b"], "s"), {"x": a, "b": b})):
            with self.subTest(name):
                m = self.summed_up(leader, inputs)
                size = ("--set", f"*.pe_tcm.size_mb={mb}")
                self.assertEqual(len(self.fused(m, *size)), 23)
                fused = self.result(m, "y", *self.options, *size)
                np.testing.assert_array_equal(fused, self.result(m, "y", *self.options, "--dump", f"s={self.path('s.npy')}", *size))

    def test_a_branch(self):
        branches = {k: onnx.graph([node("MatMul", ["x", "x"], "p"), node(op, ["p"], "r")], [], [("r", None, None)])
                    for k, op in (("then_branch", "Neg"), ("else_branch", "Abs"))}
        x = f4(6, 6)
        m = self.model([node("If", ["yes"], "i", **branches), node("Relu", ["i"], "y")], {"x": x}, constants={"yes": np.bool_(True)})
        self.assertEqual(len(self.fused(m)), 2)
        np.testing.assert_allclose(self.result(m, "y", *self.options), np.maximum(-(x @ x), 0), rtol=1e-5)

    def test_the_last_one_is_told_where_it_departs(self):
        m = self.model([node("MatMul", ["x", "x"], "p"), node("Exp", ["p"], "y")], {"x": f4(6, 6)})
        status, out, _ = self.run_cli("model", m, "--topology", SMALL, "--expected", f"y={self.array('w.npy', f4(6, 6))}")
        self.assertEqual(status, 1)
        self.assertIn("differs      first at node 'y' (Exp)", out)


if __name__ == "__main__":
    main()
