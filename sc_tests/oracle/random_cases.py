#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Seeded random topologies, traffic and pipeline work for the independent model.

    random_cases.py traffic|pipeline SEED OUT_DIR [--ties]

writes topology.yaml and trace.csv or work.json. Generic cases have random decimal figures, so that two things hardly
ever happen at one instant but where the contract says in which order. Tie-rich cases have small integers, zero
overheads, equal issue times and symmetric graphs.
"""
import argparse
import json
import os
import random

import timing_model

TRANSIT_KINDS = ("router", "xbar", "bridge", "switch", "ucie", "noc", "io_noc")
OPS = ("exp", "add", "mul", "gelu", "relu", "max")


class Figures:
    """Draws numbers: decimals, or small integers where ties are wanted."""

    def __init__(self, seed, ties):
        self.rng = random.Random(seed)
        self.ties = ties

    def chance(self, p):
        return self.rng.random() < p

    def pick(self, *values):
        return self.rng.choice(values)

    def whole(self, low, high):
        return self.rng.randint(low, high)

    def overhead(self, high=6.0):
        if self.ties:
            return float(self.pick(0, 0, 0, 1, 2))
        return 0.0 if self.chance(0.3) else round(self.rng.uniform(0.1, high), 3)

    def distance(self):
        if self.ties:
            return float(self.pick(0, 1, 1, 2))
        if self.chance(0.1):
            return 0.0
        if self.chance(0.1):
            return self.pick(3.0, 6.0) + self.whole(-40, 40) * 1e-8  # routing uses whole nanometres, the wire does not
        return round(self.rng.uniform(0.05, 20.0), 4)

    def bandwidth(self):
        if self.ties:
            return float(self.pick(8, 16, 16, 32, 64))
        return round(self.rng.uniform(4.0, 260.0), 2)

    def rate(self, low, high):
        return float(self.whole(max(1, int(low)), int(high))) if self.ties else round(self.rng.uniform(low, high), 3)

    def time(self, high):
        if self.ties:
            return float(self.pick(0, 0, 8, 16, self.whole(0, int(high))))
        return round(self.rng.uniform(0, high), 3)


class TopologyDraft:
    """A flat topology being drawn."""

    def __init__(self, figures):
        self.f = figures
        self.nodes, self.links, self.memories = [], [], []
        self.joined = set()
        self.ns_per_mm = 1.0 if figures.ties else figures.pick(0.01, 0.1, 0.0371)

    def node(self, name, kind, attrs, **more):
        self.nodes.append({"id": name, "kind": kind, "attrs": attrs, **more})
        return name

    def link(self, a, b, one_way=0.0):
        if a == b or (a, b) in self.joined or (b, a) in self.joined:
            return

        def add(x, y, both):
            link = {"from": x, "to": y, "distance_mm": self.f.distance()}
            if not self.f.chance(0.1):
                link["bw_gbs"] = self.f.bandwidth()
            if not both:
                link["bidirectional"] = False
            self.links.append(link)

        if self.f.chance(one_way):
            add(a, b, False)
            if self.f.chance(0.75):
                add(b, a, False)  # the path back is another link
        else:
            add(a, b, True)
        self.joined.update([(a, b), (b, a)])


def transit_node(d, i):
    f = d.f
    kind = f.pick(*TRANSIT_KINDS)
    attrs = {"overhead_ns": f.overhead()}
    if f.chance(0.12):
        kind = "pcie_ep"
        if f.chance(0.5):
            attrs["store_and_forward"] = f.chance(0.5)
    elif f.chance(0.12):
        attrs["store_and_forward"] = True
    more = {"transit": False} if i and f.chance(0.03) else {}
    return d.node(f"t{i}", kind, attrs, **more)


def fabric(d):
    """Transit nodes as a mesh, a random graph or a ring; gives their names."""
    f = d.f
    shape = f.pick("mesh", "random", "ring", "star")
    if shape == "mesh":
        w, h = f.whole(2, 4), f.whole(1, 3)
        names = [transit_node(d, i) for i in range(w * h)]
        for y in range(h):
            for x in range(w - 1):
                d.link(names[y * w + x], names[y * w + x + 1], 0.05)
        for y in range(h - 1):
            for x in range(w):
                d.link(names[y * w + x], names[y * w + w + x], 0.05)
        return names
    names = [transit_node(d, i) for i in range(f.whole(1, 8))]
    if shape == "star":
        for name in names[1:]:
            d.link(names[0], name, 0.05)
    else:
        for i in range(1, len(names)):
            d.link(names[i], names[i - 1] if shape == "ring" else names[f.whole(0, i - 1)], 0.1)
        if shape == "ring" and len(names) > 2:
            d.link(names[-1], names[0], 0.1)
        if shape == "random":
            for _ in range(f.whole(0, len(names))):
                d.link(f.pick(*names), f.pick(*names), 0.4)
    return names


def add_memories(d, transit, flit_bytes, count, size):
    f = d.f
    base = f.pick(0, 0, 1 << 20, 1 << 42)
    for i in range(count):
        kind = f.pick("hbm_ctrl", "hbm_ctrl", "sram")
        attrs = {"overhead_ns": f.overhead(4.0)}
        more = {}
        if kind == "hbm_ctrl":
            if f.chance(0.6):
                attrs["efficiency"] = f.pick(0.5, 0.25, 1.0) if f.ties else round(f.rng.uniform(0.3, 1.0), 3)
            if f.chance(0.4):
                more["impl"] = "builtin.hbm_pc"
                interleave = flit_bytes * f.pick(1, 1, 2, 4) if flit_bytes else f.pick(64, 100, 256, 512)
                attrs.update(pseudo_channels=f.whole(1, 8), interleave_bytes=interleave,
                             pc_bw_gbs=f.rate(4.0, 64.0))
                if f.chance(0.5):
                    attrs.update(pseudo_channels=f.pick(1, 2, 4, 8), hash="xor")
                if f.chance(0.5):
                    attrs.update(burst_bytes=f.pick(*(b for b in (1, 4, 16, 32, 50, 64) if interleave % b == 0)))
                base += -base % interleave
        name = d.node(f"sip0.cube0.mem{i}", kind, attrs, **more)
        for _ in range(1 if f.chance(0.85) else 2):
            d.link(f.pick(*transit), name)
        d.memories.append({"node": name, "space": "sram" if kind == "sram" else "hbm", "base": base, "size": size})
        base += size + (0 if f.chance(0.5) else 4096 * f.whole(1, 9))


def attach(d, transit, name):
    for _ in range(1 if d.f.chance(0.8) else 2):
        d.link(name, d.f.pick(*transit), 0.1)
    if d.f.chance(0.08):
        d.link(name, d.f.pick(*(m["node"] for m in d.memories)))


def draw_timing(f, mode):
    mode = mode or f.pick("ideal", "cut_through", "flit")
    timing = {"links": mode}
    if mode != "flit":
        timing["response"] = f.pick("ideal", "routed")
    elif f.chance(0.7):
        timing["flit_bytes"] = f.pick(64, 128, 256, 96)
    if f.chance(0.7):
        timing["header_bytes"] = f.pick(0, 8, 16, 32)
    return timing


def finish(d, timing):
    """The topology. Who cannot be reached by anyone is linked to somebody: it would be refused."""
    for memory in d.memories:
        graph = timing_model.Graph(timing_model.compile_flat(flat(d, timing)))
        initiators = [n["id"] for n in d.nodes if n["kind"] in ("pe_dma", "m_cpu", "pcie_ep")]
        if not any(graph.reaches(a, memory["node"]) for a in initiators):
            d.joined.clear()
            d.link(initiators[0], memory["node"])
    return flat(d, timing)


def flat(d, timing):
    return {"ns_per_mm": d.ns_per_mm, "timing": timing, "nodes": d.nodes,
            "links": d.links, "memories": d.memories}


def traffic_case(seed, ties=False, mode=None):
    """(topology, rows) of a random `traffic` case."""
    f = Figures(f"traffic {seed}", ties)
    d = TopologyDraft(f)
    timing = draw_timing(f, mode)
    flit_bytes = timing.get("flit_bytes", 256) if timing["links"] == "flit" else 0
    transit = fabric(d)
    add_memories(d, transit, flit_bytes, f.whole(1, 4), 1 << 20)
    initiators = []
    for i in range(f.whole(1, 5) if f.chance(0.8) else f.whole(6, 10)):
        attrs = {"overhead_ns": f.overhead()}
        kind = f.pick("pe_dma", "pe_dma", "m_cpu", "pcie_ep")
        if kind == "pcie_ep":
            if f.chance(0.5):
                attrs["outstanding"] = f.whole(1, 4)
            name = f"sip{i}.pcie_ep"
        else:
            for engines in ("rd_engines", "wr_engines"):
                if f.chance(0.4):
                    attrs[engines] = f.whole(1, 3)
            name = f"sip0.cube0.pe{i}.pe_dma" if kind == "pe_dma" else f"sip0.cube{i}.m_cpu"
        more = {"transit": f.chance(0.5)} if kind == "pcie_ep" and f.chance(0.2) else {}
        initiators.append(d.node(name, kind, attrs, **more))
    for name in initiators:
        attach(d, transit, name)
    f.rng.shuffle(d.nodes)
    topology = finish(d, timing)
    graph = timing_model.Graph(timing_model.compile_flat(topology))
    count = f.whole(1, 30 if flit_bytes else 60)
    if f.chance(0.1):
        count *= 4
    spread = f.pick(50, 500, 5000)
    hot = f.pick(*d.memories)
    burst = f.time(spread)
    rows = []
    for i in range(count):
        if f.chance(0.7):
            burst = f.time(spread)
        memory = hot if f.chance(0.5) else f.pick(*d.memories)
        largest = f.pick(4096, 65536) if f.chance(0.2) else 2048
        size = f.pick(64, 128, 256, 512, 1024, 4096) if f.ties or f.chance(0.3) else f.whole(1, largest)
        offset = f.whole(0, memory["size"] - size)
        if f.ties or f.chance(0.3):
            offset -= offset % f.pick(64, 256)
        row = {"id": str(i), "issue_ns": repr(burst), "initiator": f.pick(*initiators), "op": f.pick("read", "write"),
               "address": str(memory["base"] + offset), "bytes": str(size)}
        if not f.ties and graph.kind[graph.index[row["initiator"]]] == "pcie_ep":
            row["issue_ns"] = repr(round(burst + f.rng.uniform(0, 3), 3))  # their order is unspecified
        try:
            timing_model.Transaction(graph, graph.index[row["initiator"]], row["op"] == "write",
                                     [[int(row["address"]), size]], None)
        except timing_model.ModelError:
            continue  # no path there, or none back
        rows.append(row)
    return topology, rows


def add_pe(d, prefix):
    f = d.f

    def attrs(**more):
        more["overhead_ns"] = f.overhead(3.0)
        return more

    def depth(a):
        if f.chance(0.6):
            a["queue_depth"] = f.pick(1, 1, 2, 3, 8)
        return a

    d.node(prefix + ".pe_cpu", "pe_cpu", attrs())
    d.node(prefix + ".pe_scheduler", "pe_scheduler", attrs())
    dma = depth(attrs())
    for engines in ("rd_engines", "wr_engines"):
        if f.chance(0.4):
            dma[engines] = f.whole(1, 3)
    d.node(prefix + ".pe_dma", "pe_dma", dma)
    d.node(prefix + ".pe_fetch_store", "pe_fetch_store", depth(attrs()))
    gemm = depth(attrs(freq_ghz=f.rate(0.5, 2.0)))
    if f.chance(0.4):
        gemm.update(rows=f.pick(4, 8, 16), cols=f.pick(4, 8, 12, 16), dataflow=f.pick("os", "ws", "is"))
        d.node(prefix + ".pe_gemm", "pe_gemm", gemm, impl="builtin.pe_gemm_systolic")
    else:
        gemm["macs_per_cycle"] = f.pick(16, 64, 256, 1024)
        if f.chance(0.5):
            gemm["rates"] = {"f16": f.pick(1.0, 2.0), "i8": f.pick(2.0, 4.0, 1.7)}
        d.node(prefix + ".pe_gemm", "pe_gemm", gemm)
    vector = depth(attrs(freq_ghz=f.rate(0.5, 2.0), lanes=f.pick(4, 16, 64)))
    if f.chance(0.7):
        vector["cycles"] = {op: f.whole(1, 8) for op in OPS if f.chance(0.5)}
    for engine in (gemm, vector):
        if f.chance(0.4):
            engine["stream_operands"] = f.chance(0.5)
    d.node(prefix + ".pe_math", "pe_math", vector)
    d.node(prefix + ".pe_tcm", "pe_tcm", {"overhead_ns": 0.0, "size_mb": 16.0, "reserved_mb": 1.0,
                                          "read_bw_gbs": f.rate(16.0, 256.0), "write_bw_gbs": f.rate(16.0, 256.0)})


class WorkDraft:
    """Composites and commands for one PE."""

    def __init__(self, figures, topology, graph, prefix, most_tiles):
        self.f = figures
        self.graph = graph
        self.prefix = prefix
        self.most_tiles = most_tiles
        node = graph.index[prefix + ".pe_dma"]

        def ok(memory, write):
            try:
                timing_model.Transaction(graph, node, write, [[memory["base"], 1]], None)
                return True
            except timing_model.ModelError:
                return False

        self.readable = [m for m in topology["memories"] if ok(m, False)]
        self.writable = [m for m in topology["memories"] if ok(m, True)]

    def operand(self, memories, rows, columns, nbytes, block_rows, default_nbytes=None):
        f = self.f
        stride = columns
        operand = {}
        if f.chance(0.35):
            stride = operand["ld"] = columns + f.pick(0, 1, 3, 8, 64, f.whole(0, 40))
        if default_nbytes is not None and default_nbytes != nbytes:
            operand["dtype_bytes"] = nbytes
        if f.chance(0.15) or not memories:
            return {"space": "tcm", "addr": 64 * f.whole(0, 100), **operand}
        span = ((rows - 1) * stride + columns) * nbytes
        memory = f.pick(*memories)
        slack = (memory["size"] - span) // nbytes
        addr = memory["base"] + f.whole(0, slack) * nbytes
        if f.chance(0.3):
            addr -= (addr - memory["base"]) % 64
        for follower in memories:  # a matrix may continue in the next memory if no tile's part crosses the boundary
            if follower["base"] == memory["base"] + memory["size"] and follower["space"] == memory["space"] \
                    and rows > block_rows and f.chance(0.5):
                addr = follower["base"] - block_rows * stride * nbytes
        return {"space": memory["space"], "addr": addr, **operand}

    def composite(self, name, submit):
        f = self.f
        dtype, nbytes = f.pick(("f16", 2), ("f32", 4), ("i8", 1), ("bf16", 2))
        out_bytes = f.pick(nbytes, nbytes, 4)
        gemm = f.chance(0.6)
        while True:
            shape = [f.whole(1, 70) for _ in range(3 if gemm else 2)]
            tile = [f.whole(1, 48) for _ in shape]
            if f.chance(0.2):
                tile = [s + f.whole(0, 3) for s in shape]
            if f.ties or f.chance(0.3):
                tile = [f.pick(8, 16, 32) for _ in shape]
                shape = [t * f.whole(1, 3) for t in tile]
            count = 1
            for s, t in zip(shape, tile):
                count *= -(-s // t)
            if count <= self.most_tiles:
                break
        m, n = shape[:2]
        c = {"id": name, "kind": "gemm" if gemm else "math", "submit_ns": submit, "m": m, "n": n, "tile": tile,
             "dtype": dtype, "dtype_bytes": nbytes}
        if out_bytes != nbytes or f.chance(0.3):
            c["out_dtype_bytes"] = out_bytes
        if gemm:
            c["k"] = shape[2]
            c["a"] = self.operand(self.readable, m, shape[2], nbytes, min(tile[0], m))
            c["b"] = self.operand(self.readable, shape[2], n, nbytes, min(tile[2], shape[2]))
            c["c"] = self.operand(self.writable, m, n, out_bytes, min(tile[0], m))
        else:
            c["op"] = f.pick(*OPS)
            c["inputs"] = [self.operand(self.readable, m, n, f.pick(nbytes, nbytes, 4), min(tile[0], m), nbytes)
                           for _ in range(f.whole(1, 3))]
            c["out"] = self.operand(self.writable, m, n, out_bytes, min(tile[0], m))
        if f.chance(0.6):
            c["epilogue"] = [{"op": f.pick(*OPS), "scope": f.pick("per_k_tile", "per_output_tile", "once")}
                             for _ in range(f.whole(0, 3))]
        return c

    def command(self, name, submit):
        f = self.f
        stage = f.pick("DMA_READ", "DMA_WRITE", "GEMM", "MATH")
        memories = self.writable if stage == "DMA_WRITE" else self.readable
        if stage.startswith("DMA") and not memories:
            stage = "GEMM"
        c = {"id": name, "submit_ns": submit, "stage": stage}
        if stage.startswith("DMA"):
            memory = f.pick(*memories)
            size = f.pick(64, 256, 1024) if f.ties or f.chance(0.3) else f.whole(1, 6000)
            c.update(space=memory["space"], addr=memory["base"] + f.whole(0, memory["size"] - size), nbytes=size)
        elif stage == "GEMM":
            c.update({k: f.whole(1, 40) for k in "mnk"}, dtype=f.pick("f16", "f32", "i8"))
        else:
            c.update(op=f.pick(*OPS), elements=f.whole(1, 3000))
        if not stage.startswith("DMA"):
            for key in ("in_bytes", "out_bytes"):
                if f.chance(0.6):
                    c[key] = f.pick(0, 256, 4096) if f.ties or f.chance(0.2) else f.whole(1, 20000)
        return c


def pipeline_case(seed, ties=False, mode=None):
    """(topology, work) of a random `pipeline` case."""
    f = Figures(f"pipeline {seed}", ties)
    d = TopologyDraft(f)
    timing = draw_timing(f, mode)
    flit = timing["links"] == "flit"
    transit = fabric(d)
    add_memories(d, transit, timing.get("flit_bytes", 256) if flit else 0, f.whole(1, 4), 1 << 16)
    prefixes = [f"sip0.cube0.pe{i}" for i in range(f.whole(1, 4))]
    for prefix in prefixes:
        if ties and prefix != prefixes[0] and f.chance(0.6):
            count = len(d.nodes)
            for node in list(d.nodes):  # the same PE again
                if node["id"].startswith(prefixes[0] + "."):
                    d.nodes.append({**node, "id": prefix + node["id"][len(prefixes[0]):],
                                    "attrs": dict(node["attrs"])})
            assert len(d.nodes) > count
        else:
            add_pe(d, prefix)
        attach(d, transit, prefix + ".pe_dma")
    topology = finish(d, timing)
    graph = timing_model.Graph(timing_model.compile_flat(topology))
    tcm = {n["id"].rpartition(".")[0]: n for n in d.nodes if n["kind"] == "pe_tcm"}
    pes = []
    for prefix in prefixes:
        draft = WorkDraft(f, topology, graph, prefix, 6 if flit else 16)
        spread = f.pick(10, 200, 2000)
        entry = {"pe": prefix, "composites": [draft.composite(f"{prefix}.c{i}", f.time(spread))
                                              for i in range(f.whole(0, 3))]}
        if f.chance(0.6):
            entry["commands"] = [draft.command(f"{prefix}.x{i}", f.time(spread)) for i in range(f.whole(1, 10))]
        largest = max([timing_model.plan_composite(c)["tile_bytes"] for c in entry["composites"]], default=1)
        reserved = largest * f.pick(1, 1, 2, 3, 5) + f.whole(0, largest)
        tcm[prefix]["attrs"]["reserved_mb"] = reserved / 2**20
        pes.append(entry)
    return topology, {"pes": pes}


def write_case(kind, case, folder):
    """Writes a case's files; gives their paths. JSON is YAML."""
    os.makedirs(folder, exist_ok=True)
    topology, work = case
    paths = [os.path.join(folder, "topology.yaml"),
             os.path.join(folder, "trace.csv" if kind == "traffic" else "work.json")]
    with open(paths[0], "w", encoding="utf-8") as file:
        head = {k: v for k, v in topology.items() if not isinstance(v, list)}
        file.write("".join(f"{k}: {json.dumps(v)}\n" for k, v in head.items()))
        for name in ("nodes", "links", "memories"):
            file.write(f"{name}:\n" + "".join(f"- {json.dumps(v)}\n" for v in topology[name]))
    with open(paths[1], "w", encoding="utf-8") as file:
        if kind == "pipeline":
            json.dump(work, file, indent=1)
        else:
            file.write(trace_text(work))
    return paths


def trace_text(rows):
    columns = ("id", "issue_ns", "initiator", "op", "address", "bytes")
    return "".join(",".join(line) + "\n" for line in [columns] + [[r[c] for c in columns] for r in rows])


def write_trace(rows, path):
    with open(path, "w", encoding="utf-8") as file:
        file.write(trace_text(rows))
    return path


def draw(kind, seed, ties=False, mode=None):
    return (traffic_case if kind == "traffic" else pipeline_case)(seed, ties, mode)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("traffic", "pipeline"))
    parser.add_argument("seed")
    parser.add_argument("folder")
    parser.add_argument("--ties", action="store_true")
    parser.add_argument("--mode", choices=("ideal", "cut_through", "flit"))
    args = parser.parse_args()
    write_case(args.kind, draw(args.kind, args.seed, args.ties, args.mode), args.folder)
