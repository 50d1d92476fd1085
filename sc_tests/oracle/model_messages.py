# SPDX-License-Identifier: Apache-2.0
"""Queues between PEs (collectives rules §10), and programs of sends and receives that use them (§14.1).

Only links and the event queue are shared with the model of memory traffic; a segment or a credit is a message on them.
"""
import heapq
from collections import deque

from model_fabric import Fabric, Message, Simulator, to_tick
from model_graph import INF

COMM, CREDIT = 2, 3  # after reads and writes (§10.13)
DEFAULTS = {"access_ns": {"tcm": 0.0, "sram": 2.0, "hbm": 6.0}, "write_bw_gbs": {"tcm": 512.0, "sram": 512.0, "hbm": 256.0},
            "read_bw_gbs": {"tcm": 512.0, "sram": 512.0, "hbm": 256.0}}
# Phases of one instant in the event queue: between those of blocks (1) and those of grants of the instant (2).
CREDITS, VISIBLE, BLOCKS, CHOICE, TAKE = -2, -1, 1, 1.4, 1.5


class Posted:
    """What the event queue asks of a transaction."""

    def __init__(self, initiator, rank, queue=None):
        self.initiator, self.is_write, self.queue = initiator, rank, queue
        self.channel = ("channel", initiator, rank)
        self.from_pool = False


class PostedFabric(Fabric):
    """Messages that nobody answers. `sent(free)`: when the source is free; `there(time)`: header, or last flit."""

    def post(self, tx, path, nbytes, grant, sent, there):
        g = self.graph
        tx.grant = grant
        self.orders += 1
        tx.order = self.orders
        ready = grant + g.overhead[tx.initiator]
        slowest = min(g.bw[e] for e in path)
        if g.flit:
            flits = [min(g.flit_bytes, nbytes - i) for i in range(0, nbytes, g.flit_bytes)] or [g.header_bytes]
            message = Message(tx, path, nbytes, flits, None)
            message.on_end = lambda m, i, t: there(m.tx.came) if i + 1 == len(flits) else None
            tx.sent, tx.flits = sent, len(flits)
            for i in range(len(flits)):
                self._leave_flit(message, 0, i, ready, tx.channel, (tx.order, i))
        elif g.links == "ideal":
            sent(ready + nbytes / slowest)
            arrival = ready + sum(g.wire[e] for e in path)
            for e in path[:-1]:
                node = g.dst[e]
                arrival += g.overhead[node] + (nbytes / g.bw[e] if g.gate[node] else 0)
            if tx.queue:
                if to_tick(arrival) < to_tick(tx.queue.last):
                    arrival = tx.queue.last
                    tx.grant = tx.queue.last_grant
                tx.queue.last, tx.queue.last_grant = arrival, tx.grant
            self.sim.on_the_way(arrival, tx, tx.channel, (tx.order, 1), ("end", g.dst[path[-1]]), there)
        else:
            tx.sent = lambda start: sent(start + nbytes / slowest)
            message = Message(tx, path, nbytes, None, lambda m, t: there(t))
            self._leave_header(message, 0, ready, tx.channel, (tx.order, 0))

    def _header_on_edge(self, message, hop, ready):
        e = message.edges[hop]
        if hop == 0 and isinstance(message.tx, Posted):
            message.tx.sent(max(ready, self.edge_free[e]) if self.graph.bw[e] != INF else ready)
        super()._header_on_edge(message, hop, ready)

    def _flit_on_edge(self, message, hop, i, ready):
        g, e, tx = self.graph, message.edges[hop], message.tx
        end = ready if g.bw[e] == INF else max(ready, self.edge_free[e]) + message.flits[i] / g.bw[e]
        if not isinstance(tx, Posted):
            return super()._flit_on_edge(message, hop, i, ready)
        if hop == 0 and i + 1 == tx.flits:
            tx.sent(end)
        if hop + 1 < len(message.edges):
            return super()._flit_on_edge(message, hop, i, ready)
        if g.bw[e] != INF:
            self.edge_free[e] = end
        self.edge_count[e] += 1
        if i + 1 == tx.flits:  # the overhead of the end does not count
            tx.came = end + g.wire[e]
            self.sim.on_the_way(tx.came, tx, ("edge", e), self.edge_count[e], ("end", g.dst[e]),
                                lambda t: message.on_end(message, i, t))


