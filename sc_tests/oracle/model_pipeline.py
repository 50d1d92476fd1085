"""`kernbench pipeline`: a PE's stages, its slot and its feed loop (§5, §6)."""
import math
from collections import deque

from model_fabric import Fabric, Simulator, to_tick
from model_graph import ModelError, Transaction
from model_tiles import plan_composite

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

    def __init__(self, plan, finished, streams=(0, 0)):
        self.plan = plan  # [(stage, parameters)]
        self.streams = streams  # bytes in and out of a simple GEMM or MATH command; FETCH and STORE move a tile's
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
        self.room = self.reserved  # bytes of tile buffers that no tile in flight has
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
            time = self._compute_ns(name, parameters, item.streams)
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
        job = {"result": result, "tiles": deque(enumerate(plan["tiles"])), "bytes": plan["tile_bytes"]}

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
