#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do gathers, atomics, flags and several transactions in flight take what the access contract's worked cases say, and are
wrong calls refused in one line each?

    KERNBENCH_CLI=BINARY ranges_atomics_and_flags_have_hand_computed_times_test.py
"""
import csv
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest

KERNBENCH = os.environ["KERNBENCH_CLI"]
SIZE = 1 << 20


def topology(memories=3, links="ideal", response="ideal", header=0, dma=None, cpu=None, memory=None, impl="hbm_ctrl",
             edge=64.0):
    """pe_dma (1 ns) - router (5) - memories (10 each), 64 GB/s, wires of 1 ns."""
    pe = "sip0.cube0.pe0."
    nodes = [{"id": "r", "kind": "router", "attrs": {"overhead_ns": 5.0}},
             {"id": pe + "pe_cpu", "kind": "pe_cpu", "attrs": {"overhead_ns": 0.0, **(cpu or {})}},
             {"id": pe + "pe_scheduler", "kind": "pe_scheduler",
              "attrs": {"overhead_ns": 1.0 if cpu else 0.0}},
             {"id": pe + "pe_dma", "kind": "pe_dma", "attrs": {"overhead_ns": 1.0, **(dma or {})}},
             {"id": pe + "pe_tcm", "kind": "pe_tcm",
              "attrs": {"size_mb": 1.0, "reserved_mb": 0.5, "read_bw_gbs": 64.0, "write_bw_gbs": 64.0}}]
    links_ = [{"from": pe + "pe_dma", "to": "r", "distance_mm": 1.0, "bw_gbs": 64.0}]
    spaces = []
    for i in range(memories):
        nodes.append({"id": f"m{i}", "kind": "hbm_ctrl", "impl": "builtin." + impl,
                      "attrs": {"overhead_ns": 10.0, **(memory or {})}})
        links_.append({"from": "r", "to": f"m{i}", "distance_mm": 1.0, "bw_gbs": edge})
        spaces.append({"node": f"m{i}", "space": "hbm", "base": i * SIZE, "size": SIZE})
    timing = {"links": links, "header_bytes": header}
    timing["response"] = response
    return {"ns_per_mm": 1.0, "timing": timing, "nodes": nodes, "links": links_, "memories": spaces}


def run(command, system, text, *options):
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("t.yaml", "input")]
        for path, content in zip(paths, (json.dumps(system), text)):
            with open(path, "w", encoding="utf-8") as file:
                file.write(content)
        flag = "--work" if command == "pipeline" else "--trace"
        return subprocess.run([KERNBENCH, command, "--topology", paths[0], flag, paths[1], *options],
                              capture_output=True, text=True, timeout=60, check=False)


def play(system, *calls):
    """The calls' outputs of one program from 0 on."""
    done = run("pipeline", system, work(*calls), "--format", "json")
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)["programs"][0]["calls"]


def work(*calls):
    calls = [{"id": f"c{i}", **c} for i, c in enumerate(calls)]
    return json.dumps({"programs": [{"pe": "sip0.cube0.pe0", "start_ns": 0.0, "calls": calls}]})


def trace(system, op, nbytes):
    text = f"id,issue_ns,initiator,op,address,bytes\n0,0,sip0.cube0.pe0.pe_dma,{op},0,{nbytes}\n"
    done = run("traffic", system, text, "--format", "csv")
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    row = next(csv.DictReader(io.StringIO(done.stdout)))
    assert abs(float(row["formula_ns"]) - float(row["latency_ns"])) < 1e-6, row
    return float(row["done_ns"])


def ranged(call, *ranges, **more):
    return {"call": call, "space": "hbm", "ranges": [list(r) for r in ranges], **more}


