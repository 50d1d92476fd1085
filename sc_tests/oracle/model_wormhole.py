# SPDX-License-Identifier: Apache-2.0
"""Finite buffers (docs/flow_control.md) for messages that nobody answers: wormhole switching with virtual channels and
credits, rule by rule. Written from the page: what a node has is a dictionary, who may go is looked for among all.

Not modelled: layers of virtual channels (networks with a circle of links), memories.
"""
import heapq
from collections import deque

from model_fabric import to_tick
from model_graph import INF
from model_messages import COMM, PostedFabric

# Phases of an instant: credits come first, then links with arbitration by age become free. Round-robin links are
# granted last.
CREDIT_COMES, LINK_FREE, LINK_GIVEN = -4, -3, 3


class Worm:
    """A message: its flits, and what is told of it."""

    def __init__(self, tx, path, sizes, sent, there):
        self.tx, self.path, self.sizes, self.sent, self.there = tx, path, sizes, sent, there
        self.cls = 0 if tx.is_write == COMM else 1
        self.ready = [0.0] * (len(path) + 1)  # for the flit before, at each node


class Flit:
    def __init__(self, worm, index):
        self.worm, self.index, self.hop = worm, index, 0
        self.last = index + 1 == len(worm.sizes)
        self.ready, self.turn, self.here = False, 0, True


class Queue:
    """Flits that wait for one place: an initiator's messages to a link, or a virtual channel of an input."""

    def __init__(self, rank, edge=None, number=0, cls=0):
        self.flits, self.rank, self.edge, self.number, self.cls = deque(), rank, edge, number, cls
        self.offered, self.onto = False, None
        self.stored, self.forwards = 0, False


class Output:
    """What the sender over a link knows of it."""

    def __init__(self, limit, vcs):
        self.room = [[limit] * vcs for _ in range(2)]
        self.held = [[False] * vcs for _ in range(2)]
        self.taken, self.last_rank = [0, 0], 0
        self.offers, self.asked = [], False


