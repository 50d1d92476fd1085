#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs of calls that can never end: status 1 and who waits for what, soon, whatever is open beside. And what takes
no time, ends at the last address or has one dimension."""
import json
import os
import tempfile

from cli_support import Cli, main

CPU = {"overhead_ns": 2.0}


def system(cpu=None, **overheads):
    """Two PEs and a memory at a router; s.c.pe0 has 4 slots to s.c.pe1."""
    nodes = [{"id": "r", "kind": "router", "attrs": {"overhead_ns": overheads.get("router", 5)}},
             {"id": "m", "kind": "hbm_ctrl", "attrs": {"overhead_ns": overheads.get("memory", 10)}}]
    edges = [{"from": "m", "to": "r", "distance_mm": overheads.get("mm", 1), **overheads.get("bw", {"bw_gbs": 64})}]
    for pe in ("s.c.pe0.", "s.c.pe1."):
        for kind, attrs in (("pe_cpu", cpu or CPU), ("pe_scheduler", {}), ("pe_dma", {"overhead_ns": overheads.get("dma", 1)}),
                            ("pe_fetch_store", {}), ("pe_gemm", {"macs_per_cycle": 64, "freq_ghz": 1}),
                            ("pe_math", {"lanes": 16, "freq_ghz": 1}), ("pe_ipcq", {"slot_bytes": 1024}),
                            ("pe_tcm", {"size_mb": 16, "reserved_mb": 1, "read_bw_gbs": 512, "write_bw_gbs": 512})):
            nodes.append({"id": pe + kind, "kind": kind, "attrs": attrs})
        edges.append({"from": pe + "pe_dma", "to": "r", "distance_mm": overheads.get("mm", 1), **overheads.get("bw", {"bw_gbs": 64})})
    return {"ns_per_mm": 1.0, "timing": {"links": "ideal"}, "nodes": nodes, "links": edges,
            "memories": [{"node": "m", "space": "hbm", "base": overheads.get("base", 0), "size": 1 << 20}]}


NOTHING = {"overhead_ns": 0.0, "poll_ns": 100}
FREE = {"router": 0, "memory": 0, "dma": 0, "mm": 0, "bw": {}}
WAITS = {"call": "wait_until", "addr": 64, "value": 1, "cmp": "eq"}


class Programs(Cli):
    def plays(self, calls0, calls1=(), machine=None, status=1, begins=(0, 0), **more):
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name) for name in ("t.yaml", "w.json")]
            programs = [{"pe": f"s.c.pe{i}", "start_ns": begins[i], "calls": [{"id": f"c{i}{n}", **c} for n, c in enumerate(calls)]}
                        for i, calls in enumerate((calls0, calls1)) if calls]
            connections = [{"a": "s.c.pe0", "port": "E", "b": "s.c.pe1", "peer_port": "W"}]
            for path, what in zip(paths, (machine or system(), {"connections": connections, "programs": programs, **more})):
                with open(path, "w", encoding="utf-8") as f:
                    json.dump(what, f)
            found, out, err = self.run_cli("pipeline", "--topology", paths[0], "--work", paths[1], "--format", "json", "--max-wall", 20)
            self.assertEqual((found, len(err.splitlines())), (status, 1 if status else 0), err + out)
            self.assertNotIn("max-wall", err)
            return err if status else json.loads(out)

    def test_what_is_held_back_by_a_message_that_nobody_sends(self):
        """The signal waits for a copy out of a queue; its PE has no other wait."""
        held = [{"call": "copy_to_dst_async", "port": "E", "bytes": 64, "space": "hbm", "addr": 0}, {"call": "signal", "addr": 128, "value": 1}]
        red = [{"call": "red_async", "space": "hbm", "ranges": [[128, 4]]}, {"call": "wait", "for": ["c01"]}]
        for calls in (held, held[:1] + red):
            err = self.plays(calls, [{"call": "math", "op": "exp", "elements": 64}])
            self.assertRegex(err, r"nothing can move: chain of waiting: s\.c\.pe0 \(.*\) -> s\.c\.pe1")
        err = self.plays(held, [{"call": "recv", "port": "W", "bytes": 64}])
        self.assertIn("circle of waiting", err)

    def test_polls_beside_open_messages(self):
        wait = [WAITS]
        for others in ([{"call": "recv_async", "port": "W", "bytes": 64}],
                       [{"call": "send_async", "port": "W", "bytes": 64}] * 6,
                       [{"call": "copy_to_dst_async", "port": "W", "bytes": 64, "space": "hbm", "addr": 0},
                        {"call": "signal", "addr": 64, "value": 1}]):
            self.assertIn("c00 waits until the flag at 0x40 is eq 1, it is 0", self.plays(wait, others))
            self.assertIn("c00 waits until the flag at 0x40 is eq 1, it is 0", self.plays(wait, [*others, WAITS]))
        self.plays(wait, [{"call": "math", "op": "exp", "elements": 6400}, {"call": "signal", "addr": 64, "value": 1}], status=0)

    def test_what_is_done_at_0(self):
        command = {"pes": [{"pe": "s.c.pe0", "commands": [{"id": "x", "submit_ns": 0, "stage": "DMA_READ", "space": "hbm", "addr": 0, "nbytes": 64}]}]}
        self.assertIn("c00 waits until", self.plays([WAITS], machine=system(NOTHING, **FREE), **command))

    def test_polls_that_take_no_time(self):
        signals = [{"call": "load", "addr": 4096, "nbytes": 64}, {"call": "signal", "addr": 64, "value": 1}]
        err = self.plays([WAITS], signals, machine=system({"overhead_ns": 0.0, "poll_ns": 0}, **FREE), begins=(0, 100))
        self.assertIn("polls without end at one instant", err)
        self.plays([WAITS], signals, machine=system({"overhead_ns": 1.0, "poll_ns": 0}, **FREE), status=0)

    def test_many_atomics_that_wait_for_each_other(self):
        """So soon that --max-wall does not end them."""
        calls = [{"call": "red_async", "space": "hbm", "ranges": [[4 * (i % 64), 4]]} for i in range(6000)]
        r = self.plays(calls, status=0)
        self.assertEqual(len(r["programs"][0]["calls"]), 6000)

    def test_elementwise_in_one_dimension(self):
        def composite(**shape):
            return {"pes": [{"pe": "s.c.pe0", "composites": [{
                "id": "c", "kind": "math", "op": "exp", "submit_ns": 0, "dtype_bytes": 4, "inputs": [{"space": "hbm", "addr": 0}],
                "out": {"space": "hbm", "addr": 4096}, **shape}]}]}
        one, two = (self.plays([], status=0, **composite(**shape)) for shape in ({"n": 100, "tile": [32]}, {"m": 1, "n": 100, "tile": [1, 32]}))
        self.assertEqual(one["pes"], two["pes"])
        self.assertIn("tile: found [32], expected 2 sizes", self.plays([], status=2, **composite(m=1, n=100, tile=[32])))
        self.assertIn("tile: found [1,32], expected 1 sizes", self.plays([], status=2, **composite(n=100, tile=[1, 32])).replace("[1, 32]", "[1,32]"))

    def test_a_matrix_that_ends_at_the_last_address(self):
        at = (1 << 64) - (1 << 20)
        work = {"pes": [{"pe": "s.c.pe0", "composites": [{
            "id": "c", "kind": "math", "op": "exp", "submit_ns": 0, "dtype_bytes": 4, "m": 4, "n": 64, "tile": [2, 64],
            "inputs": [{"space": "hbm", "addr": at}], "out": {"space": "hbm", "addr": (1 << 64) - 1024}}]}]}
        self.assertGreater(self.plays([], machine=system(base=at), status=0, **work)["end_ns"], 0)
        work["pes"][0]["composites"][0]["out"]["addr"] += 4
        self.assertIn("runs over the end of all addresses", self.plays([], machine=system(base=at), status=1, **work))


if __name__ == "__main__":
    main()
