#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The times in the op log of every shipped kernel, recomputed from the log and the compiled graph alone.

From a record only what was asked for is taken: who, what, where, how much, and when it was submitted. The independent
model (sc_tests/oracle) plays that on the graph, and its t_start and t_end of every command and of every tile's stage
must be the record's, to 0.01 ns. Timing rules §2 to §6, §9.
"""
import collections
import json
import math
import os
import sys
import tempfile
import unittest

import cli_support

sys.path.insert(0, os.path.join(os.environ["KERNBENCH_SOURCE"], "sc_tests", "oracle"))
from model_fabric import Fabric, Simulator  # noqa: E402
from model_graph import Graph  # noqa: E402
from model_pipeline import Item, Pe  # noqa: E402

TOLERANCE_NS = 0.01
BYTES = {"f32": 4, "f16": 2, "bf16": 2, "i64": 8, "i32": 4, "u16": 2, "i8": 1, "u8": 1, "i4": 1, "bool": 1}
MODES = ("ideal", "cut_through", "flit")
SMALL = {"assemble": ("n=3001",), "attention": ("heads=3", "seq=45", "dim=16"), "gather": ("n=37", "rows=16", "cols=33"),
         "gemm": ("m=100", "n=72", "k=130"), "gemm_dot": ("m=100", "n=72", "k=130"),
         "gemm_epilogue": ("m=100", "n=72", "k=130"), "mlp": (), "newton_sqrt": ("n=300",), "rmsnorm": (),
         "softmax": (), "vector_add": ("n=3001",), "dropout": ("n=3001",), "cumsum": ("rows=37", "cols=100"),
         "sort": ("rows=37", "cols=100"), "topk": ("rows=37", "cols=70"), "gemm_w4": ("m=100", "n=72", "k=192"),
         "embedding_gather": ("vocab=100", "dim=9", "tokens=300"), "paged_gather": ("pages=20", "dim=8"),
         "histogram": ("n=700",), "moe_dispatch": ("tokens=50", "dim=12"), "moe_sort": ("tokens=50", "dim=12"),
         "moe_route": ("tokens=50",), "moe_top_k": ("tokens=50",), "moe_combine": ("tokens=50", "dim=12"),
         "gemm_stream_k": ("m=50", "n=40", "k=130"), "ticket_lock": ("rows=9",),
         "embedding": ("vocab=100", "dim=9", "tokens=300"), "tp_linear": ("m=100", "n=72", "k=130", "activation=gelu"),
         "copy_part": (), "join_columns": (), "rope": (), "gqa_attention": ()}


def ranges_of(p, side):
    """Transactions of a dma_read or dma_write, each as its ranges: one, or one for each physical piece."""
    rows = [(0, p["nbytes"])]
    if side + "_row_stride" in p:
        item = BYTES[p["dtype"]]
        row = p["shape"][-1] * item
        rows = [(r * p[side + "_row_stride"] * item, row) for r in range(p["nbytes"] // row)]
    if side + "_pieces" not in p:
        return [[[p[side + "_addr"] + at, n] for at, n in rows]]
    return [[[piece["addr"] + max(at, piece["offset"]) - piece["offset"],
              min(at + n, piece["offset"] + piece["nbytes"]) - max(at, piece["offset"])]
             for at, n in rows if at < piece["offset"] + piece["nbytes"] and piece["offset"] < at + n]
            for piece in p[side + "_pieces"]]


def stream_bytes(shapes, dtypes):
    return sum(math.prod(s) * BYTES[t] for s, t in zip(shapes, dtypes))


def passes(p):
    """How often an op passes over its elements: docs/timing.md."""
    if p["op"] not in ("cumsum", "cumprod", "sort", "argsort", "topk"):
        return 1
    log = max(1, (p["input_shapes"][0][p["axis"]] - 1).bit_length())
    return log if p["op"].startswith("cum") else log * (log + 1) // 2


def item_of_ranges(records, finished):
    """A gather, a scatter or an atomic: a transaction a record."""
    name = records[0]["op_name"]
    kind = None if name.startswith("dma") else "cas" if name == "atomic_cas" else name.split("_")[0]
    left_out = sum((r["params"].get("left_out", []) for r in records), [])

    def transaction(ranges):
        """Its ranges: what a mask alone has taken apart is one."""
        joined, end = [], None
        for x in ranges:
            gap = x["offset"] - end if end is not None else None
            masked = gap == 0 or any(g["offset"] == end and g["nbytes"] == gap for g in left_out)
            if joined and joined[-1][0] + joined[-1][1] == x["addr"] and masked:
                joined[-1][1] += x["nbytes"]
            else:
                joined.append([x["addr"], x["nbytes"]])
            end = x["offset"] + x["nbytes"]
        return joined

    parts = [{"kind": kind, "ranges": transaction(r["params"]["ranges"]), "on_effect": None} for r in records]
    return Item([("DMA_READ" if name == "dma_read" else "DMA_WRITE", parts)], finished)


def item_of(record, finished):
    """A command that is no composite, for the model."""
    name, p = record["op_name"], record["params"]
    if name == "dma_read":
        return Item([("DMA_READ", ranges_of(p, "src"))], finished)
    if name == "dma_write":
        return Item([("DMA_WRITE", ranges_of(p, "dst"))], finished)
    if record["op_kind"] == "gemm":
        acc = p.get("accumulator", {"shape": (0,), "dtype": "f32"})
        return Item([("GEMM", (p["m"], p["n"], p["k"], p["dtype_in"]))], finished,
                    (stream_bytes((p["shape_a"], p["shape_b"], acc["shape"]),
                                  (p["dtype_in"], p["dtype_b"], acc["dtype"])),
                     stream_bytes((p["shape_out"],), (p["dtype_out"],))))
    elements = max(math.prod(s) for s in (*p["input_shapes"], p["shape_out"]))
    return Item([("MATH", ([p["op"]] * passes(p), elements))], finished,
                (stream_bytes(p["input_shapes"], p["input_dtypes"]), stream_bytes((p["shape_out"],), (p["dtype"],))))


def composite_of(record):
    p = record["params"]

    def operand(side, width, shape):
        return {"space": p[f"{side}_space"], "addr": p[f"{side}_addr"], "dtype_bytes": width,
                "ld": p.get(f"{side}_row_stride", shape[1])}

    a, b, out = (BYTES[p[t]] for t in ("dtype_in", "dtype_b", "dtype_out"))
    return {"id": str(record["op_id"]), "kind": "gemm", "submit_ns": 0.0, "m": p["m"], "n": p["n"], "k": p["k"],
            "tile": [p["tile_m"], p["tile_n"], p["tile_k"]], "dtype": p["dtype_in"], "dtype_bytes": a,
            "out_dtype_bytes": out, "a": operand("src_a", a, p["shape_a"]), "b": operand("src_b", b, p["shape_b"]),
            "c": operand("dst", out, p["shape_out"]), "epilogue": p["epilogue"]}


class OpLog(cli_support.Cli):
    def run_of(self, kernel, mode, folder):
        """Compiled graph, and the records."""
        machine = cli_support.topology("small.yaml")
        response = "routed" if mode != "ideal" else "ideal"
        options = ["--topology", machine, "--links", mode, "--response", response]
        log = os.path.join(folder, "log.jsonl")
        arguments = [a for param in SMALL[kernel] for a in ("--param", param)]
        self.succeeds("run", "--kernel", kernel, *options, "--oplog", log, "--memory", "none", *arguments)
        graph = json.loads(self.succeeds("topology", machine, "--links", mode, "--response", response, "--format", "json"))
        with open(log, encoding="utf-8") as file:
            records = [json.loads(line) for line in file]
        return Graph(graph), [r for r in records if not r["op_name"].startswith("log_")]

    def recomputed(self, graph, records):
        """[(what, record's times, model's times)], and whether all ties are decided by the contract."""
        sim = Simulator(graph)
        fabric = Fabric(sim)
        pes, compared, tokens = {}, [], collections.defaultdict(list)
        seen, ranged = set(), collections.defaultdict(list)
        for r in records:
            if "ranges" in r["params"]:
                ranged[r["params"]["pe"], r["params"]["seq"]].append(r)
            if "composite_op_id" in r["params"]:
                tokens[r["params"]["composite_op_id"], r["params"]["tile_id"]].append(r)
        for r in sorted((r for r in records if "submit_ns" in r["params"] and r["op_name"] not in ("materialize", "constant")),
                        key=lambda r: r["params"]["seq"]):
            name = r["params"]["pe"]
            if name not in pes:
                pes[name] = Pe(sim, fabric, name)
            pe = pes[name]
            if "ranges" in r["params"]:
                key = name, r["params"]["seq"]
                if key in seen:
                    continue
                seen.add(key)
                mine = sorted((x for x in ranged[key]), key=lambda x: x["op_id"])
                r = dict(r, t_start=min(x["t_start"] for x in mine), t_end=max(x["t_end"] for x in mine))
            queued = r["params"]["submit_ns"] + graph.overhead[graph.index[name + ".pe_scheduler"]]
            if "tile_m" in r["params"]:
                result = pe.composite(dict(composite_of(r), submit_ns=queued))
                compared.append((r, result, tokens))
                continue
            item = item_of_ranges(mine, lambda t: None) if "ranges" in r["params"] else item_of(r, lambda t: None)
            stage = item.names[0]
            sim.at(queued, (pe.dma, 6000, 1),
                   lambda t, pe=pe, stage=stage, item=item: pe.stages[stage].offer(item, t, lambda _: None))
            compared.append((r, item, None))
        sim.run()
        return compared, not sim.undecided

    def check(self, kernel, mode):
        with tempfile.TemporaryDirectory() as folder:
            graph, records = self.run_of(kernel, mode, folder)
        compared, decided = self.recomputed(graph, records)
        self.assertTrue(compared)
        self.assertTrue(decided, "a tie that the contract leaves open: other parameters would be a better case")
        count = 0
        for record, ours, tokens in compared:
            pairs = [(record, ours.stages[0])] if tokens is None else [
                (r, s) for token in ours["tokens"]
                for r, s in zip(sorted(tokens[record["op_id"], token["tile"]], key=lambda r: r["t_start"]),
                                token["stages"])]
            for r, (stage, start, end) in pairs:
                what = f"{kernel} {mode} op {r['op_id']} {r['op_name']} {stage}"
                self.assertAlmostEqual(r["t_start"], start, delta=TOLERANCE_NS, msg=what)
                self.assertAlmostEqual(r["t_end"], end, delta=TOLERANCE_NS, msg=what)
                count += 1
        return count

    def test_of_every_kernel(self):
        for mode in MODES:
            for kernel in SMALL:
                with self.subTest(kernel=kernel, mode=mode):
                    self.assertGreater(self.check(kernel, mode), 0, "nothing was compared")


if __name__ == "__main__":
    unittest.main()