class WormholeFabric(PostedFabric):
    def __init__(self, sim):
        super().__init__(sim)
        g = self.graph
        self.limit = [a.get("buffer_flits", 0) for a in g.attrs]
        self.vcs = [a.get("vcs", 1) for a in g.attrs]
        self.turns = 0
        self.sources, self.inputs, self.open, self.under_way = {}, {}, {}, {}
        self.outputs = [Output(self.limit[d], self.vcs[d]) for d in g.dst]
        self.ports = [self._ports(n) for n in range(len(g.nodes))]

    def _ports(self, node):
        """The place of each neighbour among a node's ports: in the order of its edges."""
        g, key = self.graph, {}
        for e in g.out[node] + g.into[node]:
            other = g.dst[e] if g.src[e] == node else g.src[e]
            key[other] = min(key.get(other, e), e)
        return {other: i for i, other in enumerate(sorted(key, key=key.get))}

    def _at(self, time, phase, e, action):
        """Of one instant: in the order of the nodes that send over the links, then of these nodes' ports."""
        g = self.graph
        key = (g.src[e], self.ports[g.src[e]][g.dst[e]], 1)
        self.sim.serial += 1
        heapq.heappush(self.sim.heap, (to_tick(time), phase, key, self.sim.serial, time, action, None))

    # The initiator.

    def post(self, tx, path, nbytes, grant, sent, there):
        g = self.graph
        tx.grant = grant
        self.orders += 1
        tx.order = self.orders
        sizes = [min(g.flit_bytes, nbytes - i) for i in range(0, nbytes, g.flit_bytes)] or [g.header_bytes]
        worm = Worm(tx, path, sizes, sent, self._in_order(tx, there) if tx.queue else there)
        self.sim.on_the_way(grant + g.overhead[tx.initiator], tx, tx.channel, tx.order, path[0],
                            lambda t: self._begins(worm, t))

    def _in_order(self, tx, there):
        """At the receiver: what comes before one that was sent earlier over the same queue waits for it."""
        under_way = self.under_way.setdefault(tx.queue, deque())
        entry = [there, False]
        under_way.append(entry)

        def comes(t):
            entry[1] = True
            while under_way and under_way[0][1]:
                under_way.popleft()[0](t)
        return comes

    def _begins(self, worm, now):
        q = self.sources.setdefault(worm.path[0], Queue(2**64 - 1))
        for i in range(len(worm.sizes)):
            f = Flit(worm, i)
            self._make_ready(f)
            q.flits.append(f)
        self._offer(q, now)

    def _make_ready(self, f):
        self.turns += 1
        f.ready, f.turn = True, self.turns

    # Links.

    def _offer(self, q, now):
        if q.offered or not q.flits:
            return
        q.offered = True
        f = q.flits[0]
        e = f.worm.path[f.hop]
        self.outputs[e].offers.append(q)
        self._ask(e, now)

    def _by_age(self, e):
        node = self.graph.src[e]
        return not self.limit[node] or self.graph.attrs[node].get("allocation", "round_robin") == "oldest_first"

    def _ask(self, e, now, by_credit=False):
        """A credit asks when all credits of the instant have come."""
        o = self.outputs[e]
        if o.asked or not o.offers:
            return
        o.asked = True
        free = self.edge_free[e]
        if self._by_age(e) and to_tick(free) <= to_tick(now) and not by_credit:
            return self._give(e, now)
        self._at(max(now, free), LINK_FREE if self._by_age(e) else LINK_GIVEN, e, lambda t: self._give(e, t))

    def _channel(self, e, cls):
        """The one with most room that nobody holds; of equals the next in turn. None: none."""
        o, n = self.outputs[e], self.vcs[self.graph.dst[e]]
        best = None
        for i in range(n):
            v = (o.taken[cls] + 1 + i) % n
            if not o.held[cls][v] and o.room[cls][v] > (o.room[cls][best] if best is not None else 0):
                best = v
        return best

    def _can_go(self, e, q):
        if not self.limit[self.graph.dst[e]]:
            return True
        cls = q.flits[0].worm.cls
        return self.outputs[e].room[cls][q.onto] > 0 if q.onto is not None else self._channel(e, cls) is not None

    def _give(self, e, now):
        o = self.outputs[e]
        able = [q for q in o.offers if self._can_go(e, q)]
        if able:
            if self._by_age(e):
                q = min(able, key=lambda q: q.flits[0].turn)
            else:
                q = min(able, key=lambda q: (q.rank - o.last_rank - 1) % 2**64)
            self._send(e, q, now)
        o.asked = False
        if able:
            self._ask(e, now)

    def _send(self, e, q, now):
        g, o = self.graph, self.outputs[e]
        f = q.flits[0]
        cls = f.worm.cls
        if self.limit[g.dst[e]]:
            if q.onto is None:
                q.onto = self._channel(e, cls)
                o.held[cls][q.onto] = True
                o.taken[cls] = q.onto
            o.room[cls][q.onto] -= 1
            f.channel = q.onto
            if f.last:
                o.held[cls][q.onto] = False
                q.onto = None
        o.last_rank = q.rank
        o.offers.remove(q)
        q.offered = False
        q.flits.popleft()
        if q.edge is not None:
            if q.stored:
                q.stored -= 1
            else:
                self._credit(q, cls, now)
        transfer = 0 if g.bw[e] == INF else f.worm.sizes[f.index] / g.bw[e]
        if g.bw[e] != INF:
            self.edge_free[e] = now + transfer
        first = f.hop == 0
        f.hop += 1
        f.ready = False
        self._arrives(f, e, now + transfer + g.wire[e], now)
        if q.edge is None:
            if first and f.last:
                f.worm.sent(now + transfer)
            self._offer(q, now)
        else:
            self._advance(q, now)

    def _credit(self, q, cls, now):
        g, e = self.graph, q.edge
        if not self.limit[g.dst[e]]:
            return

        def comes(t):
            self.outputs[e].room[cls][q.number] += 1
            self._ask(e, t, by_credit=True)
        self._at(now + g.wire[e], CREDIT_COMES, e, comes)

    # Nodes.

    def _input(self, e, f):
        """Its queue: of a virtual channel, or, without a limit, of the message."""
        g, node, cls = self.graph, self.graph.dst[e], f.worm.cls
        port = self.ports[node][g.src[e]]
        if self.limit[node]:
            vcs = self.vcs[node]
            key = (e, cls, f.channel)
            return self.inputs.setdefault(key, Queue(port << 32 | cls * vcs + f.channel, e, f.channel, cls))
        if f.index == 0:
            self.open[e, f.worm] = Queue(port << 32, e)
        return self.open.pop((e, f.worm)) if f.last else self.open[e, f.worm]

    def _arrives(self, f, e, arrival, now):
        g, worm, node = self.graph, f.worm, self.graph.dst[e]
        self.edge_count[e] += 1
        f.order = self.edge_count[e]
        if f.hop == len(worm.path):
            if f.last:
                self._on_the_way(f, e, arrival, worm.there)
            return
        q = self._input(e, f)
        q.flits.append(f)
        f.here = False
        if g.gate[node]:
            self._at(arrival, CREDIT_COMES, e, lambda t: self._stored(q, f, t))
            if f.last and q.flits[0].worm is worm:
                self._forward_at(q, f, arrival + g.overhead[node])
            return
        ready = arrival + g.overhead[node] if f.index == 0 else max(arrival, worm.ready[f.hop])
        worm.ready[f.hop] = ready
        self._on_the_way(f, e, ready, lambda t: self._ready(q, f, t))

    def _on_the_way(self, f, e, time, action):
        """What has left a link in an order keeps it."""
        self.sim.on_the_way(time, f.worm.tx, ("edge", e), f.order, ("node", self.graph.dst[e]), action)

    def _ready(self, q, f, now):
        self._make_ready(f)
        if q.flits[0] is f:
            self._advance(q, now)

    def _advance(self, q, now):
        if not q.flits:
            return
        f = q.flits[0]
        if f.ready:
            self._offer(q, now)
        elif f.here:
            self._store(q, now)

    # Store and forward.

    def _stored(self, q, f, now):
        f.here, f.came = True, now
        if q.flits[0].here and not q.flits[0].ready:
            self._store(q, now)

    def _store(self, q, now):
        """The message in front is taken out of the buffer as far as it has come."""
        worm = q.flits[0].worm
        for f in list(q.flits)[q.stored:]:
            if f.worm is not worm or not f.here:
                return
            q.stored += 1
            self._credit(q, worm.cls, now)
            if f.last:
                if not q.forwards:
                    self._forward_at(q, f, max(f.came, now) + self.graph.overhead[self.graph.dst[q.edge]])
                return

    def _forward_at(self, q, last, ready):
        q.forwards = True

        def forward(t):
            q.forwards = False
            for f in q.flits:
                self._make_ready(f)
                if f is last:
                    break
            self._advance(q, t)
        self._on_the_way(last, q.edge, ready, forward)
