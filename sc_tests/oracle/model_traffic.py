# SPDX-License-Identifier: Apache-2.0
"""`kernbench traffic`: the channels of initiators and a trace (§2)."""
from collections import deque

from model_fabric import Fabric, Simulator
from model_graph import INF, Transaction


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
        write = row["op"] != "read"
        kind = row["op"] if row["op"] in ("atomic", "red", "cas") else None
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

        tx = Transaction(graph, node, write, [[int(row["address"]), int(row["bytes"])]], done,
                         kind)
        tx.done_key = (node, 0 if write else 1, 0)
        result["tx"] = tx
        sim.at(issue, (node, 2, 1), lambda t, c=channels[key], tx=tx: c.issue(tx, t))
    sim.run()
    for result in results:
        del result["tx"]
    return results, sim.undecided
