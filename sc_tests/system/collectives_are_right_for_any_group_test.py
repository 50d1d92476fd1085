# SPDX-License-Identifier: Apache-2.0
"""Collectives for N = 1 … 16: every op, algorithm and type against numpy, equal bits on all members, messages in number and
bytes as the schedules say, ragged sizes and fewer elements than members; on a star, closed forms of their times."""
import csv
import io
import json
import math
import os
import subprocess
import tempfile

import numpy as np
from cli_support import KERNBENCH as CLI

FLOATS = {"f32": 2.0 ** -23, "f16": 2.0 ** -10, "bf16": 2.0 ** -7}


def star(n, lanes=10 ** 6, mm=100.0, bw=64.0, slot=1024, switch=5.0, cpu=2.0, tcm=512.0):
    """n SIPs of one PE each behind a switch; memories that cost nothing."""
    nodes, links, memories = ["{id: sw, kind: switch, attrs: {overhead_ns: %r}}" % switch], [], []
    for i in range(n):
        pe, hbm = f"sip{i}.cube0.pe0", f"sip{i}.cube0.hbm"
        attrs = {"pe_cpu": f"overhead_ns: {cpu}", "pe_scheduler": "", "pe_dma": "", "pe_fetch_store": "",
                 "pe_gemm": "macs_per_cycle: 1024, freq_ghz: 1.0",
                 "pe_math": f"lanes: {lanes}, freq_ghz: 1.0, stream_operands: false",
                 "pe_ipcq": f"slots: 4, slot_bytes: {slot}, write_bw_gbs: {{tcm: {tcm}}}, read_bw_gbs: {{tcm: {tcm}}}",
                 "pe_tcm": "size_mb: 64, reserved_mb: 1, read_bw_gbs: 512, write_bw_gbs: 512"}
        nodes += ["{id: %s.%s, kind: %s, attrs: {%s}}" % (pe, k, k, v) for k, v in attrs.items()]
        nodes.append("{id: %s, kind: hbm_ctrl}" % hbm)
        links += ["{from: %s.pe_dma, to: sw, distance_mm: %r, bw_gbs: %r}" % (pe, mm, bw),
                  "{from: %s.pe_dma, to: %s, distance_mm: 0.0, bw_gbs: 1.0e9}" % (pe, hbm)]
        memories.append("{node: %s, space: hbm, base: %d, size: %d}" % (hbm, i << 32, 1 << 32))
    lines = ["ns_per_mm: 0.01", "timing: {links: ideal, response: ideal}"]
    for name, items in (("nodes", nodes), ("links", links), ("memories", memories)):
        lines += [name + ":"] + ["  - " + item for item in items]
    return "\n".join(lines) + "\n"


class Folder:
    def __init__(self):
        self.path = tempfile.mkdtemp()

    def write(self, name, text):
        path = os.path.join(self.path, name)
        with open(path, "w") as f:
            f.write(text)
        return path


