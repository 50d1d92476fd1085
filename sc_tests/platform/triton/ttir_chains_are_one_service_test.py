# SPDX-License-Identifier: Apache-2.0
"""Are elementwise operations in a row one MATH command, with the values and the cycles that they have alone? Chains of
all lengths and types, with operands read twice, and what ends them: another shape, a second reader, another engine."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np
from ttir_cli import CLI, ELEMENTS, TEXTS, TOPOLOGY

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../phase2/log"))
from forged_logs_test import with_checksums

N = 1024
LANES, OVERHEAD = 128, 50.0
CYCLES = {"exp": 4, "div": 4, "sqrt": 4, "exp2": 4}
T = f"tensor<{N}xf32>"


def text_of(body, arrays):
    """`%x` is what array x holds, `%x_at` where."""
    lines = [f"%r = tt.make_range {{end = {N} : i32, start = 0 : i32}} : tensor<{N}xi32>"]
    for name, a in arrays.items():
        p = f"!tt.ptr<{ELEMENTS[str(a.dtype)]}>"
        lines += [f"%{name}_p = tt.splat %{name}_base : {p} -> tensor<{N}x{p}>",
                  f"%{name}_at = tt.addptr %{name}_p, %r : tensor<{N}x{p}>, tensor<{N}xi32>",
                  f"%{name} = tt.load %{name}_at : tensor<{N}x{p}>"]
    signature = ", ".join(f'%{name}_base: !tt.ptr<{ELEMENTS[str(a.dtype)]}> loc("{name}")' for name, a in arrays.items())
    return "\n".join(["module {", f"tt.func public @k({signature}) {{", *lines, *body, "tt.return", "}", "}", ""])


def store(name, value, dtype="f32"):
    return f"tt.store %{name}_at, %{value} : tensor<{N}x!tt.ptr<{dtype}>>"


class Made:
    """A run: its outputs' bytes, its MATH records, its time."""

    def __init__(self, body, arrays, *options, status=0):
        with tempfile.TemporaryDirectory() as folder:
            at = lambda name: os.path.join(folder, name)
            with open(at("k.ttir"), "w", encoding="utf-8") as f:
                f.write(text_of(body, arrays))
            command = [CLI, "run", "--topology", TOPOLOGY, "--ttir", at("k.ttir"), "--grid", "1", "--format", "json", "--set", f"*.pe_math.overhead_ns={OVERHEAD}", *options]
            log = options[options.index("--oplog") + 1] if "--oplog" in options else at("log.jsonl")
            command += [] if "--oplog" in options else ["--oplog", log]
            stored = [name for name in arrays if any(f"tt.store %{name}_at" in line for line in body)]
            for name, a in arrays.items():
                np.save(at(name + ".npy"), a)
                command += ["--tensor", f"{name}={at(name + '.npy')}"]
            for name in stored:
                command += ["--dump", f"{name}={at('made_' + name + '.npy')}"]
            done = subprocess.run(command, capture_output=True, text=True)
            self.stderr = done.stderr
            assert done.returncode == status, done.stderr + done.stdout[-2000:]
            if status:
                return
            self.ns = json.loads(done.stdout)["sim_ns"]
            self.arrays = {name: np.load(at(f"made_{name}.npy")) for name in stored}
            with open(log, encoding="utf-8") as f:
                records = [json.loads(line) for line in f]
            self.math = [r for r in records if r.get("op_kind") == "math"]

    def ops(self):
        """Of each command the ops that it does."""
        return [[s.split(":")[0] for s in r["params"]["argument"].split("; ")] if r["op_name"] == "chain" else [r["op_name"]]
                for r in self.math]


