# SPDX-License-Identifier: Apache-2.0
"""Does every report of a run begin with which run it was, so that its command repeats it, equal runs have equal logs, and
diff takes reports and logs for what they are?"""
import contextlib
import hashlib
import json
import os
import shlex
import shutil
import sqlite3

import cli_support
from cli_support import topology

RUN = ("run", "--topology", topology("small.yaml"), "--kernel", "gemm", "--param", "m=64", "--param", "n=64", "--param",
       "k=64")


class Reports(cli_support.FolderCli):
    def file(self, name, text=None):
        name = os.path.join(self.folder, name)
        if text is not None:
            with open(name, "w") as f:
                f.write(text)
        return name

    def report(self, *more, run=RUN):
        return json.loads(self.succeeds(*run, "--format", "json", *more))

    def diff(self, a, b, *more):
        return json.loads(self.succeeds("diff", a, b, "--format", "json", *more))

    def test_a_report_begins_with_its_run(self):
        for run in (RUN, ("run", "--topology", topology("small.yaml"), "--program", "tp_mlp")):
            report = self.report("--scale", "mesh=0.5", run=run)
            self.assertEqual(next(iter(report)), "run")
            document = report["run"]
            with open(topology("small.yaml"), "rb") as f:
                text = f.read()
            self.assertEqual(document["topology"], {"name": "small.yaml", "sha256": hashlib.sha256(text).hexdigest()})
            options = document["options"]
            self.assertEqual((options["links"], options["response"], options["scale"], options["seed"], options["pes"]),
                             ("ideal", "ideal", ["mesh=0.5"], 1, "all"))
            self.assertEqual(options["launch"], report["launch"])
            self.assertEqual(options["params"], report["params"])
            self.assertIn("+", document["version"])
            told = self.report("--scale", "mesh=0.5", "--report-topology", run=run)["run"]["topology"]
            self.assertEqual(told.pop("text"), text.decode())
            self.assertEqual(told, document["topology"])
            again = json.loads(self.succeeds(*shlex.split(document["command"])[1:], "--format", "json"))
            self.assertEqual(again["sim_ns"], report["sim_ns"])
        self.refuses(*RUN, "--report-topology", saying=["--format json"], lines=1)

    def other_commands(self):
        """(command and arguments, options that its report must tell, a change of one, what diff must call it)"""
        node, small = "sip0.cube0.pe0", topology("small.yaml")
        head = "id,issue_ns,initiator,op,address,bytes\n"
        trace = self.file("t.csv", head + f"r,0,{node}.pe_dma,read,0,64\n")
        twice = self.file("u.csv", head + f"r,0,{node}.pe_dma,read,0,128\n")
        gemm = {"id": "g", "submit_ns": 0, "stage": "GEMM", "m": 8, "n": 8, "k": 8, "dtype": "f16"}
        work = self.file("w.json", json.dumps({"pes": [{"pe": node, "composites": [], "commands": [gemm]}]}))
        yield ("traffic", "--topology", small, "--trace", trace), {"trace": trace}, ("--trace", twice), "trace"
        yield (("pipeline", "--topology", small, "--work", work), {"work": work}, ("--set", "*.pe_gemm.freq_ghz=0.5"),
               "set.*.pe_gemm.freq_ghz")
        yield (("probe", "--topology", small, "--case", "pe-local-hbm"), {"bytes": 32768, "case": ["pe-local-hbm"]},
               ("--bytes", "64"), "bytes")
        yield ("probe", "--topology", small, "--saturate"), {"bytes": 16384, "saturate": True}, ("--links", "flit"), "links"
        yield (("collectives", "--topology", small, "--sizes", "1K", "--over", "pe"),
               {"op": "all_reduce", "pes": "all", "slots": None}, ("--op", "all_gather"), "op")

    def test_reports_of_other_commands_do_so_too(self):
        for command, options, change, key in self.other_commands():
            with self.subTest(command=command):
                text = self.succeeds(*command, "--format", "json", "--report-topology")
                report = json.loads(text)
                self.assertEqual(next(iter(report)), "run")
                run = report["run"]
                with open(topology("small.yaml"), "rb") as f:
                    self.assertEqual(run["topology"]["text"].encode(), f.read())
                self.assertEqual((run["options"]["links"], run["options"]["response"]), ("ideal", "ideal"))
                for name, value in options.items():
                    told = run["options"][name]
                    self.assertEqual(told["file"] if isinstance(told, dict) else told, value)
                again = shlex.split(run["command"])[1:]
                self.assertEqual(self.succeeds(*again, "--format", "json", "--report-topology"), text)
                files = [self.file("a.json", text)]
                kept = command[:-2] if change[0] in command else command
                files.append(self.file("b.json", self.succeeds(*kept, *change, "--format", "json")))
                found = self.diff(*files)
                self.assertIn(key, [s["key"] for s in found["configuration"]])
                self.assertEqual(self.diff(files[0], files[0])["configuration"], [])
                self.assertTrue(found["figures"] or found["a_ns"] != found["b_ns"], found)
                self.refuses(*command, "--report-topology", saying=["--format json"], lines=1)
        self.refuses("diff", files[0], self.file("run.json", self.succeeds(*RUN, "--format", "json")),
                     saying=["is of collectives", "is of run"], lines=1)

    def test_files_are_known_by_their_checksums(self):
        table = self.file("n.yaml")
        shutil.copy(topology("energy/n7.yaml"), table)
        energy = self.report("--energy", table)["run"]["options"]["energy"]
        with open(table, "rb") as f:
            self.assertEqual(energy, {"file": table, "sha256": hashlib.sha256(f.read()).hexdigest()})
        self.refuses(*RUN, "--tensor", "a=x.npy", "--tensor", "a=y.npy", saying=["--tensor: found a twice"], lines=1)

    def test_equal_runs_have_equal_logs(self):
        logs = []
        for name, more in (("a", ()), ("b", ("--threads", "1", "--explain", "--trace", self.file("t.json"), "--format", "json"))):
            self.succeeds(*RUN, "--verify", "--oplog", self.file(name + ".jsonl"), *more)
            with open(self.file(name + ".jsonl"), "rb") as f:
                logs.append(f.read())
        self.assertEqual(*logs)
        header = json.loads(logs[0].splitlines()[0])["params"]["configuration"]["run"]
        report = self.report("--verify", "--report-topology")["run"]
        self.assertEqual(header, report)

    def test_diff_names_what_differs_in_reports_and_logs_alike(self):
        found = []
        for form in ("report", "log"):
            files = []
            for name, more in (("a", ()), ("b", ("--scale", "mesh=0.5", "--set", "*.pe_gemm.freq_ghz=2", "--seed", "2"))):
                log, report = self.file(name + ".jsonl"), self.file(name + ".json")
                text = self.succeeds(*RUN, "--format", "json", "--oplog", log, "--memory", "none", *more)
                self.file(name + ".json", text)
                files.append(report if form == "report" else log)
            found.append(self.diff(*files)["configuration"])
        self.assertEqual([c["key"] for c in found[0]], ["scale.mesh", "seed", "set.*.pe_gemm.freq_ghz"])
        self.assertEqual(found[0], found[1])

    def test_a_report_is_one_in_whatever_form_it_was_written(self):
        a = self.file("a.json", self.succeeds(*RUN, "--format", "json"))
        slow = self.report("--scale", "mesh=0.01", "--scale", "hbm=0.01")
        expected = self.diff(a, self.file("b.json", json.dumps(slow, indent=4)))
        self.assertGreater(expected["slower"], 0.1)
        for number, text in enumerate((json.dumps(slow), "\n\n  " + json.dumps(slow, separators=(",", ":")) + "\n",
                                       json.dumps(dict(reversed(slow.items()))))):
            b = self.file(f"b{number}.json", text)
            found = self.diff(a, b)
            self.assertEqual((found["slower"], found["configuration"], found["engines"]),
                             (expected["slower"], expected["configuration"], expected["engines"]))
            self.assertEqual(self.run_cli("diff", a, b, "--fail-over", "1%")[0], 1)

    def test_what_is_unfinished_is_refused_or_marked(self):
        for ending in ("jsonl", "sqlite"):
            whole, cut = self.file("w." + ending), self.file("c." + ending)
            self.succeeds(*RUN, "--oplog", whole, "--memory", "none")
            status, _, _ = self.run_cli(*RUN, "--oplog", cut, "--memory", "none", "--max-time", "60")
            self.assertEqual(status, 1)
            self.refuses("diff", whole, cut, saying=["c." + ending, "--partial"], lines=1)
            found = self.diff(whole, cut, "--partial")
            self.assertEqual((found["a_partial"], found["b_partial"]), (False, True))
            self.assertIn("UNFINISHED", self.succeeds("diff", cut, whole, "--partial"))
        with open(self.file("w.jsonl")) as f:
            text = f.read()
        for most in (10, len(text) // 2, len(text) - 5):
            self.refuses("diff", self.file("w.jsonl"), self.file("cut.jsonl", text[:most]), lines=1)

    def test_a_row_that_lacks_a_metric_is_completed(self):
        sweep = ("sweep", "--over", "seed=1,2", "--store", self.file("s"))
        _, plain, err = self.run_cli(*sweep, "--", *RUN)
        self.assertIn("2 simulated", err)
        status, rows, err = self.run_cli(*sweep, "--metric", "sim_ns,bound", "--stored", "--", *RUN)
        self.assertEqual(status, 0, err)
        self.assertIn("0 simulated, 2 in", err)
        self.assertIn("2 stored points lack the results of --explain", err)
        _, rows, err = self.run_cli(*sweep, "--metric", "sim_ns,bound", "--", *RUN)
        self.assertIn("2 simulated, 0 in", err)
        self.assertIn("2 of the simulated points were stored without the results of --explain", err)
        self.assertEqual([row.split(",")[2] for row in rows.splitlines()], [row.split(",")[2] for row in plain.splitlines()])
        self.assertTrue(all(row.split(",")[3] for row in rows.splitlines()))
        self.assertIn("0 simulated, 2 in", self.run_cli(*sweep, "--metric", "sim_ns,bound", "--", *RUN)[2])
        self.assertIn("0 simulated, 2 in", self.run_cli(*sweep, "--", *RUN, "--explain")[2])
        with contextlib.closing(sqlite3.connect(f"file:{self.file('s')}?mode=ro", uri=True)) as db:
            self.assertEqual(db.execute("select starts from points").fetchall(), [(2,), (2,)])


if __name__ == "__main__":
    cli_support.main()
