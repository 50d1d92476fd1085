# SPDX-License-Identifier: Apache-2.0
"""Do Triton kernels, from their IR, compute what their Python says? Vector add, softmax, matmul, layer norm and flash
attention in the spellings of Triton 3.1, 3.4 and 3.7, on odd shapes, over one PE and several, wherever the tensors lie,
against numpy."""
import json
import os
import subprocess
import tempfile
import unittest

import numpy as np
from ttir_cli import CLI, TEXTS, Kernel

RANDOM = np.random.default_rng(38)


def floats(*shape, dtype=np.float32):
    return RANDOM.uniform(-1, 1, shape).astype(dtype)


def vector_add(n, *options, grid=None):
    a, b = floats(n), floats(n)
    return Kernel("vector_add_3_1.ttir", str(grid or -(-n // 256)), {"arg0": a, "arg1": b, "arg2": np.zeros(n, np.float32), "arg3": n},
                  {"arg2": a + b}, *options)


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def matmul(m, n, k, *options):
    a, b = floats(m, k, dtype=np.float16), floats(k, n, dtype=np.float16)
    c = (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16)
    programs = -(-m // 32) * -(-n // 32)
    return Kernel("matmul_3_4.ttir", str(programs),
                  {"a_ptr": a, "b_ptr": b, "c_ptr": np.zeros((m, n), np.float16), "M": m, "N": n, "K": k, "stride_am": k,
                   "stride_bk": n, "stride_cm": n}, {"c_ptr": c}, *options)


def attention(heads, s, *options):
    q, k, v = (floats(heads, s, 16, dtype=np.float16) for _ in range(3))
    scores = np.einsum("hqd,hkd->hqk", q.astype(np.float32), k.astype(np.float32)) * 0.25
    scores = np.where(np.tril(np.ones((s, s), bool)), scores, -np.inf)
    expected = np.einsum("hqk,hkd->hqd", softmax(scores), v.astype(np.float32)).astype(np.float16)
    return Kernel("attention_3_7.ttir", f"{-(-s // 32)},{heads}",
                  {"Q": q, "K": k, "V": v, "O": np.zeros((heads, s, 16), np.float16), "scale": 0.25 * np.log2(np.e), "S": s},
                  {"O": expected}, *options)


class TtirKernels(unittest.TestCase):
    def test_vector_add_whatever_its_length(self):
        for n in (1, 255, 256, 1000):
            vector_add(n).verified()

    def test_more_programs_than_elements_do_nothing(self):
        vector_add(100, grid=5).verified()

    def test_softmax_of_odd_rows(self):
        for rows, cols in ((1, 1), (5, 127), (9, 128), (13, 77)):
            x = floats(rows, cols)
            Kernel("softmax_3_4.ttir", "4", {"y_ptr": np.zeros_like(x), "x_ptr": x, "x_stride": cols, "y_stride": cols,
                                             "rows": rows, "cols": cols}, {"y_ptr": softmax(x)}).verified()

    def test_matmul_where_no_tile_fits(self):
        for m, n, k in ((32, 32, 16), (1, 1, 1), (45, 70, 37), (33, 31, 64)):
            matmul(m, n, k).verified()

    def test_layer_norm(self):
        for rows, cols in ((3, 64), (5, 131), (2, 7)):
            x, w, b = floats(rows, cols), floats(cols), floats(cols)
            mean = x.mean(axis=1)
            rstd = 1 / np.sqrt(x.var(axis=1) + 1e-5)
            y = (x - mean[:, None]) * rstd[:, None] * w + b
            Kernel("layer_norm_3_7.ttir", str(rows),
                   {"X": x, "Y": np.zeros_like(x), "W": w, "B": b, "Mean": np.zeros(rows, np.float32),
                    "Rstd": np.zeros(rows, np.float32), "stride": cols, "N": cols, "eps": 1e-5},
                   {"Y": y, "Mean": mean, "Rstd": rstd}).verified()

    def test_flash_attention(self):
        for heads, s in ((1, 32), (2, 75), (3, 17)):
            attention(heads, s).verified()

    def test_rows_by_indices_that_were_loaded(self):
        for n, dim in ((8, 32), (13, 20)):
            idx, w = RANDOM.integers(0, 50, n).astype(np.int32), floats(50, dim, dtype=np.float16)
            Kernel("embedding_3_1.ttir", str(-(-n // 8)),
                   {"idx_ptr": idx, "w_ptr": w, "out_ptr": np.zeros((n, dim), np.float16), "n": n, "dim": dim},
                   {"out_ptr": w[idx]}).verified()

    def test_scans_and_reductions_of_ones_own(self):
        for rows, cols in ((2, 64), (3, 33)):
            x = floats(rows, cols) + np.float32(1)  # above the masked-out values
            Kernel("cumsum_3_4.ttir", str(rows),
                   {"x_ptr": x, "y_ptr": np.zeros_like(x), "best_ptr": np.zeros(rows, np.int32), "cols": cols},
                   {"y_ptr": np.cumsum(x, axis=1), "best_ptr": x.argmax(axis=1).astype(np.int32)}).verified()

    def test_softmax_over_loaded_bounds(self):
        lengths = (5, 0, 32, 1)
        offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
        x = floats(offsets[-1])
        y = np.concatenate([softmax(x[a:b]) for a, b in zip(offsets, offsets[1:]) if b > a])
        Kernel("ragged_softmax_3_7.ttir", "4", {"x_ptr": x, "offsets_ptr": offsets, "y_ptr": np.zeros_like(x)},
               {"y_ptr": y}).verified()

    def test_branches_on_what_was_loaded(self):
        x = np.array([1, 6, 7, 27], np.int32)
        steps = []
        for n in map(int, x):
            steps.append(0)
            while n > 1:
                n = n // 2 if n % 2 == 0 else 3 * n + 1
                steps[-1] += 1
        Kernel("control_3_4.ttir", "4", {"x_ptr": x, "y_ptr": np.zeros_like(x)}, {"y_ptr": np.array(steps, np.int32)}).verified()

    def test_dropout_by_philox(self):
        n, p, seed = 100, 0.3, 1234567
        a, b, low = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57), np.uint64(0xFFFFFFFF)
        c = [np.arange(n, dtype=np.uint64)] + [np.zeros(n, np.uint64)] * 3
        for turn in range(10):
            k0, k1 = (np.uint64((key + turn * step) & 0xFFFFFFFF) for key, step in ((seed, 0x9E3779B9), (0, 0xBB67AE85)))
            x, y = b * c[2], a * c[0]
            c = [x >> np.uint64(32) ^ c[1] ^ k0, x & low, y >> np.uint64(32) ^ c[3] ^ k1, y & low]
        bits = c[0].astype(np.uint32).view(np.int32)
        rand = np.where(bits < 0, -bits - 1, bits).astype(np.float32) * np.float32(4.65661275e-10)
        x = floats(n)
        y = np.where(rand > np.float32(p), x / (np.float32(1) - np.float32(p)), 0).astype(np.float32)
        Kernel("dropout_3_7.ttir", "2", {"x_ptr": x, "y_ptr": np.zeros_like(x), "n": n, "p": p, "seed": seed},
               {"y_ptr": y}).verified()

    def test_matmul_of_bytes_by_block_pointers(self):
        m, n, k = 20, 37, 50
        a, w, s = floats(m, k, dtype=np.float16), RANDOM.integers(-128, 127, (k, n)).astype(np.int8), floats(n)
        c = (a.astype(np.float32) @ w.astype(np.float32)) * s
        Kernel("w8a16_matmul_3_4.ttir", "2,3", {"a_ptr": a, "w_ptr": w, "s_ptr": s, "c_ptr": np.zeros((m, n), np.float32),
                                                "M": m, "N": n, "K": k}, {"c_ptr": c}).verified()

    def test_programs_go_where_they_are_sent(self):
        report = vector_add(256 * 7, "--pes", "sip0.cube0.pe0,sip0.cube0.pe1").verified()
        self.assertEqual(report["waves"], 4)
        self.assertEqual([p["id"] for p in report["programs"]], list(range(7)))
        self.assertEqual([p["pe"][-1] for p in report["programs"]], list("0101010"))
        for p in report["programs"]:
            self.assertLess(p["start_ns"], p["end_ns"])
        report = vector_add(256 * 7, "--pes", "sip0.cube0.pe0,sip0.cube0.pe1", "--order", "blocks").verified()
        self.assertEqual([p["pe"][-1] for p in report["programs"]], list("0000111"))

    def test_tensors_lie_where_they_are_placed(self):
        two = ("--pes", "sip0.cube0.pe0,sip0.cube0.pe1")
        matmul(45, 70, 37, *two, "--interleave", "64").verified()
        matmul(45, 70, 37, *two, "--place", "a_ptr=rows", "--place", "b_ptr=replicate", "--place", "c_ptr=rows").verified()
        for pes in (two, ("--pes", "sip0.cube1.pe0,sip0.cube0.pe1,sip0.cube1.pe1"), ()):
            matmul(45, 70, 37, *pes, "--place", "a_ptr=cube", "--place", "b_ptr=cube", "--interleave", "64").verified()


    def test_atomics_and_loaded_addresses(self):
        """Sums and counts by key, a gather and a scatter; old values are those of one order."""
        n, keys = 300, 17
        key, w = RANDOM.integers(0, keys, n).astype(np.int32), floats(keys)
        zeros = lambda size, dtype: np.zeros(size, dtype)
        count, out = np.bincount(key, minlength=keys).astype(np.int32), np.where(np.bincount(key, minlength=keys) > 0, 2 * w, 0)
        arguments = {"key_ptr": key, "w_ptr": w, "count_ptr": zeros(keys, np.int32), "sum_ptr": zeros(keys, np.float32),
                     "slot_ptr": zeros(n, np.int32), "out_ptr": zeros(keys, np.float32), "n": n}
        kernel = Kernel("bucket_3_4.ttir", "3", arguments, {"count_ptr": count, "sum_ptr": (2 * w * count).astype(np.float32),
                                                             "out_ptr": out.astype(np.float32)})
        slots = os.path.join(kernel.folder.name, "slots.npy")
        kernel.command += ["--dump", f"slot_ptr={slots}"]
        kernel.verified()
        drawn = np.load(slots)
        for k in range(keys):
            self.assertEqual(sorted(drawn[key == k]), list(range(count[k])))

    def test_cas_and_min_of_one_element(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        text = os.path.join(folder.name, "one.ttir")
        with open(text, "w", encoding="utf-8") as f:
            f.write("""module {
tt.func public @k(%arg0: !tt.ptr<i32>) {
%c5 = arith.constant 5 : i32
%c1 = arith.constant 1 : i32
%c0 = arith.constant 0 : i32
%q = tt.addptr %arg0, %c1 : !tt.ptr<i32>, i32
%t = arith.constant true
%0 = tt.atomic_cas acq_rel, gpu, %arg0, %c0, %c5 : (!tt.ptr<i32>, i32, i32) -> i32
%1 = tt.atomic_cas acq_rel, gpu, %arg0, %c0, %c1 : (!tt.ptr<i32>, i32, i32) -> i32
%2 = tt.atomic_rmw umax, relaxed, gpu, %q, %1, %t : (!tt.ptr<i32>, i32, i1) -> i32
tt.return
}
}
""")
        Kernel(text, "1", {"arg0": np.zeros(2, np.int32)}, {"arg0": np.array([5, 5], np.int32)}).verified()


    def small(self, body, arguments, expected, *options):
        """A kernel over blocks of 16 × 16 at `%x_at` (of each pointer argument x)."""
        elements = {"float32": "f32", "float16": "f16", "int64": "i64", "int32": "i32", "int8": "i8"}
        lines = ["module {", "tt.func public @k(" + ", ".join(f'%{name}: !tt.ptr<{elements[str(x.dtype)]}> loc("{name}")'
                                                              for name, x in arguments.items()) + ") {",
                 "%r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>",
                 "%at = tt.reshape %r : tensor<256xi32> -> tensor<16x16xi32>"]
        for name, x in arguments.items():
            block = f"tensor<16x16x!tt.ptr<{elements[str(x.dtype)]}>>"
            lines += [f"%{name}_p = tt.splat %{name} : !tt.ptr<{elements[str(x.dtype)]}> -> {block}",
                      f"%{name}_at = tt.addptr %{name}_p, %at : {block}, tensor<16x16xi32>",
                      f"%{name}_v = tt.load %{name}_at : {block}"]
        with tempfile.NamedTemporaryFile("w", suffix=".ttir", delete=False) as f:
            f.write("\n".join(lines + body + ["tt.return", "}", "}", ""]))
        self.addCleanup(os.remove, f.name)
        return Kernel(f.name, "1", arguments, expected, *options).verified()

    def test_a_dot_adds_to_any_accumulator(self):
        a, b, c = floats(16, 16, dtype=np.float16), floats(16, 16, dtype=np.float16), floats(16, 16)
        dot = "tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>"
        two = (a.astype(np.float32) @ b.astype(np.float32)) * 2
        store = "tt.store %c_at, %out : tensor<16x16x!tt.ptr<f32>>"
        # A loaded value; a product computed by MATH; a broadcast column.
        self.small([f"%once = tt.dot %a_v, %b_v, %c_v : {dot}", f"%out = tt.dot %a_v, %b_v, %once : {dot}", store],
                   {"a": a, "b": b, "c": c}, {"c": c + two})
        self.small([f"%once = tt.dot %a_v, %b_v, %c_v : {dot}", "%more = arith.addf %once, %c_v : tensor<16x16xf32>",
                    f"%out = tt.dot %a_v, %b_v, %more : {dot}", store], {"a": a, "b": b, "c": c}, {"c": 2 * c + two})
        self.small(['%row = "tt.reduce"(%c_v) <{axis = 1 : i32}> ({', "^bb0(%x: f32, %y: f32):", "%m = arith.maxnumf %x, %y : f32",
                    "tt.reduce.return %m : f32", "}) : (tensor<16x16xf32>) -> tensor<16xf32>",
                    "%col = tt.expand_dims %row {axis = 1 : i32} : tensor<16xf32> -> tensor<16x1xf32>",
                    "%all = tt.broadcast %col : tensor<16x1xf32> -> tensor<16x16xf32>",
                    f"%out = tt.dot %a_v, %b_v, %all : {dot}", store],
                   {"a": a, "b": b, "c": c}, {"c": c.max(axis=1, keepdims=True) + two / 2})

    def test_a_dot_of_bytes_adds_to_integers(self):
        a, b = (RANDOM.integers(-128, 127, (16, 16)).astype(np.int8) for _ in range(2))
        c = RANDOM.integers(-1000, 1000, (16, 16)).astype(np.int32)
        self.small(["%out = tt.dot %a_v, %b_v, %c_v : tensor<16x16xi8> * tensor<16x16xi8> -> tensor<16x16xi32>",
                    "tt.store %c_at, %out : tensor<16x16x!tt.ptr<i32>>"], {"a": a, "b": b, "c": c},
                   {"c": c + a.astype(np.int32) @ b.astype(np.int32)})

    def test_histograms_and_remainders(self):
        x, y = RANDOM.integers(0, 16, (16, 16)).astype(np.int32), floats(16, 16) * 20
        out, rest = np.zeros(256, np.int32), np.zeros((16, 16), np.float32)
        counts = np.concatenate([np.bincount(x[y > 0], minlength=16), np.bincount(x.ravel(), minlength=16)])
        stored = np.concatenate([counts, np.zeros(224)]).astype(np.int32)
        lines = ["%flat = tt.reshape %x_v : tensor<16x16xi32> -> tensor<256xi32>", "%zero = arith.constant dense<0.0> : tensor<16x16xf32>",
                 "%on = arith.cmpf ogt, %y_v, %zero : tensor<16x16xf32>", "%mask = tt.reshape %on : tensor<16x16xi1> -> tensor<256xi1>",
                 "%h0 = tt.histogram %flat, %mask : tensor<256xi32> -> tensor<16xi32>",
                 "%h1 = tt.histogram %flat : tensor<256xi32> -> tensor<16xi32>",
                 "%base = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>", "%c16 = arith.constant 16 : i32",
                 "%next = tt.addptr %out, %c16 : !tt.ptr<i32>, i32"]
        for n, p in enumerate(("%out", "%next")):
            lines += [f"%s{n} = tt.splat {p} : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>",
                      f"%p{n} = tt.addptr %s{n}, %base : tensor<16x!tt.ptr<i32>>, tensor<16xi32>",
                      f"tt.store %p{n}, %h{n} : tensor<16x!tt.ptr<i32>>"]
        seven = "%seven = arith.constant dense<7.0> : tensor<16x16xf32>"
        lines += [seven, "%left = arith.remf %y_v, %seven : tensor<16x16xf32>", "tt.store %rest_at, %left : tensor<16x16x!tt.ptr<f32>>"]
        self.small(lines, {"x": x, "y": y, "out": out, "rest": rest}, {"out": stored, "rest": np.fmod(y, np.float32(7))})


    def test_a_block_that_is_used_twice_is_made_once(self):
        """p · p of p · p … of what was loaded, or of the two before: a command each, and none of them stays in TCM."""
        block = "tensor<16x16xi32>"
        x = RANDOM.integers(-9, 9, (16, 16)).astype(np.int32)

        def chain(n, older):
            lines, values, before = [], [x, x + x], ["%x_v", "%p1"]
            lines.append(f"%p1 = arith.addi %x_v, %x_v : {block}")
            for i in range(2, n):
                lines.append(f"%p{i} = arith.addi {before[-1]}, {before[-older]} : {block}")
                with np.errstate(over="ignore"):
                    values.append(values[-1] + values[-older])
                before.append(f"%p{i}")
            lines.append(f"tt.store %x_at, {before[-1]} : tensor<16x16x!tt.ptr<i32>>")
            return self.small(lines, {"x": x}, {"x": values[-1]}, "--set", "*.pe_tcm.size_mb=0.125", "--set", "*.pe_tcm.reserved_mb=0.0625")["sim_ns"]

        for older in (1, 2):
            short, middle, long = (chain(n, older) for n in (10, 20, 200))
            self.assertGreater(middle, short)
            self.assertAlmostEqual((long - middle) / (middle - short), 18, delta=1)  # 200 KiB, with only 64 available

    def test_a_function_takes_what_its_caller_has_not_made_yet(self):
        x = RANDOM.integers(-100000, 100000, 8).astype(np.int32)
        with tempfile.NamedTemporaryFile("w", suffix=".ttir", delete=False) as f:
            f.write("""module {
tt.func private @twice(%q: tensor<8x!tt.ptr<i32>>, %v: tensor<8xi32>) {
%z = arith.addi %v, %v : tensor<8xi32>
tt.store %q, %z : tensor<8x!tt.ptr<i32>>
tt.return
}
tt.func public @k(%x: !tt.ptr<i32> loc("x")) {
%r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
%p = tt.splat %x : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
%q = tt.addptr %p, %r : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
%v = tt.load %q : tensor<8x!tt.ptr<i32>>
%e = arith.extsi %v : tensor<8xi32> to tensor<8xi64>
%s = arith.muli %e, %e : tensor<8xi64>
%t = arith.trunci %s : tensor<8xi64> to tensor<8xi32>
tt.call @twice(%q, %t) : (tensor<8x!tt.ptr<i32>>, tensor<8xi32>) -> ()
tt.return
}
}
""")
        self.addCleanup(os.remove, f.name)
        Kernel(f.name, "1", {"x": x}, {"x": (x.astype(np.int64) ** 2 * 2).astype(np.int32)}).verified()

    def test_integers_that_no_double_holds(self):
        x, out = floats(16, 16) * 100, np.zeros((16, 16), np.int64)
        block = "tensor<16x16xi64>"
        for op, number, run in (("muli", 6364136223846793005, np.multiply), ("addi", 2**53 + 1, np.add), ("xori", -(2**63), np.bitwise_xor)):
            lines = [f"%n = arith.fptosi %x_v : tensor<16x16xf32> to {block}", f"%c = arith.constant dense<{number}> : {block}",
                     f"%made = arith.{op} %n, %c : {block}", "tt.store %out_at, %made : tensor<16x16x!tt.ptr<i64>>"]
            self.small(lines, {"x": x, "out": out}, {"out": run(x.astype(np.int64), np.int64(number))})
        # Large indices; and a single number.
        rows = np.arange(256, dtype=np.int64).reshape(16, 16)
        lines = [f"%wide = arith.extsi %at : tensor<16x16xi32> to {block}", f"%c = arith.constant dense<{2**60 + 1}> : {block}",
                 f"%made = arith.addi %wide, %c : {block}", "tt.store %out_at, %made : tensor<16x16x!tt.ptr<i64>>",
                 "%one = arith.constant 9007199254740993 : i64", "tt.store %out, %one : !tt.ptr<i64>"]
        expected = rows + (2**60 + 1)
        expected[0, 0] = 2**53 + 1
        self.small(lines, {"x": x, "out": out}, {"out": expected})

    def test_floats_become_integers_without_sign(self):
        """They wrap, whether MATH converts them or pe_cpu does; with a sign they saturate."""
        x = np.resize(np.array([200, 3e9, 255.9, 0.5, 127, 65535], np.float32), (16, 16))
        for element, dtype in (("i8", np.int8), ("i32", np.int32)):
            block = f"tensor<16x16x{element}>"
            store = f"tt.store %out_at, %n : tensor<16x16x!tt.ptr<{element}>>"
            out = np.zeros((16, 16), dtype)
            self.small([f"%n = arith.fptoui %x_v : tensor<16x16xf32> to {block}", store], {"x": x, "out": out},
                       {"out": x.astype(np.int64).astype(dtype)})
            known = np.full((16, 16), np.float32(3000000200)).astype(np.int64)
            for op, made in (("fptoui", known), ("fptosi", known.clip(None, np.iinfo(dtype).max))):
                self.small(["%c = arith.constant dense<3000000200.0> : tensor<16x16xf32>",
                            f"%n = arith.{op} %c : tensor<16x16xf32> to {block}", store], {"x": x, "out": out},
                           {"out": made.astype(dtype)})

    def test_truths_compare_by_their_sign(self):
        x, y = floats(16, 16), floats(16, 16)
        zero = "%zero = arith.constant dense<0.0> : tensor<16x16xf32>"
        truths = [f"%{n}t = arith.cmpf ogt, %{n}_v, %zero : tensor<16x16xf32>" for n in "xy"]
        a, b = -(x > 0).astype(np.int32), -(y > 0).astype(np.int32)
        for predicate, holds in (("slt", a < b), ("sle", a <= b), ("sgt", a > b), ("sge", a >= b), ("ult", a > b), ("uge", a <= b)):
            self.small([zero, *truths, f"%on = arith.cmpi {predicate}, %xt, %yt : tensor<16x16xi1>",
                        "%n = arith.extui %on : tensor<16x16xi1> to tensor<16x16xi32>", "tt.store %out_at, %n : tensor<16x16x!tt.ptr<i32>>"],
                       {"x": x, "y": y, "out": np.zeros((16, 16), np.int32)}, {"out": holds.astype(np.int32)})


class Order(unittest.TestCase):
    """Accesses of a program to one place are done in its order, though loads are asynchronous."""

    def kernel(self, body, arguments, expected, n=64):
        """Over rows of n: `%x_at` of each pointer argument x."""
        elements = {"float32": "f32", "int32": "i32"}
        lines = ["module {", "tt.func public @k(" + ", ".join(f'%{name}: !tt.ptr<{elements[str(x.dtype)]}> loc("{name}")'
                                                              for name, x in arguments.items()) + ") {",
                 f"%r = tt.make_range {{end = {n} : i32, start = 0 : i32}} : tensor<{n}xi32>"]
        for name, x in arguments.items():
            row = f"tensor<{n}x!tt.ptr<{elements[str(x.dtype)]}>>"
            lines += [f"%{name}_p = tt.splat %{name} : !tt.ptr<{elements[str(x.dtype)]}> -> {row}",
                      f"%{name}_at = tt.addptr %{name}_p, %r : {row}, tensor<{n}xi32>"]
        with tempfile.NamedTemporaryFile("w", suffix=".ttir", delete=False) as f:
            f.write("\n".join(lines + body + ["tt.return", "}", "}", ""]))
        self.addCleanup(os.remove, f.name)
        return Kernel(f.name, "1", arguments, expected, "--check-races").verified()

    def moved(self, write, x, n=64, load=None):
        """What was at x before it is written goes to y."""
        load = load or [f"%v = tt.load %x_at : tensor<{n}x!tt.ptr<i32>>"]
        made = x.copy()
        made[:n] = write[1]
        y = np.zeros_like(x)
        expected = y.copy()
        expected[:n] = x[:n]
        return self.kernel([*load, *write[0], f"tt.store %y_at, %v : tensor<{n}x!tt.ptr<i32>>"], {"x": x, "y": y},
                           {"x": made, "y": expected}, n)["sim_ns"]

    def test_a_write_waits_for_the_load_before_it(self):
        for n in (1, 64, 4096):
            x = RANDOM.integers(-99, 99, n).astype(np.int32)
            row, pointers = f"tensor<{n}xi32>", f"tensor<{n}x!tt.ptr<i32>>"
            seven = [f"%seven = arith.constant dense<7> : {row}"]
            store = [f"tt.store %x_at, %seven : {pointers}"]
            self.moved((seven + store, 7), x, n)
            # Backwards, with loaded or computed indices: a scatter.
            turned = [f"%last = arith.constant dense<{n - 1}> : {row}", f"%back = arith.subi %last, %r : {row}",
                      f"%x_back = tt.addptr %x_p, %back : {pointers}, {row}", f"tt.store %x_back, %seven : {pointers}"]
            self.moved((seven + turned, 7), x, n)
            gather = [*turned[:3], f"%w = tt.load %x_back : {pointers}", f"%y_back = tt.addptr %y_p, %back : {pointers}, {row}"]
            expected = {"x": np.full(n, 7, np.int32), "y": x}
            self.kernel([*gather, *seven, *store, f"tt.store %y_back, %w : {pointers}"], {"x": x, "y": np.zeros_like(x)}, expected, n)
            # The same bytes through an integer.
            number = ["%bits = tt.ptr_to_int %x : !tt.ptr<i32> -> i64", "%same = tt.int_to_ptr %bits : i64 -> !tt.ptr<i32>",
                      f"%same_p = tt.splat %same : !tt.ptr<i32> -> {pointers}", f"%same_at = tt.addptr %same_p, %r : {pointers}, {row}"]
            self.moved((seven + number + [f"tt.store %same_at, %seven : {pointers}"], 7), x, n)
            # A descriptor, and a block pointer.
            shape = [f"%n = arith.constant {n} : i32", "%wide = arith.extsi %n : i32 to i64", "%one = arith.constant 1 : i64", "%zero = arith.constant 0 : i32"]
            tile = f"!tt.tensordesc<{row}>"
            self.moved((seven + shape + [f"%d = tt.make_tensor_descriptor %x, [%n], [%one] : <i32>, <{row}>",
                                         f"tt.descriptor_store %d[%zero], %seven : {tile}, {row}"], 7), x, n)
            self.moved((seven + shape + [f"%d = tt.make_tensor_ptr %x, [%wide], [%one], [%zero] {{order = array<i32: 0>}} : <{row}>",
                                         f"tt.store %d, %seven : !tt.ptr<{row}>"], 7), x, n)

    def test_an_atomic_waits_for_the_load_before_it_and_what_follows_for_the_atomic(self):
        n = 64
        x = RANDOM.integers(-99, 99, n).astype(np.int32)
        row, pointers = f"tensor<{n}xi32>", f"tensor<{n}x!tt.ptr<i32>>"
        lines = [f"%seven = arith.constant dense<7> : {row}", f"%on = arith.constant dense<true> : tensor<{n}xi1>"]
        for sem in ("relaxed", "acq_rel"):
            add = [f"%old = tt.atomic_rmw add, {sem}, gpu, %x_at, %seven, %on : ({pointers}, {row}, tensor<{n}xi1>) -> {row}"]
            self.moved((lines + add, x + 7), x)
            self.moved((lines + add + [f"tt.store %x_at, %seven : {pointers}"], 7), x)
            y = np.zeros_like(x)
            self.kernel([*lines, *add, f"%v = tt.load %x_at : {pointers}", f"tt.store %y_at, %v : {pointers}"], {"x": x, "y": y},
                        {"x": x + 7, "y": x + 7})
            swap = [add[0].replace(" add,", " exch,")]
            self.kernel([*lines, *swap, f"%v = tt.load %x_at : {pointers}", f"tt.store %y_at, %v : {pointers}"], {"x": x, "y": y},
                        {"x": np.full(n, 7, np.int32), "y": np.full(n, 7, np.int32)})

    def test_what_reads_waits_for_what_the_program_has_stored(self):
        # Complete, in part, as atomics' operands; and with more stores than are tracked.
        for n, ahead in ((16, 0), (16, 3), (1, 0), (4096, 4095)):
            row, pointers = f"tensor<{n}xi32>", f"tensor<{n}x!tt.ptr<i32>>"
            x = RANDOM.integers(-99, 99, n + ahead).astype(np.int32)
            made = x.copy()
            made[:n] = 7
            lines = [f"%seven = arith.constant dense<7> : {row}", f"%ahead = arith.constant dense<{ahead}> : {row}",
                     f"%x_from = tt.addptr %x_at, %ahead : {pointers}, {row}", f"tt.store %x_at, %seven : {pointers}"]
            y = np.zeros(n, np.int32)
            self.kernel([*lines, f"%v = tt.load %x_from : {pointers}", f"tt.store %y_at, %v : {pointers}"], {"x": x, "y": y},
                        {"x": made, "y": made[ahead:]}, n)
            added = made.copy()
            added[ahead:] += 7
            self.kernel([*lines, f"%on = arith.constant dense<true> : tensor<{n}xi1>",
                         f"%old = tt.atomic_rmw add, relaxed, gpu, %x_from, %seven, %on : ({pointers}, {row}, tensor<{n}xi1>) -> {row}"],
                        {"x": x}, {"x": added}, n)
        n, row, pointers = 4, "tensor<4xi32>", "tensor<4x!tt.ptr<i32>>"
        x, y = np.arange(4 * 100, dtype=np.int32), np.zeros(4 * 100, np.int32)
        loop = ["%c0 = arith.constant 0 : i32", "%c4 = arith.constant 4 : i32", "%c400 = arith.constant 400 : i32", f"%nine = arith.constant dense<9> : {row}",
                "scf.for %i = %c0 to %c400 step %c4 : i32 {", f"%at = tt.splat %i : i32 -> {row}", f"%to = tt.addptr %x_at, %at : {pointers}, {row}",
                f"tt.store %to, %nine : {pointers}", "}"]
        copy = ["scf.for %i = %c0 to %c400 step %c4 : i32 {", f"%at = tt.splat %i : i32 -> {row}", f"%from = tt.addptr %x_at, %at : {pointers}, {row}",
                f"%v = tt.load %from : {pointers}", f"%to = tt.addptr %y_at, %at : {pointers}, {row}", f"tt.store %to, %v : {pointers}", "}"]
        self.kernel([*loop, *copy], {"x": x, "y": y}, {"x": np.full(400, 9, np.int32), "y": np.full(400, 9, np.int32)}, n)

    def test_an_atomic_waits_for_the_value_it_is_given(self):
        for n in (1, 64):
            row, pointers, on = f"tensor<{n}xi32>", f"tensor<{n}x!tt.ptr<i32>>", f"tensor<{n}xi1>"
            x, y = RANDOM.integers(-99, 99, n).astype(np.int32), np.full(n, 5, np.int32)
            self.kernel([f"%v = tt.load %x_at : {pointers}", f"%w = arith.muli %v, %v : {row}", f"%on = arith.constant dense<true> : {on}",
                         f"%old = tt.atomic_rmw add, relaxed, gpu, %y_at, %w, %on : ({pointers}, {row}, {on}) -> {row}"], {"x": x, "y": y},
                        {"y": 5 + x * x}, n)

    def test_divisions_by_0_that_a_mask_leaves_out_are_no_faults(self):
        x, y, row = np.array([1, 0, 3, 2147483647], np.int32), np.full(4, 9, np.int32), "tensor<4xi32>"
        for op in ("divsi", "divui"):
            self.kernel(["%v = tt.load %x_at : tensor<4x!tt.ptr<i32>>", f"%c = arith.constant dense<3> : {row}",
                         f"%z = arith.constant dense<0> : {row}", f"%m = arith.{op} %c, %v : {row}", f"%on = arith.cmpi ne, %v, %z : {row}",
                         f"%to = tt.addptr %y_p, %m : tensor<4x!tt.ptr<i32>>, {row}", "tt.store %to, %v, %on : tensor<4x!tt.ptr<i32>>"],
                        {"x": x, "y": y}, {"y": np.array([2147483647, 3, 9, 1], np.int32)}, 4)
            # For indices.
            self.kernel([f"%c = arith.constant dense<3> : {row}", f"%z = arith.constant dense<0> : {row}", f"%m = arith.{op} %c, %r : {row}",
                         f"%on = arith.cmpi ne, %r, %z : {row}", f"tt.store %y_at, %m, %on : tensor<4x!tt.ptr<i32>>"],
                        {"y": y}, {"y": np.array([9, 3, 1, 1], np.int32)}, 4)

    def test_barriers_are_nothing(self):
        """A program is one thread; as versions of Triton spell them."""
        x, y = np.arange(4, dtype=np.int32), np.zeros(4, np.int32)
        for barrier in ("gpu.barrier", "ttg.barrier local", "ttg.barrier all", '"ttg.barrier"() : () -> ()'):
            self.kernel(["%v = tt.load %x_at : tensor<4x!tt.ptr<i32>>", barrier, "tt.store %y_at, %v : tensor<4x!tt.ptr<i32>>"],
                        {"x": x, "y": y}, {"y": x}, 4)

    def test_numbers_are_moved_in_order_too(self):
        x = np.array([5, 6], np.float32)
        self.kernel(["%v = tt.load %x : !tt.ptr<f32>", "%c = arith.constant 3.0 : f32", "tt.store %x, %c : !tt.ptr<f32>",
                     "%c1 = arith.constant 1 : i32", "%next = tt.addptr %x, %c1 : !tt.ptr<f32>, i32", "%w = arith.addf %v, %v : f32",
                     "tt.store %next, %w : !tt.ptr<f32>"], {"x": x}, {"x": np.array([3, 10], np.float32)}, 2)

    def test_rows_are_turned_in_place(self):
        """Loops over a block and its mirror image, both of one tensor."""
        n = 64
        x = RANDOM.integers(-99, 99, 2 * n).astype(np.int32)
        row, pointers = f"tensor<{n}xi32>", f"tensor<{n}x!tt.ptr<i32>>"
        self.kernel([f"%n = arith.constant dense<{n}> : {row}", f"%above = tt.addptr %x_at, %n : {pointers}, {row}",
                     f"%a = tt.load %x_at : {pointers}", f"%b = tt.load %above : {pointers}",
                     f"tt.store %above, %a : {pointers}", f"tt.store %x_at, %b : {pointers}"], {"x": x}, {"x": np.roll(x, n)}, n)

    def test_a_write_elsewhere_waits_for_no_load(self):
        n = 4096
        x, row, pointers = np.arange(2 * n, dtype=np.int32), f"tensor<{n}xi32>", f"tensor<{n}x!tt.ptr<i32>>"
        at = [f"%seven = arith.constant dense<7> : {row}", f"%far = arith.constant dense<{n}> : {row}",
              f"%x_far = tt.addptr %x_at, %far : {pointers}, {row}"]
        load, store = f"%v = tt.load %x_at : {pointers}", f"tt.store %x_far, %seven : {pointers}"
        made, moved = x.copy(), np.zeros_like(x)
        made[n:], moved[:n] = 7, x[:n]
        behind, before, waits = (self.kernel([*at, *lines, f"tt.store %y_at, %v : {pointers}"], {"x": x, "y": np.zeros_like(x)},
                                             {"x": made, "y": moved}, n)["sim_ns"]
                                 for lines in ((load, store), (store, load), (load, f"%w = arith.muli %v, %v : {row}",
                                               f"%some = arith.cmpi sge, %w, %w : {row}", f"tt.store %x_far, %seven, %some : {pointers}")))
        self.assertLess(abs(behind - before), 0.2 * (waits - before))


class Times(unittest.TestCase):
    """On the default machine, as docs/triton.md has them."""

    def report(self, *words):
        topology = os.path.join(os.environ["KERNBENCH_TOPOLOGIES"], "default.yaml")
        done = subprocess.run([CLI, "run", "--topology", topology, "--ranks", "1", "--format", "json", *words],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_a_matmul_with_its_operands_in_every_cube_has_most_of_the_peak(self):
        n = "4096"
        words = ["--ttir", os.path.join(TEXTS, "matmul_large_3_4.ttir"), "--grid", "128", "--interleave", "8192", "--place", "a_ptr=cube",
                 "--place", "b_ptr=cube", "--set", "*.pe_dma.outstanding=16", "--set", "*.pe_dma.join_pieces=true"]
        for name, fill in (("a_ptr", "uniform"), ("b_ptr", "uniform"), ("c_ptr", "zeros")):
            words += ["--tensor", f"{name}={fill}:f16[{n},{n}]"]
        for name in ("M", "N", "K", "stride_am", "stride_bk", "stride_cm"):
            words += ["--param", f"{name}={n}"]
        peak = 128 * 4096 * 2 * 1e9
        self.assertGreaterEqual(2 * 4096**3 / (self.report(*words)["sim_ns"] * 1e-9), 0.8 * peak)

    def test_flash_attention_is_as_fast_as_the_kernel_of_that_name(self):
        pes = ["--pes", "sip0.cube0.pe0,sip0.cube0.pe1"]
        words = ["--ttir", os.path.join(TEXTS, "attention_64_3_7.ttir"), "--grid", "8,4", "--order", "blocks", "--param", "S=512",
                 "--param", "scale=0.18"]
        for name, fill in (("Q", "uniform"), ("K", "uniform"), ("V", "uniform"), ("O", "zeros")):
            words += ["--tensor", f"{name}={fill}:f16[4,512,64]"]
            words += ["--place", f"{name}=replicate"] if name != "O" else []
        own = self.report(*pes, "--kernel", "attention", "--param", "dtype=f16", "--param", "causal=true")
        self.assertLess(self.report(*pes, *words)["sim_ns"], 1.15 * own["sim_ns"])

    def test_num_stages_bounds_how_far_loads_run_ahead(self):
        """With one stage a load waits for the dot before it; with more they overlap, and no more than they need to."""
        with open(os.path.join(TEXTS, "matmul_3_4.ttir"), encoding="utf-8") as f:
            text = f.read()
        end = "scf.yield %70, %71, %72 : tensor<32x32xf32>, tensor<32x16x!tt.ptr<f16>>, tensor<16x32x!tt.ptr<f16>>\n    }"
        self.assertIn(end, text)
        times = []
        for stages in (1, 2, 3, 0, 9223372036854775807):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "matmul.ttir")
                with open(path, "w", encoding="utf-8") as f:
                    f.write(text.replace(end, f"{end} {{tt.num_stages = {stages} : i64}}"))
                kernel = matmul(32, 32, 256)
                kernel.command[kernel.command.index(os.path.join(TEXTS, "matmul_3_4.ttir"))] = path
                times.append(kernel.verified()["sim_ns"])
        self.assertGreater(times[0], times[1])
        self.assertGreaterEqual(times[1], times[2])
        self.assertEqual(times[3], times[0])
        self.assertLessEqual(times[4], times[2])


class Faults(unittest.TestCase):
    def refused(self, kernel, *words):
        done = kernel.run()
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stdout, "")
        for word in words:
            self.assertIn(word, done.stderr)
        return done.stderr.splitlines()

    def text(self, *lines):
        with tempfile.NamedTemporaryFile("w", suffix=".ttir", delete=False) as f:
            f.write("\n".join(("module {", "tt.func public @k(%arg0: !tt.ptr<f32>) {", *lines, "tt.return", "}", "}", "")))
        self.addCleanup(os.remove, f.name)
        return f.name

    def test_what_is_not_known_is_listed_at_once_with_its_line(self):
        text = self.text("%0 = tt.strange %arg0 : !tt.ptr<f32>", "%1 = arith.constant 1.0 : f32",
                         "%2 = \"tt.elementwise_inline_asm\"(%1) : (f32) -> f32",
                         "tt.stranger")
        lines = self.refused(Kernel(text, "1", {"arg0": np.zeros(4, np.float32)}, {}))
        self.assertEqual(len(lines), 3)
        for line, (number, op) in zip(lines, ((3, "tt.strange"), (6, "tt.stranger"), (5, "tt.elementwise_inline_asm"))):
            self.assertIn(f"{text}:{number}: {op} ", line)

    def test_a_result_in_the_generic_form_is_what_the_operands_make(self):
        head = ("%r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>",
                "%p = tt.splat %arg0 : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>",
                "%q = tt.addptr %p, %r : tensor<8x!tt.ptr<f32>>, tensor<8xi32>")
        load = '%v = "tt.load"(%q) <{{boundaryCheck = array<i32>, operandSegmentSizes = array<i32: 1, 0, 0>}}> : (tensor<8x!tt.ptr<f32>>) -> {}'
        for line, found, wanted in ((load.format("tensor<4xf32>"), "tensor<4xf32>", "tensor<8xf32>"),
                                    (load.format("tensor<8xf16>"), "tensor<8xf16>", "tensor<8xf32>"),
                                    ('%v = "arith.addi"(%r, %r) : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi64>', "tensor<8xi64>", "tensor<8xi32>"),
                                    ('%v = "tt.addptr"(%p, %r) : (tensor<8x!tt.ptr<f32>>, tensor<8xi32>) -> tensor<4x!tt.ptr<f32>>',
                                     "tensor<4x!tt.ptr<f32>>", "tensor<8x!tt.ptr<f32>>")):
            text = self.text(*head, line)
            self.refused(Kernel(text, "1", {"arg0": np.zeros(8, np.float32)}, {}), f"{text}:6: ", f"found a result of {found}, expected {wanted}")
        text = self.text(*head, load.format("tensor<8xf32>"))
        self.assertEqual(Kernel(text, "1", {"arg0": np.zeros(8, np.float32)}, {}).run().returncode, 0)

    def test_an_order_names_each_dimension_once(self):
        for order in ("65536, 0", "0, -1", "0, 0", "1", "-9223372036854775808, 0"):
            text = self.text("%c = arith.constant dense<1.0> : tensor<4x2xf32>",
                             f"%t = tt.trans %c {{order = array<i32: {order}>}} : tensor<4x2xf32> -> tensor<2x4xf32>")
            self.refused(Kernel(text, "1", {"arg0": np.zeros(4, np.float32)}, {}), f"{text}:4: tt.trans: ", "its order")

    def test_missing_arguments_are_listed_at_once(self):
        lines = self.refused(Kernel("vector_add_3_1.ttir", "1", {"arg1": np.zeros(4, np.float32)}, {}))
        self.assertEqual(len(lines), 3)
        for line, name in zip(lines, ("--tensor arg0", "--tensor arg2", "--param arg3")):
            self.assertIn(name, line)

    def test_arguments_without_a_location_have_their_names_of_the_ir(self):
        with tempfile.NamedTemporaryFile("w", suffix=".ttir", delete=False) as f:
            f.write("module {\ntt.func public @k(%x_ptr: !tt.ptr<f32>, %n: i32, %2: i32) {\ntt.return\n}\n}\n")
        self.addCleanup(os.remove, f.name)
        x = np.zeros(4, np.float32)
        done = Kernel(f.name, "1", {"x_ptr": x, "n": 1, "arg2": 1}, {}).run()
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = self.refused(Kernel(f.name, "1", {"arg0": x, "n": 1, "arg2": 1}, {}), "--tensor x_ptr=: missing", "the kernel has x_ptr")
        self.assertEqual(len(lines), 2)

    def test_a_limit_ends_a_loop_of_numbers(self):
        text = self.text("%c0 = arith.constant 0 : i32", "%r = scf.while (%i = %c0) : (i32) -> i32 {", "%t = arith.cmpi sge, %i, %c0 : i32",
                         "scf.condition(%t) %i : i32", "} do {", "^bb0(%j: i32):", "scf.yield %j : i32", "}")
        done = Kernel(text, "1", {"arg0": np.zeros(4, np.float32)}, {}, "--max-time", "1000").run()
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("--max-time: not done", done.stderr)

    def test_wrong_words_are_refused(self):
        for grid in ("0", "1,2,3,4", "x", "", "99999999999"):
            kernel = vector_add(4)
            kernel.command[kernel.command.index("--grid") + 1] = grid
            self.refused(kernel, "--grid")
        self.refused(vector_add(4, "--place", "arg2=replicate"), "arg2", "copies")
        self.refused(vector_add(4, "--place", "arg2=cube"), "arg2", "copies")
        self.refused(vector_add(4, "--place", "arg0=columns"), "interleave, cube, rows or replicate")
        self.refused(vector_add(4, "--interleave", "6"), "--interleave")
        kernel = vector_add(4, "--interleave", "4")
        kernel.command[[i for i, word in enumerate(kernel.command) if word.startswith("arg0=")][0]] = "arg0=zeros:f32[1000000000]"
        self.refused(kernel, "--interleave", "2^22", "arg0")
        kernel = vector_add(4, "--interleave", "4", "--pes", "all", "--place", "arg0=cube")  # two cubes, 2^21 blocks each
        at = [i for i, word in enumerate(kernel.command) if word.startswith("arg0=") and word != "arg0=cube"][0]
        kernel.command[at] = "arg0=zeros:f32[2097153]"
        self.refused(kernel, "--interleave", "2^22", "arg0", "2 times")
        self.refused(vector_add(4, "--function", "other"), "--function", "vector_add")
        self.refused(vector_add(4, "--kernel", "gemm"), "one of them")

    def test_promises_are_kept(self):
        text = self.text("%0 = tt.get_program_id x : i32", "%1 = arith.constant 1 : i32",
                         "%2 = arith.cmpi slt, %0, %1 : i32", "llvm.intr.assume %2 : i1 loc(\"k.py\":7:1)")
        Kernel(text, "1", {"arg0": np.zeros(4, np.float32)}, {}).run()
        done = Kernel(text, "2", {"arg0": np.zeros(4, np.float32)}, {}).run()
        self.assertEqual(done.returncode, 1)
        self.assertIn("k.py:7", done.stderr)

    def test_assertions_are_read_as_versions_spell_them(self):
        for words in ('"less than one"', '"less than one", "a.py", "f", 12'):
            text = self.text("%0 = tt.get_program_id x : i32", "%1 = arith.constant 1 : i32", "%2 = arith.cmpi slt, %0, %1 : i32",
                             "%3 = tt.splat %2 : i1 -> tensor<4xi1>", f"tt.assert %3, {words} : tensor<4xi1>")
            for grid, status in (("1", 0), ("2", 1)):
                done = Kernel(text, grid, {"arg0": np.zeros(4, np.float32)}, {}).run()
                self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn("less than one", done.stderr)

    def test_a_gather_by_an_index_that_is_not_there_is_a_fault_at_its_line(self):
        for number in (8, -1):
            text = self.text("%r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>",
                             "%p = tt.splat %arg0 : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>",
                             "%q = tt.addptr %p, %r : tensor<8x!tt.ptr<f32>>, tensor<8xi32>",
                             "%x = tt.load %q : tensor<8x!tt.ptr<f32>>", f"%i = arith.constant dense<{number}> : tensor<8xi32>",
                             "%y = tt.gather %x[%i] {axis = 0 : i32} : (tensor<8xf32>, tensor<8xi32>) -> tensor<8xf32>",
                             "tt.store %q, %y : tensor<8x!tt.ptr<f32>>")
            done = Kernel(text, "1", {"arg0": np.zeros(8, np.float32)}, {}).run()
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"tt.gather ({text}:8): found index {number}", done.stderr)

    def test_an_access_beyond_the_tensor_is_a_fault_at_its_line(self):
        kernel = vector_add(100)
        at = kernel.command.index("arg3=100")
        kernel.command[at] = "arg3=101"
        done = kernel.run()
        self.assertEqual(done.returncode, 1)
        self.assertIn("vector_add.py:10", done.stderr)


if __name__ == "__main__":
    unittest.main()
