#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do messages take the time of their protocol by hand, are the machines of links between chips what scripts/silicon writes,
do their two constants give their cells, and some cells what docs/notes/links.md reports?"""
import importlib.machinery
import importlib.util
import json
import os
import statistics

import cli_support

ROOT = os.environ["KERNBENCH_SOURCE"]
loader = importlib.machinery.SourceFileLoader("silicon", os.path.join(ROOT, "scripts", "silicon"))
silicon = importlib.util.module_from_spec(importlib.util.spec_from_loader("silicon", loader))
loader.exec_module(silicon)

# Two PEs, 10 ns apart over 100 GB/s. Slots cost nothing but 1000 GB/s each way.
IPCQ = """overhead_ns: 1, slots: 4, slot_bytes: 65536, write_bw_gbs: {tcm: 1000}, read_bw_gbs: {tcm: 1000},
    protocol_message_ns: {fast: 5, wide: 50}, protocol_start_ns: {fast: 200, wide: 300}, protocol_bw_gbs: {fast: 10},
    protocol_up_to_bytes: {fast: 1000}"""
PE = """
- {id: NAME.pe_cpu, kind: pe_cpu}
- {id: NAME.pe_scheduler, kind: pe_scheduler}
- {id: NAME.pe_dma, kind: pe_dma}
- {id: NAME.pe_fetch_store, kind: pe_fetch_store}
- {id: NAME.pe_gemm, kind: pe_gemm, attrs: {macs_per_cycle: 64, freq_ghz: 1}}
- {id: NAME.pe_math, kind: pe_math, attrs: {lanes: 64, freq_ghz: 1}}
- {id: NAME.pe_tcm, kind: pe_tcm, attrs: {size_mb: 4, reserved_mb: 0, read_bw_gbs: 1000, write_bw_gbs: 1000}}
- {id: NAME.pe_ipcq, kind: pe_ipcq, attrs: {IPCQ}}
- {id: NAME.hbm, kind: hbm_ctrl}"""
FILE = """ns_per_mm: 1
timing: {links: LINKS, response: routed}
nodes:PES
links:
- {from: s0.c.p.pe_dma, to: s1.c.p.pe_dma, distance_mm: 10, bw_gbs: 100}
- {from: s0.c.p.pe_dma, to: s0.c.p.hbm, distance_mm: 0, bw_gbs: 100}
- {from: s1.c.p.pe_dma, to: s1.c.p.hbm, distance_mm: 0, bw_gbs: 100}
memories:
- {node: s0.c.p.hbm, space: hbm, base: 0x100000000, size: 67108864}
- {node: s1.c.p.hbm, space: hbm, base: 0x200000000, size: 67108864}
"""


class Test(cli_support.FolderCli):
    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def machine(self, links="cut_through", ipcq=IPCQ):
        pes = "".join(PE.replace("NAME", n).replace("IPCQ", ipcq) for n in ("s0.c.p", "s1.c.p"))
        return self.write("machine.yaml", FILE.replace("PES", pes).replace("LINKS", links))

    def played(self, sends, topology=None, **connection):
        """Times in ns: [[slot, grant, arrival, visible, …] of each segment] of each send, and when each receive is done."""
        ids = {"a": "s0.c.p", "port": "E", "b": "s1.c.p", "peer_port": "W", **connection}
        work = self.write("work.json", json.dumps({"connections": [ids], "programs": [
            {"pe": "s0.c.p", "start_ns": 0, "calls": [{"id": f"s{i}", "call": "send_async", "port": "E", "bytes": b}
                                                      for i, b in enumerate(sends)]},
            {"pe": "s1.c.p", "start_ns": 0, "calls": [{"id": f"r{i}", "call": "recv", "port": "W", "bytes": b}
                                                      for i, b in enumerate(sends)]}]}))
        played = json.loads(self.succeeds("pipeline", "--topology", topology or self.machine(), "--work", work, "--format", "json"))
        sent, received = (p["calls"] for p in played["programs"])
        return [c["segments"] for c in sent], [c["done_ns"] for c in received]

    def assertClose(self, found, expected):
        self.assertEqual([round(v, 6) for v in found], [round(v, 6) for v in expected])

    def test_a_message_takes_its_protocols_time(self):
        # fast: start 200, i 1, 5 a message; the header flies 10; inbound 100 at 10 GB/s; slot written and read.
        (segment,), = self.played([1000])[0]
        self.assertClose(segment[:4], [206, 206, 216, 317])
        self.assertClose(self.played([1000])[1], [318])
        # wide, by its size: 1001 bytes are more than fast takes; at the link's 100 GB/s.
        (segment,), = self.played([1001])[0]
        self.assertClose(segment[:4], [351, 351, 361, 361 + 10.01 + 1.001])
        # A name outweighs the size.
        (segment,), = self.played([1000], protocol="wide")[0]
        self.assertClose(segment[:4], [351, 351, 361, 372])

    def test_messages_of_a_port_keep_their_order_and_pace(self):
        # The second one, small, stands no earlier than the first; vc_comm is held for 1000 bytes at 10 GB/s between fast ones.
        first, second = self.played([2000, 8])[0]
        self.assertClose([first[0][0], second[0][0]], [351, 351])
        first, second = self.played([1000, 1000])[0]
        self.assertClose([first[0][1], second[0][1]], [206, 306])
        # Flits come with the link's rate, but the message is through with its own.
        first, second = self.played([1000, 1000], self.machine("flit"))[0]
        self.assertClose(first[0][:4], [206, 206, 226, 307])
        self.assertClose(second[0][:4], [206, 306, 326, 407])

    def test_a_breakdown_counts_the_protocol_as_part_of_the_call(self):
        work = self.write("w.json", json.dumps({"connections": [{"a": "s0.c.p", "port": "E", "b": "s1.c.p", "peer_port": "W"}],
                                                "programs": [{"pe": "s0.c.p", "start_ns": 0, "calls": [
                                                    {"id": "s", "call": "send", "port": "E", "bytes": 1000}]},
                                                    {"pe": "s1.c.p", "start_ns": 0, "calls": [
                                                        {"id": "r", "call": "recv", "port": "W", "bytes": 1000}]}]}))
        played = json.loads(self.succeeds("pipeline", "--topology", self.machine(), "--work", work, "--breakdown", "--format", "json"))
        account, = played["programs"][0]["calls"][0]["accounts"]
        self.assertAlmostEqual(account["call_ns"], 206)
        self.assertAlmostEqual(account["drain_ns"], 100)
        self.assertAlmostEqual(sum(account.values()), 318)

    def test_collectives_weigh_each_algorithm_with_each_protocol(self):
        def report(*params):
            return json.loads(self.succeeds("run", "--topology", self.machine(), "--kernel", "all_reduce", "--param", "over=rank",
                                            *(x for p in params for x in ("--param", p)), "--verify", "--explain", "--format", "json"))
        small, large = report("n=64", "algorithm=ring"), report("n=16384", "algorithm=ring")
        self.assertEqual([small["algorithm"], large["algorithm"]], ["ring.fast", "ring.wide"])
        # Two steps of 128 bytes: i, message, wire, bytes, slot; and an addition between (M).
        costs = small["costs_ns"]
        self.assertAlmostEqual(costs["ring.wide"] - costs["ring.fast"], 100 + 2 * (50 - 5) + 2 * (1.28 - 12.8))
        auto = report("n=64")
        self.assertEqual(auto["algorithm"], min(auto["costs_ns"], key=auto["costs_ns"].get))
        self.assertIn("halving.wide", auto["costs_ns"])
        self.assertEqual(report("n=64", "algorithm=tree.wide")["algorithm"], "tree.wide")

    def test_a_bottleneck_that_is_a_protocol_is_named(self):
        said = self.succeeds("run", "--topology", self.machine(), "--kernel", "all_reduce", "--param", "over=rank", "--param", "n=64",
                             "--param", "algorithm=ring", "--explain")
        self.assertIn("the queues between PEs", said)
        self.assertNotIn("foreign blocks", said)

    def test_faults_are_named(self):
        def refused(*arguments, **machine):
            return self.refuses(*arguments[:1], "--topology", self.machine(**machine), *arguments[1:])
        kernel = ("run", "--kernel", "all_reduce", "--param", "over=rank", "--param", "algorithm=ring.slow")
        self.assertIn("algorithm: found the protocol 'slow', expected one that the PEs declare: fast, wide", refused(*kernel))
        said = refused("run", "--kernel", "barrier", ipcq="protocol_bw_gbs: {fast: 10}")
        self.assertIn("protocol_bw_gbs: found 'fast'; legal: a protocol of protocol_message_ns", said)
        said = refused("run", "--kernel", "barrier", ipcq="protocol_message_ns: {fast: 10}, protocol_up_to_bytes: {fast: 1}")
        self.assertIn("protocol_up_to_bytes: found a limit of every protocol; legal: one without", said)
        work = self.write("w.json", json.dumps({"connections": [{"a": "s0.c.p", "port": "E", "b": "s1.c.p", "peer_port": "W",
                                                                 "protocol": "slow"}], "programs": []}))
        said = refused("pipeline", "--work", work)
        self.assertIn("protocol: found 'slow', expected one of s0.c.p: fast, wide", said)

    def test_files_are_what_the_script_writes(self):
        for machine in (*silicon.NODES.values(), silicon.FABRIC):
            with open(machine.file, encoding="utf-8") as file:
                self.assertTrue(file.read() == machine.topology(), f"{machine.file}: scripts/silicon topologies")
        self.assertIn("deadlock-free: proved", self.succeeds("topology", silicon.FABRIC.file))

    def test_fabric_by_hand(self):
        packet, flit, noc, link = silicon.FABRIC.packet_cycles, 32, 32, 12.5
        for size in (16, 4096):
            # Each segment is a whole packet behind its header flit; the L1 ends with the last flit's bytes.
            by_hand = 2 * packet + silicon.FABRIC_NS + (flit + size) * (2 / noc + 1 / link) + min(size, flit) / noc
            self.assertAlmostEqual(silicon.fabric_ns(silicon.FABRIC.wormhole, [size]), by_hand, 3)
        cells = {silicon.fabric_cell_key(r): silicon.fabric_cell(r) for r in silicon.read_csv("tt_fabric.csv") if r["net_avg_ns"]}
        measured, predicted, _, fitted = cells[silicon.FABRIC_CELL]
        self.assertTrue(fitted)
        self.assertAlmostEqual(predicted / measured, 1, 4)
        errors = [abs(p / m - 1) for m, p, _, f in cells.values() if not f]
        self.assertEqual(len(errors), 15)
        self.assertAlmostEqual(statistics.median(errors), 0.091, 3)

    def test_nodes_by_hand(self):
        node, op, gpus, size = silicon.A100, "all_reduce", 8, 512
        cells = {(r["op"], int(r["gpus"]), int(r["bytes"])): float(r["us"]) for r in silicon.read_csv("nccl_a100.csv")}
        self.assertEqual(len(cells), 210)
        found, used = silicon.collective_us(node, op, gpus, size, "ring")
        self.assertEqual(used, "ring.ll")
        self.assertAlmostEqual(found / cells[op, gpus, size], 1, 3)
        # NCCL's table and 14 ways through the switch; the rest is the bytes' time.
        self.assertAlmostEqual(found, 6.6 + 14 * (0.6 + silicon.NVSWITCH_NS / 1000), 1)
        # NCCL's choices by its table: time = start + steps · message + bytes / rate.
        for op, gpus, sizes in (("all_reduce", 2, (512 << 10, 1 << 20)), ("all_gather", 4, (1 << 20, 2 << 20))):
            self.assertEqual([silicon.collective_us(node, op, gpus, b, "ring")[1] for b in sizes], ["ring.ll", "ring.simple"])
        some = [c for i, c in enumerate(sorted(cells)) if i % 7 == 0]
        errors = [abs(silicon.collective_us(node, *c, "auto" if c[0] == "alltoall" else "ring")[0] / cells[c] - 1) for c in some]
        self.assertLess(statistics.median(errors), 0.18)
        self.assertLess(max(errors), 0.55)

    def test_h100_reduces_on_the_way(self):
        us, used = silicon.collective_us(silicon.H100, "all_reduce", 8, 64 << 20, "in_network")
        self.assertEqual(used, "in_network")
        # LL's start and six messages of a barrier on the path, four ways through the switch. The sums come at 315.18 GB/s and are
        # added at the memory by the way back at 450; the multicast goes out at 450. Five times through an HBM.
        by_hand = 6.6 + 6 * 0.6 + 4 * silicon.NVSWITCH_NS / 1e3 + (64 << 20) / 1e3 * (1 / 315.18 + 2 / 450 + 5 / 3350)
        self.assertAlmostEqual(us / by_hand, 1, 2)
        self.assertEqual(len(silicon.rows_of(os.path.join(silicon.DATA, "nccl_h100_all_reduce.csv"))), 21)


if __name__ == "__main__":
    cli_support.main()