class Queue:
    """From one PE's port to another's (§10.1)."""

    def __init__(self, model, sender, receiver, port, connection):
        g = model.graph
        self.sender, self.receiver, self.port = sender, receiver, port
        attrs = g.attrs[receiver.ipcq]
        self.slots = connection.get("slots", attrs.get("slots", 4))
        self.slot_bytes = connection.get("slot_bytes", attrs.get("slot_bytes", 4096))
        tier = connection.get("tier", attrs.get("tier", "tcm"))
        self.path = g.route(sender.dma, receiver.dma)
        self.back = g.reversed_path(self.path)
        self.bw = min(g.bw[e] for e in self.path)
        self.credit_bytes = attrs.get("credit_bytes", 16)
        self.credit_ns = 0 if g.flit else self.credit_bytes / min(g.bw[e] for e in self.back)
        self.blocks = attrs.get("credit_blocks", False)
        value = {k: {**d, **attrs.get(k, {})}[tier] for k, d in DEFAULTS.items()}
        way = [] if tier == "tcm" else self._best(g, receiver, tier)
        self.write = self._cost(g, value["access_ns"], value["write_bw_gbs"], way)
        self.read = self._cost(g, value["access_ns"], value["read_bw_gbs"], g.reversed_path(way))
        self.free = self.slots
        self.protocol = connection.get("protocol")
        self.stands_ns = 0.0  # of the newest send
        self.sends, self.visible, self.receives = deque(), deque(), deque()
        self.receiving = 0
        self.last = self.last_grant = 0.0

    @staticmethod
    def _best(g, receiver, tier):
        ways = []
        for i, (_, _, node, space) in enumerate(g.memories):
            if space == tier and g.reaches(g.nodes[receiver.dma]["id"], g.nodes[node]["id"]):
                way = g.route(receiver.dma, node)
                ways.append((sum(g.nm[e] for e in way), len(way), i, way))
        return min(ways)[3]

    @staticmethod
    def _cost(g, access, bw, way):
        fixed = sum(g.wire[e] for e in way) + sum(g.overhead[g.dst[e]] for e in way[:-1])
        slowest = min((g.bw[e] for e in way), default=INF)
        return lambda n: access + n / bw + (fixed + n / slowest)


class Segment:
    def __init__(self, queue, call, index, nbytes):
        self.queue, self.call, self.index, self.nbytes = queue, call, index, nbytes
        self.last = index + 1 == call.count
        self.times = [None] * 5
        self.inbound_wait, self.inbound_ns, self.read = 0.0, 0.0, None
        self.paced_ns = nbytes / call.rate

    def account(self):
        """Where its time went (§10.15), as far as it follows from its times; of the way, with flits, only the sum."""
        g, q = self.queue.sender.model.graph, self.queue
        slot, grant, arrival, visible, _ = self.times
        ready, start, end = self.read
        call = q.sender.c + g.overhead[q.sender.ipcq] + self.call.protocol_ns
        parts = {"call_ns": call, "slot_wait_ns": slot - self.call.made - call, "comm_wait_ns": grant - slot,
                 "overhead_ns": sum(g.overhead[g.src[e]] for e in q.path), "wire_ns": sum(g.wire[e] for e in q.path),
                 "inbound_wait_ns": self.inbound_wait, "slot_write_ns": q.write(self.nbytes),
                 "receive_wait_ns": ready - visible, "reader_wait_ns": start - ready, "slot_read_ns": end - start}
        if not g.flit:
            parts["drain_ns"] = self.inbound_ns
            parts["store_forward_ns"] = sum(self.nbytes / g.bw[e] for e in q.path[:-1] if g.gate[g.dst[e]])
            way = parts["overhead_ns"] + parts["wire_ns"] + parts["store_forward_ns"]
            parts["link_queue_ns"] = arrival - grant - way
        else:
            parts["store_forward_ns"] = 0.0
        parts["writer_wait_ns"] = visible - arrival - self.inbound_wait - self.inbound_ns - parts["slot_write_ns"]
        return parts


class Call:
    def __init__(self, pe, seq, entry):
        self.pe, self.seq, self.entry = pe, seq, entry
        self.segments, self.reads = [], []
        self.next = self.done_count = 0
        self.message = None
        self.protocol_ns, self.rate = 0.0, INF
        self.slotted = self.done = None


