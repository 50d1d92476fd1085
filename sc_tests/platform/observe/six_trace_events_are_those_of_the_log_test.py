#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The six events of ADR-0014 D7 by their names, in both forms of --trace: as many as the op log and the report have
commands, tiles and services, at their times."""
import collections
import json

import cli_support
from cli_support import topology
from pftrace_reader import Pftrace, packets

EVENTS = {"command_submitted", "sub_command_dispatched", "engine_start", "engine_complete", "tile_ready",
          "command_complete"}
SMALL = ("run", "--topology", topology("small.yaml"), "--format", "json")
# Composites with tiles; simple commands only.
RUNS = {"gemm": (*SMALL, "--kernel", "gemm", "--param", "m=256", "--param", "n=64", "--param", "k=256"),
        "attention": (*SMALL, "--kernel", "attention", "--param", "seq=128")}


def of_json(file):
    """(fs, arguments) by name."""
    found = collections.defaultdict(list)
    with open(file) as f:
        for e in json.load(f):
            if e["ph"] == "i":
                found[e["name"]].append((e["ts"] * 1e9, e["args"]))
    return found


def of_pftrace(file):
    found = collections.defaultdict(list)
    with open(file, "rb") as f:
        for instants in Pftrace(packets(f.read())).instants.values():
            for i in instants:
                found[i.name].append((i.fs, i.arguments))
    return found


class SixEvents(cli_support.FolderCli):
    def same_times(self, found, expected_ns, what):
        self.assertEqual(len(found), len(expected_ns), what)
        for a, b in zip(sorted(found), sorted(expected_ns)):
            self.assertLessEqual(abs(a - b * 1e6), 1, what)

    def check(self, events, records, report):
        self.assertEqual(events.keys() - EVENTS, set())
        count = {name: len(events.get(name, [])) for name in EVENTS}
        tile_steps = [r for r in records if r["op_name"].startswith("TileToken/")]
        commands = [r for r in records if not r["op_name"].startswith("TileToken/")]
        simple = [r for r in commands if not r["op_name"].startswith("composite")]
        tiles = {(r["component_id"].rsplit(".", 1)[0], r["params"]["composite_op_id"], r["params"]["tile_id"])
                 for r in tile_steps}
        self.assertEqual(count["command_submitted"], len(commands))
        self.assertEqual(count["command_complete"], len(commands))
        self.assertEqual(count["tile_ready"], len(tiles))
        self.assertEqual(count["sub_command_dispatched"], len(tiles) + len(simple))
        self.assertEqual(count["engine_start"], sum(e["ops"] for e in report["engines"]))
        self.assertEqual(count["engine_complete"], count["engine_start"])
        self.same_times([t for t, _ in events["command_submitted"]], [r["params"]["submit_ns"] for r in commands],
                        "command_submitted")
        served = {r["op_id"]: r for r in tile_steps + simple}
        for name, at in (("engine_start", "t_start"), ("engine_complete", "t_end")):
            self.assertEqual(sorted(a["op_id"] for _, a in events[name]), sorted(served))
            for t, arguments in events[name]:
                self.assertLessEqual(abs(t - served[arguments["op_id"]][at] * 1e6), 1, (name, arguments))
        # No event precedes the end of its last service.
        for t, end_ns in zip(sorted(t for t, _ in events["command_complete"]), sorted(r["t_end"] for r in commands)):
            self.assertGreaterEqual(t + 1, end_ns * 1e6)
        return count

    def test_of_composites_and_of_simple_commands(self):
        for name, run in RUNS.items():
            with self.subTest(name):
                report = json.loads(self.succeeds(*run, "--trace", self.path("t.json"), "--oplog", self.path("l.jsonl")))
                self.succeeds(*run, "--trace", self.path("t.pftrace"), "--oplog", self.path("l.jsonl"))
                with open(self.path("l.jsonl")) as f:
                    records = [r for r in map(json.loads, f) if r.get("op_id")]
                for events in (of_json(self.path("t.json")), of_pftrace(self.path("t.pftrace"))):
                    count = self.check(events, records, report)
                    self.assertEqual(bool(count["tile_ready"]), name == "gemm")
                    self.assertGreater(count["engine_start"], 100)


if __name__ == "__main__":
    cli_support.main()
