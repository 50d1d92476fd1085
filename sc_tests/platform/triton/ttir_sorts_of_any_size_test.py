# SPDX-License-Identifier: Apache-2.0
"""Do tl.sort and tl.topk of rows of any power of two give what numpy sorts? As Triton 3.1 (three dimensions), 3.4 and 3.7
(as many dimensions of two as there are bits in an element's number, more than tl has) write them out."""
import unittest

import numpy as np
from ttir_cli import ELEMENTS, rows

RANDOM = np.random.default_rng(17)


def log2(n):
    return n.bit_length() - 1


class Sort:
    """The operations of one sort, of rows of `x`'s shape: lines of text, of a value `%x_v` that holds all."""

    def __init__(self, version, x, descending, k=None):
        self.version, self.element = version, ELEMENTS[str(x.dtype)]
        self.bits, self.float = f"i{8 * x.itemsize}", x.dtype.kind == "f"
        self.lines, self.n, self.order = [], 0, int(descending)
        self.k = k or x.shape[-1]
        whole = self.reshape("%x_v", (x.size,), x.shape)
        made = self.blocks(whole, x.shape) if version == "3.1" else self.hypercube(whole, x.shape)
        self.result = self.reshape(made, (*x.shape[:-1], self.k), (x.size // x.shape[-1] * self.k,))

    def t(self, shape, element=None):
        return f"tensor<{'x'.join(map(str, shape))}x{element or self.element}>" if shape else element or self.element

    def op(self, text):
        self.n += 1
        self.lines.append(f"%s{self.n} = {text}")
        return f"%s{self.n}"

    def alike(self, name, a, b, t):
        if self.version == "3.7":
            return self.op(f'"{name}"({a}, {b}) : ({t}, {t}) -> {t}')
        return self.op(f"{name} {a}, {b} : {t}")

    def view(self, name, a, before, after, element, words="", generic=""):
        if before == ():
            return self.op(f"tt.splat {a} : {element} -> {self.t(after, element)}")
        before, after = self.t(before, element), self.t(after, element)
        if before == after and name != "tt.expand_dims":
            return a
        if self.version == "3.7":
            return self.op(f'"{name}"({a}) {generic} : ({before}) -> {after}')
        return self.op(f"{name} {a} {words} : {before} -> {after}")

    def reshape(self, a, before, after, element=None):
        return self.view("tt.reshape", a, before, after, element or self.element, "{allow_reorder = false}" if self.version == "3.1" else "")

    def broadcast(self, a, before, after, element):
        return self.view("tt.broadcast", a, before, after, element)

    def bitcast(self, a, shape, to):
        return self.op(f"tt.bitcast {a} : {self.t(shape, self.bits if to == self.element else self.element)} -> {self.t(shape, to)}") if self.float else a

    def reduce(self, a, shape, axis, name, element):
        left = tuple(n for d, n in enumerate(shape) if d != axis)
        self.n += 1
        self.lines += [f'%s{self.n} = "tt.reduce"({a}) <{{axis = {axis} : i32}}> ({{', f"^bb0(%p: {element}, %q: {element}):", f"%m = {name} %p, %q : {element}",
                       f"tt.reduce.return %m : {element}", f"}}) : ({self.t(shape, element)}) -> {self.t(left, element)}"]
        return f"%s{self.n}", left

    def kept(self, a, shape, axis, name, element):
        """Reduced, and repeated along the axis."""
        made, left = self.reduce(a, shape, axis, name, element)
        one = (*left[:axis], 1, *left[axis:])
        made = self.view("tt.expand_dims", made, left, one, element, f"{{axis = {axis} : i32}}", f"<{{axis = {axis} : i32}}>")
        return self.broadcast(made, one, shape, element)

    # ---- 3.4, 3.7

    def truth(self):
        return "i1" if self.version == "3.7" else "i32"

    def indicator(self, dims, j):
        """Which of two an element is, j-th bit from the end."""
        shape = (1,) * (dims - j - 1) + (2,) + (1,) * j
        a = self.op("tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>")
        if self.truth() == "i1":
            zero = self.op("arith.constant dense<0> : tensor<2xi32>")
            a = self.op(f"arith.cmpi ne, {a}, {zero} : tensor<2xi32>")
        return self.reshape(a, (2,), shape, self.truth()), shape

    def swap(self, x, shape, flip, j):
        dims = len(shape)
        axis = dims - 1 - j
        bits = self.bitcast(x, shape, self.bits)
        other = self.alike("arith.xori", bits, self.kept(bits, shape, axis, "arith.xori", self.bits), self.t(shape, self.bits))
        other = self.bitcast(other, shape, self.element)
        right, common = self.indicator(dims, j)
        if isinstance(flip, int):
            dense = str(flip) if self.truth() == "i32" else ("true" if flip else "false")
            turned = self.op(f"arith.constant dense<{dense}> : {self.t(common, self.truth())}")
        else:
            turned, before = flip
            both = tuple(max(a, b) for a, b in zip(before, common))
            turned, right, common = self.broadcast(turned, before, both, self.truth()), self.broadcast(right, common, both, self.truth()), both
        turned = self.alike("arith.xori", turned, right, self.t(common, self.truth()))
        turned = self.broadcast(turned, common, shape, self.truth())
        greater = self.op(f"arith.cmp{'f ogt' if self.float else 'i sgt'}, {x}, {other} : {self.t(shape)}")
        if self.truth() == "i1":
            on = self.alike("arith.xori", greater, turned, self.t(shape, "i1"))
        else:
            wide = self.op(f"arith.extui {greater} : {self.t(shape, 'i1')} to {self.t(shape, 'i32')}")
            on = self.op(f"arith.cmpi ne, {wide}, {turned} : {self.t(shape, 'i32')}")
        return self.op(f"arith.select {on}, {other}, {x} : {self.t(shape, 'i1')}, {self.t(shape)}")

    def merge(self, x, shape, stage, order):
        flip = self.indicator(len(shape), stage) if order == 2 else order
        for j in reversed(range(stage)):
            x = self.swap(x, shape, flip, j)
        return x

    def hypercube(self, x, shape):
        size, log_n, log_k = int(np.prod(shape)), log2(shape[-1]), log2(self.k)
        cube = (2,) * log2(size)
        x = self.reshape(x, shape, cube)
        for i in range(1, log_k + 1):
            x = self.merge(x, cube, i, 2 if i < log_n else self.order)
        for i in range(log_k + 1, log_n + 1):
            most = ("arith.maxnumf" if self.order else "arith.minnumf") if self.float else ("arith.maxsi" if self.order else "arith.minsi")
            x, cube = self.reduce(x, cube, len(cube) - 1 - log_k, most, self.element)
            x = self.merge(x, cube, log_k, 2 if i < log_n else self.order)
        return self.reshape(x, cube, (*shape[:-1], self.k))

    # ---- 3.1

    def blocks(self, x, shape):
        log_n = log2(shape[-1])
        for stage in range(1, log_n + 1):
            outer = int(np.prod(shape)) >> log_n
            if stage < log_n:
                three = (outer * 2**(log_n - 1 - stage), 2, 2**stage)
                flip = self.reshape(self.broadcast(*self.middle(), three, "i32"), three, shape, "i32")
            else:
                flip = self.op(f"arith.constant dense<{self.order}> : {self.t(shape, 'i32')}")
            for j in range(stage):
                i = j + log_n - stage
                x = self.swap_blocks(x, shape, flip, (outer * 2**i, 2, 2**(log_n - i - 1)))
        return x

    def middle(self):
        a = self.op("tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>")
        a = self.view("tt.expand_dims", a, (2,), (1, 2), "i32", "{axis = 0 : i32}")
        return self.view("tt.expand_dims", a, (1, 2), (1, 2, 1), "i32", "{axis = 2 : i32}"), (1, 2, 1)

    def swap_blocks(self, x, shape, flip, three):
        y, add = self.bitcast(self.reshape(x, shape, three), three, self.bits), "arith.addi"
        mask, _ = self.middle()
        ones = self.op("arith.constant dense<1> : tensor<1x2x1xi32>")
        sides = []
        for m in (self.op(f"arith.subi {ones}, {mask} : tensor<1x2x1xi32>"), mask):
            if self.bits != "i32":
                m = self.op(f"arith.trunci {m} : tensor<1x2x1xi32> to {self.t((1, 2, 1), self.bits)}")
            part = self.op(f"arith.muli {y}, {self.broadcast(m, (1, 2, 1), three, self.bits)} : {self.t(three, self.bits)}")
            sides.append(self.reshape(self.kept(part, three, 1, add, self.bits), three, shape, self.bits))
        left, right = (self.bitcast(s, shape, self.element) for s in sides)
        greater = self.op(f"arith.cmp{'f ogt' if self.float else 'i sgt'}, {left}, {right} : {self.t(shape)}")
        wide = self.op(f"arith.extui {greater} : {self.t(shape, 'i1')} to {self.t(shape, 'i32')}")
        on = self.op(f"arith.cmpi ne, {wide}, {flip} : {self.t(shape, 'i32')}")
        both = self.op(f"arith.xori {sides[0]}, {sides[1]} : {self.t(shape, self.bits)}")
        zero = self.op(f"arith.constant dense<0> : {self.t(shape, self.bits)}")
        turn = self.op(f"arith.select {on}, {both}, {zero} : {self.t(shape, 'i1')}, {self.t(shape, self.bits)}")
        made = self.op(f"arith.xori {self.bitcast(x, shape, self.bits)}, {turn} : {self.t(shape, self.bits)}")
        return self.bitcast(made, shape, self.element)


def numbers(shape, dtype):
    if np.dtype(dtype).kind == "f":
        x = RANDOM.uniform(-100, 100, shape).astype(dtype)
        x.flat[::7] = x.flat[0]  # equal ones
        x.flat[1], x.flat[-1] = np.inf, -np.inf
        return x
    return RANDOM.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, endpoint=True).astype(dtype)


class Sorts(unittest.TestCase):
    def verify(self, version, shape, dtype, descending, k=None):
        x = numbers(shape, dtype)
        right = np.sort(x, axis=-1)
        right = (right[..., ::-1] if descending else right)[..., :k].ravel()
        sort = Sort(version, x, descending, k)
        y = np.zeros_like(right)
        e = ELEMENTS[str(y.dtype)]
        rows([*sort.lines, f"tt.store %y_at, {sort.result} : tensor<{y.size}x!tt.ptr<{e}>>"], {"x": x.ravel(), "y": y}, {"y": right})

    def test_lines_of_all_sizes(self):
        for version in ("3.1", "3.4", "3.7"):
            for n, dtype, descending in ((2, np.float32, False), (64, np.float32, True), (128, np.float32, False), (128, np.int32, True),
                                         (256, np.int32, False), (1024, np.float32, True), (1024, np.int32, False)):
                with self.subTest(version=version, n=n, dtype=dtype):
                    self.verify(version, (n,), dtype, descending)

    def test_rows(self):
        for version in ("3.1", "3.4", "3.7"):
            for shape, dtype, descending in (((2, 64), np.int32, False), ((4, 128), np.float32, True), ((8, 2), np.float32, False), ((64, 2), np.int32, True),
                                             ((2, 4, 32), np.float32, False), ((128, 1), np.float32, False)):
                with self.subTest(version=version, shape=shape, dtype=dtype):
                    self.verify(version, shape, dtype, descending)

    def test_short_types(self):
        for version in ("3.4", "3.7"):
            for dtype in (np.int16, np.float16, np.int8):
                with self.subTest(version=version, dtype=dtype):
                    self.verify(version, (2, 128), dtype, False)

    def test_topk(self):
        for version in ("3.4", "3.7"):
            for shape, k, dtype in (((128,), 8, np.float32), ((256,), 1, np.int32), ((4, 64), 16, np.int32), ((1024,), 512, np.float32), ((2, 128), 128, np.float32)):
                with self.subTest(version=version, shape=shape, k=k):
                    self.verify(version, shape, dtype, True, k)

    def test_a_step_along_one_of_twelve_dimensions(self):
        size = 1 << 12
        x = numbers((size,), np.float32)
        for j in (0, 6, 11):
            sort = Sort.__new__(Sort)
            sort.version, sort.element, sort.bits, sort.float, sort.lines, sort.n = "3.4", "f32", "i32", True, [], 0
            cube = (2,) * 12
            made = sort.reshape(sort.swap(sort.reshape("%x_v", (size,), cube), cube, 0, j), cube, (size,))
            right = np.sort(x.reshape(-1, 2, 2**j), axis=1).ravel()
            rows([*sort.lines, f"tt.store %y_at, {made} : tensor<{size}x!tt.ptr<f32>>"], {"x": x, "y": np.zeros_like(x)}, {"y": right})


class ManyDimensions(unittest.TestCase):
    """Blocks of eight dimensions."""


    def made(self, lines, right, x=None, *, status=0, words=()):
        x = np.arange(128, dtype=np.float32) / 8 if x is None else x
        body = [f"%h = tt.reshape %x_v : tensor<128xf32> -> {self.CUBE}", *lines]
        if status == 0:
            return rows([*body, f"%line = tt.reshape %made : {self.CUBE} -> tensor<128xf32>", "tt.store %y_at, %line : tensor<128x!tt.ptr<f32>>"],
                        {"x": x, "y": np.zeros_like(x)}, {"y": right})
        with self.assertRaises(AssertionError) as caught:
            rows(body, {"x": x}, {})
        for word in words:
            self.assertIn(word, str(caught.exception))
        return None

    def setUp(self):
        self.CUBE = "tensor<2x2x2x2x1x2x2x2xf32>"
        self.x = (np.arange(128) / 8).astype(np.float32)
        self.cube = self.x.reshape(2, 2, 2, 2, 1, 2, 2, 2)

    def test_numbers_and_constants(self):
        self.made([f"%c = arith.constant dense<2.5> : {self.CUBE}", f"%made = arith.mulf %h, %c : {self.CUBE}"], self.x * 2.5)
        self.made(["%o = arith.constant dense<1.5> : tensor<1x1x1x1x1x1x1x1xf32>", f"%c = tt.broadcast %o : tensor<1x1x1x1x1x1x1x1xf32> -> {self.CUBE}",
                   f"%made = arith.addf %h, %c : {self.CUBE}"], self.x + 1.5)

    def test_reductions_along_every_axis_and_back(self):
        for axis, op, right in ((0, "addf", np.sum), (3, "maximumf", np.max), (4, "addf", np.sum), (7, "minnumf", np.min)):
            left = [n for d, n in enumerate(self.cube.shape) if d != axis]
            t = lambda shape: f"tensor<{'x'.join(map(str, shape))}xf32>"
            one = [*left[:axis], 1, *left[axis:]]
            self.made([f'%r = "tt.reduce"(%h) <{{axis = {axis} : i32}}> ({{', "^bb0(%p: f32, %q: f32):", f"%m = arith.{op} %p, %q : f32", "tt.reduce.return %m : f32",
                       f"}}) : ({self.CUBE}) -> {t(left)}", f"%e = tt.expand_dims %r {{axis = {axis} : i32}} : {t(left)} -> {t(one)}",
                       f"%b = tt.broadcast %e : {t(one)} -> {self.CUBE}", f"%made = arith.subf %h, %b : {self.CUBE}"],
                      (self.cube - right(self.cube, axis=axis, keepdims=True)).ravel())

    def test_two_sides_that_repeat_along_others(self):
        a, b = "tensor<2x1x2x2x1x1x2x2xf32>", "tensor<1x2x2x2x1x2x2x1xf32>"
        lines = []
        for name, t, n in (("a", a, 32), ("b", b, 32)):
            lines += [f"%{name}r = tt.make_range {{end = {n} : i32, start = 0 : i32}} : tensor<{n}xi32>", f"%{name}f = arith.sitofp %{name}r : tensor<{n}xi32> to tensor<{n}xf32>",
                      f"%{name}h = tt.reshape %{name}f : tensor<{n}xf32> -> {t}", f"%{name}b = tt.broadcast %{name}h : {t} -> {self.CUBE}"]
        right = self.cube * np.arange(32, dtype=np.float32).reshape(2, 1, 2, 2, 1, 1, 2, 2) - np.arange(32, dtype=np.float32).reshape(1, 2, 2, 2, 1, 2, 2, 1)
        self.made([*lines, f"%m = arith.mulf %h, %ab : {self.CUBE}", f"%made = arith.subf %m, %bb : {self.CUBE}"], right.ravel())

    def test_loops_carry_them(self):
        self.made(["%c0 = arith.constant 0 : i32", "%c1 = arith.constant 1 : i32", "%c3 = arith.constant 3 : i32",
                   f"%made = scf.for %n = %c0 to %c3 step %c1 iter_args(%v = %h) -> ({self.CUBE}) : i32 {{", f"%w = arith.addf %v, %v : {self.CUBE}",
                   f"scf.yield %w : {self.CUBE}", "}"], self.x * 8)

    def test_what_is_not_run_is_listed(self):
        self.made([f"%t = tt.trans %h {{order = array<i32: 7, 6, 5, 4, 3, 2, 1, 0>}} : {self.CUBE} -> tensor<2x2x2x1x2x2x2x2xf32>"], None, status=2,
                  words=("tt.trans is not supported for tensors of more than 6 dimensions",))
        many = f"tensor<{'1x' * 62}128xf32>"
        self.made([f"%t = tt.reshape %h : {self.CUBE} -> {many}"], None, status=2, words=("found more than 62 dimensions",))

    def test_what_repeats_in_too_many_places_is_a_fault_at_its_line(self):
        t = "tensor<1x2x1x2x1x2x1x1xf32>"
        self.made(["%r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>", "%f = arith.sitofp %r : tensor<8xi32> to tensor<8xf32>",
                   f"%a = tt.reshape %f : tensor<8xf32> -> {t}", f"%b = tt.broadcast %a : {t} -> tensor<2x2x2x2x2x2x2x1xf32>"], None, status=1,
                  words=("more than 6 groups",))


if __name__ == "__main__":
    unittest.main()
