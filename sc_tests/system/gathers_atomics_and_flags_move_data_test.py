# SPDX-License-Identifier: Apache-2.0
"""Gathers, scatters, atomics and flags of kernels (access rules §16, §17): their data against numpy, real in Phase 1 or
pending until Phase 2, in every link mode and for any number of threads, also replayed from files; which of them race; and
wrong uses, each told in one line with the PE and the kernel's line."""
import json
import os
import re
import subprocess
import tempfile

import cli_support
from cli_support import DATA, topology

try:
    import numpy as np
except ImportError:
    import sys
    print("skipped: python3-numpy is not installed")
    sys.exit(cli_support.SKIPPED)

RANDOM = np.random.default_rng(36)
SOURCE = os.path.join(DATA, "access", "kernels.cpp")
FILES = {"i32": np.int32, "u32": np.uint32, "f32": np.float32, "f16": np.float16, "bf16": np.float32, "i8": np.int8}
OPS = {"u32": ("add", "max", "min", "and", "or", "xor", "xchg", "cas"), "f32": ("add", "max", "min", "xchg"), "f16": ("add",),
       "bf16": ("add",)}
OPS["i32"] = OPS["u32"]
MODES = ("ideal", "cut_through", "flit")


def bf16(x):
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32).reshape(np.shape(x))


def done(op, dtype, old, value, expected):
    """An element after the atomic."""
    with np.errstate(over="ignore"):
        new = {"add": lambda: old + value, "max": lambda: max(old, value), "min": lambda: min(old, value),
               "and": lambda: old & value, "or": lambda: old | value, "xor": lambda: old ^ value, "xchg": lambda: value,
               "cas": lambda: value if old == expected else old}[op]()
    return bf16(new) if dtype == "bf16" else FILES[dtype](new)


