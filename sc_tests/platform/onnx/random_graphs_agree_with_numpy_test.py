#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random valid graphs, from the file to the outputs, against numpy in f64. Seeds are in the messages;
KERNBENCH_RANDOM_GRAPHS=2000 for a campaign, KERNBENCH_RANDOM_GRAPHS_FROM=10000 for other seeds."""
import os
import tempfile
import unittest

import numpy as np

import onnx_file as onnx
from cli_support import Cli, main, topology

GRAPHS = int(os.environ.get("KERNBENCH_RANDOM_GRAPHS", 40))
FROM = int(os.environ.get("KERNBENCH_RANDOM_GRAPHS_FROM", 0))
UNARY = {"Relu": lambda x: np.maximum(x, 0), "Neg": np.negative, "Abs": np.abs, "Tanh": np.tanh, "Sin": np.sin,
         "Sigmoid": lambda x: 1 / (1 + np.exp(-x)), "Atan": np.arctan, "Softsign": lambda x: x / (1 + np.abs(x))}
BINARY = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Max": np.maximum, "Min": np.minimum}
REDUCTIONS = {"ReduceMax": np.max, "ReduceMin": np.min, "ReduceMean": np.mean}


class Generator:
    """A graph of opset 17 with what numpy makes of it; values stay within some units. One in eight is large: several pieces
    of a PE's part, steps along k, rows of a piece."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.values, self.nodes, self.constants, self.inputs = {}, [], {}, []
        self.large = seed % 8 == 7
        for i in range(self.random.integers(1, 4)):
            shape = [int(d) for d in self.random.integers(1, 6, self.random.integers(1, 5))]
            if self.large:
                shape[int(self.random.choice([0, -1]))] = int(self.random.integers(1 << 8, 1 << 13))
            self.inputs.append((f"x{i}", "float32", shape))
            self.values[f"x{i}"] = self.random.uniform(-1, 1, shape).astype("f4").astype("f8")
        self.inputs_of = {name: self.values[name] for name, _, _ in self.inputs}
        if self.large:
            self.step("make_matmul", "x0")
        for _ in range(self.random.integers(1, 12)):
            self.step()
        self.output = next(reversed(self.values))

    def pick(self):
        return str(self.random.choice(list(self.values)))

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants[name] = array
        return name

    def emit(self, op, inputs, value, **attributes):
        if value.size == 0 or value.size > (1 << 18 if self.large else 4096):
            raise OverflowError
        name = f"t{len(self.nodes)}"
        self.nodes.append(onnx.node(op, inputs, [name], name=name, **attributes))
        self.values[name] = value

    def step(self, kind=None, of=None):
        kind = kind or self.random.choice([f for f in dir(self) if f.startswith("make_")])
        try:
            getattr(self, kind)(of or self.pick())
        except OverflowError:  # too large; the earlier parts of the graph remain
            pass

    def make_unary(self, a):
        op = str(self.random.choice(list(UNARY)))
        self.emit(op, [a], UNARY[op](self.values[a]))

    def make_binary(self, a):
        op = str(self.random.choice(list(BINARY)))
        x = self.values[a]
        shape = tuple(1 if self.random.random() < 0.4 else d for d in x.shape)[self.random.integers(0, x.ndim + 1):]
        y = self.random.uniform(-1, 1, shape).astype("f4")
        self.emit(op, [a, self.constant(y)], BINARY[op](x, y.astype("f8")))

    def make_pair(self, a):
        b = self.pick()
        try:
            self.emit("Add", [a, b], self.values[a] + self.values[b])
        except ValueError:
            pass

    def make_chain(self, a):
        """What exporters leave behind a product: a bias, an activation of several nodes, a residual."""
        self.make_matmul(a)
        y = a = next(reversed(self.values))
        for _ in range(self.random.integers(1, 4)):
            step = self.random.choice(["silu", "gelu", "bias", "residual", "scale"])
            x = self.values[y]
            if step == "bias":
                shape = [d if self.random.random() < 0.6 else 1 for d in x.shape]
                y = self.chained("Add", [self.constant(c := self.random.uniform(-1, 1, shape).astype("f4")), y], x + c)
            elif step == "residual":
                y = self.chained("Add", [y, a], x + self.values[a])
            elif step == "scale":
                y = self.chained("Div", [y, self.constant(np.float32(2))], x / 2)
            else:
                scaled = self.chained("Mul", [y, self.constant(np.float32(1.702))], np.float32(1.702) * x) if step == "gelu" else y
                gate = 1 / (1 + np.exp(-self.values[scaled]))
                y = self.chained("Mul", [y, self.chained("Sigmoid", [scaled], gate)], x * gate)

    def chained(self, op, inputs, value, **attributes):
        self.emit(op, inputs, value, **attributes)
        return next(reversed(self.values))

    def make_norm(self, a):
        """By the root of the mean square, with or without a mean, as exporters leave it."""
        x = off = self.values[a]
        weight = self.random.uniform(0.5, 1.5, x.shape[-1]).astype("f4")
        name, axis = a, {"axes": [-1], "keepdims": 1}
        if self.random.random() < 0.5:
            off = x - x.mean(-1, keepdims=True)
            name = self.chained("Sub", [a, self.chained("ReduceMean", [a], x.mean(-1, keepdims=True), **axis)], off)
        square = self.chained("Pow", [name, self.constant(np.float32(2))], off ** 2)
        mean = (off ** 2).mean(-1, keepdims=True)
        root = self.chained("Add", [self.chained("ReduceMean", [square], mean, **axis), self.constant(np.float32(0.1))], mean + 0.1)
        root = self.chained("Sqrt", [root], np.sqrt(mean + 0.1))
        y = self.chained("Div", [name, root], off / np.sqrt(mean + 0.1))
        self.emit("Mul", [self.constant(weight), y], weight * off / np.sqrt(mean + 0.1))

    def make_where(self, a):
        x = self.values[a]
        mask = self.random.random(x.shape) < 0.5
        self.emit("Where", [self.constant(mask), a, self.constant(np.float32(0.25))], np.where(mask, x, 0.25))

    def make_matmul(self, a):
        x = self.values[a]
        if x.ndim >= 2:
            w = (self.random.uniform(-1, 1, (x.shape[-1], self.random.integers(1, 40))) / x.shape[-1]).astype("f4")
            self.emit("MatMul", [a, self.constant(w)], x @ w.astype("f8"))

    def make_transpose(self, a):
        perm = self.random.permutation(self.values[a].ndim)
        self.emit("Transpose", [a], self.values[a].transpose(perm), perm=[int(p) for p in perm])

    def make_flat(self, a):
        x = self.values[a]
        self.emit("Reshape", [a, self.constant(np.array([x.shape[0], -1], "i8"))], x.reshape(x.shape[0], -1))

    def make_concat(self, a):
        x = self.values[a]
        axis = int(self.random.integers(0, x.ndim))
        parts = [(a, x), (a, x)]
        for _ in range(self.random.integers(0, 3)):
            length = int(self.random.integers(0, 2 * x.shape[axis] + 1))
            y = self.random.uniform(-1, 1, (*x.shape[:axis], length, *x.shape[axis + 1:])).astype("f4")
            parts[int(self.random.integers(0, len(parts)))] = (self.constant(y), y.astype("f8"))
        if parts[0][1].size + parts[1][1].size > 0:
            self.emit("Concat", [name for name, _ in parts], np.concatenate([y for _, y in parts], axis), axis=axis)

    def make_slice(self, a):
        x = self.values[a]
        axis, step = int(self.random.integers(0, x.ndim)), int(self.random.choice([-2, -1, 1, 2]))
        index = [slice(None)] * x.ndim
        index[axis] = slice(None, None, step)
        ends = [np.iinfo("i8").max if step > 0 else np.iinfo("i8").min]
        starts = [0 if step > 0 else x.shape[axis]]
        self.emit("Slice", [a, *(self.constant(np.array(v, "i8")) for v in (starts, ends, [axis], [step]))], x[tuple(index)])

    def make_reduction(self, a):
        op = str(self.random.choice(list(REDUCTIONS)))
        axes = tuple(int(d) for d in range(self.values[a].ndim) if self.random.random() < 0.5) or (0,)
        keep = bool(self.random.integers(0, 2))
        value = np.asarray(REDUCTIONS[op](self.values[a], axis=axes, keepdims=keep))
        if value.ndim > 0:
            self.emit(op, [a], value, axes=axes, keepdims=keep)

    def make_softmax(self, a):
        axis = int(self.random.integers(0, self.values[a].ndim))
        e = np.exp(self.values[a] - self.values[a].max(axis, keepdims=True))
        self.emit("Softmax", [a], e / e.sum(axis, keepdims=True), axis=axis)

    def make_pad(self, a):
        x = self.values[a]
        pads = self.random.integers(0, 3, (x.ndim, 2))
        self.emit("Pad", [a, self.constant(pads.T.reshape(-1).astype("i8")), self.constant(np.float32(0.5))],
                  np.pad(x, pads, constant_values=0.5))

    def make_gather(self, a):
        x = self.values[a]
        axis = int(self.random.integers(0, x.ndim))
        index = self.random.integers(-x.shape[axis], x.shape[axis], 3)
        self.emit("Gather", [a, self.constant(index.astype("i8"))], np.take(x, index, axis), axis=axis)

    def make_attention(self, a):
        """Scores of x with itself, scaled before or behind, with a mask that is added, chosen by or there is none."""
        x = self.values[a]
        if x.ndim not in (3, 4) or x.shape[-2] > 300 or x.shape[-1] > 300:
            return
        scale, turn = np.float32(self.random.uniform(0.2, 1)), [*range(x.ndim - 2), x.ndim - 1, x.ndim - 2]
        left, turned = a, self.chained("Transpose", [a], x.swapaxes(-1, -2), perm=turn)
        before = self.random.random() < 0.3
        if before:
            left = self.chained("Mul", [a, self.constant(scale)], scale * x)
        s = self.values[left] @ x.swapaxes(-1, -2)
        at = self.chained("MatMul", [left, turned], s)
        if not before:
            s = s * scale
            at = self.chained("Mul", [self.constant(scale), at], s)
        rows = x.shape[-2]
        mask = np.tri(rows, dtype=bool) if self.random.random() < 0.4 else self.random.random((rows, rows)) < 0.7
        kind, hidden = self.random.choice(["add", "where", "filled", "none"]), np.float32(self.random.choice([-1e9, -20]))
        if kind == "add":
            # In f32, -1e9 removes all digits of a score: if all keys are hidden, all weights are equal, as in other
            # runtimes.
            s = (s + np.where(mask, 0, hidden)).astype("f4").astype("f8")
            at = self.chained("Add", [at, self.constant(np.where(mask, 0, hidden).astype("f4"))], s)
        elif kind != "none":
            s = np.where(mask, s, hidden)
            parts = [mask, None, hidden] if kind == "where" else [~mask, hidden, None]
            at = self.chained("Where", [at if p is None else self.constant(p) for p in parts], s)
        e = np.exp(s - s.max(-1, keepdims=True))
        w = e / e.sum(-1, keepdims=True)
        self.emit("MatMul", [self.chained("Softmax", [at], w, axis=-1), a], w @ x)

    def make_conv(self, a):
        x = self.values[a]
        if x.ndim != 4 or x[0].size > 4000:
            return
        kernel, stride = self.random.integers(1, 4, 2), [int(n) for n in self.random.integers(1, 3, 2)]
        pads = self.random.integers(0, 2, (2, 2))
        group = x.shape[1] if self.random.random() < 0.3 else 1
        channels = group * int(self.random.integers(1, 4))
        wide = np.pad(x, [(0, 0), (0, 0), *pads])
        if any(n < k for n, k in zip(wide.shape[2:], kernel)):
            return
        w = (self.random.uniform(-1, 1, (channels, x.shape[1] // group, *kernel)) / kernel.prod() / x.shape[1]).astype("f4")
        bias = self.random.uniform(-1, 1, channels).astype("f4")
        windows = np.lib.stride_tricks.sliding_window_view(wide, tuple(kernel), (2, 3))[:, :, ::stride[0], ::stride[1]]
        windows = windows.reshape(x.shape[0], group, -1, *windows.shape[2:])
        y = np.einsum("ngcxykl,gockl->ngoxy", windows, w.astype("f8").reshape(group, -1, *w.shape[1:]))
        y = y.reshape(x.shape[0], channels, *y.shape[3:])
        pads = [int(p) for p in pads.T.reshape(-1)]
        if self.random.random() < 0.5:
            self.emit("Conv", [a, self.constant(w), self.constant(bias)], y + bias[:, None, None], group=group, pads=pads, strides=stride)
        else:
            self.emit("Conv", [a, self.constant(w)], y, group=group, pads=pads, strides=stride)

    def make_pool(self, a):
        x = self.values[a]
        if x.ndim == 4 and min(x.shape[2:]) >= 2:
            stride = [int(n) for n in self.random.integers(1, 3, 2)]
            windows = np.lib.stride_tricks.sliding_window_view(x, (2, 2), (2, 3))[:, :, ::stride[0], ::stride[1]]
            op = str(self.random.choice(["MaxPool", "AveragePool"]))
            self.emit(op, [a], windows.max((4, 5)) if op == "MaxPool" else windows.mean((4, 5)), kernel_shape=[2, 2], strides=stride)

    def make_batch_norm(self, a):
        x = self.values[a]
        if x.ndim >= 2:
            c = [self.random.uniform(0.5, 1.5, x.shape[1]).astype("f4") for _ in range(4)]
            scale, shift, mean, variance = (t.astype("f8").reshape(-1, *[1] * (x.ndim - 2)) for t in c)
            self.emit("BatchNormalization", [a, *map(self.constant, c)], (x - mean) / np.sqrt(variance + 1e-5) * scale + shift)

    def make_layer_norm(self, a):
        x = self.values[a]
        axis = int(self.random.integers(0, x.ndim))
        if x[(0,) * axis].size > 60000:
            return
        off = x - x.mean(tuple(range(axis, x.ndim)), keepdims=True)
        c = [self.random.uniform(-1, 1, x.shape[axis:]).astype("f4") for _ in range(2)]
        norm = off / np.sqrt((off * off).mean(tuple(range(axis, x.ndim)), keepdims=True) + 0.1)
        self.emit("LayerNormalization", [a, *map(self.constant, c)], norm * c[0] + c[1], axis=axis - x.ndim, epsilon=0.1)

    def make_gemm(self, a):
        x = self.values[a]
        if x.ndim != 2:
            return
        ta, tb = (bool(n) for n in self.random.integers(0, 2, 2))
        x = x.T if ta else x
        w = (self.random.uniform(-1, 1, (x.shape[1], self.random.integers(1, 70))) / x.shape[1]).astype("f4")
        c = self.random.uniform(-1, 1, self.random.choice([1, w.shape[1]])).astype("f4")
        self.emit("Gemm", [a, self.constant(w.T if tb else w), self.constant(c)], 0.5 * (x @ w.astype("f8")) + 2 * c.astype("f8"),
                  alpha=0.5, beta=2.0, transA=ta, transB=tb)

    def make_split(self, a):
        x = self.values[a]
        axis = int(self.random.integers(0, x.ndim))
        if x.shape[axis] > 1:
            first = int(self.random.integers(1, x.shape[axis]))
            y = f"s{len(self.nodes)}"
            parts = np.split(x, [first], axis)
            self.nodes.append(onnx.node("Split", [a, self.constant(np.array([first, x.shape[axis] - first]))], [y, y + "b"], name=y, axis=axis))
            self.values[y], self.values[y + "b"] = parts

    def make_expand(self, a):
        x = self.values[a]
        to = [int(self.random.integers(1, 4)) if d == 1 else d for d in x.shape]
        if self.random.random() < 0.5:
            to.insert(0, 2)
        self.emit("Expand", [a, self.constant(np.array(to))], np.broadcast_to(x, to))

    def make_tile(self, a):
        x = self.values[a]
        times = self.random.integers(1, 3, x.ndim)
        self.emit("Tile", [a, self.constant(times)], np.tile(x, times))

    def make_cumsum(self, a):
        x = self.values[a]
        axis = int(self.random.integers(0, x.ndim))
        if x.shape[axis] <= 64:
            self.emit("Div", [self.chained("CumSum", [a, self.constant(np.array(axis))], np.cumsum(x, axis)), self.constant(np.float32(8))],
                      np.cumsum(x, axis) / 8)

    def make_quantized(self, a):
        """There and back; what lies near the middle of two steps is left alone, as rounding decides."""
        x, scale, zero = self.values[a], np.float32(1 / 16), np.uint8(self.random.integers(60, 200))
        steps = x * 16
        if np.abs(steps - np.floor(steps) - 0.5).min() > 1e-3:
            q = np.clip(np.round(steps) + zero, 0, 255)
            name = f"q{len(self.nodes)}"
            c = [self.constant(scale), self.constant(zero)]
            self.nodes.append(onnx.node("QuantizeLinear", [a, *c], [name], name=name))
            self.emit("DequantizeLinear", [name, *c], (q - zero) * scale)

    def make_resize(self, a):
        x = self.values[a]
        if x.ndim == 4:
            times = self.random.integers(1, 4, 2)
            y = x.repeat(times[0], 2).repeat(times[1], 3)
            self.emit("Resize", [a, "", self.constant(np.array([1, 1, *times], "f4"))], y, mode="nearest", nearest_mode="floor",
                      coordinate_transformation_mode="asymmetric")

    def make_trilu(self, a):
        x, k, upper = self.values[a], int(self.random.integers(-2, 3)), bool(self.random.integers(0, 2))
        if x.ndim >= 2:
            self.emit("Trilu", [a, self.constant(np.int64(k))], np.triu(x, k) if upper else np.tril(x, k), upper=upper)

    def make_gather_elements(self, a):
        x = self.values[a]
        axis = int(self.random.integers(0, x.ndim))
        shape = [int(self.random.integers(1, 6)) if d == axis else n for d, n in enumerate(x.shape)]
        index = self.random.integers(0, x.shape[axis], shape)
        self.emit("GatherElements", [a, self.constant(index)], np.take_along_axis(x, index, axis), axis=axis)

    def make_scatter(self, a):
        x = self.values[a]
        index = self.random.permutation(x.shape[0])[:self.random.integers(1, x.shape[0] + 1)][:50]
        y, new = x.copy(), self.random.uniform(-1, 1, (len(index), *x.shape[1:])).astype("f4")
        y[index] = new
        self.emit("ScatterND", [a, self.constant(index[:, None]), self.constant(new)], y)

    def make_einsum(self, a):
        x = self.values[a]
        if x.ndim >= 2 and x.shape[-1] <= 300:
            w = (self.random.uniform(-1, 1, (x.shape[-1], 3)) / x.shape[-1]).astype("f4")
            self.emit("Einsum", [a, self.constant(w)], x @ w.astype("f8"), equation="...i,ij->...j")

    def make_order(self, a):
        """The k greatest; what lies as near as rounding is left alone."""
        x = self.values[a]
        axis = int(self.random.integers(0, x.ndim))
        ordered = -np.sort(-x, axis)
        if x.shape[axis] > 1 and np.abs(np.diff(ordered, axis=axis)).min() > 1e-4:
            k = int(self.random.integers(1, x.shape[axis] + 1))
            self.emit("TopK", [a, self.constant(np.array([k]))], ordered.take(range(k), axis), axis=axis)

    def make_comparison(self, a):
        x = self.values[a]
        if np.abs(x - 0.125).min() > 1e-3:  # otherwise the result depends on rounding
            name = f"b{len(self.nodes)}"
            self.nodes.append(onnx.node("Greater", [a, self.constant(np.float32(0.125))], [name], name=name))
            self.emit("Cast", [name], (x > 0.125).astype("f8"), to=1)


class RandomGraphs(Cli):
    def test_against_numpy(self):
        with tempfile.TemporaryDirectory() as folder:
            for seed in range(FROM, FROM + GRAPHS):
                self.one(seed, folder)

    def one(self, seed, folder):
        g = Generator(seed)
        # For every second graph, intermediate values too.
        names = [g.output, *(t for t in g.values if t.startswith("t") and t != g.output and seed % 2 == 1)]
        paths = {name: os.path.join(folder, name + ".npy") for name in [*names, *g.inputs_of]}
        model = os.path.join(folder, "m.onnx")
        with open(model, "wb") as f:
            f.write(onnx.model(g.nodes, g.inputs, [(g.output, None, None)], g.constants))
        options = [w for name in names for w in ("--dump", f"{name}={paths[name]}")]
        for name, value in g.inputs_of.items():
            np.save(paths[name], value.astype("f4"))
            options += ["--tensor", f"{name}={paths[name]}"]
        # Every fourth graph node by node too.
        options += ["--verify"] if seed % 4 == 0 else []
        self.succeeds("model", model, "--topology", topology("small.yaml"), *options)
        for name in names:
            self.compare(np.load(paths[name]), g.values[name], f"seed {seed}, {name}")

    def compare(self, found, expected, of):
        self.assertEqual(found.shape, expected.shape, of)
        self.assertLess(np.abs(found - expected).max(), 1e-4 * (1 + np.abs(expected).max()), of)


if __name__ == "__main__":
    main()
