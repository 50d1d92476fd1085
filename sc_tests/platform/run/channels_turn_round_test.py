# SPDX-License-Identifier: Apache-2.0
"""Does a pseudo-channel take turnaround_ns between reads and writes, and not where it has been idle as long, in every link
mode? By hand: channels of 16 GB/s in blocks of 64 bytes, so a block takes 4 ns."""
import csv
import io
import json
import os
import tempfile
import unittest

import cli_support

MODES = (("--links", "ideal", "--response", "routed"), ("--links", "cut_through"), ("--links", "flit"))
TURN = 5.0


class Channels(cli_support.Cli):
    def rows(self, mode, turn, *requests, **timing):
        """What is said of each of (issue_ns, initiator, op, offset, bytes)."""
        attrs = {"pseudo_channels": 4, "interleave_bytes": 64, "pc_bw_gbs": 16.0, **turn}
        edge = {"to": "hbm", "distance_mm": 10.0, "bw_gbs": 64.0}
        system = {"ns_per_mm": 0.1, "timing": {"flit_bytes": 64, "response": "routed", **timing},
                  "nodes": [{"id": "a", "kind": "pe_dma"}, {"id": "b", "kind": "pe_dma"},
                            {"id": "hbm", "kind": "hbm_ctrl", "impl": "builtin.hbm_pc", "attrs": attrs}],
                  "links": [{"from": "a", **edge}, {"from": "b", **edge}],
                  "memories": [{"node": "hbm", "space": "hbm", "base": 0, "size": 1 << 20}]}
        with tempfile.TemporaryDirectory() as folder:
            topology, trace = os.path.join(folder, "t.yaml"), os.path.join(folder, "t.csv")
            with open(topology, "w", encoding="utf-8") as f:
                json.dump(system, f)
            with open(trace, "w", encoding="utf-8") as f:
                f.write("id,issue_ns,initiator,op,address,bytes\n")
                for i, r in enumerate(requests):
                    f.write(f"{i}," + ",".join(map(str, r)) + "\n")
            out = self.succeeds("traffic", "--topology", topology, "--trace", trace, *mode)
        return list(csv.DictReader(io.StringIO(out)))

    def done(self, mode, turn, *requests):
        return [float(row["done_ns"]) for row in self.rows(mode, turn, *requests)]

    def later(self, mode, *requests):
        """What the penalty adds to each; without the attribute, and with 0, nothing."""
        without = self.done(mode, {}, *requests)
        self.assertEqual(self.done(mode, {"turnaround_ns": 0.0}, *requests), without)
        return [with_ - plain for with_, plain in zip(self.done(mode, {"turnaround_ns": TURN}, *requests), without)]

    def expect(self, mode, expected, *requests):
        for got, want in zip(self.later(mode, *requests), expected, strict=True):
            self.assertAlmostEqual(got, want, places=6, msg=f"{mode} {requests}")

    def test_of_one_channel_turn(self):
        for mode in MODES:
            read, write = (0, "a", "read", 0, 64), (0.5, "b", "write", 256, 64)
            self.expect(mode, [0, TURN], read, write)
            self.expect(mode, [0, TURN], (0, "a", "write", 0, 64), (2.5, "b", "read", 256, 64))
            self.expect(mode, [0, 0], read, (0.5, "b", "read", 256, 64))
            self.expect(mode, [0, 0], read, (0.5, "b", "write", 64, 64))  # another channel

    def test_each_change_costs(self):
        for mode in MODES:
            all_ = [(0.5 * i, "ab"[i % 2], ("read", "write")[i // 2 % 2], 256 * i, 64) for i in range(8)]
            self.assertAlmostEqual(max(self.later(mode, *all_)), 3 * TURN, places=6, msg=str(mode))

    def test_an_idle_channel_has_turned(self):
        for mode in MODES[:2]:
            read = (0, "a", "read", 0, 64)  # taken from 1 to 5 ns
            self.expect(mode, [0, TURN], read, (4, "b", "write", 0, 64))
            self.expect(mode, [0, TURN - 2], read, (6, "b", "write", 0, 64))
            self.expect(mode, [0, 0], read, (9, "b", "write", 0, 64))

    def test_an_atomic_turns_by_itself(self):
        for mode in MODES:
            self.expect(mode, [TURN], (0, "a", "red", 0, 64))
        self.expect(MODES[1], [TURN], (0, "a", "red", 0, 512))
        self.expect(MODES[2], [3 * TURN], (0, "a", "red", 0, 512))  # each channel's two flits: read, write, read, write

    def test_a_lone_access_has_the_time_of_its_formula(self):
        """Also behind the headers of packets, whose flits are no data to any channel."""
        ops = ("read", "write", "post", "red", "atomic", "cas")
        requests = [(10000 * i, "a", op, 32, n) for i, (op, n) in
                    enumerate((op, n) for op in ops for n in ((4, 64, 200, 1000) if op in ops[3:] else (1, 64, 200, 1001)))]
        for mode in MODES:
            for timing in ({}, {"packet_flits": 1}, {"packet_flits": 3, "header_bytes": 32},
                           {"packet_flits": 4000, "header_bytes": 8}):
                for row in self.rows(mode, {"turnaround_ns": TURN}, *requests, **timing):
                    self.assertAlmostEqual(float(row["latency_ns"]), float(row["formula_ns"]), places=5,
                                           msg=f"{mode} {timing} {row}")

    def test_wrong_values_are_refused(self):
        for value in (-1, "x", 1e300):
            with tempfile.TemporaryDirectory() as folder:
                topology = os.path.join(folder, "t.yaml")
                with open(topology, "w", encoding="utf-8") as f:
                    json.dump({"nodes": [{"id": "h", "kind": "hbm_ctrl", "impl": "builtin.hbm_pc",
                                          "attrs": {"pseudo_channels": 4, "interleave_bytes": 64, "pc_bw_gbs": 16.0,
                                                    "turnaround_ns": value}}]}, f)
                self.refuses("topology", topology, saying=["turnaround_ns"])


if __name__ == "__main__":
    unittest.main()
