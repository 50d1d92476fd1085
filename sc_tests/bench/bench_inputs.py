# SPDX-License-Identifier: Apache-2.0
"""Reproducible inputs of scripts/bench: what users run, systems of N PEs, storms of reads, composites. Plain Python, no
randomness.

A system is a flat YAML, as dumped by programs, of complete PEs, each behind a chain of `ROUTERS` routers of its own with its HBM slice at the
end (or, shared=True, with PE 0's slice as the only target: a hot spot over a tree of routers).
"""

import json
import os
import re

# Typical runs: arguments of `kernbench run` besides --topology and --links; other parameters are the kernels' defaults.
REAL_WORK = {
    "gemm_f16": "--kernel gemm --param m=4096 --param n=4096 --param k=4096 --param dtype=f16 "
                "--param tile_m=16 --param tile_n=512 --param tile_k=64",
    "gemm_f32": "--kernel gemm --param m=8192 --param n=1024 --param k=1024 --param dtype=f32 "
                "--param tile_m=32 --param tile_n=128 --param tile_k=64",
    "attention": "--kernel attention",
    "mlp": "--kernel mlp",
    "vector_add": "--kernel vector_add --param n=16777216",
    "tp_linear": "--kernel tp_linear",
    "all_reduce": "--kernel all_reduce --param n=16384",
    "tp_mlp": "--program tp_mlp",
}
# The same shape with fewer steps, for memories in which every burst is an event.
SHORT_WORK = {**REAL_WORK, "gemm_f16": REAL_WORK["gemm_f16"].replace("k=4096", "k=256")}
LINKS = ("cut_through", "flit", "ideal")
OLD_DEFAULT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "default_of_d3de8b2.yaml")

ROUTERS = 4
READ_BYTES = 4096
SLICE = 1 << 30
HBM_BASE = 1 << 40

TIMING = {
    "ideal": "{links: ideal, response: ideal}",
    "routed": "{links: ideal, response: routed}",
    "cut_through": "{links: cut_through, response: routed, header_bytes: 16}",
    "flit": "{links: flit, response: routed, header_bytes: 16, flit_bytes: 256}",
}

PE_BLOCKS = [
    ("pe_cpu", "{overhead_ns: 2}"),
    ("pe_scheduler", "{overhead_ns: 1}"),
    ("pe_dma", "{}"),
    ("pe_fetch_store", "{}"),
    ("pe_gemm", "{macs_per_cycle: 4096, freq_ghz: 1}"),
    ("pe_math", "{lanes: 128, freq_ghz: 1}"),
    ("pe_tcm", "{size_mb: 16, reserved_mb: 1, read_bw_gbs: 512, write_bw_gbs: 512}"),
]


def slice_base(pe):
    return HBM_BASE + pe * SLICE


def pe_id(pe):
    return f"sip0.cube{pe // 16}.pe{pe % 16}"


def system(path, pes, mode, hot_spot=False, pairs=False):
    """Writes the YAML of a system of `pes` PEs. hot_spot: 16 PEs a crossbar, all crossbars on one, one slice. pairs: every
    other PE stands at the end of its neighbour's chain, so that messages to it go as far as reads of the slice there.
    """
    nodes, edges, memories = [], [], []

    def node(name, kind, attrs="{}"):
        nodes.append(f"- id: {name}\n  kind: {kind}\n  attrs: {attrs}\n")

    def link(a, b, bw):
        edges.append(f"- {{from: {a}, to: {b}, distance_mm: 1, bw_gbs: {bw}}}\n")

    def memory(name, base):
        node(name, "hbm_ctrl")
        memories.append(f"- {{node: {name}, space: hbm, base: {base}, size: {SLICE}}}\n")

    if hot_spot:
        node("sip0.center", "xbar", "{overhead_ns: 1}")
        memory("sip0.hbm", HBM_BASE)
        link("sip0.center", "sip0.hbm", 256)
    for p in range(pes):
        for block, attrs in PE_BLOCKS + [("pe_ipcq", "{slots: 4, slot_bytes: 4096}")] * pairs:
            node(f"{pe_id(p)}.{block}", block, attrs)
        cube = f"sip0.cube{p // 16}"
        if hot_spot:
            if p % 16 == 0:
                node(f"{cube}.x", "xbar", "{overhead_ns: 1}")
                link(f"{cube}.x", "sip0.center", 256)
            link(f"{pe_id(p)}.pe_dma", f"{cube}.x", 256)
            continue
        if pairs and p % 2 == 1:
            link(f"{cube}.p{p % 16 - 1}r{ROUTERS - 1}", f"{pe_id(p)}.pe_dma", 256)
            continue
        chain = [f"{cube}.p{p % 16}r{r}" for r in range(ROUTERS)]
        for router in chain:
            node(router, "router", "{overhead_ns: 1}")
        memory(f"{cube}.hbm{p % 16}", slice_base(p))
        way = [f"{pe_id(p)}.pe_dma", *chain, f"{cube}.hbm{p % 16}"]
        for a, b in zip(way, way[1:]):
            link(a, b, 256)
    with open(path, "w") as f:
        f.write(f"ns_per_mm: 0.01\ntiming: {TIMING[mode]}\nnodes:\n")
        f.writelines(nodes)
        f.write("links:\n")
        f.writelines(edges)
        f.write("memories:\n")
        f.writelines(memories)
    return path


