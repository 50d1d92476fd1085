#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The queries of docs/phase2.md run on a real log and give what the same log says as JSON lines."""
import collections
import json
import os
import pathlib
import re
import sqlite3
import tempfile

import cli_support

DOCS = pathlib.Path(os.environ["KERNBENCH_README"]).parent / "docs" / "phase2.md"


def documented_queries():
    block = re.search(r"```sql\n(.*?)```", DOCS.read_text(), re.S).group(1)
    queries = {}
    for text in block.split(";"):
        title = re.search(r"-- (.*)", text)
        if title:
            queries[title.group(1)] = text
    return queries


def totals(records, key, value):
    sums = collections.defaultdict(float)
    for r in records:
        sums[key(r)] += value(r)
    return sums


class DocumentedSqlQueries(cli_support.Cli):
    @classmethod
    def setUpClass(cls):
        cls.queries = documented_queries()
        cls.folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(cls.folder.name)
        kernel = ["--kernel", "gemm", "--param", "m=128", "--param", "n=64", "--param", "k=128"]
        for name in ("log.sqlite", "log.jsonl"):
            cls("run_cli").succeeds("run", "--topology", cli_support.topology("small.yaml"), *kernel, "--oplog",
                                    folder / name, "--memory", "none")
        cls.database = sqlite3.connect(folder / "log.sqlite")
        lines = (folder / "log.jsonl").read_text().splitlines()
        cls.records = [r for r in map(json.loads, lines) if r["op_id"]]

    @classmethod
    def tearDownClass(cls):
        cls.database.close()
        cls.folder.cleanup()

    def rows(self, start):
        title = next(t for t in self.queries if t.startswith(start))
        found = self.database.execute(self.queries[title]).fetchall()
        self.assertTrue(found, title)
        return found

    def test_there_are_six_and_each_gives_rows(self):
        self.assertGreaterEqual(len(self.queries), 6)
        for title in self.queries:
            self.rows(title)

    def test_the_busiest_components(self):
        busy = totals(self.records, lambda r: r["component_id"], lambda r: r["t_end"] - r["t_start"])
        found = self.rows("the busiest")
        self.assertEqual(found[0][2], max(x[2] for x in found))
        for component, _, ns in found:
            self.assertAlmostEqual(ns, busy[component], places=3)
        self.assertAlmostEqual(found[0][2], max(busy.values()), places=3)

    def test_bytes_over_links(self):
        moves = [r for r in self.records if re.search("dma_(read|write)$", r["op_name"], re.I)]
        params = lambda r: r["params"].get("nbytes", r["params"].get("bytes"))
        want = totals(moves, lambda r: (r["component_id"], r["op_name"].upper().endswith("READ")), params)
        found = {(component, bool(inbound)): n for component, inbound, n, _ in self.rows("bytes over")}
        self.assertEqual(found, dict(want))
        self.assertTrue(all(n > 0 for n in found.values()))

    def test_stalls_by_cause(self):
        tiles = collections.defaultdict(list)
        for r in self.records:
            if r["op_name"].startswith("TileToken/"):
                tiles[r["params"]["composite_op_id"], r["params"]["tile_id"]].append(r)
        want = collections.defaultdict(float)
        for stages in tiles.values():
            stages.sort(key=lambda r: (r["t_start"], r["op_id"]))
            before = stages[0]["params"]["fed_ns"]
            for r in stages:
                want[r["params"]["stage_type"]] += r["t_start"] - before
                before = r["t_end"]
        found = self.rows("stalls by cause")
        self.assertEqual({name for name, _, _ in found}, set(want))
        for name, _, ns in found:
            self.assertAlmostEqual(ns, want[name], places=3)
        self.assertGreater(sum(want.values()), 0)

    def test_source_lines(self):
        for line, ops, ns in self.rows("the time of each source line"):
            self.assertRegex(line, r"gemm\.cpp:\d+$")
            self.assertGreater(ops, 0)
            self.assertGreater(ns, 0)


if __name__ == "__main__":
    cli_support.main()
