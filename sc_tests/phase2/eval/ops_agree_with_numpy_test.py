# SPDX-License-Identifier: Apache-2.0
"""Does every op of Phase 2 give what numpy gives, on random shapes and edge values, on every instruction set and on 1
to 3 threads?

evaluate_op (../evaluate_op.cpp) evaluates; numpy says what is right. Integers, and what is exact in floats, must agree
to the bit; transcendental functions within a unit in the last place of f32.
"""
import math
import os
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy as np
except ImportError:
    print(f"left out: {os.path.basename(__file__)}: there is no NumPy (Debian: apt-get install python3-numpy)")
    sys.exit(77)

from numpy_ops import function_of

np.seterr(all="ignore")
INTEGERS = {"i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16, "i32": np.int32, "u32": np.uint32,
            "i64": np.int64}
FLOATS = {"f32": np.float32, "f16": np.float16}
TYPES = {**INTEGERS, **FLOATS}
EDGES = [0.0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, np.inf, -np.inf, np.nan, 1e-45, -1e-40, 3e38, -3e38, 1e5,
         -12345.678, 7e9]
BEYOND_ROWS = {"randn", "softmax", "gemm"}  # only with the rows of floats: equal bits on every set are not guaranteed
# Ops that are not evaluated here, and why.
ELSEWHERE = {"device_print": "gives no values (kernel_api/ops_test.cpp)",
             "device_assert": "likewise"}


