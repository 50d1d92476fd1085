#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Relations that hold for multicasts and request rates on random trees of routers, in all link modes: a multicast of one
destination is the write; alone it takes its formula; with ideal links it takes the longest of its writes; combined
acknowledgements never end later; a request rate means the same with ample finite buffers."""
import csv
import io
import json
import random
import unittest

import cli_support

LINKS = ("ideal", "cut_through", "flit")
SPARE = {"id": "spare", "kind": "router", "attrs": {"buffer_flits": 1}}  # on no route; selects finite buffers


def machine(rng, links, response, memory_attrs=None):
    """PEs' DMAs and memories at random routers of a random tree; the bytes of each memory."""
    routers = rng.randint(1, 5)
    nodes, edges = [], []
    for i in range(routers):
        attrs = {"overhead_ns": rng.choice((0, 0.5, 3))}
        if rng.random() < 0.3:
            attrs["store_and_forward"] = True
        nodes.append({"id": f"r{i}", "kind": "router", "attrs": attrs})
        if i:
            edges.append((f"r{i}", f"r{rng.randrange(i)}"))
    for i in range(rng.randint(1, 3)):
        nodes.append({"id": f"pe{i}.pe_dma", "kind": "pe_dma", "attrs": {"overhead_ns": rng.choice((0, 1))}})
        edges.append((f"pe{i}.pe_dma", f"r{rng.randrange(routers)}"))
    memories, size = [], 1 << 20
    for i in range(rng.randint(2, 6)):
        name = f"m{i}"
        attrs = {"overhead_ns": rng.choice((0, 10)), **(memory_attrs(rng) if memory_attrs else {})}
        nodes.append({"id": name, "kind": "hbm_ctrl", "attrs": attrs})
        edges.append((name, f"r{rng.randrange(routers)}"))
        memories.append({"node": name, "space": "hbm", "base": i * size, "size": size})
    both = [{"from": x, "to": y, "distance_mm": rng.choice((0, 1, 7)), "bw_gbs": rng.choice((16, 64, 100)),
             "bidirectional": False}
            for a, b in edges for x, y in ((a, b), (b, a))]
    timing = {"links": links, "response": response, "header_bytes": rng.choice((0, 16)), "flit_bytes": 64}
    return {"timing": timing, "nodes": nodes, "links": both, "memories": memories}


class Multicasts(cli_support.FolderCli):
    def rows(self, topology, rows):
        head = "id,issue_ns,initiator,op,address,bytes,acks\n"
        text = head + "".join(f"q{i}," + ",".join(map(str, r)) + "\n" for i, r in enumerate(rows))
        out = self.succeeds("traffic", "--topology", self.file(json.dumps(topology), ".yaml"), "--trace",
                            self.file(text, ".csv"), "--format", "csv")
        return list(csv.DictReader(io.StringIO(out)))

    def file(self, text, ending):
        self.count = getattr(self, "count", 0) + 1
        path = self.path(f"{self.count}{ending}")
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def draws(self, count):
        for seed in range(count):
            rng = random.Random(seed)
            yield rng, LINKS[seed % 3], rng.choice(("ideal", "routed")) if LINKS[seed % 3] != "flit" else "routed"

    @staticmethod
    def dmas(topology):
        return [n["id"] for n in topology["nodes"] if n["kind"] == "pe_dma"]

    def test_one_destination_is_the_write(self):
        for rng, links, response in self.draws(24):
            t = machine(rng, links, response)
            rows = [(round(rng.random() * 50, 3), rng.choice(self.dmas(t)), "multicast",
                     rng.choice(t["memories"])["base"] + 64 * rng.randrange(100), rng.choice((1, 64, 500)),
                     rng.choice(("", "separate", "combined"))) for _ in range(12)]
            writes = [(at, who, "write", address, n, "") for at, who, _, address, n, _ in rows]
            same = [[{k: v for k, v in r.items() if k != "op"} for r in self.rows(t, these)] for these in (rows, writes)]
            self.assertEqual(same[0], same[1], json.dumps(t))

    def test_alone_it_takes_its_formula_and_the_longest_of_its_writes(self):
        for rng, links, response in self.draws(45):
            t = machine(rng, links, response)
            who, n = rng.choice(self.dmas(t)), rng.choice((1, 64, 500, 4096))
            bases = [m["base"] + 64 * rng.randrange(100) for m in rng.sample(t["memories"], rng.randint(2, len(t["memories"])))]
            to = "+".join(map(str, bases))
            alone = {acks: self.rows(t, [(5, who, "multicast", to, n, acks)])[0] for acks in ("separate", "combined")}
            for r in alone.values():
                self.assertEqual(r["latency_ns"], r["formula_ns"], json.dumps(t))
                self.assertEqual(r["address"], to)
            self.assertLessEqual(float(alone["combined"]["done_ns"]), float(alone["separate"]["done_ns"]), json.dumps(t))
            writes = [float(self.rows(t, [(5, who, "write", b, n, "")])[0]["done_ns"]) for b in bases]
            done = float(alone["separate"]["done_ns"])
            if links == "ideal":
                self.assertAlmostEqual(done, max(writes), 5, json.dumps(t))
            else:
                self.assertGreaterEqual(done, max(writes) - 1e-5, json.dumps(t))

    def test_many_at_once_all_end(self):
        for rng, links, response in self.draws(12):
            t = machine(rng, links, response, lambda r: {"request_ns": r.choice((0, 3, 40))})
            rows = []
            for i in range(40):
                some = rng.sample(t["memories"], rng.randint(1, len(t["memories"])))
                op = rng.choice(("multicast", "multicast", "write", "read"))
                to = "+".join(str(m["base"] + 64 * rng.randrange(64)) for m in (some if op == "multicast" else some[:1]))
                acks = rng.choice(("separate", "combined")) if op == "multicast" else ""
                rows.append((0, rng.choice(self.dmas(t)), op, to, rng.choice((64, 640)), acks))
            for r in self.rows(t, rows):
                self.assertGreaterEqual(float(r["queueing_ns"]), -1e-5, json.dumps(t))

    def test_a_rate_means_the_same_with_ample_buffers(self):
        for rng, _, _ in self.draws(16):
            def attrs(r):
                return {"request_ns": r.choice((0, 2, 25)), **({"read_request_ns": r.choice((0, 60))} if r.random() < 0.5 else {})}
            t = machine(rng, "flit", "routed", attrs)
            for n in t["nodes"]:
                n["attrs"].pop("store_and_forward", None)
            rows = [(round(rng.random() * 30, 3), rng.choice(self.dmas(t)), rng.choice(("read", "write")),
                     rng.choice(t["memories"])["base"] + 64 * i, rng.choice((64, 200)), "") for i in range(30)]
            ample = {**t, "nodes": t["nodes"] + [SPARE]}
            self.assertEqual(self.rows(t, rows), self.rows(ample, rows), json.dumps(t))


if __name__ == "__main__":
    cli_support.main()
