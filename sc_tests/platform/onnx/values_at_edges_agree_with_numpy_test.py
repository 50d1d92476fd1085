#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every row of the ONNX op table at the edges of its types, against numpy: zeros of both signs, infinities, NaN, subnormals, the
largest values, and no elements at all. `--verify` cannot see such faults: the host runs the nodes' own kernels.

The rows are those of the sources and of `kernbench list ops`. A new row fails here until it has a meaning in numpy."""
import glob
import json
import math
import os
import re

import numpy as np

import onnx_file as onnx
from cli_support import main
from numpy_ops import function_of
from onnx_cli import SMALL, OnnxCli

np.seterr(all="ignore")
TINY, LEAST, MOST = np.float32(1e-45), np.float32(1.1754944e-38), np.finfo("f4").max
FLOATS = [0.0, -0.0, 1, -1, 0.5, -0.5, 1.5, -2.5, 3, -3, 20, -20, 89, -89, np.inf, -np.inf, np.nan, TINY, -TINY, LEAST, MOST, -MOST,
          1e20, -1e20, 1e-20, 65504, 1e-3]
HALVES = [0.0, -0.0, 1, -1, 0.5, -2.5, 3, -3, 11, np.inf, -np.inf, np.nan, 6e-8, -6e-8, 65504, -65504, 300]
NARROW = {"bfloat16": (16, 8, 7, True), "float8e4m3fn": (17, 4, 3, False), "float8e5m2": (19, 5, 2, True)}  # ONNX's number, bits, infinity
INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64")


def edges(dtype):
    if dtype == "bool":
        return np.array([False, True])
    if dtype.startswith("float"):
        return np.array(FLOATS if dtype == "float32" else HALVES).astype(dtype)
    i = np.iinfo(dtype)
    return np.unique(np.array([i.min, i.min + 1, 0, 1, 2, 3, 7, i.max - 1, i.max], object)).astype(dtype) if i.min == 0 else \
        np.array([i.min, i.min + 1, -7, -3, -2, -1, 0, 1, 2, 3, 7, i.max - 1, i.max], dtype)


def narrowed(x, dtype, saturate=False):
    """f32 values, rounded to the nearest value of a type that NumPy lacks, ties to even; the result is f32."""
    _, exponent, mantissa, infinite = NARROW[dtype]
    bias, x = (1 << exponent - 1) - 1, np.asarray(x, "f4").astype("f8")
    most = (2 - 2.0 ** -mantissa) * 2.0 ** bias if infinite else 448.0  # OCP e4m3: the last pattern alone is NaN
    if saturate:
        x = np.clip(x, -most, most)
    ulp = 2.0 ** (np.maximum(np.frexp(np.where(np.isfinite(x), x, 1))[1] - 1, 1 - bias) - mantissa)
    y = np.where(np.isfinite(x), np.rint(x / ulp) * ulp, x)
    return np.where(np.abs(y) > most, np.copysign(np.inf, y) if infinite else np.nan, y).astype("f4")


def sources():
    for path in sorted(glob.glob(os.path.join(os.environ["KERNBENCH_SOURCE"], "platform/onnx/ops_*.cpp"))):
        with open(path, encoding="utf-8") as f:
            yield f.read()


def rows():
    """Names of all rows that are written down in the sources."""
    text = "\n".join(sources())
    return set(re.findall(r'(?:^ +\{|\b(?:by_position|leading|conversion|tiled|attention_row)\()"(\w+)", \d+,', text, re.MULTILINE))


def elementwise():
    """{(name, domain): what it takes} of the rows of several steps, and of the engines' own ops."""
    text = next(t for t in sources() if "rows_of_several_ops" in t)
    table = text[text.index("rows_of_several_ops"):text.index("#undef KB_STEP")]
    found = {}
    for row in re.split(r"\n {6}(?=\{)", table)[1:]:
        name, takes = re.match(r'\{"(\w+)", \d+, Takes::(\w+)', row).groups()
        found[name, "com.microsoft" if "kMicrosoft" in row else ""] = takes
    return found


def of_halves(f):
    """x where it is at least 0, else f(x)."""
    return lambda x: np.where(x < 0, f(x), x)


