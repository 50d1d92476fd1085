# SPDX-License-Identifier: Apache-2.0
"""Do random well-typed programs in Triton's IR give what a plain interpreter makes of them? Integers, floats and masks of
all widths, known, loaded and computed; views, reductions, scans, gathers, loops and branches. To the last bit.

KERNBENCH_TTIR_PROGRAMS and KERNBENCH_TTIR_SEED: how many, from which seed on."""
import os
import random
import subprocess
import tempfile
import unittest

import numpy as np

CLI = os.environ["KERNBENCH_CLI"]
TOPOLOGY = os.path.join(os.environ["KERNBENCH_TOPOLOGIES"], "small.yaml")
PROGRAMS = int(os.environ.get("KERNBENCH_TTIR_PROGRAMS", "40"))
SEED = int(os.environ.get("KERNBENCH_TTIR_SEED", "1"))

NUMPY = {"i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "f16": np.float16, "f32": np.float32}
UNSIGNED = {"i1": np.uint8, "i8": np.uint8, "i16": np.uint16, "i32": np.uint32, "i64": np.uint64}
BITS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64}
INTEGERS = ("i8", "i16", "i32", "i64")
FLOATS = ("f16", "f32")
LENGTH = 64  # elements of an input
LARGE = (2**53 + 1, 6364136223846793005, -(2**62) - 1, 2**63 - 1)  # i64 values that a double cannot represent


def spelt(element, shape):
    return f"tensor<{'x'.join(map(str, shape))}x{element}>" if shape is not None else element


def unsigned(f):
    return lambda e, a, b: f(a.view(UNSIGNED[e]), b.view(UNSIGNED[e])).astype(UNSIGNED[e]).view(NUMPY[e])


def quotient(_, a, b):
    q = np.abs(a.astype(object)) // np.abs(b.astype(object))
    return np.array(np.where((a < 0) != (b < 0), -q, q)).astype(a.dtype)


BINARY = {  # for integers of one type
    "arith.addi": lambda e, a, b: a + b, "arith.subi": lambda e, a, b: a - b, "arith.muli": lambda e, a, b: a * b,
    "arith.andi": lambda e, a, b: a & b, "arith.ori": lambda e, a, b: a | b, "arith.xori": lambda e, a, b: a ^ b,
    "arith.maxsi": lambda e, a, b: np.maximum(a, b), "arith.minsi": lambda e, a, b: np.minimum(a, b),
    "arith.maxui": unsigned(np.maximum), "arith.minui": unsigned(np.minimum),
    "arith.shli": lambda e, a, b: a << b, "arith.shrsi": lambda e, a, b: a >> b, "arith.shrui": unsigned(np.right_shift),
    "arith.divsi": quotient, "arith.remsi": lambda e, a, b: a - quotient(e, a, b) * b,
    "arith.divui": unsigned(np.floor_divide), "arith.remui": unsigned(np.remainder),
    "tt.mulhiui": lambda e, a, b: ((a.view(np.uint32).astype(np.uint64) * b.view(np.uint32)) >> np.uint64(32)).astype(np.uint32).view(np.int32),
}
REAL = {"arith.addf": np.add, "arith.subf": np.subtract, "arith.mulf": np.multiply, "arith.maximumf": np.maximum,
        "arith.minimumf": np.minimum, "arith.negf": np.negative, "math.absf": np.abs, "math.floor": np.floor, "math.ceil": np.ceil}
COMPARE = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}
REDUCE = {"arith.addi": lambda x, axis: x.sum(axis=axis, dtype=x.dtype), "arith.maxsi": lambda x, axis: x.max(axis=axis),
          "arith.minsi": lambda x, axis: x.min(axis=axis), "arith.xori": lambda x, axis: np.bitwise_xor.reduce(x, axis=axis),
          "arith.maximumf": lambda x, axis: x.max(axis=axis), "arith.minimumf": lambda x, axis: x.min(axis=axis)}


