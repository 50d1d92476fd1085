#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every time of the queues between PEs, recomputed from the op log and the compiled graph alone.

What is taken from a segment's two records is who, where, how much, and when it was asked for (send_ns, submit_ns); slot,
grant, arrival, slot write, slot read and credit follow from those by collectives rules §10.5 to §10.11. With links
that are servers the arrival is taken from the log too (other traffic delays it) and must not be before an idle link's.
"""
import collections
import heapq
import json
import math
import os
import sys
import tempfile
import unittest

import cli_support

sys.path.insert(0, os.path.join(os.environ["KERNBENCH_SOURCE"], "sc_tests", "oracle"))
from model_graph import Graph  # noqa: E402

TOLERANCE_NS = 1e-6
DEFAULTS = {"overhead_ns": 0, "slots": 4, "slot_bytes": 4096, "credit_bytes": 16,
            "access_ns": {"tcm": 0, "sram": 2, "hbm": 6}, "write_bw_gbs": {"tcm": 512, "sram": 512, "hbm": 256},
            "read_bw_gbs": {"tcm": 512, "sram": 512, "hbm": 256}}


def fs(ns):
    return math.floor(ns * 1e6 + 0.38)


class Segment:
    def __init__(self, copy, recv):
        self.copy, self.recv, self.p = copy, recv, copy["params"]
        self.nbytes = self.p["nbytes"]
        self.queue = tuple(self.p[k] for k in ("src_pe", "peer_port", "dst_pe", "port"))


class Machine:
    def __init__(self, graph):
        self.graph = graph

    def ipcq(self, pe, name, tier=None):
        given = self.graph.attrs[self.graph.index[pe + ".pe_ipcq"]].get(name)
        if tier is None:
            return DEFAULTS[name] if given is None else given
        return {**DEFAULTS[name], **(given or {})}[tier]

    def dma(self, pe):
        return self.graph.index[pe + ".pe_dma"]

    def path(self, a, b):
        return self.graph.route(a, b)

    def header_ns(self, edges, nbytes, first_overhead=True):
        """Overheads of all nodes but the last, wires, and what nodes that store and forward wait for."""
        g = self.graph
        ns = 0.0
        for i, e in enumerate(edges):
            if i > 0 or first_overhead:
                ns += g.overhead[g.src[e]]
            if i > 0 and g.gate[g.src[e]]:
                ns += nbytes / g.bw[edges[i - 1]]
            ns += g.wire[e]
        return ns

    def bottleneck_ns(self, edges, nbytes):
        return nbytes / min(self.graph.bw[e] for e in edges)

    def slot_ns(self, segment, write):
        """write(B) or read(B) of §10.5."""
        pe, space = segment.p["dst_pe_of_ring"], segment.p["dst_space"]
        bw = self.ipcq(pe, "write_bw_gbs" if write else "read_bw_gbs", space)
        ns = self.ipcq(pe, "access_ns", space) + segment.nbytes / bw
        if space == "tcm":
            return ns
        there = self.path(self.dma(pe), self.graph.memory_at(segment.p["dst_addr"])[2])
        edges = there if write else self.graph.reversed_path(there)
        nodes = [self.graph.dst[e] for e in there[:-1]]
        return (ns + sum(self.graph.overhead[n] for n in nodes) + sum(self.graph.wire[e] for e in edges)
                + self.bottleneck_ns(edges, segment.nbytes))


class Messages(cli_support.Cli):
    def near(self, found, expected, what):
        self.assertAlmostEqual(found, expected, delta=TOLERANCE_NS, msg=what)

    def run_of(self, folder, kernel, links, params):
        machine = cli_support.topology("small.yaml")
        options = ["--topology", machine, "--links", links, "--response", "ideal" if links == "ideal" else "routed"]
        log = os.path.join(folder, "log.jsonl")
        arguments = [a for p in params for a in ("--param", p)]
        self.succeeds("run", "--kernel", kernel, *options, "--oplog", log, "--memory", "none", *arguments)
        graph = json.loads(self.succeeds("topology", *options, "--format", "json"))
        with open(log, encoding="utf-8") as file:
            return Machine(Graph(graph)), [json.loads(line) for line in file]

    def segments_of(self, records):
        copies = {r["op_id"]: r for r in records if r["op_name"] == "ipcq_copy"}
        segments = []
        for r in records:
            if r["op_name"] != "ipcq_recv":
                continue
            copy = next(copies.pop(i) for i in r["dependency_ids"] if i in copies)
            receiver = copy["component_id"].rpartition(".")[0]
            copy["params"]["dst_pe_of_ring"] = copy["params"]["dst_pe"] = receiver
            segments.append(Segment(copy, r))
        self.assertEqual(copies, {}, "sent and not received")
        return segments

    def check_sender(self, m, pe, segments, idle, credits):
        """Slots of each queue, then vc_comm over all of them."""
        g = m.graph
        i_ns = m.ipcq(pe, "overhead_ns")
        by_queue = collections.defaultdict(list)
        for s in segments:
            by_queue[s.queue].append(s)
        for queue, all_of in by_queue.items():
            all_of.sort(key=lambda s: (s.p["message"], s.p["segment"]))
            slots, before = m.ipcq(queue[2], "slots"), 0.0
            freed = sorted(credits[queue])
            for k, s in enumerate(all_of):
                slot = max(s.p["send_ns"] + i_ns, before)
                if k >= slots:
                    slot = max(slot, freed[k - slots])
                if idle:
                    self.near(s.p["slot_ns"], slot, f"{queue} {k} slot")
                before = s.p["slot_ns"]
        free = 0.0
        for s in sorted(segments, key=lambda s: (fs(s.p["slot_ns"]), s.p["src_seq"], s.p["segment"])):
            edges = m.path(m.dma(pe), m.dma(s.p["dst_pe"]))
            grant = max(s.p["slot_ns"], free)
            if idle:
                self.near(s.p["grant_ns"], grant, f"{s.queue} grant")
            self.assertGreaterEqual(s.p["grant_ns"], grant - TOLERANCE_NS)
            arrival = s.p["grant_ns"] + m.header_ns(edges, s.nbytes)
            if idle:
                self.near(s.p["arrival_ns"], arrival, f"{s.queue} arrival")
            self.assertGreaterEqual(s.p["arrival_ns"], arrival - TOLERANCE_NS)
            free = s.p["grant_ns"] + g.overhead[m.dma(pe)] + m.bottleneck_ns(edges, s.nbytes)

    def check_receiver(self, m, pe, segments):
        """Inbound server, slot writer, slot reader."""
        inbound = writer = 0.0
        through = []
        for s in sorted(segments, key=lambda s: (fs(s.p["arrival_ns"]), s.copy["t_start"])):
            edges = m.path(m.dma(s.p["src_pe"]), m.dma(pe))
            inbound = max(inbound, s.p["arrival_ns"]) + m.bottleneck_ns(edges, s.nbytes)
            through.append((inbound, s))
        for at, s in sorted(through, key=lambda x: (fs(x[0]), x[1].copy["t_start"])):
            start = max(writer, at)
            writer = start + m.slot_ns(s, True)
            self.near(s.copy["t_start"], start, f"{s.queue} slot write")
            self.near(s.copy["t_end"], writer, f"{s.queue} visible")
        i_ns, ready, free = m.ipcq(pe, "overhead_ns"), [], 0.0
        for n, s in enumerate(segments):
            q = s.recv["params"]
            heapq.heappush(ready, (fs(max(s.copy["t_end"], q["submit_ns"] + i_ns)), q["seq"], q["segment"], n))
        while ready:
            _, _, _, n = heapq.heappop(ready)
            s = segments[n]
            start = max(s.copy["t_end"], s.recv["params"]["submit_ns"] + i_ns, free)
            free = start + m.slot_ns(s, False)
            self.near(s.recv["t_start"], start, f"{s.queue} slot read")
            self.near(s.recv["t_end"], free, f"{s.queue} end of slot read")

    def check(self, kernel, links, *params):
        with tempfile.TemporaryDirectory() as folder:
            m, records = self.run_of(folder, kernel, links, params)
        segments = self.segments_of(records)
        self.assertGreater(len(segments), 0)
        idle = links == "ideal"
        credits = collections.defaultdict(list)
        for s in segments:
            back = m.graph.reversed_path(m.path(m.dma(s.p["src_pe"]), m.dma(s.p["dst_pe"])))
            size = m.ipcq(s.p["dst_pe"], "credit_bytes")
            credits[s.queue].append(s.recv["t_end"] + m.header_ns(back, size) + m.bottleneck_ns(back, size))
        for pe in {s.p["src_pe"] for s in segments}:
            self.check_sender(m, pe, [s for s in segments if s.p["src_pe"] == pe], idle, credits)
        for pe in {s.p["dst_pe"] for s in segments}:
            self.check_receiver(m, pe, [s for s in segments if s.p["dst_pe"] == pe])
        return len(segments)

    def test_of_collectives(self):
        for links in ("ideal", "cut_through"):
            for algorithm in ("ring", "halving", "tree", "rotate", "hierarchical"):
                for n in ("n=37", "n=12000"):
                    with self.subTest(links=links, algorithm=algorithm, n=n):
                        self.check("all_reduce", links, "over=cube+pe", "algorithm=" + algorithm, n)

    def test_of_rings_in_sram_and_hbm(self):
        for tier in ("sram", "hbm"):
            with self.subTest(tier=tier):
                self.check("all_reduce", "ideal", "over=cube+pe", "algorithm=ring", "n=12000", "tier=" + tier)


if __name__ == "__main__":
    unittest.main()
