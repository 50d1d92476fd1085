# SPDX-License-Identifier: Apache-2.0
"""`kernbench pipeline`: a PE's stages, its slot and its feed loop (§5, §6); what its DMA makes of ranges (access §15 to
§17), and programs of calls (access §18)."""
import math
from collections import OrderedDict, defaultdict, deque

from model_fabric import Fabric, Simulator, to_tick
from model_graph import ModelError, Transaction, join_ranges
from model_tiles import plan_composite

STAGES = ("DMA_WRITE", "STORE", "MATH", "GEMM", "FETCH", "DMA_READ")  # from the last stage on (§9)


class Stage:
    """One stage's queue and servers (§5)."""

    def __init__(self, pe, name, servers, depth):
        self.pe, self.name, self.depth = pe, name, depth
        self.idle = list(range(servers))
        self.queue = deque()
        self.waiters = deque()

    def offer(self, item, now, entered):
        """Puts an item in when there is room; entered(time) is called then."""
        if self.idle:
            item.server = self.idle.pop(0)
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
        following, server = item.following(self.name), item.server
        if following is None:
            item.finished(now)
            self.take_next(server, now)
        else:
            self.pe.stages[following].offer(item, now, lambda t: self.take_next(server, t))

    def take_next(self, server, now):
        self.idle = sorted(self.idle + [server])
        if self.queue:
            item = self.queue.popleft()
            item.server = self.idle.pop(0)
            self.pe.serve(self, item, now)
        while self.waiters and len(self.queue) < self.depth:
            item, entered = self.waiters.popleft()
            self.queue.append(item)
            entered(now)