class Statement:
    """An operation: its text, and what it does to values by their names."""

    def __init__(self, results, text, run):
        self.results, self.text, self.run = results, text, run


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.rows, self.cols = self.random.choice((1, 2, 4, 8)), self.random.choice((2, 4, 8))
        self.shape = (self.rows, self.cols)
        self.grid = self.random.choice((1, 1, 2, 3))
        self.types = {}      # by value: element, shape (None: a number)
        self.scope = []      # usable values
        self.readable = set()  # values known to pe_cpu, from which addresses are computed
        self.count = 0
        self.inputs, self.outputs = {}, {}
        numbers = np.random.default_rng(seed)
        for e in INTEGERS:
            half = 2 ** (min(BITS[e], 42) - 1)
            self.inputs[f"in_{e}"] = numbers.integers(-half, half, LENGTH).astype(NUMPY[e])
        for e in FLOATS:
            self.inputs[f"in_{e}"] = (numbers.integers(-60, 60, LENGTH) / 2).astype(NUMPY[e])

    def new(self, element, shape):
        self.count += 1
        name = f"%v{self.count}"
        self.types[name] = (element, shape)
        return name

    def add(self, body, element, shape, text, run):
        name = self.new(element, shape)
        body.append(Statement([name], f"{name} = {text}", run))
        self.scope.append(name)
        return name

    def pick(self, elements, shape="block"):
        wanted = self.shape if shape == "block" else shape
        found = [v for v in self.scope if self.types[v][0] in elements and self.types[v][1] == wanted]
        return self.random.choice(found) if found else None

    def element(self, v):
        return self.types[v][0]

    def constant(self, body, element, number, shape="block"):
        shape = self.shape if shape == "block" else shape
        written = ("true" if number else "false") if element == "i1" else f"{number:e}" if element in FLOATS else str(number)
        t = spelt(element, shape)
        value = np.array(number).astype(NUMPY[element])
        return self.known(body, element, shape, f"arith.constant {written if shape is None else f'dense<{written}>'} : {t}",
                        lambda env: value if shape is None else np.full(shape, value))

    def known(self, *what):
        v = self.add(*what)
        self.readable.add(v)
        return v

    def binary(self, body, op, a, b):
        e, shape = self.types[a]
        add = self.known if {a, b} <= self.readable else self.add
        return add(body, e, shape, f"{op} {a}, {b} : {spelt(e, shape)}", lambda env: BINARY[op](e, env[a], env[b]))

    def real(self, body, op, *operands):
        e, shape = self.types[operands[0]]
        v = self.add(body, e, shape, f"{op} {', '.join(operands)} : {spelt(e, shape)}",
                     lambda env: REAL[op](*(env[o] for o in operands)).astype(NUMPY[e]))
        if op not in ("arith.addf", "arith.subf", "arith.mulf"):
            return v
        low = self.real(body, "arith.minimumf", v, self.constant(body, e, 100.0, shape))  # keeps everything finite
        return self.real(body, "arith.maximumf", low, self.constant(body, e, -100.0, shape))

    # ---- What a program does ----
    def offsets(self, body, shape):
        """i32 row-major indices of a block."""
        rows, cols = shape
        pieces = []
        for axis, n in ((1, rows), (0, cols)):
            line = self.known(body, "i32", (n,), f"tt.make_range {{end = {n} : i32, start = 0 : i32}} : tensor<{n}xi32>",
                            lambda env, n=n: np.arange(n, dtype=np.int32))
            one = (n, 1) if axis == 1 else (1, n)
            wide = self.known(body, "i32", one, f"tt.expand_dims {line} {{axis = {axis} : i32}} : tensor<{n}xi32> -> {spelt('i32', one)}",
                            lambda env, line=line, axis=axis: np.expand_dims(env[line], axis))
            if axis == 1:
                wide = self.binary(body, "arith.muli", wide, self.constant(body, "i32", cols, one))
            pieces.append(self.known(body, "i32", shape, f"tt.broadcast {wide} : {spelt('i32', one)} -> {spelt('i32', shape)}",
                                   lambda env, wide=wide: np.broadcast_to(env[wide], shape)))
        return self.binary(body, "arith.addi", *pieces)

    def program_id(self, body):
        return self.known(body, "i32", None, "tt.get_program_id x : i32", lambda env: env["pid"])

    def splat(self, body, v, shape="block"):
        e, shape = self.element(v), self.shape if shape == "block" else shape
        return self.known(body, e, shape, f"tt.splat {v} : {e} -> {spelt(e, shape)}", lambda env: np.full(shape, env[v]))

    def pointers(self, body, base, element, offsets):
        shape = self.types[offsets][1]
        t = spelt(f"!tt.ptr<{element}>", shape)
        p, q = self.new("ptr", shape), self.new("ptr", shape)
        body.append(Statement([p], f"{p} = tt.splat %{base} : !tt.ptr<{element}> -> {t}", lambda env: None))
        body.append(Statement([q], f"{q} = tt.addptr {p}, {offsets} : {t}, {spelt('i32', shape)}", lambda env: None))
        return q, t

    def load(self, body):
        e = self.random.choice(INTEGERS + FLOATS)
        index = self.pick(("i32",)) if self.random.random() < 0.4 else None
        if index not in self.readable:
            index = self.offsets(body, self.shape)
            if self.random.random() < 0.5:
                index = self.binary(body, "arith.addi", index, self.splat(body, self.program_id(body)))
        place = self.binary(body, "arith.andi", index, self.constant(body, "i32", LENGTH - 1))
        p, t = self.pointers(body, f"in_{e}", e, place)
        mask = self.pick(("i1",)) if self.random.random() < 0.5 else None
        if mask is None:
            add = self.known if e in INTEGERS else self.add
            return add(body, e, self.shape, f"tt.load {p} : {t}", lambda env: env["in_" + e][env[place]])
        large = e == "i64" and self.random.random() < 0.5
        other = self.constant(body, e, self.random.choice(LARGE) if large else self.random.randrange(-9, 9))
        return self.add(body, e, self.shape, f"tt.load {p}, {mask}, {other} : {t}",
                        lambda env: np.where(env[mask], env["in_" + e][env[place]], env[other]))

    def integer(self, body):
        a = self.pick(INTEGERS)
        if a is None:
            return None
        e = self.element(a)
        b = self.pick((e,))
        if self.random.random() < 0.3:
            b = self.constant(body, e, self.random.choice((1, 2, 3, 7, -1, -5, 100) + (LARGE if e == "i64" else ())))
        ops = [op for op in BINARY if op != "tt.mulhiui" or e == "i32"]
        if e == "i64":
            ops = [op for op in ops if not op.endswith("ui")]
        op = self.random.choice(ops)
        if op.startswith("arith.sh"):
            b = self.binary(body, "arith.andi", b, self.constant(body, e, BITS[e] - 1))
        if op.startswith("arith.div") or op.startswith("arith.rem"):
            b = self.binary(body, "arith.maxsi", b, self.constant(body, e, 1))
        return self.binary(body, op, a, b)

    def powers(self, body):
        """Each a use of the one before, twice."""
        v = self.pick(INTEGERS)
        for _ in range(self.random.randrange(2, 12)):
            v = v and self.binary(body, self.random.choice(("arith.muli", "arith.addi", "arith.xori")), v, v)
        return v

    def truths(self, body):
        a = self.pick(("i1",))
        return a and self.binary(body, self.random.choice(("arith.andi", "arith.ori", "arith.xori")), a, self.pick(("i1",)))

    def floats(self, body):
        a = self.pick(FLOATS)
        if a is None:
            return None
        op = self.random.choice(list(REAL))
        one = op in ("arith.negf", "math.absf", "math.floor", "math.ceil")
        return self.real(body, op, a) if one else self.real(body, op, a, self.pick((self.element(a),)))

    def compare(self, body):
        a = self.pick(("i1",) + INTEGERS + FLOATS)
        if a is None:
            return None
        e, b = self.element(a), self.pick((self.element(a),))
        how = self.random.choice(list(COMPARE))
        t = spelt(e, self.shape)
        if e in FLOATS:
            side = self.random.choice("ou")
            return self.add(body, "i1", self.shape, f"arith.cmpf {side}{how}, {a}, {b} : {t}",
                            lambda env: COMPARE[how](env[a], env[b]))
        sign = "" if how in ("eq", "ne") else "s" if e == "i64" else self.random.choice("su")
        if sign == "u":
            return self.add(body, "i1", self.shape, f"arith.cmpi u{how}, {a}, {b} : {t}",
                            lambda env: COMPARE[how](env[a].view(UNSIGNED[e]), env[b].view(UNSIGNED[e])))
        signed = (lambda x: -x.astype(np.int8)) if e == "i1" else (lambda x: x)  # true is -1
        return self.add(body, "i1", self.shape, f"arith.cmpi {sign}{how}, {a}, {b} : {t}",
                        lambda env: COMPARE[how](signed(env[a]), signed(env[b])))

    def select(self, body):
        c, a = self.pick(("i1",)), self.pick(INTEGERS + FLOATS)
        if c is None or a is None:
            return None
        e, b = self.element(a), self.pick((self.element(a),))
        return self.add(body, e, self.shape, f"arith.select {c}, {a}, {b} : {spelt('i1', self.shape)}, {spelt(e, self.shape)}",
                        lambda env: np.where(env[c], env[a], env[b]))

    def convert(self, body):
        a = self.pick(("i1",) + INTEGERS + FLOATS)
        if a is None:
            return None
        e = self.element(a)
        if e in FLOATS:
            to = self.random.choice(("i32", "f16" if e == "f32" else "f32", "i8", "i16", "i32"))
            op = "arith.truncf" if to == "f16" else "arith.extf" if to == "f32" else self.random.choice(("arith.fptosi", "arith.fptoui"))
            run = lambda x: x.astype(NUMPY[to])
            if op == "arith.fptoui":  # beyond the range of the signed type
                a = self.real(body, "arith.maximumf", a, self.constant(body, e, self.random.choice((0.0, 120.0, 200.0))))
                run = lambda x: x.astype(np.int64).astype(NUMPY[to])
        else:
            to = self.random.choice([t for t in INTEGERS if t != e] + (["f32"] if BITS[e] <= 16 else []))
            plain = self.random.random() < 0.5 and BITS[e] <= 32
            if to == "f32":
                op = "arith.uitofp" if plain else "arith.sitofp"
            else:
                op = "arith.trunci" if BITS[to] < BITS[e] else "arith.extui" if plain else "arith.extsi"
            if op in ("arith.extui", "arith.uitofp"):
                run = lambda x: x.view(UNSIGNED[e]).astype(NUMPY[to])
            else:
                run = lambda x: (-x.astype(np.int64) if e == "i1" else x).astype(NUMPY[to])
        v = self.add(body, to, self.shape, f"{op} {a} : {spelt(e, self.shape)} to {spelt(to, self.shape)}", lambda env: run(env[a]))
        if to != "f32":
            return v
        low = self.real(body, "arith.minimumf", v, self.constant(body, "f32", 100.0))
        return self.real(body, "arith.maximumf", low, self.constant(body, "f32", -100.0))

    def turn(self, body):
        """There and back, so that shapes stay: transposed, with an op between."""
        a = self.pick(("i1",) + INTEGERS + FLOATS)
        if a is None:
            return None
        e, shape = self.element(a), self.shape
        turned = (shape[1], shape[0])
        form = self.random.choice(("tt.trans", "tt.reshape"))
        order = " {order = array<i32: 1, 0>}" if form == "tt.trans" else ""
        there = (lambda x: x.T) if form == "tt.trans" else (lambda x: x.reshape(x.shape[1], x.shape[0]))
        b = self.add(body, e, turned, f"{form} {a}{order} : {spelt(e, shape)} -> {spelt(e, turned)}", lambda env: there(env[a]))
        if shape == turned:
            return b
        if e in INTEGERS:
            b = self.binary(body, "arith.addi", b, self.constant(body, e, 1, turned))
        return self.add(body, e, shape, f"{form} {b}{order} : {spelt(e, turned)} -> {spelt(e, shape)}", lambda env: there(env[b]))

    def reduce(self, body):
        a = self.pick(INTEGERS + FLOATS)
        if a is None:
            return None
        e, shape = self.types[a]
        axis = self.random.randrange(2)
        op = self.random.choice(("arith.maximumf", "arith.minimumf") if e in FLOATS else ("arith.addi", "arith.maxsi", "arith.minsi", "arith.xori"))
        line, one = (shape[1 - axis],), (shape[0], 1) if axis == 1 else (1, shape[1])
        r = self.add(body, e, line, self.region("tt.reduce", a, axis, e, op, f"({spelt(e, shape)}) -> {spelt(e, line)}"),
                     lambda env: REDUCE[op](env[a], axis))
        wide = self.add(body, e, one, f"tt.expand_dims {r} {{axis = {axis} : i32}} : {spelt(e, line)} -> {spelt(e, one)}",
                        lambda env: np.expand_dims(env[r], axis))
        return self.add(body, e, shape, f"tt.broadcast {wide} : {spelt(e, one)} -> {spelt(e, shape)}", lambda env: np.broadcast_to(env[wide], shape))

    def region(self, name, a, axis, e, op, types, more=""):
        return (f'"{name}"({a}) <{{axis = {axis} : i32{more}}}> ({{\n^bb0(%x: {e}, %y: {e}):\n'
                f"%z = {op} %x, %y : {e}\n{name}.return %z : {e}\n}}) : {types}")

    def scan(self, body):
        a = self.pick(INTEGERS)
        if a is None:
            return None
        e, shape = self.types[a]
        axis, back = self.random.randrange(2), self.random.random() < 0.5
        op = self.random.choice(("arith.addi", "arith.maxsi"))
        run = np.cumsum if op == "arith.addi" else np.maximum.accumulate
        def value(env):
            x = np.flip(env[a], axis) if back else env[a]
            x = run(x, axis=axis).astype(NUMPY[e])
            return np.flip(x, axis) if back else x
        return self.add(body, e, shape, self.region("tt.scan", a, axis, e, op, f"({spelt(e, shape)}) -> {spelt(e, shape)}",
                                                    f", reverse = {'true' if back else 'false'}"), value)

    def gather(self, body):
        a, i = self.pick(INTEGERS + FLOATS), self.pick(("i32",))
        if a is None or i is None:
            return None
        axis, e = self.random.randrange(2), self.element(a)
        i = self.binary(body, "arith.andi", i, self.constant(body, "i32", self.shape[axis] - 1))
        t, ti = spelt(e, self.shape), spelt("i32", self.shape)
        return self.add(body, e, self.shape, f"tt.gather {a}[{i}] {{axis = {axis} : i32}} : ({t}, {ti}) -> {t}",
                        lambda env: np.take_along_axis(env[a], env[i].astype(np.int64), axis))

    def loop(self, body):
        carried = [v for v in {self.pick((e,)) for e in self.random.sample(INTEGERS + FLOATS, 2)} if v]
        turns = self.random.randrange(0, 4)
        if not carried:
            return None
        numbers = [self.constant(body, "i32", n, None) for n in (0, turns, 1)]
        inside, names = [], [self.new(*self.types[v]) for v in carried]
        i = self.new("i32", None)
        outer = list(self.scope)
        self.scope += names + [i]
        self.splat(inside, i)
        self.fill(inside, self.random.randrange(1, 5))
        last = [self.pick((self.element(v),)) for v in carried]
        self.scope = outer
        results = [self.new(*self.types[v]) for v in carried]
        types = ", ".join(spelt(*self.types[v]) for v in carried)
        args = ", ".join(f"{n} = {v}" for n, v in zip(names, carried))
        head = f"%r{self.count}"
        text = (f"{head}:{len(carried)} = scf.for {i} = {numbers[0]} to {numbers[1]} step {numbers[2]} iter_args({args}) -> ({types})  : i32 {{\n"
                + "\n".join(s.text for s in inside) + f"\nscf.yield {', '.join(last)} : {types}\n}}"
                + (" {tt.num_stages = 2 : i32}" if self.random.random() < 0.5 else ""))
        def run(env):
            values = [env[v] for v in carried]
            for n in range(turns):
                env[i] = np.int32(n)
                env.update(zip(names, values))
                execute(inside, env)
                values = [env[v] for v in last]
            return values
        body.append(Statement(results, text, run))
        self.renamed.update({r: f"{head}#{k}" for k, r in enumerate(results)})
        self.scope += results
        return results[0]

    def branch(self, body):
        e = self.random.choice(INTEGERS + FLOATS)
        a = self.pick((e,))
        if a is None:
            return None
        known = self.random.random() < 0.5
        if known:
            x = self.program_id(body)
        else:
            p = self.new("ptr", None)
            at = self.constant(body, "i32", self.random.randrange(LENGTH), None)
            body.append(Statement([p], f"{p} = tt.addptr %in_i32, {at} : !tt.ptr<i32>, i32", lambda env: None))
            x = self.add(body, "i32", None, f"tt.load {p} : !tt.ptr<i32>", lambda env: env["in_i32"][env[at]])
        zero = self.constant(body, "i32", 1 if known else 0, None)
        c = self.add(body, "i1", None, f"arith.cmpi slt, {x}, {zero} : i32", lambda env: env[x] < env[zero])
        sides, lasts, outer = [], [], list(self.scope)
        for _ in range(2):
            inside = []
            self.fill(inside, self.random.randrange(0, 4))
            lasts.append(self.pick((e,)))
            sides.append(inside)
            self.scope = list(outer)
        t = spelt(e, self.shape)
        text = f"scf.if {c} -> ({t}) {{\n" + "\n} else {\n".join(
            "\n".join([s.text for s in inside] + [f"scf.yield {v} : {t}"]) for inside, v in zip(sides, lasts)) + "\n}"
        def run(env):
            way = 0 if env[c] else 1
            execute(sides[way], env)
            return env[lasts[way]]
        return self.add(body, e, self.shape, text, run)

    def fill(self, body, n):
        ways = [self.load, self.integer, self.integer, self.integer, self.powers, self.floats, self.floats, self.truths, self.compare, self.select,
                self.convert, self.convert, self.turn, self.reduce, self.scan, self.gather, self.loop, self.branch]
        self.depth = getattr(self, "depth", 0) + 1
        for _ in range(n):
            self.random.choice(ways[:-2] if self.depth > 2 else ways)(body)
        self.depth -= 1

    def store(self, body):
        v = self.pick(INTEGERS + FLOATS)
        e, shape = self.types[v]
        name = f"out{len(self.outputs)}"
        size = shape[0] * shape[1]
        start = self.binary(body, "arith.muli", self.program_id(body), self.constant(body, "i32", size, None))
        offsets = self.binary(body, "arith.addi", self.offsets(body, shape), self.splat(body, start))
        p, t = self.pointers(body, name, e, offsets)
        self.outputs[name] = np.zeros(size * self.grid, NUMPY[e])
        mask = self.pick(("i1",)) if self.random.random() < 0.4 else None
        def run(env):
            on = np.full(shape, True) if mask is None else env[mask]
            env[name][env[offsets][on]] = env[v][on]
        body.append(Statement([], f"tt.store {p}, {v}{'' if mask is None else ', ' + mask} : {t}", run))

    def program(self):
        self.renamed = {}
        body = []
        self.offsets(body, self.shape)
        for _ in range(2):
            self.load(body)
        self.fill(body, self.random.randrange(4, 16))
        for _ in range(3):
            self.store(body)
        arguments = ", ".join(f"%{n}: !tt.ptr<{e}>" for n, e in self.pointer_types())
        lines = "\n".join(s.text for s in body)
        for name in sorted(self.renamed, key=len, reverse=True):
            lines = replaced(lines, name, self.renamed[name])
        named = ", ".join(f'{a} loc("{a[1:a.index(":")]}")' for a in arguments.split(", "))
        return body, f"module {{\ntt.func public @k({named}) {{\n{lines}\ntt.return\n}}\n}}\n"

    def pointer_types(self):
        of = {np.dtype(t): e for e, t in NUMPY.items()}
        return [(n, of[a.dtype]) for n, a in {**self.inputs, **self.outputs}.items()]


