#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--trace FILE.pftrace has the tracks, slices, instants and arrows of --trace FILE.json of the same run, to 1 fs; slices
nest by their ends. Its counters: queues as the waveform has them, bandwidths that add up to the bytes of the log. It is
the same every time, and whole, also of a run that fails."""
import collections
import json
import os

import cli_support
from cli_support import topology
from pftrace_reader import Pftrace, packets
from vcd_reader import Vcd

WINDOW_FS = 100 * 10**6
BLOCKS = {"DMA_READ": "pe_dma.rd", "DMA_WRITE": "pe_dma.wr", "FETCH": "pe_fetch_store.fetch",
          "STORE": "pe_fetch_store.store", "GEMM": "pe_gemm", "MATH": "pe_math"}
SMALL = ("--topology", topology("small.yaml"))
GEMM = ("run", *SMALL, "--kernel", "gemm", "--param", "m=256", "--param", "n=64", "--param", "k=256")
ATTENTION = ("run", *SMALL, "--kernel", "attention", "--param", "seq=64")
RING = ("run", *SMALL, "--kernel", "all_reduce", "--param", "algorithm=ring", "--param", "n=200", "--param", "slots=1",
        "--param", "slot_bytes=64")


def fs(ns):
    return round(ns * 1e6)


def read(file, mode="r"):
    with open(file, mode) as f:
        return f.read()


class OfJson:
    """The same of Chrome trace events."""

    def __init__(self, events):
        processes = {e["pid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "process_name"}
        tracks = {e["tid"]: (processes.get(e["pid"], ""), e["args"]["name"])
                  for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
        self.tracks = sorted(tracks.values())
        self.slices, self.instants = collections.defaultdict(list), collections.defaultdict(list)
        self.flows = collections.defaultdict(list)
        for e in events:
            if e["ph"] == "X":
                self.slices[tracks[e["tid"]]].append((e["name"], e["cat"], e["args"]))
            elif e["ph"] == "i":
                self.instants[tracks[e["tid"]]].append((e["name"], e["args"], fs(e["ts"] * 1e3)))
            elif e["ph"] in "stf":
                slice_before = self.slices[tracks[e["tid"]]][-1]  # an arrow's step follows its slice
                self.flows[e["cat"], e["id"]].append(
                    (tracks[e["tid"]], slice_before[2]["start_ns"], e["ph"] == "f"))


def in_order(items):
    """By name and arguments first."""
    return sorted(items, key=lambda i: (json.dumps(i[:-1], sort_keys=True), json.dumps(i[-1], sort_keys=True)))


class PerfettoTraces(cli_support.FolderCli):
    def without_a_cube(self):
        """One PE that has no level above it, which a process could be named by."""
        pe = [f"- {{id: pe.{kind}, kind: {kind}}}" for kind in ("pe_cpu", "pe_scheduler", "pe_dma", "pe_fetch_store")]
        pe += ["- {id: pe.pe_gemm, kind: pe_gemm, attrs: {macs_per_cycle: 4096, freq_ghz: 1}}",
               "- {id: pe.pe_math, kind: pe_math, attrs: {lanes: 128, freq_ghz: 1}}",
               "- {id: pe.pe_tcm, kind: pe_tcm, attrs: {size_mb: 16, reserved_mb: 1, read_bw_gbs: 512, "
               "write_bw_gbs: 512}}"]
        with open(self.path("flat.yaml"), "w") as f:
            f.write("\n".join(["nodes:", *pe, "- {id: hbm, kind: hbm_ctrl}", "links:",
                               "- {from: pe.pe_dma, to: hbm, distance_mm: 1, bw_gbs: 64}", "memories:",
                               "- {node: hbm, space: hbm, base: 0, size: 1073741824}"]))
        return self.path("flat.yaml")

    def traced(self, *command):
        """In both forms, of a run each."""
        self.succeeds(*command, "--trace", self.path("t.pftrace"))
        self.succeeds(*command, "--trace", self.path("t.json"))
        return Pftrace(packets(read(self.path("t.pftrace"), "rb"))), OfJson(json.loads(read(self.path("t.json"))))

    def agree(self, ours, of_json):
        self.assertEqual(sorted(ours.tracks.values()), of_json.tracks)
        self.assertEqual(ours.slices.keys(), of_json.slices.keys())
        for track, slices in ours.slices.items():
            # Their exact times are arguments of both forms.
            self.assertEqual(in_order((s.name, s.category, s.arguments) for s in slices),
                             in_order(of_json.slices[track]), track)
            for s in slices:
                self.assertLessEqual(abs(s.from_fs - fs(s.arguments["start_ns"])), 1, (track, s))
                self.assertLessEqual(abs(s.to_fs - fs(s.arguments["end_ns"])), 1, (track, s))
        self.assertEqual(ours.instants.keys(), of_json.instants.keys())
        for track, instants in ours.instants.items():
            found = in_order((i.name, i.arguments, i.fs) for i in instants)
            expected = in_order(of_json.instants[track])
            self.assertEqual([i[:2] for i in found], [i[:2] for i in expected], track)
            for a, b in zip(found, expected):
                self.assertLessEqual(abs(a[2] - b[2]), 1, (track, a))
        flows = collections.defaultdict(list)
        for track, slices in ours.slices.items():
            for s in slices:
                for number in s.flows + s.ends_flows:
                    flows[number].append((track, s.arguments["start_ns"], bool(s.ends_flows)))
        self.assertEqual(sorted(map(sorted, flows.values())), sorted(map(sorted, of_json.flows.values())))

    def test_slices_instants_and_arrows_are_those_of_json(self):
        commands = [GEMM, (*GEMM, "--launch", "direct"), ATTENTION,
                    ("run", *SMALL, "--kernel", "vector_add", "--transfer", "timed"),
                    ("run", "--topology", topology("six_sip_torus.yaml"), "--program", "tp_mlp", "--param", "tokens=64",
                     "--ranks", "2", "--pes", "leaders"),
                    ("run", "--topology", self.without_a_cube(), "--kernel", "gemm", "--param", "m=128")]
        commands += [(*RING, "--links", links) for links in ("ideal", "cut_through", "flit")]
        for command in commands:
            with self.subTest(command[4:]):
                ours, of_json = self.traced(*command)
                self.assertTrue(ours.slices and ours.instants)
                self.agree(ours, of_json)

    def test_queues_are_those_of_the_waveform(self):
        for command in (GEMM, ATTENTION):
            self.succeeds(*command, "--trace", self.path("t.pftrace"), "--vcd", self.path("t.vcd"))
            ours, vcd = Pftrace(packets(read(self.path("t.pftrace"), "rb"))), Vcd(read(self.path("t.vcd")))
            queues = {key: v for key, v in ours.values.items() if key[1].endswith(" queue")}
            self.assertTrue(any(value for v in queues.values() for _, value in v), "nothing ever waits")
            for (cube, name), values in queues.items():
                pe, stage, _ = name.split(" ")
                last = dict(values)  # of several at one time, the last one counts
                found = [(0, 0)]
                for t in sorted(last):
                    if last[t] != found[-1][1]:
                        found.append((t, last[t]))
                signal = [(fs(t), v) for t, v in vcd.values(f"system.{cube}.{pe}.{BLOCKS[stage]}.queue_depth")]
                self.assertEqual(found, signal, (cube, name))

    def moved(self, ours, direction):
        """Bytes by memory: the integral."""
        total = {}
        for (group, name), values in ours.values.items():
            if group != "memories" or not name.endswith(direction):
                continue
            self.assertTrue(all(t % WINDOW_FS == 0 and gbs >= 0 for t, gbs in values), name)
            self.assertEqual(values[-1][1], 0, name)
            total[name.removesuffix(" " + direction)] = sum(
                gbs * (after - t) / 1e6 for (t, gbs), (after, _) in zip(values, values[1:]))
        return total

    def test_bandwidths_add_up_to_the_bytes_of_the_log(self):
        for links in ("ideal", "cut_through", "flit"):
            for command in (GEMM, ATTENTION):
                self.succeeds(*command, "--links", links, "--trace", self.path("t.pftrace"), "--oplog",
                              self.path("l.jsonl"))
                ours = Pftrace(packets(read(self.path("t.pftrace"), "rb")))
                records = [json.loads(line) for line in read(self.path("l.jsonl")).splitlines()]
                for direction, names in (("read", {"dma_read", "TileToken/DMA_READ"}),
                                         ("write", {"dma_write", "TileToken/DMA_WRITE"})):
                    expected = sum(r["params"].get("bytes", r["params"].get("nbytes")) for r in records
                                   if r.get("op_name") in names)
                    moved = self.moved(ours, direction)
                    self.assertGreater(expected, 0)
                    self.assertAlmostEqual(sum(moved.values()), expected, delta=1e-6 * expected)

    def test_the_file_is_the_same_every_time_and_changes_nothing(self):
        out = self.succeeds(*GEMM)
        kept = []
        for name in ("a.pftrace", "b.pftrace"):
            self.assertEqual(self.succeeds(*GEMM, "--trace", self.path(name)).split("wall")[0], out.split("wall")[0])
            kept.append(read(self.path(name), "rb"))
        self.assertEqual(*kept)
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.pftrace", "b.pftrace"])

    def test_a_run_that_fails_keeps_what_has_happened(self):
        self.refuses(*GEMM, "--trace", self.path("t.pftrace"), "--max-time", "200", status=1)
        self.assertEqual(os.listdir(self.folder), ["t.pftrace"])
        self.assertTrue(Pftrace(packets(read(self.path("t.pftrace"), "rb"))).slices)

    def test_the_ending_says_the_form(self):
        for name, is_json in (("t.json", True), ("t", True), ("t.pftrace.json", True), (".pftrace", False)):
            self.succeeds(*GEMM, "--trace", self.path(name))
            self.assertEqual(read(self.path(name), "rb").startswith(b"["), is_json, name)
        self.refuses(*GEMM, "--trace", self.path("none/t.pftrace"), saying=("t.pftrace: cannot be written",), lines=1)


if __name__ == "__main__":
    cli_support.main()