class Tlb:
    """A PE's translations of pages (docs/memory.md): fully associative, the one not used for longest goes."""

    def __init__(self, attrs):
        self.page_bytes = attrs.get("page_bytes", 2 << 20)
        self.entries, self.hit_ns, self.miss_ns = (attrs.get(k, d) for k, d in (("tlb_entries", 64), ("tlb_hit_ns", 0),
                                                                                ("tlb_miss_ns", 0)))
        self.pages = OrderedDict()

    def look_up(self, ranges):
        """What it takes for each page of these ranges, once, in their order."""
        if not self.hit_ns and not self.miss_ns:
            return 0.0
        touched = OrderedDict((page, None) for addr, length in ranges
                              for page in range(addr // self.page_bytes, (addr + length - 1) // self.page_bytes + 1))
        took = 0.0
        for page in touched:
            took += self.hit_ns if page in self.pages else self.miss_ns
            self.pages[page] = None
            self.pages.move_to_end(page)
            if len(self.pages) > self.entries:
                self.pages.popitem(last=False)
        return took


class Item:
    """A tile token or a simple command: its stages with their parameters, in order."""

    asked_first = ()  # virtual ranges that are looked up before any grant (access §16)

    def __init__(self, plan, finished, streams=(0, 0)):
        self.plan = plan  # [(stage, parameters)]
        self.streams = streams  # bytes in and out of a simple GEMM or MATH command; FETCH and STORE move a tile's bytes
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
            return None

        self.dma, self.fs, self.gemm, self.math, self.tcm, self.cpu, self.scheduler = (
            block(k) for k in ("pe_dma", "pe_fetch_store", "pe_gemm", "pe_math", "pe_tcm", "pe_cpu", "pe_scheduler"))
        self.id = prefix
        attrs = g.attrs
        mmu = block("pe_mmu")
        self.tlb = Tlb(attrs[mmu]) if mmu is not None else None
        self.reserved = math.floor(attrs[self.tcm]["reserved_mb"] * 2**20)

        def depth(node):
            return attrs[node].get("queue_depth", 2) if node is not None else 2

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
        self.room = self.reserved  # free bytes for tile buffers
        self.feed_queue = deque()
        self.feeding = False

    # Service.

    def serve(self, stage, item, now):
        name = stage.name
        parameters = item.parameters(name)
        if name in ("DMA_READ", "DMA_WRITE"):
            self._transfer(stage, item, parameters, now)
        elif name in ("FETCH", "STORE"):
            attrs = self.graph.attrs[self.tcm]
            bw = attrs["read_bw_gbs"] if name == "FETCH" else attrs["write_bw_gbs"]
            self._end_at(stage, item, now, now + self.graph.overhead[self.fs] + parameters / bw)
        else:
            time = self._compute_ns(name, parameters, item.streams)
            self._ask_slot(now, lambda t: self._end_at(stage, item, t, t + time))

    def _end_at(self, stage, item, started, end):
        key = (self.dma, 1000 * STAGES.index(stage.name), 0)
        self.sim.at(end, key, lambda t: stage.finish(item, started, t))

    def _transfer(self, stage, item, parts, started):
        """Access §15.1: so many transactions at once, each completion gives the next one its turn. A part that is
        reached by virtual addresses (`asked`) is granted when its look-up is done; those of an item go one after the
        other."""
        outstanding = self.graph.attrs[self.dma].get("outstanding", 1)
        waiting, looking_up, under_way = deque(parts), deque(), set()

        def at_look_up(now, took, action):
            self.sim.at(now + took, (self.dma, 1000 * STAGES.index(stage.name) + (item.server if outstanding > 1 else 0),
                                     0), action)

        def turn(now):
            looking_up.append(waiting.popleft())
            if len(looking_up) == 1:
                look_up(now)

        def look_up(now):
            part = looking_up[0]
            took = self.tlb.look_up(part["asked"]) if isinstance(part, dict) and "asked" in part else 0.0
            if took:
                at_look_up(now, took, looked_up)
            else:
                looked_up(now)

        def looked_up(now):
            grant(looking_up[0], now)
            looking_up.popleft()
            if looking_up:
                look_up(now)

        def grant(part, now):
            kind, listed, ranges, on_effect, list_bytes = None, False, part, None, 0
            if isinstance(part, dict):
                kind, listed, ranges, on_effect = part.get("kind"), True, part["ranges"], part.get("on_effect")
                list_bytes = 0 if "asked" in part else self.graph.attrs[self.dma].get("range_bytes", 0)
            tx = Transaction(self.graph, self.dma, stage.name == "DMA_WRITE", ranges, None, kind, listed, list_bytes)
            tx.on_effect = on_effect
            tx.on_done = lambda t: done(tx, t)
            # With several at once, the order of one instant is that of the servers; otherwise the order of servers is
            # unspecified.
            server, free = (item.server, 1) if outstanding > 1 else (0, 0)
            tx.done_key = (self.dma, 1000 * STAGES.index(stage.name) + server, free)
            under_way.add(tx)
            self.fabric.start(tx, now)

        def done(tx, now):
            under_way.remove(tx)
            if waiting:
                turn(now)
            elif not under_way and not looking_up:
                stage.finish(item, started, now)

        def first_turns(now):
            for _ in range(min(outstanding, len(parts))):
                turn(now)
            if not parts:
                stage.finish(item, started, now)

        took = self.tlb.look_up(item.asked_first) if item.asked_first else 0.0
        if took:
            at_look_up(started, took, first_turns)
        else:
            first_turns(started)

    def _compute_ns(self, name, parameters, streams):
        """A service that computes; a simple command's operands and result pass the TCM meanwhile (§5)."""
        node = self.gemm if name == "GEMM" else self.math
        time = self._gemm_ns(*parameters) if name == "GEMM" else self._math_ns(*parameters)
        if self.graph.attrs[node].get("stream_operands", True):
            tcm = self.graph.attrs[self.tcm]
            time = max(time, streams[0] / tcm["read_bw_gbs"], streams[1] / tcm["write_bw_gbs"])
        return self.graph.overhead[node] + time

    def _gemm_ns(self, m, n, k, dtype):
        attrs = self.graph.attrs[self.gemm]
        freq = attrs["freq_ghz"]
        if self.graph.impl[self.gemm] != "builtin.pe_gemm_systolic":
            rate = attrs.get("rates", {}).get(dtype, 1)
            return m * n * k / (attrs["macs_per_cycle"] * freq * rate)
        rows, cols = attrs["rows"], attrs["cols"]

        def up(a, b):
            return -(-a // b)

        cycles = {"os": up(m, rows) * up(n, cols) * (rows + cols + k - 2),
                  "ws": up(k, rows) * up(n, cols) * (2 * rows + cols + m - 2),
                  "is": up(k, rows) * up(m, cols) * (2 * rows + cols + n - 2)}[attrs["dataflow"]]
        return cycles / freq

    def _math_ns(self, ops, elements):
        attrs = self.graph.attrs[self.math]
        cycles = sum(attrs.get("cycles", {}).get(op, 1) for op in ops)
        return -(-elements // attrs["lanes"]) * cycles / attrs["freq_ghz"]

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
        item = Item([(stage, parameters)], lambda t: result.__setitem__("done_ns", t),
                    (command.get("in_bytes", 0), command.get("out_bytes", 0)))
        result = {"id": command["id"], "stages": item.stages}
        self.sim.at(command["submit_ns"], (self.dma, 6000, 1),
                    lambda t: self.stages[stage].offer(item, t, lambda _: None))
        return result

    def composite(self, composite):
        return self.feed_plan(composite["id"], composite["submit_ns"], plan_composite(composite))

    def feed_plan(self, name, submit_ns, plan, place=7000):
        """A composite that is cut into tiles already, as plan_composite() gives them. place: among the block's events of
        one instant."""
        window = self.reserved // plan["tile_bytes"]
        if window == 0:
            raise ModelError(f"window 0: {self.reserved} bytes reserved, a tile takes {plan['tile_bytes']}")
        result = {"id": name, "window": window, "submit_ns": submit_ns, "tokens": [],
                  "left": len(plan["tiles"])}
        job = {"result": result, "tiles": deque(enumerate(plan["tiles"])), "bytes": plan["tile_bytes"]}

        def submit(now):
            self.feed_queue.append(job)
            self._feed(now)

        self.sim.at(submit_ns, (self.dma, place, 1), submit)
        return result

    def _feed(self, now):
        if self.feeding:
            return
        while self.feed_queue:
            job = self.feed_queue[0]
            if not job["tiles"]:
                self.feed_queue.popleft()
                continue
            if job["bytes"] > self.room:
                return
            number, (ijk, plan) = job["tiles"].popleft()
            token = {"tile": number, "ijk": ijk}
            result = job["result"]
            result["tokens"].append(token)

            def finished(time, result=result, nbytes=job["bytes"]):
                result["done_ns"] = time
                self.room += nbytes
                self._feed(time)

            item = Item(plan, finished)
            token["stages"] = item.stages
            self.room -= job["bytes"]
            self.feeding = True

            def entered(time, token=token):
                token["fed_ns"] = time
                self.feeding = False
                self._feed(time)

            self.stages[plan[0][0]].offer(item, now, entered)
            return


def group_ranges(graph, ranges):
    """Access §16: neighbours that touch are one, cut at memories' ends, by memory in the order of first touch."""
    groups = {}
    for addr, length in join_ranges(ranges):
        while length:
            base, end, node = graph.memory_at(addr)
            here = min(length, end - addr)
            groups.setdefault((base, node), []).append([addr, here])
            addr, length = addr + here, length - here
    return list(groups.values())


class Program:
    """One PE's calls, in order (collectives §14.1, access §18)."""

    HOLDS = {"eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b, "ge": lambda a, b: a >= b}
    WRITES = ("store", "scatter", "atomic", "red", "cas", "signal")

    def __init__(self, pe, entry, flags):
        g = pe.graph
        self.pe, self.sim, self.flags = pe, pe.sim, flags
        cpu = g.attrs[pe.cpu]
        self.cost = g.overhead[pe.cpu] + cpu.get("dispatch_cycles", 0) / cpu.get("freq_ghz", 1)
        self.poll_ns = cpu.get("poll_ns", 100)
        self.calls = [dict(c, kind=c["call"].replace("_async", "")) for c in entry["calls"]]
        self.position, self.clock, self.end = 0, entry["start_ns"], 0.0
        self.held = []
        self.sim.at(self.clock, (pe.dma, 7000, 1), lambda t: self.go_on())

    def go_on(self):
        while self.position < len(self.calls):
            c = self.calls[self.position]
            if "call_ns" not in c:
                c["call_ns"] = self.clock
                if c["kind"] != "wait":
                    self.make(c)
                c["return_ns"] = self.clock
            if not c["call"].endswith("_async"):
                until = c.get("done_ns")
                if c["kind"] == "wait":
                    times = [x.get("done_ns") for x in self.calls if x["id"] in c["for"]]
                    until = None if None in times else max([c["call_ns"], *times])
                if until is None:
                    return
                c["return_ns"] = self.clock = c["done_ns"] = until
            self.position += 1
        self.end = max([self.end, self.clock])

    def make(self, c):
        self.clock += self.cost
        releases = c["kind"] == "signal" or (c["kind"] in ("atomic", "red", "cas")
                                             and c.get("sem", "acq_rel") in ("release", "acq_rel"))
        before = [x for x in self.calls[:self.calls.index(c)] if x["kind"] in self.WRITES] if releases else []
        self.sim.at(self.clock, (self.pe.dma, 7000, 1), lambda t: self.submit_behind(c, before, t))

    def submit_behind(self, c, before, now):
        if any("done_ns" not in x for x in before):
            self.held.append((c, before))
        else:
            self.submit(c, now)

    def submit(self, c, now):
        stage, parameters, streams = self.plan(c)
        item = Item([(stage, parameters)], lambda t: self.completed(c, t), streams)
        at = now + self.pe.graph.overhead[self.pe.scheduler]
        self.sim.at(at, (self.pe.dma, 6000, 1), lambda t: self.pe.stages[stage].offer(item, t, lambda _: None))

    def plan(self, c):
        kind = c["kind"]
        if kind in ("load", "store"):
            rows = c.get("rows", 1)
            row = c["nbytes"] // rows
            part = [[c["addr"] + i * c.get("stride", 0), row] for i in range(rows)]
            return ("DMA_READ" if kind == "load" else "DMA_WRITE"), [part], (0, 0)
        if kind == "gemm":
            return "GEMM", (c["m"], c["n"], c["k"], c.get("dtype")), (c.get("in_bytes", 0), c.get("out_bytes", 0))
        if kind == "math":
            return "MATH", ([c["op"]], c["elements"]), (c.get("in_bytes", 0), c.get("out_bytes", 0))
        if kind == "wait_until":
            return "DMA_READ", [[[c["addr"], 4]]], (0, 0)
        groups = group_ranges(self.pe.graph, [[c["addr"], 4]] if kind == "signal" else c["ranges"])
        atomic = {"signal": "red", "atomic": "atomic", "red": "red", "cas": "cas"}.get(kind)

        def effect(time):
            c["effect_ns"] = max(c.get("effect_ns", 0.0), time)
            if kind == "signal":
                self.flags.setdefault(c["addr"], []).append((to_tick(time), len(self.flags[c["addr"]]), c["value"]))

        parts = [{"kind": atomic, "ranges": r, "on_effect": effect if atomic else None} for r in groups]
        return ("DMA_READ" if kind == "gather" else "DMA_WRITE"), parts, (0, 0)

    def completed(self, c, now):
        self.end = max(self.end, now)
        if c["kind"] == "wait_until":
            seen = [e for e in self.flags.get(c["addr"], []) if e[0] < to_tick(now)]
            if not self.HOLDS[c["cmp"]](max(seen)[2] if seen else 0, c["value"]):
                self.sim.at(now + self.poll_ns + self.cost, (self.pe.dma, 7000, 1), lambda t: self.submit(c, t))
                return
        c["done_ns"] = now
        for held in [h for h in self.held if all("done_ns" in x for x in h[1])]:
            self.held.remove(held)
            self.sim.at(now, (self.pe.dma, 7000, 1), lambda t, c=held[0]: self.submit(c, t))
        self.go_on()

    def answer(self):
        keys = ("id", "call_ns", "return_ns", "done_ns", "effect_ns")
        return {"pe": self.pe.id, "end_ns": max([self.end] + [c["done_ns"] for c in self.calls]),
                "calls": [{k: c[k] for k in keys if k in c} for c in self.calls]}


def run_pipeline(graph, work):
    sim = Simulator(graph)
    fabric = Fabric(sim)
    answer, pes, flags = [], {}, defaultdict(list)
    for entry in work.get("pes", []):
        pe = pes[entry["pe"]] = Pe(sim, fabric, entry["pe"])
        instants = [{to_tick(x["submit_ns"]) for x in entry.get(what, [])} for what in ("composites", "commands")]
        if instants[0] & instants[1]:
            sim.undecided = True
        commands = [pe.command(c) for c in entry.get("commands", [])]
        composites = [pe.composite(c) for c in entry.get("composites", [])]
        answer.append({"pe": entry["pe"], "composites": composites, "commands": commands})
    programs = []
    for entry in work.get("programs", []):
        if entry["pe"] not in pes:
            pes[entry["pe"]] = Pe(sim, fabric, entry["pe"])
        programs.append(Program(pes[entry["pe"]], entry, flags))
    sim.run()
    played = [p.answer() for p in programs]
    end = max([0.0] + [p["end_ns"] for p in played])
    for pe in answer:
        for item in pe["composites"] + pe["commands"]:
            item.pop("left", None)
            end = max(end, item["done_ns"])
    return {"end_ns": end, "pes": answer, "programs": played, "undecided": sim.undecided}
