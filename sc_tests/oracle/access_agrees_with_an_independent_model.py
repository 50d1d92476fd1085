#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kernbench traffic` and `pipeline` against the independent model on seeded random atomics, gathers, scatters, flags and
several transactions in flight, in three link modes (access rules §15 to §18): all times to 0.01 ns. Beside it, at
memories with banks and over finite buffers, which the model does not know: accounts of atomics sum to their latencies.

    access_agrees_with_an_independent_model.py KERNBENCH [CASES] [--first-seed N] [--kind KIND] [--mode MODE] [--ties]
        [--keep FOLDER]
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import kernbench_agrees_with_an_independent_model as other
import messages_agree_with_an_independent_model as messages
import random_cases
import timing_model

MODES = ("ideal", "cut_through", "flit")


def traffic_case(seed, mode, ties):
    """A random trace, half of whose writes are atomics where there is a way back."""
    f = random_cases.Figures(f"access {seed}", ties)
    topology, rows = random_cases.traffic_case(seed, ties, mode)
    graph = timing_model.Graph(timing_model.compile_flat(topology))
    for row in rows:
        op = f.pick("atomic", "red", "cas", None, None)
        if row["op"] == "read" and f.chance(0.7) or not op:
            continue
        try:
            timing_model.Transaction(graph, graph.index[row["initiator"]], True,
                                     [[int(row["address"]), int(row["bytes"])]], None, op)
            row["op"] = op
        except timing_model.ModelError:
            pass
    return topology, rows