def quotient(a, b):
    if a.dtype.kind == "f":
        return a / b
    q = np.abs(a.astype(object)) // np.where(b == 0, 1, np.abs(b.astype(object)))
    return wrapped(np.where(b == 0, 0, np.where((a < 0) != (b < 0), -q, q)), a.dtype)


def wrapped(x, dtype):
    bits = 8 * dtype.itemsize
    return np.array([int(v) & (1 << bits) - 1 for v in np.ravel(x)], np.uint64).astype(f"u{bits // 8}").view(dtype).reshape(np.shape(x))


def power(x, y):
    if x.dtype.kind == "f":
        return np.power(x, y)
    return wrapped([int(a) ** int(b) if b >= 0 else int(a) ** -int(b) if abs(int(a)) == 1 else 0 for a, b in zip(x, y)], x.dtype)


def softplus(x):
    return np.logaddexp(0, x)


def phi(x):
    return x * 0.5 * (1 + np.tanh((x + x * x * x * 0.044715) * math.sqrt(2 / math.pi)))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


ONE = {
    "Reciprocal": lambda x: 1 / x, "Sign": np.sign, "Tan": np.tan, "Asin": np.arcsin, "Acos": np.arccos, "Atan": np.arctan,
    "Sinh": np.sinh, "Cosh": np.cosh, "Asinh": np.arcsinh, "Acosh": np.arccosh, "Atanh": np.arctanh, "Softplus": softplus,
    "Softsign": lambda x: x / (1 + np.abs(x)), "Mish": lambda x: x * np.tanh(softplus(x)), "Gelu": function_of("gelu"),
    "FastGelu": phi, "QuickGelu": lambda x: x * sigmoid(np.float32(1.702) * x), "Elu": of_halves(np.expm1),
    "Celu": lambda x: np.maximum(x, 0) + np.minimum(np.expm1(x), 0),
    "Selu": lambda x: np.float32(1.0507009873554805) * of_halves(lambda y: np.float32(1.6732632423543772) * np.expm1(y))(x),
    "LeakyRelu": of_halves(lambda x: np.float32(0.01) * x), "ThresholdedRelu": lambda x: np.where(x > 1, x, 0),
    "HardSigmoid": lambda x: np.clip(np.float32(0.2) * x + 0.5, 0, 1), "HardSwish": lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
    "Shrink": lambda x: np.where(x < -0.5, x, np.where(x > 0.5, x, 0)), "Not": np.logical_not, "IsNaN": np.isnan, "IsInf": np.isinf,
}
TWO = {
    "BiasGelu": lambda a, b: function_of("gelu")(a + b), "PRelu": lambda a, b: np.where(a < 0, a * b, a), "Pow": power,
    "Mod": lambda a, b: np.fmod(a, b) if a.dtype.kind == "f" else np.mod(a, b), "Max": np.maximum, "Min": np.minimum,
    "Sum": np.add, "Mean": lambda a, b: (a + b) / 2, "And": np.logical_and, "Or": np.logical_or, "Xor": np.logical_xor,
    "Div": quotient,
}
# Elementwise ops, except those with three operands or a count, which are tested below by name.
OWN = {"Clip", "BitShift"}
# Signs of zeros that numpy's formulation of the op leaves open.
SIGN_IS_OPEN = {"Max", "Min", "Celu", "Selu", "Elu", "Sum", "Mean", "HardSwish", "Mish", "Gelu", "BiasGelu", "FastGelu", "QuickGelu",
                "Relu", "Softplus", "ReduceSum", "ReduceMax", "ReduceMin", "CumSum", "Erf"}
REDUCTIONS = {
    "ReduceSum": np.sum, "ReduceProd": np.prod, "ReduceMax": np.max, "ReduceMin": np.min, "ReduceMean": np.mean,
    "ReduceSumSquare": lambda x, axis: np.sum(x * x, axis), "ReduceL1": lambda x, axis: np.sum(np.abs(x), axis),
    "ReduceL2": lambda x, axis: np.sqrt(np.sum(x * x, axis)), "ReduceLogSum": lambda x, axis: np.log(np.sum(x, axis)),
    "ReduceLogSumExp": lambda x, axis: np.logaddexp.reduce(x, axis),
}


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def centred(x, epsilon=np.float32(1e-5)):
    off = x - x.mean(-1, keepdims=True)
    return off / np.sqrt((off * off).mean(-1, keepdims=True) + epsilon)