def storm(path, pes, reads, hot_spot=False, staggered=False):
    """Writes `reads` reads of 4 KiB for every PE from its own slice (or the one hot slice), all issued at 0, or,
    staggered, every PE's at a time of its own, so that no two of the run's events are at one instant."""
    with open(path, "w") as f:
        f.write("id,issue_ns,initiator,op,address,bytes\n")
        for r in range(reads):
            f.writelines(
                f"{r * pes + p},{0.001 * p if staggered else 0:g},{pe_id(p)}.pe_dma,read,"
                f"{(HBM_BASE if hot_spot else slice_base(p)) + r * READ_BYTES % SLICE},{READ_BYTES}\n"
                for p in range(pes))
    return path


def composites(path, pes, count=1, side=512, tile=64):
    """Writes `count` GEMMs of side³ in tile³ tiles for every PE, f16, operands in its own slice."""
    def work(p):
        base, matrix = slice_base(p), side * side * 2
        def gemm(c):
            at = lambda i: {"space": "hbm", "addr": base + (3 * c + i) * matrix}
            return {"id": f"g{p}.{c}", "kind": "gemm", "submit_ns": 0, "m": side, "n": side, "k": side,
                    "tile": [tile, tile, tile], "dtype": "f16", "dtype_bytes": 2, "out_dtype_bytes": 2,
                    "a": at(0), "b": at(1), "c": at(2)}
        return {"pe": pe_id(p), "composites": [gemm(c) for c in range(count)]}
    with open(path, "w") as f:
        json.dump({"pes": [work(p) for p in range(pes)]}, f)
    return path


def messages(path, pes, count):
    """Writes `count` messages of 4 KiB from every even PE of a system of pairs to the next."""
    def calls(p, call, port):
        return {"pe": pe_id(p), "start_ns": 0, "calls": [
            {"id": f"{p}.{i}", "call": call, "port": port, "bytes": READ_BYTES} for i in range(count)]}
    pairs = range(0, pes, 2)
    with open(path, "w") as f:
        json.dump({"connections": [{"a": pe_id(p), "port": "E", "b": pe_id(p + 1), "peer_port": "W"} for p in pairs],
                   "programs": [x for p in pairs for x in (calls(p, "send_async", "E"), calls(p + 1, "recv_async", "W"))]},
                  f)
    return path


def loads(path, pes, count):
    """The same as `count` loads of 4 KiB of every even PE from its slice."""
    def calls(p):
        return [{"id": f"{p}.{i}", "call": "load_async", "space": "hbm", "addr": slice_base(p) + i * READ_BYTES % SLICE,
                 "nbytes": READ_BYTES} for i in range(count)]
    with open(path, "w") as f:
        json.dump({"programs": [{"pe": pe_id(p), "start_ns": 0, "calls": calls(p)} for p in range(0, pes, 2)]}, f)
    return path


def changed(path, topology, changes):
    """A copy of a topology file; changes: (pattern of whole lines, what stands there instead), each found once."""
    with open(topology) as f:
        text = f.read()
    for pattern, instead in changes:
        text, count = re.subn(rf"(?m)^ *{pattern}.*\n", instead, text)
        if count != 1:
            raise ValueError(f"{topology}: {count} lines are {pattern}")
    with open(path, "w") as f:
        f.write(text)
    return path


def without_hash_and_bursts(path, topology):
    return changed(path, topology, (("hash: xor", ""), ("burst_bytes: ", "")))


def with_dram(path, topology):
    gone = [(key, "") for key in ("interleave_bytes: ", "pc_bw_gbs: ", "hash: xor", "burst_bytes: ")]
    return changed(path, topology, (("impl: builtin.hbm_pc", "    impl: builtin.hbm_dram\n"),
                                    ("pseudo_channels: ", "      preset: hbm2e\n      channels: 8\n"), *gone))


def once(path, write, *arguments, **options):
    """The file of write(path, …), made if it is not there."""
    if not os.path.exists(path):
        write(path + ".part", *arguments, **options)
        os.replace(path + ".part", path)
    return path