class Pe:
    def __init__(self, model, prefix):
        g = model.graph
        self.model, self.sim, self.id = model, model.sim, prefix
        self.cpu, self.dma, self.ipcq = (g.index[f"{prefix}.{k}"] for k in ("pe_cpu", "pe_dma", "pe_ipcq"))
        cpu = g.attrs[self.cpu]
        self.c = g.overhead[self.cpu] + cpu.get("dispatch_cycles", 0) / cpu.get("freq_ghz", 1)
        self.out, self.into = {}, {}  # queues by port
        self.comm, self.comm_busy = [], False
        self.ready, self.reading = [], False
        self.inbound = self.writer = 0.0
        self.choosing, self.chosen = None, None
        self.started = None
        self.calls, self.position, self.clock, self.end = [], 0, 0.0, 0.0

    def at(self, time, phase, action):
        self.sim.serial += 1
        heapq.heappush(self.sim.heap, (to_tick(time), phase, (self.dma, 0, 1), self.sim.serial, time, action, None))

    # The program.

    def play(self, start, calls):
        self.calls = [Call(self, i, entry) for i, entry in enumerate(calls)]
        self.clock = start
        self.at(start, BLOCKS, lambda t: self.go_on())

    def go_on(self):
        while self.position < len(self.calls):
            call = self.calls[self.position]
            kind = call.entry["call"]
            if not hasattr(call, "made"):
                call.made = self.clock
                if kind != "wait":
                    self.clock += self.c
                    self.choose_protocol(call, kind)
                    self.at(self.clock + self.model.graph.overhead[self.ipcq] + call.protocol_ns, BLOCKS,
                            lambda t, call=call: self.stands(call, t))
                call.returned = self.clock
            if not kind.endswith("_async"):
                until = self.returns(call, kind)
                if until is None:
                    return
                call.returned = self.clock = until
            self.position += 1
            self.end = max(self.end, self.clock)

    def choose_protocol(self, call, kind):
        """Start and delay of the call's protocol, and its rate (§10.17)."""
        attrs, n = self.model.graph.attrs[self.ipcq], call.entry["bytes"]
        limits = {name: attrs.get("protocol_up_to_bytes", {}).get(name, INF) for name in attrs.get("protocol_message_ns", {})}
        if not limits:
            return
        queue = self.out[call.entry["port"] if "port" in call.entry else call.entry["ports"][0]]
        name = queue.protocol or min((limit, name) for name, limit in limits.items() if limit > 0 and limit >= n)[1]
        if self.started is None:
            self.started = self.clock + attrs.get("protocol_start_ns", {}).get(name, 0)
        if kind.startswith("send"):
            call.rate = attrs.get("protocol_bw_gbs", {}).get(name, INF)
            own = self.model.graph.overhead[self.ipcq]
            stands = max(max(self.clock, self.started) + own + attrs["protocol_message_ns"][name], queue.stands_ns)
            queue.stands_ns, call.protocol_ns = stands, stands - (self.clock + own)

    def returns(self, call, kind):
        if kind == "send":
            return call.slotted
        if kind != "wait":
            return call.done
        times = [self.calls[[c.entry["id"] for c in self.calls].index(i)].done for i in call.entry["for"]]
        if None in times:
            return None
        call.done = max([call.made, *times])
        return call.done

    def finished(self, call, time):
        call.done = time
        self.end = max(self.end, time)
        self.go_on()

    def stands(self, call, now):
        kind = call.entry["call"].replace("_async", "")
        if kind == "send":
            queue = self.out[call.entry["port"]]
            n = call.entry["bytes"]
            call.count = max(1, -(-n // queue.slot_bytes))
            queue.sends.append(call)
            self.take_slots(queue, now)
        elif kind == "recv":
            queue = self.into[call.entry["port"]]
            queue.receives.append(call)
            self.match(queue, now)
        else:
            self.choosing = call
            self.at(now, CHOICE, self.choose)

    # Sending (§10.7, §10.8).

    def take_slots(self, queue, now):
        while queue.free and queue.sends:
            call = queue.sends[0]
            i = len(call.segments)
            nbytes = min(queue.slot_bytes, call.entry["bytes"] - i * queue.slot_bytes)
            s = Segment(queue, call, i, nbytes)
            s.times[0] = now
            call.segments.append(s)
            queue.free -= 1
            heapq.heappush(self.comm, (to_tick(now), call.seq, i, s))
            self.at(now, TAKE, self.serve_comm)
            if s.last:
                queue.sends.popleft()
                call.slotted = now
                self.go_on()

    def serve_comm(self, now):
        if self.comm_busy or not self.comm:
            return
        s = heapq.heappop(self.comm)[3]
        self.comm_busy = True
        s.times[1] = now
        tx = Posted(self.dma, COMM, s.queue)
        self.model.fabric.post(tx, s.queue.path, s.nbytes, now,
                               lambda t: self.at(max(t, now + s.paced_ns), BLOCKS, lambda t: self.released(s, t)),
                               lambda t: s.queue.receiver.arrived(s, t))

    def released(self, s, now):
        self.comm_busy = False
        self.at(now, TAKE, self.serve_comm)
        s.call.done_count += 1
        if s.call.done_count == s.call.count:
            self.finished(s.call, now)

    # Arrival (§10.9).

    def arrived(self, s, now):
        q = s.queue
        s.times[2] = now
        s.inbound_wait = max(now, self.inbound) - now
        if not self.model.graph.flit:
            s.inbound_ns = max(s.nbytes / q.bw, s.paced_ns)
        elif s.paced_ns:  # what is left of it
            s.inbound_ns = max(0.0, s.times[1] + s.paced_ns - now)
        self.inbound = max(now, self.inbound) + s.inbound_ns
        self.writer = max(self.inbound, self.writer) + q.write(s.nbytes)
        s.times[3] = self.writer
        self.at(self.writer, VISIBLE, lambda t: self.seen(s, t))

    def seen(self, s, now):
        s.queue.visible.append(s)
        self.match(s.queue, now)
        if self.choosing:
            self.at(now, CHOICE, self.choose)

    # Receiving (§10.10).

    def match(self, queue, now):
        while queue.visible and queue.receives:
            call, s = queue.receives[0], queue.visible.popleft()
            assert s.call.entry["bytes"] == call.entry["bytes"]
            call.count = s.call.count
            heapq.heappush(self.ready, (to_tick(now), call.seq, s.index, s, call, now))
            if s.last:
                queue.receives.popleft()
            self.at(now, TAKE, self.read)

    def choose(self, now):
        call = self.choosing
        if not call:
            return
        ports = call.entry["ports"]
        first = ports.index(self.chosen) + 1 if self.chosen in ports else 0
        for port in ports[first:] + ports[:first]:
            if self.into[port].visible:
                self.choosing, self.chosen, call.port = None, port, port
                self.into[port].receives.append(call)
                self.match(self.into[port], now)
                return

    def read(self, now):
        if self.reading or not self.ready:
            return
        _, _, _, s, call, ready = heapq.heappop(self.ready)
        self.reading = True
        self.at(now + s.queue.read(s.nbytes), BLOCKS, lambda t: self.read_ended(s, call, ready, now, t))

    def read_ended(self, s, call, ready, start, now):
        self.reading = False
        s.read = [ready, start, now]
        call.reads.append(s.read)
        q = s.queue
        blocks = q.blocks and s.last

        def free(t):
            s.times[4] = t
            q.free += 1
            if blocks:
                self.finished(call, t)
            q.sender.take_slots(q, t)
        self.model.fabric.post(Posted(self.dma, CREDIT), q.back, q.credit_bytes, now, lambda t: None,
                               lambda t: self.at(t + q.credit_ns, CREDITS, free))
        if s.last and not blocks:
            self.finished(call, now)
        self.at(now, TAKE, self.read)


class Model:
    def __init__(self, graph, fabric):
        self.graph = graph
        self.sim = Simulator(graph)
        self.fabric = fabric(self.sim)


def run_programs(graph, work, fabric=PostedFabric):
    """What `kernbench pipeline` must print (None: programs wait for each other and nothing can move), and whether a tie that the contract leaves open arose."""
    model = Model(graph, fabric)
    pes = {}

    def pe(prefix):
        if prefix not in pes:
            pes[prefix] = Pe(model, prefix)
        return pes[prefix]

    for c in work["connections"]:
        a, b = pe(c["a"]), pe(c["b"])
        for sender, port, receiver, peer in ((a, c["port"], b, c["peer_port"]), (b, c["peer_port"], a, c["port"])):
            sender.out[port] = receiver.into[peer] = Queue(model, sender, receiver, peer, c)
    for p in work["programs"]:
        pe(p["pe"]).play(p["start_ns"], p["calls"])
    model.sim.run()
    if any(not hasattr(call, "made") or call.done is None for p in pes.values() for call in p.calls):
        return None, model.sim.undecided  # nothing can move
    programs = []
    for p in work["programs"]:
        calls = []
        for call in pes[p["pe"]].calls:
            entry = {"id": call.entry["id"], "call_ns": call.made, "return_ns": call.returned, "done_ns": call.done}
            if call.entry["call"].startswith("send"):
                entry["segments"] = [s.times for s in call.segments]
                entry["accounts"] = [s.account() for s in call.segments]
            elif call.entry["call"] != "wait":
                entry["segments"] = call.reads
            if call.entry["call"] == "recv_any":
                entry["port"] = call.port
            calls.append(entry)
        programs.append({"pe": p["pe"], "end_ns": pes[p["pe"]].end, "calls": calls})
    return {"end_ns": max(p["end_ns"] for p in programs), "programs": programs}, model.sim.undecided
