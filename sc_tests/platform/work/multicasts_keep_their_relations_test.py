#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do multicasts and request rates keep their relations on random trees of routers, in all link modes? A multicast of one
destination is the write. Without other traffic it takes its formula. With ideal links it takes the longest of its
writes. Combined acknowledgements never end later. A request rate means the same with ample finite buffers.

With finite buffers every admitted message ends, and a refusal names the fork or the cycle. With ample room all times
are those without buffers; with tight buffers they are those of a small model. Every edge carries each flit once."""
import csv
import heapq
import io
import json
import random
import subprocess
import unittest

import cli_support

LINKS = ("ideal", "cut_through", "flit")
ROOM = "whose buffer_flits is"  # of the refusal of a fork
SPARE = {"id": "spare", "kind": "router", "attrs": {"buffer_flits": 1}}  # on no route; selects finite buffers


def machine(rng, links, response, memory_attrs=None, overheads=(0, 0.5, 3)):
    """PEs' DMAs and memories at random routers of a random tree; the bytes of each memory."""
    routers = rng.randint(1, 5)
    nodes, edges = [], []
    for i in range(routers):
        attrs = {"overhead_ns": rng.choice(overheads)}
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


def limited(rng, topology, flits, **more):
    """A copy whose routers have buffers of a random number of these flits."""
    nodes = [{**n, "attrs": {**n.get("attrs", {}), "buffer_flits": rng.choice(flits), **more}} if n["kind"] == "router" else n
             for n in topology["nodes"]]
    return {**topology, "nodes": nodes}


