#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Loads, stores, gathers, scatters and composites of tensors that lie over several memories, by virtual addresses, with
several transactions in flight and pieces joined (access rules §15, §16; docs/memory.md), on seeded random systems in
three link modes: a kernel of random accesses runs, and the independent model plays what its op log says was asked for.
Begin and end of every command and of every tile's stage must be the record's, to 0.01 ns, and the causes that --explain
tells must sum up to the run: over memories with banks (--dram), which the model does not know, that alone.

    virtual_accesses_agree_with_an_independent_model.py KERNBENCH [CASES] [--first-seed N] [--mode MODE] [--dram]
        [--keep FOLDER]

Needs KERNBENCH_INCLUDE (and KERNBENCH_CXX, else c++), with which the kernel is compiled.
"""
import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile

import random_cases
import timing_model
from model_fabric import Fabric, Simulator
from model_graph import join_ranges
from model_pipeline import Item, Pe, group_ranges

HERE = os.path.dirname(os.path.abspath(__file__))
MODES = ("ideal", "cut_through", "flit")
TOLERANCE_NS = 0.01
ITEM = 4  # bytes


def system(seed, mode, dram):
    """A random flat system whose PEs have MMUs and reach all HBM."""
    for attempt in range(1000):
        f = random_cases.Figures(f"virtual {seed} {attempt}", False)
        topology, _ = random_cases.pipeline_case(f"virtual {seed} {attempt}", False, mode)
        pes = [n["id"].rpartition(".")[0] for n in topology["nodes"] if n["kind"] == "pe_dma"]
        graph = timing_model.Graph(timing_model.compile_flat(topology))
        memories = [m for m in topology["memories"] if m["space"] == "hbm"]
        try:
            for pe in pes:
                for m in memories:
                    for write in (False, True):
                        timing_model.Transaction(graph, graph.index[pe + ".pe_dma"], write, [[m["base"], 1]], None, None)
        except timing_model.ModelError:
            continue
        if len(pes) > 1 and memories:
            break
    for node in topology["nodes"]:
        attrs = node["attrs"]
        if node["kind"] == "pe_dma":
            attrs.update(outstanding=f.pick(1, 1, 2, 3, 4, 16), join_pieces=f.chance(0.5), range_bytes=f.pick(0, 0, 8, 33))
        elif node["kind"] == "pe_tcm":
            attrs["reserved_mb"] = f.pick(0.02, 0.25)
        elif node["kind"] == "hbm_ctrl" and dram:
            kept = {k: v for k, v in attrs.items() if k == "overhead_ns"}
            node.update(impl="builtin.hbm_dram", attrs={**kept, "channels": f.pick(1, 2, 4)})
    for pe in pes:
        costs = f.pick((0.0, 0.0), (0.0, 21.7), (1.3, 9.41), (0.77, 40.3))
        topology["nodes"].append({"id": pe + ".pe_mmu", "kind": "pe_mmu",
                                  "attrs": {"page_bytes": f.pick(64, 256, 512, 4096), "tlb_entries": f.pick(1, 2, 7, 64),
                                            "tlb_hit_ns": costs[0], "tlb_miss_ns": costs[1]}})
    return topology, {"n": f.whole(600, 1500), "calls": f.whole(1, 10), "seed": f.whole(1, 1 << 24)}


def cut(virtual_addr, pieces, rows):
    """What the rows [(offset, bytes)] from a virtual address on are, by row: [(piece, virtual address, address, bytes)]."""
    found = []
    for offset, length in rows:
        parts = []
        for i, p in enumerate(pieces):
            first, end = max(offset, p["offset"]), min(offset + length, p["offset"] + p["nbytes"])
            if first < end:
                parts.append((i, virtual_addr + first, p["addr"] + first - p["offset"], end - first))
        found.append(parts)
    return found


def transactions(graph, virtual_addr, pieces, rows, joined):
    """Of an operand, or a tile's part of one. A piece is a transaction, in address order; a row that a piece's end cuts is
    one for each side (docs/timing.md). joined: one for each memory (access §15.2)."""
    by_row = cut(virtual_addr, pieces, join_ranges(rows))
    if joined:
        parts = [p for row in by_row for p in row]
        all_of = []
        for ranges in group_ranges(graph, [[addr, n] for _, _, addr, n in parts]):
            base, end, _ = graph.memory_at(ranges[0][0])
            all_of.append({"ranges": ranges, "asked": [(v, n) for _, v, addr, n in parts if base <= addr < end]})
        return all_of
    found, last = [], None
    for row in by_row:
        for piece, virtual, addr, n in row:
            if len(row) > 1 or piece != last:
                found.append({"ranges": [], "asked": []})
            found[-1]["ranges"].append([addr, n])
            found[-1]["asked"].append((virtual, n))
            last = piece if len(row) == 1 else None
    return found


def operand(p, side, shape, strides):
    """(virtual address, pieces) of one side of a record."""
    span = (sum((n - 1) * s for n, s in zip(shape, strides)) + 1) * ITEM
    return p[side + "_virtual_addr"], p.get(side + "_pieces", [{"offset": 0, "addr": p[side + "_addr"], "nbytes": span}])


def dense(shape):
    return [shape[1], 1] if len(shape) == 2 else [1]


def rows_of(shape, strides, first=(0, 0), count=None):
    """[(offset, bytes)] of a block's rows, or of a tile's in it."""
    if len(shape) == 1:
        return [(0, shape[0] * ITEM)]
    rows, cols = count or shape
    return [(((first[0] + r) * strides[0] + first[1]) * ITEM, cols * ITEM) for r in range(rows)]


class Log:
    """The records of a run, by command."""

    def __init__(self, lines):
        records = [json.loads(line) for line in lines]
        self.tensors = {t["name"]: t["shards"] for t in records[0]["params"]["tensors"]}
        self.commands, self.tokens = {}, collections.defaultdict(list)
        self.bases = {}
        for r in records:
            p = r["params"]
            if "composite_op_id" in p:
                self.tokens[p["composite_op_id"], p["tile_id"]].append(r)
            elif "submit_ns" in p and r["op_name"] != "constant":
                self.commands.setdefault((p["pe"], p["seq"]), []).append(r)
            for side in ("src", "dst"):
                if side + "_virtual_addr" in p and "ranges" not in p:
                    self.learn(p[side + "_addr"], p[side + "_virtual_addr"])

    def learn(self, addr, virtual_addr):
        name, behind = self.place(addr)
        self.bases[name] = virtual_addr - behind

    def place(self, addr):
        """The tensor that has this byte, and where: its shards stand one behind the other in its virtual range."""
        for name, shards in self.tensors.items():
            behind = 0
            for s in shards:
                nbytes = s["extent"][0] * ITEM
                if s["addr"] <= addr < s["addr"] + nbytes:
                    return name, behind + addr - s["addr"]
                behind += nbytes
        raise ValueError(f"no tensor has {addr}")

    def virtual(self, addr):
        name, behind = self.place(addr)
        return self.bases[name] + behind


def item_of(graph, log, pe, records):
    """A command for the model; a composite as a list of tiles, each an item's plan."""
    record = min(records, key=lambda r: r["op_id"])
    p, joined = record["params"], graph.attrs[pe.dma].get("join_pieces", False)
    name = record["op_name"]
    if "ranges" in p:
        ordered = sorted(records, key=lambda r: r["op_id"])
        item = Item([("DMA_READ" if name == "dma_read" else "DMA_WRITE",
                      [{"ranges": [[x["addr"], x["nbytes"]] for x in r["params"]["ranges"]]} for r in ordered])],
                    lambda t: None)
        in_order = sorted((x for r in records for x in r["params"]["ranges"]), key=lambda x: x["offset"])
        item.asked_first = [(log.virtual(x["addr"]), x["nbytes"]) for x in in_order]
        return item
    if name.startswith("dma"):
        side = "src" if name == "dma_read" else "dst"
        strides = p.get(side + "_strides", dense(p["shape"]))
        where = operand(p, side, p["shape"], strides)
        return Item([("DMA_READ" if side == "src" else "DMA_WRITE",
                      transactions(graph, *where, rows_of(p["shape"], strides), joined))], lambda t: None)
    m, n, tm, tn = p["m"], p["n"], min(p["tile_m"], p["m"]), min(p["tile_n"], p["n"])
    inputs = []
    for i, shape in enumerate(p["input_shapes"]):
        strides = p.get("input_strides", [dense(s) for s in p["input_shapes"]])[i]
        t = p["input_translations"][i]
        whole = [{"offset": 0, "addr": p["input_addrs"][i], "nbytes": 1 << 40}]
        inputs.append((t["virtual_addr"], t.get("pieces", whole), shape, strides))
    strides = p.get("dst_strides", dense([m, n]))
    output = (*operand(p, "dst", [m, n], strides), [m, n], strides)
    tiles = []
    for i in range(0, m, tm):
        for j in range(0, n, tn):
            size = (min(tm, m - i), min(tn, n - j))

            def parts(x):
                return transactions(graph, x[0], x[1], rows_of(x[2], x[3], (i, j), size), joined)

            count = size[0] * size[1]
            tiles.append(([i // tm, j // tn, 0],
                          [("DMA_READ", [t for x in inputs for t in parts(x)]), ("FETCH", count * ITEM * len(inputs)),
                           ("MATH", ([p["op"]], count)), ("STORE", count * ITEM), ("DMA_WRITE", parts(output))]))
    return {"tiles": tiles, "tile_bytes": tm * tn * ITEM * (len(inputs) + 1)}


def departures(graph, log):
    """None: the contract leaves a tie open."""
    sim = Simulator(graph)
    fabric, pes, compared = Fabric(sim), {}, []
    for (name, _), records in sorted(log.commands.items()):
        pe = pes.get(name) or pes.setdefault(name, Pe(sim, fabric, name))
        first = records[0]["params"]
        queued = first["submit_ns"] + graph.overhead[pe.scheduler]
        item = item_of(graph, log, pe, records)
        if isinstance(item, dict):
            compared.append((records, pe.feed_plan(str(first["seq"]), queued, item, 6000), True))
            continue
        stage = item.names[0]
        sim.at(queued, (pe.dma, 6000, 1),
               lambda t, pe=pe, stage=stage, item=item: pe.stages[stage].offer(item, t, lambda _: None))
        compared.append((records, item, False))
    sim.run()
    lines = []

    def near(what, found, stage):
        for k, (theirs, ours) in {"begin": (found["t_start"], stage[1]), "end": (found["t_end"], stage[2])}.items():
            if abs(theirs - ours) > TOLERANCE_NS:
                lines.append(f"{what} {stage[0]} {k}: kernbench {theirs:.6f}, model {ours:.6f}")

    for records, ours, composite in compared:
        what = f"op {records[0]['op_id']} of {records[0]['params']['pe']}"
        if not composite:
            took = {"t_start": min(r["t_start"] for r in records), "t_end": max(r["t_end"] for r in records)}
            if "ranges" in records[0]["params"]:  # it begins with the first transaction, after the look-ups
                took["t_start"] = ours.stages[0][1]
            near(what, took, ours.stages[0])
            continue
        for token in ours["tokens"]:
            theirs = sorted(log.tokens[records[0]["op_id"], token["tile"]], key=lambda r: r["t_start"])
            if len(theirs) != len(token["stages"]):
                lines.append(f"{what} tile {token['tile']}: {len(theirs)} stages")
            for r, stage in zip(theirs, token["stages"]):
                near(f"{what} tile {token['tile']}", r, stage)
    return None if sim.undecided else lines


def run(kernbench, plugin, topology, params, folder):
    """Status, standard error, the report, and the lines of the log."""
    path, _ = random_cases.write_case("pipeline", (topology, {"pes": []}), folder)
    log = os.path.join(folder, "log.jsonl")
    command = [kernbench, "run", "--topology", path, "--plugin", plugin, "--kernel", "random_pieces", "--address", "virtual",
               "--oplog", log, "--memory", "none", "--launch", "direct", "--explain", "--format", "json"]
    for name, value in params.items():
        command += ["--param", f"{name}={value}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    with open(log, encoding="utf-8") as file:
        return done.returncode, done.stderr, done.stdout, file.readlines()


def check(kernbench, plugin, seed, mode, dram, keep):
    topology, params = system(seed, mode, dram)
    with tempfile.TemporaryDirectory() as folder:
        status, err, report, lines = run(kernbench, plugin, topology, params, keep or folder)
        if status:
            return [f"exit status {status}: {err.strip()}"]
        report = json.loads(report)
        if abs(sum(report["insight"]["blame_ns"].values()) - report["sim_ns"]) > TOLERANCE_NS:
            return [f"{report['insight']['blame_ns']} of {report['sim_ns']} ns"]
        if dram:
            return []
        return departures(timing_model.Graph(timing_model.compile_flat(topology)), Log(lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernbench")
    parser.add_argument("cases", nargs="?", type=int, default=300)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--mode", choices=MODES)
    parser.add_argument("--dram", action="store_true", help="over memories with banks: causes sum up to the run")
    parser.add_argument("--keep", help="write the last case to this folder")
    args = parser.parse_args()
    agree, failed = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        plugin = os.path.join(folder, "random_pieces.so")
        subprocess.run([os.environ.get("KERNBENCH_CXX", "c++"), "-std=c++17", "-O1", "-fPIC", "-shared", "-I",
                        os.environ["KERNBENCH_INCLUDE"], os.path.join(HERE, "..", "data", "access", "random_pieces.cpp"),
                        "-o", plugin], check=True)
        for i in range(args.cases):
            seed, mode = args.first_seed + i, args.mode or MODES[i % 3]
            lines = check(args.kernbench, plugin, seed, mode, args.dram, args.keep)
            if lines:
                failed += 1
                print(f"FAILED seed {seed} --mode {mode}: {len(lines)} departures, the first: {lines[0]}", flush=True)
            elif lines is not None:
                agree[mode] += 1
    for mode, count in sorted(agree.items()):
        print(f"virtual accesses, {mode}: {count} cases agree")
    return 1 if failed or not agree else 0


if __name__ == "__main__":
    sys.exit(main())
