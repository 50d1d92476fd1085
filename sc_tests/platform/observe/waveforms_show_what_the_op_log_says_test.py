# SPDX-License-Identifier: Apache-2.0
"""Is a VCD well formed, the same every time, readable after an interruption, and does it say what log and traffic say?"""
import collections
import csv
import io
import json
import os
import re
import shutil
import signal
import subprocess
import time
import unittest

import cli_support
from cli_support import KERNBENCH, sample, topology
from vcd_reader import Vcd


def read(path, mode="r"):
    with open(path, mode) as f:
        return f.read()


def length(intervals):
    """Of the union."""
    total, until = 0, 0
    for begin, end in sorted(intervals):
        total += max(0, end - max(begin, until))
        until = max(until, end)
    return total


class Waveforms(cli_support.FolderCli):
    def traced(self, *arguments, name="t.vcd"):
        """The CLI's stdout, and the VCD that it wrote."""
        file = f"{self.folder}/{name}"
        out = self.succeeds(*arguments, "--vcd", file)
        return out, Vcd(read(file))

    def gemm(self, *more, **options):
        return self.traced("run", "--kernel", "gemm", "--topology", topology("small.yaml"), "--format", "json", *more,
                           **options)

    def test_busy_time_is_that_of_the_run_engine_by_engine(self):
        out, vcd = self.gemm("--oplog", f"{self.folder}/log.jsonl")
        report = json.loads(out)
        self.assertGreater(len(report["engines"]), 8)
        for engine in report["engines"]:
            names = [n for n in vcd.signals if n.endswith(".busy") and n.startswith(f"system.{engine['id']}.") and
                     ".to_" not in n]
            self.assertTrue(names, engine["id"])
            busy = sum(vcd.integral(n) for n in names)
            self.assertAlmostEqual(busy, engine["busy_ns"], delta=1e-5 * (1 + engine["ops"]), msg=engine["id"])
        self.assertAlmostEqual(vcd.end_ns(), report["sim_ns"], places=3)

    def test_services_are_those_of_the_op_log(self):
        _, vcd = self.gemm("--oplog", f"{self.folder}/log.jsonl")
        records = [json.loads(x) for x in read(f"{self.folder}/log.jsonl").splitlines()]
        by_engine = collections.defaultdict(list)
        for r in records:
            if r.get("component_id", "").split(".")[-1] in ("pe_dma", "pe_fetch_store", "pe_gemm", "pe_math"):
                by_engine[r["component_id"]].append(r)
        self.assertGreater(len(by_engine), 8)
        for engine, services in by_engine.items():
            busy = [n for n in vcd.signals if n.startswith(f"system.{engine}.") and n.endswith(".busy") and
                    ".to_" not in n]
            logged = sum(r["t_end"] - r["t_start"] for r in services)
            self.assertAlmostEqual(sum(map(vcd.integral, busy)), logged, delta=1e-5 * (1 + len(services)), msg=engine)
            shown = {v for n in vcd.signals if n.startswith(f"system.{engine}.") and n.endswith(".op_id")
                     for _, v in vcd.values(n) if v is not None}
            self.assertEqual(shown, {r["op_id"] for r in services}, engine)

    def test_messages_are_those_of_the_op_log(self):
        """Rings, waits and servers of a kernel that sends, against the times of its records; i is 0 in small.yaml."""
        for links in ("cut_through", "flit"):
            with self.subTest(links=links):
                params = [x for p in ("algorithm=ring", "n=200", "slots=1", "slot_bytes=64") for x in ("--param", p)]
                out, vcd = self.traced("run", "--kernel", "all_reduce", *params, "--topology", topology("small.yaml"),
                                       "--links", links, "--format", "json", "--oplog", f"{self.folder}/log.jsonl")
                engines = {e["id"]: e for e in json.loads(out)["engines"]}
                records = [json.loads(x) for x in read(f"{self.folder}/log.jsonl").splitlines()]
                copies = {r["op_id"]: r for r in records if r.get("op_name") == "ipcq_copy"}
                visible, waits, stalls = (collections.defaultdict(list) for _ in range(3))
                for r in records:
                    if r.get("op_name") != "ipcq_recv":
                        continue
                    copy, here = copies[r["dependency_ids"][0]], f"system.{r['component_id']}"
                    c, sender = copy["params"], copy["params"]["src_pe"]
                    out_port = f"system.{sender}.pe_ipcq.{c['peer_port']}"
                    ready = max(copy["t_end"], r["params"]["submit_ns"])
                    visible[f"{here}.{c['port']}.fill"].append((copy["t_end"], r["t_end"]))
                    waits[f"{here}.{c['port']}.waits_for_message"].append((r["params"]["submit_ns"], ready))
                    waits[f"{out_port}.waits_for_slot"].append((c["send_ns"], c["slot_ns"]))
                    stalls[f"{sender}.pe_dma.comm", "no_slot_ns"].append((c["send_ns"], c["slot_ns"]))
                    stalls[f"{sender}.pe_dma.comm", "comm_busy_ns"].append((c["slot_ns"], c["grant_ns"]))
                    stalls[r["component_id"] + ".rd", "no_message_ns"].append((r["params"]["submit_ns"], ready))
                    stalls[r["component_id"] + ".rd", "slot_reader_busy_ns"].append((ready, r["t_start"]))
                self.assertEqual(len(visible), 8)  # one ring with messages at each PE; none in the other direction
                for name, held in visible.items():
                    self.assertAlmostEqual(vcd.integral(name), sum(b - a for a, b in held), delta=1e-5 * len(held))
                    self.assertEqual({v for _, v in vcd.values(name)}, {0, 1})
                    self.assertEqual(vcd.values(name)[-1][1], 0)
                for name, times in waits.items():
                    self.assertAlmostEqual(vcd.integral(name), length(times), delta=1e-5 * len(times), msg=name)
                for (engine, reason), times in stalls.items():
                    self.assertAlmostEqual(engines[engine]["stalls"][reason], length(times), delta=1e-6,
                                           msg=(engine, reason))
                self.assertGreater(sum(e["stalls"].get("no_slot_ns", 0) for e in engines.values()), 0)
                servers = [e for e in engines if ".pe_ipcq." in e or e.endswith(".comm")]
                self.assertEqual(len(servers), 8 * (3 if links == "flit" else 4))
                for e in servers:
                    self.assertAlmostEqual(vcd.integral(f"system.{e}.busy"), engines[e]["busy_ns"],
                                           delta=1e-5 * (1 + engines[e]["ops"]), msg=e)

    def test_ports_of_later_launches_are_added(self):
        """A program's launches have ports of their own: the header is that of all, and the body goes on."""
        _, vcd = self.traced("run", "--program", "tp_mlp", "--topology", topology("six_sip_torus.yaml"), "--ranks", "2",
                             "--pes", "leaders", "--param", "tokens=8", "--param", "dim=16", "--param", "hidden=16")
        rings = [n for n in vcd.signals if n.endswith(".fill")]
        self.assertTrue(rings)
        self.assertEqual([v for n in rings for _, v in vcd.values(n)[:1]], [0] * len(rings))
        self.assertTrue(any(len(vcd.values(n)) > 1 for n in rings))
        self.assertGreater(sum(vcd.integral(n) for n in vcd.signals if n.endswith("pe_gemm.busy")), 0)
        self.assertEqual(os.listdir(self.folder).count("t.vcd.new"), 0)

    def test_the_file_is_the_same_every_time_and_nothing_of_the_run_changes(self):
        out, _ = self.gemm(name="a.vcd")
        again, _ = self.gemm(name="b.vcd")
        a, b = read(f"{self.folder}/a.vcd"), read(f"{self.folder}/b.vcd")
        self.assertEqual(a, b)
        plain = self.succeeds("run", "--kernel", "gemm", "--topology", topology("small.yaml"), "--format", "json")
        untimed = [json.loads(x) for x in (out, again, plain)]
        for report in untimed:
            report.pop("wall_s")
        self.assertEqual(untimed[0], untimed[2])
        self.assertEqual(read(f"{self.folder}/a.gtkw").replace("a.vcd", "b.vcd").replace("a.states", "b.states"),
                         read(f"{self.folder}/b.gtkw"))

    def test_links_and_memories_carry_what_the_traffic_asks_for(self):
        for name in ("traffic_cut_through", "traffic_cut_through_routed", "traffic_flit_toy", "traffic_hbm_pc"):
            with self.subTest(sample=name):
                out, vcd = self.traced("traffic", "--topology", sample(name, "topology.yaml"), "--trace",
                                       sample(name, "trace.csv"))
                requests = list(csv.DictReader(io.StringIO(out)))
                self.assertEqual(out, self.succeeds("traffic", "--topology", sample(name, "topology.yaml"), "--trace",
                                                    sample(name, "trace.csv")))
                # Bytes in flight at the initiators, over time: each request's bytes from its grant to its end.
                expected = sum(int(r["bytes"]) * (float(r["done_ns"]) - float(r["grant_ns"])) for r in requests)
                initiated = [n for n in vcd.signals if n.endswith(("pe_dma.rd.bytes_in_flight", "initiated_bytes",
                                                                   "pe_dma.wr.bytes_in_flight"))]
                self.assertAlmostEqual(sum(map(vcd.integral, initiated)) / expected, 1, places=6)
                for signal_name in vcd.signals:  # everything that arrived has left
                    if signal_name.endswith((".occupancy", ".bytes_in_flight", ".queue_depth")):
                        self.assertEqual(vcd.values(signal_name)[-1][1], 0, signal_name)
                    elif signal_name.endswith(".utilisation"):
                        self.assertLessEqual(max(v for _, v in vcd.values(signal_name)), 100)
                    elif signal_name.endswith(".busy") and ".to_" in signal_name:
                        occupied = vcd.integral(signal_name.replace(".busy", ".occupancy"))
                        self.assertLessEqual(vcd.integral(signal_name), occupied + 1e-5, signal_name)
                channels = [n for n in vcd.signals if ".channel" in n]
                self.assertEqual(bool(channels), name == "traffic_hbm_pc")
                if channels:
                    self.assertGreater(sum(map(vcd.integral, channels)), 0)

    def test_a_pipeline_shows_its_tiles(self):
        _, vcd = self.traced("pipeline", "--topology", sample("composite_cut_through", "topology.yaml"), "--work",
                             sample("composite_cut_through", "work.json"))
        tiles = [v for n in vcd.signals if n.endswith("pe_gemm.tile_id") for _, v in vcd.values(n) if v is not None]
        self.assertGreater(len(set(tiles)), 3)

    def test_a_scope_leaves_the_others_out(self):
        _, every = self.gemm()
        _, some = self.gemm("--vcd-scope", "sip0.cube0.pe[01].*", "--vcd-scope", "*.pe0.pe_gemm")
        self.assertTrue(some.signals)
        for name in some.signals:
            self.assertRegex(name, r"^system\.sip0\.cube0\.pe[01]\.|\.pe0\.pe_gemm\.")
            self.assertEqual(some.values(name), every.values(name))
        run = ["run", "--kernel", "gemm", "--topology", topology("small.yaml")]
        self.refuses(*run, "--vcd", f"{self.folder}/n.vcd", "--vcd-scope", "cube7", saying=["--vcd-scope", "cube7"], lines=1)
        self.refuses(*run, "--vcd-scope", "sip0", saying=["needs --vcd"], lines=1)
        self.refuses(*run, "--vcd", "/nowhere/x.vcd", saying=["/nowhere/x.vcd: cannot be written"], lines=1)

    def test_a_window_has_what_lies_in_it(self):
        for links in ("ideal", "flit"):
            _, whole = self.gemm("--links", links)
            end = whole.end_ns()
            for begin, stop in ((0, end / 3), (end / 3, end / 2), (end / 2, 2 * end)):
                _, part = self.gemm("--links", links, "--vcd-from", f"{begin:.3f}", "--vcd-to", f"{stop:.3f}")
                first, last = round(round(begin, 3) * 1e6), round(round(stop, 3) * 1e6)
                self.assertEqual(part.times[-1], min(last, whole.times[-1]))
                seen = 0
                for name, code in whole.signals.items():
                    changes = whole.changes[code]
                    before = [v for t, v in changes if t <= first][-1]
                    expected = [(first, before)] + [(t, v) for t, v in changes if first < t < last]
                    if first > 0:
                        expected.insert(0, (0, "x"))
                    if last <= whole.times[-1]:
                        expected.append((last, "x"))
                    self.assertEqual(part.changes[part.signals[name]], expected, name)
                    seen += len(expected)
                self.assertGreater(seen, 2 * len(whole.signals))
        run = ["run", "--kernel", "gemm", "--topology", topology("small.yaml")]
        self.refuses(*run, "--vcd-from", "5", saying=["--vcd-from: needs --vcd"], lines=1)
        for window in (["--vcd-from", "5", "--vcd-to", "5"], ["--vcd-from", "-1"], ["--vcd-to", "nan"]):
            self.refuses(*run, "--vcd", f"{self.folder}/n.vcd", *window, saying=["0 <= from < to"], lines=1)

    @unittest.skipUnless(shutil.which("vcd2fst") and shutil.which("fst2vcd"), "there is no vcd2fst (Debian: apt-get install gtkwave)")
    def test_gtkwave_makes_an_fst_of_it(self):
        _, vcd = self.gemm("--vcd-from", "300")
        fst = f"{self.folder}/t.fst"
        subprocess.run(["vcd2fst", f"{self.folder}/t.vcd", fst], check=True, stdout=subprocess.DEVNULL)
        back = subprocess.run(["fst2vcd", fst], check=True, capture_output=True, text=True).stdout
        self.assertEqual(len(re.findall(r"^\$var ", back, re.M)), len(vcd.signals))
        self.assertEqual(re.findall(r"^#(\d+)$", back, re.M)[-1], str(vcd.times[-1]))

    def test_an_interrupted_run_leaves_a_readable_file(self):
        gemm = ["--kernel", "gemm", "--topology", topology("default.yaml"), "--param", "m=4096", "--param", "n=4096",
                "--param", "k=4096"]
        program = ["--program", "all_reduce_loop", "--topology", topology("six_sip_torus.yaml"), "--ranks", "2", "--pes",
                   "leaders", "--param", "n=4096", "--param", "times=500"]
        self.assertFalse([n for n in self.interrupted(gemm).signals if n.endswith(".fill")])
        self.assertTrue([n for n in self.interrupted(program).signals if n.endswith(".fill")])

    def interrupted(self, what):
        file = f"{self.folder}/cut.vcd.part"
        if os.path.exists(file):
            os.remove(file)
        run = subprocess.Popen([KERNBENCH, "run", *what, "--vcd", file.removesuffix(".part")], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
        for _ in range(600):
            if run.poll() is not None or (os.path.exists(file) and read(file, "rb")[-200000:].count(b"\n#") > 3):
                break
            time.sleep(0.05)
        run.send_signal(signal.SIGKILL)
        run.wait()
        text = read(file)
        vcd = Vcd(text[:text.rindex("\n") + 1])  # the kill may have cut the last line
        self.assertGreater(len(vcd.times), 1)
        return vcd


if __name__ == "__main__":
    cli_support.main()