def tight(rng):
    """A tree or a ring of routers with small buffers, and the size of its messages in bytes."""
    t = machine(rng, "flit", "routed")
    routers = [n for n in t["nodes"] if n["kind"] == "router"]
    if len(routers) > 2 and rng.random() < 0.6:
        kept = [e for e in t["links"] if not (e["from"][0] == e["to"][0] == "r")]
        for i in range(len(routers)):
            pair = f"r{i}", f"r{(i + 1) % len(routers)}"
            kept += [{"from": x, "to": y, "distance_mm": mm, "bw_gbs": 64, "bidirectional": False}
                     for (x, y), mm in ((pair, 1), (pair[::-1], 20), ((f"p{i}", f"r{i}"), 1), ((f"r{i}", f"p{i}"), 1))]
            t["nodes"].append({"id": f"p{i}", "kind": "port", "attrs": {}})
        t["links"] = kept
    most, share, vcs = rng.choice((1, 4, 10)), rng.choice((1, 0.7)), rng.choice(((1,), (2, 4), (1, 2, 4)))
    for n in t["nodes"]:
        limits = n["kind"] == "router" and rng.random() < share or n["kind"] == "hbm_ctrl" and rng.random() < 0.2
        if limits:
            n["attrs"].update(buffer_flits=rng.choice((most, most + 3)), vcs=rng.choice(vcs))
        if limits and n["kind"] == "router":
            n["attrs"]["allocation"] = rng.choice(("round_robin", "oldest_first"))
    if not any("buffer_flits" in n["attrs"] for n in t["nodes"]):
        routers[0]["attrs"]["buffer_flits"] = most
    return t, 64 * rng.randint(1, most + most // 4)


class Model:
    """Writes and multicasts over a tree of finite buffers, by multicast rules 19.3 to 19.7 and docs/flow_control.md:
    one virtual channel, links by age or in turns, memories without limits, nothing stored, no two messages ready at one
    instant."""

    def __init__(self, topology):
        self.t, self.nodes = topology["timing"], {n["id"]: n.get("attrs", {}) for n in topology["nodes"]}
        self.links = {(e["from"], e["to"]): e for e in topology["links"]}
        self.bases = sorted((m["base"], m["node"]) for m in topology["memories"])
        self.free = dict.fromkeys(self.links, 0)
        self.memory_free, self.before = {}, {}  # before: when the flit before became ready, by message and node
        self.room, self.held, self.queues, self.joined = {}, {}, {}, {}
        self.events, self.count, self.now = [], 0, 0
        self.last = dict.fromkeys(self.links, 0)

    def at(self, time, action=lambda: None):
        self.count += 1
        heapq.heappush(self.events, (time, self.count, action))

    def path(self, a, b):
        open_ = [[a]]
        for way in open_:
            if way[-1] == b:
                return way
            open_ += [way + [y] for x, y in self.links if x == way[-1] and y not in way]

    def paths(self, who, to):
        return [self.path(who, max(m for m in self.bases if m[0] <= int(a))[1]) for a in to.split("+")]

    def run(self, rows):
        self.done = [0] * len(rows)
        for i, (at, who, _, to, nbytes, acks) in enumerate(rows):
            begin, paths = int(to.split("+")[0]), self.paths(who, to)
            cuts = range(begin // 64 * 64, begin + nbytes, 64)
            sizes = [min(c + 64, begin + nbytes) - max(c, begin) for c in cuts]
            self.at(at, lambda m=(i, sizes, paths, acks): self.enter(m, who_enters=m[2][0][0]))
        while self.events:
            self.now = self.events[0][0]
            while self.events and self.events[0][0] == self.now:
                heapq.heappop(self.events)[2]()
            while self.give():
                pass
        return self.done

    def enter(self, m, who_enters):
        for k in range(len(m[1])):
            self.queue(("source", m[0]), ("request", m, k), who_enters, self.now)

    def queue(self, key, flit, node, ready):
        """`todo`: links that have yet to take the flit."""
        kind, m, k = flit
        ways = [p if kind == "request" else p[::-1] for p in (m[2] if kind == "request" else [m[2][kind]])]
        todo = {(node, w[w.index(node) + 1]) for w in ways if node in w[:-1]}
        self.queues.setdefault(key, []).append({"flit": flit, "ready": ready, "todo": todo})
        self.at(ready)

    def give(self):
        """The first flit that has a channel and room takes its link. Returns whether there was one."""
        able = []
        for key, q in self.queues.items():
            seen = set()
            for e in q:
                name = self.message(e["flit"])
                if name != self.message(q[0]["flit"]) or e["ready"] > self.now:
                    break
                for link in e["todo"] - seen:
                    slot = (link, e["flit"][0] == "request")
                    if self.free[link] <= self.now and self.held.get(slot, name) == name and self.left(slot) > 0:
                        able.append((e["ready"], len(able), key, e, slot))
                seen |= e["todo"]
        if not able:
            return False
        link = able[0][4][0]
        able = [a for a in able if a[4][0] == link]
        turns = self.nodes[link[0]].get("allocation") == "round_robin"
        _, _, key, e, slot = min(able, key=lambda a: (self.rank(a[2]) - self.last[link] - 1) % 2**64) if turns else min(able)
        self.last[link] = self.rank(key)
        kind, m, k = e["flit"]
        last = kind != "request" or k + 1 == len(m[1])
        if self.limit(link[1]):
            self.room[slot] = self.left(slot) - 1
            self.held[slot] = self.message(e["flit"])
            if last:
                del self.held[slot]
        e["todo"].remove(link)
        while self.queues[key] and not self.queues[key][0]["todo"]:
            self.queues[key].pop(0)
            self.credit(key)
        if not self.queues[key]:
            del self.queues[key]
        self.free[link] = self.now + (m[1][k] if kind == "request" else self.t["header_bytes"]) / self.links[link]["bw_gbs"]
        self.at(self.free[link])
        self.at(self.free[link] + self.links[link]["distance_mm"], lambda: self.arrives(e["flit"], link, last))
        return True

    def rank(self, key):
        """Order of a queue at its node: by port, in the order of the node's links, then requests before responses."""
        if key[0] == "source":
            return 2**64 - 1
        if key[0] == "answer":
            return 0
        before, node = key[0]
        others = list(dict.fromkeys(a if b == node else b for a, b in self.links if node in (a, b)))
        return others.index(before) << 32 | (0 if key[1] else 1)

    @staticmethod
    def message(flit):
        return flit[0], flit[1][0]

    def limit(self, node):
        return self.nodes[node].get("buffer_flits", 0)

    def left(self, slot):
        return self.room.get(slot, self.limit(slot[0][1]) or 1)

    def credit(self, key):
        if key[0] in self.links and self.limit(key[0][1]):
            def comes():
                self.room[key[:2]] += 1
            self.at(self.now + self.links[key[0]]["distance_mm"], comes)

    def arrives(self, flit, link, last):
        kind, m, k = flit
        node, overhead = link[1], self.nodes[link[1]].get("overhead_ns", 0)
        slot = (link, kind == "request")
        first = self.now + overhead
        ready = self.before[self.message(flit), node] = max(self.now, self.before[self.message(flit), node]) if k else first
        if node == m[2][0][0]:  # an acknowledgement is back
            self.done[m[0]] = max(self.done[m[0]], first)
        elif kind == "request" and any(p[-1] == node for p in m[2]):
            self.at(ready, lambda: self.serve(m, k, link, last))
        elif kind != "request" and m[3] == "combined" and self.joins(m, node):
            self.credit(slot)
        else:
            self.queue(slot if self.limit(node) else (*slot, self.message(flit)), flit, node, ready)

    def joins(self, m, node):
        """Whether an acknowledgement at a fork is not the last one."""
        branches = {p[p.index(node) + 1] for p in m[2] if node in p}
        self.joined[m[0], node] = self.joined.get((m[0], node), 0) + 1
        return self.joined[m[0], node] < len(branches)

    def serve(self, m, k, link, last):
        end = max(self.now, self.memory_free.get(link[1], 0)) + m[1][k] / self.links[link]["bw_gbs"]
        self.memory_free[link[1]] = end
        if last:
            d = next(d for d, p in enumerate(m[2]) if p[-1] == link[1])
            self.at(end, lambda: self.queue(("answer", m[0], d), (d, m, 0), link[1], end))


class Runs(cli_support.FolderCli):
    def rows(self, topology, rows):
        return list(csv.DictReader(io.StringIO(self.succeeds(*self.arguments(topology, rows)))))

    def played(self, topology, rows):
        return subprocess.run([cli_support.KERNBENCH, *self.arguments(topology, rows)], capture_output=True, text=True, timeout=120)

    def arguments(self, topology, rows):
        head = "id,issue_ns,initiator,op,address,bytes,acks\n"
        text = head + "".join(f"q{i}," + ",".join(map(str, r)) + "\n" for i, r in enumerate(rows))
        return ("traffic", "--topology", self.file(json.dumps(topology), ".yaml"), "--trace", self.file(text, ".csv"),
                "--format", "csv")

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
        return [n["id"] for n in topology["nodes"] if n["kind"] in ("pe_dma", "port")]


class Multicasts(Runs):
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
            kinds = [("multicast", to, "separate"), ("multicast", to, "combined"), *(("write", b, "") for b in bases)]
            found = self.rows(t, [(5 + 1e5 * i, who, op, at, n, acks) for i, (op, at, acks) in enumerate(kinds)])
            for r in found[:2]:
                self.assertEqual(r["latency_ns"], r["formula_ns"], json.dumps(t))
                self.assertEqual(r["address"], to)
            done, combined, *writes = [float(r["latency_ns"]) for r in found]
            self.assertLessEqual(combined, done, json.dumps(t))
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


def by_hand(nodes, links, memories, **timing):
    """nodes: {id: (kind, attrs)}; links: (from, to, ns, GB/s), both ways; memories: 64 KiB each, from 0 on."""
    return {"ns_per_mm": 1, "timing": {"links": "flit", "response": "routed", "flit_bytes": 64, "header_bytes": 0, **timing},
            "nodes": [{"id": k, "kind": kind, "attrs": attrs} for k, (kind, attrs) in nodes.items()],
            "links": [{"from": a, "to": b, "distance_mm": ns, "bw_gbs": bw} for a, b, ns, bw in links],
            "memories": [{"node": m, "space": "sram", "base": i << 16, "size": 1 << 16} for i, m in enumerate(memories)]}


class FiniteBuffers(Runs):
    def done(self, topology, rows):
        return [float(r["done_ns"]) for r in self.rows(topology, rows)]

    def test_the_worked_case_of_the_contract(self):
        """Two flits fit whole: nothing waits for room."""
        def star(room):
            return by_hand({"p": ("pe_dma", {"overhead_ns": 1}), "r": ("router", {"overhead_ns": 5, "buffer_flits": room}),
                            **{m: ("sram", {"overhead_ns": 10}) for m in ("m1", "m2", "m3")}},
                           [(x, "r", 1, 64) for x in ("p", "m1", "m2", "m3")], ["m1", "m2", "m3"], flit_bytes=256, header_bytes=16)
        for acks, done in (("separate", 43), ("combined", 42.5)):
            row = (0, "p", "multicast", "0+65536+131072", 512, acks)
            self.assertEqual(self.done(star(2), [row]), [done])
            done = self.played(star(1), [row])
            self.assertEqual(done.returncode, 2)
            self.assertIn(".csv:2: address: found 2 flits that part at r, whose buffer_flits is 1; expected", done.stderr)
        self.assertEqual(self.played(star(1), [(0, "p", "multicast", "0", 512, "")]).returncode, 0)  # no fork
        headers = star(3)
        headers["timing"]["packet_flits"] = 1
        self.assertIn("found 4 flits that part at r, whose buffer_flits is 3;", self.played(headers, [row]).stderr)

    def test_a_slow_branch_delays_what_is_behind_it_alone(self):
        """The four flits are at r at 1, 2, 3 and 4, and ready at 2, 2, 3 and 4. They go to fast at 2, 3, 4 and 5, the
        last is served at 7, acknowledged at 8. They go to slow at 2, 10, 18 and 26, the last is served at 42, acknowledged
        at 43. The write's flit is at r at 5, ready at 6, and goes when the last of the four has left the buffer, at 26:
        acknowledged at 29. By a channel of its own it goes at 6. Where r stores, the four are ready at 5: to fast until 9,
        to slow at 5, 13, 21 and 29, done 3 ns later; the write's flit comes into the store at 29, is ready at 30."""
        def fork(**attrs):
            return by_hand({"p": ("port", {}), "r": ("router", {"overhead_ns": 1, **attrs}), "slow": ("sram", {}), "fast": ("sram", {})},
                           [("p", "r", 0, 64), ("r", "slow", 0, 8), ("r", "fast", 0, 64)], ["slow", "fast"])
        rows = [(0, "p", "multicast", "0+65536", 256, ""), (0, "p", "write", "66048", 64, "")]
        self.assertEqual(self.done(fork(buffer_flits=4), rows), [43, 29])
        self.assertEqual(self.done(fork(buffer_flits=4, vcs=2), rows), [43, 9])
        self.assertEqual(self.done(fork(), rows), [43, 9])
        self.assertEqual(self.done(fork(buffer_flits=4, store_and_forward=True), rows), [46, 33])

    def test_a_branch_that_waits_for_credits_delays_no_other(self):
        """r sends to q, which has room for one flit, at 2, at 8 (q sends the first at 6), and then every 5 ns: at 13 and
        18. The last is at m1 at 22, served at 23; acknowledgements are at q at 23, at r at 26, done at 27. The write
        behind it to m2 goes when the last has left r, at 18: at m2 at 19, done at 21."""
        t = by_hand({"p": ("port", {}), "r": ("router", {"overhead_ns": 1, "buffer_flits": 4}),
                     "q": ("router", {"overhead_ns": 1, "buffer_flits": 1}), "m1": ("sram", {}), "m2": ("sram", {})},
                    [("p", "r", 0, 64), ("r", "q", 2, 64), ("q", "m1", 0, 64), ("r", "m2", 0, 64)], ["m1", "m2"])
        for acks in ("separate", "combined"):
            rows = [(0, "p", "multicast", "0+65536", 256, acks), (0, "p", "write", "66048", 64, "")]
            self.assertEqual(self.done(t, rows), [27, 21])

    def test_acknowledgements_wait_for_room_as_responses_do(self):
        """The flit is at r at 5, at the memories at 7, served at 8. Acknowledgements are at r at 8.25, ready at 9.25. Of
        separate ones a has room for one: they leave r at 9.25, 14.5 (a sends the first at 12.5) and 19.75. The last is at
        a at 22 and done at 23.25; the combined one leaves r at 9.25."""
        t = by_hand({"p": ("port", {}), "a": ("router", {"overhead_ns": 1, "buffer_flits": 1}),
                     "r": ("router", {"overhead_ns": 1, "buffer_flits": 1}), **{m: ("sram", {}) for m in ("m1", "m2", "m3")}},
                    [("p", "a", 0, 64), ("a", "r", 2, 64), *((m, "r", 0, 64) for m in ("m1", "m2", "m3"))], ["m1", "m2", "m3"],
                    header_bytes=16)
        for acks, done in (("separate", 23.25), ("combined", 12.75)):
            self.assertEqual(self.done(t, [(0, "p", "multicast", "0+65536+131072", 64, acks)]), [done])

    def test_an_initiator_that_is_a_fork_needs_no_room(self):
        """Each branch is a message of its own there. Nine flits: q sends one every ns from 2 on, the last at 10, served
        at 12 and back at 13. r has room for one flit a round of 3 ns, the first of 4: the last leaves p at 25, r at 27,
        and is served at 29."""
        t = by_hand({"p": ("port", {}), "q": ("router", {"overhead_ns": 1}), "r": ("router", {"overhead_ns": 1, "buffer_flits": 1}),
                     "m1": ("sram", {}), "m2": ("sram", {})},
                    [("p", "q", 0, 64), ("q", "m1", 0, 64), ("p", "r", 1, 64), ("r", "m2", 0, 64)], ["m1", "m2"])
        self.assertEqual(self.done(t, [(0, "p", "multicast", "0+65536", 576, "")]), [29 + 1 + 1])
        self.assertEqual(self.done(t, [(0, "p", "multicast", "0", 576, "")]), [13])

    def test_a_forced_circle_is_named(self):
        nodes, links = {}, []
        for i in range(4):
            nodes.update({f"r{i}": ("router", {"overhead_ns": 1, "buffer_flits": 2}), f"p{i}": ("port", {}), f"m{i}": ("sram", {})})
            links += [(f"p{i}", f"r{i}", 0, 64), (f"r{i}", f"m{i}", 0, 64), (f"r{i}", f"r{(i + 1) % 4}", 1, 64), (f"r{(i + 1) % 4}", f"r{i}", 50, 64)]
        t = by_hand(nodes, links, [f"m{i}" for i in range(4)])
        for e in t["links"]:
            e["bidirectional"] = e["from"][0] != "r" or e["to"][0] != "r"
        rows = [(0, f"p{i}", "multicast", f"{(i + 1) % 4 << 16}+{(i + 2) % 4 << 16}", 128, "") for i in range(4)] * 8
        circle = "r0 -> r1"
        self.assertIn(f"in a cycle: {circle} -> r2", self.played(t, rows).stderr)
        t["timing"]["prove_deadlock_free"] = False
        hangs = self.played(t, rows)
        self.assertEqual(hangs.returncode, 1)
        self.assertRegex(hangs.stderr, f"in a cycle: {circle}, which waits for r1 -> r2, which .* \\(requests\\)")

    def multicast_rows(self, rng, t, count, ops=("multicast",), sizes=(64, 200, 500)):
        rows = []
        for _ in range(count):
            op = rng.choice(ops)
            some = rng.sample(t["memories"], rng.randint(1, len(t["memories"])) if op == "multicast" else 1)
            to = "+".join(str(m["base"] + 64 * rng.randrange(64) + 7) for m in some)
            rows.append((round(rng.random() * 40, 3), rng.choice(self.dmas(t)), op, to, rng.choice(sizes),
                         rng.choice(("separate", "combined")) if op == "multicast" else ""))
        return rows

    def test_what_is_admitted_ends_and_a_refusal_names_the_fork_or_the_circle(self):
        counts = {"ends": 0, "fork": 0, "circle": 0}
        for seed in range(300):
            rng = random.Random(seed)
            t, nbytes = tight(rng)
            rows = self.multicast_rows(rng, t, 14, ("multicast", "multicast", "multicast", "write", "read"), (nbytes,))
            done = self.played(t, rows)
            if done.returncode == 0:
                counts["ends"] += 1
                continue
            self.assertEqual(done.returncode, 2, done.stderr + json.dumps(t) + str(rows))
            kind = "fork" if ROOM in done.stderr else "circle"
            self.assertRegex(done.stderr, r"part at r\d, " + ROOM + r" \d+;" if kind == "fork" else "wait for each other in a cycle: r")
            counts[kind] += 1
        self.assertGreater(counts["ends"], 100, counts)
        self.assertGreater(min(counts.values()), 10, counts)

    def test_with_ample_room_the_times_are_those_without_buffers(self):
        for seed in range(14):
            rng = random.Random(seed)
            t = machine(rng, "flit", "routed")
            rows = self.multicast_rows(rng, t, 30, ("multicast", "multicast", "write", "read"))
            free = self.rows(t, rows)
            self.assertEqual(free, self.rows({**t, "nodes": t["nodes"] + [SPARE]}, rows), json.dumps(t))
            ample = limited(rng, t, (1 << 20,), vcs=1024, allocation="oldest_first")
            self.assertEqual(free, self.rows(ample, rows), json.dumps(t) + str(rows))

    def test_one_destination_is_the_write(self):
        for seed in range(12):
            rng = random.Random(seed)
            t = limited(rng, machine(rng, "flit", "routed"), (1, 2, 5))
            rows = [(*r[:3], r[3].split("+")[0], *r[4:]) for r in self.multicast_rows(rng, t, 20)]
            writes = [(at, who, "write", to, n, "") for at, who, _, to, n, _ in rows]
            same = [[{k: v for k, v in r.items() if k != "op"} for r in self.rows(t, these)] for these in (rows, writes)]
            self.assertEqual(same[0], same[1], json.dumps(t))

    def test_combined_acknowledgements_never_end_later_alone(self):
        for seed in range(12):
            rng = random.Random(seed)
            t = limited(rng, machine(rng, "flit", "routed"), (4, 5))
            [(_, *row, _)] = self.multicast_rows(rng, t, 1, sizes=(200,))
            rows = self.rows(t, [(0, *row, "combined"), (1e5, *row, "separate")])
            self.assertLessEqual(*(float(r["latency_ns"]) for r in rows), json.dumps(t))

    def test_every_edge_carries_each_flit_once(self):
        """And one combined acknowledgement back for each message."""
        for seed in range(12):
            rng = random.Random(seed)
            t = limited(rng, machine(rng, "flit", "routed"), (9,))
            who = self.dmas(t)[0]
            rows = [(*r[:1], who, *r[2:5], acks) for acks in ("separate", "combined") for r in self.multicast_rows(rng, t, 4)]
            model, expected = Model(t), {}
            for _, _, _, to, nbytes, acks in rows:
                paths = model.paths(who, to)
                for edge in {e for p in paths for e in zip(p, p[1:])}:
                    behind = sum(edge in zip(p, p[1:]) for p in paths)
                    back = t["timing"]["header_bytes"] * (1 if acks == "combined" else behind)
                    expected[edge] = expected.get(edge, 0) + nbytes
                    expected[edge[::-1]] = expected.get(edge[::-1], 0) + back
            statistics = self.path("statistics.csv")
            self.succeeds(*self.arguments(t, rows), "--statistics", statistics)
            with open(statistics, encoding="utf-8") as f:
                carried = {tuple(r["object"].split("->")): int(r["value"]) for r in csv.DictReader(f)
                           if r["counter"] == "bytes" and "->" in r["object"]}
            self.assertEqual({k: v for k, v in carried.items() if v}, {k: v for k, v in expected.items() if v}, json.dumps(t))

    def test_tight_buffers_have_the_times_of_the_model(self):
        later = 0
        for seed in range(14):
            rng = random.Random(seed)
            t = machine(rng, "flit", "routed", overheads=(0.512, 3.077))
            for n in t["nodes"]:
                n["attrs"].pop("store_and_forward", None)
                if n["kind"] == "pe_dma":
                    n.update(kind="port", attrs={})
            t["timing"]["header_bytes"] = 16
            for i, e in enumerate(t["links"]):
                e["distance_mm"] = round(rng.random() * 3, 3) + i * 1e-5
            t = {**limited(rng, t, (4, 5, 9), allocation=("oldest_first", "round_robin")[seed % 2]), "ns_per_mm": 1}
            rows = self.multicast_rows(rng, t, 10, ("multicast", "multicast", "write"), (64, 200))
            found = self.done(t, rows)
            for one, other in zip(found, Model(t).run(rows)):
                self.assertAlmostEqual(one, other, 2, f"{seed} {json.dumps(t)} {rows}\n{found}\n{Model(t).run(rows)}")
            free = limited(rng, t, (1 << 20,), vcs=1024, allocation="oldest_first")
            later += found != self.done(free, rows)
        self.assertGreater(later, 5)


if __name__ == "__main__":
    cli_support.main()
