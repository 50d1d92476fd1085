# SPDX-License-Identifier: Apache-2.0
"""Does what is said of a wrong input name its file and place in words of this project, on one line that no input can
break, and is JSON that quotes it valid?"""
import copy
import json
import os
import random
import tempfile

import cli_support
from cli_support import topology

SMALL = ("--topology", topology("small.yaml"))
ODD = [None, True, -1, 2**31, 2**64 - 1, 1e300, 0.5, "", "x", "#", "#99999999999999999999", "\x1b[31m", "a\nb", [], {},
       [1], [[]], ["x"], {"a": 1}]


def paths(value, path=()):
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield (*path, key)
        yield from paths(value[key], (*path, key))


class Faults(cli_support.Cli):
    def setUp(self):
        self.kept = tempfile.TemporaryDirectory()
        self.addCleanup(self.kept.cleanup)

    def file(self, name, content):
        path = os.path.join(self.kept.name, name)
        with open(path, "wb") as f:
            f.write(content)
        return path

    def test_every_field_of_a_log(self):
        rng = random.Random(15)
        for kernel in ("gemm", "attention", "all_reduce"):
            good = os.path.join(self.kept.name, "good.jsonl")
            self.succeeds("run", *SMALL, "--pes", "leaders", "--kernel", kernel, "--oplog", good)
            with open(good) as f:
                lines = f.read().splitlines()
            records = [0] + rng.sample(range(1, min(len(lines), 300)), 12)
            for number in records:
                record = json.loads(lines[number])
                path = rng.choice(list(paths(record)))
                changed = copy.deepcopy(record)
                place = changed
                for key in path[:-1]:
                    place = place[key]
                if rng.random() < 0.3 and isinstance(place, dict):
                    del place[path[-1]]
                else:
                    place[path[-1]] = rng.choice(ODD)
                bad = self.file("good.jsonl", "\n".join([*lines[:number], json.dumps(changed), *lines[number + 1:], ""]).encode())
                self.refuses("replay", "--oplog", bad, saying=["good.jsonl"], lines=1)

    def test_a_field_of_a_log_is_named(self):
        log = os.path.join(self.kept.name, "log.jsonl")
        self.succeeds("run", *SMALL, "--kernel", "vector_add", "--oplog", log)
        with open(log) as f:
            lines = f.read().splitlines()
        number = next(i for i, line in enumerate(lines) if '"dma_read"' in line)
        for key, value, words in (("src_addr", "x", 'src_addr: found "x", expected a whole number'),
                                  ("nbytes", 1, None), ("source", "a.cpp:99999999999999", "source: found 'a.cpp:9"),
                                  ("shape", [1] * 9, "shape: found 9 dimensions, expected at most 6"),
                                  ("dtype", "f99", 'dtype: found "f99", which is no dtype'),
                                  ("dst_pe", "#99999999999999999999", "dst_pe: unknown PE '#9999"),
                                  ("submit_ns", None, "submit_ns: found null, expected a number")):
            record = json.loads(lines[number])
            record["params"][key] = value
            bad = self.file("log.jsonl", "\n".join([*lines[:number], json.dumps(record), *lines[number + 1:], ""]).encode())
            self.refuses("replay", "--oplog", bad, lines=1,
                         saying=[f"log.jsonl:{number + 1}: no record of an op log: {words}"] if words else ["log.jsonl"])

    def test_folders_and_empty_files(self):
        folder = self.kept.name
        self.refuses("pipeline", *SMALL, "--work", folder, lines=1, saying=[folder + ": cannot be read: Is a directory"])
        self.refuses("traffic", *SMALL, "--trace", folder, lines=1, saying=[folder + ": cannot be read: Is a directory"])
        self.refuses("pipeline", *SMALL, "--work", self.file("w", b""), lines=1, saying=["w: not JSON: at line 1, column 1"])
        self.refuses("pipeline", *SMALL, "--work", self.file("w", b"[1e999]"), lines=1, saying=["w: not JSON: number overflow"])

    def test_no_input_breaks_a_line_or_reaches_the_terminal(self):
        evil = "\x1b[31m\n\x7f"
        shown = "\\x1b[31m\\n\\x7f"
        self.refuses("run", *SMALL, "--kernel", evil, lines=1, saying=[shown])
        self.refuses("run", *SMALL, "--kernel", "gemm", "--param", evil + "=1", lines=1, saying=[shown])
        self.refuses("run", *SMALL, "--kernel", "gemm", "--tensor", "a=" + evil, lines=1, saying=[shown])
        self.refuses("run", *SMALL, "--" + evil, lines=1, saying=[shown])
        self.refuses("run", "--topology", evil, "--kernel", "gemm", lines=1, saying=[shown])
        self.refuses("run", *SMALL, "--kernel", "gemm", "--oplog", os.path.join(self.kept.name, evil + ".jsonl"), "--pes", evil, lines=1, saying=[shown])
        self.refuses("topology", self.file("t.yaml", b'"\\e[31m\\n\\x7f": 1\n'), lines=None, saying=[shown])
        row = "a,0,\x1b[31m\x7f,read,0,64\n"
        self.refuses("traffic", *SMALL, "--trace", self.file("t.csv", b"id,issue_ns,initiator,op,address,bytes\n" + row.encode()),
                     lines=1, saying=["t.csv:2: initiator: found '\\x1b[31m\\x7f'"])
        self.refuses("pipeline", *SMALL, "--work", self.file("w.json", json.dumps({evil: 1}).encode()), lines=None, saying=[shown])
        status, _, err = self.run_cli("sweep", "--over", "param.n=" + evil, "--", "run", *SMALL, "--kernel", "gemm")
        self.assertEqual((status, len(err.splitlines())), (2, 1), err)

    def test_what_verbose_says_is_escaped_too(self):
        with open(SMALL[1], "rb") as f:
            odd = self.file("a\x1b[31m\n.yaml", f.read())
        status, _, err = self.run_cli("--verbose", "topology", odd)
        self.assertEqual(status, 0, err)
        self.assertIn("a\\x1b[31m\\n.yaml", err)
        self.assertNotIn("\x1b", err)

    def test_json_that_quotes_bytes_that_are_no_utf8_is_valid(self):
        node = "sip0.cube0.pe0.pe_dma"
        trace = self.file("t.csv", b"id,issue_ns,initiator,op,address,bytes\n\xff\xfe\x01,0," + node.encode() + b",read,0,64\n")
        [row] = json.loads(self.succeeds("traffic", *SMALL, "--trace", trace, "--format", "json"))["requests"]
        self.assertEqual((row["id"], row["initiator"]), ("\ufffd\ufffd\x01", node))


if __name__ == "__main__":
    cli_support.main()
