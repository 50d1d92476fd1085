#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do reductions on the way have the times of the worked cases of docs/rules/multicast.md? A group of one is a red. If no
node adds, the sources are reds that end together. The order of the rows changes nothing. Errors and cycles of waits are
named in one line."""
import csv
import io
import json
import os
import pathlib
import random
import unittest

import cli_support

MODES = {"ideal": ("ideal", "ideal"), "cut_through": ("cut_through", "routed"), "flit": ("flit", "routed")}


def star(mode, attrs=None, memories=3, dmas=2):
    """pe_dma (1 ns) - router (5) - memories (10); all links 64 GB/s and 1 ns."""
    links, response = MODES[mode]
    nodes = [{"id": "r", "kind": "router", "attrs": {"overhead_ns": 5, **(attrs or {})}}]
    edges, kept = [], []
    for i in range(dmas):
        nodes.append({"id": f"pe{i}.pe_dma", "kind": "pe_dma", "attrs": {"overhead_ns": 1}})
        edges.append(f"pe{i}.pe_dma")
    for i in range(memories):
        nodes.append({"id": f"m{i}", "kind": "hbm_ctrl", "attrs": {"overhead_ns": 10}})
        edges.append(f"m{i}")
        kept.append({"node": f"m{i}", "space": "hbm", "base": i << 20, "size": 1 << 20})
    return {"ns_per_mm": 1, "timing": {"links": links, "response": response, "header_bytes": 16, "flit_bytes": 256},
            "nodes": nodes, "memories": kept,
            "links": [{"from": a, "to": b, "distance_mm": 1, "bw_gbs": 64, "bidirectional": False}
                      for e in edges for a, b in ((e, "r"), ("r", e))]}


class Reductions(cli_support.FolderCli):
    def file(self, text, ending):
        self.count = getattr(self, "count", 0) + 1
        path = self.path(f"{self.count}{ending}")
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def arguments(self, topology, rows, head="id,issue_ns,initiator,op,address,bytes,acks,group"):
        text = head + "\n" + "".join(f"q{i}," + ",".join(map(str, r)) + "\n" for i, r in enumerate(rows))
        return ["traffic", "--topology", self.file(json.dumps(topology), ".yaml"), "--trace", self.file(text, ".csv"),
                "--format", "csv"]

    def done(self, topology, rows):
        out = list(csv.DictReader(io.StringIO(self.succeeds(*self.arguments(topology, rows)))))
        for r in out:
            self.assertAlmostEqual(float(r["latency_ns"]), float(r["formula_ns"]) + float(r["queueing_ns"]), 5)
        return [float(r["done_ns"]) for r in out]

    def test_worked_cases(self):
        reduces = {"reduces": True, "reduce_bw_gbs": 32, "reduce_ns": 2}
        sources = [(0, "pe0.pe_dma", "red_add", 0, 512, "", "g"), (3, "pe1.pe_dma", "red_add", 0, 512, "", "g")]
        for attrs, want in ((reduces, {"ideal": 47, "cut_through": 55, "flit": 59.5}),
                            ({}, {"ideal": 60, "cut_through": 68, "flit": 66.5})):
            for mode, ns in want.items():
                self.assertEqual(self.done(star(mode, attrs), sources), [ns, ns], (mode, attrs))
        to = "0+1048576+2097152"
        for mode, acks, ns in (("ideal", "", 26), ("cut_through", "separate", 34.5), ("cut_through", "combined", 34),
                               ("flit", "separate", 43), ("flit", "combined", 42.5)):
            self.assertEqual(self.done(star(mode), [(0, "pe0.pe_dma", "multicast", to, 512, acks, "")]), [ns])

    def test_types_that_a_node_does_not_add_are_named(self):
        for value in ("f33", "f32,", ",f32,x"):
            t = star("ideal", {"reduces": True, "reduce_bw_gbs": 1, "reduce_dtypes": value})
            self.refuses(*self.arguments(t, [(0, "pe0.pe_dma", "read", 0, 4, "", "")]), saying=["reduce_dtypes"])
        self.refuses(*self.arguments(star("ideal", {"reduces": True}), []), saying=["reduce_bw_gbs"])
        both = star("flit", {"reduces": True, "reduce_bw_gbs": 1, "buffer_flits": 4})
        self.refuses(*self.arguments(both, []), saying=["buffer_flits"])

    def test_a_group_of_one_is_a_red_and_rows_may_come_in_any_order(self):
        rng = random.Random(4)
        for mode in MODES:
            t = star(mode, {"reduces": True, "reduce_bw_gbs": 9, "reduce_ns": 1}, dmas=4)
            rows = [(at, f"pe{i}.pe_dma", "red_max", 64, 300, "", f"g{k}") for k in range(5) for i, at in
                    enumerate(rng.sample(range(200), 3))]
            rows = [(at + 200 * k // 3, *r) for k, (at, *r) in enumerate(rows)]
            times = dict(zip(rows, self.done(t, rows)))
            rng.shuffle(rows)
            self.assertEqual(times, dict(zip(rows, self.done(t, rows))))
            alone = [(7, "pe3.pe_dma", "red_add", 0, 40, "", "only")]
            self.assertEqual(self.done(t, alone), self.done(t, [(7, "pe3.pe_dma", "red", 0, 40, "", "")]))

    def test_without_nodes_that_add_sources_end_with_the_last_red(self):
        rng = random.Random(5)
        for _ in range(6):
            t = star("ideal", dmas=3)
            n, at = rng.choice((4, 100, 4096)), [rng.randrange(50) for _ in range(3)]
            reds = self.done(t, [(at[i], f"pe{i}.pe_dma", "red", 0, n, "", "") for i in range(3)])
            self.assertEqual(self.done(t, [(at[i], f"pe{i}.pe_dma", "red_min", 0, n, "", "g") for i in range(3)]),
                             [max(reds)] * 3)

    def test_nothing_overtakes_their_acknowledgements(self):
        """Cases of an independent model of the rules (§3, §20.1, §20.2), which the program once had otherwise."""
        cases = sorted(pathlib.Path(os.environ["KERNBENCH_TEST_DATA"]).glob("reductions/*.yaml"))
        self.assertEqual(len(cases), 5)
        for topology in cases:
            with self.subTest(topology.stem):
                out = self.succeeds("traffic", "--topology", topology, "--trace", topology.with_suffix(".csv"), "--format", "csv")
                got, expected = (sorted(csv.DictReader(text.splitlines()), key=lambda row: row["id"])
                                 for text in (out, topology.with_suffix(".expected.csv").read_text()))
                self.assertEqual(len(got), len(expected))
                for g, e in zip(got, expected):
                    for field in ("grant_ns", "done_ns", "formula_ns"):
                        self.assertAlmostEqual(float(g[field]), float(e[field]), delta=0.01, msg=f"{e['id']} {field}")

    def test_errors_and_circles_are_named(self):
        t = star("ideal", {"reduces": True, "reduce_bw_gbs": 9})
        two = [(0, "pe0.pe_dma", "red_add", 0, 4, "", "g")]
        for other, named in (((0, "pe1.pe_dma", "red_max", 0, 4, "", "g"), "differs"),
                             ((0, "pe1.pe_dma", "red_add", 8, 4, "", "g"), "differs"),
                             ((0, "pe1.pe_dma", "write", 0, 4, "", "g"), "red_add")):
            self.refuses(*self.arguments(t, two + [other]), saying=[named])
        circle = [(0, "pe0.pe_dma", "red_add", 0, 4, "", "a"), (1, "pe0.pe_dma", "red_add", 0, 4, "", "b"),
                  (0, "pe1.pe_dma", "red_add", 0, 4, "", "b"), (1, "pe1.pe_dma", "red_add", 0, 4, "", "a")]
        self.refuses(*self.arguments(t, circle), status=1, saying=["reduction a: not granted: pe1.pe_dma"])


if __name__ == "__main__":
    cli_support.main()