def replaced(text, name, by):
    parts = text.split(name)
    out = parts[0]
    for part in parts[1:]:
        out += (name if part[:1].isdigit() else by) + part
    return out


def execute(body, env):
    with np.errstate(all="ignore"):
        for s in body:
            made = s.run(env)
            if len(s.results) == 1 and not isinstance(made, list):
                env[s.results[0]] = made
            elif s.results:
                env.update(zip(s.results, made))


def outcome(seed, folder):
    """What differs, with the program's text; None: nothing."""
    g = Generator(seed)
    body, text = g.program()
    env = {**g.inputs, **g.outputs}
    for pid in range(g.grid):
        execute(body, {**env, "pid": np.int32(pid)})
    path = os.path.join(folder, f"{seed}.ttir")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    command = [CLI, "run", "--topology", TOPOLOGY, "--ttir", path, "--grid", str(g.grid), "--verify"]
    for name, value in {**g.inputs, **{n: np.zeros_like(v) for n, v in g.outputs.items()}}.items():
        np.save(os.path.join(folder, name + ".npy"), value)
        command += ["--tensor", f"{name}={os.path.join(folder, name + '.npy')}"]
    command.remove("--verify")
    for name in g.outputs:
        command += ["--dump", f"{name}={os.path.join(folder, 'made_' + name + '.npy')}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return f"seed {seed}: {done.stderr}\n{text}"
    for name, expected in g.outputs.items():
        made = np.load(os.path.join(folder, f"made_{name}.npy"))
        if not np.array_equal(made, expected.astype(made.dtype)):
            return f"seed {seed}: {name} {made.tolist()}\nexpected {expected.tolist()}\n{text}"
    os.remove(path)
    return None


class RandomPrograms(unittest.TestCase):
    def test_they_give_what_plain_python_gives(self):
        with tempfile.TemporaryDirectory() as folder:
            wrong = [o for o in (outcome(seed, folder) for seed in range(SEED, SEED + PROGRAMS)) if o]
        self.assertEqual(wrong, [], f"{len(wrong)} of {PROGRAMS}; the first: " + (wrong or [""])[0])


if __name__ == "__main__":
    unittest.main()