class Chains(unittest.TestCase):
    def both(self, body, arrays, *options):
        joined, single = (Made(body, arrays, "--chains", how, *options) for how in ("joined", "single"))
        for name, a in joined.arrays.items():
            self.assertEqual(a.tobytes(), single.arrays[name].tobytes(), name)
        self.assertEqual(sorted(sum(joined.ops(), [])), sorted(sum(single.ops(), [])))
        self.assertTrue(all(len(ops) == 1 for ops in single.ops()))
        for r, ops in zip(joined.math, joined.ops()):
            elements = np.prod(r["params"]["shape_out"])
            cycles = sum(CYCLES.get(op, 1) for op in ops) * -(-elements // LANES)
            item = {"f32": 4, "i32": 4, "f16": 2, "i64": 8}
            streams = [sum(np.prod(s) * item.get(t, 1) for s, t in zip(r["params"]["input_shapes"], r["params"]["input_dtypes"])) / 512,
                       elements * item.get(r["params"]["dtype"], 1) / 512]
            self.assertAlmostEqual(r["t_end"] - r["t_start"], OVERHEAD + max(cycles, *streams), places=6, msg=str(ops))
        return joined, single

    def arrays(self, **kinds):
        random = np.random.default_rng(5)
        return {name: (random.uniform(-2, 2, N) if np.dtype(t).kind == "f" else random.integers(-99, 99, N)).astype(t)
                for name, t in kinds.items()}

    def test_a_chain_is_one_command_with_the_cycles_of_all(self):
        a = self.arrays(x=np.float32, y=np.float32)
        joined, single = self.both([f"%a = arith.addf %x, %y : {T}", f"%b = math.exp %a : {T}", f"%c = arith.mulf %b, %x : {T}",
                                    store("y", "c")], a)
        self.assertEqual(joined.ops(), [["add", "exp", "mul"]])
        self.assertLess(joined.ns + 1.9 * OVERHEAD, single.ns)
        np.testing.assert_allclose(joined.arrays["y"], np.exp((a["x"] + a["y"]).astype(np.float64)) * a["x"], rtol=1e-5)
        self.assertEqual(joined.math[0]["params"]["argument"], "add:f32 x0 x1; exp:f32 s0; mul:f32 s1 x0")

    def test_one_operation_is_a_command_as_ever(self):
        joined, single = self.both([f"%a = arith.addf %x, %y : {T}", store("y", "a")], self.arrays(x=np.float32, y=np.float32))
        self.assertEqual(joined.ops(), [["add"]])
        self.assertEqual(joined.ns, single.ns)

    def test_it_is_the_default(self):
        body = [f"%a = arith.addf %x, %y : {T}", f"%b = math.exp %a : {T}", store("y", "b")]
        self.assertEqual(Made(body, self.arrays(x=np.float32, y=np.float32)).ops(), [["add", "exp"]])

    def test_results_between_are_rounded_to_their_types(self):
        a = self.arrays(x=np.float16, y=np.float32)
        h = f"tensor<{N}xf16>"
        joined, _ = self.both([f"%a = arith.mulf %x, %x : {h}", f"%b = arith.mulf %a, %a : {h}", f"%c = arith.extf %b : {h} to {T}",
                               f"%d = arith.subf %c, %y : {T}", f"%e = arith.truncf %d : {T} to {h}", f"%f = arith.extf %e : {h} to {T}",
                               store("y", "f")], a)
        self.assertEqual(joined.ops(), [["mul", "mul", "cast", "sub", "cast", "cast"]])
        right = a["x"] * a["x"]
        right = (right * right).astype(np.float32) - a["y"]
        np.testing.assert_array_equal(joined.arrays["y"], right.astype(np.float16).astype(np.float32))

    def test_conditions_and_integers(self):
        a = self.arrays(x=np.float32, y=np.float32, i=np.int32, j=np.int32, k=np.int32)
        t = f"tensor<{N}xi32>"
        joined, _ = self.both([f"%e = math.exp %x : {T}", f"%c = arith.cmpf ogt, %e, %y : {T}", f"%z = arith.select %c, %x, %y : tensor<{N}xi1>, {T}",
                               store("y", "z"), f"%f = arith.fptosi %x : {T} to {t}", f"%s = arith.addi %i, %f : {t}", f"%m = arith.muli %s, %s : {t}",
                               f"%w = arith.maxsi %m, %j : {t}", store("k", "w", "i32")], a)
        self.assertEqual(joined.ops(), [["exp", "gt", "where"], ["cast", "add", "mul", "maximum"]])
        np.testing.assert_array_equal(joined.arrays["y"], np.where(np.exp(a["x"]) > a["y"], a["x"], a["y"]))
        s = a["i"] + np.trunc(a["x"]).astype(np.int32)
        np.testing.assert_array_equal(joined.arrays["k"], np.maximum(s * s, a["j"]))

    def test_the_longest_chains_are_of_16(self):
        for length, lengths in ((15, [15]), (16, [16]), (17, [16, 1]), (40, [16, 16, 8])):
            body = [f"%v{i + 1} = arith.{'addf' if i % 2 else 'mulf'} %{f'v{i}' if i else 'x'}, %y : {T}" for i in range(length)]
            joined, _ = self.both([*body, store("y", f"v{length}")], self.arrays(x=np.float32, y=np.float32))
            self.assertEqual([len(ops) for ops in joined.ops()], lengths)

    def test_what_two_read_is_computed_once(self):
        joined, _ = self.both([f"%a = math.exp %x : {T}", f"%b = arith.addf %a, %y : {T}", f"%c = arith.mulf %a, %b : {T}", store("y", "c")],
                              self.arrays(x=np.float32, y=np.float32))
        self.assertEqual(joined.ops(), [["exp"], ["add", "mul"]])

    def test_a_value_that_one_reads_twice_is_no_end(self):
        joined, _ = self.both([f"%a = arith.addf %x, %y : {T}", f"%b = arith.mulf %a, %a : {T}", f"%c = math.fma %b, %b, %b : {T}", store("y", "c")],
                              self.arrays(x=np.float32, y=np.float32))
        self.assertEqual(joined.ops(), [["add", "mul", "fma"]])

    def test_both_sides_of_an_operation_join_it(self):
        joined, _ = self.both([f"%a = math.exp %x : {T}", f"%b = math.exp2 %y : {T}", f"%c = arith.divf %a, %b : {T}", store("y", "c")],
                              self.arrays(x=np.float32, y=np.float32))
        self.assertEqual(joined.ops(), [["exp", "exp2", "div"]])

    def test_another_shape_ends_it(self):
        b, r = "tensor<32x32xf32>", "tensor<32xf32>"
        joined, _ = self.both([f"%m = tt.reshape %x : {T} -> {b}", '%s = "tt.reduce"(%m) <{axis = 1 : i32}> ({', "^bb0(%p: f32, %q: f32):",
                               "%t = arith.addf %p, %q : f32", "tt.reduce.return %t : f32", f"}}) : ({b}) -> {r}", f"%u = math.exp %s : {r}",
                               f"%w = arith.mulf %u, %s : {r}", f"%k = tt.expand_dims %w {{axis = 1 : i32}} : {r} -> tensor<32x1xf32>",
                               f"%l = tt.broadcast %k : tensor<32x1xf32> -> {b}", f"%n = arith.subf %m, %l : {b}", f"%o = math.absf %n : {b}",
                               f"%v = tt.reshape %o : {b} -> {T}", store("y", "v")], self.arrays(x=np.float32, y=np.float32))
        self.assertEqual(joined.ops(), [["sum"], ["exp", "mul"], ["sub", "abs"]])

    def test_another_engine_between_ends_it(self):
        b = "tensor<32x32xf32>"
        joined, _ = self.both([f"%a = math.exp %x : {T}", f"%m = tt.reshape %y : {T} -> {b}", f"%z = arith.constant dense<0.0> : {b}",
                               f"%d = tt.dot %m, %m, %z : {b} * {b} -> {b}", f"%e = tt.reshape %d : {b} -> {T}", f"%f = arith.addf %a, %e : {T}",
                               f"%g = math.absf %f : {T}", store("y", "g")], self.arrays(x=np.float32, y=np.float32))
        self.assertEqual(joined.ops(), [["exp"], ["add", "abs"]])

    def test_loops_carry_what_is_computed(self):
        a = self.arrays(x=np.float32, y=np.float32)
        joined, _ = self.both(["%c0 = arith.constant 0 : i32", "%c1 = arith.constant 1 : i32", "%c5 = arith.constant 5 : i32",
                               f"%l = scf.for %n = %c0 to %c5 step %c1 iter_args(%v = %x) -> ({T}) : i32 {{", f"%a = arith.mulf %v, %y : {T}",
                               f"%b = arith.addf %a, %x : {T}", f"scf.yield %b : {T}", "}", f"%o = math.absf %l : {T}", store("y", "o")], a)
        self.assertEqual(joined.ops(), [["mul", "add"]] * 5 + [["abs"]])
        right = a["x"]
        for _ in range(5):
            right = right * a["y"] + a["x"]
        np.testing.assert_array_equal(joined.arrays["y"], np.abs(right))

    def test_every_op_of_one_is_checked_and_named(self):
        body = [f"%a = arith.addf %x, %y : {T}", f"%b = math.exp %a : {T}", f"%c = arith.mulf %b, %x : {T}", store("y", "c")]
        a = self.arrays(x=np.float32, y=np.float32)
        with tempfile.TemporaryDirectory() as folder:
            right, log = os.path.join(folder, "y.npy"), os.path.join(folder, "run.jsonl")
            np.save(right, (np.exp((a["x"] + a["y"]).astype(np.float64)) * a["x"]).astype(np.float32))
            done = Made(body, a, "--debug-verify", "--expected", f"y={right}", "--oplog", log)
            number = [r["op_id"] for r in done.math if r["op_name"] == "chain"][0]
            replay = [CLI, "replay", "--oplog", log, "--debug-verify"]
            self.assertEqual(subprocess.run(replay, capture_output=True).returncode, 0)
            broken = subprocess.run([*replay, "--corrupt-op", str(number)], capture_output=True, text=True)
        self.assertEqual(broken.returncode, 1)
        self.assertIn(f"op {number} (chain) at ", broken.stderr)
        self.assertIn(": step 3 of 3, mul, differs from its reference", broken.stderr)

    def test_a_log_that_says_no_chain_is_a_line(self):
        body = [f"%a = arith.addf %x, %y : {T}", f"%b = math.exp %a : {T}", store("y", "b")]
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "run.jsonl")
            Made(body, self.arrays(x=np.float32, y=np.float32), "--oplog", log)
            with open(log, "rb") as f:
                lines = f.read().splitlines()
            right = b"add:f32 x0 x1; exp:f32 s0"
            self.assertIn(right, b"".join(lines))
            self.assertEqual(subprocess.run([CLI, "replay", "--oplog", log], capture_output=True).returncode, 0)
            for wrong in ("", " ", ";", "; ", "add:f32 x0 x1; ", "add:f32 x0; exp:f32 s0", "add:f32 x0 x2; exp:f32 s0", "exp:f32 s0",
                          "add:f32 x0 x1; exp:f32 s1", "add x0 x1", "add:f99 x0 x1", "sum:f32 x0", "chain:f32 x0", "add:f32 x0 x1; exp:f16 s0",
                          "add:f32 x x1", "add:f32 x0 y1", "add:f32 x0 x99999999999999999999", "add:f32 x0 x-1", "bitwise_and:f32 x0 x1",
                          "; ".join(["exp:f32 x0"] * 17)):
                with open(log, "wb") as f:
                    f.write(with_checksums([line.replace(right, wrong.encode()) for line in lines]))
                done = subprocess.run([CLI, "replay", "--oplog", log], capture_output=True, text=True)
                self.assertIn(done.returncode, (1, 2), wrong + done.stdout)
                self.assertEqual(len(done.stderr.strip().splitlines()), 1, wrong + ": " + done.stderr)
                self.assertNotIn("checksum", done.stderr)

    def test_energy_is_that_of_its_ops(self):
        body = [f"%a = arith.addf %x, %y : {T}", f"%b = math.exp %a : {T}", store("y", "b")]
        a = self.arrays(x=np.float32, y=np.float32)
        with tempfile.TemporaryDirectory() as folder:
            counts = []
            for how in ("joined", "single"):
                path = os.path.join(folder, how + ".csv")
                Made(body, a, "--chains", how, "--energy", "n7.yaml", "--activity", path)
                with open(path, encoding="utf-8") as f:
                    counts.append([line for line in f if "pe_math" in line])
        self.assertEqual(counts[0], counts[1])
        self.assertEqual([line.strip().split(",")[1:] for line in counts[0]], [["add", str(N)], ["exp", str(N)]])

    def test_other_words_are_refused(self):
        a, body = self.arrays(x=np.float32), [f"%a = math.exp %x : {T}", store("x", "a")]
        self.assertIn("joined", Made(body, a, "--chains", "all", status=2).stderr)
        done = subprocess.run([CLI, "run", "--topology", TOPOLOGY, "--kernel", "gemm", "--chains", "joined"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr.strip()), (2, "--chains: needs --ttir beside it"))


class Kernels(unittest.TestCase):
    def test_flash_attention_gives_the_same_bits_sooner(self):
        random = np.random.default_rng(1)
        times, made = [], []
        with tempfile.TemporaryDirectory() as folder:
            command = [CLI, "run", "--topology", TOPOLOGY, "--ttir", os.path.join(TEXTS, "attention_64_3_7.ttir"), "--grid", "3,2",
                       "--param", "S=150", "--param", "scale=0.18", "--format", "json"]
            for name in "QKVO":
                path = os.path.join(folder, name + ".npy")
                np.save(path, random.uniform(-1, 1, (2, 150, 64)).astype(np.float16))
                command += ["--tensor", f"{name}={path}"]
            for how in ("joined", "single"):
                path = os.path.join(folder, how + ".npy")
                done = subprocess.run([*command, "--chains", how, "--dump", f"O={path}"], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                times.append(json.loads(done.stdout)["sim_ns"])
                made.append(np.load(path).tobytes())
        self.assertEqual(made[0], made[1])
        self.assertLess(times[0], times[1])


if __name__ == "__main__":
    unittest.main()
