# SPDX-License-Identifier: Apache-2.0
"""The event queue with the order of one instant (§9), links and memories (§2-§4)."""
import heapq
import math

from model_graph import INF


def to_tick(ns):
    """The instant of a time: whole femtoseconds."""
    return math.floor(ns * 1e6 + 0.38)


class Message:
    """What travels: a request or a response of a transaction, as a header or as flits."""

    __slots__ = ("tx", "edges", "payload", "flits", "arrived", "ready", "on_end", "list_bytes")

    def __init__(self, tx, edges, payload, flits, on_end):
        self.tx = tx
        self.edges = edges
        self.payload = payload
        self.flits = flits  # bytes of each (flit mode)
        self.arrived = [0] * (len(edges) + 1)
        self.ready = [0.0] * (len(edges) + 1)
        self.on_end = on_end
        self.list_bytes = 0  # bytes that a request's list of ranges adds on links (access §16)


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
        # True once the result may depend on a tie that the contract leaves open (§9's last rule).
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
        # Transactions of one channel keep the order of their grants; so do those after one server.
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
                continue  # already served, or an earlier one arrived in between
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
            if tx.kind == "cas":
                flits += flits
            message = Message(tx, tx.forward, tx.sent, flits, self._flit_at_memory)
            message.list_bytes = tx.list_bytes
            for i in range(len(flits)):
                self._leave_flit(message, 0, i, ready, tx.channel, (tx.order, i))
        else:
            message = Message(tx, tx.forward, tx.sent, None, self._header_at_memory)
            message.list_bytes = tx.list_bytes
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
            self.edge_free[e] = start + (message.payload + g.header_bytes + message.list_bytes) / g.bw[e]
        arrival = start + g.wire[e]
        self.edge_count[e] += 1
        order = self.edge_count[e]
        # An ideal edge is not a server: it does not order messages that a gate releases from its node at one instant.
        stream = ("edge", e)
        if g.links == "ideal":
            stream, order = message.tx.channel, (message.tx.order, hop + 1)
        if hop + 1 == len(message.edges):
            self.sim.on_the_way(arrival, message.tx, stream, order, ("end", g.dst[e]),
                                lambda t: message.on_end(message, t))
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
        if tx.kind:
            self._atomic_at_memory(tx, arrival, overhead)
            return
        if g.impl[tx.memory] == "builtin.hbm_pc":
            leaves = arrival + overhead
            tail = tx.nbytes / tx.bottleneck(without_memory_edge=True)
            finish = leaves + tail
            for channel, nbytes in self._channels(tx, g.attrs[tx.memory]["interleave_bytes"]):
                finish = max(finish, self._serve(channel, leaves, nbytes / g.attrs[tx.memory]["pc_bw_gbs"]))
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
            way = sum(g.wire[e] for e in tx.backward) + g.overhead[tx.initiator]
            for e in tx.backward[:-1]:
                node = g.dst[e]
                way += g.overhead[node] + (tx.nbytes / g.bw[e] if g.gate[node] else 0)
            back = Message(tx, tx.backward, tx.nbytes, None, lambda m, t: self._done(
                tx, max(finish + way, t + g.overhead[tx.initiator] + tail)))
            self._leave_header(back, 0, leaves, ("memory", tx.memory), tx.arrival_number)

    def _atomic_at_memory(self, tx, arrival, overhead):
        """Access §17.2: the old bytes are read, then the new ones written."""
        g = self.graph
        pc = g.impl[tx.memory] == "builtin.hbm_pc"
        there, back = tx.sent / tx.least(False, pc), tx.nbytes / tx.least(True, pc)
        if pc:
            finish = arrival + overhead + max(there, back)
            for channel, nbytes in self._channels(tx, g.attrs[tx.memory]["interleave_bytes"]):
                time = 2 * nbytes / g.attrs[tx.memory]["pc_bw_gbs"]
                finish = max(finish, self._serve(channel, arrival + overhead, time))
        else:
            start = max(arrival, self.memory_free.get(tx.memory, 0.0))
            finish = self.memory_free[tx.memory] = start + overhead + there + back
        self._takes_effect(tx, finish)
        if not g.routed:
            self._done(tx, finish)
            return
        tail = back if tx.answered else 0.0
        message = Message(tx, tx.backward, tx.answered, None,
                          lambda m, t: self._done(tx, t + g.overhead[tx.initiator] + tail))
        self._leave_header(message, 0, finish, ("memory", tx.memory), tx.arrival_number)

    def _takes_effect(self, tx, time):
        tx.effect = time
        if tx.on_effect:
            tx.on_effect(time)

    def _channels(self, tx, unit):
        """The channel of each piece, and the bytes of whole bursts that it moves."""
        attrs = self.graph.attrs[tx.memory]
        count, burst = attrs["pseudo_channels"], attrs.get("burst_bytes", 1)
        for addr, nbytes in tx.pieces(unit, tx.base):
            first = addr - tx.base
            block = first // attrs["interleave_bytes"]
            number = block % count
            if attrs.get("hash") == "xor":
                digits = [0] if count == 1 else [block // count**i % count for i in range(64) if count**i <= block]
                number = 0
                for d in digits:
                    number ^= d
            yield (tx.memory, number), -(-(first + nbytes) // burst) * burst - first // burst * burst

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
            arrival = max(ready, self.edge_free[e]) + (message.flits[i] + (0 if i else message.list_bytes)) / g.bw[e]
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
            tx.pieces_bytes = [n for _, n in tx.pieces(g.flit_bytes, 0)]
            if g.impl[tx.memory] == "builtin.hbm_pc":
                tx.served = list(self._channels(tx, g.flit_bytes))
                tx.rate = g.attrs[tx.memory]["pc_bw_gbs"]
            else:
                tx.served = [(tx.memory, nbytes) for nbytes in tx.pieces_bytes]
                tx.rate = g.bw[tx.data_edges[-1] if tx.is_write else tx.data_edges[0]]
        if tx.kind:
            self._atomic_flit(message, i, ready)
            return
        if tx.is_write:
            server, nbytes = tx.served[i]
            tx.finish = max(tx.finish, self._serve(server, ready, nbytes / tx.rate))
            tx.left += 1
            if tx.left == len(tx.pieces_bytes):
                back = Message(tx, tx.backward, 0, [g.header_bytes], self._flit_at_initiator)
                self._leave_flit(back, 0, 0, tx.finish, ("memory", tx.memory), (tx.arrival_number, 0))
            return
        back = Message(tx, tx.backward, tx.nbytes, tx.pieces_bytes, self._flit_at_initiator)
        served = 0.0
        for j, (server, nbytes) in enumerate(tx.served):
            served = max(served, self._serve(server, ready, nbytes / tx.rate))
            self._leave_flit(back, 0, j, served, ("memory", tx.memory), (tx.arrival_number, j))

    def _atomic_flit(self, message, i, ready):
        """Access §17.2: each flit's bytes are read and written; of a cas the expected ones read, the new ones written."""
        g, tx = self.graph, message.tx
        count = len(tx.served)
        server, nbytes = tx.served[i % count]
        if g.impl[tx.memory] == "builtin.hbm_pc":
            time = nbytes / tx.rate * (1 if tx.kind == "cas" else 2)
        else:
            reads, writes = nbytes / g.bw[tx.backward[0]], nbytes / g.bw[tx.forward[-1]]
            time = (reads if i < count else writes) if tx.kind == "cas" else reads + writes
        tx.finish = max(tx.finish, self._serve(server, ready, time))
        tx.left += 1
        if tx.left < len(message.flits):
            return
        self._takes_effect(tx, tx.finish)
        flits = tx.pieces_bytes if tx.answered else [g.header_bytes]
        back = Message(tx, tx.backward, tx.answered, flits, self._flit_at_initiator)
        for j in range(len(flits)):
            self._leave_flit(back, 0, j, tx.finish, ("memory", tx.memory), (tx.arrival_number, j))

    def _flit_at_initiator(self, message, i, ready):
        if i + 1 == len(message.flits):
            self._done(message.tx, ready)

    def _done(self, tx, time):
        self.sim.at(time, tx.done_key, tx.on_done)