class WorkedCases(unittest.TestCase):
    def near(self, a, b):
        self.assertAlmostEqual(a, b, delta=0.001)

    def test_two_transactions_in_flight_take_the_time_of_one(self):
        for outstanding, done in ((2, 26.0), (1, 52.0)):
            calls = play(topology(dma={"outstanding": outstanding}), ranged("gather", (0, 512), (SIZE, 512)))
            self.near(calls[0]["done_ns"], done)

    def test_data_of_two_memories_share_the_way_back(self):
        system = topology(links="cut_through", response="routed", header=16, dma={"outstanding": 2})
        self.near(play(system, ranged("gather", (0, 512), (SIZE, 512)))[0]["done_ns"], 42.25)

    def test_a_list_of_ranges_makes_the_request_longer(self):
        for outstanding, done in ((1, 64.0), (2, 38.25)):
            system = topology(links="cut_through", response="routed", header=16,
                              dma={"outstanding": outstanding, "range_bytes": 8})
            calls = play(system, ranged("gather", (0, 256), (1024, 256), (SIZE, 256)))
            self.near(calls[0]["done_ns"], done)

    def test_a_reduction_holds_its_channels_twice(self):
        memory = {"pseudo_channels": 2, "interleave_bytes": 256, "pc_bw_gbs": 32.0}
        for response, done in (("ideal", 34.0), ("routed", 42.0)):
            system = topology(1, response=response, memory=memory, impl="hbm_pc", edge=128.0)
            self.near(trace(system, "red", 512), done)

    def test_atomics_read_and_write_at_a_fifo_memory(self):
        # 8 ns of path and 10 of overhead; 8 ns each for 512 bytes read, written, or written twice.
        for op, ideal, routed in (("atomic", 34.0, 50.0), ("red", 34.0, 42.0), ("cas", 42.0, 58.0)):
            self.near(trace(topology(1), op, 512), ideal)
            self.near(trace(topology(1, response="routed"), op, 512), routed)

    def test_a_poll_that_holds_at_once_costs_a_load(self):
        system = topology(1, cpu={"overhead_ns": 2.0})
        wait = {"call": "wait_until", "addr": 0, "value": 0, "cmp": "eq"}
        self.near(play(system, wait)[0]["return_ns"], 21.0625)

    def test_nobody_polls_for_ever(self):
        system = topology(1, cpu={"overhead_ns": 2.0})
        done = run("pipeline", system, work({"call": "wait_until", "addr": 64, "value": 7, "cmp": "ge"}))
        self.assertEqual(done.returncode, 1)
        self.assertIn("sip0.cube0.pe0 call c0 waits until the flag at 0x40 is ge 7, it is 0", done.stderr)

    def test_a_flag_stands_from_its_effect_on(self):
        system = topology(1, cpu={"overhead_ns": 2.0})
        calls = play(system, {"call": "signal", "addr": 0, "value": 3},
                     {"call": "wait_until", "addr": 0, "value": 3, "cmp": "eq"})
        self.near(calls[0]["effect_ns"], calls[0]["done_ns"])
        self.near(calls[1]["return_ns"] - calls[1]["call_ns"], 21.0625)

    def test_a_release_waits_for_what_was_written_before(self):
        system = topology(2, dma={"wr_engines": 2})
        store = {"call": "store_async", "space": "hbm", "addr": 0, "nbytes": 6400}
        for sem, effect in (("release", 118.0 + 18.125), ("relaxed", 18.125)):
            calls = play(system, store, ranged("red_async", (SIZE, 4), sem=sem),
                         {"call": "wait", "for": ["c1"]})
            self.near(calls[1]["effect_ns"], effect)
            self.near(calls[1]["return_ns"], 0.0)  # the kernel continues

    def test_neighbours_are_one_range_only_in_order(self):
        memory = {"pseudo_channels": 2, "interleave_bytes": 256, "pc_bw_gbs": 8.0, "burst_bytes": 64}
        system = topology(1, memory=memory, impl="hbm_pc")
        for ranges, bursts in ((((0, 32), (32, 32)), 1), (((32, 32), (0, 32)), 2), (((0, 32), (0, 32)), 2)):
            self.near(play(system, ranged("gather", *ranges))[0]["done_ns"], 18.0 + bursts * 8.0)

    def test_nothing_to_move_is_done_at_the_grant(self):
        calls = play(topology(1), ranged("gather"), ranged("atomic"))
        self.near(calls[0]["done_ns"], 0.0)
        self.near(calls[1]["done_ns"], 0.0)
        late = play(topology(1), ranged("gather", (0, 64)), ranged("atomic"))[1]
        self.assertGreater(late["call_ns"], 0.0)
        self.assertEqual(late["effect_ns"], late["done_ns"])

    def test_ranges_are_cut_at_the_ends_of_memories(self):
        calls = play(topology(2, dma={"outstanding": 2}), ranged("scatter", (SIZE - 256, 512)))
        self.near(calls[0]["done_ns"], 18.0 + 4.0)


class WrongUses(unittest.TestCase):
    def refused(self, text, *calls):
        done = run("pipeline", topology(1), work(*calls))
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        self.assertIn("programs[0].calls[0]", done.stderr)
        self.assertIn(text, done.stderr)

    def test_each_has_its_line(self):
        self.refused("no memory", ranged("gather", (64 * SIZE, 4)))
        self.refused("expected [address, bytes from 1]", ranged("gather", (0, 0)))
        self.refused("ranges", {"call": "gather", "space": "hbm"})
        self.refused("expected relaxed, acquire, release or acq_rel", ranged("atomic", (0, 4), sem="seq_cst"))
        self.refused("unknown key 'sem'", ranged("scatter", (0, 4), sem="relaxed"))
        self.refused("expected hbm or sram", {"call": "red", "space": "tcm", "ranges": [[0, 4]]})
        self.refused("expected a multiple of 4", {"call": "signal", "addr": 2, "value": 1})
        self.refused("is missing", {"call": "signal", "addr": 4})
        self.refused("expected eq, ne, lt or ge", {"call": "wait_until", "addr": 4, "value": 1, "cmp": "gt"})
        self.refused("expected send", {"call": "signal_async", "addr": 4, "value": 1})

    def test_traffic_names_its_ops(self):
        done = run("traffic", topology(1), "id,issue_ns,initiator,op,address,bytes\n0,0,sip0.cube0.pe0.pe_dma,swap,0,4\n")
        self.assertEqual(done.returncode, 2)
        self.assertIn("expected read, write, post, atomic, red, cas, multicast, red_add, red_max or red_min", done.stderr)

    def test_attributes_have_their_bounds(self):
        for dma in ({"outstanding": 0}, {"outstanding": 65536}, {"range_bytes": -1}, {"join_pieces": 2}):
            done = run("pipeline", topology(1, dma=dma), work(ranged("gather", (0, 4))))
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(next(iter(dma)), done.stderr)


if __name__ == "__main__":
    unittest.main()