def divided(x, norm):
    return x / np.where(norm == 0, 1, norm)


# name: attributes, more inputs, numpy's function of rows
ROWS = {
    "Softmax": ({}, [], softmax),
    "LogSoftmax": ({}, [], lambda x: x - x.max(-1, keepdims=True) - np.log(np.exp(x - x.max(-1, keepdims=True)).sum(-1, keepdims=True))),
    "Hardmax": ({}, [], lambda x: np.arange(x.shape[-1]) == np.argmax(x, -1)[..., None]),
    "ArgMax": ({"axis": -1, "keepdims": 0}, [], lambda x: np.argmax(x, -1)),
    "ArgMin": ({"axis": -1, "keepdims": 0}, [], lambda x: np.argmin(x, -1)),
    "CumSum": ({}, [np.array(-1)], lambda x: np.cumsum(x, -1)),
    "TopK": ({"largest": 0}, [np.array([4])], lambda x: np.sort(x, -1)),
    "LpNormalization": ({}, [], lambda x: divided(x, np.sqrt((x * x).sum(-1, keepdims=True)))),
    "LayerNormalization": ({}, [np.ones(4, "f4")], centred),
    "RMSNormalization": ({}, [np.ones(4, "f4")], lambda x: x / np.sqrt((x * x).mean(-1, keepdims=True) + np.float32(1e-5))),
    "SimplifiedLayerNormalization": ({}, [np.ones(4, "f4")], lambda x: x / np.sqrt((x * x).mean(-1, keepdims=True) + np.float32(1e-5))),
}
# Ops that move elements keep their bits. name: attributes, more inputs, numpy's function of [n, 4]
MOVES = {
    "Transpose": ({}, [], np.transpose), "Expand": ({}, [np.array([2, 1, 1])], lambda x: np.stack([x, x])),
    "Tile": ({}, [np.array([1, 2])], lambda x: np.tile(x, (1, 2))), "Slice": ({}, [np.array([1]), np.array([3]), np.array([1])], lambda x: x[:, 1:3]),
    "Pad": ({"mode": "edge"}, [np.array([0, 1, 0, 1])], lambda x: np.pad(x, ((0, 0), (1, 1)), "edge")),
    "Concat": ({"axis": 1}, ["x"], lambda x: np.concatenate([x, x], 1)), "Split": ({"axis": 1}, [np.array([4])], lambda x: x),
    "Trilu": ({}, [], np.triu), "Gather": ({"axis": 1}, [np.array([3, 0])], lambda x: x[:, [3, 0]]),
    "GatherElements": ({"axis": 1}, [np.array([[2, 1]])], lambda x: x[:1, [2, 1]]), "GatherND": ({}, [np.array([[1, 2]])], lambda x: x[1, 2:3]),
    "Reshape": ({}, [np.array([-1])], np.ravel), "Flatten": ({}, [], lambda x: x), "Identity": ({}, [], lambda x: x),
    "Squeeze": ({}, [], lambda x: x), "Unsqueeze": ({}, [np.array([0])], lambda x: x[None]),
    "ScatterElements": ({"axis": 1}, [np.array([[3]]), "first"], lambda x: np.where((np.arange(4) == 3) & (np.arange(len(x))[:, None] == 0), x[0, 0], x)),
    "ScatterND": ({}, [np.array([[0, 3]]), "row"], lambda x: np.where((np.arange(4) == 3) & (np.arange(len(x))[:, None] == 0), x[0, 0], x)),
    "Where": None, "Cast": None, "CastLike": None, "Dropout": ({}, [], lambda x: x),
    "Compress": ({"axis": 1}, [np.array([False, True, True, False])], lambda x: x[:, 1:3]),
    "ReverseSequence": ({"batch_axis": 0, "time_axis": 1}, ["lengths"], lambda x: x[:, ::-1]),
}
# Edge values of these follow from sums and products, which MatMul and the rows above test; or the ops do not accept
# such values.
ELSEWHERE = {name: "sums of products" for name in (
    "MatMul", "Gemm", "MatMulInteger", "QLinearMatMul", "Conv", "ConvInteger", "QLinearConv", "ConvTranspose", "Einsum", "FusedMatMul",
    "MatMulNBits", "Attention", "MultiHeadAttention", "GroupQueryAttention", "RotaryEmbedding", "RNN", "GRU", "LSTM", "Resize",
    "Upsample", "GridSample")}
