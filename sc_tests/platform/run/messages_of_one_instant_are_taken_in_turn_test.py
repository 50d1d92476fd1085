#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""recv_any among messages that become visible at one instant: in the order of its ports, behind the one that was taken
last (collectives §10.10), also where an empty message is visible as it arrives."""
import json
import os
import tempfile

from cli_support import Cli, main


def system(links, senders):
    """So many PEs around a switch, and one more; nothing but wires takes time."""
    nodes, edges = [{"id": "sw", "kind": "switch", "attrs": {"overhead_ns": 0}}], []
    for p in range(senders + 1):
        pe = f"s{p}.pe."
        nodes += [{"id": pe + "pe_cpu", "kind": "pe_cpu", "attrs": {"overhead_ns": 0, "dispatch_cycles": 0}},
                  {"id": pe + "pe_dma", "kind": "pe_dma", "attrs": {"overhead_ns": 0}}, {"id": pe + "pe_ipcq", "kind": "pe_ipcq"},
                  {"id": pe + "pe_tcm", "kind": "pe_tcm",
                   "attrs": {"size_mb": 1, "reserved_mb": 0, "read_bw_gbs": 512, "write_bw_gbs": 512}}]
        edges.append({"from": pe + "pe_dma", "to": "sw", "distance_mm": 100, "bw_gbs": 64})
    return {"ns_per_mm": 0.01, "timing": {"links": links}, "nodes": nodes, "links": edges}


class Turns(Cli):
    def taken(self, links, ports, rounds, start_ns, connected, nbytes=0):
        """The ports that 2·rounds receives have taken, and when; each sender sends `rounds` messages at 0."""
        n = len(connected)
        work = {"connections": [{"a": f"s{i}.pe", "port": "x", "b": f"s{n}.pe", "peer_port": port} for i, port in enumerate(connected)],
                "programs": [{"pe": f"s{i}.pe", "start_ns": 0.0,
                              "calls": [{"id": f"s{r}", "call": "send", "port": "x", "bytes": nbytes} for r in range(rounds)]}
                             for i in range(n)]}
        calls = [{"id": f"r{r}", "call": "recv_any", "ports": ports, "bytes": nbytes} for r in range(n * rounds)]
        work["programs"].append({"pe": f"s{n}.pe", "start_ns": start_ns, "calls": calls})
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name) for name in ("t.yaml", "w.json")]
            for path, what in zip(paths, (system(links, n), work)):
                with open(path, "w", encoding="utf-8") as f:
                    json.dump(what, f)
            status, out, err = self.run_cli("pipeline", "--topology", paths[0], "--work", paths[1], "--format", "json")
        self.assertEqual((status, err), (0, ""))
        calls = json.loads(out)["programs"][n]["calls"]
        return [c["port"] for c in calls], [c["done_ns"] for c in calls]

    def test_empty_messages_of_one_instant(self):
        for links in ("ideal", "cut_through", "flit"):
            for connected in (["A"], ["A", "B"], ["A", "B", "C"]):
                for ports in (connected, connected[::-1]):
                    for rounds in (1, 2, 4):
                        for start_ns in (0.0, 2.0, 100.0):
                            with self.subTest(links=links, ports=ports, rounds=rounds, start_ns=start_ns):
                                taken, done = self.taken(links, ports, rounds, start_ns, connected)
                                self.assertEqual(taken, ports * rounds)
                                self.assertEqual(done, [max(2.0, start_ns)] * len(done))

    def test_a_port_that_stands_twice_has_no_second_turn(self):
        taken, _ = self.taken("ideal", ["B", "A", "B"], 2, 0.0, ["A", "B"])
        self.assertEqual(taken, ["B", "A", "B", "A"])

    def test_messages_with_bytes_are_taken_as_they_become_visible(self):
        """One slot writer: they are visible one after the other, in the order of their senders."""
        taken, done = self.taken("ideal", ["B", "A"], 1, 0.0, ["A", "B"], 64)
        self.assertEqual((taken, done), (["A", "B"], [3.25, 4.25]))
        self.assertEqual(self.taken("ideal", ["B", "A"], 1, 100.0, ["A", "B"], 64)[0], ["B", "A"])


if __name__ == "__main__":
    main()