class Ops(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.random = np.random.default_rng(17)
        cls.tool = subprocess.Popen([os.environ["KERNBENCH_EVALUATE_OP"]], stdin=subprocess.PIPE,
                                    stdout=subprocess.PIPE, text=True)
        cls.folder = tempfile.TemporaryDirectory()
        cls.cases = 0
        cls.drawn = set()
        rows = [row.split(":") for row in cls.ask("ops").split()]
        cls.rows = {name: (int(operands), values, elementwise == "1") for name, operands, values, elementwise in rows}

    @classmethod
    def ask(cls, line):
        cls.tool.stdin.write(line + "\n")
        cls.tool.stdin.flush()
        return cls.tool.stdout.readline().strip()

    @classmethod
    def elementwise(cls, *of):
        """Names of the rows whose values are of these."""
        return [name for name, (_, values, elementwise) in cls.rows.items() if elementwise and values in of]

    @classmethod
    def tearDownClass(cls):
        cls.tool.stdin.close()
        cls.tool.stdout.close()
        assert cls.tool.wait() == 0
        cls.folder.cleanup()

    def say(self, op, operands, dtype, shape, axis=0, argument="-"):
        """The tool's answer and where its result is."""
        out = os.path.join(self.folder.name, "out.npy")
        words = [out, op, str(axis), argument.replace(" ", ","), dtype, "x".join(map(str, shape)) or "-"]
        for i, x in enumerate(operands):
            if isinstance(x, tuple):
                path = os.path.join(self.folder.name, f"{i}.npy")
                np.save(path, x[1])
                words.append(f"{x[0]}:{path}")
            else:
                words.append(f"={x!r}")
        type(self).cases += 1
        type(self).drawn.add(op)
        return self.ask(" ".join(words)), out

    def run_op(self, op, operands, dtype, shape, axis=0, argument="-"):
        said, out = self.say(op, operands, dtype, shape, axis, argument)
        if op not in BEYOND_ROWS and self.rows[op][1] != "floats":
            self.assertEqual(said, "same", f"{op} {dtype}")
        else:
            self.assertTrue(said.startswith("same"), said)
        result = np.load(out)
        return result

    def shape(self):
        return tuple(int(n) for n in self.random.integers(1, 8, self.random.integers(1, 6)))

    def values(self, dtype, shape):
        n = int(np.prod(shape))
        if dtype in INTEGERS:
            info = np.iinfo(TYPES[dtype])
            x = self.random.integers(info.min, info.max, n, dtype=TYPES[dtype], endpoint=True)
            small = self.random.integers(max(info.min, -5), 70, n).astype(TYPES[dtype])
            x = np.where(self.random.random(n) < 0.5, x, small)
            edges = np.array([info.min, info.max, 0, 1, info.max - 1, info.min + 1], TYPES[dtype])
        else:
            x = (self.random.standard_normal(n) * 10.0 ** self.random.integers(-3, 4, n)).astype(TYPES[dtype])
            edges = np.array(EDGES, np.float64).astype(TYPES[dtype])
        at = self.random.random(n) < 0.2
        x[at] = self.random.choice(edges, int(at.sum()))
        return x.reshape(shape)

    def equal(self, got, want, what):
        """To the bit, but for what is in a NaN."""
        want = np.asarray(want)
        self.assertEqual(got.shape, want.shape, what)
        self.assertEqual(got.dtype, want.dtype, what)
        if got.dtype.kind == "f":
            self.assertTrue(np.array_equal(np.isnan(got), np.isnan(want)), what)
            clean = ~np.isnan(got)
            self.assertTrue(np.array_equal(np.signbit(got[clean]), np.signbit(want[clean])), what)
            got, want = got[clean], want[clean]
        self.assertTrue(np.array_equal(got, want), f"{what}: {got[got != want][:5]}, numpy {want[got != want][:5]}")

    def test_integer_ops(self):
        def quotient(a, b):
            q = np.where(b == 0, 0, np.abs(a.astype(object)) // np.where(b == 0, 1, np.abs(b.astype(object))))
            return np.where((a < 0) != (b < 0), -q, q)

        def high(a, b):
            bits = 8 * a.dtype.itemsize
            mask = (1 << bits) - 1
            return ((a.astype(object) & mask) * (b.astype(object) & mask)) >> bits

        def wrap(x, t):
            bits = 8 * np.dtype(t).itemsize
            low = np.array([int(v) & ((1 << bits) - 1) for v in np.ravel(x)], np.uint64)
            return low.astype(f"u{bits // 8}").view(t).reshape(np.shape(x))

        ops = {
            "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
            "maximum": np.maximum, "minimum": np.minimum, "maxnum": np.maximum, "minnum": np.minimum, "bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or,
            "bitwise_xor": np.bitwise_xor,
            "shift_left": np.left_shift, "shift_right": np.right_shift,
            "div": lambda a, b: wrap(quotient(a, b), a.dtype),
            "mod": lambda a, b: wrap(a.astype(object) - b.astype(object) * quotient(a, b), a.dtype),
            "umulhi": lambda a, b: wrap(high(a, b), a.dtype),
        }
        for dtype in INTEGERS:
            for op, right in ops.items():
                if op == "umulhi" and dtype not in ("i32", "u32", "i64"):
                    continue
                shape = self.shape()
                a, b = self.values(dtype, shape), self.values(dtype, shape)
                if op.startswith("shift") and self.random.random() < 0.8:
                    b = self.random.integers(0, 8 * b.itemsize + 3, shape).astype(b.dtype)
                if op.startswith("shift") and np.dtype(b.dtype).itemsize < 4:
                    # A shift by the width or more shifts out all bits, like in numpy.
                    b = np.minimum(b.astype(np.int64) & 0xFF, 30).astype(b.dtype)
                self.equal(self.run_op(op, [(dtype, a), (dtype, b)], dtype, shape), right(a, b), f"{op} {dtype}")
            a = self.values(dtype, (40,))
            self.equal(self.run_op("bitwise_not", [(dtype, a)], dtype, (40,)), ~a, dtype)
            for op in ("floor", "ceil", "round", "trunc"):
                self.equal(self.run_op(op, [(dtype, a)], dtype, (40,)), a, op)
            wide = a.astype(object)
            for op, right in (("abs", np.abs(wide)), ("neg", -wide), ("relu", np.maximum(wide, 0)), ("copy", wide)):
                self.equal(self.run_op(op, [(dtype, a)], dtype, (40,)), wrap(right, a.dtype), f"{op} {dtype}")

    def test_comparisons_and_choices(self):
        comparisons = {"lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal, "eq": np.equal,
                       "ne": np.not_equal}
        for dtype in TYPES:
            for op, right in comparisons.items():
                shape = self.shape()
                a, b = self.values(dtype, shape), self.values(dtype, shape)
                b = np.where(self.random.random(shape) < 0.3, a, b)
                got = self.run_op(op, [(dtype, a), (dtype, b)], "u8", shape)
                self.equal(got, right(a, b).astype(np.uint8), f"{op} {dtype}")
            shape = self.shape()
            a, b = self.values(dtype, shape), self.values(dtype, shape)
            for of in ("u8", "f32", "i64"):
                c = self.values(of, shape)
                c = np.where(self.random.random(shape) < 0.5, 0, c).astype(TYPES[of])
                got = self.run_op("where", [(of, c), (dtype, a), (dtype, b)], dtype, shape)
                self.equal(got, np.where(c != 0, a, b), f"where {of} {dtype}")
            low, high = self.values(dtype, shape), self.values(dtype, shape)
            for op, least, most in (("clamp", np.minimum, np.maximum), ("clampnum", np.fmin, np.fmax)):
                got = self.run_op(op, [(dtype, a), (dtype, low), (dtype, high)], dtype, shape)
                right = least(most(a, low), high)
                if dtype in FLOATS:
                    right, got = right + 0.0, got + 0.0  # the sign of a zero depends on the order of the operands
                self.equal(got.astype(TYPES[dtype]), right.astype(TYPES[dtype]), f"{op} {dtype}")

    def test_ops_of_one_element_nothing_and_broadcasts(self):
        for dtype in TYPES:
            one = self.values(dtype, (1,))
            self.equal(self.run_op("add", [(dtype, one), (dtype, one)], dtype, (1,)), one + one, "one")
            none = np.zeros((3, 0, 2), TYPES[dtype])
            self.equal(self.run_op("mul", [(dtype, none), (dtype, none)], dtype, none.shape), none, "nothing")
            wide = dtype if dtype in ("u32", "i64", "f32", "f16") else "i32"
            self.equal(self.run_op("sum", [(dtype, none)], wide, (3, 2), 1), np.zeros((3, 2), TYPES[wide]), "nothing")
            a, b = self.values(dtype, (2, 1, 3, 1, 4)), self.values(dtype, (5, 1, 2, 1))
            self.equal(self.run_op("add", [(dtype, a), (dtype, b)], dtype, (2, 5, 3, 2, 4)), a + b, dtype)

    def test_large_tensors_are_made_in_parts(self):
        for dtype in ("i32", "f32", "i64"):
            a, b = self.values(dtype, (700, 1000)), self.values(dtype, (700, 1000))
            self.equal(self.run_op("sub", [(dtype, a), (dtype, b)], dtype, a.shape), a - b, dtype)
            self.equal(self.run_op("max", [(dtype, a)], dtype, (700,), 1) + 0, np.max(a, 1) + 0, dtype)
        a = self.values("i32", (700, 1000))
        self.equal(self.run_op("cumsum", [("i32", a), 0], "i32", a.shape, 1), np.cumsum(a, 1, np.int32), "cumsum")
        self.equal(self.run_op("sort", [("i32", a), 0], "i32", a.shape, 1), np.sort(a, 1), "sort")
        index = np.tile(np.arange(1000, dtype=np.int32), (700, 1))
        top, at = self.tuple_of("reduce", [("i32", a), ("i32", index)], 1)
        self.equal(top, np.max(a, 1), "tuple")
        self.equal(at, np.argmax(a, 1).astype(np.int32), "tuple")

    def tuple_of(self, op, members, axis, *direction):
        """Of the greatest, the first of equals, and what belongs to it: one command a member."""
        (first, x), (second, y) = members
        shape = x.shape if direction else x.shape[:axis] + x.shape[axis + 1:]
        best = "a b ge a b where a b ge a1 b1 where"
        rest = "a1 b1 ge a b where a1 b1 ge a1 b1 where"
        return (self.run_op(op, [(first, x), (second, y), *direction], first, shape, axis, best),
                self.run_op(op, [(second, y), (first, x), *direction], second, shape, axis, rest))

    def test_tuples(self):
        for first in TYPES:
            for second in ("i32", "i64", "f16", "u8"):
                shape = self.shape()
                axis = int(self.random.integers(0, len(shape)))
                x, y = self.values(first, shape), self.values(second, shape)
                x = np.nan_to_num(x) + TYPES[first](0)
                at = np.expand_dims(np.argmax(x, axis), axis)
                top, other = self.tuple_of("reduce", [(first, x), (second, y)], axis)
                self.equal(top + TYPES[first](0), np.max(x, axis), f"{first} {second}")
                self.equal(other, np.squeeze(np.take_along_axis(y, at, axis), axis), f"{first} {second}")
                for reverse in (0, 1):
                    top, other = self.tuple_of("associative_scan", [(first, x), (second, y)], axis, reverse)
                    a = np.moveaxis(np.flip(x, axis) if reverse else x, axis, 0)
                    b = np.moveaxis(np.flip(y, axis) if reverse else y, axis, 0)
                    want, chosen = a.copy(), b.copy()
                    for i in range(1, len(a)):
                        stays = want[i - 1] >= a[i]
                        want[i] = np.where(stays, want[i - 1], a[i])
                        chosen[i] = np.where(stays, chosen[i - 1], b[i])
                    want, chosen = np.moveaxis(want, 0, axis), np.moveaxis(chosen, 0, axis)
                    self.equal(top, np.flip(want, axis) if reverse else want, "scan")
                    self.equal(other, np.flip(chosen, axis) if reverse else chosen, "scan")
        x, n = self.random.standard_normal((5, 40)).astype(np.float32), np.ones((5, 40), np.int32)
        members = [("f32", x), ("i32", n), ("f32", x), ("f32", x)]
        text = "a b add a1 b1 add a2 b2 maximum a3 b3 a1 b1 gt where"
        total = x[:, 0].copy()
        for i in range(1, 40):
            total = total + x[:, i]
        self.equal(self.run_op("reduce", members, "f32", (5,), 1, text), total, "four")
        counted = [members[1], members[0], members[2], members[3]]
        text = "a b add a1 b1 add a2 b2 maximum a b gt a3 b3 where"
        self.equal(self.run_op("reduce", counted, "i32", (5,), 1, text), np.full(5, 40, np.int32), "four")
        for text, said in (("a b add a1 b1 maximum a1", "leaves 3 values, expected 2"),
                           ("a b add a b1 add", "'add' meets floats and integers"),
                           ("a b add a b add", "gives floats for member 1"),
                           ("a b bitwise_and a1 b1 add", "'bitwise_and' does not take floats"),
                           ("a b add a2 b2 add", "found 'a2'")):
            answer, _ = self.say("reduce", [("f32", x), ("i32", n)], "f32", (5,), 1, text)
            self.assertIn(said, answer)
        answer, _ = self.say("reduce", [("f32", x), ("i32", n[:, :3])], "f32", (5,), 1, "a b add a1 b1 add")
        self.assertIn("operand 1 is no tensor of the first one's shape", answer)
        answer, _ = self.say("reduce", [("f32", x)] * 5, "f32", (5,), 1, "a b add")
        self.assertIn("takes 1 operands, got 5", answer)

    def test_float_ops_on_edges(self):
        binary = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "maximum": np.maximum,
                  "minimum": np.minimum, "maxnum": np.fmax, "minnum": np.fmin}
        for dtype in FLOATS:
            edges = np.array(EDGES, np.float64).astype(TYPES[dtype])
            a, b = (x.ravel() for x in np.meshgrid(edges, edges))
            for op, right in binary.items():
                got, want = self.run_op(op, [(dtype, a), (dtype, b)], dtype, a.shape), right(a, b)
                if op in ("maximum", "minimum", "maxnum", "minnum"):
                    got, want = got + TYPES[dtype](0), want + TYPES[dtype](0)  # of two zeros the second one is returned
                self.equal(got, want, f"{op} {dtype}")
            for op, right in (("abs", np.abs), ("neg", np.negative), ("copy", np.array)):
                self.equal(self.run_op(op, [(dtype, edges)], dtype, edges.shape), right(edges), f"{op} {dtype}")
            relu = self.run_op("relu", [(dtype, edges)], dtype, edges.shape)
            self.equal(relu, np.maximum(edges, TYPES[dtype](0)) + TYPES[dtype](0), "relu")
            c = self.random.choice(edges, a.shape)
            got = self.run_op("fma", [(dtype, a), (dtype, b), (dtype, c)], dtype, a.shape)
            want = (a.astype(np.longdouble) * b + c).astype(np.float32).astype(TYPES[dtype])
            self.assertTrue(np.array_equal(np.isnan(got), np.isnan(want)), "fma")
            real = np.isfinite(want)
            np.testing.assert_allclose(got[real], want[real], 1e-3 if dtype == "f16" else 1e-6, 1e-44)
            for op, right in (("max", np.max), ("min", np.min), ("argmax", np.argmax), ("argmin", np.argmin)):
                shape = self.shape()
                axis = int(self.random.integers(0, len(shape)))
                x = self.values(dtype, shape)
                reduced = shape[:axis] + shape[axis + 1:]
                into = "i32" if op.startswith("arg") else dtype
                got = self.run_op(op, [(dtype, x)], into, reduced, axis)
                want = right(x, axis).astype(TYPES[into])
                self.equal(got + TYPES[into](0), want + TYPES[into](0), f"{op} {dtype}")

    def test_smooth_functions(self):
        for dtype in FLOATS:
            a = np.nan_to_num(self.values(dtype, (3000,)), nan=1, posinf=3, neginf=-3)
            a = np.where(np.abs(a) < 1e-30, 0, a).astype(TYPES[dtype])
            for op in self.elementwise("floats"):
                got = self.run_op(op, [(dtype, a)], dtype, a.shape)
                want = function_of(op)(a.astype(np.float64)).astype(np.float32).astype(TYPES[dtype])
                self.assertTrue(np.array_equal(np.isnan(got), np.isnan(want)), f"{op} {dtype}")
                real = np.isfinite(want)
                np.testing.assert_allclose(got[real], want[real], 2e-3 if dtype == "f16" else 3e-7, 1e-6, err_msg=op)
            x = np.nan_to_num(self.values(dtype, (6, 33))).clip(-50, 50)
            got = self.run_op("softmax", [(dtype, x)], dtype, x.shape, 1).astype(np.float64)
            e = np.exp(x.astype(np.float64) - np.max(x, 1, keepdims=True))
            np.testing.assert_allclose(got, e / e.sum(1, keepdims=True), 2e-3, 1e-6)
        for dtype in TYPES:
            self.equal(self.run_op("full", [3], dtype, (2, 5)), np.full((2, 5), 3, TYPES[dtype]), "full")
            self.equal(self.run_op("arange", [2, 3], dtype, (9,)), np.arange(2, 29, 3, TYPES[dtype]), "arange")

    def test_zz_every_op_was_drawn(self):
        self.assertEqual(set(self.rows) - self.drawn, set(ELSEWHERE))

    def test_rows_mean_what_numpy_says(self):
        """The f64 of a row, to a part in 1e15: by it the reference check, Triton's constants and other tests judge."""
        for op in self.elementwise("any", "floats"):
            if op == "cast":
                continue
            operands = self.rows[op][0]
            for _ in range(200):
                x = [float(v) for v in self.random.choice(EDGES + [0.3, 3.0, -7.25, 30.0], operands)]
                got = float.fromhex(self.ask(f"means {op} " + " ".join(map(repr, x))))
                want = float(function_of(op)(*(np.float64(v) for v in x)))
                self.assertTrue(got == want or (np.isnan(got) and np.isnan(want)) or abs(got - want) <= 1e-15 * abs(want),
                                f"{op} of {x}: {got}, numpy {want}")

    def test_shifts_by_the_width_or_more_shift_all_out(self):
        for dtype in ("i32", "u32", "i64"):
            a = self.values(dtype, (60,))
            b = np.array([0, 31, 32, 33, 63, 64, 65, 127, -1, -64] * 6).astype(TYPES[dtype])
            for op, right in (("shift_left", np.left_shift), ("shift_right", np.right_shift)):
                want = right(a, b)
                if dtype == "u32":  # in 64 bits, like numpy's u32
                    want = np.where(b > 31, 0, want).astype(np.uint32)
                self.equal(self.run_op(op, [(dtype, a), (dtype, b)], dtype, (60,)), want, f"{op} {dtype}")

    def test_conversions(self):
        for source in TYPES:
            for target in TYPES:
                a = self.values(source, (200,))
                got = self.run_op("cast", [(source, a)], target, (200,))
                if target in FLOATS:
                    want = a.astype(TYPES[target])
                    if source == "i64" and target == "f16":
                        want = a.astype(np.float64).astype(np.float16)  # beyond its range in both directions
                elif source in FLOATS:
                    info = np.iinfo(TYPES[target])
                    x = np.trunc(np.nan_to_num(a.astype(np.float64), nan=0.0, posinf=1e30, neginf=-1e30))
                    want = np.array([min(max(int(v), info.min), info.max) for v in x], TYPES[target])
                else:
                    want = a.astype(TYPES[target])
                self.equal(got, want, f"{source} to {target}")

    def test_exact_float_ops(self):
        unary = {"ceil": np.ceil, "round": np.rint, "trunc": np.trunc, "floor": np.floor}
        for dtype in FLOATS:
            for op, right in unary.items():
                shape = self.shape()
                a = self.values(dtype, shape)
                self.equal(self.run_op(op, [(dtype, a)], dtype, shape), right(a), f"{op} {dtype}")
            shape = self.shape()
            a, b = self.values(dtype, shape), self.values(dtype, shape)
            self.equal(self.run_op("mod", [(dtype, a), (dtype, b)], dtype, shape), np.fmod(a, b), f"mod {dtype}")

    def test_transcendental_functions(self):
        big = (self.random.random(2000) * 10.0 ** self.random.uniform(-30, 38, 2000)).astype(np.float32)
        a = np.concatenate([self.values("f32", (3000,)), big, -big])
        for op, right in (("exp2", np.exp2), ("log2", np.log2), ("log1p", np.log1p), ("sin", np.sin), ("cos", np.cos)):
            got = self.run_op(op, [("f32", a)], "f32", a.shape)
            want = right(a.astype(np.float64))
            self.assertTrue(np.array_equal(np.isnan(got), np.isnan(want)), op)
            finite = ~np.isnan(want)
            got, want = got[finite].astype(np.float64), want[finite]
            near = want.astype(np.float32)
            unit = np.spacing(np.abs(np.where(np.isinf(near), 3e38, near)).astype(np.float32)).astype(np.float64)
            error = np.abs(np.where(np.isinf(near), 0, got - want))
            self.assertLessEqual((error / unit).max(), 1.0, f"{op} {a[finite][np.argmax(error / unit)]}")
            self.assertTrue(np.array_equal(np.isinf(got), np.isinf(near)), op)
        for op in ("sin", "log1p"):
            self.assertTrue(np.signbit(self.run_op(op, [("f32", np.array([-0.0], np.float32))], "f32", (1,)))[0], op)
        ends = np.array([-1, -2, np.inf, -np.inf, 1e-30, -0.99999994], np.float32)
        want = np.array([-np.inf, np.nan, np.inf, np.nan, 1e-30, np.log(2.0**-24)], np.float32)
        np.testing.assert_array_equal(self.run_op("log1p", [("f32", ends)], "f32", ends.shape), want)

    def test_reductions_and_scans(self):
        for dtype in ("i8", "u16", "i32", "u32", "i64", "f32"):
            for _ in range(3):
                shape = self.shape()
                axis = int(self.random.integers(0, len(shape)))
                a = self.values(dtype, shape)
                if dtype == "f32":
                    a = np.nan_to_num(a, nan=1, posinf=2, neginf=-2).clip(-4, 4)
                wide = dtype if dtype in ("u32", "i64", "f32") else "i32"
                reduced = shape[:axis] + shape[axis + 1:]
                kept = {"dtype": TYPES[wide]}
                for op, right in (("sum", np.sum), ("prod", np.prod)):
                    got = self.run_op(op, [(dtype, a)], wide, reduced, axis)
                    want = right(a, axis=axis, **kept)
                    if dtype == "f32":
                        np.testing.assert_allclose(got, right(a.astype(np.float64), axis=axis), 1e-5, 1e-5)
                    else:
                        self.equal(got, want, f"{op} {dtype}")
                for op, right in (("argmax", np.argmax), ("argmin", np.argmin)):
                    got = self.run_op(op, [(dtype, a)], "i32", reduced, axis)
                    self.equal(got, right(a, axis=axis).astype(np.int32), op)
                for op, right in (("cumsum", np.cumsum), ("cumprod", np.cumprod)):
                    for reverse in (0, 1):
                        got = self.run_op(op, [(dtype, a), reverse], wide, shape, axis)
                        b = np.flip(a, axis) if reverse else a
                        want = right(b, axis=axis, **kept)
                        self.equal(got, np.flip(want, axis) if reverse else want, f"{op} {dtype}")
                if dtype != "f32":
                    self.equal(self.run_op("xor_sum", [(dtype, a)], dtype, reduced, axis),
                               np.bitwise_xor.reduce(a, axis=axis), "xor_sum")
                got = self.run_op("reduce", [(dtype, a)], dtype, reduced, axis, "a b maximum")
                self.equal(got, np.max(a, axis=axis), "reduce")
        a = self.values("f32", (3, 50)).clip(-2, 2)
        a = np.nan_to_num(a)
        got = self.run_op("associative_scan", [("f32", a), 0], "f32", (3, 50), 1, "a 0.5 mul b add")
        want = a.copy()
        for i in range(1, 50):
            want[:, i] = want[:, i - 1] * np.float32(0.5) + a[:, i]
        self.equal(got, want, "associative_scan")

    def test_sorts(self):
        for dtype in TYPES:
            for _ in range(2):
                shape = self.shape()
                axis = int(self.random.integers(0, len(shape)))
                a = self.values(dtype, shape)
                up = np.sort(a, axis=axis, kind="stable")
                self.equal(self.run_op("sort", [(dtype, a), 0], dtype, shape, axis), up, dtype)
                self.equal(self.run_op("argsort", [(dtype, a), 0], "i32", shape, axis),
                           np.argsort(a, axis=axis, kind="stable").astype(np.int32), dtype)
                down = np.flip(up, axis)
                got = self.run_op("sort", [(dtype, a), 1], dtype, shape, axis)
                self.assertTrue(np.array_equal(got, down, equal_nan=dtype in FLOATS))
                k = int(self.random.integers(1, shape[axis] + 1))
                kept = shape[:axis] + (k,) + shape[axis + 1:]
                got = self.run_op("topk", [(dtype, a), k], dtype, kept, axis)
                self.assertTrue(np.array_equal(got, np.take(down, range(k), axis), equal_nan=dtype in FLOATS))

    def test_arrangement(self):
        for dtype in TYPES:
            shape = self.shape()
            axis = int(self.random.integers(0, len(shape)))
            a = self.values(dtype, shape)
            self.equal(self.run_op("flip", [(dtype, a)], dtype, shape, axis), np.flip(a, axis), "flip")
            parts = [a]
            for _ in range(2):
                other = list(shape)
                other[axis] = int(self.random.integers(1, 5))
                parts.append(self.values(dtype, other))
            want = np.concatenate(parts, axis)
            self.equal(self.run_op("cat", [(dtype, p) for p in parts], dtype, want.shape, axis), want, "cat")
            index_shape = list(shape)
            index_shape[axis] = 5
            for of in ("i32", "u16", "i64"):
                index = self.random.integers(0, shape[axis], index_shape).astype(TYPES[of])
                got = self.run_op("gather", [(dtype, a), (of, index)], dtype, index.shape, axis)
                self.equal(got, np.take_along_axis(a, index.astype(np.int64), axis), "gather")
        said, _ = self.say("gather", [("f32", np.zeros(3, np.float32)), ("i32", np.array([3], np.int32))], "f32", (1,))
        self.assertIn("index 3 at element 0 leaves the axis of 3", said)
        for dtype in INTEGERS:
            a = self.values(dtype, (7, 30))
            want = np.array([np.count_nonzero(a == i) for i in range(20)], np.int32)
            self.equal(self.run_op("histogram", [(dtype, a), 20], "i32", (20,)), want, "histogram")

    def test_random_numbers(self):
        def philox(seed, offset):
            c = [offset & 0xFFFFFFFF, offset >> 32, 0, 0]
            k = [seed & 0xFFFFFFFF, (seed >> 32) & 0xFFFFFFFF]
            for _ in range(10):
                a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
                c = [(b >> 32) ^ c[1] ^ k[0], b & 0xFFFFFFFF, (a >> 32) ^ c[3] ^ k[1], a & 0xFFFFFFFF]
                k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
            return c

        # Random123's known answer for a zero counter and key.
        self.assertEqual([hex(w) for w in philox(0, 0)], ["0x6627e8d5", "0xe169c58d", "0xbc57ac4c", "0x9b00dbd8"])
        for seed, of in ((0, "i32"), (12345678901, "u32"), (7, "i64"), (2 ** 53 - 1, "u8")):
            offsets = np.array([0, 1, 2, 100, 127], TYPES[of])
            if of == "i64":
                offsets = np.array([0, 1, 2 ** 32, 2 ** 40 + 5, -1], np.int64)
            mask = (1 << 64) - 1 if of == "i64" else 0xFFFFFFFF
            words = np.array([philox(seed, int(o) & mask) for o in offsets], np.uint32)
            for w in range(4):
                got = self.run_op("randint", [(of, offsets), seed, 10, w], "u32", (5,))
                self.equal(got, words[:, w], "randint")
            signed = words[:, 0].view(np.int32)
            unit = np.where(signed < 0, -signed - 1, signed).astype(np.float32) * np.float32(4.6566127342e-10)
            self.equal(self.run_op("rand", [(of, offsets), seed, 10, 0], "f32", (5,)), unit, "rand")
        offsets = np.arange(20000, dtype=np.int32)
        unit = self.run_op("rand", [("i32", offsets), 3, 10, 0], "f32", (20000,))
        self.assertTrue(0 <= unit.min() and unit.max() < 1)
        self.assertAlmostEqual(float(unit.mean()), 0.5, 2)
        normal = self.run_op("randn", [("i32", offsets), 3, 10, 0], "f32", (20000,)).astype(np.float64)
        self.assertAlmostEqual(float(normal.mean()), 0, 1)
        self.assertAlmostEqual(float(normal.std()), 1, 1)
        one = philox(3, 5)
        u = [(w if w < 2 ** 31 else 2 ** 32 - 1 - w) * 4.6566127342e-10 for w in one[:2]]
        self.assertAlmostEqual(normal[5], math.sqrt(-2 * math.log(u[0])) * math.cos(2 * math.pi * u[1]), 5)

    def test_packed_types(self):
        e2m1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], np.float32)
        for of, scale_type in (("i4", "f16"), ("e2m1", "u8"), ("f8e4m3", "u8"), ("e2m1", "f32")):
            rows, groups, group = (int(n) for n in self.random.integers(1, 6, 3))
            group = 2 * group
            if of == "i4":
                x = self.random.integers(-8, 8, (rows, groups * group)).astype(np.int8)
            else:
                x = self.random.choice(np.concatenate([e2m1, -e2m1]), (rows, groups * group)).astype(np.float32)
            if scale_type == "u8":
                scale = self.random.integers(100, 150, (rows, groups)).astype(np.uint8)
                factor = np.exp2(scale.astype(np.float64) - 127)
            else:
                scale = self.random.standard_normal((rows, groups)).astype(TYPES[scale_type])
                factor = scale.astype(np.float64)
            want = (x.astype(np.float64) * np.repeat(factor, group, 1)).astype(np.float32)
            self.equal(self.run_op("dequantize", [(of, x), (scale_type, scale)], "f32", x.shape), want, of)
        no_scale = np.full((1, 1), 255, np.uint8)
        nan = self.run_op("dequantize", [("e2m1", np.ones((1, 2), np.float32)), ("u8", no_scale)], "f32", (1, 2))
        self.assertTrue(np.isnan(nan).all())
        for m, n, k in ((3, 4, 6), (1, 2, 2), (17, 10, 300)):
            a = self.random.integers(-8, 8, (m, k)).astype(np.int8)
            b = self.random.integers(-8, 8, (k, n)).astype(np.int8)
            want = a.astype(np.int32) @ b.astype(np.int32)
            self.equal(self.run_op("gemm", [("i4", a), ("i4", b)], "i32", (m, n)), want, "i4")
            self.equal(self.run_op("gemm", [("i8", a), ("i4", b)], "i32", (m, n)), want, "i8 i4")
            got = self.run_op("gemm", [("f16", a.astype(np.float16)), ("i4", b)], "f32", (m, n))
            self.equal(got, want.astype(np.float32), "f16 i4")
            acc = self.random.integers(-10 ** 9, 10 ** 9, (m, n)).astype(np.int32)
            self.equal(self.run_op("gemm", [("i8", a), ("i8", b), ("i32", acc)], "i32", (m, n)), want + acc, "acc")
            start = self.random.integers(-99, 99, (m, n)).astype(np.float32)
            floats = self.random.choice(np.concatenate([e2m1, -e2m1]), (k, n)).astype(np.float32)
            got = self.run_op("gemm", [("f32", a.astype(np.float32)), ("e2m1", floats), ("f32", start)], "f32", (m, n))
            self.equal(got, start + a.astype(np.float32) @ floats, "start")

    def test_bad_ops_are_named(self):
        for op, operands, dtype, shape, said in (
                ("bitwise_and", [("f32", np.zeros(2, np.float32))] * 2, "f32", (2,), "takes integers"),
                ("reduce", [("i32", np.zeros(2, np.int32))], "i32", (), "combiner '': found ''"),
                ("sort", [("i32", np.zeros(2, np.int32)), 0], "i32", (3,), "gives 2 elements"),
                ("topk", [("i32", np.zeros(2, np.int32)), 3], "i32", (3,), "topk of more elements than there are"),
                ("cat", [("i32", np.zeros(2, np.int32))] * 2, "i32", (3,), "do not make up"),
                ("gemm", [("f32", np.zeros((2, 2), np.float32))] * 3, "i32", (2, 3), "expected [2, 3]")):
            answer, _ = self.say(op, operands, dtype, shape)
            self.assertIn(said, answer)


if __name__ == "__main__":
    unittest.main()