FOLDER = Folder()
OPS = ("all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "all_to_all", "sendrecv")


def kernbench(*arguments, status=0):
    done = subprocess.run([CLI, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == status, (arguments, done.returncode, done.stderr)
    return done.stdout if status == 0 else done.stderr


def table(*arguments):
    return list(csv.DictReader(io.StringIO(kernbench("collectives", *arguments, "--format", "csv"))))


def algorithms(op, n):
    names = {"all_reduce": ["ring", "rotate", "halving", "tree", "hierarchical"], "all_gather": ["ring", "halving"],
             "reduce_scatter": ["ring", "halving"], "broadcast": ["chain", "tree"], "reduce": ["chain", "tree"],
             "all_to_all": ["pairwise"], "sendrecv": ["sendrecv"]}[op]
    return [a for a in names if a != "halving" or n & (n - 1) == 0]


def all_ops_are_right():
    for n in range(1, 17):
        topology = FOLDER.write(f"star{n}.yaml", star(n))
        for number, dtype in enumerate(["i32", "f16", "bf16", "f32"]):
            item = 4 if dtype in ("i32", "f32") else 2
            # Fewer elements than members (but at least one per block if blocks have owners), and ragged blocks.
            for algorithm in ["ring", "rotate", "tree", "chain", "hierarchical", "pairwise", "sendrecv"] + \
                    ["halving"] * (n & (n - 1) == 0):
                rows = table("--topology", topology, "--op", "all", "--algorithm", algorithm, "--dtype", dtype,
                             "--sizes", f"{item * n}:{item * n * 27}:+{item * n * 13}", "--check",
                             "--redop", ["sum", "max", "min", "prod"][(n + number) % 4])
                ops = [op for op in OPS if algorithm in algorithms(op, n)]
                assert [row["op"] for row in rows] == [op for op in ops for _ in range(3)], rows
                assert all(row["wrong"] == "0" for row in rows), (n, dtype, algorithm, rows)
                assert all(row["members"] == str(n) for row in rows)


def results_agree_with_numpy():
    rng = np.random.default_rng(5)
    for n, elements in ((1, 5), (3, 2), (4, 37), (6, 37), (8, 5), (16, 37)):
        topology = os.path.join(FOLDER.path, f"star{n}.yaml")
        for dtype in ("i32", "f32", "f16", "bf16"):
            x = rng.integers(-1000, 1000, (n, elements)).astype(np.int32) if dtype == "i32" else \
                rng.uniform(-1, 1, (n, elements)).astype(np.float16 if dtype == "f16" else np.float32)
            if dtype == "bf16":
                x = (x.view(np.uint32) & 0xffff0000).view(np.float32)
            np.save(os.path.join(FOLDER.path, "x.npy"), x)
            exact = x.astype(np.float64).sum(axis=0)
            scale = np.abs(x.astype(np.float64)).sum(axis=0)
            for algorithm in algorithms("all_reduce", n):
                out = os.path.join(FOLDER.path, "y.npy")
                kernbench("run", "--topology", topology, "--kernel", "all_reduce", "--param", f"n={elements}",
                          "--param", f"dtype={dtype}", "--param", f"algorithm={algorithm}", "--param", "part_bytes=64",
                          "--param", "chunk_bytes=24", "--tensor", f"x={FOLDER.path}/x.npy", "--dump", f"y={out}",
                          "--threads", 1 + n % 3)
                y = np.load(out)
                assert all(y[m].tobytes() == y[0].tobytes() for m in range(n)), (n, dtype, algorithm)
                bound = 0 if dtype == "i32" else (n - 1) * FLOATS[dtype] * scale
                assert np.all(np.abs(y[0].astype(np.float64) - exact) <= bound), (n, dtype, algorithm)


def messages(topology, op, algorithm, n):
    log = os.path.join(FOLDER.path, "log.jsonl")
    kernbench("run", "--topology", topology, "--kernel", op, "--param", f"n={n}", "--param", f"algorithm={algorithm}",
              "--oplog", log, "--memory", "none")
    sent = {}
    with open(log) as f:
        for line in f:
            record = json.loads(line)
            if record.get("op_name") == "ipcq_copy":
                key = (record["component_id"], record["params"]["port"], record["params"]["message"])
                sent[key] = sent.get(key, 0) + record["params"]["nbytes"]
    return len(sent), sum(sent.values())


def messages_are_as_many_and_as_large_as_the_schedules_say():
    for n in (2, 3, 4, 7, 8, 16):
        topology, q, elements = os.path.join(FOLDER.path, f"star{n}.yaml"), math.ceil(math.log2(n)), 16 * 21 * 9 * 5
        total = 4 * elements
        blocks = n * math.ceil(elements / n) == elements
        expected = {("all_reduce", "ring"): (2 * n * (n - 1), 2 * (n - 1) * total),
                    ("all_reduce", "rotate"): (n * (n - 1), n * (n - 1) * total),
                    ("all_reduce", "tree"): (2 * (n - 1), 2 * (n - 1) * total),
                    ("all_gather", "ring"): (n * (n - 1), n * (n - 1) * total),
                    ("reduce_scatter", "ring"): (n * (n - 1), (n - 1) * total),
                    ("broadcast", "chain"): (n - 1, (n - 1) * total), ("broadcast", "tree"): (n - 1, (n - 1) * total),
                    ("reduce", "chain"): (n - 1, (n - 1) * total), ("reduce", "tree"): (n - 1, (n - 1) * total),
                    ("all_to_all", "pairwise"): (n * (n - 1), (n - 1) * total),
                    ("sendrecv", "sendrecv"): (n, n * total)}
        if n & (n - 1) == 0:
            expected["all_reduce", "halving"] = (2 * n * q, 2 * (n - 1) * total)
            expected["all_gather", "halving"] = (n * q, n * (n - 1) * total)
            expected["reduce_scatter", "halving"] = (n * q, (n - 1) * total)
        for (op, algorithm), count in expected.items():
            if op in ("all_to_all", "reduce_scatter") and not blocks:
                continue
            got = messages(topology, op, algorithm, elements)
            assert got == count, (n, op, algorithm, got, count)
    # Fewer elements than members: empty messages are still sent.
    assert messages(os.path.join(FOLDER.path, "star8.yaml"), "all_reduce", "ring", 3) == (2 * 8 * 7, 2 * 7 * 3 * 4)


def times_have_closed_forms():
    """The contract's S(B) = c + L + B/64 + 2 B/512 with c = 2, L = 7, and M = c + 1; beside them a load (c and its bytes) and
    a store (c and its bytes) of what is stored last."""
    def s(b):
        return 9 + b / 64 + b / 256

    def edge(b):
        return 2 + b / 1e6

    for n in (2, 4, 8, 16):
        topology, q, b = os.path.join(FOLDER.path, f"star{n}.yaml"), math.ceil(math.log2(n)), 1024
        expected = {"ring": (n - 1) * (2 * s(b // n) + 3), "rotate": (n - 1) * (s(b) + 3),
                    "halving": sum(2 * s(b / 2 ** k) + 3 for k in range(1, q + 1)), "tree": q * (2 * s(b) + 3)}
        for algorithm, ns in expected.items():
            report = json.loads(kernbench("run", "--topology", topology, "--kernel", "all_reduce", "--param", f"n={b // 4}",
                                          "--param", f"algorithm={algorithm}", "--format", "json"))
            last = {"ring": b // n, "rotate": b, "halving": b // 2, "tree": b}[algorithm]
            got = max(pe["end_ns"] for pe in report["pes"]) - edge(b) - edge(last)
            assert abs(got - ns) < 0.01, (n, algorithm, got, ns)
            report = json.loads(kernbench("run", "--topology", topology, "--kernel", "all_reduce", "--param", f"n={b // 4}",
                                          "--format", "json"))
            assert abs(report["costs_ns"][algorithm] - ns) < 1e-6, (n, algorithm, report["costs_ns"])
            assert report["algorithm"] == min(report["costs_ns"], key=report["costs_ns"].get)


def message_between_ranks(topology, ranks, nbytes):
    """What a message between the first and the last rank takes from its call, and its slot's reading; alone."""
    pes = ["sip0.cube0.pe0", f"sip{ranks - 1}.cube0.pe0"]
    calls = [{"pe": pe, "start_ns": 0, "calls": [{"id": call, "call": call, "port": "p", "bytes": nbytes}]}
             for pe, call in zip(pes, ("send_async", "recv"))]
    work = FOLDER.write("one.json", json.dumps({
        "connections": [{"a": pes[0], "port": "p", "b": pes[1], "peer_port": "p"}], "programs": calls}))
    _, receiver = json.loads(kernbench("pipeline", "--topology", topology, "--work", work, "--format", "json"))["programs"]
    _, start, end = receiver["calls"][0]["segments"][0]
    return end, end - start


def grids_have_closed_forms():
    """16 ranks, 4 x 4 on the tray, behind a switch: a message takes the same between any two of them. Load and store are
    those of a rank alone."""
    with open(os.path.join(os.environ["KERNBENCH_TOPOLOGIES"], "small.yaml")) as f:
        topology = FOLDER.write("ranks.yaml", f.read().replace("sips: {count: 1}", "sips: {count: 16, w: 4, h: 4}"))

    def report(size, *options):
        return json.loads(kernbench("run", "--topology", topology, "--pes", "sip0.cube0.pe0" if "tree" in options[-1] else
                                    ",".join(f"sip{i}.cube0.pe0" for i in range(16)), "--kernel", "all_reduce", "--launch",
                                    "direct", "--param", f"n={size // 4}", "--param", "over=rank", "--format", "json", *options))

    for size in (64, 1024, 4096):
        s, read = message_between_ranks(topology, 16, size)
        m = 2 + 1 + max(math.ceil(size / 4 / 128), 2 * size / 512)  # c, the scheduler, elements or operands
        edges = max(pe["end_ns"] for pe in report(size, "--param", "algorithm=tree")["pes"])
        for root, steps in (("centre", 2), ("corner", 3)):
            grid = report(size, "--param", f"root={root}", "--param", "algorithm=grid")
            expected = 2 * (steps * (2 * s + m) + (2 + read + m if root == "centre" else 0))
            got = max(pe["end_ns"] for pe in grid["pes"]) - edges
            assert abs(got - expected) < 0.01, (size, root, got, expected)
            costs = report(size, "--param", f"root={root}", "--param", "algorithm=auto")["costs_ns"]
            assert abs(costs["grid"] - expected) < 1e-6, (size, root, costs, expected)


def ring_is_within_a_percent_of_alpha_beta():
    size = 1 << 20
    for n in (4, 8, 16, 64):
        topology = FOLDER.write("ab.yaml", star(n, mm=24999.95, bw=50.0, slot=1 << 20, switch=0.001, cpu=0.0, tcm=1e6,
                                                lanes=10 ** 6))
        row, = table("--topology", topology, "--algorithm", "ring", "--sizes", size)
        model = 2 * (n - 1) * (500 + size / n / 50)
        assert abs(float(row["time_us"]) * 1e3 / model - 1) < 0.01, (n, row, model)


def bad_input_is_one_line():
    topology = os.path.join(FOLDER.path, "star3.yaml")
    for arguments, part in ((["--over", "sip"], "over"), (["--over", ""], "over"), (["--op", "scan"], "--op"),
                            (["--algorithm", "halving"], "no power of two: 3"), (["--algorithm", "grid", "--over", "rank"], "one row"),
                            (["--algorithm", "fast"], "fast"), (["--op", "broadcast", "--root", "3"], "root"),
                            (["--sizes", "1X"], "--sizes"), (["--sizes", "4K:1K:x2"], "--sizes"), (["--sizes", "1"], "--sizes"),
                            (["--slot-bytes", "100"], "multiple of 64"), (["--tier", "sram"], "SRAM"),
                            (["--tier", "flash"], "tier"), (["--ranks", "9"], "--ranks"), (["--redop", "mean"], "redop"),
                            (["--slots", "65536", "--slot-bytes", "1073741824"], "do not fit")):
        told = kernbench("collectives", "--topology", topology, *arguments, status=2)
        assert len(told.splitlines()) == 1 and part in told, (arguments, told)
    told = kernbench("run", "--topology", topology, "--kernel", "all_to_all", "--param", "n=7", status=2)
    assert "multiple of the 3 members" in told, told


if __name__ == "__main__":
    all_ops_are_right()
    results_agree_with_numpy()
    messages_are_as_many_and_as_large_as_the_schedules_say()
    times_have_closed_forms()
    grids_have_closed_forms()
    ring_is_within_a_percent_of_alpha_beta()
    bad_input_is_one_line()