ELSEWHERE |= {name: "of the norms above" for name in (
    "SkipLayerNormalization", "SkipSimplifiedLayerNormalization", "GroupNormalization", "MeanVarianceNormalization",
    "InstanceNormalization", "BatchNormalization", "LRN", "NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")}
ELSEWHERE |= {name: "random_graphs, onnx_nodes: values are made, counted or compared" for name in (
    "Shape", "Size", "ConstantOfShape", "EyeLike", "Range", "OneHot", "NonZero", "NonMaxSuppression", "HannWindow", "HammingWindow",
    "BlackmanWindow", "MaxUnpool", "DepthToSpace", "SpaceToDepth", "Scatter", "QuantizeLinear", "DequantizeLinear",
    "DynamicQuantizeLinear", "MaxPool", "AveragePool", "LpPool", "GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool")}
ELSEWHERE |= {name: "refused" for name in (
    "Bernoulli", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial", "SequenceConstruct",
    "SequenceEmpty", "SplitToSequence")}


class Edges(OnnxCli):
    @classmethod
    def setUpClass(cls):
        cls.several = elementwise()

    def engine_ops(self):
        """{ONNX's name: (the engines' name, what ONNX takes)} of `kernbench list ops`."""
        ops = json.loads(self.succeeds("list", "ops", "--format", "json"))
        return {o["onnx"]: o for o in ops if "onnx" in o}

    def run_all(self, nodes, inputs, constants=None, opset=18, outputs=None):
        """Runs nodes that all read the inputs. Returns {output: array}; by default each node has one output of its own name."""
        outputs = list(outputs or [n[0] for n in nodes])
        there = dict(inputs)
        m = self.file(onnx.model([n[1] for n in nodes], [(k, a.dtype.name, a.shape) for k, a in there.items()],
                                 [(o, None, None) for o in outputs], constants, opset=opset))
        options = [w for k, a in there.items() for w in ("--tensor", f"{k}={self.array(k + '.npy', a, a.dtype)}")]
        self.report(m, *options, *(w for o in outputs for w in ("--dump", f"{o}={self.path(o + '.npy')}")))
        return {o: np.load(self.path(o + ".npy")) for o in outputs}

    def agree(self, op, found, expected, operands, dtype, tolerance=None):
        expected = np.asarray(expected)
        if found.dtype == np.uint8 and expected.dtype == bool:
            expected = expected.astype("u1")
        with self.subTest(op=op, dtype=dtype):
            self.assertEqual(found.shape, expected.shape)
            if found.dtype.kind != "f":
                bad = found.astype(object) != expected.astype(object)
            else:
                with np.errstate(over="ignore"):
                    expected = expected.astype(found.dtype)
                tolerance = tolerance if tolerance is not None else 1e-3 if found.dtype == np.float16 else 2e-5
                bad = ~np.isclose(found, expected, rtol=tolerance, atol=tolerance * 1e-2, equal_nan=True)
                if op not in SIGN_IS_OPEN:
                    bad |= (found == 0) & (expected == 0) & (np.signbit(found) != np.signbit(expected))
            at = np.argwhere(bad)[:6]
            told = [(tuple(o[tuple(i)] if o.shape == found.shape else o for o in operands), found[tuple(i)], expected[tuple(i)]) for i in at]
            self.assertFalse(bad.any(), f"{op} {dtype}: of, found, numpy: {told}")

    def test_every_row_is_known_here(self):
        here = set(ONE) | set(TWO) | OWN | set(REDUCTIONS) | set(ROWS) | set(MOVES) | set(ELSEWHERE)
        named = {name for name, _ in self.several}
        self.assertEqual(named - set(ONE) - set(TWO) - OWN, set())
        engines = self.engine_ops()
        self.assertGreater(len(rows()), 100)
        self.assertEqual(rows() - here, set(), "rows of the ONNX op table that have no meaning here")
        for name, op in engines.items():
            self.assertTrue(name in here or function_of(op["name"]), name)

    def takes(self, dtype, takes):
        return {"any": True, "numbers": dtype != "bool", "floats": dtype.startswith("float"),
                "integers": dtype in INTEGERS, "booleans": dtype == "bool"}[takes]

    def meanings(self, dtype):
        """(op, domain, attributes, numpy's function, how many operands)"""
        for (name, domain), takes in self.several.items():
            if name in OWN or not self.takes(dtype, takes):
                continue
            attributes = {"fmod": 1} if name == "Mod" and dtype.startswith("float") else {}
            yield name, domain, attributes, ONE.get(name) or TWO[name], 1 if name in ONE else 2
        for name, op in self.engine_ops().items():
            takes = {"Equal": "any", "Floor": "floats", "Ceil": "floats", "Round": "floats"}.get(name, {"any": "numbers"}.get(op["values"], op["values"]))
            if self.takes(dtype, takes):
                yield name, "", {}, TWO.get(name) or self.of_engines(op["name"]), op["operands"]

    @staticmethod
    def of_engines(name):
        own = {"bitwise_not": np.invert, "relu": lambda x: np.where((x > 0) | np.isnan(x), x, x.dtype.type(0))}
        return own.get(name) or function_of(name)

    def test_position_by_position(self):
        for dtype in ("float32", "float16", "bool", *INTEGERS):
            x = edges(dtype)
            a, b = (v.ravel() for v in np.meshgrid(x, x, indexing="ij"))
            for opset in (18, 20):
                nodes, expected = [], {}
                for op, domain, attributes, f, count in self.meanings(dtype):
                    if (op == "Gelu" and domain == "") != (opset == 20):
                        continue
                    if op == "Pow" and dtype in INTEGERS:
                        continue  # below: exponents this large are useless
                    out = f"{op}_{len(nodes)}"
                    if op == "BiasGelu":  # its bias stands along the last axis
                        operands, names = (np.full_like(a, 1.5), b), ["half", "b"]
                    else:
                        operands, names = ((x,), ["x"]) if count == 1 else ((a, b), ["a", "b"])
                    nodes.append((out, onnx.node(op, names, [out], name=out, domain=domain, **attributes)))
                    wide = [o.astype("f8") if dtype.startswith("float") else o for o in operands]
                    value = f(*wide)
                    if op == "Mean":
                        value = f(*(o.astype("f4") for o in operands)).astype(dtype)
                    if dtype.startswith("float") and np.asarray(value).dtype.kind == "f":
                        value = np.asarray(value).astype("f4").astype(dtype)
                    expected[out] = (op, value, operands)
                if not nodes:
                    continue
                half = np.full_like(a, 1.5) if dtype.startswith("float") else a
                found = self.run_all(nodes, {"x": x, "a": a, "b": b, "half": half}, opset=opset)
                for out, (op, value, operands) in expected.items():
                    self.agree(op, found[out], value, operands, dtype)

    def test_types_that_numpy_lacks(self):
        """Each op gives the result on the same f32 values, rounded once more. The graph converts inputs and outputs."""
        for dtype, (number, *_) in NARROW.items():
            x = narrowed(FLOATS, dtype, saturate="8" in dtype)
            a, b = (v.ravel() for v in np.meshgrid(x, x, indexing="ij"))
            inputs = {"x": x, "a": a, "b": b, "half": np.full_like(a, 1.5)}
            for opset in (18, 20):
                nodes, expected = [(f"{k}_", onnx.node("Cast", [k], [f"{k}_"], to=number)) for k in inputs], {}
                for op, domain, attributes, f, count in self.meanings("float32"):
                    if (op == "Gelu" and domain == "") != (opset == 20):
                        continue
                    names = ["half", "b"] if op == "BiasGelu" else ["x"] if count == 1 else ["a", "b"]
                    operands = [inputs[n] for n in names]
                    out = f"{op}_{len(nodes)}"
                    nodes += [("", onnx.node(op, [n + "_" for n in names], [out + "_"], name=out, domain=domain, **attributes)),
                              (out, onnx.node("Cast", [out + "_"], [out], to=1))]
                    value = np.asarray(f(*(o.astype("f4" if op == "Mean" else "f8") for o in operands)))
                    expected[out] = (op, value.astype("f4") if value.dtype == bool else narrowed(value, dtype), operands)
                found = self.run_all(nodes, inputs, opset=opset, outputs=expected)
                for out, (op, value, operands) in expected.items():
                    self.agree(op, found[out], value, operands, dtype, 2.0 ** -NARROW[dtype][2])

    def test_float8_saturates_unless_told(self):
        x = np.concatenate([edges("float32"), np.float32([448, 464, 464.1, 480, -500, 57344, 61439, 61440, -7e4, 2.0 ** -10, 2.0 ** -17])])
        whole = np.array([-2 ** 31, -60000, -449, 0, 17, 448, 60000, 2 ** 31 - 1], "i4")
        for dtype in ("float8e4m3fn", "float8e5m2"):
            for saturate in (None, 1, 0):
                attributes = {} if saturate is None else {"saturate": saturate}
                nodes = [("", onnx.node("Cast", [v], [v + "8"], name=v, to=NARROW[dtype][0], **attributes)) for v in ("x", "n")]
                nodes += [("", onnx.node("QuantizeLinear", ["x", "two", "x8_0"], ["q8"], **attributes))]
                nodes += [(v, onnx.node("Cast", [v + "8"], [v], to=1)) for v in ("q",)]
                nodes = [("", onnx.node("Cast", ["zero"], ["x8_0"], to=NARROW[dtype][0])), *nodes,
                         *((f"{v}_", onnx.node("Cast", [v + "8"], [f"{v}_"], to=1)) for v in ("x", "n"))]
                found = self.run_all(nodes, {"x": x, "n": whole}, {"two": np.float32(2), "zero": np.float32(0)}, opset=19,
                                     outputs=("q", "x_", "n_"))
                for out, of in (("x_", x), ("n_", whole), ("q", x / np.float32(2))):
                    self.agree("Cast", found[out], narrowed(of, dtype, saturate != 0), (of,), f"{dtype} {saturate}", 0)

    def test_powers(self):
        for dtype in ("int32", "int64"):
            x, y = (v.ravel() for v in np.meshgrid(edges(dtype), np.array([-3, -2, -1, 0, 1, 2, 3, 5, 62], dtype), indexing="ij"))
            found = self.run_all([("p", onnx.node("Pow", ["x", "y"], ["p"]))], {"x": x, "y": y})["p"]
            self.agree("Pow", found, power(x, y), (x, y), dtype)
        # Integers to a float power: numpy's result, truncated toward 0.
        x = np.array([2, 3, 9, -2, -3, 7, 10, 0, 1], "i4")
        for e in (2.0, 1.5, 0.5, 3.0, 0.0):
            y = np.full(x.shape, e, "f4")
            found = self.run_all([("p", onnx.node("Pow", ["x", "y"], ["p"]))], {"x": x, "y": y})["p"]
            right = np.power(x.astype("f8"), e)
            defined = np.isfinite(right)
            self.agree("Pow", found[defined], np.trunc(right[defined]).astype("i4"), (x[defined], y[defined]), "int32 to float32")

    def test_clips_and_shifts(self):
        for dtype in ("float32", "float16", "int8", "uint8", "int32", "int64"):
            x = edges(dtype)
            low, high = x.dtype.type(1), x.dtype.type(3)
            found = self.run_all([("c", onnx.node("Clip", ["x", "low", "high"], ["c"])), ("l", onnx.node("Clip", ["x", "low"], ["l"])),
                                  ("h", onnx.node("Clip", ["x", "", "high"], ["h"]))], {"x": x}, {"low": low, "high": high})
            self.agree("Clip", found["c"], np.clip(x, low, high), (x,), dtype)
            self.agree("Clip", found["l"], np.maximum(x, low), (x,), dtype)
            self.agree("Clip", found["h"], np.minimum(x, high), (x,), dtype)
        for dtype in ("uint8", "uint16", "uint32"):
            x = edges(dtype)
            n = np.full(x.shape, 3, dtype)
            found = self.run_all([("l", onnx.node("BitShift", ["x", "n"], ["l"], direction="LEFT")),
                                  ("r", onnx.node("BitShift", ["x", "n"], ["r"], direction="RIGHT"))], {"x": x, "n": n})
            self.agree("BitShift", found["l"], np.left_shift(x, n), (x,), dtype)
            self.agree("BitShift", found["r"], np.right_shift(x, n), (x,), dtype)

    ROWS_OF_FLOATS = [[0, 0, 0, 0], [-0.0, -0.0, -0.0, -0.0], [-np.inf] * 4, [np.inf, 1, 2, 3], [-np.inf, 1, 2, 3], [np.inf, -np.inf, 0, 1],
                      [1, np.nan, 2, 3], [np.nan] * 4, [1e-45, 0, 0, 1e-45], [88, 89, -100, 3], [65504, 1, -1, 0], [3e38, 1, 0, -1],
                      [np.inf, np.inf, 0, 0], [1, 2, 3, 4]]

    def test_reductions(self):
        for dtype in ("float32", "float16", *INTEGERS):
            if dtype.startswith("float"):
                x = np.array(self.ROWS_OF_FLOATS).astype(dtype)
            else:
                i = np.iinfo(dtype)
                x = np.array([[1, 2], [i.max, i.max], [i.min, i.min], [i.min, i.max], [0, 0], [7, 3], [max(i.min, -1), max(i.min, -2)],
                              [max(i.min, -7), 0]], object).astype(dtype)
            floats = {"ReduceL2", "ReduceLogSum", "ReduceLogSumExp"}
            ops = [op for op in REDUCTIONS if x.dtype.kind == "f" or op not in floats]
            nodes = [(op, onnx.node(op, ["x", "axes"], [op], name=op, keepdims=0)) for op in ops]
            for op, found in self.run_all(nodes, {"x": x}, {"axes": np.array([1])}).items():
                if x.dtype.kind == "f":
                    value = REDUCTIONS[op](x.astype("f8"), axis=1)
                    if op in ("ReduceSumSquare", "ReduceL2"):  # squares of f32
                        value = REDUCTIONS[op](x.astype("f4"), axis=1)
                    self.agree(op, found, value.astype("f4").astype(dtype), (), dtype)
                    continue
                exact = x.astype(object)
                if op == "ReduceMean":
                    value = np.array([abs(int(s)) // x.shape[1] * (1 if s >= 0 else -1) for s in exact.sum(1)], object)
                    if dtype == "int64":  # the sum has 64 bits
                        found, value = found[[0, 3, 4, 5, 6, 7]], value[[0, 3, 4, 5, 6, 7]]
                else:
                    value = wrapped(REDUCTIONS[op](exact, axis=1), x.dtype)
                self.agree(op, found, value, (), dtype)

    def test_rows(self):
        for dtype in ("float32", "float16"):
            x = np.array(self.ROWS_OF_FLOATS).astype(dtype)
            nodes, constants = [], {}
            for op, (attributes, more, _) in ROWS.items():
                names = [f"{op}_{k}" for k in range(len(more))]
                constants.update({n: m.astype(dtype) if m.dtype == np.float32 else m for n, m in zip(names, more)})
                nodes.append((op, onnx.node(op, ["x", *names], [op] if op != "TopK" else [op, "places"], name=op, **attributes)))
            for op, found in self.run_all(nodes, {"x": x}, constants, opset=23).items():
                self.agree(op, found, np.asarray(ROWS[op][2](x.astype("f4" if "Normalization" in op else "f8"))), (), dtype)

    def test_moves_keep_bits(self):
        for dtype in ("float32", "float16", "int8", "uint8", "int32", "int64", "bool"):
            x = np.resize(edges(dtype), (6, 4))
            nodes, constants = [], {"lengths": np.full(6, 4), "first": x[:1, :1], "row": x[0, :1]}
            for op, what in MOVES.items():
                if what is None:
                    continue
                names = [m if isinstance(m, str) else f"{op}_{k}" for k, m in enumerate(what[1])]
                constants.update({n: m for n, m in zip(names, what[1]) if not isinstance(m, str)})
                nodes.append((op, onnx.node(op, ["x", *names], [op], name=op, **what[0])))
            nodes.append(("Where", onnx.node("Where", ["yes", "x", "x"], ["Where"])))
            nodes.append(("CastLike", onnx.node("CastLike", ["x", "x"], ["CastLike"])))
            constants["yes"] = np.resize(np.array([True, False]), x.shape)
            for op, found in self.run_all(nodes, {"x": x}, constants).items():
                expected = np.ascontiguousarray(x if MOVES[op] is None else MOVES[op][2](x))
                with self.subTest(op=op, dtype=dtype):
                    self.assertEqual(found.shape, expected.shape)
                    self.assertEqual(found.tobytes(), expected.tobytes())

    def test_casts(self):
        x = edges("float32")
        nodes = [("h", onnx.node("Cast", ["x"], ["h"], to=10)), ("b", onnx.node("Cast", ["x"], ["b"], to=9))]
        found = self.run_all(nodes, {"x": x})
        self.agree("Cast", found["h"], x.astype("f2"), (x,), "float16")
        self.agree("Cast", found["b"], x != 0, (x,), "bool")
        for dtype in INTEGERS:
            whole = edges(dtype)
            back = self.run_all([("f", onnx.node("Cast", ["x"], ["f"], to=1)), ("w", onnx.node("Cast", ["x"], ["w"], to=7)),
                                 ("n", onnx.node("Cast", ["x"], ["n"], to=3))], {"x": whole})
            self.agree("Cast", back["f"], whole.astype("f4"), (whole,), dtype)
            self.agree("Cast", back["w"], whole.astype("i8"), (whole,), dtype)
            self.agree("Cast", back["n"], whole.astype("i1"), (whole,), dtype)

    def test_products(self):
        a = np.float32([[np.inf, 1, 0, 2], [-np.inf, 0, 1, 1], [np.nan, 0, 0, 0], [3e38, 3e38, 0, 0], [1e-30, 1e-30, 0, 0]])
        b = np.float32([[1, 0, -1], [1, 2, 3], [np.inf, 1, 0], [0, -1, 1]])
        found = self.run_all([("y", onnx.node("MatMul", ["a", "b"], ["y"]))], {"a": a, "b": b})["y"]
        self.agree("MatMul", found, a @ b, (), "float32")

    def test_no_elements(self):
        """Nothing runs, and what comes out has the right shape; or the node is refused."""
        for dtype in ("float32", "int32", "bool"):
            nodes = []
            for op, domain, attributes, _, count in self.meanings(dtype):
                if (op == "Gelu" and domain == "") or op == "BiasGelu":
                    continue
                out = f"{op}_{len(nodes)}"
                nodes.append((out, onnx.node(op, ["x"] * count, [out], name=out, domain=domain, **attributes)))
            for out, found in self.run_all(nodes, {"x": np.zeros((0, 4), dtype)}).items():
                with self.subTest(op=out, dtype=dtype):
                    self.assertEqual(found.shape, (0, 4))
        x = np.zeros((2, 0), "f4")
        for op in REDUCTIONS:
            m = self.file(onnx.model([onnx.node(op, ["x", "axes"], ["y"], name="n", keepdims=0)], [("x", "float32", [2, 0])],
                                     [("y", None, None)], {"axes": np.array([1])}, opset=18))
            status, _, err = self.run_cli("model", m, "--topology", SMALL, "--tensor", f"x={self.array('x.npy', x)}",
                                          "--dump", f"y={self.path('y.npy')}")
            with self.subTest(op=op):
                if status == 0:
                    self.agree(op, np.load(self.path("y.npy")), REDUCTIONS[op](x, axis=1), (), "no elements")
                else:
                    self.assertIn("no elements", err)


if __name__ == "__main__":
    main()
