#!/usr/bin/env python3
"""An independent model of the timing rules: plain Python, one event queue, no SystemC.

It is written from the contract's words (sections are cited as §n) and shares nothing with the C++ models, so that
agreement between the two says something. Units: ns (doubles), bytes, GB/s (= bytes/ns), mm, GHz.

    timing_model.py traffic GRAPH.json TRACE.csv      prints what `kernbench traffic` must print
    timing_model.py pipeline GRAPH.json WORK.json     prints what `kernbench pipeline` must print

GRAPH.json is `kernbench topology T --format json`. Events are ordered by their time rounded to the nearest fs; all
times that are computed with stay exact.
"""
import csv
import heapq
import json
import math
import sys
from collections import deque

INF = math.inf


def to_tick(ns):
    """The instant of a time: whole femtoseconds."""
    return round(ns * 1e6)


class ModelError(Exception):
    """Input that the contract refuses."""


TRANSIT = {"router", "xbar", "bridge", "switch", "ucie", "noc", "io_noc", "io_cpu", "pcie_ep"}


def compile_flat(topology):
    """The compiled graph of a flat topology (§1): both directions of a link, the forward one first."""
    nodes = [{"id": n["id"], "kind": n["kind"], "impl": n.get("impl", "builtin." + n["kind"]),
              "transit": n.get("transit", n["kind"] in TRANSIT), "attrs": n.get("attrs", {})}
             for n in topology["nodes"]]
    edges = []
    for link in topology["links"]:
        ends = [(link["from"], link["to"])]
        if link.get("bidirectional", True):
            ends.append((link["to"], link["from"]))
        edges += [{"from": a, "to": b, "kind": "link", "distance_mm": link["distance_mm"],
                   "bw_gbs": link.get("bw_gbs")} for a, b in ends]
    return {"ns_per_mm": topology["ns_per_mm"], "timing": topology["timing"], "nodes": nodes, "edges": edges,
            "memories": topology["memories"]}


class Graph:
    """The compiled graph, with routing (§1)."""

    def __init__(self, data):
        self.data = data
        self.ns_per_mm = data["ns_per_mm"]
        timing = data.get("timing", {})
        self.links = timing.get("links", "ideal")
        self.response = timing.get("response", "ideal")
        self.header_bytes = timing.get("header_bytes", 0)
        self.flit_bytes = timing.get("flit_bytes", 256)
        self.flit = self.links == "flit"
        self.routed = self.flit or self.response == "routed"
        self.nodes = data["nodes"]
        self.index = {n["id"]: i for i, n in enumerate(self.nodes)}
        self.kind = [n["kind"] for n in self.nodes]
        self.impl = [n["impl"] for n in self.nodes]
        self.attrs = [n["attrs"] for n in self.nodes]
        self.overhead = [float(a.get("overhead_ns", 0.0)) for a in self.attrs]
        self.gate = [bool(n["transit"]) and bool(n["attrs"].get("store_and_forward", n["kind"] == "pcie_ep"))
                     for n in self.nodes]
        self.src, self.dst, self.wire, self.nm, self.bw = [], [], [], [], []
        self.out = [[] for _ in self.nodes]
        self.into = [[] for _ in self.nodes]
        self.edge_of = {}
        for e, edge in enumerate(data["edges"]):
            a, b = self.index[edge["from"]], self.index[edge["to"]]
            self.src.append(a)
            self.dst.append(b)
            self.wire.append(edge["distance_mm"] * self.ns_per_mm)
            self.nm.append(round(edge["distance_mm"] * 1e6))
            bw = edge["bw_gbs"]
            if bw is None:
                bw = INF
            else:
                for end in (a, b):
                    if self.kind[end] == "hbm_ctrl":
                        bw *= self.attrs[end].get("efficiency", 1.0)
            self.bw.append(bw)
            self.out[a].append(e)
            self.into[b].append(e)
            self.edge_of[(a, b)] = e
        self.memories = [(m["base"], m["base"] + m["size"], self.index[m["node"]], m.get("space"))
                         for m in data["memories"]]
        self._to = {}
        self._routes = {}

    def memory_at(self, address):
        for base, end, node, _ in self.memories:
            if base <= address < end:
                return base, end, node
        raise ModelError(f"no memory at {address}")

    def _distances_to(self, target):
        """(nm, hops) of the best way from every node to the target through transit nodes."""
        if target in self._to:
            return self._to[target]
        best = {target: (0, 0)}
        heap = [(0, 0, target)]
        settled = set()
        while heap:
            nm, hops, node = heapq.heappop(heap)
            if node in settled:
                continue
            settled.add(node)
            if node != target and not self.nodes[node]["transit"]:
                continue  # a way may start here, not pass
            for e in self.into[node]:
                cost = (nm + self.nm[e], hops + 1)
                if self.src[e] not in best or cost < best[self.src[e]]:
                    best[self.src[e]] = cost
                    heapq.heappush(heap, (*cost, self.src[e]))
        self._to[target] = best
        return best

    def reaches(self, a, b):
        return self.index[a] in self._distances_to(self.index[b])

    def route(self, a, b):
        """Edges from a to b: least distance, then hops, then the least sequence of edge indices."""
        if (a, b) in self._routes:
            return self._routes[(a, b)]
        best = self._distances_to(b)
        if a not in best:
            raise ModelError(f"no path from {self.nodes[a]['id']} to {self.nodes[b]['id']}")
        path, node = [], a
        while node != b:
            nm, hops = best[node]
            for e in sorted(self.out[node]):
                to = self.dst[e]
                if to != b and not self.nodes[to]["transit"]:
                    continue
                if to in best and (best[to][0] + self.nm[e], best[to][1] + 1) == (nm, hops):
                    path.append(e)
                    node = to
                    break
            else:
                raise AssertionError("routing")
        self._routes[(a, b)] = path
        return path

    def reversed_path(self, path):
        back = []
        for e in reversed(path):
            key = (self.dst[e], self.src[e])
            if key not in self.edge_of:
                raise ModelError(f"no edge back from {self.nodes[key[0]]['id']} to {self.nodes[key[1]]['id']}")
            back.append(self.edge_of[key])
        return back