class Calls:
    """Programs of a work file, drawn call by call in one order in which they could run, so that nobody waits for ever."""

    def __init__(self, f, graph, topology, prefixes):
        self.f, self.graph = f, graph
        self.calls = {p: [] for p in prefixes}
        self.memories = {p: [m for m in topology["memories"] if self.ways(p, m)] for p in prefixes}
        self.flags = {}  # address: the signalling PE and its values

    def ways(self, prefix, memory):
        try:
            timing_model.Transaction(self.graph, self.graph.index[prefix + ".pe_dma"], True, [[memory["base"], 1]], None,
                                     "red")
            return True
        except timing_model.ModelError:
            return False

    def add(self, pe, call, asynchronous=True, **more):
        if asynchronous and self.f.chance(0.6):
            call += "_async"
        self.calls[pe].append({"id": f"c{len(self.calls[pe])}", "call": call, **more})

    def ranges(self, memories):
        f = self.f
        size = f.pick(4, 4, 8, 32, 64, 256, 1024)
        found, last = [], None
        for _ in range(f.whole(1, f.pick(2, 6, 14))):
            m = f.pick(*memories)
            addr = m["base"] + 4 * f.whole(0, (m["size"] - size) // 4)
            if last and f.chance(0.3):
                addr = last + size if any(x["base"] <= last + size <= x["base"] + x["size"] - size for x in memories) \
                    else last
            found.append([addr, size])
            last = addr
        return found

    def draw(self, pe):
        f, memories = self.f, self.memories[pe]
        if not memories:
            return
        m = f.pick(*memories)
        what = f.pick("gather", "scatter", "atomic", "red", "cas", "load", "store", "math", "flag", "flag", "wait")
        if what in ("gather", "scatter"):
            self.add(pe, what, space=m["space"], ranges=self.ranges(memories))
        elif what in ("atomic", "red", "cas"):
            sem = {"sem": f.pick("relaxed", "acquire", "release", "acq_rel")} if f.chance(0.6) else {}
            self.add(pe, what, space=m["space"], ranges=self.ranges(memories), **sem)
        elif what in ("load", "store"):
            n = f.pick(4, 64, 256, f.whole(1, 2000))
            self.add(pe, what, space=m["space"], addr=m["base"] + f.whole(0, m["size"] - n), nbytes=n)
        elif what == "math":
            self.add(pe, what, op="exp", elements=f.whole(1, 5000))
        elif what == "wait":
            before = [c["id"] for c in self.calls[pe] if c["call"] != "wait"]
            if before:
                self.add(pe, "wait", False, **{"for": [f.pick(*before) for _ in range(f.whole(1, 3))]})
        else:
            addr = m["base"] + 4 * f.whole(0, 3)
            owner, value = self.flags.get(addr, (pe, 0))
            if owner == pe and f.chance(0.6):
                self.flags[addr] = (pe, value + f.whole(1, 3))
                self.add(pe, "signal", False, addr=addr, value=self.flags[addr][1])
            elif value:
                cmp, wanted = f.pick(("ge", f.whole(1, value)), ("ne", 0))
                self.add(pe, "wait_until", False, addr=addr, value=wanted, cmp=cmp)
            else:  # no PE signals it: 0
                cmp, wanted = f.pick(("eq", 0), ("lt", 3))
                self.add(pe, "wait_until", False, addr=m["base"] + 1024, value=wanted, cmp=cmp)


def pipeline_case(seed, mode, ties):
    f = random_cases.Figures(f"access {seed}", ties)
    topology, work = random_cases.pipeline_case(seed, ties, mode)
    for node in topology["nodes"]:
        attrs = node["attrs"]
        if node["kind"] == "pe_dma":
            attrs["outstanding"] = f.pick(1, 1, 2, 3, 4, 16)
            attrs["range_bytes"] = f.pick(0, 0, 4, 8, 33)
        elif node["kind"] == "pe_cpu" and f.chance(0.7):
            attrs["poll_ns"] = f.pick(33.3, 5.17, 60.0)
    graph = timing_model.Graph(timing_model.compile_flat(topology))
    prefixes = [p["pe"] for p in work["pes"]]
    calls = Calls(f, graph, topology, prefixes)
    for _ in range(f.whole(1, 30)):
        calls.draw(f.pick(*prefixes))
    work["programs"] = [{"pe": p, "start_ns": f.time(200), "calls": c} for p, c in calls.calls.items() if c]
    return topology, work


def check(kernbench, kind, seed, mode, ties, keep=None):
    case = (traffic_case if kind == "traffic" else pipeline_case)(seed, mode, ties)
    ours, undecided = other.model_says(kind, *case)
    with tempfile.TemporaryDirectory() as folder:
        paths = random_cases.write_case(kind, case, folder)
        try:
            theirs = other.kernbench_says(kernbench, kind, paths)
        except RuntimeError as fault:
            return [f"no answer: {fault}"]
    lines = other.departures(kind, theirs, ours) if kind == "traffic" else \
        messages.departures({"end_ns": theirs["end_ns"], "programs": theirs.get("programs", [])},
                            {"end_ns": ours["end_ns"], "programs": ours["programs"]}) + \
        other.departures(kind, theirs, ours)
    if lines and keep:
        random_cases.write_case(kind, case, os.path.join(keep, f"{kind}_{seed}"))
    return None if lines and undecided else lines


ACCOUNT = ("grant_wait_ns", "overhead_ns", "wire_ns", "drain_ns", "store_forward_ns", "link_queue_ns", "memory_queue_ns")


def check_accounts(kernbench, seed, mode):
    topology, rows = traffic_case(seed, mode, False)
    buffers = mode == "flit" and seed % 2
    for node in topology["nodes"]:
        if node["kind"] == "hbm_ctrl" and seed % 4:
            kept = {k: v for k, v in node["attrs"].items() if k in ("overhead_ns", "efficiency")}
            node.update(impl="builtin.hbm_dram", attrs={**kept, "channels": 2})
        if buffers and node["kind"] in random_cases.TRANSIT_KINDS + ("pcie_ep", "hbm_ctrl", "sram"):
            node["attrs"]["buffer_flits"] = 4
    if buffers:
        topology["timing"]["prove_deadlock_free"] = False
    with tempfile.TemporaryDirectory() as folder:
        topology_path, trace_path = random_cases.write_case("traffic", (topology, rows), folder)
        done = subprocess.run([kernbench, "traffic", "--topology", topology_path, "--trace", trace_path, "--format", "json"],
                              capture_output=True, text=True, timeout=300, check=False)
        if done.returncode != 0:
            return [f"exit status {done.returncode}: {done.stderr.strip()}"]
    return [f"{x['id']}: {x}" for x in json.loads(done.stdout)["requests"]
            if abs(sum(x[k] for k in ACCOUNT) - x["latency_ns"]) > 1e-3 or min(x[k] for k in ACCOUNT) < -1e-3]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kernbench")
    parser.add_argument("cases", nargs="?", type=int, default=500)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--kind", choices=("traffic", "pipeline", "accounts"))
    parser.add_argument("--mode", choices=MODES)
    parser.add_argument("--ties", action="store_true", help="figures that make ties likely")
    parser.add_argument("--keep", help="write the cases that fail to this folder")
    args = parser.parse_args()
    agree, failed = {}, 0
    for i in range(args.cases):
        seed, mode = args.first_seed + i, args.mode or MODES[i // 4 % 3]
        kind = args.kind or ("traffic", "pipeline", "pipeline", "accounts")[i % 4]
        lines = check_accounts(args.kernbench, seed, mode) if kind == "accounts" else \
            check(args.kernbench, kind, seed, mode, args.ties, args.keep)
        if lines:
            failed += 1
            print(f"FAILED {kind} seed {seed} --mode {mode}: {len(lines)} departures, the first: {lines[0]}", flush=True)
        elif lines is not None:
            agree[kind, mode] = agree.get((kind, mode), 0) + 1
    for what, count in sorted(agree.items()):
        print(f"access {' '.join(what)}: {count} cases agree")
    return 1 if failed or not agree else 0


if __name__ == "__main__":
    sys.exit(main())
