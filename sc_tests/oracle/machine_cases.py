# SPDX-License-Identifier: Apache-2.0
"""Seeded random traffic on generated machines: the shipped topologies with their own figures, where ties abound, or with
all figures drawn anew; sometimes with another mesh. The model routes and times on the compiled graph.

Patterns: bursts of many PEs at one instant, a hot slice, own slices, far cubes, other SIPs, the host's endpoints, the
management processors' DMA, and all of them mixed.
"""
import json
import os
import random
import re
import subprocess

import timing_model

MACHINES = ("default", "default", "six_sip_torus", "six_sip_torus", "small", "one_cube", "latency_model")
GRIDS = (("[6, 6]", "[2, 2, 3, 3]"), ("[5, 4]", None), ("[7, 5]", "[2, 1, 4, 3]"), ("[3, 3]", "[1, 1, 1, 1]"),
         ("[8, 3]", None))


def drawn_anew(rng, yaml):
    """Other overheads, bandwidths and distances, decimals that hardly ever meet; sometimes another mesh."""
    yaml = re.sub(r"overhead_ns: [\d.]+", lambda _: f"overhead_ns: {rng.choice((0, rng.uniform(0.1, 9))):.3f}", yaml)
    yaml = re.sub(r"bw_gbs: [\d.]+", lambda m: f"bw_gbs: {float(m[0].split()[1]) * rng.uniform(0.3, 1.5):.2f}", yaml)
    yaml = re.sub(r"distance_mm: ([\d.]+)", lambda m: f"distance_mm: {float(m[1]) * rng.uniform(0.7, 1.3):.4f}", yaml)
    yaml = re.sub(r"(rd_engines|wr_engines): 1", lambda m: f"{m[1]}: {rng.choice((1, 1, 2, 3))}", yaml)
    yaml = re.sub(r"ns_per_mm: [\d.]+", f"ns_per_mm: {rng.choice((0.01, 0.0371, 0.2))}", yaml)
    yaml = re.sub(r"header_bytes: \d+", f"header_bytes: {rng.choice((0, 8, 16, 32))}", yaml)
    channels, kind = rng.choice(((1, "xor"), (3, "none"), (8, "none"), (8, "xor")))
    yaml = yaml.replace("pseudo_channels: 8", f"pseudo_channels: {channels}").replace("hash: xor", f"hash: {kind}")
    yaml = re.sub(r"burst_bytes: \d+", f"burst_bytes: {rng.choice((1, 32, 64))}", yaml)
    if rng.random() < 0.3:
        yaml = yaml.replace("pcie_ep: {attrs: {", f"pcie_ep: {{attrs: {{outstanding: {rng.randint(1, 4)}, ", 1)
    if rng.random() < 0.5 and "type: mesh" in yaml:
        grid, hole = rng.choice(GRIDS)
        yaml = re.sub(r"grid: \[\d+, \d+\]", "grid: " + grid, yaml)
        yaml = re.sub(r"exclude: \[.*?\]", "exclude: " + hole if hole else "#", yaml)
        yaml = re.sub(r"\n +at: \[r.*?\]", "", yaml)  # distributes the PEs over the corners
    return yaml


class Traffic:
    """Rows of a trace on a compiled graph."""

    def __init__(self, rng, graph, flit):
        self.rng = rng
        self.graph = graph
        self.flit = flit
        self.rows = []
        kinds = {kind: [n["id"] for n in graph.nodes if n["kind"] == kind] for kind in ("pe_dma", "m_cpu", "pcie_ep")}
        self.pes, self.m_cpus, self.hosts = kinds["pe_dma"], kinds["m_cpu"], kinds["pcie_ep"]
        self.hbm = [m for m in graph.data["memories"] if m["space"] == "hbm"]
        self.all = graph.data["memories"]

    def add(self, time, initiator, write, memory, size=None):
        rng = self.rng
        if size is None:
            size = rng.choice((64, 256, 1000, 2048, 4096, rng.randint(1, 4096 if self.flit else 20000)))
        offset = rng.randint(0, (1 << 20) - size)
        if rng.random() < 0.5:
            offset -= offset % 256
        row = {"id": str(len(self.rows)), "issue_ns": repr(float(time)), "initiator": initiator,
               "op": "write" if write else "read", "address": str(memory["base"] + offset), "bytes": str(size)}
        if initiator in self.hosts:  # order of a read and a write at one instant: unspecified
            row["issue_ns"] = repr(round(time + rng.uniform(0, 3), 3))
        self.rows.append(row)

    def burst(self):
        """Some PEs at one instant, as many requests each; on one slice, on their own, or on any."""
        rng = self.rng
        pes = rng.sample(self.pes, min(len(self.pes), rng.choice((2, 8, 16, 40))))
        target = rng.choice(("hot", "own", "any"))
        hot, write, time = rng.choice(self.hbm), rng.random() < 0.4, rng.choice((0, 0, rng.randint(0, 400)))
        size = rng.choice((256, 1024, 2048))
        for pe in pes:
            own = next(m for m in self.hbm if m["node"] == re.sub(r"(pe\d+)\.pe_dma$", r"hbm_ctrl.\1", pe))
            for _ in range(1 if len(pes) > 16 else 2):
                memory = hot if target == "hot" else own if target == "own" else rng.choice(self.all)
                self.add(time, pe, write, memory, size if rng.random() < 0.8 else None)

    def others(self):
        rng = self.rng
        for _ in range(rng.randint(4, 20)):
            who = rng.random()
            initiator = rng.choice(self.hosts if who < 0.25 else self.m_cpus if who < 0.5 else self.pes)
            self.add(rng.choice((0, rng.uniform(0, 300))), initiator, rng.random() < 0.5, rng.choice(self.all))

    def draw(self):
        for _ in range(self.rng.randint(1, 2)):
            self.burst()
        if self.rng.random() < 0.7:
            self.others()
        return self.rows


def draw(kernbench, topologies, seed, mode, folder):
    """Writes the topology of a case into the folder. Gives its path, the options of its mode, its compiled graph, and
    the rows of its trace."""
    rng = random.Random(f"machine {seed}")
    name = rng.choice(MACHINES)
    with open(os.path.join(topologies, name + ".yaml"), encoding="utf-8") as file:
        yaml = file.read()
    if rng.random() < 0.6:
        yaml = drawn_anew(rng, yaml)
    path = os.path.join(folder, name + ".yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(yaml)
    response = "routed" if mode == "flit" else rng.choice(("ideal", "routed"))
    options = ["--links", mode, "--response", response]
    compiled = subprocess.run([kernbench, "topology", path, *options, "--format", "json"], capture_output=True,
                              text=True, timeout=60, check=False)
    if compiled.returncode:
        raise RuntimeError(compiled.stderr.strip()[:500])
    graph = timing_model.Graph(json.loads(compiled.stdout))
    return path, options, graph, Traffic(rng, graph, mode == "flit").draw()
