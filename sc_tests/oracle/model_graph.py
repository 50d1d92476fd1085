# SPDX-License-Identifier: Apache-2.0
"""The compiled graph and its routes, and what a transaction is on it (§1, §2)."""
import heapq
import math

INF = math.inf


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
                continue  # a path may start here, but not pass
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
    """A read or write of one or more address ranges in one memory (§2), or an atomic (access §17).

    Ascending ranges that touch are one; `listed` ones (access §16) are made already, and each adds `range_bytes` to the
    request on links. kind: None, "atomic" (old bytes come back), "red" (an acknowledgement) or "cas".
    """

    def __init__(self, graph, initiator, is_write, ranges, on_done, kind=None, listed=False, range_bytes=0):
        self.graph = graph
        self.initiator = initiator
        self.is_write = is_write
        # A pcie_ep has one pool for reads and writes: its grants of one instant leave in the order of the input. (The
        # contract can also be read as reads before writes.) Later, at a server that they reach by different paths,
        # reads precede writes.
        self.from_pool = graph.kind[initiator] == "pcie_ep"
        self.channel = ("channel", initiator, is_write and not self.from_pool)
        self.ranges = [list(r) for r in ranges] if listed else join_ranges(ranges)
        self.kind = kind
        self.list_bytes = range_bytes * (len(self.ranges) - 1) if listed else 0
        self.nbytes = sum(n for _, n in ranges)
        self.sent = (2 if kind == "cas" else 1) * self.nbytes if is_write else 0  # bytes of data there and back
        self.answered = self.nbytes if not is_write or kind in ("atomic", "cas") else 0
        self.base, self.end, self.memory = graph.memory_at(ranges[0][0])
        if ranges[-1][0] + ranges[-1][1] > self.end or self.nbytes <= 0:
            raise ModelError("a transaction leaves its memory")
        self.forward = graph.route(initiator, self.memory)
        self.backward = graph.reversed_path(self.forward) if graph.routed or not is_write or kind else None
        self.data_edges = self.forward if is_write else self.backward
        self.on_done = on_done
        self.grant = None
        self.order = None
        self.arrival_number = None
        self.left = 0
        self.finish = 0.0
        self.effect = None
        self.on_effect = None

    def bottleneck(self, without_memory_edge=False):
        edges = self.data_edges
        if without_memory_edge:
            edges = edges[:-1] if self.is_write else edges[1:]
        return min((self.graph.bw[e] for e in edges), default=INF)

    def least(self, back, inner):
        """The bottleneck of a direction; inner: without the edge to the memory."""
        edges = self.backward if back else self.forward
        if inner:
            edges = edges[1:] if back else edges[:-1]
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