class Transaction:
    """A read or write of one or more ascending address ranges in one memory (§2)."""

    def __init__(self, graph, initiator, is_write, ranges, on_done):
        self.graph = graph
        self.initiator = initiator
        self.is_write = is_write
        # A pcie_ep has one pool for reads and writes: what it grants at one instant leaves in the order of the input.
        # (The contract can be read otherwise: then reads before writes.) Later, at a server to which they come by
        # different ways, reads are before writes.
        self.from_pool = graph.kind[initiator] == "pcie_ep"
        self.channel = ("channel", initiator, is_write and not self.from_pool)
        self.ranges = join_ranges(ranges)
        self.nbytes = sum(n for _, n in ranges)
        self.base, self.end, self.memory = graph.memory_at(ranges[0][0])
        if ranges[-1][0] + ranges[-1][1] > self.end or self.nbytes <= 0:
            raise ModelError("a transaction leaves its memory")
        self.forward = graph.route(initiator, self.memory)
        self.backward = graph.reversed_path(self.forward) if graph.routed or not is_write else None
        self.data_edges = self.forward if is_write else self.backward
        self.on_done = on_done
        self.grant = None
        self.order = None
        self.arrival_number = None
        self.left = 0
        self.finish = 0.0

    def bottleneck(self, without_memory_edge=False):
        edges = self.data_edges
        if without_memory_edge:
            edges = edges[:-1] if self.is_write else edges[1:]
        return min((self.graph.bw[e] for e in edges), default=INF)

    def pieces(self, unit, origin):
        """(address, bytes) of the ranges cut at multiples of unit from origin."""
        for addr, length in self.ranges:
            end = addr + length
            while addr < end:
                cut = min(end, origin + ((addr - origin) // unit + 1) * unit)
                yield addr, cut - addr
                addr = cut


def join_ranges(ranges):
    joined = []
    for addr, length in ranges:
        if joined and joined[-1][0] + joined[-1][1] == addr:
            joined[-1][1] += length
        else:
            joined.append([addr, length])
    return joined


class Message:
    """What travels: a request or a response of a transaction, as a header or as flits."""

    __slots__ = ("tx", "edges", "payload", "flits", "arrived", "ready", "first", "on_end")

    def __init__(self, tx, edges, payload, flits, on_end):
        self.tx = tx
        self.edges = edges
        self.payload = payload
        self.flits = flits  # bytes of each (flit mode)
        self.arrived = [0] * (len(edges) + 1)
        self.ready = [0.0] * (len(edges) + 1)
        self.on_end = on_end


class Simulator:
    """The event queue with the order of one instant (§9).

    Events of one instant: what is already on its way first, then what the blocks do (a PE's stages from the back),
    then the transactions that were granted at this very instant. On the way, by grant time, initiator, reads before
    writes; events that left one server (a stream) in an order keep it.
    """

    def __init__(self, graph):
        self.graph = graph
        self.heap = []
        self.serial = 0
        self.streams = {}
        # True once the answer may hang on a tie that the contract leaves to the project (§9's last rule).
        self.undecided = False
        self.seen = {}

    def notice(self, instant, key, who):
        """Two of one key at one instant, but not of one kind: nothing says which comes first."""
        if self.seen.setdefault((instant, key), who) != who:
            self.undecided = True

    def at(self, time, key, action):
        """A block's event; key: initiator, place in its order of one instant, 1 if a tie here is decided elsewhere."""
        self.serial += 1
        if not key[2]:
            self.notice(to_tick(time), key, self.serial)
        heapq.heappush(self.heap, (to_tick(time), 1, key, self.serial, time, action, None))

    def on_the_way(self, time, tx, stream, order, target, action):
        """An event of a transaction that left `stream` with the number `order` and comes to `target`."""
        tick = to_tick(time)
        # One channel's transactions keep the order of their grants; so do those behind one server.
        source = "channel" if stream[0] == "channel" else stream
        self.notice(tick, (target, to_tick(tx.grant), tx.initiator, tx.is_write and not tx.from_pool), source)
        entry = (order, self.serial, time, tx, action)
        self.serial += 1
        group_key = (stream, tick)
        group = self.streams.get(group_key)
        if group is None:
            group = self.streams[group_key] = []
        heapq.heappush(group, entry)
        if group[0] is entry:
            self._offer(tick, entry, group_key)

    def _offer(self, tick, entry, group_key):
        tx = entry[3]
        key = (to_tick(tx.grant), tx.initiator, tx.is_write, tx.order)
        self.serial += 1
        phase = 0 if to_tick(tx.grant) < tick else 2
        heapq.heappush(self.heap, (tick, phase, key, self.serial, entry[2], entry, group_key))

    def run(self):
        while self.heap:
            tick, _, _, _, time, what, group_key = heapq.heappop(self.heap)
            if group_key is None:
                what(time)
                continue
            group = self.streams.get(group_key)
            if not group or group[0] is not what:
                continue  # served already, or one that left before it came in between
            heapq.heappop(group)
            if group:
                self._offer(tick, group[0], group_key)
            else:
                del self.streams[group_key]
            what[4](time)


class Fabric:
    """Links and memories (§2-§4)."""

    def __init__(self, sim):
        self.sim = sim
        self.graph = sim.graph
        self.edge_free = [0.0] * len(self.graph.src)
        self.edge_count = [0] * len(self.graph.src)
        self.memory_free = {}
        self.arrivals = {}
        self.orders = 0

    def start(self, tx, grant):
        """Starts a transaction that its channel granted; tx.on_done(time) is called at its end."""
        g = self.graph
        tx.grant = grant
        self.orders += 1
        tx.order = self.orders
        if tx.from_pool:
            self.sim.notice(to_tick(grant), ("pool", tx.initiator), tx.is_write)
        ready = grant + g.overhead[tx.initiator]
        if g.flit:
            flits = [n for _, n in tx.pieces(g.flit_bytes, 0)] if tx.is_write else [g.header_bytes]
            message = Message(tx, tx.forward, tx.nbytes if tx.is_write else 0, flits, self._flit_at_memory)
            for i in range(len(flits)):
                self._leave_flit(message, 0, i, ready, tx.channel, (tx.order, i))
        else:
            message = Message(tx, tx.forward, tx.nbytes if tx.is_write else 0, None, self._header_at_memory)
            self._leave_header(message, 0, ready, tx.channel, (tx.order, 0))

    # Headers: ideal and cut_through.

    def _leave_header(self, message, hop, ready, stream, order):
        self.sim.on_the_way(ready, message.tx, stream, order, message.edges[hop],
                            lambda t: self._header_on_edge(message, hop, t))

    def _header_on_edge(self, message, hop, ready):
        g = self.graph
        e = message.edges[hop]
        start = ready
        if g.links == "cut_through" and g.bw[e] != INF:
            start = max(ready, self.edge_free[e])
            self.edge_free[e] = start + (message.payload + g.header_bytes) / g.bw[e]
        arrival = start + g.wire[e]
        self.edge_count[e] += 1
        order = self.edge_count[e]
        # An ideal edge is no server: it gives no order to those that a gate makes leave its node at one instant.
        stream = ("edge", e)
        if g.links == "ideal":
            stream, order = message.tx.channel, (message.tx.order, hop + 1)
        if hop + 1 == len(message.edges):
            self.sim.on_the_way(arrival, message.tx, stream, order, ("end", g.dst[e]), lambda t: message.on_end(message, t))
            return
        node = g.dst[e]
        ready = arrival + g.overhead[node]
        if g.gate[node] and message.payload:
            ready += message.payload / g.bw[e]
        self._leave_header(message, hop + 1, ready, stream, order)

    def _header_at_memory(self, message, arrival):
        g, tx = self.graph, message.tx
        self.arrivals[tx.memory] = self.arrivals.get(tx.memory, 0) + 1
        tx.arrival_number = self.arrivals[tx.memory]
        overhead = g.overhead[tx.memory]
        if g.links == "ideal":
            gated = message.payload and any(g.gate[g.dst[e]] for e in message.edges)
            self.sim.notice(to_tick(arrival), ("memory", tx.memory), tx.order if gated else "plain")
        if g.impl[tx.memory] == "builtin.hbm_pc":
            leaves = arrival + overhead
            finish = leaves + tx.nbytes / tx.bottleneck(without_memory_edge=True)
            for channel, nbytes in self._channels(tx, g.attrs[tx.memory]["interleave_bytes"]):
                finish = max(finish, self._serve(channel, leaves, nbytes / g.attrs[tx.memory]["pc_bw_gbs"]))
            tail = finish - leaves  # a read is done at finish + what its header takes
        else:
            start = max(arrival, self.memory_free.get(tx.memory, 0.0))
            leaves = start + overhead
            tail = tx.nbytes / tx.bottleneck()
            finish = leaves + tail
            self.memory_free[tx.memory] = finish
        if not g.routed:
            self._done(tx, finish)
        elif tx.is_write:
            back = Message(tx, tx.backward, 0, None, lambda m, t: self._done(tx, t + g.overhead[tx.initiator]))
            self._leave_header(back, 0, finish, ("memory", tx.memory), tx.arrival_number)
        else:
            back = Message(tx, tx.backward, tx.nbytes, None,
                           lambda m, t: self._done(tx, t + g.overhead[tx.initiator] + tail))
            self._leave_header(back, 0, leaves, ("memory", tx.memory), tx.arrival_number)

    def _channels(self, tx, unit):
        g = self.graph
        attrs = g.attrs[tx.memory]
        for addr, nbytes in tx.pieces(unit, tx.base):
            number = (addr - tx.base) // attrs["interleave_bytes"] % attrs["pseudo_channels"]
            yield (tx.memory, number), nbytes

    def _serve(self, server, ready, time):
        end = max(ready, self.memory_free.get(server, 0.0)) + time
        self.memory_free[server] = end
        return end

    # Flits.

    def _leave_flit(self, message, hop, i, ready, stream, order):
        self.sim.on_the_way(ready, message.tx, stream, order, message.edges[hop],
                            lambda t: self._flit_on_edge(message, hop, i, t))

    def _flit_on_edge(self, message, hop, i, ready):
        g = self.graph
        e = message.edges[hop]
        arrival = ready
        if g.bw[e] != INF:
            arrival = max(ready, self.edge_free[e]) + message.flits[i] / g.bw[e]
            self.edge_free[e] = arrival
        arrival += g.wire[e]
        self.edge_count[e] += 1
        order = self.edge_count[e]
        node, at = g.dst[e], hop + 1
        last = at == len(message.edges)
        message.arrived[at] += 1
        if not last and g.gate[node] and message.payload:
            if message.arrived[at] == len(message.flits):
                for j in range(len(message.flits)):
                    self._leave_flit(message, at, j, arrival + g.overhead[node], ("edge", e),
                                     order - len(message.flits) + 1 + j)
            return
        message.ready[at] = arrival + g.overhead[node] if i == 0 else max(arrival, message.ready[at])
        ready = message.ready[at]
        if last:
            self.sim.on_the_way(ready, message.tx, ("edge", e), order, ("end", node),
                                lambda t: message.on_end(message, i, t))
        else:
            self._leave_flit(message, at, i, ready, ("edge", e), order)

    def _flit_at_memory(self, message, i, ready):
        g, tx = self.graph, message.tx
        if tx.arrival_number is None:
            self.arrivals[tx.memory] = self.arrivals.get(tx.memory, 0) + 1
            tx.arrival_number = self.arrivals[tx.memory]
            attrs = g.attrs[tx.memory]
            if g.impl[tx.memory] == "builtin.hbm_pc":
                tx.servers = [c for c, _ in self._channels(tx, g.flit_bytes)] if attrs["interleave_bytes"] % \
                    g.flit_bytes == 0 else None
                tx.rate = attrs["pc_bw_gbs"]
                tx.pieces_bytes = [n for _, n in tx.pieces(g.flit_bytes, 0)]
            else:
                tx.pieces_bytes = [n for _, n in tx.pieces(g.flit_bytes, 0)]
                tx.servers = [tx.memory] * len(tx.pieces_bytes)
                tx.rate = g.bw[tx.data_edges[-1] if tx.is_write else tx.data_edges[0]]
        if tx.is_write:
            tx.finish = max(tx.finish, self._serve(tx.servers[i], ready, tx.pieces_bytes[i] / tx.rate))
            tx.left += 1
            if tx.left == len(tx.pieces_bytes):
                back = Message(tx, tx.backward, 0, [g.header_bytes], self._flit_at_initiator)
                self._leave_flit(back, 0, 0, tx.finish, ("memory", tx.memory), (tx.arrival_number, 0))
            return
        back = Message(tx, tx.backward, tx.nbytes, tx.pieces_bytes, self._flit_at_initiator)
        served = 0.0
        for j, nbytes in enumerate(tx.pieces_bytes):
            served = max(served, self._serve(tx.servers[j], ready, nbytes / tx.rate))
            self._leave_flit(back, 0, j, served, ("memory", tx.memory), (tx.arrival_number, j))

    def _flit_at_initiator(self, message, i, ready):
        if i + 1 == len(message.flits):
            self._done(message.tx, ready)

    def _done(self, tx, time):
        self.sim.at(time, tx.done_key, tx.on_done)


class Channel:
    """A FIFO of transactions with a number of servers (None: unlimited), for traffic (§2)."""

    def __init__(self, fabric, servers):
        self.fabric = fabric
        self.free = INF if servers is None else servers
        self.waiting = deque()

    def issue(self, tx, time):
        self.waiting.append(tx)
        self._grant(time)

    def _grant(self, time):
        while self.waiting and self.free > 0:
            self.free -= 1
            tx = self.waiting.popleft()
            self.fabric.start(tx, time)

    def release(self, time):
        self.free += 1
        self._grant(time)


def run_traffic(graph, rows):
    """rows: dicts of the trace's columns; gives dicts with the columns of the answer."""
    return judge_traffic(graph, rows)[0]


def judge_traffic(graph, rows):
    """run_traffic's answer, and whether it may hang on a tie that the contract does not decide."""
    results, undecided = _play(graph, rows)
    for row, result in zip(rows, results):
        alone = dict(row, issue_ns=0.0)
        result["formula_ns"] = _play(graph, [alone])[0][0]["latency_ns"]
        result["queueing_ns"] = result["latency_ns"] - result["formula_ns"]
    return results, undecided


def _play(graph, rows):
    sim = Simulator(graph)
    fabric = Fabric(sim)
    channels = {}
    results = []
    for i, row in enumerate(rows):
        node = graph.index[row["initiator"]]
        write = row["op"] == "write"
        attrs = graph.attrs[node]
        if graph.kind[node] == "pcie_ep":
            key, servers = (node, False), attrs.get("outstanding")
        else:
            key, servers = (node, write), attrs.get("wr_engines" if write else "rd_engines", 1)
        if key not in channels:
            channels[key] = Channel(fabric, servers)
        issue = float(row["issue_ns"])
        result = dict(row, issue_ns=issue)
        results.append(result)

        def done(time, channel=channels[key], result=result):
            result["grant_ns"] = result["tx"].grant
            result["done_ns"] = time
            result["latency_ns"] = time - result["issue_ns"]
            channel.release(time)

        tx = Transaction(graph, node, write, [[int(row["address"]), int(row["bytes"])]], done)
        tx.done_key = (node, 0 if write else 1, 0)
        result["tx"] = tx
        sim.at(issue, (node, 2, 1), lambda t, c=channels[key], tx=tx: c.issue(tx, t))
    sim.run()
    for result in results:
        del result["tx"]
    return results, sim.undecided


STAGES = ("DMA_WRITE", "STORE", "MATH", "GEMM", "FETCH", "DMA_READ")  # from the back (§9)


class Stage:
    """One stage's queue and servers (§5)."""

    def __init__(self, pe, name, servers, depth):
        self.pe, self.name, self.depth = pe, name, depth
        self.free = servers
        self.queue = deque()
        self.waiters = deque()

    def offer(self, item, now, entered):
        """Puts an item in when there is room; entered(time) is called then."""
        if self.free:
            self.free -= 1
            self.pe.serve(self, item, now)
            entered(now)
        elif len(self.queue) < self.depth and not self.waiters:
            self.queue.append(item)
            entered(now)
        else:
            self.waiters.append((item, entered))

    def finish(self, item, started, now):
        """Slot, hand-on with all that it sets off, then the next item (§9)."""
        item.stages.append([self.name, started, now])
        if self.name in ("GEMM", "MATH"):
            self.pe.release_slot(now)
        following = item.following(self.name)
        if following is None:
            item.finished(now)
            self.take_next(now)
        else:
            self.pe.stages[following].offer(item, now, self.take_next)

    def take_next(self, now):
        self.free += 1
        if self.queue:
            self.free -= 1
            self.pe.serve(self, self.queue.popleft(), now)
        while self.waiters and len(self.queue) < self.depth:
            item, entered = self.waiters.popleft()
            self.queue.append(item)
            entered(now)


class Item:
    """A tile token or a simple command: its stages with their parameters, in order."""

    def __init__(self, plan, finished):
        self.plan = plan  # [(stage, parameters)]
        self.names = [name for name, _ in plan]
        self.stages = []
        self.finished = finished

    def following(self, name):
        i = self.names.index(name) + 1
        return self.names[i] if i < len(self.names) else None

    def parameters(self, name):
        return self.plan[self.names.index(name)][1]


class Pe:
    """A PE's pipeline: six stages, the slot, the feed loop (§5, §6)."""

    def __init__(self, sim, fabric, prefix):
        g = sim.graph
        self.sim, self.fabric, self.graph = sim, fabric, g

        def block(kind):
            for i, node in enumerate(g.nodes):
                if node["kind"] == kind and node["id"].rpartition(".")[0] == prefix:
                    return i
            raise ModelError(f"{prefix} has no {kind}")

        self.dma, self.fs, self.gemm, self.math, self.tcm = (
            block(k) for k in ("pe_dma", "pe_fetch_store", "pe_gemm", "pe_math", "pe_tcm"))
        attrs = g.attrs
        self.reserved = math.floor(attrs[self.tcm]["reserved_mb"] * 2**20)

        def depth(node):
            return attrs[node].get("queue_depth", 2)

        self.stages = {
            "DMA_READ": Stage(self, "DMA_READ", attrs[self.dma].get("rd_engines", 1), depth(self.dma)),
            "DMA_WRITE": Stage(self, "DMA_WRITE", attrs[self.dma].get("wr_engines", 1), depth(self.dma)),
            "FETCH": Stage(self, "FETCH", 1, depth(self.fs)),
            "STORE": Stage(self, "STORE", 1, depth(self.fs)),
            "GEMM": Stage(self, "GEMM", 1, depth(self.gemm)),
            "MATH": Stage(self, "MATH", 1, depth(self.math)),
        }
        self.slot_taken = False
        self.slot_waiters = deque()
        self.in_flight = 0
        self.feed_queue = deque()
        self.feeding = False

    # Service.

    def serve(self, stage, item, now):
        name = stage.name
        parameters = item.parameters(name)
        if name in ("DMA_READ", "DMA_WRITE"):
            self._transfer(stage, item, parameters, 0, now, now)
        elif name in ("FETCH", "STORE"):
            attrs = self.graph.attrs[self.tcm]
            bw = attrs["read_bw_gbs"] if name == "FETCH" else attrs["write_bw_gbs"]
            self._end_at(stage, item, now, now + self.graph.overhead[self.fs] + parameters / bw)
        else:
            time = self._gemm_ns(*parameters) if name == "GEMM" else self._math_ns(*parameters)
            self._ask_slot(now, lambda t: self._end_at(stage, item, t, t + time))

    def _end_at(self, stage, item, started, end):
        key = (self.dma, STAGES.index(stage.name), 0)
        self.sim.at(end, key, lambda t: stage.finish(item, started, t))

    def _transfer(self, stage, item, parts, i, started, now):
        if i == len(parts):
            stage.finish(item, started, now)
            return
        tx = Transaction(self.graph, self.dma, stage.name == "DMA_WRITE", parts[i],
                         lambda t: self._transfer(stage, item, parts, i + 1, started, t))
        tx.done_key = (self.dma, STAGES.index(stage.name), 0)
        self.fabric.start(tx, now)

    def _gemm_ns(self, m, n, k, dtype):
        attrs = self.graph.attrs[self.gemm]
        overhead = self.graph.overhead[self.gemm]
        freq = attrs["freq_ghz"]
        if self.graph.impl[self.gemm] != "builtin.pe_gemm_systolic":
            rate = attrs.get("rates", {}).get(dtype, 1)
            return overhead + m * n * k / (attrs["macs_per_cycle"] * freq * rate)
        rows, cols = attrs["rows"], attrs["cols"]

        def up(a, b):
            return -(-a // b)

        cycles = {"os": up(m, rows) * up(n, cols) * (rows + cols + k - 2),
                  "ws": up(k, rows) * up(n, cols) * (2 * rows + cols + m - 2),
                  "is": up(k, rows) * up(m, cols) * (2 * rows + cols + n - 2)}[attrs["dataflow"]]
        return overhead + cycles / freq

    def _math_ns(self, ops, elements):
        attrs = self.graph.attrs[self.math]
        cycles = sum(attrs.get("cycles", {}).get(op, 1) for op in ops)
        return self.graph.overhead[self.math] + -(-elements // attrs["lanes"]) * cycles / attrs["freq_ghz"]

    # accel_slot.

    def _ask_slot(self, now, start):
        if self.slot_taken:
            self.slot_waiters.append(start)
        else:
            self.slot_taken = True
            start(now)

    def release_slot(self, now):
        if self.slot_waiters:
            self.slot_waiters.popleft()(now)
        else:
            self.slot_taken = False

    # Commands and composites.

    def command(self, command):
        stage = command["stage"]
        if stage in ("DMA_READ", "DMA_WRITE"):
            parameters = [[[command["addr"], command["nbytes"]]]]
        elif stage == "GEMM":
            parameters = (command["m"], command["n"], command["k"], command.get("dtype"))
        else:
            parameters = ([command["op"]], command["elements"])
        item = Item([(stage, parameters)], lambda t: result.__setitem__("done_ns", t))
        result = {"id": command["id"], "stages": item.stages}
        self.sim.at(command["submit_ns"], (self.dma, 6, 1),
                    lambda t: self.stages[stage].offer(item, t, lambda _: None))
        return result

    def composite(self, composite):
        plan = plan_composite(composite)
        window = self.reserved // plan["tile_bytes"]
        if window == 0:
            raise ModelError(f"window 0: {self.reserved} bytes reserved, a tile takes {plan['tile_bytes']}")
        result = {"id": composite["id"], "window": window, "submit_ns": composite["submit_ns"], "tokens": [],
                  "left": len(plan["tiles"])}
        job = {"result": result, "tiles": deque(enumerate(plan["tiles"])), "window": window}

        def submit(now):
            self.feed_queue.append(job)
            self._feed(now)

        self.sim.at(composite["submit_ns"], (self.dma, 7, 1), submit)
        return result

    def _feed(self, now):
        if self.feeding:
            return
        while self.feed_queue:
            job = self.feed_queue[0]
            if not job["tiles"]:
                self.feed_queue.popleft()
                continue
            if self.in_flight >= job["window"]:
                return
            number, (ijk, plan) = job["tiles"].popleft()
            token = {"tile": number, "ijk": ijk}
            result = job["result"]
            result["tokens"].append(token)

            def finished(time, result=result):
                result["done_ns"] = time
                self.in_flight -= 1
                self._feed(time)

            item = Item(plan, finished)
            token["stages"] = item.stages
            self.in_flight += 1
            self.feeding = True

            def entered(time, token=token):
                token["fed_ns"] = time
                self.feeding = False
                self._feed(time)

            self.stages[plan[0][0]].offer(item, now, entered)
            return


def part(operand, columns, nbytes, row, rows, col, cols):
    """Ranges of a tile's part at its real, row-major addresses."""
    stride = operand.get("ld", columns)
    first = operand["addr"] + (row * stride + col) * nbytes
    return [[first + r * stride * nbytes, cols * nbytes] for r in range(rows)]


def plan_composite(c):
    """Tiles in feeding order, each as (ijk, [(stage, parameters)]) (§6)."""
    nbytes = c["dtype_bytes"]
    out_bytes = c.get("out_dtype_bytes", nbytes)
    epilogue = c.get("epilogue", [])
    m, n = c.get("m", 1), c["n"]
    if c["kind"] == "gemm":
        k = c["k"]
        tm, tn, tk = (min(t, s) for t, s in zip(c["tile"], (m, n, k)))
        out = c["c"]
        a_bytes, b_bytes = c["a"].get("dtype_bytes", nbytes), c["b"].get("dtype_bytes", nbytes)
        tile_bytes = tm * tk * a_bytes + tk * tn * b_bytes + tm * tn * out_bytes
    else:
        k = tk = 1
        tile = c["tile"] if len(c["tile"]) == 2 else [1, c["tile"][0]]
        tm, tn = (min(t, s) for t, s in zip(tile, (m, n)))
        out = c["out"]
        widths = [o.get("dtype_bytes", nbytes) for o in c["inputs"]]
        tile_bytes = tm * tn * (sum(widths) + out_bytes)
    tiles = []
    for i in range(0, m, tm):
        mm = min(tm, m - i)
        for j in range(0, n, tn):
            nn = min(tn, n - j)
            for l in range(0, k, tk):
                kk = min(tk, k - l)
                last_k = l + kk == k
                last = last_k and i + mm == m and j + nn == n
                if c["kind"] == "gemm":
                    reads = [(c["a"], part(c["a"], k, a_bytes, i, mm, l, kk)),
                             (c["b"], part(c["b"], n, b_bytes, l, kk, j, nn))]
                    fetched = mm * kk * a_bytes + kk * nn * b_bytes
                    ops = []
                else:
                    reads = [(o, part(o, n, w, i, mm, j, nn)) for o, w in zip(c["inputs"], widths)]
                    fetched = mm * nn * sum(widths)
                    ops = [c["op"]]
                ops = ops + [e["op"] for e in epilogue if e["scope"] == "per_k_tile"
                             or (e["scope"] == "per_output_tile" and last_k) or (e["scope"] == "once" and last)]
                plan = []
                parts = [r for o, r in reads if o["space"] != "tcm"]
                if parts:
                    plan.append(("DMA_READ", parts))
                plan.append(("FETCH", fetched))
                if c["kind"] == "gemm":
                    plan.append(("GEMM", (mm, nn, kk, c["dtype"])))
                if ops:
                    plan.append(("MATH", (ops, mm * nn)))
                if last_k:
                    plan.append(("STORE", mm * nn * out_bytes))
                    if out["space"] != "tcm":
                        plan.append(("DMA_WRITE", [part(out, n, out_bytes, i, mm, j, nn)]))
                tiles.append(([i // tm, j // tn, l // tk], plan))
    return {"tiles": tiles, "tile_bytes": tile_bytes}


def run_pipeline(graph, work):
    sim = Simulator(graph)
    fabric = Fabric(sim)
    answer = []
    for entry in work["pes"]:
        pe = Pe(sim, fabric, entry["pe"])
        instants = [{to_tick(x["submit_ns"]) for x in entry.get(what, [])} for what in ("composites", "commands")]
        if instants[0] & instants[1]:
            sim.undecided = True
        commands = [pe.command(c) for c in entry.get("commands", [])]
        composites = [pe.composite(c) for c in entry.get("composites", [])]
        answer.append({"pe": entry["pe"], "composites": composites, "commands": commands})
    sim.run()
    end = 0.0
    for pe in answer:
        for item in pe["composites"] + pe["commands"]:
            item.pop("left", None)
            end = max(end, item["done_ns"])
    return {"end_ns": end, "pes": answer, "undecided": sim.undecided}


TRAFFIC_COLUMNS = ("id", "initiator", "op", "address", "bytes", "issue_ns", "grant_ns", "done_ns", "latency_ns",
                   "formula_ns", "queueing_ns")


def main(argv):
    if len(argv) != 4 or argv[1] not in ("traffic", "pipeline"):
        print(__doc__, file=sys.stderr)
        return 2
    with open(argv[2], encoding="utf-8") as file:
        graph = Graph(json.load(file))
    with open(argv[3], encoding="utf-8") as file:
        if argv[1] == "pipeline":
            print(json.dumps(run_pipeline(graph, json.load(file))))
            return 0
        results = run_traffic(graph, list(csv.DictReader(file)))
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(TRAFFIC_COLUMNS)
    for r in results:
        writer.writerow([f"{r[c]:.6f}" if c.endswith("_ns") else r[c] for c in TRAFFIC_COLUMNS])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
