# SPDX-License-Identifier: Apache-2.0
"""One energy, seen from everywhere: report, replay of both logs, SQL, activity file, traces and waveform."""
import csv
import json
import os
import re
import sqlite3
import tempfile
from collections import defaultdict
from decimal import Decimal

import pftrace_reader
from cli_support import Cli, main, topology
from vcd_reader import Vcd

WINDOW_S = 100e-9
RUN = ["run", "--topology", topology("small.yaml"), "--energy", "n7.yaml"]
GEMM = ["--kernel", "gemm", "--param", "m=64", "--param", "n=64"]


class OneEnergy(Cli):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def file(self, name):
        return os.path.join(self.folder.name, name)

    def energy(self, *arguments):
        return json.loads(self.succeeds(*arguments, "--format", "json"), parse_float=Decimal)["energy"]

    def test_parts_are_the_total(self):
        for arguments in (GEMM, ["--kernel", "softmax", "--links", "flit"], ["--kernel", "all_reduce"],
                          ["--program", "tp_mlp"]):
            energy = self.energy(*RUN, *arguments)
            for end in ("low", "value", "high"):
                total = energy["joules"][end]
                self.assertGreater(total, 0)
                self.assertEqual(sum(c["joules"][end] for c in energy["by_class"]), total)
                self.assertEqual(sum(c["joules"][end] for c in energy["by_constant"]), total)
                self.assertEqual(sum(q[end] for q in energy["by_quality"].values()), total)
            self.assertEqual(energy["by_constant"][0]["name"], energy["dominates"]["energy"])
            self.assertGreaterEqual(Decimal(energy["peak_w"]), energy["average_w"]["value"] * Decimal("0.999"))

    def test_replay_gives_the_same(self):
        for ending in ("jsonl", "sqlite"):
            for arguments in (GEMM, ["--program", "tp_mlp"]):
                log = self.file("run." + ending)
                run = self.energy(*RUN, *arguments, "--oplog", log)
                self.assertEqual(self.energy("replay", "--oplog", log), run)
                self.assertIn(" uJ, by the constants of n7", self.succeeds("replay", "--oplog", log))

    def test_sql_has_it(self):
        log = self.file("run.sqlite")
        run = self.energy(*RUN, *GEMM, "--oplog", log)
        with sqlite3.connect(log) as db:
            rows = db.execute("SELECT constant, sum(joules), sum(joules_low), sum(joules_high), sum(count) FROM energy "
                              "WHERE joules IS NOT NULL GROUP BY 1").fetchall()
        self.assertEqual({r[0] for r in rows}, {c["name"] for c in run["by_constant"]})
        for name, value, low, high, count in rows:
            said = next(c for c in run["by_constant"] if c["name"] == name)
            self.assertEqual(count, said["count"])
            for found, end in ((value, "value"), (low, "low"), (high, "high")):
                self.assertAlmostEqual(found / float(said["joules"][end]), 1, 12)

    def test_logs_of_runs_without_have_nothing_of_it(self):
        for ending in ("jsonl", "sqlite"):
            log = self.file("plain." + ending)
            self.succeeds(*RUN[:3], *GEMM, "--oplog", log)
            with open(log, "rb") as file:
                self.assertNotIn(b"energy", file.read().replace(b'"energy":null', b""))  # the option
            self.assertNotIn("energy", json.loads(self.succeeds("replay", "--oplog", log, "--format", "json")))

    def test_readme_says_what_is_printed(self):
        """The command of README's gemm, as scripts/run has it."""
        said = self.succeeds("run", "--kernel", "gemm", "--topology", topology("default.yaml"), "--param", "tile_n=256",
                             "--param", "tile_k=16", "--energy", "n7.yaml").splitlines()
        with open(os.environ["KERNBENCH_README"], encoding="utf-8") as file:
            _, _, block = file.read().partition("$ scripts/run --energy n7.yaml\n")
        block = block[:block.index("```")]
        lines = [line for line in block.splitlines() if line != "…"]
        self.assertGreaterEqual(len(lines), 4)
        for line in lines:
            self.assertIn(line, said)

    def test_damage_is_told(self):
        log = self.file("run.jsonl")
        self.succeeds(*RUN, *GEMM, "--oplog", log)
        with open(log, "rb") as file:
            text = file.read()
        at = text.index(b"O'Connor")
        with open(log, "wb") as file:
            file.write(text[:at] + b"x" + text[at + 1:])
        self.refuses("replay", "--oplog", log, saying=["damaged"])
        log = self.file("run.sqlite")
        self.succeeds(*RUN, *GEMM, "--oplog", log)
        with sqlite3.connect(log) as db:
            db.execute("UPDATE energy SET count = count + 1 WHERE id = 3")
        self.refuses("replay", "--oplog", log, saying=["checksum"])

    def test_counts_beyond_all_energy_are_told(self):
        """A log with another count and a checksum that agrees: FNV-1a of all bytes before."""
        log = self.file("run.jsonl")
        self.succeeds(*RUN, "--kernel", "vector_add", "--param", "n=64", "--oplog", log)
        with open(log, "rb") as file:
            lines = file.read().splitlines(True)
        lines[-2] = lines[-2].replace(b'"value":3900000000,', b'"value":1000000000000000000,')
        lines[-2] = re.sub(rb'"hbm.access",\d+,', b'"hbm.access",18446744073709551615,', lines[-2])
        checksum = 0xcbf29ce484222325
        for byte in b"".join(lines[:-1]):
            checksum = ((checksum ^ byte) * 0x100000001b3) % 2**64
        lines[-1] = re.sub(rb'"checksum":"\w+"', b'"checksum":"%016x"' % checksum, lines[-1])
        with open(log, "wb") as file:
            file.writelines(lines)
        self.refuses("replay", "--oplog", log, saying=["run.jsonl", "1.7e11 J"], lines=1)

    def test_activity_file(self):
        file = self.file("activity.csv")
        energy = self.energy(*RUN, *GEMM, "--activity", file)
        with open(file, encoding="utf-8") as lines:
            rows = list(csv.DictReader(lines))
        self.assertEqual(list(rows[0]), ["component", "action", "count"])
        self.assertEqual(len({(r["component"], r["action"]) for r in rows}), len(rows))
        macs = sum(int(r["count"]) for r in rows if r["action"] == "macs_f32")
        self.assertEqual(macs, next(c["count"] for c in energy["by_constant"] if c["name"] == "mac.f32"))
        self.assertEqual(macs, 64 * 64 * 256)
        self.refuses(*RUN[:3], *GEMM, "--activity", file, saying=["--activity", "--energy"], lines=1)

    def test_wrong_tables_are_told_before_anything_is_written(self):
        log = self.file("old.jsonl")
        with open(log, "w", encoding="utf-8") as file:
            file.write("mine")
        table = self.file("table.yaml")
        with open(table, "w", encoding="utf-8") as file:
            file.write("# no source\nwire: {value: 1, unit: pJ/bit/mm, quality: assumed, range: [1, 1]}\n")
        for energy, saying in ((table, [table + ":2: wire.source: missing"]), (self.folder.name, ["directory"]),
                               ("nosuch.yaml", ["nosuch.yaml", "No such file"])):
            self.refuses(*RUN[:3], *GEMM, "--energy", energy, "--oplog", log, saying=saying, lines=1)
        with open(log, encoding="utf-8") as file:
            self.assertEqual(file.read(), "mine")

    def test_what_has_no_constant_is_named(self):
        energy = self.energy("run", "--topology", topology("default.yaml"), "--kernel", "assemble", "--energy", "n7.yaml",
                             "--transfer", "timed")
        self.assertEqual(energy["not_counted"], ["control"])
        self.assertIn("*.pe_dma", energy["area"]["not_counted"])
        blocks = [b for b in energy["area"]["blocks"] if b["of"] == "bits"]
        self.assertEqual([b["block"] for b in blocks], ["*.sram", "*.pe_tcm"])
        bits = sum(b["count"] for b in blocks)
        self.assertEqual(bits, 8 * 2**20 * (256 * 16 + 32 * 32))
        self.assertEqual(sum(b["mm2"]["value"] for b in blocks), bits * Decimal("0.0405") / 10**6)

    def test_what_a_table_leaves_out_is_named(self):
        table = self.file("wire.yaml")
        with open(table, "w", encoding="utf-8") as file:
            file.write("wire: {value: 0.07, unit: pJ/bit/mm, source: s, quality: computed, range: [0.02, 0.14]}\n")
        energy = self.energy("run", "--topology", topology("default.yaml"), "--kernel", "assemble", "--energy", table,
                             "--transfer", "timed")
        self.assertIn("static power", energy["not_counted"])
        self.assertTrue(any(n.startswith("pcie (") for n in energy["not_counted"]), energy["not_counted"])
        self.assertNotIn("area", energy)
        self.assertNotIn("cost", energy)

    def test_a_section_counts_like_the_file(self):
        with open(topology("small.yaml"), encoding="utf-8") as file:
            text = file.read()
        with open(topology("energy/n7.yaml"), encoding="utf-8") as file:
            table = file.read()
        system = self.file("small.yaml")
        with open(system, "w", encoding="utf-8") as file:
            file.write(text + "energy:\n" + "".join("  " + line for line in table.splitlines(True)))
        self.assertEqual(self.energy("run", "--topology", system, *GEMM), self.energy(*RUN, *GEMM))
        with open(system, "w", encoding="utf-8") as file:
            file.write(text + "energy: n7.yaml\n")
        with open(self.file("n7.yaml"), "w", encoding="utf-8") as file:
            file.write(table)
        self.assertEqual(self.energy("run", "--topology", system, *GEMM), self.energy(*RUN, *GEMM))

    def check_counters(self, counters, energy):
        """`counters`: by name a list of (ns, W)."""
        joules = {}
        for name, values in counters.items():
            self.assertEqual(values[-1][1], 0, name)
            joules[name] = sum(w * (until - t) * 1e-9 for (t, w), (until, _) in zip(values, values[1:]))
            self.assertTrue(all(t % 100 == 0 for t, _ in values))
        self.assertAlmostEqual(joules.pop("all") / float(energy["joules"]["value"]), 1, 9)
        self.assertEqual(set(joules), {c["class"] for c in energy["by_class"]})
        for c in energy["by_class"]:
            self.assertAlmostEqual(joules[c["class"]] / float(c["joules"]["value"]), 1, 9)

    def test_json_trace(self):
        file = self.file("trace.json")
        energy = self.energy(*RUN, *GEMM, "--trace", file)
        with open(file, encoding="utf-8") as text:
            events = json.load(text)
        counters = defaultdict(list)
        for e in events:
            if e["ph"] == "C":
                counters[e["name"]].append((round(e["ts"] * 1e3, 6), e["args"]["W"]))
        self.check_counters(counters, energy)

    def test_pftrace(self):
        file = self.file("trace.pftrace")
        energy = self.energy(*RUN, *GEMM, "--trace", file)
        with open(file, "rb") as data:
            trace = pftrace_reader.Pftrace(pftrace_reader.packets(data.read()))
        self.check_counters({name: [(fs / 1e6, watts) for fs, watts in values]
                             for (group, name), values in trace.values.items() if group == "power"}, energy)

    def test_waveform(self):
        file = self.file("run.vcd")
        energy = self.energy(*RUN, *GEMM, "--vcd", file)
        plain = self.file("plain.vcd")
        self.succeeds(*RUN[:3], *GEMM, "--vcd", plain)
        with open(file, encoding="utf-8") as text:
            vcd = Vcd(text.read())
        with open(plain, encoding="utf-8") as text:
            without = Vcd(text.read())
        self.check_counters({"all": [(round(t, 6), w) for t, w in vcd.values("system.power")],
                             **self.by_class(energy)}, energy)
        # Everything else is as without energy.
        self.assertEqual(set(vcd.signals) - set(without.signals), {"system.power"})
        for name in without.signals:
            self.assertEqual(vcd.values(name), without.values(name), name)

    def test_static_power_is_in_every_window(self):
        table, file, trace = self.file("static.yaml"), self.file("run.vcd"), self.file("trace.json")
        with open(table, "w", encoding="utf-8") as out:
            out.write("static: {pe_gemm: {value: 0.5, unit: W, source: a test, quality: assumed, range: [0, 1]}}\n")
        energy = self.energy(*RUN[:3], *GEMM, "--energy", table, "--vcd", file, "--trace", trace)
        with open(file, encoding="utf-8") as text:
            values = Vcd(text.read()).values("system.power")
        self.assertEqual(values[0], (0, 4))  # 8 x 0.5 W, until the window in which the run ends
        joules = sum(w * (until - t) * 1e-9 for (t, w), (until, _) in zip(values, values[1:]))
        self.assertAlmostEqual(joules / float(energy["joules"]["value"]), 1, 9)
        self.assertAlmostEqual(float(energy["average_w"]["value"]), 4, 9)
        self.assertAlmostEqual(float(energy["peak_w"]), 4, 9)

    def by_class(self, energy):
        """A waveform has the sum alone."""
        return {c["class"]: [(0, float(c["joules"]["value"]) / WINDOW_S), (100, 0)] for c in energy["by_class"]}


if __name__ == "__main__":
    main()