class Access(cli_support.Cli):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.plugin = os.path.join(cls.folder.name, "access.so")
        cli_support.build_plugin(SOURCE, cls.plugin)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def file(self, name):
        return os.path.join(self.folder.name, name)

    def command(self, kernel, params=(), *options):
        given = [x for name, value in dict(params).items() for x in ("--param", f"{name}={value}")]
        return ["run", "--topology", topology("small.yaml"), "--plugin", self.plugin, "--kernel", kernel, *given, *options]

    def arrays(self, tensors):
        options = []
        for name, value in tensors.items():
            np.save(self.file(name + ".npy"), value)
            options += ["--tensor", f"{name}={self.file(name + '.npy')}"]
        return options

    def case(self, op, dtype, **wanted):
        """One access of a random index, and what numpy makes of it."""
        n, size = int(RANDOM.integers(1, 40)), 64
        moves = op in ("gather", "scatter")
        width = int(RANDOM.integers(1, 4)) if moves else 1
        stride = int(RANDOM.choice([width, 1, 3, 5])) if moves else 1
        masked = op != "cas" and bool(RANDOM.integers(2))
        index = RANDOM.integers(0, (size - width) // stride + 1, n).astype(np.int32)
        mask = RANDOM.integers(0, 2, n).astype(np.uint8) if masked else np.ones(n, np.uint8)
        made = (lambda *s: RANDOM.integers(0, 50, s).astype(FILES[dtype])) if dtype[0] != "f" and dtype != "bf16" else \
               (lambda *s: RANDOM.integers(-32, 32, s).astype(FILES[dtype]) / FILES[dtype](8))
        table, value, expected = made(size), made(n, width), made(n)
        if op == "cas":
            hit = RANDOM.integers(0, 2, n).astype(bool)
            expected[hit] = table[index[hit]]
        after, result = table.copy(), value.copy()
        for i in range(n):
            at = slice(index[i] * stride, index[i] * stride + width)
            if op == "gather":
                result[i] = table[at] if mask[i] else -3
            elif op == "scatter":
                after[at] = value[i] if mask[i] else after[at]
            elif mask[i]:
                result[i] = after[at]
                after[at] = done(op, dtype, after[at][0], value[i][0], expected[i])
            else:
                result[i] = 0
        params = {"op": op, "dtype": dtype, "n": n, "table": size, "width": width, "stride": stride,
                  "masked": str(masked).lower(), **wanted}
        if params.get("returns") == "false":
            result = value
        inputs = {"t": table, "idx": index, "mask": mask, "v": value, "e": expected}
        return params, inputs, {"y": result, "after": after, "t": after}

    def check(self, params, inputs, wanted, *options):
        outputs = [x for name in wanted for x in ("--dump", f"{name}={self.file(name + '_out.npy')}")]
        if "--debug-verify" in options:
            for name, value in wanted.items():
                np.save(self.file(name + "_expected.npy"), value)
                outputs += ["--expected", f"{name}={self.file(name + '_expected.npy')}"]
        self.succeeds(*self.command("t_access", params, *self.arrays(inputs), *outputs, *options))
        for name, value in wanted.items():
            np.testing.assert_array_equal(np.load(self.file(name + "_out.npy")), value, f"{name} {params} {options}")

    def test_every_op_of_every_type(self):
        for dtype, ops in OPS.items():
            for op in ops:
                self.check(*self.case(op, dtype), "--links", RANDOM.choice(MODES))

    def test_gathers_and_scatters(self):
        for dtype in ("i32", "f16", "i8"):
            for op in ("gather", "scatter"):
                for mode in MODES:
                    self.check(*self.case(op, dtype), "--links", mode, "--response", "routed")

    def test_pending_values(self):
        """The table, the value or both are known in Phase 2 alone; the same bits for any number of threads."""
        for op, dtype in (("add", "f32"), ("xor", "u32"), ("min", "i32"), ("add", "bf16")):
            for table, value, returns in ((True, False, True), (False, True, False), (True, True, False)):
                case = self.case(op, dtype, pending_table=str(table).lower(), pending_value=str(value).lower(),
                                 returns=str(returns).lower())
                for threads in (1, 3):
                    self.check(*case, "--threads", threads, "--debug-verify")
        for op in ("gather", "scatter", "cas"):
            self.check(*self.case(op, "i32", pending_table="true"), "--debug-verify")
        self.check(*self.case("scatter", "f16", pending_value="true"), "--debug-verify")

    def test_several_transactions_under_way(self):
        for op in ("gather", "scatter", "add"):
            self.check(*self.case(op, "i32"), "--set", "*.pe_dma.outstanding=4", "--links", "flit")

    def test_where_nothing_takes_time(self):
        """What an atomic gives is there for the command of the very instant."""
        for op in ("add", "cas", "gather"):
            self.check(*self.case(op, "i32", pending_table="true"), "--links", "ideal", "--set", "*.pe_cpu.overhead_ns=0",
                       "--set", "*.pe_scheduler.overhead_ns=0")

    def test_replay_from_files(self):
        for log in ("log.jsonl", "log.sqlite"):
            for op in ("gather", "scatter", "add", "cas"):
                params, inputs, wanted = self.case(op, "i32", pending_table="true")
                self.check(params, inputs, wanted, "--oplog", self.file(log), "--memory", self.file("memory.bin"))
                replayed = subprocess.run([os.environ["KERNBENCH_REPLAY"], "replay", "--oplog", self.file(log), "--memory",
                                           self.file("memory.bin"), "--dump", f"after={self.file('replayed.npy')}"],
                                          capture_output=True, text=True, check=False)
                self.assertEqual(replayed.returncode, 0, replayed.stderr)
                np.testing.assert_array_equal(np.load(self.file("replayed.npy")), wanted["after"])

    def test_records(self):
        """One a transaction, with its ranges; those of an atomic name the ones before them."""
        params, inputs, wanted = self.case("add", "i32")
        self.check(params, inputs, wanted, "--oplog", self.file("log.jsonl"))
        with open(self.file("log.jsonl"), encoding="utf-8") as file:
            records = [json.loads(line) for line in file]
        atomics = [r for r in records if r["op_name"] == "atomic_add"]
        self.assertTrue(atomics)
        moved = 0
        for r in atomics:
            p = r["params"]
            self.assertEqual((r["op_kind"], p["sem"], p["dtype"], p["space"]), ("memory", "acq_rel", "i32", "hbm"))
            self.assertGreaterEqual(p["effect_ns"], r["t_start"])
            self.assertLessEqual(p["effect_ns"], r["t_end"])
            moved += sum(x["nbytes"] for x in p["ranges"])
        self.assertEqual(moved, 4 * int(inputs["mask"].sum()))

    def dumped(self, kernel, tensor, params=(), *options):
        self.succeeds(*self.command(kernel, params, "--dump", f"{tensor}={self.file('out.npy')}", *options))
        return np.load(self.file("out.npy"))

    def test_atomics_of_several_pes(self):
        for mode in MODES:
            drawn = self.dumped("t_tickets", "y", {}, "--links", mode)[:32]
            self.assertEqual(sorted(drawn), list(range(32)))
            self.assertTrue((np.diff(drawn.reshape(8, 4)) > 0).all())

    def test_flags_order_pes(self):
        for mode in MODES:
            row = self.dumped("t_relay", "row", {}, "--links", mode)
            np.testing.assert_array_equal(row[:16], 7)
            y = self.dumped("t_barrier", "y", {}, "--links", mode)
            np.testing.assert_array_equal(y[:8], [1, 2, 3, 4, 5, 6, 7, 0])

    def test_races(self):
        for kernel in ("t_relay", "t_barrier", "t_tickets", "t_stream_k", "t_histogram", "t_lock", "t_sram"):
            report = json.loads(self.succeeds(*self.command(kernel, {}, "--check-races", "--format", "json")))
            self.assertEqual(report["races"], [], kernel)
        for kernel, order in (("t_relay", "relaxed"), ("t_barrier", "relaxed"), ("t_stream_k", "none"), ("t_histogram", "none"),
                              ("t_lock", "none"), ("t_lock", "relaxed")):
            status, out, err = self.run_cli(*self.command(kernel, {"order": order}, "--check-races", "--format", "json"))
            self.assertEqual(status, 1, err)
            races = json.loads(out)["races"]
            self.assertTrue(races)
            for race in races:
                for side in ("first", "second"):
                    self.assertRegex(race[side]["source"], r"kernels\.cpp:\d+$")
                self.assertNotEqual(race["first"]["pe"], race["second"]["pe"])

    def test_sums_of_several_pes(self):
        for mode in MODES:
            np.testing.assert_array_equal(self.dumped("t_stream_k", "state", {}, "--links", mode), 36)
            counts = self.dumped("t_histogram", "state", {}, "--links", mode)
            wanted = np.zeros(64, np.int32)
            np.add.at(wanted, [i for pe in range(8) for i in (3, pe, 9, 3)], 1)
            np.testing.assert_array_equal(counts, wanted)
            np.testing.assert_array_equal(self.dumped("t_lock", "row", {}, "--links", mode)[:16], 8)

    def test_sram(self):
        for mode in MODES:
            y = self.dumped("t_sram", "y", {}, "--links", mode)[:64].reshape(8, 8)
            np.testing.assert_array_equal(y, np.tile([0, 0, 32, 0, 0, 16, 0, 16], (8, 1)))

    def line_of(self, text):
        with open(SOURCE, encoding="utf-8") as file:
            return next(i for i, line in enumerate(file, 1) if text in line)

    def test_an_endless_wait_is_told(self):
        for kernel, order in (("ever", "kept"), ("ever", "relaxed"), ("ever", "none"), ("held", "kept")):
            with self.subTest(kernel=kernel, order=order):
                err = self.refuses(*self.command("t_waits_for_" + kernel), "--param", f"order={order}", "--max-wall", 20, status=1, lines=1,
                                   saying=("sip0.cube0.pe0", "waits until", "is ge 7", "it is 0"))
                if kernel == "ever":
                    self.assertIn(f"kernels.cpp:{self.line_of('tl::Cmp::ge, 7')}", err)

    def test_wrong_uses(self):
        told = {1: "pending", 2: "i32 or i64", 3: "pending", 4: "shape", 5: "leaves what its pointer came from",
                6: "leaves what its pointer came from", 7: "width", 8: "i32", 9: "expected", 10: "there is none",
                11: "there is none", 12: "there is none", 13: "there is none", 14: "pending", 15: "1.5", 16: "-1",
                17: "misaligned", 18: "leaves what its pointer came from", 19: "no memory", 20: "waits until",
                21: "u32 or i32", 22: "pending", 23: "-1", 24: "never written", 25: "never written", 26: "pending",
                27: "TCM", 28: "there is none", 29: "expected", 30: "pending"}
        for case, words in told.items():
            with self.subTest(case=case):
                err = self.refuses(*self.command("t_wrong", {"case": case}), status=1, lines=1, saying=(words,))
                self.assertRegex(err, r"sip0\.cube0\.pe0")
                line = self.line_of(f"case {case}:")
                self.assertRegex(err, rf"kernels\.cpp:{line}\b")


if __name__ == "__main__":
    cli_support.main()
